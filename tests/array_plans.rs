//! Graphs of arrays that come again are run by plans: with the same results, bit for bit, as operation by operation,
//! on the CPU and on a GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;
#[path = "support/random_graph.rs"]
mod random_graph;

use mlxrocm::Error;
use mlxrocm::array::{Array, Home, eval, plan_counts, use_plans};
use mlxrocm::cpu::Elements;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::arrays::{Chains, use_chains};
use mlxrocm::ir::{Binary, Dtype, Scan, Unary};
use random_graph::{KINDS, bits, graph};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts and the switch are of the whole process.
static ONE: Mutex<()> = Mutex::new(());

/// A test's turn. Without chains: a plan is made anew when its chains' kernels are there, which another thread compiles.
fn turn() -> MutexGuard<'static, ()> {
    let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    use_chains(Chains::Off);
    turn
}

/// Random graphs, each so many times with other numbers: one run in so many as `share` says is a plan's.
fn compare(home: &Home, graphs: u64, times: u64, share: f64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let before = plan_counts();
    let (mut seen, mut ignored) = ([0; KINDS], [0; KINDS]);
    for shape in seed..seed + graphs {
        for data in 0..times {
            use_plans(false);
            let expected = graph(shape, data, home, &mut seen).and_then(|arrays| bits(&arrays));
            use_plans(true);
            let found = graph(shape, data, home, &mut ignored).and_then(|arrays| bits(&arrays));
            assert_eq!(
                found.unwrap(),
                expected.unwrap(),
                "graph {shape}, numbers {data}"
            );
        }
    }
    let after = plan_counts();
    let (made, run) = (after.made - before.made, after.run - before.run);
    println!("{made} plans of {graphs} graphs, {run} runs; operations by kind: {seen:?}");
    // The first time a graph is only noted; few have a single operation or none.
    let enough = run as f64 >= share * (times * graphs) as f64;
    assert!(enough, "{made} plans, {run} runs");
}

#[test]
fn random_graphs_by_plans_on_the_cpu() {
    let _one = turn();
    match gpu::is_all() {
        true => compare(&Home::Cpu, 100_000, 3, 0.5),
        false => compare(&Home::Cpu, 400, 5, 0.7),
    }
}

