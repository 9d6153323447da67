//! Chess networks of Leela Chess Zero.

use super::boundary::{boundary, boundary_free, boundary_on, boundary_value};
use super::chess_net_options::{
    MLXROCM_CHESS_BATCH, MLXROCM_CHESS_BODY_ATTENTION, MLXROCM_CHESS_BODY_RESIDUAL,
    MLXROCM_CHESS_POLICY_ATTENTION, MLXROCM_CHESS_POLICY_CLASSICAL,
    MLXROCM_CHESS_POLICY_CONVOLUTION, mlxrocm_chess_net_options, net_options,
};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::options::{self, OutputStruct, SizedStruct};
use super::outputs::{Buffer, Output};
use super::status::mlxrocm_status;
use super::strings::{self, Text, array, optional_utf8, tell_length, texts};
use super::symbols::since_0_1;
use crate::chess::{
    Body, ChessNet, Game, LegalMove, MOVES, PLANES, PolicyFormat, Results, ValueFormat, move_name,
    probabilities,
};
use crate::{Error, Result};
use std::ffi::c_char;
use std::ptr::{null, null_mut};
use std::sync::{Arc, OnceLock};

/// A network that evaluates chess positions. Internally locked: any thread.
pub struct mlxrocm_chess_net {
    _private: [u8; 0],
}

/// Facts about a network.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_chess_net_info {
    /// Set by the caller to sizeof(mlxrocm_chess_net_info).
    pub struct_size: u32,
    /// The planes that it takes: 1, 2, 3, 4, 132, 5 or 133, as Leela Chess Zero numbers its formats.
    pub input_format: u32,
    /// One of MLXROCM_CHESS_BODY_...
    pub body: u32,
    /// Residual blocks or encoders.
    pub depth: u32,
    /// Channels of a square.
    pub width: u32,
    /// One of MLXROCM_CHESS_POLICY_CLASSICAL, CONVOLUTION and ATTENTION.
    pub policy: u32,
    /// 1 if it tells chances of draws; 0 if only a value.
    pub has_draws: u32,
    /// 1 if it tells how many plies are left.
    pub has_moves_left: u32,
    /// Weights in the file, those of heads that are not used included.
    pub parameters: u64,
}

// SAFETY: repr(C), size first, numbers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_chess_net_info {
    const NAME: &'static str = "mlxrocm_chess_net_info";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// A legal move of a position.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_chess_move {
    /// Its place in the policy, below MLXROCM_CHESS_MOVES.
    pub policy_index: u32,
    /// Bytes of `name` without the NUL.
    pub name_length: u32,
    /// UCI's name, NUL-terminated: "e2e4", "e7e8q"; castling as the king's two squares ("e1g1"), in
    /// games of Chess960 as the king taking its rook.
    pub name: [c_char; 8],
}

/// No game is longer.
const LONGEST_GAME: usize = 1 << 16;

pub(super) struct NetObject(pub Arc<ChessNet>);

impl Object for NetObject {
    type Opaque = mlxrocm_chess_net;
    const NOUN: &'static str = "mlxrocm_chess_net";
}

/// Loads a network of Leela Chess Zero: a .pb.gz file, or the same unpacked.
///
/// - `path`: the file as the operating system spells it; copied. It is read once.
/// - `path_length`: bytes of `path`, or MLXROCM_NUL.
/// - `options`: borrowed for the call; NULL means defaults.
/// - `net`: receives the network, owned: free it with mlxrocm_chess_net_free.
/// - `error`: nullable; receives an owned error object on failure. It names the file and the field.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a head that the network does not have), IO, INVALID_FILE,
/// UNSUPPORTED (a kind of network that is not known, F16 on the CPU, a GPU without kernels), OUT_OF_MEMORY,
/// DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_net_load(
    path: *const c_char,
    path_length: usize,
    options: *const mlxrocm_chess_net_options,
    net: *mut *mut mlxrocm_chess_net,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's struct, as documented.
        let options = net_options(&unsafe { options::read(options) }?)?;
        // SAFETY: the caller's text, as documented.
        let path = unsafe { strings::path(path, path_length, "path") }?;
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(net, "net") }?;
        output.write(handle::publish(NetObject(Arc::new(ChessNet::load(
            path, &options,
        )?))));
        Ok(())
    })
}

