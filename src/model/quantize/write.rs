//! Writing the tensors: each is converted by several threads, some rows at a time.

use super::convert::convert;
use super::layout::Layout;
use super::output::{Output, ShardFile};
use super::tensor::Tensor;
use crate::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Numbers that a thread converts at once: small enough for its caches and for memory.
const CHUNK: usize = 1 << 19;

/// Bytes of the source after which what is done is made safe.
const SAFE_BYTES: u64 = 256 << 20;

/// Writes all tensors but the first `done`.
pub(super) fn write_tensors(
    tensors: &[Tensor],
    layout: &Layout,
    output: &Output,
    (mut done, threads): (usize, usize),
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<()> {
    let total = tensors.iter().map(Tensor::source_bytes).sum();
    let mut read: u64 = tensors.iter().take(done).map(Tensor::source_bytes).sum();
    let first = layout.shard_of(done);
    for shard in 0..first {
        // A run may have ended between the record and the name.
        if output.has(&layout.name(shard)) {
            output.check_shard(layout, shard)?;
        } else {
            output.close(output.shard(layout, shard, true)?)?;
        }
    }
    let left: u64 = layout.shards[first..].iter().map(|shard| shard.bytes).sum();
    if let Some(room) = output.room().filter(|room| *room < left && done == 0) {
        return Err(Error::Io(format!(
            "no room for the result: {left} bytes are needed, {room} are free"
        )));
    }
    if !progress(read, total) {
        return Err(cancelled());
    }
    for shard in first..layout.shards.len() {
        let begin = match shard {
            0 => 0,
            shard => layout.shards[shard - 1].end,
        };
        let file = output.shard(layout, shard, done > begin)?;
        let mut unsafe_bytes = 0;
        let end = layout.shards[shard].end;
        while done < end {
            let tensor = &tensors[done];
            let mut report = |bytes: u64| {
                read += bytes;
                progress(read.min(total), total)
            };
            let written = write_tensor(tensor, &layout.places[done], &file, threads, &mut report);
            if let Err(error) = written {
                // What came before is not lost; if this fails too, the first error says more.
                let _ = file.sync().and_then(|()| output.record(done));
                return Err(error);
            }
            tensor.pieces.iter().for_each(|piece| piece.data.release());
            done += 1;
            unsafe_bytes += tensor.source_bytes();
            if unsafe_bytes >= SAFE_BYTES && done < end {
                file.sync()?;
                output.record(done)?;
                unsafe_bytes = 0;
            }
        }
        file.sync()?;
        output.record(done)?;
        output.close(file)?;
    }
    Ok(())
}

/// Converts and writes one tensor.
fn write_tensor(
    tensor: &Tensor,
    places: &[u64],
    file: &ShardFile,
    threads: usize,
    report: &mut dyn FnMut(u64) -> bool,
) -> Result<()> {
    let rows = (CHUNK / tensor.columns).max(1);
    let chunks = tensor.rows.div_ceil(rows);
    let parts = tensor.parts();
    let chunk = |number: usize| {
        let rows = number * rows..((number + 1) * rows).min(tensor.rows);
        let made = convert(tensor, rows.clone())?;
        for ((bytes, part), place) in made.iter().zip(&parts).zip(places) {
            file.write(bytes, place + (rows.start * part.row_bytes) as u64)?;
        }
        Ok(tensor.source_bytes() * rows.len() as u64 / tensor.rows as u64)
    };
    let named = |error: Error| match error {
        Error::InvalidFile(what) => Error::InvalidFile(format!("tensor {}: {what}", tensor.name)),
        other => other,
    };
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = match threads {
        0 => available(),
        threads => threads,
    };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel::<Result<u64>>();
        for _ in 0..threads.min(chunks) {
            let (sender, next, chunk) = (sender.clone(), &next, &chunk);
            let work = move || loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= chunks || sender.send(chunk(number)).is_err() {
                    break;
                }
            };
            let spawned = std::thread::Builder::new().spawn_scoped(scope, work);
            spawned.map_err(|error| Error::OutOfMemory(format!("no thread: {error}")))?;
        }
        drop(sender);
        // Leaving drops the receiver, and the threads stop.
        for bytes in receiver {
            if !report(bytes.map_err(named)?) {
                return Err(cancelled());
            }
        }
        Ok(())
    })
}

fn cancelled() -> Error {
    Error::Cancelled("quantizing was cancelled; the same call goes on".into())
}
