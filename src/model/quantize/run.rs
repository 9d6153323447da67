//! A whole run: look at the source, choose, place, rehearse, convert, publish.

use super::choice::{Choice, Rule};
use super::config::{self, Object};
use super::layout::{Layout, SHARD_BYTES};
use super::output::{Output, io};
use super::tensor::Tensor;
use super::write::write_tensors;
use super::{folder, gguf};
use crate::formats::folder::Folder;
use crate::formats::gguf::Gguf;
use crate::formats::{ScalarType, open_regular};
use crate::graph::Rules;
use crate::ir::Quantization;
use crate::log::{self, Level};
use crate::model::weights::Source;
use crate::model::{Config, families};
use crate::{Error, Result};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// How to quantize.
#[derive(Debug, Clone)]
pub struct QuantizeOptions {
    /// What modules become that nothing else is said of.
    pub base: Quantization,
    /// One of [`super::RECIPES`], in place of the family's own exceptions.
    pub recipe: Option<String>,
    /// What modules become by their names; the first rule that matches counts.
    pub rules: Vec<Rule>,
    /// The type of scales and of what is not quantized; `None`: what the config says, else the source's.
    pub dtype: Option<ScalarType>,
    /// Threads; 0: one for each CPU that this process may run on.
    pub threads: usize,
    /// Bytes of tensors in one file; 0: 5 GiB, as in mlx-lm.
    pub shard_bytes: u64,
}

/// What a run made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantized {
    /// Files of tensors.
    pub files: usize,
    /// Numbers in all tensors.
    pub parameters: u64,
    /// Bytes of all tensors.
    pub bytes: u64,
    /// Bytes of the source whose tensors an interrupted run had already made.
    pub resumed_bytes: u64,
}

/// A small file of the result.
pub(super) enum Content {
    Copy(PathBuf),
    Made(Vec<u8>),
}

/// What is known of a source before any of its numbers is read.
pub(super) struct Prepared {
    pub(super) tensors: Vec<Tensor>,
    pub(super) config: Object,
    /// As the source is read here.
    pub(super) read: Config,
    /// Files besides tensors and config.
    pub(super) files: Vec<(String, Content)>,
    /// The files that are read.
    pub(super) sources: Vec<PathBuf>,
    /// Whether the result must be read exactly as the source is: its config was made here.
    pub(super) strict: bool,
}

/// Quantizes a model folder or GGUF file into the new folder `target`. `progress(done, total)` in bytes of the source
/// is called from this thread; returning `false` ends the run with [`Error::Cancelled`], and what is done stays in
/// `target.partial`, where the next run of the same source and options goes on.
///
/// # Errors
/// `Io`, `InvalidFile`, `Unsupported`, `InvalidArgument` (options that do not fit, a target that exists), `Cancelled`.
pub fn quantize(
    source: &Path,
    target: &Path,
    options: &QuantizeOptions,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Quantized> {
    let folder = Output::check(source, target)?;
    let mut prepared = match source.is_dir() {
        true => of_folder(&Folder::open(source)?)?,
        false => gguf::prepare(&Gguf::open(source)?)?,
    };
    choose(&mut prepared, options)?;
    let limit = match options.shard_bytes {
        0 => SHARD_BYTES,
        bytes => bytes,
    };
    let Prepared {
        tensors, config, ..
    } = &prepared;
    let layout = Layout::new(tensors, limit)?;
    let mut config = sorted(config.clone().into());
    let run = identity(&prepared, &layout, &config)?;
    let (output, done) = Output::open(target, folder, run)?;
    let rehearsed = output.rehearse(&layout, &config, |folder| rehearse(folder, &prepared));
    if rehearsed.is_err() && done == 0 {
        output.discard();
    }
    rehearsed?;
    let resumed_bytes = tensors.iter().take(done).map(Tensor::source_bytes).sum();
    write_tensors(tensors, &layout, &output, (done, options.threads), progress)?;
    for (name, content) in &prepared.files {
        match content {
            Content::Made(bytes) => output.write(name, bytes)?,
            Content::Copy(path) => match open_regular(path)? {
                Some(file) => output.copy(file, name)?,
                None => return Err(Error::Io(format!("{}: is gone", path.display()))),
            },
        }
    }
    let index = sorted(layout.index(tensors));
    output.write("model.safetensors.index.json", &index)?;
    config.push(b'\n');
    output.write("config.json", &config)?;
    output.publish()?;
    Ok(Quantized {
        files: layout.shards.len(),
        parameters: tensors
            .iter()
            .map(|t| t.rows as u64 * t.columns as u64)
            .sum(),
        bytes: layout.bytes,
        resumed_bytes,
    })
}

/// JSON by lines, with its keys in order, as mlx-lm writes it.
fn sorted(mut value: Value) -> Vec<u8> {
    value.sort_all_objects();
    // JSON values are always written.
    serde_json::to_vec_pretty(&value).unwrap_or_default()
}

/// A folder of safetensors files, with the files that belong to its tokenizer.
fn of_folder(folder: &Folder) -> Result<Prepared> {
    let head = |name: &str| folder.tensor(name).is_some();
    let has_head = head("lm_head.weight") || head("language_model.lm_head.weight");
    let read = Config::from_folder(folder, has_head || head("output.weight"))?;
    if !read.family.quantizes {
        return Err(Error::Unsupported(format!(
            "{}: folders of the family {} cannot be quantized yet; mlx-lm does that",
            folder.path().display(),
            read.family.name
        )));
    }
    let config = config::of_folder(folder, read.tied_embeddings)?;
    let tensors = folder::tensors(folder, &read)?;
    let io = |error| io(folder.path(), error);
    let (mut files, mut has_tokenizer) = (Vec::new(), false);
    for entry in std::fs::read_dir(folder.path()).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if is_copied(name) && path.is_file() {
            has_tokenizer |= name == "tokenizer.json";
            files.push((name.to_string(), Content::Copy(path.clone())));
        }
    }
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    if !has_tokenizer {
        log::write(Level::Warn, || {
            let folder = folder.path().display();
            format!("{folder}: no tokenizer.json, without which this library loads no folder")
        });
    }
    let shards = folder.shards().iter();
    Ok(Prepared {
        tensors,
        config,
        read,
        files,
        sources: shards.map(|shard| shard.path().to_path_buf()).collect(),
        strict: false,
    })
}

