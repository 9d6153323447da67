//! The read-modify-write operations (manuals: DS, FLAT and MUBUF atomics), with their names in each
//! generation.

use crate::harness::{On, generation};
use crate::numbers::Kind::{self, F32, F64, PBf16, PF16, U32, U64};
use crate::numbers::{BF16, F16, Random, any, d, f};

/// An operation of one width: memory gets `apply(old, data)`.
#[derive(Clone)]
pub struct Operation {
    pub bytes: usize,
    pub compares: bool,
    pub exchanges: bool,
    pub apply: fn(u64, u64) -> u64,
    kind: Kind,
    /// `add`, and the type since RDNA 3 (`u32`).
    name: &'static str,
    ty: &'static str,
}

type Names = Vec<(String, On)>;

impl Operation {
    /// What memory holds before: data, or for comparisons one of two values that data is compared with.
    pub fn old_value(&self, random: &mut Random) -> u64 {
        let values = [0x8000_0001_0000_0007, 0x8000_0001_0000_0006];
        let v = if self.compares {
            values[random.below(2)]
        } else {
            self.value(random)
        };
        if self.bytes == 4 { v & 0xffff_ffff } else { v }
    }

    /// A value without NaN, whose handling in memory the manuals leave to the unit.
    pub fn value(&self, random: &mut Random) -> u64 {
        loop {
            let v = any(self.kind, random);
            let half = |n: u32| F16.decode((v >> n) as u32 & 0xffff).is_nan();
            let brain = |n: u32| BF16.decode((v >> n) as u32 & 0xffff).is_nan();
            let nan = match self.kind {
                F32 => f(v).is_nan(),
                F64 => d(v).is_nan(),
                PF16 => half(0) || half(16),
                PBf16 => brain(0) || brain(16),
                _ => false,
            };
            if !nan {
                return v;
            }
        }
    }

    fn is_float(&self) -> bool {
        matches!(self.kind, F32 | F64)
    }

    /// Names without `ds_`.
    pub fn ds_names(&self) -> Names {
        let ty = self.ty;
        match self.name {
            "swap" => vec![
                (format!("wrxchg_{ty}"), |t| generation(t) <= 10),
                (format!("storexchg_{ty}"), |t| generation(t) >= 11),
            ],
            "cmpswap" => vec![
                (format!("cmpst_{ty}"), |t| generation(t) <= 10),
                (format!("cmpstore_{ty}"), |t| generation(t) >= 11),
            ],
            "min" | "max" if self.is_float() => vec![
                (format!("{}_{ty}", self.name), |t| generation(t) <= 11),
                (format!("{}_num_{ty}", self.name), |t| generation(t) == 12),
            ],
            "csub" => vec![(format!("sub_clamp_{ty}"), |t| generation(t) == 12)],
            name => vec![(format!("{name}_{ty}"), |_| true)],
        }
    }

    /// Names after `global_atomic_`.
    pub fn names(&self) -> Names {
        let wide = if self.bytes == 8 { "_x2" } else { "" };
        let ty = self.ty;
        let old: fn(&str) -> bool = |t| generation(t) <= 10;
        let new: fn(&str) -> bool = |t| generation(t) >= 11;
        match (self.name, self.ty) {
            ("rsub", _) => Vec::new(),
            ("add", "f64") => vec![("add_f64".into(), |t| generation(t) == 9)],
            ("add", "f32") | ("pk_add", _) => vec![(format!("{}_{ty}", self.name), |_| true)],
            ("min" | "max", "f32") => vec![
                (format!("f{}", self.name), |t| generation(t) == 10),
                (format!("{}_f32", self.name), |t| generation(t) == 11),
                (format!("{}_num_f32", self.name), |t| generation(t) == 12),
            ],
            ("min" | "max", "f64") => vec![
                (format!("f{}_x2", self.name), |t| generation(t) == 10),
                (format!("{}_f64", self.name), |t| generation(t) == 9),
            ],
            ("csub", _) => vec![
                ("csub".into(), |t| generation(t) == 10),
                ("csub_u32".into(), |t| generation(t) >= 11),
                ("sub_clamp_u32".into(), |t| generation(t) == 12),
            ],
            ("min" | "max", _) => vec![
                (
                    format!(
                        "{}{}{wide}",
                        if ty.starts_with('i') { "s" } else { "u" },
                        self.name
                    ),
                    old,
                ),
                (format!("{}_{ty}", self.name), new),
            ],
            (name, _) => vec![
                (format!("{name}{wide}"), old),
                (format!("{name}_{ty}"), new),
            ],
        }
    }
}

