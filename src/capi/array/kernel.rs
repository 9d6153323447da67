//! Kernels of the application on arrays.

use super::data::shape_of;
use super::dtype::dtype_of;
use super::functions::arrays_of;
use super::object::{ArrayObject, mlxrocm_array};
use crate::array::{Array, Call, Kernel, KernelSource, Template};
use crate::capi::boundary::{boundary_free, boundary_on};
use crate::capi::device::{DeviceObject, mlxrocm_device};
use crate::capi::error::mlxrocm_error;
use crate::capi::handle::{self, Object};
use crate::capi::options::{self, SizedStruct};
use crate::capi::outputs::Output;
use crate::capi::status::mlxrocm_status;
use crate::capi::strings::{array, field_length, optional_utf8, texts, utf8};
use crate::capi::symbols::since_0_1;
use crate::{Error, Result};
use std::ffi::c_char;

/// Template value: a dtype; the name is a type.
pub const MLXROCM_TEMPLATE_DTYPE: u32 = 1;
/// Template value: a whole number of 32 bits; the name is a constant.
pub const MLXROCM_TEMPLATE_INT: u32 = 2;
/// Template value: 0 or not; the name is a constant of type bool.
pub const MLXROCM_TEMPLATE_BOOL: u32 = 3;

/// A kernel of the application that takes and gives arrays, on a GPU. Immutable: any thread.
pub struct mlxrocm_array_kernel {
    _private: [u8; 0],
}

/// What a kernel on arrays is made of. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_array_kernel_options {
    /// Set by the caller to sizeof(mlxrocm_array_kernel_options).
    pub struct_size: u32,
    /// Not 0: inputs are given as they lie; 0: those that do not lie row after row are copied.
    pub strided: u32,
    /// The kernel's name, a name in C, UTF-8.
    pub name: *const c_char,
    /// Bytes of `name`; 0: it is NUL-terminated.
    pub name_length: usize,
    /// The body of the function in HIP's language, UTF-8; what it sees is said at mlxrocm_array_kernel_new.
    pub source: *const c_char,
    /// Bytes of `source`; 0: it is NUL-terminated.
    pub source_length: usize,
    /// Nullable; what stands before the function, UTF-8.
    pub header: *const c_char,
    /// Bytes of `header`; 0: it is NUL-terminated.
    pub header_length: usize,
    /// Names of the inputs, names in C.
    pub input_names: *const *const c_char,
    /// Bytes of each of `input_names`; NULL: they are NUL-terminated.
    pub input_name_lengths: *const usize,
    /// Elements of `input_names`.
    pub input_count: usize,
    /// Names of the outputs, names in C.
    pub output_names: *const *const c_char,
    /// Bytes of each of `output_names`; NULL: they are NUL-terminated.
    pub output_name_lengths: *const usize,
    /// Elements of `output_names`, at least 1.
    pub output_count: usize,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_array_kernel_options {
    const NAME: &'static str = "mlxrocm_array_kernel_options";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// Dtype and shape of an array.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_array_type {
    /// `rank` sizes, outermost first.
    pub shape: *const i64,
    /// Elements of `shape`: the number of dimensions.
    pub rank: usize,
    /// An MLXROCM_DTYPE number.
    pub dtype: u32,
    /// 0.
    pub reserved: u32,
}

/// A name in a kernel's source that each call gives a meaning.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_array_template {
    /// A name in C.
    pub name: *const c_char,
    /// Bytes of `name`; 0: it is NUL-terminated.
    pub name_length: usize,
    /// DTYPE: an MLXROCM_DTYPE number. INT, BOOL: the value.
    pub value: i64,
    /// One of MLXROCM_TEMPLATE_...
    pub kind: u32,
    /// 0.
    pub reserved: u32,
}

