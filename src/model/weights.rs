//! Weight binding: one set of names over model folders and GGUF files.

mod compressed;
mod find;
mod folder;
mod gguf;
mod method;
mod published;
mod quantization;
mod unused;

use super::Config;
use crate::formats::{Format, MappedFile, ScalarType, Weight};
use crate::text::Tokenizer;
use crate::{Error, Result};
use folder::FolderTensors;
use gguf::GgufTensors;
pub(in crate::model) use gguf::name as gguf_name;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::Path;

/// A linear layer `y = W·x + b`, `W` `[out, in]`.
#[derive(Debug, Clone)]
pub struct Linear {
    /// `[out, in]`.
    pub weight: Weight,
    /// `[out]`.
    pub bias: Option<Vec<f32>>,
}

/// An opened model file or folder: its config and its weights by Hugging Face path
/// (`model.layers.0.self_attn.q_proj`). Immutable: any thread.
#[derive(Debug)]
pub struct Source {
    config: Config,
    tensors: Tensors,
    /// Names of tensors (as the file calls them) that were asked for.
    used: Mutex<HashSet<String>>,
}

/// Where the weights come from.
#[derive(Debug)]
enum Tensors {
    Gguf(GgufTensors),
    Folder(FolderTensors),
}

impl Source {
    /// Opens a `.gguf` file or a model folder.
    pub fn open(path: &Path) -> Result<Source> {
        let tensors = if path.is_dir() {
            Tensors::Folder(FolderTensors::open(path)?)
        } else {
            Tensors::Gguf(GgufTensors::open(path)?)
        };
        let config = match &tensors {
            Tensors::Gguf(gguf) => Config::from_gguf(gguf.file())?,
            Tensors::Folder(folder) => Config::from_folder(folder.folder(), folder.has_head())?,
        };
        Ok(Source {
            config,
            tensors,
            used: Mutex::new(HashSet::new()),
        })
    }

    /// The architecture's numbers, validated (no zero sizes, products that fit, heads that divide).
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The linear layer at `path`, of exactly `[rows, cols]`; with the bias that a folder's config promises,
    /// or that a GGUF file has.
    pub fn linear(&self, path: &str, rows: usize, cols: usize) -> Result<Linear> {
        let weight = self.matrix(path, rows, cols)?;
        let bias = match &self.tensors {
            Tensors::Gguf(_) => self.find(path, "bias")?,
            Tensors::Folder(_) if self.promises_bias(path) => Some(self.needed(path, "bias")?),
            // One that is there all the same is an unused tensor.
            Tensors::Folder(_) => None,
        };
        let bias = bias.map(|bias| self.vector(&bias, rows)).transpose()?;
        Ok(Linear { weight, bias })
    }

    /// Whether the config of a folder says that a layer has a bias, as mlx-lm and transformers read it.
    fn promises_bias(&self, path: &str) -> bool {
        let c = &self.config;
        match path.rsplit_once('.').map_or(path, |(_, module)| module) {
            // Queries that are made of x have none beside keys that are not.
            "q_proj" if c.latent.is_some() => false,
            "q_proj" | "k_proj" | "v_proj" | "qkv_proj" | "q_a_proj" | "kv_a_proj_with_mqa" => {
                c.attention_bias
            }
            "o_proj" => c.output_bias,
            "gate_proj" | "up_proj" | "gate_up_proj" | "down_proj" | "latent_in" | "latent_out" => {
                c.mlp_bias
            }
            "gate" => c.experts.is_some_and(|experts| experts.router_bias),
            "in_proj" => c.recurrent.is_some_and(|layer| layer.biases()[0]),
            "out_proj" => c.recurrent.is_some_and(|layer| layer.biases()[1]),
            "dt_proj" => true,
            "lm_head" => c.head_bias,
            _ => false,
        }
    }

    /// The embedding table at `path`.
    pub fn embedding(&self, path: &str, rows: usize, cols: usize) -> Result<Weight> {
        self.undivided(self.matrix(path, rows, cols)?)
    }

