//! Kernel arguments: pointers and 32- and 64-bit scalars.

use super::buffer::DeviceBuffer;
use super::device::Device;

/// The most arguments that a kernel may take.
pub const MAX_ARGS: usize = 48;

/// The arguments of one launch, in the kernel's order.
///
/// Kernels take only pointers and 32- and 64-bit scalars, so each argument is one 8-byte slot on
/// both platforms. What is wrong (too many, an offset past a buffer's end) is reported by the launch.
#[derive(Clone)]
pub struct Args {
    values: Vec<u64>,
    /// Bit i: slot i has 8 bytes.
    wide: u64,
    buffers: Vec<DeviceBuffer>,
    wrong: Option<&'static str>,
}

impl Default for Args {
    fn default() -> Self {
        Self::new()
    }
}

impl Args {
    /// No arguments yet.
    pub fn new() -> Self {
        Args {
            values: Vec::with_capacity(12),
            wide: 0,
            buffers: Vec::with_capacity(6),
            wrong: None,
        }
    }

    fn push(mut self, value: u64, is_wide: bool) -> Self {
        if self.values.len() < MAX_ARGS {
            self.wide |= u64::from(is_wide) << self.values.len();
            self.values.push(value);
        } else {
            self.wrong = Some("more than 48 arguments");
        }
        self
    }

    /// The address of `buffer` plus `byte_offset`. The launch keeps the buffer alive.
    pub fn buffer(mut self, buffer: &DeviceBuffer, byte_offset: u64) -> Self {
        if byte_offset > buffer.len() {
            self.wrong = Some("a byte offset past the end of its buffer");
        }
        self.buffers.push(buffer.clone());
        let address = buffer.address().wrapping_add(byte_offset);
        self.push(address, true)
    }

    /// The address of a buffer plus a byte offset, as [`Args::buffer`] takes it, or a null pointer.
    pub fn buffer_or_null(self, place: Option<(&DeviceBuffer, u64)>) -> Self {
        match place {
            Some((buffer, byte_offset)) => self.buffer(buffer, byte_offset),
            None => self.null(),
        }
    }

    /// A null pointer.
    pub fn null(self) -> Self {
        self.push(0, true)
    }

    /// An address that the caller keeps valid (pinned memory, say).
    pub fn address(self, address: u64) -> Self {
        self.push(address, true)
    }

    /// A 32-bit unsigned scalar.
    pub fn u32(self, value: u32) -> Self {
        self.push(u64::from(value), false)
    }

    /// A 32-bit signed scalar.
    pub fn i32(self, value: i32) -> Self {
        self.u32(value.cast_unsigned())
    }

    /// A 32-bit float.
    pub fn f32(self, value: f32) -> Self {
        self.u32(value.to_bits())
    }

    /// A 64-bit unsigned scalar.
    pub fn u64(self, value: u64) -> Self {
        self.push(value, true)
    }

    /// A 64-bit signed scalar.
    pub fn i64(self, value: i64) -> Self {
        self.push(value.cast_unsigned(), true)
    }

    /// These and then others.
    pub(super) fn append(mut self, other: Args) -> Self {
        for (i, value) in other.values.iter().enumerate() {
            self = self.push(*value, other.wide >> i & 1 == 1);
        }
        self.buffers.extend(other.buffers);
        self.wrong = self.wrong.or(other.wrong);
        self
    }

    /// The slots in order.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// The slots of 8 bytes, one bit each.
    pub(super) fn wide(&self) -> u64 {
        self.wide
    }

    /// The buffers that the launch uses.
    pub(super) fn buffers(&self) -> &[DeviceBuffer] {
        &self.buffers
    }

    /// What is wrong with them for a launch on `device`.
    pub(super) fn check(&self, device: &Device) -> Result<(), &'static str> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        if self.buffers.iter().any(|buffer| !buffer.is_on(device)) {
            return Err("an argument is a buffer of another device");
        }
        Ok(())
    }
}
