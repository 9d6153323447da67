//! Lazy arrays; their operations are in `operations`.

use crate::device::Device;
pub use crate::enums::DType;
use crate::error::{Error, Result, call, handle};
use mlxrocm_sys as sys;
use std::fmt;
use std::ops;
use std::ptr::null_mut;

handle!(ArrayHandle, mlxrocm_array, mlxrocm_array_free);

/// An n-dimensional array. Operations are lazy: elements are computed by [`evaluate`] or when they are read. Arrays
/// never change. The operators `+ - * / % & | ^ << >>` and `-` panic where the functions of their names fail.
pub struct Array(ArrayHandle);

/// What Rust has of the dtypes; complex numbers are `[f32; 2]`.
pub trait Element: Copy + private::Sealed {
    const DTYPE: DType;
    #[doc(hidden)]
    fn from_bytes(bytes: &[u8]) -> Self;
}

mod private {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty: $dtype:ident,)*) => {
        $(impl private::Sealed for $type {}
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            fn from_bytes(bytes: &[u8]) -> $type {
                <$type>::from_ne_bytes(bytes.try_into().expect("the bytes of one element"))
            }
        })*
    };
}
elements! {
    u8: Uint8, u16: Uint16, u32: Uint32, u64: Uint64, i8: Int8, i16: Int16, i32: Int32, i64: Int64,
    f32: Float32, f64: Float64,
}

impl private::Sealed for bool {}
impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn from_bytes(bytes: &[u8]) -> bool {
        bytes[0] != 0
    }
}

impl private::Sealed for [f32; 2] {}
impl Element for [f32; 2] {
    const DTYPE: DType = DType::Complex64;
    fn from_bytes(bytes: &[u8]) -> [f32; 2] {
        [f32::from_bytes(&bytes[..4]), f32::from_bytes(&bytes[4..])]
    }
}

impl Array {
    /// An array of a copy of the elements, row after row.
    pub fn new<T: Element>(elements: &[T], shape: &[usize]) -> Result<Array> {
        let count = shape.iter().try_fold(1usize, |count, size| count.checked_mul(*size));
        if count != Some(elements.len()) {
            let message = format!("{} elements do not fill the shape {shape:?}", elements.len());
            return Err(Error::invalid(message));
        }
        let sizes: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
        let (data, dtype) = (elements.as_ptr().cast(), T::DTYPE as u32);
        let make =
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            |out, error| unsafe { sys::mlxrocm_array_from_data(data, sizes.as_ptr(), sizes.len(), dtype, out, error) };
        ArrayHandle::make(make).map(Array)
    }

    /// An array without axes.
    pub fn scalar<T: Element>(value: T) -> Result<Array> {
        Array::new(&[value], &[])
    }

    pub(crate) fn own(handle: *mut sys::mlxrocm_array) -> Array {
        // The library made it for this one.
        Array(
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            ArrayHandle::make(|out, _| unsafe {
                *out = handle;
                sys::MLXROCM_OK
            })
            .expect("a handle"),
        )
    }

    pub(crate) fn as_ptr(&self) -> *const sys::mlxrocm_array {
        self.0.get()
    }

    pub fn dtype(&self) -> DType {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        DType::from_number(unsafe { sys::mlxrocm_array_dtype(self.as_ptr()) }).expect("a dtype of this version")
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        unsafe { sys::mlxrocm_array_size(self.as_ptr()) }
    }

    /// The sizes, outermost first.
    pub fn shape(&self) -> Vec<usize> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let mut sizes = vec![0i64; unsafe { sys::mlxrocm_array_rank(self.as_ptr()) }];
        let mut needed = 0;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let tell = |error| unsafe {
            sys::mlxrocm_array_shape(self.as_ptr(), sizes.as_mut_ptr(), sizes.len(), &mut needed, error)
        };
        call(tell).expect("a live array has a shape");
        sizes.into_iter().map(|size| size as usize).collect()
    }

    /// The array on a device: what is computed of it is computed there. Lazy; reading works wherever it is.
    pub fn to_device(&self, device: &Device) -> Result<Array> {
        let make =
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            |out, error| unsafe { sys::mlxrocm_array_to_device(self.as_ptr(), device.0.get(), out, error) };
        ArrayHandle::make(make).map(Array)
    }

    /// The elements, row after row; `T` must be the dtype's (`astype` converts).
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if self.dtype() != T::DTYPE {
            let message =
                format!("to_vec: the array's dtype is {:?}, not {:?}: convert it with astype", self.dtype(), T::DTYPE);
            return Err(Error::invalid(message));
        }
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let mut bytes = vec![0u8; unsafe { sys::mlxrocm_array_bytes(self.as_ptr()) }];
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_array_read(self.as_ptr(), bytes.as_mut_ptr().cast(), bytes.len(), error) })?;
        Ok(bytes.chunks_exact(size_of::<T>()).map(T::from_bytes).collect())
    }

    /// The only element as a number.
    pub fn item(&self) -> Result<f64> {
        let mut value = 0.0;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_array_item_f64(self.as_ptr(), &mut value, error) })?;
        Ok(value)
    }
}

