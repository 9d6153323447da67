//! Arrays on streams of an application: work of one stream comes after what it needs of others and beside the rest,
//! memory is not used again too early, and results are the same to the bit. `MLXROCM_TEST_GPU=real` uses this machine's
//! GPU.

#[path = "support/c_calls.rs"]
mod c_calls;
#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // a part is used
#[path = "support/prng.rs"]
mod prng;
#[path = "support/random_graph.rs"]
mod random_graph;

use c_calls::*;
use mlxrocm::array::{Array, Home, plan_counts, use_plans};
use mlxrocm::gpu::arrays::{Chains, use_chains};
use random_graph::{KINDS, bits, graph};
use std::ptr::{null, null_mut};
use std::sync::Arc;

fn to_stream(array: *const mlxrocm_array, stream: *const mlxrocm_stream) -> *mut mlxrocm_array {
    made!(mlxrocm_array_to_stream(array, stream))
}

/// How slow a producer is: a real GPU must still be at it when the consumer could begin.
fn rounds() -> u32 {
    if gpu::is_real() { 20_000_000 } else { 10 }
}

/// What is made on one stream is there for another: in one graph, when it was queued before, and among the
/// application's own launches. The producer is slow, and its memory held something else before.
#[test]
fn a_stream_follows_those_that_make_what_it_needs() {
    for seed in 1..=8 {
        let gpu = machine(seed);
        let device = open(1);
        let (kernels, one, two) = (Kernels::new(device), stream_on(device), stream_on(device));
        const COUNT: u32 = 3000;
        let (a, b) = (buffer_on(device, 12_000), buffer_on(device, 12_000));
        let ones = array_of(&[1.0; COUNT as usize], &[i64::from(COUNT)]);
        let host = made!(mlxrocm_array_to_device(ones, device));
        eval(host);
        for round in 0..5 {
            let begin = round as f32;
            ok!(mlxrocm_stream_fill(one, a, 0, 12_000, 0xff));
            ok!(mlxrocm_stream_wait(one, -1));
            kernels.slow_ramp(one, a, COUNT, begin, rounds());
            let x = from_buffer(a, 0, &[i64::from(COUNT)], MLXROCM_DTYPE_FLOAT32);
            let x = (x, to_stream(x, one));
            let (left, right) = (chain(x.1, host, 3), to_stream(host, two));
            // Queued on the first stream before it is known that the second one needs it, or in one go.
            if round % 2 == 0 {
                queue(left);
            }
            let moved = to_stream(left, two);
            let sum = match round % 3 {
                0 => chain(right, moved, 2),
                // The array that lies elsewhere, without a move; the first of a stream says where it goes.
                1 => chain(right, left, 2),
                _ => chain(left, right, 2),
            };
            let expected: Vec<f32> = (0..COUNT)
                .map(|i| begin + i as f32 + 3.0)
                .map(|left| {
                    if round % 3 == 2 {
                        left + 2.0
                    } else {
                        1.0 + 2.0 * left
                    }
                })
                .collect();
            // The application's own kernel, on the stream of the array or another.
            let (memory, offset) = buffer_of(sum, two);
            kernels.add(two, b, (memory, offset), COUNT, 0.25);
            let added = from_buffer(b, 0, &[i64::from(COUNT)], MLXROCM_DTYPE_FLOAT32);
            let there = to_stream(added, one);
            let last = made!(mlxrocm_array_subtract(there, host));
            let found = read(last);
            let off: Vec<usize> = (0..COUNT as usize)
                .filter(|&i| found[i].to_bits() != (expected[i] - 0.75).to_bits())
                .collect();
            assert!(
                off.is_empty(),
                "seed {seed}, round {round}: {} wrong",
                off.len()
            );
            assert_eq!(read(sum), expected);
            free!(mlxrocm_buffer_free(memory));
            free_all(&[x.0, x.1, left, right, moved, sum, added, there, last]);
        }
        free_all(&[ones, host]);
        for buffer in [a, b] {
            free!(mlxrocm_buffer_free(buffer));
        }
        for stream in [one, two] {
            free!(mlxrocm_stream_free(stream));
        }
        kernels.free();
        free!(mlxrocm_device_free(device));
        gpu.clean();
        gpu.no_leaks();
    }
}

/// A stream waits for what it needs and for nothing else: work beside a launch that does not end until the host has
/// seen the other stream's result.
#[test]
fn streams_do_not_wait_for_each_other() {
    let gpu = machine(1);
    let device = open(1);
    let (kernels, one, two) = (Kernels::new(device), stream_on(device), stream_on(device));
    let a = buffer_on(device, 4096);
    let ones = array_of(&[1.0; 100], &[100]);
    let (x, y) = (to_stream(ones, one), to_stream(ones, two));
    let before = [chain(x, x, 5), chain(y, y, 5)];
    before.iter().for_each(|&array| eval(array));
    // On software GPUs a launch that hangs, on real ones one that takes seconds.
    if !gpu::is_real() {
        gpu.fault("hang@1");
    }
    kernels.slow_ramp(one, a, 1, 0.0, 400_000_000);
    let slow = chain(x, x, 6);
    queue(slow);
    let sum = chain(y, y, 7);
    assert_eq!(read(sum), [8.0; 100]);
    let mut error = null_mut();
    // SAFETY: a live stream.
    let status = unsafe { mlxrocm_stream_query(one, &raw mut error) };
    assert_eq!(status, MLXROCM_PENDING, "the other stream still works");
    if gpu::is_real() {
        assert_eq!(read(slow), [7.0; 100]);
    }
    free_all(&[ones, x, y, before[0], before[1], slow, sum]);
    free!(mlxrocm_buffer_free(a));
    for stream in [one, two] {
        free!(mlxrocm_stream_free(stream));
    }
    kernels.free();
    free!(mlxrocm_device_free(device));
    gpu.clean();
    if !gpu::is_real() {
        gpu.reset();
    }
}

