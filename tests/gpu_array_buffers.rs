//! Arrays in an application's own device memory, and an application's kernels on what arrays computed: called as C
//! does. `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/c_calls.rs"]
mod c_calls;
#[path = "support/gpu.rs"]
mod gpu;

use c_calls::*;
use std::ptr::{null, null_mut};

/// A kernel writes a part of a buffer, arrays compute with it, a kernel reads that: no host waits in between.
#[test]
fn kernels_and_arrays_take_turns() {
    for seed in 1..=6 {
        let gpu = machine(seed);
        let device = open(1);
        let (kernels, stream, other) = (Kernels::new(device), stream_on(device), stream_on(device));
        let (a, b) = (buffer_on(device, 4096), buffer_on(device, 4096));
        for round in 0..4 {
            // Not seen by the array: the last thing that the buffer held.
            ok!(mlxrocm_stream_fill(stream, a, 0, 4096, 0xff));
            let begin = f64::from(round) - 20.0;
            kernels.ramp(stream, a, 512, begin as f32);
            let x = from_buffer(a, 64, &[5, 7], MLXROCM_DTYPE_FLOAT32);
            let expected = |i: usize| (i + 16) as f32 + begin as f32;
            let sums = made!(mlxrocm_array_sum(x, [1_i64].as_ptr(), 1, 0));
            let rows: Vec<f32> = (0..5)
                .map(|i| (0..7).map(|j| expected(7 * i + j)).sum())
                .collect();
            assert_eq!(read(sums), rows, "seed {seed}");
            // The way back, on another stream than the one that made it.
            let twice = made!(mlxrocm_array_add(x, x));
            let (memory, offset) = buffer_of(twice, other);
            kernels.add(other, b, (memory, offset), 35, 0.5);
            let expected: Vec<f32> = (0..35).map(|i| 2.0 * expected(i) + 0.5).collect();
            assert_eq!(numbers_in(other, b, 0, 35), expected, "seed {seed}");
            // And without a stream: then it is there.
            let (again, at) = buffer_of(twice, null());
            let expected: Vec<f32> = expected.iter().map(|x| x - 0.5).collect();
            assert_eq!(numbers_now(again, at, 35), expected);
            assert_eq!((address(again), at), (address(memory), offset));
            // Its own memory, not a copy: an array of it, and of that a view.
            let third = from_buffer(again, at, &[7, 5], MLXROCM_DTYPE_FLOAT32);
            let flipped = made!(mlxrocm_array_transpose(third, [1_i64, 0].as_ptr(), 2));
            let (copied, begin) = buffer_of(flipped, other);
            assert_ne!(address(copied), address(again));
            let turned: Vec<f32> = (0..35).map(|i| expected[i % 7 * 5 + i / 7]).collect();
            assert_eq!(numbers_in(other, copied, begin, 35), turned);
            let last = made!(mlxrocm_array_slice(
                third,
                [2_i64, 0].as_ptr(),
                2,
                [7_i64, 5].as_ptr(),
                2,
                [1_i64, 1].as_ptr(),
                2
            ));
            let (same, begin) = buffer_of(last, other);
            assert_eq!((address(same), begin), (address(again), at + 40));
            for array in [x, sums, twice, third, flipped, last] {
                free!(mlxrocm_array_free(array));
            }
            for buffer in [memory, again, copied, same] {
                free!(mlxrocm_buffer_free(buffer));
            }
        }
        for buffer in [a, b] {
            free!(mlxrocm_buffer_free(buffer));
        }
        for stream in [stream, other] {
            free!(mlxrocm_stream_free(stream));
        }
        kernels.free();
        free!(mlxrocm_device_free(device));
        gpu.clean();
        gpu.no_leaks();
    }
}

