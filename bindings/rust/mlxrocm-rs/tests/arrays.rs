//! Arrays against plain loops.

use mlxrocm_rs::{
    Array, DType, Device, Element, Status, arange, concatenate, evaluate, load_arrays, random_key, random_uniform,
    save_gguf, save_safetensors, zeros,
};
use std::fmt::Debug;
use std::thread;

fn there_and_back<T: Element + PartialEq + Debug>(elements: &[T]) {
    let x = Array::new(elements, &[elements.len()]).unwrap();
    assert_eq!(x.dtype(), T::DTYPE);
    assert_eq!(x.to_vec::<T>().unwrap(), elements);
}

fn near(found: &Array, wanted: &[f64]) {
    let found = found.to_vec::<f32>().unwrap();
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((f64::from(*found) - wanted).abs() < 1e-5, "{found}, not {wanted}");
    }
}

#[test]
fn elements_there_and_back() {
    there_and_back(&[true, false]);
    there_and_back(&[0u8, 255]);
    there_and_back(&[1u16, 65535]);
    there_and_back(&[1u32, u32::MAX]);
    there_and_back(&[1u64, u64::MAX]);
    there_and_back(&[-128i8, 127]);
    there_and_back(&[-5i16, 5]);
    there_and_back(&[i32::MIN, 3]);
    there_and_back(&[i64::MIN, 3]);
    there_and_back(&[-1.5f32, 3.0]);
    there_and_back(&[std::f64::consts::PI, -1e300]);
    there_and_back(&[[1.0f32, -2.0], [0.0, 3.0]]);
    there_and_back::<f32>(&[]);
    assert_eq!(Array::scalar(7i32).unwrap().shape(), [0usize; 0]);
}

#[test]
fn products_and_reductions() {
    const ROWS: usize = 5;
    const INNER: usize = 7;
    const COLUMNS: usize = 3;
    let key = random_key(7).unwrap();
    let (low, high) = (Array::scalar(-0.5f32).unwrap(), Array::scalar(0.5f32).unwrap());
    let draw = |shape: &[i64]| random_uniform(&low, &high, shape, DType::Float32, Some(&key)).unwrap();
    let (x, y) = (draw(&[ROWS as i64, INNER as i64]), draw(&[INNER as i64, COLUMNS as i64]));
    let (a, b) = (x.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap());
    let mut wanted = vec![0.0; ROWS * COLUMNS];
    for (place, sum) in wanted.iter_mut().enumerate() {
        let (row, column) = (place / COLUMNS, place % COLUMNS);
        *sum = (0..INNER).map(|k| f64::from(a[row * INNER + k]) * f64::from(b[k * COLUMNS + column])).sum();
    }
    let product = x.matmul(&y).unwrap();
    assert_eq!(product.shape(), [ROWS, COLUMNS]);
    near(&product, &wanted);
    let sums: Vec<f64> = wanted.chunks(COLUMNS).map(|row| row.iter().sum()).collect();
    near(&product.sum(Some(&[-1]), false).unwrap(), &sums);
    near(&product.sum(None, true).unwrap(), &[sums.iter().sum()]);
    let softmax = wanted.chunks(COLUMNS).flat_map(|row| {
        let total: f64 = row.iter().map(|value| value.exp()).sum();
        row.iter().map(move |value| value.exp() / total)
    });
    near(&product.softmax(Some(&[1]), false).unwrap(), &softmax.collect::<Vec<_>>());
}

#[test]
fn operators_lists_and_several_results() {
    let x = Array::new(&[5i32, 3, 1, 4, 2, 0], &[2, 3]).unwrap();
    let ints = |array: &Array| array.to_vec::<i32>().unwrap();
    assert_eq!(ints(&(&x + &x)), [10, 6, 2, 8, 4, 0]);
    assert_eq!(ints(&(&x * 2.0 - &x)), [5, 3, 1, 4, 2, 0]);
    near(&(&x * 0.5), &[2.5, 1.5, 0.5, 2.0, 1.0, 0.0]);
    near(&(&Array::new(&[250u8, 2], &[2]).unwrap() + -1.0), &[249.0, 1.0]);
    near(&(&Array::new(&[true, false], &[2]).unwrap() + 1.0), &[2.0, 1.0]);
    assert_eq!(ints(&-&x), [-5, -3, -1, -4, -2, 0]);
    assert_eq!(ints(&x.sort(None).unwrap()), [0, 1, 2, 3, 4, 5]);
    assert_eq!(ints(&x.transpose(None).unwrap()), [5, 4, 3, 2, 1, 0]);
    let parts = x.split(&[1], 1).unwrap();
    assert_eq!(parts.iter().map(Array::shape).collect::<Vec<_>>(), [[2, 1], [2, 2]]);
    assert_eq!(ints(&concatenate(&[&parts[1], &parts[0]], 1).unwrap()), [3, 1, 5, 2, 0, 4]);
    let three = Array::scalar(3i32).unwrap();
    assert_eq!(ints(&x.clip(None, Some(&three)).unwrap()), [3, 3, 1, 3, 2, 0]);
    assert_eq!(ints(&x.slice(&[0, 2], &[2, -4], &[1, -2]).unwrap()), [1, 5, 0, 4]);
    let (quotient, remainder) = x.divmod(&Array::scalar(2i32).unwrap()).unwrap();
    evaluate(&[&quotient, &remainder]).unwrap();
    assert_eq!(ints(&quotient), [2, 1, 0, 2, 1, 0]);
    assert_eq!(ints(&remainder), [1, 1, 1, 0, 0, 0]);
    assert_eq!(x.sum(None, false).unwrap().item().unwrap(), 15.0);
    near(&arange(0.0, 1.0, 0.25, DType::Float32).unwrap(), &[0.0, 0.25, 0.5, 0.75]);
    let m = Array::new(&[2.0f32, 0.0, 0.0, 4.0], &[2, 2]).unwrap();
    near(&m.linalg_inv().unwrap(), &[0.5, 0.0, 0.0, 0.25]);
}

