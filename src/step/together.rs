//! Steps that follow each other and that a device may run as one: what they touch lives through all of them.

use super::steps::{Attend, BufferId, GatedDelta, GatedNorm, Place, ShortConv, Step};
use crate::ir::{Binary, Op, Unary};

/// What the first few of some steps are together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Together {
    /// A gated delta rule of what a convolution gives, and the norm of each head of it.
    DeltaNet {
        /// Gives q, k and v.
        conv: ShortConv,
        /// The rule.
        rule: GatedDelta,
        /// Of its results.
        norm: Option<GatedNorm>,
    },
    /// `out = attention · sigmoid(gate)`.
    GatedAttention {
        /// The attention.
        attend: Attend,
        /// As its results.
        gate: BufferId,
        /// As its results.
        out: BufferId,
    },
}

impl Together {
    /// How many steps.
    pub fn steps(&self) -> usize {
        match self {
            Together::DeltaNet { norm, .. } => 2 + usize::from(norm.is_some()),
            Together::GatedAttention { .. } => 3,
        }
    }
}

/// What the first of `steps` are together, if anything.
pub fn together(steps: &[Step]) -> Option<Together> {
    match steps {
        [Step::ShortConv(conv), Step::GatedDelta(rule), rest @ ..] if rule.qkv == [conv.out; 3] => {
            let norm = match rest.first() {
                Some(Step::GatedNorm(norm)) if norm.x == rule.out => Some(*norm),
                _ => None,
            };
            Some(Together::DeltaNet {
                conv: *conv,
                rule: *rule,
                norm,
            })
        }
        [Step::Attend(attend), sigmoid, product, ..] => {
            let (gate, factor) = sigmoid_of(sigmoid)?;
            let (sides, out) = product_of(product)?;
            let mine = [attend.out, factor];
            let fits = sides == mine || sides == [mine[1], mine[0]];
            fits.then_some(Together::GatedAttention {
                attend: *attend,
                gate,
                out,
            })
        }
        _ => None,
    }
}

/// Of which buffer a step is the sigmoid, and where it is.
fn sigmoid_of(step: &Step) -> Option<(BufferId, BufferId)> {
    let Step::Plain {
        op: Op::Unary(Unary::Sigmoid),
        inputs,
        outputs,
    } = step
    else {
        return None;
    };
    match (inputs.as_slice(), outputs.as_slice()) {
        ([x], [(out, _)]) => match x.place {
            Place::Buffer(x) => Some((x, *out)),
            _ => None,
        },
        _ => None,
    }
}

/// Of which two buffers of one shape a step is the product, number by number, and where it is.
fn product_of(step: &Step) -> Option<([BufferId; 2], BufferId)> {
    let Step::Plain {
        op: Op::Binary(Binary::Multiply),
        inputs,
        outputs,
    } = step
    else {
        return None;
    };
    let ([a, b], [(out, ty)]) = (inputs.as_slice(), outputs.as_slice()) else {
        return None;
    };
    match (a.place, b.place) {
        (Place::Buffer(x), Place::Buffer(y)) if a.ty == *ty && b.ty == *ty => Some(([x, y], *out)),
        _ => None,
    }
}
