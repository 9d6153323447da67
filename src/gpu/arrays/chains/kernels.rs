//! Generated kernels: found again by their text, compiled by a thread of their own.

use super::Chains;
use super::source::{NAME, beginning};
use crate::gpu::{Device, Kernel, Module};
use crate::log::{self, Level};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Kernels that are kept; with more all are forgotten, and come from the disk cache again.
const KEPT: usize = 256;

/// A kernel that is compiled, being compiled, or that no compiler takes.
pub struct ChainKernel {
    made: OnceLock<Option<Kernel>>,
}

impl ChainKernel {
    /// The kernel, if there is one by now.
    pub(super) fn get(&self) -> Option<&Kernel> {
        self.made.get().and_then(Option::as_ref)
    }

    /// Whether there is one.
    pub fn is_there(&self) -> bool {
        self.get().is_some()
    }

    /// Whether nothing will change any more.
    pub fn is_done(&self) -> bool {
        self.made.get().is_some()
    }

    fn compile(&self, device: &Arc<Device>, source: &str) {
        // Not many at once: the application has work to do, too.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock();
        let made = beginning()
            .and_then(|before| {
                Module::compile_built_in(device, "chain", &(before.to_owned() + source))
            })
            .and_then(|module| module.kernel(NAME))
            .map_err(|error| {
                log::write(Level::Debug, || {
                    format!("a chain of operations on arrays is not compiled: {error}")
                });
            });
        // It is made once.
        let _ = self.made.set(made.ok());
    }
}

/// The generated kernels of a device. Internally locked: any thread.
#[derive(Default)]
pub struct Kernels(Mutex<HashMap<String, Arc<ChainKernel>>>);

impl Kernels {
    /// The kernel with this source; its compilation begins if it is new.
    pub(super) fn of(
        &self,
        device: &Arc<Device>,
        source: String,
        mode: Chains,
    ) -> Arc<ChainKernel> {
        let kernel = {
            let mut kept = self.0.lock();
            if let Some(kernel) = kept.get(&source) {
                return kernel.clone();
            }
            if kept.len() >= KEPT {
                kept.clear();
            }
            let kernel = Arc::new(ChainKernel {
                made: OnceLock::new(),
            });
            kept.insert(source.clone(), kernel.clone());
            kernel
        };
        if mode == Chains::Wait {
            kernel.compile(device, &source);
            return kernel;
        }
        let (device, compiled) = (device.clone(), kernel.clone());
        let thread = std::thread::Builder::new().name("mlxrocm-chain".into());
        let begun = thread.spawn(move || compiled.compile(&device, &source));
        if begun.is_err() {
            let _ = kernel.made.set(None);
        }
        kernel
    }
}