#[test]
fn arrays_move_to_a_device() {
    let x = Array::new(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    let cpu = Device::open(0).unwrap();
    let moved = x.to_device(&cpu).unwrap();
    drop(cpu);
    assert_eq!((moved.dtype(), moved.shape()), (DType::Float32, vec![2, 2]));
    near(&moved, &[1.0, 2.0, 3.0, 4.0]);
    let square = moved.matmul(&x).unwrap();
    drop(x);
    near(&(&square + 1.0), &[8.0, 11.0, 16.0, 23.0]);
    // The types leave room for one mistake: a device that is not there.
    let none = Device::open(Device::count().unwrap()).and_then(|device| moved.to_device(&device));
    assert_eq!(none.unwrap_err().status, Status::NoDevice);
}

#[test]
fn mistakes_are_errors() {
    let (x, y) = (Array::new(&[1.0f32, 2.0, 3.0], &[3]).unwrap(), Array::new(&[1.0f32, 2.0], &[2]).unwrap());
    let error = x.add(&y).unwrap_err();
    assert_eq!(error.status, Status::InvalidArgument);
    assert!(error.to_string().contains("add"), "{error}");
    assert_eq!(x.to_vec::<i32>().unwrap_err().status, Status::InvalidArgument);
    assert!(Array::new(&[1.0f32], &[2]).is_err());
    assert!(Array::new::<f32>(&[], &[usize::MAX, usize::MAX]).is_err());
    assert!(x.split_parts(usize::MAX, 0).is_err());
    assert!(x.linalg_norm_matrix("a\0b", None, false).is_err());
    assert!(zeros(&[-1], DType::Int8).is_err());
    assert!(thread::spawn(move || drop(&x + &y)).join().is_err(), "the operator did not panic");
}

#[test]
fn dtypes_that_an_operation_finds() {
    let x = Array::new(&[0.5f32; 64], &[1, 64]).unwrap();
    assert_eq!(x.zeros_like(None).unwrap().dtype(), DType::Float32);
    assert_eq!(x.ones_like(Some(DType::Int8)).unwrap().dtype(), DType::Int8);
    let (codes, scales, biases) = x.quantize(64, 4).unwrap();
    let numbers = codes.dequantize(&scales, Some(&biases), 64, 4, "affine", None, Some(DType::Float16)).unwrap();
    assert_eq!(numbers.dtype(), DType::Float16);
}

#[test]
fn files() {
    let x = Array::new(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
    let y = x.astype(DType::Int32).unwrap();
    let folder = std::env::temp_dir().join(format!("mlxrocm-rs-{}-files", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let (arrays, metadata) = ([("x", &x), ("y", &y)], [("format", "mlx"), ("empty", "")]);
    let (tensors, gguf) = (folder.join("a.safetensors"), folder.join("a.gguf"));
    save_safetensors(&tensors, arrays, metadata).unwrap();
    save_gguf(&gguf, arrays, metadata).unwrap();
    for path in [&tensors, &gguf] {
        let all = load_arrays(path).unwrap();
        assert_eq!(all.arrays.keys().collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(all.arrays["y"].to_vec::<i32>().unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_eq!((all.arrays["x"].shape(), &*all.metadata["format"]), (vec![2, 3], "mlx"));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(load_arrays(&tensors).unwrap_err().status, Status::Io);
    assert_eq!(save_gguf("", arrays, metadata).unwrap_err().status, Status::InvalidArgument);
}

#[test]
fn arrays_from_many_threads() {
    let x = Array::new(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    let lazy = x.matmul(&x).unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    near(&-&lazy, &[-7.0, -10.0, -15.0, -22.0]);
                    drop(lazy.clone());
                }
            });
        }
    });
}
