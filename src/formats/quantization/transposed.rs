//! GPTQ and AWQ, 4 bits: `w = scale·(q − zero)` in f32. The files hold the transposed matrix; a row is
//! gathered from all over it, which is cheap as long as its neighbours are read next.
//!
//! Words are 32 bits of eight codes, the lowest first. GPTQ: a word is eight columns of one row,
//! `[cols/8, rows]`. AWQ: a word is eight rows of one column, `[cols, rows/8]`, in the order
//! 0 2 4 6 1 3 5 7. Zero points are `[groups, rows/8]`, packed along the rows (AWQ in its order), GPTQ's
//! first version less one; scales are f16 `[groups, rows]`.

use super::RowGroups;
use super::row::Parts;
use super::scalar::f16_to_f32;

/// Which of the two.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Layout {
    /// What is added to a zero point.
    Gptq(u8),
    Awq,
}

/// The nibble of row `row % 8` in a word of AWQ.
const AWQ: [usize; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// Nibble `at % 8` of word `at / 8`.
fn nibble(words: &[u8], at: usize) -> Option<u8> {
    Some(words.get(at / 2)? >> (4 * (at % 2)) & 15)
}

impl Layout {
    /// The nibble that holds row `row` of a list of rows.
    fn place(self, row: usize) -> usize {
        match self {
            Layout::Gptq(_) => row,
            Layout::Awq => row / 8 * 8 + AWQ[row % 8],
        }
    }

    fn code(self, matrix: &Parts<'_>, row: usize, column: usize) -> Option<u8> {
        nibble(
            matrix.data,
            match self {
                Layout::Gptq(_) => (column / 8 * matrix.rows + row) * 8 + column % 8,
                Layout::Awq => column * matrix.rows + self.place(row),
            },
        )
    }

    /// Scale and zero point of a group.
    fn scale(self, matrix: &Parts<'_>, row: usize, group: usize) -> Option<(f32, u8)> {
        let at = (group * matrix.rows + row) * 2;
        let scale = matrix.scales.get(at..at + 2)?.first_chunk::<2>()?;
        let zero = nibble(matrix.biases, group * matrix.rows + self.place(row))?;
        let plus = if let Layout::Gptq(plus) = self {
            plus
        } else {
            0
        };
        Some((f16_to_f32(u16::from_le_bytes(*scale)), zero + plus))
    }

    /// One row; `None` when the parts are too short.
    pub(super) fn dequantize(
        self,
        group: usize,
        matrix: &Parts<'_>,
        row: usize,
        out: &mut [f32],
    ) -> Option<()> {
        for (g, out) in out.chunks_mut(group).enumerate() {
            let (scale, zero) = self.scale(matrix, row, g)?;
            for (k, out) in out.iter_mut().enumerate() {
                let code = self.code(matrix, row, g * group + k)?;
                *out = scale * (f32::from(code) - f32::from(zero));
            }
        }
        Some(())
    }

    /// One row in its group form; `None` when the parts are too short.
    pub(super) fn read_groups(
        self,
        group: usize,
        matrix: &Parts<'_>,
        row: usize,
        out: &mut RowGroups,
    ) -> Option<()> {
        let groups = matrix.cols / group;
        out.resize(matrix.cols, groups, 0);
        out.points.resize(groups, 0);
        for (k, code) in out.codes.iter_mut().enumerate() {
            *code = self.code(matrix, row, k)?;
        }
        for (g, (scale, zero)) in out.scales.iter_mut().zip(&mut out.points).enumerate() {
            (*scale, *zero) = self.scale(matrix, row, g)?;
        }
        Some(())
    }
}
