//! Panics inside the library go to the log, not to the host's standard error, and the host's own panics
//! are none of the library's business. Hooks are the process's: each case is a process of its own.

use mlxrocm::log::{Level, set_sink};
use mlxrocm::model::{Forward, Slice};
use mlxrocm::session::{
    Detokenizer, Event, FinishReason, Next, Request, Session, SessionOptions, TextStream,
};
use mlxrocm::{Error, Result};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

const CASE: &str = "MLXROCM_TEST_PANIC";

/// A model that panics.
struct Broken;

impl Forward for Broken {
    fn vocab_size(&self) -> usize {
        8
    }
    fn max_tokens(&self) -> usize {
        16
    }
    fn page_count(&self) -> usize {
        4
    }
    fn forward(&mut self, _: &[Slice], _: &mut Vec<f32>) -> Result<()> {
        panic!("a model\nthat is broken")
    }
}

struct Mute;

impl Detokenizer for Mute {
    fn stream(&self, _: &[u32]) -> Box<dyn TextStream> {
        Box::new(Mute)
    }
}

impl TextStream for Mute {
    fn push(&mut self, _: u32) -> Result<String> {
        Ok(String::new())
    }
    fn finish(&mut self) -> String {
        String::new()
    }
}

/// A panic on the session's thread, which ends its request.
fn panic_inside() {
    let options = SessionOptions::default();
    let session =
        Session::with_forward(Box::new(Broken), Arc::new(Mute), options, Vec::new(), 64).unwrap();
    let request = Request {
        prompt: vec![1],
        ..Request::default()
    };
    let generation = session.submit(request).unwrap();
    match generation.next(Some(Duration::from_secs(60))).unwrap() {
        Next::Event(Event::Finished { reason, error, .. }) => {
            assert_eq!(reason, FinishReason::Error);
            assert!(matches!(error, Some(Error::Internal(m)) if m.contains("that is broken")));
        }
        other => panic!("{other:?}"),
    }
}

/// What this process does as a case.
fn case(name: &str) {
    if name == "hosts-hook" {
        std::panic::set_hook(Box::new(|info| println!("hook: {info}")));
    }
    if name != "no-log" {
        set_sink(
            Level::Error,
            Some(Arc::new(|_, line| println!("log: {line}"))),
        );
    }
    panic_inside();
    // Lines of the session's thread come with the next call.
    mlxrocm::log::deliver();
    // The host's own panics are as they were.
    let _ = std::thread::spawn(|| panic!("the host's own")).join();
    if name == "hook-later" {
        std::panic::set_hook(Box::new(|info| println!("hook: {info}")));
        let _ = std::thread::spawn(|| panic!("the host's second")).join();
        panic_inside();
    }
}

fn run(name: &str) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "as_a_case", "--nocapture"])
        .env(CASE, name)
        .env_remove("MLXROCM_LOG")
        .output()
        .unwrap()
}

#[test]
fn as_a_case() {
    if let Ok(name) = std::env::var(CASE) {
        case(&name);
    }
}

#[test]
fn go_to_the_log() {
    for name in ["plain", "no-log", "hosts-hook", "hook-later"] {
        let output = run(name);
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {text}{errors}");
        assert!(!errors.contains("that is broken"), "{name}: {errors}");
        let logged: Vec<&str> = text.lines().filter(|l| l.starts_with("log: ")).collect();
        if name != "no-log" {
            // Where it was, in one line.
            let line = logged.iter().find(|l| l.contains("tests/panics.rs:"));
            let line = line.unwrap_or_else(|| panic!("{name}: {text}"));
            assert!(
                line.contains("a model") && line.contains("that is broken"),
                "{line}"
            );
        }
        assert!(!logged.iter().any(|l| l.contains("the host's")), "{text}");
        let own = match name {
            "hosts-hook" => text.contains("hook: ") && text.contains("the host's own"),
            _ => errors.contains("the host's own"),
        };
        assert!(own, "{name}: {text}{errors}");
        if name == "hook-later" {
            assert!(text.contains("the host's second"), "{text}");
        }
    }
}
