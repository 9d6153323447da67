//! Which code objects a device can run.

use crate::driver::Platform;

/// The targets whose code objects `arch` may load, best first. A generic target needs a recent
/// runtime, so its object may still be refused by the driver.
pub(super) fn loadable(
    arch: &str,
    platform: Platform,
    built: &[&'static str],
) -> Vec<&'static str> {
    let mut list: Vec<&'static str> = Vec::new();
    let mut add = |name: &str| list.extend(built.iter().filter(|target| **target == name));
    match platform {
        Platform::Hip => {
            add(arch);
            if let Some(generic) = generic(arch) {
                add(generic);
            }
        }
        Platform::Cuda => {
            // "sm_90a" holds instructions of that generation alone; PTX without a letter runs on
            // every later generation too.
            add(&format!("{arch}a"));
            let mut below: Vec<(u32, &'static str)> = built
                .iter()
                .filter_map(|target| Some((sm(target)?, *target)))
                .filter(|(number, _)| sm(arch).is_some_and(|device| *number <= device))
                .collect();
            below.sort_by(|a, b| b.cmp(a));
            list.extend(below.into_iter().map(|(_, target)| target));
        }
    }
    list
}

/// 90 of "sm_90"; none for a target with a letter.
fn sm(target: &str) -> Option<u32> {
    target.strip_prefix("sm_")?.parse().ok()
}

/// The generic target that covers an AMD chip (LLVM's AMDGPU usage, "generic processors").
fn generic(arch: &str) -> Option<&'static str> {
    Some(match arch {
        "gfx900" | "gfx902" | "gfx904" | "gfx906" | "gfx909" | "gfx90c" => "gfx9-generic",
        "gfx940" | "gfx941" | "gfx942" | "gfx950" => "gfx9-4-generic",
        "gfx1010" | "gfx1011" | "gfx1012" | "gfx1013" => "gfx10-1-generic",
        "gfx1030" | "gfx1031" | "gfx1032" | "gfx1033" | "gfx1034" | "gfx1035" | "gfx1036" => {
            "gfx10-3-generic"
        }
        "gfx1100" | "gfx1101" | "gfx1102" | "gfx1103" | "gfx1150" | "gfx1151" | "gfx1152"
        | "gfx1153" => "gfx11-generic",
        "gfx1200" | "gfx1201" => "gfx12-generic",
        _ => return None,
    })
}

/// Whether `arch` looks like a target name: it becomes part of a command line and a file name.
pub(super) fn is_name(arch: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !arch.is_empty() && arch.len() <= 32 && arch.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT: [&str; 6] = [
        "gfx1100",
        "gfx11-generic",
        "gfx90a",
        "sm_80",
        "sm_90",
        "sm_90a",
    ];

    #[test]
    fn exact_then_generic() {
        let hip = |arch| loadable(arch, Platform::Hip, &BUILT);
        assert_eq!(hip("gfx1100"), ["gfx1100", "gfx11-generic"]);
        assert_eq!(hip("gfx1153"), ["gfx11-generic"]);
        assert_eq!(hip("gfx90a"), ["gfx90a"]);
        assert!(hip("gfx942").is_empty());
        assert!(hip("gfx9999").is_empty());
    }

    #[test]
    fn ptx_of_the_nearest_earlier_generation() {
        let cuda = |arch| loadable(arch, Platform::Cuda, &BUILT);
        assert_eq!(cuda("sm_90"), ["sm_90a", "sm_90", "sm_80"]);
        assert_eq!(cuda("sm_120"), ["sm_90", "sm_80"]);
        assert_eq!(cuda("sm_86"), ["sm_80"]);
        assert!(cuda("sm_75").is_empty());
    }

    #[test]
    fn names_that_could_do_harm_are_none() {
        assert!(is_name("gfx10-3-generic") && is_name("sm_90a"));
        for wrong in ["", "gfx1100/..", "gfx 1100", "gfx942:xnack-", "--version;"] {
            assert!(!is_name(wrong), "{wrong}");
        }
    }
}
