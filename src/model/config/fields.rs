//! The fields of a JSON object of a configuration: read by type and range, refused with their names.

use super::limits;
use crate::formats::brief;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::path::Path;

/// An object of a JSON file, read with checks. `null` counts as absent.
pub struct Fields<'a> {
    path: &'a Path,
    object: &'a Map<String, Value>,
    /// What stands before the keys in messages.
    prefix: String,
}

impl<'a> Fields<'a> {
    pub(super) fn new(
        path: &'a Path,
        object: &'a Map<String, Value>,
        prefix: impl Into<String>,
    ) -> Fields<'a> {
        Fields {
            path,
            object,
            prefix: prefix.into(),
        }
    }

    pub(in crate::model) fn bad(&self, key: &str, what: impl std::fmt::Display) -> Error {
        Error::InvalidFile(format!(
            "{}: {}{key}: {what}",
            self.path.display(),
            self.prefix
        ))
    }

    pub(in crate::model) fn unsupported(&self, key: &str, what: impl std::fmt::Display) -> Error {
        Error::Unsupported(format!(
            "{}: {}{key}: {what}",
            self.path.display(),
            self.prefix
        ))
    }

    /// The keys that are there, with their values.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let entries = self.object.iter().filter(|(_, value)| !value.is_null());
        entries.map(|(key, value)| (key.as_str(), value))
    }

    /// Whether the object lies within another one.
    pub(super) fn is_inner(&self) -> bool {
        !self.prefix.is_empty()
    }

    /// The file, for messages.
    pub(super) fn file(&self) -> &'a Path {
        self.path
    }

    pub(in crate::model) fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// The object at `key`.
    pub(in crate::model) fn fields(&self, key: &str) -> Result<Option<Fields<'a>>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(Fields::new(
                self.path,
                object,
                format!("{}{key}.", self.prefix),
            ))),
            Some(other) => Err(self.bad(
                key,
                format_args!("{} where an object is needed", brief(other)),
            )),
        }
    }

    pub(in crate::model) fn text(&self, key: &str) -> Result<Option<&'a str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => {
                Err(self.bad(key, format_args!("{} where a text is needed", brief(other))))
            }
        }
    }

    pub(in crate::model) fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(self.bad(
                key,
                format_args!("{} where true or false is needed", brief(other)),
            )),
        }
    }

    /// An integer within `range` (written with or without a fraction of zero).
    pub(in crate::model) fn integer(
        &self,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<usize>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let whole = |v: f64| (v.fract() == 0.0 && (0.0..=9e15).contains(&v)).then_some(v as u64);
        let number = value.as_u64().or_else(|| value.as_f64().and_then(whole));
        match number.filter(|number| range.contains(number)) {
            Some(number) => Ok(usize::try_from(number).ok()),
            None => Err(self.bad(
                key,
                format_args!(
                    "{} is not an integer within {}..={}",
                    brief(value),
                    range.start(),
                    range.end()
                ),
            )),
        }
    }

    /// As [`Fields::integer`], an error when the key is missing.
    pub(in crate::model) fn needed(&self, key: &str, range: RangeInclusive<u64>) -> Result<usize> {
        self.integer(key, range)?
            .ok_or_else(|| self.bad(key, "missing"))
    }

    /// A number within `range`.
    pub(in crate::model) fn number(
        &self,
        key: &str,
        range: RangeInclusive<f64>,
    ) -> Result<Option<f64>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.as_f64().filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.bad(
                key,
                format_args!(
                    "{} is not a number within {}..={}",
                    brief(value),
                    range.start(),
                    range.end()
                ),
            )),
        }
    }

    /// A number above 0 that is not absurd.
    pub(in crate::model) fn positive(&self, key: &str) -> Result<Option<f32>> {
        Ok(self.number(key, 1e-9..=1e9)?.map(|number| number as f32))
    }

    /// An ε of norms.
    pub(in crate::model) fn norm_eps(&self, key: &str, default: f64) -> Result<f32> {
        Ok(self.number(key, limits::NORM_EPS)?.unwrap_or(default) as f32)
    }

    /// Dimensions of a head that RoPE turns: `partial_rotary_factor` of them.
    pub(in crate::model) fn rotated(&self, head_dim: usize, default: f64) -> Result<usize> {
        const KEY: &str = "partial_rotary_factor";
        let inner = match self.fields("rope_parameters")? {
            Some(parameters) => parameters.number(KEY, 0.0..=1.0)?,
            None => None,
        };
        let share = inner.or(self.number(KEY, 0.0..=1.0)?).unwrap_or(default);
        match (head_dim as f64 * share) as usize {
            0 => Err(self.bad(
                KEY,
                format_args!("{share} of {head_dim} dimensions is none"),
            )),
            dims => Ok(dims),
        }
    }

    /// Whether the key is there and says `null`.
    pub(in crate::model) fn is_null(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(Value::is_null)
    }

    /// One of these names for each of so many layers.
    pub(in crate::model) fn kinds<const N: usize>(
        &self,
        key: &str,
        layers: usize,
        names: [&str; N],
    ) -> Result<Option<Vec<usize>>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let place = |kind: &Value| {
            let place = names.iter().position(|name| kind.as_str() == Some(*name));
            place.ok_or_else(|| {
                let what = format_args!("{} is no kind of layer that is known", brief(kind));
                self.unsupported(key, what)
            })
        };
        let kinds: Vec<usize> = list.iter().take(layers).map(place).collect::<Result<_>>()?;
        match kinds.len() < layers {
            true => Err(self.bad(
                key,
                format_args!("{} kinds of {layers} layers", kinds.len()),
            )),
            false => Ok(Some(kinds)),
        }
    }

    /// Whether each of so many layers has no rotation: `no_rope_layers` (1: it turns, in spite of the key), else every
    /// `no_rope_layer_interval`th.
    pub(in crate::model) fn unturned(&self, layers: usize) -> Result<Vec<bool>> {
        let every = self.integer("no_rope_layer_interval", 1..=1024)?;
        let every = every.unwrap_or(4);
        let Some(list) = self.get("no_rope_layers") else {
            return Ok((0..layers).map(|layer| (layer + 1) % every == 0).collect());
        };
        let numbers = list.as_array().map(Vec::as_slice).unwrap_or_default();
        let numbers = numbers.iter().map(|n| n.as_u64().map(|n| n == 0));
        match numbers.collect::<Option<Vec<bool>>>() {
            Some(unturned) if unturned.len() == layers => Ok(unturned),
            _ => {
                let what = format_args!("not a number for each of {layers} layers");
                Err(self.bad("no_rope_layers", what))
            }
        }
    }

    /// `sliding_window`, if it is there and not 0.
    pub(in crate::model) fn window(&self) -> Result<Option<usize>> {
        let window = self.integer("sliding_window", 0..=1 << 30)?;
        Ok(window.filter(|window| *window > 0))
    }
}
