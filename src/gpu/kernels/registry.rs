//! Built-in kernels by name.

use super::archive;
use super::compile::{Code, Compiler};
use super::targets;
use crate::driver::Platform;
use crate::log::{self, Level};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Finds the code object of a built-in kernel for one device. Internally locked: any thread.
///
/// In this order: the object made for exactly this target, one made for a generic target that covers
/// it, and the embedded source compiled now (and kept on disk).
pub struct Registry {
    arch: String,
    platform: Platform,
    loadable: Vec<&'static str>,
    compiler: Compiler,
    /// Run-time compiled objects by source.
    compiled: Mutex<HashMap<usize, Code>>,
    told: AtomicBool,
}

impl Registry {
    /// The kernels for `arch` ("gfx1151", "sm_90": without feature suffixes).
    pub fn new(arch: &str, platform: Platform) -> Self {
        Registry::with_compiler(arch, platform, Compiler::new(arch, platform))
    }

    /// The same with a compiler of the caller's choice.
    pub fn with_compiler(arch: &str, platform: Platform, compiler: Compiler) -> Self {
        Registry {
            arch: arch.to_owned(),
            platform,
            loadable: targets::loadable(arch, platform, &archive::targets()),
            compiler,
            compiled: Mutex::default(),
            told: AtomicBool::new(false),
        }
    }

    /// The names of all built-in kernels.
    pub fn names() -> impl Iterator<Item = &'static str> {
        archive::SOURCES
            .iter()
            .flat_map(|source| source.kernels.iter().copied())
    }

    /// The source that defines the kernel ("engine/fill"): kernels of one source are in one code
    /// object, so a module is loaded once a source.
    pub fn source(name: &str) -> Option<&'static str> {
        archive::source_of(name).map(|(_, source)| source.name)
    }

    /// The whole text of the source that defines the kernel.
    ///
    /// # Errors
    /// `Unsupported` if there is none; `InvalidFile` if the library is damaged.
    pub fn text(name: &str) -> Result<&'static str> {
        let unknown = || Error::Unsupported(format!("there is no built-in kernel '{name}'"));
        archive::source_of(name).ok_or_else(unknown)?.1.text()
    }

    /// The best code object that has the kernel `name`. Prefer [`Registry::load`], which goes on to
    /// the next one when the driver refuses it.
    ///
    /// # Errors
    /// `Unsupported` if there is no such kernel for this target and none can be compiled.
    pub fn code(&self, name: &str) -> Result<Arc<[u8]>> {
        self.load(name, |code| Ok(code.clone()))
    }

    /// Calls `load` with the code objects that have the kernel `name`, best first, until it accepts
    /// one, and returns what it made of it.
    ///
    /// # Errors
    /// The first refusal if no object was accepted; `Unsupported` if there is no such kernel for
    /// this target and none can be compiled (the message says how to get a compiler).
    pub fn load<T>(&self, name: &str, mut load: impl FnMut(&Arc<[u8]>) -> Result<T>) -> Result<T> {
        let Some((number, source)) = archive::source_of(name) else {
            return Err(Error::Unsupported(format!(
                "there is no built-in kernel '{name}'"
            )));
        };
        let mut refused: Option<Error> = None;
        for target in &self.loadable {
            let Some(object) = archive::object(number, target) else {
                continue;
            };
            if !object.kernels.contains(&name) {
                // Left out on purpose: compiling it would not bring it.
                return Err(Error::Unsupported(format!(
                    "the kernel '{name}' does not exist for {target}"
                )));
            }
            let code: Arc<[u8]> = object.code()?.into();
            match load(&code) {
                Ok(loaded) => return Ok(loaded),
                // Only "this is no code for me" leads to the next object.
                Err(error @ (Error::InvalidFile(_) | Error::Unsupported(_))) => {
                    log::write(Level::Info, || {
                        format!("{name}: {target} code was refused: {error}")
                    });
                    refused.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        let compiled = self.compiled(number, source);
        match (compiled, refused) {
            (Ok(code), _) => load(&code.bytes),
            (Err(error), None) => Err(error),
            (Err(error), Some(refused)) => Err(Error::Unsupported(format!(
                "{refused}; and it could not be compiled: {error}"
            ))),
        }
    }

    /// The compiler for this device's own sources.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    fn compiled(&self, number: usize, source: &'static archive::Source) -> Result<Code> {
        if let Some(code) = self.compiled.lock().get(&number) {
            return Ok(code.clone());
        }
        if !self.told.swap(true, Ordering::Relaxed) {
            log::write(Level::Warn, || {
                format!(
                    "no built-in {} kernels for {}: they are compiled at run time (slow the first \
                     time, then from the disk cache)",
                    self.platform.name(),
                    self.arch
                )
            });
        }
        // Not under the lock: two threads may compile the same source, and both get right code.
        let code = self.compiler.compile(source.name, source.text()?, &[])?;
        self.compiled.lock().insert(number, code.clone());
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kernel_is_an_error() {
        let registry = Registry::new("gfx1100", Platform::Hip);
        let error = registry.code("mlxrocm_nothing").unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
        assert!(error.to_string().contains("mlxrocm_nothing"), "{error}");
    }

    #[test]
    fn kernels_of_one_source_share_it() {
        let sum = Registry::source("mlxrocm_reduce_sum_f32");
        assert_eq!(sum, Some("engine/reduce"));
        assert_eq!(sum, Registry::source("mlxrocm_reduce_max_f32"));
        assert!(Registry::names().any(|name| name == "mlxrocm_fill_u32"));
    }

    #[test]
    fn a_refused_object_is_not_the_end_and_other_errors_are() {
        for target in archive::targets()
            .into_iter()
            .filter(|target| target.starts_with("gfx"))
        {
            if target.ends_with("generic") {
                continue;
            }
            let registry = Registry::new(target, Platform::Hip);
            let lost = Error::OutOfMemory("no room".into());
            let mut calls = 0;
            let result: Result<()> = registry.load("mlxrocm_fill_u32", |code| {
                assert!(code.starts_with(b"\x7fELF"));
                calls += 1;
                Err(lost.clone())
            });
            assert_eq!((result, calls), (Err(lost), 1));
        }
    }
}
