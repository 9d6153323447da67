//! The inner loop of prefill, in assembly: a block's words times four token rows, and what their sums
//! add to the rows'.

use crate::cpu::activations::BlockMeta;
use crate::cpu::packed::TILE_ROWS;

/// Operands of the end of `four_rows`: facts and places of four rows.
pub struct FlushTo {
    pub sum: *const BlockMeta,
    pub scale: *const BlockMeta,
    pub entry: *const [f32; TILE_ROWS],
    pub sums: *mut [f32; TILE_ROWS],
    pub out: *mut [f32; TILE_ROWS],
}

/// One token row of pair `$j`: broadcast, two multiplies. `$at` is the row's place in the pair.
macro_rules! asm_mul {
    ($j:literal, $at:literal, $low:literal, $high:literal) => {
        concat!(
            "vpbroadcastd {",
            $high,
            "}, dword ptr [{x} + 16 * ",
            $j,
            " + ",
            $at,
            "]\n",
            "vpmaddwd {",
            $low,
            "}, {",
            $high,
            "}, {w0}\n",
            "vpmaddwd {",
            $high,
            "}, {",
            $high,
            "}, {w1}\n",
        )
    };
}

/// Adds two products to the sums of a row.
macro_rules! asm_add {
    ($row:literal, $low:literal, $high:literal) => {
        concat!(
            "vpaddd {a",
            $row,
            "}, {a",
            $row,
            "}, {",
            $low,
            "}\n", //
            "vpaddd {b",
            $row,
            "}, {b",
            $row,
            "}, {",
            $high,
            "}\n",
        )
    };
}

/// The weights of pair `$j`.
macro_rules! asm_words {
    ($j:literal) => {
        concat!(
            "vmovdqa {w0}, ymmword ptr [{w} + 64 * ",
            $j,
            "]\n",
            "vmovdqa {w1}, ymmword ptr [{w} + 64 * ",
            $j,
            " + 32]\n",
        )
    };
}

/// Pair `$j` of four token rows. Each product waits in one of three pairs of temporaries and is
/// added two rows later, so this adds the last two rows of the pair before.
macro_rules! asm_pair {
    ($j:literal, $t0:literal $t1:literal, $u0:literal $u1:literal, $v0:literal $v1:literal) => {
        concat!(
            asm_words!($j),
            asm_mul!($j, "0", $t0, $t1),
            asm_add!("2", $u0, $u1),
            asm_mul!($j, "4", $u0, $u1),
            asm_add!("3", $v0, $v1),
            asm_mul!($j, "8", $v0, $v1),
            asm_add!("0", $t0, $t1),
            asm_mul!($j, "12", $t0, $t1),
            asm_add!("1", $u0, $u1),
        )
    };
}

/// A row of the panel from integers to its span's sums: `$place` in the span is `begin`, `middle` or
/// `end`, which adds the sums to the output instead. Takes the place of the products' temporaries:
/// scales are in `w`, biases in `r`.
macro_rules! asm_flush {
    ($place:tt, $row:literal, $meta:literal, $at:literal) => {
        concat!(
            "vbroadcastss {p0}, dword ptr [{m} + ",
            $meta,
            "]\n",
            asm_start!($place, "q0", "r0", $at),
            asm_start!($place, "q1", "r1", $at, " + 32"),
            "vcvtdq2ps {a",
            $row,
            "}, {a",
            $row,
            "}\n",
            "vfmadd231ps {q0}, {a",
            $row,
            "}, {w0}\n",
            "vcvtdq2ps {b",
            $row,
            "}, {b",
            $row,
            "}\n",
            "vfmadd231ps {q1}, {b",
            $row,
            "}, {w1}\n",
            asm_store!($place, $meta, $at),
        )
    };
}

/// `$to` = the span's sums so far + bias · the row's sum.
macro_rules! asm_start {
    (begin, $to:literal, $bias:literal, $($at:literal),+) => {
        concat!("vmulps {", $to, "}, {p0}, {", $bias, "}\n")
    };
    ($place:tt, $to:literal, $bias:literal, $($at:literal),+) => {
        concat!(
            "vmovups {", $to, "}, ymmword ptr [{s} + ", $($at),+, "]\n",
            "vfmadd231ps {", $to, "}, {p0}, {", $bias, "}\n",
        )
    };
}

/// Where the sums go.
macro_rules! asm_store {
    (end, $meta:literal, $at:literal) => {
        concat!(
            "vbroadcastss {p1}, dword ptr [{c} + ",
            $meta,
            "]\n",
            "vfmadd213ps {q0}, {p1}, ymmword ptr [{o} + ",
            $at,
            "]\n",
            "vmovups ymmword ptr [{o} + ",
            $at,
            "], {q0}\n",
            "vfmadd213ps {q1}, {p1}, ymmword ptr [{o} + ",
            $at,
            " + 32]\n",
            "vmovups ymmword ptr [{o} + ",
            $at,
            " + 32], {q1}\n",
        )
    };
    ($place:tt, $meta:literal, $at:literal) => {
        concat!(
            "/* not used: {c} {o} */\n",
            "vmovups ymmword ptr [{s} + ",
            $at,
            "], {q0}\n",
            "vmovups ymmword ptr [{s} + ",
            $at,
            " + 32], {q1}\n",
        )
    };
}

