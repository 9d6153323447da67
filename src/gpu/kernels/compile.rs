//! Compilation at run time: the vendor's compiler, else a clang of the user's; each result is kept
//! on disk.

use super::cache::{self, Cache};
use super::clang::Clang;
use super::{probe, targets};
use crate::driver::{self, Platform, Refused, RuntimeLibrary};
use crate::log::{self, Level};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::ffi::{CStr, CString};
use std::sync::{Arc, OnceLock};

/// The longest compiler log that goes into a message, in bytes.
const LONGEST_LOG: usize = 16 << 10;

/// A kernel that compiles wherever kernels do.
const TRIAL: &CStr = c"extern \"C\" __attribute__((global)) void trial(int *p) { *p = 1; }\n";

/// Compiled code.
#[derive(Debug, Clone)]
pub struct Code {
    /// What the driver loads: ELF or a bundle (AMD), machine code or PTX (NVIDIA).
    pub bytes: Arc<[u8]>,
    /// Whether it came from the disk cache.
    pub is_cached: bool,
}

/// The run-time compiler of one device. Immutable, compiles one source at a time: any thread.
#[derive(Clone)]
pub struct Compiler {
    inner: Arc<Inner>,
}

struct Inner {
    arch: String,
    platform: Platform,
    cache: Cache,
    /// Opened when first needed: loading it costs time and memory.
    backend: OnceLock<Result<Backend>>,
}

/// Who compiles.
enum Backend {
    Vendor(RuntimeLibrary),
    Clang(Clang),
}

impl Backend {
    fn identity(&self) -> &str {
        match self {
            Backend::Vendor(library) => library.identity(),
            Backend::Clang(clang) => clang.identity(),
        }
    }
}

impl Compiler {
    /// The compiler for `arch` ("gfx1151", "sm_90") with the user's disk cache. Opens nothing yet.
    pub fn new(arch: &str, platform: Platform) -> Compiler {
        Compiler::with_cache(arch, platform, Cache::of_user())
    }

    pub(super) fn with_cache(arch: &str, platform: Platform, cache: Cache) -> Compiler {
        let inner = Inner {
            arch: arch.to_owned(),
            platform,
            cache,
            backend: OnceLock::new(),
        };
        Compiler {
            inner: Arc::new(inner),
        }
    }

    /// The platform that it compiles for.
    pub(in crate::gpu) fn platform(&self) -> Platform {
        self.inner.platform
    }

    /// Loads who compiles, if there is one; else the first compilation does.
    pub(in crate::gpu) fn load(&self) {
        let _ = self.backend();
    }

    fn backend(&self) -> &Result<Backend> {
        let inner = &*self.inner;
        inner
            .backend
            .get_or_init(|| open(&inner.arch, inner.platform))
    }

    /// Compiles a source in HIP's language (`extern "C" __global__ void name(...)`); `name` stands
    /// for it in messages. `options` are passed on to the compiler (`-DNAME=VALUE`).
    ///
    /// # Errors
    /// `InvalidArgument` with the compiler's log if it refuses the source; `Unsupported` if there is
    /// no compiler for this device, with what to install.
    pub fn compile_source(&self, name: &str, source: &str, options: &[&str]) -> Result<Code> {
        self.run(name, source, options, false)
    }

    /// The same for an embedded source.
    pub(in crate::gpu) fn compile(
        &self,
        name: &str,
        source: &str,
        options: &[&str],
    ) -> Result<Code> {
        self.run(name, source, options, true)
    }

    fn run(&self, name: &str, source: &str, options: &[&str], is_built_in: bool) -> Result<Code> {
        let inner = &*self.inner;
        let text = c_string(source, "the kernel source")?;
        let list: Vec<CString> = options
            .iter()
            .map(|option| c_string(option, "a compiler option"))
            .collect::<Result<_>>()?;
        let list: Vec<&CStr> = list.iter().map(CString::as_c_str).collect();
        let backend = self.backend().as_ref().map_err(Clone::clone)?;
        let kind = if is_built_in {
            "built-in"
        } else {
            "application"
        };
        let mut parts = vec![
            env!("CARGO_PKG_VERSION"),
            kind,
            backend.identity(),
            &inner.arch,
            source,
        ];
        parts.extend(options);
        let key = cache::key(&parts);
        if let Some(bytes) = inner.cache.get(&key) {
            match check(&bytes, inner.platform, &inner.arch) {
                Ok(()) => {
                    return Ok(Code {
                        bytes: bytes.into(),
                        is_cached: true,
                    });
                }
                Err(what) => log::write(Level::Warn, || {
                    format!("kernel cache: {name}: {what}; it is compiled again")
                }),
            }
        }
        let result = match backend {
            Backend::Vendor(library) => library.compile(&inner.arch, name, &text, &list),
            Backend::Clang(clang) => clang.compile(&inner.arch, name, &text, &list, is_built_in),
        };
        let bytes = result.map_err(|Refused(log)| {
            Error::InvalidArgument(format!(
                "{name} does not compile for {} ({}):\n{}",
                inner.arch,
                backend.identity(),
                shorten(&log)
            ))
        })?;
        check(&bytes, inner.platform, &inner.arch).map_err(|what| {
            Error::Unsupported(format!(
                "{name}: what {} made for {} {what}",
                backend.identity(),
                inner.arch
            ))
        })?;
        inner.cache.put(&key, &bytes);
        log::write(Level::Debug, || {
            format!("{name}: compiled for {}", inner.arch)
        });
        Ok(Code {
            bytes: bytes.into(),
            is_cached: false,
        })
    }
}

