//! Modules: code objects loaded from memory, and their functions.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

use super::attributes::LDS_BYTES;
use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::facts::target_runs_on;
use super::faults::Site;
use super::handles::HandleKind;
use super::host_read;
use super::runtime::runtime;
use super::state::State;
use crate::isa::{CodeObject, Kernel};

const BUNDLE_MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// No code object is larger; protects against reading a length out of garbage.
const LARGEST_IMAGE: u64 = 1 << 30;

/// A loaded module.
pub struct Module {
    /// Ordinal of its device.
    pub device: usize,
    code: Arc<CodeObject>,
}

/// A kernel of a module.
#[derive(Clone)]
pub struct Function {
    /// Handle of its module.
    pub module: u64,
    /// The code.
    pub kernel: Arc<Kernel>,
}

impl State {
    /// The kernel that a function handle names.
    ///
    /// # Errors
    /// A handle that names no function of a loaded module; a function of another device's module.
    pub fn function_kernel(
        &mut self,
        function: *const c_void,
        device: Option<usize>,
    ) -> Outcome<Arc<Kernel>> {
        let handle = function as u64;
        let Some(found) = self.functions.get(&handle).cloned() else {
            self.bad_handle(HandleKind::Function, handle);
            return Err(Error::INVALID_DEVICE_FUNCTION);
        };
        let home = self.modules.get(&found.module).map(|module| module.device);
        if device.is_some() && home != device {
            let message = format!("kernel {} was loaded for another device", found.kernel.name);
            self.report.violation("wrong_device", message);
            return Err(Error::INVALID_DEVICE_FUNCTION);
        }
        Ok(found.kernel)
    }
}

fn integer<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset + N)?.try_into().ok()
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u64> {
    integer(bytes, offset).map(|bytes| u64::from(u16::from_le_bytes(bytes)))
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    integer(bytes, offset).map(u64::from_le_bytes)
}

/// Reads `length` bytes of the program's memory.
fn read_image(address: u64, length: u64) -> Option<Vec<u8>> {
    if length > LARGEST_IMAGE {
        return None;
    }
    let mut bytes = vec![0; length as usize];
    host_read::read(address, &mut bytes).then_some(bytes)
}

/// An ELF file in memory says itself how long it is: its last header or section.
fn read_elf(address: u64) -> Option<Vec<u8>> {
    let header = read_image(address, 64)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (program, section) = (u64_at(&header, 32)?, u64_at(&header, 40)?);
    let (program_size, program_count) = (u16_at(&header, 54)?, u16_at(&header, 56)?);
    let (section_size, section_count) = (u16_at(&header, 58)?, u16_at(&header, 60)?);
    let mut end = 64;
    for (start, size, count, offset_at, size_at) in [
        (program, program_size, program_count, 8, 32),
        (section, section_size, section_count, 24, 32),
    ] {
        if count == 0 {
            continue;
        }
        end = end.max(start.checked_add(size * count)?);
        let table = read_image(address.checked_add(start)?, size * count)?;
        for entry in table.chunks_exact(size.max(1) as usize) {
            // SHT_NOBITS sections have a size but no bytes in the file.
            let no_bits = offset_at == 24 && entry.get(4..8) == Some(&[8, 0, 0, 0]);
            if !no_bits {
                end = end.max(u64_at(entry, offset_at)?.checked_add(u64_at(entry, size_at)?)?);
            }
        }
    }
    read_image(address, end)
}

/// The code object for `arch` in an uncompressed clang offload bundle.
fn read_bundle(address: u64, arch: &str) -> Outcome<Vec<u8>> {
    let start = address + BUNDLE_MAGIC.len() as u64;
    let count = host_read::read_u64(start)
        .filter(|count| *count < 1000)
        .ok_or(Error::INVALID_IMAGE)?;
    let mut at = start + 8;
    for _ in 0..count {
        let entry = read_image(at, 24).ok_or(Error::INVALID_IMAGE)?;
        let field = |index| u64_at(&entry, index).ok_or(Error::INVALID_IMAGE);
        let (offset, size, name_length) = (field(0)?, field(8)?, field(16)?);
        let name = read_image(at + 24, name_length.min(4096)).ok_or(Error::INVALID_IMAGE)?;
        at += 24 + name_length;
        let name = String::from_utf8_lossy(&name).into_owned();
        let target = name.rsplit("--").next().unwrap_or("");
        let target = target.split(':').next().unwrap_or("");
        if name.starts_with("hip") && target_runs_on(target, arch) {
            return read_image(address + offset, size).ok_or(Error::INVALID_IMAGE);
        }
    }
    Err(Error::NO_BINARY_FOR_GPU)
}

