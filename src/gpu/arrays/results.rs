//! Small results of a recorded graph lie in memory that they share, so that one copy takes all of them out.

use super::Place;
use crate::Result;
use crate::gpu::DeviceBuffer;
use crate::ir::{Dtype, Graph, NodeId, Op, Value};

/// Most bytes of a small result. The last one of a run that somebody holds keeps the memory of the others.
pub(super) const SMALL: u64 = 16 << 10;
/// What buffers begin at a multiple of.
const GRAIN: u64 = 256;

/// The memory of a program's small results, and where each lies in it.
pub(super) struct Results {
    memory: DeviceBuffer,
    places: Vec<Room>,
}

struct Room {
    node: NodeId,
    begin: u64,
    bytes: u64,
}

/// Bytes of a small output that an operation makes; views are where their elements are.
fn small(graph: &Graph, value: Value) -> Option<u64> {
    let (op, ty) = (graph.op(value), graph.ty(value));
    let bytes = (ty.shape.count()? * ty.dtype.size()).max(Place::LEAST) as u64;
    let is_made = !matches!(op, Op::Leaf(_)) && !op.may_be_view();
    (is_made && bytes <= SMALL).then_some(bytes)
}

impl Results {
    /// Those of a graph; `None` if it has less than two.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn of(place: &Place, graph: &Graph) -> Result<Option<Results>> {
        let mut values = graph.outputs.clone();
        values.sort_unstable();
        values.dedup();
        let (mut places, mut end) = (Vec::new(), 0);
        for value in values {
            if let Some(bytes) = small(graph, value) {
                let (node, begin) = (value.node, end);
                places.push(Room { node, begin, bytes });
                end += bytes.next_multiple_of(GRAIN);
            }
        }
        if places.len() < 2 {
            return Ok(None);
        }
        let memory = place.memory(end as usize, Dtype::U8)?;
        Ok(Some(Results { memory, places }))
    }

    /// Where a node puts its results.
    pub fn rooms(&self, node: NodeId) -> Vec<DeviceBuffer> {
        let of_node = self.places.iter().filter(|room| room.node == node);
        let room = |room: &Room| self.memory.part(room.begin, room.bytes);
        of_node.map(room).collect()
    }

    /// Queues a copy of all of them into new memory.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn copied(&self, place: &Place) -> Result<DeviceBuffer> {
        let bytes = self.memory.len();
        let copy = place.memory(bytes as usize, Dtype::U8)?;
        place
            .stream
            .copy_on_device(&self.memory, 0, &copy, 0, bytes)?;
        Ok(copy)
    }

    /// Whether a result is one of them. (An operation may have put something else there that is as large.)
    pub fn has(&self, result: &DeviceBuffer) -> bool {
        self.begin(result).is_some()
    }

    fn begin(&self, result: &DeviceBuffer) -> Option<u64> {
        let begin = result.address().checked_sub(self.memory.address())?;
        (begin < self.memory.len()).then_some(begin)
    }

    /// What a copy has of one of them; `None` if the buffer is none.
    pub fn of_copy(&self, copy: &DeviceBuffer, result: &DeviceBuffer) -> Option<DeviceBuffer> {
        let begin = self.begin(result)?;
        Some(copy.part(begin, result.len()))
    }
}
