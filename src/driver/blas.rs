//! The vendors' BLAS (hipBLASLt, rocBLAS, cuBLAS): opened, never linked. One product of it is used.

use super::api::{Api, loader_words};
use super::blas_files::{BlasFile, code_folder, has_code, is_lt, names, title};
use super::blas_lt::Lt;
use super::facts::{DeviceFacts, Platform};
use super::table::{BlasHandle, StreamHandle, find};
use crate::{Error, Result};
use libloading::Library;
use std::ffi::{OsStr, OsString, c_int, c_void};
use std::sync::Mutex;

type Create = unsafe extern "C" fn(*mut BlasHandle) -> c_int;
type Destroy = unsafe extern "C" fn(BlasHandle) -> c_int;
type SetStream = unsafe extern "C" fn(BlasHandle, StreamHandle) -> c_int;
type SetWorkspace = unsafe extern "C" fn(BlasHandle, u64, usize) -> c_int;
type SetAtomics = unsafe extern "C" fn(BlasHandle, c_int) -> c_int;
/// `rocblas_gemm_ex`: handle, transpositions, m, n, k, alpha, a, its type and stride, b, beta, c, d,
/// compute type, algorithm, solution, flags.
#[rustfmt::skip]
type RocblasGemm = unsafe extern "C" fn(
    BlasHandle, c_int, c_int, c_int, c_int, c_int, *const f32, u64, c_int, c_int, u64, c_int, c_int,
    *const f32, u64, c_int, c_int, u64, c_int, c_int, c_int, c_int, i32, u32,
) -> c_int;
/// `cublasGemmEx`: the same without d, solution and flags.
#[rustfmt::skip]
type CublasGemm = unsafe extern "C" fn(
    BlasHandle, c_int, c_int, c_int, c_int, c_int, *const f32, u64, c_int, c_int, u64, c_int, c_int,
    *const f32, u64, c_int, c_int, c_int, c_int,
) -> c_int;

/// What rocBLAS and cuBLAS have alike.
struct Common {
    create: Create,
    destroy: Destroy,
    set_stream: SetStream,
    set_workspace: SetWorkspace,
    set_atomics: SetAtomics,
}

enum Calls {
    Rocblas(Common, RocblasGemm),
    Cublas(Common, CublasGemm),
    HipblasLt(Lt),
}

/// An opened BLAS. It stays loaded: such libraries keep threads and exit handlers. Immutable: any thread.
pub struct Blas {
    /// Its file's name and version.
    title: String,
    calls: Calls,
}

/// `sums[r][o] = Σ_c weights[o][c] · x[r][c]`, where rows lie without gaps, but those of x.
#[derive(Debug, Clone, Copy)]
pub struct Product {
    /// Address of f16.
    pub weights: u64,
    /// Address of f16.
    pub x: u64,
    /// Address of f32.
    pub sums: u64,
    /// Rows of x and of the sums.
    pub rows: u32,
    /// Rows of the weights, columns of the sums.
    pub outs: u32,
    /// Columns of the weights and of x.
    pub cols: u32,
    /// Numbers from row to row of x.
    pub x_stride: u32,
}

impl Blas {
    /// Opens the library file `named`, or the platform's own by its names: hipBLASLt before rocBLAS. Of these only
    /// one that uses `api`'s own library (the handles of another would mean nothing to it), and unless it is named,
    /// one that has code for the device: rocBLAS ends the process where it has none. The device is current.
    ///
    /// # Errors
    /// `Unsupported` with the reason.
    pub fn open(api: &Api, facts: &DeviceFacts, named: Option<&OsStr>) -> Result<&'static Blas> {
        static OPENED: Mutex<Vec<(OsString, &'static Blas)>> = Mutex::new(Vec::new());
        let mut opened = OPENED.lock().unwrap_or_else(|e| e.into_inner());
        let mut reason = String::new();
        let names = named.map_or_else(|| names(facts.platform), |name| vec![name.to_owned()]);
        for name in names {
            let shown = name.to_string_lossy().into_owned();
            let blas = match opened.iter().find(|(known, _)| *known == name) {
                Some((_, blas)) => Ok(*blas),
                None => load(api, facts.platform, &name).inspect(|blas| opened.push((name, *blas))),
            };
            reason = match blas {
                Ok(blas) if named.is_some() || blas.is_able(facts) => return Ok(blas),
                Ok(_) => format!("{shown} has no code for {}", facts.arch),
                Err(NotUsed::Missing(words)) if named.is_some() => {
                    format!("{shown} cannot be loaded ({words})")
                }
                // What a name that exists said tells more.
                Err(NotUsed::Missing(_)) => continue,
                Err(NotUsed::Unfit(words)) => format!("{shown} {words}"),
            };
        }
        if reason.is_empty() {
            reason = "no BLAS library was found".into();
        }
        Err(Error::Unsupported(reason))
    }

