//! Graphs of arrays that come again are run by plans: with the same results, bit for bit, as operation by operation,
//! on the CPU and on a GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;

use mlxrocm::array::{Array, Home, eval, plan_counts, use_plans};
use mlxrocm::cpu::Elements;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::arrays::{Chains, use_chains};
use mlxrocm::ir::{Binary, Dtype, Reduce, Shape, Unary};
use prng::Prng;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts and the switch are of the whole process.
static ONE: Mutex<()> = Mutex::new(());

/// A test's turn. Without chains: a plan is made anew when its chains' kernels are there, which another thread compiles.
fn turn() -> MutexGuard<'static, ()> {
    let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    use_chains(Chains::Off);
    turn
}

const WIDTH: usize = 6;

fn leaf(random: &mut Prng, sizes: &[usize], home: &Home) -> Array {
    let count = sizes.iter().product();
    let numbers: Vec<f32> = (0..count)
        .map(|_| random.uniform(-2.0, 2.0) as f32)
        .collect();
    Array::from_elements(Elements::from_slice(&numbers, Dtype::F32, sizes).unwrap()).at(home)
}

/// A random graph of arrays of `[WIDTH, WIDTH]`; `shape` decides its operations, `data` its numbers.
fn graph(shape: u64, data: u64, home: &Home) -> Vec<Array> {
    let (mut shape, mut data) = (Prng::new(shape), Prng::new(data));
    let square = [WIDTH, WIDTH];
    let mut all: Vec<Array> = (0..3).map(|_| leaf(&mut data, &square, home)).collect();
    eval(&all).unwrap();
    for _ in 0..6 + shape.below(20) {
        let mut pick = || all[shape.below(all.len() as u64) as usize].clone();
        let (x, y) = (pick(), pick());
        let kind = shape.below(14);
        let made = match kind {
            0 => x.unary(Unary::Tanh),
            1 => x.unary(Unary::Abs).and_then(|x| x.unary(Unary::Sqrt)),
            2 => x.binary(Binary::Add, &y),
            3 => x.binary(Binary::Multiply, &y),
            4 => x.binary(Binary::Maximum, &y),
            5 => x.transpose(&[1, 0]),
            6 => x.matmul(&y),
            7 => x.softmax(Some(&[1]), false),
            8 => {
                let sum = x.reduce(Reduce::Sum, Some(&[0]), true);
                sum.and_then(|sum| y.binary(Binary::Subtract, &sum))
            }
            9 => {
                let flat = x.reshape(Shape::new([WIDTH * WIDTH])).unwrap();
                let back = flat.flip(None).unwrap();
                back.reshape(Shape::new(square))
            }
            10 => {
                let half = Array::concatenate(&[x.clone(), y.clone()], 0).unwrap();
                half.slice(&[1, 0], &[2 * WIDTH as i64, WIDTH as i64], &[2, 1])
            }
            11 => x.binary(Binary::Less, &y).and_then(|c| c.select(&y, &x)),
            12 => Ok(x.astype(Dtype::F16).astype(Dtype::F32)),
            // A number of the host in every graph anew.
            _ => {
                let number = Array::number(data.uniform(-1.0, 1.0), Dtype::F32).unwrap();
                x.binary(Binary::Multiply, &number)
            }
        };
        all.push(made.unwrap());
    }
    let last = all.split_off(all.len() - 3);
    drop(all);
    last
}

fn bits(arrays: &[Array]) -> Vec<Vec<u32>> {
    eval(arrays).unwrap();
    let read = |array: &Array| array.read().unwrap().to_vec::<f32>();
    let read = arrays.iter().map(read);
    read.map(|numbers| numbers.into_iter().map(f32::to_bits).collect())
        .collect()
}

/// Random graphs, each five times with other numbers: one run in so many as `share` says is a plan's.
fn compare(home: &Home, graphs: u64, share: f64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let before = plan_counts();
    for shape in seed..seed + graphs {
        for data in 0..5 {
            use_plans(false);
            let expected = bits(&graph(shape, data, home));
            use_plans(true);
            let found = bits(&graph(shape, data, home));
            assert_eq!(found, expected, "graph {shape}, numbers {data}");
        }
    }
    let after = plan_counts();
    let (made, run) = (after.made - before.made, after.run - before.run);
    println!("{made} plans of {graphs} graphs, {run} runs");
    // The first time a graph is only noted; few have a single operation or none.
    let enough = run as f64 >= share * 5.0 * graphs as f64;
    assert!(enough, "{made} plans, {run} runs");
}

#[test]
fn random_graphs_by_plans_on_the_cpu() {
    let _one = turn();
    compare(&Home::Cpu, 400, 0.7);
}

