//! How an operation becomes an exported function.
//!
//! ```text
//! array_functions! {
//!     /// Sum of elements.
//!     fn mlxrocm_array_sum(array x, axes axes[axes_count], flag keepdims) -> result
//!         = x.reduce(Reduce::Sum, axes.as_deref(), keepdims);
//! }
//! ```
//!
//! Each parameter is a kind (see [`c_type`] and [`argument`]) and a name; lists have the name of their
//! count in brackets, texts and paths that of their length. The body gives `Result<Array>`, or as many arrays as there are results. Outputs
//! and `error` are added behind the parameters. The header's generator (`tests/support/expand.rs`)
//! reads the same text and adds the lines of the manual that all functions share.

use super::object::{ArrayObject, mlxrocm_array};
use crate::Result;
use crate::array::Array;
use crate::capi::error::mlxrocm_error;
use crate::capi::handle;
use crate::capi::outputs::Output;
use crate::capi::status::mlxrocm_status;
use crate::capi::strings;

/// What an operation's body gives: `N` arrays.
pub(in crate::capi) trait Results<const N: usize> {
    fn arrays(self) -> Result<[Array; N]>;
}

impl Results<1> for Result<Array> {
    fn arrays(self) -> Result<[Array; 1]> {
        self.map(|array| [array])
    }
}

impl Results<2> for Result<(Array, Array)> {
    fn arrays(self) -> Result<[Array; 2]> {
        self.map(|(first, second)| [first, second])
    }
}

impl Results<3> for Result<(Array, Array, Array)> {
    fn arrays(self) -> Result<[Array; 3]> {
        self.map(|(first, second, third)| [first, second, third])
    }
}

/// The body of an operation: its arrays go where `outputs` say, once all of them are there.
pub(in crate::capi) fn boundary_results<const N: usize, R: Results<N>>(
    outputs: [(*mut *mut mlxrocm_array, &'static str); N],
    error: *mut *mut mlxrocm_error,
    body: impl FnOnce() -> Result<R>,
) -> mlxrocm_status {
    crate::capi::boundary::boundary(error, || {
        // SAFETY: the caller's pointers, as documented for every operation.
        let outputs = outputs.map(|(pointer, name)| unsafe { Output::new(pointer, name) });
        let arrays = body()?.arrays()?;
        if let Some(missing) = outputs.iter().find_map(|output| output.as_ref().err()) {
            return Err(missing.clone());
        }
        for (output, array) in outputs.into_iter().zip(arrays) {
            output?.write(handle::publish(ArrayObject(array)));
        }
        Ok(())
    })
}

/// The array of a handle.
pub(in crate::capi) fn array_of(
    handle: *const mlxrocm_array,
    parameter: &'static str,
) -> Result<Array> {
    handle::copy::<ArrayObject>(handle, parameter).map(|object| object.0)
}

/// The array of a handle, or none for NULL.
pub(in crate::capi) fn optional_of(
    handle: *const mlxrocm_array,
    parameter: &'static str,
) -> Result<Option<Array>> {
    match handle.is_null() {
        true => Ok(None),
        false => array_of(handle, parameter).map(Some),
    }
}

/// The arrays of several handles.
///
/// # Safety
/// As [`strings::array`].
pub(in crate::capi) unsafe fn arrays_of(
    handles: *const *const mlxrocm_array,
    count: usize,
    parameter: &'static str,
) -> Result<Vec<Array>> {
    // SAFETY: the caller promises what it asks for.
    let handles = unsafe { strings::array(handles, count, parameter) }?;
    let array = |(i, &handle): (usize, &*const mlxrocm_array)| {
        array_of(handle, parameter)
            .map_err(|error| strings::renamed(error, parameter, format!("{parameter}[{i}]")))
    };
    handles.iter().enumerate().map(array).collect()
}

/// The numbers of a list, or none for NULL.
///
/// # Safety
/// As [`strings::array`].
pub(in crate::capi) unsafe fn axes_of<'a>(
    axes: *const i64,
    count: usize,
    parameter: &'static str,
) -> Result<Option<&'a [i64]>> {
    match axes.is_null() && count == 0 {
        true => Ok(None),
        // SAFETY: the caller promises what it asks for.
        false => unsafe { strings::array(axes, count, parameter) }.map(Some),
    }
}

