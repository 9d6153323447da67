//! AVX2 + FMA + F16C kernels.

mod activations;
mod arrays;
mod attention;
#[macro_use]
mod codes;
mod dense;
#[macro_use]
mod four_rows;
mod matmul;
mod one_row;
mod panels;
mod scales;
mod transpose;
mod values;
mod values_row;

pub(super) use codes::for_pairs;
pub(super) use one_row::of_form;
pub use one_row::{Ahead, RowPlan, by_form};
pub use panels::{Part, settle};
pub use scales::{
    EXPANDED, STORED_BF16, STORED_F16, SUPER_MIN, SUPER_ZERO, ZERO_F16, expand_scales, expand_span,
    scales_of,
};

pub use values::POWERS;

use super::gemm::GEMM_ROWS;
use super::{DeltaToken, Kernels, KvGroup, SimdLevel, body, kv, portable, recurrent};
use crate::step::KvType;
use std::arch::x86_64::*;

pub static KERNELS: Kernels = Kernels {
    level: SimdLevel::Avx2,
    panel: 4,
    quantize_row: activations::quantize_row,
    quantize_four: activations::quantize_four,
    matmul_tile: matmul::matmul_tile,
    rows_tiles: one_row::rows_tiles,
    dense_tile: dense::dense_tile,
    rms_norm,
    swiglu,
    swiglu_clamped,
    multiply_add,
    silu,
    gated_delta,
    gemm_rows: [GEMM_ROWS, 3, 1],
    gemm_tile: arrays::gemm_tile,
    winograd_input: arrays::winograd_input,
    winograd_output: arrays::winograd_output,
    elements: arrays::elements,
    layer_norm: arrays::layer_norm,
    softmax: arrays::softmax,
    narrow,
    kv_group,
    kv_keys,
    kv_values,
    attend_page: attention::attend_page,
    to_columns: transpose::to_columns,
    to_rows: transpose::to_rows,
    attend_columns: attention::attend_columns,
};

#[target_feature(enable = "avx2,fma,f16c")]
fn rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    body::rms_norm::<true>(x, weight, eps, out);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn swiglu(gate: &mut [f32], up: &[f32]) {
    body::swiglu::<true>(gate, up);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn swiglu_clamped(gate: &mut [f32], up: &[f32], limit: f32) {
    body::swiglu_clamped::<true>(gate, up, limit);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn multiply_add(a: &[f32], b: &[f32], out: &mut [f32]) {
    recurrent::multiply_add::<true>(a, b, out);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn silu(x: &mut [f32]) {
    recurrent::silu::<true>(x);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn gated_delta(token: &mut DeltaToken<'_>) {
    recurrent::gated_delta::<true>(token);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn widen(src: &[u16], dst: &mut [f32]) {
    let (chunks, rest) = src.as_chunks::<8>();
    let (to, to_rest) = dst[..src.len()].as_chunks_mut::<8>();
    for (src, dst) in chunks.iter().zip(to) {
        // SAFETY: 8 values each.
        unsafe {
            let wide = _mm256_cvtph_ps(_mm_loadu_si128(src.as_ptr().cast()));
            _mm256_storeu_ps(dst.as_mut_ptr(), wide);
        }
    }
    portable::widen(rest, to_rest);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn narrow(src: &[f32], dst: &mut [u16]) {
    let (chunks, rest) = src.as_chunks::<8>();
    let (to, to_rest) = dst[..src.len()].as_chunks_mut::<8>();
    let most = _mm256_set1_ps(half::f16::MAX.to_f32());
    let (least, infinity) = (
        _mm256_sub_ps(_mm256_setzero_ps(), most),
        _mm256_set1_ps(f32::INFINITY),
    );
    for (src, dst) in chunks.iter().zip(to) {
        // SAFETY: 8 values each.
        unsafe {
            let x = _mm256_loadu_ps(src.as_ptr());
            let fitting = _mm256_max_ps(_mm256_min_ps(x, most), least);
            let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
            let finite = _mm256_cmp_ps::<_CMP_LT_OQ>(size, infinity);
            let x = _mm256_blendv_ps(x, fitting, finite);
            let half = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
            _mm_storeu_si128(dst.as_mut_ptr().cast(), half);
        }
    }
    portable::narrow(rest, to_rest);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn kv_group(kind: KvType, x: &[f32]) -> KvGroup {
    kv::quantize(kind, x)
}

#[target_feature(enable = "avx2,fma,f16c")]
fn kv_keys(kind: KvType, page: &[u16], out: &mut [f32]) {
    kv::keys(|from, to| widen(from, to), kind, page, out);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn kv_values(kind: KvType, page: &[u16], out: &mut [f32]) {
    kv::values(|from, to| widen(from, to), kind, page, out);
}
