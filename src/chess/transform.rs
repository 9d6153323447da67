//! The canonical orientation of boards without castling rights: the king on the right, and where there are
//! no pawns also below and under the diagonal.

use super::position::{BISHOP, KING, KNIGHT, PAWN, Pieces, QUEEN, ROOK};

/// Flips, in the order in which they are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transform {
    /// Files are mirrored.
    pub flip: bool,
    /// Ranks are mirrored.
    pub mirror: bool,
    /// The board is turned over its diagonal from a8 to h1.
    pub transpose: bool,
}

/// Squares of the lower right quarter above that diagonal.
const ABOVE: u64 = 0xE0C0_8000;
/// Its squares on the diagonal.
const DIAGONAL: u64 = 0x1020_4080;
const LEFT_FILES: u64 = 0x0f0f_0f0f_0f0f_0f0f;
const UPPER_RANKS: u64 = 0xffff_ffff_0000_0000;

fn flip(mask: u64) -> u64 {
    mask.reverse_bits().swap_bytes()
}

fn transpose(mask: u64) -> u64 {
    let bits = (0..64).filter(|square| mask >> square & 1 != 0);
    bits.fold(0, |turned, square| turned | 1 << transposed(square))
}

/// A square over the diagonal from a8 to h1.
fn transposed(square: u8) -> u8 {
    (7 - square % 8) * 8 + (7 - square / 8)
}

impl Transform {
    /// The transform of a board that is seen from the side to move (whose pieces come first).
    pub fn of(pieces: &Pieces, castling: bool) -> Transform {
        let mut transform = Transform::default();
        if castling {
            return transform;
        }
        let king = pieces[0][KING];
        transform.flip = king & LEFT_FILES != 0;
        let of = |kind: usize| pieces[0][kind] | pieces[1][kind];
        if of(PAWN) != 0 {
            return transform;
        }
        transform.mirror = transform.mask(king) & UPPER_RANKS != 0;
        let king = transform.mask(king);
        transform.transpose = king & ABOVE != 0;
        if king & DIAGONAL != 0 {
            let ours = pieces[0].iter().fold(0, |all, mask| all | mask);
            let theirs = pieces[1].iter().fold(0, |all, mask| all | mask);
            let order = [
                ours | theirs,
                ours,
                of(KING),
                of(QUEEN),
                of(ROOK),
                of(KNIGHT),
                of(BISHOP),
            ];
            let turned = order.map(|mask| transform.mask(mask));
            let differs = turned.into_iter().find(|&mask| mask != transpose(mask));
            transform.transpose = differs.is_some_and(|mask| mask > transpose(mask));
        }
        transform
    }

    /// A mask of squares, transformed.
    pub fn mask(self, mask: u64) -> u64 {
        let mask = if self.flip { flip(mask) } else { mask };
        let mask = if self.mirror { mask.swap_bytes() } else { mask };
        match self.transpose {
            true => transpose(mask),
            false => mask,
        }
    }

    /// A square, transformed.
    pub fn square(self, square: u8) -> u8 {
        let square = if self.flip { square ^ 7 } else { square };
        let square = if self.mirror { square ^ 56 } else { square };
        match self.transpose {
            true => transposed(square),
            false => square,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_squares_agree() {
        for bits in 0..8 {
            let transform = Transform {
                flip: bits & 1 != 0,
                mirror: bits & 2 != 0,
                transpose: bits & 4 != 0,
            };
            for square in 0..64u8 {
                assert_eq!(transform.mask(1 << square), 1 << transform.square(square));
            }
        }
        assert_eq!(transpose(DIAGONAL), DIAGONAL);
    }
}