/// Work of all kinds is waited for: runs of programs, copies, kernels that reach a buffer by an address in memory.
#[test]
fn all_work_that_was_queued_with_a_buffer_comes_before() {
    for seed in 1..=4 {
        let gpu = machine(seed);
        let device = open(1);
        let (kernels, stream) = (Kernels::new(device), stream_on(device));
        let (a, pointers) = (buffer_on(device, 1200), buffer_on(device, 8));
        let mut program = null_mut();
        ok!(mlxrocm_program_new(device, &raw mut program));
        kernels.record_ramp(program, a, 300, 7.0);
        ok!(mlxrocm_program_end(program));
        let at = address(a).to_ne_bytes();
        ok!(mlxrocm_buffer_write(pointers, 0, at.as_ptr().cast(), 8));
        let sum = |expected: f32| {
            let x = from_buffer(a, 0, &[300], MLXROCM_DTYPE_FLOAT32);
            let sum = made!(mlxrocm_array_sum(x, null(), 0, 0));
            assert_eq!(read(sum), [expected], "seed {seed}");
            free!(mlxrocm_array_free(x));
            free!(mlxrocm_array_free(sum));
        };
        let ramp = |begin: f32| 299.0 * 150.0 + 300.0 * begin;
        for round in 0..3 {
            ok!(mlxrocm_stream_fill(stream, a, 0, 1200, 0));
            sum(0.0);
            ok!(mlxrocm_program_run(program, stream));
            sum(ramp(7.0));
            kernels.ramp_by_address(stream, pointers, a, 300, round as f32);
            sum(ramp(round as f32));
            let ones: Vec<u8> = [1.0_f32; 300]
                .iter()
                .flat_map(|x| x.to_ne_bytes())
                .collect();
            ok!(mlxrocm_stream_write(
                stream,
                a,
                0,
                ones.as_ptr().cast(),
                ones.len()
            ));
            // Read as it is, with no operation in between.
            let x = from_buffer(a, 4, &[299], MLXROCM_DTYPE_FLOAT32);
            assert_eq!(read(x), [1.0; 299]);
            free!(mlxrocm_array_free(x));
            kernels.ramp(stream, a, 300, 2.0);
            let x = from_buffer(a, 0, &[2, 150], MLXROCM_DTYPE_FLOAT32);
            eval(x);
            assert_eq!(numbers_now(a, 0, 3), [2.0, 3.0, 4.0]);
            free!(mlxrocm_array_free(x));
        }
        free!(mlxrocm_program_free(program));
        free!(mlxrocm_buffer_free(a));
        free!(mlxrocm_buffer_free(pointers));
        free!(mlxrocm_stream_free(stream));
        kernels.free();
        free!(mlxrocm_device_free(device));
        gpu.clean();
        gpu.no_leaks();
    }
}

/// The memory stays while an array or a buffer of an array sees it, whatever is freed first, and not longer.
#[test]
fn memory_is_kept_and_given_back() {
    let gpu = machine(1);
    let device = open(1);
    let (kernels, stream) = (Kernels::new(device), stream_on(device));
    const SIZE: u64 = 4 << 20;
    let before = active(device);
    let check = |held: u64, what: &str| {
        let now = active(device) - before;
        assert!(now >= held && now < held + SIZE / 2, "{what}: {now} bytes");
    };
    for round in 0..5 {
        let buffer = buffer_on(device, SIZE);
        kernels.ramp(stream, buffer, (SIZE / 4) as u32, -1.0);
        let x = from_buffer(buffer, 4, &[1000, 3], MLXROCM_DTYPE_FLOAT32);
        check(SIZE, "nothing is copied");
        free!(mlxrocm_buffer_free(buffer));
        check(SIZE, "the array keeps it");
        // Operations enough for a plan, from the second round on.
        let y = chain(x, x, 7);
        free!(mlxrocm_array_free(x));
        assert_eq!(read(y)[..3], [0.0, 8.0, 16.0], "round {round}");
        let (memory, offset) = buffer_of(y, stream);
        free!(mlxrocm_array_free(y));
        assert_eq!(numbers_in(stream, memory, offset, 2), [0.0, 8.0]);
        free!(mlxrocm_buffer_free(memory));
        check(0, "all is freed");
    }
    assert_eq!(active(device), before);
    free!(mlxrocm_stream_free(stream));
    kernels.free();
    free!(mlxrocm_device_free(device));
    gpu.clean();
    gpu.no_leaks();
}

