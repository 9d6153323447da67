//! The session: limits, its scheduler thread, and the way in.

use super::channel::Channel;
use super::generating::{Generating, Plan};
use super::limits::{Limits, snapshots};
use super::sampling::Sampler;
use super::scheduler::Scheduler;
use super::sequence::{Sender, Sequence, Work};
use super::shared::{Open, Shared, Worker};
use super::speculation::{Draft, Guessers};
use super::text::{Detokenizer, ModelText};
use super::{Generation, Request};
use crate::log::{self};
use crate::model::config::RopeScaling;
use crate::model::{Forward, KvType, Model, PAGE_TOKENS, StateForm, StateSize, TokenSet};
use crate::text::StopMatcher;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;

/// Limits of a session. `Default` is what most callers want.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Tokens of context a request may use, prompt included; 0: the model's, at most 8192. More than the model
    /// was trained for works (RoPE has an angle for every position) and gives a warning in the log, but where
    /// its config has `rope_scaling` `dynamic`: that is refused.
    pub context: usize,
    /// Requests that run at once; more wait. 0: 8. In a model with recurrent layers each has a state of fixed size.
    pub max_requests: usize,
    /// Prompt tokens that are run at once. 0: 512, on GPUs 1,024, of mixtures of experts on NVIDIA 2,048.
    pub prefill_chunk: usize,
    /// Tokens of KV cache that all requests share (rounded up to pages, at least `context`). When
    /// it is full, requests wait for each other. 0: a context for each of `max_requests`, but no more bytes
    /// than the model's weights have (or 256 MiB, if that is more), than a quarter of the memory that is
    /// free; one context in any case.
    pub kv_tokens: usize,
    /// How the KV cache keeps numbers.
    pub kv_type: KvType,
    /// What a request gives does not depend, to the bit, on what runs beside it, on GPUs too, where that is otherwise so
    /// up to 16 requests and not beside another one's prompt. There a step is a piece of one prompt or tokens of up to 16
    /// requests, a request waits until there are pages for all tokens that it may have, no prompt takes pages that
    /// another one left, and states are neither saved nor loaded.
    pub batch_invariant: bool,
    /// Next tokens are guessed from what the sequence has already, and checked in one step with its last one: faster
    /// where texts repeat themselves or their prompt. What is generated stays the same.
    pub prompt_lookup: bool,
    /// A smaller model of the same tokens, which guesses next tokens where they are not looked up.
    pub draft: Option<Arc<Model>>,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionStatus {
    /// Requests that run.
    pub running: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Pages of the KV cache, of [`PAGE_TOKENS`] tokens each.
    pub pages: usize,
    /// Pages that running requests hold.
    pub pages_used: usize,
    /// Pages kept from earlier requests in case a prompt begins alike; given up when needed.
    pub pages_cached: usize,
}

/// Several requests at once over one KV cache. Internally locked: any thread.
///
/// Dropping it does not end its generations: they run until they end or are dropped. Dropping the
/// last handle, of the session or of a generation, waits for the scheduler thread (for one step of
/// the model at most).
pub struct Session {
    // Dropped before `worker`: closes the session so that the thread ends.
    pub(super) open: Open,
    worker: Arc<Worker>,
    text: Arc<dyn Detokenizer>,
    stop_tokens: Vec<u32>,
    pub(super) vocab: usize,
    /// Columns of a hidden state; 0: the model gives none.
    pub(super) hidden: usize,
    tokens: Arc<TokenSet>,
    /// What states are made of, or why there are none.
    pub(super) form: std::result::Result<StateForm, &'static str>,
    /// States are of this model; `None` in tests.
    pub(super) model: Option<Arc<Model>>,
    pub(super) context: usize,
    pages: usize,
}

