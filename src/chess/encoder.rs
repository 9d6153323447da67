//! Encoders: attention of 64 squares with a learned bias, and feed-forward layers.

use super::File;
use super::format::Activation;
use super::layers::{Dense, Norm, SQUARES, sizes};
use crate::Result;
use crate::array::Array;
use crate::ir::{Dtype, Shape};

/// `W₂ · f(W₁ · x + b₁) + b₂`.
pub struct FeedForward {
    first: Dense,
    second: Dense,
    activation: Activation,
}

impl FeedForward {
    /// The layer at `path`.
    ///
    /// # Errors
    /// `InvalidFile` if something is absent or of another size.
    pub fn read(
        file: &File,
        path: &str,
        width: usize,
        activation: Activation,
    ) -> Result<FeedForward> {
        let first = Dense::read(file, &format!("{path}.dense1"), width)?;
        let second = Dense::read(file, &format!("{path}.dense2"), first.outputs)?;
        expect(file, &format!("{path}.dense2_b"), second.outputs, width)?;
        Ok(FeedForward {
            first,
            second,
            activation,
        })
    }

    /// Its result.
    ///
    /// # Errors
    /// Those of operations on arrays.
    pub fn apply(&self, x: &Array) -> Result<Array> {
        let hidden = self.activation.apply(&self.first.apply(x)?)?;
        self.second.apply(&hidden)
    }
}

/// A bias for the scores of all pairs of squares, made from the whole position.
struct Smolgen {
    compress: Dense,
    first: (Dense, Norm),
    second: (Dense, Norm),
    /// One for all encoders.
    weights: std::sync::Arc<Dense>,
    activation: Activation,
    heads: usize,
}

impl Smolgen {
    /// `[batch, heads, 64, 64]`: row is the square that looks, column the one that is looked at.
    fn apply(&self, x: &Array) -> Result<Array> {
        let batch = sizes(x)[0];
        let compressed = self.compress.apply(x)?;
        let flat = compressed.reshape(Shape::new([batch, SQUARES * self.compress.outputs]))?;
        let layer = |x: &Array, (dense, norm): &(Dense, Norm)| {
            norm.apply(&self.activation.apply(&dense.apply(x)?)?)
        };
        let hidden = layer(&layer(&flat, &self.first)?, &self.second)?;
        let by_head = hidden.reshape(Shape::new([batch, self.heads, self.weights.inputs]))?;
        let biases = self.weights.apply(&by_head)?;
        biases.reshape(Shape::new([batch, self.heads, SQUARES, SQUARES]))
    }
}

/// What encoders of one body or head share.
pub struct EncoderSettings {
    /// Numbers of a square.
    pub width: usize,
    /// Heads of attention.
    pub heads: usize,
    /// Factor of what a sublayer adds.
    pub alpha: f64,
    /// ε of norms.
    pub eps: f64,
    /// Of feed-forward layers.
    pub ffn: Activation,
    /// Of smolgen.
    pub smolgen: Activation,
    /// Smolgen's shared matrix, if there is one.
    pub smolgen_weights: Option<std::sync::Arc<Dense>>,
}

/// One encoder.
pub struct Encoder {
    q: Dense,
    k: Dense,
    v: Dense,
    out: Dense,
    smolgen: Option<Smolgen>,
    ffn: FeedForward,
    norms: [Norm; 2],
    heads: usize,
    alpha: f64,
}

/// An error unless a size is the one that is needed.
fn expect(file: &File, path: &str, size: usize, needed: usize) -> Result<()> {
    match size == needed {
        true => Ok(()),
        false => Err(file.wrong(path, format!("{size} numbers where {needed} are needed"))),
    }
}

