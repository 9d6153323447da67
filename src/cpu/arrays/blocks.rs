//! Results in blocks, by all workers.

use super::level::{Float, Level, Work, at_best};
use super::source::Source;
use crate::cpu::shared::SharedSlice;
use crate::cpu::threads::{ThreadPool, spread};
use bytemuck::{Pod, Zeroable};

/// Elements that a function is called with at once: a few of such blocks lie in the first cache.
pub const BLOCK: usize = 1024;
/// Elements of a worker's share of an array; smaller arrays are not worth waking others.
const SHARE: usize = 32 * BLOCK;

/// Calls `work(first element, its part of out)` for parts of about `size` elements, whole multiples of `unit`.
pub fn parts<T: Pod + Send + Sync>(
    out: &mut [T],
    unit: usize,
    size: usize,
    pool: Option<&mut ThreadPool>,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let (unit, len) = (unit.max(1), out.len());
    let size = (size / unit).max(1) * unit;
    let out = SharedSlice::new(out);
    spread(pool, len.div_ceil(size), &|_, part| {
        let start = part * size;
        // SAFETY: each part is one worker's.
        let out = unsafe { out.part(start..(start + size).min(len)).write() };
        work(start, out);
    });
}

/// Calls `work(first element, its block of out)` for every block of an array.
pub fn blocks<T: Pod + Send + Sync>(
    out: &mut [T],
    pool: Option<&mut ThreadPool>,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    parts(out, 1, SHARE, pool, &|start, out| {
        for (place, out) in out.chunks_mut(BLOCK).enumerate() {
            work(start + place * BLOCK, out);
        }
    });
}

/// A function of blocks of one input.
pub fn of_one<A, R>(
    a: &Source<'_, A>,
    out: &mut [R],
    pool: Option<&mut ThreadPool>,
    function: impl Fn(&[A], &mut [R]) + Sync,
) where
    A: Pod + Send + Sync,
    R: Pod + Send + Sync,
{
    blocks(out, pool, &|start, out| {
        let mut room = [A::zeroed(); BLOCK];
        function(a.block(start, out.len(), &mut room), out);
    });
}

/// A function of blocks of two inputs.
pub fn of_two<A, R>(
    [a, b]: [&Source<'_, A>; 2],
    out: &mut [R],
    pool: Option<&mut ThreadPool>,
    function: impl Fn(&[A], &[A], &mut [R]) + Sync,
) where
    A: Pod + Send + Sync,
    R: Pod + Send + Sync,
{
    blocks(out, pool, &|start, out| {
        let (mut of_a, mut of_b) = ([A::zeroed(); BLOCK], [A::zeroed(); BLOCK]);
        let len = out.len();
        function(
            a.block(start, len, &mut of_a),
            b.block(start, len, &mut of_b),
            out,
        );
    });
}

/// f32 of other numbers.
pub struct Widen<'a, T>(pub &'a [T], pub &'a mut [f32]);

impl<T: Float> Work for Widen<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        T::widen::<L>(self.0, self.1);
    }
}

/// Other numbers of f32.
pub struct Narrow<'a, T>(pub &'a [f32], pub &'a mut [T]);

impl<T: Float> Work for Narrow<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        T::narrow::<L>(self.0, self.1);
    }
}

/// Elements as f32: where they lie if they are, else in `room`.
#[inline]
pub fn singles<'a, T: Float>(x: &'a [T], room: &'a mut [f32]) -> &'a [f32] {
    match T::as_singles(x) {
        Some(x) => x,
        None => {
            at_best(Widen(x, &mut room[..x.len()]));
            &room[..x.len()]
        }
    }
}

/// Rounds f32 numbers to what T holds; nothing if it is f32.
pub fn round<T: Float + Zeroable>(x: &mut [f32]) {
    if T::as_singles(&[]).is_some() {
        return;
    }
    let mut room = [T::zeroed(); BLOCK];
    for x in x.chunks_mut(BLOCK) {
        let room = &mut room[..x.len()];
        at_best(Narrow(x, room));
        at_best(Widen(room, x));
    }
}
