//! Games out of FEN and moves: the rules of chess, of Chess960 too.

use super::format::InputFormat;
use super::moves::{Promotion, move_index, square_name};
use super::planes::{Planes, planes};
use super::position::{Board, PAWN, Position, repetitions};
use super::transform::Transform;
use crate::{Error, Result};
use cozy_chess::{Color, File, Move, Piece, Rank, Square};

/// No FEN is longer.
const LONGEST: usize = 200;
/// Plies without progress that a FEN may name.
const MOST_PLIES: u32 = 9999;
/// The start of a game.
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// A game: its positions, and the rules.
#[derive(Debug, Clone)]
pub struct Game {
    rules: cozy_chess::Board,
    positions: Vec<Position>,
    /// Castling is written as the king taking its rook.
    chess960: bool,
}

/// A legal move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegalMove {
    /// UCI's name.
    pub name: String,
    /// Its place in the policy.
    pub index: usize,
}

fn wrong(fen: &str, what: impl std::fmt::Display) -> Error {
    Error::InvalidArgument(format!("FEN {fen:?}: {what}"))
}

/// The castling field as files of rooks; K, Q, k, q are the outermost rooks.
fn rook_files(fen: &str, rules: &cozy_chess::Board, castling: &str) -> Result<String> {
    let mut files = String::new();
    for letter in castling.chars().filter(|&letter| letter != '-') {
        let color = match letter.is_ascii_uppercase() {
            true => Color::White,
            false => Color::Black,
        };
        let king = rules.king(color);
        let rank = Rank::First.relative_to(color);
        let rooks = rules.colored_pieces(color, Piece::Rook);
        let mut rooks = File::ALL
            .into_iter()
            .filter(|&file| rooks.has(Square::new(file, rank)));
        let file = match letter.to_ascii_lowercase() {
            'k' => rooks.rfind(|&file| file > king.file()),
            'q' => rooks.find(|&file| file < king.file()),
            letter @ 'a'..='h' => rooks.find(|&file| char::from(file) == letter),
            _ => return Err(wrong(fen, format!("castling {castling:?}"))),
        };
        let what = || format!("castling {castling:?} without king and rook on their squares");
        let file = char::from(file.ok_or_else(|| wrong(fen, what()))?);
        files.push(match color {
            Color::White => file.to_ascii_uppercase(),
            Color::Black => file,
        });
    }
    match files.is_empty() {
        true => Ok("-".into()),
        false => Ok(files),
    }
}

impl Game {
    /// The game that begins at a position (`None`: the usual start) and goes on with moves in UCI's notation;
    /// castling is the king's two squares or the king taking its rook.
    ///
    /// # Errors
    /// `InvalidArgument` for positions and moves that the rules do not allow.
    pub fn new<M: AsRef<str>>(fen: Option<&str>, moves: &[M]) -> Result<Game> {
        let mut game = Game::start(fen.unwrap_or(START))?;
        for (ply, name) in moves.iter().enumerate() {
            game.play(name.as_ref(), ply)?;
        }
        Ok(game)
    }

    fn start(fen: &str) -> Result<Game> {
        if fen.len() > LONGEST {
            let message = format!("a FEN of {} bytes is no position", fen.len());
            return Err(Error::InvalidArgument(message));
        }
        let fields: Vec<&str> = fen.split_whitespace().collect();
        let (pieces, side, castling, passing) = match fields[..] {
            [pieces, side] => (pieces, side, "-", "-"),
            [pieces, side, castling] => (pieces, side, castling, "-"),
            [pieces, side, castling, passing, ..] if fields.len() <= 6 => {
                (pieces, side, castling, passing)
            }
            _ => {
                let what = "a position has 2 to 6: pieces, side, castling, en passant, two numbers";
                return Err(wrong(fen, format!("{} fields; {what}", fields.len())));
            }
        };
        let clock = |at: usize, least: u32| match fields.get(at).map(|text| text.parse::<u32>()) {
            None => Ok(least),
            Some(Ok(number)) if number <= MOST_PLIES => Ok(number),
            _ => Err(wrong(fen, format!("number {:?}", fields[at]))),
        };
        if pieces.split('/').count() != 8 {
            return Err(wrong(fen, "a board has 8 ranks"));
        }
        let rule50 = clock(4, 0)?;
        clock(5, 1)?;
        let parse = |castling: &str, passing: &str| {
            let text = format!("{pieces} {side} {castling} {passing} 0 1");
            cozy_chess::Board::from_fen(&text, true)
        };
        let bare = parse("-", "-").map_err(|e| wrong(fen, e))?;
        // The rules look for checks by all pieces but the other king.
        if cozy_chess::get_king_moves(bare.king(Color::White)).has(bare.king(Color::Black)) {
            return Err(wrong(fen, "the kings stand side by side"));
        }
        let castling = rook_files(fen, &bare, castling)?;
        let rules = parse(&castling, passing).map_err(|e| wrong(fen, e))?;
        let usual = |color: Color| {
            let rights = rules.castle_rights(color);
            let a = rights.long.is_none_or(|file| file == File::A);
            let h = rights.short.is_none_or(|file| file == File::H);
            let none = rights.long.is_none() && rights.short.is_none();
            none || (a && h && rules.king(color).file() == File::E)
        };
        let chess960 = !(usual(Color::White) && usual(Color::Black));
        let en_passant = rules.en_passant().map(|file| file as u8);
        let board = board_of(&rules, en_passant);
        Ok(Game {
            positions: vec![Position {
                board,
                rule50,
                repetitions: 0,
            }],
            rules,
            chess960,
        })
    }