impl Encoder {
    /// The encoder at `path`.
    ///
    /// # Errors
    /// `InvalidFile` if something is absent or of another size, `Unsupported` for relative positions.
    pub fn read(file: &File, path: &str, settings: &EncoderSettings) -> Result<Encoder> {
        let width = settings.width;
        let at = |name: &str| format!("{path}.{name}");
        for name in ["mha.rpe_q", "mha.rpe_k", "mha.rpe_v"] {
            if file.has(&at(name)) {
                return Err(crate::Error::Unsupported(format!(
                    "{}: weights.{}: relative position encodings, which no engine supports",
                    file.name(),
                    at(name)
                )));
            }
        }
        let q = Dense::read(file, &at("mha.q"), width)?;
        let inner = q.outputs;
        if settings.heads == 0 || !inner.is_multiple_of(settings.heads) {
            let what = format!("{inner} numbers for {} heads", settings.heads);
            return Err(file.wrong(&at("mha.q_b"), what));
        }
        let (k, v) = (
            Dense::read(file, &at("mha.k"), width)?,
            Dense::read(file, &at("mha.v"), width)?,
        );
        expect(file, &at("mha.k_b"), k.outputs, inner)?;
        expect(file, &at("mha.v_b"), v.outputs, inner)?;
        let out = Dense::read(file, &at("mha.dense"), inner)?;
        expect(file, &at("mha.dense_b"), out.outputs, width)?;
        let smolgen = match file.has(&at("mha.smolgen.compress")) {
            true => Some(read_smolgen(file, &at("mha.smolgen"), settings)?),
            false => None,
        };
        Ok(Encoder {
            q,
            k,
            v,
            out,
            smolgen,
            ffn: FeedForward::read(file, &at("ffn"), width, settings.ffn)?,
            norms: [
                Norm::read(file, &at("ln1"), width, settings.eps)?,
                Norm::read(file, &at("ln2"), width, settings.eps)?,
            ],
            heads: settings.heads,
            alpha: settings.alpha,
        })
    }

    /// Its result for `[batch, 64, width]`.
    ///
    /// # Errors
    /// Those of operations on arrays.
    pub fn apply(&self, x: &Array) -> Result<Array> {
        let batch = sizes(x)[0];
        let dim = self.q.outputs / self.heads;
        let by_head = |dense: &Dense| {
            let y = dense.apply(x)?;
            let y = y.reshape(Shape::new([batch, SQUARES, self.heads, dim]))?;
            y.transpose(&[0, 2, 1, 3])
        };
        let bias = match &self.smolgen {
            Some(smolgen) => Some(smolgen.apply(x)?),
            None => None,
        };
        let scale = 1.0 / (dim as f64).sqrt();
        let (q, k, v) = (by_head(&self.q)?, by_head(&self.k)?, by_head(&self.v)?);
        let y = q.scaled_dot_product_attention(&k, &v, scale, false, bias.as_ref(), None)?;
        let y = y.transpose(&[0, 2, 1, 3])?;
        let y = y.reshape(Shape::new([batch, SQUARES, self.q.outputs]))?;
        let x = add(x, &self.out.apply(&y)?, self.alpha, &self.norms[0])?;
        add(&x, &self.ffn.apply(&x)?, self.alpha, &self.norms[1])
    }
}

/// `norm(x + alpha · y)`.
pub fn add(x: &Array, y: &Array, alpha: f64, norm: &Norm) -> Result<Array> {
    let y = match alpha == 1.0 {
        true => y.clone(),
        false => y.times(&Array::number(alpha, Dtype::F32)?)?,
    };
    norm.apply(&x.plus(&y)?)
}

fn read_smolgen(file: &File, path: &str, settings: &EncoderSettings) -> Result<Smolgen> {
    /// ε of smolgen's norms, whatever the encoders' is.
    const EPS: f64 = 1e-3;
    let at = |name: &str| format!("{path}.{name}");
    let Some(weights) = &settings.smolgen_weights else {
        return Err(file.wrong("smolgen_w", "absent, but encoders have smolgen"));
    };
    let numbers = file.len(&at("compress"));
    if !numbers.is_multiple_of(settings.width) {
        let what = format!("{numbers} numbers for rows of {}", settings.width);
        return Err(file.wrong(&at("compress"), what));
    }
    let channels = numbers / settings.width;
    let compress = Dense::without_bias(file, &at("compress"), settings.width, channels)?;
    let layer = |dense: &str, norm: &str, inputs: usize| -> Result<(Dense, Norm)> {
        let dense = Dense::read(file, &at(dense), inputs)?;
        let norm = Norm::read(file, &at(norm), dense.outputs, EPS)?;
        Ok((dense, norm))
    };
    let first = layer("dense1", "ln1", SQUARES * channels)?;
    let second = layer("dense2", "ln2", first.0.outputs)?;
    let needed = settings.heads * weights.inputs;
    expect(file, &at("dense2_b"), second.0.outputs, needed)?;
    Ok(Smolgen {
        compress,
        first,
        second,
        weights: weights.clone(),
        activation: settings.smolgen,
        heads: settings.heads,
    })
}
