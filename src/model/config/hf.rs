//! A config from `config.json` and `generation_config.json` of a model folder.

use super::{Activation, Config, Feed, RopeScaling, keys, limits, rope, unknown_family};
use crate::formats::brief;
use crate::formats::folder::Folder;
use crate::model::families;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

impl Config {
    /// Reads the config of a model folder. `has_head`: the files hold an output head of their own,
    /// which decides where the config does not say.
    pub fn from_folder(folder: &Folder, has_head: bool) -> Result<Config> {
        let path = folder.path().join("config.json");
        let top = folder.config();
        // Models with vision or sound keep the language model's numbers in `text_config`.
        let (fields, prefix) = match top.get("text_config") {
            Some(Value::Object(text)) => (text, "text_config."),
            _ => (top, ""),
        };
        let outer = Fields::new(&path, top, "");
        let fields = Fields::new(&path, fields, prefix);
        let Some(model_type) = fields.text("model_type")?.or(outer.text("model_type")?) else {
            return Err(fields.bad("model_type", "missing"));
        };
        let Some(family) = families::of_model_type(model_type) else {
            return Err(unknown_family(&path, model_type));
        };
        keys::check(&outer, &fields, family)?;
        // What the family's config need not say.
        let size = |key: &str, range| match fields.integer(key, range)? {
            Some(size) => Ok(size),
            None => match family.sizes.iter().find(|(name, _)| *name == key) {
                Some((_, size)) => Ok(*size),
                None => Err(fields.bad(key, "missing")),
            },
        };
        let optional = |key: &str, range| match fields.integer(key, range)? {
            Some(size) => Ok::<_, Error>(Some(size)),
            None => Ok(family
                .sizes
                .iter()
                .find(|(name, _)| *name == key)
                .map(|s| s.1)),
        };
        let hidden_size = size("hidden_size", limits::WIDTHS)?;
        let heads = size("num_attention_heads", limits::HEADS)?;
        let head_dim = match optional("head_dim", limits::HEAD_DIM)? {
            Some(head_dim) => head_dim,
            None if hidden_size.is_multiple_of(heads) => hidden_size / heads,
            None => {
                return Err(fields.bad(
                    "num_attention_heads",
                    format_args!("{heads} does not divide hidden_size {hidden_size}"),
                ));
            }
        };
        let layers = size("num_hidden_layers", limits::LAYERS)?;
        let context = fields.integer("max_position_embeddings", limits::CONTEXT)?;
        let context_length = context.unwrap_or(family.context);
        let rope = rope::read(&fields, context_length, family.rope_theta)?;
        let vocab_size = size("vocab_size", limits::VOCABULARY)?;
        let tied = fields.flag("tie_word_embeddings")?;
        let tied = tied.or(outer.flag("tie_word_embeddings")?);
        let attention_bias = fields.flag("attention_bias")?.unwrap_or(false);
        let mut config = Config {
            family,
            name: name(folder, top),
            hidden_size,
            // Of no use where there are experts.
            intermediate_size: optional("intermediate_size", limits::WIDTHS)?.unwrap_or(0),
            experts: None,
            parts: Vec::new(),
            latent: None,
            gemma4: None,
            recurrent: None,
            delta: None,
            layers,
            predicting: 0,
            heads,
            kv_heads: optional("num_key_value_heads", limits::HEADS)?.unwrap_or(heads),
            head_dim,
            vocab_size,
            context_length,
            norm_eps: fields
                .number("rms_norm_eps", limits::NORM_EPS)?
                .unwrap_or(1e-6) as f32,
            rope_theta: rope.theta as f32,
            rope_dims: head_dim,
            rope_interleaved: false,
            rope_scaling: rope.scaling,
            tied_embeddings: tied.unwrap_or(!has_head),
            attention_bias,
            output_bias: attention_bias,
            head_bias: false,
            mlp_bias: fields.flag("mlp_bias")?.unwrap_or(false),
            form: family.form,
            sliding_window: None,
            full_layers: Vec::new(),
            unturned_layers: Vec::new(),
            stop_tokens: stop_tokens(folder, &outer, &fields, vocab_size)?,
        };
        config.form.activation = activation(&fields, config.form.activation)?;
        layer_types(&fields, &mut config)?;
        config.form.local_rope_theta = rope.local_theta.map(|theta| theta as f32);
        (family.read)(&fields, &mut config)?;
        let is_dense = |layer| matches!(config.parts(layer).mlp, Feed::Dense(0));
        if (0..config.layers).any(is_dense) {
            return Err(fields.bad("intermediate_size", "missing"));
        }
        config.check(&path)
    }
}

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

