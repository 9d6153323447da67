//! Which modules of a model folder are quantized and how: the `quantization` of `config.json`.
//!
//! Forms: `{"group_size", "bits", "mode"?, "<module path>": {…} | true | false, …}`, the same under
//! `quantization_config` (a copy, or where a `quant_method` names another tool's format), at the top
//! or in `text_config`. A module that is not listed is quantized exactly when the files hold
//! `<path>.scales`. What another tool's settings say is read in `method.rs`.

use super::method::Method;
use crate::formats::brief;
use crate::formats::folder::Folder;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// How one module is quantized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) mode: Mode,
    pub(super) bits: u8,
    pub(super) group: u16,
}

/// MLX's modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Affine,
    Mxfp4,
    Mxfp8,
    Nvfp4,
}

impl Mode {
    /// The name in configs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::Affine => "affine",
            Mode::Mxfp4 => "mxfp4",
            Mode::Mxfp8 => "mxfp8",
            Mode::Nvfp4 => "nvfp4",
        }
    }

    /// Default and allowed numbers of bits, default and allowed sizes of groups.
    fn numbers(self) -> (u64, &'static [u64], u64, &'static [u64]) {
        match self {
            Mode::Affine => (4, &[2, 3, 4, 5, 6, 8], 64, &[32, 64, 128]),
            Mode::Mxfp4 => (4, &[4], 32, &[32]),
            Mode::Mxfp8 => (8, &[8], 32, &[32]),
            Mode::Nvfp4 => (4, &[4], 16, &[16]),
        }
    }
}

/// What the config says about one module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Listed as `false`.
    Never,
    /// Listed with settings or as `true`.
    Always(Settings),
    /// Not listed.
    WhereScales(Settings),
    /// There are no settings at all.
    Unsaid,
}

/// The quantization part of a config.
#[derive(Debug)]
pub(super) struct Quantization {
    path: PathBuf,
    /// Where it stands in the config, for messages.
    place: &'static str,
    object: Option<Map<String, Value>>,
    /// Another tool's format.
    method: Option<Method>,
}

impl Quantization {
    /// Finds the settings of a folder's config. Unknown formats of other tools are an error that names
    /// them.
    pub(super) fn read(folder: &Folder) -> Result<Quantization> {
        let path = folder.path().join("config.json");
        let text = folder.config().get("text_config");
        let places = [
            ("quantization", folder.config().get("quantization")),
            (
                "quantization_config",
                folder.config().get("quantization_config"),
            ),
            (
                "text_config.quantization",
                text.and_then(|text| text.get("quantization")),
            ),
            (
                "text_config.quantization_config",
                text.and_then(|text| text.get("quantization_config")),
            ),
        ];
        for (place, value) in places {
            let object = match value {
                None | Some(Value::Null) => continue,
                Some(Value::Object(object)) => object.clone(),
                Some(other) => {
                    return Err(Error::InvalidFile(format!(
                        "{}: {place}: {} where an object is needed",
                        path.display(),
                        brief(other)
                    )));
                }
            };
            let method = Method::read(&object, &path, place)?;
            return Ok(Quantization {
                path,
                place,
                object: Some(object),
                method,
            });
        }
        Ok(Quantization {
            path,
            place: "quantization",
            object: None,
            method: None,
        })
    }

    /// The format of another tool that the config names.
    pub(super) fn method(&self) -> Option<Method> {
        self.method
    }

    /// The rule for `module`. `aliases` are the other names under which it may be listed.
    pub(super) fn rule(&self, module: &str, aliases: &[&str]) -> Result<Rule> {
        let Some(object) = &self.object else {
            return Ok(Rule::Unsaid);
        };
        let listed = std::iter::once(&module)
            .chain(aliases)
            .find_map(|name| Some((*name, object.get(*name)?)));
        match listed {
            Some((_, Value::Bool(false))) => Ok(Rule::Never),
            Some((_, Value::Bool(true))) => self.settings(object, "").map(Rule::Always),
            Some((name, Value::Object(own))) => self.settings(own, name).map(Rule::Always),
            Some((name, other)) => Err(self.bad(name, other, "an object, true or false")),
            None => self.settings(object, "").map(Rule::WhereScales),
        }
    }

    /// Bits and group of an object; what is missing is the default of the mode.
    fn settings(&self, object: &Map<String, Value>, module: &str) -> Result<Settings> {
        let key = |name: &str| match module {
            "" => name.to_string(),
            module => format!("{module}.{name}"),
        };
        let get = |name: &str| object.get(name).filter(|value| !value.is_null());
        let modes = [Mode::Affine, Mode::Mxfp4, Mode::Mxfp8, Mode::Nvfp4];
        let mode = match get("mode") {
            None => Mode::Affine,
            Some(value) => {
                let named = |mode: &Mode| value.as_str() == Some(mode.name());
                modes.into_iter().find(named).ok_or_else(|| {
                    Error::Unsupported(format!(
                        "{}: {}.{} is {}; supported are affine, mxfp4, mxfp8 and nvfp4",
                        self.path.display(),
                        self.place,
                        key("mode"),
                        brief(value)
                    ))
                })?
            }
        };
        let number = |name: &str, default: u64, allowed: &[u64]| match get(name) {
            None => Ok(default),
            Some(value) => value
                .as_u64()
                .filter(|number| allowed.contains(number))
                .ok_or_else(|| {
                    let needed = format!("one of {allowed:?} (mode {})", mode.name());
                    self.bad(&key(name), value, &needed)
                }),
        };
        let (bits, all_bits, group, all_groups) = mode.numbers();
        Ok(Settings {
            mode,
            bits: number("bits", bits, all_bits)? as u8,
            group: number("group_size", group, all_groups)? as u16,
        })
    }

    fn bad(&self, key: &str, found: &Value, needed: &str) -> Error {
        Error::InvalidFile(format!(
            "{}: {}.{key}: {} where {needed} is needed",
            self.path.display(),
            self.place,
            brief(found)
        ))
    }
}
