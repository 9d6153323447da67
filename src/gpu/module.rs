//! Loaded code objects and their kernels.

use super::args::Args;
use super::device::Device;
use super::graveyard::Remains;
use super::kernels::Registry;
#[cfg(debug_assertions)]
use super::parameters;
use super::signature::{Signature, signatures};
use super::uses::{Mark, Uses};
use crate::driver::{FunctionAttribute, FunctionHandle, Launch, ModuleHandle, Overlap};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// A code object loaded on a device. A cheap handle; kernels keep it loaded. Immutable: any thread.
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
}

struct Inner {
    device: Arc<Device>,
    handle: ModuleHandle,
    signatures: HashMap<String, Signature>,
    uses: Uses,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let remains = Remains {
            modules: vec![self.handle],
            ..Remains::default()
        };
        let device = &self.device;
        device.graveyard.bury(device, self.uses.take(), remains);
    }
}

impl Module {
    /// Loads a code object (AMD: ELF of the device's target; NVIDIA: cubin or PTX).
    ///
    /// # Errors
    /// `InvalidFile` if the driver refuses it.
    pub fn from_code(device: &Arc<Device>, code: &[u8]) -> Result<Module> {
        device.enter()?;
        let handle = device.api.module_load(code)?;
        Ok(Module {
            inner: Arc::new(Inner {
                device: device.clone(),
                handle,
                signatures: signatures(code),
                uses: Uses::default(),
            }),
        })
    }

    /// Compiles a source in HIP's language (`extern "C" __global__ void name(...)`) for the device
    /// and loads it; what was compiled before comes from the disk cache. `name` stands for the source
    /// in messages; `options` go to the compiler (`-DNAME=VALUE`).
    ///
    /// # Errors
    /// `InvalidArgument` with the compiler's log if it refuses the source; `Unsupported` if there is
    /// no run-time compiler for this device, with what to install.
    pub fn compile(
        device: &Arc<Device>,
        name: &str,
        source: &str,
        options: &[&str],
    ) -> Result<Module> {
        let compiler = device.registry().compiler();
        let code = compiler.compile_source(name, source, options)?;
        Module::from_code(device, &code.bytes)
    }

    /// The kernel `name`.
    ///
    /// # Errors
    /// `InvalidArgument` if the module has none of this name.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let device = &self.inner.device;
        device.enter()?;
        let signature = self.inner.signatures.get(name);
        let shared = find(device, self.inner.handle, name, signature)?.ok_or_else(|| {
            Error::InvalidArgument(format!(
                "the code object has no kernel '{name}': kernels need extern \"C\" names"
            ))
        })?;
        Ok(Kernel {
            device: device.clone(),
            module: Some(self.inner.clone()),
            shared,
        })
    }
}

/// A kernel of a loaded module. A cheap handle. Immutable: any thread.
#[derive(Clone)]
pub struct Kernel {
    device: Arc<Device>,
    /// `None` for built-in kernels, which stay loaded as long as the device.
    module: Option<Arc<Inner>>,
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    function: FunctionHandle,
    facts: KernelFacts,
    /// Where the code says it.
    signature: Option<Signature>,
    /// Dynamic local memory that the driver was told of.
    allowed_lds: Mutex<u32>,
}

/// What the driver says about a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelFacts {
    /// Registers a work item.
    pub registers: u32,
    /// Static local memory in bytes.
    pub lds_bytes: u32,
    /// Private memory a work item in bytes (spills and arrays).
    pub scratch_bytes: u32,
    /// Work items that one block may have.
    pub max_block_threads: u32,
}

/// Local memory that every kernel may use without asking for more, static and dynamic together.
const FREE_LDS: u32 = 48 << 10;

fn find(
    device: &Device,
    module: ModuleHandle,
    name: &str,
    signature: Option<&Signature>,
) -> Result<Option<Arc<Shared>>> {
    // SAFETY: the module is loaded.
    let Some(function) = (unsafe { device.api.module_function(module, name) })? else {
        return Ok(None);
    };
    // SAFETY: as above.
    let fact = |attribute| unsafe { device.api.function_attribute(function, attribute) };
    let facts = KernelFacts {
        registers: fact(FunctionAttribute::Registers),
        lds_bytes: fact(FunctionAttribute::LdsBytes),
        scratch_bytes: fact(FunctionAttribute::ScratchBytes),
        max_block_threads: match fact(FunctionAttribute::MaxBlockThreads) {
            0 => device.facts().max_block_threads,
            threads => threads.min(device.facts().max_block_threads),
        },
    };
    Ok(Some(Arc::new(Shared {
        name: name.to_owned(),
        function,
        facts,
        signature: signature.cloned(),
        allowed_lds: Mutex::new(FREE_LDS.saturating_sub(facts.lds_bytes)),
    })))
}

