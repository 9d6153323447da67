//! Injected faults: `kind@n` makes the nth call from now fail, `kind@n+` that one and all later
//! ones, `kind` alone the next one. Parts are separated by `;` or `,`; `none` clears all.
//!
//! | kind | what happens |
//! |---|---|
//! | `alloc` | device allocation: `hipErrorOutOfMemory` |
//! | `host_alloc` | pinned allocation: `hipErrorOutOfMemory` |
//! | `module` | module load: `hipErrorOutOfMemory` |
//! | `stream`, `event` | creation: `hipErrorOutOfMemory` |
//! | `graph` | graph creation, instantiation: `hipErrorOutOfMemory` |
//! | `launch` | kernel or graph launch returns `hipErrorLaunchOutOfResources`, nothing is enqueued |
//! | `copy` | copy or fill returns `hipErrorUnknown`, nothing is enqueued |
//! | `blas` | product by the BLAS returns `rocblas_status_internal_error`, nothing is enqueued |
//! | `blas_wrong` | the last sum of a product by the BLAS is wrong |
//! | `blas_late` | a product by the BLAS ends in an illegal address (found by a later wait) |
//! | `blas_dies` | a product by the BLAS ends the process |
//! | `compile` | `hiprtcCompileProgram` returns `HIPRTC_ERROR_INTERNAL_ERROR` |
//! | `kernel` | the nth executed kernel ends in an illegal address (found by a later wait) |
//! | `wrong` | the nth executed kernel flips one bit of what it wrote |
//! | `hang` | the nth enqueued launch never ends until `softgpu_reset` |
//! | `lost` | at the nth enqueued launch, copy or fill the device is lost |
//! | `graph_wrong` | mode: each replay corrupts one byte that it wrote |
//! | `graph_slow=ms` | mode: each replay takes this much longer (20) |
//! | `direct_slow=us` | mode: each direct launch takes this much longer (2000) |

/// The places where a fault can be injected by count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// Device memory allocation.
    Alloc,
    /// Pinned host memory allocation.
    HostAlloc,
    /// Module load.
    Module,
    /// Stream creation.
    Stream,
    /// Event creation.
    Event,
    /// Graph creation and instantiation.
    Graph,
    /// Launch of a kernel or a graph, at the call.
    Launch,
    /// Copy or fill, at the call.
    Copy,
    /// Product by the BLAS, at the call.
    Blas,
    /// A wrong sum of such a product.
    BlasWrong,
    /// A fault while it is executed.
    BlasLate,
    /// The end of the process at the call.
    BlasDies,
    /// Run-time compilation.
    Compile,
    /// Execution of a kernel.
    Kernel,
    /// A wrong result of a kernel.
    Wrong,
    /// A launch that never ends.
    Hang,
    /// Loss of the device.
    Lost,
}

const SITES: [(&str, Site); 17] = [
    ("alloc", Site::Alloc),
    ("host_alloc", Site::HostAlloc),
    ("module", Site::Module),
    ("stream", Site::Stream),
    ("event", Site::Event),
    ("graph", Site::Graph),
    ("launch", Site::Launch),
    ("copy", Site::Copy),
    ("blas", Site::Blas),
    ("blas_wrong", Site::BlasWrong),
    ("blas_late", Site::BlasLate),
    ("blas_dies", Site::BlasDies),
    ("compile", Site::Compile),
    ("kernel", Site::Kernel),
    ("wrong", Site::Wrong),
    ("hang", Site::Hang),
    ("lost", Site::Lost),
];

#[derive(Clone, Debug)]
struct Armed {
    site: Site,
    remaining: u64,
    repeat: bool,
}

/// The faults that wait for their moment, and those that came.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    armed: Vec<Armed>,
    /// Replays corrupt one byte.
    pub graph_wrong: bool,
    /// Milliseconds that each replay takes longer.
    pub graph_slow_ms: u64,
    /// Microseconds that each direct launch takes longer.
    pub direct_slow_us: u64,
    /// Names of the counted faults that were delivered, in order.
    pub delivered: Vec<&'static str>,
}

