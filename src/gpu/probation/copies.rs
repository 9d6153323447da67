//! Copies on the device of what a program writes, and whether it still is what was copied.

use super::super::args::Args;
use super::super::buffer::DeviceBuffer;
use super::super::hazards::Part;
use super::super::module::Kernel;
use super::super::program::Program;
use super::super::stream::Stream;
use crate::{Error, Result};

/// A part's place in the copies is as far from such a place as in its buffer: then its bytes are compared by 16.
const ALIGNMENT: u64 = 16;

/// What a block of `mlxrocm_compare_u8` compares at a time, and the most blocks of a launch.
const BLOCK: u64 = 4096;
const MOST_BLOCKS: u64 = 4096;

/// A larger copy does not stay in the allocator's cache: to free it waits for the device, but others want so much.
const MOST_CACHED: u64 = 256 << 20;

/// The parts that a program writes, and two copies of them on the device.
pub(super) struct Copies {
    parts: Vec<Copied>,
    /// The state before a run, once saved.
    pub before: DeviceBuffer,
    /// The state after a right run, once saved.
    pub after: DeviceBuffer,
    /// A u32 that is 1 once a byte differed.
    differs: DeviceBuffer,
    compare: Kernel,
    /// Bytes of the allocator's cache without the copies.
    cached: u64,
}

struct Copied {
    buffer: DeviceBuffer,
    offset: u64,
    len: u64,
    /// The place in the copies.
    at: u64,
}

impl Copies {
    /// Room for these parts, which the program writes: at most half of what is left, for others allocate meanwhile.
    ///
    /// # Errors
    /// `OutOfMemory`; those of a device without the kernel that compares.
    pub fn new(program: &Program, written: &[Part]) -> Result<Copies> {
        let device = program.device();
        let compare = device.kernel("mlxrocm_compare_u8")?;
        let (mut parts, mut end) = (Vec::new(), 0_u64);
        for part in written {
            let buffer = program
                .buffer(part.base)
                .ok_or_else(|| Error::Internal("a program writes a buffer it lost".into()))?;
            let (len, at) = (part.end - part.start, end.next_multiple_of(ALIGNMENT));
            let at = at + part.start % ALIGNMENT;
            end = at + len;
            parts.push(Copied {
                buffer: buffer.clone(),
                offset: part.start,
                len,
                at,
            });
        }
        let memory = device.memory()?;
        let room = memory.room();
        if end > room / 4 {
            return Err(Error::OutOfMemory(format!(
                "two copies of {end} bytes are more than half of the {room} that are left"
            )));
        }
        Ok(Copies {
            parts,
            before: device.alloc(end)?,
            after: device.alloc(end)?,
            differs: device.alloc(4)?,
            compare,
            cached: memory.cache,
        })
    }

    /// Queues a copy of the present state to one of them.
    pub fn save(&self, stream: &Stream, copy: &DeviceBuffer) -> Result<()> {
        self.parts.iter().try_for_each(|part| {
            stream.copy_on_device(&part.buffer, part.offset, copy, part.at, part.len)
        })
    }

    /// Queues what makes the state again that one of them has.
    pub fn restore(&self, stream: &Stream, copy: &DeviceBuffer) -> Result<()> {
        self.parts.iter().try_for_each(|part| {
            stream.copy_on_device(copy, part.at, &part.buffer, part.offset, part.len)
        })
    }

    /// Whether a bit of the state is not as in `after`. Waits for the stream.
    pub fn differs(&self, stream: &Stream) -> Result<bool> {
        stream.fill(&self.differs, 0, 4, 0)?;
        for part in &self.parts {
            let args = Args::new()
                .buffer("differs", &self.differs, 0)
                .buffer("a", &part.buffer, part.offset)
                .buffer("b", &self.after, part.at)
                .u64("bytes", part.len);
            // The first piece of 16 bytes may begin before the part.
            let blocks = (part.len + ALIGNMENT).div_ceil(BLOCK).min(MOST_BLOCKS) as u32;
            stream.launch(&self.compare, [blocks, 1, 1], [256, 1, 1], 0, &args)?;
        }
        let mut differs = [0; 4];
        stream.copy_to_host(&self.differs, 0, &mut differs)?;
        Ok(differs != [0; 4])
    }

    /// Gives the copies' memory back: large ones' to the driver.
    pub fn free(self, stream: &Stream) -> Result<()> {
        let (is_large, cached) = (self.after.len() > MOST_CACHED, self.cached);
        drop(self);
        if is_large {
            stream.device().wait_step(stream)?;
            stream.device().shrink_cache(cached)?;
        }
        Ok(())
    }
}
