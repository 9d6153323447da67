//! What a session says about given tokens: logits of chosen positions, hidden states, embeddings.

use super::boundary::boundary_on;
use super::error::mlxrocm_error;
use super::options::{self, SizedStruct};
use super::outputs::Buffer;
use super::session::{SessionObject, mlxrocm_session};
use super::status::mlxrocm_status;
use super::strings::array;
use super::symbols::since_0_1;
use crate::session::{Embedding, Pooling};
use crate::{Error, Result};

/// mlxrocm_embed_options.pooling: a row for each chosen token.
pub const MLXROCM_POOLING_NONE: u32 = 0;
/// mlxrocm_embed_options.pooling: the mean of all tokens.
pub const MLXROCM_POOLING_MEAN: u32 = 1;
/// mlxrocm_embed_options.pooling: the first token.
pub const MLXROCM_POOLING_CLS: u32 = 2;
/// mlxrocm_embed_options.pooling: the last token.
pub const MLXROCM_POOLING_LAST: u32 = 3;

/// mlxrocm_embed_options.flags: each row is divided by its Euclidean length; a row of zeros stays.
pub const MLXROCM_EMBED_NORMALIZE: u64 = 1;

/// What mlxrocm_session_embed gives. Zero is each field's default: the hidden state of every token as it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_embed_options {
    /// Set by the caller to sizeof(mlxrocm_embed_options).
    pub struct_size: u32,
    /// One of MLXROCM_POOLING_...; 0: MLXROCM_POOLING_NONE. What a model was trained for is said by whoever made
    /// it: language models know most in the last token.
    pub pooling: u32,
    /// Without pooling: `position_count` positions of tokens, from 0, each larger than the one before.
    pub positions: *const u32,
    /// Elements of `positions`; 0: all tokens.
    pub position_count: usize,
    /// MLXROCM_EMBED_NORMALIZE or 0.
    pub flags: u64,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_embed_options {
    const NAME: &'static str = "mlxrocm_embed_options";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// The options from C.
///
/// # Safety
/// `options` is NULL or points to a struct of the size it says, and its pointer to what it says.
unsafe fn read(options: *const mlxrocm_embed_options) -> Result<Embedding> {
    // SAFETY: the caller promises the struct.
    let c = unsafe { options::read(options) }?;
    if c.flags & !MLXROCM_EMBED_NORMALIZE != 0 {
        return Err(Error::InvalidArgument(format!(
            "flags of mlxrocm_embed_options is {:#x}; it is MLXROCM_EMBED_NORMALIZE (1) or 0",
            c.flags
        )));
    }
    // SAFETY: the caller promises the array.
    let positions = unsafe { array(c.positions, c.position_count, "positions") }?;
    Ok(Embedding {
        pooling: match c.pooling {
            MLXROCM_POOLING_NONE => Pooling::None,
            MLXROCM_POOLING_MEAN => Pooling::Mean,
            MLXROCM_POOLING_CLS => Pooling::Cls,
            MLXROCM_POOLING_LAST => Pooling::Last,
            other => {
                return Err(Error::InvalidArgument(format!(
                    "pooling is {other}; it is one of MLXROCM_POOLING_NONE (0), MLXROCM_POOLING_MEAN (1), \
                     MLXROCM_POOLING_CLS (2), MLXROCM_POOLING_LAST (3)"
                )));
            }
        },
        positions: positions.to_vec(),
        normalize: c.flags & MLXROCM_EMBED_NORMALIZE != 0,
    })
}

pub(super) fn numbers(rows: usize, columns: usize) -> Result<usize> {
    rows.checked_mul(columns).ok_or_else(|| {
        Error::InvalidArgument(format!("{rows} rows have too many numbers to count"))
    })
}

/// Runs a sequence of tokens and gives the raw logits of chosen positions. As mlxrocm_session_logits, but memory
/// and the product with the head of the model are only for these, and tokens after the last one are not run.
///
/// - `session`: borrowed.
/// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
/// - `count`: tokens.
/// - `positions`: `position_count` positions in `tokens`, from 0, each larger than the one before; borrowed for the
///   call.
/// - `position_count`: positions; 0: the last token alone.
/// - `logits`: receives rows of vocab_size numbers (mlxrocm_model_info), one row for each position: that of
///   position i is about the token that follows the first i + 1.
/// - `capacity`: room in `logits`, in numbers; 0: only measure, nothing is run. Whatever it is, more tokens than
///   the context are CONTEXT_FULL.
/// - `needed`: receives rows * vocab_size, also when they do not fit; nullable unless measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL. Any
/// thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_logits_at(
    session: *const mlxrocm_session,
    tokens: *const u32,
    count: usize,
    positions: *const u32,
    position_count: usize,
    logits: *mut f32,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(session, "session", error, |object: &SessionObject| {
        // SAFETY: the caller's array, as documented.
        let tokens = unsafe { array(tokens, count, "tokens") }?;
        // SAFETY: the caller's array, as documented.
        let positions = unsafe { array(positions, position_count, "positions") }?;
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(logits, capacity, needed, "logits") }?;
        let last = [u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX)];
        let positions = if positions.is_empty() {
            &last
        } else {
            positions
        };
        object.session.check_count(count)?;
        buffer.reserve(numbers(positions.len(), object.model.info().vocab_size)?)?;
        if buffer.measures() {
            return Ok(());
        }
        buffer.fill(&object.session.logits_at(tokens, positions)?)
    })
}

/// Runs a sequence of tokens and gives their hidden states after the model's final norm, those of chosen tokens or
/// pooled to one embedding of the text. It waits for its turn among the requests, and takes as long as a prompt of
/// that length.
///
/// - `session`: borrowed.
/// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
/// - `count`: tokens.
/// - `options`: borrowed for the call; NULL means defaults: a row for each token.
/// - `embedding`: receives rows of hidden_size numbers (mlxrocm_model_info): one where tokens are pooled, else one
///   for each chosen token.
/// - `capacity`: room in `embedding`, in numbers; 0: only measure, nothing is run. Whatever it is, more tokens than
///   the context are CONTEXT_FULL.
/// - `needed`: receives rows * hidden_size, also when they do not fit; nullable unless measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL, UNSUPPORTED (a model
/// whose hidden states the device does not give). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_embed(
    session: *const mlxrocm_session,
    tokens: *const u32,
    count: usize,
    options: *const mlxrocm_embed_options,
    embedding: *mut f32,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(session, "session", error, |object: &SessionObject| {
        // SAFETY: the caller's array, as documented.
        let tokens = unsafe { array(tokens, count, "tokens") }?;
        // SAFETY: the caller's struct, as documented.
        let how = unsafe { read(options) }?;
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(embedding, capacity, needed, "embedding") }?;
        object.session.check_count(count)?;
        buffer.reserve(numbers(how.rows(count), object.session.hidden_size()?)?)?;
        if buffer.measures() {
            return Ok(());
        }
        buffer.fill(&object.session.embed(tokens, &how)?)
    })
}

since_0_1! { mlxrocm_session_logits_at mlxrocm_session_embed }
