//! What MLX gave, and how near to it a result has to be.

use mlxrocm::array::Array;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::Dtype;
use safetensors::SafeTensors;
use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

/// dtypes that most cases run with, and their names in the file.
pub const TYPES: [(&str, Dtype); 3] = [
    ("f32", Dtype::F32),
    ("f16", Dtype::F16),
    ("bf16", Dtype::Bf16),
];

static USED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn file() -> &'static SafeTensors<'static> {
    static FILE: OnceLock<SafeTensors<'static>> = OnceLock::new();
    FILE.get_or_init(|| {
        let bytes = include_bytes!("../golden/arrays/families.safetensors");
        SafeTensors::deserialize(bytes).unwrap()
    })
}

/// An array of the file, at the home of these tests.
pub fn golden(key: &str) -> Array {
    USED.lock().unwrap().insert(key.to_string());
    let tensor = file().tensor(key).unwrap_or_else(|_| panic!("no {key}"));
    let dtype = match tensor.dtype() {
        safetensors::Dtype::BOOL => Dtype::Bool,
        safetensors::Dtype::U8 => Dtype::U8,
        safetensors::Dtype::U16 => Dtype::U16,
        safetensors::Dtype::U32 => Dtype::U32,
        safetensors::Dtype::I32 => Dtype::I32,
        safetensors::Dtype::F16 => Dtype::F16,
        safetensors::Dtype::BF16 => Dtype::Bf16,
        safetensors::Dtype::F32 => Dtype::F32,
        dtype => panic!("{key} of {dtype:?}"),
    };
    let elements = Elements::from_slice(tensor.data(), dtype, tensor.shape()).unwrap();
    Array::from_elements(elements).at(&crate::home())
}

/// An array of the file that holds halves (pairs of f32 or u32) of `dtype`.
pub fn paired(key: &str, dtype: Dtype) -> Array {
    let pairs = golden(key);
    let elements = pairs.read().unwrap();
    let mut sizes = pairs.shape().numbers().unwrap().to_vec();
    match dtype {
        Dtype::C64 => assert_eq!(sizes.pop(), Some(2), "{key}"),
        // A scalar became a vector of its halves.
        _ => *sizes.last_mut().unwrap() /= 2,
    }
    let elements = Elements::from_slice(elements.bytes(), dtype, &sizes).unwrap();
    Array::from_elements(elements).at(&crate::home())
}

/// The numbers of an array, complex ones as pairs.
pub fn numbers(array: &Array) -> Vec<f64> {
    let elements = array.read().unwrap();
    let wide = |x: Vec<f32>| x.into_iter().map(f64::from).collect();
    match array.dtype() {
        Dtype::C64 => elements
            .to_vec::<[f32; 2]>()
            .into_iter()
            .flatten()
            .map(f64::from)
            .collect(),
        Dtype::F64 => elements.to_vec(),
        Dtype::Bool | Dtype::U8 => elements.to_vec::<u8>().into_iter().map(f64::from).collect(),
        Dtype::U16 => elements
            .to_vec::<u16>()
            .into_iter()
            .map(f64::from)
            .collect(),
        Dtype::U32 => elements
            .to_vec::<u32>()
            .into_iter()
            .map(f64::from)
            .collect(),
        Dtype::I32 => elements
            .to_vec::<i32>()
            .into_iter()
            .map(f64::from)
            .collect(),
        Dtype::F16 => wide(
            elements
                .to_vec::<half::f16>()
                .iter()
                .map(|x| x.to_f32())
                .collect(),
        ),
        Dtype::Bf16 => wide(
            elements
                .to_vec::<half::bf16>()
                .iter()
                .map(|x| x.to_f32())
                .collect(),
        ),
        Dtype::F32 => wide(elements.to_vec()),
        dtype => panic!("numbers of {dtype}"),
    }
}

/// Checks that numbers are alike: NaN with NaN, others within `tolerance · (1 + |expected|)`.
pub fn near(what: &str, got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{what}: elements");
    for (at, (&got, &expected)) in got.iter().zip(expected).enumerate() {
        let alike = got == expected
            || got.is_nan() && expected.is_nan()
            || (got - expected).abs() <= tolerance * (1.0 + expected.abs());
        assert!(alike, "{what}: element {at} is {got}, not {expected}");
    }
}

/// Checks a result's dtype, shape and numbers against the file.
pub fn same(key: &str, result: mlxrocm::Result<Array>) {
    let result = result.unwrap_or_else(|error| panic!("{key}: {error}"));
    let dtype = result.dtype();
    let expected = match dtype {
        Dtype::C64 | Dtype::F64 => paired(key, dtype),
        _ => golden(key),
    };
    assert_eq!(dtype, expected.dtype(), "{key}");
    if dtype != Dtype::F64 {
        assert_eq!(result.shape(), expected.shape(), "{key}");
    }
    let tolerance = match dtype {
        Dtype::F16 => 3e-3,
        Dtype::Bf16 => 2e-2,
        Dtype::F32 | Dtype::C64 => 2e-5,
        // MLX's are of single precision; numpy's are ours.
        Dtype::F64 if key.ends_with("/det") || key.ends_with("/det3") => 1e-7,
        Dtype::F64 => 1e-11,
        _ => 0.0,
    };
    near(key, &numbers(&result), &numbers(&expected), tolerance);
}

/// Checks that a result is the file's, bit for bit (any NaN for a NaN).
pub fn exact(key: &str, result: mlxrocm::Result<Array>) {
    let result = result.unwrap_or_else(|error| panic!("{key}: {error}"));
    let expected = golden(key);
    assert_eq!(result.dtype(), expected.dtype(), "{key}");
    assert_eq!(result.shape(), expected.shape(), "{key}");
    near(key, &numbers(&result), &numbers(&expected), 0.0);
    for (got, expected) in numbers(&result).iter().zip(numbers(&expected)) {
        let signs = got.is_sign_negative() == expected.is_sign_negative();
        assert!(signs || got.is_nan(), "{key}: {got}, not {expected}");
    }
}

/// Checks that everything in the file whose name begins so was looked at.
pub fn all_used(beginnings: &[&str]) {
    let used = USED.lock().unwrap();
    for name in file().names() {
        let mine = beginnings.iter().any(|begin| name.starts_with(begin));
        assert!(!mine || used.contains(name), "{name} is not tested");
    }
}
