//! The vendors' run-time compilers, hiprtc and nvrtc, opened when first needed. Both have the same
//! functions but for the prefix of their names.

use super::facts::Platform;
use crate::{Error, Result};
use libloading::os::unix::{Library, Symbol};
use parking_lot::Mutex;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::os::unix::fs::MetadataExt;
use std::ptr::{null, null_mut};

/// A program being compiled, opaque.
type Program = *mut c_void;

type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Bytes = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;
type ArchCount = unsafe extern "C" fn(*mut c_int) -> c_int;
type Archs = unsafe extern "C" fn(*mut c_int) -> c_int;

/// An opened run-time compiler. Internally locked: any thread.
pub struct RuntimeLibrary {
    platform: Platform,
    /// Name, version, and the file's identity: what its code depends on.
    identity: String,
    create: Symbol<Create>,
    compile: Symbol<Compile>,
    log_size: Symbol<Size>,
    log: Symbol<Bytes>,
    code_size: Symbol<Size>,
    code: Symbol<Bytes>,
    /// nvrtc's machine code, for architectures it knows itself.
    machine_code: Option<(Symbol<Size>, Symbol<Bytes>)>,
    destroy: Symbol<Destroy>,
    error_string: Symbol<ErrorString>,
    /// Newest first; empty for hiprtc and for an nvrtc that does not tell.
    archs: Vec<u32>,
    /// The compilers are LLVM in this process: one compilation at a time.
    busy: Mutex<()>,
}

/// A compilation that the compiler refused: its own words.
pub struct Refused(pub String);

impl RuntimeLibrary {
    /// Opens the platform's compiler.
    ///
    /// # Errors
    /// `Unsupported` if there is none, with what to do.
    pub fn open(platform: Platform) -> Result<RuntimeLibrary> {
        let mut reasons = String::new();
        for name in names(platform) {
            // SAFETY: opening runs the library's constructors; these are the vendor's compilers, or
            // what the user named in the environment.
            match unsafe { Library::open(Some(&name), libc::RTLD_NOW | libc::RTLD_LOCAL) } {
                Ok(library) => {
                    match RuntimeLibrary::bind(platform, &library, &name.to_string_lossy()) {
                        Ok(found) => {
                            // Its code may have threads and exit handlers: it stays.
                            std::mem::forget(library);
                            return Ok(found);
                        }
                        Err(error) => reasons = format!("; {}: {error}", name.to_string_lossy()),
                    }
                }
                Err(error) if is_named(platform) => reasons = format!("; {error}"),
                Err(_) => {}
            }
        }
        Err(Error::Unsupported(match platform {
            Platform::Hip => format!(
                "no run-time compiler: libhiprtc.so was not found (install ROCm's HIP runtime, or \
                 name the file in MLXROCM_HIPRTC_LIBRARY, or a clang++ with the AMDGPU target in \
                 MLXROCM_CLANG){reasons}"
            ),
            Platform::Cuda => format!(
                "no run-time compiler: libnvrtc.so was not found (install the CUDA toolkit's \
                 nvrtc, or name the file in MLXROCM_NVRTC_LIBRARY, or a clang++ with the NVPTX \
                 target in MLXROCM_CLANG){reasons}"
            ),
        }))
    }

    fn bind(
        platform: Platform,
        library: &Library,
        name: &str,
    ) -> Result<RuntimeLibrary, libloading::Error> {
        let prefix = match platform {
            Platform::Hip => "hiprtc",
            Platform::Cuda => "nvrtc",
        };
        macro_rules! function {
            ($name:expr) => {
                // SAFETY: the types above are those of the vendors' headers, unchanged since the
                // oldest release that is opened here.
                unsafe { library.get(format!("{prefix}{}", $name).as_bytes()) }
            };
        }
        let code = match platform {
            Platform::Hip => "Code",
            Platform::Cuda => "PTX",
        };
        let create: Symbol<Create> = function!("CreateProgram")?;
        let version: Symbol<Version> = function!("Version")?;
        let machine_code = match (function!("GetCUBINSize"), function!("GetCUBIN")) {
            (Ok(size), Ok(bytes)) if platform == Platform::Cuda => Some((size, bytes)),
            _ => None,
        };
        let archs = match (
            function!("GetNumSupportedArchs"),
            function!("GetSupportedArchs"),
        ) {
            (Ok(count), Ok(list)) => archs(&count, &list),
            _ => Vec::new(),
        };
        let identity = format!(
            "{} {}",
            version_text(name, &version),
            file_identity(*create as *const c_void)
        );
        Ok(RuntimeLibrary {
            platform,
            identity,
            compile: function!("CompileProgram")?,
            log_size: function!("GetProgramLogSize")?,
            log: function!("GetProgramLog")?,
            code_size: function!(format!("Get{code}Size"))?,
            code: function!(format!("Get{code}"))?,
            destroy: function!("DestroyProgram")?,
            error_string: function!("GetErrorString")?,
            create,
            machine_code,
            archs,
            busy: Mutex::new(()),
        })
    }

