//! A network that is ready to evaluate positions.

use super::File;
use super::body::Body;
use super::format::{Body as BodyKind, Format, ValueFormat};
use super::heads::{BoardHead, BoardHeadPaths, Policy};
use super::layers::{SQUARES, array};
use super::moves::MOVES;
use super::planes::PLANES;
use super::runs::Runs;
use crate::array::{Array, Home, Precision, compile};
use crate::ir::{Binary, Dtype, Unary};
use crate::{Error, Result};
use std::path::Path;

/// Positions of a batch at most.
pub const LARGEST_BATCH: usize = 1024;

/// Which policy of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PolicyHead {
    /// The usual one.
    #[default]
    Vanilla,
    /// What turns out better than the value expected.
    Optimistic,
    /// Flatter.
    Soft,
    /// What the opponent plays.
    Opponent,
}

/// Which value of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueHead {
    /// Who wins.
    #[default]
    Winner,
    /// The search's value.
    Q,
    /// The search's value a few plies on.
    St,
}

/// How a network is loaded.
#[derive(Clone, Default)]
pub struct NetOptions {
    /// Which policy.
    pub policy: PolicyHead,
    /// Which value.
    pub value: ValueHead,
    /// CPU threads; 0: one for each CPU that this process may run on.
    pub threads: usize,
    /// What evaluates.
    pub home: Home,
    /// What a GPU computes with.
    pub precision: Precision,
}

/// Facts about a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetInfo {
    /// What it is.
    pub format: Format,
    /// Residual blocks or encoders.
    pub depth: usize,
    /// Channels or numbers of a square.
    pub width: usize,
    /// Weights in the file.
    pub parameters: u64,
}

/// What a network says about positions, one after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// Logits of all moves, 1,858 each.
    pub policy: Vec<f32>,
    /// Chances of win, draw and loss of the side to move, three each. Of networks that know no draws: none.
    pub wdl: Vec<f32>,
    /// Plies until the game is over; 0 without a head for it.
    pub moves_left: Vec<f32>,
}

/// A network. Internally locked: any thread.
pub struct ChessNet {
    info: NetInfo,
    /// Of one position: planes `[8, 8, 112]` in; policy, value and perhaps moves left out.
    runs: Runs,
}

/// Where the evaluations of positions go, as in [`Evaluation`]; empty: nowhere.
#[derive(Debug, Default)]
pub struct Results<'a> {
    /// 1,858 each.
    pub policy: &'a mut [f32],
    /// Three each.
    pub wdl: &'a mut [f32],
    /// One each.
    pub moves_left: &'a mut [f32],
}

impl<'a> Results<'a> {
    /// Those of the first `count` positions; the others stay.
    pub(super) fn split(&mut self, count: usize) -> Results<'a> {
        let first = |of: &mut &'a mut [f32], of_one: usize| {
            let all = std::mem::take(of);
            let (first, rest) = all.split_at_mut((count * of_one).min(all.len()));
            *of = rest;
            first
        };
        Results {
            policy: first(&mut self.policy, MOVES),
            wdl: first(&mut self.wdl, 3),
            moves_left: first(&mut self.moves_left, 1),
        }
    }
}

impl ChessNet {
    /// Loads a network.
    ///
    /// # Errors
    /// Those of [`File::open`] and [`ChessNet::of`].
    pub fn load(path: &Path, options: &NetOptions) -> Result<ChessNet> {
        ChessNet::of(&File::open(path)?, options)
    }

    /// The network of a file.
    ///
    /// # Errors
    /// `InvalidFile` for tensors that are absent or of wrong sizes; `Unsupported` for kinds that are not known;
    /// `InvalidArgument` for heads that the network does not have. All name file and field.
    pub fn of(file: &File, options: &NetOptions) -> Result<ChessNet> {
        let format = Format::of(file)?;
        let body = Body::read(file, &format)?;
        let policy = policy_path(file, &format, options.policy)?;
        let value = value_paths(file, &format, options.value)?;
        let outputs = match format.value {
            ValueFormat::Wdl => 3,
            ValueFormat::Classical => 1,
        };
        let moves_left = match format.moves_left {
            true => {
                let paths = board_paths("", "moves_left", "ip_mov", "mov");
                Some(BoardHead::read(file, &format, &paths, body.width, 1)?)
            }
            false => None,
        };
        let program = {
            let planes = array(&[0.0; SQUARES * PLANES], &[1, 8, 8, PLANES])?;
            let x = body.apply(&planes)?;
            let value = BoardHead::read(file, &format, &value, body.width, outputs)?.apply(&x)?;
            let value = match format.value {
                ValueFormat::Wdl => value.softmax(Some(&[-1]), true)?,
                ValueFormat::Classical => value.unary(Unary::Tanh)?,
            };
            let policy = Policy::read(file, &format, &policy, body.width)?.apply(&x)?;
            let mut outputs = vec![policy, value];
            if let Some(head) = moves_left {
                let zero = Array::number(0.0, Dtype::F32)?;
                outputs.push(head.apply(&x)?.binary(Binary::Maximum, &zero)?);
            }
            compile(&[planes], &outputs, &options.home, options.precision)?
        };
        let runs = Runs::new(program, options.threads);
        Ok(ChessNet {
            runs,
            info: NetInfo {
                depth: body.depth,
                width: body.width,
                parameters: file.parameters(),
                format,
            },
        })
    }

