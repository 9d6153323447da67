//! Binding: a model's weights get the ids by which its graph knows them.

use super::weights::{self, Source};
use crate::Result;
use crate::array::Array;
use crate::formats::Weight;
use crate::ir::{MatrixId, VectorId};

/// The lists that the ids of a graph point into.
#[derive(Debug, Default)]
pub struct Bound {
    /// Matrices.
    pub matrices: Vec<Weight>,
    /// Norm weights, biases and frequencies.
    pub vectors: Vec<Vec<f32>>,
}

/// A linear layer `W·x + b`.
#[derive(Debug)]
pub struct Linear {
    weight: MatrixId,
    out: usize,
    bias: Option<Array>,
}

impl Linear {
    /// A layer whose matrix is bound already, without bias.
    pub fn shared(weight: MatrixId, out: usize) -> Linear {
        Linear {
            weight,
            out,
            bias: None,
        }
    }

    /// `W·x + b`.
    ///
    /// # Errors
    /// As [`Array::linear`].
    pub fn of(&self, x: &Array) -> Result<Array> {
        let product = x.linear(self.weight, self.out)?;
        match &self.bias {
            Some(bias) => product.plus(bias),
            None => Ok(product),
        }
    }
}

impl Bound {
    /// A matrix.
    pub fn matrix(&mut self, weight: Weight) -> MatrixId {
        self.matrices.push(weight);
        MatrixId(self.matrices.len() - 1)
    }

    /// A vector, as an array.
    pub fn vector(&mut self, values: Vec<f32>) -> Array {
        let len = values.len();
        self.vectors.push(values);
        Array::vector(VectorId(self.vectors.len() - 1), len)
    }

    /// The linear layer at `path` of the source, `[out, width]`, with a bias where the file has one.
    ///
    /// # Errors
    /// Those of [`Source::linear`].
    pub fn linear(
        &mut self,
        source: &Source,
        path: &str,
        out: usize,
        width: usize,
    ) -> Result<Linear> {
        let weights::Linear { weight, bias } = source.linear(path, out, width)?;
        let weight = self.matrix(weight);
        let bias = bias.map(|bias| self.vector(bias));
        Ok(Linear { weight, out, bias })
    }

    /// The norm at `path` of the source, as an array.
    ///
    /// # Errors
    /// Those of [`Source::norm`].
    pub fn norm(&mut self, source: &Source, path: &str, len: usize) -> Result<Array> {
        Ok(self.vector(source.norm(path, len)?))
    }
}