/// The name the file gives itself, else the folder's.
fn name(folder: &Folder, config: &Map<String, Value>) -> String {
    let given = config.get("_name_or_path").and_then(Value::as_str);
    let given = given.filter(|name| !name.is_empty());
    match given.and_then(|name| name.rsplit(['/', '\\']).find(|part| !part.is_empty())) {
        Some(name) => name.to_string(),
        None => folder
            .path()
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
    }
}

/// The MLP's function: of the family's kind, in the form that the config names.
fn activation(fields: &Fields, of_family: Activation) -> Result<Activation> {
    let key = match fields.get("hidden_activation") {
        Some(_) => "hidden_activation",
        None => "hidden_act",
    };
    let Some(name) = fields.text(key)? else {
        return Ok(of_family);
    };
    let is_gelu = |kind| matches!(kind, Activation::Gelu | Activation::GeluTanh);
    match Activation::named(name) {
        Some(kind) if kind == of_family || is_gelu(kind) && is_gelu(of_family) => Ok(kind),
        _ => {
            let what = format_args!("{:?}; {of_family:?} is supported", brief(name));
            Err(fields.unsupported(key, what))
        }
    }
}

/// The windows of the layers that `layer_types` lists.
fn layer_types(fields: &Fields, config: &mut Config) -> Result<()> {
    // Such a family has layers of its own kinds.
    if config.family.keys.contains(&"layer_types") {
        return Ok(());
    }
    let names = ["sliding_attention", "full_attention"];
    let Some(kinds) = fields.kinds("layer_types", config.layers, names)? else {
        return Ok(());
    };
    config.set_windows(fields.window()?, |layer| kinds[layer] == 0);
    Ok(())
}

/// `eos_token_id` of generation_config.json, else of config.json: a number or a list of them. An
/// id outside the vocabulary can never be generated and is left out.
fn stop_tokens(
    folder: &Folder,
    outer: &Fields,
    fields: &Fields,
    vocab_size: usize,
) -> Result<Vec<u32>> {
    const KEY: &str = "eos_token_id";
    let path: PathBuf = folder.path().join("generation_config.json");
    let generation = Fields::new(&path, folder.generation_config(), "");
    let mut stop = Vec::new();
    let found = [&generation, outer, fields]
        .into_iter()
        .find_map(|fields| Some((fields, fields.get(KEY)?)));
    let Some((fields, value)) = found else {
        return Ok(stop);
    };
    let ids = match value {
        Value::Array(ids) => ids.as_slice(),
        one => std::slice::from_ref(one),
    };
    for id in ids {
        let Some(number) = id.as_i64() else {
            return Err(fields.bad(KEY, format_args!("{} is not a token id", brief(id))));
        };
        if let Ok(id) = u32::try_from(number)
            && (id as usize) < vocab_size
            && !stop.contains(&id)
        {
            stop.push(id);
        }
    }
    Ok(stop)
}

/// What the config says about RoPE.
pub(super) struct Rope {
    pub(super) theta: f64,
    /// Of layers with a window, where the config names one of their own.
    pub(super) local_theta: Option<f64>,
    pub(super) scaling: RopeScaling,
}
