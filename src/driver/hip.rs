//! What is HIP's alone.

use super::api::Api;
use super::facts::{DeviceFacts, Platform, integrated_total};
use super::status::Code;
use super::sys::hip as sys;
use super::table::HipFunctions;
use crate::Result;
use std::ffi::c_int;

/// What device `ordinal` is. By attributes, whose numbers HIP keeps, and not by the property
/// structure, whose layout changed between versions; only the target's name is in there alone.
pub(super) fn facts(api: &Api, functions: &HipFunctions, ordinal: u32) -> Result<DeviceFacts> {
    let what = || format!("asking for HIP device {ordinal}");
    let mut device: c_int = 0;
    let number = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
    // SAFETY: the driver writes one integer.
    let code = Code(unsafe { (api.functions.device_get)(&mut device, number) });
    api.check(code, what)?;
    let must = |attribute| {
        api.attribute(device, attribute)
            .map_err(|code| api.error(code, &format!("asking for attribute {attribute}")))
    };
    let may = |attribute| api.attribute(device, attribute).unwrap_or(0);
    // SAFETY: the driver writes at most the length given.
    let name = api.text("a device's name", |text, len| unsafe {
        (api.functions.device_name)(text, len, device)
    })?;
    // SAFETY: as above.
    let pci_id = api.text("a device's PCI address", |text, len| unsafe {
        (api.functions.device_pci)(text, len, device)
    })?;
    let mut total = 0;
    // SAFETY: the driver writes one integer.
    let code = Code(unsafe { (api.functions.device_memory)(&mut total, device) });
    api.check(code, what)?;
    let target = target(api, functions, device)?;
    let integrated = may(sys::hipDeviceAttributeIntegrated) != 0;
    let lds_bytes = must(sys::hipDeviceAttributeMaxSharedMemoryPerBlock)?;
    Ok(DeviceFacts {
        name: if name.is_empty() {
            format!("AMD {target}")
        } else {
            name
        },
        arch: target.split(':').next().unwrap_or_default().to_owned(),
        target,
        platform: Platform::Hip,
        driver_ordinal: ordinal,
        driver_version: api.version,
        wave_size: must(sys::hipDeviceAttributeWarpSize)?,
        compute_units: must(sys::hipDeviceAttributeMultiprocessorCount)?,
        lds_bytes,
        lds_bytes_opt_in: lds_bytes,
        l2_bytes: u64::from(may(sys::hipDeviceAttributeL2CacheSize)),
        memory_total: integrated_total(total as u64, integrated),
        integrated,
        pci_id,
        clock_khz: may(sys::hipDeviceAttributeClockRate),
        memory_clock_khz: may(sys::hipDeviceAttributeMemoryClockRate),
        memory_bus_bits: may(sys::hipDeviceAttributeMemoryBusWidth),
        max_block_threads: must(sys::hipDeviceAttributeMaxThreadsPerBlock)?,
        max_unit_threads: may(sys::hipDeviceAttributeMaxThreadsPerMultiProcessor),
    })
}

/// The target ("gfx942:sramecc+:xnack-") out of the property structure: its only string that begins
/// with "gfx", wherever this version has it.
fn target(api: &Api, functions: &HipFunctions, device: c_int) -> Result<String> {
    // Longer than any version's structure (at most 1.5 KiB so far).
    let mut properties = vec![0_u64; 1024];
    // SAFETY: the driver writes its structure, which fits.
    let code =
        Code(unsafe { (functions.device_properties)(properties.as_mut_ptr().cast(), device) });
    api.check(code, || "asking for a device's properties".into())?;
    let bytes: Vec<u8> = properties
        .iter()
        .flat_map(|word| word.to_ne_bytes())
        .collect();
    target_in(&bytes).ok_or_else(|| {
        crate::Error::NoDevice(format!(
            "the HIP runtime (version {}) does not say what its device is; this library is too old \
             for it",
            api.version
        ))
    })
}

/// The length of the device's name at the structure's begin, which may contain anything.
const NAME: usize = 256;

fn target_in(properties: &[u8]) -> Option<String> {
    let rest = properties.get(NAME..)?;
    // A string of its own: what is before it is not text.
    let start = rest.windows(4).position(|window| {
        window.starts_with(b"gfx") && window.get(3).is_some_and(u8::is_ascii_hexdigit)
    })?;
    let text: Vec<u8> = rest
        .iter()
        .skip(start)
        .take(64)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b":+-".contains(byte))
        .copied()
        .collect();
    String::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_found_wherever_it_is() {
        for at in [256, 396, 640, 1160, 4000] {
            let mut properties = vec![0_u8; 8192];
            properties[..12].copy_from_slice(b"AMD gfx90a X");
            let target = b"gfx942:sramecc+:xnack-";
            properties[at..at + target.len()].copy_from_slice(target);
            assert_eq!(
                target_in(&properties).as_deref(),
                Some("gfx942:sramecc+:xnack-")
            );
        }
        assert_eq!(target_in(&[0; 8192]), None);
        assert_eq!(target_in(b"gfx1100"), None);
    }
}
