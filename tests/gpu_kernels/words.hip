// Every word of hip/common, for the test beside this file.
#include "common/math.h"
#include "common/reduce.h"

// One wave. out[k][lane] for the k-th exchange between lanes; in[lane].
KERNEL(WAVE) void lanes(u32 *out, const u32 *in) {
    u32 lane = lane_id(), value = in[lane], k = 0;
    out[k++ * 64 + lane] = lane;
    out[k++ * 64 + lane] = shuffle_xor<1>(value);
    out[k++ * 64 + lane] = shuffle_xor<2>(value);
    out[k++ * 64 + lane] = shuffle_xor<3>(value);
    out[k++ * 64 + lane] = shuffle_xor<4>(value);
    out[k++ * 64 + lane] = shuffle_xor<7>(value);
    out[k++ * 64 + lane] = shuffle_xor<8>(value);
    out[k++ * 64 + lane] = shuffle_xor<13>(value);
    out[k++ * 64 + lane] = shuffle_xor<15>(value);
    out[k++ * 64 + lane] = shuffle_xor<16>(value);
    out[k++ * 64 + lane] = shuffle_xor<21>(value);
    out[k++ * 64 + lane] = shuffle_xor<31>(value);
    out[k++ * 64 + lane] = shuffle_xor<WAVE - 1>(value);
    out[k++ * 64 + lane] = shuffle_xor<WAVE / 2>(value);
    out[k++ * 64 + lane] = shuffle(value, (lane * 7 + 3) % WAVE);
    out[k++ * 64 + lane] = shuffle_down(value, 5);
    out[k++ * 64 + lane] = broadcast(value, 9);
    out[k++ * 64 + lane] = (u32)ballot(value & 1);
    out[k++ * 64 + lane] = (u32)((u64)ballot(value & 1) >> 32);
    out[k++ * 64 + lane] = (u32)wave_sum((f32)(value & 0xffff));
    out[k++ * 64 + lane] = (u32)wave_max((f32)(value & 0xffff));
    out[k++ * 64 + lane] = (u32)wave_sum<8>((f32)(value & 0xffff));
}

// out[i][0 .. 32) from in[i] = {a, b, c, x, y, p, q, r}: integers, f32 bits, pairs of f16.
KERNEL(64) void numbers(u32 *out, const u32 *in, u32 count) {
    u32 i = block_x() * block_size_x() + thread_x();
    if (i >= count || grid_blocks_x() == 0) return;
    u32 a = in[i * 8], b = in[i * 8 + 1], c = in[i * 8 + 2];
    f32 x = bits_f32(in[i * 8 + 3]), y = bits_f32(in[i * 8 + 4]);
    f16x2 p{in[i * 8 + 5]}, q{in[i * 8 + 6]}, r{in[i * 8 + 7]};
    u32 *to = out + i * 32;
    to[0] = f32_bits(to_f32(f16{(u16)p.bits}));
    to[1] = to_f16(x).bits;
    to[2] = to_bf16(x).bits;
    to[3] = to_bf16(bits_f32(a)).bits;
    to[4] = pack_f16x2(x, y).bits;
    to[5] = pack_bf16x2(x, y).bits;
    to[6] = add(p, q).bits;
    to[7] = sub(p, q).bits;
    to[8] = mul(p, q).bits;
    to[9] = mul_add(p, q, r).bits;
    to[10] = f32_bits(dot2(p, q, x));
    to[11] = f32_bits(dot2(pack_bf16x2(x, y), pack_bf16x2(y, y), x));
    to[12] = (u32)dot4(a, b, (i32)c);
    to[13] = byte_select(a, b, c & 0x07070707);
    to[14] = and_or(a, b, c);
    to[15] = bits(a, b & 15, 1 + (c & 15));
    to[16] = popcount(a) + 100 * popcount((u64)a << 32 | b);
    to[17] = leading_zeros(a >> (b & 31));
    to[18] = f32_bits(fast_exp2(x * 0.25f));
    to[19] = f32_bits(fast_log2(absolute(x)));
    to[20] = f32_bits(fast_rcp(x));
    to[21] = f32_bits(fast_rsqrt(absolute(x)));
    to[22] = f32_bits(fast_sqrt(absolute(x)));
    to[23] = f32_bits(mul_add(x, y, x));
    to[24] = f32_bits(maximum(x, y));
    to[25] = f32_bits(minimum(x, y));
    to[26] = f32_bits(round_even(x));
    to[27] = f32_bits(round_down(x));
    to[28] = f32_bits(silu(x));
    to[29] = f32_bits(fast_tanh(x * 0.0625f));
    to[30] = f32_bits(gelu_tanh(x * 0.0625f));
    to[31] = f32_bits(low(p) + 2.0f * high(p));
}

// Blocks of 256. Sums and maxima of rows of 256, the long way round: through every kind of load and
// store and the asynchronous copy to shared memory; the last block to finish adds up the sums.
KERNEL(256) void blocks(f32 *rows, f32 *total, u32 *counters, u32 *copies, const f32 *in, u32 count) {
    SHARED f32 scratch[2][256 / WAVE];
    SHARED u32 last;
    DYNAMIC_SHARED(staged);
    u32 t = thread_x(), row = block_x();
    const f32 *from = in + row * 256;
    if (t < 64) {
        copy16_async(staged + t * 16, from + t * 4);
        copy_commit();
        copy_wait<0>();
    }
    barrier();
    f32 value = ((const f32 *)staged)[t];
    f32 sum = block_sum<256>(value, scratch[0]);
    f32 most = block_max<256>(value, scratch[1]);
    u32 *to = copies + row * 256 * 4;
    if (t < 64) {
        store16(to + t * 4, load16(from + t * 4));
        store16_stream(to + 256 + t * 4, load16_stream(from + t * 4));
        store16(to + 512 + t * 4, load16_constant(from + t * 4));
    }
    if (t < 32) store8(to + 768 + t * 2, load8(from + t * 2));
    if (t < 32) store8(to + 832 + t * 2, load8_stream(from + 64 + t * 2));
    if (t < 32) store8(to + 896 + t * 2, load8_constant(from + 128 + t * 2));
    if (t < 21) to[960 + t] = load4(from + 192 + t);
    if (t >= 21 && t < 42) to[960 + t] = load4_stream(from + 192 + t);
    if (t >= 42 && t < 64) to[960 + t] = load4_constant(from + 192 + t);
    if (t == 0) {
        rows[row * 2] = sum;
        rows[row * 2 + 1] = most;
        atomic_add(counters + 1, row);
        atomic_max(counters + 2, row * 3);
        u32 old = load_acquire(counters + 3);
        for (u32 seen; (seen = atomic_compare_exchange(counters + 3, old, old + 2)) != old;) old = seen;
        fence_device();
        last = atomic_add_acq_rel(counters, 1) == count - 1;
    }
    barrier();
    if (last && t == 0) {
        f32 all = 0.0f;
        for (u32 i = 0; i < count; i++) all += bits_f32(load_acquire((const u32 *)rows + i * 2));
        *total = all;
        atomic_exchange(counters + 4, count);
        store_release(counters + 5, 7);
    }
}
