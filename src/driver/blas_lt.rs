//! hipBLASLt: products by descriptors and an algorithm that its own heuristic chooses for their sizes.

use super::blas::Product;
use super::table::{BlasHandle, StreamHandle, find};
use libloading::Library;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};

/// `hipblasOperation_t`, `hipDataType`, `hipblasComputeType_t`.
const TRANSPOSE: c_int = 112;
const PLAIN: c_int = 111;
const F32: c_int = 0;
const F16: c_int = 2;
const COMPUTE_F32: c_int = 2;
/// `HIPBLASLT_MATMUL_DESC_TRANSA`, `_TRANSB` and `HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES`.
const TRANSPOSE_A: c_int = 0;
const TRANSPOSE_B: c_int = 1;
const MOST_WORKSPACE: c_int = 1;
/// What calls that gave no algorithm fail with: `HIPBLAS_STATUS_NOT_SUPPORTED`.
const NOT_SUPPORTED: c_int = 7;

/// A descriptor or a context of the library.
type Object = *mut c_void;

/// Room for a `hipblasLtMatmulHeuristicResult_t`, which begins with the algorithm: 56 bytes, in old versions 48.
#[repr(C, align(16))]
struct Algorithm([u8; 256]);

macro_rules! functions {
    ($($field:ident($($argument:ty),*) = $name:literal;)*) => {
        /// Its functions; each returns a `hipblasStatus_t`.
        pub(super) struct Lt {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Lt {
            /// The functions of an opened library, or the name of one that it lacks.
            pub fn of(library: &Library) -> Result<Lt, &'static str> {
                Ok(Lt {
                    // SAFETY: `hipblaslt.h` declares them with these signatures.
                    $($field: unsafe { find(library, &[$name]) }.ok_or($name)?,)*
                })
            }
        }
    };
}

functions! {
    create(*mut Object) = "hipblasLtCreate";
    destroy(Object) = "hipblasLtDestroy";
    product_create(*mut Object, c_int, c_int) = "hipblasLtMatmulDescCreate";
    product_destroy(Object) = "hipblasLtMatmulDescDestroy";
    product_set(Object, c_int, *const c_void, usize) = "hipblasLtMatmulDescSetAttribute";
    layout_create(*mut Object, c_int, u64, u64, i64) = "hipblasLtMatrixLayoutCreate";
    layout_destroy(Object) = "hipblasLtMatrixLayoutDestroy";
    preference_create(*mut Object) = "hipblasLtMatmulPreferenceCreate";
    preference_destroy(Object) = "hipblasLtMatmulPreferenceDestroy";
    preference_set(Object, c_int, *const c_void, usize) = "hipblasLtMatmulPreferenceSetAttribute";
    choose(Object, Object, Object, Object, Object, Object, Object, c_int, *mut Algorithm, *mut c_int)
        = "hipblasLtMatmulAlgoGetHeuristic";
    multiply(Object, Object, *const f32, u64, Object, u64, Object, *const f32, u64, Object, u64, Object,
        *const Algorithm, u64, usize, StreamHandle) = "hipblasLtMatmul";
}

/// Rows, outs, columns, stride of x.
type Sizes = [u32; 4];

/// How products of some sizes are made.
struct Plan {
    product: Object,
    /// Of the weights, of x, of the sums.
    layouts: [Object; 3],
    algorithm: Box<Algorithm>,
}

/// A context, its stream and memory, and what it found out: what a [`BlasHandle`] of hipBLASLt points to.
struct Context {
    lt: Object,
    stream: StreamHandle,
    workspace: (u64, usize),
    plans: HashMap<Sizes, Plan>,
}

fn context_of(handle: BlasHandle) -> *mut Context {
    std::ptr::with_exposed_provenance_mut(handle.0)
}

/// The status of a call.
type Outcome<T = ()> = Result<T, c_int>;

fn done(code: c_int) -> Outcome {
    match code {
        0 => Ok(()),
        code => Err(code),
    }
}

impl Lt {
    /// An address in the library.
    pub fn place(&self) -> *const c_void {
        self.create as *const c_void
    }

    /// A handle whose products are queued on `stream` and use `workspace` (address, bytes).
    ///
    /// # Safety
    /// As for [`super::Blas::handle`].
    pub unsafe fn handle(
        &self,
        stream: StreamHandle,
        workspace: (u64, usize),
    ) -> Outcome<BlasHandle> {
        let mut lt = std::ptr::null_mut();
        // SAFETY: one object is written.
        done(unsafe { (self.create)(&mut lt) })?;
        let context = Box::new(Context {
            lt,
            stream,
            workspace,
            plans: HashMap::new(),
        });
        Ok(BlasHandle(Box::into_raw(context).expose_provenance()))
    }