impl Session {
    /// Allocates the KV cache and starts the scheduler thread.
    /// [`Error::InvalidArgument`] names an option that is out of range.
    pub fn new(model: Arc<Model>, options: SessionOptions) -> Result<Session> {
        let options = SessionOptions {
            prefill_chunk: match options.prefill_chunk {
                0 => model.prefill_chunk(),
                asked => asked,
            },
            ..options
        };
        let trained = model.info().context_length;
        if options.context > trained && model.config().rope_scaling == RopeScaling::Dynamic {
            return Err(Error::InvalidArgument(format!(
                "context is {}; the model's config has rope_scaling \"dynamic\", whose frequencies beyond the trained \
                 context of {trained} tokens follow each text's length: at most {trained}",
                options.context
            )));
        }
        let limits = Limits::new(&options, trained)?;
        let kv_bytes = model.kv_bytes_per_token(options.kv_type);
        let pages = match options.kv_tokens {
            0 => limits.default_pages(kv_bytes, model.info().weight_bytes, model.free_memory()),
            tokens => limits.pages(tokens),
        };
        if u32::try_from(pages).is_err() {
            return Err(Error::InvalidArgument(format!(
                "kv_tokens is {}: more than 2^32 pages of {PAGE_TOKENS} tokens",
                options.kv_tokens
            )));
        }
        let at_once = (limits.requests, limits.chunk);
        let size = StateSize::of_session(at_once, limits.context, pages, options.kv_type);
        let kv_bytes = kv_bytes.saturating_mul((pages * PAGE_TOKENS) as u64);
        let free = model
            .free_memory()
            .map(|free| free.saturating_sub(kv_bytes));
        let snapshots = snapshots(model.recurrent_bytes(), model.info().weight_bytes, free);
        let forward = model.new_state(StateSize {
            snapshots: snapshots.min(pages),
            ..size
        })?;
        let draft = options
            .draft
            .map(|draft| draft_state(&draft, &model, (&limits, pages), options.kv_type));
        let text = Arc::new(ModelText(model.tokenizer().clone()));
        let forwards = (forward, draft.transpose()?);
        let mut session = Session::start(forwards, text, limits, model.stop_tokens().to_vec())?;
        session.tokens = model.tokens().clone();
        session.model = Some(model);
        Ok(session)
    }

    /// A session over any [`Forward`]: for tests. `context` is what a model would be trained for;
    /// the pages are those that `forward` has, and `kv_tokens` is ignored.
    #[doc(hidden)]
    pub fn with_forward(
        forward: Box<dyn Forward>,
        text: Arc<dyn Detokenizer>,
        options: SessionOptions,
        stop_tokens: Vec<u32>,
        context: usize,
    ) -> Result<Session> {
        Session::with_forwards((forward, None), text, options, stop_tokens, context)
    }

    /// The same with one that guesses, if there is.
    #[doc(hidden)]
    pub fn with_forwards(
        forwards: (Box<dyn Forward>, Option<Box<dyn Forward>>),
        text: Arc<dyn Detokenizer>,
        options: SessionOptions,
        stop_tokens: Vec<u32>,
        context: usize,
    ) -> Result<Session> {
        let limits = Limits::new(&options, context)?;
        Session::start(forwards, text, limits, stop_tokens)
    }

    fn start(
        (forward, draft): (Box<dyn Forward>, Option<Box<dyn Forward>>),
        text: Arc<dyn Detokenizer>,
        limits: Limits,
        stop_tokens: Vec<u32>,
    ) -> Result<Session> {
        let (vocab, pages) = (forward.vocab_size(), forward.page_count());
        let hidden = forward.hidden_size();
        let invariant = forward.invariant_rows().filter(|_| limits.batch_invariant);
        let form = match forward.state_form() {
            Some(_) if invariant.is_some() => Err(
                "states are neither saved nor loaded in a batch-invariant session on a GPU: their keys and values may be \
                 of steps that were cut otherwise",
            ),
            Some(form) => Ok(form),
            None => Err("the states of this model cannot be saved and loaded"),
        };
        // One token of each running request and a chunk must fit a call.
        let max_tokens = forward.max_tokens();
        let requests = limits.requests.min(max_tokens.div_ceil(2)).max(1);
        let chunk = limits.chunk.min(max_tokens + 1 - requests.min(max_tokens));
        let shared = Arc::new(Shared::default());
        let guessers = Guessers {
            lookup: limits.prompt_lookup,
            draft: draft.map(|draft| Draft::new(draft, requests)),
        };
        let scheduler = Scheduler::new(
            shared.clone(),
            forward,
            requests,
            chunk.max(1),
            invariant,
            guessers,
        );
        let thread = std::thread::Builder::new()
            .name("mlxrocm-session".into())
            .spawn(move || log::on_worker(|| scheduler.run()))
            .map_err(|e| {
                Error::OutOfMemory(format!("could not start the session's thread: {e}"))
            })?;
        Ok(Session {
            open: Open(shared),
            worker: Arc::new(Worker::new(thread)),
            text,
            stop_tokens,
            vocab,
            hidden,
            form,
            model: None,
            tokens: Arc::new(TokenSet::all(vocab)),
            context: limits.context.min(pages.saturating_mul(PAGE_TOKENS)),
            pages,
        })
    }

