//! Networks of Leela Chess Zero.

use crate::device::Device;
use crate::enums::Status;
use crate::error::{Result, call, field, handle};
use crate::generation::nanoseconds;
use mlxrocm_sys as sys;
use std::collections::HashMap;
use std::fmt;
use std::mem::zeroed;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

handle!(NetHandle, mlxrocm_chess_net, mlxrocm_chess_net_free);
handle!(QueueHandle, mlxrocm_chess_queue, mlxrocm_chess_queue_free);

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

/// What a network gets of positions, and what turns its logits into chances.
struct Inputs {
    masks: Vec<u64>,
    values: Vec<f32>,
    legal: Vec<Vec<sys::mlxrocm_chess_move>>,
}

/// What it gives of as many.
struct Outputs {
    policy: Vec<f32>,
    wdl: Vec<f32>,
    moves_left: Vec<f32>,
}

impl Outputs {
    fn new(count: usize) -> Outputs {
        Outputs { policy: vec![0.0; count * MOVES], wdl: vec![0.0; 3 * count], moves_left: vec![0.0; count] }
    }

    fn pointers(&mut self) -> [*mut f32; 3] {
        [self.policy.as_mut_ptr(), self.wdl.as_mut_ptr(), self.moves_left.as_mut_ptr()]
    }

    fn evaluations(&self, legal: &[Vec<sys::mlxrocm_chess_move>], temperature: f32) -> Result<Vec<Evaluation>> {
        let results = self.policy.chunks_exact(MOVES).zip(self.wdl.chunks_exact(3)).zip(&self.moves_left);
        let all = legal.iter().zip(results).map(|(legal, ((policy, wdl), moves_left))| {
            let moves = chances(policy, legal, temperature)?;
            Ok(Evaluation { win: wdl[0], draw: wdl[1], loss: wdl[2], moves_left: *moves_left, moves })
        });
        all.collect()
    }
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
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        let Inputs { masks, values, legal } = self.inputs(positions)?;
        let mut outputs = Outputs::new(positions.len());
        let [policy, wdl, left] = outputs.pointers();
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            let (net, count) = (self.0.get(), positions.len());
            sys::mlxrocm_chess_net_evaluate(net, masks.as_ptr(), values.as_ptr(), count, policy, wdl, left, error)
        })?;
        outputs.evaluations(&legal, temperature)
    }

    fn inputs(&self, positions: &[Position]) -> Result<Inputs> {
        let count = positions.len();
        let (mut masks, mut values) = (vec![0u64; count * PLANES], vec![0f32; count * PLANES]);
        let planes = masks.chunks_exact_mut(PLANES).zip(values.chunks_exact_mut(PLANES));
        let legal = positions.iter().zip(planes).map(|(position, (masks, values))| self.input(position, masks, values));
        let legal = legal.collect::<Result<_>>()?;
        Ok(Inputs { masks, values, legal })
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

/// A batch that a queue has done.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChessBatch {
    /// 0, 1, 2 … of its queue.
    pub number: u64,
    pub found: Vec<Evaluation>,
}

/// Batches that a network evaluates one after the other while the program goes on; small ones that wait together are
/// evaluated together. Threads may hand in and take at the same time; where several take, each gets others.
pub struct ChessQueue<'a> {
    net: &'a ChessNet,
    handle: QueueHandle,
    handed: Mutex<Handed>,
}

#[derive(Default)]
struct Handed {
    /// By their numbers, those that were not taken yet.
    waiting: HashMap<u64, Waiting>,
    /// Positions of the largest one so far.
    largest: usize,
}

struct Waiting {
    legal: Vec<Vec<sys::mlxrocm_chess_move>>,
    temperature: f32,
}

impl fmt::Debug for ChessQueue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChessQueue").field(&self.handle).finish()
    }
}

impl ChessQueue<'_> {
    /// An empty queue.
    pub fn new(net: &ChessNet) -> Result<ChessQueue<'_>> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let make = |out, error| unsafe { sys::mlxrocm_chess_queue_create(net.0.get(), out, error) };
        let handle = QueueHandle::make(make)?;
        Ok(ChessQueue { net, handle, handed: Mutex::default() })
    }

    /// Hands in 1 to 1,024 positions and returns at once: the batch's number, 0, 1, 2 … of this queue; `None` if it holds
    /// `mlxrocm_sys::MLXROCM_CHESS_QUEUE_BATCHES` already, those whose results wait included. `temperature`: as in
    /// [`ChessNet::evaluate`].
    pub fn submit(&self, positions: &[Position], temperature: f32) -> Result<Option<u64>> {
        // What is wrong with it would be found when the batch is taken.
        chances(&[0.0; MOVES], &[], temperature)?;
        let Inputs { masks, values, legal } = self.net.inputs(positions)?;
        let mut number = 0;
        // Whoever takes the batch waits until it is known.
        let mut handed = self.handed();
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let status = call(|error| unsafe {
            let (queue, masks, values) = (self.handle.get(), masks.as_ptr(), values.as_ptr());
            sys::mlxrocm_chess_queue_submit(queue, masks, values, positions.len(), &mut number, error)
        })?;
        if status == sys::MLXROCM_PENDING {
            return Ok(None);
        }
        handed.largest = handed.largest.max(legal.len());
        handed.waiting.insert(number, Waiting { legal, temperature });
        Ok(Some(number))
    }

    fn handed(&self) -> MutexGuard<'_, Handed> {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The oldest batch: `Ok(None)` if it was not done within the timeout (`None`: as long as it
    /// takes), `None` when the queue holds none.
    pub fn next_within(&self, timeout: Option<Duration>) -> Option<Result<Option<ChessBatch>>> {
        let (mut room, mut number) = (self.handed().largest.max(1), 0);
        let timeout_ns = nanoseconds(timeout);
        let (status, outputs) = loop {
            let mut outputs = Outputs::new(room);
            let [policy, wdl, left] = outputs.pointers();
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            let status = call(|error| unsafe {
                let queue = self.handle.get();
                sys::mlxrocm_chess_queue_next(
                    queue,
                    timeout_ns,
                    room,
                    policy,
                    wdl,
                    left,
                    null_mut(),
                    &mut number,
                    error,
                )
            });
            // A larger one was handed in meanwhile, and is there still.
            match status {
                Err(error) if error.status == Status::BufferTooSmall => room = sys::MLXROCM_CHESS_BATCH as usize,
                status => break (status, outputs),
            }
        };
        match status {
            Err(error) => return Some(Err(error)),
            Ok(sys::MLXROCM_END) => return None,
            Ok(sys::MLXROCM_PENDING) => return Some(Ok(None)),
            Ok(_) => {}
        }
        let Waiting { legal, temperature } = self.handed().waiting.remove(&number).expect("a batch that was handed in");
        Some(outputs.evaluations(&legal, temperature).map(|found| Some(ChessBatch { number, found })))
    }
}
