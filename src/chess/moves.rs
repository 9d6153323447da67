//! The 1,858 moves of the policy, and where the heads' planes hold them.
//!
//! Moves are seen from the side that moves: it is White here. A knight promotion is the plain move, castling
//! is the king taking its own rook.

use super::layers::SQUARES;
use crate::{Error, Result};
use std::sync::OnceLock;

/// Moves that a policy has logits for.
pub const MOVES: usize = 1858;
/// Planes of a convolutional policy head that are used.
pub const CONVOLUTION_PLANES: usize = 73;

/// What a pawn becomes; a knight is not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promotion {
    /// To a queen.
    Queen,
    /// To a rook.
    Rook,
    /// To a bishop.
    Bishop,
}

impl Promotion {
    const ALL: [Promotion; 3] = [Promotion::Queen, Promotion::Rook, Promotion::Bishop];

    fn letter(self) -> char {
        match self {
            Promotion::Queen => 'q',
            Promotion::Rook => 'r',
            Promotion::Bishop => 'b',
        }
    }
}

/// A move of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyMove {
    /// From this square.
    pub from: u8,
    /// To this one.
    pub to: u8,
    /// What the pawn becomes.
    pub promotion: Option<Promotion>,
}

/// File and rank of a square, as differences can be taken of them.
fn place(square: usize) -> (i32, i32) {
    ((square % 8) as i32, (square / 8) as i32)
}

/// From one square to another: files and ranks.
fn step(from: usize, to: usize) -> (i32, i32) {
    let ((a, b), (c, d)) = (place(from), place(to));
    (c - a, d - b)
}

/// Whether a queen or a knight could go there on an empty board.
pub fn reaches(from: usize, to: usize) -> bool {
    let (files, ranks) = step(from, to);
    let line = files == 0 || ranks == 0 || files.abs() == ranks.abs();
    from != to && (line || files.abs() * ranks.abs() == 2)
}

/// All moves, in the policy's order, and the place of each by `from · 64 + to` (promotions behind them).
struct Table {
    moves: Vec<PolicyMove>,
    names: Vec<String>,
    plain: Vec<u16>,
    promotions: [u16; 8 * 8 * 3],
}

/// No move of the policy.
const NONE: u16 = u16::MAX;

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table {
            moves: Vec::with_capacity(MOVES),
            names: Vec::new(),
            plain: vec![NONE; SQUARES * SQUARES],
            promotions: [NONE; 8 * 8 * 3],
        };
        for from in 0..SQUARES {
            for to in (0..SQUARES).filter(|&to| reaches(from, to)) {
                table.plain[from * SQUARES + to] = table.moves.len() as u16;
                table.moves.push(PolicyMove {
                    from: from as u8,
                    to: to as u8,
                    promotion: None,
                });
            }
        }
        for from in 0..8usize {
            for to in from.saturating_sub(1)..=(from + 1).min(7) {
                for (piece, promotion) in Promotion::ALL.into_iter().enumerate() {
                    table.promotions[promoted(from, to, piece)] = table.moves.len() as u16;
                    table.moves.push(PolicyMove {
                        from: 48 + from as u8,
                        to: 56 + to as u8,
                        promotion: Some(promotion),
                    });
                }
            }
        }
        table.names = table.moves.iter().map(|m| m.to_string()).collect();
        table
    })
}

/// A promotion's place among them: files, piece.
fn promoted(from: usize, to: usize, piece: usize) -> usize {
    (from * 8 + to) * 3 + piece
}

/// A square's name.
pub fn square_name(square: u8) -> String {
    let file = char::from(b'a' + square % 8);
    let rank = char::from(b'1' + square / 8 % 8);
    format!("{file}{rank}")
}

impl std::fmt::Display for PolicyMove {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", square_name(self.from), square_name(self.to))?;
        match self.promotion {
            Some(promotion) => write!(f, "{}", promotion.letter()),
            None => Ok(()),
        }
    }
}

/// The policy's place of a move; `None` if no piece moves so.
pub fn move_index(from: u8, to: u8, promotion: Option<Promotion>) -> Option<usize> {
    let (from, to) = (usize::from(from), usize::from(to));
    let index = match promotion {
        None => *table().plain.get(from * SQUARES + to)?,
        Some(promotion) => {
            let (file, to_file) = (from.checked_sub(48)?, to.checked_sub(56)?);
            if file >= 8 || to_file >= 8 {
                return None;
            }
            let piece = Promotion::ALL.iter().position(|&p| p == promotion)?;
            table().promotions[promoted(file, to_file, piece)]
        }
    };
    (index != NONE).then_some(usize::from(index))
}

/// The name of a move of the policy, from White's side: "e2e4", "e7e8q", "e1h1" for castling.
pub fn move_name(index: usize) -> Option<&'static str> {
    table().names.get(index).map(String::as_str)
}

