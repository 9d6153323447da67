//! When something is used that a device may be better without.

use crate::log;
use std::sync::atomic::{AtomicU8, Ordering};

/// When something is used. The environment sets what a device begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Policy {
    /// By what was found on this device and driver version.
    Auto = 0,
    /// Always.
    On = 1,
    /// Never.
    Off = 2,
}

impl Policy {
    /// By the words of the environment; anything else is worth a line in the log.
    fn named(variable: &str, word: Option<&str>) -> Policy {
        match word {
            Some("on") => Policy::On,
            Some("off") => Policy::Off,
            None | Some("auto" | "") => Policy::Auto,
            Some(other) => {
                log::write(log::Level::Warn, || {
                    format!("{variable}={other} is not on, off or auto: taken as auto")
                });
                Policy::Auto
            }
        }
    }
}

/// A policy that can change.
pub(super) struct PolicyCell(AtomicU8);

impl PolicyCell {
    /// What an environment variable says.
    pub fn from_environment(variable: &str) -> Self {
        let policy = Policy::named(variable, std::env::var(variable).ok().as_deref());
        PolicyCell::new(policy)
    }

    pub fn new(policy: Policy) -> Self {
        PolicyCell(AtomicU8::new(policy as u8))
    }

    pub fn get(&self) -> Policy {
        match self.0.load(Ordering::Relaxed) {
            1 => Policy::On,
            2 => Policy::Off,
            _ => Policy::Auto,
        }
    }

    pub fn set(&self, policy: Policy) {
        self.0.store(policy as u8, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environments_words() {
        for (word, policy) in [
            (None, Policy::Auto),
            (Some("auto"), Policy::Auto),
            (Some("on"), Policy::On),
            (Some("off"), Policy::Off),
            (Some("ON"), Policy::Auto),
        ] {
            assert_eq!(Policy::named("MLXROCM_GRAPHS", word), policy, "{word:?}");
        }
    }
}
