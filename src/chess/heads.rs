//! Heads: policy, value and moves left.

use super::File;
use super::body::smolgen_weights;
use super::encoder::{Encoder, EncoderSettings};
use super::format::{Activation, Body as BodyKind, Format, PolicyFormat};
use super::layers::{Conv, Dense, SQUARES, by_channel, sizes};
use super::moves::{CONVOLUTION_PLANES, MOVES, attention_places, convolution_places};
use crate::Result;
use crate::array::Array;
use crate::cpu::Elements;
use crate::ir::{Dtype, Shape};

/// The rank from which pawns promote, and the last one, as first squares.
const PROMOTE_FROM: i64 = 48;
const PROMOTE_TO: i64 = 56;

/// Numbers of the whole board: few channels of each square, then two dense layers.
pub struct BoardHead {
    /// By body: convolution 1×1, or a dense layer of each square.
    squares: PerSquare,
    first: Dense,
    second: Dense,
    activation: Activation,
}

enum PerSquare {
    Conv(Conv),
    Dense(Dense),
}

/// Where a board head's parts are.
pub struct BoardHeadPaths {
    /// The convolution.
    pub conv: String,
    /// The dense layer of squares.
    pub squares: String,
    /// The dense layers after it.
    pub layers: [String; 2],
}

impl BoardHead {
    /// A head with `outputs` results.
    ///
    /// # Errors
    /// `InvalidFile` if something is absent or of another size.
    pub fn read(
        file: &File,
        format: &Format,
        paths: &BoardHeadPaths,
        width: usize,
        outputs: usize,
    ) -> Result<BoardHead> {
        let (squares, channels) = match format.body {
            BodyKind::Residual => {
                let conv = Conv::read(file, &paths.conv, width, 1)?;
                let channels = conv.outputs;
                (PerSquare::Conv(conv), channels)
            }
            BodyKind::Attention => {
                let dense = Dense::read(file, &paths.squares, width)?;
                let channels = dense.outputs;
                (PerSquare::Dense(dense), channels)
            }
        };
        let first = Dense::read(file, &paths.layers[0], SQUARES * channels)?;
        let second = Dense::read(file, &paths.layers[1], first.outputs)?;
        if second.outputs != outputs {
            let what = format!("{} numbers where {outputs} are needed", second.outputs);
            return Err(file.wrong(&format!("{}_b", paths.layers[1]), what));
        }
        Ok(BoardHead {
            squares,
            first,
            second,
            activation: format.activation,
        })
    }

    /// `[batch, outputs]` of `[batch, 8, 8, width]`, before any last function.
    ///
    /// # Errors
    /// Those of operations on arrays.
    pub fn apply(&self, x: &Array) -> Result<Array> {
        let flat = match &self.squares {
            PerSquare::Conv(conv) => by_channel(&self.activation.apply(&conv.apply(x)?)?)?,
            PerSquare::Dense(dense) => {
                let y = self.activation.apply(&dense.apply(x)?)?;
                y.reshape(Shape::new([sizes(x)[0], SQUARES * dense.outputs]))?
            }
        };
        let hidden = self.activation.apply(&self.first.apply(&flat)?)?;
        self.second.apply(&hidden)
    }
}

/// The policy head.
pub enum Policy {
    /// One matrix over all squares.
    Classical {
        conv: Conv,
        dense: Dense,
        activation: Activation,
    },
    /// Planes of moves.
    Convolution {
        first: Conv,
        second: Conv,
        activation: Activation,
    },
    /// From-squares attend to to-squares.
    Attention(Box<AttentionPolicy>),
}

/// The attention policy's layers.
pub struct AttentionPolicy {
    embedding: Dense,
    encoders: Vec<Encoder>,
    q: Dense,
    k: Dense,
    /// Rows: queen, rook, bishop, all three.
    promotion: Dense,
    activation: Activation,
}

impl Policy {
    /// The head at `path` (ends with a dot; empty for the only one) over `width` channels.
    ///
    /// # Errors
    /// `InvalidFile` if something is absent or of another size.
    pub fn read(file: &File, format: &Format, path: &str, width: usize) -> Result<Policy> {
        let at = |name: &str| format!("{path}{name}");
        let activation = format.activation;
        match format.policy {
            PolicyFormat::Classical => {
                let conv = Conv::read(file, &at("policy"), width, 1)?;
                let dense = Dense::read(file, &at("ip_pol"), SQUARES * conv.outputs)?;
                if dense.outputs != MOVES {
                    let what = format!("{} numbers for {MOVES} moves", dense.outputs);
                    return Err(file.wrong(&at("ip_pol_b"), what));
                }
                Ok(Policy::Classical {
                    conv,
                    dense,
                    activation,
                })
            }
            PolicyFormat::Convolution => {
                let first = Conv::read(file, &at("policy1"), width, 3)?;
                let second = Conv::read(file, &at("policy"), first.outputs, 3)?;
                if second.outputs < CONVOLUTION_PLANES {
                    let what = format!("{} planes of {CONVOLUTION_PLANES}", second.outputs);
                    return Err(file.wrong(&at("policy.weights"), what));
                }
                Ok(Policy::Convolution {
                    first,
                    second,
                    activation,
                })
            }
            PolicyFormat::Attention => {
                let head = AttentionPolicy::read(file, format, path, width)?;
                Ok(Policy::Attention(Box::new(head)))
            }
        }
    }

