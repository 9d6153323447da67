//! Kernel arguments: pointers and 32- and 64-bit scalars.

use super::buffer::DeviceBuffer;
use super::device::Device;

/// The most arguments that a kernel may take.
pub const MAX_ARGS: usize = 48;

/// A parameter's name as the kernel's source has it; in two parts where one place of the library names several.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(debug_assertions), expect(dead_code))] // Debug builds alone compare them.
pub struct Name(&'static str, &'static str);

/// An argument that an application gives, or that its kernel takes: of these the count and sizes are checked alone.
pub const UNNAMED: Name = Name("", "");

impl From<&'static str> for Name {
    #[inline]
    fn from(name: &'static str) -> Name {
        Name(name, "")
    }
}

impl From<(&'static str, &'static str)> for Name {
    #[inline]
    fn from((name, rest): (&'static str, &'static str)) -> Name {
        Name(name, rest)
    }
}

#[cfg(debug_assertions)]
impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.0, self.1)
    }
}

#[cfg(debug_assertions)]
impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        other.strip_prefix(self.0) == Some(self.1)
    }
}

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Pointer,
    U32,
    I32,
    F32,
    U64,
    I64,
}

impl Kind {
    pub(super) fn is_wide(self) -> bool {
        matches!(self, Kind::Pointer | Kind::U64 | Kind::I64)
    }

    /// As kernel sources call it.
    #[cfg(debug_assertions)]
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Pointer => "pointer",
            Kind::U32 => "u32",
            Kind::I32 => "i32",
            Kind::F32 => "f32",
            Kind::U64 => "u64",
            Kind::I64 => "i64",
        }
    }
}

/// The arguments of one launch, in the kernel's order.
///
/// Kernels take only pointers and 32- and 64-bit scalars, so each argument is one 8-byte slot on
/// both platforms. What is wrong (too many, an offset past a buffer's end) is reported by the launch.
/// So is an argument of another name or type than the kernel's at its place, in debug builds: release builds keep no names.
#[derive(Clone)]
pub struct Args {
    values: Vec<u64>,
    /// Bit i: slot i has 8 bytes.
    wide: u64,
    buffers: Vec<DeviceBuffer>,
    wrong: Option<&'static str>,
    #[cfg(debug_assertions)]
    given: Vec<(Kind, Name)>,
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
            #[cfg(debug_assertions)]
            given: Vec::with_capacity(12),
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

    #[cfg(debug_assertions)]
    fn add(mut self, name: impl Into<Name>, kind: Kind, value: u64) -> Self {
        self.given.push((kind, name.into()));
        self.push(value, kind.is_wide())
    }

    #[cfg(not(debug_assertions))]
    #[inline]
    fn add(self, _: impl Into<Name>, kind: Kind, value: u64) -> Self {
        self.push(value, kind.is_wide())
    }

    /// The address of `buffer` plus `byte_offset`. The launch keeps the buffer alive.
    #[inline]
    pub fn buffer(self, name: impl Into<Name>, buffer: &DeviceBuffer, byte_offset: u64) -> Self {
        let address = buffer.address().wrapping_add(byte_offset);
        self.keep(buffer, byte_offset)
            .add(name, Kind::Pointer, address)
    }

    fn keep(mut self, buffer: &DeviceBuffer, byte_offset: u64) -> Self {
        if byte_offset > buffer.len() {
            self.wrong = Some("a byte offset past the end of its buffer");
        }
        self.buffers.push(buffer.clone());
        self
    }

    /// The address of a buffer plus a byte offset, as [`Args::buffer`] takes it, or a null pointer.
    #[inline]
    pub fn buffer_or_null(
        self,
        name: impl Into<Name>,
        place: Option<(&DeviceBuffer, u64)>,
    ) -> Self {
        match place {
            Some((buffer, byte_offset)) => self.buffer(name, buffer, byte_offset),
            None => self.null(name),
        }
    }

    /// A null pointer.
    #[inline]
    pub fn null(self, name: impl Into<Name>) -> Self {
        self.add(name, Kind::Pointer, 0)
    }

    /// An address that the caller keeps valid (pinned memory, say).
    #[inline]
    pub fn address(self, name: impl Into<Name>, address: u64) -> Self {
        self.add(name, Kind::Pointer, address)
    }

    /// A 32-bit unsigned scalar.
    #[inline]
    pub fn u32(self, name: impl Into<Name>, value: u32) -> Self {
        self.add(name, Kind::U32, u64::from(value))
    }

    /// A 32-bit signed scalar.
    #[inline]
    pub fn i32(self, name: impl Into<Name>, value: i32) -> Self {
        self.add(name, Kind::I32, u64::from(value.cast_unsigned()))
    }

    /// A 32-bit float.
    #[inline]
    pub fn f32(self, name: impl Into<Name>, value: f32) -> Self {
        self.add(name, Kind::F32, u64::from(value.to_bits()))
    }

    /// A 64-bit unsigned scalar.
    #[inline]
    pub fn u64(self, name: impl Into<Name>, value: u64) -> Self {
        self.add(name, Kind::U64, value)
    }

    /// A 64-bit signed scalar.
    #[inline]
    pub fn i64(self, name: impl Into<Name>, value: i64) -> Self {
        self.add(name, Kind::I64, value.cast_unsigned())
    }

    /// Scalars of 32 bits under names in the same order.
    #[inline]
    pub(super) fn u32s<const N: usize>(self, names: [&'static str; N], values: [u32; N]) -> Self {
        let pairs = names.into_iter().zip(values);
        pairs.fold(self, |args, (name, value)| args.u32(name, value))
    }

    /// Signed scalars of 64 bits, likewise.
    #[inline]
    pub(super) fn i64s<const N: usize>(self, names: [&'static str; N], values: [i64; N]) -> Self {
        let pairs = names.into_iter().zip(values);
        pairs.fold(self, |args, (name, value)| args.i64(name, value))
    }

    /// These and then others.
    pub(super) fn append(mut self, other: Args) -> Self {
        for (i, value) in other.values.iter().enumerate() {
            self = self.push(*value, other.wide >> i & 1 == 1);
        }
        self.buffers.extend(other.buffers);
        self.wrong = self.wrong.or(other.wrong);
        #[cfg(debug_assertions)]
        self.given.extend(other.given);
        self
    }

    /// What they are and their names.
    #[cfg(debug_assertions)]
    pub(super) fn given(&self) -> &[(Kind, Name)] {
        &self.given
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