    /// What its code depends on besides source, options and target.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Compiles `source` for `arch`. Never call this for an AMD target that the library below may
    /// not know: it aborts the process (see [`super::comgr_targets`]).
    ///
    /// # Errors
    /// The compiler's log.
    pub fn compile(
        &self,
        arch: &str,
        name: &str,
        source: &CStr,
        options: &[&CStr],
    ) -> Result<Vec<u8>, Refused> {
        let (target, is_machine_code) = self.target_option(arch);
        let mut list: Vec<CString> = [target.as_str(), "-std=c++17"]
            .iter()
            .chain(match self.platform {
                Platform::Hip => ["-O3", "-ffp-contract=fast"].iter(),
                Platform::Cuda => ["--fmad=true"].iter(),
            })
            .filter_map(|option| CString::new(*option).ok())
            .collect();
        list.extend(options.iter().map(|option| CString::from(*option)));
        let pointers: Vec<*const c_char> = list.iter().map(|option| option.as_ptr()).collect();
        let name = CString::new(name).unwrap_or_default();
        let _one = self.busy.lock();
        let mut program: Program = null_mut();
        // SAFETY: source and name are C strings; no headers are passed.
        let code = unsafe {
            (self.create)(
                &mut program,
                source.as_ptr(),
                name.as_ptr(),
                0,
                null(),
                null(),
            )
        };
        self.check(code, "creating the program")?;
        let program = Guard {
            library: self,
            program,
        };
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: the program exists; the array has `count` C strings that live until after the call.
        let code = unsafe { (self.compile)(program.program, count, pointers.as_ptr()) };
        if code != 0 {
            let log = self
                .read(program.program, &self.log_size, &self.log)
                .unwrap_or_default();
            let log = String::from_utf8_lossy(&log)
                .trim_end_matches(['\0', '\n'])
                .to_string();
            return Err(Refused(if log.is_empty() {
                self.error(code)
            } else {
                log
            }));
        }
        match &self.machine_code {
            Some((size, bytes)) if is_machine_code => self.read(program.program, size, bytes),
            _ => self.read(program.program, &self.code_size, &self.code),
        }
    }

    /// The option that names the target, and whether it yields machine code. An nvrtc that is older
    /// than the device makes PTX of the newest architecture it knows, for the driver to translate.
    fn target_option(&self, arch: &str) -> (String, bool) {
        if self.platform == Platform::Hip {
            return (format!("--offload-arch={arch}"), true);
        }
        let wanted = arch
            .strip_prefix("sm_")
            .and_then(|number| number.parse::<u32>().ok());
        match wanted {
            Some(wanted) if !self.archs.is_empty() && !self.archs.contains(&wanted) => {
                let below = self.archs.iter().find(|known| **known < wanted);
                let known = below.copied().unwrap_or(wanted);
                (format!("--gpu-architecture=compute_{known}"), false)
            }
            _ => (
                format!("--gpu-architecture={arch}"),
                self.machine_code.is_some(),
            ),
        }
    }

    fn read(
        &self,
        program: Program,
        size: &Symbol<Size>,
        bytes: &Symbol<Bytes>,
    ) -> Result<Vec<u8>, Refused> {
        let mut length = 0;
        // SAFETY: the program exists and `length` is written.
        let code = unsafe { size(program, &mut length) };
        self.check(code, "asking for the result's size")?;
        let mut buffer = Vec::new();
        if buffer.try_reserve_exact(length).is_err() {
            return Err(Refused(format!(
                "the result of {length} bytes does not fit into memory"
            )));
        }
        buffer.resize(length, 0);
        // SAFETY: the buffer has the size that the library asked for.
        let code = unsafe { bytes(program, buffer.as_mut_ptr().cast()) };
        self.check(code, "reading the result")?;
        Ok(buffer)
    }

