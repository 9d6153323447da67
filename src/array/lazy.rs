//! The array: a cheap handle to an operation that will make it, or to its elements.

use super::home::{Data, Home};
use crate::cpu::Elements;
use crate::gpu::DeviceBuffer;
use crate::gpu::arrays::Place;
use crate::ir::{
    Dtype, Graph, Input, Layout, Node, NodeId, Op, QuickMap, Shape, Symbol, Type, Value,
};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An n-dimensional array: lazy, immutable, cheap to clone.
///
/// Internally locked: any thread.
#[derive(Clone)]
pub struct Array(Arc<Inner>);

struct Inner {
    ty: Type,
    home: Home,
    /// Arrays are made in an order in which they can be computed.
    stamp: u64,
    content: Mutex<Content>,
}

/// Where an array's elements are, or come from.
enum Content {
    /// One result of a call that has not run.
    Pending(Arc<Call>, usize),
    /// They are there.
    Ready(Data),
}

/// An operation on arrays that has not run.
struct Call {
    op: Op,
    inputs: Vec<Array>,
    outputs: Vec<Type>,
    stamp: u64,
}

static STAMPS: AtomicU64 = AtomicU64::new(0);

impl Drop for Call {
    fn drop(&mut self) {
        // Chains of a million operations would overflow the stack if each dropped the next one.
        let mut left = std::mem::take(&mut self.inputs);
        while let Some(array) = left.pop() {
            if let Some(inner) = Arc::into_inner(array.0)
                && let Content::Pending(call, _) = inner.content.into_inner()
                && let Some(mut call) = Arc::into_inner(call)
            {
                left.append(&mut call.inputs);
            }
        }
    }
}

impl Array {
    /// The results of an operation whose shape rule has been applied.
    pub(super) fn call(op: Op, inputs: Vec<Array>, outputs: Vec<Type>) -> Vec<Array> {
        let home = home_of(&inputs);
        Array::call_at(home, op, inputs, outputs)
    }

    /// The same, computed at a home.
    pub(super) fn call_at(
        home: Home,
        op: Op,
        inputs: Vec<Array>,
        outputs: Vec<Type>,
    ) -> Vec<Array> {
        let stamp = STAMPS.fetch_add(1, Ordering::Relaxed);
        let call = Arc::new(Call {
            op,
            inputs,
            outputs,
            stamp,
        });
        let array = |(output, ty): (usize, &Type)| {
            Array(Arc::new(Inner {
                ty: ty.clone(),
                home: home.clone(),
                stamp,
                content: Mutex::new(Content::Pending(call.clone(), output)),
            }))
        };
        call.outputs.iter().enumerate().map(array).collect()
    }

    /// The one result of an operation.
    pub(super) fn one(op: Op, inputs: Vec<Array>, dtype: Dtype, shape: Shape) -> Array {
        let home = home_of(&inputs);
        Array::one_at(home, op, inputs, dtype, shape)
    }

    /// The same elements at another home.
    pub fn at(&self, home: &Home) -> Array {
        if *home == self.0.home {
            return self.clone();
        }
        let inputs = vec![self.clone()];
        Array::one_at(
            home.clone(),
            Op::Copy,
            inputs,
            self.dtype(),
            self.shape().clone(),
        )
    }

    /// Where it is computed and kept.
    pub fn home(&self) -> &Home {
        &self.0.home
    }

    fn one_at(home: Home, op: Op, inputs: Vec<Array>, dtype: Dtype, shape: Shape) -> Array {
        let stamp = STAMPS.fetch_add(1, Ordering::Relaxed);
        let ty = Type { dtype, shape };
        let call = Arc::new(Call {
            op,
            inputs,
            outputs: vec![ty.clone()],
            stamp,
        });
        Array(Arc::new(Inner {
            ty,
            home,
            stamp,
            content: Mutex::new(Content::Pending(call, 0)),
        }))
    }

    /// An array that has its elements.
    pub fn from_elements(elements: Elements) -> Array {
        let (dtype, layout) = (elements.dtype(), elements.layout().clone());
        Array::ready(Home::Cpu, dtype, &layout, Data::Host(elements))
    }

