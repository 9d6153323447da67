//! Queues of batches for a chess network.

use super::boundary::{boundary, boundary_free, boundary_status};
use super::chess_net::{NetObject, mlxrocm_chess_net, results};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::outputs::Output;
use super::status::{MLXROCM_END, MLXROCM_OK, MLXROCM_PENDING, mlxrocm_status};
use super::strings::{array, tell, timeout};
use super::symbols::since_0_1;
use crate::Error;
use crate::chess::{MOST_BATCHES, PLANES, Queue, Taken};

/// Batches that a queue holds at most.
pub const MLXROCM_CHESS_QUEUE_BATCHES: u32 = 64;
const _: () = assert!(MLXROCM_CHESS_QUEUE_BATCHES as usize == MOST_BATCHES);

/// Batches of positions that are evaluated one after the other while the application goes on: each thread that
/// searches may have a queue of its own, or several may share one. Internally locked: any thread.
pub struct mlxrocm_chess_queue {
    _private: [u8; 0],
}

struct QueueObject(Queue);

impl Object for QueueObject {
    type Opaque = mlxrocm_chess_queue;
    const NOUN: &'static str = "mlxrocm_chess_queue";
}

/// Makes an empty queue. It keeps the network alive, and has a thread of its own.
///
/// - `net`: borrowed.
/// - `queue`: receives the queue, owned: free it with mlxrocm_chess_queue_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY (no thread is left). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_queue_create(
    net: *const mlxrocm_chess_net,
    queue: *mut *mut mlxrocm_chess_queue,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(queue, "queue") }?;
        let net = handle::get::<NetObject>(net, "net")?.run(|object| Ok(object.0.clone()))?;
        output.write(handle::publish(QueueObject(Queue::new(net)?)));
        Ok(())
    })
}

/// Hands in a batch and returns at once. Batches come out of mlxrocm_chess_queue_next in the order in which they
/// were handed in; small ones that wait together are evaluated together, which changes no bit of them.
///
/// - `queue`: borrowed.
/// - `masks`: `count` times 112 masks of squares, copied.
/// - `values`: `count` times 112 numbers that the set bits stand for, finite, copied.
/// - `count`: positions, 1 to 1024.
/// - `id`: nullable; receives the batch's number: 0, 1, 2, ... of this queue.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Returns MLXROCM_OK; MLXROCM_PENDING when the queue holds MLXROCM_CHESS_QUEUE_BATCHES already, those whose results
/// wait included: the batch was not taken.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_queue_submit(
    queue: *const mlxrocm_chess_queue,
    masks: *const u64,
    values: *const f32,
    count: usize,
    id: *mut u64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_status(error, || {
        let queue = handle::get::<QueueObject>(queue, "queue")?;
        queue.run(|QueueObject(queue)| {
            let Some(planes) = count.checked_mul(PLANES) else {
                let message = format!("count is {count}, which is too many to count");
                return Err(Error::InvalidArgument(message));
            };
            // SAFETY: the caller's arrays, as documented.
            let masks = unsafe { array(masks, planes, "masks") }?;
            // SAFETY: as above.
            let values = unsafe { array(values, planes, "values") }?;
            match queue.submit(masks, values)? {
                None => Ok(MLXROCM_PENDING),
                Some(number) => {
                    // SAFETY: the caller's number, as documented.
                    unsafe { tell(id, number) };
                    Ok(MLXROCM_OK)
                }
            }
        })
    })
}

/// Takes the result of the oldest batch of a queue.
///
/// - `queue`: borrowed.
/// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
/// - `capacity`: positions that there is room for in each of the next three; 1024 is always enough.
/// - `policy`: nullable; receives `capacity` times 1858 logits at most, as of mlxrocm_chess_net_evaluate.
/// - `wdl`: nullable; receives `capacity` times 3 chances at most.
/// - `moves_left`: nullable; receives `capacity` numbers of plies at most.
/// - `count`: nullable; receives the positions of the batch.
/// - `id`: nullable; receives the batch's number.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Returns MLXROCM_OK with a batch; MLXROCM_PENDING when the oldest one was not done within the timeout; MLXROCM_END
/// when the queue holds none.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL (the batch stays), OUT_OF_MEMORY (the batch is lost).
/// Any thread; where several take batches, each gets others. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_queue_next(
    queue: *const mlxrocm_chess_queue,
    timeout_ns: i64,
    capacity: usize,
    policy: *mut f32,
    wdl: *mut f32,
    moves_left: *mut f32,
    count: *mut usize,
    id: *mut u64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_status(error, || {
        let queue = handle::get::<QueueObject>(queue, "queue")?;
        queue.run(|QueueObject(queue)| {
            // SAFETY: the caller's rooms, as documented; only checked here.
            unsafe { results(policy, wdl, moves_left, 0) }?;
            let (found, evaluation) = match queue.next(capacity, timeout(timeout_ns))? {
                Taken::Batch(id, evaluation) => (id, evaluation),
                Taken::Pending => return Ok(MLXROCM_PENDING),
                Taken::End => return Ok(MLXROCM_END),
            };
            let positions = evaluation.moves_left.len();
            // SAFETY: the caller's rooms, as documented: there are no more positions than `capacity`.
            let to = unsafe { results(policy, wdl, moves_left, positions) }?;
            for (to, from) in [
                (to.policy, &evaluation.policy),
                (to.wdl, &evaluation.wdl),
                (to.moves_left, &evaluation.moves_left),
            ] {
                if !to.is_empty() {
                    to.copy_from_slice(from);
                }
            }
            // SAFETY: the caller's numbers, as documented.
            unsafe {
                tell(count, positions);
                tell(id, found);
            }
            Ok(MLXROCM_OK)
        })
    })
}

/// Frees a queue. Batches that it holds are dropped; it waits for one that is being evaluated.
///
/// - `queue`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_chess_queue_free(queue: *mut mlxrocm_chess_queue) {
    boundary_free::<QueueObject>(queue)
}

since_0_1! {
    mlxrocm_chess_queue_create mlxrocm_chess_queue_submit mlxrocm_chess_queue_next
    mlxrocm_chess_queue_free
}
