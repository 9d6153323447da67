//! Copies and fills.
//!
//! Pageable host memory is read when the copy is called; pinned memory when it is executed. A copy to
//! pageable host memory blocks the caller even when it is called asynchronously, as on HIP.

use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};
use std::sync::Arc;

use super::allocation::{Located, Place};
use super::entry::hip_functions;
use super::error::{Error, Outcome};
use super::faults::Site;
use super::operation::{CopyCall, FillCall, Source, What, Work};
use super::runtime::runtime;
use super::state::{Done, State};

/// `hipMemcpyKind`.
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;
const DEFAULT: c_int = 4;

/// When a copy call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Returns {
    AtOnce,
    WhenDone,
}

/// An end of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Device memory.
    Device,
    /// Pinned or registered host memory.
    Pinned,
    /// Ordinary host memory.
    Pageable,
}

impl State {
    /// What an end of a copy is.
    ///
    /// # Errors
    /// `hipErrorInvalidValue`, with an entry in the report, for freed memory and for ranges that go
    /// past the end of their allocation.
    pub fn copy_end(&mut self, address: u64, bytes: u64, what: &str) -> Outcome<End> {
        match self.locate(address, bytes) {
            Located::Known(found) => Ok(if matches!(found.place, Place::Device(_)) {
                End::Device
            } else {
                End::Pinned
            }),
            Located::Host => Ok(End::Pageable),
            Located::Freed(found) => {
                let message = format!("{what} at {address:#x} was freed: {}", found.describe());
                self.report.violation("use_after_free", message);
                Err(Error::INVALID_VALUE)
            }
            Located::Beyond(found) => {
                let message = format!(
                    "{what} at {address:#x} of {bytes} bytes goes past the end of {}",
                    found.describe()
                );
                self.report.violation("copy_out_of_bounds", message);
                Err(Error::INVALID_VALUE)
            }
        }
    }

    /// Both ends of a copy, checked against its kind.
    ///
    /// # Errors
    /// As [`State::copy_end`]; `hipErrorInvalidMemcpyDirection` for an unknown kind;
    /// `hipErrorInvalidValue` for a kind that the addresses contradict.
    pub fn copy_ends(
        &mut self,
        to: u64,
        from: u64,
        bytes: u64,
        kind: c_int,
    ) -> Outcome<(End, End)> {
        if !(0..=DEFAULT).contains(&kind) {
            return Err(Error::INVALID_MEMCPY_DIRECTION);
        }
        let to_end = self.copy_end(to, bytes, "destination of a copy")?;
        let from_end = self.copy_end(from, bytes, "source of a copy")?;
        let wrong = match kind {
            HOST_TO_DEVICE => to_end == End::Pageable,
            DEVICE_TO_HOST => from_end == End::Pageable,
            DEVICE_TO_DEVICE => to_end == End::Pageable || from_end == End::Pageable,
            _ => false,
        };
        if wrong {
            let message = format!(
                "copy of kind {kind} from {from:#x} to {to:#x}: an address is not device or pinned memory"
            );
            self.report.violation("copy_direction", message);
            return Err(Error::INVALID_VALUE);
        }
        Ok((to_end, from_end))
    }
}

fn copy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: *mut c_void,
    returns: Returns,
) -> Outcome {
    let mut state = runtime().lock();
    let stream = state.stream_handle(stream)?;
    let ordinal = state.stream_device(stream);
    state.check_device(ordinal)?;
    if bytes == 0 {
        return Ok(());
    }
    if to.is_null() || from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let (to, from, bytes) = (to as u64, from as u64, bytes as u64);
    let (to_end, from_end) = state.copy_ends(to, from, bytes, kind)?;
    if state.faults.strikes(Site::Copy) {
        return Err(Error::UNKNOWN);
    }
    let copied = CopyCall {
        to,
        from: Source::Address(from),
        bytes,
    };
    if state.capturing(stream)? {
        if returns == Returns::WhenDone {
            return state.refuse_capturing_stream(stream, "a synchronous copy");
        }
        return state.capture_work(stream, Work::Copy(copied));
    }
    let source = if from_end == End::Pageable {
        let mut staged = vec![0; bytes as usize];
        // SAFETY: HIP's contract: the source has `bytes` readable bytes during the call.
        unsafe {
            std::ptr::copy_nonoverlapping(from as *const u8, staged.as_mut_ptr(), bytes as usize);
        }
        Source::Staged(Arc::from(staged))
    } else {
        Source::Address(from)
    };
    let work = Work::Copy(CopyCall {
        from: source,
        ..copied
    });
    let done = state.enqueue(stream, What::Work(Arc::new(work)), None)?;
    // A synchronous copy inside device memory returns before it is done, as on HIP.
    let inside = to_end == End::Device && from_end == End::Device;
    if to_end == End::Pageable || (returns == Returns::WhenDone && !inside) {
        if returns == Returns::AtOnce {
            let name = "asynchronous copy to pageable memory blocked".to_owned();
            state.report.executed("blocking_async_copies", name);
        }
        wait_for(state, ordinal, &done, "a copy")?;
    }
    Ok(())
}

fn wait_for(
    mut state: parking_lot::MutexGuard<'_, State>,
    ordinal: usize,
    done: &Done,
    what: &str,
) -> Outcome {
    runtime().wait(&mut state, what, |state| {
        let ended = !state.pending.contains_key(&done.0) || state.check_device(ordinal).is_err();
        ended.then(|| state.take_fault(ordinal))
    })?;
    state.host_saw(&done.1);
    Ok(())
}

