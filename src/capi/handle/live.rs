//! The table of live handles.
//!
//! Open addressing with linear probing (Knuth, The Art of Computer Programming 3, 6.4, algorithms L and R). Standard hash
//! tables point into the middle of their memory, which valgrind calls possibly lost; these point to its beginning.

use parking_lot::RwLock;

/// Type name by address, in small tables with a lock each.
pub(super) struct Live([RwLock<Table>; TABLES]);

const TABLES: usize = 64;

impl Live {
    pub(super) const fn new() -> Live {
        Live([const { RwLock::new(Table::new()) }; TABLES])
    }

    /// Adds an address that is not there.
    pub(super) fn insert(&self, address: usize, noun: &'static str) {
        self.table(address).write().insert(!address, noun);
    }

    /// Calls `body` with the type of an address, while it cannot be removed.
    pub(super) fn with<R>(
        &self,
        address: usize,
        body: impl FnOnce(Option<&'static str>) -> R,
    ) -> R {
        let table = self.table(address).read();
        body(table.find(!address).map(|place| table.slots[place].1))
    }

    /// Removes an address of type `noun`; false if there is none.
    pub(super) fn remove(&self, address: usize, noun: &'static str) -> bool {
        let mut table = self.table(address).write();
        match table.find(!address) {
            Some(place) if table.slots[place].1 == noun => {
                table.remove(place);
                true
            }
            _ => false,
        }
    }

    fn table(&self, address: usize) -> &RwLock<Table> {
        &self.0[hash(!address) >> (usize::BITS - TABLES.ilog2())]
    }
}

/// The golden ratio spreads an address over the higher bits: the highest choose the table, those below the place.
fn hash(key: usize) -> usize {
    (key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) as usize
}

/// Keys are inverted addresses, so that leak checkers do not take the table for references to a handle that the
/// application lost; 0 is a free place. At most half of the places are taken; their number is a power of two, or 0.
struct Table {
    slots: Vec<(usize, &'static str)>,
    used: usize,
}

impl Table {
    const fn new() -> Table {
        Table {
            slots: Vec::new(),
            used: 0,
        }
    }

    /// Where the search for a key begins.
    fn home(&self, key: usize) -> usize {
        (hash(key) >> (usize::BITS / 2 - TABLES.ilog2())) & (self.slots.len() - 1)
    }

    fn next(&self, place: usize) -> usize {
        (place + 1) & (self.slots.len() - 1)
    }

    fn find(&self, key: usize) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut place = self.home(key);
        loop {
            match self.slots[place].0 {
                // First, since an application may ask for the address whose key would be 0.
                0 => return None,
                found if found == key => return Some(place),
                _ => place = self.next(place),
            }
        }
    }

    fn insert(&mut self, key: usize, noun: &'static str) {
        if 2 * (self.used + 1) > self.slots.len() {
            let more = vec![(0, ""); (2 * self.slots.len()).max(8)];
            for (key, noun) in std::mem::replace(&mut self.slots, more) {
                if key != 0 {
                    self.put(key, noun);
                }
            }
        }
        self.put(key, noun);
        self.used += 1;
    }

    fn put(&mut self, key: usize, noun: &'static str) {
        let mut place = self.home(key);
        while self.slots[place].0 != 0 {
            place = self.next(place);
        }
        self.slots[place] = (key, noun);
    }

    /// Frees a place and moves those behind it up that would not be found otherwise.
    fn remove(&mut self, mut free: usize) {
        let mask = self.slots.len() - 1;
        let mut place = self.next(free);
        while self.slots[place].0 != 0 {
            let home = self.home(self.slots[place].0);
            if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(free) & mask) {
                self.slots[free] = self.slots[place];
                free = place;
            }
            place = self.next(place);
        }
        self.slots[free].0 = 0;
        self.used -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn finds_what_a_map_finds() {
        let live = Live::new();
        let mut map = HashMap::new();
        let mut random = 1u64;
        for step in 0..200_000 {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            // Few enough addresses to come again, and full tables of neighbours as allocators give them.
            let address = 0x7f00_0000_0010 + 16 * (random >> 33) as usize % (16 * 4_000);
            let noun = ["array", "stream"][(random >> 62) as usize & 1];
            match map.get(&address) {
                None => {
                    assert!(!live.remove(address, noun));
                    live.insert(address, noun);
                    map.insert(address, noun);
                }
                Some(&known) => {
                    live.with(address, |found| {
                        assert_eq!(found, Some(known), "step {step}")
                    });
                    assert_eq!(live.remove(address, noun), noun == known);
                    if noun == known {
                        map.remove(&address);
                    }
                }
            }
        }
        assert!(map.len() > 1000);
        live.with(usize::MAX, |found| assert_eq!(found, None));
        for step in 0..4_000 {
            let address = 0x7f00_0000_0010 + 16 * step;
            live.with(address, |found| {
                assert_eq!(found, map.get(&address).copied())
            });
        }
        for table in &live.0 {
            let table = table.read();
            assert!(2 * table.used <= table.slots.len());
            assert_eq!(
                table.slots.iter().filter(|slot| slot.0 != 0).count(),
                table.used
            );
        }
    }
}
