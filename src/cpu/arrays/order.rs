//! Sorted rows. Elements are sorted by keys, unsigned integers in their order, digit by digit from
//! the lowest: equal ones stay in their order.

use super::blocks::parts;
use super::copies;
use super::source::Source;
use crate::cpu::ops::{Out, View};
use crate::cpu::threads::ThreadPool;
use crate::ir::{Dtype, Op};
use bytemuck::Pod;
use half::{bf16, f16};
use std::borrow::Cow;

/// An element with a key: the order of keys is that of elements, NaN behind everything, and equal elements (zeros, NaN)
/// have equal keys.
trait Keyed: Pod + Send + Sync {
    /// Bits of a key.
    const BITS: u32;
    fn key(self) -> u32;
}

macro_rules! floats {
    ($($t:ty: $bits:literal);*) => {$(
        impl Keyed for $t {
            const BITS: u32 = $bits;
            #[inline(always)]
            fn key(self) -> u32 {
                const SIGN: u32 = 1 << ($bits - 1);
                let bits = u32::from(self.to_bits());
                // Negative numbers in the other order, below the others; −0 is 0.
                let key = if bits & SIGN != 0 { SIGN.wrapping_sub(bits ^ SIGN) } else { bits | SIGN };
                if self.is_nan() { u32::MAX >> (32 - $bits) } else { key }
            }
        }
    )*};
}
floats!(f32: 32; f16: 16; bf16: 16);

macro_rules! integers {
    ($($t:ty: $bits:literal, $flip:expr);*) => {$(
        impl Keyed for $t {
            const BITS: u32 = $bits;
            #[inline(always)]
            fn key(self) -> u32 {
                (self as u32 ^ $flip) & (u32::MAX >> (32 - $bits))
            }
        }
    )*};
}
integers!(u8: 8, 0; i8: 8, 0x80; u16: 16, 0; i16: 16, 0x8000; u32: 32, 0; i32: 32, 0x8000_0000);

/// Bits of a digit: a table of counts that stays in the first cache.
const DIGIT: u32 = 8;
/// Shorter rows are sorted by comparing.
const SHORT: usize = 64;

/// Sorts pairs (key, place); their other half is scratch memory.
fn sort(pairs: &mut Vec<(u32, u32)>, other: &mut Vec<(u32, u32)>, bits: u32) {
    if pairs.len() < SHORT {
        pairs.sort_unstable();
        return;
    }
    // Long rows by larger digits: fewer passes through memory.
    let digit = if pairs.len() >= 1 << 15 { 11 } else { DIGIT };
    other.resize(pairs.len(), (0, 0));
    let digits = bits.div_ceil(digit);
    let mut counts = vec![0u32; (digits as usize) << digit];
    let mask = (1u32 << digit) - 1;
    for &(key, _) in pairs.iter() {
        for d in 0..digits {
            counts[((d as usize) << digit) + (key >> (d * digit) & mask) as usize] += 1;
        }
    }
    for d in 0..digits {
        let counts = &mut counts[(d as usize) << digit..][..1 << digit];
        if counts.iter().any(|&count| count as usize == pairs.len()) {
            continue;
        }
        let mut first = 0;
        for count in counts.iter_mut() {
            first += std::mem::replace(count, first);
        }
        for &pair in pairs.iter() {
            let at = &mut counts[(pair.0 >> (d * digit) & mask) as usize];
            other[*at as usize] = pair;
            *at += 1;
        }
        std::mem::swap(pairs, other);
    }
}

/// What a worker keeps between rows.
#[derive(Default)]
struct Room {
    pairs: Vec<(u32, u32)>,
    other: Vec<(u32, u32)>,
}

impl Room {
    fn sort<T: Keyed>(&mut self, row: &[T]) -> &[(u32, u32)] {
        self.pairs.clear();
        let keyed = row.iter().zip(0..).map(|(x, place)| (x.key(), place));
        self.pairs.extend(keyed);
        sort(&mut self.pairs, &mut self.other, T::BITS);
        &self.pairs
    }
}

/// Rows along the last axis, each by one worker.
fn rows<T: Keyed, R: Pod + Send + Sync>(
    x: &[T],
    width: usize,
    out: &mut [R],
    pool: Option<&mut ThreadPool>,
    write: impl Fn(&[T], &[(u32, u32)], &mut [R]) + Sync,
) {
    parts(out, width, 1 << 14, pool, &|start, out| {
        let mut room = Room::default();
        for (place, out) in out.chunks_exact_mut(width).enumerate() {
            let row = &x[start + place * width..][..width];
            write(row, room.sort(row), out);
        }
    });
}