/// Memory of a stream that another one still reads is not given out again: it is freed at once, asked for again at once,
/// and filled with NaN.
#[test]
fn memory_that_another_stream_reads_is_not_used_again() {
    for seed in 1..=8 {
        let gpu = machine(seed);
        let device = open(1);
        let (kernels, one, two) = (Kernels::new(device), stream_on(device), stream_on(device));
        const COUNT: i64 = 70_000;
        let slow = buffer_on(device, 4096);
        let numbers: Vec<f32> = (0..COUNT).map(|i| (i % 97) as f32).collect();
        let host = array_of(&numbers, &[COUNT]);
        let nan = array_of(&[f32::NAN], &[]);
        let (nan, poison) = ((nan, to_stream(nan, one)), to_stream(host, one));
        eval(poison);
        eval(nan.1);
        for round in 0..6 {
            let left = chain(poison, poison, 1);
            queue(left);
            // The reader comes late.
            kernels.slow_ramp(two, slow, 1, 0.0, rounds());
            let moved = to_stream(left, two);
            let sum = chain(moved, moved, 1 + round % 2);
            queue(sum);
            free_all(&[left, moved]);
            // The same sizes again, as often as there is room.
            let other: Vec<_> = (0..3).map(|_| chain(poison, nan.1, 2)).collect();
            other.iter().for_each(|&array| queue(array));
            let found = read(sum);
            let factor = 4.0 + 2.0 * (round % 2) as f32;
            let off = (0..COUNT as usize).filter(|&i| found[i] != numbers[i] * factor);
            assert_eq!(
                off.count(),
                0,
                "seed {seed}, round {round}: {:?}",
                &found[..5]
            );
            free_all(&[sum]);
            free_all(&other);
        }
        free_all(&[host, nan.0, nan.1, poison]);
        free!(mlxrocm_buffer_free(slow));
        for stream in [one, two] {
            free!(mlxrocm_stream_free(stream));
        }
        kernels.free();
        free!(mlxrocm_device_free(device));
        gpu.clean();
        gpu.no_leaks();
    }
}

/// Eight threads, each with a stream of its own: the bits of the place that all others use.
#[test]
fn eight_threads_with_a_stream_each() {
    let gpu = machine(3);
    let device = gpu.device();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.unwrap().as_nanos() as u64;
    println!("seed {seed}");
    let usual = Home::of(&device).unwrap();
    let shapes = if gpu::is_real() { 20 } else { 2 };
    let run = |shape: u64, home: &Home| {
        let mut seen = [0; KINDS];
        // As often as it takes to make a plan and to run it.
        let all = (0..4).map(|data| bits(&graph(shape, data, home, &mut seen).unwrap()).unwrap());
        all.collect::<Vec<_>>()
    };
    let before = plan_counts();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (device, usual, run) = (&device, &usual, &run);
            scope.spawn(move || {
                for shape in 0..shapes {
                    let shape = seed + thread % 4 * 1000 + shape;
                    let home = Home::on(&Arc::new(device.stream().unwrap()));
                    assert!(&home != usual);
                    assert_eq!(run(shape, &home), run(shape, usual), "graph {shape}");
                }
            });
        }
    });
    assert!(plan_counts().run > before.run, "no plan was run");
    drop((usual, device));
    gpu.clean();
    gpu.no_leaks();
}