/// How a kernel on arrays is called. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_array_kernel_call {
    /// Set by the caller to sizeof(mlxrocm_array_kernel_call).
    pub struct_size: u32,
    /// Not 0: outputs hold `initial` before; 0: whatever lies there.
    pub has_initial: u32,
    /// The number, as each output's dtype.
    pub initial: f64,
    /// Work items in x, y and z, as in MLX; 0 in y or z is 1. The last blocks are whole: what is beyond must be left
    /// alone by the kernel.
    pub grid: [u32; 3],
    /// Work items of a block in x, y and z; 0 in y or z is 1.
    pub block: [u32; 3],
    /// `input_count` arrays, borrowed for the call.
    pub inputs: *const *const mlxrocm_array,
    /// Elements of `inputs`: as many as the kernel has names.
    pub input_count: usize,
    /// Types of the outputs, `output_count` of them, borrowed for the call.
    pub outputs: *const mlxrocm_array_type,
    /// Elements of `outputs`: as many as the kernel has names.
    pub output_count: usize,
    /// Meanings of names, `template_count` of them, borrowed for the call.
    pub templates: *const mlxrocm_array_template,
    /// Elements of `templates`.
    pub template_count: usize,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_array_kernel_call {
    const NAME: &'static str = "mlxrocm_array_kernel_call";
    const FIRST_SIZE: usize = size_of::<Self>();
}

struct KernelObject(Kernel);

impl Object for KernelObject {
    type Opaque = mlxrocm_array_kernel;
    const NOUN: &'static str = "mlxrocm_array_kernel";
}

/// Makes a kernel that takes and gives arrays. The source is the body of a function whose parameters are the
/// inputs and outputs by their names: pointers to their elements, row after row. Types of dtypes that the language
/// has none of are `float16`, `bfloat16` (both computed with as float) and `complex64`. Beside `x` the source may use
/// `x_shape[]`, `x_ndim` and, in elements, `x_strides[]` of each input x. It is compiled on this machine when it is
/// called, once for all calls with the same dtypes, ranks and template values.
///
/// - `device`: borrowed; a GPU. The kernel keeps it alive.
/// - `options`: borrowed for the call.
/// - `kernel`: receives the kernel, owned: free it with mlxrocm_array_kernel_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_kernel_new(
    device: *const mlxrocm_device,
    options: *const mlxrocm_array_kernel_options,
    kernel: *mut *mut mlxrocm_array_kernel,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(kernel, "kernel") }?;
        // SAFETY: the caller's struct, as documented.
        let source = unsafe { source_of(options) }?;
        let kernel = Kernel::new(&object.home()?, source)?;
        output.write(handle::publish(KernelObject(kernel)));
        Ok(())
    })
}

/// The source that options describe.
///
/// # Safety
/// They are NULL or a struct as documented.
unsafe fn source_of(options: *const mlxrocm_array_kernel_options) -> Result<KernelSource> {
    if options.is_null() {
        return Err(Error::NullArgument("options".into()));
    }
    // SAFETY: the caller promises a struct.
    let options = unsafe { options::read(options) }?;
    let text = |text: *const c_char, length: usize, what: &'static str| -> Result<String> {
        // SAFETY: the caller promises a text or NULL.
        let text = unsafe { optional_utf8(text, field_length(length), what) }?;
        Ok(text.unwrap_or_default().to_string())
    };
    let names = |names, lengths, count, what| -> Result<Vec<String>> {
        // SAFETY: the caller promises texts.
        let names = unsafe { texts(names, lengths, count, what) }?;
        Ok(names.into_iter().map(str::to_string).collect())
    };
    if options.name.is_null() {
        return Err(Error::NullArgument("options.name".into()));
    }
    if options.source.is_null() {
        return Err(Error::NullArgument("options.source".into()));
    }
    Ok(KernelSource {
        name: text(options.name, options.name_length, "options.name")?,
        body: text(options.source, options.source_length, "options.source")?,
        header: text(options.header, options.header_length, "options.header")?,
        inputs: names(
            options.input_names,
            options.input_name_lengths,
            options.input_count,
            "options.input_names",
        )?,
        outputs: names(
            options.output_names,
            options.output_name_lengths,
            options.output_count,
            "options.output_names",
        )?,
        strided: options.strided != 0,
    })
}

