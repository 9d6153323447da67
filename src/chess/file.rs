//! A network's file: gzip or plain, a message of protocol buffers, tensors in four encodings.

use super::protobuf::{Fields, Value};
use super::schema::{Field, Kind, NET};
use crate::error::said;
use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use half::{bf16, f16};
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// The first field of every network.
const MAGIC: u64 = 0x1c0;
/// Its bytes: field 1, 32 bits.
const START: [u8; 5] = [0x0d, 0xc0, 1, 0, 0];
/// The newest format that is understood: what says it needs a newer lc0 is refused.
const NEWEST: (u64, u64) = (0, 33);
/// A version that test networks carry, which every reader takes.
const ANY_VERSION: (u64, u64, u64) = (97, 98, 99);
/// Weights hardly get smaller by gzip; what grows more than this is no network but a bomb.
const MOST_GROWTH: u64 = 256;
/// Small files may grow to this whatever their size is.
const SMALL: u64 = 64 << 20;
/// No network is larger.
const LARGEST: u64 = 4 << 30;
/// Messages of a repeated field: more layers than any network has.
const MOST_REPEATED: usize = 4096;

/// How a tensor's numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Linear16,
    F16,
    Bf16,
    F32,
}

/// A tensor, not yet decoded.
#[derive(Debug, Clone)]
struct Layer {
    range: Range<usize>,
    encoding: Encoding,
    min: f32,
    max: f32,
}

/// A network's file, read and taken apart; tensors are decoded when they are asked for.
pub struct File {
    name: String,
    data: Vec<u8>,
    layers: BTreeMap<String, Layer>,
    numbers: BTreeMap<String, u64>,
    /// Messages by path; of repeated ones how many.
    messages: BTreeMap<String, usize>,
}

impl File {
    /// Reads a network.
    ///
    /// # Errors
    /// `Io`; `InvalidFile` for what is no network or damaged; `Unsupported` for networks of newer versions and
    /// ONNX; `OutOfMemory`. All name the file, and the field where there is one.
    pub fn open(path: &Path) -> Result<File> {
        let name = path.display().to_string();
        let io = |e: std::io::Error| Error::of_file(path, &e);
        let file = std::fs::File::open(path).map_err(io)?;
        let facts = file.metadata().map_err(io)?;
        if !facts.is_file() {
            return Err(Error::Io(format!("{name}: not a regular file")));
        }
        let data = read(file, LARGEST, &name)?;
        File::parse(&name, data)
    }