/// Pairs of four token rows: the inner loop of prefill. In assembly because the compiler either
/// leaves it rolled or spills the sums, and in place because a function would pass them through
/// memory. Reads 4 token rows' pairs at `x` and 32 words a pair at `w`, 32-byte aligned; all 16
/// registers are in use. Then the sums go where `$to`, a `FlushTo`, says.
///
/// What bounds it on Zen 3 are the four vector pipes, not loads: multiplies run on two of them only,
/// and additions that become ready in their midst take slots of these two instead of the others'.
/// 24 operations would take 6 cycles; they take 7.3 if each product is added at once, 7.0 so. Six
/// rows need fewer loads, but leave no registers to wait in.
macro_rules! four_rows {
    ($place:tt, $x:expr, $w:expr, $to:expr, $($pairs:expr),+) => {
        std::arch::asm!(
            // The first pair has nothing to be added to.
            asm_words!("0"),
            asm_mul!("0", "0", "a0", "b0"),
            asm_mul!("0", "4", "a1", "b1"),
            asm_mul!("0", "8", "a2", "b2"),
            asm_mul!("0", "12", "a3", "b3"),
            asm_words!("1"),
            asm_mul!("1", "0", "p0", "p1"),
            asm_mul!("1", "4", "q0", "q1"),
            asm_mul!("1", "8", "r0", "r1"),
            asm_add!("0", "p0", "p1"),
            asm_mul!("1", "12", "p0", "p1"),
            asm_add!("1", "q0", "q1"),
            $($pairs),+,
            "vmovups {w0}, ymmword ptr [{e}]",
            "vmovups {w1}, ymmword ptr [{e} + 32]",
            "vmovups {r0}, ymmword ptr [{e} + 64]",
            "vmovups {r1}, ymmword ptr [{e} + 96]",
            asm_flush!($place, "0", "0", "0"),
            asm_flush!($place, "1", "16", "64"),
            asm_flush!($place, "2", "32", "128"),
            asm_flush!($place, "3", "48", "192"),
            w = in(reg) $w,
            x = in(reg) $x,
            m = in(reg) $to.sum,
            c = in(reg) $to.scale,
            e = in(reg) $to.entry,
            s = in(reg) $to.sums,
            o = in(reg) $to.out,
            a0 = out(ymm_reg) _, b0 = out(ymm_reg) _,
            a1 = out(ymm_reg) _, b1 = out(ymm_reg) _,
            a2 = out(ymm_reg) _, b2 = out(ymm_reg) _,
            a3 = out(ymm_reg) _, b3 = out(ymm_reg) _,
            w0 = out(ymm_reg) _, w1 = out(ymm_reg) _,
            p0 = out(ymm_reg) _, p1 = out(ymm_reg) _,
            q0 = out(ymm_reg) _, q1 = out(ymm_reg) _,
            r0 = out(ymm_reg) _, r1 = out(ymm_reg) _,
            options(nostack, preserves_flags),
        )
    };
}

/// `PAIRS` pairs of the rows of a panel from pair `from` of the block.
macro_rules! panel_of {
    ($place:tt, $pairs:expr, $x:expr, $w:expr, $to:expr) => {
        if $pairs == 16 {
            four_rows!(
                $place,
                $x,
                $w,
                $to,
                asm_pair!("2", "q0" "q1", "r0" "r1", "p0" "p1"),
                asm_pair!("3", "r0" "r1", "p0" "p1", "q0" "q1"),
                asm_pair!("4", "p0" "p1", "q0" "q1", "r0" "r1"),
                asm_pair!("5", "q0" "q1", "r0" "r1", "p0" "p1"),
                asm_pair!("6", "r0" "r1", "p0" "p1", "q0" "q1"),
                asm_pair!("7", "p0" "p1", "q0" "q1", "r0" "r1"),
                asm_pair!("8", "q0" "q1", "r0" "r1", "p0" "p1"),
                asm_pair!("9", "r0" "r1", "p0" "p1", "q0" "q1"),
                asm_pair!("10", "p0" "p1", "q0" "q1", "r0" "r1"),
                asm_pair!("11", "q0" "q1", "r0" "r1", "p0" "p1"),
                asm_pair!("12", "r0" "r1", "p0" "p1", "q0" "q1"),
                asm_pair!("13", "p0" "p1", "q0" "q1", "r0" "r1"),
                asm_pair!("14", "q0" "q1", "r0" "r1", "p0" "p1"),
                asm_pair!("15", "r0" "r1", "p0" "p1", "q0" "q1"),
                asm_add!("2", "q0", "q1"),
                asm_add!("3", "r0", "r1")
            );
        } else {
            four_rows!(
                $place,
                $x,
                $w,
                $to,
                asm_pair!("2", "q0" "q1", "r0" "r1", "p0" "p1"),
                asm_pair!("3", "r0" "r1", "p0" "p1", "q0" "q1"),
                asm_pair!("4", "p0" "p1", "q0" "q1", "r0" "r1"),
                asm_pair!("5", "q0" "q1", "r0" "r1", "p0" "p1"),
                asm_pair!("6", "r0" "r1", "p0" "p1", "q0" "q1"),
                asm_pair!("7", "p0" "p1", "q0" "q1", "r0" "r1"),
                asm_add!("2", "r0", "r1"),
                asm_add!("3", "p0", "p1")
            );
        }
    };
}
