//! Elements by index, read and written, and arrays put together: runs of neighbours at a time.

use super::blocks::{BLOCK, Narrow, parts, singles};
use super::copies;
use super::functions::{Apply, Function};
use super::level::{Float, at_best};
use super::source::Source;
use crate::cpu::ops::{Out, View, indices, slice_starts};
use crate::cpu::shared::SharedSlice;
use crate::cpu::threads::{ThreadPool, spread};
use crate::ir::{Binary, Dtype, Layout, Op, ScatterReduce};
use bytemuck::Pod;
use half::{bf16, f16};

/// Elements of a worker's share.
const SHARE: usize = 1 << 15;

/// A slice of an array that lies row after row: runs of neighbours, and where each begins.
struct Runs {
    len: usize,
    offsets: Vec<usize>,
}

impl Runs {
    fn of(x: &[usize], sizes: &[usize]) -> Runs {
        let strides = Layout::rows(x).strides;
        let mut axis = x.len();
        let mut len = 1;
        // Whole axes from the last one on, and a part of the one before.
        while axis > 0 {
            axis -= 1;
            len *= sizes[axis];
            if sizes[axis] != x[axis] {
                break;
            }
        }
        let mut offsets = vec![0];
        for axis in 0..axis {
            let step = strides[axis] as usize;
            let next = offsets
                .iter()
                .flat_map(|&at| (0..sizes[axis]).map(move |i| at + i * step));
            offsets = next.collect();
        }
        Runs { len, offsets }
    }

    /// Elements of the slice.
    fn count(&self) -> usize {
        self.len * self.offsets.len()
    }
}

/// Whether the view's elements lie row after row.
fn dense<'a, T: Pod>(x: &View<'a>) -> Option<&'a [T]> {
    Source::<T>::of(x)?.rows()
}

fn gather<T: Pod + Send + Sync>(
    x: &View<'_>,
    runs: &Runs,
    starts: &[usize],
    out: &mut Out<'_>,
    pool: Option<&mut ThreadPool>,
) -> bool {
    let Some(x) = dense::<T>(x) else {
        return false;
    };
    let count = runs.count();
    parts(out.values::<T>(), count, SHARE, pool, &|first, out| {
        let starts = &starts[first / count..];
        for (&start, out) in starts.iter().zip(out.chunks_exact_mut(count)) {
            for (&at, out) in runs.offsets.iter().zip(out.chunks_exact_mut(runs.len)) {
                match out {
                    [to] => *to = x[start + at],
                    out => out.copy_from_slice(&x[start + at..][..runs.len]),
                }
            }
        }
    });
    true
}

/// Index numbers as they are read.
trait Index: Pod + Send + Sync {
    fn place(self) -> i64;
}
impl Index for u32 {
    fn place(self) -> i64 {
        self.into()
    }
}
impl Index for i32 {
    fn place(self) -> i64 {
        self.into()
    }
}
impl Index for i64 {
    fn place(self) -> i64 {
        self
    }
}

/// Elements that each index along an axis names; false if one names none.
fn along<T: Pod + Send + Sync, I: Index>(
    x: &View<'_>,
    index: &View<'_>,
    axis: usize,
    out: &mut Out<'_>,
    pool: Option<&mut ThreadPool>,
) -> bool {
    let sizes = x.sizes();
    let others = |axis_: &usize| *axis_ != axis && sizes[*axis_] != index.sizes()[*axis_];
    if (0..sizes.len()).any(|axis| others(&axis)) {
        return false;
    }
    let (Some(x), Some(index)) = (dense::<T>(x), Source::<I>::of(index)) else {
        return false;
    };
    let inner: usize = sizes[axis + 1..].iter().product();
    let (size, count) = (sizes[axis], out.sizes()[axis]);
    let missed = std::sync::atomic::AtomicBool::new(false);
    parts(out.values::<T>(), 1, SHARE, pool, &|start, out| {
        let mut room = [I::zeroed(); BLOCK];
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            let start = start + block * BLOCK;
            let index = index.block(start, out.len(), &mut room);
            let miss = || missed.store(true, std::sync::atomic::Ordering::Relaxed);
            let named = |i: I| {
                let i = i.place();
                (if i < 0 { i + size as i64 } else { i }) as usize
            };
            let of_one = count * inner;
            let mut done = 0;
            while done < out.len() {
                // As far as one matrix of the axis and those behind it goes.
                let (outer, first) = ((start + done) / of_one, (start + done) % of_one);
                let len = (of_one - first).min(out.len() - done);
                let x = &x[outer * size * inner..][..size * inner];
                let pairs = out[done..done + len]
                    .iter_mut()
                    .zip(&index[done..done + len]);
                for (place, (to, &i)) in pairs.enumerate() {
                    let at = named(i);
                    let found = match inner {
                        1 => x.get(at),
                        _ if at < size => x.get(at * inner + (first + place) % inner),
                        _ => None,
                    };
                    match found {
                        Some(&x) => *to = x,
                        None => return miss(),
                    }
                }
                done += len;
            }
        }
    });
    // The plain form says which.
    !missed.into_inner()
}

/// Adds a run to what is there, rounded as a sum of two elements is.
fn add<T: Float>(to: &mut [T], from: &[T]) {
    let (mut of_a, mut of_b) = ([0f32; BLOCK], [0f32; BLOCK]);
    let mut sums = [0f32; BLOCK];
    for (to, from) in to.chunks_mut(BLOCK).zip(from.chunks(BLOCK)) {
        let sums = &mut sums[..to.len()];
        at_best(Apply {
            function: Function::Two(Binary::Add),
            a: singles(to, &mut of_a),
            b: singles(from, &mut of_b),
            out: sums,
        });
        at_best(Narrow(sums, to));
    }
}

