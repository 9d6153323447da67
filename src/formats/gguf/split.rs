//! Models split over several files, `NAME-00001-of-00003.gguf`: each has tensors of its own and says
//! which of how many it is; the first has the metadata.

use super::{Gguf, Value};
use crate::{Error, Result};
use std::path::PathBuf;

/// The files of a split model.
pub(super) struct Split {
    /// Files.
    count: u64,
    /// The place of the file that was named.
    number: u64,
    /// The folder.
    folder: PathBuf,
    /// What the names begin with.
    stem: String,
}

impl Split {
    /// What a file says about the others; `None` when it is the only one.
    pub(super) fn of(file: &Gguf) -> Result<Option<Split>> {
        let Some((number, count)) = place(file)? else {
            return Ok(None);
        };
        let path = file.path();
        let ending = ending(number, count);
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(stem) = name.and_then(|name| name.strip_suffix(&ending)) else {
            return Err(Error::InvalidFile(format!(
                "{}: is file {} of {count} of a split model, whose name must end with {ending}",
                path.display(),
                number + 1
            )));
        };
        Ok(Some(Split {
            count,
            number,
            folder: path.parent().map(PathBuf::from).unwrap_or_default(),
            stem: stem.to_string(),
        }))
    }

    /// All files as one, `named` among them.
    pub(super) fn join(self, named: Gguf) -> Result<Gguf> {
        let mut named = Some(named);
        let mut open = |number: u64| match &mut named {
            named if number == self.number => match named.take() {
                Some(file) => Ok(file),
                None => Err(Error::Internal("a file of a split twice".into())),
            },
            _ => self.open(number),
        };
        let mut all = open(0)?;
        for number in 1..self.count {
            all.add(open(number)?)?;
        }
        let expected = all.get("split.tensors.count").and_then(Value::as_u64);
        if expected.is_some_and(|expected| expected != all.count() as u64) {
            return Err(Error::InvalidFile(format!(
                "{}: split.tensors.count differs from the {} tensors of the {} files",
                all.path().display(),
                all.count(),
                self.count
            )));
        }
        Ok(all)
    }

    fn open(&self, number: u64) -> Result<Gguf> {
        let name = format!("{}{}", self.stem, ending(number, self.count));
        let path = self.folder.join(name);
        let file = Gguf::open_one(&path)?;
        if place(&file)? == Some((number, self.count)) {
            return Ok(file);
        }
        Err(Error::InvalidFile(format!(
            "{}: split.no and split.count are not those of file {} of {}",
            path.display(),
            number + 1,
            self.count
        )))
    }
}

/// Which of how many files a file is; `None` of a model in one file.
fn place(file: &Gguf) -> Result<Option<(u64, u64)>> {
    let number = |key: &str| match file.get(key) {
        None => Ok(0),
        Some(value) => value.as_u64().ok_or_else(|| {
            Error::InvalidFile(format!("{}: {key} is no number", file.path().display()))
        }),
    };
    let (number, count) = (number("split.no")?, number("split.count")?);
    if count <= 1 {
        return Ok(None);
    }
    if number >= count || count > 99_999 {
        return Err(Error::InvalidFile(format!(
            "{}: split.no is {number} and split.count {count}",
            file.path().display()
        )));
    }
    Ok(Some((number, count)))
}

/// What the name of a file ends with.
fn ending(number: u64, count: u64) -> String {
    format!("-{:05}-of-{count:05}.gguf", number + 1)
}
