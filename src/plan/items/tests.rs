//! Programs against the evaluation of the same graph, operation by operation.

use super::chains::{Cycle, cycle};
use super::items;
use crate::cpu::{self, Elements, Program, ThreadPool, Workspace, random as elements};
use crate::ir::{
    Binary, Dtype, Graph, Layout, Node, NodeId, Number, Op, Reduce, Shape, Type, Unary, Value,
};
use smallvec::smallvec;

fn compiled(graph: &Graph, leaves: &[Elements], inputs: &[usize]) -> crate::Result<Program> {
    let (items, constants) = items(graph, leaves, inputs)?;
    Program::new(items, &constants)
}

#[derive(Default)]
struct Builder {
    graph: Graph,
    leaves: Vec<Elements>,
}

impl Builder {
    fn leaf(&mut self, sizes: &[usize]) -> Value {
        let leaf = self.leaves.len();
        self.leaves.push(elements(sizes, leaf as u64 + 1));
        self.op(Op::Leaf(leaf), &[], sizes)
    }

    fn op(&mut self, op: Op, inputs: &[Value], sizes: &[usize]) -> Value {
        let outputs = vec![Type {
            dtype: Dtype::F32,
            shape: Shape::new(sizes.iter().copied()),
        }];
        let inputs = inputs.to_vec();
        let node: NodeId = self.graph.push(Node {
            op,
            inputs,
            outputs,
        });
        Value { node, output: 0 }
    }
}

/// A program's results for items with other inputs, together and alone, by one worker and by three, beside
/// those of its operations one by one. Leaf 0 is the input.
fn compare(builder: &Builder, items: usize, tolerance: f32) {
    let Builder { graph, leaves } = builder;
    let program = compiled(graph, leaves, &[0]).unwrap();
    let sizes = leaves[0].layout().sizes.clone();
    let inputs: Vec<Elements> = (0..items)
        .map(|i| elements(&sizes, 100 + i as u64))
        .collect();
    let run = |range: std::ops::Range<usize>, threads: usize| {
        let mut pool = ThreadPool::new(threads);
        let mut workspace = program.workspace(range.len() + 1, threads).unwrap();
        for (item, input) in inputs[range.clone()].iter().enumerate() {
            let to = program.input(&mut workspace, 0, item);
            to.copy_from_slice(&input.to_vec::<f32>());
        }
        let pool = (threads > 1).then_some(&mut pool);
        program.run(&mut workspace, range.len(), pool).unwrap();
        let outputs = 0..graph.outputs.len();
        let of = |item: usize, workspace: &mut Workspace| -> Vec<f32> {
            let all = outputs.clone();
            all.flat_map(|output| program.output(workspace, output, item).to_vec())
                .collect()
        };
        (0..range.len())
            .map(|item| of(item, &mut workspace))
            .collect::<Vec<_>>()
    };
    let all = run(0..items, 1);
    assert_eq!(all, run(0..items, 3));
    for (item, input) in inputs.iter().enumerate() {
        assert_eq!(run(item..item + 1, 1)[0], all[item]);
        let mut leaves = leaves.clone();
        leaves[0] = input.clone();
        let plain = graph.compute(&leaves, |id, inputs| cpu::results(graph.node(id), inputs));
        let plain = plain.unwrap();
        let plain: Vec<f32> = plain.iter().flat_map(Elements::to_vec::<f32>).collect();
        assert_eq!(plain.len(), all[item].len());
        for (found, exact) in all[item].iter().zip(&plain) {
            let error = (found - exact).abs();
            assert!(error <= tolerance * exact.abs().max(1.0), "{found} {exact}");
        }
    }
}

