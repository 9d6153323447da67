//! Moves weights from their files to the device: threads read pieces of files into pinned memory, each piece is copied as
//! it is, and kernels (`hip/ops/pack`) make tiles of it there, while the next ones are read and copied.

use crate::formats::Bytes;
use crate::gpu::allocator::size_class;
use crate::gpu::{Args, Device, DeviceBuffer, Event, Kernel, PinnedBuffer, Stream};
use crate::{Error, Result, log, panics};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::Duration;

/// Bytes of a piece, unless a tile needs more: long enough that the copy, not its start, takes the time.
const PIECE: usize = 4 << 20;

/// What is in a piece begins at multiples of this.
const ALIGN: usize = 256;

/// Kernels read whole words, of which the last may end behind a part.
const READ_AHEAD: usize = 8;

/// The most threads that read: together they are faster than any bus by far.
const READERS: usize = 16;

/// Pieces besides those that are being read: one that is copied, one that is packed, two that wait.
const SPARE: usize = 4;

/// A piece takes a millisecond; a device that needs this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes that go into a piece.
pub enum Part {
    /// Of a file: from where, how many.
    File(Bytes, usize, usize),
    Own(Vec<u8>),
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Part::File(_, _, len) => *len,
            Part::Own(bytes) => bytes.len(),
        }
    }

    /// Bytes that it takes in a piece.
    pub fn room(&self) -> usize {
        (self.len() + READ_AHEAD).next_multiple_of(ALIGN)
    }

    fn read(&self, out: &mut [u8]) -> Result<()> {
        match self {
            Part::File(bytes, start, _) => bytes.read(*start, out),
            Part::Own(bytes) => {
                out.copy_from_slice(bytes);
                Ok(())
            }
        }
    }
}

/// What is done with the parts of a piece on the device.
pub enum Then {
    /// A part, by its number, is a buffer's content.
    Copy(usize, DeviceBuffer),
    Launch(Box<Launch>),
}

/// A launch that reads parts of a piece.
pub struct Launch {
    pub kernel: Kernel,
    pub blocks: u32,
    /// Where it reads: a part of the piece and an offset in it; `None` is a null pointer.
    pub reads: [Option<(usize, usize)>; 3],
    /// What the kernel calls these.
    pub names: [&'static str; 3],
    /// The number of the bound that it raises.
    pub peak: usize,
    /// What it takes after these.
    pub args: Args,
}

/// Parts that are copied together.
#[derive(Default)]
struct Piece {
    parts: Vec<(Part, usize)>,
    then: Vec<Then>,
    len: usize,
    /// Weights that are through with it: the bytes of each.
    finished: Vec<u64>,
}

impl Piece {
    fn read(&self, out: &mut [u8]) -> Result<()> {
        for (part, at) in &self.parts {
            let out = out.get_mut(*at..at + part.len());
            part.read(out.ok_or_else(no_room)?)?;
        }
        Ok(())
    }
}

/// Memory of a piece.
struct Slot {
    pinned: PinnedBuffer,
    on_device: DeviceBuffer,
    /// The end of the last work with it.
    done: Event,
    stream: usize,
}

struct Filled {
    slot: Slot,
    piece: Piece,
    result: Result<()>,
}

/// The way to the device. The work of dropped ones goes on as far as it is queued.
pub struct Staging<'a> {
    /// By turns, so that one piece is packed while the next is copied.
    streams: [Stream; 2],
    free: Vec<Slot>,
    in_flight: VecDeque<Slot>,
    reading: usize,
    to_read: Sender<(Slot, Piece)>,
    filled: Receiver<Filled>,
    /// What is being collected.
    now: Piece,
    piece_bytes: usize,
    /// Bounds that launches raise, of each stream its own.
    peaks: [DeviceBuffer; 2],
    progress: &'a mut dyn FnMut(u64) -> Result<()>,
}

/// What will come to the device.
#[derive(Clone, Copy)]
pub struct Load {
    pub threads: usize,
    /// Bytes, about.
    pub total: usize,
    /// The most room that parts take that have to lie together.
    pub largest: usize,
    /// Bounds.
    pub peaks: usize,
}

