//! Generations: the events of a running request.

use super::boundary::{boundary_free, boundary_on, boundary_status};
use super::error::mlxrocm_error;
use super::event::{Held, mlxrocm_event};
use super::handle::{self, Object};
use super::options::OutputStruct;
use super::status::{MLXROCM_END, MLXROCM_OK, MLXROCM_PENDING, mlxrocm_status};
use super::strings::timeout;
use super::symbols::since_0_1;
use crate::model::Model;
use crate::session::{Generation, Next, Session};
use parking_lot::Mutex;
use std::sync::Arc;

/// A running request. Internally locked: any thread; but what an event points to is valid only until
/// the next call of mlxrocm_generation_next, so only one thread at a time should call that.
pub struct mlxrocm_generation {
    _private: [u8; 0],
}

pub(super) struct GenerationObject {
    // Dropped first: it cancels, then the session may end.
    pub(super) generation: Generation,
    held: Mutex<Held>,
    pub(super) session: Arc<Session>,
    pub(super) model: Arc<Model>,
}

impl Object for GenerationObject {
    type Opaque = mlxrocm_generation;
    const NOUN: &'static str = "mlxrocm_generation";
}

impl GenerationObject {
    pub(super) fn new(
        generation: Generation,
        session: Arc<Session>,
        model: Arc<Model>,
    ) -> GenerationObject {
        GenerationObject {
            generation,
            held: Mutex::new(Held::default()),
            session,
            model,
        }
    }
}

/// Waits for the next event.
///
/// - `generation`: borrowed.
/// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
/// - `event`: receives the event; its `struct_size` must be set. What it points to is borrowed
///   until the next call on this generation or until that is freed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Returns MLXROCM_OK with an event; MLXROCM_PENDING when none came within the timeout; MLXROCM_END
/// when MLXROCM_EVENT_FINISHED was given out before. A request that fails ends with
/// MLXROCM_EVENT_FINISHED and MLXROCM_FINISH_ERROR, not with an error of this function.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. One thread at a time. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_generation_next(
    generation: *const mlxrocm_generation,
    timeout_ns: i64,
    event: *mut mlxrocm_event,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_status(error, || {
        handle::get::<GenerationObject>(generation, "generation")?.run(|object| {
            // SAFETY: the caller's struct, as documented.
            let output = unsafe { OutputStruct::new(event, "event") }?;
            match object.generation.next(timeout(timeout_ns))? {
                Next::Event(event) => {
                    output.write(object.held.lock().hold(event));
                    Ok(MLXROCM_OK)
                }
                Next::Pending => Ok(MLXROCM_PENDING),
                Next::End => Ok(MLXROCM_END),
            }
        })
    })
}

/// Ends a generation soon; its MLXROCM_EVENT_FINISHED still comes. Any number of times, also after
/// the end.
///
/// - `generation`: borrowed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread, also while another one waits for the next
/// event. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_generation_cancel(
    generation: *const mlxrocm_generation,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(
        generation,
        "generation",
        error,
        |object: &GenerationObject| {
            object.generation.cancel();
            Ok(())
        },
    )
}

/// Frees a generation; one that still runs is cancelled.
///
/// - `generation`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_generation_free(generation: *mut mlxrocm_generation) {
    boundary_free::<GenerationObject>(generation)
}

since_0_1! { mlxrocm_generation_next mlxrocm_generation_cancel mlxrocm_generation_free }