/// Chains with cycles of other lengths, a result that is read outside, a view that has to be copied.
#[test]
fn chains_and_views() {
    let mut b = Builder::default();
    let x = b.leaf(&[1, 6, 40]);
    let (bias, gates) = (b.leaf(&[40]), b.leaf(&[6, 40]));
    let spread = |b: &mut Builder, v: Value| b.op(Op::Broadcast, &[v], &[1, 6, 40]);
    let (bias, gates) = (spread(&mut b, bias), spread(&mut b, gates));
    let add = Op::Binary(Binary::Add);
    let y = b.op(add.clone(), &[x, bias], &[1, 6, 40]);
    let y = b.op(Op::Unary(Unary::Sigmoid), &[y], &[1, 6, 40]);
    let z = b.op(Op::Binary(Binary::Multiply), &[y, gates], &[1, 6, 40]);
    let turned = b.op(Op::Transpose(smallvec![0, 2, 1]), &[z], &[1, 40, 6]);
    let flat = b.op(Op::Reshape, &[turned], &[1, 240]);
    let flat = b.op(Op::Unary(Unary::Square), &[flat], &[1, 240]);
    let means = b.op(Op::Reduce(Reduce::Sum, smallvec![1]), &[y], &[1, 40]);
    let means = b.op(Op::Unary(Unary::Negative), &[means], &[1, 40]);
    let means = b.op(Op::ExpandDims, &[means], &[1, 1, 40]);
    let means = spread(&mut b, means);
    let last = b.op(add, &[z, means], &[1, 6, 40]);
    b.graph.outputs = vec![flat, last];
    compare(&b, 3, 2e-6);
}

/// Products, norms, attention of views, softmax and an operation without a form of its own.
#[test]
fn layers() {
    let mut b = Builder::default();
    let x = b.leaf(&[1, 6, 40]);
    let w = b.leaf(&[24, 40]);
    let (weight, bias) = (b.leaf(&[24]), b.leaf(&[24]));
    let w = b.op(Op::Transpose(smallvec![1, 0]), &[w], &[40, 24]);
    let rows = b.op(Op::Reshape, &[x], &[6, 40]);
    let y = b.op(Op::Matmul, &[rows, w], &[6, 24]);
    let norm = Op::LayerNorm {
        eps: Number::new(1e-3),
        weight: true,
        bias: true,
    };
    let y = b.op(norm, &[y, weight, bias], &[6, 24]);
    let heads = b.op(Op::Reshape, &[y], &[1, 6, 3, 8]);
    let heads = b.op(
        Op::Transpose(smallvec![0, 2, 1, 3]),
        &[heads],
        &[1, 3, 6, 8],
    );
    let attention = Op::ScaledDotProductAttention {
        scale: Number::new(0.4),
        causal: false,
        mask: false,
        sinks: false,
    };
    let y = b.op(attention, &[heads, heads, heads], &[1, 3, 6, 8]);
    let y = b.op(Op::Softmax { precise: true }, &[y], &[1, 3, 6, 8]);
    let y = b.op(Op::Unary(Unary::Tanh), &[y], &[1, 3, 6, 8]);
    b.graph.outputs = vec![y];
    compare(&b, 4, 2e-5);
}

#[test]
fn what_no_program_holds_is_refused() {
    let mut b = Builder::default();
    let x = b.leaf(&[1, 8]);
    b.graph.outputs = vec![x];
    let (graph, leaves) = (&b.graph, &b.leaves);
    // The input itself is a fine result; a constant and a part of something else are not.
    assert!(compiled(graph, leaves, &[0]).is_ok());
    assert!(compiled(graph, leaves, &[]).is_err());
    let spec = crate::ir::SliceSpec {
        start: smallvec![0, 0],
        step: smallvec![1, 1],
    };
    let part = b.op(Op::Slice(spec), &[x], &[1, 4]);
    b.graph.outputs = vec![part];
    assert!(compiled(&b.graph, &b.leaves, &[0]).is_err());
}

#[test]
fn cycles_of_layouts() {
    let of = |sizes: &[usize], strides: &[isize]| {
        cycle(&Layout {
            sizes: sizes.into(),
            strides: strides.into(),
            offset: 7,
        })
    };
    assert_eq!(of(&[2, 3, 4], &[12, 4, 1]), Some(Cycle::Every(24)));
    assert_eq!(of(&[2, 3, 4], &[0, 4, 1]), Some(Cycle::Every(12)));
    assert_eq!(of(&[2, 1, 4], &[0, 9, 1]), Some(Cycle::Every(4)));
    assert_eq!(of(&[2, 3], &[0, 0]), Some(Cycle::One));
    assert_eq!(of(&[], &[]), Some(Cycle::One));
    assert_eq!(of(&[2, 3], &[1, 0]), None);
    assert_eq!(of(&[2, 3], &[1, 2]), None);
}