    fn check(&self, code: c_int, what: &str) -> Result<(), Refused> {
        match code {
            0 => Ok(()),
            code => Err(Refused(format!("{what} failed: {}", self.error(code)))),
        }
    }

    fn error(&self, code: c_int) -> String {
        // SAFETY: the function takes any number and returns a static C string or NULL.
        let text = unsafe { (self.error_string)(code) };
        if text.is_null() {
            return format!("error {code}");
        }
        // SAFETY: not NULL, so a C string that lives as long as the library.
        let text = unsafe { CStr::from_ptr(text) };
        format!("{} (error {code})", text.to_string_lossy())
    }
}

/// Destroys its program.
struct Guard<'a> {
    library: &'a RuntimeLibrary,
    program: Program,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was created by this library and is destroyed once.
        unsafe { (self.library.destroy)(&mut self.program) };
    }
}

/// The environment's name for the library, and whether there is one.
fn variable(platform: Platform) -> Option<OsString> {
    let name = match platform {
        Platform::Hip => "MLXROCM_HIPRTC_LIBRARY",
        Platform::Cuda => "MLXROCM_NVRTC_LIBRARY",
    };
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn is_named(platform: Platform) -> bool {
    variable(platform).is_some()
}

/// The names to try. A HIP library that the user named comes before the system's hiprtc: the two
/// belong together, and HIP libraries have the compiler's functions too (all of ROCm 5 and 6).
fn names(platform: Platform) -> Vec<OsString> {
    if let Some(name) = variable(platform) {
        return vec![name];
    }
    if platform == Platform::Cuda {
        let versions = ["13", "12", "11.2"].map(|version| format!("libnvrtc.so.{version}").into());
        return versions.into_iter().chain(["libnvrtc.so".into()]).collect();
    }
    let mut list: Vec<OsString> = Vec::new();
    list.extend(std::env::var_os("MLXROCM_HIP_LIBRARY").filter(|value| !value.is_empty()));
    let root = std::env::var("ROCM_PATH").unwrap_or_else(|_| "/opt/rocm".into());
    for stem in ["libhiprtc.so", "libamdhip64.so"] {
        for folder in [String::new(), format!("{root}/lib/")] {
            for version in [".7", ".6", ".5", ""] {
                list.push(format!("{folder}{stem}{version}").into());
            }
        }
    }
    list
}

fn version_text(name: &str, version: &Symbol<Version>) -> String {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both numbers are written.
    let code = unsafe { version(&mut major, &mut minor) };
    format!("{name} {major}.{minor} ({code})")
}

/// Path, size and time of the file that a function is in: an update of it changes them.
fn file_identity(function: *const c_void) -> String {
    let mut facts = libc::Dl_info {
        dli_fname: null(),
        dli_fbase: null_mut(),
        dli_sname: null(),
        dli_saddr: null_mut(),
    };
    // SAFETY: dladdr takes any address and fills the structure.
    if unsafe { libc::dladdr(function, &mut facts) } == 0 || facts.dli_fname.is_null() {
        return String::new();
    }
    // SAFETY: dladdr succeeded, so this is the loader's own C string.
    let path = unsafe { CStr::from_ptr(facts.dli_fname) }
        .to_string_lossy()
        .into_owned();
    let Ok(path) = std::fs::canonicalize(path) else {
        return String::new();
    };
    match std::fs::metadata(&path) {
        Ok(facts) => format!("{} {} {}", path.display(), facts.len(), facts.mtime()),
        Err(_) => String::new(),
    }
}

/// The architectures that an nvrtc knows, newest first.
fn archs(count: &Symbol<ArchCount>, list: &Symbol<Archs>) -> Vec<u32> {
    let mut length = 0;
    // SAFETY: the number is written.
    if unsafe { count(&mut length) } != 0 || !(0..1024).contains(&length) {
        return Vec::new();
    }
    let mut numbers = vec![0; usize::try_from(length).unwrap_or(0)];
    // SAFETY: the array has as many numbers as the library said.
    if unsafe { list(numbers.as_mut_ptr()) } != 0 {
        return Vec::new();
    }
    let mut archs: Vec<u32> = numbers
        .into_iter()
        .filter_map(|number| u32::try_from(number).ok())
        .collect();
    archs.sort_by(|a, b| b.cmp(a));
    archs
}