/// The view with this axis behind the others.
fn behind<'a>(x: &View<'a>, axis: usize) -> View<'a> {
    crate::cpu::ops::behind(x, &[axis]).0
}

/// The elements row after row, where they lie or copied.
pub fn all<'a, T: Pod + Send + Sync>(
    x: &View<'a>,
    pool: Option<&mut ThreadPool>,
) -> Option<Cow<'a, [T]>> {
    let source = Source::<T>::of(x)?;
    if let Some(rows) = source.rows() {
        return Some(Cow::Borrowed(rows));
    }
    let mut rows = vec![T::zeroed(); x.layout().count()];
    copies::copy(&source, &mut rows, pool);
    Some(Cow::Owned(rows))
}

/// Writes rows that have an axis behind the others to where that axis belongs.
fn put_back<R: Pod + Send + Sync>(
    rows: &[R],
    sizes: &[usize],
    axis: usize,
    dtype: Dtype,
    out: &mut [R],
    pool: Option<&mut ThreadPool>,
) -> Option<()> {
    let mut turned: smallvec::SmallVec<[usize; 4]> = sizes.into();
    let size = turned.remove(axis);
    turned.push(size);
    let mut layout = crate::ir::Layout::rows(&turned);
    let stride = layout.strides.pop()?;
    layout.strides.insert(axis, stride);
    layout.sizes = sizes.into();
    let view = View::whole(bytemuck::cast_slice(rows), dtype, layout);
    copies::copy(&Source::<R>::of(&view)?, out, pool);
    Some(())
}

fn sorted<T: Keyed>(
    op: &Op,
    x: &View<'_>,
    axis: usize,
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> Option<()> {
    let sizes = x.sizes();
    let width = sizes[axis];
    if width > u32::MAX as usize {
        return None;
    }
    let last = sizes[axis + 1..].iter().all(|&size| size == 1);
    let dtype = out.dtype();
    let values = all::<T>(&behind(x, axis), pool.as_deref_mut())?;
    macro_rules! make {
        ($r:ty, $write:expr) => {{
            let out = out.values::<$r>();
            if last {
                rows(&values, width, out, pool, $write);
                return Some(());
            }
            let mut made = vec![<$r as bytemuck::Zeroable>::zeroed(); out.len()];
            rows(&values, width, &mut made, pool.as_deref_mut(), $write);
            put_back(&made, sizes, axis, dtype, out, pool)
        }};
    }
    match op {
        Op::Sort(_) | Op::Partition { .. } => make!(T, |row: &[T], pairs, out: &mut [T]| {
            for (to, &(_, place)) in out.iter_mut().zip(pairs) {
                *to = row[place as usize];
            }
        }),
        _ => make!(u32, |_: &[T], pairs, out: &mut [u32]| {
            for (to, &(_, place)) in out.iter_mut().zip(pairs) {
                *to = place;
            }
        }),
    }
}

/// Sorts, and what sorting also gives; false: there is no fast form of it.
pub fn run(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    let (
        Some(x),
        Op::Sort(axis)
        | Op::ArgSort(axis)
        | Op::Partition { axis, .. }
        | Op::ArgPartition { axis, .. },
    ) = (inputs.first(), op)
    else {
        return false;
    };
    let done = match x.dtype() {
        Dtype::F32 => sorted::<f32>(op, x, *axis, out, pool),
        Dtype::F16 => sorted::<f16>(op, x, *axis, out, pool),
        Dtype::Bf16 => sorted::<bf16>(op, x, *axis, out, pool),
        Dtype::U8 | Dtype::Bool => sorted::<u8>(op, x, *axis, out, pool),
        Dtype::I8 => sorted::<i8>(op, x, *axis, out, pool),
        Dtype::U16 => sorted::<u16>(op, x, *axis, out, pool),
        Dtype::I16 => sorted::<i16>(op, x, *axis, out, pool),
        Dtype::U32 => sorted::<u32>(op, x, *axis, out, pool),
        Dtype::I32 => sorted::<i32>(op, x, *axis, out, pool),
        _ => None,
    };
    done.is_some()
}
