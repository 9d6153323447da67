//! Runs: what each step does to the memory.

use super::{Input, Memory, Step, Work};
use crate::Result;
use crate::cpu::evaluate::compute;
use crate::cpu::kernels::Kernels;
use crate::cpu::ops::{Out, View};
use crate::cpu::products::{Rows, WORTH_SHARING};
use crate::cpu::scores::Matrix;
use crate::cpu::shared::SharedSlice;
use crate::cpu::threads::{ThreadPool, spread};
use crate::ir::{Dtype, Op};
use crate::step::{ItemAttention, ItemSource};
use smallvec::SmallVec;

/// Elements below which a step that does little with each is not worth other workers.
const SPREAD: usize = 1 << 15;

/// A run. Results have places apart from what a step reads, an item's parts are one worker's, and each worker has
/// scratch memory of its own: that is why the memory's unsafe functions may be called here.
pub(super) struct Run<'a> {
    pub kernels: &'static Kernels,
    pub memory: Memory<'a>,
    /// Scratch memory that workers share, and each one's own.
    pub shared: SharedSlice<'a>,
    pub own: &'a [SharedSlice<'a>],
    pub items: usize,
}

impl Run<'_> {
    /// Calls `work(worker, item)` for every item; workers share them if they have enough elements.
    fn each_item(
        &self,
        count: usize,
        pool: Option<&mut ThreadPool>,
        work: &(dyn Fn(usize, usize) + Sync),
    ) {
        let pool = pool.filter(|_| count * self.items >= SPREAD);
        spread(pool, self.items, work);
    }

    /// Calls `work(elements, result)` for every item; a source's elements from its first one on.
    fn map(
        &self,
        x: &ItemSource,
        out: usize,
        pool: Option<&mut ThreadPool>,
        work: &(dyn Fn(&[f32], &mut [f32]) + Sync),
    ) {
        self.each_item(x.layout.count(), pool, &|_, item| {
            // SAFETY: see `Run`.
            let (x, out) = unsafe {
                let out = self.memory.item(out, item).write();
                (self.memory.rest(x, item), out)
            };
            work(x, out);
        });
    }

    pub fn step(&self, step: &Step, pool: Option<&mut ThreadPool>) -> Result<()> {
        let (kernels, memory, items) = (self.kernels, &self.memory, self.items);
        let out = step.outputs.first().copied().unwrap_or_default();
        match &step.work {
            Work::Chain(chain) => self.each_item(chain.count(), pool, &|worker, item| {
                // SAFETY: see `Run`.
                unsafe { chain.run(kernels, memory, item, self.own[worker].write()) };
            }),
            Work::Copy(x) => self.map(x, out, pool, &|x_numbers, out| {
                let bytes = bytemuck::cast_slice(x_numbers);
                let mut out = out.iter_mut();
                View::whole(bytes, Dtype::F32, x.layout.from_start()).each(|at| {
                    if let Some(out) = out.next() {
                        *out = x_numbers[at];
                    }
                });
            }),
            Work::Product(x, panels) => {
                let count = x.layout.count();
                if count == memory.buffers[x.buffer].count {
                    // SAFETY: see `Run`.
                    let (x, out) = unsafe {
                        let out = memory.buffer(out, items).write();
                        (memory.buffer(x.buffer, items).read(), out)
                    };
                    panels.multiply(kernels, x, out, pool);
                } else {
                    self.map(x, out, pool, &|x, out| {
                        panels.multiply(kernels, &x[..count], out, None);
                    });
                }
            }
            Work::Winograd(x, winograd) => {
                // SAFETY: see `Run`.
                let boards = unsafe { memory.buffer(x.buffer, items).read() };
                let scratch = (self.shared, self.own);
                winograd.run(kernels, boards, memory.buffer(out, items), scratch, pool);
            }
            Work::LayerNorm(x, [weight, bias], eps) => self.map(x, out, pool, &|x, out| {
                let rows = x.chunks_exact(weight.len());
                for (x, out) in rows.zip(out.chunks_exact_mut(weight.len())) {
                    // SAFETY: the table is one that this CPU can run.
                    unsafe { (kernels.layer_norm)(x, weight, bias, *eps, out) };
                }
            }),
            Work::Softmax(x, row) => self.map(x, out, pool, &|x, out| {
                out.copy_from_slice(&x[..out.len()]);
                for row in out.chunks_exact_mut(*row) {
                    // SAFETY: the table is one that this CPU can run.
                    unsafe { (kernels.softmax)(row) };
                }
            }),
            Work::Sums(x) => self.map(x, out, pool, &|numbers, out| {
                out.fill(0.0);
                for row in numbers[..x.layout.count()].chunks_exact(out.len()) {
                    for (out, x) in out.iter_mut().zip(row) {
                        *out += x;
                    }
                }
            }),
            Work::Take(x, places) => self.map(x, out, pool, &|x, out| {
                for (out, &place) in out.iter_mut().zip(places) {
                    *out = x[place as usize];
                }
            }),
            Work::Attention(attention) => self.attention(attention, out, pool),
            Work::Call(op, inputs, sizes) => return self.call(step, op, inputs, sizes, pool),
        }
        Ok(())
    }

    /// Each head of each item is a chunk of work.
    fn attention(&self, attention: &ItemAttention, out: usize, pool: Option<&mut ThreadPool>) {
        let ItemAttention { sizes, sides, mask } = attention;
        let [q, k, v] = sides;
        let (rows, heads) = (sizes.rows, sizes.heads);
        let stride = |of: &ItemSource, axis: usize| of.layout.strides[axis] as usize;
        let of_head = rows * sizes.keys * (sizes.dim + sizes.width);
        let pool = pool.filter(|_| self.items * heads * of_head >= WORTH_SHARING);
        spread(pool, self.items * heads, &|worker, chunk| {
            let (item, head) = (chunk / heads, chunk % heads);
            let of_kv = head * sizes.kv_heads / heads;
            // SAFETY: see `Run`.
            let numbers = |of: &ItemSource, head: usize| unsafe {
                &self.memory.rest(of, item)[head * stride(of, 1)..]
            };
            let queries = Rows {
                numbers: numbers(q, head),
                stride: stride(q, 2),
                count: rows,
            };
            let matrix = |of: &ItemSource| Matrix {
                numbers: numbers(of, of_kv),
                strides: (stride(of, 2), stride(of, 3)),
            };
            let mask = mask.as_ref().map(|mask| numbers(mask, head));
            let result = head * rows * sizes.width..(head + 1) * rows * sizes.width;
            // SAFETY: see `Run`; a head's result is one worker's.
            let (scratch, out) = unsafe {
                let out = self.memory.item(out, item).part(result).write();
                (self.own[worker].write(), out)
            };
            sizes.head(
                self.kernels,
                queries,
                [matrix(k), matrix(v)],
                mask,
                scratch,
                out,
            );
        });
    }

    fn view<'b>(&'b self, input: &'b Input, item: usize) -> View<'b> {
        match input {
            Input::Known(elements) => View::of(elements),
            Input::Item(ItemSource { buffer, layout }) => {
                // SAFETY: see `Run`.
                let numbers = unsafe { self.memory.item(*buffer, item).read() };
                let dtype = self.memory.buffers[*buffer].dtype;
                View::whole(bytemuck::cast_slice(numbers), dtype, layout.clone())
            }
        }
    }

    /// An operation as arrays compute it, item by item.
    fn call(
        &self,
        step: &Step,
        op: &Op,
        inputs: &[Input],
        sizes: &[SmallVec<[usize; 4]>],
        mut pool: Option<&mut ThreadPool>,
    ) -> Result<()> {
        for item in 0..self.items {
            let views: SmallVec<[View<'_>; 4]> =
                inputs.iter().map(|input| self.view(input, item)).collect();
            let outs = step.outputs.iter().zip(sizes).map(|(&out, sizes)| {
                // SAFETY: see `Run`.
                let numbers = unsafe { self.memory.item(out, item).write() };
                let dtype = self.memory.buffers[out].dtype;
                Out::new(bytemuck::cast_slice_mut(numbers), dtype, sizes)
            });
            let mut outs = outs.collect::<Result<SmallVec<[Out<'_>; 2]>>>()?;
            compute(op, &views, &mut outs, pool.as_deref_mut())?;
        }
        Ok(())
    }
}