/// Where the attention policy has each move: `from · 64 + to`, and behind them `from file, to file, piece`.
pub fn attention_places() -> Vec<u32> {
    let place = |m: &PolicyMove| match m.promotion {
        None => usize::from(m.from) * SQUARES + usize::from(m.to),
        Some(promotion) => {
            let piece = Promotion::ALL.iter().position(|&p| p == promotion);
            let (from, to) = (usize::from(m.from) - 48, usize::from(m.to) - 56);
            SQUARES * SQUARES + promoted(from, to, piece.unwrap_or(0))
        }
    };
    table().moves.iter().map(|m| place(m) as u32).collect()
}

/// Where a convolutional policy of `channels` planes, channels last, has each move.
pub fn convolution_places(channels: usize) -> Vec<u32> {
    let place = |m: &PolicyMove| usize::from(m.from) * channels + convolution_plane(m);
    table().moves.iter().map(|m| place(m) as u32).collect()
}

/// The plane of a move: lines by direction and distance, knights, promotions.
fn convolution_plane(m: &PolicyMove) -> usize {
    const DIRECTIONS: [(i32, i32); 8] = [
        (0, 1),
        (1, 1),
        (1, 0),
        (1, -1),
        (0, -1),
        (-1, -1),
        (-1, 0),
        (-1, 1),
    ];
    const KNIGHTS: [(i32, i32); 8] = [
        (1, 2),
        (2, 1),
        (2, -1),
        (1, -2),
        (-1, -2),
        (-2, -1),
        (-2, 1),
        (-1, 2),
    ];
    let step = step(m.from.into(), m.to.into());
    if let Some(promotion) = m.promotion {
        let piece = match promotion {
            Promotion::Rook => 0,
            Promotion::Bishop => 1,
            Promotion::Queen => 2,
        };
        return 64 + (step.0 + 1) as usize * 3 + piece;
    }
    if let Some(knight) = KNIGHTS.iter().position(|&knight| knight == step) {
        return 56 + knight;
    }
    let unit = (step.0.signum(), step.1.signum());
    let direction = DIRECTIONS.iter().position(|&d| d == unit).unwrap_or(0);
    direction * 7 + step.0.abs().max(step.1.abs()) as usize - 1
}

/// The probabilities of the moves at `indices` of a policy: softmax of their logits at a temperature.
///
/// # Errors
/// `InvalidArgument` for indices that are not there and temperatures that are not positive.
pub fn probabilities(policy: &[f32], indices: &[u32], temperature: f32) -> Result<Vec<f32>> {
    if !(temperature > 0.0 && temperature.is_finite()) {
        return Err(Error::InvalidArgument(format!(
            "a temperature of {temperature}: it must be a finite number above 0"
        )));
    }
    let logit = |&index: &u32| match policy.get(index as usize) {
        Some(&logit) => Ok(f64::from(logit) / f64::from(temperature)),
        None => Err(Error::InvalidArgument(format!(
            "policy index {index}: there are {}",
            policy.len()
        ))),
    };
    let logits = indices.iter().map(logit).collect::<Result<Vec<f64>>>()?;
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    Ok(powers.iter().map(|power| (power / sum) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_moves() {
        assert_eq!(table().moves.len(), MOVES);
        assert_eq!(move_name(0), Some("a1b1"));
        assert_eq!(move_name(1791), Some("h8g8"));
        assert_eq!(move_name(1792), Some("a7a8q"));
        assert_eq!(move_name(1857), Some("h7h8b"));
        assert_eq!(move_name(MOVES), None);
        for (index, m) in table().moves.iter().enumerate() {
            assert_eq!(move_index(m.from, m.to, m.promotion), Some(index));
        }
        assert_eq!(move_index(0, 0, None), None);
        assert_eq!(move_index(0, 20, None), None);
        assert_eq!(move_index(48, 58, Some(Promotion::Queen)), None);
        assert_eq!(move_index(8, 56, Some(Promotion::Queen)), None);
    }

    #[test]
    fn every_move_has_a_place_of_its_own() {
        for places in [attention_places(), convolution_places(80)] {
            let mut sorted = places.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), MOVES);
        }
    }

    #[test]
    fn probabilities_of_some_moves() {
        let policy = [1.0, 2.0, 3.0];
        let p = probabilities(&policy, &[0, 2], 1.0).unwrap();
        assert!(
            (p[1] / p[0] - 1f32.exp().powi(2)).abs() < 1e-4 && (p[0] + p[1] - 1.0).abs() < 1e-6
        );
        assert_eq!(probabilities(&policy, &[], 1.0), Ok(vec![]));
        assert!(probabilities(&policy, &[3], 1.0).is_err());
        for temperature in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let message = probabilities(&policy, &[0], temperature)
                .unwrap_err()
                .to_string();
            assert!(message.contains("finite number above 0"), "{message}");
        }
    }
}
