//! Model files: what is in them, and quantized ones made of them.

use crate::error::{Result, call, field, handle, owned};
use crate::model::{Hears, report};
use mlxrocm_sys as sys;
use std::mem::zeroed;
use std::panic::resume_unwind;
use std::path::Path;
use std::ptr::null;
use std::slice;

handle!(FileHandle, mlxrocm_model_file, mlxrocm_model_file_free);

/// What a model file says about a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    pub name: String,
    /// As the file spells it: "Q4_K", "BF16", "U32" …
    pub format: String,
    /// Outermost first.
    pub shape: Vec<usize>,
    pub bytes: u64,
}

/// The tensors of a GGUF file, a safetensors file or a model folder, in its order. Nothing is loaded: models that do
/// not run here can be looked at.
pub fn list_tensors(path: impl AsRef<Path>) -> Result<Vec<TensorInfo>> {
    let path = path.as_ref().as_os_str().as_encoded_bytes();
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    let file = FileHandle::make(|out, error| unsafe {
        sys::mlxrocm_model_file_open(path.as_ptr().cast(), path.len(), out, error)
    })?;
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    let count = unsafe { sys::mlxrocm_model_file_tensor_count(file.get()) };
    let tensor = |index| {
        // SAFETY: zero is a value of each field: numbers, and pointers that are null.
        let mut info: sys::mlxrocm_tensor_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_model_file_get_tensor(file.get(), index, &mut info, error) })?;
        // SAFETY: so many sizes, which live as long as the file.
        let shape = unsafe { slice::from_raw_parts(info.shape, info.rank as usize) };
        Ok(TensorInfo {
            name: owned(info.name),
            format: owned(info.format),
            shape: shape.iter().map(|size| *size as usize).collect(),
            bytes: info.bytes,
        })
    };
    (0..count).map(tensor).collect()
}

/// How to quantize a model; zero and `None` are the defaults: affine, 4 bits in groups of 64.
#[derive(Clone, Debug, Default)]
pub struct QuantizeOptions {
    pub bits: u32,
    /// Weights that share a scale.
    pub group_size: u32,
    /// "affine", "mxfp4", "mxfp8" or "nvfp4".
    pub mode: Option<String>,
    /// One of mlx-lm's, like "mixed_4_6".
    pub recipe: Option<String>,
    /// The type of scales and of what is not quantized: "float16", "bfloat16" or "float32".
    pub dtype: Option<String>,
    /// What modules become by their paths, like "*.v_proj=6" or "lm_head=8:32"; the first that matches counts.
    pub rules: Vec<String>,
    /// CPU threads; 0: one for each CPU.
    pub threads: u32,
}

/// What was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quantized {
    /// Files of tensors.
    pub files: u32,
    /// Numbers in all tensors.
    pub parameters: u64,
    /// Bytes of all tensors.
    pub bytes: u64,
    /// Bytes of the source that an interrupted run had done before.
    pub resumed_bytes: u64,
}

/// Quantizes a model folder or a GGUF file of 16- or 32-bit floats into a new folder in MLX's format, as mlx-lm does.
pub fn quantize(
    source: impl AsRef<Path>,
    destination: impl AsRef<Path>,
    options: &QuantizeOptions,
) -> Result<Quantized> {
    quantize_with(source, destination, options, |_, _| true)
}

/// The same with a function that hears how many of how many bytes of the source are done, and says whether to go on:
/// `false` ends it with [`Status::Cancelled`](crate::Status::Cancelled); the same call goes on there.
pub fn quantize_with(
    source: impl AsRef<Path>,
    destination: impl AsRef<Path>,
    options: &QuantizeOptions,
    mut progress: impl FnMut(u64, u64) -> bool,
) -> Result<Quantized> {
    let source = source.as_ref().as_os_str().as_encoded_bytes();
    let destination = destination.as_ref().as_os_str().as_encoded_bytes();
    let mut hears = Hears { progress: &mut progress, panicked: None };
    let (rules, rules_lengths): (Vec<_>, Vec<_>) = options.rules.iter().map(|rule| field(rule)).unzip();
    let text = |text: &Option<String>| text.as_deref().map_or((null(), 0), field);
    let ((mode, mode_length), (recipe, recipe_length)) = (text(&options.mode), text(&options.recipe));
    let (dtype, dtype_length) = text(&options.dtype);
    let how = sys::mlxrocm_quantize_options {
        struct_size: size_of::<sys::mlxrocm_quantize_options>() as u32,
        bits: options.bits,
        group_size: options.group_size,
        threads: options.threads,
        mode,
        mode_length,
        recipe,
        recipe_length,
        dtype,
        dtype_length,
        rules: rules.as_ptr(),
        rules_lengths: rules_lengths.as_ptr(),
        rules_count: rules.len(),
        progress: Some(report),
        user_data: (&raw mut hears).cast(),
        user_data_free: None,
    };
    // SAFETY: zero is a value of each field: numbers.
    let mut made: sys::mlxrocm_quantize_result = unsafe { zeroed() };
    made.struct_size = size_of_val(&made) as u32;
    let (from, from_length) = (source.as_ptr().cast(), source.len());
    let (to, to_length) = (destination.as_ptr().cast(), destination.len());
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    let run = |error| unsafe { sys::mlxrocm_model_quantize(from, from_length, to, to_length, &how, &mut made, error) };
    let done = call(run);
    if let Some(panicked) = hears.panicked {
        resume_unwind(panicked);
    }
    done?;
    Ok(Quantized {
        files: made.files,
        parameters: made.parameters,
        bytes: made.bytes,
        resumed_bytes: made.resumed_bytes,
    })
}