impl Clone for Array {
    fn clone(&self) -> Array {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let make = |out, error| unsafe { sys::mlxrocm_array_clone(self.as_ptr(), out, error) };
        Array(ArrayHandle::make(make).expect("a live array can be cloned"))
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({:?}, {:?})", self.shape(), self.dtype())
    }
}

/// Computes the elements of arrays, all of them in one go.
pub fn evaluate(arrays: &[&Array]) -> Result<()> {
    let list: Vec<_> = arrays.iter().map(|array| array.as_ptr()).collect();
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    call(|error| unsafe { sys::mlxrocm_array_eval(list.as_ptr(), list.len(), error) })?;
    Ok(())
}

/// Places for so many arrays.
pub(crate) fn room(count: usize) -> Result<Vec<*mut sys::mlxrocm_array>> {
    if count > 1 << 24 {
        return Err(Error::invalid(format!("{count} is no number of parts")));
    }
    Ok(vec![null_mut(); count])
}

pub(crate) fn own_all(handles: Vec<*mut sys::mlxrocm_array>) -> Vec<Array> {
    handles.into_iter().map(Array::own).collect()
}

/// The dtype of a number that meets an array: the array's if that holds it, else float32.
fn met(number: f64, dtype: DType) -> DType {
    let whole = |from: f64, to: f64| number.fract() == 0.0 && from <= number && number < to;
    let bits = |count: i32| 2f64.powi(count);
    let held = match dtype {
        DType::Bool => false,
        DType::Uint8 => whole(0.0, bits(8)),
        DType::Uint16 => whole(0.0, bits(16)),
        DType::Uint32 => whole(0.0, bits(32)),
        DType::Uint64 => whole(0.0, bits(64)),
        DType::Int8 => whole(-bits(7), bits(7)),
        DType::Int16 => whole(-bits(15), bits(15)),
        DType::Int32 => whole(-bits(31), bits(31)),
        DType::Int64 => whole(-bits(63), bits(63)),
        _ => true,
    };
    if held { dtype } else { DType::Float32 }
}

macro_rules! operators {
    ($($operator:ident $function:ident $name:ident,)*) => {
        $(impl ops::$operator<&Array> for &Array {
            type Output = Array;
            fn $function(self, other: &Array) -> Array {
                self.$name(other).unwrap_or_else(|error| panic!("{error}"))
            }
        }
        impl ops::$operator<Array> for Array {
            type Output = Array;
            fn $function(self, other: Array) -> Array {
                ops::$operator::$function(&self, &other)
            }
        }
        impl ops::$operator<&Array> for Array {
            type Output = Array;
            fn $function(self, other: &Array) -> Array {
                ops::$operator::$function(&self, other)
            }
        }
        impl ops::$operator<Array> for &Array {
            type Output = Array;
            fn $function(self, other: Array) -> Array {
                ops::$operator::$function(self, &other)
            }
        }
        impl ops::$operator<f64> for &Array {
            type Output = Array;
            fn $function(self, other: f64) -> Array {
                let number = crate::operations::number(other, met(other, self.dtype())).unwrap_or_else(|error| panic!("{error}"));
                ops::$operator::$function(self, &number)
            }
        })*
    };
}
operators! {
    Add add add, Sub sub subtract, Mul mul multiply, Div div divide, Rem rem remainder,
    BitAnd bitand bitwise_and, BitOr bitor bitwise_or, BitXor bitxor bitwise_xor,
    Shl shl left_shift, Shr shr right_shift,
}

impl ops::Neg for &Array {
    type Output = Array;
    fn neg(self) -> Array {
        self.negative().unwrap_or_else(|error| panic!("{error}"))
    }
}
