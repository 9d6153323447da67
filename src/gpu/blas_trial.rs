//! Trials of a vendor's BLAS that somebody began: a library was seen to end processes and to fault devices, so that
//! nobody is left to say it. A mark is there before the first product, and goes when all are tried.

use super::blas::{KEPT, subject};
use super::device::Device;
use crate::driver::{Blas, BlasFile};
use crate::{Error, Result, log};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the mark is about: no product.
const ANY: &str = "a trial";

/// Trials of this process that go on.
static GOING_ON: AtomicUsize = AtomicUsize::new(0);

fn to_line(process: u32, file: &BlasFile) -> String {
    format!("process {process} file {} end", file.to_words())
}

fn from_line(line: &str) -> Option<(u32, BlasFile)> {
    let words: Vec<&str> = line.strip_suffix(" end")?.splitn(4, ' ').collect();
    let ["process", process, "file", file] = words[..] else {
        return None;
    };
    Some((process.parse().ok()?, BlasFile::from_words(file)?))
}

/// Whether a process tries now: another one that is there, or this one.
fn goes_on(process: u32) -> bool {
    match process == std::process::id() {
        true => GOING_ON.load(Ordering::Acquire) > 0,
        false => std::path::Path::new(&format!("/proc/{process}")).exists(),
    }
}

impl Device {
    /// Whether an earlier trial of the library ended its process or its device. Says so once.
    pub(super) fn blas_died(&self) -> bool {
        *self.blas.died.get_or_init(|| {
            let found = KEPT.load(&subject(self, ANY), from_line);
            let died = found.filter(|(process, file)| file.is_there() && !goes_on(*process));
            if let Some((_, file)) = &died {
                let mark = KEPT.file(&subject(self, ANY)).unwrap_or_default();
                log::write(log::Level::Warn, || {
                    format!(
                        "BLAS: an earlier trial of it ({}) ended the process or the device: all products by our own \
                         kernels (remove {} to try it again)",
                        file.to_words(),
                        mark.display()
                    )
                });
            }
            died.is_some()
        })
    }

    /// Tries products of a library; it is known later if this was the end.
    pub(super) fn on_trial<T>(&self, blas: &Blas, run: impl FnOnce() -> Result<T>) -> Result<T> {
        // Decided before there is a mark of our own.
        self.blas_died();
        GOING_ON.fetch_add(1, Ordering::AcqRel);
        let subject = subject(self, ANY);
        if let Some(file) = blas.file() {
            KEPT.store(&subject, &to_line(std::process::id(), &file));
        }
        let result = run();
        let is_lost = matches!(
            result,
            Err(Error::DeviceLost(_) | Error::DeviceFailed(_) | Error::Driver { .. })
        );
        // A library that says that it failed is not used again by this process, and did no harm.
        if !is_lost || self.blas().is_none() {
            KEPT.remove(&subject);
        }
        GOING_ON.fetch_sub(1, Ordering::AcqRel);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_only_whole() {
        let file = || BlasFile::from_words("7 9 /a b/lib c.so").unwrap();
        let line = to_line(77, &file());
        assert_eq!(from_line(&line), Some((77, file())));
        for end in 0..line.len() {
            assert_eq!(from_line(&line[..end]), None, "{end}");
        }
    }
}
