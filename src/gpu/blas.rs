//! Products by the vendor's BLAS: whether there is one, and where it is used.

use super::device::Device;
use super::kept::Kept;
use super::kernels::fingerprint;
use super::policy::{Policy, PolicyCell};
use super::stream::Stream;
use super::uses::Mark;
use crate::driver::{Blas, BlasFile, BlasHandle, Code, Platform, Product};
use crate::{Error, Result, log};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes that the handle of a stream may use as it likes: what rocBLAS takes by itself and cuBLAS asks for
/// on its largest devices.
const WORKSPACE: u64 = 32 << 20;

/// What a device knows about its vendor's BLAS.
pub(super) struct BlasState {
    policy: PolicyCell,
    /// Products that nothing is known about are tried, in this process.
    tries: AtomicBool,
    /// Opened when it is first asked for.
    library: OnceLock<Option<&'static Blas>>,
    /// A call failed.
    failed: AtomicBool,
    /// An earlier trial was the end of a process or a device.
    pub(super) died: OnceLock<bool>,
    /// That products are not tried.
    is_said: AtomicBool,
    /// By the products that they are about.
    choices: Mutex<HashMap<String, Choice>>,
}

/// What was found about a product: its times by our own kernel and by the BLAS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    pub own: Duration,
    pub blas: Duration,
}

/// The time of a BLAS whose results were wrong.
pub(super) const WRONG: Duration = Duration::from_nanos(u64::MAX);

impl Choice {
    pub fn is_blas(self) -> bool {
        self.blas < self.own
    }

    /// With the library that it is about.
    fn to_line(self, file: &BlasFile) -> String {
        let (own, blas) = (self.own.as_nanos(), self.blas.as_nanos());
        format!("own_ns {own} blas_ns {blas} file {} end", file.to_words())
    }

    fn from_line(line: &str) -> Option<(Choice, BlasFile)> {
        let words: Vec<&str> = line.strip_suffix(" end")?.splitn(6, ' ').collect();
        let ["own_ns", own, "blas_ns", blas, "file", file] = words[..] else {
            return None;
        };
        let time = |text: &str| Some(Duration::from_nanos(text.parse().ok()?));
        let choice = Choice {
            own: time(own)?,
            blas: time(blas)?,
        };
        Some((choice, BlasFile::from_words(file)?))
    }
}

/// A BLAS and a stream's handle of it.
pub(super) type Opened = (&'static Blas, BlasHandle);

pub(super) const KEPT: Kept = Kept {
    folder: "blas",
    header: "mlxrocm blas 2",
};

impl BlasState {
    /// AMD's libraries were seen to give wrong sums and to end the process, so there products are only tried where
    /// `MLXROCM_BLAS=try` says that this process may end.
    pub fn new(platform: Platform) -> Self {
        let is_told = std::env::var_os("MLXROCM_BLAS").is_some_and(|word| word == "try");
        BlasState {
            policy: match is_told {
                true => PolicyCell::new(Policy::Auto),
                false => PolicyCell::from_environment("MLXROCM_BLAS"),
            },
            tries: AtomicBool::new(is_told || platform != Platform::Hip),
            library: OnceLock::new(),
            failed: AtomicBool::new(false),
            died: OnceLock::new(),
            is_said: AtomicBool::new(false),
            choices: Mutex::default(),
        }
    }
}

impl Device {
    /// When products of many rows go to the vendor's BLAS.
    pub fn blas_policy(&self) -> Policy {
        self.blas.policy.get()
    }

    /// Sets when products of programs that are not recorded yet go to the vendor's BLAS.
    pub fn set_blas_policy(&self, policy: Policy) {
        self.blas.policy.set(policy);
    }

    /// Sets whether products that nothing is known about are tried in this process: compared with our own kernel's, and
    /// timed.
    pub fn set_blas_tries(&self, tries: bool) {
        self.blas.tries.store(tries, Ordering::Relaxed);
    }

    /// Whether products that nothing is known about are tried. Says once where they are not.
    pub(super) fn tries_blas(&self) -> bool {
        let tries = self.blas.tries.load(Ordering::Relaxed);
        if !tries && !self.blas.is_said.swap(true, Ordering::Relaxed) {
            log::write(log::Level::Info, || {
                "BLAS: not tried on this device, so products are by our own kernels (`mlxrocm selftest MODEL` \
                 compares and times it, in a process of its own)"
                    .into()
            });
        }
        tries
    }

    /// The vendor's BLAS, if there is one and it is to be used: opened at the first call.
    pub(super) fn blas(&self) -> Option<&'static Blas> {
        if self.blas_policy() == Policy::Off || self.blas.failed.load(Ordering::Relaxed) {
            return None;
        }
        *self.blas.library.get_or_init(|| {
            let opened = self
                .enter()
                .and_then(|()| Blas::open(self.api, self.facts(), named().as_deref()));
            log::write(log::Level::Info, || match &opened {
                Ok(blas) => format!("BLAS: {}", blas.title()),
                Err(error) => format!("BLAS: none, all products by our own kernels: {error}"),
            });
            opened.ok()
        })
    }

    /// Whether a product, named by its shape, goes to the BLAS; `None` where that is not known. The library is
    /// not opened for it: one that is never faster need not be loaded.
    pub(super) fn blas_choice(&self, product: &str) -> Option<bool> {
        match self.blas_policy() {
            Policy::On => return Some(true),
            Policy::Off => return Some(false),
            Policy::Auto if self.blas_died() => return Some(false),
            Policy::Auto => {}
        }
        let mut choices = self.blas.choices.lock();
        if let Some(choice) = choices.get(product) {
            return Some(choice.is_blas());
        }
        let (choice, file) = KEPT.load(&subject(self, product), Choice::from_line)?;
        match self.blas.library.get() {
            Some(Some(opened)) if opened.file().as_ref() == Some(&file) => {}
            // Another one was opened, or will be.
            Some(Some(_)) => return None,
            _ if !file.is_there() => return None,
            // It is looked for, and may turn out to be another one.
            _ if choice.is_blas() => return Some(true),
            _ => {}
        }
        tell("known", product, choice);
        choices.insert(product.to_owned(), choice);
        Some(choice.is_blas())
    }

    /// Remembers what was found about a product.
    pub(super) fn choose_blas(&self, blas: &Blas, product: &str, choice: Choice) {
        tell("found", product, choice);
        if choice.blas == WRONG {
            log::write(log::Level::Warn, || {
                format!(
                    "BLAS: wrong results of product {product} by {}: by our own kernel",
                    blas.title()
                )
            });
        }
        if let Some(file) = blas.file() {
            KEPT.store(&subject(self, product), &choice.to_line(&file));
        }
        let mut choices = self.blas.choices.lock();
        choices.insert(product.to_owned(), choice);
    }

    /// The BLAS is not used any more on this device, because of `error`.
    fn give_up_blas(&self, error: &Error) {
        if !self.blas.failed.swap(true, Ordering::Relaxed) {
            log::write(log::Level::Warn, || {
                format!("BLAS: {error}; all products by our own kernels from now on")
            });
        }
    }
}

