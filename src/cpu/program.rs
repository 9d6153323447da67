//! Programs: a graph of arrays that runs many times. Constants are packed, every result has a place in one arena,
//! steps are in order; a run allocates nothing but what plain forms of operations do.
//!
//! A program is made of the graph of one item (a position, an image) and runs for any number of items at once:
//! each item is computed as if it were alone, so it gets the same bits in any company and by any number of
//! workers. Products take the rows of all items together.

mod chain;
mod prepare;
mod run;

use super::elements::Elements;
use super::huge;
use super::kernels::kernels;
use super::products::Panels;
use super::shared::SharedSlice;
use super::threads::ThreadPool;
use super::winograd::Winograd;
use crate::ir::Op;
use crate::step::{ItemAttention, ItemBuffer, ItemSource};
use crate::{Error, Result};
use chain::Chain;
use run::Run;
use smallvec::SmallVec;

/// What an operation takes.
enum Input {
    Known(Elements),
    Item(ItemSource),
}

/// What a step does.
enum Work {
    /// Functions of each element.
    Chain(Chain),
    /// Row after row.
    Copy(ItemSource),
    /// Rows times a matrix that is known.
    Product(ItemSource, Panels),
    /// A convolution of boards.
    Winograd(ItemSource, Winograd),
    /// Rows, normalized: weight and bias.
    LayerNorm(ItemSource, [Vec<f32>; 2], f32),
    /// The softmax of rows of this size.
    Softmax(ItemSource, usize),
    /// The sums of columns.
    Sums(ItemSource),
    /// Elements at places.
    Take(ItemSource, Vec<u32>),
    Attention(Box<ItemAttention>),
    /// Any other operation, item by item, and the sizes of its results.
    Call(Op, Vec<Input>, Vec<SmallVec<[usize; 4]>>),
}

struct Step {
    work: Work,
    outputs: Vec<usize>,
}

/// A program. Immutable: any thread; each run needs a [`Workspace`] of its own.
pub struct Program {
    steps: Vec<Step>,
    buffers: Vec<ItemBuffer>,
    /// Numbers of an item's arena.
    width: usize,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

/// The memory of a run. One thread at a time.
pub struct Workspace {
    memory: huge::Buffer,
    items: usize,
    workers: usize,
}

/// The memory of a run, while it runs.
#[derive(Clone, Copy)]
struct Memory<'a> {
    arena: SharedSlice<'a>,
    buffers: &'a [ItemBuffer],
    /// Items that there is room for.
    items: usize,
}

impl<'a> Memory<'a> {
    /// A buffer of so many items.
    fn buffer(&self, buffer: usize, items: usize) -> SharedSlice<'a> {
        let ItemBuffer { count, offset, .. } = self.buffers[buffer];
        assert!(items <= self.items, "more items than there is room for");
        let start = offset * self.items;
        self.arena.part(start..start + count * items)
    }

    /// An item's part of a buffer.
    fn item(&self, buffer: usize, item: usize) -> SharedSlice<'a> {
        let count = self.buffers[buffer].count;
        self.buffer(buffer, item + 1)
            .part(item * count..(item + 1) * count)
    }

    /// So many numbers of an item from the first one of a source on.
    ///
    /// # Safety
    /// Nobody writes them meanwhile.
    unsafe fn numbers(&self, source: &ItemSource, item: usize, count: usize) -> &'a [f32] {
        let offset = source.layout.offset;
        let part = self.item(source.buffer, item).part(offset..offset + count);
        // SAFETY: the caller's promise.
        unsafe { part.read() }
    }

    /// All numbers of an item from the first one of a source on.
    ///
    /// # Safety
    /// As [`Memory::numbers`].
    unsafe fn rest(&self, source: &ItemSource, item: usize) -> &'a [f32] {
        let count = self.buffers[source.buffer].count - source.layout.offset;
        // SAFETY: the caller's promise.
        unsafe { self.numbers(source, item, count) }
    }
}

