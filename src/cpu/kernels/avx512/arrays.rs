//! The kernels of f32 arrays: their bodies with this level's features on.

use crate::cpu::kernels::{
    Function, GemmTile, Side, WinogradInput, WinogradOutput, elements as of_elements, gemm,
    winograd,
};
use std::arch::x86_64::__m512;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub unsafe fn gemm_tile(tile: &GemmTile) {
    // SAFETY: the caller's promise.
    unsafe { gemm::gemm_whole_tile::<__m512>(tile) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub unsafe fn winograd_input(of: &WinogradInput<'_>) {
    // SAFETY: the caller's promise.
    unsafe { winograd::input::<__m512>(of) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub unsafe fn winograd_output(of: &WinogradOutput<'_>) {
    // SAFETY: the caller's promise.
    unsafe { winograd::output::<__m512>(of) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub fn elements(function: Function, a: Side<'_>, b: Side<'_>, out: &mut [f32]) {
    of_elements::elements::<true>(function, a, b, out);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub fn layer_norm(x: &[f32], weight: &[f32], bias: &[f32], eps: f32, out: &mut [f32]) {
    of_elements::layer_norm::<true>(x, weight, bias, eps, out);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub fn softmax(x: &mut [f32]) {
    of_elements::softmax::<true>(x);
}
