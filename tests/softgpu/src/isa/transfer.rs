//! Moving bytes between memory and the registers of a wave, at host addresses that were checked.

use super::operand::Src;
use super::vmem::{Half, Shape};
use super::wave::{Row, Wave, lanes_of};

/// Loads from the addresses in `w.addrs`.
///
/// # Safety
/// The addresses of the lanes of the mask must be readable for the shape's bytes.
pub unsafe fn load_lanes(w: &mut Wave, dst: u16, mask: u64, shape: Shape) {
    if mask != w.all() {
        for lane in lanes_of(mask) {
            load_lane(w, dst, lane, w.addrs[lane] as *const u8, shape);
        }
        return;
    }
    let (n, step) = (shape.dwords(), w.halves);
    for h in 0..w.halves {
        let at = w.at(dst, h);
        let part = &w.addrs[32 * h..32 * h + 32];
        // SAFETY: all lanes are in the mask.
        unsafe {
            match (shape.bytes, n) {
                (1 | 2, _) => load_short(part, &mut w.rows[at], shape),
                (_, 1) => load_rows::<1>(part, &mut w.rows[at..=at], step),
                (_, 2) => load_rows::<2>(part, &mut w.rows[at..=at + step], step),
                (_, 3) => load_rows::<3>(part, &mut w.rows[at..=at + 2 * step], step),
                _ => load_rows::<4>(part, &mut w.rows[at..=at + 3 * step], step),
            }
        }
    }
}

/// Stores to the addresses in `w.addrs`, lane after lane: of those that meet the last one stays.
///
/// # Safety
/// The addresses of the lanes of the mask must be writable for the shape's bytes.
pub unsafe fn store_lanes(w: &Wave, src: u16, mask: u64, shape: Shape) {
    if mask != w.all() || shape.bytes < 4 {
        for lane in lanes_of(mask) {
            store_lane(w, src, lane, w.addrs[lane] as *mut u8, shape);
        }
        return;
    }
    let (n, step) = (shape.dwords(), w.halves);
    for h in 0..w.halves {
        let at = w.at(src, h);
        let part = &w.addrs[32 * h..32 * h + 32];
        // SAFETY: all lanes are in the mask.
        unsafe {
            match n {
                1 => store_rows::<1>(part, &w.rows[at..=at], step),
                2 => store_rows::<2>(part, &w.rows[at..=at + step], step),
                3 => store_rows::<3>(part, &w.rows[at..=at + 2 * step], step),
                _ => store_rows::<4>(part, &w.rows[at..=at + 3 * step], step),
            }
        }
    }
}

/// Loads N dwords for each of 32 lanes.
///
/// # Safety
/// Each address must be readable for 4N bytes.
unsafe fn load_rows<const N: usize>(addrs: &[u64], rows: &mut [Row], step: usize) {
    assert!(addrs.len() == 32 && rows.len() > (N - 1) * step);
    for (lane, addr) in addrs.iter().enumerate() {
        // SAFETY: the caller vouches for the range.
        let dwords = unsafe { (*addr as *const [u32; N]).read_unaligned() };
        for (i, v) in dwords.into_iter().enumerate() {
            // SAFETY: asserted above.
            unsafe { *rows.get_unchecked_mut(i * step).get_unchecked_mut(lane) = v };
        }
    }
}

/// Stores N dwords of each of 32 lanes.
///
/// # Safety
/// Each address must be writable for 4N bytes.
unsafe fn store_rows<const N: usize>(addrs: &[u64], rows: &[Row], step: usize) {
    assert!(addrs.len() == 32 && rows.len() > (N - 1) * step);
    for (lane, addr) in addrs.iter().enumerate() {
        // SAFETY: asserted above.
        let dwords: [u32; N] =
            std::array::from_fn(|i| unsafe { *rows.get_unchecked(i * step).get_unchecked(lane) });
        // SAFETY: the caller vouches for the range.
        unsafe { (*addr as *mut [u32; N]).write_unaligned(dwords) };
    }
}

/// Loads a byte or 16 bits for each of 32 lanes.
///
/// # Safety
/// Each address must be readable for the shape's bytes.
unsafe fn load_short(addrs: &[u64], row: &mut Row, shape: Shape) {
    for (addr, v) in addrs.iter().zip(row) {
        // SAFETY: the caller vouches for the range.
        let raw = unsafe {
            if shape.bytes == 1 {
                u32::from((*addr as *const u8).read())
            } else {
                u32::from((*addr as *const u16).read_unaligned())
            }
        };
        *v = shape.place(raw, *v);
    }
}

/// One lane's load from a checked host address.
pub fn load_lane(w: &mut Wave, dst: u16, lane: usize, p: *const u8, shape: Shape) {
    // SAFETY: the caller checked `shape.bytes` bytes at `p`.
    unsafe {
        match shape.bytes {
            1 => {
                let v = shape.place(u32::from(p.read()), w.lane(Src::V(dst), lane));
                w.set_lane(dst, lane, v);
            }
            2 => {
                let v = shape.place(
                    u32::from(p.cast::<u16>().read_unaligned()),
                    w.lane(Src::V(dst), lane),
                );
                w.set_lane(dst, lane, v);
            }
            _ => {
                for i in 0..shape.dwords() {
                    w.set_lane(
                        dst + i as u16,
                        lane,
                        p.cast::<u32>().add(i).read_unaligned(),
                    );
                }
            }
        }
    }
}

/// One lane's store to a checked host address.
pub fn store_lane(w: &Wave, src: u16, lane: usize, p: *mut u8, shape: Shape) {
    let v = w.lane(Src::V(src), lane);
    let v = if shape.half == Half::High { v >> 16 } else { v };
    // SAFETY: the caller checked `shape.bytes` bytes at `p`.
    unsafe {
        match shape.bytes {
            1 => p.write(v as u8),
            2 => p.cast::<u16>().write_unaligned(v as u16),
            _ => {
                for i in 0..shape.dwords() {
                    p.cast::<u32>()
                        .add(i)
                        .write_unaligned(w.lane(Src::V(src + i as u16), lane));
                }
            }
        }
    }
}
