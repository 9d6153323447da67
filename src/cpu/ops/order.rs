//! Running totals and orders along an axis.

use super::arithmetic::{Arithmetic, larger, smaller};
use super::cast::{Element, Wide};
use super::{Out, View, input, missing, output, with_type};
use crate::Result;
use crate::ir::{Binary, Op, Scan};
use num_complex::Complex;
use std::cmp::Ordering;

/// Rows along one axis of an array whose elements lie row after row: where each begins, how many
/// elements it has, and how far these are from one another.
struct Rows {
    outer: usize,
    len: usize,
    step: usize,
}

impl Rows {
    fn along(sizes: &[usize], axis: usize) -> Rows {
        Rows {
            outer: sizes[..axis].iter().product(),
            len: sizes[axis],
            step: sizes[axis + 1..].iter().product(),
        }
    }

    /// Calls `each` with the places of the elements of each row.
    fn each(&self, mut each: impl FnMut(&[usize])) {
        let mut places = vec![0; self.len];
        for outer in 0..self.outer {
            for inner in 0..self.step {
                let start = outer * self.len * self.step + inner;
                for (i, place) in places.iter_mut().enumerate() {
                    *place = start + i * self.step;
                }
                each(&places);
            }
        }
    }
}

/// Scans, sorts, partitions, searches.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    with_type!(x.dtype(), T => {
        let values = x.values::<T>();
        match op {
            Op::Scan { kind, axis, reverse, inclusive } => {
                let rows = Rows::along(x.sizes(), *axis);
                let how = (*reverse, *inclusive);
                scan::<T>(*kind, how, &values, &rows, out.values())
                    .ok_or_else(|| missing(op))?;
                if out.dtype() == Dtype::Bool {
                    out.truths();
                }
            }
            // What is sorted is also parted.
            Op::Sort(axis) | Op::Partition { axis, .. } => {
                let to = out.values::<T>();
                Rows::along(x.sizes(), *axis).each(|places| {
                    let mut row: Vec<T> = places.iter().map(|&at| values[at]).collect();
                    row.sort_by(|a, b| nan_last(*a, *b));
                    for (&at, x) in places.iter().zip(row) {
                        to[at] = x;
                    }
                });
            }
            Op::ArgSort(axis) | Op::ArgPartition { axis, .. } => {
                let to = out.values::<u32>();
                Rows::along(x.sizes(), *axis).each(|places| {
                    let mut order: Vec<u32> = (0..places.len() as u32).collect();
                    let x = |place: u32| values[places[place as usize]];
                    order.sort_by(|&a, &b| nan_last(x(a), x(b)));
                    for (&at, place) in places.iter().zip(order) {
                        to[at] = place;
                    }
                });
            }
            Op::SearchSorted { right } => {
                let wanted = input(op, inputs, 1)?.values::<T>();
                for (to, &value) in out.values::<u32>().iter_mut().zip(wanted.iter()) {
                    let before = |x: &T| match nan_last(*x, value) {
                        Ordering::Less => true,
                        Ordering::Equal => *right,
                        Ordering::Greater => false,
                    };
                    *to = values.partition_point(before) as u32;
                }
            }
            op => return Err(missing(op)),
        }
    });
    Ok(())
}

/// The order of sorted elements: NaN behind everything.
fn nan_last<T: Arithmetic>(a: T, b: T) -> Ordering {
    T::order(a, b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The element that a total begins with, as bytes of the dtype.
fn neutral<T: Arithmetic + Element>(kind: Scan) -> T {
    let limit = |low: bool| {
        // Of integers the outermost, of others an infinity.
        let infinity = if low {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        let edge = if low { i128::MIN } else { i128::MAX };
        match T::narrow(Wide::Integer(0)).widen() {
            Wide::Integer(_) => T::narrow(Wide::Real(edge as f64)),
            Wide::Real(_) => T::narrow(Wide::Real(infinity)),
            Wide::Complex(_) => {
                let both = Complex::new(infinity as f32, infinity as f32);
                T::narrow(Wide::Complex(both))
            }
        }
    };
    match kind {
        Scan::Sum => T::narrow(Wide::Integer(0)),
        Scan::Prod => T::narrow(Wide::Integer(1)),
        Scan::Max | Scan::LogAddExp => limit(true),
        Scan::Min => limit(false),
    }
}

fn scan<T: Arithmetic + Element>(
    kind: Scan,
    (reverse, inclusive): (bool, bool),
    x: &[T],
    rows: &Rows,
    out: &mut [T],
) -> Option<()> {
    let join: fn(T, T) -> T = match kind {
        Scan::Sum => T::function(Binary::Add)?,
        Scan::Prod => T::function(Binary::Multiply)?,
        Scan::Max => larger,
        Scan::Min => smaller,
        Scan::LogAddExp => T::function(Binary::LogAddExp)?,
    };
    rows.each(|places| {
        let mut total = neutral::<T>(kind);
        for i in 0..places.len() {
            let at = places[if reverse { places.len() - 1 - i } else { i }];
            if !inclusive {
                out[at] = total;
            }
            total = join(total, x[at]);
            if inclusive {
                out[at] = total;
            }
        }
    });
    Some(())
}
