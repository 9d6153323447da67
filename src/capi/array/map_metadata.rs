//! Metadata of maps of arrays, which files have beside the arrays.

use super::map::{MapObject, lent, mlxrocm_array_map};
use super::object::{ArrayObject, mlxrocm_array};
use crate::Error;
use crate::array::{Array, Metadata};
use crate::capi::boundary::{boundary_on, boundary_value};
use crate::capi::error::mlxrocm_error;
use crate::capi::handle::{self};
use crate::capi::outputs::Output;
use crate::capi::status::mlxrocm_status;
use crate::capi::strings::{optional_utf8, utf8};
use crate::capi::symbols::since_0_1;
use std::ffi::c_char;
use std::ptr::null;

/// Metadata: there is none of this name.
pub const MLXROCM_METADATA_NONE: u32 = 0;
/// Metadata: a text.
pub const MLXROCM_METADATA_TEXT: u32 = 1;
/// Metadata: a list of texts.
pub const MLXROCM_METADATA_TEXTS: u32 = 2;
/// Metadata: an array, a scalar or a vector.
pub const MLXROCM_METADATA_ARRAY: u32 = 3;

/// The number of entries of a map's metadata.
///
/// - `map`: borrowed.
///
/// Returns 0 also if `map` is NULL or not live. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_metadata_count(map: *const mlxrocm_array_map) -> usize {
    boundary_value(0, || {
        let object = handle::get::<MapObject>(map, "map")?;
        Ok(object.value().named.lock().metadata.len())
    })
}

/// The key of an entry of a map's metadata.
///
/// - `map`: borrowed.
/// - `index`: below mlxrocm_array_map_metadata_count.
/// - `length`: nullable; receives the bytes of the key without the NUL.
///
/// Returns the key, UTF-8, borrowed until the map is freed; NULL if there is none. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_metadata_key(
    map: *const mlxrocm_array_map,
    index: usize,
    length: *mut usize,
) -> *const c_char {
    boundary_value(null(), || {
        let object = handle::get::<MapObject>(map, "map")?;
        let object = object.value();
        let key = object.named.lock().metadata.keys().nth(index).cloned();
        Ok(lent(object, key.as_deref(), length))
    })
}

/// What kind of metadata a key has.
///
/// - `map`: borrowed.
/// - `key`: UTF-8, borrowed for the call.
/// - `key_length`: bytes of `key`, or MLXROCM_NUL.
///
/// Returns one of MLXROCM_METADATA_..., NONE also for what is no map or key. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_metadata_kind(
    map: *const mlxrocm_array_map,
    key: *const c_char,
    key_length: usize,
) -> u32 {
    boundary_value(MLXROCM_METADATA_NONE, || {
        let object = handle::get::<MapObject>(map, "map")?;
        // SAFETY: the caller's text, as documented.
        let key = unsafe { utf8(key, key_length, "key") }?;
        Ok(match object.value().named.lock().metadata.get(key) {
            None => MLXROCM_METADATA_NONE,
            Some(Metadata::Text(_)) => MLXROCM_METADATA_TEXT,
            Some(Metadata::Texts(_)) => MLXROCM_METADATA_TEXTS,
            Some(Metadata::Numbers(_)) => MLXROCM_METADATA_ARRAY,
        })
    })
}

/// A text of a map's metadata.
///
/// - `map`: borrowed.
/// - `key`: UTF-8, borrowed for the call; of a text or a list of texts.
/// - `key_length`: bytes of `key`, or MLXROCM_NUL.
/// - `index`: which of a list; 0 of a text.
/// - `length`: nullable; receives the bytes of the text without the NUL.
///
/// Returns the text, UTF-8, borrowed until the map is freed; NULL if there is none. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_metadata_text(
    map: *const mlxrocm_array_map,
    key: *const c_char,
    key_length: usize,
    index: usize,
    length: *mut usize,
) -> *const c_char {
    boundary_value(null(), || {
        let object = handle::get::<MapObject>(map, "map")?;
        let object = object.value();
        // SAFETY: the caller's text, as documented.
        let key = unsafe { utf8(key, key_length, "key") }?;
        let text = match object.named.lock().metadata.get(key) {
            Some(Metadata::Text(text)) if index == 0 => Some(text.clone()),
            Some(Metadata::Texts(texts)) => texts.get(index).cloned(),
            _ => None,
        };
        Ok(lent(object, text.as_deref(), length))
    })
}

/// Numbers of a map's metadata.
///
/// - `map`: borrowed.
/// - `key`: UTF-8, borrowed for the call.
/// - `key_length`: bytes of `key`, or MLXROCM_NUL.
/// - `result`: receives an array, a scalar or a vector (of a list of texts its size as int64), owned: free it with
///   mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there are none of this key). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_metadata_array(
    map: *const mlxrocm_array_map,
    key: *const c_char,
    key_length: usize,
    result: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(map, "map", error, |object: &MapObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(result, "result") }?;
        // SAFETY: the caller's text, as documented.
        let key = unsafe { utf8(key, key_length, "key") }?;
        let array = match object.named.lock().metadata.get(key) {
            Some(Metadata::Numbers(array)) => Some(array.clone()),
            Some(Metadata::Texts(texts)) => {
                let count = texts.len() as f64;
                Some(Array::number(count, crate::ir::Dtype::I64)?)
            }
            _ => None,
        };
        let array = array.ok_or_else(|| {
            let key = crate::formats::brief(key);
            Error::InvalidArgument(format!("the map's metadata has no numbers {key:?}"))
        })?;
        output.write(handle::publish(ArrayObject(array)));
        Ok(())
    })
}

/// Puts a text into a map's metadata, in place of what the key had.
///
/// - `map`: borrowed.
/// - `key`: UTF-8, borrowed for the call.
/// - `key_length`: bytes of `key`, or MLXROCM_NUL.
/// - `text`: UTF-8, borrowed for the call. NULL: the key is taken out.
/// - `text_length`: bytes of `text`, or MLXROCM_NUL.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_set_metadata(
    map: *const mlxrocm_array_map,
    key: *const c_char,
    key_length: usize,
    text: *const c_char,
    text_length: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(map, "map", error, |object: &MapObject| {
        // SAFETY: the caller's text, as documented.
        let key = unsafe { utf8(key, key_length, "key") }?;
        // SAFETY: the caller's text, as documented.
        let text = unsafe { optional_utf8(text, text_length, "text") }?;
        let mut named = object.named.lock();
        match text.map(|text| Metadata::Text(text.to_string())) {
            Some(text) => named.metadata.insert(key.to_string(), text),
            None => named.metadata.remove(key),
        };
        Ok(())
    })
}

since_0_1! {
    mlxrocm_array_map_metadata_count mlxrocm_array_map_metadata_key mlxrocm_array_map_metadata_kind
    mlxrocm_array_map_metadata_text mlxrocm_array_map_metadata_array mlxrocm_array_map_set_metadata
}