/// What does not fit is refused, says what, and changes nothing.
#[test]
fn wrong_buffers_and_arrays() {
    let gpu = machine(1);
    let (cpu, device) = (open(0), open(1));
    let (kernels, stream) = (Kernels::new(device), stream_on(device));
    let buffer = buffer_on(device, 100);
    let mut pinned = null_mut();
    ok!(mlxrocm_buffer_new(
        device,
        MLXROCM_BUFFER_PINNED,
        100,
        &raw mut pinned
    ));
    let freed = buffer_on(device, 100);
    free!(mlxrocm_buffer_free(freed));
    let before = active(device);
    const F32: u32 = MLXROCM_DTYPE_FLOAT32;
    let huge = [i64::MAX, i64::MAX];
    type Case<'a> = (*mut mlxrocm_buffer, u64, &'a [i64], u32, i32, &'a str);
    let cases: [Case<'_>; 16] = [
        (
            null_mut(),
            0,
            &[1],
            F32,
            MLXROCM_ERROR_NULL_ARGUMENT,
            "buffer",
        ),
        (
            freed,
            0,
            &[1],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "not a live",
        ),
        (
            stream.cast(),
            0,
            &[1],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "mlxrocm_stream",
        ),
        (
            pinned,
            0,
            &[1],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "pinned",
        ),
        (
            buffer,
            2,
            &[1],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "multiples of 4",
        ),
        (
            buffer,
            4,
            &[1],
            MLXROCM_DTYPE_COMPLEX64,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "multiples of 8",
        ),
        (
            buffer,
            0,
            &[26],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "100 bytes",
        ),
        (
            buffer,
            100,
            &[],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "100 bytes",
        ),
        (
            buffer,
            104,
            &[0],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "100 bytes",
        ),
        (
            buffer,
            u64::MAX - 3,
            &[1],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "100 bytes",
        ),
        (
            buffer,
            u64::MAX - 3,
            &[2],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "100 bytes",
        ),
        (
            buffer,
            0,
            &[-1],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "negative",
        ),
        (
            buffer,
            0,
            &huge,
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "elements",
        ),
        (
            buffer,
            0,
            &[i64::MAX / 2],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "",
        ),
        (
            buffer,
            0,
            &[1 << 61, 2],
            F32,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "",
        ),
        (
            buffer,
            0,
            &[1],
            14,
            MLXROCM_ERROR_INVALID_ARGUMENT,
            "dtype is 14",
        ),
    ];
    for (place, (buffer, offset, shape, dtype, status, words)) in cases.into_iter().enumerate() {
        let mut result = null_mut();
        let (rank, shape) = (shape.len(), shape.as_ptr());
        let said = fails!(
            status,
            mlxrocm_array_from_buffer(buffer, offset, shape, rank, dtype, &raw mut result)
        );
        assert!(said.contains(words), "case {place}: {said}");
        assert!(result.is_null());
    }
    let mut result = null_mut();
    fails!(
        MLXROCM_ERROR_NULL_ARGUMENT,
        mlxrocm_array_from_buffer(buffer, 0, null(), 1, F32, &raw mut result)
    );
    fails!(
        MLXROCM_ERROR_NULL_ARGUMENT,
        mlxrocm_array_from_buffer(buffer, 0, null(), 0, F32, null_mut())
    );
    fails!(
        MLXROCM_ERROR_INVALID_ARGUMENT,
        mlxrocm_array_from_buffer(buffer, 0, huge.as_ptr(), usize::MAX, F32, &raw mut result)
    );
    // At the very end, and nothing of nothing.
    for (offset, shape, elements) in [
        (96, vec![], 1),
        (100, vec![0], 0),
        (0, vec![5, 0], 0),
        (0, vec![25], 25),
    ] {
        let x = from_buffer(buffer, offset, &shape, F32);
        // SAFETY: a live array.
        assert_eq!(unsafe { mlxrocm_array_size(x) }, elements);
        free!(mlxrocm_array_free(x));
    }

    // The way back.
    ok!(mlxrocm_stream_fill(stream, buffer, 0, 100, 0));
    let x = from_buffer(buffer, 0, &[25], F32);
    let mut host = null_mut();
    ok!(mlxrocm_array_to_device(x, cpu, &raw mut host));
    let (mut memory, mut offset) = (null_mut(), 7);
    let (m, o) = (&raw mut memory, &raw mut offset);
    fails!(
        MLXROCM_ERROR_NULL_ARGUMENT,
        mlxrocm_array_buffer(null(), null(), m, o)
    );
    fails!(
        MLXROCM_ERROR_NULL_ARGUMENT,
        mlxrocm_array_buffer(x, null(), null_mut(), o)
    );
    fails!(
        MLXROCM_ERROR_NULL_ARGUMENT,
        mlxrocm_array_buffer(x, null(), m, null_mut())
    );
    fails!(
        MLXROCM_ERROR_UNSUPPORTED,
        mlxrocm_array_buffer(host, null(), m, o)
    );
    fails!(
        MLXROCM_ERROR_INVALID_ARGUMENT,
        mlxrocm_array_buffer(x, freed.cast_const().cast(), m, o)
    );
    if !gpu::is_real() {
        let elsewhere = open(2);
        let far = stream_on(elsewhere);
        let said = fails!(
            MLXROCM_ERROR_INVALID_ARGUMENT,
            mlxrocm_array_buffer(x, far, m, o)
        );
        assert!(said.contains("another device"), "{said}");
        free!(mlxrocm_stream_free(far));
        free!(mlxrocm_device_free(elsewhere));
    }
    assert!(memory.is_null() && offset == 7);

    // It may only be read.
    let (memory, offset) = buffer_of(x, stream);
    let bytes = [0_u8; 4];
    let invalid = MLXROCM_ERROR_INVALID_ARGUMENT;
    let mut program = null_mut();
    ok!(mlxrocm_program_new(device, &raw mut program));
    for said in [
        fails!(
            invalid,
            mlxrocm_buffer_write(memory, 0, bytes.as_ptr().cast(), 4)
        ),
        fails!(
            invalid,
            mlxrocm_stream_write(stream, memory, 0, bytes.as_ptr().cast(), 4)
        ),
        fails!(invalid, mlxrocm_stream_fill(stream, memory, 0, 4, 1)),
        fails!(
            invalid,
            mlxrocm_stream_copy(stream, memory, 0, buffer, 0, 4)
        ),
        fails!(
            invalid,
            mlxrocm_program_copy(program, memory, 0, buffer, 0, 4)
        ),
        fails!(invalid, mlxrocm_program_fill(program, memory, 0, 4, 1)),
        kernels.ramp_fails(stream, memory),
    ] {
        assert!(said.contains("memory of an array"), "{said}");
    }
    ok!(mlxrocm_stream_copy(stream, buffer, 4, memory, offset, 0));
    assert_eq!(numbers_in(stream, memory, offset, 25), [0.0; 25]);
    free!(mlxrocm_program_free(program));
    free!(mlxrocm_buffer_free(memory));
    free!(mlxrocm_array_free(x));
    free!(mlxrocm_array_free(host));
    assert_eq!(active(device), before);
    free!(mlxrocm_buffer_free(buffer));
    free!(mlxrocm_buffer_free(pinned));
    free!(mlxrocm_stream_free(stream));
    kernels.free();
    free!(mlxrocm_device_free(device));
    free!(mlxrocm_device_free(cpu));
    gpu.clean();
    gpu.no_leaks();
}
