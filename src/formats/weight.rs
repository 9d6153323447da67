//! One weight tensor of a file: shape, format and the mapped bytes that hold it.

use super::quantization::{Parts, Taken};
use super::{Bytes, Format, RowGroups, quantization};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// A weight matrix `[rows, cols]` (or a vector: `rows == 1`) inside mapped files.
///
/// Immutable: any thread. Keeps its files mapped.
#[derive(Debug, Clone)]
pub struct Weight {
    /// The tensor's name in the file, for messages.
    pub name: String,
    /// How the numbers are stored.
    pub format: Format,
    /// Matrices that lie one after another (experts); 1 of most weights.
    pub stack: usize,
    /// Weights whose rows lie by turns in the same bytes (gate and up of gpt-oss); 1 of most weights.
    pub turns: usize,
    /// Which of them this is.
    pub turn: usize,
    /// Rows of each that follow one another before the next one's turn.
    pub run: usize,
    /// Output features (or vocabulary), of all matrices of a stack together.
    pub rows: usize,
    /// Input features; the direction of the groups.
    pub cols: usize,
    /// Dense values, GGUF blocks, or packed codes.
    pub data: Bytes,
    /// Scales, of formats that keep them apart: mostly `[rows, cols/group]`.
    pub scales: Option<Bytes>,
    /// Affine biases `[rows, cols/group]`, or packed zero points.
    pub biases: Option<Bytes>,
    /// All scales are divided by this (compressed-tensors' `weight_global_scale`); 1 of most weights. Bytes on a device and
    /// the group form know nothing of it: who multiplies by the matrix divides what comes out.
    pub divisor: f32,
    /// What the last rows are, if they lie elsewhere: [`Weight::followed_by`].
    pub more: Option<Arc<Weight>>,
}

impl Weight {
    /// A weight whose parts have exactly the sizes that `format` and the shape ask for.
    ///
    /// `scales` and `biases` are given where the format keeps them apart, and nowhere else. The error
    /// names the tensor and the part; the caller adds the file.
    pub fn new(
        name: impl Into<String>,
        format: Format,
        rows: usize,
        cols: usize,
        data: Bytes,
        scales: Option<Bytes>,
        biases: Option<Bytes>,
    ) -> Result<Weight> {
        let name = name.into();
        fn bad<T>(name: &str, what: String) -> Result<T> {
            Err(Error::InvalidFile(format!("tensor {name}: {what}")))
        }
        if rows == 0 || cols == 0 {
            return bad(&name, format!("empty shape [{rows}, {cols}]"));
        }
        let (block, _) = format.block();
        if !format.is_valid() {
            return bad(&name, format!("{format} is not a format that is read"));
        }
        if format.row_bytes(cols).is_none() {
            return bad(
                &name,
                format!(
                    "rows of {cols} weights do not form whole blocks of {block} weights of {format}"
                ),
            );
        }
        let needed = quantization::sizes(format, rows, cols);
        let [data_bytes, scale_bytes, bias_bytes] = match needed {
            Some(needed) => needed,
            None => {
                return bad(
                    &name,
                    format!("{format} cannot have shape [{rows}, {cols}]"),
                );
            }
        };
        let check = |part: &str, bytes: Option<&Bytes>, needed: usize| {
            let len = bytes.map(|bytes| bytes.len());
            match (len, needed) {
                (None, 0) => Ok(()),
                (Some(len), needed) if len == needed && needed > 0 => Ok(()),
                (Some(_), 0) => bad(&name, format!("{format} has no separate {part}")),
                (None, _) => bad(&name, format!("{format} needs {part}")),
                (Some(len), needed) => bad(
                    &name,
                    format!(
                        "{part} of a {format} weight [{rows}, {cols}] must have {needed} bytes, the \
                         file has {len}"
                    ),
                ),
            }
        };
        check("data", Some(&data), data_bytes)?;
        check("scales", scales.as_ref(), scale_bytes)?;
        check("biases", biases.as_ref(), bias_bytes)?;
        Ok(Weight {
            name,
            format,
            stack: 1,
            turns: 1,
            turn: 0,
            run: 1,
            rows,
            cols,
            data,
            scales,
            biases,
            divisor: 1.0,
            more: None,
        })
    }

    /// This weight's rows and then those of another one, which is one more matrix behind a stack. `None` where their formats
    /// or columns differ, or rows cannot be taken apart.
    pub fn followed_by(mut self, other: Weight) -> Option<Weight> {
        let is_plain =
            |weight: &Weight| (weight.turns, weight.divisor) == (1, 1.0) && weight.more.is_none();
        let fits = (self.format, self.cols) == (other.format, other.cols)
            && (is_plain(&self) && is_plain(&other) && other.stack == 1)
            && (self.format.rows_apart() && self.format.group_form().is_some());
        let is_stack = self.stack > 1;
        if !fits || (is_stack && Some(self.rows) != other.rows.checked_mul(self.stack)) {
            return None;
        }
        self.stack += usize::from(is_stack);
        self.rows += other.rows;
        self.more = Some(Arc::new(other));
        Some(self)
    }