    /// Plays a move.
    fn play(&mut self, name: &str, ply: usize) -> Result<()> {
        let illegal = || {
            let name: String = name.chars().take(8).collect();
            Error::InvalidArgument(format!(
                "move {} {name:?} is not legal in {:#}",
                ply + 1,
                self.rules
            ))
        };
        let mut step: Move = name.parse().map_err(|_| illegal())?;
        let side = self.rules.side_to_move();
        let files = step.from.file() as i32 - step.to.file() as i32;
        let own = self.rules.colors(side).has(step.to);
        if step.from == self.rules.king(side) && files.abs() > 1 && !own {
            let rights = self.rules.castle_rights(side);
            let rook = match (step.to.file(), files < 0) {
                (File::G, true) => rights.short,
                (File::C, false) => rights.long,
                _ => None,
            };
            let rook = rook.ok_or_else(illegal)?;
            step.to = Square::new(rook, step.from.rank());
        }
        let piece = self.rules.piece_on(step.from);
        let takes = self.rules.occupied().has(step.to) && !self.rules.colors(side).has(step.to);
        let mut next = self.rules.clone();
        next.try_play(step).map_err(|_| illegal())?;
        let pawn = piece == Some(Piece::Pawn);
        let ranks = step.from.rank() as i32 - step.to.rank() as i32;
        let file = step.to.file() as u8;
        let passed = pawn && ranks.abs() == 2;
        let mut board = board_of(&next, None);
        let beside = beside(step.to as u8) & board.pieces[usize::from(board.black)][PAWN];
        board.en_passant = (passed && beside != 0).then_some(file);
        let before = self.positions.last().map_or(0, |position| position.rule50);
        let rule50 = if pawn || takes { 0 } else { before + 1 };
        self.positions.push(Position {
            board,
            rule50,
            repetitions: repetitions(&self.positions, &board, rule50),
        });
        // The rules' own counter ends at 100; ours goes on.
        next.set_halfmove_clock(0);
        self.rules = next;
        Ok(())
    }

    /// The planes of the current position.
    pub fn planes(&self, format: InputFormat) -> Planes {
        planes(&self.positions, format)
    }

    /// The legal moves, with their places in the policy of a position whose squares are turned by `transform`.
    pub fn legal_moves(&self, transform: Transform) -> Vec<LegalMove> {
        let mut moves = Vec::new();
        self.rules.generate_moves(|of_piece| {
            for step in of_piece {
                if let Some(index) = self.policy_index(step, transform) {
                    let name = self.name(step);
                    moves.push(LegalMove { name, index });
                }
            }
            false
        });
        moves.sort_by_key(|m| m.index);
        moves
    }

    fn policy_index(&self, step: Move, transform: Transform) -> Option<usize> {
        let turn = match self.rules.side_to_move() {
            Color::White => 0,
            Color::Black => 56,
        };
        let seen = |square: Square| transform.square(square as u8 ^ turn);
        let promotion = match step.promotion {
            Some(Piece::Queen) => Some(Promotion::Queen),
            Some(Piece::Rook) => Some(Promotion::Rook),
            Some(Piece::Bishop) => Some(Promotion::Bishop),
            _ => None,
        };
        move_index(seen(step.from), seen(step.to), promotion)
    }

    fn name(&self, step: Move) -> String {
        let castles = self.rules.colors(self.rules.side_to_move()).has(step.to);
        let mut to = step.to;
        if castles && !self.chess960 {
            let file = match to.file() > step.from.file() {
                true => File::G,
                false => File::C,
            };
            to = Square::new(file, to.rank());
        }
        let mut name = square_name(step.from as u8) + &square_name(to as u8);
        if let Some(piece) = step.promotion {
            name.push(char::from(piece));
        }
        name
    }
}

/// The squares left and right of one.
fn beside(square: u8) -> u64 {
    let bit = 1u64 << square;
    const FILE_A: u64 = 0x0101_0101_0101_0101;
    (bit & !FILE_A) >> 1 | (bit & !(FILE_A << 7)) << 1
}

fn board_of(rules: &cozy_chess::Board, en_passant: Option<u8>) -> Board {
    let side = |color: Color| {
        // In the order of planes.
        let kinds = [
            Piece::Pawn,
            Piece::Knight,
            Piece::Bishop,
            Piece::Rook,
            Piece::Queen,
            Piece::King,
        ];
        kinds.map(|piece| rules.colored_pieces(color, piece).0)
    };
    let rights = |color: Color| {
        let rights = rules.castle_rights(color);
        [rights.long, rights.short].map(|file| file.map(|file| file as u8))
    };
    Board {
        pieces: [side(Color::White), side(Color::Black)],
        castling: [rights(Color::White), rights(Color::Black)],
        en_passant,
        black: rules.side_to_move() == Color::Black,
    }
}
