//! What is CUDA's alone.

use super::api::Api;
use super::facts::{DeviceFacts, Platform, integrated_total};
use super::status::Code;
use super::sys::cuda as sys;
use crate::Result;
use std::ffi::c_int;

/// What device `ordinal` is.
pub(super) fn facts(api: &Api, ordinal: u32) -> Result<DeviceFacts> {
    let what = || format!("asking for CUDA device {ordinal}");
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
    let arch = format!(
        "sm_{}{}",
        must(sys::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        must(sys::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?
    );
    let integrated = may(sys::CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
    let lds_bytes = must(sys::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?;
    Ok(DeviceFacts {
        name,
        target: arch.clone(),
        arch,
        platform: Platform::Cuda,
        driver_ordinal: ordinal,
        driver_version: api.version,
        wave_size: must(sys::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        compute_units: must(sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        lds_bytes,
        lds_bytes_opt_in: may(sys::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
            .max(lds_bytes),
        l2_bytes: u64::from(may(sys::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)),
        memory_total: integrated_total(total as u64, integrated),
        integrated,
        pci_id,
        clock_khz: may(sys::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        memory_clock_khz: may(sys::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
        memory_bus_bits: may(sys::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
        max_block_threads: must(sys::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_unit_threads: may(sys::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
    })
}
