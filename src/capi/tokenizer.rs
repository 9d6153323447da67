//! Tokenizers: text to token ids and back.

use super::boundary::{boundary_free, boundary_on};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::model::{ModelObject, mlxrocm_model};
use super::options::{OutputStruct, SizedStruct};
use super::outputs::{Buffer, Output};
use super::status::mlxrocm_status;
use super::strings::{self, array, utf8};
use super::symbols::since_0_1;
use crate::text::Tokenizer;
use crate::{Error, Result};
use std::ffi::c_char;
use std::sync::Arc;

/// Encode flag: add the tokens that the model wants around a raw prompt (begin of text...).
pub const MLXROCM_ENCODE_ADD_SPECIAL: u32 = 1;
/// Encode flag: read special tokens that are spelled out in the text as those tokens. Do not set it
/// for text from people you do not trust.
pub const MLXROCM_ENCODE_PARSE_SPECIAL: u32 = 2;
/// Decode flag: leave special tokens out.
pub const MLXROCM_DECODE_SKIP_SPECIAL: u32 = 1;
/// Stands for a token that a model does not have.
pub const MLXROCM_NO_TOKEN: u32 = u32::MAX;

/// A tokenizer. Immutable: any thread.
pub struct mlxrocm_tokenizer {
    _private: [u8; 0],
}

/// Facts about a tokenizer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_tokenizer_info {
    /// Set by the caller to sizeof(mlxrocm_tokenizer_info).
    pub struct_size: u32,
    /// Token ids are 0 to `vocab_size` - 1.
    pub vocab_size: u32,
    /// The token that begins a text, or MLXROCM_NO_TOKEN.
    pub bos: u32,
    /// The token that ends a text, or MLXROCM_NO_TOKEN.
    pub eos: u32,
}

// SAFETY: repr(C), size first, numbers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_tokenizer_info {
    const NAME: &'static str = "mlxrocm_tokenizer_info";
    const FIRST_SIZE: usize = size_of::<Self>();
}

struct TokenizerObject(Arc<Tokenizer>);

impl Object for TokenizerObject {
    type Opaque = mlxrocm_tokenizer;
    const NOUN: &'static str = "mlxrocm_tokenizer";
}

/// Refuses flags that do not exist.
pub(super) fn check_flags(flags: u32, known: u32, parameter: &str) -> Result<()> {
    match flags & !known {
        0 => Ok(()),
        unknown => Err(Error::InvalidArgument(format!(
            "{parameter} has unknown bits {unknown:#x}"
        ))),
    }
}

/// Gives a model's tokenizer.
///
/// - `model`: borrowed; the tokenizer keeps what it needs of it.
/// - `tokenizer`: receives the tokenizer, owned: free it with mlxrocm_tokenizer_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_get_tokenizer(
    model: *const mlxrocm_model,
    tokenizer: *mut *mut mlxrocm_tokenizer,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(model, "model", error, |object: &ModelObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(tokenizer, "tokenizer") }?;
        output.write(handle::publish(TokenizerObject(
            object.model.tokenizer().clone(),
        )));
        Ok(())
    })
}

/// Tells facts about a tokenizer.
///
/// - `tokenizer`: borrowed.
/// - `info`: receives the facts; its `struct_size` must be set.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_tokenizer_get_info(
    tokenizer: *const mlxrocm_tokenizer,
    info: *mut mlxrocm_tokenizer_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(tokenizer, "tokenizer", error, |object: &TokenizerObject| {
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { OutputStruct::new(info, "info") }?;
        output.write(mlxrocm_tokenizer_info {
            struct_size: 0,
            vocab_size: u32::try_from(object.0.vocab_size()).unwrap_or(u32::MAX),
            bos: object.0.bos().unwrap_or(MLXROCM_NO_TOKEN),
            eos: object.0.eos().unwrap_or(MLXROCM_NO_TOKEN),
        });
        Ok(())
    })
}

/// Turns text into token ids.
///
/// - `tokenizer`: borrowed.
/// - `text`: UTF-8, borrowed for the call. Bytes that are not UTF-8 count as U+FFFD.
/// - `text_length`: bytes of `text`, or MLXROCM_NUL.
/// - `flags`: MLXROCM_ENCODE_... together.
/// - `tokens`: receives the ids; room for `capacity` of them.
/// - `capacity`: 0: only measure.
/// - `needed`: receives the number of ids, also when they do not fit; nullable unless measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_tokenizer_encode(
    tokenizer: *const mlxrocm_tokenizer,
    text: *const c_char,
    text_length: usize,
    flags: u32,
    tokens: *mut u32,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(tokenizer, "tokenizer", error, |object: &TokenizerObject| {
        // SAFETY: the caller's text, as documented.
        let text = unsafe { strings::text(text, text_length, "text") }?;
        check_flags(
            flags,
            MLXROCM_ENCODE_ADD_SPECIAL | MLXROCM_ENCODE_PARSE_SPECIAL,
            "flags",
        )?;
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(tokens, capacity, needed, "tokens") }?;
        buffer.fill(&object.0.encode(
            &text,
            flags & MLXROCM_ENCODE_ADD_SPECIAL != 0,
            flags & MLXROCM_ENCODE_PARSE_SPECIAL != 0,
        )?)
    })
}