    /// Refuses what only a linear layer knows of.
    fn undivided(&self, weight: Weight) -> Result<Weight> {
        match weight.divisor == 1.0 {
            true => Ok(weight),
            false => Err(Error::Unsupported(format!(
                "{}: tensor {}: a weight_global_scale of what is no linear layer is not supported",
                weight.data.path().display(),
                weight.name
            ))),
        }
    }

    /// The stack of `count` matrices at `path` (experts), each of exactly `[rows, cols]`.
    pub fn stack(&self, path: &str, count: usize, rows: usize, cols: usize) -> Result<Weight> {
        let weight = self.needed(path, "weight")?;
        let all = count.checked_mul(rows);
        if (weight.stack, Some(weight.rows), weight.cols) != (count, all, cols) {
            return Err(self.wrong_shape(&weight, &format!("[{count}, {rows}, {cols}]")));
        }
        self.undivided(weight)
    }

    /// The biases of the `count` matrices at `path`, `rows` of each, one after the other.
    ///
    /// # Errors
    /// `InvalidFile` if they are missing or have another shape.
    pub fn stack_bias(&self, path: &str, count: usize, rows: usize) -> Result<Vec<f32>> {
        let weight = self.needed(path, "bias")?;
        // The halves of what lies by turns are columns.
        let column = (count, count.checked_mul(rows), 1);
        let dims = (weight.stack, Some(weight.rows), weight.cols);
        if dims != (1, Some(count), rows) && dims != column {
            return Err(self.wrong_shape(&weight, &format!("[{count}, {rows}]")));
        }
        self.all(&weight)
    }

    /// What `change` makes of the numbers of the matrix `[rows, cols]` at `path`: `count` matrices of `made` rows, in f32.
    ///
    /// # Errors
    /// `InvalidFile` if it is missing, has another shape or a number that is none.
    pub fn made_of(
        &self,
        path: &str,
        [rows, cols]: [usize; 2],
        [count, made]: [usize; 2],
        change: impl Fn(&[f32]) -> Vec<f32>,
    ) -> Result<Weight> {
        let weight = self.matrix(path, rows, cols)?;
        let values = change(&self.all(&weight)?);
        let data = MappedFile::made_of(weight.data.path(), &values)?;
        let (all, format) = (count * made, Format::Dense(ScalarType::F32));
        let width = values.len() / all.max(1);
        Weight::new(weight.name, format, all, width, data, None, None)?.stacked(count)
    }

