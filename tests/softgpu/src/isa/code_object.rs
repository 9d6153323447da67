//! A loaded code object and its kernels.

use std::sync::Arc;

/// What a kernel argument is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    Value,
    Pointer,
    /// Filled by the runtime; the metadata's name without `hidden_` (for example `block_count_x`).
    Hidden(String),
}

/// One kernel argument: its place in the kernarg segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    pub offset: u32,
    pub size: u32,
    pub kind: ArgKind,
}

/// A kernel of a code object.
#[derive(Debug)]
pub struct Kernel {
    pub name: String,
    pub target: String,
    pub wave_size: u32,
    /// Static LDS bytes.
    pub lds_bytes: u32,
    /// Private memory bytes a lane.
    pub scratch_bytes: u32,
    pub kernarg_bytes: u32,
    pub args: Vec<Arg>,
    pub sgprs: u32,
    pub vgprs: u32,
    pub sgpr_spills: u32,
    pub vgpr_spills: u32,
    /// Threads a workgroup may have at most.
    pub max_workgroup: u32,
}

/// A loaded code object (ELF for one target).
#[derive(Debug)]
pub struct CodeObject {
    target: String,
    kernels: Vec<Arc<Kernel>>,
}

impl CodeObject {
    /// Loads an ELF code object of one target.
    ///
    /// # Errors
    /// A message when the bytes are no AMD code object, or the disassembler is missing.
    pub fn load(bytes: &[u8]) -> Result<Arc<CodeObject>, String> {
        let _ = bytes;
        Err("not yet".into())
    }

    /// The target, for example `gfx1100`.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<Arc<Kernel>> {
        self.kernels.iter().find(|k| k.name == name).cloned()
    }

    /// All kernels.
    pub fn kernels(&self) -> Vec<Arc<Kernel>> {
        self.kernels.clone()
    }

    /// Address and size of a device variable (`__device__` global).
    pub fn symbol(&self, name: &str) -> Option<(u64, usize)> {
        let _ = name;
        None
    }
}
