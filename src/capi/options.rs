//! Structs that grow: the first field is their size as the caller compiled it.
//!
//! The rule is that of Linux's `openat2`: fields that the caller's struct does not have are zero,
//! fields that this library does not have must be zero, and zero is every field's default.

use crate::{Error, Result};

/// A struct that C fills or reads.
///
/// # Safety
/// `repr(C)`; the first field is `struct_size: u32`; no padding; every field is a number, a raw
/// pointer or an `Option` of a function pointer, so that all-zero bytes are a value.
pub(super) unsafe trait SizedStruct: Copy {
    /// The C name.
    const NAME: &'static str;
    /// The size in the release that introduced it; no caller can have a smaller one.
    const FIRST_SIZE: usize;
}

/// No struct gets larger; a larger size is garbage and must not be followed.
const LIMIT: usize = 4096;

fn zeroed<T: SizedStruct>() -> T {
    // SAFETY: all-zero bytes are a value of `T`, as its `SizedStruct` promises.
    unsafe { std::mem::zeroed() }
}

/// Reads the struct size; NULL must have been excluded.
///
/// # Safety
/// `pointer` points to at least four readable bytes.
unsafe fn struct_size<T: SizedStruct>(pointer: *const T) -> Result<usize> {
    // SAFETY: the caller promises four readable bytes.
    let size = unsafe { pointer.cast::<u32>().read_unaligned() } as usize;
    if size != 0 && !(T::FIRST_SIZE..=LIMIT).contains(&size) {
        return Err(Error::InvalidArgument(format!(
            "struct_size of {} is {size}: set it to sizeof({})",
            T::NAME,
            T::NAME
        )));
    }
    Ok(size)
}

/// A struct from the caller. NULL and a struct of zeros, its size included, mean defaults.
///
/// # Safety
/// `pointer` is NULL or points to a struct of the size that its first field says; if that is 0, of today's size.
pub(super) unsafe fn read<T: SizedStruct>(pointer: *const T) -> Result<T> {
    let mut value = zeroed::<T>();
    if pointer.is_null() {
        return Ok(value);
    }
    // SAFETY: not NULL; the caller promises a struct.
    let size = unsafe { struct_size(pointer) }?;
    // Nothing was released yet, so that who forgets the size has today's struct; behind a release's it must not be read.
    let readable = if size == 0 { size_of::<T>() } else { size };
    // SAFETY: the caller promises that many readable bytes.
    let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), readable) };
    if size == 0 && bytes.iter().any(|&byte| byte != 0) {
        return Err(Error::InvalidArgument(format!(
            "struct_size of {} is 0: set it to sizeof({})",
            T::NAME,
            T::NAME
        )));
    }
    let (known, unknown) = bytes.split_at(readable.min(size_of::<T>()));
    if unknown.iter().any(|&byte| byte != 0) {
        return Err(Error::Unsupported(format!(
            "{} sets a field that this version of the library does not have: update the library",
            T::NAME
        )));
    }
    // SAFETY: `known` is no longer than `T`, any bytes from a caller's struct are a `T`, and
    // `value` is a local.
    unsafe {
        std::ptr::copy_nonoverlapping(
            known.as_ptr(),
            std::ptr::from_mut(&mut value).cast::<u8>(),
            known.len(),
        )
    };
    Ok(value)
}

/// A caller's struct for results: `struct_size` is set by the caller and stays as it is.
pub(super) struct OutputStruct<T> {
    pointer: *mut T,
    size: usize,
}

impl<T: SizedStruct> OutputStruct<T> {
    /// # Safety
    /// `pointer` is NULL or points to a writable struct of the size that its first field says,
    /// until [`OutputStruct::write`].
    pub(super) unsafe fn new(pointer: *mut T, parameter: &'static str) -> Result<OutputStruct<T>> {
        if pointer.is_null() {
            return Err(Error::NullArgument(parameter.into()));
        }
        // SAFETY: not NULL; the caller promises a struct.
        let size = unsafe { struct_size(pointer) }?;
        if size == 0 {
            return Err(Error::InvalidArgument(format!(
                "struct_size of {} is 0: set it to sizeof({})",
                T::NAME,
                T::NAME
            )));
        }
        Ok(OutputStruct { pointer, size })
    }

