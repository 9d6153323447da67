//! A BLAS library's files: which names to try, which version it is, which devices it has code for.

use super::facts::Platform;
use super::table::find;
use libloading::Library;
use std::ffi::{CStr, OsStr, OsString, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether a library is hipBLASLt, by its file's name.
pub(super) fn is_lt(name: &OsStr) -> bool {
    let file = Path::new(name).file_name().unwrap_or(name);
    file.to_string_lossy().contains("hipblaslt")
}

/// "librocblas.so.5 5.0.2". hipBLASLt tells its version only by a handle.
pub(super) fn title(library: &Library, name: &OsStr, platform: Platform) -> String {
    let file = Path::new(name)
        .file_name()
        .unwrap_or(name)
        .to_string_lossy();
    if is_lt(name) {
        return file.into_owned();
    }
    // SAFETY: the headers' signatures; the text is written with its end, the number into an integer.
    let version = unsafe {
        match platform {
            Platform::Hip => {
                type Text = unsafe extern "C" fn(*mut c_char, usize) -> c_int;
                let mut text = [0_u8; 128];
                let get: Option<Text> = find(library, &["rocblas_get_version_string"]);
                get.filter(|get| get(text.as_mut_ptr().cast(), text.len() - 1) == 0)
                    .and_then(|_| CStr::from_bytes_until_nul(&text).ok())
                    .map(|text| text.to_string_lossy().into_owned())
            }
            Platform::Cuda => {
                type Property = unsafe extern "C" fn(c_uint, *mut c_int) -> c_int;
                let get: Option<Property> = find(library, &["cublasGetProperty"]);
                let part = |get: Property, which| {
                    let mut number = 0;
                    (get(which, &mut number) == 0).then(|| number.to_string())
                };
                get.and_then(|get| {
                    (0..3)
                        .map(|which| part(get, which))
                        .collect::<Option<Vec<_>>>()
                })
                .map(|parts| parts.join("."))
            }
        }
    };
    format!(
        "{file} {}",
        version.as_deref().unwrap_or("of an unknown version")
    )
}

/// The names to try, newest first; hipBLASLt's before those of rocBLAS, which for gfx1151 is the slower one by far.
pub(super) fn names(platform: Platform) -> Vec<OsString> {
    let kinds: &[(&str, &[u32])] = match platform {
        Platform::Hip => &[
            ("libhipblaslt.so", &[1, 0]),
            ("librocblas.so", &[5, 4, 3, 0]),
        ],
        Platform::Cuda => &[("libcublas.so", &[13, 12])],
    };
    let mut names = Vec::new();
    for (file, versions) in kinds {
        let mut files: Vec<String> = versions.iter().map(|v| format!("{file}.{v}")).collect();
        files.push((*file).into());
        names.extend(files.iter().map(OsString::from));
        if platform == Platform::Hip {
            names.extend(super::loader::in_rocm(&files));
        }
    }
    names
}

/// A library's file as it is now. What was found about it holds as long as it stays this file; to see that,
/// the library need not be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlasFile {
    path: String,
    bytes: u64,
    /// When it was changed last, ns since 1970.
    modified: u128,
}

impl BlasFile {
    /// The file at a path, if there is one and words can be made of the path.
    fn at(path: &Path) -> Option<BlasFile> {
        let facts = path.metadata().ok()?;
        let modified = facts.modified().ok()?;
        let modified = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
        let path = path.to_str().filter(|path| !path.contains('\n'))?;
        Some(BlasFile {
            path: path.to_owned(),
            bytes: facts.len(),
            modified: modified.as_nanos(),
        })
    }

    /// The file of the library that has a function.
    pub(super) fn of(function: *const c_void) -> Option<BlasFile> {
        BlasFile::at(&path_of(function)?)
    }

    /// Whether the file is still the same.
    pub fn is_there(&self) -> bool {
        BlasFile::at(Path::new(&self.path)).as_ref() == Some(self)
    }

    /// One line.
    pub fn to_words(&self) -> String {
        format!("{} {} {}", self.bytes, self.modified, self.path)
    }

    /// What `to_words` wrote.
    pub fn from_words(words: &str) -> Option<BlasFile> {
        let mut words = words.splitn(3, ' ');
        Some(BlasFile {
            bytes: words.next()?.parse().ok()?,
            modified: words.next()?.parse().ok()?,
            path: words.next()?.to_owned(),
        })
    }
}

/// Where the library that has a function has its kernels: in a folder beside itself, if the environment does not say.
pub(super) fn code_folder(
    function: *const c_void,
    variable: &str,
    beside: &str,
) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(variable) {
        return Some(folder.into());
    }
    Some(path_of(function)?.parent()?.join(beside))
}

/// The path of the library that has a function.
fn path_of(function: *const c_void) -> Option<PathBuf> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for; all zeros is a value, filled on success.
    let info =
        unsafe { (libc::dladdr(function, info.as_mut_ptr()) != 0).then(|| info.assume_init()) }?;
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a C string that belongs to the loaded library.
    let file = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(OsStr::from_bytes(file.to_bytes()).into())
}

/// Whether a folder has a file for this target, `depth` folders deep.
pub(super) fn has_code(folder: &Path, arch: &str, depth: u32) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| word == arch)
            || (depth > 0 && path.is_dir() && has_code(&path, arch, depth - 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_for_a_target_is_a_file_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("4.1/library");
        std::fs::create_dir_all(&library).unwrap();
        std::fs::write(library.join("TensileLibrary_lazy_gfx1100.dat"), "").unwrap();
        std::fs::write(library.join("Kernels.so-000-gfx90a-xnack+.hsaco"), "").unwrap();
        let has = |arch| has_code(folder.path(), arch, 3);
        assert!(has("gfx1100") && has("gfx90a"));
        assert!(!has("gfx110") && !has("gfx1103") && !has("gfx90"));
        assert!(!has_code(&folder.path().join("none"), "gfx1100", 3));
    }

    #[test]
    fn a_file_is_known_by_its_size_and_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib of blas.so 5");
        assert_eq!(BlasFile::at(&path), None);
        std::fs::write(&path, "one").unwrap();
        let file = BlasFile::at(&path).unwrap();
        assert!(file.is_there());
        assert_eq!(BlasFile::from_words(&file.to_words()), Some(file.clone()));
        for words in ["", "3", "3 5", "-3 5 /a", "x 5 /a"] {
            assert_eq!(BlasFile::from_words(words), None, "{words}");
        }
        std::fs::write(&path, "three").unwrap();
        assert!(!file.is_there());
        let other = BlasFile::at(&path).unwrap();
        let opened = std::fs::File::options().write(true).open(&path).unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(9);
        opened.set_modified(later).unwrap();
        assert!(!other.is_there());
        std::fs::remove_file(&path).unwrap();
        assert!(!other.is_there());
    }

    #[test]
    fn newer_libraries_are_tried_first() {
        let names = names(Platform::Hip);
        assert_eq!(names[0], "libhipblaslt.so.1");
        assert_eq!(names[2], "libhipblaslt.so");
        let ends = |place: usize, end| names[place].to_str().unwrap().ends_with(end);
        assert!(ends(3, "/lib/libhipblaslt.so.1"));
        assert_eq!(names[6], "librocblas.so.5");
        assert_eq!(names[10], "librocblas.so");
        assert!(ends(11, "/lib/librocblas.so.5"));
        assert!(names[..6].iter().all(|name| is_lt(name)) && !is_lt(&names[6]));
        assert_eq!(super::names(Platform::Cuda)[0], "libcublas.so.13");
    }
}