/// Tells facts about a network.
///
/// - `net`: borrowed.
/// - `info`: receives the facts; its `struct_size` must be set.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_net_get_info(
    net: *const mlxrocm_chess_net,
    info: *mut mlxrocm_chess_net_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(net, "net", error, |object: &NetObject| {
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { OutputStruct::new(info, "info") }?;
        let info = object.0.info();
        let number = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        output.write(mlxrocm_chess_net_info {
            struct_size: 0,
            input_format: info.format.input as u32,
            body: match info.format.body {
                Body::Residual => MLXROCM_CHESS_BODY_RESIDUAL,
                Body::Attention => MLXROCM_CHESS_BODY_ATTENTION,
            },
            depth: number(info.depth),
            width: number(info.width),
            policy: match info.format.policy {
                PolicyFormat::Classical => MLXROCM_CHESS_POLICY_CLASSICAL,
                PolicyFormat::Convolution => MLXROCM_CHESS_POLICY_CONVOLUTION,
                PolicyFormat::Attention => MLXROCM_CHESS_POLICY_ATTENTION,
            },
            has_draws: u32::from(info.format.value == ValueFormat::Wdl),
            has_moves_left: u32::from(info.format.moves_left),
            parameters: info.parameters,
        });
        Ok(())
    })
}

/// Makes a network's input of a position, with the game that led to it, and tells the legal moves. What
/// came before a FEN is taken to be the same position.
///
/// - `net`: borrowed.
/// - `fen`: where the game begins, UTF-8, borrowed for the call; castling rights as KQkq or as files of
///   rooks (Chess960). NULL means the usual start.
/// - `fen_length`: bytes of `fen`, or MLXROCM_NUL.
/// - `moves`: `moves_count` names of moves in UCI's notation, borrowed for the call.
/// - `move_lengths`: bytes of each of `moves`, borrowed for the call; NULL: they are NUL-terminated.
/// - `moves_count`: how many, at most 65536.
/// - `masks`: receives 112 masks of squares: bit 0 is a1, bit 63 h8, seen from the side to move.
/// - `values`: receives 112 numbers that the set bits of each mask stand for.
/// - `legal`: receives the legal moves; ignored with capacity 0. No position has more than 218.
/// - `legal_capacity`: moves that `legal` has room for; 0 measures.
/// - `legal_count`: nullable unless measuring; receives how many moves there are: 0 if the game is over.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (no legal position, or a move that is not legal there),
/// BUFFER_TOO_SMALL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_net_get_input(
    net: *const mlxrocm_chess_net,
    fen: *const c_char,
    fen_length: usize,
    moves: *const *const c_char,
    move_lengths: *const usize,
    moves_count: usize,
    masks: *mut u64,
    values: *mut f32,
    legal: *mut mlxrocm_chess_move,
    legal_capacity: usize,
    legal_count: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(net, "net", error, |object: &NetObject| {
        // SAFETY: the caller's text, as documented.
        let fen = unsafe { optional_utf8(fen, fen_length, "fen") }?;
        if moves_count > LONGEST_GAME {
            let message =
                format!("moves_count is {moves_count}, at most {LONGEST_GAME} are possible");
            return Err(Error::InvalidArgument(message));
        }
        // SAFETY: the caller's texts, as documented.
        let moves = unsafe { texts(moves, move_lengths, moves_count, "moves") }?;
        // SAFETY: the caller's rooms, as documented.
        let masks = unsafe { Buffer::new(masks, PLANES, null_mut(), "masks") }?;
        // SAFETY: as above.
        let values = unsafe { Buffer::new(values, PLANES, null_mut(), "values") }?;
        let (room, count) = (legal_capacity, legal_count);
        let wanted = room > 0 || !count.is_null();
        let legal = match wanted {
            // SAFETY: as above.
            true => Some(unsafe { Buffer::new(legal, room, count, "legal") }?),
            false => None,
        };
        let game = Game::new(fen, &moves)?;
        let planes = game.planes(object.0.info().format.input);
        if let Some(legal) = legal {
            let all = game.legal_moves(planes.transform);
            legal.fill(&all.iter().map(c_move).collect::<Vec<_>>())?;
        }
        masks.fill(&planes.masks)?;
        values.fill(&planes.values)
    })
}

fn c_move(of: &LegalMove) -> mlxrocm_chess_move {
    let mut name = [0; 8];
    for (to, byte) in name[..7].iter_mut().zip(of.name.bytes()) {
        *to = byte as c_char;
    }
    mlxrocm_chess_move {
        policy_index: of.index as u32,
        name_length: of.name.len().min(7) as u32,
        name,
    }
}

