//! mlxrocm-serve: a server with the API of OpenAI over libmlxrocm.

mod answers;
mod app;
mod chat;
mod completions;
mod embeddings;
mod error;
mod fields;
mod format;
mod listen;
mod logprobs;
mod metrics;
mod options;
mod respond;
mod stalled;
mod tools;
mod usage;

use app::App;
use mlxrocm_rs::{Device, LogLevel, Model, Session, SessionOptions};
use options::{Options, Wish};
use serde::Serialize;
use serde_json::json;
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, SystemTime};
use tokio::net::TcpSocket;
use tokio::sync::Semaphore;

/// JSON of a value that always has one.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// A line of the log. Who reads it may have gone: that ends no server.
fn say(message: impl Display) {
    let _ = writeln!(std::io::stderr(), "mlxrocm-serve: {message}");
}

/// What was asked for, on stdout.
fn print(text: &str) -> ExitCode {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => say(format_args!("stdout: {error}")),
    }
    ExitCode::FAILURE
}

fn main() -> ExitCode {
    let options = match options::read(std::env::args_os().skip(1)) {
        Ok(Wish::Serve(options)) => options,
        Ok(Wish::Help) => return print(&options::help()),
        Ok(Wish::Version) => {
            let (own, library) = (env!("CARGO_PKG_VERSION"), mlxrocm_rs::version());
            return print(&format!("mlxrocm-serve {own}, libmlxrocm {library}\n"));
        }
        Err(error) => {
            say(error);
            say("try 'mlxrocm-serve --help'");
            return ExitCode::from(2);
        }
    };
    match serve(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(error);
            ExitCode::FAILURE
        }
    }
}

type Failure = Box<dyn std::error::Error>;

/// Tells lines of the library's log, unless it writes them itself as MLXROCM_LOG says.
fn tell(level: LogLevel) -> mlxrocm_rs::Result<()> {
    match std::env::var_os("MLXROCM_LOG").filter(|level| !level.is_empty()) {
        Some(_) => Ok(()),
        None => mlxrocm_rs::set_log(level, Some(Box::new(|_, line| say(line)))),
    }
}

fn serve(options: &Options) -> Result<(), Failure> {
    // A thread for each generation that is read or submitted, besides those that serve connections.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(2 * slots(options) as usize)
        .thread_keep_alive(Duration::from_secs(2))
        .enable_all()
        .build()?;
    // Before the model, which takes long: somebody else may have the port. Clients are refused until it is there.
    let socket = runtime.block_on(bind(options))?;
    // Which device the model got, and why that; then warnings only.
    tell(LogLevel::Info)?;
    let app = Arc::new(open(options)?);
    tell(LogLevel::Warn)?;
    let outcome = runtime.block_on(async {
        let listener = socket.listen(1024).map_err(|error| cannot_listen(options, &error))?;
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() && app.key.is_none() {
            say(format_args!("warning: whoever reaches {address} can use it: there is no API key"));
        }
        say(format_args!("{} at http://{address}/v1", app.name));
        listen::serve(app.clone(), listener, Duration::from_secs(options.grace.into())).await.map_err(Failure::from)
    });
    // What still runs is cancelled when its connection goes.
    runtime.shutdown_timeout(Duration::from_secs(10));
    outcome
}

/// Takes the first of the host's addresses that is free.
async fn bind(options: &Options) -> Result<TcpSocket, Failure> {
    let address = (options.host.trim_matches(['[', ']']), options.port);
    let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
    let addresses = tokio::net::lookup_host(address).await.map_err(|error| cannot_listen(options, &error))?;
    for address in addresses {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
        let bound = socket.and_then(|socket| {
            // Connections of a server that has just ended do not matter.
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            Ok(socket)
        });
        match bound {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(cannot_listen(options, &last).into())
}

fn cannot_listen(options: &Options, error: &std::io::Error) -> String {
    format!("cannot listen on {}, port {}: {error}", options.host, options.port)
}

/// Generations that run or wait.
fn slots(options: &Options) -> u32 {
    options.max_requests + options.max_waiting
}

/// Loads the model.
fn open(options: &Options) -> Result<App, Failure> {
    let device = match options.device.as_str() {
        "auto" => None,
        "cpu" => Some(Device::open(0)?),
        number => {
            let index = number.parse().map_err(|_| format!("--device: '{number}' is none of auto, cpu, a number"))?;
            Some(Device::open(index)?)
        }
    };
    let model = Model::load_on(&options.model, device.as_ref(), options.threads)?;
    let draft = options.draft_model.as_ref();
    let draft = draft.map(|path| Model::load_on(path, device.as_ref(), options.threads)).transpose()?;
    let session = Session::with_options(
        &model,
        SessionOptions {
            context: options.context,
            max_requests: options.max_requests,
            kv_type: options.kv,
            prompt_lookup: options.prompt_lookup,
            draft_model: draft.as_ref(),
            ..SessionOptions::default()
        },
    )?;
    let info = model.info()?;
    let stem = options.model.file_name().map(|name| name.to_string_lossy().into_owned());
    let stem = stem.map(|name| name.strip_suffix(".gguf").map(str::to_string).unwrap_or(name));
    let tokenizer = model.tokenizer()?;
    // Models without a template answer no chats.
    let template = model.chat_template().unwrap_or_default();
    let form = tools::Form::of(&template);
    let control = |mark: &str| {
        let token = tokenizer.find(mark).ok().flatten()?;
        tokenizer.is_special(token).is_ok_and(|special| special).then_some(token)
    };
    Ok(App {
        calls: tools::Written::of(form, &template, control),
        tokenizer,
        tools: form,
        name: options.name.clone().or(stem).unwrap_or(info.name),
        facts: json!({
            "family": info.family, "quantization": info.quantization, "parameters": info.parameters,
            "context": session.info()?.context, "vocab_size": info.vocab_size, "hidden_size": info.hidden_size,
        }),
        session: Arc::new(session),
        created: now(),
        hidden_size: info.hidden_size as u64,
        pooling: options.pooling,
        key: options.key.clone(),
        slots: Arc::new(Semaphore::new(slots(options) as usize)),
        most_slots: slots(options),
        max_body: options.max_body as usize,
        client_timeout: Duration::from_secs(options.client_timeout.into()),
        max_time: Duration::from_secs(options.max_time.into()),
        metrics: metrics::Metrics::default(),
        stopping: AtomicBool::new(false),
        run: RandomState::new().hash_one(now()),
        ids: AtomicU64::new(0),
    })
}
