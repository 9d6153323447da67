// What the attention kernels share: the paged KV cache, head norms, rotary position embedding.
//
// The cache is [page][layer][kv head][key, value], each the PAGE_TOKENS tokens of a head. A sequence's
// token at position p lies in page pages[slot · max_pages + p / PAGE_TOKENS]. By the kind of cache:
//
//   KV_F16   [PAGE_TOKENS][dim padded to 8] f16
//   KV_Q8    [PAGE_TOKENS][dim padded to 32] codes i8, then [PAGE_TOKENS][groups] scale f16:
//            number = code · scale, scale = max |x| / 127 of a group of 32 columns
//   KV_Q4    [PAGE_TOKENS][dim padded to 32] codes of 4 bits, then [PAGE_TOKENS][groups] (scale,
//            minimum) f16: number = code · scale + minimum, scale = (max x - min x) / 15 of a group;
//            eight columns are a word, column c of them in the bits from 16 · (c % 2) + 4 · (c / 2) on
//
// A lane loads eight columns in one aligned piece (16, 8 or 4 bytes), and as the codes of all tokens
// come before the scales, the pieces of neighbouring lanes and tokens lie without gaps. Codes of columns
// past the head's last are 0; these columns do not count for scales. Numbers are rounded to f16 as
// they are decoded; those too large for it are the largest there is. The scale is rounded to f16 first, then codes are chosen for it; one that is not
// finite makes all numbers of the group infinite or NaN, so that what is wrong shows.
#pragma once

#include "common/reduce.h"

#define PAGE_TOKENS 32
#define UNUSED 0xffffffffu
#define KV_F16 0
#define KV_Q8 1
#define KV_Q4 2

struct Cache {
    u8 *memory;
    u64 page_stride; // bytes of a page, all layers
    u64 layer_start; // first byte of the layer in a page
    u32 dim;         // columns of a head
};

// What the sum of a head's weights, relative to 2^top, has besides those of keys: exp of its sink, a score that has no
// value. `sinks` may be null.
DEVICE f32 sink_weight(const f32 *sinks, u32 head, f32 top) {
    return sinks ? fast_exp2(sinks[head] * 1.44269504f - top) : 0.0f;
}

template <int KV> DEVICE u32 padded(u32 dim) { return KV == KV_F16 ? (dim + 7) / 8 * 8 : (dim + 31) / 32 * 32; }
// Bytes of a token's codes (numbers), of its scales, and of all tokens of a page.
template <int KV> DEVICE u32 code_bytes(u32 dim) {
    return KV == KV_F16 ? padded<KV>(dim) * 2 : KV == KV_Q8 ? padded<KV>(dim) : padded<KV>(dim) / 2;
}
template <int KV> DEVICE u32 scale_bytes(u32 dim) {
    return KV == KV_F16 ? 0 : KV == KV_Q8 ? padded<KV>(dim) / 32 * 2 : padded<KV>(dim) / 32 * 4;
}
template <int KV> DEVICE u32 tokens_bytes(u32 dim) {
    return PAGE_TOKENS * (code_bytes<KV>(dim) + scale_bytes<KV>(dim));
}

// The keys of a head in a page; its values are tokens_bytes further.
template <int KV> DEVICE u8 *cache_keys(const Cache &c, u32 page, u32 kv_head) {
    return c.memory + page * c.page_stride + c.layer_start + (u64)kv_head * 2 * tokens_bytes<KV>(c.dim);
}

// Eight columns of a token as they are stored; decoded, four pairs of f16. Zeros are zeros.
template <int KV> struct Piece;
template <> struct Piece<KV_F16> {
    u32x4 pairs;
};
template <> struct Piece<KV_Q8> {
    u32x2 codes;
    u32 scale;
};
template <> struct Piece<KV_Q4> {
    u32 codes, scale;
};