    /// Whether it has code for a device. AMD's have files beside them; cuBLAS says so when it is called.
    fn is_able(&self, facts: &DeviceFacts) -> bool {
        if facts.platform == Platform::Cuda {
            return true;
        }
        let (arch, place) = (&facts.arch, self.place());
        match &self.calls {
            Calls::HipblasLt(lt) => {
                let folder = code_folder(place, "HIPBLASLT_TENSILE_LIBPATH", "hipblaslt");
                folder.is_some_and(|folder| has_code(&folder, arch, 3)) && lt.is_able()
            }
            _ => {
                let folder = code_folder(place, "ROCBLAS_TENSILE_LIBPATH", "rocblas");
                folder.is_some_and(|folder| has_code(&folder, arch, 3))
            }
        }
    }

    /// An address in the library.
    fn place(&self) -> *const c_void {
        match &self.calls {
            Calls::Rocblas(common, _) | Calls::Cublas(common, _) => common.create as *const c_void,
            Calls::HipblasLt(lt) => lt.place(),
        }
    }

    /// Its file, if that can be told.
    pub fn file(&self) -> Option<BlasFile> {
        BlasFile::of(self.place())
    }

    /// Its file's name and version.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// A handle whose products are queued on `stream` and use `workspace` (address, bytes).
    ///
    /// # Safety
    /// The stream is live and the workspace device memory, both until the handle is destroyed. The device
    /// is current.
    pub unsafe fn handle(
        &self,
        stream: StreamHandle,
        workspace: (u64, usize),
    ) -> Result<BlasHandle> {
        let common = match &self.calls {
            Calls::Rocblas(common, _) | Calls::Cublas(common, _) => common,
            Calls::HipblasLt(lt) => {
                // SAFETY: the caller's.
                let made = unsafe { lt.handle(stream, workspace) };
                return made.map_err(|code| self.failure("making a handle", code));
            }
        };
        let mut handle = BlasHandle::NULL;
        // SAFETY: one handle is written.
        self.check("making a handle", unsafe { (common.create)(&mut handle) })?;
        // cuBLAS forgets the workspace when the stream is set.
        // SAFETY: the caller's.
        let set = unsafe {
            let stream = (common.set_stream)(handle, stream);
            let workspace = (common.set_workspace)(handle, workspace.0, workspace.1);
            // Not allowed: sums would come in any order. 0 to both.
            let atomics = (common.set_atomics)(handle, 0);
            self.check("setting the stream", stream)
                .and_then(|()| self.check("setting the workspace", workspace))
                .and_then(|()| self.check("forbidding atomics", atomics))
        };
        set.map(|()| handle).inspect_err(|_| {
            // SAFETY: just made.
            unsafe { self.destroy(handle) };
        })
    }

    /// Destroys a handle.
    ///
    /// # Safety
    /// It is live, nothing of it is queued, and it is not used afterwards. The device is current.
    pub unsafe fn destroy(&self, handle: BlasHandle) {
        // SAFETY: the caller's.
        unsafe {
            match &self.calls {
                Calls::Rocblas(common, _) | Calls::Cublas(common, _) => {
                    (common.destroy)(handle);
                }
                Calls::HipblasLt(lt) => lt.destroy(handle),
            }
        }
    }

