//! Products of f32 matrices whose numbers are rounded to f16 before, where that was asked for: `product_halves.h` of
//! `hip/ops/arrays`.

use super::matrices::{Product, Side};
use super::run::THREADS;
use super::warpgroups::{MOST_BLOCKS, STEP, span};
use super::{Elements, Place};
use crate::Result;
use crate::gpu::{Args, DeviceBuffer};
use crate::ir::{Dtype, Layout};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// The fewest multiplications that are worth it.
const LEAST: usize = 1 << 24;

static MODE: AtomicU8 = AtomicU8::new(u8::MAX);

/// Whether products of f32 matrices on GPUs may round what they multiply to 11 bits, for all threads.
pub fn use_tf32(is_on: bool) {
    MODE.store(is_on.into(), Ordering::Relaxed);
}

/// As told; `MLXROCM_TF32=on` turns it on.
fn is_on() -> bool {
    match MODE.load(Ordering::Relaxed) {
        0 => false,
        1 => true,
        _ => {
            let is_on = std::env::var("MLXROCM_TF32").is_ok_and(|said| said == "on");
            use_tf32(is_on);
            is_on
        }
    }
}

/// A rounded operand, and what takes its rows or columns back.
struct Halves {
    elements: Elements,
    powers: DeviceBuffer,
}

/// How an operand's memory is cut: `pieces` of `size` numbers, rows of one power or whole matrices.
fn pieces(side: &Side, k: usize) -> Option<(usize, usize)> {
    let stride = usize::try_from(side.stride).ok()?;
    let (size, least) = match side.along {
        true => (stride, k),
        false => (stride * k, side.elements.layout().sizes.last().copied()?),
    };
    let whole = side
        .batch
        .iter()
        .all(|&step| usize::try_from(step).is_ok_and(|step| step.is_multiple_of(size.max(1))));
    (whole && stride >= least && size > 0).then_some(())?;
    Some((span(&side.elements)?.div_ceil(size), size))
}

impl Place {
    /// Whether products of these sizes are made of rounded numbers.
    pub(super) fn takes_halves(&self, dtype: Dtype, m: usize, n: usize, k: usize) -> bool {
        let large = m > STEP && n > STEP && k >= STEP && m * n * k >= LEAST;
        dtype == Dtype::F32 && large && is_on()
    }

    /// A product of rounded numbers; false if it is not one for that.
    pub(super) fn by_halves(
        self: &Arc<Self>,
        product: &mut Product<'_>,
        out: &Elements,
        batches: usize,
    ) -> Result<bool> {
        let (m, n, k) = (product.m, product.n, product.k);
        if !self.takes_halves(out.dtype(), m, n, k) || !product.lies_in_eights() {
            return Ok(false);
        }
        let (across, down) = (n.div_ceil(64) * batches, m.div_ceil(64));
        let cut = (pieces(&product.left, k), pieces(&product.right, k));
        let (Some(of_left), Some(of_right)) = cut else {
            return Ok(false);
        };
        if across > MOST_BLOCKS || down > 65_535 || of_right.0 > 65_535 {
            return Ok(false);
        }
        let left = self.rounded(&product.left, k, of_left)?;
        let right = self.rounded(&product.right, k, of_right)?;
        let mut halves = [left.elements, right.elements];
        let mut swap = |product: &mut Product<'_>| {
            std::mem::swap(&mut product.left.elements, &mut halves[0]);
            std::mem::swap(&mut product.right.elements, &mut halves[1]);
        };
        let with_powers = |args: Args| {
            args.buffer("left_powers", &left.powers, 0)
                .buffer("right_powers", &right.powers, 0)
        };
        swap(product);
        let made = self.multiply_halves(product, out, batches, with_powers);
        swap(product);
        made.map(|()| true)
    }

    fn multiply_halves(
        &self,
        product: &Product<'_>,
        out: &Elements,
        batches: usize,
        with_powers: impl Fn(Args) -> Args,
    ) -> Result<()> {
        let (m, n) = (product.m, product.n);
        if self.has_warpgroups(Dtype::F16) {
            let across = if product.right.along { "" } else { "across_" };
            let of = |columns: usize| {
                let name = format!("product_warpgroup_{columns}_{across}halves_");
                (name, with_powers(product.args(out, n.div_ceil(columns))))
            };
            if self.by_tiles(of, (m, n, batches), Dtype::F32)? {
                return Ok(());
            }
        }
        let units = self.device.facts().compute_units as usize;
        let (rows, tail) = match m.div_ceil(128) * n.div_ceil(128) * batches >= units {
            true => (128, ""),
            false => (64, "_small"),
        };
        let across = n.div_ceil(rows);
        let grid = [(across * batches) as u32, m.div_ceil(rows) as u32, 1];
        let kernel = format!("mlxrocm_array_product_halves_f32{tail}");
        self.launch(&kernel, grid, &with_powers(product.args(out, across)))
    }

    /// An operand's numbers in f16, lying as they do.
    fn rounded(
        self: &Arc<Self>,
        side: &Side,
        k: usize,
        (pieces, size): (usize, usize),
    ) -> Result<Halves> {
        let x = &side.elements;
        let stride = side.stride as usize;
        let count = if side.along { pieces } else { pieces * stride };
        let (halves, powers) = (
            self.memory(pieces * size, Dtype::F16)?,
            self.memory(count, Dtype::I32)?,
        );
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("halves", &halves, 0)
            .buffer("powers", &powers, 0)
            .u32("inner", k as u32);
        let (kernel, grid, threads, args) = match side.along {
            true => ("along", [pieces as u32, 1, 1], THREADS, args),
            false => {
                let columns = x.layout().sizes.last().copied().unwrap_or(0);
                let grid = [columns.div_ceil(32) as u32, pieces as u32, 1];
                ("across", grid, 1024, args.u32("columns", columns as u32))
            }
        };
        let kernel = self
            .device
            .kernel(&format!("mlxrocm_array_halves_{kernel}"))?;
        let args = args.i64("stride", side.stride);
        self.launch_blocks(&kernel, grid, ([threads, 1, 1], 0), &args)?;
        let layout = Layout::rows(&[pieces * size]);
        Ok(Halves {
            elements: Elements::new(self.clone(), halves, Dtype::F16, layout)?,
            powers,
        })
    }
}
