//! Products of the stand-in's BLAS: what they give, and what is found wrong with them.

use crate::support::*;
use softgpu::hip::memory_api::hipFree;
use softgpu::hip::rocblas::*;
use softgpu::hip::stream::hipStreamSynchronize;

const M: usize = 3;
const N: usize = 2;
const K: usize = 5;
/// Numbers from row to row of x and of the sums.
const LDB: usize = 8;
const LDC: usize = 4;

fn handle(stream: Handle) -> Handle {
    let mut handle = NULL;
    ok(unsafe { rocblas_create_handle(&raw mut handle) });
    ok(unsafe { rocblas_set_stream(handle, stream) });
    ok(unsafe { rocblas_set_workspace(handle, malloc(256), 256) });
    ok(unsafe { rocblas_set_atomics_mode(handle, 0) });
    handle
}

fn multiply(handle: Handle, a: Handle, b: Handle, c: Handle, k: usize) -> i32 {
    let (one, zero) = (1.0, 0.0);
    unsafe {
        rocblas_gemm_ex(
            handle, 112, 111, M as i32, N as i32, k as i32, &one, a as u64, 150, K as i32,
            b as u64, 150, LDB as i32, &zero, c as u64, 151, LDC as i32, c as u64, 151, LDC as i32,
            151, 0, 0, 0,
        )
    }
}

/// Small whole numbers as f16: 1024 + i lies in the low bits.
fn halves(count: usize, first: u16) -> Vec<u8> {
    let numbers = (0..count as u16).flat_map(|i| (0x6400 + first + i).to_le_bytes());
    numbers.collect()
}

fn number(first: usize, at: usize) -> f32 {
    (1024 + first + at) as f32
}

#[test]
fn products_are_sums_of_rows() {
    let gpu = gpu("devices=gfx1100;delay_us=100000");
    let stream = new_stream();
    let handle = handle(stream);
    let (a, b, c) = (malloc(M * K * 2), malloc(N * LDB * 2), malloc(N * LDC * 4));
    put(a, &halves(M * K, 1));
    put(b, &halves(N * LDB, 7));
    fill(c, 0, N * LDC * 4, stream);
    ok(multiply(handle, a, b, c, K));
    ok(unsafe { hipStreamSynchronize(stream) });
    let bytes = get(c, N * LDC * 4);
    let sums = bytes.chunks_exact(4);
    let sums: Vec<f32> = sums
        .map(|w| f32::from_le_bytes(w.try_into().unwrap()))
        .collect();
    for n in 0..N {
        for m in 0..LDC {
            let term = |k: usize| number(1, m * K + k) * number(7, n * LDB + k);
            let expected = if m < M { (0..K).map(term).sum() } else { 0.0 };
            assert_eq!(sums[n * LDC + m], expected, "{n} {m}");
        }
    }
    assert_eq!(gpu.report()["live"]["blas_handles"], 1);
    ok(unsafe { rocblas_destroy_handle(handle) });
    assert_eq!(gpu.report()["live"]["blas_handles"], 0);
    gpu.clean();
}

#[test]
fn wrong_products_are_found() {
    let gpu = gpu("devices=gfx1100;delay_us=100000");
    let stream = new_stream();
    let handle = handle(stream);
    let (a, b, c) = (malloc(M * K * 2), malloc(N * LDB * 2), malloc(N * LDC * 4));
    put(a, &halves(M * K, 0));
    // The last number of the last row of x that is read is not there.
    put(b, &halves(LDB + K - 1, 0));
    ok(multiply(handle, a, b, c, K));
    ok(unsafe { hipStreamSynchronize(stream) });
    assert_eq!(gpu.found("uninitialised_product"), 1, "{}", gpu.messages());
    // With one column less all is there; a fill on another stream is ordered by nothing.
    ok(multiply(handle, a, b, c, K - 1));
    let other = new_stream();
    fill(a, 0, 2, other);
    sync(stream);
    sync(other);
    assert_eq!(gpu.found("unordered_access"), 1, "{}", gpu.messages());
    assert_eq!(gpu.found("uninitialised_product"), 1);
    // Too short, injected, freed, a handle that is gone.
    let short = malloc(M * K * 2 - 2);
    assert_eq!(multiply(handle, short, b, c, K), 3);
    assert_eq!(gpu.found("copy_out_of_bounds"), 1);
    gpu.fault("blas@1");
    assert_eq!(multiply(handle, a, b, c, K - 1), 6);
    ok(unsafe { hipFree(short) });
    assert_eq!(multiply(handle, short, b, c, K), 3);
    assert_eq!(gpu.found("use_after_free"), 1);
    ok(multiply(handle, a, b, c, K - 1));
    ok(unsafe { rocblas_destroy_handle(handle) });
    assert_eq!(gpu.found("free_in_flight"), 1);
    assert_eq!(multiply(handle, a, b, c, K), 1);
    assert_eq!(gpu.found("bad_handle"), 1);
    sync(stream);
}
