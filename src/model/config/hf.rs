//! A config from `config.json` and `generation_config.json` of a model folder.

use super::fields::Fields;
use super::{Activation, Config, Feed, RopeScaling, keys, limits, rope, unknown_family};
use crate::formats::brief;
use crate::formats::folder::Folder;
use crate::model::families;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::path::PathBuf;

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
