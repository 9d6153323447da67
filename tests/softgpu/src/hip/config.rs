//! The configuration text: `devices=gfx1100,gfx942;seed=7;vram_mib=2048;integrated=0,1`.
//!
//! | key | meaning | default |
//! |---|---|---|
//! | `devices` | gfx names in order of ordinal; empty: no GPU | `gfx1100` |
//! | `integrated` | one 0 or 1 a device (the last counts for the rest): 1 is an APU | what the chip is |
//! | `vram_mib` | memory of each device in MiB (one value, or one a device) | 2048 |
//! | `seed` | seed of every random choice | 1 |
//! | `delay_us` | the scheduler starts when nothing was enqueued for this long, or when the host waits | 200 |
//! | `hang_limit_ms` | a host wait that nothing can end returns `hipErrorLaunchTimeOut` after this long | 5000 |
//! | `threads` | processor threads a kernel is executed with | all |
//! | `sticky` | 1: a kernel fault stays until `hipDeviceReset`; 0: the next wait takes it | 1 |
//! | `absent` | code of `hipInit` and most calls when there are no devices (100, or 101 as ROCm 5) | 100 |
//! | `version` | what `hipRuntimeGetVersion` says (HIP 7.0 = 70051831) | 70051831 |
//! | `uninitialised` | 1: reads of device memory that nothing has written are reported | 1 |
//! | `unwritten` | kernels whose name has this in it may read such memory: they compare whatever is there, as copies move it | `mlxrocm_compare` |
//! | `host_reads` | 1: copies to the host of such memory are reported too | 0 |
//! | `order` | 1: unordered operations that touch the same memory are reported (kernels need `checks=1`) | 1 |
//! | `mutate` | kernels whose name has this in it run without each wait and fence in turn; `mutants` in the report | none |
//! | `part` | `i/n`: only every n-th of their waits and fences, from number i on | `0/1` |
//! | `faults` | injected faults (see `faults.rs`), separated by commas | none |
//! | `checks` | 0: kernels run without the race checks (faster) | 1 |

/// The configuration; see the module's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Gfx names by ordinal.
    pub devices: Vec<String>,
    /// Integrated or discrete, by ordinal; `None`: what the chip is.
    pub integrated: Vec<bool>,
    /// Memory in MiB by ordinal.
    pub vram_mib: Vec<u64>,
    /// Compute units of every device; 0: what the chip has.
    pub compute_units: i32,
    /// Seed of the random choices.
    pub seed: u64,
    /// Quiet time before the scheduler starts by itself, in microseconds.
    pub delay_us: u64,
    /// Limit of a host wait that nothing can end, in milliseconds.
    pub hang_limit_ms: u64,
    /// Processor threads of a kernel's execution; 0: all.
    pub threads: usize,
    /// Kernel faults stay until the device is reset.
    pub sticky: bool,
    /// Code returned when there are no devices.
    pub absent: i32,
    /// HIP version number, `major * 10^7 + minor * 10^5 + patch`.
    pub version: i32,
    /// Report reads of uninitialised memory in kernels.
    pub uninitialised: bool,
    /// Part of the names of kernels that may read uninitialised memory.
    pub unwritten: String,
    /// Report copies of uninitialised memory to the host.
    pub host_reads: bool,
    /// Report conflicting operations that nothing orders.
    pub order: bool,
    /// Run kernels with the race checks.
    pub checks: bool,
    /// Faults that are armed from the beginning.
    pub faults: String,
    /// Part of the names of kernels to mutate.
    pub mutate: String,
    /// Which of their waits and fences: first, step.
    pub part: (usize, usize),
}

impl Default for Config {
    fn default() -> Self {
        Config {
            devices: vec!["gfx1100".to_owned()],
            integrated: Vec::new(),
            vram_mib: vec![2048],
            compute_units: 0,
            seed: 1,
            delay_us: 200,
            hang_limit_ms: 5000,
            threads: 0,
            sticky: true,
            absent: 100,
            version: 70_051_831,
            uninitialised: true,
            unwritten: "mlxrocm_compare".to_owned(),
            host_reads: false,
            order: true,
            checks: true,
            faults: String::new(),
            mutate: String::new(),
            part: (0, 1),
        }
    }
}