fn halves(format: crate::numbers::Format, a: u64, b: u64) -> u64 {
    let one = |n: u32| {
        let half = |v: u64| format.decode((v >> n) as u32 & 0xffff);
        u64::from(format.encode(half(a) + half(b)))
    };
    one(0) | one(16) << 16
}

/// All operations in both widths.
pub fn operations() -> Vec<Operation> {
    let mut all = Vec::new();
    let mut add = |name, ty: &'static str, kind: Kind, apply: fn(u64, u64) -> u64| {
        all.push(Operation {
            bytes: if ty.ends_with("64") { 8 } else { 4 },
            compares: name == "cmpswap",
            exchanges: name == "swap",
            apply,
            kind,
            name,
            ty,
        });
    };
    for (ty32, ty64, name, narrow, wide) in [
        (
            "b32",
            "b64",
            "swap",
            (|_, v| v) as fn(u64, u64) -> u64,
            (|_, v| v) as fn(u64, u64) -> u64,
        ),
        ("b32", "b64", "cmpswap", |_, v| v, |_, v| v),
        (
            "u32",
            "u64",
            "add",
            |m, v| (m + v) & 0xffff_ffff,
            |m, v| m.wrapping_add(v),
        ),
        (
            "u32",
            "u64",
            "sub",
            |m, v| m.wrapping_sub(v) & 0xffff_ffff,
            |m, v| m.wrapping_sub(v),
        ),
        (
            "u32",
            "u64",
            "rsub",
            |m, v| v.wrapping_sub(m) & 0xffff_ffff,
            |m, v| v.wrapping_sub(m),
        ),
        (
            "i32",
            "i64",
            "min",
            |m, v| if (m as i32) < v as i32 { m } else { v },
            |m, v| if (m as i64) < v as i64 { m } else { v },
        ),
        (
            "i32",
            "i64",
            "max",
            |m, v| if (m as i32) > v as i32 { m } else { v },
            |m, v| if (m as i64) > v as i64 { m } else { v },
        ),
        ("u32", "u64", "min", |m, v| m.min(v), |m, v| m.min(v)),
        ("u32", "u64", "max", |m, v| m.max(v), |m, v| m.max(v)),
        ("b32", "b64", "and", |m, v| m & v, |m, v| m & v),
        ("b32", "b64", "or", |m, v| m | v, |m, v| m | v),
        ("b32", "b64", "xor", |m, v| m ^ v, |m, v| m ^ v),
        // Wraps to 0 beyond the data; down from 0, or from beyond it, to the data.
        (
            "u32",
            "u64",
            "inc",
            |m, v| if m >= v { 0 } else { m + 1 },
            |m, v| if m >= v { 0 } else { m + 1 },
        ),
        (
            "u32",
            "u64",
            "dec",
            |m, v| if m == 0 || m > v { v } else { m - 1 },
            |m, v| if m == 0 || m > v { v } else { m - 1 },
        ),
    ] {
        add(name, ty32, U32, narrow);
        add(name, ty64, U64, wide);
    }
    add("csub", "u32", U32, |m, v| m.saturating_sub(v));
    add("add", "f32", F32, |m, v| (f(m) + f(v)).to_bits().into());
    add("add", "f64", F64, |m, v| (d(m) + d(v)).to_bits());
    add("min", "f32", F32, |m, v| if f(v) < f(m) { v } else { m });
    add("max", "f32", F32, |m, v| if f(v) > f(m) { v } else { m });
    add("min", "f64", F64, |m, v| if d(v) < d(m) { v } else { m });
    add("max", "f64", F64, |m, v| if d(v) > d(m) { v } else { m });
    add("pk_add", "f16", PF16, |m, v| halves(F16, m, v));
    add("pk_add", "bf16", PBf16, |m, v| halves(BF16, m, v));
    all
}
