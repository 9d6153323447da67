//! Bodies: a tower of convolutions, encoders over squares, or encoders over what a tower says of them.

use super::File;
use super::encoder::{Encoder, EncoderSettings, FeedForward, add};
use super::format::{Activation, Body as Kind, Embedding, Format};
use super::layers::{Conv, Dense, Norm, SQUARES, array, sizes};
use super::moves::reaches;
use super::planes::PLANES;
use crate::Result;
use crate::array::Array;
use crate::ir::{Reduce, Shape, Unary};
use std::sync::Arc;

/// Side of the board.
const SIDE: usize = 8;
/// Numbers of a square that PE_DENSE's layer sees: the planes of all pieces.
const PIECES: usize = 12;
/// The most encoders or blocks: deeper networks are mistakes.
const DEEPEST: usize = 1024;

/// A residual block.
struct Block {
    first: Conv,
    second: Conv,
    /// Squeeze and excitation.
    se: Option<[Dense; 2]>,
}

impl Block {
    fn read(file: &File, path: &str, channels: usize) -> Result<Block> {
        let conv = |name: &str| {
            let at = format!("{path}.{name}");
            let conv = Conv::read(file, &at, channels, 3)?;
            match conv.outputs == channels {
                true => Ok(conv),
                false => {
                    let what = format!("{} channels where {channels} are needed", conv.outputs);
                    Err(file.wrong(&format!("{at}.weights"), what))
                }
            }
        };
        let at = |name: &str| format!("{path}.se.{name}");
        let se = match file.has(&at("w1")) || file.has(&at("w2")) {
            true => {
                let first = Dense::named(file, &at("w1"), &at("b1"), channels)?;
                let second = Dense::named(file, &at("w2"), &at("b2"), first.outputs)?;
                if second.outputs != 2 * channels {
                    let what = format!("{} numbers for {channels} channels", second.outputs);
                    return Err(file.wrong(&at("b2"), what));
                }
                Some([first, second])
            }
            false => None,
        };
        Ok(Block {
            first: conv("conv1")?,
            second: conv("conv2")?,
            se,
        })
    }

    fn apply(&self, x: &Array, activation: Activation) -> Result<Array> {
        let y = activation.apply(&self.first.apply(x)?)?;
        let mut y = self.second.apply(&y)?;
        if let Some([first, second]) = &self.se {
            let channels = self.second.outputs as i64;
            let batch = sizes(x)[0] as i64;
            let sums = y.reduce(Reduce::Sum, Some(&[1, 2]), false)?;
            let mean = sums.times(&Array::number(1.0 / SQUARES as f64, x.dtype())?)?;
            let both = second.apply(&activation.apply(&first.apply(&mean)?)?)?;
            let part = |from: i64| {
                let part = both.slice(&[0, from], &[batch, from + channels], &[1, 1])?;
                part.expand_dims(&[1, 2])
            };
            let gate = part(0)?.unary(Unary::Sigmoid)?;
            y = y.times(&gate)?.plus(&part(channels)?)?;
        }
        activation.apply(&x.plus(&y)?)
    }
}

/// Convolutions.
struct Tower {
    input: Conv,
    blocks: Vec<Block>,
    activation: Activation,
}

impl Tower {
    fn read(file: &File, activation: Activation) -> Result<Tower> {
        let input = Conv::read(file, "input", PLANES, 3)?;
        let blocks = (0..depth(file, "residual")?)
            .map(|i| Block::read(file, &format!("residual[{i}]"), input.outputs));
        Ok(Tower {
            blocks: blocks.collect::<Result<_>>()?,
            input,
            activation,
        })
    }

    fn apply(&self, x: &Array) -> Result<Array> {
        let mut x = self.activation.apply(&self.input.apply(x)?)?;
        for block in &self.blocks {
            x = block.apply(&x, self.activation)?;
        }
        Ok(x)
    }
}

fn depth(file: &File, path: &str) -> Result<usize> {
    match file.count(&format!("weights.{path}")) {
        many if many > DEEPEST => Err(file.wrong(path, format!("{many} of them are too many"))),
        count => Ok(count),
    }
}

