//! Quantizing models.

use super::boundary::boundary;
use super::callback::{UserData, mlxrocm_user_data_free};
use super::error::mlxrocm_error;
use super::model::{MAX_THREADS, mlxrocm_progress_callback};
use super::options::{self, OutputStruct, SizedStruct};
use super::status::mlxrocm_status;
use super::strings::{field_length, optional_utf8, path, texts};
use super::symbols::since_0_1;
use crate::Error;
use crate::ir::Quantization;
use crate::model::quantize::{self, QuantizeOptions, Rule};
use std::ffi::{c_char, c_void};

/// How to quantize a model. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_quantize_options {
    /// Set by the caller to sizeof(mlxrocm_quantize_options).
    pub struct_size: u32,
    /// Bits of a weight: 2, 3, 4, 5, 6 or 8 in mode "affine"; 0: the mode's usual ones (4, 8 of
    /// "mxfp8").
    pub bits: u32,
    /// Weights that share a scale: 32, 64 or 128 in mode "affine"; 0: the mode's usual ones (64, 32
    /// of "mxfp4" and "mxfp8", 16 of "nvfp4"). Matrices whose rows are no whole groups stay as they
    /// are.
    pub group_size: u32,
    /// CPU threads, at most 1024; 0: one for each CPU that this process may run on.
    pub threads: u32,
    /// Nullable: "affine" (the default), "mxfp4", "mxfp8" or "nvfp4"; borrowed for the call.
    pub mode: *const c_char,
    /// Bytes of `mode`; 0 or MLXROCM_NUL: it ends at its NUL.
    pub mode_length: usize,
    /// Nullable: "mixed_2_6", "mixed_3_4", "mixed_3_6" or "mixed_4_6", which give some layers' v_proj
    /// and down_proj and the output head the second number of bits and all else the first, as in
    /// mlx-lm; borrowed for the call.
    pub recipe: *const c_char,
    /// Bytes of `recipe`; 0 or MLXROCM_NUL: it ends at its NUL.
    pub recipe_length: usize,
    /// Nullable: "float16", "bfloat16" or "float32", the type of scales and of what is not
    /// quantized. NULL: what the config names, else the source's.
    pub dtype: *const c_char,
    /// Bytes of `dtype`; 0 or MLXROCM_NUL: it ends at its NUL.
    pub dtype_length: usize,
    /// What modules become by their paths, e.g. "*.v_proj=6", "lm_head=8:32" (bits and group size),
    /// "*.mlp.*=mxfp4" or "model.embed_tokens=none" (stays as it is); '*' stands for any
    /// characters, '?' for one. The first rule that matches counts, before the recipe. Borrowed for
    /// the call; ignored where `rules_count` is 0.
    pub rules: *const *const c_char,
    /// Bytes of each of `rules`; NULL: they are NUL-terminated.
    pub rules_lengths: *const usize,
    /// Strings in `rules`.
    pub rules_count: usize,
    /// Nullable; hears how far it is, in bytes of the source.
    pub progress: mlxrocm_progress_callback,
    /// Nullable, passed to `progress`.
    pub user_data: *mut c_void,
    /// Nullable; called exactly once with `user_data` before mlxrocm_model_quantize returns, unless
    /// this struct cannot be read (NULL, a wrong struct_size).
    pub user_data_free: mlxrocm_user_data_free,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_quantize_options {
    const NAME: &'static str = "mlxrocm_quantize_options";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// What mlxrocm_model_quantize made.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_quantize_result {
    /// Set by the caller to sizeof(mlxrocm_quantize_result).
    pub struct_size: u32,
    /// Files of tensors.
    pub files: u32,
    /// Numbers in all tensors.
    pub parameters: u64,
    /// Bytes of all tensors of the result.
    pub bytes: u64,
    /// Bytes of the source that an interrupted run had done before.
    pub resumed_bytes: u64,
}

// SAFETY: repr(C), size first, numbers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_quantize_result {
    const NAME: &'static str = "mlxrocm_quantize_result";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// Quantizes a model into a new folder in MLX's format.