/// Copies x, then meets each slice with its update: every worker has columns of its own, so that updates of a place come
/// in their order.
fn scatter<T: Pod + Send + Sync>(
    [x, updates]: [&View<'_>; 2],
    runs: &Runs,
    starts: &[usize],
    meet: fn(&mut [T], &[T]),
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> bool {
    let (Some(source), Some(updates)) = (Source::<T>::of(x), dense::<T>(updates)) else {
        return false;
    };
    let out = out.values::<T>();
    copies::copy(&source, out, pool.as_deref_mut());
    let out = SharedSlice::new(out);
    let pieces = (runs.len / 256).clamp(1, 8);
    let width = runs.len.div_ceil(pieces);
    spread(pool, runs.len.div_ceil(width), &|_, piece| {
        let columns = piece * width..((piece + 1) * width).min(runs.len);
        for (&start, updates) in starts.iter().zip(updates.chunks_exact(runs.count())) {
            for (&at, update) in runs.offsets.iter().zip(updates.chunks_exact(runs.len)) {
                let to = start + at + columns.start..start + at + columns.end;
                // SAFETY: columns of a run are one worker's.
                let to = unsafe { out.part(to).write() };
                meet(to, &update[columns.clone()]);
            }
        }
    });
    true
}

/// Arrays one after the other.
fn concatenate<T: Pod + Send + Sync>(
    inputs: &[View<'_>],
    axis: usize,
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> bool {
    let sources: Option<Vec<_>> = inputs.iter().map(Source::<T>::of).collect();
    let Some(sources) = sources else {
        return false;
    };
    let total: usize = out.sizes()[axis..].iter().product();
    let out = SharedSlice::new(out.values::<T>());
    let mut before = 0;
    for (view, source) in inputs.iter().zip(sources) {
        let (count, run) = (
            view.layout().count(),
            view.sizes()[axis..].iter().product::<usize>(),
        );
        spread(pool.as_deref_mut(), count.div_ceil(SHARE), &|_, share| {
            let (mut at, end) = (share * SHARE, ((share + 1) * SHARE).min(count));
            while at < end {
                let len = (run - at % run).min(end - at);
                let to = at / run * total + before + at % run;
                // SAFETY: elements of a share are one worker's.
                source.copy(at, unsafe { out.part(to..to + len).write() });
                at += len;
            }
        });
        before += run;
    }
    true
}

/// Runs an operation on places; false: there is no fast form of it, or an index is outside.
pub fn run(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    let Some(x) = inputs.first() else {
        return false;
    };
    macro_rules! of_size {
        ($size:expr, $t:ident => $call:expr) => {
            match $size {
                1 => {
                    type $t = u8;
                    $call
                }
                2 => {
                    type $t = u16;
                    $call
                }
                4 => {
                    type $t = u32;
                    $call
                }
                _ => {
                    type $t = u64;
                    $call
                }
            }
        };
    }
    let found = |views: &[View<'_>], axes: &[usize], sizes: &[usize]| {
        let read: Option<Vec<Vec<i64>>> = views.iter().map(|view| indices(op, view).ok()).collect();
        slice_starts(op, &Layout::rows(x.sizes()), axes, sizes, &read?).ok()
    };
    match op {
        Op::Gather { axes, sizes } => {
            let Some(starts) = found(&inputs[1..], axes, sizes) else {
                return false;
            };
            let runs = Runs::of(x.sizes(), sizes);
            of_size!(x.dtype().size(), T => gather::<T>(x, &runs, &starts, out, pool))
        }
        Op::GatherAxis(axis) => {
            let Some(index) = inputs.get(1) else {
                return false;
            };
            of_size!(x.dtype().size(), T => match index.dtype() {
                Dtype::U32 => along::<T, u32>(x, index, *axis, out, pool),
                Dtype::I32 => along::<T, i32>(x, index, *axis, out, pool),
                Dtype::I64 => along::<T, i64>(x, index, *axis, out, pool),
                _ => false,
            })
        }
        Op::Scatter(axes, reduce) => {
            let Some((updates, places)) = inputs[1..].split_last() else {
                return false;
            };
            let sizes = &updates.sizes()[updates.sizes().len() - x.sizes().len()..];
            let Some(starts) = found(places, axes, sizes) else {
                return false;
            };
            if updates.layout().count() == 0 || updates.dtype() != out.dtype() {
                return false;
            }
            let runs = Runs::of(x.sizes(), sizes);
            let sides = [x, updates];
            match (reduce, out.dtype()) {
                (ScatterReduce::None, dtype) => of_size!(dtype.size(), T => {
                    scatter::<T>(sides, &runs, &starts, |to, from| to.copy_from_slice(from), out, pool)
                }),
                (ScatterReduce::Sum, Dtype::F32) => {
                    scatter::<f32>(sides, &runs, &starts, add, out, pool)
                }
                (ScatterReduce::Sum, Dtype::F16) => {
                    scatter::<f16>(sides, &runs, &starts, add, out, pool)
                }
                (ScatterReduce::Sum, Dtype::Bf16) => {
                    scatter::<bf16>(sides, &runs, &starts, add, out, pool)
                }
                _ => false,
            }
        }
        Op::Concatenate(axis) => {
            of_size!(out.dtype().size(), T => concatenate::<T>(inputs, *axis, out, pool))
        }
        _ => false,
    }
}