/// The C type of a parameter of a kind.
macro_rules! c_type {
    // An array.
    (array) => { *const $crate::capi::array::object::mlxrocm_array };
    // An array or NULL.
    (optional) => { *const $crate::capi::array::object::mlxrocm_array };
    // Several arrays.
    (arrays) => { *const *const $crate::capi::array::object::mlxrocm_array };
    // Several numbers.
    (ints) => { *const i64 };
    // Several axes, NULL for all.
    (axes) => { *const i64 };
    // An axis, or MLXROCM_AXIS_NONE.
    (axis) => { i64 };
    // Sizes.
    (shape) => { *const i64 };
    // A number.
    (int) => { i64 };
    (number) => { f64 };
    // 0 or not.
    (flag) => { i32 };
    // An MLXROCM_DTYPE number.
    (dtype) => { u32 };
    // A text.
    (text) => { *const std::ffi::c_char };
    // A path.
    (path) => { *const std::ffi::c_char };
}
pub(in crate::capi) use c_type;

/// What the body sees of a parameter of a kind.
macro_rules! argument {
    (array $p:ident) => {
        $crate::capi::array::functions::array_of($p, stringify!($p))?
    };
    (optional $p:ident) => {
        $crate::capi::array::functions::optional_of($p, stringify!($p))?
    };
    (arrays $p:ident $n:ident) => {
        // SAFETY: the caller's list, as documented.
        unsafe { $crate::capi::array::functions::arrays_of($p, $n, stringify!($p)) }?
    };
    (ints $p:ident $n:ident) => {
        // SAFETY: the caller's list, as documented.
        unsafe { $crate::capi::strings::array($p, $n, stringify!($p)) }?
    };
    (axes $p:ident $n:ident) => {
        // SAFETY: the caller's list, as documented.
        unsafe { $crate::capi::array::functions::axes_of($p, $n, stringify!($p)) }?
    };
    (shape $p:ident $n:ident) => {
        // SAFETY: the caller's list, as documented.
        unsafe { $crate::capi::array::data::shape_of($p, $n, stringify!($p)) }?
    };
    (axis $p:ident) => {
        ($p != $crate::capi::array::object::MLXROCM_AXIS_NONE).then_some($p)
    };
    (int $p:ident) => {
        $p
    };
    (number $p:ident) => {
        $p
    };
    (flag $p:ident) => {
        $p != 0
    };
    (dtype $p:ident) => {
        $crate::capi::array::dtype::dtype_of($p)?
    };
    (text $p:ident $n:ident) => {
        // SAFETY: the caller's text, as documented.
        unsafe { $crate::capi::strings::utf8($p, $n, stringify!($p)) }?
    };
    (path $p:ident $n:ident) => {
        // SAFETY: the caller's text, as documented.
        unsafe { $crate::capi::strings::path($p, $n, stringify!($p)) }?
    };
}
pub(in crate::capi) use argument;

/// Exports operations; see the head of the file.
macro_rules! array_functions {
    ($(
        $(#[doc = $doc:literal])*
        fn $name:ident($($kind:ident $p:ident $([$n:ident])?),* $(,)?) -> $($out:ident),+
            = $body:expr;
    )*) => {$(
        $(#[doc = $doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $(
                $p: $crate::capi::array::functions::c_type!($kind),
                $($n: usize,)?
            )*
            $($out: *mut *mut $crate::capi::array::object::mlxrocm_array,)+
            error: *mut *mut $crate::capi::error::mlxrocm_error,
        ) -> $crate::capi::status::mlxrocm_status {
            $crate::capi::array::functions::boundary_results([$(($out, stringify!($out))),+], error, || {
                $(let $p = $crate::capi::array::functions::argument!($kind $p $($n)?);)*
                Ok($body)
            })
        }
        $crate::capi::symbols::since_0_1! { $name }
    )*};
}
pub(in crate::capi) use array_functions;