fn read_code(address: u64, arch: &str) -> Outcome<Vec<u8>> {
    let start = read_image(address, BUNDLE_MAGIC.len() as u64).ok_or(Error::INVALID_IMAGE)?;
    if start == BUNDLE_MAGIC {
        return read_bundle(address, arch);
    }
    read_elf(address).ok_or(Error::INVALID_IMAGE)
}

fn load(module: *mut *mut c_void, image: *const c_void) -> Outcome {
    if module.is_null() || image.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let (ordinal, arch) = {
        let mut state = runtime().lock();
        let ordinal = state.usable_device()?;
        state.refuse_while_capturing("module load")?;
        if state.faults.strikes(Site::Module) {
            return Err(Error::OUT_OF_MEMORY);
        }
        (ordinal, state.device()?.facts.arch)
    };
    let bytes = read_code(image as u64, arch)?;
    // Loading disassembles the code, which takes long: not under the lock.
    let loaded = CodeObject::load(&bytes);
    let mut state = runtime().lock();
    let code = match loaded {
        Ok(code) => code,
        Err(message) => {
            state.report.violation("code_object", message);
            return Err(Error::INVALID_IMAGE);
        }
    };
    let target = code.target().split(':').next().unwrap_or("");
    if !target_runs_on(target, arch) {
        return Err(Error::NO_BINARY_FOR_GPU);
    }
    let handle = state.new_handle(HandleKind::Module);
    state.modules.insert(
        handle,
        Module {
            device: ordinal,
            code,
        },
    );
    drop(state);
    write_out(module, handle as *mut c_void)
}

hip_functions! {
    /// Loads a code object (ELF or uncompressed offload bundle) for the thread's device.
    fn hipModuleLoadData(module: *mut *mut c_void, image: *const c_void) {
        load(module, image)
    }

    /// Loads a code object; the options are those of CUDA and are not used.
    fn hipModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        _count: std::ffi::c_uint,
        _options: *mut c_int,
        _values: *mut *mut c_void,
    ) {
        load(module, image)
    }

    /// Unloads a module. Reports queued kernels of it, and waits for them.
    fn hipModuleUnload(module: *mut c_void) {
        let mut state = runtime().lock();
        let handle = module as u64;
        let Some(ordinal) = state.modules.get(&handle).map(|found| found.device) else {
            return Err(state.bad_handle(HandleKind::Module, handle));
        };
        let mine: Vec<Arc<Kernel>> = state
            .functions
            .values()
            .filter(|function| function.module == handle)
            .map(|function| function.kernel.clone())
            .collect();
        if state.kernels_queued(&mine) {
            let message = "hipModuleUnload while a kernel of the module is queued".to_owned();
            state.report.violation("free_in_flight", message);
            runtime().wait(&mut state, "hipModuleUnload", |state| {
                (!state.kernels_queued(&mine) || state.check_device(ordinal).is_err()).then_some(Ok(()))
            })?;
        }
        state.modules.remove(&handle);
        state.functions.retain(|_, function| function.module != handle);
        Ok(())
    }

    /// The function of a module by name.
    fn hipModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        if function.is_null() || name.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: not null; HIP's contract gives a C string.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        let mut state = runtime().lock();
        let module = module as u64;
        let Some(found) = state.modules.get(&module) else {
            return Err(state.bad_handle(HandleKind::Module, module));
        };
        let kernel = found.code.kernel(&name).ok_or(Error::NOT_FOUND)?;
        let known = state
            .functions
            .iter()
            .find(|(_, known)| known.module == module && known.kernel.name == name)
            .map(|(handle, _)| *handle);
        let handle = known.unwrap_or_else(|| {
            let handle = state.new_handle(HandleKind::Function);
            state.functions.insert(handle, Function { module, kernel });
            handle
        });
        drop(state);
        write_out(function, handle as *mut c_void)
    }

    /// A fact about a function, `hipFunction_attribute`.
    fn hipFuncGetAttribute(value: *mut c_int, attribute: c_int, function: *mut c_void) {
        let kernel = runtime().lock().function_kernel(function, None)?;
        let answer = match attribute {
            0 => kernel.max_workgroup as c_int,
            1 => kernel.lds_bytes as c_int,
            2 | 5 | 6 | 7 | 9 => 0,
            3 => kernel.scratch_bytes as c_int,
            4 => kernel.vgprs as c_int,
            8 => LDS_BYTES - kernel.lds_bytes as c_int,
            _ => return Err(Error::INVALID_VALUE),
        };
        write_out(value, answer)
    }
}