    /// A network's bytes, gzip or plain; `name` is for messages.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<File> {
        let data = match bytes.starts_with(&[0x1f, 0x8b]) {
            true => unpack(&bytes, name)?,
            false => bytes,
        };
        if data.starts_with(b"1\n") || data.starts_with(b"2\n") {
            return Err(Error::Unsupported(format!(
                "{name}: a network in the old text format: convert it to .pb.gz"
            )));
        }
        let mut file = File {
            name: name.into(),
            layers: BTreeMap::new(),
            numbers: BTreeMap::new(),
            messages: BTreeMap::new(),
            data: Vec::new(),
        };
        let other = || {
            Error::InvalidFile(format!(
                "{name}: no network of Leela Chess Zero (field magic is not {MAGIC:#x})"
            ))
        };
        // Damage is told of networks only: other files have no fields.
        file.message(&data, 0..data.len(), NET, "")
            .map_err(|damage| {
                if data.starts_with(&START) {
                    damage
                } else {
                    other()
                }
            })?;
        file.data = data;
        if file.number("magic") != Some(MAGIC) {
            return Err(other());
        }
        file.check_version()?;
        Ok(file)
    }

    fn check_version(&self) -> Result<()> {
        let part = |part: &str| self.number(&format!("min_version.{part}")).unwrap_or(0);
        let version = (part("major"), part("minor"), part("patch"));
        if version != ANY_VERSION && (version.0, version.1) > NEWEST {
            return Err(Error::Unsupported(format!(
                "{}: field min_version: the network needs lc0 {}.{}.{}, this library knows networks up to \
                 {}.{}: update the library",
                self.name, version.0, version.1, version.2, NEWEST.0, NEWEST.1
            )));
        }
        Ok(())
    }

    /// Takes a message apart; the depth is that of the schema.
    fn message(
        &mut self,
        data: &[u8],
        range: Range<usize>,
        schema: &[Field],
        path: &str,
    ) -> Result<()> {
        let damaged = |name: &str, at: &str, what: &str| {
            let at = if at.is_empty() { "the network" } else { at };
            Error::InvalidFile(format!("{name}: {at} is damaged: {what}"))
        };
        let mut fields = Fields::new(data, range);
        loop {
            let next = fields.next();
            let Some((number, value)) = next.map_err(|e| damaged(&self.name, path, &e))? else {
                return Ok(());
            };
            let Some(field) = schema.iter().find(|field| field.number == number) else {
                continue;
            };
            let at = match path {
                "" => field.name.to_string(),
                path => format!("{path}.{}", field.name),
            };
            let fresh = match (field.kind, value) {
                (Kind::Number, Value::Varint(value)) => {
                    self.numbers.insert(at.clone(), value).is_none()
                }
                (Kind::Number, Value::Fixed32(value)) => {
                    self.numbers.insert(at.clone(), value.into()).is_none()
                }
                (Kind::Bytes, Value::Bytes(_)) => self.messages.insert(at.clone(), 1).is_none(),
                (Kind::Layer, Value::Bytes(range)) => {
                    let layer = self.layer_at(data, range, &at)?;
                    self.layers.insert(at.clone(), layer).is_none()
                }
                (Kind::Message(schema), Value::Bytes(range)) => {
                    let fresh = self.messages.insert(at.clone(), 1).is_none();
                    self.message(data, range, schema, &at)?;
                    fresh
                }
                (Kind::Messages(schema), Value::Bytes(range)) => {
                    let count = self.messages.entry(at.clone()).or_insert(0);
                    let place = *count;
                    *count += 1;
                    if place >= MOST_REPEATED {
                        return Err(damaged(&self.name, &at, "there are too many of it"));
                    }
                    self.message(data, range, schema, &format!("{at}[{place}]"))?;
                    true
                }
                _ => return Err(damaged(&self.name, &at, "it is of another type")),
            };
            if !fresh {
                return Err(damaged(&self.name, &at, "it is there twice"));
            }
        }
    }

    fn layer_at(&self, data: &[u8], range: Range<usize>, path: &str) -> Result<Layer> {
        let damaged =
            |what: String| Error::InvalidFile(format!("{}: {path} is damaged: {what}", self.name));
        let mut layer = Layer {
            range: 0..0,
            encoding: Encoding::Linear16,
            min: 0.0,
            max: 0.0,
        };
        let mut fields = Fields::new(data, range);
        while let Some((number, value)) = fields.next().map_err(damaged)? {
            match (number, value) {
                (1, Value::Fixed32(bits)) => layer.min = f32::from_bits(bits),
                (2, Value::Fixed32(bits)) => layer.max = f32::from_bits(bits),
                (3, Value::Bytes(range)) => layer.range = range,
                (4, Value::Varint(encoding)) => {
                    layer.encoding = match encoding {
                        0 | 1 => Encoding::Linear16,
                        2 => Encoding::F16,
                        3 => Encoding::Bf16,
                        4 => Encoding::F32,
                        other => {
                            let what = format!("weights in encoding {other}");
                            return Err(Error::Unsupported(format!(
                                "{}: {path}: {what}",
                                self.name
                            )));
                        }
                    }
                }
                (1..=4, _) => return Err(damaged(format!("field {number} is of another type"))),
                _ => {}
            }
        }
        if !layer.range.len().is_multiple_of(layer.width()) {
            let what = format!("{} bytes are no whole numbers", layer.range.len());
            return Err(damaged(what));
        }
        if layer.encoding == Encoding::Linear16 && !(layer.min.is_finite() && layer.max.is_finite())
        {
            return Err(damaged("its range is not finite".into()));
        }
        Ok(layer)
    }

    /// The file's name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A number, by path.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.numbers.get(path).copied()
    }

    /// How many messages there are at a path.
    pub fn count(&self, path: &str) -> usize {
        self.messages.get(path).copied().unwrap_or(0)
    }

    /// Numbers of a tensor of the weights; 0 if it is absent (an empty one is).
    pub fn len(&self, path: &str) -> usize {
        let layer = self.layers.get(&format!("weights.{path}"));
        layer.map_or(0, |layer| layer.range.len() / layer.width())
    }

    /// Whether a tensor of the weights is there.
    pub fn has(&self, path: &str) -> bool {
        self.len(path) > 0
    }

    /// Numbers in all tensors.
    pub fn parameters(&self) -> u64 {
        let layers = self.layers.values();
        layers.map(|l| (l.range.len() / l.width()) as u64).sum()
    }

    /// An error about a field of the weights.
    pub fn wrong(&self, path: &str, what: impl std::fmt::Display) -> Error {
        Error::InvalidFile(format!("{}: weights.{path}: {what}", self.name))
    }

    /// The numbers of a tensor of the weights.
    ///
    /// # Errors
    /// `InvalidFile` if it is absent or holds numbers that are not finite; `OutOfMemory`.
    pub fn layer(&self, path: &str) -> Result<Vec<f32>> {
        let layer = self.layers.get(&format!("weights.{path}"));
        let Some(layer) = layer.filter(|layer| !layer.range.is_empty()) else {
            return Err(self.wrong(path, "the network has no such tensor, which it needs"));
        };
        let bytes = &self.data[layer.range.clone()];
        let mut numbers = Vec::new();
        let count = bytes.len() / layer.width();
        numbers.try_reserve_exact(count).map_err(|_| {
            Error::OutOfMemory(format!("{}: {path} does not fit the memory", self.name))
        })?;
        let pairs = bytes.chunks_exact(2);
        let pairs = pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        match layer.encoding {
            Encoding::Linear16 => numbers.extend(pairs.map(|q| {
                let t = f32::from(q) / 65535.0;
                layer.min * (1.0 - t) + layer.max * t
            })),
            Encoding::F16 => numbers.extend(pairs.map(|bits| f16::from_bits(bits).to_f32())),
            Encoding::Bf16 => numbers.extend(pairs.map(|bits| bf16::from_bits(bits).to_f32())),
            Encoding::F32 => {
                let words = bytes.chunks_exact(4);
                numbers.extend(words.map(|w| f32::from_le_bytes([w[0], w[1], w[2], w[3]])));
            }
        }
        match numbers.iter().position(|x| !x.is_finite()) {
            Some(at) => Err(self.wrong(path, format!("number {at} is not finite"))),
            None => Ok(numbers),
        }
    }

    /// The numbers of a tensor that must have `count` of them.
    ///
    /// # Errors
    /// As [`File::layer`], and if there are more or fewer.
    pub fn exactly(&self, path: &str, count: usize) -> Result<Vec<f32>> {
        let numbers = self.layer(path)?;
        match numbers.len() == count {
            true => Ok(numbers),
            false => {
                let what = format!("{} numbers where {count} are needed", numbers.len());
                Err(self.wrong(path, what))
            }
        }
    }
}