impl Faults {
    /// Adds what `text` says to the faults that are armed.
    ///
    /// # Errors
    /// The part that is not understood; then nothing is changed.
    pub fn arm(&mut self, text: &str) -> Result<(), String> {
        let mut next = self.clone();
        for part in text
            .split([';', ','])
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            next.arm_one(part)?;
        }
        *self = next;
        Ok(())
    }

    fn arm_one(&mut self, part: &str) -> Result<(), String> {
        if part == "none" {
            let delivered = std::mem::take(&mut self.delivered);
            *self = Faults {
                delivered,
                ..Faults::default()
            };
            return Ok(());
        }
        if let Some((key, value)) = part.split_once('=') {
            let value = value
                .parse()
                .map_err(|_| format!("fault '{part}' has no whole number"))?;
            match key {
                "graph_slow" => self.graph_slow_ms = value,
                "direct_slow" => self.direct_slow_us = value,
                _ => return Err(format!("unknown fault '{part}'")),
            }
            return Ok(());
        }
        match part {
            "graph_wrong" => self.graph_wrong = true,
            "graph_slow" => self.graph_slow_ms = 20,
            "direct_slow" => self.direct_slow_us = 2000,
            _ => {
                let (name, count) = part.split_once('@').unwrap_or((part, "1"));
                let (count, repeat) = match count.strip_suffix('+') {
                    Some(count) => (count, true),
                    None => (count, false),
                };
                let site = SITES
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, site)| *site)
                    .ok_or_else(|| format!("unknown fault '{part}'"))?;
                let remaining: u64 = count
                    .parse()
                    .map_err(|_| format!("fault '{part}' has no whole number"))?;
                if remaining == 0 {
                    return Err(format!("fault '{part}': calls are counted from 1"));
                }
                self.armed.push(Armed {
                    site,
                    remaining,
                    repeat,
                });
            }
        }
        Ok(())
    }

    /// Counts one call at `site`; true when it must fail.
    pub fn strikes(&mut self, site: Site) -> bool {
        let mut struck = false;
        for armed in self.armed.iter_mut().filter(|armed| armed.site == site) {
            armed.remaining = armed.remaining.saturating_sub(1);
            struck |= armed.remaining == 0;
        }
        self.armed
            .retain(|armed| armed.remaining > 0 || armed.repeat);
        if struck {
            let name = SITES
                .iter()
                .find(|(_, known)| *known == site)
                .map_or("", |(name, _)| name);
            self.delivered.push(name);
        }
        struck
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_call_fails_once_or_from_then_on() {
        let mut faults = Faults::default();
        faults.arm("alloc@3;launch@2+").unwrap();
        let allocs: Vec<bool> = (0..5).map(|_| faults.strikes(Site::Alloc)).collect();
        assert_eq!(allocs, [false, false, true, false, false]);
        let launches: Vec<bool> = (0..4).map(|_| faults.strikes(Site::Launch)).collect();
        assert_eq!(launches, [false, true, true, true]);
        assert_eq!(faults.delivered, ["alloc", "launch", "launch", "launch"]);
        assert!(!faults.strikes(Site::Copy));
    }

    #[test]
    fn modes_and_mistakes() {
        let mut faults = Faults::default();
        faults.arm("graph_slow=5,graph_wrong").unwrap();
        assert_eq!((faults.graph_slow_ms, faults.graph_wrong), (5, true));
        for text in [
            "alloc@x",
            "alloc@0",
            "nothing",
            "graph_slow=x",
            "graph_wrong;zap@1",
        ] {
            assert!(faults.arm(text).is_err(), "{text}");
        }
        faults.arm("none").unwrap();
        assert_eq!((faults.graph_slow_ms, faults.graph_wrong), (0, false));
    }
}
