//! Factorizations, systems of equations and norms.

use crate::goldens::{all_used, golden, near, numbers, paired, same};
use mlxrocm::array::Array;
use mlxrocm::array::ops::NormOrder;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Binary, Dtype, Unary};

fn load(key: &str, dtype: Dtype) -> Array {
    match dtype {
        Dtype::F32 => golden(key),
        _ => paired(key, dtype),
    }
}

fn turned(x: &Array) -> Array {
    let x = x.swapaxes(-1, -2).unwrap();
    x.unary(Unary::Conjugate).unwrap()
}

/// Checks that a product is `expected`.
fn makes(what: &str, product: mlxrocm::Result<Array>, expected: &Array) {
    let tolerance = match expected.dtype() {
        Dtype::F64 => 1e-12,
        _ => 1e-5,
    };
    near(
        what,
        &numbers(&product.unwrap()),
        &numbers(expected),
        tolerance,
    );
}

/// Checks that columns are of length 1 and orthogonal.
fn unitary(what: &str, x: &Array) {
    let sizes = x.shape().numbers().unwrap();
    let n = sizes[sizes.len() - 1] as i64;
    let product = turned(x).matmul(x).unwrap();
    let one = Array::eye(n, n, 0, x.dtype()).unwrap();
    let one = one.broadcast_to(product.shape().clone()).unwrap();
    makes(what, Ok(product), &one);
}

#[test]
fn factors_are_those_of_mlx() {
    for (name, dtype) in [("f32", Dtype::F32), ("f64", Dtype::F64)] {
        for case in ["tall", "wide", "square"] {
            let of = |part: &str| format!("linalg.{case}.{name}/{part}");
            let mut x = load(&of("x"), dtype);
            if dtype == Dtype::F64 && case == "square" {
                // Any layout.
                x = turned(&turned(&x).contiguous());
            }
            let qr = x.qr().unwrap();
            same(&of("q"), Ok(qr[0].clone()));
            same(&of("r"), Ok(qr[1].clone()));
            let [lu, pivots] = x.lu_factor().unwrap();
            same(&of("lu"), Ok(lu));
            same(&of("pivots"), Ok(pivots));
            let [rows, low, high] = x.lu().unwrap();
            same(&of("rows"), Ok(rows));
            same(&of("low"), Ok(low));
            same(&of("high"), Ok(high));
            same(&of("s"), x.svd(false).map(|parts| parts[0].clone()));
            same(&of("pinv"), x.pinv());
            svd_makes(&of("svd"), &x);
        }
        let of = |part: &str| format!("linalg.{name}/{part}");
        let get = |part: &str| load(&of(part), dtype);
        let (x, b, pd) = (get("x"), get("b"), get("pd"));
        same(&of("inv"), x.inv());
        same(&of("low"), pd.cholesky(false));
        same(&of("high"), pd.cholesky(true));
        same(&of("tri"), x.tri_inv(true));
        same(&of("tri_low"), x.tri_inv(false));
        same(&of("cholesky_inv"), get("low").cholesky_inv(false));
        same(&of("det"), x.det());
        let [sign, log] = x.slogdet().unwrap();
        same(&of("sign"), Ok(sign));
        same(&of("log"), Ok(log));
        let corner = x.slice(&[0, 0, 0], &[2, 3, 3], &[1, 1, 1]).unwrap();
        same(&of("det3"), corner.det());
        same(
            &of("values"),
            x.eigh(false, false).map(|parts| parts[0].clone()),
        );
        same(
            &of("values_up"),
            x.eigh(false, true).map(|parts| parts[0].clone()),
        );
        same(&of("solve"), x.solve(&b));
        let row = |x: &Array, stop: &[i64]| {
            let ones = vec![1; stop.len()];
            x.slice(&vec![0; stop.len()], stop, &ones).unwrap()
        };
        let first = row(&x, &[1, 4, 4]).squeeze(&[0]).unwrap();
        let column = row(&b, &[1, 4, 1]).squeeze(&[0, 2]).unwrap();
        same(&of("solve_row"), first.solve(&column));
        let symmetric = x.plus(&turned(&x)).unwrap();
        eigen_make(&of("eigh"), &symmetric);
        general_makes(&of("eig"), &x);
    }
    let x = paired("linalg.complex/x", Dtype::C64);
    same(
        "linalg.complex/s",
        x.svd(false).map(|parts| parts[0].clone()),
    );
    svd_makes("complex", &x);
    svd_makes("complex, wide", &turned(&x));
    let square = x.slice(&[0, 0, 0], &[2, 3, 3], &[1, 1, 1]).unwrap();
    same(
        "linalg.complex/values",
        square.eigh(false, false).map(|parts| parts[0].clone()),
    );
    eigen_make("complex", &square.plus(&turned(&square)).unwrap());
    general_makes("complex", &square);
    all_used(&["linalg"]);
}

