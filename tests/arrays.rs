//! Arrays: lazy, shared, evaluated once; views keep to their elements.

use mlxrocm::Error;
use mlxrocm::array::{Array, eval};
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Dtype, Shape};

fn array(values: &[f32], sizes: &[usize]) -> Array {
    Array::from_elements(Elements::from_slice(values, Dtype::F32, sizes).unwrap())
}

fn values(array: &Array) -> Vec<f32> {
    array.read().unwrap().to_vec()
}

#[test]
fn views_and_sums_are_what_they_say() {
    let x = array(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
    let turned = x.transpose(&[1, 0]).unwrap();
    assert_eq!(values(&turned), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let row = array(&[10.0, 20.0], &[2]);
    let sum = turned.plus(&row).unwrap();
    assert_eq!(values(&sum), [11.0, 24.0, 12.0, 25.0, 13.0, 26.0]);
    let flat = turned.reshape(Shape::new([6])).unwrap();
    assert_eq!(values(&flat), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let indices = Elements::from_slice(&[-1i32, 0], Dtype::I32, &[2]).unwrap();
    let taken = x.take(&Array::from_elements(indices), 1).unwrap();
    assert_eq!(values(&taken), [3.0, 1.0, 6.0, 4.0]);
    let halves = x.astype(Dtype::F16).astype(Dtype::F32);
    assert_eq!(values(&halves), values(&x));
}

#[test]
fn what_somebody_holds_is_computed_once() {
    let x = array(&[1.0, 2.0], &[2]);
    let shared = x.plus(&x).unwrap();
    let first = shared.times(&x).unwrap();
    eval(std::slice::from_ref(&first)).unwrap();
    assert!(shared.is_evaluated(), "it was thrown away");
    assert_eq!(values(&first), [2.0, 8.0]);
    // Not what nobody can ask for any more.
    let lazy = x.plus(&x).unwrap().plus(&x).unwrap();
    assert!(!lazy.is_evaluated());
    assert_eq!(values(&lazy), [3.0, 6.0]);
}

#[test]
fn a_chain_of_many_operations_is_built_run_and_dropped() {
    let one = array(&[1.0], &[1]);
    let mut x = one.clone();
    for _ in 0..200_000 {
        x = x.plus(&one).unwrap();
    }
    assert_eq!(values(&x), [200_001.0]);
    let mut lazy = one.clone();
    for _ in 0..200_000 {
        lazy = lazy.plus(&one).unwrap();
    }
    drop(lazy);
    let mut remainder = one.clone();
    for _ in 0..100_000 {
        (_, remainder) = remainder.divmod(&one).unwrap();
    }
    drop(remainder);
}

#[test]
fn results_of_one_operation_are_held_or_not_each_on_its_own() {
    let (x, y) = (array(&[7.0, -5.0], &[2]), array(&[3.0, 2.0], &[2]));
    let (quotient, remainder) = x.divmod(&y).unwrap();
    let back = quotient.times(&y).unwrap().plus(&remainder).unwrap();
    drop(remainder);
    assert_eq!(values(&back), [7.0, -5.0]);
    assert!(quotient.is_evaluated(), "it was thrown away");
    assert_eq!(values(&quotient), [2.0, -3.0]);
    // Nobody asked for the other one of these.
    let (quotient, remainder) = x.divmod(&y).unwrap();
    assert_eq!(values(&remainder), [1.0, 1.0]);
    assert!(!quotient.is_evaluated());
    let both = quotient.plus(&remainder).unwrap();
    assert_eq!(values(&both), [3.0, -2.0]);
    assert!(quotient.is_evaluated(), "it was thrown away");
}

#[test]
fn eight_threads_evaluate_one_graph() {
    let x = array(&[1.0; 1000], &[1000]);
    let mut last = x.clone();
    for _ in 0..200 {
        last = last.plus(&x).unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(values(&last), vec![201.0; 1000]));
        }
    });
}

#[test]
fn what_is_taken_of_a_view_is_not_copied_before() {
    // 32 TiB, if anybody copied it.
    let many = 1usize << 42;
    let two = array(&[3.0, 5.0], &[2, 1]);
    let large = two.broadcast_to(Shape::new([2, many])).unwrap();
    let places = [0i64, many as i64 - 1, -1, -(many as i64)];
    let index = Array::from_elements(Elements::from_slice(&places, Dtype::I64, &[4]).unwrap());
    let taken = large.take(&index, 1).unwrap();
    assert_eq!(values(&taken), [[3.0; 4], [5.0; 4]].concat());
    let index = index.reshape(Shape::new([1, 4])).unwrap();
    let index = index.broadcast_to(Shape::new([2, 4])).unwrap();
    let taken = large.take_along_axis(&index, Some(1)).unwrap();
    assert_eq!(values(&taken), [[3.0; 4], [5.0; 4]].concat());
    // Turned round, and from behind its first element.
    let numbers: Vec<f32> = (0u8..24).map(f32::from).collect();
    let turned = array(&numbers, &[2, 3, 4]).transpose(&[2, 0, 1]).unwrap();
    let index = Array::from_elements(Elements::from_slice(&[2i32, -3], Dtype::I32, &[2]).unwrap());
    let wanted = [
        2.0, 6.0, 10.0, 14.0, 18.0, 22.0, 1.0, 5.0, 9.0, 13.0, 17.0, 21.0,
    ];
    assert_eq!(values(&turned.take(&index, 0).unwrap()), wanted);
}

#[test]
fn what_does_not_fit_is_named() {
    let (a, b) = (array(&[0.0; 6], &[2, 3]), array(&[0.0; 4], &[4]));
    let message = a.plus(&b).unwrap_err().to_string();
    assert!(message.contains("add") && message.contains("[2, 3]") && message.contains("[4]"));
    let message = a.reshape(Shape::new([7])).unwrap_err().to_string();
    assert!(message.contains("reshape") && message.contains("[7]"));
    assert!(a.transpose(&[0, 0]).is_err());
    assert!(a.take(&b, 0).is_err());
    let far = Elements::from_slice(&[2u32], Dtype::U32, &[1]).unwrap();
    let far = a.take(&Array::from_elements(far), 0).unwrap();
    assert!(
        far.read()
            .unwrap_err()
            .to_string()
            .contains("outside axis 0")
    );
    let whole = array(&[1.0], &[1, 1]).astype(Dtype::I32);
    let message = whole.matmul(&whole).unwrap_err().to_string();
    assert!(message.contains("int32") && message.contains("astype"));
    let message = a.expand_dims(&[5]).unwrap_err().to_string();
    assert!(message.contains("[5]") && message.contains("[2, 3]"));
    let message = a.scaled_dot_product_attention(&a, &a, 1.0, false, None, None);
    let message = message.unwrap_err().to_string();
    assert!(message.contains("[2, 3]") && message.contains("[batch, heads, tokens, dim]"));
    // A failed evaluation leaves everything as it was.
    assert_eq!(values(&a), [0.0; 6]);
}

#[test]
fn what_no_memory_holds_is_an_error() {
    // 64 TiB row after row.
    let one = array(&[1.0], &[1]);
    let ones = one.broadcast_to(Shape::new([1usize << 44])).unwrap();
    for result in [ones.matmul(&ones), ones.searchsorted(&one, false)] {
        let error = eval(&[result.unwrap()]).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory(_)), "{error}");
    }
    assert_eq!(values(&one), [1.0]);
}
