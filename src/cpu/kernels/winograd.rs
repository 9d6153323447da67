//! Convolutions of boards, 8×8 squares with zeros around, by kernels of 3×3: Winograd's F(4×4, 3×3).
//!
//! A board is four tiles of 4×4 results, each from a window of 6×6 squares. Window and kernel become 36
//! numbers a channel (`before`, `kernel`); their products, summed over the channels, become the tile
//! (`after`): 36 multiplications for 16 results, where there are 144 otherwise. The transforms evaluate
//! polynomials at 0, ±[`P`], ±[`Q`] and infinity. With these points the error is a third of that with the
//! usual 0, ±1, ±2, measured over twelve layers in f32, and four times that of the plain sum.

use super::vector::Vector;

/// Places where polynomials are evaluated.
pub const FREQUENCIES: usize = 36;
/// Tiles of a board.
pub const TILES: usize = 4;
/// Squares of a board.
pub const SQUARES: usize = 64;
/// Output channels of one call of `winograd_output`.
pub const WIDTH: usize = 16;
/// A side of a window.
const WINDOW: usize = 6;
const SIDE: usize = 8;

const P: f32 = 0.75;
const Q: f32 = 1.5;
const PP: f32 = P * P;
const QQ: f32 = Q * Q;

/// The numbers of a 3×3 kernel at the 36 places.
pub fn kernel(taps: &[[f64; 3]; 3]) -> [f64; FREQUENCIES] {
    let (p, q) = (f64::from(P), f64::from(Q));
    let at = |x: f64, other: f64| {
        let scale = 1.0 / (2.0 * x * x * (x * x - other * other));
        [scale, x * scale, x * x * scale]
    };
    let rows: [[f64; 3]; WINDOW] = [
        [1.0 / (p * p * q * q), 0.0, 0.0],
        at(p, q),
        at(-p, q),
        at(q, p),
        at(-q, p),
        [0.0, 0.0, 1.0],
    ];
    std::array::from_fn(|f| {
        let (down, across) = (&rows[f / WINDOW], &rows[f % WINDOW]);
        let mut sum = 0.0;
        for (row, taps) in down.iter().zip(taps) {
            for (column, tap) in across.iter().zip(taps) {
                sum += row * column * tap;
            }
        }
        sum
    })
}

/// A line of a window.
#[inline(always)]
unsafe fn before<T: Vector>(d: [T; WINDOW]) -> [T; WINDOW] {
    // SAFETY: the caller has the level of `T`.
    unsafe {
        let number = |x: f32| T::splat(x);
        let even_p = d[2].multiply_add(number(-QQ), d[4]);
        let odd_p = d[1].multiply_add(number(-QQ), d[3]).multiply(number(P));
        let even_q = d[2].multiply_add(number(-PP), d[4]);
        let odd_q = d[1].multiply_add(number(-PP), d[3]).multiply(number(Q));
        let low = d[2].multiply_add(number(-(PP + QQ)), d[4]);
        let high = d[3].multiply_add(number(-(PP + QQ)), d[5]);
        [
            d[0].multiply_add(number(PP * QQ), low),
            even_p.add(odd_p),
            even_p.subtract(odd_p),
            even_q.add(odd_q),
            even_q.subtract(odd_q),
            d[1].multiply_add(number(PP * QQ), high),
        ]
    }
}

/// A line of a tile.
#[inline(always)]
unsafe fn after<T: Vector>(m: [T; WINDOW]) -> [T; 4] {
    // SAFETY: the caller has the level of `T`.
    unsafe {
        let number = |x: f32| T::splat(x);
        let (sum_p, odd_p) = (m[1].add(m[2]), m[1].subtract(m[2]));
        let (sum_q, odd_q) = (m[3].add(m[4]), m[3].subtract(m[4]));
        [
            m[0].add(sum_p.add(sum_q)),
            odd_p.multiply_add(number(P), odd_q.multiply(number(Q))),
            sum_p.multiply_add(number(PP), sum_q.multiply(number(QQ))),
            odd_p.multiply_add(number(PP * P), odd_q.multiply_add(number(QQ * Q), m[5])),
        ]
    }
}

