//! Saving, loading and forking what was computed of a text.

use super::boundary::{boundary, boundary_on};
use super::error::mlxrocm_error;
use super::generation::{GenerationObject, mlxrocm_generation};
use super::handle;
use super::outputs::{Buffer, Output};
use super::request::{self, mlxrocm_request};
use super::session::{SessionObject, mlxrocm_session};
use super::status::mlxrocm_status;
use super::strings::{self, array};
use super::symbols::since_0_1;
use crate::session::state_tokens;
use std::ffi::c_char;

/// Saves what the model made of some tokens (keys and values of the KV cache, and what recurrent layers keep), so that
/// a request that begins with them goes on after them without running them again: in this session or another one of
/// the same model, device and kv_type, in this process or another one. Tokens that are not in the cache any more are
/// run before, in turn with the requests.
///
/// The state holds whole pages of 32 tokens, and the recurrent state after them: what is left over is run again. It
/// says what it is of and has a checksum.
///
/// - `session`: borrowed.
/// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context. For what a generation
///   has seen: the prompt and the tokens of its events.
/// - `count`: tokens.
/// - `state`: receives the state.
/// - `capacity`: room in `state`, in bytes; 0: only measure, nothing is run. Whatever it is, more tokens than the
///   context are CONTEXT_FULL.
/// - `needed`: receives the state's bytes, also when they do not fit; nullable unless measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL, UNSUPPORTED (a session
/// with batch_invariant on a GPU). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_save_state(
    session: *const mlxrocm_session,
    tokens: *const u32,
    count: usize,
    state: *mut u8,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(session, "session", error, |object: &SessionObject| {
        // SAFETY: the caller's array, as documented.
        let tokens = unsafe { array(tokens, count, "tokens") }?;
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(state, capacity, needed, "state") }?;
        object.session.check_count(count)?;
        buffer.reserve(object.session.state_size(count)?)?;
        if buffer.measures() {
            return Ok(());
        }
        buffer.fill(&object.session.save_state(tokens)?)
    })
}

/// mlxrocm_session_save_state to a file. The file is written beside `path` and renamed when it is whole, so that one
/// that was there before is not damaged.
///
/// - `session`: borrowed.
/// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
/// - `count`: tokens.
/// - `path`: the file as the operating system spells it; borrowed for the call.
/// - `path_length`: bytes of `path`, or MLXROCM_NUL.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: as mlxrocm_session_save_state, and IO. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_save_state_file(
    session: *const mlxrocm_session,
    tokens: *const u32,
    count: usize,
    path: *const c_char,
    path_length: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(session, "session", error, |object: &SessionObject| {
        // SAFETY: the caller's array, as documented.
        let tokens = unsafe { array(tokens, count, "tokens") }?;
        // SAFETY: the caller's string, as documented.
        let path = unsafe { strings::path(path, path_length, "path") }?;
        object.session.save_state_file(tokens, path)
    })
}

/// Puts a state into the session's KV cache, as if a request had just run its tokens: a request that begins with them
/// (mlxrocm_state_get_tokens) goes on after them, and its cached_tokens says after how many. It stays until other
/// requests need the room, then its tokens are run again.
///
/// A state that is damaged, cut, of another model (its weights are compared by a hash), device or kv_type is refused.
/// One that was made with intent to deceive is not: load states only of those whom you would let write the prompt.
///
/// - `session`: borrowed.
/// - `state`: `size` bytes, borrowed for the call.
/// - `size`: bytes.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_FILE (damaged), INVALID_ARGUMENT (of another model, device, kv_type), CONTEXT_FULL
/// (longer than the session's context), OUT_OF_MEMORY (also where the session has no memory to keep another recurrent
/// state), UNSUPPORTED (of another version of the library; a session with batch_invariant on a GPU). Any thread.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_load_state(
    session: *const mlxrocm_session,
    state: *const u8,
    size: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(session, "session", error, |object: &SessionObject| {
        // SAFETY: the caller's array, as documented.
        let state = unsafe { array(state, size, "state") }?;
        object.session.load_state(state).map(drop)
    })
}

/// mlxrocm_session_load_state from a file.
///
/// - `session`: borrowed.
/// - `path`: the file as the operating system spells it, a regular one; borrowed for the call.
/// - `path_length`: bytes of `path`, or MLXROCM_NUL.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: as mlxrocm_session_load_state, and IO. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_load_state_file(
    session: *const mlxrocm_session,
    path: *const c_char,
    path_length: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(session, "session", error, |object: &SessionObject| {
        // SAFETY: the caller's string, as documented.
        let path = unsafe { strings::path(path, path_length, "path") }?;
        object.session.load_state_file(path).map(drop)
    })
}

/// Gives the tokens of a state, those that are run again after loading included. Needs no session.
///
/// - `state`: `size` bytes, borrowed for the call.
/// - `size`: bytes.
/// - `tokens`: receives the ids.
/// - `capacity`: room in `tokens`, in ids; 0: only measure.
/// - `needed`: receives the number of ids, also when they do not fit; nullable unless measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_FILE (damaged), UNSUPPORTED (of another version of the library), BUFFER_TOO_SMALL.
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_state_get_tokens(
    state: *const u8,
    size: usize,
    tokens: *mut u32,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's array, as documented.
        let state = unsafe { array(state, size, "state") }?;
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(tokens, capacity, needed, "tokens") }?;
        buffer.fill(&state_tokens(state)?)
    })
}

/// Queues a request that goes on where a generation is: after its prompt and the tokens whose events
/// mlxrocm_generation_next has given out. Full pages of the KV cache are used by both; in a model with recurrent layers
/// those up to the last one at whose end their state was kept, and the rest is run again. The generation goes on as
/// it would.
///
/// - `generation`: borrowed; it may have ended.
/// - `request`: as for mlxrocm_session_submit, but without a prompt; max_tokens and the like are the fork's own.
///   Borrowed for the call.
/// - `fork`: receives the new generation, owned: free it with mlxrocm_generation_free. Of the same session.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: as mlxrocm_session_submit; INVALID_ARGUMENT also for a request with a prompt. One thread at a time with
/// mlxrocm_generation_next. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_generation_fork(
    generation: *const mlxrocm_generation,
    request: *const mlxrocm_request,
    fork: *mut *mut mlxrocm_generation,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's struct, as documented.
        let given = unsafe { request::take(request) }?;
        handle::get::<GenerationObject>(generation, "generation")?.run(|object| {
            // SAFETY: the caller's pointer, as documented.
            let output = unsafe { Output::new(fork, "fork") }?;
            let tokens = object.generation.tokens();
            // SAFETY: what the caller's struct points to, as documented.
            let request = unsafe { request::read(given, &object.model, Some(tokens)) }?;
            let (session, model) = (object.session.clone(), object.model.clone());
            let generation = session.submit(request)?;
            output.write(handle::publish(GenerationObject::new(
                generation, session, model,
            )));
            Ok(())
        })
    })
}

since_0_1! {
    mlxrocm_session_save_state mlxrocm_session_save_state_file mlxrocm_session_load_state mlxrocm_session_load_state_file
    mlxrocm_state_get_tokens mlxrocm_generation_fork
}