/// Files of the tokenizer, the chat template, generation, and code of the model's authors.
fn is_copied(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        "generation_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.json",
        "vocab.txt",
        "merges.txt",
        "chat_template.json",
    ];
    let ends = [".jinja", ".tiktoken", ".py"];
    NAMES.contains(&name) || name.starts_with("tokenizer") || ends.iter().any(|e| name.ends_with(e))
}

/// Types and quantizations of all tensors, and what the config says about them.
fn choose(prepared: &mut Prepared, options: &QuantizeOptions) -> Result<()> {
    let to = options.dtype.or(config::wanted(&prepared.config));
    // mlx-lm's exception.
    let keeps_decay = prepared.read.family.name.starts_with("qwen3_5");
    for tensor in &mut prepared.tensors {
        let is_kept = keeps_decay && tensor.name.ends_with("A_log");
        tensor.to = to.filter(|_| !is_kept).unwrap_or(tensor.from);
    }
    if let Some(to) = options.dtype {
        prepared
            .config
            .insert("torch_dtype".into(), config::name(to).into());
    }
    let modules: Vec<Option<String>> = prepared.tensors.iter().map(module).collect();
    let names = modules.iter().flatten().map(String::as_str);
    let Prepared { read, tensors, .. } = prepared;
    let recipe = options.recipe.as_deref();
    let choice = Choice::new(options.base, &options.rules, recipe, read, names)?;
    let mut entries = Vec::new();
    for (tensor, module) in tensors.iter_mut().zip(modules) {
        let Some(module) = module else { continue };
        if let Some(chosen) = choice.of(&module, tensor.columns)? {
            tensor.quantization = Some(chosen.quantization);
            entries.extend(chosen.entry.map(|entry| (module, entry)));
        }
    }
    if tensors.iter().all(|tensor| tensor.quantization.is_none()) {
        return Err(Error::InvalidArgument(
            "nothing would be quantized: no matrix has rows of whole groups, or rules leave all as it is".into(),
        ));
    }
    config::add_quantization(&mut prepared.config, &options.base, entries);
    Ok(())
}

/// The path of the linear layer or table that a tensor is the matrix of.
fn module(tensor: &Tensor) -> Option<String> {
    let module = tensor.name.strip_suffix(".weight")?;
    // Convolutions are the only others of more than one dimension.
    (tensor.shape.len() > 1 && !module.ends_with("conv1d")).then(|| module.to_string())
}

/// What tells runs of other sources, options or versions apart.
fn identity(prepared: &Prepared, layout: &Layout, config: &[u8]) -> Result<String> {
    use std::os::unix::fs::MetadataExt;
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    for path in &prepared.sources {
        let facts = std::fs::metadata(path).map_err(|error| io(path, error))?;
        let numbers = (facts.len(), facts.mtime(), facts.mtime_nsec());
        hash.update(format!("{:?} {numbers:?}\n", path.file_name()));
    }
    layout
        .shards
        .iter()
        .for_each(|shard| hash.update(&shard.header));
    for tensor in &prepared.tensors {
        hash.update(format!("{:?} {:?}\n", tensor.name, tensor.change));
    }
    hash.update(config);
    Ok(hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// Loads the result without its numbers: every tensor is there in its shape, and none that the family does not know.
fn rehearse(folder: &Path, prepared: &Prepared) -> Result<()> {
    let check = || {
        let source = Source::open(folder)?;
        families::schedule(&source, Rules::default())?;
        source.check_unused()?;
        let made = Config {
            name: prepared.read.name.clone(),
            ..source.config().clone()
        };
        if prepared.strict && made != prepared.read {
            return Err(Error::Unsupported(format!(
                "config.json cannot say what the file's metadata says: {:?}, not {:?}",
                made, prepared.read
            )));
        }
        Ok(())
    };
    let of_result = |what: String| format!("the result could not be loaded: {what}");
    check().map_err(|error| match error {
        Error::InvalidFile(what) => Error::InvalidFile(of_result(what)),
        Error::Unsupported(what) => Error::Unsupported(of_result(what)),
        other => other,
    })
}
