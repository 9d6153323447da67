//! What the kernels of `hip/ops/pack` read of weights besides the bytes of a file, and the room that it all takes.

use super::matmul::MatrixForm;
use super::pack::{BLOCK, PackForm, Scales, TILE_ROWS};
use super::staging::Part;
use crate::formats::{Format, Values, Weight};
use crate::{Error, Result};

/// Room that the parts of one launch take at most besides their bytes.
pub const PADDING: usize = 4 * 256;

/// How a weight lies on the device.
pub fn form_of(weight: &Weight) -> Result<MatrixForm> {
    let refused = |what: String| {
        let (name, format) = (&weight.name, weight.format);
        let what = format!("tensor {name}: {format} weights {what} run on the CPU only: choose it");
        Err(Error::Unsupported(what))
    };
    let Some(form) = weight.format.group_form() else {
        return match weight.format {
            Format::Dense(ty) => Ok(MatrixForm::Dense(ty)),
            format => Err(Error::Internal(format!(
                "{format} has no form on the device"
            ))),
        };
    };
    // Rows are read four columns at a time.
    if !weight.cols.is_multiple_of(4) {
        return refused(format!("in {} columns", weight.cols));
    }
    match PackForm::of(form) {
        Some(form) => Ok(MatrixForm::Quant(form)),
        None => refused(format!("with a scale for {} columns", form.group)),
    }
}

/// Bytes of a weight on the device.
pub fn device_bytes(weight: &Weight) -> Result<usize> {
    let tiles = weight.rows.div_ceil(TILE_ROWS);
    Ok(tiles * form_of(weight)?.tile_bytes(weight.cols))
}

/// Whether the file holds the transposed matrix: a launch takes columns of it, not rows.
pub fn is_transposed(format: Format) -> bool {
    matches!(format, Format::Gptq { .. } | Format::Awq { .. })
}

/// Bytes of a row in data, scales and biases, as launches read them.
pub fn row_bytes(weight: &Weight) -> Result<[usize; 3]> {
    match weight.format {
        Format::Float8 { .. } => Ok([weight.cols, weight.cols.div_ceil(BLOCK) * 4, 0]),
        _ => weight.row_sizes(),
    }
}

/// Tiles of a weight that go together: those of whole runs of rows.
pub fn tile_step(weight: &Weight) -> usize {
    let run = weight.run.max(1);
    let shift = run.trailing_zeros().min(TILE_ROWS.trailing_zeros());
    run >> shift
}

/// Bytes that the tiles of a weight that go together need in a piece; of a transposed one the fewest columns of all rows.
pub fn tile_room(weight: &Weight) -> Result<usize> {
    let bytes = if is_transposed(weight.format) {
        column_bytes(weight, column_step(weight)).iter().sum()
    } else {
        let rows = TILE_ROWS * tile_step(weight) * weight.turns;
        rows * row_bytes(weight)?.iter().sum::<usize>()
    };
    Ok(bytes + tables(weight.format).len() + PADDING)
}

/// Columns of a group.
fn group_of(weight: &Weight) -> usize {
    weight.format.group_form().map_or(1, |form| form.group)
}

/// Columns of a transposed weight that go together: whole blocks and groups, which are powers of two.
pub fn column_step(weight: &Weight) -> usize {
    group_of(weight).max(BLOCK)
}

/// Bytes of so many columns of a transposed weight, whole groups, in data, scales and zero points.
pub fn column_bytes(weight: &Weight, columns: usize) -> [usize; 3] {
    let groups = columns / group_of(weight);
    [
        columns * weight.rows / 2,
        groups * weight.rows * 2,
        groups * weight.rows / 2,
    ]
}

/// The table and the grid of codes that are places in them, as `hip/ops/pack/pack.h` has it; else empty.
pub fn tables(format: Format) -> Vec<u8> {
    let Some(form) = format.group_form() else {
        return Vec::new();
    };
    let table = form
        .values
        .table()
        .map_or([0; 16], |table| table.integers());
    let table = match PackForm::of(form).map(|form| form.scales) {
        Some(Scales::Table16) => table,
        // Three magnitudes, with either sign.
        Some(Scales::Table8) => {
            std::array::from_fn(|i| table[i % 4 + i / 4 % 2 * 8] * i8::from(i < 8))
        }
        _ => return Vec::new(),
    };
    let mut bytes: Vec<u8> = table.map(|v| v as u8).to_vec();
    bytes.extend(form.values.unit().to_le_bytes());
    bytes.extend([0; 12]);
    if let Values::Grid(grid) = form.values {
        bytes.extend(grid.words().iter().flat_map(|word| word.to_le_bytes()));
    }
    bytes
}

/// The scales of some rows of 8-bit floats, one for every block of columns of each row.
pub fn block_scales(weight: &Weight, rows: std::ops::Range<usize>) -> Result<Part> {
    let mut bytes = Vec::with_capacity(rows.len() * weight.cols.div_ceil(BLOCK) * 4);
    let mut scales = Vec::new();
    for row in rows {
        weight.block_scales(row, BLOCK, &mut scales)?;
        bytes.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
    }
    Ok(Part::Own(bytes))
}

/// Why a weight, whose bound is no finite number, cannot be multiplied with, if it cannot.
pub fn not_finite(weight: &Weight, form: MatrixForm) -> Result<()> {
    use Format::{Centered, Float8, GgufMxfp4, Mxfp4, Mxfp8, Nvfp4};
    match (weight.format, form) {
        // All the others may hold such numbers, as on the CPU.
        (Mxfp4 | Mxfp8 | Nvfp4 | GgufMxfp4 | Float8 { .. }, _) => {
            let mut groups = Default::default();
            (0..weight.rows).try_for_each(|row| weight.read_groups(row, &mut groups))
        }
        (Centered { .. }, MatrixForm::Quant(form)) if form.scales == Scales::PairF16 => {
            Err(Error::Unsupported(format!(
                "tensor {}: a scale of {} is too large for GPUs: use the CPU",
                weight.name, weight.format
            )))
        }
        _ => Ok(()),
    }
}

/// Formats whose codes take more room on the device than in the file, and how much.
pub fn expanded(weights: &[Weight]) -> Result<Option<String>> {
    let mut all: Vec<(Format, usize, usize)> = Vec::new();
    for weight in weights {
        if !matches!(weight.format.group_form(), Some(form) if matches!(form.values, Values::Grid(_)))
        {
            continue;
        }
        let (file, device) = (weight.byte_len(), device_bytes(weight)?);
        match all.iter_mut().find(|(format, ..)| *format == weight.format) {
            Some(sum) => (sum.1, sum.2) = (sum.1 + file, sum.2 + device),
            None => all.push((weight.format, file, device)),
        }
    }
    let of = |(format, file, device): &(Format, usize, usize)| {
        format!(
            "{format} {} MiB of {} in the file",
            device >> 20,
            file >> 20
        )
    };
    let all: Vec<String> = all.iter().map(of).collect();
    Ok((!all.is_empty()).then(|| all.join(", ")))
}

/// The power of two that brings `peak` below 8192, so that weights are neither large nor denormal as f16.
pub fn back(peak: f32) -> f32 {
    if !peak.is_normal() {
        return 1.0;
    }
    let exponent = peak.log2().floor() - 12.0;
    exponent.clamp(-60.0, 60.0).exp2()
}
