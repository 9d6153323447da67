//! The elements of an array in host memory.

use crate::ir::{Dtype, Layout};
use crate::{Error, Result};
use bytemuck::Pod;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that arrays have in host memory, and the most since [`reset_array_peak`].
static ACTIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

/// Bytes that arrays have of the library's own in host memory now, and the most that it were.
pub fn array_memory() -> (u64, u64) {
    let active = ACTIVE.load(Ordering::Relaxed);
    (active, PEAK.load(Ordering::Relaxed).max(active))
}

/// Starts the highest count again from what there is now.
pub fn reset_array_peak() {
    PEAK.store(ACTIVE.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Bytes that arrays share. Immutable: any thread.
pub enum Storage {
    /// The library's own; words, so that every dtype is aligned.
    Owned(Vec<u64>, usize),
    /// Somebody else's, kept until dropped.
    Kept(Box<dyn AsRef<[u8]> + Send + Sync>),
}

/// Memory of arrays that are gone, for new ones of the same size: the system takes longer to hand out pages than most
/// operations take to fill them.
static KEPT: Mutex<Kept> = Mutex::new(Kept {
    blocks: BTreeMap::new(),
    bytes: 0,
});
/// Smaller blocks are as fast from the system.
const KEPT_FROM: usize = 64 << 10;
/// Most bytes that are kept.
const KEPT_MOST: usize = 256 << 20;

struct Kept {
    /// By their words.
    blocks: BTreeMap<usize, Vec<Vec<u64>>>,
    bytes: usize,
}

impl Kept {
    fn take(&mut self, words: usize) -> Option<Vec<u64>> {
        let block = self.blocks.get_mut(&words)?.pop()?;
        self.bytes -= words * 8;
        Some(block)
    }

    /// Keeps a block, if need be instead of all others: sizes that are not asked for any more go so.
    fn keep(&mut self, block: Vec<u64>) {
        let bytes = block.len() * 8;
        if !(KEPT_FROM..=KEPT_MOST / 2).contains(&bytes) {
            return;
        }
        if self.bytes + bytes > KEPT_MOST {
            self.blocks.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.blocks.entry(block.len()).or_default().push(block);
    }
}

/// Bytes of arrays that are gone, kept for new ones.
pub fn kept_memory() -> u64 {
    KEPT.lock().bytes as u64
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Storage::Owned(words, bytes) = self {
            ACTIVE.fetch_sub(*bytes as u64, Ordering::Relaxed);
            if words.len() * 8 >= KEPT_FROM {
                KEPT.lock().keep(std::mem::take(words));
            }
        }
    }
}

impl Storage {
    /// Zeros.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn zeros(bytes: usize) -> Result<Storage> {
        Storage::take(bytes, true)
    }

    /// Bytes of any value, for what writes all of them.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn any(bytes: usize) -> Result<Storage> {
        Storage::take(bytes, false)
    }

    fn take(bytes: usize, zeros: bool) -> Result<Storage> {
        let words = bytes.div_ceil(8);
        let kept = match words * 8 >= KEPT_FROM {
            true => KEPT.lock().take(words),
            false => None,
        };
        let memory = match kept {
            Some(mut memory) => {
                if zeros {
                    memory.fill(0);
                }
                memory
            }
            None => {
                let mut memory = Vec::new();
                memory.try_reserve_exact(words).map_err(|_| {
                    Error::OutOfMemory(format!("an array of {bytes} bytes does not fit the memory"))
                })?;
                memory.resize(words, 0);
                memory
            }
        };
        let active = ACTIVE.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        PEAK.fetch_max(active, Ordering::Relaxed);
        Ok(Storage::Owned(memory, bytes))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Storage::Owned(words, bytes) => &bytemuck::cast_slice(words)[..*bytes],
            Storage::Kept(keeper) => (**keeper).as_ref(),
        }
    }

    /// The bytes, to write; `None` where they are somebody else's.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Storage::Owned(words, bytes) => Some(&mut bytemuck::cast_slice_mut(words)[..*bytes]),
            Storage::Kept(_) => None,
        }
    }
}

/// An array's elements: bytes, and how they lie. Immutable: any thread.
#[derive(Clone)]
pub struct Elements {
    storage: Arc<Storage>,
    dtype: Dtype,
    layout: Layout,
}

impl Elements {
    /// Elements over `storage`.
    ///
    /// # Errors
    /// `InvalidArgument` if the layout reaches beyond it.
    pub fn new(storage: Arc<Storage>, dtype: Dtype, layout: Layout) -> Result<Elements> {
        let room = storage.bytes().len() / dtype.size();
        match layout.reach() {
            Some(reach) if reach.to <= room => Ok(Elements {
                storage,
                dtype,
                layout,
            }),
            _ => Err(Error::InvalidArgument(format!(
                "an array of shape {:?} and strides {:?} from element {} does not lie within the {room} \
                 elements of its data",
                layout.sizes, layout.strides, layout.offset
            ))),
        }
    }

    /// A copy of numbers, row after row.
    ///
    /// # Errors
    /// `InvalidArgument` if there are not as many as `sizes` say; `OutOfMemory`.
    pub fn from_slice<T: Pod>(values: &[T], dtype: Dtype, sizes: &[usize]) -> Result<Elements> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let count: Option<usize> = sizes
            .iter()
            .try_fold(1usize, |n, &size| n.checked_mul(size));
        if count.and_then(|n| n.checked_mul(dtype.size())) != Some(bytes.len()) {
            return Err(Error::InvalidArgument(format!(
                "{} bytes for an array of shape {sizes:?} of {dtype}",
                bytes.len()
            )));
        }
        let mut storage = Storage::zeros(bytes.len())?;
        if let Some(to) = storage.bytes_mut() {
            to.copy_from_slice(bytes);
        }
        Elements::new(Arc::new(storage), dtype, Layout::rows(sizes))
    }

    /// The same bytes in another layout, or read as another dtype.
    ///
    /// # Errors
    /// As [`Elements::new`].
    pub fn with(&self, dtype: Dtype, layout: Layout) -> Result<Elements> {
        Elements::new(self.storage.clone(), dtype, layout)
    }

    /// Dtype.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// How they lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All bytes that the layout refers to.
    pub fn bytes(&self) -> &[u8] {
        self.storage.bytes()
    }

    /// The storage.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Copies the elements row after row; `bytes` has room for exactly them.
    pub fn copy_rows(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&super::ops::View::of(self).row_bytes());
    }

    /// The elements row after row.
    pub fn to_vec<T: Pod>(&self) -> Vec<T> {
        super::ops::View::of(self).values::<T>().into_owned()
    }
}

impl std::fmt::Debug for Elements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Elements({} {:?})", self.dtype, self.layout)
    }
}
