//! Work shared out over the threads that cargo grants.

use crate::variable;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Results of `run(0)` to `run(count - 1)`, or the first error in their order; after one nothing new is begun.
pub fn each<T: Send>(
    count: usize,
    run: impl Fn(usize) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let granted = variable("NUM_JOBS").parse::<usize>().unwrap_or(1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<T, String>)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let result = run(number);
            if result.is_err() {
                next.store(count, Ordering::Relaxed);
            }
            if let Ok(mut results) = results.lock() {
                results.push((number, result));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..granted.min(cores).max(1) {
            scope.spawn(work);
        }
    });
    let mut results = results
        .into_inner()
        .map_err(|_| "a thread of the build panicked".to_string())?;
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
