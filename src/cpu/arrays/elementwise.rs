//! Functions of elements, choices, comparisons and casts, block after block.

use super::blocks::{BLOCK, Narrow, Widen, blocks, of_one, of_two, singles};
use super::chain::{Chain, function, run_chain};
use super::level::{Float, Level, Work, at_best};
use super::source::Source;
use crate::cpu::ops::{Element, Out, View, two_of};
use crate::cpu::threads::ThreadPool;
use crate::ir::{Binary, Dtype, Op};
use half::{bf16, f16};

/// A loop that a level compiles.
struct Pairs<'a, A, R, F>(&'a [A], &'a [A], &'a mut [R], F);

impl<A: Copy, R, F: Fn(A, A) -> R> Work for Pairs<'_, A, R, F> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        for ((to, &a), &b) in self.2.iter_mut().zip(self.0).zip(self.1) {
            *to = (self.3)(a, b);
        }
    }
}

macro_rules! loops {
    ($function:expr) => {
        |a: &[_], b: &[_], out: &mut [_]| at_best(Pairs(a, b, out, $function))
    };
}

/// Comparisons of real numbers.
fn compare<T, W>(
    kind: Binary,
    sides: [&Source<'_, T>; 2],
    out: &mut [u8],
    pool: Option<&mut ThreadPool>,
    widen: impl Fn(&[T], &mut [W]) + Sync,
) -> bool
where
    T: bytemuck::Pod + Send + Sync,
    W: bytemuck::Pod + PartialOrd,
{
    type Compare<W> = fn(&[W], &[W], &mut [u8]);
    let compare: Compare<W> = match kind {
        Binary::Equal => loops!(|a: W, b: W| u8::from(a == b)),
        Binary::NotEqual => loops!(|a: W, b: W| u8::from(a != b)),
        #[allow(clippy::eq_op)] // NaN
        Binary::NanEqual => loops!(|a: W, b: W| u8::from(a == b || (a != a && b != b))),
        Binary::Greater => loops!(|a: W, b: W| u8::from(a > b)),
        Binary::GreaterEqual => loops!(|a: W, b: W| u8::from(a >= b)),
        Binary::Less => loops!(|a: W, b: W| u8::from(a < b)),
        Binary::LessEqual => loops!(|a: W, b: W| u8::from(a <= b)),
        _ => return false,
    };
    let same = std::any::TypeId::of::<T>() == std::any::TypeId::of::<W>();
    of_two(sides, out, pool, |a, b, out| {
        if same {
            return compare(bytemuck::cast_slice(a), bytemuck::cast_slice(b), out);
        }
        let (mut of_a, mut of_b) = ([W::zeroed(); BLOCK], [W::zeroed(); BLOCK]);
        let (of_a, of_b) = (&mut of_a[..a.len()], &mut of_b[..b.len()]);
        widen(a, of_a);
        widen(b, of_b);
        compare(of_a, of_b, out);
    });
    true
}

fn comparison(
    kind: Binary,
    [a, b]: [&View<'_>; 2],
    out: &mut [u8],
    pool: Option<&mut ThreadPool>,
) -> bool {
    macro_rules! of {
        ($t:ty) => {
            of!($t, $t, |_: &[$t], _: &mut [$t]| ())
        };
        ($t:ty, $w:ty, $widen:expr) => {
            match (Source::<$t>::of(a), Source::<$t>::of(b)) {
                (Some(a), Some(b)) => compare::<$t, $w>(kind, [&a, &b], out, pool, $widen),
                _ => false,
            }
        };
    }
    match a.dtype() {
        Dtype::F32 => of!(f32),
        Dtype::F16 => of!(f16, f32, |x: &[f16], to: &mut [f32]| at_best(Widen(x, to))),
        Dtype::Bf16 => of!(bf16, f32, |x: &[bf16], to: &mut [f32]| at_best(Widen(
            x, to
        ))),
        Dtype::F64 => of!(f64),
        Dtype::Bool | Dtype::U8 => of!(u8),
        Dtype::I8 => of!(i8),
        Dtype::U16 => of!(u16),
        Dtype::I16 => of!(i16),
        Dtype::U32 => of!(u32),
        Dtype::I32 => of!(i32),
        Dtype::U64 => of!(u64),
        Dtype::I64 => of!(i64),
        Dtype::C64 => false,
    }
}

/// Functions of integers.
fn integers(
    kind: Binary,
    [a, b]: [&View<'_>; 2],
    out: &mut Out<'_>,
    pool: Option<&mut ThreadPool>,
) -> bool {
    macro_rules! of {
        ($t:ty) => {{
            let (Some(a), Some(b)) = (Source::<$t>::of(a), Source::<$t>::of(b)) else {
                return false;
            };
            let function: fn(&[$t], &[$t], &mut [$t]) = match kind {
                Binary::Add => loops!(<$t>::wrapping_add),
                Binary::Subtract => loops!(<$t>::wrapping_sub),
                Binary::Multiply => loops!(<$t>::wrapping_mul),
                Binary::Maximum => loops!(|a: $t, b: $t| a.max(b)),
                Binary::Minimum => loops!(|a: $t, b: $t| a.min(b)),
                Binary::BitwiseAnd => loops!(|a: $t, b: $t| a & b),
                Binary::BitwiseOr => loops!(|a: $t, b: $t| a | b),
                Binary::BitwiseXor => loops!(|a: $t, b: $t| a ^ b),
                kind => {
                    let Some(function) = two_of::<$t>(kind) else {
                        return false;
                    };
                    let out = out.values::<$t>();
                    of_two([&a, &b], out, pool, |a, b, out| {
                        for ((to, &a), &b) in out.iter_mut().zip(a).zip(b) {
                            *to = function(a, b);
                        }
                    });
                    return true;
                }
            };
            of_two([&a, &b], out.values::<$t>(), pool, function);
        }};
    }
    match a.dtype() {
        Dtype::U8 => of!(u8),
        Dtype::I8 => of!(i8),
        Dtype::U16 => of!(u16),
        Dtype::I16 => of!(i16),
        Dtype::U32 => of!(u32),
        Dtype::I32 => of!(i32),
        Dtype::U64 => of!(u64),
        Dtype::I64 => of!(i64),
        _ => return false,
    }
    true
}

fn select<T: bytemuck::Pod + Send + Sync>(
    condition: &View<'_>,
    sides: [&View<'_>; 2],
    out: &mut Out<'_>,
    pool: Option<&mut ThreadPool>,
) -> bool {
    let (Some(condition), Some(a), Some(b)) = (
        Source::<u8>::of(condition),
        Source::<T>::of(sides[0]),
        Source::<T>::of(sides[1]),
    ) else {
        return false;
    };
    blocks(out.values::<T>(), pool, &|start, out| {
        let len = out.len();
        let mut holds = [0u8; BLOCK];
        let (mut of_a, mut of_b) = ([T::zeroed(); BLOCK], [T::zeroed(); BLOCK]);
        let holds = condition.block(start, len, &mut holds);
        let (a, b) = (
            a.block(start, len, &mut of_a),
            b.block(start, len, &mut of_b),
        );
        for ((to, &holds), (&a, &b)) in out.iter_mut().zip(holds).zip(a.iter().zip(b)) {
            *to = if holds != 0 { a } else { b };
        }
    });
    true
}

/// A cast as the plain form makes it.
struct Cast<'a, A, R>(&'a [A], &'a mut [R]);

impl<A: Element, R: Element> Work for Cast<'_, A, R> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        for (to, x) in self.1.iter_mut().zip(self.0) {
            *to = R::narrow(x.widen());
        }
    }
}

/// Between floats of 16 and 32 bits.
fn cast_floats<A: Float, R: Float>(
    x: &View<'_>,
    out: &mut Out<'_>,
    pool: Option<&mut ThreadPool>,
) -> bool {
    let Some(x) = Source::<A>::of(x) else {
        return false;
    };
    of_one(&x, out.values::<R>(), pool, |x, out| {
        if let Some(out) = R::as_singles_mut(out) {
            return at_best(Widen(x, out));
        }
        let mut room = [0f32; BLOCK];
        at_best(Narrow(singles(x, &mut room), out));
    });
    true
}

fn cast(x: &View<'_>, out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    macro_rules! to {
        ($a:ty, $r:ty) => {{
            let Some(x) = Source::<$a>::of(x) else {
                return false;
            };
            of_one(&x, out.values::<$r>(), pool, |x, out| at_best(Cast(x, out)));
            true
        }};
    }
    macro_rules! from {
        ($a:ty) => {
            match out.dtype() {
                Dtype::F32 => to!($a, f32),
                Dtype::I32 => to!($a, i32),
                Dtype::U32 => to!($a, u32),
                Dtype::I64 => to!($a, i64),
                Dtype::U8 => to!($a, u8),
                _ => false,
            }
        };
    }
    macro_rules! float {
        ($a:ty) => {
            match out.dtype() {
                Dtype::F32 => cast_floats::<$a, f32>(x, out, pool),
                Dtype::F16 => cast_floats::<$a, f16>(x, out, pool),
                Dtype::Bf16 => cast_floats::<$a, bf16>(x, out, pool),
                _ => false,
            }
        };
    }
    match x.dtype() {
        Dtype::F16 => float!(f16),
        Dtype::Bf16 => float!(bf16),
        Dtype::F32 if matches!(out.dtype(), Dtype::F32 | Dtype::F16 | Dtype::Bf16) => float!(f32),
        Dtype::F32 => from!(f32),
        Dtype::Bool | Dtype::U8 => from!(u8),
        Dtype::I32 => from!(i32),
        Dtype::U32 => from!(u32),
        Dtype::I64 => from!(i64),
        _ => false,
    }
}

/// Runs a function of elements, a choice or a cast; false: there is no fast form of it.
pub fn run(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    match (op, inputs) {
        (Op::Unary(_), [x]) if x.dtype() == out.dtype() => match function(op, x.dtype()) {
            Some(function) => run_chain(&Chain::one(function), inputs, out, pool),
            None => false,
        },
        (Op::Binary(kind), [a, b]) if kind.is_comparison() => {
            comparison(*kind, [a, b], out.values::<u8>(), pool)
        }
        (Op::Binary(kind), [a, b]) if a.dtype() == out.dtype() => match function(op, a.dtype()) {
            Some(function) => run_chain(&Chain::one(function), inputs, out, pool),
            None => integers(*kind, [a, b], out, pool),
        },
        (Op::Select, [condition, a, b]) => match out.dtype().size() {
            1 => select::<u8>(condition, [a, b], out, pool),
            2 => select::<u16>(condition, [a, b], out, pool),
            4 => select::<u32>(condition, [a, b], out, pool),
            _ => select::<u64>(condition, [a, b], out, pool),
        },
        (Op::AsType, [x]) => cast(x, out, pool),
        _ => false,
    }
}
