//! The process's workers for arrays: one pool for all threads, made when work is first worth sharing.

use super::threads::ThreadPool;
use parking_lot::Mutex;

/// The pool, and the process that made it: threads do not follow a fork.
static POOL: Mutex<Option<(u32, ThreadPool)>> = Mutex::new(None);

/// Calls `work` with the pool; without one while another thread uses it, or in the child of a fork. Results do not
/// depend on it.
pub fn with_workers<R>(work: impl FnOnce(Option<&mut ThreadPool>) -> R) -> R {
    let Some(mut pool) = POOL.try_lock() else {
        return work(None);
    };
    let process = std::process::id();
    let (maker, pool) = pool.get_or_insert_with(|| (process, ThreadPool::new(0)));
    work(if *maker == process { Some(pool) } else { None })
}
