//! Model folders: config files, chat template, safetensors shards.

use super::brief;
use super::regular::read_text;
use super::safetensors::{SafeTensors, Tensor};
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Largest JSON or template file that is read whole (tokenizer.json is not read here).
const MAX_TEXT_FILE: u64 = 64 << 20;

/// An opened model folder. Immutable: any thread.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    config: Map<String, Value>,
    generation_config: Map<String, Value>,
    chat_template: Option<String>,
    shards: Vec<SafeTensors>,
    /// Tensor name → shard and place in it.
    places: HashMap<String, (usize, usize)>,
}

impl Folder {
    /// Reads the small files and maps the shards; no tensor data is read.
    pub fn open(path: &Path) -> Result<Folder> {
        let config = read_object(&path.join("config.json"))?.ok_or_else(|| {
            Error::Io(format!(
                "{}: config.json is missing; a model folder has config.json, tokenizer.json and \
                 model*.safetensors",
                path.display()
            ))
        })?;
        let generation_config =
            read_object(&path.join("generation_config.json"))?.unwrap_or_default();
        let chat_template = chat_template(path)?;
        let mut shards = Vec::new();
        let mut places: HashMap<String, (usize, usize)> = HashMap::new();
        for file in shard_files(path)? {
            let shard = SafeTensors::open(&file)?;
            for (index, (name, _)) in shard.tensors().iter().enumerate() {
                if let Some((other, _)) = places.insert(name.clone(), (shards.len(), index)) {
                    let other: Option<&SafeTensors> = shards.get(other);
                    return Err(Error::InvalidFile(format!(
                        "{}: tensor {name} is also in {}",
                        file.display(),
                        other.map_or(&*file, |s| s.path()).display()
                    )));
                }
            }
            shards.push(shard);
        }
        Ok(Folder {
            path: path.to_path_buf(),
            config,
            generation_config,
            chat_template,
            shards,
            places,
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `config.json`.
    pub fn config(&self) -> &Map<String, Value> {
        &self.config
    }

    /// `generation_config.json`; empty when there is none.
    pub fn generation_config(&self) -> &Map<String, Value> {
        &self.generation_config
    }

    /// The chat template's source: `chat_template.jinja`, else `chat_template.json`, else the one in
    /// `tokenizer_config.json` (of several named ones, `default`, else the first).
    pub fn chat_template(&self) -> Option<&str> {
        self.chat_template.as_deref()
    }

    /// The safetensors files.
    pub fn shards(&self) -> &[SafeTensors] {
        &self.shards
    }

    /// A tensor by name, with the file it is in.
    pub fn tensor(&self, name: &str) -> Option<(&Tensor, &Path)> {
        let (shard, index) = *self.places.get(name)?;
        let shard = self.shards.get(shard)?;
        let (_, tensor) = shard.tensors().get(index)?;
        Some((tensor, shard.path()))
    }
}

/// A JSON file that holds an object; `None` when there is none.
fn read_object(path: &Path) -> Result<Option<Map<String, Value>>> {
    let Some(text) = read_text(path, MAX_TEXT_FILE)? else {
        return Ok(None);
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let read = serde_json::from_str(text).or_else(|e| {
        let plain = without_python(text).ok_or(e)?;
        serde_json::from_str(&plain)
    });
    match read {
        Ok(object) => Ok(Some(object)),
        Err(e) => Err(Error::InvalidFile(format!(
            "{}: {}",
            path.display(),
            brief(e)
        ))),
    }
}

/// The text with the largest number in place of Python's `Infinity`, which JSON has no word for; `None` where it has
/// none outside of strings.
fn without_python(text: &str) -> Option<String> {
    const WORD: &str = "Infinity";
    let (mut plain, mut rest, mut found) = (String::with_capacity(text.len()), text, false);
    let mut in_string = false;
    while let Some(next) = rest.chars().next() {
        if !in_string && rest.starts_with(WORD) {
            plain.push_str("1.7976931348623157e308");
            rest = rest.get(WORD.len()..)?;
            found = true;
            continue;
        }
        // What is behind a backslash ends no string.
        let taken = match next {
            '\\' if in_string => rest.chars().take(2).map(char::len_utf8).sum(),
            '"' => {
                in_string = !in_string;
                1
            }
            other => other.len_utf8(),
        };
        plain.push_str(rest.get(..taken)?);
        rest = rest.get(taken..)?;
    }
    found.then_some(plain)
}

fn chat_template(folder: &Path) -> Result<Option<String>> {
    if let Some(template) = read_text(&folder.join("chat_template.jinja"), MAX_TEXT_FILE)? {
        return Ok(Some(template));
    }
    for name in ["chat_template.json", "tokenizer_config.json"] {
        let path = folder.join(name);
        let object = read_object(&path)?.unwrap_or_default();
        match object.get("chat_template") {
            None | Some(Value::Null) => {}
            Some(Value::String(template)) => return Ok(Some(template.clone())),
            Some(Value::Array(named)) => return named_template(&path, named).map(Some),
            Some(_) => return Err(bad_template(&path)),
        }
    }
    Ok(None)
}

/// Of a list of `{name, template}`: `default`, else the first.
fn named_template(path: &Path, named: &[Value]) -> Result<String> {
    let field = |entry: &Value, key: &str| {
        entry
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_string)
            .ok_or_else(|| bad_template(path))
    };
    let mut chosen = None;
    for entry in named {
        let (name, template) = (field(entry, "name")?, field(entry, "template")?);
        if name == "default" {
            return Ok(template);
        }
        chosen.get_or_insert(template);
    }
    chosen.ok_or_else(|| bad_template(path))
}

fn bad_template(path: &Path) -> Error {
    Error::InvalidFile(format!(
        "{}: chat_template is neither a text nor a list of {{name, template}}",
        path.display()
    ))
}

/// All `model*.safetensors` of the folder, sorted; an error when one of a numbered set or of the
/// index is missing.
fn shard_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |e: std::io::Error| Error::of_file(folder, &e);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        // A name that is not UTF-8 is none of the expected ones.
        if let Ok(name) = entry.map_err(io)?.file_name().into_string()
            && name.starts_with("model")
            && name.ends_with(".safetensors")
        {
            names.push(name);
        }
    }
    names.sort();
    let missing = |name: &str, why: &str| {
        Err(Error::Io(format!(
            "{}: {why}, but the file is missing",
            folder.join(name).display()
        )))
    };
    for name in &names {
        let Some((stem, total, digits)) = numbered(name) else {
            continue;
        };
        for part in 1..=total {
            let other = format!("{stem}-{part:0digits$}-of-{total:0digits$}.safetensors");
            if !names.contains(&other) {
                return missing(&other, &format!("a part of the set that {name} belongs to"));
            }
        }
    }
    let index_path = folder.join("model.safetensors.index.json");
    if let Some(index) = read_object(&index_path)? {
        let Some(Value::Object(map)) = index.get("weight_map") else {
            return Err(Error::InvalidFile(format!(
                "{}: weight_map is missing or no object",
                index_path.display()
            )));
        };
        for (tensor, file) in map {
            match file.as_str() {
                Some(file) if names.iter().any(|name| name == file) => {}
                Some(file)
                    if !file.contains(['/', '\\'])
                        && !file.contains(char::is_control)
                        && file.len() < 256 =>
                {
                    return missing(file, "listed in model.safetensors.index.json");
                }
                _ => {
                    return Err(Error::InvalidFile(format!(
                        "{}: weight_map.{} is no file name",
                        index_path.display(),
                        brief(tensor)
                    )));
                }
            }
        }
    }
    if names.is_empty() {
        return Err(Error::Io(format!(
            "{}: no model*.safetensors in this folder",
            folder.display()
        )));
    }
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

/// `stem-00001-of-00003.safetensors` taken apart: stem, 3, digits. Absurd totals are no set.
fn numbered(name: &str) -> Option<(&str, usize, usize)> {
    let (rest, total) = name.strip_suffix(".safetensors")?.rsplit_once("-of-")?;
    let (stem, part) = rest.rsplit_once('-')?;
    let digits = |text: &str| text.len() <= 5 && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(total) || !digits(part) || part.len() != total.len() {
        return None;
    }
    Some((stem, total.parse().ok()?, total.len()))
}
