use super::super::uses::Uses;
use super::*;
use std::cell::{Cell, RefCell};

/// A driver with so much memory, where streams are done up to a ticket.
struct Fake {
    left: Cell<u64>,
    next: Cell<u64>,
    done: RefCell<BTreeMap<u64, u64>>,
    calls: Cell<(u32, u32)>,
}

impl Fake {
    fn new(memory: u64) -> Self {
        Fake {
            left: Cell::new(memory),
            next: Cell::new(0x1000),
            done: RefCell::default(),
            calls: Cell::default(),
        }
    }
}

impl Source for Fake {
    fn allocate(&self, size: u64) -> Result<Block> {
        let (allocated, freed) = self.calls.get();
        self.calls.set((allocated + 1, freed));
        let left = self.left.get().checked_sub(size);
        self.left
            .set(left.ok_or_else(|| Error::OutOfMemory("none".into()))?);
        let address = self.next.replace(self.next.get() + size);
        Ok(Block {
            address,
            host: 0,
            size,
        })
    }

    fn free(&self, block: Block) -> Code {
        let (allocated, freed) = self.calls.get();
        self.calls.set((allocated, freed + 1));
        self.left.set(self.left.get() + block.size);
        Code::OK
    }

    fn is_done(&self, mark: Mark) -> bool {
        self.done.borrow().get(&mark.stream).copied().unwrap_or(0) >= mark.ticket
    }
}

fn used(stream: u64, ticket: u64) -> Marks {
    let uses = Uses::default();
    uses.add(Mark { stream, ticket });
    uses.take()
}

#[test]
fn classes_waste_at_most_an_eighth() {
    assert_eq!(size_class(0), Some(256));
    assert_eq!(size_class(257), Some(512));
    assert_eq!(size_class(u64::MAX), None);
    let mut last = 0;
    for bytes in (1..1 << 24).step_by(4099) {
        let class = size_class(bytes).unwrap();
        assert!(
            class >= bytes && class.is_multiple_of(256) && class >= last,
            "{bytes}"
        );
        assert!(class - bytes <= (bytes / 8).max(255), "{bytes}: {class}");
        assert_eq!(size_class(class), Some(class));
        last = class;
    }
    assert_eq!(size_class((5 << 30) + 1), Some((5 << 30) + (2 << 20)));
}

#[test]
fn blocks_come_back_from_the_cache() {
    let (source, mut pool) = (Fake::new(1 << 30), Pool::new("memory", 1 << 29, 1 << 30));
    let block = pool.take(&source, 5000, None).unwrap().0;
    pool.give_back(block, Marks::default());
    let again = pool.take(&source, 4900, None).unwrap().0;
    assert_eq!((again, source.calls.get()), (block, (1, 0)));
    // Far smaller ones do not take it.
    pool.give_back(again, Marks::default());
    let small = pool.take(&source, 300, None).unwrap().0;
    assert_ne!(small.address, block.address);
    let counters = pool.counters();
    assert_eq!((counters.active, counters.cache), (512, block.size));
    assert_eq!(counters.peak, block.size);
    // Of two that fit, the closer one.
    let larger = pool.take(&source, 5500, None).unwrap().0;
    pool.give_back(larger, Marks::default());
    assert_eq!(pool.take(&source, 4800, None).unwrap().0, block);
}

#[test]
fn what_queued_work_uses_is_not_given_out() {
    let (source, mut pool) = (Fake::new(1 << 30), Pool::new("memory", 1 << 29, 1 << 30));
    let block = pool.take(&source, 1000, None).unwrap().0;
    pool.give_back(block, used(7, 3));
    let other = pool.take(&source, 1000, Some(8)).unwrap().0;
    assert_ne!(other.address, block.address);
    assert_eq!(pool.pending(&source).len(), 1);
    // The same stream's order protects it; so does the end of the work.
    assert_eq!(pool.take(&source, 1000, Some(7)).unwrap().0, block);
    // An owner that never used it, or not there, passes on what the stream still does with it.
    pool.give_back(block, used(7, 5));
    let (same, marks) = pool.take(&source, 1000, Some(7)).unwrap();
    let mark = Mark {
        stream: 7,
        ticket: 5,
    };
    assert_eq!((same, marks.iter().collect()), (block, vec![mark]));
    pool.give_back(same, marks);
    let other = pool.take(&source, 1000, None).unwrap().0;
    assert_ne!(other.address, block.address);
    assert_eq!(pool.take(&source, 1000, Some(7)).unwrap().0, block);
    pool.give_back(block, used(7, 4));
    source.done.borrow_mut().insert(7, 4);
    assert_eq!(pool.take(&source, 1000, None).unwrap().0, block);
}

#[test]
fn the_limit_and_the_drivers_end_are_errors_that_leave_all_usable() {
    let (source, mut pool) = (Fake::new(1 << 20), Pool::new("memory", 1 << 20, 1 << 20));
    let block = pool.take(&source, 640 << 10, None).unwrap().0;
    for bytes in [640 << 10, u64::MAX] {
        let error = pool.take(&source, bytes, None).unwrap_err();
        assert!(matches!(&error, Error::OutOfMemory(text) if text.contains("limit")));
    }
    // Another program took memory: the cache is given back and the driver asked once more.
    pool.give_back(block, Marks::default());
    source.left.set(0);
    let error = pool.take(&source, 700 << 10, None).unwrap_err();
    assert!(matches!(&error, Error::OutOfMemory(text) if text.contains("other programs")));
    assert_eq!((pool.counters().cache, source.left.get()), (0, 640 << 10));
    assert!(pool.take(&source, 500 << 10, None).is_ok());
    assert!(pool.set_limit(&source, 1 << 10).is_err());
}

#[test]
fn the_cache_makes_room_but_not_with_what_is_in_use() {
    let (source, mut pool) = (Fake::new(1 << 30), Pool::new("memory", 1 << 20, 1 << 30));
    let one = pool.take(&source, 416 << 10, None).unwrap().0;
    let two = pool.take(&source, 416 << 10, None).unwrap().0;
    pool.give_back(one, used(1, 1));
    pool.give_back(two, Marks::default());
    // Needs the room of both, one of which is in use.
    assert!(pool.take(&source, 900 << 10, None).is_err());
    assert_eq!(pool.counters().cache, 416 << 10);
    source.done.borrow_mut().insert(1, 1);
    assert!(pool.take(&source, 900 << 10, None).is_ok());
    assert_eq!(source.calls.get(), (3, 2));
    assert_eq!(pool.counters().cache, 0);
}
