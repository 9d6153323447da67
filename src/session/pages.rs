//! Pages of the KV cache: which are free, who uses which, and what finished sequences left behind.
//!
//! A page holds the keys and values of [`PAGE_TOKENS`] consecutive tokens. What they are depends on
//! all tokens before them, so a full page is known by its *chain*: the chain of the page before it
//! and its own tokens. Chains have serial numbers that are never used twice; two pages with the same
//! (chain before, tokens), compared exactly, hold the same values and one of them is enough.
//!
//! A page is in one of three states: *used* (references > 0), *cached* (no references, but known by
//! its chain; in the LRU list) or *free*. New pages are taken from the free ones, then from the
//! cached one that was used longest ago. Whoever uses a page uses the pages before it too, and gives
//! pages back last first, so a page is never evicted before those that continue it.

use super::snapshots::Snapshots;
use crate::model::PAGE_TOKENS;
use std::collections::HashMap;

/// The chain before the first page.
pub(super) const ROOT: u64 = 0;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    before: u64,
    tokens: [u32; PAGE_TOKENS],
}

#[derive(Debug, Clone)]
struct Page {
    references: u32,
    /// Set while the page is known by its chain.
    key: Option<Key>,
    chain: u64,
    older: u32,
    newer: u32,
}

/// A page that is known by its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub page: u32,
    /// The chain up to and with this page.
    pub chain: u64,
}

/// All pages. One thread at a time.
#[derive(Debug)]
pub(super) struct PagePool {
    pages: Vec<Page>,
    free: Vec<u32>,
    known: HashMap<Key, u32>,
    oldest: u32,
    newest: u32,
    cached: usize,
    last_chain: u64,
    /// Whether pages are known by their content at all.
    reuses: bool,
    /// What goes with pages, where they are not all that their tokens leave behind.
    pub snapshots: Option<Snapshots>,
}

impl PagePool {
    /// `count` free pages. `reuses`: a sequence can go on after pages of another one.
    pub fn new(count: usize, reuses: bool) -> PagePool {
        let page = Page {
            references: 0,
            key: None,
            chain: ROOT,
            older: NONE,
            newer: NONE,
        };
        PagePool {
            pages: vec![page; count],
            // Low numbers are taken first: memory that is never needed is never touched.
            free: (0..count as u32).rev().collect(),
            known: HashMap::new(),
            oldest: NONE,
            newest: NONE,
            cached: 0,
            last_chain: ROOT,
            reuses,
            snapshots: None,
        }
    }

    pub fn count(&self) -> usize {
        self.pages.len()
    }

    /// Pages that [`PagePool::take`] can give.
    pub fn available(&self) -> usize {
        self.free.len() + self.cached
    }

    /// Pages without references that are kept for their content.
    pub fn cached(&self) -> usize {
        self.cached
    }

    /// A page of unknown content with one reference.
    pub fn take(&mut self) -> Option<u32> {
        let page = match self.free.pop() {
            Some(page) => page,
            None => {
                let page = self.oldest;
                if page == NONE {
                    return None;
                }
                self.unlink(page);
                self.forget(page);
                page
            }
        };
        self.page(page).references = 1;
        Some(page)
    }

    /// Gives one reference back.
    pub fn release(&mut self, page: u32) {
        let entry = self.page(page);
        debug_assert!(entry.references > 0);
        entry.references = entry.references.saturating_sub(1);
        if entry.references > 0 {
            return;
        }
        if entry.key.is_some() {
            self.link_newest(page);
        } else {
            self.free.push(page);
        }
    }

    /// Gives the pages of a sequence back, last first, and empties the list.
    pub fn release_all(&mut self, pages: &mut Vec<u32>) {
        while let Some(page) = pages.pop() {
            self.release(page);
        }
    }

    /// One more reference to a page that is used or cached.
    pub fn retain(&mut self, page: u32) {
        if self.page(page).references == 0 {
            self.unlink(page);
        }
        self.page(page).references += 1;
    }

    /// Whether nobody uses the page.
    pub fn is_unused(&self, page: u32) -> bool {
        self.pages
            .get(page as usize)
            .is_some_and(|p| p.references == 0)
    }

    /// The page that holds `tokens` after the chain `before`. Takes no reference.
    pub fn find(&self, before: u64, tokens: &[u32]) -> Option<Known> {
        let tokens: [u32; PAGE_TOKENS] = tokens.try_into().ok()?;
        let page = *self.known.get(&Key { before, tokens })?;
        Some(Known {
            page,
            chain: self.pages.get(page as usize)?.chain,
        })
    }

    /// Makes a full page known. Where another page has the same content already, the reference moves
    /// to that one: the caller goes on with the page returned. `tokens` are the page's own.
    pub fn register(&mut self, page: u32, before: u64, tokens: &[u32]) -> Known {
        let Ok(tokens) = <[u32; PAGE_TOKENS]>::try_from(tokens) else {
            debug_assert!(false, "a page that is not full");
            return Known { page, chain: ROOT };
        };
        if !self.reuses {
            return Known { page, chain: ROOT };
        }
        if let Some(known) = self.find(before, &tokens) {
            if known.page != page {
                self.retain(known.page);
                self.release(page);
            }
            return known;
        }
        self.last_chain += 1;
        let chain = self.last_chain;
        let key = Key { before, tokens };
        self.known.insert(key.clone(), page);
        let entry = self.page(page);
        entry.key = Some(key);
        entry.chain = chain;
        Known { page, chain }
    }

    // Page numbers come from this pool only.
    fn page(&mut self, page: u32) -> &mut Page {
        &mut self.pages[page as usize]
    }

