//! The array: a cheap handle to an operation that will make it, or to its elements.

use super::collect::Mark;
use super::home::{Data, Home};
use crate::Result;
use crate::cpu::Elements;
use crate::gpu::DeviceBuffer;
use crate::gpu::arrays::Place;
use crate::ir::{Dtype, Input, Layout, Op, Shape, Symbol, Type};
use parking_lot::Mutex;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An n-dimensional array: lazy, immutable, cheap to clone.
///
/// Internally locked: any thread.
#[derive(Clone)]
pub struct Array(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub ty: Type,
    pub home: Home,
    /// Arrays are made in an order in which they can be computed.
    pub stamp: u64,
    pub content: Mutex<Content>,
    /// While a graph is collected: how often it reads the array.
    pub read: Mark,
    /// The node of its call or its elements there.
    pub node: Mark,
    /// Whether it is an output there.
    pub asked: Mark,
}

/// Where an array's elements are, or come from.
pub(super) enum Content {
    /// A call that has not run. (In the array itself: most arrays are one, and memory of its own would cost as much again.)
    Call(Call),
    /// One of several results of a call, which an array that nobody sees has.
    Part(Array, usize),
    /// They are there.
    Ready(Data),
}

/// What an operation reads; nearly all read a few.
pub(super) type Inputs = SmallVec<[Array; 4]>;

/// An operation on arrays that has not run.
pub(super) struct Call {
    pub op: Op,
    pub inputs: Inputs,
    /// Of several results; none if there is one, which its array tells.
    pub several: Vec<Type>,
}

static STAMPS: AtomicU64 = AtomicU64::new(0);

impl Drop for Call {
    fn drop(&mut self) {
        // Chains of a million operations would overflow the stack if each dropped the next one.
        let mut left = std::mem::take(&mut self.inputs);
        while let Some(mut array) = left.pop() {
            // Whoever else holds it drops it, and what it reads, himself.
            match Arc::get_mut(&mut array.0).map(|inner| inner.content.get_mut()) {
                Some(Content::Call(call)) => left.append(&mut call.inputs),
                Some(Content::Part(whole, _)) => left.push(whole.clone()),
                Some(Content::Ready(_)) | None => {}
            }
        }
    }
}

impl Array {
    /// The results of an operation whose shape rule has been applied.
    pub(super) fn call(
        op: Op,
        inputs: impl IntoIterator<Item = Array>,
        outputs: Vec<Type>,
    ) -> Vec<Array> {
        let inputs: Inputs = inputs.into_iter().collect();
        let home = home_of(&inputs);
        Array::call_at(home, op, inputs, outputs)
    }

    /// The same, computed at a home.
    pub(super) fn call_at(home: Home, op: Op, inputs: Inputs, outputs: Vec<Type>) -> Vec<Array> {
        let Some(first) = outputs.first().cloned() else {
            return Vec::new();
        };
        let several = if outputs.len() > 1 {
            outputs
        } else {
            Vec::new()
        };
        let call = Call {
            op,
            inputs,
            several: several.clone(),
        };
        let whole = Array::new(first, home, Content::Call(call));
        if several.is_empty() {
            return vec![whole];
        }
        let part = |(place, ty)| {
            let content = Content::Part(whole.clone(), place);
            Array::new(ty, whole.home().clone(), content)
        };
        several.into_iter().enumerate().map(part).collect()
    }

    fn new(ty: Type, home: Home, content: Content) -> Array {
        Array(Arc::new(Inner {
            ty,
            home,
            stamp: STAMPS.fetch_add(1, Ordering::Relaxed),
            content: Mutex::new(content),
            read: Mark::default(),
            node: Mark::default(),
            asked: Mark::default(),
        }))
    }

    /// The one result of an operation.
    pub(super) fn one(
        op: Op,
        inputs: impl IntoIterator<Item = Array>,
        dtype: Dtype,
        shape: Shape,
    ) -> Array {
        Array::of(op, inputs.into_iter().collect(), dtype, shape)
    }

    /// The same, of inputs as they are kept: for what most arrays are.
    pub(super) fn of(op: Op, inputs: Inputs, dtype: Dtype, shape: Shape) -> Array {
        let home = home_of(&inputs);
        Array::one_at(home, op, inputs, dtype, shape)
    }

    /// The same elements at another home.
    pub fn at(&self, home: &Home) -> Array {
        if *home == self.0.home {
            return self.clone();
        }
        let inputs = smallvec![self.clone()];
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

    fn one_at(home: Home, op: Op, inputs: Inputs, dtype: Dtype, shape: Shape) -> Array {
        let call = Call {
            op,
            inputs,
            several: Vec::new(),
        };
        Array::new(Type { dtype, shape }, home, Content::Call(call))
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
        Array::new(ty, home, Content::Ready(data))
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

    /// Whether it is what a call that has not run makes, or one of several results of it.
    pub(super) fn is_a_result(&self) -> bool {
        match &*self.0.content.lock() {
            Content::Call(call) => call.several.is_empty(),
            Content::Part(..) => true,
            Content::Ready(_) => false,
        }
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Array({} {})", self.dtype(), self.shape())
    }
}

/// Where the result of an operation is: where its inputs are; those of the CPU are moved to the others' GPU, and those of
/// the GPU's own place join the first that is on a stream.
pub(super) fn home_of(inputs: &[Array]) -> Home {
    let homes = inputs.iter().map(|input| &input.0.home);
    homes.fold(&Home::Cpu, Home::or).clone()
}