impl Layer {
    /// Bytes of a number.
    fn width(&self) -> usize {
        match self.encoding {
            Encoding::F32 => 4,
            _ => 2,
        }
    }
}

/// Reads at most `limit` bytes; more are an error.
fn read(from: impl Read, limit: u64, name: &str) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::OutOfMemory => {
            Error::OutOfMemory(format!("{name}: the network does not fit the memory"))
        }
        std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData => {
            Error::InvalidFile(format!("{name}: damaged gzip data: {e}"))
        }
        std::io::ErrorKind::UnexpectedEof => {
            Error::InvalidFile(format!("{name}: the gzip data ends too early"))
        }
        _ => Error::Io(format!("{name}: {}", said(&e))),
    };
    from.take(limit + 1)
        .read_to_end(&mut data)
        .map_err(failed)?;
    match data.len() as u64 > limit {
        true => Err(Error::InvalidFile(format!(
            "{name}: more than {limit} bytes: no network of this file's size is so large"
        ))),
        false => Ok(data),
    }
}

fn unpack(bytes: &[u8], name: &str) -> Result<Vec<u8>> {
    let limit = (bytes.len() as u64).saturating_mul(MOST_GROWTH);
    read(
        MultiGzDecoder::new(bytes),
        limit.clamp(SMALL, LARGEST),
        name,
    )
}