impl Load {
    /// Bytes of a piece, how many threads read, and how many pieces there are at once.
    fn pieces(&self) -> (usize, usize, usize) {
        let total = self.total.next_multiple_of(ALIGN);
        let bytes = PIECE.min(total).max(self.largest);
        let pieces = total.div_ceil(bytes.max(1)).max(1);
        let readers = self.threads.clamp(1, READERS).min(pieces);
        (bytes, readers, (readers + SPARE).min(pieces))
    }

    /// Bytes of the device's memory that are taken meanwhile.
    pub fn device_bytes(&self) -> u64 {
        let (bytes, _, count) = self.pieces();
        let taken = |bytes: usize| size_class(bytes as u64).unwrap_or(u64::MAX);
        let pieces = taken(bytes).saturating_mul(count as u64);
        pieces.saturating_add(2 * taken(self.peaks * 4))
    }
}

impl<'a> Staging<'a> {
    /// Readers end when the staging is dropped.
    pub fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        device: &'a Arc<Device>,
        load: Load,
        progress: &'a mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Staging<'a>> {
        let (piece_bytes, readers, count) = load.pieces();
        let streams = [device.stream()?, device.stream()?];
        let zeros = |stream: &Stream| {
            let bytes = load.peaks.max(1) as u64 * 4;
            let buffer = device.alloc(bytes)?;
            stream.fill(&buffer, 0, bytes, 0)?;
            Ok::<_, Error>(buffer)
        };
        let peaks = [zeros(&streams[0])?, zeros(&streams[1])?];
        let slot = |number: usize| {
            Ok(Slot {
                pinned: device.alloc_pinned(piece_bytes as u64)?,
                on_device: device.alloc(piece_bytes as u64)?,
                done: device.event()?,
                stream: number % streams.len(),
            })
        };
        let free = (0..count).map(slot);
        let free = free.collect::<Result<_>>()?;
        let (to_read, queue) = channel();
        let (answers, filled) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..readers {
            let (queue, answers) = (queue.clone(), answers.clone());
            let reader = move || log::on_worker(|| read_all(&queue, &answers));
            std::thread::Builder::new()
                .name("mlxrocm-load".into())
                .spawn_scoped(scope, reader)
                .map_err(|error| Error::OutOfMemory(format!("starting a thread: {error}")))?;
        }
        Ok(Staging {
            streams,
            free,
            in_flight: VecDeque::new(),
            reading: 0,
            to_read,
            filled,
            now: Piece::default(),
            piece_bytes,
            peaks,
            progress,
        })
    }

    /// Bytes that still fit into the piece that is being collected.
    pub fn room(&self) -> usize {
        self.piece_bytes - self.now.len
    }

    /// Adds to the piece that is being collected; gives the part's number. There is room.
    pub fn add(&mut self, part: Part) -> Result<usize> {
        if part.room() > self.room() {
            return Err(no_room());
        }
        let (at, number) = (self.now.len, self.now.parts.len());
        self.now.len += part.room();
        self.now.parts.push((part, at));
        Ok(number)
    }

    /// What is done with parts of this piece, after what was said before.
    pub fn then(&mut self, then: Then) {
        self.now.then.push(then);
    }

    /// A weight of so many bytes is through with the piece that is being collected.
    pub fn finished(&mut self, bytes: u64) {
        self.now.finished.push(bytes);
    }

    /// Has a buffer filled.
    pub fn fill(&mut self, target: &DeviceBuffer, bytes: &[u8]) -> Result<()> {
        let part = Part::Own(bytes.to_vec());
        if part.room() > self.piece_bytes {
            // A bias of millions of rows.
            return self.streams[0].copy_to_device(target, 0, bytes);
        }
        if part.room() > self.room() {
            self.next_piece()?;
        }
        let number = self.add(part)?;
        self.then(Then::Copy(number, target.clone()));
        Ok(())
    }

    /// The piece is complete: it is read, copied and packed while the next one is collected.
    pub fn next_piece(&mut self) -> Result<()> {
        if self.now.then.is_empty() && self.now.finished.is_empty() {
            return Ok(());
        }
        let slot = self.slot()?;
        let piece = std::mem::take(&mut self.now);
        self.reading += 1;
        self.to_read.send((slot, piece)).map_err(|_| no_readers())
    }