    /// Facts.
    pub fn info(&self) -> &NetInfo {
        &self.info
    }

    /// Evaluates 1 to 1,024 positions: 112 planes each, a bit mask of squares and the value of set bits. A
    /// position gets the same bits alone and in any batch, whatever the threads are.
    ///
    /// # Errors
    /// `InvalidArgument` for other sizes and values that are not finite; `OutOfMemory`.
    pub fn evaluate(&self, masks: &[u64], values: &[f32]) -> Result<Evaluation> {
        let count = self.check(masks, values)?;
        let mut all = Evaluation {
            policy: vec![0.0; count * MOVES],
            wdl: vec![0.0; count * 3],
            moves_left: vec![0.0; count],
        };
        let results = Results {
            policy: &mut all.policy,
            wdl: &mut all.wdl,
            moves_left: &mut all.moves_left,
        };
        self.evaluate_into(masks, values, results)?;
        Ok(all)
    }

    /// The same into memory that is there. What has no room (an empty slice) is left out.
    ///
    /// # Errors
    /// As [`ChessNet::evaluate`], and `InvalidArgument` for rooms of other sizes.
    pub fn evaluate_into(&self, masks: &[u64], values: &[f32], results: Results<'_>) -> Result<()> {
        let count = self.check(masks, values)?;
        let rooms = [
            (results.policy.len(), MOVES),
            (results.wdl.len(), 3),
            (results.moves_left.len(), 1),
        ];
        if rooms
            .iter()
            .any(|&(len, of_one)| len != 0 && len != count * of_one)
        {
            let what = format!("results of {count} positions have rooms of {rooms:?}");
            return Err(Error::InvalidArgument(what));
        }
        self.runs
            .evaluate(&self.info.format, (masks, values), results)
    }

    /// Positions of a batch that can be evaluated.
    ///
    /// # Errors
    /// `InvalidArgument` as [`ChessNet::evaluate`].
    pub(super) fn check(&self, masks: &[u64], values: &[f32]) -> Result<usize> {
        let count = masks.len() / PLANES;
        if masks.len() != values.len()
            || !masks.len().is_multiple_of(PLANES)
            || !(1..=LARGEST_BATCH).contains(&count)
        {
            return Err(Error::InvalidArgument(format!(
                "{} masks and {} values: {PLANES} of each are needed for every one of 1 to \
                 {LARGEST_BATCH} positions",
                masks.len(),
                values.len()
            )));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::InvalidArgument(format!(
                "the value of plane {} of position {} is not finite",
                at % PLANES,
                at / PLANES
            )));
        }
        Ok(count)
    }

    /// Positions that keep all threads busy: larger batches are not faster for each.
    pub(super) fn together(&self) -> usize {
        self.runs.together()
    }
}

/// Where a head of the whole board is.
fn board_paths(prefix: &str, conv: &str, squares: &str, layers: &str) -> BoardHeadPaths {
    BoardHeadPaths {
        conv: format!("{prefix}{conv}"),
        squares: format!("{prefix}{squares}"),
        layers: [1, 2].map(|n| format!("{prefix}ip{n}_{layers}")),
    }
}

/// The refusal of a head.
fn no_head(file: &File, what: &str, name: &str) -> Error {
    Error::InvalidArgument(format!(
        "{}: the network has no {what} head \"{name}\"",
        file.name()
    ))
}

fn policy_path(file: &File, format: &Format, head: PolicyHead) -> Result<String> {
    let name = match head {
        PolicyHead::Vanilla => "vanilla",
        PolicyHead::Optimistic => "optimistic_st",
        PolicyHead::Soft => "soft",
        PolicyHead::Opponent => "opponent",
    };
    match (format.multihead, head) {
        (true, _) if file.count(&format!("weights.policy_heads.{name}")) > 0 => {
            Ok(format!("policy_heads.{name}."))
        }
        (false, PolicyHead::Vanilla) => Ok(String::new()),
        _ => Err(no_head(file, "policy", name)),
    }
}

fn value_paths(file: &File, format: &Format, head: ValueHead) -> Result<BoardHeadPaths> {
    let name = match head {
        ValueHead::Winner => "winner",
        ValueHead::Q => "q",
        ValueHead::St => "st",
    };
    let prefix = match (format.multihead, head) {
        (true, _) if file.count(&format!("weights.value_heads.{name}")) > 0 => {
            format!("value_heads.{name}.")
        }
        (false, ValueHead::Winner) => String::new(),
        _ => return Err(no_head(file, "value", name)),
    };
    debug_assert!(format.body == BodyKind::Attention || prefix.is_empty());
    Ok(board_paths(&prefix, "value", "ip_val", "val"))
}
