//! The thread pool: fork-join over numbered chunks.
//!
//! Every worker has a share of a job's chunks, neighbours in memory, and claims them one at a time
//! from a counter of its own, so that workers do not wait for each other's cache lines; one that is
//! through takes from the others' shares. The caller works too and never waits for a helper that has
//! claimed nothing, so a helper that a busy neighbour keeps off its core costs nothing but its
//! speed. Helpers spin a short while for the next job (jobs of one program follow each other within
//! microseconds), then sleep on a futex: an idle pool uses no CPU.

use crate::{log, panics};
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

/// What a job does with one chunk: `(worker, chunk)`, `worker < pool.threads()`.
type ChunkFn<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// Polls before a helper goes to sleep, about 100 µs.
const HELPER_SPINS: u32 = 4_000;
/// Polls before the caller yields its core to a helper that is in the middle of a chunk.
const CALLER_SPINS: u32 = 20_000;

/// A worker's share of the current job: `generation << 32 | chunks not yet claimed`. A claim is a
/// successful decrement: the job of that generation stays in place until the claimed chunk is
/// reported done. A share has a cache line (and the one that is fetched with it) to itself.
#[repr(align(128))]
#[derive(Default)]
struct Share(AtomicU64);

impl Share {
    /// Takes a chunk; returns how many were unclaimed before.
    fn claim(&self) -> Option<usize> {
        let mut ticket = self.0.load(Ordering::Acquire);
        while ticket as u32 != 0 {
            match self.0.compare_exchange_weak(
                ticket,
                ticket - 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(ticket as u32 as usize),
                Err(now) => ticket = now,
            }
        }
        None
    }

    fn generation(&self) -> u64 {
        self.0.load(Ordering::Relaxed) >> 32
    }
}

#[repr(align(128))]
#[derive(Default)]
struct Line<T>(T);

struct Shared {
    shares: Vec<Share>,
    /// The current job and its chunk count; written only while no chunk is claimed or claimable.
    job: UnsafeCell<Option<(&'static ChunkFn<'static>, usize)>>,
    /// Chunks of the current job that helpers have done.
    done: Line<AtomicU32>,
    /// A chunk of the current job panicked.
    panicked: AtomicBool,
    /// Futex word: bumped when a job is posted while helpers sleep.
    wake: AtomicU32,
    sleepers: AtomicU32,
    stop: AtomicBool,
}

// SAFETY: `job` is written by the one caller (`run` takes `&mut self`) before the release stores of
// the shares that make chunks claimable, and read only by threads that hold a claim.
unsafe impl Sync for Shared {}

impl Shared {
    /// The first chunk of a share.
    fn first(&self, share: usize, chunks: usize) -> usize {
        share * chunks / self.shares.len()
    }

    /// Works on the current job, its own share first, until no chunk is left; returns how many it
    /// did.
    fn work(&self, worker: usize) -> u32 {
        let mut done = 0;
        let workers = self.shares.len();
        for share in (worker..workers).chain(0..worker) {
            while let Some(left) = self.shares[share].claim() {
                // SAFETY: this thread holds a claim, so the job cannot change (see `Share`).
                if let Some((job, chunks)) = unsafe { *self.job.get() } {
                    let chunk = self.first(share + 1, chunks) - left;
                    if panics::caught(|| job(worker, chunk)).is_err() {
                        self.panicked.store(true, Ordering::Relaxed);
                    }
                }
                done += 1;
            }
        }
        done
    }

    fn helper(&self, worker: usize) {
        let mut spins = 0;
        let mut seen = 0;
        while !self.stop.load(Ordering::Relaxed) {
            let generation = self.shares[worker].generation();
            if generation != seen {
                seen = generation;
                let done = self.work(worker);
                if done > 0 {
                    self.done.0.fetch_add(done, Ordering::Release);
                }
                spins = 0;
            } else if spins < HELPER_SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                self.sleep(worker, seen);
                spins = 0;
            }
        }
    }

    fn sleep(&self, worker: usize, seen: u64) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let wake = self.wake.load(Ordering::SeqCst);
        fence(Ordering::SeqCst);
        // A job posted before `sleepers` was raised has not bumped `wake`: look once more.
        if self.shares[worker].generation() == seen && !self.stop.load(Ordering::SeqCst) {
            futex_wait(&self.wake, wake);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake_all(&self) {
        self.wake.fetch_add(1, Ordering::SeqCst);
        futex_wake(&self.wake);
    }
}

/// A pool of threads that lives as long as its model's forward state. One thread at a time.
pub struct ThreadPool {
    shared: Arc<Shared>,
    helpers: Vec<std::thread::JoinHandle<()>>,
    /// The helpers were not needed yet.
    is_idle: bool,
}

impl ThreadPool {
    /// A pool of `threads` workers, the caller's own thread included; 0: one per CPU this process
    /// may run on. Where the system refuses a thread the pool is smaller.
    pub fn new(threads: usize) -> ThreadPool {
        let mut pool = ThreadPool::idle(threads);
        pool.start();
        pool
    }

