//! The 112 planes of a position with its history.

use super::format::InputFormat;
use super::position::{PAWN, PIECES, Pieces, Position};
use super::transform::Transform;

/// Planes of an input.
pub const PLANES: usize = 112;
/// Positions of the history, the current one included.
const HISTORY: usize = 8;
/// Planes of a position: pieces of both sides, repetitions.
const OF_POSITION: usize = 2 * PIECES + 1;
/// Planes after those of positions.
const AUXILIARY: usize = HISTORY * OF_POSITION;
const ALL: u64 = u64::MAX;

/// Planes: bits of squares (seen from the side to move, a1 is bit 0), and what a set bit stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Planes {
    /// Squares.
    pub masks: [u64; PLANES],
    /// Values.
    pub values: [f32; PLANES],
    /// How squares were turned; moves of the policy are.
    pub transform: Transform,
}

/// Pieces as the side to move sees them: its own first, its own back rank below.
fn seen(pieces: &Pieces, black: bool) -> Pieces {
    match black {
        false => *pieces,
        true => {
            let turn = |side: [u64; PIECES]| side.map(u64::swap_bytes);
            [turn(pieces[1]), turn(pieces[0])]
        }
    }
}

/// The planes of the last position of a game. What came before a game's first position is taken to be that
/// position again, unless it is the usual start.
pub fn planes(history: &[Position], format: InputFormat) -> Planes {
    let mut planes = Planes {
        masks: [0; PLANES],
        values: [1.0; PLANES],
        transform: Transform::default(),
    };
    let (Some(now), Some(oldest)) = (history.last(), history.first()) else {
        return planes;
    };
    let black = now.board.black;
    let castling = now.board.castling;
    if format.is_canonical() {
        let any = castling.iter().flatten().any(Option::is_some);
        planes.transform = Transform::of(&seen(&now.board.pieces, black), any);
    }
    let transform = planes.transform;
    let mut back = 0;
    let mut slot = 0;
    while slot < HISTORY {
        let real = history.len().checked_sub(back + 1);
        let position = match real {
            Some(at) => &history[at],
            None if oldest.board.is_start() => break,
            None => oldest,
        };
        let past = back > 0;
        back += 1;
        if format.is_canonical() {
            let passed = past && position.board.en_passant.is_some();
            if passed || position.board.castling != castling {
                break;
            }
        }
        if past && format.is_v2() && position.repetitions == 0 {
            // Nothing before it can repeat what comes after.
            match real.is_none() || position.rule50 == 0 {
                true => break,
                false => continue,
            }
        }
        let mut pieces = position.board.pieces;
        if let (None, Some(file)) = (real, position.board.en_passant) {
            undo_double_step(&mut pieces, file, position.board.black);
        }
        let pieces = seen(&pieces, black);
        let base = slot * OF_POSITION;
        for (plane, &mask) in pieces.iter().flatten().enumerate() {
            planes.masks[base + plane] = transform.mask(mask);
        }
        if position.repetitions > 0 {
            planes.masks[base + 2 * PIECES] = ALL;
        }
        slot += 1;
        if format.is_canonical() && position.rule50 == 0 {
            break;
        }
    }
    auxiliary(&mut planes, now, format);
    planes
}

/// The pawn that went two squares last goes back; `black` is the side that did not move it.
fn undo_double_step(pieces: &mut Pieces, file: u8, black: bool) {
    let (side, from, to) = match black {
        true => (0, 1, 3),
        false => (1, 6, 4),
    };
    let pawns = &mut pieces[side][PAWN];
    *pawns &= !(1 << (to * 8 + u32::from(file)));
    *pawns |= 1 << (from * 8 + u32::from(file));
}

fn auxiliary(planes: &mut Planes, now: &Position, format: InputFormat) {
    let masks = &mut planes.masks[AUXILIARY..];
    let transform = planes.transform;
    let black = now.board.black;
    let (ours, theirs) = match black {
        false => (now.board.castling[0], now.board.castling[1]),
        true => (now.board.castling[1], now.board.castling[0]),
    };
    let all = |set: bool| if set { ALL } else { 0 };
    for side in 0..2 {
        match format {
            InputFormat::Classical => {
                masks[side] = all(ours[side].is_some());
                masks[side + 2] = all(theirs[side].is_some());
            }
            _ => {
                let rook = |file: Option<u8>| file.map_or(0, |file| 1u64 << file);
                let rooks = rook(ours[side]) | rook(theirs[side]) << 56;
                masks[side] = transform.mask(rooks);
            }
        }
    }
    masks[4] = match format.is_canonical() {
        false => all(black),
        true => {
            let file = now.board.en_passant;
            transform.mask(file.map_or(0, |file| 1 << (56 + file)))
        }
    };
    let plies = now.rule50 as f32;
    masks[5] = ALL;
    planes.values[AUXILIARY + 5] = match format.is_hectoplies() {
        true => plies / 100.0,
        false => plies,
    };
    let masks = &mut planes.masks[AUXILIARY..];
    masks[6] = all(format.is_armageddon() && black);
    masks[7] = ALL;
}
