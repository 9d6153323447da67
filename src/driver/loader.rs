//! Finding and opening the vendors' libraries.

use super::api::Api;
use super::facts::Platform;
use super::linkage::is_static;
use crate::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::OnceLock;

/// The driver of a platform, opened once per process; the environment variables
/// `MLXROCM_HIP_LIBRARY` and `MLXROCM_CUDA_LIBRARY` name another library file.
///
/// # Errors
/// `NoDevice`: no library, a library that is too old, or no device, with what to do about it.
pub fn open(platform: Platform) -> Result<&'static Api> {
    static HIP: OnceLock<Result<Api>> = OnceLock::new();
    static CUDA: OnceLock<Result<Api>> = OnceLock::new();
    let (cell, variable) = match platform {
        Platform::Hip => (&HIP, "MLXROCM_HIP_LIBRARY"),
        Platform::Cuda => (&CUDA, "MLXROCM_CUDA_LIBRARY"),
    };
    let load = || open_library(platform, std::env::var_os(variable).as_deref());
    match cell.get_or_init(load) {
        Ok(api) => Ok(api),
        Err(error) => Err(error.clone()),
    }
}

/// Opens the library file `library`, or the platform's own by its names, newest known first.
///
/// # Errors
/// As [`open`].
pub fn open_library(platform: Platform, library: Option<&OsStr>) -> Result<Api> {
    if is_static() {
        return Err(Error::NoDevice(format!(
            "this program is linked statically and can open no {} library: link it dynamically, \
             with libmlxrocm.a or libmlxrocm.so",
            platform.name()
        )));
    }
    if let Some(name) = library {
        return Api::load(platform, name)
            .map_err(|reason| Error::NoDevice(reason.message(platform, Some(name))));
    }
    // What a name that exists said: it tells more than "not found" of the others.
    let mut found = None;
    for name in names(platform) {
        match Api::load(platform, &name) {
            Ok(api) => return Ok(api),
            Err(Refusal::NotFound(_)) => {}
            Err(refusal) => {
                found.get_or_insert((refusal, name));
            }
        }
    }
    Err(Error::NoDevice(match found {
        Some((refusal, name)) => refusal.message(platform, Some(&name)),
        None => Refusal::NotFound(String::new()).message(platform, None),
    }))
}

/// Why a library cannot be used.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The loader did not find or could not load it; its words.
    NotFound(String),
    /// It lacks this function.
    TooOld(&'static str),
    /// It loads but the driver below does not work or has no device.
    Unusable(String),
}

impl Refusal {
    fn message(&self, platform: Platform, name: Option<&OsStr>) -> String {
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        match (self, platform) {
            (Refusal::NotFound(_), Platform::Hip) if name.is_empty() => {
                "no AMD GPU runtime: libamdhip64.so was not found; install ROCm's HIP runtime \
                 (package hip-runtime-amd or libamdhip64) or name the file in MLXROCM_HIP_LIBRARY"
                    .into()
            }
            (Refusal::NotFound(_), Platform::Cuda) if name.is_empty() => {
                "no NVIDIA driver: libcuda.so.1 was not found; install the NVIDIA driver or name \
                 the file in MLXROCM_CUDA_LIBRARY"
                    .into()
            }
            (Refusal::NotFound(words), _) => format!(
                "{} library '{name}' cannot be loaded ({words}); check the path in {}",
                platform.name(),
                match platform {
                    Platform::Hip => "MLXROCM_HIP_LIBRARY",
                    Platform::Cuda => "MLXROCM_CUDA_LIBRARY",
                }
            ),
            (Refusal::TooOld(function), Platform::Hip) => format!(
                "HIP library '{name}' is too old: it has no {function}; update to ROCm 5.2 or later"
            ),
            (Refusal::TooOld(function), Platform::Cuda) => format!(
                "CUDA driver '{name}' is too old: it has no {function}; update to a driver for \
                 CUDA 12.1 or later"
            ),
            (Refusal::Unusable(words), _) => words.clone(),
        }
    }
}

/// The names to try, best first: HIP's known versions, then later ones (their answers are checked
/// before use), then the name without a version.
fn names(platform: Platform) -> Vec<OsString> {
    if platform == Platform::Cuda {
        return vec!["libcuda.so.1".into(), "libcuda.so".into()];
    }
    let versions = [7, 6, 5].into_iter().chain(8..=15);
    let mut files: Vec<String> = versions.map(|v| format!("libamdhip64.so.{v}")).collect();
    files.push("libamdhip64.so".into());
    let mut names: Vec<OsString> = files.iter().map(OsString::from).collect();
    names.extend(in_rocm(&files));
    names
}

/// Files in ROCm's own folder, which its packages do not always tell the loader about.
pub(super) fn in_rocm(files: &[String]) -> impl Iterator<Item = OsString> {
    let root = std::env::var_os("ROCM_PATH").unwrap_or_else(|| "/opt/rocm".into());
    let folder = PathBuf::from(root).join("lib");
    files
        .iter()
        .map(move |file| folder.join(file).into_os_string())
}

/// Why HIP finds no device: what stands between the library and the kernel's driver at `node`
/// (`/dev/kfd`).
pub(super) fn hip_remedy(node: std::io::Result<()>) -> &'static str {
    match node.map_err(|error| error.kind()) {
        Ok(()) => {
            "/dev/kfd is accessible, but no supported AMD GPU is behind it; see `rocminfo`, and \
             check HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES"
        }
        Err(std::io::ErrorKind::PermissionDenied) => {
            "no permission on /dev/kfd: add this user to the groups render and video (usermod -aG \
             render,video USER) and log in again"
        }
        Err(_) => {
            "/dev/kfd is missing: load the amdgpu kernel driver, or give it to the container \
             (--device /dev/kfd --device /dev/dri)"
        }
    }
}

/// Whether this process may use the kernel's driver node.
pub(super) fn access(path: &std::ffi::CStr) -> std::io::Result<()> {
    // SAFETY: the path is a C string.
    match unsafe { libc::access(path.as_ptr(), libc::R_OK | libc::W_OK) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn names_go_from_known_to_unknown() {
        let names = names(Platform::Hip);
        assert_eq!(names[0], "libamdhip64.so.7");
        assert_eq!(names[2], "libamdhip64.so.5");
        assert_eq!(names[3], "libamdhip64.so.8");
        let bare = names
            .iter()
            .position(|name| name == "libamdhip64.so")
            .unwrap();
        assert_eq!(bare, 11);
        assert!(
            names[bare + 1]
                .to_str()
                .unwrap()
                .ends_with("/lib/libamdhip64.so.7")
        );
    }

    #[test]
    fn what_stands_in_the_way_is_named() {
        assert!(hip_remedy(Err(ErrorKind::PermissionDenied.into())).contains("render and video"));
        assert!(hip_remedy(Err(ErrorKind::NotFound.into())).contains("is missing"));
        assert!(hip_remedy(Ok(())).contains("rocminfo"));
        assert_eq!(
            access(c"/nonexistent/kfd").unwrap_err().kind(),
            ErrorKind::NotFound
        );
        assert!(access(c"/dev/null").is_ok());
    }

    #[test]
    fn a_missing_library_says_what_to_install() {
        let name = OsStr::new("/nonexistent/libamdhip64.so.7");
        let error = open_library(Platform::Hip, Some(name)).err().unwrap();
        assert!(matches!(error, Error::NoDevice(_)), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("/nonexistent/libamdhip64.so.7"), "{text}");
        assert!(text.contains("MLXROCM_HIP_LIBRARY"), "{text}");
    }
}
