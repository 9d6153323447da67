//! What numbers about a kernel are of, in tables that a test keeps.

use mlxrocm::gpu::kernels::Registry;

/// A hash (FNV-1a) of a kernel's source with all that it includes.
pub fn hash(kernel: &str) -> String {
    let text = Registry::text(kernel).expect("a kernel");
    let step = |sum: u32, byte: u8| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    format!("{:08x}", text.bytes().fold(0x811c_9dc5, step))
}
