//! Arrays on a GPU: products, quantization, layers, transforms and the rest of `tests/array_families` there; moves
//! between devices, faults, and threads.

#[path = "array_families/complex_orders.rs"]
mod complex_orders;
#[path = "array_families/doubles.rs"]
mod doubles;
#[path = "array_families/forms.rs"]
mod forms;
#[path = "array_families/functions.rs"]
mod functions;
#[path = "array_families/goldens.rs"]
mod goldens;
#[path = "support/gpu.rs"]
mod gpu;
#[path = "array_families/large.rs"]
mod large;
#[path = "array_families/layers.rs"]
mod layers;
#[path = "array_families/on_gpus.rs"]
mod on_gpus;
#[path = "array_families/one_row.rs"]
mod one_row;
#[allow(dead_code)]
#[path = "support/prng.rs"]
mod prng;
#[path = "array_families/product_forms.rs"]
mod product_forms;
#[path = "array_families/products.rs"]
mod products;
#[path = "array_families/quantized.rs"]
mod quantized;
#[path = "array_families/spectra.rs"]
mod spectra;
#[path = "array_families/well.rs"]
mod well;

use mlxrocm::array::{Array, Home, eval};
use mlxrocm::cpu::Elements;
use mlxrocm::gpu::Device;
use mlxrocm::ir::{Binary, Dtype, Shape, Unary};
use std::sync::OnceLock;

/// One GPU for all tests of this program: a target a day.
fn home() -> Home {
    static HOME: OnceLock<Home> = OnceLock::new();
    let make = || {
        let gpu = match gpu::is_real() {
            true => gpu::gpu(),
            false => {
                let target = gpu::todays(&["gfx1151", "gfx1201", "gfx942", "gfx90a"]);
                println!("{target}");
                gpu::soft(&format!("devices={target},{target};vram_mib=512"))
            }
        };
        // It stays until the program ends; a test that fails says what it saw.
        let gpu: &'static gpu::Gpu = Box::leak(Box::new(gpu));
        let seen = std::sync::atomic::AtomicPtr::new(std::ptr::from_ref(gpu).cast_mut());
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            usual(panic);
            if !gpu::is_real() {
                // SAFETY: it was leaked; a report is made by the stand-in, which locks.
                let gpu = unsafe { &*seen.load(std::sync::atomic::Ordering::Relaxed) };
                eprintln!("{}", gpu.report()["violations"]);
            }
        }));
        Home::of(&Device::open(0).unwrap()).unwrap()
    };
    HOME.get_or_init(make).clone()
}

fn numbers(values: &[f32], sizes: &[usize]) -> Array {
    Array::from_elements(Elements::from_slice(values, Dtype::F32, sizes).unwrap())
}

fn read(array: &Array) -> Vec<f32> {
    array.read().unwrap().to_vec()
}

#[test]
fn arrays_move_and_results_stay() {
    let values: Vec<f32> = (0..35).map(|i| i as f32 - 7.5).collect();
    let host = numbers(&values, &[5, 7]);
    let there = host.at(&home());
    assert!(there.home() == &home() && host.home() == &Home::Cpu);
    assert_eq!(read(&there), values);
    // Views are moved as they lie; CPU arrays join those of the GPU.
    let turned = host.transpose(&[1, 0]).unwrap().at(&home());
    let sum = turned.binary(Binary::Add, &numbers(&[0.5], &[])).unwrap();
    assert!(sum.home() == &home());
    let expected: Vec<f32> = (0..35).map(|i| values[i % 5 * 7 + i / 5] + 0.5).collect();
    assert_eq!(read(&sum), expected);
    // And back.
    let back = sum.unary(Unary::Negative).unwrap().at(&Home::Cpu);
    let twice = back.binary(Binary::Add, &back).unwrap();
    assert!(twice.home() == &Home::Cpu);
    let expected: Vec<f32> = expected.iter().map(|x| -2.0 * x).collect();
    assert_eq!(read(&twice), expected);
    // Nothing, and one element of no axes.
    assert!(read(&numbers(&[], &[0, 3]).at(&home()).unary(Unary::Exp).unwrap()).is_empty());
    assert_eq!(
        read(&numbers(&[4.0], &[]).at(&home()).unary(Unary::Sqrt).unwrap()),
        [2.0]
    );
}

#[test]
fn arrays_of_two_gpus_do_not_meet_unless_moved() {
    if gpu::is_real() {
        return;
    }
    let one = numbers(&[1.0, 2.0], &[2]).at(&home());
    let other = Home::of(&Device::open(1).unwrap()).unwrap();
    let two = numbers(&[3.0, 4.0], &[2]).at(&other);
    let error = eval(&[one.binary(Binary::Add, &two).unwrap()])
        .unwrap_err()
        .to_string();
    assert!(error.contains("different GPUs"), "{error}");
    let sum = one.at(&other).binary(Binary::Add, &two).unwrap();
    assert_eq!(read(&sum), [4.0, 6.0]);
    assert_eq!(read(&one), [1.0, 2.0]);
}

#[test]
fn eight_threads_share_a_gpu() {
    let begin = numbers(&(0..300).map(|i| i as f32).collect::<Vec<_>>(), &[300]).at(&home());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let begin = begin.clone();
            scope.spawn(move || {
                let mut x = begin;
                for step in 0..5 {
                    let number = numbers(&[(thread * 5 + step) as f32], &[]);
                    x = x.binary(Binary::Add, &number).unwrap();
                    if step == 2 {
                        eval(std::slice::from_ref(&x)).unwrap();
                    }
                }
                let added = (0..5).map(|step| (thread * 5 + step) as f32).sum::<f32>();
                let expected: Vec<f32> = (0..300).map(|i| i as f32 + added).collect();
                assert_eq!(read(&x), expected);
            });
        }
    });
}

#[test]
fn what_does_not_fit_is_an_error_and_the_rest_stays_usable() {
    let small = numbers(&[1.0, 2.0], &[2, 1]).at(&home());
    if !gpu::is_real() {
        // 4 GB on a GPU of 512 MB.
        let large = small.broadcast_to(Shape::new([2, 1 << 29])).unwrap();
        let error = eval(&[large.unary(Unary::Negative).unwrap()]).unwrap_err();
        assert!(matches!(error, mlxrocm::Error::OutOfMemory(_)), "{error}");
    }
    assert_eq!(read(&small.unary(Unary::Square).unwrap()), [1.0, 4.0]);
}

/// As the header says of `mlxrocm_array_to_device`.
#[test]
fn places_that_are_not_there_are_the_nearest_on_gpus_and_errors_on_the_cpu() {
    let places = Elements::from_slice(&[-100, -3, 1, 2, 3, i32::MAX], Dtype::I32, &[6]).unwrap();
    let places = Array::from_elements(places);
    let x = numbers(&[1.0, 2.0, 3.0], &[3]);
    assert!(x.take(&places, 0).unwrap().read().is_err());
    assert!(x.take_along_axis(&places, Some(0)).unwrap().read().is_err());
    let there = x.at(&home());
    let nearest = [1.0, 1.0, 2.0, 3.0, 3.0, 3.0];
    assert_eq!(read(&there.take(&places, 0).unwrap()), nearest);
    assert_eq!(
        read(&there.take_along_axis(&places, Some(0)).unwrap()),
        nearest
    );
}
