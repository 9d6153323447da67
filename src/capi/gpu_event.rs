//! Events of a GPU: marks in streams. (mlxrocm_event is an event of a generation.)

use super::boundary::{boundary_free, boundary_on, boundary_status};
use super::device::{DeviceObject, mlxrocm_device};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::outputs::Output;
use super::status::{MLXROCM_OK, MLXROCM_PENDING, mlxrocm_status};
use super::strings::timeout;
use super::symbols::since_0_1;
use crate::gpu::Event;

/// A mark in a stream, to wait for and to measure time with: mlxrocm_stream_record sets it.
/// Internally locked: any thread.
pub struct mlxrocm_gpu_event {
    _private: [u8; 0],
}

pub(super) struct EventObject {
    pub(super) event: Event,
}

impl Object for EventObject {
    type Opaque = mlxrocm_gpu_event;
    const NOUN: &'static str = "mlxrocm_gpu_event";
}

/// Makes an event.
///
/// - `device`: borrowed; a GPU. The event keeps it alive.
/// - `event`: receives the event, owned: free it with mlxrocm_gpu_event_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY, DEVICE_FAILED,
/// DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_gpu_event_new(
    device: *const mlxrocm_device,
    event: *mut *mut mlxrocm_gpu_event,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(event, "event") }?;
        let event = object.gpu()?.device.event()?;
        output.write(handle::publish(EventObject { event }));
        Ok(())
    })
}

/// Sleeps until the work before the last record of an event is done; at once if it was never
/// recorded.
///
/// - `event`: borrowed.
/// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, TIMEOUT (the work goes on), DEVICE_FAILED (a fault of that
/// work), DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_gpu_event_wait(
    event: *const mlxrocm_gpu_event,
    timeout_ns: i64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(event, "event", error, |object: &EventObject| {
        object.event.wait(timeout(timeout_ns))
    })
}

/// Asks whether the work before the last record of an event is done; it is if it was never recorded.
///
/// - `event`: borrowed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Returns MLXROCM_OK when it is done, MLXROCM_PENDING when it is not.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED (a fault of that work), DEVICE_LOST. Any
/// thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_gpu_event_query(
    event: *const mlxrocm_gpu_event,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_status(error, || {
        let done = handle::get::<EventObject>(event, "event")?.run(|o| o.event.is_done())?;
        Ok(if done { MLXROCM_OK } else { MLXROCM_PENDING })
    })
}

/// The GPU's time between two events that are recorded and done.
///
/// - `earlier`: borrowed.
/// - `later`: borrowed; of the same device.
/// - `milliseconds`: receives the time.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (not recorded, not done, of different devices),
/// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_gpu_event_elapsed(
    earlier: *const mlxrocm_gpu_event,
    later: *const mlxrocm_gpu_event,
    milliseconds: *mut f64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(earlier, "earlier", error, |earlier: &EventObject| {
        // SAFETY: the caller's number, as documented.
        let output = unsafe { Output::new(milliseconds, "milliseconds") }?;
        let elapsed = handle::get::<EventObject>(later, "later")?
            .run(|later| later.event.elapsed_since(&earlier.event))?;
        output.write(elapsed.as_secs_f64() * 1e3);
        Ok(())
    })
}

/// Frees an event. Streams that wait for it still do.
///
/// - `event`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_gpu_event_free(event: *mut mlxrocm_gpu_event) {
    boundary_free::<EventObject>(event)
}

since_0_1! {
    mlxrocm_gpu_event_new mlxrocm_gpu_event_wait mlxrocm_gpu_event_query mlxrocm_gpu_event_elapsed
    mlxrocm_gpu_event_free
}
