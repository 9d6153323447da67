//! Files of arrays: safetensors and GGUF.

use crate::array::Array;
use crate::error::{Result, call, handle};
use mlxrocm_sys as sys;
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::path::Path;
use std::ptr::null_mut;
use std::slice;

handle!(MapHandle, mlxrocm_array_map, mlxrocm_array_map_free);

/// What a file of arrays holds, by names.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Arrays {
    pub arrays: BTreeMap<String, Array>,
    /// The metadata as far as that is texts.
    pub metadata: BTreeMap<String, String>,
}

/// The arrays of a safetensors or GGUF file. Elements stay in the file until they are needed: do not truncate it
/// meanwhile.
pub fn load_arrays(path: impl AsRef<Path>) -> Result<Arrays> {
    let path = path.as_ref().as_os_str().as_encoded_bytes();
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    let map = MapHandle::make(|out, error| unsafe {
        sys::mlxrocm_array_map_load(path.as_ptr().cast(), path.len(), out, error)
    })?;
    let mut all = Arrays::default();
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    for index in 0..unsafe { sys::mlxrocm_array_map_count(map.get()) } {
        let mut array = null_mut();
        let mut length = 0;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let name = unsafe { sys::mlxrocm_array_map_name(map.get(), index, &mut length) };
        // SAFETY: as above.
        call(|error| unsafe { sys::mlxrocm_array_map_get(map.get(), name, length, &mut array, error) })?;
        all.arrays.insert(string(name, length), Array::own(array));
    }
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    for index in 0..unsafe { sys::mlxrocm_array_map_metadata_count(map.get()) } {
        let (mut key_length, mut length) = (0, 0);
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let key = unsafe { sys::mlxrocm_array_map_metadata_key(map.get(), index, &mut key_length) };
        // SAFETY: as above.
        let kind = unsafe { sys::mlxrocm_array_map_metadata_kind(map.get(), key, key_length) };
        if kind == sys::MLXROCM_METADATA_TEXT {
            // SAFETY: as above.
            let text = unsafe { sys::mlxrocm_array_map_metadata_text(map.get(), key, key_length, 0, &mut length) };
            all.metadata.insert(string(key, key_length), string(text, length));
        }
    }
    Ok(all)
}

/// Writes arrays and texts of metadata to a file, which is there whole or not at all.
pub fn save_safetensors<'a>(
    path: impl AsRef<Path>,
    arrays: impl IntoIterator<Item = (&'a str, &'a Array)>,
    metadata: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<()> {
    save(path.as_ref(), &map(arrays, metadata)?, sys::mlxrocm_array_map_save_safetensors)
}

/// The same to a GGUF file.
pub fn save_gguf<'a>(
    path: impl AsRef<Path>,
    arrays: impl IntoIterator<Item = (&'a str, &'a Array)>,
    metadata: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<()> {
    save(path.as_ref(), &map(arrays, metadata)?, sys::mlxrocm_array_map_save_gguf)
}

/// Writes a map with one of the library's functions that do.
fn save(
    path: &Path,
    map: &MapHandle,
    write: unsafe extern "C" fn(
        *const sys::mlxrocm_array_map,
        *const c_char,
        usize,
        *mut *mut sys::mlxrocm_error,
    ) -> sys::mlxrocm_status,
) -> Result<()> {
    let path = path.as_os_str().as_encoded_bytes();
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    call(|error| unsafe { write(map.get(), path.as_ptr().cast(), path.len(), error) }).map(drop)
}

fn map<'a>(
    arrays: impl IntoIterator<Item = (&'a str, &'a Array)>,
    metadata: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<MapHandle> {
    // SAFETY: places for the results.
    let map = MapHandle::make(|out, error| unsafe { sys::mlxrocm_array_map_new(out, error) })?;
    for (name, array) in arrays {
        let (start, length) = (name.as_ptr().cast(), name.len());
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_array_map_set(map.get(), start, length, array.as_ptr(), error) })?;
    }
    for (key, text) in metadata {
        let (start, length) = (key.as_ptr().cast(), key.len());
        let (value, size) = (text.as_ptr().cast(), text.len());
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_array_map_set_metadata(map.get(), start, length, value, size, error) })?;
    }
    Ok(map)
}

/// A copy of a text of the library's.
fn string(text: *const c_char, length: usize) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the library gives the address with this length, and the map lives.
    String::from_utf8_lossy(unsafe { slice::from_raw_parts(text.cast::<u8>(), length) }).into_owned()
}
