//! A position as networks see it: bit boards, castling rights, en passant, repetitions.

/// Kinds of pieces, in the order of planes.
pub const PIECES: usize = 6;
/// Their places.
pub const PAWN: usize = 0;
pub const KNIGHT: usize = 1;
pub const BISHOP: usize = 2;
pub const ROOK: usize = 3;
pub const QUEEN: usize = 4;
pub const KING: usize = 5;

/// Both sides' pieces, as bits of squares (a1 is bit 0, h8 bit 63).
pub type Pieces = [[u64; PIECES]; 2];

/// What repeats when a position does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    /// White's, Black's.
    pub pieces: Pieces,
    /// Files of the rooks that White, Black may castle with: towards a, towards h.
    pub castling: [[Option<u8>; 2]; 2],
    /// The file of a pawn that just went two squares and that a pawn stands beside.
    pub en_passant: Option<u8>,
    /// Whether Black is to move.
    pub black: bool,
}

/// A position of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The board.
    pub board: Board,
    /// Plies since a pawn moved or a piece was taken.
    pub rule50: u32,
    /// How often the board was there before, since then.
    pub repetitions: u32,
}

impl Board {
    /// Whether pieces stand as at the start of a game.
    pub fn is_start(&self) -> bool {
        const BACK: [u64; PIECES] = [0xff00, 0x42, 0x24, 0x81, 0x08, 0x10];
        self.pieces == [BACK, BACK.map(u64::swap_bytes)]
    }
}

/// How often the board that `history` ends with was there before.
pub fn repetitions(history: &[Position], board: &Board, rule50: u32) -> u32 {
    if rule50 < 4 {
        return 0;
    }
    // `history` ends one ply before the board.
    let earlier = history.iter().rev().skip(3).step_by(2);
    for position in earlier {
        if position.board == *board {
            return position.repetitions + 1;
        }
        if position.rule50 < 2 {
            break;
        }
    }
    0
}