    /// Tokens of context a request may use, prompt included.
    pub fn context(&self) -> usize {
        self.context
    }

    /// What it is doing right now: a request counts from its submission until its
    /// [`Event::Finished`](super::Event::Finished) is there to be read.
    pub fn status(&self) -> SessionStatus {
        let counts = self.open.0.counts();
        SessionStatus {
            running: counts.running,
            waiting: counts.waiting,
            pages: self.pages,
            pages_used: counts.pages_used,
            pages_cached: counts.pages_cached,
        }
    }

    /// Queues a request. [`Error::InvalidArgument`] names a field that is out of range,
    /// [`Error::ContextFull`] says that the prompt leaves no room for a token, [`Error::Poisoned`]
    /// that the session failed earlier.
    pub fn submit(&self, request: Request) -> Result<Generation> {
        request.validate(self.vocab, self.context)?;
        let Request {
            prompt,
            sampling,
            max_tokens,
            stop,
            mut stop_tokens,
            ignore_eos,
            logits_processor,
            grammar,
        } = request;
        if !ignore_eos {
            stop_tokens.extend_from_slice(&self.stop_tokens);
        }
        let plan = Plan {
            sampler: Sampler::new(sampling, self.vocab, &prompt)?.among(self.tokens.clone()),
            processor: logits_processor,
            grammar,
            text: self.text.stream(&prompt),
            stops: StopMatcher::new(stop),
            stop_tokens,
            prompt_tokens: prompt.len(),
            max_tokens,
            context: self.context,
        };
        let text: Arc<[u32]> = prompt.as_slice().into();
        let channel = Arc::new(Channel::default());
        let work = Generating::new(plan, Sender(channel.clone()));
        let shared = self.open.0.clone();
        shared.submit(Sequence::new(prompt, Work::Generate(Box::new(work))))?;
        Ok(Generation {
            prompt: text,
            given: Mutex::default(),
            channel,
            shared,
            _worker: self.worker.clone(),
        })
    }
}

/// What a draft model guesses in, for a session of these limits and so many pages.
fn draft_state(
    draft: &Model,
    model: &Model,
    (limits, pages): (&Limits, usize),
    kv: KvType,
) -> Result<Box<dyn Forward>> {
    let (ours, theirs) = (model.tokenizer(), draft.tokenizer());
    let ids = 0..ours.vocab_size().max(theirs.vocab_size()) as u32;
    let mut ids = ids.map(|id| (id, ours.token_bytes(id), theirs.token_bytes(id)));
    if let Some((id, ours, theirs)) = ids.find(|(_, ours, theirs)| ours != theirs) {
        let said = |bytes: Option<Vec<u8>>| {
            bytes.map_or("none".into(), |bytes| {
                format!("{:?}", String::from_utf8_lossy(&bytes))
            })
        };
        return Err(Error::InvalidArgument(format!(
            "the draft model has other tokens than the model: token {id} is {}, not {}; it has to be one of the same \
             family",
            said(theirs),
            said(ours)
        )));
    }
    let info = draft.info();
    let affordable = limits.default_pages(
        draft.kv_bytes_per_token(kv),
        info.weight_bytes,
        draft.free_memory(),
    );
    let at_once = (limits.requests, limits.chunk);
    let size = StateSize::of_session(at_once, limits.context, pages.min(affordable), kv);
    draft.new_state(StateSize {
        snapshots: match draft.recurrent_bytes() {
            0 => 0,
            _ => limits.requests,
        },
        ..size
    })
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("context", &self.context)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