    /// An array whose elements are a part of a buffer on a GPU, row after row. They are there after the work that was
    /// queued with the buffer by now; nothing may write them as long as arrays see them.
    ///
    /// # Errors
    /// `InvalidArgument` if the part is not aligned or not inside; `OutOfMemory`, `DeviceLost`.
    pub fn from_buffer(
        buffer: &DeviceBuffer,
        offset: u64,
        dtype: Dtype,
        sizes: &[usize],
    ) -> Result<Array> {
        let place = Place::of(buffer.device())?;
        let elements = place.of_buffer(buffer, offset, dtype, sizes)?;
        let layout = elements.layout().clone();
        let home = Home::Gpu(place);
        Ok(Array::ready(home, dtype, &layout, Data::Device(elements)))
    }

    fn ready(home: Home, dtype: Dtype, layout: &Layout, data: Data) -> Array {
        let ty = Type {
            dtype,
            shape: Shape::new(layout.sizes.iter().copied()),
        };
        Array(Arc::new(Inner {
            ty,
            home,
            stamp: STAMPS.fetch_add(1, Ordering::Relaxed),
            content: Mutex::new(Content::Ready(data)),
        }))
    }

    /// An input of a model that is traced.
    pub fn input(input: Input) -> Array {
        let (dtype, symbol) = match input {
            Input::Tokens => (Dtype::U32, Symbol::Tokens),
            Input::Positions => (Dtype::I32, Symbol::Tokens),
            Input::Wanted => (Dtype::U32, Symbol::Wanted),
        };
        Array::one(Op::Input(input), Vec::new(), dtype, Shape::new([symbol]))
    }

    /// Dtype.
    pub fn dtype(&self) -> Dtype {
        self.0.ty.dtype
    }

    /// Shape.
    pub fn shape(&self) -> &Shape {
        &self.0.ty.shape
    }

    /// Dimensions.
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// Whether its elements are there, or queued on a GPU.
    pub fn is_evaluated(&self) -> bool {
        self.data().is_some()
    }

    /// The elements, if they are there.
    pub(super) fn data(&self) -> Option<Data> {
        match &*self.0.content.lock() {
            Content::Ready(data) => Some(data.clone()),
            _ => None,
        }
    }

    /// Gives the array its elements; the operation that would make them is let go.
    pub(super) fn set(&self, data: Data) {
        let old = std::mem::replace(&mut *self.0.content.lock(), Content::Ready(data));
        // Dropped outside the lock: it may drop other arrays.
        drop(old);
    }

    fn pending(&self) -> Option<(Arc<Call>, usize)> {
        match &*self.0.content.lock() {
            Content::Pending(call, output) => Some((call.clone(), *output)),
            _ => None,
        }
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Array({} {})", self.dtype(), self.shape())
    }
}

/// A graph of arrays: what has to run, what it starts from, and which arrays get its results.
pub(super) struct Collected {
    pub graph: Graph,
    /// The graph's leaves.
    pub leaves: Vec<Data>,
    /// Where each node of the graph is computed.
    pub homes: Vec<Home>,
    /// The array of each output of the graph.
    pub arrays: Vec<Array>,
    leaf_of: QuickMap<*const Inner, NodeId>,
}

impl Collected {
    /// The leaf that an array with elements is.
    pub fn leaf(&self, array: &Array) -> Option<usize> {
        let id = self.leaf_of.get(&Arc::as_ptr(&array.0))?;
        match self.graph.node(*id).op {
            Op::Leaf(leaf) => Some(leaf),
            _ => None,
        }
    }
}