// Where the codes of a token's eight columns from `column` on are.
template <int KV> DEVICE const u8 *piece_codes(const u8 *tokens, u32 dim, u32 token, u32 column) {
    return tokens + token * code_bytes<KV>(dim) + (KV == KV_F16 ? column * 2 : KV == KV_Q8 ? column : column / 2);
}
template <int KV> DEVICE Piece<KV> load_piece(const u8 *tokens, u32 dim, u32 token, u32 column) {
    const u8 *codes = piece_codes<KV>(tokens, dim, token, column);
    const u8 *scales = tokens + PAGE_TOKENS * code_bytes<KV>(dim) + token * scale_bytes<KV>(dim);
    if constexpr (KV == KV_F16) return {load16(codes)};
    if constexpr (KV == KV_Q8) return {load8(codes), *(const u16 *)(scales + column / 32 * 2)};
    if constexpr (KV == KV_Q4) return {load4(codes), load4(scales + column / 32 * 4)};
}

template <int KV> DEVICE u32x4 decode(const Piece<KV> &piece) {
    if constexpr (KV == KV_F16) {
        return piece.pairs;
    } else if constexpr (KV == KV_Q8) {
        // The bytes 1024 + (code + 128) as f16, less 1152, are exact.
        const f16x2 scale = {piece.scale * 0x10001u}, zero = {0x64806480u};
        auto pair = [&](u32 codes, u32 selector) {
            const u32 magic = byte_select(0x64646464u, codes ^ 0x80808080u, selector);
            return mul(sub(f16x2{magic}, zero), scale).bits;
        };
        const u32 first = 0x04010400u, second = 0x04030402u;
        return {pair(piece.codes.x, first), pair(piece.codes.x, second), pair(piece.codes.y, first),
                pair(piece.codes.y, second)};
    } else {
        const f16x2 scale = {(piece.scale & 0xffff) * 0x10001u}, least = {(piece.scale >> 16) * 0x10001u};
        auto pair = [&](u32 shift) {
            const u32 magic = and_or(piece.codes >> shift, 0x000f000fu, 0x64006400u);
            return mul_add(sub(f16x2{magic}, f16x2{0x64006400u}), scale, least).bits;
        };
        return {pair(0), pair(4), pair(8), pair(12)};
    }
}

// Puts 32 columns from 32 · group on of a token into `tokens` (null: nowhere), by a team of 32 lanes, each
// with the number `x` of its column. Gives the f16 bits that decoding gives. All teams of a wave call it
// together.
template <int KV> DEVICE u16 store_group(f32 x, u8 *tokens, u32 dim, u32 token, u32 group, u32 lane) {
    const u32 column = group * 32 + lane;
    u8 *codes = tokens + token * code_bytes<KV>(dim);
    u8 *scales = tokens + PAGE_TOKENS * code_bytes<KV>(dim) + token * scale_bytes<KV>(dim);
    const f32 infinity = bits_f32(0x7f800000u);
    const bool inside = column < dim;
    if constexpr (KV == KV_F16) {
        const f32 most = 65504.0f, fitting = maximum(minimum(x, most), -most);
        const u16 number = inside ? to_f16(absolute(x) < infinity ? fitting : x).bits : 0;
        if (tokens && column < padded<KV>(dim)) *(u16 *)(codes + column * 2) = number;
        return number;
    } else if constexpr (KV == KV_Q8) {
        // A NaN counts as infinite.
        const f32 most = wave_max<32>(!inside ? 0.0f : x == x ? absolute(x) : infinity);
        const f16 scale = to_f16(most / 127.0f);
        const f32 inverse = to_f32(scale) > 0.0f ? 1.0f / to_f32(scale) : 0.0f;
        const f32 code = inside ? maximum(minimum(round_even(x * inverse), 127.0f), -127.0f) : 0.0f;
        if (tokens) codes[column] = (u8)(i32)code;
        if (tokens && lane == 0) *(u16 *)(scales + group * 2) = scale.bits;
        return (u16)mul(both(code), both(scale)).bits;
    } else {
        const f32 most = wave_max<32>(!inside ? -infinity : x == x ? x : infinity);
        const f16 least = to_f16(-wave_max<32>(inside && x == x ? -x : -infinity));
        const f16 scale = to_f16((most - to_f32(least)) / 15.0f);
        const f32 inverse = to_f32(scale) > 0.0f ? 1.0f / to_f32(scale) : 0.0f;
        const f32 code =
            inside ? maximum(minimum(round_even((x - to_f32(least)) * inverse), 15.0f), 0.0f) : 0.0f;
        u32 word = (u32)code << (16 * (lane % 2) + 4 * (lane % 8 / 2));
        word |= shuffle_xor<1>(word);
        word |= shuffle_xor<2>(word);
        word |= shuffle_xor<4>(word);
        if (tokens && lane % 8 == 0) *(u32 *)(codes + column / 2) = word;
        if (tokens && lane == 0) *(u32 *)(scales + group * 4) = scale.bits | (u32)least.bits << 16;
        return (u16)mul_add(both(code), both(scale), both(least)).bits;
    }
}