impl Config {
    /// Reads a configuration text; keys that are not named keep their defaults.
    ///
    /// # Errors
    /// The key or value that is not understood.
    pub fn parse(text: &str) -> Result<Config, String> {
        let mut config = Config::default();
        for part in text
            .split([';', '\n'])
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("configuration part '{part}' is not key=value"))?;
            config.set(key.trim(), value.trim())?;
        }
        Ok(config)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "devices" => self.devices = list(value).map(str::to_owned).collect(),
            "integrated" => {
                self.integrated = list(value)
                    .map(|item| flag(key, item))
                    .collect::<Result<_, _>>()?;
            }
            "vram_mib" => {
                self.vram_mib = list(value)
                    .map(|item| number(key, item))
                    .collect::<Result<_, _>>()?;
                if self.vram_mib.is_empty() {
                    return Err("vram_mib has no value".to_owned());
                }
            }
            "compute_units" => self.compute_units = number(key, value)?,
            "seed" => self.seed = number(key, value)?,
            "delay_us" => self.delay_us = number(key, value)?,
            "hang_limit_ms" => self.hang_limit_ms = number(key, value)?,
            "threads" => self.threads = number(key, value)?,
            "sticky" => self.sticky = flag(key, value)?,
            "absent" => self.absent = number(key, value)?,
            "version" => self.version = number(key, value)?,
            "uninitialised" => self.uninitialised = flag(key, value)?,
            "unwritten" => value.clone_into(&mut self.unwritten),
            "host_reads" => self.host_reads = flag(key, value)?,
            "order" => self.order = flag(key, value)?,
            "checks" => self.checks = flag(key, value)?,
            "faults" => value.clone_into(&mut self.faults),
            "mutate" => value.clone_into(&mut self.mutate),
            "part" => {
                let (first, step) = value.split_once('/').ok_or("part is not i/n")?;
                self.part = (number(key, first)?, number(key, step)?);
            }
            _ => return Err(format!("unknown configuration key '{key}'")),
        }
        Ok(())
    }

    /// Memory of device `ordinal` in bytes.
    pub fn memory_bytes(&self, ordinal: usize) -> u64 {
        let mib = self
            .vram_mib
            .get(ordinal)
            .or(self.vram_mib.last())
            .copied()
            .unwrap_or(2048);
        mib << 20
    }

    /// Whether device `ordinal` was said to be integrated; `None`: what the chip is.
    pub fn is_integrated(&self, ordinal: usize) -> Option<bool> {
        self.integrated
            .get(ordinal)
            .or(self.integrated.last())
            .copied()
    }
}

fn list(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("configuration {key}={value} is not a number in range"))
}

fn flag(key: &str, value: &str) -> Result<bool, String> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("configuration {key}={value} is neither 0 nor 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_value() {
        let config = Config::parse(
            "devices=gfx1100,gfx942; seed=7;vram_mib=512,1024;integrated=0,1;sticky=0",
        )
        .unwrap();
        assert_eq!(config.devices, ["gfx1100", "gfx942"]);
        assert_eq!(config.seed, 7);
        assert_eq!(config.memory_bytes(0), 512 << 20);
        assert_eq!(config.memory_bytes(5), 1024 << 20);
        assert_eq!(config.is_integrated(1), Some(true));
        assert!(!config.sticky);
        assert_eq!(Config::parse("").unwrap(), Config::default());
        assert!(Config::parse("devices=").unwrap().devices.is_empty());
    }

    #[test]
    fn names_what_is_wrong() {
        for (text, part) in [
            ("sead=7", "sead"),
            ("seed=x", "seed=x"),
            ("sticky=2", "sticky=2"),
            ("seed", "key=value"),
            ("vram_mib=", "no value"),
        ] {
            let message = Config::parse(text).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
