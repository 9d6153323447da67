//! Weights beside a session: whether all of them fit on the device, and what lies in host memory otherwise.

use super::matrices::Key;
use super::placement::{Item, Placement};
use crate::gpu::allocator::size_class;

/// Of memory that is free one of so many parts stays so: the device's for the driver (code, graphs) and the display,
/// the host's for everybody. Pinned memory cannot be swapped.
const SPARE: u64 = 8;

/// What there is for weights and a session beside them, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// The device's under its limit.
    pub left: u64,
    /// The device's that is free.
    pub free: u64,
    /// The host's that is free.
    pub host: u64,
    /// Whether both are the same memory.
    pub is_shared: bool,
    /// What a session needs on the device.
    pub session: u64,
}

/// What the default session needs where nothing but that is left: `state` bytes beside a KV cache of one context, which
/// has `cache` bytes. Of what is free it gives a quarter to the cache if that is more than a context, and an eighth of the
/// rest to snapshots of recurrent states (`session/limits.rs`).
pub fn of_session(state: u64, cache: u64) -> u64 {
    let beside = state.saturating_add(state.div_ceil(7));
    let with_quarter = beside.saturating_add(beside.div_ceil(3));
    beside.saturating_add(cache).max(with_quarter)
}

/// Whether these matrices and `others` bytes fit beside a session.
pub fn fits_beside(items: &[(Key, Item)], others: u64, memory: &Memory) -> bool {
    let taken = |item: &Item| size_class(item.bytes).unwrap_or(u64::MAX);
    let all = items.iter().map(|(_, item)| taken(item));
    let all = all.chain([others, memory.session]);
    all.fold(0, u64::saturating_add) <= memory.left.min(memory.free)
}

/// Where these matrices lie so that a session fits beside them and `others` bytes, with `percent` of what a token reads
/// in host memory at most; or why that cannot be.
pub fn beside(
    items: &[(Key, Item)],
    others: u64,
    memory: &Memory,
    percent: u64,
) -> Result<Placement, String> {
    if memory.is_shared {
        return Err("the GPU's memory is the host's".into());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let room = memory.left.min(memory.free - memory.free / SPARE);
    let for_weights = room.saturating_sub(memory.session);
    let placement = Placement::new(items, Some(for_weights), others);
    let placement = placement
        .ok()
        .filter(|placement| placement.device_bytes > 0);
    let Some(placement) = placement else {
        return Err(format!(
            "a session needs {} MiB, which leaves no room for weights",
            mib(memory.session)
        ));
    };
    let free = memory.host - memory.host / SPARE;
    if placement.host_bytes > free {
        return Err(format!(
            "{} MiB of host memory would be needed, {} are free",
            mib(placement.host_bytes),
            free >> 20
        ));
    }
    let read = items.iter().map(|(_, item)| item.read).sum::<u64>();
    if u128::from(placement.read_bytes) * 100 > u128::from(read) * u128::from(percent) {
        return Err(format!(
            "{} of the {} MiB that a token reads would come over the bus: name the device to use it nevertheless",
            mib(placement.read_bytes),
            mib(read)
        ));
    }
    Ok(placement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::MatrixId;

    const MIB: u64 = 1 << 20;

    /// A table, two dense matrices and a stack of experts: a token reads 41 MiB of 176, and a row.
    fn items() -> Vec<(Key, Item)> {
        let sizes = [(32, 0), (16, 16), (16, 16), (112, 9)];
        let item = |(id, (bytes, read)): (usize, (u64, u64))| {
            let key = Key {
                matrices: vec![MatrixId(id)],
                interleaved: false,
            };
            let (bytes, read) = (bytes * MIB, read * MIB);
            (key, Item { bytes, read })
        };
        sizes.into_iter().enumerate().map(item).collect()
    }

    const MEMORY: Memory = Memory {
        left: 208 * MIB,
        free: 1024 * MIB,
        host: 1024 * MIB,
        is_shared: false,
        session: 30 * MIB,
    };

    fn place(memory: Memory, percent: u64) -> Result<(u64, u64), String> {
        beside(&items(), 2 * MIB, &memory, percent)
            .map(|placement| (placement.device_bytes / MIB, placement.host_bytes / MIB))
    }

    #[test]
    fn all_of_it_fits_beside_a_session_or_does_not() {
        let fits = |memory| fits_beside(&items(), 2 * MIB, &memory);
        assert!(fits(MEMORY));
        let (left, free) = (207 * MIB, 207 * MIB);
        assert!(!fits(Memory { left, ..MEMORY }) && !fits(Memory { free, ..MEMORY }));
        let session = u64::MAX;
        assert!(!fits(Memory { session, ..MEMORY }));
    }

    #[test]
    fn a_session_and_the_driver_keep_their_room() {
        let left = |mib: u64| Memory {
            left: mib * MIB,
            ..MEMORY
        };
        assert_eq!(place(left(207), 100), Ok((144, 32)));
        assert_eq!(place(left(175), 100), Ok((64, 112)));
        assert_eq!(place(left(64), 100), Ok((32, 144)));
        assert_eq!(place(left(48), 100), Ok((16, 160)));
        let error = place(left(47), 100).unwrap_err();
        assert!(error.contains("a session needs 30 MiB"), "{error}");
        // Of what is free an eighth stays so: 73 MiB are as 64.
        let free = |mib: u64| Memory {
            free: mib * MIB,
            ..MEMORY
        };
        assert_eq!(place(free(74), 100), Ok((32, 144)));
        assert_eq!(place(free(73), 100), Ok((16, 160)));
        let shared = Memory {
            is_shared: true,
            ..left(207)
        };
        assert!(place(shared, 100).unwrap_err().contains("is the host's"));
    }

    #[test]
    fn host_memory_and_the_bus_have_limits() {
        let host = |mib: u64| Memory {
            left: 175 * MIB,
            host: mib * MIB,
            ..MEMORY
        };
        assert_eq!(place(host(128), 100), Ok((64, 112)));
        let error = place(host(127), 100).unwrap_err();
        assert!(error.contains("112 MiB of host memory") && error.contains("111 are free"));
        // 9 of 41 MiB: 22 %.
        assert_eq!(place(host(128), 22), Ok((64, 112)));
        let error = place(host(128), 21).unwrap_err();
        assert!(error.contains("9 of the 41 MiB"), "{error}");
        assert!(error.contains("name the device"), "{error}");
    }

    /// What the session's defaults then give fits: a cache of one context or a quarter of what is free, snapshots of an
    /// eighth of the rest, and the state.
    #[test]
    fn the_default_session_fits_in_what_is_left() {
        for (state, cache) in [(40, 1), (40, 20), (70, 600), (700, 3), (1000, 250), (1, 0)] {
            for more in [0, 1, 100, 1000, 10_000] {
                let free = of_session(state * MIB, cache * MIB) + more * MIB;
                let cache = (free / 4).max(cache * MIB);
                let snapshots = (free - cache) / 8;
                assert!(
                    cache + snapshots + state * MIB <= free,
                    "{state} {cache} {free}"
                );
            }
        }
    }
}