fn svd_makes(what: &str, x: &Array) {
    let parts = x.svd(true).unwrap();
    let (u, s, v) = (&parts[0], &parts[1], &parts[2]);
    unitary(what, u);
    unitary(what, v);
    let sizes = x.shape().numbers().unwrap();
    let rank = sizes.len();
    let k = sizes[rank - 1].min(sizes[rank - 2]) as i64;
    let mut stop: Vec<i64> = u
        .shape()
        .numbers()
        .unwrap()
        .iter()
        .map(|&n| n as i64)
        .collect();
    let (zero, one) = (vec![0; rank], vec![1; rank]);
    stop[rank - 1] = k;
    let u = u.slice(&zero, &stop, &one).unwrap();
    let mut stop: Vec<i64> = v
        .shape()
        .numbers()
        .unwrap()
        .iter()
        .map(|&n| n as i64)
        .collect();
    stop[rank - 2] = k;
    let v = v.slice(&zero, &stop, &one).unwrap();
    let s = s.expand_dims(&[-2]).unwrap();
    makes(what, u.times(&s).unwrap().matmul(&v), x);
}

fn eigen_make(what: &str, x: &Array) {
    let parts = x.eigh(true, false).unwrap();
    unitary(what, &parts[1]);
    let values = parts[0].expand_dims(&[-2]).unwrap();
    makes(
        what,
        parts[1].times(&values).unwrap().matmul(&turned(&parts[1])),
        x,
    );
}

fn general_makes(what: &str, x: &Array) {
    let parts = x.eig(true).unwrap();
    let values = parts[0].expand_dims(&[-2]).unwrap();
    let scaled = parts[1].times(&values).unwrap();
    makes(what, x.astype(Dtype::C64).matmul(&parts[1]), &scaled);
    let lengths = parts[1].unary(Unary::Abs).unwrap();
    let lengths = numbers(&lengths.times(&lengths).unwrap());
    let sizes = x.shape().numbers().unwrap();
    let n = sizes[sizes.len() - 1];
    for matrix in lengths.chunks_exact((n * n).max(1)) {
        let length = |column| matrix.iter().skip(column).step_by(n).sum::<f64>();
        near(
            what,
            &(0..n).map(length).collect::<Vec<_>>(),
            &vec![1.0; n],
            1e-5,
        );
    }
    let only = x.eig(false).unwrap();
    assert_eq!(numbers(&only[0]), numbers(&parts[0]));
}

