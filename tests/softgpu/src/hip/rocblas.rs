//! A rocBLAS with one function: `rocblas_gemm_ex` of f16 with sums in f32, weights transposed. Its products
//! are queued like kernels, and what they read and write is checked like copies.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use super::copy::End;
use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::execution;
use super::faults::Site;
use super::handles::HandleKind;
use super::operation::{Operation, ProductCall, What, Work};
use super::runtime::runtime;
use super::state::State;
use crate::isa::half::f16_to_f32;
use crate::memory::Memory;

/// `rocblas_status`.
const INVALID_HANDLE: Error = Error(1);
const NOT_IMPLEMENTED: Error = Error(2);
const INVALID_POINTER: Error = Error(3);
const INVALID_SIZE: Error = Error(4);
const INTERNAL_ERROR: Error = Error(6);

/// `rocblas_operation` and `rocblas_datatype`.
const NONE: c_int = 111;
const TRANSPOSE: c_int = 112;
const F16: c_int = 150;
const F32: c_int = 151;

/// A handle.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlasHandle {
    /// The stream of its products; 0 is the null stream.
    stream: u64,
    /// Its user gave it memory: it allocates none.
    workspace: bool,
    /// Its user forbade sums in any order.
    ordered: bool,
}

impl State {
    fn blas_handle(&mut self, handle: *mut c_void) -> Outcome<&mut BlasHandle> {
        let handle = handle as u64;
        if !self.blas_handles.contains_key(&handle) {
            self.bad_handle(HandleKind::Blas, handle);
        }
        self.blas_handles.get_mut(&handle).ok_or(INVALID_HANDLE)
    }

    /// Queues a product on a stream, with the faults that are asked for. Its statuses are hipBLAS' as well.
    pub fn queue_product(&mut self, stream: u64, call: ProductCall) -> Outcome {
        let call = ProductCall {
            wrong: self.faults.strikes(Site::BlasWrong),
            fails: self.faults.strikes(Site::BlasLate),
            ..call
        };
        if self.faults.strikes(Site::BlasDies) {
            std::process::abort();
        }
        for (address, bytes, what) in call.ends() {
            self.product_end(address, bytes, what)?;
        }
        if self.faults.strikes(Site::Blas) {
            return Err(INTERNAL_ERROR);
        }
        self.refuse_capturing_stream(stream, "a product by a BLAS")
            .map_err(|_| INTERNAL_ERROR)?;
        let work = What::Work(Arc::new(Work::Product(call)));
        let queued = self.enqueue(stream, work, None);
        queued.map(|_| ()).map_err(|_| INTERNAL_ERROR)
    }

    /// Whether products of a stream are queued: reported where their handle is destroyed.
    pub fn refuse_product_in_flight(&mut self, stream: u64) {
        let is_product = |operation: &Operation| match &operation.what {
            What::Work(work) => matches!(**work, Work::Product(_)),
            _ => false,
        };
        let queue = self.streams.get(&stream).map(|found| &found.queue);
        if queue.is_some_and(|queue| queue.iter().any(is_product)) {
            let message = "a BLAS handle was destroyed while a product of its stream was queued";
            self.report.violation("free_in_flight", message.to_owned());
        }
    }

    /// Memory that a product uses is the device's.
    pub fn product_end(&mut self, address: u64, bytes: u64, what: &str) -> Outcome {
        match self.copy_end(address, bytes, what) {
            Ok(End::Device | End::Pinned) => Ok(()),
            _ => Err(INVALID_POINTER),
        }
    }
}

/// What `execution` does for a product: `to[n][m] = Σ_k a[m][k] · b[n][k]`, rows `lda`, `ldb`, `ldc` apart.
pub fn multiply(call: &ProductCall, memory: &Memory) -> execution::Outcome {
    let mut outcome = execution::Outcome::default();
    let row = |from: u64, index: u64, stride: u64| from + index * stride * 2;
    let bytes = call.k as usize * 2;
    let rows_of_a = (0..call.m).map(|i| ("weights", row(call.a, i, call.lda)));
    let rows_of_b = (0..call.n).map(|i| ("x", row(call.b, i, call.ldb)));
    for (what, address) in rows_of_a.chain(rows_of_b) {
        if !memory.check_initialised(address, bytes) {
            let message =
                format!("{what} of a product at {address:#x}: not all of it was written before");
            outcome.violations.push(("uninitialised_product", message));
            return outcome;
        }
    }
    let read = |address: u64| -> Vec<f64> {
        // SAFETY: the rows are initialised parts of live allocations, which are kept while this runs.
        let row = |i: u64| unsafe { ((address + i * 2) as *const u16).read_unaligned() };
        let number = |i| f64::from(f16_to_f32(u32::from(row(i))));
        (0..call.k).map(number).collect()
    };
    let a: Vec<Vec<f64>> = (0..call.m)
        .map(|i| read(row(call.a, i, call.lda)))
        .collect();
    for n in 0..call.n {
        let b = read(row(call.b, n, call.ldb));
        let to = call.c + n * call.ldc * 4;
        for (m, a) in a.iter().enumerate() {
            let sum: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            // SAFETY: inside the result, which was checked against the live allocations.
            unsafe { ((to + m as u64 * 4) as *mut f32).write_unaligned(sum as f32) };
        }
        memory.mark_initialised(to, call.m as usize * 4);
    }
    if call.wrong {
        let last = call.c + ((call.n - 1) * call.ldc + call.m - 1) * 4;
        // SAFETY: as above.
        unsafe { (last as *mut f32).write_unaligned(1e4) };
    }
    outcome
}

