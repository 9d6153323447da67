//! Generated kernels: found again by their text, compiled by a thread of their own.

use super::Chains;
use super::source::{NAME, beginning};
use crate::driver::{Platform, ending};
use crate::gpu::kernels::{Code, Compiler};
use crate::gpu::{Device, Kernel, Module};
use crate::log::{self, Level};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Kernels that are kept; with more all are forgotten, and come from the disk cache again.
const KEPT: usize = 256;

/// What a compiler made of a source; `None` if none takes it.
type Compiled = Arc<OnceLock<Option<Code>>>;

/// A kernel that is compiled, being compiled, or that no compiler takes. The thread that compiles has only its code: a
/// device is closed by those who opened it.
pub struct ChainKernel {
    code: Compiled,
    loaded: OnceLock<Option<Kernel>>,
}

impl ChainKernel {
    /// The kernel, if there is one by now.
    pub(super) fn get(&self, device: &Arc<Device>) -> Option<&Kernel> {
        let code = self.code.get()?.as_ref()?;
        let load = || {
            let module = Module::from_code(device, &code.bytes);
            module.and_then(|module| module.kernel(NAME)).ok()
        };
        self.loaded.get_or_init(load).as_ref()
    }

    /// Whether it is compiled.
    pub fn is_there(&self) -> bool {
        self.code.get().is_some_and(Option::is_some)
    }

    /// Whether nothing will change any more.
    pub fn is_done(&self) -> bool {
        self.code.get().is_some()
    }
}

fn compile(code: &OnceLock<Option<Code>>, compiler: &Compiler, source: &str) {
    let Some(_turn) = ending::turn() else {
        let _ = code.set(None);
        return;
    };
    // Clang (19 at least) negates only the second of two packed f32 that come out of a choice between integers on gfx90a
    // and gfx942: AMDGPU's combination of `fneg` takes every 64 bits for an f64. Pairs are what this pass makes.
    let options: &[&str] = match compiler.platform() {
        Platform::Hip => &["-fno-slp-vectorize"],
        Platform::Cuda => &[],
    };
    let made = beginning()
        .and_then(|before| compiler.compile("chain", &(before.to_owned() + source), options));
    let made = made.map_err(|error| {
        log::write(Level::Debug, || {
            format!("a chain of operations on arrays is not compiled: {error}")
        });
    });
    // It is made once.
    let _ = code.set(made.ok());
}

/// The generated kernels of a device. Internally locked: any thread.
#[derive(Default)]
pub struct Kernels {
    kept: Mutex<HashMap<String, Arc<ChainKernel>>>,
    /// Whether the compiler is loaded, if there is one.
    is_loaded: OnceLock<()>,
}

impl Kernels {
    /// The kernel with this source; its compilation begins if it is new.
    pub(super) fn of(
        &self,
        device: &Arc<Device>,
        source: String,
        mode: Chains,
    ) -> Arc<ChainKernel> {
        let kernel = {
            let mut kept = self.kept.lock();
            if let Some(kernel) = kept.get(&source) {
                return kernel.clone();
            }
            if kept.len() >= KEPT {
                kept.clear();
            }
            let kernel = Arc::new(ChainKernel {
                code: Arc::default(),
                loaded: OnceLock::new(),
            });
            kept.insert(source.clone(), kernel.clone());
            kernel
        };
        let compiler = device.registry().compiler().clone();
        // By the caller: the process cannot end meanwhile.
        self.is_loaded.get_or_init(|| {
            compiler.load();
            ending::wait_at_exit(compiler.platform());
        });
        if mode == Chains::Wait {
            compile(&kernel.code, &compiler, &source);
            return kernel;
        }
        let code = kernel.code.clone();
        let thread = std::thread::Builder::new().name("mlxrocm-chain".into());
        let begun = thread.spawn(move || compile(&code, &compiler, &source));
        if begun.is_err() {
            let _ = kernel.code.set(None);
        }
        kernel
    }
}
