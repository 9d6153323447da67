//! What the tests share: one test at a time on a fresh runtime, handles with short names, the report.

use std::ffi::{CString, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use softgpu::hip::control::{softgpu_configure, softgpu_fault, softgpu_report};
use softgpu::hip::{copy, event, memory_api, stream};

pub type Handle = *mut c_void;
pub const NULL: Handle = std::ptr::null_mut();
pub const HOST_TO_DEVICE: c_int = 1;
pub const DEVICE_TO_HOST: c_int = 2;
pub const DEVICE_TO_DEVICE: c_int = 3;
pub const NOT_READY: c_int = 600;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The runtime belongs to one test as long as this lives.
pub struct Gpu {
    _turn: MutexGuard<'static, ()>,
}

/// A fresh runtime with a configuration.
pub fn gpu(config: &str) -> Gpu {
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let text = CString::new(config).unwrap();
    assert_eq!(unsafe { softgpu_configure(text.as_ptr()) }, 0, "{config}");
    assert_eq!(unsafe { softgpu::hip::device::hipSetDevice(0) }, 0);
    softgpu::hip::device::hipGetLastError();
    Gpu { _turn: turn }
}

#[track_caller]
pub fn ok(code: c_int) {
    assert_eq!(code, 0, "HIP call failed");
}

impl Gpu {
    pub fn fault(&self, text: &str) {
        let text = CString::new(text).unwrap();
        ok(unsafe { softgpu_fault(text.as_ptr()) });
    }

    pub fn report(&self) -> Value {
        let size = unsafe { softgpu_report(std::ptr::null_mut(), 0) };
        let mut bytes = vec![0u8; size];
        assert_eq!(
            unsafe { softgpu_report(bytes.as_mut_ptr().cast(), size) },
            size
        );
        bytes.pop();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// How often a kind of violation was found.
    pub fn found(&self, kind: &str) -> u64 {
        let report = self.report();
        let all = report["violations"].as_array().unwrap();
        all.iter()
            .filter(|one| one["kind"] == kind)
            .map(|one| one["count"].as_u64().unwrap())
            .sum()
    }

    /// All messages, for assertions on their words.
    pub fn messages(&self) -> String {
        self.report()["violations"].to_string()
    }

    #[track_caller]
    pub fn clean(&self) {
        assert_eq!(self.report()["violations"], serde_json::json!([]));
    }

    pub fn order(&self) -> Vec<String> {
        let report = self.report();
        report["order"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_str().unwrap().to_owned())
            .collect()
    }
}

#[track_caller]
pub fn malloc(bytes: usize) -> Handle {
    let mut address = NULL;
    ok(unsafe { memory_api::hipMalloc(&raw mut address, bytes) });
    address
}

#[track_caller]
pub fn pinned(bytes: usize) -> &'static mut [u8] {
    let mut address = NULL;
    ok(unsafe { memory_api::hipHostMalloc(&raw mut address, bytes, 0) });
    unsafe { std::slice::from_raw_parts_mut(address.cast(), bytes) }
}

#[track_caller]
pub fn free(address: Handle) {
    ok(unsafe { memory_api::hipFree(address) });
}

#[track_caller]
pub fn new_stream() -> Handle {
    let mut handle = NULL;
    ok(unsafe { stream::hipStreamCreateWithFlags(&raw mut handle, 1) });
    handle
}

#[track_caller]
pub fn new_event() -> Handle {
    let mut handle = NULL;
    ok(unsafe { event::hipEventCreate(&raw mut handle) });
    handle
}

#[track_caller]
pub fn sync(stream: Handle) {
    ok(unsafe { stream::hipStreamSynchronize(stream) });
}

/// Puts bytes into device memory and waits.
#[track_caller]
pub fn put(to: Handle, bytes: &[u8]) {
    ok(unsafe { copy::hipMemcpy(to, bytes.as_ptr().cast(), bytes.len(), HOST_TO_DEVICE) });
}

/// Gets bytes from device memory.
#[track_caller]
pub fn get(from: Handle, bytes: usize) -> Vec<u8> {
    let mut host = vec![0; bytes];
    ok(unsafe { copy::hipMemcpy(host.as_mut_ptr().cast(), from, bytes, DEVICE_TO_HOST) });
    host
}

/// Fills device memory in a stream.
#[track_caller]
pub fn fill(to: Handle, value: u8, bytes: usize, stream: Handle) {
    ok(unsafe { copy::hipMemsetAsync(to, c_int::from(value), bytes, stream) });
}

/// An address inside an allocation.
pub fn at(address: Handle, offset: usize) -> Handle {
    address.wrapping_byte_add(offset)
}
