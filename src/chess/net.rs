//! A network that is ready to evaluate positions.

use super::File;
use super::body::Body;
use super::format::{Body as BodyKind, Format, ValueFormat};
use super::heads::{BoardHead, BoardHeadPaths, Policy};
use super::layers::SQUARES;
use super::moves::MOVES;
use super::planes::PLANES;
use crate::array::{Array, eval_with};
use crate::cpu::{Elements, ThreadPool};
use crate::ir::{Binary, Dtype, Unary};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::path::Path;

/// Positions of a batch at most.
pub const LARGEST_BATCH: usize = 1024;
/// Positions that go through the network at once: what they need of memory stays small.
const AT_ONCE: usize = 64;

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
#[derive(Debug, Clone, Default)]
pub struct NetOptions {
    /// Which policy.
    pub policy: PolicyHead,
    /// Which value.
    pub value: ValueHead,
    /// CPU threads; 0: one for each CPU that this process may run on.
    pub threads: usize,
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
    body: Body,
    policy: Policy,
    value: BoardHead,
    moves_left: Option<BoardHead>,
    /// Shared by large products. A call that finds it taken computes by itself.
    pool: Mutex<ThreadPool>,
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
        Ok(ChessNet {
            policy: Policy::read(file, &format, &policy, body.width)?,
            value: BoardHead::read(file, &format, &value, body.width, outputs)?,
            moves_left,
            pool: Mutex::new(ThreadPool::new(options.threads)),
            info: NetInfo {
                depth: body.depth,
                width: body.width,
                parameters: file.parameters(),
                format,
            },
            body,
        })
    }

    /// Facts.
    pub fn info(&self) -> &NetInfo {
        &self.info
    }

    /// Evaluates 1 to 1,024 positions: 112 planes each, a bit mask of squares and the value of set bits. A
    /// position gets the same bits alone and in any batch.
    ///
    /// # Errors
    /// `InvalidArgument` for other sizes and values that are not finite; `OutOfMemory`.
    pub fn evaluate(&self, masks: &[u64], values: &[f32]) -> Result<Evaluation> {
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
        let mut all = Evaluation::default();
        let parts = masks.chunks(AT_ONCE * PLANES);
        for (masks, values) in parts.zip(values.chunks(AT_ONCE * PLANES)) {
            self.evaluate_part(masks, values, &mut all)?;
        }
        Ok(all)
    }

    fn evaluate_part(&self, masks: &[u64], values: &[f32], all: &mut Evaluation) -> Result<()> {
        let count = masks.len() / PLANES;
        let x = self.body.apply(&squares(masks, values)?)?;
        let mut outputs = vec![self.policy.apply(&x)?, self.value(&x)?];
        if let Some(head) = &self.moves_left {
            let plies = head.apply(&x)?;
            outputs.push(plies.binary(Binary::Maximum, &Array::number(0.0, Dtype::F32)?)?);
        }
        // Not an output: what it holds is let go when the heads are through with it.
        drop(x);
        eval_with(&outputs, self.pool.try_lock().as_deref_mut())?;
        let numbers = |array: &Array| Ok::<_, Error>(array.read()?.to_vec::<f32>());
        let (policy, value) = (numbers(&outputs[0])?, numbers(&outputs[1])?);
        if policy.len() != count * MOVES {
            return Err(Error::Internal("a policy of another size".into()));
        }
        all.policy.extend(policy);
        match self.info.format.value {
            ValueFormat::Wdl => all.wdl.extend(value),
            ValueFormat::Classical => {
                let chances = |q: f32| [(1.0 + q) / 2.0, 0.0, (1.0 - q) / 2.0];
                all.wdl.extend(value.into_iter().flat_map(chances));
            }
        }
        match outputs.get(2) {
            Some(plies) => all.moves_left.extend(numbers(plies)?),
            None => all.moves_left.extend(vec![0.0; count]),
        }
        Ok(())
    }

    fn value(&self, x: &Array) -> Result<Array> {
        let value = self.value.apply(x)?;
        match self.info.format.value {
            ValueFormat::Wdl => value.softmax(Some(&[-1]), true),
            ValueFormat::Classical => value.unary(Unary::Tanh),
        }
    }
}

/// Planes as `[batch, 8, 8, 112]`.
fn squares(masks: &[u64], values: &[f32]) -> Result<Array> {
    let count = masks.len() / PLANES;
    let mut numbers = vec![0.0; masks.len() * SQUARES];
    let positions = numbers.chunks_exact_mut(PLANES * SQUARES);
    let planes = masks.chunks_exact(PLANES).zip(values.chunks_exact(PLANES));
    for (numbers, (masks, values)) in positions.zip(planes) {
        for (plane, (&mask, &value)) in masks.iter().zip(values).enumerate() {
            let mut left = mask;
            while left != 0 {
                numbers[left.trailing_zeros() as usize * PLANES + plane] = value;
                left &= left - 1;
            }
        }
    }
    let elements = Elements::from_slice(&numbers, Dtype::F32, &[count, 8, 8, PLANES])?;
    Ok(Array::from_elements(elements))
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
