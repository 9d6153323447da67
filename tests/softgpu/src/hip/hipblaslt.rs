//! A hipBLASLt with one product: f16 with sums in f32, weights transposed. An algorithm is good for the sizes that it was
//! chosen for.

use std::ffi::{c_int, c_void};

use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::handles::HandleKind;
use super::operation::ProductCall;
use super::runtime::runtime;
use super::state::State;

/// `hipblasStatus_t`.
const NOT_INITIALIZED: Error = Error(1);
const INVALID_VALUE: Error = Error(3);
const INTERNAL_ERROR: Error = Error(6);
const NOT_SUPPORTED: Error = Error(7);

/// `hipblasOperation_t`, `hipDataType` and `hipblasComputeType_t`.
const NONE: c_int = 111;
const TRANSPOSE: c_int = 112;
const F32: c_int = 0;
const F16: c_int = 2;
const COMPUTE_F32: c_int = 2;

/// What a handle is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Object {
    /// A context, with the last stream of its products.
    Context(u64),
    /// A product: whether its sides are transposed.
    Product([c_int; 2]),
    /// A matrix: dtype, rows, columns, numbers from column to column.
    Layout(c_int, u64, u64, i64),
    /// Bytes of memory that an algorithm may use.
    Preference(u64),
}

/// `hipblasLtMatmulAlgo_t`: the sizes, in its own words.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Algorithm {
    /// Outs, rows, columns, and a word that says that it was chosen.
    data: [u32; 4],
    workspace: usize,
}

/// `hipblasLtMatmulHeuristicResult_t`.
#[repr(C)]
pub struct Chosen {
    algorithm: Algorithm,
    workspace: usize,
    state: c_int,
    waves: f32,
    reserved: [c_int; 4],
}

const CHOSEN: u32 = 0xA190_81D5;
/// Bytes that an algorithm uses.
const WORKSPACE: usize = 4096;

impl State {
    fn lt_object(&mut self, handle: *mut c_void) -> Outcome<&mut Object> {
        let handle = handle as u64;
        if !self.lt_objects.contains_key(&handle) {
            self.bad_handle(HandleKind::BlasLt, handle);
        }
        self.lt_objects.get_mut(&handle).ok_or(NOT_INITIALIZED)
    }

    fn new_lt_object(&mut self, to: *mut *mut c_void, object: Object) -> Outcome {
        let made = self.new_handle(HandleKind::BlasLt);
        write_out(to, made as *mut c_void).map_err(|_| INVALID_VALUE)?;
        self.lt_objects.insert(made, object);
        Ok(())
    }

    fn free_lt_object(&mut self, handle: *mut c_void) -> Outcome {
        self.lt_object(handle)?;
        self.lt_objects.remove(&(handle as u64));
        Ok(())
    }

    /// Outs, rows and columns of a product of these matrices, and the strides of all three.
    fn lt_sizes(
        &mut self,
        product: *mut c_void,
        matrices: [*mut c_void; 4],
    ) -> Outcome<([u64; 3], [u64; 3])> {
        let Object::Product(sides) = *self.lt_object(product)? else {
            return Err(INVALID_VALUE);
        };
        let mut layouts = [(0, 0, 0, 0); 4];
        for (layout, handle) in layouts.iter_mut().zip(matrices) {
            *layout = match *self.lt_object(handle)? {
                Object::Layout(dtype, rows, columns, stride) => (dtype, rows, columns, stride),
                _ => return Err(INVALID_VALUE),
            };
        }
        let [a, b, c, d] = layouts;
        if sides != [TRANSPOSE, NONE] || [a.0, b.0, c.0] != [F16, F16, F32] || c != d {
            return Err(NOT_SUPPORTED);
        }
        let (m, n, k) = (a.2, b.2, a.1);
        let is_whole = |layout: (c_int, u64, u64, i64)| {
            layout.1 > 0 && layout.2 > 0 && layout.3 >= layout.1 as i64
        };
        if b.1 != k || [c.1, c.2] != [m, n] || ![a, b, c].into_iter().all(is_whole) {
            return Err(INVALID_VALUE);
        }
        Ok(([m, n, k], [a.3, b.3, c.3].map(|stride| stride as u64)))
    }
}

/// The number that an attribute is set to.
fn number<T: Copy>(value: *const c_void, bytes: usize) -> Outcome<T> {
    if value.is_null() || bytes != size_of::<T>() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: not null; the caller gives so many bytes.
    Ok(unsafe { value.cast::<T>().read_unaligned() })
}

fn words([m, n, k]: [u64; 3]) -> [u32; 4] {
    [m as u32, n as u32, k as u32, CHOSEN]
}

