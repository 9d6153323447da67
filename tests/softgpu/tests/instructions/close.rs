//! How near a result must come to its expectation.

use crate::harness::{Case, Reg};
use crate::numbers::{d, f, h};
use softgpu::isa::testing::State;

/// How a result register is compared.
#[derive(Clone, Copy, Debug)]
pub enum Close {
    /// Any quiet NaN for a NaN; else within so many units in the last place.
    F32(u32),
    /// Within an absolute distance.
    Near32(f64),
    /// The low half; the high half exactly.
    F16(u32),
    PF16(u32),
    /// A bfloat16 in the low half, the high half exactly.
    Bf16,
    /// The low half within an absolute distance.
    Near16(f64),
    /// The high half is an f16, the low half exact.
    High16,
    /// The high half is not looked at.
    Low16,
    /// The low half within ulps; the high half is not looked at.
    Half(u32),
    /// Not looked at (a register that the snippet uses on its way).
    Any,
    /// A register pair.
    F64(u64),
}

fn ulps(a: i64, b: i64) -> u64 {
    // Sign and magnitude to a line of integers.
    let line = |v: i64| if v < 0 { i64::MIN.wrapping_sub(v) } else { v };
    line(a).abs_diff(line(b))
}

fn same_f32(want: u64, got: u64, n: u32) -> bool {
    if f(want).is_nan() {
        return f(got).is_nan() && got & 0x40_0000 != 0;
    }
    let wide = |v: u64| i64::from(v as u32 as i32) << 32;
    !f(got).is_nan() && ulps(wide(want), wide(got)) <= u64::from(n) << 32
}

fn same_f16(want: u64, got: u64, n: u32) -> bool {
    let (want, got) = (want & 0xffff, got & 0xffff);
    if h(want).is_nan() {
        return h(got).is_nan() && got & 0x200 != 0;
    }
    let wide = |v: u64| i64::from(v as u16 as i16) << 48;
    !h(got).is_nan() && ulps(wide(want), wide(got)) <= u64::from(n) << 48
}

fn same(close: Close, want: u64, got: u64) -> bool {
    want == got
        || match close {
            Close::F32(n) => same_f32(want, got, n),
            Close::Near32(limit) => {
                let (want, got) = (f64::from(f(want)), f64::from(f(got)));
                (want - got).abs() <= limit || want.is_nan() && got.is_nan()
            }
            Close::F16(n) => same_f16(want, got, n) && want >> 16 == got >> 16,
            Close::PF16(n) => same_f16(want, got, n) && same_f16(want >> 16, got >> 16, n),
            Close::Near16(limit) => (h(want) - h(got)).abs() <= limit && want >> 16 == got >> 16,
            Close::High16 => same_f16(want >> 16, got >> 16, 0) && want & 0xffff == got & 0xffff,
            Close::Low16 => want & 0xffff == got & 0xffff,
            Close::Half(n) => same_f16(want, got, n),
            // The same bits as the high half of an f32.
            Close::Bf16 => same_f32(want << 16, got << 16, 0) && want >> 16 == got >> 16,
            Close::Any => true,
            Close::F64(n) => {
                if d(want).is_nan() {
                    d(got).is_nan() && got >> 51 & 1 != 0
                } else {
                    !d(got).is_nan() && ulps(want as i64, got as i64) <= n
                }
            }
        }
}

/// The first difference, in words.
pub fn difference(case: &Case, want: &State, got: &State) -> Option<String> {
    let mut want = want.clone();
    for (reg, close) in &case.close {
        let pair = matches!(close, Close::F64(_));
        match *reg {
            Reg::V(r) => {
                for lane in 0..want.lanes {
                    let read = |s: &State| {
                        let high = if pair { s.v[r + 1][lane] } else { 0 };
                        u64::from(s.v[r][lane]) | u64::from(high) << 32
                    };
                    if !same(*close, read(&want), read(got)) {
                        let (w, g) = (read(&want), read(got));
                        return Some(format!("v{r} lane {lane}: want {w:#x}, got {g:#x}"));
                    }
                    want.v[r][lane] = got.v[r][lane];
                    if pair {
                        want.v[r + 1][lane] = got.v[r + 1][lane];
                    }
                }
            }
            Reg::S(r) => {
                if !same(*close, u64::from(want.s[r]), u64::from(got.s[r])) {
                    return Some(format!("s{r}: want {:#x}, got {:#x}", want.s[r], got.s[r]));
                }
                want.s[r] = got.s[r];
            }
        }
    }
    if want == *got {
        return None;
    }
    for r in 0..want.s.len() {
        if want.s[r] != got.s[r] {
            return Some(format!("s{r}: want {:#x}, got {:#x}", want.s[r], got.s[r]));
        }
    }
    for (name, w, g) in [("v", &want.v, &got.v), ("a", &want.acc, &got.acc)] {
        for r in 0..w.len() {
            for lane in 0..want.lanes {
                if w[r][lane] != g[r][lane] {
                    let (w, g) = (w[r][lane], g[r][lane]);
                    return Some(format!("{name}{r} lane {lane}: want {w:#x}, got {g:#x}"));
                }
            }
        }
    }
    if let Some(i) = (0..want.lds.len()).find(|i| want.lds[*i] != got.lds[*i]) {
        let (w, g) = (want.lds[i], got.lds[i]);
        return Some(format!("LDS byte {i}: want {w:#x}, got {g:#x}"));
    }
    let rest = |s: &State| {
        format!(
            "vcc {:#x} exec {:#x} m0 {:#x} scc {}",
            s.vcc, s.exec, s.m0, s.scc
        )
    };
    Some(format!("want {}, got {}", rest(&want), rest(got)))
}

/// The sources of the lane that differs, for the message.
pub fn sources(message: &str, s: &State) -> String {
    let lane = message
        .split("lane ")
        .nth(1)
        .and_then(|t| t.split(':').next()?.parse::<usize>().ok());
    match lane {
        Some(lane) => {
            let words: Vec<String> = (2..8).map(|r| format!("{:#x}", s.v[r][lane])).collect();
            format!("v2..v7 {} v0 {:#x}", words.join(" "), s.v[0][lane])
        }
        None => format!("s2..s7 {:x?} scc {}", &s.s[2..8], s.scc),
    }
}
