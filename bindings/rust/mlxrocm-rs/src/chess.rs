//! Networks of Leela Chess Zero.

use crate::device::Device;
use crate::error::{Result, call, field, handle};
use mlxrocm_sys as sys;
use std::mem::zeroed;
use std::path::Path;
use std::ptr::null;

handle!(NetHandle, mlxrocm_chess_net, mlxrocm_chess_net_free);

const PLANES: usize = sys::MLXROCM_CHESS_PLANES as usize;
const MOVES: usize = sys::MLXROCM_CHESS_MOVES as usize;
/// No position has more than 218 legal moves.
const LEGAL: usize = 256;

/// A network that evaluates chess positions.
#[derive(Debug)]
pub struct ChessNet(NetHandle);

/// How to load a network; zero is each default.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChessOptions<'a> {
    /// `None`: the CPU.
    pub device: Option<&'a Device>,
    /// CPU threads; 0: one for each CPU.
    pub threads: u32,
    /// `mlxrocm_sys::MLXROCM_CHESS_POLICY_HEAD_…`; 0: the one that every network has.
    pub policy_head: u32,
    /// `mlxrocm_sys::MLXROCM_CHESS_VALUE_HEAD_…`; 0: the one that every network has.
    pub value_head: u32,
    /// On GPUs: f32 instead of f16.
    pub f32: bool,
}

/// Facts about a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChessInfo {
    /// As Leela Chess Zero numbers its formats of planes.
    pub input_format: u32,
    pub depth: u32,
    pub width: u32,
    pub has_draws: bool,
    pub has_moves_left: bool,
    pub parameters: u64,
}

/// Where a game has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Where the game began; `None`: the usual start.
    pub fen: Option<String>,
    /// Moves since in UCI's notation, like "e2e4".
    pub moves: Vec<String>,
}

/// A legal move and its probability.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Move {
    /// UCI's name.
    pub name: String,
    /// The move's place in the policy.
    pub policy_index: u32,
    pub chance: f32,
}

/// What a network says about a position: chances of the side to move. Networks that tell a value q only:
/// (1 + q) / 2, 0 and (1 - q) / 2.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    pub win: f32,
    pub draw: f32,
    pub loss: f32,
    /// Plies; 0 of networks that do not tell.
    pub moves_left: f32,
    /// The legal moves, none if the game is over.
    pub moves: Vec<Move>,
}

impl ChessNet {
    /// Loads a file of Leela Chess Zero, .pb.gz or unpacked, for the CPU.
    pub fn load(path: impl AsRef<Path>) -> Result<ChessNet> {
        ChessNet::load_with(path, ChessOptions::default())
    }

    pub fn load_with(path: impl AsRef<Path>, options: ChessOptions) -> Result<ChessNet> {
        let path = path.as_ref().as_os_str().as_encoded_bytes();
        let options = sys::mlxrocm_chess_net_options {
            struct_size: size_of::<sys::mlxrocm_chess_net_options>() as u32,
            threads: options.threads,
            policy_head: options.policy_head,
            value_head: options.value_head,
            device: options.device.map_or(null(), |device| device.0.get()),
            precision: if options.f32 {
                sys::MLXROCM_CHESS_PRECISION_F32
            } else {
                sys::MLXROCM_CHESS_PRECISION_DEFAULT
            },
            reserved: 0,
        };
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let load =
            |out, error| unsafe { sys::mlxrocm_chess_net_load(path.as_ptr().cast(), path.len(), &options, out, error) };
        NetHandle::make(load).map(ChessNet)
    }

    /// Tells facts about the network.
    pub fn info(&self) -> Result<ChessInfo> {
        // SAFETY: zero is a value of each field: numbers.
        let mut info: sys::mlxrocm_chess_net_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_chess_net_get_info(self.0.get(), &mut info, error) })?;
        Ok(ChessInfo {
            input_format: info.input_format,
            depth: info.depth,
            width: info.width,
            has_draws: info.has_draws != 0,
            has_moves_left: info.has_moves_left != 0,
            parameters: info.parameters,
        })
    }

    /// Evaluates up to 1,024 positions at once. Temperature 1 takes the policy as it is, larger ones make the chances of
    /// moves more alike. Threads may evaluate at the same time.
    pub fn evaluate(&self, positions: &[Position], temperature: f32) -> Result<Vec<Evaluation>> {
        let count = positions.len();
        if count == 0 {
            return Ok(Vec::new());
        }
        let (mut masks, mut values) = (vec![0u64; count * PLANES], vec![0f32; count * PLANES]);
        let planes = masks.chunks_exact_mut(PLANES).zip(values.chunks_exact_mut(PLANES));
        let legal = positions.iter().zip(planes).map(|(position, (masks, values))| self.input(position, masks, values));
        let legal: Vec<_> = legal.collect::<Result<_>>()?;
        let (mut policy, mut wdl, mut left) = (vec![0f32; count * MOVES], vec![0f32; 3 * count], vec![0f32; count]);
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            let (net, policy) = (self.0.get(), policy.as_mut_ptr());
            let (wdl, left) = (wdl.as_mut_ptr(), left.as_mut_ptr());
            sys::mlxrocm_chess_net_evaluate(net, masks.as_ptr(), values.as_ptr(), count, policy, wdl, left, error)
        })?;
        let results = policy.chunks_exact(MOVES).zip(wdl.chunks_exact(3)).zip(left);
        let all = legal.iter().zip(results).map(|(legal, ((policy, wdl), moves_left))| {
            let moves = chances(policy, legal, temperature)?;
            Ok(Evaluation { win: wdl[0], draw: wdl[1], loss: wdl[2], moves_left, moves })
        });
        all.collect()
    }

    /// Fills a position's planes and gives its legal moves.
    fn input(
        &self,
        position: &Position,
        masks: &mut [u64],
        values: &mut [f32],
    ) -> Result<Vec<sys::mlxrocm_chess_move>> {
        let (fen, length) = position.fen.as_deref().map_or((null(), 0), field);
        let (moves, lengths): (Vec<_>, Vec<_>) = position.moves.iter().map(|name| field(name)).unzip();
        let mut legal = vec![sys::mlxrocm_chess_move { policy_index: 0, name_length: 0, name: [0; 8] }; LEGAL];
        let mut found = 0;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            let (masks, values, legal) = (masks.as_mut_ptr(), values.as_mut_ptr(), legal.as_mut_ptr());
            let (names, lengths, count) = (moves.as_ptr(), lengths.as_ptr(), moves.len());
            let net = self.0.get();
            sys::mlxrocm_chess_net_get_input(
                net, fen, length, names, lengths, count, masks, values, legal, LEGAL, &mut found, error,
            )
        })?;
        legal.truncate(found);
        Ok(legal)
    }
}

/// The moves with their probabilities.
fn chances(policy: &[f32], legal: &[sys::mlxrocm_chess_move], temperature: f32) -> Result<Vec<Move>> {
    let mut chances = vec![0f32; legal.len()];
    // SAFETY: pointers with the lengths of what they point to.
    call(|error| unsafe {
        let (moves, count) = (legal.as_ptr(), legal.len());
        sys::mlxrocm_chess_net_get_chances(policy.as_ptr(), moves, count, temperature, chances.as_mut_ptr(), error)
    })?;
    let one = |(c, chance): (&sys::mlxrocm_chess_move, f32)| {
        let name = c.name.iter().take(c.name_length as usize).map(|byte| char::from(*byte as u8));
        Move { name: name.collect(), policy_index: c.policy_index, chance }
    };
    Ok(legal.iter().zip(chances).map(one).collect())
}