impl Program {
    /// Memory for runs of up to `items` items by up to `workers` workers.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn workspace(&self, items: usize, workers: usize) -> Result<Workspace> {
        let (shared, own) = self.scratch(items);
        let bytes = own
            .checked_mul(workers)
            .and_then(|own| own.checked_add(shared))
            .and_then(|scratch| self.width.checked_mul(items)?.checked_add(scratch))
            .and_then(|numbers| numbers.checked_mul(size_of::<f32>()));
        let bytes =
            bytes.ok_or_else(|| Error::OutOfMemory(format!("a program for {items} items")))?;
        Ok(Workspace {
            memory: huge::Buffer::new(bytes)?,
            items,
            workers,
        })
    }

    /// Scratch memory that workers share, and each one's own, for any step.
    fn scratch(&self, items: usize) -> (usize, usize) {
        let of = |step: &Step| match &step.work {
            Work::Chain(chain) => (0, chain.scratch()),
            Work::Winograd(_, winograd) => winograd.scratch(items),
            Work::Attention(attention) => (0, attention.sizes.scratch()),
            _ => (0, 0),
        };
        let most = |a: (usize, usize), b: (usize, usize)| (a.0.max(b.0), a.1.max(b.1));
        self.steps.iter().map(of).fold((0, 0), most)
    }

    fn memory<'a>(&'a self, workspace: &'a mut Workspace) -> (Memory<'a>, SharedSlice<'a>) {
        let len = workspace.memory.len() / size_of::<f32>();
        let start = workspace.memory.as_ptr().cast::<f32>();
        // SAFETY: the buffer's numbers, aligned as pages are; the workspace is borrowed as long.
        let all = SharedSlice::new(unsafe { std::slice::from_raw_parts_mut(start, len) });
        let end = self.width * workspace.items;
        let memory = Memory {
            arena: all.part(0..end),
            buffers: &self.buffers,
            items: workspace.items,
        };
        (memory, all.part(end..len))
    }

    /// An item's input, to write before a run.
    pub fn input<'a>(
        &'a self,
        workspace: &'a mut Workspace,
        input: usize,
        item: usize,
    ) -> &'a mut [f32] {
        let (memory, _) = self.memory(workspace);
        // SAFETY: the workspace is borrowed exclusively.
        unsafe { memory.item(self.inputs[input], item).write() }
    }

    /// An item's result, to read after a run.
    pub fn output<'a>(
        &'a self,
        workspace: &'a mut Workspace,
        output: usize,
        item: usize,
    ) -> &'a [f32] {
        let (memory, _) = self.memory(workspace);
        // SAFETY: the workspace is borrowed exclusively.
        unsafe { memory.item(self.outputs[output], item).read() }
    }

    /// Runs for the first `items` items, by the workers of a pool if there is one.
    ///
    /// # Errors
    /// Those of operations without a form of their own here.
    pub fn run(
        &self,
        workspace: &mut Workspace,
        items: usize,
        mut pool: Option<&mut ThreadPool>,
    ) -> Result<()> {
        let threads = pool.as_ref().map_or(1, |pool| pool.threads());
        if items > workspace.items || threads > workspace.workers {
            return Err(Error::Internal(format!(
                "{items} items by {threads} workers with memory for {} by {}",
                workspace.items, workspace.workers
            )));
        }
        let (shared, own) = self.scratch(workspace.items);
        let (memory, scratch) = self.memory(workspace);
        let part = |worker: usize| shared + worker * own..shared + (worker + 1) * own;
        let own: SmallVec<[SharedSlice<'_>; 8]> = (0..threads)
            .map(|worker| scratch.part(part(worker)))
            .collect();
        let run = Run {
            kernels: kernels(),
            memory,
            shared: scratch.part(0..shared),
            own: &own,
            items,
        };
        for step in &self.steps {
            run.step(step, pool.as_deref_mut())?;
        }
        Ok(())
    }
}