/// The graph that makes `wanted`. Arrays on the way that somebody else holds become outputs too, so
/// that nothing is computed twice.
///
/// # Errors
/// `Internal` if an array was lost.
pub(super) fn collect(wanted: &[Array]) -> Result<Collected> {
    // Calls by stamp; arrays that have their elements by address.
    let mut calls: QuickMap<u64, (Arc<Call>, Home)> = QuickMap::default();
    // How often each array is held by what is collected here.
    let mut held: QuickMap<*const Inner, (Array, usize)> = QuickMap::default();
    let mut left: Vec<Array> = wanted.to_vec();
    while let Some(array) = left.pop() {
        let Some((call, _)) = array.pending() else {
            continue;
        };
        let entry = (call.clone(), array.0.home.clone());
        if calls.insert(call.stamp, entry).is_none() {
            for input in &call.inputs {
                let entry = held.entry(Arc::as_ptr(&input.0));
                entry.or_insert_with(|| (input.clone(), 0)).1 += 1;
                left.push(input.clone());
            }
        }
    }
    let mut order: Vec<&(Arc<Call>, Home)> = calls.values().collect();
    order.sort_by_key(|(call, _)| call.stamp);
    let mut graph = Graph::default();
    let (mut leaves, mut homes) = (Vec::new(), Vec::new());
    let mut arrays_of_leaves: Vec<*const Inner> = Vec::new();
    let mut nodes: QuickMap<u64, NodeId> = QuickMap::default();
    let mut leaf_of: QuickMap<*const Inner, NodeId> = QuickMap::default();
    let mut value = |graph: &mut Graph, nodes: &QuickMap<u64, NodeId>, array: &Array| match &*array
        .0
        .content
        .lock()
    {
        Content::Pending(call, output) => Ok(Value {
            node: *nodes
                .get(&call.stamp)
                .ok_or_else(|| Error::Internal("an array is older than its input".into()))?,
            output: *output,
        }),
        Content::Ready(data) => {
            let node = *leaf_of.entry(Arc::as_ptr(&array.0)).or_insert_with(|| {
                leaves.push(data.clone());
                arrays_of_leaves.push(Arc::as_ptr(&array.0));
                graph.push(Node {
                    op: Op::Leaf(leaves.len() - 1),
                    inputs: Vec::new(),
                    outputs: vec![array.0.ty.clone()],
                })
            });
            Ok(Value { node, output: 0 })
        }
    };
    for (call, home) in order {
        let inputs = call.inputs.iter();
        let inputs: Result<Vec<Value>> = inputs.map(|i| value(&mut graph, &nodes, i)).collect();
        let node = Node {
            op: call.op.clone(),
            inputs: inputs?,
            outputs: call.outputs.clone(),
        };
        let id = graph.push(node);
        nodes.insert(call.stamp, id);
        // Leaves stay where they are.
        homes.resize(id.0, Home::Cpu);
        homes.push(home.clone());
    }
    let mut arrays: Vec<Array> = Vec::new();
    for array in wanted {
        if !arrays.iter().any(|other| Arc::ptr_eq(&other.0, &array.0)) {
            let output = value(&mut graph, &nodes, array)?;
            graph.outputs.push(output);
            arrays.push(array.clone());
        }
    }
    // One holder is `held` itself.
    let mut shared: Vec<Array> = held
        .values()
        .filter(|(array, count)| Arc::strong_count(&array.0) > count + 1)
        .map(|(array, _)| array.clone())
        .filter(|array| array.pending().is_some())
        .filter(|array| !arrays.iter().any(|other| Arc::ptr_eq(&other.0, &array.0)))
        .collect();
    shared.sort_by_key(|array| array.0.stamp);
    for array in shared {
        let output = value(&mut graph, &nodes, &array)?;
        graph.outputs.push(output);
        arrays.push(array);
    }
    homes.resize(graph.nodes.len(), Home::Cpu);
    // Leaves that only one operation reads, which makes them anew with a part replaced, are given to it. That may be done
    // twice with the same result, should something fail meanwhile.
    for node in graph.nodes.iter().filter(|node| node.op.replaces_a_part()) {
        let Some(&Op::Leaf(leaf)) = node.inputs.first().map(|input| graph.op(*input)) else {
            continue;
        };
        // One holder is `held`, the other the operation.
        let alone = held.get(&arrays_of_leaves[leaf]);
        if alone.is_some_and(|(array, count)| *count == 1 && Arc::strong_count(&array.0) == 2)
            && let Data::Device(elements) = &mut leaves[leaf]
        {
            // Its array has them too.
            elements.give(2);
        }
    }
    Ok(Collected {
        graph,
        leaves,
        homes,
        arrays,
        leaf_of,
    })
}

/// Where the result of an operation is: where its inputs are; those of the CPU are moved to the others' GPU, and those of
/// the GPU's own place join the first that is on a stream.
pub(super) fn home_of(inputs: &[Array]) -> Home {
    let homes = inputs.iter().map(|input| &input.0.home);
    homes.fold(&Home::Cpu, Home::or).clone()
}

/// The graph of a model's forward pass, which `logits` are the result of.
///
/// # Errors
/// `Internal` if an array has elements: a model's constants are vectors and matrices.
pub fn trace(logits: &Array) -> Result<Graph> {
    let Collected {
        mut graph, leaves, ..
    } = collect(std::slice::from_ref(logits))?;
    if !leaves.is_empty() {
        return Err(Error::Internal(
            "a model's trace holds arrays with elements".into(),
        ));
    }
    // What the caller still holds is not asked for.
    graph.outputs.truncate(1);
    Ok(graph)
}
