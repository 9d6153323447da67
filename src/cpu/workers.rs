//! The process's workers for arrays: one pool for all threads, whose helpers are made when an operation first shares its
//! work out; they stay until the process ends.

use super::threads::ThreadPool;
use parking_lot::Mutex;

static POOL: Mutex<Option<ThreadPool>> = Mutex::new(None);

/// Calls `work` with the pool; without one while another thread uses it. Results do not depend on it. (In the child of a
/// fork, which has no helpers, the caller does their share.)
pub fn with_workers<R>(work: impl FnOnce(Option<&mut ThreadPool>) -> R) -> R {
    match POOL.try_lock() {
        Some(mut pool) => work(Some(pool.get_or_insert_with(|| ThreadPool::idle(0)))),
        None => work(None),
    }
}