    /// Destroys a handle.
    ///
    /// # Safety
    /// As for [`super::Blas::destroy`].
    pub unsafe fn destroy(&self, handle: BlasHandle) {
        // SAFETY: a handle of this library is such a box, and is not used afterwards.
        let context = unsafe { Box::from_raw(context_of(handle)) };
        for plan in context.plans.values() {
            self.forget(plan);
        }
        // SAFETY: live until now.
        unsafe { (self.destroy)(context.lt) };
    }

    fn forget(&self, plan: &Plan) {
        let made = |object: &&Object| !object.is_null();
        for layout in plan.layouts.iter().filter(made) {
            // SAFETY: live until now.
            unsafe { (self.layout_destroy)(*layout) };
        }
        if made(&&plan.product) {
            // SAFETY: live until now.
            unsafe { (self.product_destroy)(plan.product) };
        }
    }

    /// Whether there is an algorithm for products as models have them, on the current device.
    pub fn is_able(&self) -> bool {
        let mut lt = std::ptr::null_mut();
        // SAFETY: one object is written.
        if unsafe { (self.create)(&mut lt) } != 0 {
            return false;
        }
        let plan = self.plan(lt, 32 << 20, [512, 4096, 4096, 4096]);
        let is_able = plan.map(|plan| self.forget(&plan)).is_ok();
        // SAFETY: live until now.
        unsafe { (self.destroy)(lt) };
        is_able
    }

    /// Queues a product.
    ///
    /// # Safety
    /// As for [`super::Blas::multiply`].
    pub unsafe fn multiply(&self, handle: BlasHandle, product: &Product) -> Outcome {
        // SAFETY: the handle is such a box, and no other thread uses it.
        let context = unsafe { &mut *context_of(handle) };
        let sizes = [product.rows, product.outs, product.cols, product.x_stride];
        if !context.plans.contains_key(&sizes) {
            let plan = self.plan(context.lt, context.workspace.1, sizes)?;
            context.plans.insert(sizes, plan);
        }
        let Plan {
            product: of,
            layouts: [weights, x, sums],
            algorithm,
        } = &context.plans[&sizes];
        let (address, bytes) = context.workspace;
        // SAFETY: the caller's; alpha and beta are read during the call.
        done(unsafe {
            (self.multiply)(
                context.lt,
                *of,
                &1.0,
                product.weights,
                *weights,
                product.x,
                *x,
                &0.0,
                product.sums,
                *sums,
                product.sums,
                *sums,
                &**algorithm,
                address,
                bytes,
                context.stream,
            )
        })
    }

    /// Matrices lie column after column to a BLAS: the sums are its [outs][rows], of weights transposed.
    fn plan(&self, lt: Object, workspace: usize, sizes: Sizes) -> Outcome<Plan> {
        let mut plan = Plan {
            product: std::ptr::null_mut(),
            layouts: [std::ptr::null_mut(); 3],
            algorithm: Box::new(Algorithm([0; 256])),
        };
        let made = self.describe(&mut plan, sizes);
        made.and_then(|()| self.choose(lt, workspace, &mut plan))
            .inspect_err(|_| self.forget(&plan))?;
        Ok(plan)
    }

    fn describe(&self, plan: &mut Plan, [rows, outs, cols, stride]: Sizes) -> Outcome {
        let [rows, outs, cols] = [rows, outs, cols].map(u64::from);
        let [weights, x, sums] = &mut plan.layouts;
        let size = size_of::<c_int>();
        // SAFETY: each writes one object, or reads one number.
        unsafe {
            done((self.product_create)(&mut plan.product, COMPUTE_F32, F32))?;
            for (which, how) in [(TRANSPOSE_A, TRANSPOSE), (TRANSPOSE_B, PLAIN)] {
                let how = (&raw const how).cast();
                done((self.product_set)(plan.product, which, how, size))?;
            }
            done((self.layout_create)(weights, F16, cols, outs, cols as i64))?;
            done((self.layout_create)(x, F16, cols, rows, stride.into()))?;
            done((self.layout_create)(sums, F32, outs, rows, outs as i64))
        }
    }

    fn choose(&self, lt: Object, workspace: usize, plan: &mut Plan) -> Outcome {
        let [weights, x, sums] = plan.layouts;
        let (mut preference, mut found) = (std::ptr::null_mut(), 0);
        let workspace = workspace as u64;
        // SAFETY: each writes one object, reads one number, or writes one result, for which there is more room than
        // any version needs.
        unsafe {
            done((self.preference_create)(&mut preference))?;
            let most = (&raw const workspace).cast();
            let set = (self.preference_set)(preference, MOST_WORKSPACE, most, size_of::<u64>());
            let chosen = done(set).and_then(|()| {
                done((self.choose)(
                    lt,
                    plan.product,
                    weights,
                    x,
                    sums,
                    sums,
                    preference,
                    1,
                    &mut *plan.algorithm,
                    &mut found,
                ))
            });
            (self.preference_destroy)(preference);
            chosen?;
        }
        match found {
            0 => Err(NOT_SUPPORTED),
            _ => Ok(()),
        }
    }
}