    /// Makes a page unknown: nobody new will use its content.
    pub fn forget(&mut self, page: u32) {
        debug_assert!(self.page(page).older == NONE && self.newest != page);
        if let Some(key) = self.page(page).key.take() {
            self.known.remove(&key);
        }
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.forget(page);
        }
    }

    /// Gives the use of a snapshot back, if it is one.
    pub fn give_back(&mut self, snapshot: Option<u32>) {
        if let (Some(snapshots), Some(id)) = (&mut self.snapshots, snapshot) {
            snapshots.give_back(id);
        }
    }

    fn link_newest(&mut self, page: u32) {
        let older = self.newest;
        let entry = self.page(page);
        entry.older = older;
        entry.newer = NONE;
        match older {
            NONE => self.oldest = page,
            older => self.page(older).newer = page,
        }
        self.newest = page;
        self.cached += 1;
    }

    fn unlink(&mut self, page: u32) {
        let entry = self.page(page);
        let (older, newer) = (entry.older, entry.newer);
        entry.older = NONE;
        entry.newer = NONE;
        match older {
            NONE => self.oldest = newer,
            older => self.page(older).newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.page(newer).older = older,
        }
        self.cached -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::sampling::philox::philox4x32;
    use super::*;

    fn tokens(n: u32) -> Vec<u32> {
        vec![n; PAGE_TOKENS]
    }

    #[test]
    fn pages_are_taken_and_come_back() {
        let mut pool = PagePool::new(3, true);
        let pages: Vec<u32> = (0..3).map(|_| pool.take().unwrap()).collect();
        assert_eq!(pages, [0, 1, 2]);
        assert_eq!(pool.take(), None);
        pool.release(1);
        assert_eq!(pool.available(), 1);
        assert_eq!(pool.take(), Some(1));
        assert_eq!(PagePool::new(0, true).take(), None);
    }

    #[test]
    fn content_is_found_exactly() {
        let mut pool = PagePool::new(4, true);
        let a = pool.take().unwrap();
        let b = pool.take().unwrap();
        let first = pool.register(a, ROOT, &tokens(1));
        let second = pool.register(b, first.chain, &tokens(2));
        assert_eq!((first.page, second.page), (a, b));
        assert_eq!(pool.find(ROOT, &tokens(1)), Some(first));
        assert_eq!(pool.find(first.chain, &tokens(2)), Some(second));
        assert_eq!(pool.find(ROOT, &tokens(2)), None);
        assert_eq!(pool.find(second.chain, &tokens(2)), None);
        assert_eq!(pool.find(ROOT, &tokens(1)[1..]), None);
        let mut other = tokens(1);
        other[PAGE_TOKENS - 1] = 2;
        assert_eq!(pool.find(ROOT, &other), None);
        // A second page with the same content is not kept.
        let c = pool.take().unwrap();
        assert_eq!(pool.register(c, ROOT, &tokens(1)), first);
        assert_eq!(pool.available(), 2);
        pool.release(a);
        assert_eq!(pool.cached(), 0, "the second user still has it");
        pool.release(a);
        assert_eq!(pool.cached(), 1);
    }

    #[test]
    fn content_is_not_known_where_it_is_of_no_use() {
        let mut pool = PagePool::new(2, false);
        let page = pool.take().unwrap();
        assert_eq!(pool.register(page, ROOT, &tokens(1)).page, page);
        assert_eq!(pool.find(ROOT, &tokens(1)), None);
        pool.release(page);
        assert_eq!((pool.cached(), pool.available()), (0, 2));
    }

    #[test]
    fn the_end_of_a_chain_goes_first() {
        let mut pool = PagePool::new(3, true);
        let mut pages: Vec<u32> = (0..3).map(|_| pool.take().unwrap()).collect();
        let mut chain = ROOT;
        let mut chains = vec![ROOT];
        for (i, &page) in pages.iter().enumerate() {
            chain = pool.register(page, chain, &tokens(i as u32)).chain;
            chains.push(chain);
        }
        let order = pages.clone();
        pool.release_all(&mut pages);
        assert_eq!((pool.cached(), pool.available()), (3, 3));
        assert_eq!(pool.take(), Some(order[2]));
        assert_eq!(pool.find(chains[2], &tokens(2)), None);
        assert!(pool.find(chains[1], &tokens(1)).is_some());
        // Use makes young again.
        pool.retain(order[1]);
        pool.release(order[1]);
        assert_eq!(pool.take(), Some(order[0]));
    }

    /// Random steps against a plain model of what is used.
    #[test]
    fn nothing_is_lost() {
        let count = 12;
        let mut pool = PagePool::new(count, true);
        let mut used: Vec<u32> = Vec::new();
        for step in 0..20_000u32 {
            let [a, b, c, _] = philox4x32([step, 0, 0, 0], [1, 2]);
            match a % 4 {
                0 | 1 => {
                    if let Some(page) = pool.take() {
                        assert!(!used.contains(&page), "page {page} given out twice");
                        used.push(page);
                    } else {
                        let mut distinct = used.clone();
                        distinct.sort_unstable();
                        distinct.dedup();
                        assert_eq!(distinct.len(), count);
                    }
                }
                2 if !used.is_empty() => {
                    let i = b as usize % used.len();
                    let before = u64::from(c % 3);
                    used[i] = pool.register(used[i], before, &tokens(c % 7)).page;
                }
                _ => {
                    if let Some(known) = pool.find(u64::from(c % 3), &tokens(c % 7))
                        && b % 2 == 0
                    {
                        pool.retain(known.page);
                        used.push(known.page);
                    } else if !used.is_empty() {
                        pool.release(used.swap_remove(b as usize % used.len()));
                    }
                }
            }
            let mut distinct = used.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(pool.available(), count - distinct.len());
        }
        pool.release_all(&mut used);
        assert_eq!(pool.available(), count);
    }
}
