//! Transcendental instructions of f32 and f64 (manuals: VOP1), with the accuracy the manuals name: 1 ULP for
//! f32, whose denormals count as zero, and 2^29 ULP for f64.

use crate::harness::{Case, Close, Reg};
use crate::numbers::Kind::{self, F32, F64};
use crate::numbers::{d, f};
use crate::tables::vector;
use crate::valu_float::{bits, flush, w};

const ONE: &[Kind] = &[F32];
const ONE64: &[Kind] = &[F64];

fn transcendental(cases: &mut Vec<Case>) {
    let mut near = |name: &str, g: fn(f32) -> f64| {
        let mut case = vector(name, F32, ONE, move |s| {
            bits(flush(g(flush(f(s[0]))) as f32))
        });
        case.close = vec![(Reg::V(0), Close::F32(1))];
        cases.push(case);
    };
    for name in ["v_rcp_f32", "v_rcp_iflag_f32"] {
        near(name, |v| 1.0 / f64::from(v));
    }
    near("v_rsq_f32", |v| 1.0 / f64::from(v).sqrt());
    near("v_sqrt_f32", |v| f64::from(v).sqrt());
    near("v_exp_f32", |v| f64::from(v).exp2());
    near("v_log_f32", |v| f64::from(v).log2());
    for (name, g) in [
        ("v_sin_f32", f64::sin as fn(f64) -> f64),
        ("v_cos_f32", f64::cos),
    ] {
        let mut case = Case::new(
            format!("{name} v0, v2"),
            |s, random, _| {
                // Turns within the documented domain.
                s.v[2] = std::array::from_fn(|_| {
                    ((random.next() as i64 >> 40) as f32 / 32768.0).to_bits()
                });
                (s.v[2][0], s.v[2][1], s.v[2][2]) = (0, 0.25f32.to_bits(), (-0.5f32).to_bits());
                s.v[2][3] = f32::NAN.to_bits();
            },
            move |_, before, after| {
                for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                    let turns = w(before.v[2][lane].into());
                    after.v[0][lane] =
                        (g((turns - turns.round()) * std::f64::consts::TAU) as f32).to_bits();
                }
            },
        );
        case.close = vec![(Reg::V(0), Close::Near32(1e-6))];
        cases.push(case);
    }
    let mut far = |name: &str, g: fn(f64) -> f64| {
        let mut case = vector(name, F64, ONE64, move |s| g(d(s[0])).to_bits());
        case.close = vec![(Reg::V(0), Close::F64(1 << 29))];
        cases.push(case);
    };
    far("v_rcp_f64", |v| 1.0 / v);
    far("v_rsq_f64", |v| 1.0 / v.sqrt());
    far("v_sqrt_f64", f64::sqrt);
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    transcendental(&mut cases);
    cases
}