    /// Rows that lie in this weight's own bytes: the first.
    pub fn own_rows(&self) -> usize {
        let more = self.more.as_ref().map_or(0, |more| more.rows);
        self.rows.saturating_sub(more)
    }

    /// The same bytes, all scales divided by a number.
    pub fn divided(mut self, divisor: f32) -> Weight {
        self.divisor = divisor;
        self
    }

    /// The same bytes as a stack of matrices, which share the rows evenly. Error where they do not, or
    /// where the format does not keep rows apart.
    pub fn stacked(mut self, stack: usize) -> Result<Weight> {
        let even = stack > 0 && self.rows.is_multiple_of(stack) && self.more.is_none();
        if stack != 1 && !(even && self.format.rows_apart()) {
            return Err(Error::InvalidFile(format!(
                "tensor {}: {} rows of {} weights are no stack of {stack} matrices",
                self.name, self.rows, self.format
            )));
        }
        self.stack = stack;
        Ok(self)
    }

    /// Every `turns`th run of `run` rows from the one numbered `turn` on, as a weight (or a stack) over the same bytes.
    /// Error where a matrix has no such rows, or where the format does not keep rows apart.
    pub fn by_turns(mut self, turns: usize, turn: usize, run: usize) -> Result<Weight> {
        let round = turns.checked_mul(run).filter(|&round| round > 0);
        let even = round.is_some_and(|round| (self.rows / self.stack).is_multiple_of(round));
        if !even
            || turn >= turns
            || self.turns != 1
            || self.more.is_some()
            || !self.format.rows_apart()
        {
            return Err(Error::InvalidFile(format!(
                "tensor {}: {} rows of {} weights are not those of {turns} matrices by turns",
                self.name,
                self.rows / self.stack,
                self.format
            )));
        }
        self.rows /= turns;
        (self.turns, self.turn, self.run) = (turns, turn, run);
        Ok(self)
    }

    /// One matrix of a stack, as a weight of its own over the same bytes.
    pub fn matrix(&self, index: usize) -> Result<Weight> {
        if index >= self.stack || !self.rows.is_multiple_of(self.stack) {
            return Err(Error::InvalidArgument(format!(
                "tensor {}: matrix {index} of {}",
                self.name, self.stack
            )));
        }
        if let Some(more) = self.more.as_ref().filter(|_| index + 1 == self.stack) {
            return Ok(Weight::clone(more));
        }
        let own = self.stack - usize::from(self.more.is_some());
        let part = |bytes: &Bytes| {
            let len = bytes.len() / own.max(1);
            let part = bytes.part(index * len..(index + 1) * len);
            part.ok_or_else(|| self.unfit())
        };
        Weight::new(
            self.name.clone(),
            self.format,
            self.rows / self.stack * self.turns,
            self.cols,
            part(&self.data)?,
            self.scales.as_ref().map(part).transpose()?,
            self.biases.as_ref().map(part).transpose()?,
        )?
        .divided(self.divisor)
        .by_turns(self.turns, self.turn, self.run)
    }

    /// Some rows of a matrix, as a weight of its own over the same bytes. Error where the format does not
    /// keep rows apart.
    pub fn rows_of(&self, rows: Range<usize>) -> Result<Weight> {
        let one = self.stack == 1 && self.turns == 1 && self.more.is_none();
        if rows.end > self.rows || !one || !self.format.rows_apart() {
            return Err(Error::Unsupported(format!(
                "{}: tensor {}: rows {rows:?} of {} of {} cannot be taken apart",
                self.data.path().display(),
                self.name,
                self.rows,
                self.format
            )));
        }
        let part = |bytes: &Bytes| {
            let len = bytes.len() / self.rows;
            let part = bytes.part(rows.start * len..rows.end * len);
            part.ok_or_else(|| self.unfit())
        };
        let weight = Weight::new(
            self.name.clone(),
            self.format,
            rows.len(),
            self.cols,
            part(&self.data)?,
            self.scales.as_ref().map(part).transpose()?,
            self.biases.as_ref().map(part).transpose()?,
        )?;
        Ok(weight.divided(self.divisor))
    }

    /// Dequantizes one row in f32, bit-exact with the format's definition. `out.len() == cols`.
    pub fn dequantize_row(&self, row: usize, out: &mut [f32]) -> Result<()> {
        if out.len() != self.cols {
            return Err(Error::InvalidArgument(format!(
                "tensor {}: a row has {} weights, the output {}",
                self.name,
                self.cols,
                out.len()
            )));
        }
        if self.divisor != 1.0 {
            return self.divide_row(row, out);
        }
        let (parts, row) = self.parts(row)?;
        quantization::dequantize(self.format, &parts, row, out).ok_or_else(|| self.unfit())
    }

