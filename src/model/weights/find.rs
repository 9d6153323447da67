//! Tensors of a source by their names, and their numbers: checked against what the config asks for.

use super::{Source, Tensors, gguf};
use crate::formats::Weight;
use crate::{Error, Result};

impl Source {
    pub(super) fn weights(&self) -> Box<dyn Iterator<Item = &Weight> + '_> {
        match &self.tensors {
            Tensors::Gguf(gguf) => Box::new(gguf.file().tensors().iter()),
            Tensors::Folder(folder) => Box::new(folder.weights()),
        }
    }

    /// The tensor `path.part` (`weight` or `bias`), where the file has one.
    pub(super) fn find(&self, path: &str, part: &str) -> Result<Option<Weight>> {
        let weight = match &self.tensors {
            Tensors::Gguf(gguf) => gguf.find(path, part, &self.config)?,
            Tensors::Folder(folder) => folder.find(path, part, self.config.tied_embeddings)?,
        };
        if let Some(weight) = &weight {
            self.used.lock().insert(weight.name.clone());
        }
        Ok(weight)
    }

    pub(super) fn needed(&self, path: &str, part: &str) -> Result<Weight> {
        match self.find(path, part)? {
            Some(weight) => Ok(weight),
            None => {
                let name = match &self.tensors {
                    Tensors::Gguf(_) => gguf::name(path, part, self.config.family),
                    Tensors::Folder(folder) => Some(folder.name(path, part)),
                };
                Err(Error::InvalidFile(format!(
                    "{}: tensor {} is missing",
                    self.path().display(),
                    name.unwrap_or_else(|| joined(path, part))
                )))
            }
        }
    }

    pub(super) fn matrix(&self, path: &str, rows: usize, cols: usize) -> Result<Weight> {
        let weight = self.needed(path, "weight")?;
        if (weight.stack, weight.rows, weight.cols) != (1, rows, cols) {
            return Err(self.wrong_shape(&weight, &format!("[{rows}, {cols}]")));
        }
        Ok(weight)
    }

    pub(super) fn vector(&self, weight: &Weight, len: usize) -> Result<Vec<f32>> {
        // llama.cpp keeps some as columns.
        let shape = (weight.stack, weight.rows, weight.cols);
        if shape != (1, 1, len) && shape != (1, len, 1) {
            return Err(self.wrong_shape(weight, &format!("[{len}]")));
        }
        self.all(weight)
    }

    /// The numbers of a weight, row by row.
    pub(super) fn all(&self, weight: &Weight) -> Result<Vec<f32>> {
        let mut values = vec![0.0; weight.rows * weight.cols];
        for (row, values) in values.chunks_exact_mut(weight.cols).enumerate() {
            weight.dequantize_row(row, values)?;
        }
        self.finite(weight, &values)?;
        Ok(values)
    }

    pub(super) fn finite(&self, weight: &Weight, values: &[f32]) -> Result<()> {
        let Some(at) = values.iter().position(|value| !value.is_finite()) else {
            return Ok(());
        };
        Err(Error::InvalidFile(format!(
            "{}: tensor {}: number {at} is {}; the file is damaged",
            self.path().display(),
            weight.name,
            values[at]
        )))
    }

    pub(super) fn wrong_shape(&self, weight: &Weight, expected: &str) -> Error {
        let file = match &self.tensors {
            Tensors::Gguf(gguf) => gguf.file().path(),
            Tensors::Folder(folder) => folder.file(&weight.name),
        };
        let stack = match weight.stack {
            1 => String::new(),
            stack => format!("{stack}, "),
        };
        Error::InvalidFile(format!(
            "{}: tensor {} has shape [{stack}{}, {}] where the config asks for {expected}",
            file.display(),
            weight.name,
            weight.rows / weight.stack.max(1),
            weight.cols
        ))
    }
}

/// The name of a tensor: a module's part, or the whole name where the part is empty.
pub(super) fn joined(module: &str, part: &str) -> String {
    match part {
        "" => module.into(),
        part => format!("{module}.{part}"),
    }
}
