//! The state in which a wave starts: kernel arguments, user and system registers as the descriptor asks for them.

use super::kernel::ArgKind;
use super::launch::{Launch, Shared};
use super::operand::{EXEC, FLAT_SCRATCH, PRIVATE_BASE, SHARED_BASE, TTMP};
use super::vmem::SCRATCH_DESCRIPTOR;
use super::wave::Wave;
use super::workgroup::{Group, PRIVATE_APERTURE, SHARED_APERTURE};

/// The AQL packet that `dispatch_ptr` shows.
pub fn dispatch_packet(shared: &Shared, dynamic_lds: u32) -> [u64; 8] {
    let [bx, by, bz] = shared.block.map(u64::from);
    let grid = |i: usize| u64::from(shared.grid_blocks[i]) * u64::from(shared.block[i]);
    let kernel = shared.kernel;
    [
        // Header (kernel dispatch), setup (3 dimensions), workgroup size x and y.
        2 | 3 << 16 | bx << 32 | by << 48,
        bz | (grid(0) & 0xffff_ffff) << 32,
        (grid(1) & 0xffff_ffff) | (grid(2) & 0xffff_ffff) << 32,
        u64::from(kernel.scratch_bytes) | u64::from(kernel.lds_bytes + dynamic_lds) << 32,
        0,
        shared.kernarg.as_ptr() as u64,
        0,
        0,
    ]
}

/// The kernarg segment: explicit arguments as given, hidden ones computed.
pub fn kernarg(launch: &Launch) -> Result<Vec<u64>, String> {
    let kernel = launch.kernel;
    // The segment is a multiple of its alignment of 16 bytes: one load may take arguments and what is behind.
    let size = (kernel.kernarg_bytes as usize).max(8).next_multiple_of(16);
    let explicit = kernel
        .args
        .iter()
        .filter(|a| !matches!(a.kind, ArgKind::Hidden(_)));
    let needed = explicit
        .map(|a| a.offset.saturating_add(a.size) as usize)
        .max()
        .unwrap_or(0);
    if launch.kernarg.len() < needed {
        return Err(format!(
            "{} argument bytes given, the kernel takes {needed}",
            launch.kernarg.len()
        ));
    }
    let mut bytes = vec![0u8; size.next_multiple_of(8)];
    let given = needed.min(size);
    bytes[..given].copy_from_slice(&launch.kernarg[..given]);
    for arg in &kernel.args {
        let ArgKind::Hidden(name) = &arg.kind else {
            continue;
        };
        let axis = match name.as_bytes().last() {
            Some(b'y') => 1,
            Some(b'z') => 2,
            _ => 0,
        };
        let dims = if launch.grid_blocks[2] > 1 || launch.block[2] > 1 {
            3
        } else if launch.grid_blocks[1] > 1 || launch.block[1] > 1 {
            2
        } else {
            1
        };
        let value = match name.as_str() {
            n if n.starts_with("block_count_") => u64::from(launch.grid_blocks[axis]),
            n if n.starts_with("group_size_") => u64::from(launch.block[axis]),
            "grid_dims" => dims,
            "dynamic_lds_size" => u64::from(launch.dynamic_lds),
            "private_base" => u64::from(PRIVATE_APERTURE),
            "shared_base" => u64::from(SHARED_APERTURE),
            // Remainders, offsets, printf and hostcall buffers, queues, heaps: none here.
            _ => 0,
        };
        let at = arg.offset as usize;
        let n = (arg.size as usize).min(8);
        if let Some(slot) = bytes.get_mut(at..at + n) {
            slot.copy_from_slice(&value.to_le_bytes()[..n]);
        }
    }
    Ok(bytes
        .chunks_exact(8)
        .map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default()))
        .collect())
}

/// Puts a wave at the kernel's entry.
pub fn start_wave(g: &Group, w: &mut Wave, threads: u32) {
    let shared = g.shared;
    let (kernel, d) = (shared.kernel, shared.kernel.descriptor);
    let target = &shared.program.target;
    w.s = [0xdead_5678; super::operand::SCALARS];
    w.rows.fill([0xdead_beef; 32]);
    w.scratch.fill(0xcd);
    w.scc = false;
    w.pc = kernel.entry;
    w.executed = 0;
    w.signalled = false;
    w.gpr_index = None;
    w.flight.clear();
    (w.moment, w.seen, w.middle, w.near) = (0, 0, 0, 0);
    w.scalar_fresh = false;
    for (at, high) in [
        (SHARED_BASE, SHARED_APERTURE),
        (PRIVATE_BASE, PRIVATE_APERTURE),
    ] {
        w.set_pair(at, u64::from(high) << 32);
        w.set_pair(at + 2, u64::from(high) << 32 | 0xffff_ffff);
    }
    w.set_pair(FLAT_SCRATCH, 0);
    user_registers(shared, w);
    // Workgroup ids follow the user registers; gfx12 has them in trap registers.
    let mut at = (d.rsrc2 >> 1 & 31) as u16;
    for (i, id) in g.block.iter().enumerate() {
        if d.rsrc2 >> (7 + i) & 1 != 0 {
            if target.generation < 12 {
                w.set_s32(at, *id);
            }
            at += 1;
        }
    }
    if target.generation >= 12 {
        w.set_s32(TTMP + 9, g.block[0]);
        w.set_s32(TTMP + 7, g.block[1] | g.block[2] << 16);
    }
    if d.rsrc2 >> 10 & 1 != 0 {
        w.set_s32(at, 0);
        at += 1;
    }
    // The wave's scratch offset: scratch here begins at 0 for each wave.
    if d.rsrc2 & 1 != 0
        && target.generation < 11
        && target.name != "gfx942"
        && target.name != "gfx940"
    {
        w.set_s32(at, 0);
    }
    work_items(shared, w, threads);
}

fn user_registers(shared: &Shared, w: &mut Wave) {
    let d = shared.kernel.descriptor;
    let mut at = 0u16;
    let has = |bit: u32| d.props >> bit & 1 != 0;
    if has(0) {
        // Private segment buffer: base 0, and a last word that buffer accesses recognise.
        for (i, v) in [0, 0, u32::MAX, SCRATCH_DESCRIPTOR].into_iter().enumerate() {
            w.set_s32(at + i as u16, v);
        }
        at += 4;
    }
    for (bit, value) in [
        (1, shared.packet.as_ptr() as u64),
        (2, 0),
        (3, shared.kernarg.as_ptr() as u64),
        (4, 0),
        (5, 0),
    ] {
        if has(bit) {
            w.set_pair(at, value);
            at += 2;
        }
    }
    if has(6) {
        w.set_s32(at, shared.kernel.scratch_bytes);
    }
}

/// Work-item ids in v0 (packed, or v0..v2 on gfx10) and the mask of lanes that exist.
fn work_items(shared: &Shared, w: &mut Wave, threads: u32) {
    let [bx, by, _] = shared.block;
    let first = w.index * w.lanes as u32;
    let present = threads.saturating_sub(first).min(w.lanes as u32);
    let mask = if present >= 64 {
        u64::MAX
    } else {
        (1u64 << present) - 1
    };
    w.set_pair(EXEC, mask);
    let packed = shared.program.target.generation != 10;
    for lane in 0..w.lanes {
        let id = first + lane as u32;
        let (x, y, z) = (id % bx, id / bx % by, id / bx / by);
        if packed {
            w.set_lane(0, lane, x | y << 10 | z << 20);
        } else {
            w.set_lane(0, lane, x);
            w.set_lane(1, lane, y);
            w.set_lane(2, lane, z);
        }
    }
}
