//! Arrays by name, with metadata: what safetensors and GGUF files hold. Saving of single arrays too.

use super::functions::array_of;
use super::object::{ArrayObject, mlxrocm_array};
use crate::array::{Array, NamedArrays};
use crate::capi::boundary::{boundary, boundary_free, boundary_on, boundary_value};
use crate::capi::error::mlxrocm_error;
use crate::capi::handle::{self, Object};
use crate::capi::outputs::Output;
use crate::capi::status::mlxrocm_status;
use crate::capi::strings::{Text, path, tell_length, utf8};
use crate::capi::symbols::since_0_1;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::c_char;
use std::path::Path;
use std::ptr::null;

/// Arrays and metadata by their names, in the order of these. Made empty or of a file.
/// Internally locked: any thread.
pub struct mlxrocm_array_map {
    _private: [u8; 0],
}

pub(super) struct MapObject {
    pub(super) named: Mutex<NamedArrays>,
    /// Every text that was handed out: its bytes stay where they are.
    texts: Mutex<HashMap<String, Text>>,
}

impl Object for MapObject {
    type Opaque = mlxrocm_array_map;
    const NOUN: &'static str = "mlxrocm_array_map";
}

impl MapObject {
    fn new(named: NamedArrays) -> MapObject {
        MapObject {
            named: Mutex::new(named),
            texts: Mutex::default(),
        }
    }

    /// A text that lives as long as the object.
    fn lend(&self, text: &str) -> (*const c_char, usize) {
        let mut texts = self.texts.lock();
        let kept = texts.entry(text.to_string());
        let kept = kept.or_insert_with(|| Text::new(text));
        (kept.pointer(), kept.length())
    }
}

/// Saves an array as an npy file (numpy's), which is there whole or not at all. It is computed if it is not yet.
///
/// - `array`: borrowed.
/// - `path`: as the operating system spells it, borrowed for the call; a file that is there is replaced.
/// - `path_length`: bytes of `path`, or MLXROCM_NUL.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, those of mlxrocm_array_eval. bfloat16, which numpy has not, is
/// saved as MLX does, as pairs of bytes. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_save(
    array: *const mlxrocm_array,
    path: *const c_char,
    path_length: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(array, "array", error, |object: &ArrayObject| {
        // SAFETY: the caller's text, as documented.
        object.0.save_npy(unsafe { file(path, path_length) }?)
    })
}

/// A path.
///
/// # Safety
/// As [`path`].
unsafe fn file<'a>(text: *const c_char, length: usize) -> Result<&'a Path> {
    // SAFETY: the caller promises what `path` asks for.
    unsafe { path(text, length, "path") }
}

/// Makes a map without arrays.
///
/// - `map`: receives the map, owned: free it with mlxrocm_array_map_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_new(
    map: *mut *mut mlxrocm_array_map,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(map, "map") }?;
        output.write(handle::publish(MapObject::new(NamedArrays::default())));
        Ok(())
    })
}

/// Loads the arrays of a safetensors or GGUF file; which it is its first bytes say. Names and meaning are MLX's:
/// 8-bit floats of safetensors are uint8 codes; GGUF's Q4_0, Q4_1 and Q8_0 are affine quantization in groups of 32,
/// the codes under the tensor's name, scales and biases with `.scales` and `.biases` in place of its `.weight`;
/// GGUF's other quantized formats are float16 numbers. Elements that need no change stay in the file, which is
/// mapped: do not truncate it meanwhile; the functions that save replace it as a whole.
///
/// - `path`: as the operating system spells it, borrowed for the call.
/// - `path_length`: bytes of `path`, or MLXROCM_NUL.
/// - `map`: receives the map, owned: free it with mlxrocm_array_map_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE (damaged), UNSUPPORTED (elements of no dtype),
/// OUT_OF_MEMORY. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_load(
    path: *const c_char,
    path_length: usize,
    map: *mut *mut mlxrocm_array_map,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(map, "map") }?;
        // SAFETY: the caller's text, as documented.
        let named = NamedArrays::load(unsafe { file(path, path_length) }?)?;
        output.write(handle::publish(MapObject::new(named)));
        Ok(())
    })
}

/// Saves arrays and metadata as a safetensors file, which is there whole or not at all. Arrays are computed if they
/// are not yet.
///
/// - `map`: borrowed.
/// - `path`: as the operating system spells it, borrowed for the call; a file that is there is replaced.
/// - `path_length`: bytes of `path`, or MLXROCM_NUL.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (names that the format has not; metadata that is no text), IO, those of
/// mlxrocm_array_eval. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_save_safetensors(
    map: *const mlxrocm_array_map,
    path: *const c_char,
    path_length: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(map, "map", error, |object: &MapObject| {
        // SAFETY: the caller's text, as documented.
        let path = unsafe { file(path, path_length) }?;
        // Handles are cheap: others may use the map while it is written.
        let named = object.named.lock().clone();
        named.save_safetensors(path)
    })
}