hip_functions! {
    /// A new context.
    fn hipblasLtCreate(handle: *mut *mut c_void) {
        let mut state = runtime().lock();
        state.usable_device().map_err(|_| INTERNAL_ERROR)?;
        state.new_lt_object(handle, Object::Context(0))
    }

    /// Destroys a context.
    fn hipblasLtDestroy(handle: *mut c_void) {
        let mut state = runtime().lock();
        let Object::Context(stream) = *state.lt_object(handle)? else {
            return Err(INVALID_VALUE);
        };
        state.refuse_product_in_flight(stream);
        state.free_lt_object(handle)
    }

    /// A new product; neither side is transposed.
    fn hipblasLtMatmulDescCreate(product: *mut *mut c_void, compute: c_int, scale: c_int) {
        if (compute, scale) != (COMPUTE_F32, F32) {
            return Err(NOT_SUPPORTED);
        }
        runtime().lock().new_lt_object(product, Object::Product([NONE; 2]))
    }

    /// Frees a product.
    fn hipblasLtMatmulDescDestroy(product: *mut c_void) {
        runtime().lock().free_lt_object(product)
    }

    /// Whether a side is transposed: nothing else is modelled.
    fn hipblasLtMatmulDescSetAttribute(product: *mut c_void, which: c_int, value: *const c_void, bytes: usize) {
        let mut state = runtime().lock();
        let Object::Product(sides) = state.lt_object(product)? else {
            return Err(INVALID_VALUE);
        };
        let side = sides.get_mut(which as usize).ok_or(NOT_SUPPORTED)?;
        *side = number(value, bytes)?;
        Ok(())
    }

    /// A new layout.
    fn hipblasLtMatrixLayoutCreate(layout: *mut *mut c_void, dtype: c_int, rows: u64, columns: u64, stride: i64) {
        runtime().lock().new_lt_object(layout, Object::Layout(dtype, rows, columns, stride))
    }

    /// Frees a layout.
    fn hipblasLtMatrixLayoutDestroy(layout: *mut c_void) {
        runtime().lock().free_lt_object(layout)
    }

    /// New preferences: no memory.
    fn hipblasLtMatmulPreferenceCreate(preference: *mut *mut c_void) {
        runtime().lock().new_lt_object(preference, Object::Preference(0))
    }

    /// Frees preferences.
    fn hipblasLtMatmulPreferenceDestroy(preference: *mut c_void) {
        runtime().lock().free_lt_object(preference)
    }

    /// The memory that an algorithm may use: nothing else is modelled.
    fn hipblasLtMatmulPreferenceSetAttribute(
        preference: *mut c_void,
        which: c_int,
        value: *const c_void,
        bytes: usize,
    ) {
        let mut state = runtime().lock();
        match state.lt_object(preference)? {
            Object::Preference(most) if which == 1 => *most = number(value, bytes)?,
            Object::Preference(_) => return Err(NOT_SUPPORTED),
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }

    /// An algorithm, where the memory is enough for it.
    #[allow(clippy::too_many_arguments)]
    fn hipblasLtMatmulAlgoGetHeuristic(
        handle: *mut c_void,
        product: *mut c_void,
        a: *mut c_void,
        b: *mut c_void,
        c: *mut c_void,
        d: *mut c_void,
        preference: *mut c_void,
        most: c_int,
        found: *mut Chosen,
        count: *mut c_int,
    ) {
        let mut state = runtime().lock();
        let (Object::Context(_), Object::Preference(bytes)) =
            (*state.lt_object(handle)?, *state.lt_object(preference)?)
        else {
            return Err(INVALID_VALUE);
        };
        let (sizes, _) = state.lt_sizes(product, [a, b, c, d])?;
        if most < 1 || found.is_null() {
            return Err(INVALID_VALUE);
        }
        let is_enough = bytes >= WORKSPACE as u64;
        if is_enough {
            let algorithm = Algorithm { data: words(sizes), workspace: bytes as usize };
            let chosen = Chosen { algorithm, workspace: WORKSPACE, state: 0, waves: 1.0, reserved: [0; 4] };
            // SAFETY: not null; the caller gives room for one.
            unsafe { found.write_unaligned(chosen) };
        }
        write_out(count, c_int::from(is_enough)).map_err(|_| INVALID_VALUE)
    }

    /// A product: alpha 1 and beta 0.
    #[allow(clippy::too_many_arguments)]
    fn hipblasLtMatmul(
        handle: *mut c_void,
        product: *mut c_void,
        alpha: *const f32,
        a: u64,
        a_layout: *mut c_void,
        b: u64,
        b_layout: *mut c_void,
        beta: *const f32,
        c: u64,
        c_layout: *mut c_void,
        d: u64,
        d_layout: *mut c_void,
        algorithm: *const Algorithm,
        workspace: u64,
        bytes: usize,
        stream: *mut c_void,
    ) {
        let mut state = runtime().lock();
        if alpha.is_null() || beta.is_null() || algorithm.is_null() || [a, b, c, d].contains(&0) {
            return Err(INVALID_VALUE);
        }
        // SAFETY: not null; the product takes all of it from the host.
        let (factors, algorithm) = unsafe { ((*alpha, *beta), algorithm.read_unaligned()) };
        let (sizes, [lda, ldb, ldc]) = state.lt_sizes(product, [a_layout, b_layout, c_layout, d_layout])?;
        if factors != (1.0, 0.0) || c != d || algorithm.data != words(sizes) {
            return Err(NOT_SUPPORTED);
        }
        if bytes < WORKSPACE || !workspace.is_multiple_of(16) {
            return Err(INVALID_VALUE);
        }
        state.product_end(workspace, bytes as u64, "workspace of a BLAS")?;
        let stream = state.stream_handle(stream).map_err(|_| INVALID_VALUE)?;
        let Object::Context(of) = state.lt_object(handle)? else {
            return Err(INVALID_VALUE);
        };
        *of = stream;
        let [m, n, k] = sizes;
        state.queue_product(stream, ProductCall { a, b, c, m, n, k, lda, ldb, ldc, wrong: false, fails: false })
    }
}