/// Turns token ids into text.
///
/// - `tokenizer`: borrowed.
/// - `tokens`: `count` ids, borrowed for the call.
/// - `count`: 0: `tokens` is ignored.
/// - `flags`: MLXROCM_DECODE_... together.
/// - `text`: receives NUL-terminated UTF-8; bytes that are not UTF-8 become U+FFFD. Text that itself
///   holds a NUL has it in the middle: its length is `needed` - 1.
/// - `capacity`: bytes of `text`; 0: only measure.
/// - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
///   measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also an id outside the vocabulary), BUFFER_TOO_SMALL.
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_tokenizer_decode(
    tokenizer: *const mlxrocm_tokenizer,
    tokens: *const u32,
    count: usize,
    flags: u32,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(tokenizer, "tokenizer", error, |object: &TokenizerObject| {
        // SAFETY: the caller's array, as documented.
        let tokens = unsafe { array(tokens, count, "tokens") }?;
        check_flags(flags, MLXROCM_DECODE_SKIP_SPECIAL, "flags")?;
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(text, capacity, needed, "text") }?;
        let skip_special = flags & MLXROCM_DECODE_SKIP_SPECIAL != 0;
        buffer.fill_text(object.0.decode(tokens, skip_special)?.as_bytes())
    })
}

/// Gives the bytes that one token stands for. They may be a part of a UTF-8 character.
///
/// - `tokenizer`: borrowed.
/// - `token`: the id.
/// - `bytes`: receives the bytes and a NUL behind them; a special token gives its spelling.
/// - `capacity`: room in `bytes`; 0: only measure.
/// - `needed`: receives the bytes with the NUL, also when they do not fit; nullable unless
///   measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also an id outside the vocabulary), BUFFER_TOO_SMALL.
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_tokenizer_token_bytes(
    tokenizer: *const mlxrocm_tokenizer,
    token: u32,
    bytes: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(tokenizer, "tokenizer", error, |object: &TokenizerObject| {
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(bytes, capacity, needed, "bytes") }?;
        buffer.fill_text(
            &object
                .0
                .token_bytes(token)
                .ok_or_else(|| unknown(object, token))?,
        )
    })
}

/// Finds a token by its exact spelling in the vocabulary.
///
/// - `tokenizer`: borrowed.
/// - `spelling`: UTF-8, borrowed for the call, e.g. "<|im_end|>".
/// - `spelling_length`: bytes of `spelling`, or MLXROCM_NUL.
/// - `token`: receives the id, or MLXROCM_NO_TOKEN when no token is spelled like that.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_tokenizer_find_token(
    tokenizer: *const mlxrocm_tokenizer,
    spelling: *const c_char,
    spelling_length: usize,
    token: *mut u32,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(tokenizer, "tokenizer", error, |object: &TokenizerObject| {
        // SAFETY: the caller's text, as documented.
        let spelling = unsafe { utf8(spelling, spelling_length, "spelling") }?;
        // SAFETY: the caller's number, as documented.
        let output = unsafe { Output::new(token, "token") }?;
        output.write(object.0.token_to_id(spelling).unwrap_or(MLXROCM_NO_TOKEN));
        Ok(())
    })
}

/// Says whether a token is a control token that ordinary text never contains.
///
/// - `tokenizer`: borrowed.
/// - `token`: the id.
/// - `special`: receives 1 or 0.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also an id outside the vocabulary). Any thread.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_tokenizer_is_special(
    tokenizer: *const mlxrocm_tokenizer,
    token: u32,
    special: *mut u32,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(tokenizer, "tokenizer", error, |object: &TokenizerObject| {
        // SAFETY: the caller's number, as documented.
        let output = unsafe { Output::new(special, "special") }?;
        if token as usize >= object.0.vocab_size() {
            return Err(unknown(object, token));
        }
        output.write(u32::from(object.0.is_special(token)));
        Ok(())
    })
}

fn unknown(tokenizer: &TokenizerObject, token: u32) -> Error {
    Error::InvalidArgument(format!(
        "there is no token {token}: the vocabulary has {} tokens",
        tokenizer.0.vocab_size()
    ))
}

/// Frees a tokenizer.
///
/// - `tokenizer`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_tokenizer_free(tokenizer: *mut mlxrocm_tokenizer) {
    boundary_free::<TokenizerObject>(tokenizer)
}

since_0_1! {
    mlxrocm_model_get_tokenizer mlxrocm_tokenizer_get_info mlxrocm_tokenizer_encode
    mlxrocm_tokenizer_decode mlxrocm_tokenizer_token_bytes mlxrocm_tokenizer_find_token
    mlxrocm_tokenizer_is_special mlxrocm_tokenizer_free
}
