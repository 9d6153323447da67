//! Graphs of a GPU in which the CPU has some work first: that is done, and its results become leaves.

use super::collect::Collected;
use super::eval::on_host;
use super::home::{Data, Home};
use crate::Result;
use crate::ir::{Node, Op, Value};

/// The same results, without the CPU's operations that wait for nothing of a GPU: they are computed now. Nothing is done
/// where all of them are views, which plans take as they are, or where no GPU computes anything.
///
/// # Errors
/// Those of the operations.
pub(super) fn settle(collected: &mut Collected) -> Result<()> {
    let graph = &collected.graph;
    let is_leaf = |node: &Node| matches!(node.op, Op::Leaf(_));
    let nodes = || graph.nodes.iter().zip(&collected.homes);
    let on_gpus = nodes().any(|(node, home)| *home != Home::Cpu && !is_leaf(node));
    let works = |(node, home): (&Node, &Home)| {
        *home == Home::Cpu && !is_leaf(node) && !node.op.may_be_view()
    };
    if !on_gpus || !nodes().any(works) {
        return Ok(());
    }
    // What is in host memory, or made of that alone by the CPU.
    let mut made: Vec<Option<Vec<Data>>> = Vec::with_capacity(graph.nodes.len());
    for (node, home) in nodes() {
        let results = match &node.op {
            Op::Leaf(leaf) => match &collected.leaves[*leaf] {
                Data::Host(elements) => Some(vec![Data::Host(elements.clone())]),
                Data::Device(_) => None,
            },
            _ if *home != Home::Cpu => None,
            _ => {
                let input = |value: &Value| made[value.node.0].as_ref()?.get(value.output);
                let inputs: Option<Vec<&Data>> = node.inputs.iter().map(input).collect();
                inputs.map(|inputs| on_host(node, &inputs)).transpose()?
            }
        };
        made.push(results);
    }
    if made.iter().flatten().any(|results| results.len() != 1) {
        // A leaf is one array.
        return Ok(());
    }
    let graph = &mut collected.graph;
    for (node, results) in graph.nodes.iter_mut().zip(made) {
        if let Some(results) = results
            && !is_leaf(node)
        {
            node.op = Op::Leaf(collected.leaves.len());
            node.inputs.clear();
            collected.leaves.extend(results);
        }
    }
    let needed = graph.needed();
    let homes = std::mem::take(&mut collected.homes).into_iter().zip(needed);
    collected.homes = homes
        .filter_map(|(home, needed)| needed.then_some(home))
        .collect();
    graph.prune();
    let mut leaves = Vec::with_capacity(collected.leaves.len());
    for node in &mut graph.nodes {
        if let Op::Leaf(leaf) = &mut node.op {
            leaves.push(collected.leaves[*leaf].clone());
            *leaf = leaves.len() - 1;
        }
    }
    collected.leaves = leaves;
    Ok(())
}