impl Kernel {
    /// A built-in kernel: loaded once, and kept as long as the device.
    pub(super) fn built_in(device: &Arc<Device>, name: &str) -> Result<Kernel> {
        device.enter()?;
        let shared = device.built_ins.find(device, name)?;
        Ok(Kernel {
            device: device.clone(),
            module: None,
            shared,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The device that it is loaded on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Its facts.
    pub fn facts(&self) -> KernelFacts {
        self.shared.facts
    }

    pub(super) fn function(&self) -> FunctionHandle {
        self.shared.function
    }

    pub(super) fn used(&self, mark: Mark) {
        if let Some(module) = &self.module {
            module.uses.add(mark);
        }
    }

    /// Notes uses by a program that is gone.
    pub(super) fn uses(&self) -> Option<&Uses> {
        self.module.as_ref().map(|module| &module.uses)
    }

    /// Checks a launch of it on `device`; `Ok(false)` if it does nothing.
    pub(super) fn check(
        &self,
        device: &Device,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_lds: u32,
    ) -> Result<bool> {
        if !std::ptr::eq(Arc::as_ptr(&self.device), device) {
            return Err(self.wrong("it is loaded on another device"));
        }
        if grid.contains(&0) || block.contains(&0) {
            return Ok(false);
        }
        let threads = block
            .iter()
            .try_fold(1_u32, |product, n| product.checked_mul(*n));
        let most = self.facts().max_block_threads;
        if threads.is_none_or(|threads| threads > most) {
            return Err(self.wrong(&format!(
                "a block of {block:?} has more than {most} work items"
            )));
        }
        // Both drivers count a grid's blocks in 16 bits in y and z; AMD's packets count work items.
        let items = grid.iter().zip(block).map(|(n, size)| n.checked_mul(size));
        let [x, y, z] = grid;
        if items.into_iter().any(|n| n.is_none()) || x > i32::MAX as u32 || y.max(z) > 65535 {
            return Err(self.wrong(&format!("a grid of {grid:?} blocks is too large")));
        }
        let limit = device.facts().lds_bytes_opt_in;
        let lds = self.facts().lds_bytes.checked_add(dynamic_lds);
        if lds.is_none_or(|lds| lds > limit) {
            return Err(self.wrong(&format!(
                "{} + {dynamic_lds} bytes of local memory are more than {limit}",
                self.facts().lds_bytes
            )));
        }
        let mut allowed = self.shared.allowed_lds.lock();
        if dynamic_lds > *allowed {
            // SAFETY: the kernel is loaded.
            let code = unsafe { device.api.allow_dynamic_lds(self.function(), dynamic_lds) };
            device.check(code, || {
                format!(
                    "giving '{}' {dynamic_lds} bytes of local memory",
                    self.name()
                )
            })?;
            *allowed = dynamic_lds;
        }
        Ok(true)
    }

    /// How many clusters of so many blocks of `threads` threads and `lds` bytes of dynamic local memory run at once (NVIDIA).
    ///
    /// # Errors
    /// As for a launch; the driver's.
    pub(crate) fn clusters_at_once(&self, blocks: u32, threads: u32, lds: u32) -> Result<u32> {
        let (grid, block) = ([blocks, 1, 1], [threads, 1, 1]);
        self.check(&self.device, grid, block, lds)?;
        let launch = Launch {
            function: self.function(),
            grid,
            block,
            lds_bytes: lds,
            overlap: Overlap::None,
            cluster: blocks,
        };
        // SAFETY: the kernel is loaded.
        unsafe { self.device.api.clusters_at_once(&launch) }
    }

    /// What it may begin under: all that it follows, if it waits for that itself.
    pub(super) fn overlap(&self) -> Overlap {
        let signature = self.shared.signature.as_ref();
        match signature.is_some_and(|signature| signature.waits) {
            true => Overlap::All,
            false => Overlap::None,
        }
    }

    /// Checks arguments against what the kernel takes.
    pub(super) fn check_args(&self, device: &Device, args: &Args) -> Result<()> {
        args.check(device).map_err(|wrong| self.wrong(wrong))?;
        let signature = self.shared.signature.as_ref();
        let wrong = signature.and_then(|s| s.wrong(args.values().len(), args.wide()));
        #[cfg(debug_assertions)]
        let wrong = wrong.or_else(|| {
            let is_built_in = self.module.is_none();
            let takes = parameters::of(self.name()).filter(|_| is_built_in)?;
            parameters::wrong(takes, args.given())
        });
        match wrong {
            Some(wrong) => Err(self.wrong(&wrong)),
            None => Ok(()),
        }
    }

    pub(super) fn wrong(&self, what: &str) -> Error {
        Error::InvalidArgument(format!("launch of '{}': {what}", self.name()))
    }
}

/// Built-in kernels that were asked for, and their modules.
#[derive(Default)]
pub(super) struct BuiltIns(Mutex<Loaded>);

#[derive(Default)]
struct Loaded {
    /// By the source that the kernels come from.
    modules: HashMap<&'static str, (ModuleHandle, HashMap<String, Signature>)>,
    kernels: HashMap<String, Arc<Shared>>,
}

impl BuiltIns {
    fn find(&self, device: &Device, name: &str) -> Result<Arc<Shared>> {
        let mut loaded = self.0.lock();
        if let Some(shared) = loaded.kernels.get(name) {
            return Ok(shared.clone());
        }
        let source = Registry::source(name)
            .ok_or_else(|| Error::Unsupported(format!("there is no built-in kernel '{name}'")))?;
        let (module, signatures) = match loaded.modules.entry(source) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let load = |code: &Arc<[u8]>| Ok((device.api.module_load(code)?, signatures(code)));
                entry.insert(device.registry().load(name, load)?)
            }
        };
        let shared = find(device, *module, name, signatures.get(name))?.ok_or_else(|| {
            Error::Internal(format!("the built-in code object has no kernel '{name}'"))
        })?;
        loaded.kernels.insert(name.to_owned(), shared.clone());
        Ok(shared)
    }

    /// Unloads all: for the end of the device.
    pub fn unload(&self, device: &Device) {
        let loaded = std::mem::take(&mut *self.0.lock());
        for (module, _) in loaded.modules.into_values() {
            // SAFETY: kernels keep the device, which is going: there are none left.
            unsafe { device.api.module_unload(module) };
        }
    }
}
