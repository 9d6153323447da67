//! What a network's file says it is, with the fix-ups that old files need.

use super::File;
use crate::{Error, Result};

/// How a position is turned into planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputFormat {
    /// Castling rights as whole planes.
    Classical = 1,
    /// Castling rights as squares of rooks.
    CastlingPlane = 2,
    /// Boards in a canonical orientation.
    Canonical = 3,
    /// Canonical, plies without progress in hundreds.
    CanonicalHectoplies = 4,
    /// As those, and who is Black.
    CanonicalHectopliesArmageddon = 132,
    /// Canonical, of earlier positions only repeated ones.
    CanonicalV2 = 5,
    /// As those, and who is Black.
    CanonicalV2Armageddon = 133,
}

impl InputFormat {
    /// All of them.
    pub const ALL: [InputFormat; 7] = [
        InputFormat::Classical,
        InputFormat::CastlingPlane,
        InputFormat::Canonical,
        InputFormat::CanonicalHectoplies,
        InputFormat::CanonicalHectopliesArmageddon,
        InputFormat::CanonicalV2,
        InputFormat::CanonicalV2Armageddon,
    ];

    /// Whether boards are turned to a canonical orientation.
    pub fn is_canonical(self) -> bool {
        self >= InputFormat::Canonical
    }

    /// Whether plies without progress are counted in hundreds.
    pub fn is_hectoplies(self) -> bool {
        self >= InputFormat::CanonicalHectoplies
    }

    /// Whether only repeated positions of the past are shown.
    pub fn is_v2(self) -> bool {
        matches!(
            self,
            InputFormat::CanonicalV2 | InputFormat::CanonicalV2Armageddon
        )
    }

    /// Whether a plane says who is Black.
    pub fn is_armageddon(self) -> bool {
        matches!(
            self,
            InputFormat::CanonicalHectopliesArmageddon | InputFormat::CanonicalV2Armageddon
        )
    }
}

/// What the network's body is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Convolutions with residual blocks.
    Residual,
    /// Encoders over the 64 squares.
    Attention,
}

/// What the policy head is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyFormat {
    /// One matrix over all squares.
    Classical,
    /// Planes of moves by direction and distance.
    Convolution,
    /// From-squares attend to to-squares.
    Attention,
}

/// What the value head gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueFormat {
    /// One number, −1 to 1.
    Classical,
    /// Chances of win, draw and loss.
    Wdl,
}

/// What is added to the squares' planes before encoders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Embedding {
    /// Nothing: no network of today's.
    None,
    /// Where a queen or knight could go from each square.
    Map,
    /// A dense layer's view of all pieces.
    Dense,
}

/// A function between layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // names of the field
pub enum Activation {
    Mish,
    Relu,
    None,
    Tanh,
    Sigmoid,
    Selu,
    Swish,
    ReluSquared,
    Softmax,
}

/// What a network is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Planes.
    pub input: InputFormat,
    /// Body.
    pub body: Body,
    /// Several policy and value heads.
    pub multihead: bool,
    /// Policy head.
    pub policy: PolicyFormat,
    /// Value head.
    pub value: ValueFormat,
    /// Whether there is a moves-left head.
    pub moves_left: bool,
    /// Between layers where nothing else is said.
    pub activation: Activation,
    /// Within smolgen.
    pub smolgen: Activation,
    /// Within feed-forward layers.
    pub ffn: Activation,
    /// Before the encoders.
    pub embedding: Embedding,
}

const PREFIX: &str = "format.network_format";

fn unknown(file: &File, field: &str, value: u64) -> Error {
    let name = file.name();
    Error::Unsupported(format!(
        "{name}: {PREFIX}.{field} is {value}, which this library does not know"
    ))
}

fn activation(file: &File, field: &str, value: u64, default: Activation) -> Result<Activation> {
    Ok(match value {
        0 => default,
        1 => Activation::Mish,
        2 => Activation::Relu,
        3 => Activation::None,
        4 => Activation::Tanh,
        5 => Activation::Sigmoid,
        6 => Activation::Selu,
        7 => Activation::Swish,
        8 => Activation::ReluSquared,
        9 => Activation::Softmax,
        other => return Err(unknown(file, field, other)),
    })
}

impl Format {
    /// What a file's network is.
    ///
    /// # Errors
    /// `Unsupported` for kinds that are not known and ONNX models.
    pub fn of(file: &File) -> Result<Format> {
        let number = |field: &str| file.number(&format!("{PREFIX}.{field}")).unwrap_or(0);
        let mut input = number("input");
        let (mut network, mut policy, mut value) =
            (number("network"), number("policy"), number("value"));
        let (mut smolgen, mut ffn) = (number("smolgen_activation"), number("ffn_activation"));
        let mut embedding = number("input_embedding");
        if file.count(PREFIX) == 0 {
            (input, network, policy, value) = (1, 3, 1, 1);
        }
        if network == 1 || network == 2 {
            network += 2;
            (policy, value) = (1, 1);
        }
        if network == 4 && file.count("weights.encoder") > 0 {
            network = 6;
            if file.has("smolgen_w") {
                (ffn, smolgen) = (8, 7);
            }
        }
        if network == 134 {
            network = 7;
        }
        let heads = ["weights.policy_heads", "weights.value_heads"];
        if network == 6 && heads.iter().all(|heads| file.count(heads) > 0) {
            (network, embedding) = (7, 2);
        }
        if network == 6 && file.number(&format!("{PREFIX}.input_embedding")).is_none() {
            embedding = 1;
        }
        let name = file.name();
        let body = match network {
            3 | 4 => Body::Residual,
            6 | 7 => Body::Attention,
            5 => {
                return Err(Error::Unsupported(format!(
                    "{name}: an ONNX model inside a network file: convert it back to a network of its own"
                )));
            }
            other => return Err(unknown(file, "network", other)),
        };
        let default = number("default_activation");
        let default = match default {
            0 => Activation::Relu,
            1 => Activation::Mish,
            other => return Err(unknown(file, "default_activation", other)),
        };
        let known = InputFormat::ALL.into_iter();
        let input = known.clone().find(|&format| format as u64 == input);
        Ok(Format {
            input: input.ok_or_else(|| unknown(file, "input", number("input")))?,
            body,
            multihead: network == 7,
            policy: match policy {
                1 => PolicyFormat::Classical,
                2 => PolicyFormat::Convolution,
                3 => PolicyFormat::Attention,
                other => return Err(unknown(file, "policy", other)),
            },
            value: match value {
                1 => ValueFormat::Classical,
                2 => ValueFormat::Wdl,
                other => return Err(unknown(file, "value", other)),
            },
            moves_left: match number("moves_left") {
                0 => false,
                1 => true,
                other => return Err(unknown(file, "moves_left", other)),
            },
            activation: default,
            smolgen: activation(file, "smolgen_activation", smolgen, default)?,
            ffn: activation(file, "ffn_activation", ffn, default)?,
            embedding: match embedding {
                0 => Embedding::None,
                1 => Embedding::Map,
                2 => Embedding::Dense,
                other => return Err(unknown(file, "input_embedding", other)),
            },
        })
    }
}