    /// Memory for a piece; queues what has been read meanwhile.
    fn slot(&mut self) -> Result<Slot> {
        loop {
            while let Ok(filled) = self.filled.try_recv() {
                self.queue(filled)?;
            }
            if let Some(slot) = self.free.pop() {
                return Ok(slot);
            }
            let first = self.in_flight.front();
            let is_done = first.map_or(Ok(false), |slot| slot.done.is_done())?;
            if !is_done && self.reading > 0 {
                let filled = self.filled.recv().map_err(|_| no_readers())?;
                self.queue(filled)?;
                continue;
            }
            let slot = self.in_flight.pop_front().ok_or_else(no_room)?;
            slot.done.wait(Some(PATIENCE))?;
            return Ok(slot);
        }
    }

    /// Queues the copy of what was read, and what follows.
    fn queue(&mut self, filled: Filled) -> Result<()> {
        self.reading -= 1;
        let Filled {
            slot,
            piece,
            result,
        } = filled;
        result?;
        let stream = &self.streams[slot.stream];
        stream.copy_from_pinned(&slot.on_device, 0, &slot.pinned, 0, piece.len as u64)?;
        let place = |(number, offset): (usize, usize)| {
            let part = piece.parts.get(number);
            let (_, at) = part.ok_or_else(no_room)?;
            Ok((&slot.on_device, (at + offset) as u64))
        };
        for then in &piece.then {
            match then {
                Then::Copy(number, target) => {
                    let (from, at) = place((*number, 0))?;
                    let len = piece.parts.get(*number).map_or(0, |(part, _)| part.len());
                    stream.copy_on_device(from, at, target, 0, len as u64)?;
                }
                Then::Launch(launch) => {
                    let mut args = Args::new();
                    for (name, part) in launch.names.into_iter().zip(launch.reads) {
                        args = args.buffer_or_null(name, part.map(place).transpose()?);
                    }
                    let peaks = &self.peaks[slot.stream];
                    let args = args.buffer("peak", peaks, launch.peak as u64 * 4);
                    let args = args.append(launch.args.clone());
                    let grid = [launch.blocks, 1, 1];
                    stream.launch(&launch.kernel, grid, [256, 1, 1], 0, &args)?;
                }
            }
        }
        stream.record(&slot.done)?;
        self.in_flight.push_back(slot);
        for bytes in piece.finished {
            (self.progress)(bytes)?;
        }
        Ok(())
    }

    /// Waits until everything is on the device; other streams may use it then.
    pub fn flush(&mut self) -> Result<()> {
        self.next_piece()?;
        while self.reading > 0 {
            let filled = self.filled.recv().map_err(|_| no_readers())?;
            self.queue(filled)?;
        }
        self.streams.iter().try_for_each(|s| s.wait(Some(PATIENCE)))
    }

    /// The bounds, after [`Self::flush`].
    pub fn peaks(&self) -> Result<Vec<f32>> {
        let mut all = vec![0.0f32; usize::try_from(self.peaks[0].len() / 4).unwrap_or(0)];
        let mut bytes = vec![0; all.len() * 4];
        for (peaks, stream) in self.peaks.iter().zip(&self.streams) {
            stream.copy_to_host(peaks, 0, &mut bytes)?;
            for (peak, bytes) in all.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *peak = peak.max(f32::from_le_bytes(*bytes));
            }
        }
        Ok(all)
    }
}

fn read_all(queue: &Mutex<Receiver<(Slot, Piece)>>, answers: &Sender<Filled>) {
    loop {
        let next = queue.lock().recv();
        let Ok((mut slot, piece)) = next else { return };
        let read = panics::caught(|| piece.read(slot.pinned.as_mut_slice()));
        let result = read.unwrap_or_else(|panic| {
            let what = format!("reading weights panicked: {panic}");
            Err(Error::Internal(what))
        });
        let filled = Filled {
            slot,
            piece,
            result,
        };
        if answers.send(filled).is_err() {
            return;
        }
    }
}

fn no_room() -> Error {
    Error::Internal("a piece of weights has no place in its memory".into())
}

fn no_readers() -> Error {
    Error::Internal("the threads that read weights ended".into())
}