/// A plan is of one stream: the same graph of the same leaves elsewhere has another, and its leaves may come from
/// anywhere.
#[test]
fn plans_of_several_streams() {
    for seed in 1..=4 {
        let gpu = machine(seed);
        // With kernels of chains, too.
        use_chains(if seed > 2 { Chains::Wait } else { Chains::Off });
        use_plans(true);
        let device = gpu.device();
        let streams = [0, 1].map(|_| Arc::new(device.stream().unwrap()));
        let homes = [
            Home::of(&device).unwrap(),
            Home::on(&streams[0]),
            Home::on(&streams[1]),
        ];
        let numbers = |begin: f32| {
            let numbers: Vec<f32> = (0..500).map(|i| begin + i as f32).collect();
            let elements =
                mlxrocm::cpu::Elements::from_slice(&numbers, mlxrocm::ir::Dtype::F32, &[500]);
            Array::from_elements(elements.unwrap())
        };
        let before = plan_counts();
        let weights: Vec<Array> = homes.iter().map(|home| numbers(0.5).at(home)).collect();
        mlxrocm::array::eval(&weights).unwrap();
        for round in 0..24 {
            let home = &homes[round % 3];
            // The leaves are of this stream, of the next one, and of one that just queued them.
            let fresh = numbers(round as f32).at(&homes[(round / 3) % 3]);
            let fresh = fresh.plus(&weights[(round / 3) % 3]).unwrap();
            mlxrocm::array::queue(std::slice::from_ref(&fresh)).unwrap();
            let (weight, x) = (weights[(round / 6) % 3].at(home), fresh.at(home));
            let mut y = x.clone();
            for _ in 0..6 {
                y = y.plus(&weight).unwrap().plus(&x).unwrap();
            }
            assert!(y.home() == home);
            let expected: Vec<f32> = (0..500)
                .map(|i| i as f32)
                .map(|i| 7.0 * (round as f32 + i + i + 0.5) + 6.0 * (i + 0.5))
                .collect();
            assert_eq!(
                y.read().unwrap().to_vec::<f32>(),
                expected,
                "seed {seed}, round {round}"
            );
        }
        let after = plan_counts();
        assert!(
            after.made >= before.made + 3 && after.run > before.run + 6,
            "{before:?}, {after:?}"
        );
        drop((weights, homes, streams, device));
        gpu.clean();
        gpu.no_leaks();
    }
}

/// A stream, its device and its buffers may be freed before the arrays that were given to it, which go on.
#[test]
fn arrays_keep_what_they_need_of_a_stream() {
    let gpu = machine(2);
    let device = open(1);
    let before = active(device);
    let (kernels, stream) = (Kernels::new(device), stream_on(device));
    let a = buffer_on(device, 4000);
    kernels.slow_ramp(stream, a, 1000, 1.0, rounds());
    let x = from_buffer(a, 0, &[1000], MLXROCM_DTYPE_FLOAT32);
    let there = to_stream(x, stream);
    let (lazy, queued) = (chain(there, there, 2), chain(there, there, 5));
    queue(queued);
    free!(mlxrocm_stream_free(stream));
    free!(mlxrocm_buffer_free(a));
    let other = open(1);
    free!(mlxrocm_device_free(device));
    free_all(&[x]);
    let later = chain(queued, lazy, 4);
    let (_, offset) = (free_all(&[queued]), 1000);
    let expected = |factor: f32| {
        (1..=offset)
            .map(|i| i as f32 * factor)
            .collect::<Vec<f32>>()
    };
    assert_eq!(read(lazy), expected(3.0));
    assert_eq!(read(later), expected(18.0));
    // Back to the GPU's own place.
    let back = made!(mlxrocm_array_to_device(later, other));
    let sum = chain(back, back, 1);
    assert_eq!(read(sum), expected(36.0));
    free_all(&[there, lazy, later, back, sum]);
    assert_eq!(active(other), before);
    kernels.free();
    free!(mlxrocm_device_free(other));
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn wrong_streams() {
    let gpu = machine(1);
    let device = open(1);
    let stream = stream_on(device);
    let ones = array_of(&[1.0; 10], &[10]);
    let (is_null, not_valid) = (MLXROCM_ERROR_NULL_ARGUMENT, MLXROCM_ERROR_INVALID_ARGUMENT);
    let mut result = null_mut();
    fails!(
        is_null,
        mlxrocm_array_to_stream(null(), stream, &raw mut result)
    );
    fails!(
        is_null,
        mlxrocm_array_to_stream(ones, null(), &raw mut result)
    );
    fails!(is_null, mlxrocm_array_to_stream(ones, stream, null_mut()));
    fails!(
        not_valid,
        mlxrocm_array_to_stream(ones, ones.cast(), &raw mut result)
    );
    fails!(
        not_valid,
        mlxrocm_array_to_stream(stream.cast(), stream, &raw mut result)
    );
    let freed = stream_on(device);
    free!(mlxrocm_stream_free(freed));
    fails!(
        not_valid,
        mlxrocm_array_to_stream(ones, freed, &raw mut result)
    );
    assert!(result.is_null());
    // Streams of different devices do not meet, unless arrays are moved.
    if !gpu::is_real() {
        let elsewhere = open(2);
        let far = stream_on(elsewhere);
        let (x, y) = (to_stream(ones, stream), to_stream(ones, far));
        let sum = made!(mlxrocm_array_add(x, y));
        let said = fails!(
            not_valid,
            mlxrocm_array_eval(&raw const sum as *const *const mlxrocm_array, 1)
        );
        assert!(said.contains("different GPUs"), "{said}");
        let moved = to_stream(y, stream);
        let right = made!(mlxrocm_array_add(x, moved));
        assert_eq!(read(right), [2.0; 10]);
        free_all(&[x, y, sum, moved, right]);
        free!(mlxrocm_stream_free(far));
        free!(mlxrocm_device_free(elsewhere));
    }
    free_all(&[ones]);
    free!(mlxrocm_stream_free(stream));
    free!(mlxrocm_device_free(device));
    gpu.clean();
    gpu.no_leaks();
}