/// The vendor's compiler if it can be used for this target, else the user's clang.
fn open(arch: &str, platform: Platform) -> Result<Backend> {
    if !targets::is_name(arch) {
        return Err(Error::Unsupported(format!(
            "'{arch}' is no name of a GPU target"
        )));
    }
    let vendor = RuntimeLibrary::open(platform).and_then(|library| {
        if platform == Platform::Hip {
            may_compile(&library, arch)?;
        }
        Ok(library)
    });
    match vendor {
        Ok(library) => Ok(Backend::Vendor(library)),
        Err(error) => match Clang::named()? {
            Some(clang) => {
                log::write(Level::Info, || {
                    format!("kernels are compiled by {}: {error}", clang.identity())
                });
                Ok(Backend::Clang(clang))
            }
            None => Err(error),
        },
    }
}

/// Whether hiprtc can be given this target without ending the process.
fn may_compile(library: &RuntimeLibrary, arch: &str) -> Result<()> {
    let known = match driver::comgr_targets() {
        Some(targets) => targets.iter().any(|target| target == arch),
        None => survives(library, arch),
    };
    if known {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "the run-time compiler {} does not know {arch}: update ROCm, or name a clang++ that knows \
         it in MLXROCM_CLANG",
        library.identity()
    )))
}

/// Whether a trial compilation comes to its end. Tried once a process: it takes long.
fn survives(library: &RuntimeLibrary, arch: &str) -> bool {
    static ANSWERS: Mutex<Vec<(String, bool)>> = Mutex::new(Vec::new());
    let subject = format!("{} {arch}", library.identity());
    let mut answers = ANSWERS.lock();
    if let Some((_, answer)) = answers.iter().find(|(asked, _)| *asked == subject) {
        return *answer;
    }
    let answer = probe::survives(|| {
        let _ = library.compile(arch, "trial", TRIAL, &[]);
    });
    answers.push((subject, answer));
    answer
}

/// Whether the bytes are code for this target, as far as can be seen from outside.
fn check(bytes: &[u8], platform: Platform, arch: &str) -> Result<(), String> {
    let contains = |needle: &str| {
        bytes
            .windows(needle.len())
            .any(|window| window == needle.as_bytes())
    };
    let is_elf = bytes.starts_with(b"\x7fELF");
    match platform {
        Platform::Hip
            if !is_elf
                && !bytes.starts_with(b"__CLANG_OFFLOAD_BUNDLE__")
                && !bytes.starts_with(b"CCOB") =>
        {
            Err("is no code object".into())
        }
        // An ELF names its target in its notes; so does each entry of a bundle, unless compressed.
        Platform::Hip if !bytes.starts_with(b"CCOB") && !contains(arch) => {
            Err(format!("is not for {arch}"))
        }
        Platform::Cuda if !is_elf && !contains(".version") => {
            Err("is neither machine code nor PTX".into())
        }
        _ => Ok(()),
    }
}

fn c_string(text: &str, what: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::InvalidArgument(format!("{what} contains a zero byte")))
}

/// The beginning of a log, where the first error is.
fn shorten(log: &str) -> &str {
    let mut end = log.len().min(LONGEST_LOG);
    while !log.is_char_boundary(end) {
        end -= 1;
    }
    log.get(..end).unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_another_target_is_noticed() {
        let mut elf = b"\x7fELF....amdgcn-amd-amdhsa--gfx1100....".to_vec();
        assert_eq!(check(&elf, Platform::Hip, "gfx1100"), Ok(()));
        assert!(check(&elf, Platform::Hip, "gfx942").is_err());
        elf[0] = 0;
        assert!(check(&elf, Platform::Hip, "gfx1100").is_err());
        assert_eq!(
            check(b"//\n.version 8.0\n\0", Platform::Cuda, "sm_90"),
            Ok(())
        );
        assert!(check(b"", Platform::Cuda, "sm_90").is_err());
    }

    #[test]
    fn a_zero_in_a_source_is_an_error() {
        let compiler = Compiler::new("gfx1100", Platform::Hip);
        let error = compiler.compile_source("zero", "a\0b", &[]).unwrap_err();
        assert!(matches!(error, Error::InvalidArgument(_)), "{error}");
        let error = compiler.compile_source("zero", "a", &["\0"]).unwrap_err();
        assert!(matches!(error, Error::InvalidArgument(_)), "{error}");
    }

    #[test]
    fn a_strange_target_never_reaches_a_compiler() {
        let compiler = Compiler::new("gfx1100 --version", Platform::Hip);
        let error = compiler.compile_source("k", "", &[]).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    }

    #[test]
    fn a_long_log_is_cut_between_characters() {
        let log = "ä".repeat(LONGEST_LOG);
        let short = shorten(&log);
        assert!(short.len() <= LONGEST_LOG && short.len() > LONGEST_LOG - 4);
        assert_eq!(shorten("one\n"), "one");
    }
}