/// Evaluates positions. A position gets the same bits alone and in any batch. Calls of several threads
/// run at the same time.
///
/// - `net`: borrowed.
/// - `masks`: `count` times 112 masks of squares, borrowed for the call.
/// - `values`: `count` times 112 numbers that the set bits stand for, finite, borrowed for the call.
/// - `count`: positions, 1 to 1024.
/// - `policy`: nullable; receives `count` times 1858 logits of moves, legal or not.
/// - `wdl`: nullable; receives `count` times 3 chances of the side to move: win, draw, loss. Of networks
///   that tell a value q only: (1 + q) / 2, 0, (1 - q) / 2.
/// - `moves_left`: nullable; receives `count` numbers of plies; 0 of networks that do not tell.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_net_evaluate(
    net: *const mlxrocm_chess_net,
    masks: *const u64,
    values: *const f32,
    count: usize,
    policy: *mut f32,
    wdl: *mut f32,
    moves_left: *mut f32,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(net, "net", error, |object: &NetObject| {
        if !(1..=MLXROCM_CHESS_BATCH as usize).contains(&count) {
            return Err(Error::InvalidArgument(format!(
                "count is {count}, it must be 1 to {MLXROCM_CHESS_BATCH}"
            )));
        }
        // SAFETY: the caller's arrays, as documented.
        let masks = unsafe { array(masks, count * PLANES, "masks") }?;
        // SAFETY: as above.
        let values = unsafe { array(values, count * PLANES, "values") }?;
        // SAFETY: the caller's rooms, as documented.
        let results = unsafe { results(policy, wdl, moves_left, count) }?;
        object.0.evaluate_into(masks, values, results)
    })
}

/// Rooms for the results of `count` positions; none where the caller gave NULL.
///
/// # Safety
/// Each pointer is NULL or points to as many writable numbers as results are, of which nobody else knows for 'a.
pub(super) unsafe fn results<'a>(
    policy: *mut f32,
    wdl: *mut f32,
    moves_left: *mut f32,
    count: usize,
) -> Result<Results<'a>> {
    let room = |to: *mut f32, count: usize, parameter: &str| {
        if to.is_null() {
            return Ok(&mut [][..]);
        }
        if !to.is_aligned() {
            let message = format!("{parameter} must be aligned to {} bytes", align_of::<f32>());
            return Err(Error::InvalidArgument(message));
        }
        // SAFETY: the caller's promise.
        Ok(unsafe { std::slice::from_raw_parts_mut(to, count) })
    };
    Ok(Results {
        policy: room(policy, count * MOVES, "policy")?,
        wdl: room(wdl, count * 3, "wdl")?,
        moves_left: room(moves_left, count, "moves_left")?,
    })
}

/// Turns a position's logits into probabilities of its legal moves.
///
/// - `policy`: 1858 logits of the position, borrowed for the call.
/// - `moves`: `count` moves, borrowed for the call.
/// - `count`: how many; 0 is fine.
/// - `temperature`: above 0; 1 takes the logits as they are, larger ones make the moves more alike.
/// - `chances`: receives `count` probabilities; their sum is 1.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_net_get_chances(
    policy: *const f32,
    moves: *const mlxrocm_chess_move,
    count: usize,
    temperature: f32,
    chances: *mut f32,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's arrays, as documented.
        let policy = unsafe { array(policy, MOVES, "policy") }?;
        // SAFETY: as above.
        let moves = unsafe { array(moves, count, "moves") }?;
        if count > MOVES {
            return Err(Error::InvalidArgument(format!(
                "count is {count}: there are {MOVES} moves"
            )));
        }
        let indices: Vec<u32> = moves.iter().map(|m| m.policy_index).collect();
        let found = probabilities(policy, &indices, temperature)?;
        match found.is_empty() {
            true => Ok(()),
            // SAFETY: the caller's room, as documented.
            false => unsafe { Buffer::new(chances, count, null_mut(), "chances") }?.fill(&found),
        }
    })
}

/// Names a move of the policy as White would play it: "e2e4", "e7e8q"; castling is the king taking its
/// rook, a promotion without a letter is one to a knight. Black's moves, and those of positions that the
/// input format turns over, have other names: mlxrocm_chess_net_get_input tells those.
///
/// - `policy_index`: below MLXROCM_CHESS_MOVES.
/// - `length`: nullable; receives the bytes of the text, its NUL not counted.
///
/// Returns the name, borrowed for ever; NULL if there is no such move. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_net_move_name(
    policy_index: u32,
    length: *mut usize,
) -> *const c_char {
    boundary_value(null(), || {
        static NAMES: OnceLock<Vec<Text>> = OnceLock::new();
        let names = NAMES.get_or_init(|| {
            let names = (0..MOVES).filter_map(move_name);
            names.map(Text::new).collect()
        });
        let Some(name) = names.get(policy_index as usize) else {
            return Ok(null());
        };
        // SAFETY: the caller's number, as documented.
        unsafe { tell_length(length, name.length()) };
        Ok(name.pointer())
    })
}

/// Frees a network. Calls that go on meanwhile end as usual.
///
/// - `net`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_net_free(net: *mut mlxrocm_chess_net) {
    boundary_free::<NetObject>(net)
}

since_0_1! {
    mlxrocm_chess_net_load mlxrocm_chess_net_get_info mlxrocm_chess_net_get_input
    mlxrocm_chess_net_evaluate mlxrocm_chess_net_get_chances mlxrocm_chess_net_move_name
    mlxrocm_chess_net_free
}
