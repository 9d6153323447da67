//! Which lines of a kernel source a platform has, as far as `#if PLATFORM_NVIDIA` (or `_AMD`) decides it.

/// The platforms by number.
pub const PLATFORMS: [&str; 2] = ["PLATFORM_AMD", "PLATFORM_NVIDIA"];

/// The `#if`s that are open at a line.
pub struct Conditions {
    platform: usize,
    /// Of each: whether its present branch is taken, and whether an earlier one was; `None`: not known.
    open: Vec<(Option<bool>, Option<bool>)>,
}

impl Conditions {
    pub fn new(platform: usize) -> Conditions {
        Conditions {
            platform,
            open: Vec::new(),
        }
    }

    /// Goes over a line. `Some(false)` where the platform has not got it, `None` where something else decides.
    pub fn line(&mut self, line: &str) -> Option<bool> {
        let platform = self.platform;
        let known = |condition: &str| {
            let condition = condition.trim();
            let (name, wanted) = match condition.strip_prefix('!') {
                Some(name) => (name, false),
                None => (condition, true),
            };
            let number = PLATFORMS.iter().position(|known| *known == name)?;
            Some((number == platform) == wanted)
        };
        if let Some(rest) = line.strip_prefix("#if") {
            let taken = known(rest);
            self.open.push((taken, taken));
        } else if let Some(rest) = line.strip_prefix("#el") {
            if let Some((now, before)) = self.open.last_mut() {
                let own = rest.strip_prefix("if").map_or(Some(true), known);
                *now = match *before {
                    Some(true) => Some(false),
                    Some(false) => own,
                    None => None,
                };
                *before = match (*before, own) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                };
            }
        } else if line.starts_with("#endif") {
            self.open.pop();
        }
        if self.open.iter().any(|(now, _)| *now == Some(false)) {
            return Some(false);
        }
        let sure = self.open.iter().all(|(now, _)| *now == Some(true));
        sure.then_some(true)
    }
}
