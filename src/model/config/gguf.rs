//! A config from GGUF metadata.

use super::{Config, Feed, NormKind, gguf_keys, gguf_rope, limits, unknown_family};
use crate::formats::gguf::{Gguf, Value};
use crate::model::families;
use crate::{Error, Result};
use std::ops::RangeInclusive;

/// Spellings of tokens that end a generation whatever the metadata says about them (the list that
/// llama.cpp keeps, without its fill-in-the-middle markers).
const END_TOKENS: [&str; 16] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|eot|>",
    "<|eom|>",
    "<end_of_turn>",
    "<end_of_utterance>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "<｜end▁of▁sentence｜>",
];

/// The ε of RMS norms.
pub const RMS_EPS: &str = "attention.layer_norm_rms_epsilon";

impl Config {
    /// Reads the config that a GGUF file's metadata and tensor names describe.
    pub fn from_gguf(gguf: &Gguf) -> Result<Config> {
        let architecture = match gguf.get("general.architecture").and_then(Value::as_str) {
            Some(architecture) => architecture,
            None => {
                return Err(Error::InvalidFile(format!(
                    "{}: metadata general.architecture is missing or no text",
                    gguf.path().display()
                )));
            }
        };
        let Some(family) = families::of_architecture(architecture) else {
            return Err(unknown_family(gguf.path(), architecture));
        };
        let fields = Fields { gguf, architecture };
        let hidden_size = fields.needed("embedding_length", limits::WIDTHS)?;
        // Models of state spaces alone have none.
        let is_recurrent = fields.get("ssm.inner_size").is_some();
        let range = u64::from(!is_recurrent)..=*limits::HEADS.end();
        let heads = fields.of_some_layers("attention.head_count", range.clone())?;
        let Some(heads) = heads.map(|heads| heads.max(1)) else {
            return Err(fields.bad("attention.head_count", "missing"));
        };
        // A family that lists a key reads it itself, layer by layer.
        let unless_listed = |key: &str, range| match family.gguf_keys.contains(&key) {
            true => Ok(None),
            false => fields.of_some_layers(key, range),
        };
        let kv_heads = unless_listed("attention.head_count_kv", range)?;
        let head_dim = match fields.integer("attention.key_length", limits::HEAD_DIM)? {
            Some(head_dim) => head_dim,
            None if hidden_size.is_multiple_of(heads) => hidden_size / heads,
            None => {
                return Err(fields.bad(
                    "attention.head_count",
                    format_args!("{heads} does not divide the embedding length {hidden_size}"),
                ));
            }
        };
        // Of latent attention these are widths of something else.
        let is_latent = fields.get("attention.kv_lora_rank").is_some();
        if let Some(value) = fields.integer("attention.value_length", limits::HEAD_DIM)?
            && value != head_dim
            && !is_latent
        {
            return Err(Error::Unsupported(format!(
                "{}: values of width {value} beside keys of width {head_dim} \
                 ({architecture}.attention.value_length)",
                gguf.path().display()
            )));
        }
        let rope_dims = fields.integer("rope.dimension_count", limits::HEAD_DIM)?;
        let eps_key = match family.form.norm {
            NormKind::Rms | NormKind::RmsBias => RMS_EPS,
            // Its files have norms of another kind.
            _ if family.gguf_keys.contains(&RMS_EPS) => RMS_EPS,
            NormKind::Layer | NormKind::LayerBias => "attention.layer_norm_epsilon",
        };
        let Some(norm_eps) = fields.number(eps_key, limits::NORM_EPS)? else {
            return Err(fields.bad(eps_key, "missing"));
        };
        gguf_keys::check(&fields, family)?;
        let vocab_size = vocab_size(&fields)?;
        let mut config = Config {
            family,
            name: name(gguf),
            hidden_size,
            // Of no use where there are experts.
            intermediate_size: unless_listed("feed_forward_length", 0..=*limits::WIDTHS.end())?
                .unwrap_or(0),
            experts: None,
            parts: Vec::new(),
            latent: None,
            gemma4: None,
            recurrent: None,
            delta: None,
            layers: fields.needed("block_count", limits::LAYERS)?,
            predicting: 0,
            heads,
            kv_heads: kv_heads.filter(|heads| *heads > 0).unwrap_or(heads),
            head_dim,
            vocab_size,
            context_length: fields.needed("context_length", limits::CONTEXT)?,
            norm_eps: norm_eps as f32,
            rope_theta: fields
                .number("rope.freq_base", limits::ROPE_THETA)?
                .unwrap_or(10_000.0) as f32,
            rope_dims: rope_dims.unwrap_or(head_dim),
            rope_interleaved: false,
            rope_scaling: gguf_rope::scaling(&fields)?,
            tied_embeddings: gguf.dims("output.weight").is_none(),
            attention_bias: gguf.dims("blk.0.attn_q.bias").is_some(),
            output_bias: gguf.dims("blk.0.attn_output.bias").is_some(),
            head_bias: gguf.dims("output.bias").is_some(),
            mlp_bias: gguf.dims("blk.0.ffn_up.bias").is_some(),
            form: family.form,
            sliding_window: None,
            full_layers: Vec::new(),
            unturned_layers: Vec::new(),
            stop_tokens: stop_tokens(gguf, vocab_size),
        };
        (family.read_gguf)(&fields, &mut config)?;
        let is_dense = |layer| matches!(config.parts(layer).mlp, Feed::Dense(0));
        if (0..config.layers).any(is_dense) {
            return Err(fields.bad("feed_forward_length", "missing"));
        }
        config.check(gguf.path())
    }
}