/// A tile of a board on its way into the products.
pub struct WinogradInput<'a> {
    /// `[8][8][channels]`
    pub board: &'a [f32],
    pub channels: usize,
    /// Which of the four.
    pub tile: usize,
    /// Place f receives `channels` numbers at `f · step`.
    pub out: *mut f32,
    pub step: usize,
}

/// Transforms the window of a tile.
///
/// # Safety
/// `out` reaches what [`WinogradInput`] says; nobody else uses that; the CPU has the level of `T`.
#[inline(always)]
pub unsafe fn input<T: Vector>(of: &WinogradInput<'_>) {
    assert!(of.board.len() >= SQUARES * of.channels && of.tile < TILES);
    // SAFETY: the caller's promise.
    unsafe {
        match of.tile {
            0 => window::<T, 0, 0>(of),
            1 => window::<T, 0, 4>(of),
            2 => window::<T, 4, 0>(of),
            _ => window::<T, 4, 4>(of),
        }
    }
}

/// The window of the tile whose first square is this. It begins one square before: 0 is off the board.
#[inline(always)]
unsafe fn window<T: Vector, const TOP: usize, const LEFT: usize>(of: &WinogradInput<'_>) {
    let channels = of.channels;
    for channel in (0..channels).step_by(T::LANES) {
        let width = channels - channel;
        // SAFETY: channels of squares of the board, and of places.
        unsafe {
            let mut lines = [[T::splat(0.0); WINDOW]; WINDOW];
            for column in 0..WINDOW {
                let mut squares = [T::splat(0.0); WINDOW];
                for (row, square) in squares.iter_mut().enumerate() {
                    let row = (TOP + row).wrapping_sub(1);
                    let column = (LEFT + column).wrapping_sub(1);
                    if row < SIDE && column < SIDE {
                        let at = (row * SIDE + column) * channels + channel;
                        *square = T::load_some(of.board.as_ptr().add(at), width);
                    }
                }
                let down = before(squares);
                for (line, numbers) in lines.iter_mut().zip(down) {
                    line[column] = numbers;
                }
            }
            for (row, line) in lines.into_iter().enumerate() {
                for (column, numbers) in before(line).into_iter().enumerate() {
                    let place = (row * WINDOW + column) * of.step + channel;
                    numbers.store_some(of.out.add(place), width);
                }
            }
        }
    }
}

/// A tile of a result on its way to the board.
pub struct WinogradOutput<'a> {
    /// Place f has the sums of [`WIDTH`] channels at `f · step`.
    pub sums: &'a [f32],
    pub step: usize,
    /// Which of the four.
    pub tile: usize,
    /// The board `[8][8][channels]` from its first channel here.
    pub board: *mut f32,
    pub channels: usize,
    /// Channels that are there, up to [`WIDTH`].
    pub width: usize,
}

/// Transforms the sums of a tile.
///
/// # Safety
/// `board` reaches what [`WinogradOutput`] says; nobody else uses these channels; the CPU has the level of `T`.
#[inline(always)]
pub unsafe fn output<T: Vector>(of: &WinogradOutput<'_>) {
    assert!(of.sums.len() >= (FREQUENCIES - 1) * of.step + WIDTH && of.tile < TILES);
    let first = (of.tile / 2 * 4) * SIDE + of.tile % 2 * 4;
    for channel in (0..of.width).step_by(T::LANES) {
        let width = of.width - channel;
        // SAFETY: sums of places, and channels of squares of the board.
        unsafe {
            let mut lines = [[T::splat(0.0); WINDOW]; 4];
            for column in 0..WINDOW {
                let mut sums = [T::splat(0.0); WINDOW];
                for (row, sum) in sums.iter_mut().enumerate() {
                    let at = (row * WINDOW + column) * of.step + channel;
                    *sum = T::load(of.sums.as_ptr().add(at));
                }
                let down = after(sums);
                for (line, numbers) in lines.iter_mut().zip(down) {
                    line[column] = numbers;
                }
            }
            for (row, line) in lines.into_iter().enumerate() {
                for (column, numbers) in after(line).into_iter().enumerate() {
                    let place = (first + row * SIDE + column) * of.channels + channel;
                    numbers.store_some(of.board.add(place), width);
                }
            }
        }
    }
}