/// What encoders see of the planes.
enum Squares {
    /// What convolutions make of them, whatever the file says of positions.
    Tower(Tower),
    /// With the squares that pieces could reach.
    Map(Array),
    /// With a dense layer's view of all pieces.
    Dense(Dense),
}

/// Encoders and what comes before them.
struct Encoders {
    squares: Squares,
    embedding: Dense,
    /// PE_DENSE: norm, feed-forward layer and its norm.
    dense: Option<(Norm, FeedForward, Norm)>,
    /// Factors and summands of every number of every square, `[64, width]`.
    gates: [Option<Array>; 2],
    encoders: Vec<Encoder>,
    activation: Activation,
    alpha: f64,
}

/// `[64, 64]`: −1 for the square itself, 1 where a queen or knight could go.
fn position_map() -> Result<Array> {
    let mut map = [0.0; SQUARES * SQUARES];
    for from in 0..SQUARES {
        for to in 0..SQUARES {
            map[from * SQUARES + to] = match (from == to, reaches(from, to)) {
                (true, _) => -1.0,
                (false, true) => 1.0,
                (false, false) => 0.0,
            };
        }
    }
    array(&map, &[1, SQUARES, SQUARES])
}

impl Encoders {
    fn read(file: &File, format: &Format) -> Result<Encoders> {
        let is_dense = format.embedding == Embedding::Dense;
        let (squares, inputs) = match format.embedding {
            _ if file.count("weights.residual") > 0 => {
                let tower = Tower::read(file, format.activation)?;
                let channels = tower.input.outputs;
                (Squares::Tower(tower), channels)
            }
            Embedding::None => {
                return Err(crate::Error::Unsupported(format!(
                    "{}: format.network_format.input_embedding is 0: encoders over bare planes, which this library does not run",
                    file.name()
                )));
            }
            Embedding::Map => (Squares::Map(position_map()?), PLANES + SQUARES),
            Embedding::Dense => {
                let dense = Dense::read(file, "ip_emb_preproc", PIECES * SQUARES)?;
                if !dense.outputs.is_multiple_of(SQUARES) {
                    let what = format!("{} numbers for 64 squares", dense.outputs);
                    return Err(file.wrong("ip_emb_preproc_b", what));
                }
                let inputs = PLANES + dense.outputs / SQUARES;
                (Squares::Dense(dense), inputs)
            }
        };
        let embedding = Dense::read(file, "ip_emb", inputs)?;
        let width = embedding.outputs;
        let eps = if is_dense { 1e-3 } else { 1e-6 };
        let count = depth(file, "encoder")?;
        // Without encoders nothing is added either.
        let alpha = (2.0 * count.max(1) as f64).powf(-0.25);
        let settings = EncoderSettings {
            width,
            heads: file.number("weights.headcount").unwrap_or(0) as usize,
            alpha,
            eps,
            ffn: format.ffn,
            smolgen: format.smolgen,
            smolgen_weights: smolgen_weights(file)?,
        };
        let dense = match is_dense {
            true => Some((
                Norm::read(file, "ip_emb_ln", width, eps)?,
                FeedForward::read(file, "ip_emb_ffn", width, format.ffn)?,
                Norm::read(file, "ip_emb_ffn_ln", width, eps)?,
            )),
            false => None,
        };
        // Gates are stored channel by channel.
        let gate = |path: &str| match file.has(path) {
            true => {
                let numbers = file.exactly(path, width * SQUARES)?;
                array(&numbers, &[width, SQUARES])?.swapaxes(0, 1).map(Some)
            }
            false => Ok(None),
        };
        let encoders = (0..count).map(|i| Encoder::read(file, &format!("encoder[{i}]"), &settings));
        Ok(Encoders {
            squares,
            embedding,
            dense,
            gates: [gate("ip_mult_gate")?, gate("ip_add_gate")?],
            encoders: encoders.collect::<Result<_>>()?,
            activation: format.activation,
            alpha,
        })
    }

