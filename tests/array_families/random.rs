//! Random numbers: the same as MLX's from the same key.

use crate::goldens::{TYPES, all_used, exact, golden, same};
use mlxrocm::array::Array;
use mlxrocm::array::ops::random::{self, Draws};
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Dtype, Shape};

fn singles(values: &[f32], sizes: &[usize]) -> Array {
    Array::from_elements(Elements::from_slice(values, Dtype::F32, sizes).unwrap())
}

fn uniform(sizes: &[usize], key: Option<&Array>) -> mlxrocm::Result<Array> {
    let (low, high) = (singles(&[0.0], &[]), singles(&[1.0], &[]));
    random::uniform(
        &low,
        &high,
        Shape::new(sizes.iter().copied()),
        Dtype::F32,
        key,
    )
}

#[test]
fn bits_and_even_numbers_are_those_of_mlx() {
    let key = random::key(7).unwrap();
    for n in [1, 2, 3, 5, 8] {
        exact(&format!("split.{n}/out"), random::split(&key, n));
    }
    for n in [0, 1, 2, 3, 5, 8] {
        exact(&format!("uniform.{n}/out"), uniform(&[n], Some(&key)));
    }
    let keys = golden("key/out").read().unwrap().to_vec::<u32>();
    for (seed, expected) in [0, 1, (1 << 40) + 5].into_iter().zip(keys.chunks_exact(2)) {
        let key = random::key(seed).unwrap().read().unwrap();
        assert_eq!(key.to_vec::<u32>(), expected);
    }
    random::seed(42);
    exact("sequence/first", uniform(&[3], None));
    exact("sequence/second", uniform(&[2, 2], None));
    let (low, high) = (singles(&[-3.0, 0.5], &[2]), singles(&[1.0, 9.0], &[2]));
    for (name, dtype) in TYPES {
        let shape = Shape::new([4, 2]);
        let numbers = random::uniform(&low, &high, shape, dtype, Some(&key));
        exact(&format!("random.{name}/uniform"), numbers);
    }
    // Narrow bits are the bytes of the words.
    let words = random::bits(Shape::new([2]), 4, Some(&key)).unwrap();
    let bytes = random::bits(Shape::new([5]), 1, Some(&key)).unwrap();
    let words: Vec<u8> = words
        .read()
        .unwrap()
        .to_vec::<u32>()
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    assert_eq!(bytes.read().unwrap().to_vec::<u8>(), words[..5]);
    all_used(&["split", "uniform", "key", "sequence"]);
}

#[test]
fn distributions_are_those_of_mlx() {
    let key = random::key(7).unwrap();
    let key = Some(&key);
    let nine = || Shape::new([9]);
    for (name, dtype) in TYPES {
        let of = |part| format!("random.{name}/{part}");
        let (two, quarter) = (singles(&[2.0], &[]), singles(&[0.25], &[]));
        same(
            &of("normal"),
            random::normal(nine(), dtype, None, None, key),
        );
        same(
            &of("moved"),
            random::normal(nine(), dtype, Some(&two), Some(&quarter), key),
        );
        same(
            &of("laplace"),
            random::laplace(nine(), dtype, 1.0, 3.0, key),
        );
        same(&of("gumbel"), random::gumbel(nine(), dtype, key));
        let (low, high) = (singles(&[-1.0], &[]), singles(&[0.5], &[]));
        let truncated = random::truncated_normal(&low, &high, Some(nine()), dtype, key);
        same(&of("truncated"), truncated);
    }
    same(
        "random/complex",
        random::normal(Shape::new([4]), Dtype::C64, None, None, key),
    );
    let p = singles(&[0.2, 0.5, 1.0, 0.0], &[4]);
    exact(
        "random/bernoulli",
        random::bernoulli(&p, Some(Shape::new([5, 4])), key),
    );
    let integer =
        |x: i32| Array::from_elements(Elements::from_slice(&[x], Dtype::I32, &[]).unwrap());
    let twenty = || Shape::new([20]);
    let numbers = random::randint(&integer(-5), &integer(1000), twenty(), Dtype::I32, key);
    exact("random/randint", numbers);
    let small = random::randint(&integer(0), &integer(3), twenty(), Dtype::U8, key);
    exact("random/small", small);
    exact("random/permutation", random::permutation_of(17, key));
    let rows = Array::arange(0.0, 12.0, 1.0, Dtype::I32).unwrap();
    let rows = rows.reshape(Shape::new([4, 3])).unwrap();
    exact("random/rows", random::permutation(&rows, 1, key));
    let logits = golden("categorical/logits");
    exact(
        "categorical/rows",
        random::categorical(&logits, -1, Draws::One, key),
    );
    exact(
        "categorical/columns",
        random::categorical(&logits, 0, Draws::One, key),
    );
    exact(
        "categorical/many",
        random::categorical(&logits, -1, Draws::Count(4), key),
    );
    let shaped = Draws::Of(Shape::new([5, 3]));
    exact(
        "categorical/shaped",
        random::categorical(&logits, -1, shaped, key),
    );
    let zero = integer(0).reshape(Shape::new([1])).unwrap();
    let first = logits.take(&zero, 0).unwrap().squeeze(&[0]).unwrap();
    exact(
        "categorical/one",
        random::categorical(&first, -1, Draws::Count(30), key),
    );
    exact(
        "categorical/scalar",
        random::categorical(&first, -1, Draws::One, key),
    );
    let (mean, cov) = (golden("multivariate/mean"), golden("multivariate/cov"));
    let shape = Shape::new([200]);
    same(
        "multivariate/out",
        random::multivariate_normal(&mean, &cov, shape, Dtype::F32, key),
    );
    all_used(&["random", "categorical", "multivariate"]);
}
