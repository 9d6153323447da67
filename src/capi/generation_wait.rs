//! Waiting for events of several generations.

use super::boundary::{boundary_on, boundary_status};
use super::error::mlxrocm_error;
use super::generation::{GenerationObject, mlxrocm_generation};
use super::handle;
use super::outputs::Output;
use super::status::{MLXROCM_END, MLXROCM_OK, MLXROCM_PENDING, mlxrocm_status};
use super::strings::{array, renamed, timeout};
use super::symbols::since_0_1;
use crate::session::{Generation, Ready, wait_any};

/// Waits until mlxrocm_generation_next has an event of one of several generations, of any sessions.
///
/// - `generations`: `count` generations, borrowed for the call; NULL ones are passed over.
/// - `count`: elements of `generations`.
/// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
/// - `index`: receives the place of one that has an event, with MLXROCM_OK; where several have, they take turns.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Returns MLXROCM_OK; MLXROCM_PENDING when none had an event within the timeout; MLXROCM_END when none will have one
/// any more: all have given out their MLXROCM_EVENT_FINISHED, or there are none.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread; where another one takes the events, mlxrocm_generation_next
/// may have nothing any more. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_generation_wait_any(
    generations: *const *const mlxrocm_generation,
    count: usize,
    timeout_ns: i64,
    index: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_status(error, || {
        // SAFETY: the caller's array, as documented.
        let handles = unsafe { array(generations, count, "generations") }?;
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(index, "index") }?;
        let mut objects = Vec::with_capacity(count);
        for (place, handle) in handles.iter().enumerate().filter(|(_, h)| !h.is_null()) {
            let object = handle::get::<GenerationObject>(*handle, "generations")
                .map_err(|error| renamed(error, "generations", format!("generations[{place}]")))?;
            objects.push((place, object));
        }
        let all = objects.iter().map(|(_, object)| &object.value().generation);
        match wait_any(&all.collect::<Vec<&Generation>>(), timeout(timeout_ns)) {
            Ready::At(found) => {
                output.write(objects[found].0);
                Ok(MLXROCM_OK)
            }
            Ready::Pending => Ok(MLXROCM_PENDING),
            Ready::End => Ok(MLXROCM_END),
        }
    })
}

/// Gives a file descriptor for poll, epoll, libuv and other event loops: it is readable while
/// mlxrocm_generation_next has an event, and not any more when MLXROCM_EVENT_FINISHED was given out.
///
/// - `generation`: borrowed.
/// - `fd`: receives the descriptor (an eventfd, close-on-exec), the same one however often it is asked for. It is
///   borrowed until the generation is freed, which closes it: take it out of the event loop before, wait for it to be
///   readable, but neither read, write nor close it.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO (no descriptor is left). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_generation_get_fd(
    generation: *const mlxrocm_generation,
    fd: *mut i32,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(
        generation,
        "generation",
        error,
        |object: &GenerationObject| {
            // SAFETY: the caller's pointer, as documented.
            let output = unsafe { Output::new(fd, "fd") }?;
            output.write(object.generation.fd()?);
            Ok(())
        },
    )
}

since_0_1! { mlxrocm_generation_wait_any mlxrocm_generation_get_fd }