/// Metadata of the architecture, `architecture.key`, with checks.
pub struct Fields<'a> {
    pub(super) gguf: &'a Gguf,
    pub(super) architecture: &'a str,
}

impl Fields<'_> {
    pub(in crate::model) fn bad(&self, key: &str, what: impl std::fmt::Display) -> Error {
        Error::InvalidFile(format!(
            "{}: metadata {}.{key}: {what}",
            self.gguf.path().display(),
            self.architecture
        ))
    }

    pub(in crate::model) fn unsupported(&self, key: &str, what: impl std::fmt::Display) -> Error {
        Error::Unsupported(format!(
            "{}: metadata {}.{key}: {what}",
            self.gguf.path().display(),
            self.architecture
        ))
    }

    /// Says that a key without the architecture before it is missing, where it is.
    pub(in crate::model) fn needs(&self, key: &str) -> Result<()> {
        match self.gguf.get(key) {
            Some(_) => Ok(()),
            None => Err(Error::InvalidFile(format!(
                "{}: metadata {key}: missing",
                self.gguf.path().display()
            ))),
        }
    }

    /// What the file says it is.
    pub(in crate::model) fn architecture(&self) -> &str {
        self.architecture
    }

    /// Rows of a matrix of the file.
    pub(in crate::model) fn rows(&self, tensor: &str) -> Option<usize> {
        self.gguf.dims(tensor)?.get(1).copied()
    }

    /// Whether the file has a tensor.
    pub(in crate::model) fn has(&self, tensor: &str) -> bool {
        self.gguf.dims(tensor).is_some()
    }

    /// A truth value.
    pub(in crate::model) fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match value.as_bool() {
                Some(flag) => Ok(Some(flag)),
                None => Err(self.bad(
                    key,
                    format_args!("{} where true or false is needed", value.kind()),
                )),
            },
        }
    }

    pub(in crate::model) fn get(&self, key: &str) -> Option<&Value> {
        self.gguf.get(&format!("{}.{key}", self.architecture))
    }

    /// An integer within `range`. A per-layer array is taken when all layers agree.
    pub(in crate::model) fn integer(
        &self,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<usize>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let number = match value.integers() {
            Some([first, rest @ ..]) => {
                if rest.iter().any(|other| other != first) {
                    return Err(Error::Unsupported(format!(
                        "{}: metadata {}.{key} differs between layers",
                        self.gguf.path().display(),
                        self.architecture
                    )));
                }
                u64::try_from(*first).ok()
            }
            _ => value.as_u64(),
        };
        let Some(number) = number else {
            return Err(self.bad(
                key,
                format_args!("{} where a count is needed", value.kind()),
            ));
        };
        let fits = usize::try_from(number)
            .ok()
            .filter(|_| range.contains(&number));
        let Some(fits) = fits else {
            return Err(self.bad(
                key,
                format_args!("{number} is not within {}..={}", range.start(), range.end()),
            ));
        };
        Ok(Some(fits))
    }

    /// An integer within `range` that some layers have; the others have 0.
    pub(in crate::model) fn of_some_layers(
        &self,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<usize>> {
        let list = self.get(key).and_then(Value::integers).unwrap_or_default();
        let mut having = list.iter().copied().filter(|number| *number != 0);
        let (Some(first), true) = (having.next(), list.contains(&0)) else {
            return self.integer(key, range);
        };
        let number = u64::try_from(first).ok().filter(|n| range.contains(n));
        match number {
            Some(number) if having.all(|other| other == first) => Ok(usize::try_from(number).ok()),
            _ => Err(self.bad(key, format_args!("{first} in some layers"))),
        }
    }

    /// An integer within `range` for each layer: a list of as many, or one for all.
    pub(in crate::model) fn of_layers(
        &self,
        key: &str,
        layers: usize,
        range: RangeInclusive<u64>,
    ) -> Result<Vec<usize>> {
        let Some(list) = self.get(key).and_then(Value::integers) else {
            return Ok(vec![self.needed(key, range)?; layers]);
        };
        let fits = |number: &i64| u64::try_from(*number).ok().filter(|n| range.contains(n));
        let numbers: Option<Vec<_>> = list.iter().map(|n| Some(fits(n)? as usize)).collect();
        numbers
            .filter(|numbers| numbers.len() == layers)
            .ok_or_else(|| self.bad(key, format_args!("no list of {layers} counts in range")))
    }

    /// As [`Fields::integer`], an error when the key is missing.
    pub(in crate::model) fn needed(&self, key: &str, range: RangeInclusive<u64>) -> Result<usize> {
        self.integer(key, range)?
            .ok_or_else(|| self.bad(key, "missing"))
    }

    /// A number above 0 that is not absurd; 0 counts as absent.
    pub(in crate::model) fn positive(&self, key: &str) -> Result<Option<f32>> {
        let number = self.number(key, 0.0..=1e9)?.map(|number| number as f32);
        Ok(number.filter(|number| *number > 0.0))
    }

    /// The window of attention, if it is there and not 0.
    pub(in crate::model) fn window(&self) -> Result<Option<usize>> {
        let window = self.integer("attention.sliding_window", 0..=1 << 30)?;
        Ok(window.filter(|window| *window > 0))
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
        match value.as_f64() {
            Some(number) if range.contains(&number) => Ok(Some(number)),
            Some(number) => Err(self.bad(
                key,
                format_args!("{number} is not within {}..={}", range.start(), range.end()),
            )),
            None => Err(self.bad(
                key,
                format_args!("{} where a number is needed", value.kind()),
            )),
        }
    }
}

