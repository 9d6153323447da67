//! A small model, what it says on the CPU, and generations on the software GPU that may fail.

use crate::{gpu, small};
use mlxrocm::gpu::Device;
use mlxrocm::model::{DeviceChoice, KvType, LoadOptions, Model};
use mlxrocm::session::{
    Event, FinishReason, Generation, Next, Request, Sampling, Session, SessionOptions,
    SessionStatus,
};
use mlxrocm::{Error, Result};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Tokens that each request asks for.
pub const TOKENS: usize = 3;

/// Longer than any end of a generation takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(300);

/// The model's file.
pub fn path() -> &'static PathBuf {
    static FOLDER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.gguf");
        std::fs::write(&path, small::gguf()).unwrap();
        (folder, path)
    });
    path
}

/// Four prompts, one of them in two chunks.
pub fn requests() -> Vec<Request> {
    let lengths = [4, 11, 2, 6];
    let request = |(i, length): (u32, u32)| Request {
        prompt: (0..length)
            .map(|j| (i * 91 + j * 37 + 5) % small::VOCABULARY as u32)
            .collect(),
        max_tokens: TOKENS,
        ignore_eos: true,
        // Rows of logits are copied to the host behind each step.
        sampling: Sampling {
            logprobs: 1,
            ..Default::default()
        },
        ..Default::default()
    };
    (0..).zip(lengths).map(request).collect()
}

pub fn load(device: DeviceChoice) -> Result<Arc<Model>> {
    let options = LoadOptions {
        device,
        threads: 1,
        ..LoadOptions::default()
    };
    Model::load(path(), &options, None)
}

pub fn load_on_gpu() -> Result<Arc<Model>> {
    load(DeviceChoice::Gpu(0))
}

/// Three requests at once; the fourth waits.
pub fn session(model: &Arc<Model>) -> Result<Session> {
    let options = SessionOptions {
        context: 64,
        max_requests: 3,
        prefill_chunk: 8,
        kv_tokens: 0,
        kv_type: KvType::F16,
        ..Default::default()
    };
    Session::new(model.clone(), options)
}

/// How a generation ended.
#[derive(Debug)]
pub struct Output {
    pub tokens: Vec<u32>,
    pub reason: FinishReason,
    pub error: Option<Error>,
}

/// All events up to the end, which must come.
pub fn collect(generation: &Generation) -> Output {
    let mut tokens = Vec::new();
    loop {
        match generation.next(Some(PATIENCE)).unwrap() {
            Next::Event(Event::Prompt { .. }) => {}
            Next::Event(Event::Token { token, .. }) => tokens.push(token),
            Next::Event(Event::Finished { reason, error, .. }) => {
                assert_eq!(generation.next(Some(PATIENCE)), Ok(Next::End));
                assert_eq!(error.is_some(), reason == FinishReason::Error);
                return Output {
                    tokens,
                    reason,
                    error,
                };
            }
            other => panic!("no end of a generation: {other:?}"),
        }
    }
}

/// What the CPU says to each request.
pub fn expected() -> &'static [Vec<u32>] {
    static EXPECTED: OnceLock<Vec<Vec<u32>>> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let session = session(&load(DeviceChoice::Cpu).unwrap()).unwrap();
        let outputs = requests()
            .into_iter()
            .map(|r| collect(&session.submit(r).unwrap()));
        let tokens: Vec<Vec<u32>> = outputs.map(|output| output.tokens).collect();
        // A fault that changes what is computed changes what is said.
        assert!(tokens.iter().all(|tokens| tokens.len() == TOKENS));
        assert!(tokens.iter().any(|tokens| tokens[0] != tokens[TOKENS - 1]));
        tokens
    })
}

/// Runs all requests at once. Each ends, with the right tokens or with an error and a beginning of
/// them; returns the errors.
pub fn run_all(session: &Session) -> Vec<Error> {
    let open: Vec<Generation> = requests()
        .into_iter()
        .map(|request| session.submit(request).unwrap())
        .collect();
    let mut errors = Vec::new();
    for (generation, expected) in open.iter().zip(expected()) {
        let Output {
            tokens,
            reason,
            error,
        } = collect(generation);
        match error {
            Some(error) => {
                assert_eq!(tokens, expected[..tokens.len()], "{error}");
                errors.push(error);
            }
            None => assert_eq!((reason, &tokens), (FinishReason::Length, expected)),
        }
    }
    assert_idle(session);
    errors
}

/// The first request alone.
pub fn run_one(session: &Session) -> Result<()> {
    let output = collect(&session.submit(requests().remove(0)).unwrap());
    assert_eq!(output.tokens, expected()[0][..output.tokens.len()]);
    output.error.map_or(Ok(()), Err)
}

/// Nothing runs and no page is held, as soon as the scheduler has said so.
fn assert_idle(session: &Session) {
    let end = Instant::now() + PATIENCE;
    let idle = |s: SessionStatus| (s.running, s.waiting, s.pages_used) == (0, 0, 0);
    while !idle(session.status()) {
        assert!(Instant::now() < end, "{:?}", session.status());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A model loaded and used from the beginning: the device is as good as new.
pub fn works() {
    let session = session(&load_on_gpu().unwrap()).unwrap();
    assert_eq!(run_all(&session), []);
    assert_eq!(run_one(&session), Ok(()));
}

impl gpu::Gpu {
    /// Faults that came so far.
    pub fn delivered(&self) -> usize {
        let report = self.report();
        report["faults_delivered"].as_array().unwrap().len()
    }

    /// Runs `body` with a fault armed; the result, and whether the fault came.
    pub fn with_fault<T>(&self, fault: &str, body: impl FnOnce() -> T) -> (T, bool) {
        let before = self.delivered();
        self.fault(fault);
        let result = body();
        let came = self.delivered() > before;
        self.fault("none");
        (result, came)
    }
}

/// So much is in use, and nothing else is kept after a trim, once queued work is done.
#[track_caller]
pub fn assert_in_use(device: &Arc<Device>, bytes: u64) {
    let end = Instant::now() + PATIENCE;
    loop {
        device.trim().unwrap();
        let (memory, pinned) = (device.memory().unwrap(), device.pinned_memory());
        assert_eq!((memory.active, pinned.active), (bytes, 0));
        if (memory.cache, pinned.cache) == (0, 0) {
            return;
        }
        assert!(Instant::now() < end, "{memory:?}, {pinned:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
