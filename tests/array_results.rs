//! Results of a graph that comes again on a GPU: small ones of one run share memory. They stay as they are while later
//! runs go on, whichever of them somebody holds.

#[path = "support/gpu.rs"]
mod gpu;

use mlxrocm::array::{Array, Home, eval, plan_counts};
use mlxrocm::cpu::Elements;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::arrays::{Chains, use_chains};
use mlxrocm::ir::{Dtype, Shape};

/// Elements of the results; the last are not small.
const COUNTS: [usize; 6] = [1, 3, 257, 64, 4096, 5000];

fn number(run: usize, at: usize) -> f32 {
    ((7 * run + at) % 50) as f32
}

/// x² + x of so many numbers each, and the fourth once more in another order.
fn results(run: usize, home: &Home) -> Vec<Array> {
    let result = |count: usize| {
        let numbers: Vec<f32> = (0..count).map(|at| number(run, at)).collect();
        let x = Elements::from_slice(&numbers, Dtype::F32, &[count]).unwrap();
        let x = Array::from_elements(x).at(home);
        x.times(&x).unwrap().plus(&x).unwrap()
    };
    let mut all: Vec<Array> = COUNTS.iter().map(|&count| result(count)).collect();
    let turned = all[3].reshape(Shape::new([8, 8])).unwrap();
    all.push(turned.transpose(&[1, 0]).unwrap());
    eval(&all).unwrap();
    all
}

/// What `result` of a run has at a place.
fn expected(run: usize, result: usize, at: usize) -> f32 {
    let at = if result == COUNTS.len() {
        at % 8 * 8 + at / 8
    } else {
        at
    };
    number(run, at) * (number(run, at) + 1.0)
}

/// A GPU, for one test at a time: plans are counted for the whole process.
fn device() -> (gpu::Gpu, Home) {
    use_chains(Chains::Off);
    let gpu = match gpu::is_real() {
        true => gpu::gpu(),
        false => gpu::soft(&format!("devices={}", gpu::todays(&["gfx1151", "gfx90a"]))),
    };
    let home = Home::of(&Device::open(0).unwrap()).unwrap();
    (gpu, home)
}

/// Copying large results out of a program takes longer than it saves of few launches.
#[test]
fn large_results_of_few_launches_have_no_program() {
    let (gpu, home) = device();
    let numbers: Vec<f32> = (0..5000).map(|at| number(1, at)).collect();
    let x = Elements::from_slice(&numbers, Dtype::F32, &[5000]).unwrap();
    let x = Array::from_elements(x).at(&home);
    eval(std::slice::from_ref(&x)).unwrap();
    let doubled = |times: usize| (0..times).fold(x.clone(), |y, _| y.plus(&y).unwrap());
    let squared = || x.times(&x).unwrap();
    let four = || {
        vec![
            squared().plus(&x).unwrap(),
            squared(),
            doubled(2),
            doubled(1),
        ]
    };
    let one = || vec![doubled(4)];
    // Runs by plans of four.
    let planned = |make: &dyn Fn() -> Vec<Array>, factor: f32| {
        let before = plan_counts();
        for _ in 0..4 {
            let made = make();
            eval(&made).unwrap();
            let values: Vec<f32> = made.last().unwrap().read().unwrap().to_vec();
            assert!(
                values
                    .iter()
                    .zip(&numbers)
                    .all(|(value, x)| *value == factor * x)
            );
        }
        plan_counts().run - before.run
    };
    assert_eq!(planned(&four, 2.0), 0);
    assert!(planned(&one, 16.0) > 0);
    drop((x, home));
    drop(gpu);
}

#[test]
fn results_of_earlier_runs_stay() {
    let (gpu, home) = device();
    let before = plan_counts();
    let mut held = Vec::new();
    for run in 0..2 * COUNTS.len() + 2 {
        let all = results(run, &home);
        let result = run % all.len();
        held.push((run, result, all[result].clone()));
        // Every third run's is let go on the way.
        held.retain(|(of, ..)| of % 3 > 0 || *of == run);
    }
    let planned = plan_counts().run - before.run;
    assert!(planned >= 4, "{planned} runs by plans");
    for (run, result, array) in &held {
        let values: Vec<f32> = array.read().unwrap().to_vec();
        let right: Vec<f32> = (0..values.len())
            .map(|at| expected(*run, *result, at))
            .collect();
        assert_eq!(values, right, "result {result} of run {run}");
        // As an input, too.
        let twice: Vec<f32> = array.plus(array).unwrap().read().unwrap().to_vec();
        assert!(
            twice
                .iter()
                .zip(&right)
                .all(|(twice, once)| *twice == 2.0 * once)
        );
    }
    drop((held, home));
    drop(gpu);
}