    /// As published: first the scale is divided, then the code's value multiplied.
    fn divide_row(&self, row: usize, out: &mut [f32]) -> Result<()> {
        let form = self.format.group_form().ok_or_else(|| self.unfit())?;
        let mut groups = RowGroups::default();
        self.read_groups(row, &mut groups)?;
        let codes = groups.codes.chunks(form.group).zip(&groups.scales);
        for (out, (codes, scale)) in out.chunks_mut(form.group).zip(codes) {
            let scale = scale / self.divisor;
            for (out, code) in out.iter_mut().zip(codes) {
                *out = scale * form.values.value(*code);
            }
        }
        Ok(())
    }

    /// Takes one row apart into its group form. Error for dense weights, and for 8-bit floats and scales
    /// that are no finite numbers, which the group form cannot say.
    pub fn read_groups(&self, row: usize, out: &mut RowGroups) -> Result<()> {
        let (parts, row_of_parts) = self.parts(row)?;
        match quantization::read_groups(self.format, &parts, row_of_parts, out) {
            Some(Taken::Done) => Ok(()),
            Some(Taken::NoGroups) => Err(Error::InvalidArgument(format!(
                "tensor {}: {} weights have no groups",
                self.name, self.format
            ))),
            Some(Taken::NotFinite) => Err(Error::InvalidFile(format!(
                "{}: tensor {}: row {row} holds a weight or scale that is not a finite number",
                self.data.path().display(),
                self.name
            ))),
            None => Err(self.unfit()),
        }
    }

    /// The bytes of a row in data, scales and biases (empty where there are none). Error where the format does not keep
    /// rows apart.
    pub fn row(&self, row: usize) -> Result<[&[u8]; 3]> {
        let (parts, row) = self.parts(row)?;
        let apart = self.format.rows_apart();
        let bytes = apart.then(|| quantization::parts_of(&parts, row)).flatten();
        let (data, scales, biases) = bytes.ok_or_else(|| self.unfit())?;
        Ok([data, scales, biases])
    }

    /// Of a row of 8-bit floats the scale of every `group` columns, which lie in one block.
    pub fn block_scales(&self, row: usize, group: usize, out: &mut Vec<f32>) -> Result<()> {
        let (parts, row) = self.parts(row)?;
        quantization::block_scales(self.format, &parts, row, group, out).ok_or_else(|| self.unfit())
    }

    /// The bytes as the format reads them, and the place of `row` among their rows, if it is inside.
    fn parts(&self, row: usize) -> Result<(Parts<'_>, usize)> {
        if row >= self.rows {
            return Err(Error::InvalidArgument(format!(
                "tensor {}: row {row} of {}",
                self.name, self.rows
            )));
        }
        if let (Some(more), Some(row)) = (&self.more, row.checked_sub(self.own_rows())) {
            return more.parts(row);
        }
        fn bytes(part: &Option<Bytes>) -> &[u8] {
            part.as_deref().unwrap_or_default()
        }
        let rows = self.own_rows().checked_mul(self.turns);
        let Some(rows) = rows.filter(|_| self.turn < self.turns && self.run > 0) else {
            return Err(self.unfit());
        };
        let parts = Parts {
            rows,
            cols: self.cols,
            data: &self.data,
            scales: bytes(&self.scales),
            biases: bytes(&self.biases),
        };
        // The parts were checked by `new`; fields are public, so they are not trusted blindly.
        let sizes = [parts.data.len(), parts.scales.len(), parts.biases.len()];
        if quantization::sizes(self.format, rows, self.cols) != Some(sizes) {
            return Err(self.unfit());
        }
        let (run, in_run) = (row / self.run, row % self.run);
        Ok((parts, (run * self.turns + self.turn) * self.run + in_run))
    }

    /// Bytes of a row in data, scales and biases, of a format that keeps rows apart. A weight by turns has
    /// those of the others between its runs of rows.
    pub fn row_sizes(&self) -> Result<[usize; 3]> {
        let rows = self.own_rows().checked_mul(self.turns);
        let sizes = rows.and_then(|rows| quantization::sizes(self.format, rows, self.cols));
        let bytes = [
            self.data.len(),
            self.scales.as_ref().map_or(0, |bytes| bytes.len()),
            self.biases.as_ref().map_or(0, |bytes| bytes.len()),
        ];
        match rows {
            Some(rows) if sizes == Some(bytes) && rows > 0 => Ok(bytes.map(|len| len / rows)),
            _ => Err(self.unfit()),
        }
    }

    fn unfit(&self) -> Error {
        Error::InvalidFile(format!(
            "{}: tensor {}: parts do not fit its shape",
            self.data.path().display(),
            self.name
        ))
    }

    /// Gives the mapped pages back to the system; they are read from the file again when touched.
    pub fn release(&self) {
        for bytes in [Some(&self.data), self.scales.as_ref(), self.biases.as_ref()]
            .into_iter()
            .flatten()
        {
            bytes.release();
        }
        if let Some(more) = &self.more {
            more.release();
        }
    }

    /// Bytes of the file that hold this weight.
    pub fn byte_len(&self) -> usize {
        let all = self.data.len()
            + self.scales.as_ref().map_or(0, |b| b.len())
            + self.biases.as_ref().map_or(0, |b| b.len());
        all / self.turns.max(1) + self.more.as_ref().map_or(0, |more| more.byte_len())
    }
}