    /// The rows of two matrices as one: unquantized ones in f32, others where they lie, `None` where their formats differ.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn joined(&self, first: Weight, second: Weight) -> Result<Option<Weight>> {
        match (first.format, second.format) {
            (Format::Dense(_), Format::Dense(_)) if first.cols == second.cols => {
                let values = [self.all(&first)?, self.all(&second)?].concat();
                let data = MappedFile::made_of(first.data.path(), &values)?;
                let (rows, format) = (first.rows + second.rows, Format::Dense(ScalarType::F32));
                let cols = first.cols;
                Weight::new(first.name, format, rows, cols, data, None, None).map(Some)
            }
            _ => Ok(first.followed_by(second)),
        }
    }

    /// Whether the file has a matrix at `path`.
    ///
    /// # Errors
    /// `InvalidFile` for a tensor of another kind.
    pub fn has(&self, path: &str) -> Result<bool> {
        Ok(self.find(path, "weight")?.is_some())
    }

    /// The vector of exactly `len` numbers at `path`, which is the tensor's whole name.
    ///
    /// # Errors
    /// `InvalidFile` if it is missing or has another shape.
    pub fn numbers(&self, path: &str, len: usize) -> Result<Vec<f32>> {
        let weight = self.needed(path, "")?;
        self.vector(&weight, len)
    }

    /// The table of exactly `[rows, cols]` numbers `path.part`; with an empty part `path` is the tensor's whole name.
    ///
    /// # Errors
    /// `InvalidFile` if it is missing, has another shape or a number that is none.
    pub fn table(&self, path: &str, part: &str, rows: usize, cols: usize) -> Result<Vec<f32>> {
        let weight = self.needed(path, part)?;
        if (weight.stack, weight.rows, weight.cols) != (1, rows, cols) {
            return Err(self.wrong_shape(&weight, &format!("[{rows}, {cols}]")));
        }
        self.all(&weight)
    }

    /// The weight `[channels, taps]` of a convolution of each channel, and whether it lies as other libraries than
    /// MLX and llama.cpp keep it.
    ///
    /// # Errors
    /// `InvalidFile` if it is missing or has another shape.
    pub fn short_conv(&self, path: &str, channels: usize, taps: usize) -> Result<(Vec<f32>, bool)> {
        let weight = self.needed(path, "weight")?;
        let dims = (weight.stack, weight.rows / weight.stack.max(1), weight.cols);
        let theirs = dims == (channels, 1, taps) && taps > 1;
        // One after the other all have the same numbers.
        if !theirs && dims != (channels, taps, 1) && dims != (1, channels, taps) {
            return Err(self.wrong_shape(&weight, &format!("[{channels}, {taps}, 1]")));
        }
        Ok((self.all(&weight)?, theirs))
    }

    /// A norm weight (a vector of exactly `len` numbers) at `path` + `.weight`.
    pub fn norm(&self, path: &str, len: usize) -> Result<Vec<f32>> {
        let weight = self.needed(path, "weight")?;
        self.vector(&weight, len)
    }

    /// The vector of exactly `len` numbers `path.part`.
    pub fn part(&self, path: &str, part: &str, len: usize) -> Result<Vec<f32>> {
        let weight = self.needed(path, part)?;
        self.vector(&weight, len)
    }

    /// Whether there is a tensor `path.part`.
    pub fn has_part(&self, path: &str, part: &str) -> Result<bool> {
        Ok(self.find(path, part)?.is_some())
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        match &self.tensors {
            Tensors::Gguf(gguf) => Tokenizer::from_gguf(gguf.file()),
            Tensors::Folder(folder) => Tokenizer::from_folder(folder.folder().path()),
        }
    }

    /// The chat template's source, where there is one.
    pub fn chat_template(&self) -> Option<&str> {
        match &self.tensors {
            Tensors::Gguf(gguf) => gguf.chat_template(),
            Tensors::Folder(folder) => folder.folder().chat_template(),
        }
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        match &self.tensors {
            Tensors::Gguf(gguf) => gguf.file().path(),
            Tensors::Folder(folder) => folder.folder().path(),
        }
    }

    /// Bytes of all tensors in the file(s).
    pub fn weight_bytes(&self) -> u64 {
        self.weights().map(|w| w.byte_len() as u64).sum()
    }

    /// Numbers in all tensors of the file(s).
    pub fn parameters(&self) -> u64 {
        self.weights().map(|w| w.rows as u64 * w.cols as u64).sum()
    }

    /// What most of the weights are stored as, e.g. `Q4_1` or `affine 4-bit g64`.
    pub fn quantization(&self) -> String {
        let mut totals: Vec<(String, u64)> = Vec::new();
        for weight in self.weights() {
            let name = weight.format.to_string();
            let count = weight.rows as u64 * weight.cols as u64;
            match totals.iter_mut().find(|(other, _)| *other == name) {
                Some((_, total)) => *total += count,
                None => totals.push((name, count)),
            }
        }
        let largest = totals.into_iter().max_by_key(|(_, total)| *total);
        largest.map(|(name, _)| name).unwrap_or_default()
    }

    /// Tensors of the file(s) that nothing has asked for, but for RoPE frequencies, which follow from the
    /// config, and an output head beside an embedding that takes its place.
    pub fn unused(&self) -> Vec<String> {
        let used = self.used.lock();
        let tied = self.config.tied_embeddings;
        let names: Box<dyn Iterator<Item = &str>> = match &self.tensors {
            Tensors::Gguf(gguf) => Box::new(gguf.file().names()),
            Tensors::Folder(folder) => Box::new(folder.names()),
        };
        let mut names: Vec<String> = names
            .filter(|name| !used.contains(*name) && !unused::is_expected(name, tied))
            .filter(|name| !unused::is_predicting(name, &self.config))
            .map(str::to_string)
            .collect();
        names.sort();
        names
    }

    /// Says what tensors that nothing has asked for mean, after binding: those that would change the results
    /// are an error that names one, harmless ones a warning that names a few.
    pub fn check_unused(&self) -> Result<()> {
        unused::check(self.path(), &self.unused())
    }
}
