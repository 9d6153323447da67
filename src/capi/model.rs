//! Models.

use super::boundary::{boundary, boundary_free, boundary_on};
use super::callback::{UserData, mlxrocm_user_data_free};
use super::device::{DeviceObject, mlxrocm_device};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::options::{self, OutputStruct, SizedStruct};
use super::outputs::Output;
use super::status::mlxrocm_status;
use super::strings::{self, Text};
use super::symbols::since_0_1;
use crate::Error;
use crate::model::{DeviceChoice, LoadOptions, Model};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// A loaded model. Immutable: any thread. Sessions, tokenizers and chat templates made from it keep
/// it alive.
pub struct mlxrocm_model {
    _private: [u8; 0],
}

/// Hears how far loading or quantizing is: `done` of `total` bytes; the last call has done == total. It
/// is called from the thread that called.
///
/// Returns 0 to go on, anything else to end the work with MLXROCM_ERROR_CANCELLED. It must not
/// throw, unwind or jump out.
pub type mlxrocm_progress_callback =
    Option<unsafe extern "C" fn(done: u64, total: u64, user_data: *mut c_void) -> i32>;

/// How to load a model. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_model_options {
    /// Set by the caller to sizeof(mlxrocm_model_options).
    pub struct_size: u32,
    /// CPU threads, at most 1024; 0: one for each CPU that this process may run on.
    pub threads: u32,
    /// Nullable; hears how far loading is.
    pub progress: mlxrocm_progress_callback,
    /// Nullable, passed to `progress`.
    pub user_data: *mut c_void,
    /// Nullable; called exactly once with `user_data` before mlxrocm_model_load returns, unless
    /// this struct cannot be read (NULL, a wrong struct_size).
    pub user_data_free: mlxrocm_user_data_free,
    /// Nullable; the device that runs the model, borrowed for the call: a GPU or the CPU, as
    /// mlxrocm_device_open gave it (the only place where devices have numbers), and an error if it
    /// cannot. NULL: the best GPU that passes a short self-test and takes the model, one that holds all
    /// of it before others, else the CPU; the log says which.
    pub device: *const mlxrocm_device,
    /// The most bytes of a GPU's memory that weights take. What is more stays in host memory, and kernels
    /// read it over the bus, which is slow: first a table of embeddings, then experts, then other matrices,
    /// of each kind the last layers' first. Experts of up to 16 rows are computed there by `threads` threads
    /// where that is found to be faster when the model is loaded. The log says what lies where, and which of
    /// both was chosen. KV caches and what a session computes in come on top
    /// (mlxrocm_device_set_memory_limit).
    /// 0: all of them lie on the GPU if a session with default options fits beside them under its limit, else
    /// as many as leave room for one. All of them, or it is an error, where that cannot be: nothing would be
    /// left on the GPU, or host memory does not suffice; on a GPU that shares the host's memory; and without
    /// `device` if more than a quarter of the weights that a token reads would come over the bus.
    /// UINT64_MAX: all, whatever a session needs.
    pub gpu_weight_bytes: u64,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_model_options {
    const NAME: &'static str = "mlxrocm_model_options";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// Facts about a loaded model. Strings are borrowed until the model is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_model_info {
    /// Set by the caller to sizeof(mlxrocm_model_info).
    pub struct_size: u32,
    /// Transformer blocks.
    pub layers: u32,
    /// "llama", "qwen3", "gemma3" and so on.
    pub family: *const c_char,
    /// Bytes of `family` without the NUL.
    pub family_length: usize,
    /// The name the file gives itself, or the file's name.
    pub name: *const c_char,
    /// Bytes of `name` without the NUL.
    pub name_length: usize,
    /// What most of the weights are stored as, e.g. "Q4_1" or "affine 4-bit g64".
    pub quantization: *const c_char,
    /// Bytes of `quantization` without the NUL.
    pub quantization_length: usize,
    /// Weights in all tensors used.
    pub parameters: u64,
    /// Bytes of the file or files that hold them.
    pub weight_bytes: u64,
    /// Tokens of context the model was trained for.
    pub context_length: u64,
    /// Rows of the embedding table; logits have this many columns.
    pub vocab_size: u64,
    /// Width of the residual stream.
    pub hidden_size: u64,
    /// Bytes of KV cache that one token takes in a session with MLXROCM_KV_F16.
    pub kv_bytes_per_token: u64,
    /// Seconds that loading took.
    pub load_seconds: f64,
    /// Bytes of matrices in a GPU's memory; 0 on the CPU.
    pub gpu_weight_bytes: u64,
    /// Bytes of matrices in host memory that a GPU reads over the bus (mlxrocm_model_options.gpu_weight_bytes).
    pub host_weight_bytes: u64,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_model_info {
    const NAME: &'static str = "mlxrocm_model_info";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// More than any machine has; a larger number is a mistake and not to be tried.
pub(super) const MAX_THREADS: u32 = 1024;

pub(super) struct ModelObject {
    pub(super) model: Arc<Model>,
    family: Text,
    name: Text,
    quantization: Text,
}

impl Object for ModelObject {
    type Opaque = mlxrocm_model;
    const NOUN: &'static str = "mlxrocm_model";
}

/// Loads a model from a GGUF file or an MLX model folder.
///
/// The weights are mapped, not copied: the file must stay as it is while the model lives. A file
/// that another process shortens meanwhile ends the process with SIGBUS.
///
/// - `path`: the file or folder as the operating system spells it; copied.
/// - `path_length`: bytes of `path`, or MLXROCM_NUL.
/// - `options`: borrowed for the call; NULL means defaults.
/// - `model`: receives the model, owned: free it with mlxrocm_model_free.
/// - `error`: nullable; receives an owned error object on failure. It names the file and the field
///   or tensor.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, IO, INVALID_FILE, UNSUPPORTED (an unknown family or
/// format), OUT_OF_MEMORY, CANCELLED. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_load(
    path: *const c_char,
    path_length: usize,
    options: *const mlxrocm_model_options,
    model: *mut *mut mlxrocm_model,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's struct, as documented.
        let options = unsafe { options::read(options) }?;
        let user_data = UserData::new(options.user_data, options.user_data_free);
        // SAFETY: the caller's text, as documented.
        let path = unsafe { strings::path(path, path_length, "path") }?;
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(model, "model") }?;
        if options.threads > MAX_THREADS {
            return Err(Error::InvalidArgument(format!(
                "threads is {}, at most {MAX_THREADS} are possible",
                options.threads
            )));
        }
        let device = if options.device.is_null() {
            DeviceChoice::Auto
        } else {
            handle::get::<DeviceObject>(options.device, "options.device")?
                .run(|device| Ok(device.choice()))?
        };
        let mut last = (0, 0);
        let mut report = options.progress.map(|progress| {
            let (last, user_data) = (&mut last, &user_data);
            move |done: u64, total: u64| {
                *last = (done, total);
                // SAFETY: the application gave the function for this user data, which is freed
                // after loading.
                unsafe { progress(done, total, user_data.pointer()) == 0 }
            }
        });
        let model = Model::load(
            path,
            &LoadOptions {
                device,
                threads: options.threads as usize,
                gpu_weight_bytes: Some(options.gpu_weight_bytes).filter(|most| *most > 0),
                ..LoadOptions::default()
            },
            report
                .as_mut()
                .map(|report| report as &mut dyn FnMut(u64, u64) -> bool),
        )?;
        // What is too small to be reported by itself ends at the total.
        let (done, total) = last;
        if let Some(progress) = options.progress.filter(|_| done < total) {
            // SAFETY: as above.
            if unsafe { progress(total, total, user_data.pointer()) } != 0 {
                let message = "loading was cancelled by the progress callback at its end";
                return Err(Error::Cancelled(message.into()));
            }
        }
        let info = model.info();
        output.write(handle::publish(ModelObject {
            family: Text::new(&info.family),
            name: Text::new(&info.name),
            quantization: Text::new(&info.quantization),
            model,
        }));
        Ok(())
    })
}

