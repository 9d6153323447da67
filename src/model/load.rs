//! Loading: a file or folder becomes a model that is ready to run.

use super::device::{DeviceChoice, Weights};
use super::families;
use super::identity::Hashed;
use super::usual::gpu_chunk;
use super::weights::Source;
use super::{Config, Forward, Identity, PAGE_TOKENS, TokenSet};
use crate::cpu::CpuExecutor;
use crate::gpu::model::GpuExecutor;
use crate::graph::Rules;
use crate::log::{self, Level};
use crate::step::{KvType, Schedule, StateSize};
use crate::text::{ChatTemplate, Tokenizer};
use crate::{Error, Result, panics};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// How to load a model. `Default` is what most callers want.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// CPU threads; 0: one per CPU this process may run on.
    pub threads: usize,
    /// Which device runs the model.
    pub device: DeviceChoice,
    /// The most bytes of a GPU's memory that weights take; the rest stays in host memory and is read over the
    /// bus. `None`: all of them lie on the GPU if a session with default options fits beside them, else as many as
    /// leave room for one; always all on a GPU that shares the host's memory.
    pub gpu_weight_bytes: Option<u64>,
    /// Which fusions are used: fewer only to compare.
    pub rules: Rules,
}

/// Facts about a loaded model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// `llama`, `qwen3`, `gemma3`: one of `families::FAMILIES`.
    pub family: String,
    /// The name the file gives itself, or the file's name.
    pub name: String,
    /// Weights in all tensors used.
    pub parameters: u64,
    /// Bytes of the file(s) that hold them.
    pub weight_bytes: u64,
    /// Tokens of context the model was trained for.
    pub context_length: usize,
    /// Rows of the embedding table; logits have this many columns.
    pub vocab_size: usize,
    /// Transformer blocks.
    pub layers: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// What most of the weights are stored as, e.g. `Q4_1` or `affine 4-bit g64`.
    pub quantization: String,
    /// KV cache bytes of one token in f16.
    pub kv_bytes_per_token: u64,
    /// Seconds that loading took.
    pub load_seconds: f64,
    /// Bytes of matrices in a GPU's memory; 0 on the CPU.
    pub gpu_weight_bytes: u64,
    /// Bytes of matrices in host memory that a GPU reads over the bus.
    pub host_weight_bytes: u64,
}

/// A loaded model. Immutable: any thread.
pub struct Model {
    info: ModelInfo,
    config: Config,
    tokenizer: Arc<Tokenizer>,
    tokens: Arc<TokenSet>,
    chat_template: Option<Arc<ChatTemplate>>,
    schedule: Schedule,
    weights: Weights,
    hashed: Hashed,
    threads: usize,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("info", self.info())
            .finish_non_exhaustive()
    }
}

impl Model {
    /// Loads a GGUF file or a model folder. `progress(done, total)` in bytes is called from this
    /// thread; returning `false` ends loading with [`Error::Cancelled`].
    ///
    /// The files stay mapped while the model lives and must not be truncated meanwhile.
    pub fn load(
        path: &Path,
        options: &LoadOptions,
        mut progress: Option<&mut dyn FnMut(u64, u64) -> bool>,
    ) -> Result<Arc<Model>> {
        let begin = Instant::now();
        let source = Source::open(path)?;
        let mut config = source.config().clone();
        let (bound, schedule) = families::schedule(&source, options.rules)?;
        source.check_unused()?;
        let (mut done, total) = (0, source.weight_bytes());
        let mut report = |bytes: u64| {
            done += bytes;
            let go_on = progress
                .as_mut()
                .is_none_or(|call| call(done.min(total), total));
            if go_on {
                Ok(())
            } else {
                Err(Error::Cancelled(format!(
                    "loading {} was cancelled",
                    path.display()
                )))
            }
        };
        report(0)?;
        let trained = config.context_length;
        // The tokenizer is built while the weights are packed: both take about as long.
        let hashed = Hashed::new(&config, &schedule, &bound);
        let (tokenizer, weights) = std::thread::scope(|scope| {
            let tokenizer =
                scope.spawn(|| log::on_worker(|| panics::caught(|| source.tokenizer())));
            let weights = Weights::new(options, &schedule, trained, bound, &mut report);
            let tokenizer = tokenizer.join().unwrap_or_else(|_| Err(String::new()));
            let tokenizer = tokenizer.unwrap_or_else(|panic| {
                let panic = format!("building the tokenizer panicked: {panic}");
                Err(Error::Internal(panic))
            });
            (tokenizer, weights)
        });
        let (tokenizer, weights) = (tokenizer?, weights?);
        let tokens = TokenSet::of(&tokenizer, config.vocab_size);
        // As mlx-lm: where the configs name no token that ends a text, the tokenizer's does.
        if config.stop_tokens.is_empty() {
            let eos = tokenizer.eos();
            config.stop_tokens = eos.into_iter().collect();
            config
                .stop_tokens
                .retain(|id| (*id as usize) < config.vocab_size);
        }
        let spelling = |id: Option<u32>| id.and_then(|id| tokenizer.id_to_token(id));
        let chat_template = source
            .chat_template()
            .map(|template| {
                let bos = spelling(tokenizer.bos()).unwrap_or_default();
                let eos = spelling(tokenizer.eos()).unwrap_or_default();
                ChatTemplate::new(template, &bos, &eos).map(Arc::new)
            })
            .transpose()?;
        let (gpu_weight_bytes, host_weight_bytes) = weights.placed();
        let info = ModelInfo {
            family: config.family.name.to_string(),
            name: config.name.clone(),
            parameters: source.parameters(),
            weight_bytes: total,
            context_length: config.context_length,
            vocab_size: config.vocab_size,
            layers: config.layers,
            hidden_size: config.hidden_size,
            quantization: source.quantization(),
            kv_bytes_per_token: (schedule.page_bytes(KvType::F16) / PAGE_TOKENS) as u64,
            load_seconds: begin.elapsed().as_secs_f64(),
            gpu_weight_bytes,
            host_weight_bytes,
        };
        log::write(Level::Info, || {
            format!(
                "loaded {} ({}, {}, {} MiB) on {} in {:.2} s",
                info.name,
                info.family,
                info.quantization,
                info.weight_bytes >> 20,
                weights.device_name(),
                info.load_seconds
            )
        });
        Ok(Arc::new(Model {
            info,
            config,
            tokenizer: Arc::new(tokenizer),
            tokens: Arc::new(tokens),
            chat_template,
            schedule,
            weights,
            hashed,
            threads: options.threads,
        }))
    }