hip_functions! {
    /// A new handle.
    fn rocblas_create_handle(handle: *mut *mut c_void) {
        let mut state = runtime().lock();
        state.usable_device().map_err(|_| INTERNAL_ERROR)?;
        let made = state.new_handle(HandleKind::Blas);
        write_out(handle, made as *mut c_void).map_err(|_| INVALID_POINTER)?;
        state.blas_handles.insert(made, BlasHandle::default());
        Ok(())
    }

    /// Destroys a handle.
    fn rocblas_destroy_handle(handle: *mut c_void) {
        let mut state = runtime().lock();
        let stream = state.blas_handle(handle)?.stream;
        state.refuse_product_in_flight(stream);
        state.blas_handles.remove(&(handle as u64));
        Ok(())
    }

    /// The stream of later products.
    fn rocblas_set_stream(handle: *mut c_void, stream: *mut c_void) {
        let mut state = runtime().lock();
        let stream = state.stream_handle(stream).map_err(|_| INVALID_HANDLE)?;
        state.blas_handle(handle)?.stream = stream;
        Ok(())
    }

    /// Memory for later products.
    fn rocblas_set_workspace(handle: *mut c_void, address: *mut c_void, bytes: usize) {
        let mut state = runtime().lock();
        state.blas_handle(handle)?;
        state.product_end(address as u64, bytes as u64, "workspace of a BLAS")?;
        state.blas_handle(handle)?.workspace = true;
        Ok(())
    }

    /// Whether later products may sum in any order (1).
    fn rocblas_set_atomics_mode(handle: *mut c_void, mode: c_int) {
        runtime().lock().blas_handle(handle)?.ordered = mode == 0;
        Ok(())
    }

    /// The version as text.
    fn rocblas_get_version_string(text: *mut c_char, bytes: usize) {
        let version = b"0.1.softgpu\0";
        if text.is_null() {
            return Err(INVALID_POINTER);
        }
        if bytes < version.len() {
            return Err(INVALID_SIZE);
        }
        // SAFETY: the caller gives so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(version.as_ptr().cast(), text, version.len()) };
        Ok(())
    }

    /// A product: of f16, with sums in f32, one matrix transposed, alpha 1 and beta 0.
    #[allow(clippy::too_many_arguments)]
    fn rocblas_gemm_ex(
        handle: *mut c_void,
        transpose_a: c_int,
        transpose_b: c_int,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: *const f32,
        a: u64,
        a_type: c_int,
        lda: c_int,
        b: u64,
        b_type: c_int,
        ldb: c_int,
        beta: *const f32,
        c: u64,
        c_type: c_int,
        ldc: c_int,
        d: u64,
        d_type: c_int,
        ldd: c_int,
        compute_type: c_int,
        algorithm: c_int,
        solution: i32,
        flags: u32,
    ) {
        let mut state = runtime().lock();
        let BlasHandle { stream, workspace, ordered } = *state.blas_handle(handle)?;
        if alpha.is_null() || beta.is_null() || [a, b, c, d].contains(&0) {
            return Err(INVALID_POINTER);
        }
        // SAFETY: not null; the handle takes both from the host.
        let factors = unsafe { (*alpha, *beta) };
        let types = [a_type, b_type, c_type, d_type, compute_type];
        let known = [transpose_a, transpose_b] == [TRANSPOSE, NONE]
            && types == [F16, F16, F32, F32, F32]
            && (algorithm, solution, flags) == (0, 0, 0)
            && factors == (1.0, 0.0)
            && (c, ldc) == (d, ldd)
            && workspace
            && ordered;
        if !known {
            return Err(NOT_IMPLEMENTED);
        }
        if m <= 0 || n <= 0 || k <= 0 || lda < k || ldb < k || ldc < m {
            return Err(INVALID_SIZE);
        }
        let number = |n: c_int| u64::from(n.unsigned_abs());
        let call = ProductCall {
            a,
            b,
            c,
            m: number(m),
            n: number(n),
            k: number(k),
            lda: number(lda),
            ldb: number(ldb),
            ldc: number(ldc),
            wrong: false,
            fails: false,
        };
        state.queue_product(stream, call)
    }
}
