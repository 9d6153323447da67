//! Which matrices of a schedule lie together, each group for one launch of a step; how much of it a token reads.

use super::matmul::MatrixForm;
use super::matrices::Key;
use super::pack::{Scales, TILE_ROWS};
use super::parts::{device_bytes, form_of};
use super::placement::Item;
use crate::formats::Weight;
use crate::gpu::allocator::size_class;
use crate::step::{Epilogue, ExpertProducts, MatrixId, Product, Schedule, Step};
use crate::{Error, Result};
use std::collections::HashMap;

/// Products of a step that one launch computes.
pub struct Group {
    pub key: Key,
    /// The first of the step's products.
    pub first: usize,
    /// How many of them.
    pub count: usize,
    /// Gate and up in one.
    pub silu: bool,
}

pub fn weight(weights: &[Weight], id: MatrixId) -> Result<&Weight> {
    weights
        .get(id.0)
        .ok_or_else(|| Error::Internal("a step names a matrix that was not bound".into()))
}

/// The groups of a step: products of one form together, at most `most`; gate and up of experts interleaved.
pub fn groups(weights: &[Weight], step: &Step, most: usize) -> Result<Vec<Group>> {
    let (products, epilogue) = match step {
        Step::Matmul {
            products, epilogue, ..
        } => (products, epilogue),
        Step::Experts(step) => return Ok(vec![experts(weights, step)?]),
        _ => return Ok(Vec::new()),
    };
    let forms = forms(weights, products)?;
    let silu = *epilogue == Epilogue::SwiGlu && forms.windows(2).all(|f| f[0] == f[1]);
    let mut groups = Vec::new();
    let mut first = 0;
    while first < products.len() {
        let same = forms[first..].iter().take_while(|f| **f == forms[first]);
        let count = same.count().min(most);
        let part = &products[first..first + count];
        groups.push(Group {
            key: Key {
                matrices: part.iter().map(|p| p.weight).collect(),
                interleaved: silu,
            },
            first,
            count,
            silu,
        });
        first += count;
    }
    Ok(groups)
}

fn forms(weights: &[Weight], products: &[Product]) -> Result<Vec<MatrixForm>> {
    let form = |p: &Product| form_of(weight(weights, p.weight)?);
    products.iter().map(form).collect()
}

/// The stacks of a step with experts: gate and up interleaved, or one.
fn experts(weights: &[Weight], step: &ExpertProducts) -> Result<Group> {
    let matrices: Vec<MatrixId> = step.products.iter().map(|p| p.weight).collect();
    let forms = forms(weights, &step.products)?;
    let name = |id: &MatrixId| weight(weights, *id).map(|weight| weight.name.clone());
    let names = matrices.iter().map(name).collect::<Result<Vec<_>>>()?;
    let refused = |what: &str| {
        let names = names.join(", ");
        Error::Unsupported(format!("{names}: on GPUs {what}; use the CPU"))
    };
    if !forms.windows(2).all(|pair| pair[0] == pair[1]) {
        return Err(refused("gate and up of experts must be in the same format"));
    }
    for id in &matrices {
        let rows = weight(weights, *id)?.rows / step.experts.max(1);
        if !rows.is_multiple_of(TILE_ROWS) {
            return Err(refused(&format!(
                "the {rows} rows of a matrix of a stack must be a multiple of {TILE_ROWS}"
            )));
        }
    }
    // Only their kernels have biases and a limit.
    let is_full = |form: &MatrixForm| match form {
        MatrixForm::Quant(form) => form.scales == Scales::Power,
        MatrixForm::Dense(_) => true,
    };
    let full = step.limit.is_some() || step.products.iter().any(|p| p.bias.is_some());
    if full && !forms.iter().all(is_full) {
        let what = "experts with biases or a limit must be in mxfp4 or unquantized";
        return Err(refused(what));
    }
    let (count, silu) = (matrices.len(), matrices.len() == 2);
    Ok(Group {
        key: Key {
            matrices,
            interleaved: silu,
        },
        first: 0,
        count,
        silu,
    })
}

/// The key of a table.
pub fn table_key(table: MatrixId) -> Key {
    Key {
        matrices: vec![table],
        interleaved: false,
    }
}

/// All groups of a schedule, each once, in the order of the steps, and the bytes of their biases.
pub fn items(
    schedule: &Schedule,
    weights: &[Weight],
    most: usize,
) -> Result<(Vec<(Key, Item)>, u64)> {
    let mut items: Vec<(Key, Item)> = Vec::new();
    let mut places = HashMap::new();
    let mut biases = 0;
    let bytes_of = |key: &Key| -> Result<u64> {
        let bytes = |id: &MatrixId| device_bytes(weight(weights, *id)?);
        Ok(key.matrices.iter().map(bytes).sum::<Result<usize>>()? as u64)
    };
    let mut add = |key: Key, share: &dyn Fn(u64) -> u64| -> Result<()> {
        let bytes = bytes_of(&key)?;
        let place = *places.entry(key.clone()).or_insert(items.len());
        if place == items.len() {
            items.push((key, Item { bytes, read: 0 }));
        }
        if let Some((_, item)) = items.get_mut(place) {
            item.read = (item.read + share(bytes)).min(bytes);
        }
        Ok(())
    };
    for (number, schedule) in std::iter::once(schedule)
        .chain(schedule.hidden.as_deref())
        .enumerate()
    {
        for step in &schedule.steps {
            // Hidden states take the same matrices, and are no token's to read besides.
            let is_first = number == 0;
            if let Step::Embed { table, .. } = step {
                let rows = weight(weights, *table)?.rows.max(1) as u64;
                add(table_key(*table), &|bytes| bytes / rows)?;
            }
            let (products, chosen, of): (&[Product], _, _) = match step {
                Step::Matmul { products, .. } => (products, 1, 1),
                Step::Experts(step) => (&step.products, step.chosen, step.experts.max(1)),
                _ => continue,
            };
            for group in groups(weights, step, most)? {
                let part = products.get(group.first..group.first + group.count);
                if part.unwrap_or_default().iter().any(|p| p.bias.is_some()) {
                    let tiles = |id: &MatrixId| Ok(weight(weights, *id)?.rows.div_ceil(TILE_ROWS));
                    let tiles = group.key.matrices.iter().map(tiles);
                    let bytes = tiles.sum::<Result<usize>>()? * TILE_ROWS * 4;
                    biases += size_class(bytes as u64).unwrap_or(u64::MAX);
                }
                add(group.key, &|bytes| match is_first {
                    true => bytes / of as u64 * chosen.min(of) as u64,
                    false => 0,
                })?;
            }
        }
    }
    Ok((items, biases))
}
