//! What a chess network is made of, and how it is loaded.

use super::device::{DeviceObject, mlxrocm_device};
use super::handle::{self};
use super::options::SizedStruct;
use crate::array::{Home, Precision};
use crate::chess::{NetOptions, PolicyHead, ValueHead};
use crate::{Error, Result};

/// Planes of a position that a network takes.
pub const MLXROCM_CHESS_PLANES: u32 = 112;
/// Moves that a network's policy has logits for.
pub const MLXROCM_CHESS_MOVES: u32 = 1858;
/// Positions of a batch at most.
pub const MLXROCM_CHESS_BATCH: u32 = 1024;

/// Body of a network: convolutions with residual blocks.
pub const MLXROCM_CHESS_BODY_RESIDUAL: u32 = 1;
/// Body of a network: encoders over the 64 squares.
pub const MLXROCM_CHESS_BODY_ATTENTION: u32 = 2;

/// Policy of a network: one matrix over all squares.
pub const MLXROCM_CHESS_POLICY_CLASSICAL: u32 = 1;
/// Policy of a network: planes of moves.
pub const MLXROCM_CHESS_POLICY_CONVOLUTION: u32 = 2;
/// Policy of a network: from-squares attend to to-squares.
pub const MLXROCM_CHESS_POLICY_ATTENTION: u32 = 3;

/// Policy head: the usual one, which every network has.
pub const MLXROCM_CHESS_POLICY_HEAD_VANILLA: u32 = 0;
/// Policy head: what turns out better than expected.
pub const MLXROCM_CHESS_POLICY_HEAD_OPTIMISTIC: u32 = 1;
/// Policy head: flatter.
pub const MLXROCM_CHESS_POLICY_HEAD_SOFT: u32 = 2;
/// Policy head: what the opponent plays.
pub const MLXROCM_CHESS_POLICY_HEAD_OPPONENT: u32 = 3;

/// Value head: who wins; every network has it.
pub const MLXROCM_CHESS_VALUE_HEAD_WINNER: u32 = 0;
/// Value head: the search's value.
pub const MLXROCM_CHESS_VALUE_HEAD_Q: u32 = 1;
/// Value head: the search's value some plies later.
pub const MLXROCM_CHESS_VALUE_HEAD_ST: u32 = 2;

/// What a network computes with: f16 on GPUs, with sums in f32; f32 on the CPU.
pub const MLXROCM_CHESS_PRECISION_DEFAULT: u32 = 0;
/// What a network computes with: f16, sums in f32; GPUs only.
pub const MLXROCM_CHESS_PRECISION_F16: u32 = 1;
/// What a network computes with: f32.
pub const MLXROCM_CHESS_PRECISION_F32: u32 = 2;

/// How to load a network. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_chess_net_options {
    /// Set by the caller to sizeof(mlxrocm_chess_net_options).
    pub struct_size: u32,
    /// CPU threads, at most 1024; 0: one for each CPU that this process may run on.
    pub threads: u32,
    /// One of MLXROCM_CHESS_POLICY_HEAD_...; the network must have it.
    pub policy_head: u32,
    /// One of MLXROCM_CHESS_VALUE_HEAD_...; the network must have it.
    pub value_head: u32,
    /// Nullable; the device that evaluates, borrowed for the call. NULL: the CPU.
    pub device: *const mlxrocm_device,
    /// One of MLXROCM_CHESS_PRECISION_...
    pub precision: u32,
    /// 0; another number is refused.
    pub reserved: u32,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_chess_net_options {
    const NAME: &'static str = "mlxrocm_chess_net_options";
    const FIRST_SIZE: usize = std::mem::offset_of!(Self, precision);
}

/// More than any machine has; a larger number is a mistake and not to be tried.
const MAX_THREADS: u32 = 1024;

pub(super) fn net_options(options: &mlxrocm_chess_net_options) -> Result<NetOptions> {
    if options.threads > MAX_THREADS {
        return Err(Error::InvalidArgument(format!(
            "threads is {}, at most {MAX_THREADS} are possible",
            options.threads
        )));
    }
    let unknown = |field: &str, value: u32| {
        Error::InvalidArgument(format!("{field} is {value}: there is no such head"))
    };
    if options.reserved != 0 {
        let message = format!("reserved is {}, not 0", options.reserved);
        return Err(Error::InvalidArgument(message));
    }
    let home = match options.device.is_null() {
        true => Home::Cpu,
        false => handle::get::<DeviceObject>(options.device, "options.device")?
            .run(DeviceObject::home)?,
    };
    let precision = match (options.precision, &home) {
        (MLXROCM_CHESS_PRECISION_DEFAULT | MLXROCM_CHESS_PRECISION_F16, Home::Gpu(_)) => {
            Precision::F16
        }
        (MLXROCM_CHESS_PRECISION_DEFAULT | MLXROCM_CHESS_PRECISION_F32, _) => Precision::F32,
        (MLXROCM_CHESS_PRECISION_F16, Home::Cpu) => {
            let message = "precision is F16: chess networks compute in f32 on the CPU";
            return Err(Error::Unsupported(message.into()));
        }
        (other, _) => {
            return Err(Error::InvalidArgument(format!(
                "precision is {other}: there is no such precision"
            )));
        }
    };
    Ok(NetOptions {
        policy: match options.policy_head {
            MLXROCM_CHESS_POLICY_HEAD_VANILLA => PolicyHead::Vanilla,
            MLXROCM_CHESS_POLICY_HEAD_OPTIMISTIC => PolicyHead::Optimistic,
            MLXROCM_CHESS_POLICY_HEAD_SOFT => PolicyHead::Soft,
            MLXROCM_CHESS_POLICY_HEAD_OPPONENT => PolicyHead::Opponent,
            other => return Err(unknown("policy_head", other)),
        },
        value: match options.value_head {
            MLXROCM_CHESS_VALUE_HEAD_WINNER => ValueHead::Winner,
            MLXROCM_CHESS_VALUE_HEAD_Q => ValueHead::Q,
            MLXROCM_CHESS_VALUE_HEAD_ST => ValueHead::St,
            other => return Err(unknown("value_head", other)),
        },
        threads: options.threads as usize,
        home,
        precision,
    })
}