/// The name the file gives itself, else the file's own name.
fn name(gguf: &Gguf) -> String {
    match gguf.get("general.name").and_then(Value::as_str) {
        Some(name) if !name.is_empty() => name.to_string(),
        _ => gguf
            .path()
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default(),
    }
}

/// Rows of the embedding table.
fn vocab_size(fields: &Fields) -> Result<usize> {
    let file = fields.gguf.path().display();
    match fields.gguf.dims("token_embd.weight") {
        Some([_, rows]) if limits::VOCABULARY.contains(&(*rows as u64)) => Ok(*rows),
        Some(dims) => Err(Error::InvalidFile(format!(
            "{file}: tensor token_embd.weight has shape {dims:?}; [width, vocabulary] with at most \
             {} rows is needed",
            limits::VOCABULARY.end()
        ))),
        None => Err(Error::InvalidFile(format!(
            "{file}: tensor token_embd.weight is missing"
        ))),
    }
}

/// Tokens that end a generation: those the metadata names and those spelled as one. An id outside
/// the vocabulary can never be generated and is left out.
fn stop_tokens(gguf: &Gguf, vocab_size: usize) -> Vec<u32> {
    let mut stop = Vec::new();
    let mut add = |id: u64| {
        if let Ok(id) = u32::try_from(id)
            && (id as usize) < vocab_size
            && !stop.contains(&id)
        {
            stop.push(id);
        }
    };
    for key in ["eos_token_id", "eot_token_id", "eom_token_id"] {
        if let Some(id) = gguf
            .get(&format!("tokenizer.ggml.{key}"))
            .and_then(Value::as_u64)
        {
            add(id);
        }
    }
    let tokens = gguf.get("tokenizer.ggml.tokens").and_then(Value::texts);
    for (id, token) in tokens.unwrap_or_default().iter().enumerate() {
        // All of them end so, and few other tokens of a hundred thousand.
        if token.ends_with(['>', ']']) && END_TOKENS.contains(&token.as_str()) {
            add(id as u64);
        }
    }
    stop
}