/// Saves arrays and metadata as a GGUF file, which is there whole or not at all. Arrays are computed if they are not
/// yet. What mlxrocm_array_map_load made of a quantized tensor is saved as what it is: codes are of no dtype of GGUF.
///
/// - `map`: borrowed.
/// - `path`: as the operating system spells it, borrowed for the call; a file that is there is replaced.
/// - `path_length`: bytes of `path`, or MLXROCM_NUL.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (names, dtypes and numbers of axes that the format has not), IO, those of
/// mlxrocm_array_eval. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_save_gguf(
    map: *const mlxrocm_array_map,
    path: *const c_char,
    path_length: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(map, "map", error, |object: &MapObject| {
        // SAFETY: the caller's text, as documented.
        let path = unsafe { file(path, path_length) }?;
        let named = object.named.lock().clone();
        named.save_gguf(path)
    })
}

/// The number of arrays of a map.
///
/// - `map`: borrowed.
///
/// Returns 0 also if `map` is NULL or not live. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_count(map: *const mlxrocm_array_map) -> usize {
    boundary_value(0, || {
        let object = handle::get::<MapObject>(map, "map")?;
        Ok(object.value().named.lock().arrays.len())
    })
}

/// The name of an array of a map.
///
/// - `map`: borrowed.
/// - `index`: below mlxrocm_array_map_count.
/// - `length`: nullable; receives the bytes of the name without the NUL.
///
/// Returns the name, UTF-8, borrowed until the map is freed; NULL if there is none. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_name(
    map: *const mlxrocm_array_map,
    index: usize,
    length: *mut usize,
) -> *const c_char {
    boundary_value(null(), || {
        let object = handle::get::<MapObject>(map, "map")?;
        let object = object.value();
        let name = object.named.lock().arrays.keys().nth(index).cloned();
        Ok(lent(object, name.as_deref(), length))
    })
}

/// A text of the object, or NULL.
pub(super) fn lent(object: &MapObject, text: Option<&str>, length: *mut usize) -> *const c_char {
    let (pointer, bytes) = text.map_or((null(), 0), |text| object.lend(text));
    // SAFETY: the callers' own parameter, as documented for them.
    unsafe { tell_length(length, bytes) };
    pointer
}

/// An array of a map.
///
/// - `map`: borrowed.
/// - `name`: UTF-8, borrowed for the call.
/// - `name_length`: bytes of `name`, or MLXROCM_NUL.
/// - `result`: receives the array, owned: free it with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there is none of this name). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_get(
    map: *const mlxrocm_array_map,
    name: *const c_char,
    name_length: usize,
    result: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(map, "map", error, |object: &MapObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(result, "result") }?;
        // SAFETY: the caller's text, as documented.
        let name = unsafe { utf8(name, name_length, "name") }?;
        let array: Option<Array> = object.named.lock().arrays.get(name).cloned();
        let array = array.ok_or_else(|| {
            let name = crate::formats::brief(name);
            Error::InvalidArgument(format!("the map has no array {name:?}"))
        })?;
        output.write(handle::publish(ArrayObject(array)));
        Ok(())
    })
}

/// Puts an array into a map, in place of one of the same name.
///
/// - `map`: borrowed.
/// - `name`: UTF-8, borrowed for the call.
/// - `name_length`: bytes of `name`, or MLXROCM_NUL.
/// - `array`: borrowed; the map keeps what it needs of it. NULL: the name is taken out.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_set(
    map: *const mlxrocm_array_map,
    name: *const c_char,
    name_length: usize,
    array: *const mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(map, "map", error, |object: &MapObject| {
        // SAFETY: the caller's text, as documented.
        let name = unsafe { utf8(name, name_length, "name") }?;
        let old = match array.is_null() {
            true => object.named.lock().arrays.remove(name),
            false => {
                let array = array_of(array, "array")?;
                object.named.lock().arrays.insert(name.to_string(), array)
            }
        };
        // Outside the lock: it may drop many others.
        drop(old);
        Ok(())
    })
}

/// Frees a map. Arrays that came from it keep what they need.
///
/// - `map`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_map_free(map: *mut mlxrocm_array_map) {
    boundary_free::<MapObject>(map)
}

since_0_1! {
    mlxrocm_array_save mlxrocm_array_map_new mlxrocm_array_map_load mlxrocm_array_map_save_safetensors
    mlxrocm_array_map_save_gguf mlxrocm_array_map_count mlxrocm_array_map_name mlxrocm_array_map_get
    mlxrocm_array_map_set mlxrocm_array_map_free
}
