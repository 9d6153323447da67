//! Products of f32 matrices on a GPU of numbers rounded to 11 bits (`MLXROCM_TF32`), beside sums in f64: rows and columns of
//! very different sizes, every way that operands lie in. `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;

use mlxrocm::array::{Array, Home};
use mlxrocm::cpu::Elements;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::arrays::use_tf32;
use mlxrocm::ir::Dtype;
use prng::Prng;

/// Numbers row after row, `[batches, rows, columns]`.
#[derive(Clone)]
struct Numbers {
    sizes: [usize; 3],
    all: Vec<f32>,
}

impl Numbers {
    fn new(sizes: [usize; 3], mut of: impl FnMut(usize, usize) -> f32) -> Numbers {
        let [batches, rows, columns] = sizes;
        let places = (0..batches * rows).flat_map(|row| (0..columns).map(move |c| (row % rows, c)));
        let all = places.map(|(row, column)| of(row, column)).collect();
        Numbers { sizes, all }
    }

    fn at(&self, batch: usize, row: usize, column: usize) -> f32 {
        let [batches, rows, columns] = self.sizes;
        self.all[((batch % batches) * rows + row) * columns + column]
    }

    /// As an array that lies so, or with the last two axes in each other's place, or as a part of a larger one.
    fn array(&self, home: &Home, lying: Lying) -> Array {
        let [batches, rows, columns] = self.sizes;
        let array = |sizes: [usize; 3], of: &dyn Fn(usize, usize, usize) -> f32| {
            let mut all = Vec::with_capacity(sizes.iter().product());
            for batch in 0..sizes[0] {
                for row in 0..sizes[1] {
                    all.extend((0..sizes[2]).map(|column| of(batch, row, column)));
                }
            }
            let elements = Elements::from_slice(&all, Dtype::F32, &sizes).unwrap();
            Array::from_elements(elements).at(home)
        };
        match lying {
            Lying::Rows => array(self.sizes, &|b, r, c| self.at(b, r, c)),
            Lying::Turned => array([batches, columns, rows], &|b, r, c| self.at(b, c, r))
                .swapaxes(-1, -2)
                .unwrap(),
            // What is around it is larger than all of it.
            Lying::Part => {
                let inside = |r: usize, c: usize| (8..rows + 8).contains(&r) && c < columns;
                array(
                    [batches, rows + 16, columns + 8],
                    &|b, r, c| match inside(r, c) {
                        true => self.at(b, r - 8, c),
                        false => f32::NAN,
                    },
                )
                .slice(
                    &[0, 8, 0],
                    &[batches as i64, rows as i64 + 8, columns as i64],
                    &[1, 1, 1],
                )
                .unwrap()
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Lying {
    Rows,
    Turned,
    Part,
}
use Lying::{Part, Rows, Turned};

/// The product's numbers, and how far they are from the sums in f64: at most, of the sum of the products' sizes, and by norm.
fn product(
    (left, of_left): (&Numbers, Lying),
    (right, of_right): (&Numbers, Lying),
    plus: Option<(&Numbers, f64, f64)>,
    home: &Home,
) -> (Vec<f32>, f64, f64) {
    let (a, b) = (left.array(home, of_left), right.array(home, of_right));
    let made = match plus {
        Some((c, alpha, beta)) => c.array(home, Rows).addmm(&a, &b, alpha, beta),
        None => a.matmul(&b),
    };
    let found: Vec<f32> = made.unwrap().read().unwrap().to_vec();
    let ([batches, m, k], n) = (left.sizes, right.sizes[2]);
    assert_eq!(found.len(), batches * m * n);
    let (mut most, mut wrong, mut all) = (0.0f64, 0.0, 0.0);
    for (at, &found) in found.iter().enumerate() {
        let (batch, row, column) = (at / n / m, at / n % m, at % n);
        let products = (0..k)
            .map(|i| f64::from(left.at(batch, row, i)) * f64::from(right.at(batch, i, column)));
        let (sum, size) = products.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
        let (sum, size) = match plus {
            Some((c, alpha, beta)) => {
                let beside = beta * f64::from(c.at(batch, row, column));
                (alpha * sum + beside, alpha.abs() * size + beside.abs())
            }
            None => (sum, size),
        };
        if !sum.is_finite() {
            assert!(!found.is_finite(), "{row} {column}: {found} for {sum}");
            assert_eq!(found.is_nan(), sum.is_nan(), "{row} {column}");
            continue;
        }
        let off = (f64::from(found) - sum).abs();
        // NaN and what is infinite would be no error else.
        assert!(off.is_finite(), "{row} {column}: {found} for {sum}");
        if size > 0.0 {
            most = most.max(off / size);
        }
        wrong += (off / size.max(f64::MIN_POSITIVE)).powi(2);
        all += (sum / size.max(f64::MIN_POSITIVE)).powi(2);
    }
    (found, most, (wrong / all).sqrt())
}

fn home() -> (gpu::Gpu, Home) {
    let gpu = match gpu::is_real() {
        true => gpu::gpu(),
        false => gpu::soft(&format!(
            "devices={};vram_mib=1024",
            gpu::todays(&["gfx1151", "gfx942", "gfx1201", "gfx90a"])
        )),
    };
    let home = Home::of(&Device::open(0).unwrap()).unwrap();
    (gpu, home)
}

/// One test: the switch is of the whole process.
#[test]
fn products_are_as_near_as_eleven_bits_are() {
    let (_gpu, home) = home();
    let mut random = Prng::new(u64::from(std::process::id()));
    // Rows of left from 1e-15 to 1e15, columns of right from 1e-15 to 10^`most`.
    let mut sides = |batches: [usize; 2], m: usize, k: usize, n: usize, most: f64| {
        let mut size = |count: usize, most: f64| -> Vec<f32> {
            let exponents = (0..count).map(|_| random.uniform(-15.0, most));
            exponents.map(|e| 10f64.powf(e) as f32).collect()
        };
        let (rows, columns) = (size(m, 15.0), size(n, most));
        let mut normal = || random.normal() as f32;
        let left = Numbers::new([batches[0], m, k], |row, _| rows[row] * normal());
        let right = Numbers::new([batches[1], k, n], |_, column| columns[column] * normal());
        (left, right)
    };
    for (batches, (m, k, n), lying) in [
        ([1, 1], (264, 256, 256), [Rows, Rows]),
        ([1, 1], (72, 1032, 248), [Turned, Turned]),
        ([1, 1], (136, 520, 264), [Part, Part]),
        ([2, 2], (136, 264, 472), [Rows, Rows]),
        ([2, 2], (264, 264, 256), [Rows, Turned]),
    ] {
        let (left, right) = sides(batches, m, k, n, 15.0);
        let c = Numbers::new([batches[0], m, n], |_, column| right.at(0, 0, column));
        let plus = (k % 16 == 8).then_some((&c, 0.5, -2.0));
        let of = |is_on: bool| {
            use_tf32(is_on);
            let operands = ((&left, lying[0]), (&right, lying[1]));
            product(operands.0, operands.1, plus, &home)
        };
        let (_, most, by_norm) = of(true);
        let (_, most_exact, _) = of(false);
        let what = format!("{batches:?} {m} {k} {n} {lying:?}: {most:.1e}, {by_norm:.1e}");
        println!("{what}; exact {most_exact:.1e}");
        assert!(most < 2f64.powi(-10) + 1e-5 && by_norm < 4e-4, "{what}");
        // Else this would show nothing.
        assert!(most > 1e-5 && most_exact < 3e-6, "{what}, {most_exact:.1e}");
    }
    use_tf32(true);
    // Infinities, NaN, rows of zeros, of the least and the largest numbers: each is its row's or column's matter.
    let (mut left, mut right) = sides([1, 1], 264, 256, 256, -2.0);
    let k = 256;
    left.all[3 * k + 5] = f32::INFINITY;
    left.all[9 * k + 7] = f32::NAN;
    right.all[11 * 256 + 20] = f32::NEG_INFINITY;
    left.all[12 * k..13 * k].fill(0.0);
    left.all[13 * k..14 * k].fill(1e-20);
    left.all[14 * k..15 * k].fill(3e38);
    for row in 0..k {
        right.all[row * 256 + 30] = 1e-17;
        right.all[row * 256 + 31] = 0.0;
    }
    let (found, most, _) = product((&left, Rows), (&right, Rows), None, &home);
    assert!(most < 2f64.powi(-10) + 1e-5, "{most:.1e}");
    assert!(
        found[12 * 256..13 * 256]
            .iter()
            .enumerate()
            .all(|(c, &v)| v == 0.0 || c == 20)
    );
    use_tf32(false);
}