fn fill(to: *mut c_void, value: u32, element: u64, count: usize, stream: *mut c_void) -> Outcome {
    let mut state = runtime().lock();
    let stream = state.stream_handle(stream)?;
    let ordinal = state.stream_device(stream);
    state.check_device(ordinal)?;
    if count == 0 {
        return Ok(());
    }
    let to = to as u64;
    if to == 0 || !to.is_multiple_of(element) {
        return Err(Error::INVALID_VALUE);
    }
    let call = FillCall {
        to,
        value,
        element,
        count: count as u64,
    };
    let end = state.copy_end(to, call.count * element, "destination of a fill")?;
    if end == End::Pageable {
        let message = format!("fill at {to:#x}: not device or pinned memory");
        state.report.violation("copy_direction", message);
        return Err(Error::INVALID_VALUE);
    }
    if state.faults.strikes(Site::Copy) {
        return Err(Error::UNKNOWN);
    }
    if state.capturing(stream)? {
        return state.capture_work(stream, Work::Fill(call));
    }
    state
        .enqueue(stream, What::Work(Arc::new(Work::Fill(call))), None)
        .map(|_| ())
}

const NULL_STREAM: *mut c_void = std::ptr::null_mut();

hip_functions! {
    /// Copies; returns when done, except inside device memory.
    fn hipMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) {
        copy(to, from, bytes, kind, NULL_STREAM, Returns::WhenDone)
    }

    /// Copies in a stream and waits.
    fn hipMemcpyWithStream(
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
        stream: *mut c_void,
    ) {
        copy(to, from, bytes, kind, stream, Returns::WhenDone)
    }

    /// Copies in a stream.
    fn hipMemcpyAsync(
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
        stream: *mut c_void,
    ) {
        copy(to, from, bytes, kind, stream, Returns::AtOnce)
    }

    /// Copies from the host and waits.
    fn hipMemcpyHtoD(to: *mut c_void, from: *const c_void, bytes: usize) {
        copy(to, from, bytes, HOST_TO_DEVICE, NULL_STREAM, Returns::WhenDone)
    }

    /// Copies to the host and waits.
    fn hipMemcpyDtoH(to: *mut c_void, from: *mut c_void, bytes: usize) {
        copy(to, from, bytes, DEVICE_TO_HOST, NULL_STREAM, Returns::WhenDone)
    }

    /// Copies inside device memory.
    fn hipMemcpyDtoD(to: *mut c_void, from: *mut c_void, bytes: usize) {
        copy(to, from, bytes, DEVICE_TO_DEVICE, NULL_STREAM, Returns::WhenDone)
    }

    /// Copies from the host in a stream.
    fn hipMemcpyHtoDAsync(to: *mut c_void, from: *const c_void, bytes: usize, stream: *mut c_void) {
        copy(to, from, bytes, HOST_TO_DEVICE, stream, Returns::AtOnce)
    }

    /// Copies to the host in a stream.
    fn hipMemcpyDtoHAsync(to: *mut c_void, from: *mut c_void, bytes: usize, stream: *mut c_void) {
        copy(to, from, bytes, DEVICE_TO_HOST, stream, Returns::AtOnce)
    }

    /// Copies inside device memory in a stream.
    fn hipMemcpyDtoDAsync(to: *mut c_void, from: *mut c_void, bytes: usize, stream: *mut c_void) {
        copy(to, from, bytes, DEVICE_TO_DEVICE, stream, Returns::AtOnce)
    }

    /// Copies between two devices in a stream, through the host.
    fn hipMemcpyPeerAsync(
        to: *mut c_void,
        to_device: c_int,
        from: *const c_void,
        from_device: c_int,
        bytes: usize,
        stream: *mut c_void,
    ) {
        {
            let state = runtime().lock();
            state.device_at(to_device)?;
            state.device_at(from_device)?;
        }
        copy(to, from, bytes, DEVICE_TO_DEVICE, stream, Returns::AtOnce)
    }

    /// Fills with a byte, on the null stream.
    fn hipMemset(to: *mut c_void, value: c_int, bytes: usize) {
        fill(to, value as u32 & 0xFF, 1, bytes, NULL_STREAM)
    }

    /// Fills with a byte in a stream.
    fn hipMemsetAsync(to: *mut c_void, value: c_int, bytes: usize, stream: *mut c_void) {
        fill(to, value as u32 & 0xFF, 1, bytes, stream)
    }

    /// Fills `count` bytes, on the null stream.
    fn hipMemsetD8(to: *mut c_void, value: c_uchar, count: usize) {
        fill(to, u32::from(value), 1, count, NULL_STREAM)
    }

    /// Fills `count` bytes in a stream.
    fn hipMemsetD8Async(to: *mut c_void, value: c_uchar, count: usize, stream: *mut c_void) {
        fill(to, u32::from(value), 1, count, stream)
    }

    /// Fills `count` 16-bit elements in a stream.
    fn hipMemsetD16Async(to: *mut c_void, value: c_ushort, count: usize, stream: *mut c_void) {
        fill(to, u32::from(value), 2, count, stream)
    }

    /// Fills `count` 32-bit elements, on the null stream.
    fn hipMemsetD32(to: *mut c_void, value: c_int, count: usize) {
        fill(to, value as c_uint, 4, count, NULL_STREAM)
    }

    /// Fills `count` 32-bit elements in a stream.
    fn hipMemsetD32Async(to: *mut c_void, value: c_int, count: usize, stream: *mut c_void) {
        fill(to, value as c_uint, 4, count, stream)
    }
}
