//! Snapshots of recurrent states at page borders: what goes with the pages up to there.
//!
//! In a model with recurrent layers pages hold only a part of what their tokens leave behind, so a sequence goes on
//! after pages of another one only where the state at the end of the last of them was kept. A snapshot belongs to that
//! page and is dropped when the page's content is; there are so many, and a new one takes the place of the one that was
//! used longest ago.

use std::collections::HashMap;

/// A place for a snapshot.
#[derive(Debug, Clone, Default)]
struct Entry {
    /// The page at whose end it was taken.
    page: Option<u32>,
    /// Who writes or reads it.
    users: u32,
    /// When it was used last.
    used: u64,
    /// A sequence that took it takes the next one soon and does not need it then.
    passing: bool,
    /// There is no memory for it.
    lost: bool,
}

/// All snapshots. One thread at a time.
#[derive(Debug)]
pub(super) struct Snapshots {
    entries: Vec<Entry>,
    of_page: HashMap<u32, u32>,
    clock: u64,
    /// Tokens of a whole piece of a prompt: where pieces end anyway, some of their states are kept.
    pub piece: usize,
}

impl Snapshots {
    /// `count` free ones.
    pub fn new(count: usize, piece: usize) -> Snapshots {
        Snapshots {
            entries: vec![Entry::default(); count],
            of_page: HashMap::new(),
            clock: 0,
            piece,
        }
    }

    /// Whether the state at the end of a page is kept.
    pub fn is_kept(&self, page: u32) -> bool {
        self.of_page.contains_key(&page)
    }

    /// A place to write to, for one user: a free one (of these, one that has memory already), or that of the snapshot
    /// that was used longest ago.
    pub fn take(&mut self) -> Option<u32> {
        let entries = (0..).zip(&self.entries);
        let usable = entries.filter(|(_, entry)| entry.users == 0 && !entry.lost);
        let order = |entry: &Entry| match entry.page {
            None => (0, u64::MAX - entry.used),
            Some(_) => (1, entry.used),
        };
        let (id, _) = usable.min_by_key(|(_, entry)| order(entry))?;
        self.detach(id);
        self.clock += 1;
        let used = self.clock;
        let entry = self.entry(id);
        (entry.users, entry.used) = (1, used);
        Some(id)
    }

    /// Gives a use back.
    pub fn give_back(&mut self, id: u32) {
        let entry = self.entry(id);
        debug_assert!(entry.users > 0);
        entry.users = entry.users.saturating_sub(1);
    }

    /// There is no memory for the place that was taken, nor for those that were never written to.
    pub fn lose(&mut self, id: u32) {
        self.give_back(id);
        let without = self.entries.iter_mut().filter(|entry| entry.used == 0);
        without.for_each(|entry| entry.lost = true);
        self.entry(id).lost = true;
    }

    /// What was written goes with a page, whose content is known; gives the use back. Of two that go with a page the
    /// older one stays: they are the same.
    pub fn attach(&mut self, id: u32, page: u32, passing: bool) {
        self.clock += 1;
        let used = self.clock;
        let kept = *self.of_page.entry(page).or_insert(id);
        let other = kept != id;
        let entry = self.entry(kept);
        entry.page = Some(page);
        entry.used = used;
        entry.passing = passing && (entry.passing || !other);
        self.give_back(id);
    }

    /// The snapshot of a page, for one more user. Whoever took it does not drop it any more.
    pub fn find(&mut self, page: u32) -> Option<u32> {
        let id = *self.of_page.get(&page)?;
        self.clock += 1;
        let used = self.clock;
        let entry = self.entry(id);
        entry.users += 1;
        entry.used = used;
        entry.passing = false;
        Some(id)
    }

    /// The sequence that took the snapshot of a page in passing has a later one.
    pub fn pass(&mut self, page: u32) {
        if let Some(&id) = self.of_page.get(&page)
            && self.entry(id).passing
        {
            self.detach(id);
        }
    }

    /// The content of a page is not known any more.
    pub fn forget(&mut self, page: u32) {
        if let Some(&id) = self.of_page.get(&page) {
            self.detach(id);
        }
    }

    fn detach(&mut self, id: u32) {
        if let Some(page) = self.entry(id).page.take() {
            self.of_page.remove(&page);
        }
    }

    // Their numbers come from here only.
    fn entry(&mut self, id: u32) -> &mut Entry {
        &mut self.entries[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(snapshots: &mut Snapshots, page: u32, passing: bool) -> u32 {
        let id = snapshots.take().unwrap();
        snapshots.attach(id, page, passing);
        id
    }

    #[test]
    fn the_one_that_was_used_longest_ago_goes_first() {
        let mut snapshots = Snapshots::new(3, 32);
        let ids: Vec<u32> = (10..13)
            .map(|page| keep(&mut snapshots, page, false))
            .collect();
        assert_eq!(ids, [0, 1, 2]);
        assert_eq!(snapshots.find(10), Some(0));
        snapshots.give_back(0);
        assert_eq!(keep(&mut snapshots, 13, false), 1);
        assert!(!snapshots.is_kept(11));
        // What somebody uses stays.
        assert_eq!(snapshots.find(12), Some(2));
        assert_eq!(keep(&mut snapshots, 14, false), 0);
        assert_eq!(keep(&mut snapshots, 15, false), 1);
        assert!(snapshots.is_kept(12));
        snapshots.give_back(2);
        snapshots.forget(14);
        assert_eq!(snapshots.take(), Some(0));
        assert_eq!(Snapshots::new(0, 32).take(), None);
    }

    #[test]
    fn one_of_a_page_is_enough() {
        let mut snapshots = Snapshots::new(2, 32);
        let both = [snapshots.take().unwrap(), snapshots.take().unwrap()];
        assert_eq!(snapshots.take(), None);
        snapshots.attach(both[0], 7, true);
        snapshots.attach(both[1], 7, true);
        assert_eq!(snapshots.find(7), Some(both[0]));
        snapshots.give_back(both[0]);
        // It is somebody else's too now.
        snapshots.pass(7);
        assert!(snapshots.is_kept(7));
        assert_eq!(keep(&mut snapshots, 8, true), both[1]);
        snapshots.pass(8);
        assert!(!snapshots.is_kept(8));
    }

    #[test]
    fn those_without_memory_are_not_taken_again() {
        let mut snapshots = Snapshots::new(4, 32);
        assert_eq!(keep(&mut snapshots, 3, false), 0);
        let second = snapshots.take().unwrap();
        assert_eq!(second, 1);
        snapshots.lose(second);
        assert_eq!(snapshots.take(), Some(0), "the one that has memory");
        assert_eq!(snapshots.take(), None);
    }
}
