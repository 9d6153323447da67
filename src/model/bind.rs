//! Binding: a model's weights get the ids by which its graph knows them.

use super::weights::{self, Source};
use crate::Result;
use crate::array::Array;
use crate::formats::Weight;
use crate::ir::{Factor, MatrixId, VectorId};

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
    /// What comes out is multiplied by this.
    factor: Option<Array>,
    bias: Option<Array>,
}

impl Linear {
    /// A layer whose matrix is bound already, without bias.
    pub fn shared(weight: MatrixId, out: usize) -> Linear {
        Linear {
            weight,
            out,
            factor: None,
            bias: None,
        }
    }

    /// `W·x + b`.
    ///
    /// # Errors
    /// As [`Array::linear`].
    pub fn of(&self, x: &Array) -> Result<Array> {
        let mut product = x.linear(self.weight, self.out)?;
        if let Some(factor) = &self.factor {
            product = product.times(factor)?;
        }
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
        Array::vector(self.vector_id(values), len)
    }

    fn vector_id(&mut self, values: Vec<f32>) -> VectorId {
        self.vectors.push(values);
        VectorId(self.vectors.len() - 1)
    }

    /// The stack of `count` matrices `[out, width]` at `path` of the source, with their biases if there are any.
    ///
    /// # Errors
    /// Those of [`Source::stack`] and [`Source::stack_bias`].
    pub fn stack(
        &mut self,
        source: &Source,
        path: &str,
        [count, out, width]: [usize; 3],
        has_bias: bool,
    ) -> Result<Factor> {
        let weight = self.matrix(source.stack(path, count, out, width)?);
        let bias = match has_bias {
            true => Some(self.vector_id(source.stack_bias(path, count, out)?)),
            false => None,
        };
        Ok(Factor { weight, bias })
    }

    /// A matrix, or a stack of some, without biases.
    pub fn factor(&mut self, weight: Weight) -> Factor {
        Factor {
            weight: self.matrix(weight),
            bias: None,
        }
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
        Ok(self.bound_linear(weight, bias, out))
    }

    fn bound_linear(&mut self, weight: Weight, bias: Option<Vec<f32>>, out: usize) -> Linear {
        let divisor = weight.divisor;
        let factor = (divisor != 1.0).then(|| self.number(1.0 / divisor));
        Linear {
            weight: self.matrix(weight),
            out,
            factor,
            bias: bias.map(|bias| self.vector(bias)),
        }
    }

    /// One number, as an array; the same array for the same number.
    pub fn number(&mut self, number: f32) -> Array {
        let same = |vector: &Vec<f32>| matches!(vector[..], [n] if n.to_bits() == number.to_bits());
        match self.vectors.iter().position(same) {
            Some(place) => Array::vector(VectorId(place), 1),
            None => self.vector(vec![number]),
        }
    }

    /// Linear layers that lie one after the other in the matrix at `path`, `rows` of each.
    ///
    /// # Errors
    /// Those of [`Source::linear`].
    pub fn linears<const N: usize>(
        &mut self,
        source: &Source,
        path: &str,
        rows: [usize; N],
        width: usize,
    ) -> Result<[Linear; N]> {
        let weights::Linear { weight, bias } = source.linear(path, rows.iter().sum(), width)?;
        let mut start = 0;
        let mut part = |out: usize| {
            let range = start..start + out;
            start = range.end;
            let bias = bias.as_ref().map(|bias| bias[range.clone()].to_vec());
            Ok::<_, crate::Error>((weight.rows_of(range)?, bias, out))
        };
        let parts = rows.map(&mut part);
        let mut linears = Vec::with_capacity(N);
        for part in parts {
            let (weight, bias, out) = part?;
            linears.push(self.bound_linear(weight, bias, out));
        }
        linears
            .try_into()
            .map_err(|_| crate::Error::Internal("parts of a matrix".into()))
    }

    /// Linear layers whose rows, `out` of each, lie by turns in the matrix at `path`, `run` of each at a time; `None` where the
    /// format does not keep rows apart.
    ///
    /// # Errors
    /// Those of [`Source::linear`].
    pub fn linears_by_turns<const N: usize>(
        &mut self,
        source: &Source,
        path: &str,
        (out, run): (usize, usize),
        width: usize,
    ) -> Result<Option<[Linear; N]>> {
        let weights::Linear { weight, bias } = source.linear(path, N * out, width)?;
        if !weight.format.rows_apart() {
            return Ok(None);
        }
        let part = |turn: usize| {
            let of_turn = |bias: &Vec<f32>| {
                let runs = bias.chunks_exact(run).skip(turn).step_by(N);
                runs.flatten().copied().collect()
            };
            let bias: Option<Vec<f32>> = bias.as_ref().map(of_turn);
            Ok::<_, crate::Error>((weight.clone().by_turns(N, turn, run)?, bias))
        };
        let parts = (0..N).map(part).collect::<Result<Vec<_>>>()?;
        let linears = parts
            .into_iter()
            .map(|(weight, bias)| self.bound_linear(weight, bias, out));
        let linears = linears.collect::<Vec<_>>().try_into();
        linears
            .map(Some)
            .map_err(|_| crate::Error::Internal("parts of a matrix".into()))
    }

    /// The norm at `path` of the source, as an array.
    ///
    /// # Errors
    /// Those of [`Source::norm`].
    pub fn norm(&mut self, source: &Source, path: &str, len: usize) -> Result<Array> {
        let offset = source.config().form.norm_offset;
        let weights = source.norm(path, len)?;
        Ok(self.vector(weights.iter().map(|weight| weight + offset).collect()))
    }
}