#[test]
fn norms_and_vector_products_are_those_of_mlx() {
    let x = golden("norm/x");
    same("norm/all", x.norm(None, None, false));
    for (name, p) in [
        ("0", 0.0),
        ("1", 1.0),
        ("2", 2.0),
        ("3", 3.0),
        ("-1.5", -1.5),
        ("inf", f64::INFINITY),
        ("-inf", f64::NEG_INFINITY),
    ] {
        let norm = x.norm(Some(NormOrder::P(p)), Some(&[1]), false);
        same(&format!("norm/vector.{name}"), norm);
    }
    same("norm/vector.None", x.norm(None, Some(&[1]), false));
    for (name, order) in [
        ("None", None),
        ("1", Some(NormOrder::P(1.0))),
        ("-1", Some(NormOrder::P(-1.0))),
        ("2", Some(NormOrder::P(2.0))),
        ("-2", Some(NormOrder::P(-2.0))),
        ("inf", Some(NormOrder::P(f64::INFINITY))),
        ("-inf", Some(NormOrder::P(f64::NEG_INFINITY))),
        ("fro", Some(NormOrder::Frobenius)),
        ("nuc", Some(NormOrder::Nuclear)),
    ] {
        same(
            &format!("norm/matrix.{name}"),
            x.norm(order, Some(&[2, 0]), true),
        );
    }
    let of = |part: &str| golden(&format!("cross/{part}"));
    let (a, b, c) = (of("a"), of("b"), of("c"));
    same("cross/both", a.cross(&b, -1));
    same("cross/flat", c.cross(&c, -1));
    same("cross/left", c.cross(&a, -1));
    same("cross/right", a.cross(&c, -1));
    all_used(&["norm/", "cross"]);
}

/// Sizes and matrices where iterations have trouble: none, one, zeros, equal values, defective ones, cycles.
#[test]
fn odd_matrices_have_factors_too() {
    let array = |values: &[f64], sizes: &[usize]| {
        Array::from_elements(Elements::from_slice(values, Dtype::F64, sizes).unwrap())
    };
    for (m, n) in [(0, 0), (0, 3), (3, 0), (1, 1)] {
        let x = array(&vec![2.0; m * n], &[m, n]);
        svd_makes("small", &x);
        assert_eq!(
            x.qr().unwrap()[0].read().unwrap().layout().sizes[..],
            [m, m.min(n)]
        );
        x.lu().unwrap()[1].read().unwrap();
        if m == n {
            eigen_make("small", &x);
            general_makes("small", &x);
            makes(
                "small",
                x.inv().unwrap().matmul(&x),
                &Array::eye(m as i64, m as i64, 0, Dtype::F64).unwrap(),
            );
        }
    }
    let zeros = array(&[0.0; 12], &[3, 4]);
    svd_makes("zeros", &zeros);
    svd_makes("zeros", &turned(&zeros));
    let equal = array(&[1.0; 20], &[4, 5]);
    svd_makes("equal", &equal);
    let tiny = equal
        .times(&Array::number(1e-200, Dtype::F64).unwrap())
        .unwrap();
    svd_makes("tiny", &tiny);
    let one = Array::eye(5, 5, 0, Dtype::F64).unwrap();
    eigen_make("one", &one);
    general_makes("one", &one);
    let cycle = array(&[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], &[3, 3]);
    general_makes("cycle", &cycle);
    let jordan = array(&[2.0, 1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 2.0], &[3, 3]);
    general_makes("defective", &jordan);
    let mut graded = vec![0.0; 64 * 64];
    for (at, x) in graded.iter_mut().enumerate() {
        *x = 10f64.powi(-(at as i32 / 64)) * ((at * 7919 % 1013) as f64 / 1013.0 - 0.5);
    }
    let graded = array(&graded, &[64, 64]);
    svd_makes("graded", &graded);
    general_makes("graded", &graded);
    eigen_make("graded", &graded.plus(&turned(&graded)).unwrap());
    // What has no factors says so.
    let singular = array(&[1.0, 2.0, 2.0, 4.0], &[2, 2]);
    for (what, result) in [
        ("singular", singular.inv()),
        (
            "definite",
            singular
                .binary(Binary::Subtract, &singular.plus(&singular).unwrap())
                .unwrap()
                .cholesky(false),
        ),
        (
            "NaN",
            array(&[f64::NAN], &[1, 1])
                .eig(false)
                .map(|parts| parts[0].clone()),
        ),
    ] {
        let message = result.unwrap().read().unwrap_err().to_string();
        assert!(message.contains(what), "{message}");
    }
}