///
/// The tensors are byte for byte those that mlx-lm 0.32.2 writes. They are converted some rows at a
/// time, so that memory does not grow with the model. Until all is on disk, the result lies in
/// `destination`.partial; when a call was cancelled, failed or ended with the process, the same call
/// goes on there, and files that were finished are not written again. Of a GGUF file the config and
/// the tokenizer's files are made too (families llama, qwen2, qwen3, qwen3_moe and smollm3).
///
/// - `source`: a model folder of safetensors files, or a GGUF file, of 16- or 32-bit floats, as the
///   operating system spells it.
/// - `source_length`: bytes of `source`, or MLXROCM_NUL.
/// - `destination`: the folder to make, which must not exist; spelled likewise.
/// - `destination_length`: bytes of `destination`, or MLXROCM_NUL.
/// - `options`: borrowed for the call; NULL means defaults: affine, 4 bits in groups of 64.
/// - `result`: nullable; receives what was made; its `struct_size` must be set.
/// - `error`: nullable; receives an owned error object on failure. It names the file and the tensor.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (options that do not fit, a destination that exists or
/// is being written, a partial folder of another source or other options), IO, INVALID_FILE,
/// UNSUPPORTED (an unknown family, a model that is quantized), CANCELLED. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_quantize(
    source: *const c_char,
    source_length: usize,
    destination: *const c_char,
    destination_length: usize,
    options: *const mlxrocm_quantize_options,
    result: *mut mlxrocm_quantize_result,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's struct, as documented.
        let c = unsafe { options::read(options) }?;
        let user_data = UserData::new(c.user_data, c.user_data_free);
        // SAFETY: the caller's text, as documented.
        let source = unsafe { path(source, source_length, "source") }?;
        // SAFETY: the caller's text, as documented.
        let destination = unsafe { path(destination, destination_length, "destination") }?;
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { optional(result) }?;
        // SAFETY: as documented in the struct.
        let options = unsafe { quantize_options(&c) }?;
        let mut report = |done: u64, total: u64| match c.progress {
            // SAFETY: the application gave the function for this user data, which is freed after
            // quantizing.
            Some(progress) => unsafe { progress(done, total, user_data.pointer()) == 0 },
            None => true,
        };
        let made = quantize::quantize(source, destination, &options, &mut report)?;
        if let Some(output) = output {
            output.write(mlxrocm_quantize_result {
                struct_size: 0,
                files: u32::try_from(made.files).unwrap_or(u32::MAX),
                parameters: made.parameters,
                bytes: made.bytes,
                resumed_bytes: made.resumed_bytes,
            });
        }
        Ok(())
    })
}

/// Where to tell what was made, if anywhere.
///
/// # Safety
/// As [`OutputStruct::new`].
unsafe fn optional(
    result: *mut mlxrocm_quantize_result,
) -> crate::Result<Option<OutputStruct<mlxrocm_quantize_result>>> {
    match result.is_null() {
        true => Ok(None),
        // SAFETY: not NULL; the caller promises the rest.
        false => unsafe { OutputStruct::new(result, "result") }.map(Some),
    }
}

/// Reads and checks the options.
///
/// # Safety
/// The strings are NUL-terminated or NULL, and `rules` has `rules_count` of them.
unsafe fn quantize_options(c: &mlxrocm_quantize_options) -> crate::Result<QuantizeOptions> {
    if c.threads > MAX_THREADS {
        return Err(Error::InvalidArgument(format!(
            "threads is {}, at most {MAX_THREADS} are possible",
            c.threads
        )));
    }
    // SAFETY: the caller promises it for all texts.
    let (mode, recipe, dtype) = unsafe {
        (
            optional_utf8(c.mode, field_length(c.mode_length), "mode")?.unwrap_or("affine"),
            optional_utf8(c.recipe, field_length(c.recipe_length), "recipe")?,
            optional_utf8(c.dtype, field_length(c.dtype_length), "dtype")?,
        )
    };
    let base = Quantization::named(mode, c.group_size.into(), c.bits.into())?;
    // SAFETY: the caller promises it.
    let rules = unsafe { texts(c.rules, c.rules_lengths, c.rules_count, "rules") }?;
    let rules = rules.into_iter().map(|rule| Rule::parse(rule, base));
    let dtype = dtype.map(|name| {
        quantize::dtype_named(name).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "dtype: there is none called {name:?} for weights; float16, bfloat16 and float32 are"
            ))
        })
    });
    Ok(QuantizeOptions {
        base,
        recipe: recipe.map(str::to_string),
        rules: rules.collect::<crate::Result<_>>()?,
        dtype: dtype.transpose()?,
        threads: c.threads as usize,
        shard_bytes: 0,
    })
}

since_0_1! { mlxrocm_model_quantize }
