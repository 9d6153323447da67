//! Tags of a cache: which lines are there, and from when on.

/// One line's place.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Line number plus one; 0: empty.
    tag: u64,
    ready: u64,
    used: u32,
    dirty: bool,
}

/// A set-associative cache with replacement of the least recently used line.
pub struct Cache {
    sets: u64,
    ways: usize,
    places: Vec<Place>,
    clock: u32,
}

/// What was thrown out for a new line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    pub line: u64,
}

/// Mixes a line number's bits.
pub fn mix(line: u64) -> u64 {
    let mut h = line.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    h ^= h >> 29;
    h = h.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h ^ h >> 32
}

impl Cache {
    pub fn new(lines: u64, ways: usize) -> Cache {
        let sets = (lines / ways as u64).max(1);
        Cache {
            sets,
            ways,
            places: vec![Place::default(); sets as usize * ways],
            clock: 0,
        }
    }

    fn set(&mut self, line: u64) -> &mut [Place] {
        let at = (mix(line) % self.sets) as usize * self.ways;
        &mut self.places[at..at + self.ways]
    }

    /// When the line's data is (or will be) there; none: it is not.
    pub fn find(&mut self, line: u64, write: bool) -> Option<u64> {
        self.clock += 1;
        let clock = self.clock;
        let place = self.set(line).iter_mut().find(|p| p.tag == line + 1)?;
        place.used = clock;
        place.dirty |= write;
        Some(place.ready)
    }

    /// Puts a line in; gives a changed line that had to go.
    pub fn insert(&mut self, line: u64, ready: u64, dirty: bool) -> Option<Evicted> {
        self.clock += 1;
        let clock = self.clock;
        let place = self
            .set(line)
            .iter_mut()
            .min_by_key(|p| if p.tag == 0 { 0 } else { p.used })?;
        let out = (place.tag != 0 && place.dirty).then(|| Evicted {
            line: place.tag - 1,
        });
        *place = Place {
            tag: line + 1,
            ready,
            used: clock,
            dirty,
        };
        out
    }

    /// Makes all changed lines clean; gives how many there were.
    pub fn clean(&mut self) -> u64 {
        let changed = self.places.iter_mut().filter(|p| p.dirty);
        changed.map(|p| p.dirty = false).count() as u64
    }

    /// Keeps the lines and forgets when they came: for the next launch.
    pub fn settle(&mut self) {
        for p in self.places.iter_mut().filter(|p| p.tag != 0) {
            p.ready = 0;
        }
    }

    /// Forgets all lines (first caches are invalidated between kernels).
    pub fn clear(&mut self) {
        self.places.fill(Place::default());
    }
}