    /// `[batch, 64, width]` of `[batch, 8, 8, planes]`.
    fn apply(&self, planes: &Array) -> Result<Array> {
        let batch = sizes(planes)[0];
        let flat = planes.reshape(Shape::new([batch, SQUARES, PLANES]))?;
        let x = match &self.squares {
            Squares::Tower(tower) => {
                let channels = tower.input.outputs;
                let x = tower.apply(planes)?;
                x.reshape(Shape::new([batch, SQUARES, channels]))?
            }
            Squares::Map(map) => {
                let map = map.broadcast_to(Shape::new([batch, SQUARES, SQUARES]))?;
                Array::concatenate(&[flat, map], -1)?
            }
            Squares::Dense(dense) => {
                let stop = [batch as i64, SQUARES as i64, PIECES as i64];
                let pieces = flat.slice(&[0, 0, 0], &stop, &[1, 1, 1])?;
                let pieces = pieces.reshape(Shape::new([batch, SQUARES * PIECES]))?;
                let seen = dense.apply(&pieces)?;
                let seen = seen.reshape(Shape::new([batch, SQUARES, dense.outputs / SQUARES]))?;
                Array::concatenate(&[flat, seen], -1)?
            }
        };
        let mut x = self.activation.apply(&self.embedding.apply(&x)?)?;
        if let Some((norm, ..)) = &self.dense {
            x = norm.apply(&x)?;
        }
        if let Some(factors) = &self.gates[0] {
            x = x.times(factors)?;
        }
        if let Some(summands) = &self.gates[1] {
            x = x.plus(summands)?;
        }
        if let Some((_, ffn, norm)) = &self.dense {
            x = add(&x, &ffn.apply(&x)?, self.alpha, norm)?;
        }
        for encoder in &self.encoders {
            x = encoder.apply(&x)?;
        }
        Ok(x)
    }
}

/// The matrix that all encoders' smolgen share, `[4096, gen]`.
///
/// # Errors
/// `InvalidFile` for another size.
pub fn smolgen_weights(file: &File) -> Result<Option<Arc<Dense>>> {
    let count = file.len("smolgen_w");
    if count == 0 {
        return Ok(None);
    }
    let outputs = SQUARES * SQUARES;
    if !count.is_multiple_of(outputs) {
        let what = format!("{count} numbers for {outputs} rows");
        return Err(file.wrong("smolgen_w", what));
    }
    let dense = Dense::without_bias(file, "smolgen_w", count / outputs, outputs)?;
    Ok(Some(Arc::new(dense)))
}

enum Layers {
    Tower(Tower),
    Encoders(Box<Encoders>),
}

/// A network's body.
pub struct Body {
    layers: Layers,
    /// Residual blocks or encoders.
    pub depth: usize,
    /// Channels of a square.
    pub width: usize,
}

impl Body {
    /// A file's body.
    ///
    /// # Errors
    /// `InvalidFile` if something is absent or of another size, `Unsupported`.
    pub fn read(file: &File, format: &Format) -> Result<Body> {
        Ok(match format.body {
            Kind::Residual => {
                let tower = Tower::read(file, format.activation)?;
                Body {
                    depth: tower.blocks.len(),
                    width: tower.input.outputs,
                    layers: Layers::Tower(tower),
                }
            }
            Kind::Attention => {
                let encoders = Encoders::read(file, format)?;
                Body {
                    depth: encoders.encoders.len(),
                    width: encoders.embedding.outputs,
                    layers: Layers::Encoders(Box::new(encoders)),
                }
            }
        })
    }

    /// `[batch, 8, 8, width]` of `[batch, 8, 8, planes]`.
    ///
    /// # Errors
    /// Those of operations on arrays.
    pub fn apply(&self, planes: &Array) -> Result<Array> {
        match &self.layers {
            Layers::Tower(tower) => tower.apply(planes),
            Layers::Encoders(encoders) => {
                let batch = sizes(planes)[0];
                let x = encoders.apply(planes)?;
                x.reshape(Shape::new([batch, SIDE, SIDE, self.width]))
            }
        }
    }
}