    /// `[batch, 1858]` of `[batch, 8, 8, width]`.
    ///
    /// # Errors
    /// Those of operations on arrays.
    pub fn apply(&self, x: &Array) -> Result<Array> {
        match self {
            Policy::Classical {
                conv,
                dense,
                activation,
            } => dense.apply(&by_channel(&activation.apply(&conv.apply(x)?)?)?),
            Policy::Convolution {
                first,
                second,
                activation,
            } => {
                let y = second.apply(&activation.apply(&first.apply(x)?)?)?;
                let places = convolution_places(second.outputs);
                let all = SQUARES * second.outputs;
                take(&y.reshape(Shape::new([sizes(x)[0], all]))?, &places)
            }
            Policy::Attention(head) => head.apply(x),
        }
    }
}

/// Numbers at places of the last of two axes.
fn take(x: &Array, places: &[u32]) -> Result<Array> {
    let places = Elements::from_slice(places, Dtype::U32, &[places.len()])?;
    x.take(&Array::from_elements(places), 1)
}

impl AttentionPolicy {
    fn read(file: &File, format: &Format, path: &str, width: usize) -> Result<AttentionPolicy> {
        let at = |name: &str| format!("{path}{name}");
        // Heads of one network may share their first layer.
        let own = at("ip_pol");
        let shared = "policy_heads.ip_pol".to_string();
        let embedding = match path.is_empty() || file.has(&format!("{own}_w")) {
            true => own,
            false => shared,
        };
        let embedding = Dense::read(file, &embedding, width)?;
        let width = embedding.outputs;
        let of_residual = format.body == BodyKind::Residual;
        let pick = |usual: Activation| match of_residual {
            true => Activation::Selu,
            false => usual,
        };
        let count = file.count(&format!("weights.{}", at("pol_encoder")));
        let headcount = file.number(&format!("weights.{}", at("pol_headcount")));
        let settings = EncoderSettings {
            width,
            heads: headcount.unwrap_or(0) as usize,
            alpha: 1.0,
            eps: 1e-6,
            ffn: pick(format.ffn),
            smolgen: format.smolgen,
            smolgen_weights: smolgen_weights(file)?.filter(|_| count > 0),
        };
        let encoders =
            (0..count).map(|i| Encoder::read(file, &at(&format!("pol_encoder[{i}]")), &settings));
        let encoders = encoders.collect::<Result<_>>()?;
        let q = Dense::read(file, &at("ip2_pol"), width)?;
        let k = Dense::read(file, &at("ip3_pol"), width)?;
        if q.outputs != k.outputs {
            let what = format!("{} numbers, {} in ip2_pol_b", k.outputs, q.outputs);
            return Err(file.wrong(&at("ip3_pol_b"), what));
        }
        let promotion = Dense::without_bias(file, &at("ip4_pol_w"), k.outputs, 4)?;
        Ok(AttentionPolicy {
            embedding,
            encoders,
            q,
            k,
            promotion,
            activation: pick(format.activation),
        })
    }

    fn apply(&self, x: &Array) -> Result<Array> {
        let [batch, _, _, width] = sizes(x)[..] else {
            return Err(crate::Error::Internal("a board of another rank".into()));
        };
        let x = x.reshape(Shape::new([batch, SQUARES, width]))?;
        let mut x = self.activation.apply(&self.embedding.apply(&x)?)?;
        for encoder in &self.encoders {
            x = encoder.apply(&x)?;
        }
        let (q, k) = (self.q.apply(&x)?, self.k.apply(&x)?);
        let scale = Array::number(1.0 / (self.q.outputs as f64).sqrt(), Dtype::F32)?;
        let moves = q.matmul(&k.swapaxes(1, 2)?)?.times(&scale)?;
        let all = batch as i64;
        let last = k.slice(
            &[0, PROMOTE_TO, 0],
            &[all, SQUARES as i64, self.k.outputs as i64],
            &[1, 1, 1],
        )?;
        // [batch, 8 files, 4]: what each piece adds and what all three do.
        let offsets = self.promotion.apply(&last)?;
        let part = |from: i64, to: i64| offsets.slice(&[0, 0, from], &[all, 8, to], &[1, 1, 1]);
        let offsets = part(0, 3)?.plus(&part(3, 4)?)?;
        let plain = moves.slice(
            &[0, PROMOTE_FROM, PROMOTE_TO],
            &[all, PROMOTE_TO, SQUARES as i64],
            &[1, 1, 1],
        )?;
        // [batch, from file, to file, piece]
        let promotions = plain.expand_dims(&[3])?.plus(&offsets.expand_dims(&[1])?)?;
        let moves = moves.reshape(Shape::new([batch, SQUARES * SQUARES]))?;
        let promotions = promotions.reshape(Shape::new([batch, 8 * 8 * 3]))?;
        let both = Array::concatenate(&[moves, promotions], 1)?;
        take(&both, &attention_places())
    }
}
