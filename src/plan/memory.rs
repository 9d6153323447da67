//! Memory plan: every buffer gets a fixed place in one arena; buffers that never live at the same
//! time share it.

use crate::ir::Op;
use crate::step::{self, Buffer, BufferId, Epilogue, Place, Step};

/// Sets the offsets of `buffers`; returns the arena's floats a row.
pub fn plan(steps: &[Step], buffers: &mut [Buffer]) -> usize {
    // First and last step that touch each buffer.
    let mut lives: Vec<Option<(usize, usize)>> = vec![None; buffers.len()];
    let mut one = 0..0;
    for (at, step) in steps.iter().enumerate() {
        if at >= one.end {
            let count = step::together(&steps[at..]).map_or(1, |steps| steps.steps());
            one = at..at + count;
        }
        for id in touched(step).into_iter().chain(routed(step, steps)) {
            // Steps come in order, so whoever touches first keeps the first place.
            lives[id.0].get_or_insert((one.start, 0)).1 = one.end - 1;
        }
    }
    for step in steps {
        // Where every row is wanted in order, a device goes on with `x`.
        if let Step::SelectWanted { x, out } = step
            && let Some((_, end)) = lives[out.0]
            && let Some(life) = &mut lives[x.0]
        {
            life.1 = life.1.max(end);
        }
    }
    let widths: Vec<usize> = buffers.iter().map(|buffer| buffer.width).collect();
    let (offsets, arena) = step::place(&lives, &widths);
    for (buffer, offset) in buffers.iter_mut().zip(offsets) {
        buffer.offset = offset;
    }
    arena
}

/// The logits that a step's experts were chosen by: a device may choose again instead of keeping what it chose.
fn routed(step: &Step, steps: &[Step]) -> Option<BufferId> {
    let Step::Experts(experts) = step else {
        return None;
    };
    steps.iter().find_map(|step| match step {
        Step::Plain {
            op: Op::Route(_),
            inputs,
            outputs,
        } if outputs.first().is_some_and(|(id, _)| *id == experts.index) => {
            match inputs.first()?.place {
                Place::Buffer(logits) => Some(logits),
                _ => None,
            }
        }
        _ => None,
    })
}

fn touched(step: &Step) -> Vec<BufferId> {
    match step {
        Step::Embed { out, .. } => vec![*out],
        Step::SelectWanted { x, out } => vec![*x, *out],
        Step::Logits { x } => vec![*x],
        Step::Experts(step) => {
            let others = [step.weights, step.residual].into_iter().flatten();
            others.chain([step.x, step.index, step.out]).collect()
        }
        Step::ShortConv(step) => vec![step.x, step.out],
        Step::GatedDelta(step) => {
            let inputs = step.qkv.into_iter();
            inputs.chain([step.decay, step.beta, step.out]).collect()
        }
        Step::GatedNorm(step) => vec![step.x, step.z, step.out],
        Step::Plain {
            inputs, outputs, ..
        } => {
            let buffer = |place| match place {
                Place::Buffer(id) => Some(id),
                _ => None,
            };
            let read = inputs.iter().filter_map(|input| buffer(input.place));
            read.chain(outputs.iter().map(|(id, _)| *id)).collect()
        }
        Step::Attend(attend) => vec![attend.q, attend.k, attend.v, attend.out],
        Step::Matmul {
            x,
            products,
            epilogue,
            ..
        } => {
            let mut ids = vec![*x];
            ids.extend(products.iter().filter_map(|p| p.out));
            if let Epilogue::Add(residual) = epilogue {
                ids.push(*residual);
            }
            ids
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Binary, Dim, Dtype, Shape, Symbol, Type, Unary};
    use crate::step::{Attend, Attention, MatrixId, Product, Rows, Source, Together};

    fn buffer(width: usize) -> Buffer {
        Buffer {
            rows: Rows::Tokens,
            width,
            offset: 0,
        }
    }

    fn matmul(x: usize, out: usize) -> Step {
        let product = Product {
            weight: MatrixId(0),
            bias: None,
            out: Some(BufferId(out)),
        };
        Step::Matmul {
            x: BufferId(x),
            norm: None,
            products: vec![product],
            epilogue: Epilogue::Store,
        }
    }

    /// A device may run an attention and its gate as one launch, which writes the last step's result while it reads what the
    /// first one does.
    #[test]
    fn what_may_run_as_one_shares_nothing() {
        let ty = Type {
            dtype: Dtype::F32,
            shape: Shape::new([Dim::from(Symbol::Tokens), 64.into()]),
        };
        let plain = |op: Op, inputs: &[usize], out: usize| Step::Plain {
            op,
            inputs: inputs
                .iter()
                .map(|&id| Source {
                    place: Place::Buffer(BufferId(id)),
                    ty: ty.clone(),
                })
                .collect(),
            outputs: vec![(BufferId(out), ty.clone())],
        };
        let attend = Attend {
            q: BufferId(1),
            k: BufferId(2),
            v: BufferId(3),
            out: BufferId(5),
            q_norm: None,
            k_norm: None,
            sinks: None,
            rope: None,
            state: 0,
            shape: Attention {
                heads: 1,
                kv_heads: 1,
                head_dim: 64,
                scale: 1.0,
                window: None,
                chunk: None,
                cap: None,
            },
        };
        let mut steps = vec![Step::Embed {
            table: MatrixId(0),
            out: BufferId(0),
        }];
        steps.extend((1..5).map(|out| matmul(0, out)));
        steps.push(Step::Attend(attend));
        steps.push(plain(Op::Unary(Unary::Sigmoid), &[4], 6));
        steps.push(plain(Op::Binary(Binary::Multiply), &[5, 6], 7));
        steps.push(matmul(7, 8));
        assert_eq!(
            step::together(&steps[5..]),
            Some(Together::GatedAttention {
                attend,
                gate: BufferId(4),
                out: BufferId(7)
            })
        );
        let mut buffers = [buffer(64); 9].to_vec();
        plan(&steps, &mut buffers);
        let offset = |id: usize| buffers[id].offset;
        for read in 1..7 {
            assert_ne!(offset(read), offset(7), "{read}");
        }
        // Before and behind them memory is shared as ever.
        assert!((1..8).any(|id| offset(id) == offset(8)));
    }

    #[test]
    fn buffers_that_live_together_do_not_overlap() {
        let mut steps = vec![Step::Embed {
            table: MatrixId(0),
            out: BufferId(0),
        }];
        steps.extend((0..6).map(|i| matmul(i, i + 1)));
        steps.push(matmul(2, 7)); // keeps 2 alive to the end
        let mut buffers: Vec<Buffer> = [64, 32, 16, 128, 8, 64, 32, 16].map(buffer).to_vec();
        let arena = plan(&steps, &mut buffers);
        let lives = |id: usize| {
            let at = |f: fn(&mut dyn Iterator<Item = usize>) -> Option<usize>| {
                f(&mut (0..steps.len()).filter(|&s| touched(&steps[s]).contains(&BufferId(id))))
            };
            (at(|i| i.min()).unwrap(), at(|i| i.max()).unwrap())
        };
        for a in 0..buffers.len() {
            for b in 0..a {
                let (la, lb) = (lives(a), lives(b));
                if la.0 <= lb.1 && lb.0 <= la.1 {
                    let (x, y) = (buffers[a], buffers[b]);
                    assert!(
                        x.offset + x.width <= y.offset || y.offset + y.width <= x.offset,
                        "{a} and {b} overlap"
                    );
                }
            }
        }
        assert!(
            arena < buffers.iter().map(|b| b.width).sum(),
            "nothing was shared"
        );
    }
}
