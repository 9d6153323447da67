//! Views whose elements have to be moved, and copies.

use super::{Out, View, input, output};
use crate::Result;
use crate::ir::{Layout, Op, Shape};

/// Reshape, transpose, slice, broadcast and the like, and copies.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    // What cannot be a view of x can be one of its copy.
    let shape = Shape::new(out.sizes().iter().copied());
    let rows = Layout::rows(x.sizes());
    match x.layout().view(op, &shape) {
        Some(layout) => copy(&x.with(layout), out),
        None => match rows.view(op, &shape) {
            Some(layout) => {
                let size = x.dtype().size();
                let bytes = x.row_bytes();
                debug_assert_eq!(bytes.len(), rows.count() * size);
                copy(&View::whole(&bytes, x.dtype(), layout), out);
            }
            None => copy(x, out),
        },
    }
    Ok(())
}

/// The elements row after row.
pub(super) fn copy(x: &View<'_>, out: &mut Out<'_>) {
    match x.dtype().size() {
        1 => out.values::<u8>().copy_from_slice(&x.values::<u8>()),
        2 => out.values::<u16>().copy_from_slice(&x.values::<u16>()),
        4 => out.values::<u32>().copy_from_slice(&x.values::<u32>()),
        _ => out.values::<u64>().copy_from_slice(&x.values::<u64>()),
    }
}
