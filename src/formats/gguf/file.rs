//! An opened GGUF file.

use super::split::Split;
use super::tensor_type::plain_size;
use super::{Value, header};
use crate::formats::{Bytes, MappedFile, Weight};
use crate::{Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An opened GGUF file. Immutable: any thread.
#[derive(Debug)]
pub struct Gguf {
    file: Arc<MappedFile>,
    files: Vec<PathBuf>,
    metadata: HashMap<String, Value>,
    tensors: Vec<Weight>,
    /// The names of all tensors, in file order.
    names: Vec<String>,
    /// Name → what the file says about the tensor.
    entries: HashMap<String, Entry>,
}

/// A tensor, usable or not.
#[derive(Debug)]
struct Entry {
    /// Index into `tensors`, or the name of a type that is not read.
    place: std::result::Result<usize, String>,
    /// Dimensions, contiguous one first, as stored.
    dims: Vec<usize>,
    /// The numbers of a type that is not read but plain.
    plain: Option<Bytes>,
}

impl Gguf {
    /// Maps and validates the file, of a split model all its files, whichever is named; no tensor data is
    /// read.
    pub fn open(path: &Path) -> Result<Gguf> {
        let named = Gguf::open_one(path)?;
        match Split::of(&named)? {
            None => Ok(named),
            Some(split) => split.join(named),
        }
    }

    /// One file, whatever it says of others.
    pub(super) fn open_one(path: &Path) -> Result<Gguf> {
        let file = MappedFile::open(path)?;
        let header = header::read(path, file.bytes())?;
        let mut tensors = Vec::with_capacity(header.tensors.len());
        let mut entries = HashMap::with_capacity(header.tensors.len());
        let mut names = Vec::with_capacity(header.tensors.len());
        for info in header.tensors {
            let plain = match info.format {
                Err(_) if !info.range.is_empty() => file.slice(info.range.clone()),
                _ => None,
            };
            let place = match info.format {
                Ok(format) => {
                    let data = file.slice(info.range).ok_or_else(|| {
                        Error::Internal(format!("tensor {} outside the file", info.name))
                    })?;
                    let weight = Weight::new(
                        info.name.clone(),
                        format,
                        info.rows,
                        info.cols,
                        data,
                        None,
                        None,
                    );
                    let stack = info.dims.iter().skip(2).product();
                    let weight = weight.and_then(|weight| weight.stacked(stack));
                    tensors.push(weight.map_err(|e| with_path(path, e))?);
                    Ok(tensors.len() - 1)
                }
                Err(type_name) => Err(type_name),
            };
            let dims = info.dims;
            names.push(info.name.clone());
            entries.insert(info.name, Entry { place, dims, plain });
        }
        Ok(Gguf {
            files: vec![path.to_path_buf()],
            file,
            metadata: header.metadata,
            tensors,
            names,
            entries,
        })
    }

    /// Adds the tensors of another file of the same model.
    pub(super) fn add(&mut self, other: Gguf) -> Result<()> {
        let first = self.tensors.len();
        self.tensors.extend(other.tensors);
        self.files.extend(other.files);
        for (name, mut entry) in other.entries {
            if let Ok(place) = &mut entry.place {
                *place += first;
            }
            if self.entries.contains_key(&name) {
                return Err(Error::InvalidFile(format!(
                    "{}: tensor {name} is in another file of the split too",
                    other.file.path().display()
                )));
            }
            self.entries.insert(name, entry);
        }
        self.names.extend(other.names);
        Ok(())
    }

    /// Tensors, usable or not.
    pub(super) fn count(&self) -> usize {
        self.entries.len()
    }

    /// The path it was opened by, for messages; of a split model the first file's.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// All files: several of a split model.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    /// A metadata value.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    /// All metadata, in no order.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.metadata
            .iter()
            .map(|(key, value)| (key.as_str(), value))
    }

    /// The names of all tensors, also of those in formats that are not read, in file order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// All tensors in file order: the name, the tensor or the name of a type that is not read, the dimensions
    /// as stored.
    pub fn all(
        &self,
    ) -> impl Iterator<Item = (&str, std::result::Result<&Weight, &str>, &[usize])> {
        self.names.iter().filter_map(|name| {
            let entry = self.entries.get(name)?;
            let tensor = match &entry.place {
                Ok(place) => Ok(self.tensors.get(*place)?),
                Err(type_name) => Err(type_name.as_str()),
            };
            Some((name.as_str(), tensor, &*entry.dims))
        })
    }

    /// All tensors of a type that is read, in file order.
    pub fn tensors(&self) -> &[Weight] {
        &self.tensors
    }

    /// A tensor by name; `None` when there is none or its type is not read.
    pub fn tensor(&self, name: &str) -> Option<&Weight> {
        let index = *self.entries.get(name)?.place.as_ref().ok()?;
        self.tensors.get(index)
    }

    /// A tensor by name; `Ok(None)` when there is none, an error naming the type when it is one
    /// that is not read.
    pub fn find(&self, name: &str) -> Result<Option<&Weight>> {
        match self.entries.get(name).map(|entry| &entry.place) {
            None => Ok(None),
            Some(Ok(index)) => Ok(self.tensors.get(*index)),
            Some(Err(type_name)) => Err(Error::Unsupported(format!(
                "{}: tensor {name} has type {type_name}; supported are F32, F16, BF16, Q4_0, Q4_1, \
                 Q5_0, Q5_1, Q8_0, Q8_1, all K-, I- and ternary quants, MXFP4 and NVFP4",
                self.path().display()
            ))),
        }
    }

    /// The numbers of a tensor that no weight is of, and their type: I8, I16, I32, I64 or F64; `None` for others.
    ///
    /// # Errors
    /// `InvalidFile` if they do not lie inside the file.
    pub fn plain(&self, name: &str) -> Result<Option<(&str, &Bytes)>> {
        let entry = self.entries.get(name);
        let kind = entry.and_then(|entry| entry.place.as_ref().err());
        let Some((entry, kind)) = entry.zip(kind.filter(|kind| plain_size(kind).is_some())) else {
            return Ok(None);
        };
        let data = entry.plain.as_ref().ok_or_else(|| {
            Error::InvalidFile(format!(
                "{}: tensor {name}: {kind} data of shape {:?} does not lie inside the file, or not at a multiple of \
                 its alignment; the file is truncated or damaged",
                self.path().display(),
                entry.dims
            ))
        })?;
        Ok(Some((kind, data)))
    }

    /// A tensor's dimensions as stored (the contiguous one first), usable or not.
    pub fn dims(&self, name: &str) -> Option<&[usize]> {
        Some(&self.entries.get(name)?.dims)
    }
}

/// Puts the path before the message of an error about a file's content.
fn with_path(path: &Path, error: Error) -> Error {
    match error {
        Error::InvalidFile(message) => Error::InvalidFile(format!("{}: {message}", path.display())),
        other => other,
    }
}