    /// The same, but the helpers are made when work is first shared out.
    pub fn idle(threads: usize) -> ThreadPool {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            n => n.min(1024),
        };
        let shared = Arc::new(Shared {
            shares: (0..threads).map(|_| Share::default()).collect(),
            job: UnsafeCell::new(None),
            done: Line::default(),
            panicked: AtomicBool::new(false),
            wake: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            stop: AtomicBool::new(false),
        });
        ThreadPool {
            shared,
            helpers: Vec::new(),
            is_idle: true,
        }
    }

    fn start(&mut self) {
        self.is_idle = false;
        for worker in 1..self.shared.shares.len() {
            let shared = self.shared.clone();
            let spawned = std::thread::Builder::new()
                .name(format!("mlxrocm-{worker}"))
                .spawn(move || log::on_worker(|| shared.helper(worker)));
            match spawned {
                Ok(handle) => self.helpers.push(handle),
                Err(_) => break,
            }
        }
    }

    /// Workers, the caller included; before work was shared out, how many there are to be.
    pub fn threads(&self) -> usize {
        match self.is_idle {
            true => self.shared.shares.len(),
            false => self.helpers.len() + 1,
        }
    }

    /// Runs `job(worker, chunk)` for every chunk in `0..chunks` and returns when all are done.
    /// Each worker index runs on one thread at a time. Panics if a chunk panicked.
    pub fn run(&mut self, chunks: usize, job: &ChunkFn<'_>) {
        if chunks > 1 && self.is_idle {
            self.start();
        }
        if chunks <= 1 || self.helpers.is_empty() {
            (0..chunks).for_each(|chunk| job(0, chunk));
            return;
        }
        let shared = &*self.shared;
        // SAFETY: extends the borrow to 'static; `run` returns only when every chunk is done and
        // none can be claimed any more, so nobody uses the job after that.
        let job: &'static ChunkFn<'static> = unsafe { std::mem::transmute(job) };
        // SAFETY: no chunk is claimed or claimable between two calls of `run`.
        unsafe { *shared.job.get() = Some((job, chunks)) };
        shared.done.0.store(0, Ordering::Relaxed);
        let generation = (shared.shares[0].generation() + 1) << 32;
        for (i, share) in shared.shares.iter().enumerate() {
            let size = shared.first(i + 1, chunks) - shared.first(i, chunks);
            // Programs have far fewer than 2^32 chunks.
            share.0.store(generation | size as u64, Ordering::Release);
        }
        // Either a helper that goes to sleep sees this job, or it is seen among the sleepers.
        fence(Ordering::SeqCst);
        if shared.sleepers.load(Ordering::SeqCst) > 0 {
            shared.wake_all();
        }
        let others = chunks as u32 - shared.work(0);
        let mut spins = 0;
        while shared.done.0.load(Ordering::Acquire) != others {
            spins += 1;
            if spins < CALLER_SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        if shared.panicked.swap(false, Ordering::Relaxed) {
            panic!("a worker thread panicked");
        }
    }
}

/// Runs `job(worker, chunk)` for every chunk, by the workers of a pool if there is one.
pub fn spread(pool: Option<&mut ThreadPool>, chunks: usize, job: &ChunkFn<'_>) {
    match pool {
        Some(pool) => pool.run(chunks, job),
        None => (0..chunks).for_each(|chunk| job(0, chunk)),
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.shared.wake_all();
        for helper in self.helpers.drain(..) {
            let _ = helper.join();
        }
    }
}

fn futex_wait(word: &AtomicU32, seen: u32) {
    // SAFETY: FUTEX_WAIT on a live, aligned u32; returns at once when its value is not `seen`.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            seen,
            std::ptr::null::<libc::timespec>(),
        )
    };
}

fn futex_wake(word: &AtomicU32) {
    // SAFETY: FUTEX_WAKE on a live, aligned u32.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            i32::MAX,
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_runs_once() {
        let mut pool = ThreadPool::new(4);
        for chunks in [0, 1, 2, 3, 64, 1000] {
            for _ in 0..200 {
                let counts: Vec<AtomicU32> = (0..chunks).map(|_| AtomicU32::new(0)).collect();
                pool.run(chunks, &|_, chunk| {
                    counts[chunk].fetch_add(1, Ordering::Relaxed);
                });
                assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn an_idle_pool_has_no_threads_until_work_is_shared() {
        let mut pool = ThreadPool::idle(3);
        pool.run(1, &|worker, _| assert_eq!(worker, 0));
        assert_eq!((pool.threads(), pool.helpers.len()), (3, 0));
        let sum = AtomicU32::new(0);
        pool.run(5, &|_, chunk| {
            sum.fetch_add(chunk as u32, Ordering::Relaxed);
        });
        assert_eq!((pool.threads(), pool.helpers.len()), (3, 2));
        assert_eq!(sum.load(Ordering::Relaxed), 10);
    }

    #[test]
    fn sleeping_helpers_wake() {
        let mut pool = ThreadPool::new(3);
        for _ in 0..5 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let seen = AtomicU32::new(0);
            pool.run(3, &|worker, _| {
                seen.fetch_or(1 << worker, Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(20));
            });
            assert!(seen.load(Ordering::Relaxed).count_ones() >= 2);
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        let mut pool = ThreadPool::new(2);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.run(8, &|_, chunk| assert!(chunk != 5, "chunk 5"));
        }));
        assert!(result.is_err());
        let sum = AtomicU32::new(0);
        pool.run(8, &|_, _| {
            sum.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(sum.load(Ordering::Relaxed), 8);
    }
}