    /// Queues a product on the handle's stream.
    ///
    /// # Errors
    /// `Driver` with the library's own status.
    ///
    /// # Safety
    /// The handle is live and no other thread uses it; the memory lives until the product is done. The
    /// device is current.
    pub unsafe fn multiply(&self, handle: BlasHandle, product: &Product) -> Result<()> {
        let int = |n: u32| c_int::try_from(n).unwrap_or(c_int::MAX);
        let (m, n, k) = (int(product.outs), int(product.rows), int(product.cols));
        let (a, b, c) = (product.weights, product.x, product.sums);
        let (one, zero, stride) = (&1.0, &0.0, int(product.x_stride));
        // Matrices lie column after column to a BLAS: the sums are its [outs][rows], of weights transposed.
        // SAFETY: the caller's; both take alpha and beta from the host, during the call.
        let code = unsafe {
            match &self.calls {
                Calls::Rocblas(_, gemm) => {
                    // rocblas_operation_transpose and _none; rocblas_datatype_f16_r and _f32_r.
                    let (t, plain, f16, f32) = (112, 111, 150, 151);
                    gemm(
                        handle, t, plain, m, n, k, one, a, f16, k, b, f16, stride, zero, c, f32, m,
                        c, f32, m, f32, 0, 0, 0,
                    )
                }
                Calls::Cublas(_, gemm) => {
                    // CUBLAS_OP_T and _N; CUDA_R_16F and _32F; CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT.
                    let (t, plain, f16, f32) = (1, 0, 2, 0);
                    gemm(
                        handle, t, plain, m, n, k, one, a, f16, k, b, f16, stride, zero, c, f32, m,
                        68, -1,
                    )
                }
                Calls::HipblasLt(lt) => lt.multiply(handle, product).err().unwrap_or(0),
            }
        };
        self.check("a product", code)
    }

    fn check(&self, what: &str, code: c_int) -> Result<()> {
        match code {
            0 => Ok(()),
            code => Err(self.failure(what, code)),
        }
    }

    fn failure(&self, what: &str, code: c_int) -> Error {
        Error::Driver {
            code,
            message: format!("{what} by {} failed with status {code}", self.title),
        }
    }
}

/// Why a library is not used.
enum NotUsed {
    /// The loader did not find or could not load it; its words.
    Missing(String),
    /// It is there.
    Unfit(String),
}

fn load(api: &Api, platform: Platform, name: &OsStr) -> Result<&'static Blas, NotUsed> {
    // SAFETY: the vendor's library runs its initialisers, as in every program that links it.
    let library = unsafe { Library::new(name) }.map_err(|e| NotUsed::Missing(loader_words(&e)))?;
    let library = std::mem::ManuallyDrop::new(library);
    if platform == Platform::Hip && !api.is_behind(&library) {
        return Err(NotUsed::Unfit("uses another HIP library".into()));
    }
    let lacks = |name: &str| NotUsed::Unfit(format!("lacks {name}"));
    let calls = match platform {
        Platform::Hip if is_lt(name) => Calls::HipblasLt(Lt::of(&library).map_err(lacks)?),
        Platform::Hip => {
            let names = [
                "rocblas_create_handle",
                "rocblas_destroy_handle",
                "rocblas_set_stream",
                "rocblas_set_workspace",
                "rocblas_set_atomics_mode",
            ];
            let gemm = function(&library, "rocblas_gemm_ex").map_err(lacks)?;
            Calls::Rocblas(common(&library, names).map_err(lacks)?, gemm)
        }
        Platform::Cuda => {
            let names = [
                "cublasCreate_v2",
                "cublasDestroy_v2",
                "cublasSetStream_v2",
                "cublasSetWorkspace_v2",
                "cublasSetAtomicsMode",
            ];
            let gemm = function(&library, "cublasGemmEx").map_err(lacks)?;
            Calls::Cublas(common(&library, names).map_err(lacks)?, gemm)
        }
    };
    let title = title(&library, name, platform);
    Ok(Box::leak(Box::new(Blas { title, calls })))
}

/// A function of the library, which has the type that the vendor's header gives it; its name where there is none.
fn function<'a, F: Copy>(library: &Library, name: &'a str) -> Result<F, &'a str> {
    // SAFETY: the callers' types are those of the headers.
    unsafe { find(library, &[name]) }.ok_or(name)
}

fn common<'a>(library: &Library, names: [&'a str; 5]) -> Result<Common, &'a str> {
    let [create, destroy, set_stream, set_workspace, set_atomics] = names;
    Ok(Common {
        create: function(library, create)?,
        destroy: function(library, destroy)?,
        set_stream: function(library, set_stream)?,
        set_workspace: function(library, set_workspace)?,
        set_atomics: function(library, set_atomics)?,
    })
}