/// Tells facts about a model.
///
/// - `model`: borrowed.
/// - `info`: receives the facts; its `struct_size` must be set. Strings are borrowed until the
///   model is freed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_get_info(
    model: *const mlxrocm_model,
    info: *mut mlxrocm_model_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(model, "model", error, |object: &ModelObject| {
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { OutputStruct::new(info, "info") }?;
        let info = object.model.info();
        output.write(mlxrocm_model_info {
            struct_size: 0,
            layers: u32::try_from(info.layers).unwrap_or(u32::MAX),
            family: object.family.pointer(),
            family_length: object.family.length(),
            name: object.name.pointer(),
            name_length: object.name.length(),
            quantization: object.quantization.pointer(),
            quantization_length: object.quantization.length(),
            parameters: info.parameters,
            weight_bytes: info.weight_bytes,
            context_length: info.context_length as u64,
            vocab_size: info.vocab_size as u64,
            hidden_size: info.hidden_size as u64,
            kv_bytes_per_token: info.kv_bytes_per_token,
            load_seconds: info.load_seconds,
            gpu_weight_bytes: info.gpu_weight_bytes,
            host_weight_bytes: info.host_weight_bytes,
        });
        Ok(())
    })
}

/// Frees a model. What was made from it goes on working.
///
/// - `model`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_model_free(model: *mut mlxrocm_model) {
    boundary_free::<ModelObject>(model)
}

since_0_1! { mlxrocm_model_load mlxrocm_model_get_info mlxrocm_model_free }
