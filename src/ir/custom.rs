//! Kernels of the application.

/// A kernel that the application wrote, and how it is launched. Its inputs are the node's, its outputs the node's
/// results.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CustomKernel {
    /// The function's name.
    pub name: String,
    /// The whole source.
    pub source: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Work items of a block.
    pub block: [u32; 3],
    /// An element of each result as it is before; empty: whatever lies there.
    pub initial: Vec<Vec<u8>>,
    /// Inputs are given row after row.
    pub rows: bool,
    /// Inputs whose sizes are arguments, behind the pointers.
    pub sizes: Vec<usize>,
    /// Inputs whose strides (in elements, 64 bits) are arguments, behind these.
    pub strides: Vec<usize>,
}