/// What a kept choice is about. The product comes first: the names of files are cut.
pub(super) fn subject(device: &Device, product: &str) -> String {
    let facts = device.facts();
    let by = named().map_or_else(String::new, |n| format!(" by {}", n.to_string_lossy()));
    let (target, name, driver) = (&facts.target, &facts.name, &facts.driver_version);
    let kernels = fingerprint();
    format!("{product} {target} {name} driver {driver} kernels {kernels}{by}").replace('\n', " ")
}

/// The library that the user names.
fn named() -> Option<OsString> {
    std::env::var_os("MLXROCM_BLAS_LIBRARY")
}

fn tell(how: &str, product: &str, choice: Choice) {
    log::write(log::Level::Debug, || {
        let Choice { own, blas } = choice;
        let by = if choice.is_blas() {
            "BLAS"
        } else {
            "our own kernel"
        };
        match blas {
            WRONG => format!("product {product}: by {by} ({how}: {own:?} own, BLAS wrong)"),
            _ => format!("product {product}: by {by} ({how}: {own:?} own, {blas:?} BLAS)"),
        }
    });
}

impl Stream {
    /// Makes the stream's handle of the BLAS and its memory, which the first product would do otherwise.
    pub(super) fn open_blas(&self) -> Result<()> {
        self.device().enter()?;
        self.blas_handle(&mut self.core().blas.lock()).map(|_| ())
    }

    /// Queues a product by the vendor's BLAS; the device is current. If the library fails it is not used
    /// again.
    ///
    /// # Safety
    /// The memory lives until the product is done.
    pub(super) unsafe fn multiply(&self, product: &Product) -> Result<Mark> {
        let mut handle = self.core().blas.lock();
        let (blas, handle) = self.blas_handle(&mut handle)?;
        // SAFETY: the handle is this stream's, locked; the rest is the caller's.
        let queued = unsafe { blas.multiply(handle, product) };
        queued.inspect_err(|error| self.device().give_up_blas(error))?;
        let mark = self.queued(Code::OK, String::new)?;
        if let Some(workspace) = self.workspace.get() {
            workspace.uses().add(mark);
        }
        Ok(mark)
    }

    /// The stream's handle, locked; made if there is none.
    fn blas_handle(&self, locked: &mut Option<Opened>) -> Result<Opened> {
        if let Some(made) = *locked {
            return Ok(made);
        }
        let device = self.device();
        let blas = device.blas();
        let blas = blas.ok_or_else(|| Error::Unsupported("there is no BLAS".into()))?;
        let workspace = match self.workspace.get() {
            Some(workspace) => workspace,
            None => {
                let workspace = device.alloc_for(self, WORKSPACE)?;
                self.workspace.get_or_init(|| workspace)
            }
        };
        let part = (workspace.address(), WORKSPACE as usize);
        // SAFETY: the core destroys the handle before the driver's stream; the memory goes with this
        // stream, after which nothing uses the handle.
        let handle = unsafe { blas.handle(self.handle(), part) };
        let handle = handle.inspect_err(|error| device.give_up_blas(error))?;
        Ok(*locked.insert((blas, handle)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_only_whole_and_for_its_product() {
        let us = Duration::from_micros;
        let (own, blas) = (us(812), us(95));
        let choice = Choice { own, blas };
        assert!(
            choice.is_blas()
                && !Choice {
                    own: blas,
                    blas: own
                }
                .is_blas()
        );
        assert!(!Choice { own, blas: own }.is_blas());
        let file = BlasFile::from_words("7 9 /a b/lib c.so").unwrap();
        let parse = |text: &str, subject: &str| KEPT.parse(text, subject, Choice::from_line);
        let text = format!("{}\nq4 1\n{}\n", KEPT.header, choice.to_line(&file));
        assert_eq!(parse(&text, "q4 1"), Some((choice, file)));
        assert_eq!(parse(&text, "q4 2"), None);
        for end in 0..text.len() - 1 {
            assert_eq!(parse(&text[..end], "q4 1"), None, "{end}");
        }
        for (word, other) in [
            ("own_ns 8", "own_ns -8"),
            ("812000", "8x"),
            ("blas 2", "blas 1"),
            ("file 7", "file x"),
        ] {
            assert_eq!(parse(&text.replace(word, other), "q4 1"), None, "{other}");
        }
    }
}