/// Calls a kernel on arrays. The results are lazy, as those of operations; the source is compiled at once.
///
/// - `kernel`: borrowed; the results keep it alive.
/// - `call`: borrowed for the call.
/// - `results`: receives `call->output_count` arrays, owned: free each with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure. If the source does not compile its
///   message has the first error, and mlxrocm_error_details the compiler's log.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (the source does not compile; numbers of arrays, grids and blocks that do
/// not fit), UNSUPPORTED (no compiler on this machine), OUT_OF_MEMORY, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_kernel_apply(
    kernel: *const mlxrocm_array_kernel,
    call: *const mlxrocm_array_kernel_call,
    results: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(kernel, "kernel", error, |object: &KernelObject| {
        // SAFETY: the caller's struct, as documented.
        let (inputs, call) = unsafe { call_of(call) }?;
        if results.is_null() {
            return Err(Error::NullArgument("results".into()));
        }
        let made = object.0.call(&inputs, &call)?;
        for (place, array) in made.into_iter().enumerate() {
            let handle = handle::publish(ArrayObject(array));
            // SAFETY: not NULL, and the caller promised room for as many as it has outputs.
            unsafe { results.add(place).write_unaligned(handle) };
        }
        Ok(())
    })
}

/// The inputs and the call that a struct describes.
///
/// # Safety
/// It is NULL or a struct as documented.
unsafe fn call_of(call: *const mlxrocm_array_kernel_call) -> Result<(Vec<Array>, Call)> {
    if call.is_null() {
        return Err(Error::NullArgument("call".into()));
    }
    // SAFETY: the caller promises a struct.
    let call = unsafe { options::read(call) }?;
    // SAFETY: the caller promises the handles.
    let inputs = unsafe { arrays_of(call.inputs, call.input_count, "call.inputs") }?;
    // SAFETY: the caller promises the list.
    let types = unsafe { array(call.outputs, call.output_count, "call.outputs") }?;
    let mut outputs = Vec::with_capacity(types.len());
    for ty in types {
        // SAFETY: the caller promises the sizes.
        let shape = unsafe { shape_of(ty.shape, ty.rank, "call.outputs.shape") }?;
        outputs.push((dtype_of(ty.dtype)?, shape));
    }
    // SAFETY: the caller promises the list.
    let given = unsafe { array(call.templates, call.template_count, "call.templates") }?;
    let mut templates = Vec::with_capacity(given.len());
    for template in given {
        let length = field_length(template.name_length);
        // SAFETY: the caller promises a text.
        let name = unsafe { utf8(template.name, length, "call.templates.name") }?;
        let name = name.to_string();
        templates.push(match template.kind {
            MLXROCM_TEMPLATE_DTYPE => {
                let number = u32::try_from(template.value).unwrap_or(u32::MAX);
                Template::Dtype(name, dtype_of(number)?)
            }
            MLXROCM_TEMPLATE_INT => Template::Int(name, template.value),
            MLXROCM_TEMPLATE_BOOL => Template::Bool(name, template.value != 0),
            kind => {
                return Err(Error::InvalidArgument(format!(
                    "call.templates: kind is {kind}, it must be one of MLXROCM_TEMPLATE_DTYPE (1), INT (2), BOOL (3)"
                )));
            }
        });
    }
    let whole = |sizes: [u32; 3]| [sizes[0], sizes[1].max(1), sizes[2].max(1)];
    let call = Call {
        outputs,
        templates,
        grid: whole(call.grid),
        block: whole(call.block),
        initial: (call.has_initial != 0).then_some(call.initial),
    };
    Ok((inputs, call))
}

/// Frees a kernel. Arrays that it makes are computed all the same.
///
/// - `kernel`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_kernel_free(kernel: *mut mlxrocm_array_kernel) {
    boundary_free::<KernelObject>(kernel)
}

since_0_1! { mlxrocm_array_kernel_new mlxrocm_array_kernel_apply mlxrocm_array_kernel_free }