#[test]
fn random_graphs_by_plans_on_a_gpu() {
    let _one = turn();
    let gpu = match gpu::is_real() {
        true => gpu::gpu(),
        false => {
            let target = gpu::todays(&["gfx1151", "gfx1201", "gfx942"]);
            println!("{target}");
            gpu::soft(&format!("devices={target};vram_mib=512"))
        }
    };
    let home = Home::of(&Device::open(0).unwrap()).unwrap();
    // Memory that is used again by chance looks as if a leaf stayed: then there is another plan.
    compare(&home, if gpu::is_real() { 200 } else { 6 }, 0.4);
    drop(home);
    drop(gpu);
}

/// The sum of so many arrays of the host on a GPU: one after the other needs the memory of a few, a plan has room for
/// all.
fn sum_of(terms: usize, home: &Home) -> mlxrocm::Result<Vec<f32>> {
    let numbers = |term: usize| vec![term as f32 + 0.5; TERM / 4];
    let leaf = |term| Elements::from_slice(&numbers(term), Dtype::F32, &[TERM / 4]);
    let mut sum = Array::from_elements(leaf(0)?).at(home);
    for term in 1..terms {
        sum = sum.plus(&Array::from_elements(leaf(term)?))?;
    }
    Ok(sum.read()?.to_vec())
}

/// Bytes of a term.
const TERM: usize = 256 << 10;

#[test]
fn without_memory_for_a_plan_there_is_none() {
    if gpu::is_real() {
        return;
    }
    let _one = turn();
    use_plans(true);
    let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=512");
    let device = Device::open(0).unwrap();
    let home = Home::of(&device).unwrap();
    let limit = device.memory().unwrap().limit;
    let room = |terms: usize| {
        let active = device.memory().unwrap().active;
        device.set_memory_limit(active + (terms * TERM) as u64)
    };
    let before = plan_counts();
    let counts = || {
        let now = plan_counts();
        (now.made - before.made, now.run - before.run)
    };
    let expected = |terms: usize| vec![(terms * terms) as f32 / 2.0; TERM / 4];
    // The memory runs out while the plan is made, not while the operations are run.
    for terms in [None, Some(6), Some(6)] {
        terms.map_or(Ok(()), room).unwrap();
        assert_eq!(sum_of(8, &home).unwrap(), expected(8));
    }
    assert_eq!(counts(), (0, 0));
    // What a plan lacks the plans before it give.
    device.set_memory_limit(limit).unwrap();
    for terms in [9, 9, 9, 7] {
        assert_eq!(sum_of(terms, &home).unwrap(), expected(terms));
    }
    assert_eq!(counts(), (1, 2));
    room(2).unwrap();
    for _ in 0..2 {
        assert_eq!(sum_of(7, &home).unwrap(), expected(7));
    }
    assert_eq!(counts(), (2, 4));
    drop((device, home));
    gpu.clean();
}

#[test]
fn a_loop_of_steps_is_one_plan() {
    let _one = turn();
    let number = |value: f64| Array::number(value, Dtype::F32).unwrap();
    let run = |planned: bool| {
        use_plans(planned);
        let before = plan_counts();
        let (mut x, rate) = (number(1.0), number(0.9));
        for _ in 0..50 {
            for _ in 0..20 {
                x = x.times(&rate).unwrap().plus(&rate).unwrap();
            }
            eval(std::slice::from_ref(&x)).unwrap();
        }
        let after = plan_counts();
        let value: Vec<f32> = x.read().unwrap().to_vec();
        (value, after.made - before.made, after.run - before.run)
    };
    let (expected, made, runs) = run(false);
    assert_eq!((made, runs), (0, 0));
    let (value, made, runs) = run(true);
    assert_eq!((value, made, runs), (expected, 1, 49));
}

#[test]
fn an_error_of_an_operation_is_told_every_time() {
    let _one = turn();
    use_plans(true);
    let x = Elements::from_slice(&[1.0f32; 8], Dtype::F32, &[8]).unwrap();
    let take = |index: u32| {
        let index = Elements::from_slice(&[index], Dtype::U32, &[1]).unwrap();
        let mut x = Array::from_elements(x.clone());
        for _ in 0..5 {
            x = x.plus(&x).unwrap();
        }
        x.take(&Array::from_elements(index), 0).unwrap().read()
    };
    for index in [1, 1, 9, 1, 9, 1] {
        match take(index) {
            Ok(found) => assert_eq!((index, found.to_vec::<f32>()), (1, vec![32.0])),
            Err(error) => {
                assert!(
                    index == 9 && error.to_string().contains("outside axis 0"),
                    "{error}"
                );
            }
        }
    }
}
