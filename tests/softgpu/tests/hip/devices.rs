//! Devices, attributes, properties.

use std::ffi::{CStr, c_int};

use crate::support::{NULL, gpu, ok};
use softgpu::hip::attributes::{
    PROPERTIES_R0000, PROPERTIES_R0600, hipDeviceGetAttribute, hipGetDeviceProperties,
    hipGetDevicePropertiesR0600,
};
use softgpu::hip::device::*;

fn attribute(number: c_int, ordinal: c_int) -> c_int {
    let mut value = -1;
    ok(unsafe { hipDeviceGetAttribute(&raw mut value, number, ordinal) });
    value
}

fn text(bytes: &[u8]) -> &str {
    CStr::from_bytes_until_nul(bytes).unwrap().to_str().unwrap()
}

#[test]
fn several_devices_differ_in_their_facts() {
    let _gpu = gpu("devices=gfx1151,gfx942,gfx1201;vram_mib=512,1024");
    let mut count = 0;
    ok(unsafe { hipInit(0) });
    ok(unsafe { hipGetDeviceCount(&raw mut count) });
    assert_eq!(count, 3);
    // warp size, multiprocessors (RDNA counts pairs of compute units), integrated
    assert_eq!(
        [attribute(87, 0), attribute(63, 0), attribute(16, 0)],
        [32, 20, 1]
    );
    assert_eq!(
        [attribute(87, 1), attribute(63, 1), attribute(16, 1)],
        [64, 304, 0]
    );
    assert_eq!(
        [attribute(87, 2), attribute(63, 2), attribute(16, 2)],
        [32, 32, 0]
    );
    assert_eq!(attribute(74, 0), 65536);
    let mut bytes = 0;
    ok(unsafe { hipDeviceTotalMem(&raw mut bytes, 2) });
    assert_eq!(bytes, 1024 << 20);
    let mut value = 0;
    assert_eq!(unsafe { hipDeviceGetAttribute(&raw mut value, 87, 3) }, 101);
    assert_eq!(unsafe { hipDeviceGetAttribute(&raw mut value, 9000, 0) }, 1);
    assert_eq!(unsafe { hipSetDevice(3) }, 101);
    assert_eq!(hipGetLastError(), 101);
    assert_eq!(hipGetLastError(), 0);
}

#[test]
fn the_current_device_belongs_to_the_thread() {
    let _gpu = gpu("devices=gfx1100,gfx1100");
    ok(unsafe { hipSetDevice(1) });
    let other = std::thread::spawn(|| {
        let mut ordinal = -1;
        ok(unsafe { hipGetDevice(&raw mut ordinal) });
        ordinal
    });
    assert_eq!(other.join().unwrap(), 0);
    let mut ordinal = -1;
    ok(unsafe { hipGetDevice(&raw mut ordinal) });
    assert_eq!(ordinal, 1);
}

#[test]
fn properties_have_the_layouts_of_both_generations() {
    let _gpu = gpu("devices=gfx90a,gfx1151;integrated=0,1");
    let mut old = vec![0xAAu8; PROPERTIES_R0000 + 8];
    ok(unsafe { hipGetDeviceProperties(old.as_mut_ptr().cast(), 0) });
    assert_eq!(text(&old[396..652]), "gfx90a:sramecc+:xnack-");
    assert_eq!(text(&old[..256]), "AMD Instinct MI210");
    assert_eq!(old[276..280], 64i32.to_ne_bytes());
    assert_eq!(old[PROPERTIES_R0000..], [0xAA; 8]);
    let mut new = vec![0xAAu8; PROPERTIES_R0600 + 8];
    ok(unsafe { hipGetDevicePropertiesR0600(new.as_mut_ptr().cast(), 1) });
    assert_eq!(text(&new[1160..1416]), "gfx1151");
    assert_eq!(new[308..312], 32i32.to_ne_bytes());
    assert_eq!(new[396..400], 1i32.to_ne_bytes());
    assert_eq!(new[PROPERTIES_R0600..], [0xAA; 8]);
    assert_eq!(unsafe { hipGetDeviceProperties(NULL, 0) }, 1);
}

#[test]
fn without_devices_every_call_says_so() {
    for code in [100, 101] {
        let turn = gpu("devices=gfx1100");
        let text = std::ffi::CString::new(format!("devices=;absent={code}")).unwrap();
        ok(unsafe { softgpu::hip::control::softgpu_configure(text.as_ptr()) });
        let mut count = -1;
        assert_eq!(unsafe { hipGetDeviceCount(&raw mut count) }, 100);
        assert_eq!(count, 0);
        let mut address = NULL;
        assert_eq!(unsafe { hipInit(0) }, code);
        assert_eq!(
            unsafe { softgpu::hip::memory_api::hipMalloc(&raw mut address, 16) },
            code
        );
        assert_eq!(unsafe { hipDeviceSynchronize() }, code);
        let mut version = 0;
        ok(unsafe { hipRuntimeGetVersion(&raw mut version) });
        assert_eq!(version / 10_000_000, 7);
        drop(turn);
    }
}

#[test]
fn a_wrong_configuration_changes_nothing_and_is_reported() {
    let gpu = gpu("devices=gfx942");
    for wrong in [c"devices=gfx9999", c"sead=1", c"seed=x"] {
        assert_eq!(
            unsafe { softgpu::hip::control::softgpu_configure(wrong.as_ptr()) },
            -1
        );
    }
    assert_eq!(attribute(87, 0), 64);
    assert_eq!(gpu.found("configuration"), 3);
}

#[test]
fn names_and_addresses_are_cut_to_the_buffer() {
    let _gpu = gpu("devices=gfx1100,gfx1100");
    let mut name = [1u8; 8];
    ok(unsafe { hipDeviceGetName(name.as_mut_ptr().cast(), 4, 0) });
    assert_eq!(&name, b"AMD\0\x01\x01\x01\x01");
    let mut bus = [0u8; 32];
    ok(unsafe { hipDeviceGetPCIBusId(bus.as_mut_ptr().cast(), 32, 1) });
    assert_eq!(text(&bus), "0000:07:00.0");
    assert_eq!(unsafe { hipDeviceGetName(NULL.cast(), 4, 0) }, 1);
    let error = unsafe { CStr::from_ptr(hipGetErrorName(600)) };
    assert_eq!(error.to_str().unwrap(), "hipErrorNotReady");
}