// What norm and turn multiply a lane's columns of a head with, lane, lane + 32, …, N of them, and their
// partners. Known before the head is.
template <int N> struct Turn {
    f32 norm[N], partner_norm[N], cosine[N], sine[N];
    u32 partner[N];
};

// `rope`: (cos, sin) of the position's pairs, which turn the first 2·pairs columns.
template <int N>
DEVICE Turn<N> load_turn(const f32 *norm, const f32x2 *rope, u32 pairs, u32 interleaved, u32 dim, u32 lane) {
    Turn<N> turn;
    UNROLL for (u32 n = 0; n < N; n++) {
        const u32 i = n * 32 + lane;
        const bool turned = i < 2 * pairs, second = interleaved ? i % 2 : i >= pairs;
        turn.partner[n] = !turned ? i : interleaved ? i ^ 1 : second ? i - pairs : i + pairs;
        turn.norm[n] = turn.partner_norm[n] = turn.cosine[n] = 1.0f, turn.sine[n] = 0.0f;
        if (norm && i < dim) turn.norm[n] = norm[i], turn.partner_norm[n] = norm[turn.partner[n]];
        if (turned) {
            const f32x2 angle = rope[interleaved ? i / 2 : i % pairs];
            turn.cosine[n] = angle.x, turn.sine[n] = second ? angle.y : -angle.y;
        }
    }
    return turn;
}

// A lane's columns of a head and their partners, as they come.
template <int N> struct Head {
    f32 own[N], other[N];
};
template <int N> DEVICE Head<N> load_head(const f32 *x, const Turn<N> &turn, u32 dim, u32 lane) {
    Head<N> head;
    UNROLL for (u32 n = 0; n < N; n++) {
        const bool inside = n * 32 + lane < dim;
        head.own[n] = inside ? x[n * 32 + lane] : 0.0f, head.other[n] = inside ? x[turn.partner[n]] : 0.0f;
    }
    return head;
}
// A head by a team of 32 lanes: RMSNorm (if `has_norm`), then the turn, times `scale`: the lane's columns,
// those past `dim` zeros. All teams of a wave call it together.
template <int N>
DEVICE void turn_head(const Head<N> &head, bool has_norm, f32 eps, const Turn<N> &turn, u32 dim, f32 scale,
                      f32 *columns) {
    f32 squares = 0.0f;
    UNROLL for (u32 n = 0; n < N; n++) squares = mul_add(head.own[n], head.own[n], squares);
    const f32 norm = fast_rsqrt(wave_sum<32>(squares) / (f32)dim + eps), factor = has_norm ? scale * norm : scale;
    UNROLL for (u32 n = 0; n < N; n++) {
        const f32 own = head.own[n] * turn.norm[n], other = head.other[n] * turn.partner_norm[n];
        columns[n] = (own * turn.cosine[n] + other * turn.sine[n]) * factor;
    }
}