    /// What it is known by: the same for the same weights and config, on every device. The first call reads all
    /// weights.
    ///
    /// # Errors
    /// `InvalidFile` if a file was cut since loading.
    pub fn identity(&self) -> Result<Identity> {
        self.hashed.identity(self.threads)
    }

    /// Facts.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// The architecture's numbers.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// Which columns of the logits are tokens: only they are ever chosen.
    pub fn tokens(&self) -> &Arc<TokenSet> {
        &self.tokens
    }

    /// The chat template, where the file has one.
    pub fn chat_template(&self) -> Option<&Arc<ChatTemplate>> {
        self.chat_template.as_ref()
    }

    /// Tokens that end a generation (EOS, end of turn): what the files' configs say, else the tokenizer's EOS.
    pub fn stop_tokens(&self) -> &[u32] {
        &self.config.stop_tokens
    }

    /// Prompt tokens that a step of the model takes by default: enough for its products to be fast.
    pub fn prefill_chunk(&self) -> usize {
        match &self.weights {
            Weights::Cpu(_) => 512,
            Weights::Gpu(weights) => gpu_chunk(&self.schedule, weights.is_cuda()),
        }
    }

    /// Bytes that could be allocated now where the model runs; `None` where nobody says.
    pub fn free_memory(&self) -> Option<u64> {
        match &self.weights {
            Weights::Cpu(_) => crate::cpu::free_memory(),
            Weights::Gpu(weights) => weights.free_memory(),
        }
    }

    /// Bytes of KV cache of a kind that one token takes.
    pub fn kv_bytes_per_token(&self, kv: KvType) -> u64 {
        (self.schedule.page_bytes(kv) / PAGE_TOKENS) as u64
    }

    /// Bytes of recurrent state that a sequence has, however long it is.
    pub fn recurrent_bytes(&self) -> u64 {
        self.schedule.slot_bytes() as u64
    }

    /// New forward state with `page_count` KV pages of [`PAGE_TOKENS`] tokens and at most
    /// `max_tokens` tokens a call. Memory is reserved here or an error is returned.
    pub fn new_forward(
        &self,
        page_count: usize,
        max_tokens: usize,
        kv: KvType,
    ) -> Result<Box<dyn Forward>> {
        self.new_state(StateSize::any(max_tokens, page_count, kv))
    }

    /// The same for calls of so many sequences of such a length at most, which takes less memory.
    pub fn new_state(&self, size: StateSize) -> Result<Box<dyn Forward>> {
        let schedule = self.schedule.clone();
        let recurrent = (schedule.slot_bytes() as u64).saturating_mul(size.sequences as u64);
        let executor: Box<dyn Forward> = match &self.weights {
            Weights::Cpu(weights) => {
                let weights = weights.clone();
                Box::new(CpuExecutor::of_size(weights, schedule, size, self.threads)?)
            }
            Weights::Gpu(weights) => {
                let weights = weights.clone();
                let mut gpu = GpuExecutor::new(weights, schedule, size)?;
                gpu.choose_below(self.tokens.end());
                Box::new(gpu)
            }
        };
        log::write(Level::Debug, || {
            format!(
                "forward state: {} KV tokens, {} MiB of recurrent state, {} tokens a call",
                size.pages * PAGE_TOKENS,
                recurrent >> 20,
                size.tokens
            )
        });
        Ok(executor)
    }
}
