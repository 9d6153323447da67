//! What is in model files.

use super::boundary::{boundary, boundary_free, boundary_on, boundary_value};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::options::{OutputStruct, SizedStruct};
use super::outputs::Output;
use super::status::mlxrocm_status;
use super::strings::{self, Text};
use super::symbols::since_0_1;
use crate::Error;
use crate::formats::{Listed, list};
use std::ffi::c_char;

/// What a model file or folder holds, without loading it. Immutable: any thread.
pub struct mlxrocm_model_file {
    _private: [u8; 0],
}

/// A tensor of a model file. Pointers are borrowed until the model file is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_tensor_info {
    /// Set by the caller to sizeof(mlxrocm_tensor_info).
    pub struct_size: u32,
    /// Elements of `shape`.
    pub rank: u32,
    /// Its name in the file.
    pub name: *const c_char,
    /// Bytes of `name` without the NUL.
    pub name_length: usize,
    /// How the file spells the format of its numbers: "Q4_K", "BF16", "U32" and so on.
    pub format: *const c_char,
    /// Bytes of `format` without the NUL.
    pub format_length: usize,
    /// `rank` sizes, outermost first (GGUF files store them the other way round); never NULL.
    pub shape: *const i64,
    /// Bytes of the file that hold it; 0 also of a format whose size is not known.
    pub bytes: u64,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_tensor_info {
    const NAME: &'static str = "mlxrocm_tensor_info";
    const FIRST_SIZE: usize = size_of::<Self>();
}

struct Tensor {
    name: Text,
    format: Text,
    /// The sizes, and one element more: some callers check that pointers point somewhere.
    shape: Vec<i64>,
    bytes: u64,
}

impl Tensor {
    fn new(listed: Listed) -> Tensor {
        // Files have been checked to hold no larger tensors.
        let size = |size: &usize| i64::try_from(*size).unwrap_or(i64::MAX);
        Tensor {
            name: Text::new(&listed.name),
            format: Text::new(&listed.format),
            shape: listed.shape.iter().map(size).chain([0]).collect(),
            bytes: listed.bytes.unwrap_or(0) as u64,
        }
    }
}

struct FileObject {
    tensors: Vec<Tensor>,
}

impl Object for FileObject {
    type Opaque = mlxrocm_model_file;
    const NOUN: &'static str = "mlxrocm_model_file";
}

/// Opens a GGUF file, a safetensors file or a model folder to see what is in it. Nothing is loaded, and
/// models that mlxrocm_model_load refuses can be looked at. Of a split GGUF model any file stands for all.
///
/// - `path`: the file or folder as the operating system spells it; copied.
/// - `path_length`: bytes of `path`, or MLXROCM_NUL.
/// - `file`: receives the model file, owned: free it with mlxrocm_model_file_free.
/// - `error`: nullable; receives an owned error object on failure. It names the file and the tensor.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE, UNSUPPORTED (another version of GGUF). Any
/// thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_file_open(
    path: *const c_char,
    path_length: usize,
    file: *mut *mut mlxrocm_model_file,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's text, as documented.
        let path = unsafe { strings::path(path, path_length, "path") }?;
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(file, "file") }?;
        let tensors = list(path)?.into_iter().map(Tensor::new).collect();
        output.write(handle::publish(FileObject { tensors }));
        Ok(())
    })
}

/// The number of tensors of a model file.
///
/// - `file`: borrowed.
///
/// Returns 0 also if `file` is NULL or not live. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_file_tensor_count(file: *const mlxrocm_model_file) -> usize {
    boundary_value(0, || {
        let object = handle::get::<FileObject>(file, "file")?;
        Ok(object.value().tensors.len())
    })
}

/// Tells what a model file says about a tensor.
///
/// - `file`: borrowed.
/// - `index`: which one, below mlxrocm_model_file_tensor_count; they come in the order of the file.
/// - `info`: receives the facts; its `struct_size` must be set. Pointers in it are borrowed until the model
///   file is freed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also where there is no such tensor). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_file_get_tensor(
    file: *const mlxrocm_model_file,
    index: usize,
    info: *mut mlxrocm_tensor_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(file, "file", error, |object: &FileObject| {
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { OutputStruct::new(info, "info") }?;
        let tensor = object.tensors.get(index).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "index is {index}: the model file has {} tensors, the first is 0",
                object.tensors.len()
            ))
        })?;
        output.write(mlxrocm_tensor_info {
            struct_size: 0,
            rank: u32::try_from(tensor.shape.len() - 1).unwrap_or(u32::MAX),
            name: tensor.name.pointer(),
            name_length: tensor.name.length(),
            format: tensor.format.pointer(),
            format_length: tensor.format.length(),
            shape: tensor.shape.as_ptr(),
            bytes: tensor.bytes,
        });
        Ok(())
    })
}

/// Frees a model file.
///
/// - `file`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_file_free(file: *mut mlxrocm_model_file) {
    boundary_free::<FileObject>(file)
}

since_0_1! {
    mlxrocm_model_file_open mlxrocm_model_file_tensor_count mlxrocm_model_file_get_tensor
    mlxrocm_model_file_free
}
