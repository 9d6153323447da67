//! Which matrices lie in the device's memory and which in the host's, from where kernels read them over the bus.

use super::matrices::Key;
use crate::gpu::allocator::size_class;
use crate::{Error, Result, log};
use std::collections::HashMap;

/// Matrices that lie together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// What they take.
    pub bytes: u64,
    /// How many of these a token reads: of a table that is gathered a row, of experts the chosen ones, else all.
    pub read: u64,
}

/// Whether each item lies on a device with room for so many bytes. What a token reads the smallest part of leaves
/// first, and of equals the last: then the steps before it need not wait for the bus.
pub fn place(items: &[Item], room: u64) -> Vec<bool> {
    let taken = |item: &Item| size_class(item.bytes).unwrap_or(u64::MAX);
    let mut order: Vec<usize> = (0..items.len()).collect();
    // Stable, so that of equals the first one comes first.
    order.sort_by(|a, b| {
        let (a, b) = (&items[*a], &items[*b]);
        let part = |of: &Item, other: &Item| u128::from(of.read) * u128::from(other.bytes);
        part(b, a).cmp(&part(a, b))
    });
    let mut left = room;
    let mut on_device = vec![false; items.len()];
    for place in order {
        // A smaller one may fit where a larger one did not.
        if let Some(rest) = left.checked_sub(taken(&items[place])) {
            left = rest;
            on_device[place] = true;
        }
    }
    on_device
}

/// Where the matrices of a model lie.
#[derive(Debug, Default)]
pub struct Placement {
    in_host: HashMap<Key, Item>,
    /// Bytes of matrices in device memory.
    pub device_bytes: u64,
    /// The same in host memory.
    pub host_bytes: u64,
    /// How many of these a token reads over the bus.
    pub read_bytes: u64,
}

impl Placement {
    /// Of these matrices, `most` bytes on the device, of which `others` are taken by vectors.
    ///
    /// # Errors
    /// `OutOfMemory` if the vectors alone take more.
    pub fn new(items: &[(Key, Item)], most: Option<u64>, others: u64) -> Result<Placement> {
        let room = match most {
            None => u64::MAX,
            Some(most) => most.checked_sub(others).ok_or_else(|| {
                Error::OutOfMemory(format!(
                    "of a model's weights at most {most} bytes may lie on the GPU, but norms and biases, which have \
                     to, take {others}: allow more"
                ))
            })?,
        };
        let sizes: Vec<Item> = items.iter().map(|(_, item)| *item).collect();
        let mut placement = Placement::default();
        for ((key, item), on_device) in items.iter().zip(place(&sizes, room)) {
            if on_device {
                placement.device_bytes += item.bytes;
            } else {
                placement.host_bytes += item.bytes;
                placement.read_bytes += item.read;
                placement.in_host.insert(key.clone(), *item);
            }
        }
        Ok(placement)
    }

    pub fn is_in_host(&self, key: &Key) -> bool {
        self.in_host.contains_key(key)
    }

    /// Says what lies where, if not all of it is on the device; `name` is that of a key's first matrix.
    pub fn tell(&self, device: &str, name: impl Fn(&Key) -> String) {
        if self.in_host.is_empty() {
            return;
        }
        let ids = |key: &Key| key.matrices.first().map_or(0, |id| id.0);
        let mut keys: Vec<&Key> = self.in_host.keys().collect();
        keys.sort_by_key(|key| ids(key));
        let names = match keys.as_slice() {
            [one] => name(one),
            [first, .., last] => format!("{} to {}", name(first), name(last)),
            [] => String::new(),
        };
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        log::write(log::Level::Info, || {
            format!(
                "weights: {:.1} MiB on {device}, {:.1} MiB in host memory ({names}: {} of a step each), of which a \
                 token reads {:.1} MiB",
                mib(self.device_bytes),
                mib(self.host_bytes),
                keys.len(),
                mib(self.read_bytes)
            )
        });
        let whole = self.in_host.values().filter(|item| item.read >= item.bytes);
        let count = whole.count();
        if count > 0 {
            log::write(log::Level::Warn, || {
                format!(
                    "{count} matrices that every token reads whole lie in host memory: the model is slow, for a token \
                     reads {:.1} MiB over the bus; use a smaller model or quantization, or the CPU",
                    mib(self.read_bytes)
                )
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Item, place};

    const KIB: u64 = 1 << 10;

    fn item(bytes: u64, read: u64) -> Item {
        Item { bytes, read }
    }

    #[test]
    fn what_is_read_least_leaves_first() {
        // A table, two dense matrices and two stacks of experts.
        let items = [
            item(64 * KIB, 64),
            item(16 * KIB, 16 * KIB),
            item(64 * KIB, 8 * KIB),
            item(16 * KIB, 16 * KIB),
            item(64 * KIB, 8 * KIB),
        ];
        let placed = |kib: u64| place(&items, kib * KIB);
        assert_eq!(placed(224), [true; 5]);
        assert_eq!(placed(223), [false, true, true, true, true]);
        assert_eq!(placed(160), [false, true, true, true, true]);
        assert_eq!(placed(159), [false, true, true, true, false]);
        assert_eq!(placed(95), [false, true, false, true, false]);
        assert_eq!(placed(31), [false, true, false, false, false]);
        assert_eq!(placed(15), [false; 5]);
        assert_eq!(place(&[], 5), [false; 0]);
    }

    #[test]
    fn what_is_taken_is_what_the_allocator_takes() {
        // The size class of 100,000 bytes is 106,496.
        let items = [item(100_000, 100_000)];
        assert_eq!(place(&items, 106_495), [false]);
        assert_eq!(place(&items, 106_496), [true]);
    }

    #[test]
    fn a_smaller_one_fits_where_a_larger_one_does_not() {
        let items = [item(64 * KIB, 64 * KIB), item(16 * KIB, KIB)];
        assert_eq!(place(&items, 32 * KIB), [false, true]);
    }
}