    /// Writes the fields that the caller's struct has; those it has beyond this library's are zero.
    pub(super) fn write(self, value: T) {
        const AFTER_SIZE: usize = size_of::<u32>();
        let known = self.size.min(size_of::<T>());
        let from = std::ptr::from_ref(&value).cast::<u8>();
        let to = self.pointer.cast::<u8>();
        // SAFETY: `new`'s caller promised `size` writable bytes, and `known` of them lie in `value`.
        // The size stays the caller's, so that the struct can be used again.
        unsafe {
            std::ptr::copy_nonoverlapping(
                from.add(AFTER_SIZE),
                to.add(AFTER_SIZE),
                known - AFTER_SIZE,
            )
        };
        // SAFETY: the rest of the caller's `size` bytes.
        unsafe { std::ptr::write_bytes(to.add(known), 0, self.size - known) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Now {
        struct_size: u32,
        a: u32,
        b: u64,
    }
    // SAFETY: repr(C), size first, numbers only, no padding.
    unsafe impl SizedStruct for Now {
        const NAME: &'static str = "now";
        const FIRST_SIZE: usize = 8;
    }

    fn of(bytes: &[u8]) -> Result<Now> {
        unsafe { read(bytes.as_ptr().cast::<Now>()) }
    }

    fn bytes(size: u32, a: u32, b: u64, tail: &[u8]) -> Vec<u8> {
        let mut v = size.to_ne_bytes().to_vec();
        v.extend(a.to_ne_bytes());
        v.extend(b.to_ne_bytes());
        v.extend(tail);
        v
    }

    #[test]
    fn short_exact_long_and_misaligned_structs() {
        let now = |size, a, b| Now {
            struct_size: size,
            a,
            b,
        };
        assert_eq!(unsafe { read::<Now>(std::ptr::null()) }, Ok(now(0, 0, 0)));
        assert_eq!(of(&bytes(0, 0, 0, &[])), Ok(now(0, 0, 0)));
        for (a, b) in [(1, 0), (0, 1)] {
            assert!(of(&bytes(0, a, b, &[])).is_err(), "size forgotten");
        }
        // With a struct of the first release, what lies behind it is not looked at.
        assert_eq!(of(&bytes(8, 1, 99, &[])), Ok(now(8, 1, 0)));
        assert_eq!(of(&bytes(16, 1, 2, &[])), Ok(now(16, 1, 2)));
        assert_eq!(of(&bytes(20, 1, 2, &[0; 4])), Ok(now(20, 1, 2)));
        let newer = of(&bytes(20, 1, 2, &[0, 0, 0, 1]));
        assert!(matches!(newer, Err(Error::Unsupported(_))), "{newer:?}");
        for wrong in [1, 7, 4097, u32::MAX] {
            assert!(of(&bytes(wrong, 1, 2, &[])).is_err(), "{wrong}");
        }
        let mut shifted = vec![0];
        shifted.extend(bytes(16, 1, 2, &[]));
        assert_eq!(of(&shifted[1..]), Ok(now(16, 1, 2)));
    }

    #[test]
    fn outputs_fill_what_the_caller_has() {
        for (size, expected) in [
            (8, bytes(8, 5, u64::MAX, &[0xff; 4])),
            (16, bytes(16, 5, 6, &[0xff; 4])),
            (20, bytes(20, 5, 6, &[0; 4])),
        ] {
            let mut caller = bytes(size, u32::MAX, u64::MAX, &[0xff; 4]);
            let value = Now {
                struct_size: 0,
                a: 5,
                b: 6,
            };
            unsafe { OutputStruct::<Now>::new(caller.as_mut_ptr().cast(), "now") }
                .unwrap()
                .write(value);
            assert_eq!(caller, expected);
        }
        for wrong in [0, 4, 7, 5000] {
            let mut caller = bytes(wrong, 0, 0, &[]);
            assert!(unsafe { OutputStruct::<Now>::new(caller.as_mut_ptr().cast(), "n") }.is_err());
        }
        assert!(unsafe { OutputStruct::<Now>::new(std::ptr::null_mut(), "n") }.is_err());
    }
}