/// A result that one operation reads in two ways at once: as it lies, and turned or backwards.
#[test]
fn a_result_that_is_read_in_two_ways() {
    let _one = turn();
    let numbers: Vec<f32> = (0..9).map(|n| n as f32 / 4.0 - 1.0).collect();
    let run = |function: Unary, planned: bool| {
        use_plans(planned);
        let x = Elements::from_slice(&numbers, Dtype::F32, &[3, 3]).unwrap();
        let made = Array::from_elements(x).unary(function).unwrap();
        let turned = made.transpose(&[1, 0]).unwrap();
        let sum = made.binary(Binary::Add, &turned).unwrap();
        let twice = sum.binary(Binary::Multiply, &sum).unwrap();
        // What has a handle would be a result of its own.
        drop((made, turned, sum));
        twice.read().unwrap().to_vec::<f32>()
    };
    for (function, of) in [
        (Unary::Abs, f32::abs as fn(f32) -> f32),
        (Unary::Negative, |x| -x),
        (Unary::Square, |x| x * x),
        (Unary::Floor, f32::floor),
    ] {
        let sum = |n: usize| of(numbers[n]) + of(numbers[n % 3 * 3 + n / 3]);
        let expected: Vec<f32> = (0..9).map(|n| sum(n) * sum(n)).collect();
        for planned in [false, true, true, true] {
            let found = run(function, planned);
            assert_eq!(found, expected, "{function:?}, planned: {planned}");
        }
    }
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
    // Of few graphs many may have nothing to plan.
    match gpu::is_real() {
        true => compare(&home, 200, 5, 0.4),
        false => compare(&home, 12, 5, 0.15),
    }
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

/// Each allocation of a graph in turn is refused, as long as there are any: the error says so, and the same graph, the
/// arrays that were there and new ones give the same numbers after it.
#[test]
fn memory_runs_out_at_every_allocation_of_a_graph() {
    if gpu::is_real() {
        return;
    }
    let _one = turn();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let gpu = gpu::soft("devices=gfx1151;vram_mib=512");
    let device = Device::open(0).unwrap();
    let home = Home::of(&device).unwrap();
    let mut seen = [0; KINDS];
    let (mut refused, mut most) = (0, 0);
    for shape in seed..seed + 3 {
        use_plans(false);
        let expected = bits(&graph(shape, 0, &home, &mut seen).unwrap()).unwrap();
        // Operation by operation, then with plans: the second time one is made, the third time it runs.
        for planned in [false, true] {
            use_plans(planned);
            for place in 1.. {
                // Memory that was freed is not had again without the driver.
                device.trim().unwrap();
                let calls = gpu.calls("hipMalloc") + gpu.calls("hipMallocAsync");
                gpu.fault(&format!("alloc@{place}+"));
                let got = graph(shape, 0, &home, &mut seen).and_then(|arrays| bits(&arrays));
                gpu.fault("none");
                let asked = gpu.calls("hipMalloc") + gpu.calls("hipMallocAsync") - calls;
                most = most.max(place);
                match got {
                    Ok(found) => assert_eq!(found, expected, "graph {shape}, allocation {place}"),
                    Err(Error::OutOfMemory(_)) => refused += 1,
                    Err(error) => panic!("graph {shape}, allocation {place}: {error}"),
                }
                let again = graph(shape, 0, &home, &mut seen).and_then(|arrays| bits(&arrays));
                assert_eq!(
                    again.unwrap(),
                    expected,
                    "graph {shape} after allocation {place}"
                );
                // Fewer were asked for than it takes.
                if asked < place || place == 200 {
                    break;
                }
            }
        }
    }
    println!("{refused} times refused, at up to {most} allocations");
    assert!(refused >= 12, "{refused} of {most}");
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

/// Graphs of as many operations that differ in one thing: each is compared with the plan of the one that ran last.
#[test]
fn graphs_that_differ_in_one_thing_are_told_apart() {
    let _one = turn();
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Other {
        Nothing,
        Operation,
        Parameter,
        Order,
        Input,
        LeafLayout,
        LeafShape,
        LeafTwice,
        Held,
        Wanted,
    }
    use Other::*;
    let leaf = |from: f32, sizes: &[usize]| {
        let count = sizes.iter().product::<usize>();
        let numbers: Vec<f32> = (0..count).map(|n| from + n as f32 * 0.375).collect();
        Array::from_elements(Elements::from_slice(&numbers, Dtype::F32, sizes).unwrap())
    };
    let run = |other: Other, planned: bool| {
        use_plans(planned);
        let sizes: &[usize] = if other == LeafShape { &[2, 8] } else { &[4, 4] };
        let (mut a, b, c) = (leaf(1.0, sizes), leaf(-2.0, sizes), leaf(0.5, sizes));
        if other == LeafLayout {
            a = a.transpose(&[1, 0]).unwrap();
            eval(std::slice::from_ref(&a)).unwrap();
        }
        let b = if other == LeafTwice { a.clone() } else { b };
        let (left, right) = if other == Order { (&b, &a) } else { (&a, &b) };
        let first = left.binary(Binary::Subtract, right).unwrap();
        let operation = match other {
            Operation => Binary::Divide,
            _ => Binary::Multiply,
        };
        let second = first.binary(operation, &c).unwrap();
        let third = second.unary(Unary::Square).unwrap();
        let axis = if other == Parameter { 0 } else { 1 };
        let last = third.scan(Scan::Sum, Some(axis), false, true).unwrap();
        let read = if other == Input { &first } else { &second };
        let last = last.binary(Binary::Add, read).unwrap();
        let held = (other == Held).then(|| third.clone());
        let wanted = match other {
            Wanted => vec![last, second.clone()],
            _ => vec![last],
        };
        // What has a handle would be a result of its own.
        drop((first, second, third));
        let found = bits(&wanted).unwrap();
        (found, held.map(|held| bits(&[held]).unwrap()))
    };
    for other in [
        Operation, Parameter, Order, Input, LeafLayout, LeafShape, LeafTwice, Held, Wanted,
    ] {
        let (base, expected) = (run(Nothing, false), run(other, false));
        assert_ne!(base, expected, "{other:?}");
        for planned in [
            Nothing, Nothing, Nothing, other, Nothing, other, other, Nothing,
        ] {
            let right = if planned == Nothing { &base } else { &expected };
            assert_eq!(run(planned, true), *right, "{planned:?} of {other:?}");
        }
    }
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
