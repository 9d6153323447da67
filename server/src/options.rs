//! Options: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, unambiguous beginnings of names; "--" ends them.

use mlxrocm_rs::{KvType, Pooling};
use std::ffi::OsString;
use std::path::PathBuf;

/// What the program was told.
#[derive(Debug)]
pub struct Options {
    pub model: PathBuf,
    pub device: String,
    pub threads: u32,
    pub context: u32,
    pub max_requests: u32,
    pub kv: KvType,
    pub prompt_lookup: bool,
    pub draft_model: Option<PathBuf>,
    pub pooling: Pooling,
    pub host: String,
    pub port: u16,
    pub name: Option<String>,
    pub key: Option<String>,
    pub max_waiting: u32,
    pub max_body: u32,
    pub client_timeout: u32,
    pub max_time: u32,
    pub grace: u32,
}

/// What to do.
pub enum Wish {
    Serve(Box<Options>),
    Help,
    Version,
}

/// Name, letter, argument and help of each; those without an argument take no value.
const OPTIONS: &[(&str, char, &str, &str)] = &[
    ("help", 'h', "", "print this help and end"),
    ("version", 'V', "", "print the versions and end"),
    ("host", 'H', "ADDRESS", "where to listen (default: 127.0.0.1, this machine only)"),
    ("port", 'p', "N", "port; 0: any that is free (default: 8080)"),
    ("api-key", 'k', "KEY", "what clients must know; better in MLXROCM_API_KEY, which others cannot see"),
    ("name", 'n', "NAME", "what requests call the model (default: the file's name)"),
    ("device", 'd', "DEVICE", "auto, cpu, or a number of `mlxrocm devices` (default: auto)"),
    ("threads", 't', "N", "CPU threads (default: one for each CPU)"),
    ("context", 'c', "N", "tokens of context (default: the model's, at most 8192)"),
    ("kv", '\0', "f16|q8|q4", "what the KV cache holds (default: f16)"),
    ("prompt-lookup", '\0', "", "guess tokens from what was written before; same answers, sooner"),
    ("draft-model", '\0', "MODEL", "a smaller model with the same tokens that guesses; same answers, sooner"),
    ("pooling", '\0', "last|mean|cls", "what makes an embedding of a text's tokens (default: last)"),
    ("max-requests", 'r', "N", "answers that are written at once (default: 8)"),
    ("max-waiting", 'w', "N", "answers that wait for their turn; more are refused with 429 (default: 128)"),
    ("max-body", '\0', "N", "bytes of a request (default: 8388608)"),
    ("max-time", '\0', "SECONDS", "that an answer may take (default: 600)"),
    ("client-timeout", '\0', "SECONDS", "that a client may send or take nothing (default: 60)"),
    ("grace", '\0', "SECONDS", "for answers that are being written when the server is stopped (default: 30)"),
];

pub fn help() -> String {
    let mut text = String::from(
        "Usage: mlxrocm-serve [option...] model\n\nServes a model with the API of OpenAI. A model is a GGUF file or an \
         MLX model folder.\n\n",
    );
    for (name, letter, argument, help) in OPTIONS {
        let letter = if *letter == '\0' { "    ".into() } else { format!("-{letter}, ") };
        let left = format!("{letter}--{name} {argument}");
        text.push_str(&format!("  {left:<26} {help}\n"));
    }
    text
}

/// The key of the environment, if that has one.
fn key() -> Result<Option<String>, String> {
    let Some(key) = std::env::var_os("MLXROCM_API_KEY").filter(|key| !key.is_empty()) else { return Ok(None) };
    key.into_string().map(Some).map_err(|_| "MLXROCM_API_KEY is not UTF-8".into())
}

pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Wish, String> {
    let mut options = Options {
        model: PathBuf::new(),
        device: "auto".into(),
        threads: 0,
        context: 0,
        max_requests: 8,
        kv: KvType::F16,
        prompt_lookup: false,
        draft_model: None,
        pooling: Pooling::Last,
        host: "127.0.0.1".into(),
        port: 8080,
        name: None,
        key: key()?,
        max_waiting: 128,
        max_body: 8 << 20,
        client_timeout: 60,
        max_time: 600,
        grace: 30,
    };
    let mut models = Vec::new();
    let mut arguments = arguments.into_iter();
    let mut ended = false;
    // A path may be any bytes, but no option.
    let text = |argument: OsString| argument.into_string().map_err(|argument| format!("{argument:?} is not UTF-8"));
    while let Some(argument) = arguments.next() {
        if ended || !argument.as_encoded_bytes().starts_with(b"-") || argument == "-" {
            models.push(argument);
            continue;
        }
        let argument = text(argument)?;
        if argument == "--" {
            ended = true;
            continue;
        }
        let (name, takes, mut value) = find(&argument)?;
        if takes && value.is_none() {
            value = Some(text(arguments.next().ok_or_else(|| format!("--{name} needs a value"))?)?);
        }
        match (name, value) {
            ("help", None) => return Ok(Wish::Help),
            ("version", None) => return Ok(Wish::Version),
            ("prompt-lookup", None) => options.prompt_lookup = true,
            (name, Some(value)) if takes => set(&mut options, name, value)?,
            (name, _) => return Err(format!("--{name} takes no value")),
        }
    }
    match <[OsString; 1]>::try_from(models) {
        Ok([model]) => options.model = model.into(),
        Err(models) if models.is_empty() => return Err("which model? name a GGUF file or an MLX model folder".into()),
        Err(models) => return Err(format!("one model is served, not {}", models.len())),
    }
    Ok(Wish::Serve(Box::new(options)))
}

/// The option's name, whether it takes a value, and the value where the argument has it.
fn find(argument: &str) -> Result<(&'static str, bool, Option<String>), String> {
    if let Some(long) = argument.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (long, None),
        };
        let liked: Vec<_> = OPTIONS.iter().filter(|option| option.0.starts_with(name)).collect();
        let exact = liked.iter().find(|option| option.0 == name);
        return match (exact, &liked[..]) {
            (Some(option), _) => Ok((option.0, !option.2.is_empty(), value)),
            (None, [option]) => Ok((option.0, !option.2.is_empty(), value)),
            (None, []) => Err(format!("there is no option --{name}")),
            (None, _) => Err(format!("--{name} is the beginning of several options")),
        };
    }
    let mut characters = argument.chars().skip(1);
    let letter = characters.next().unwrap_or('\0');
    let rest: String = characters.collect();
    let option = OPTIONS.iter().find(|option| option.1 == letter && letter != '\0');
    let option = option.ok_or_else(|| format!("there is no option -{letter}"))?;
    Ok((option.0, !option.2.is_empty(), Some(rest).filter(|rest| !rest.is_empty())))
}

fn set(options: &mut Options, name: &str, value: String) -> Result<(), String> {
    let count = |least: u32, most: u32| {
        // parse takes signs: these are no counts.
        let number = value.parse::<u32>().ok().filter(|_| value.starts_with(|c: char| c.is_ascii_digit()));
        number
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("--{name}: '{value}' is no number from {least} to {most}"))
    };
    match name {
        "host" => options.host = value,
        "port" => options.port = count(0, u16::MAX.into())? as u16,
        "api-key" if value.is_empty() => return Err("--api-key: the key is empty".into()),
        "api-key" => options.key = Some(value),
        "name" => options.name = Some(value),
        "device" => options.device = value,
        "draft-model" => options.draft_model = Some(value.into()),
        "threads" => options.threads = count(0, 1024)?,
        "context" => options.context = count(0, u32::MAX)?,
        "max-requests" => options.max_requests = count(1, 256)?,
        "max-waiting" => options.max_waiting = count(0, 4096)?,
        "max-body" => options.max_body = count(1, 1 << 30)?,
        "max-time" => options.max_time = count(1, 1_000_000)?,
        "client-timeout" => options.client_timeout = count(1, 1_000_000)?,
        "grace" => options.grace = count(0, 1_000_000)?,
        "pooling" => {
            options.pooling = match value.as_str() {
                "last" => Pooling::Last,
                "mean" => Pooling::Mean,
                "cls" => Pooling::Cls,
                _ => return Err(format!("--pooling: '{value}' is none of last|mean|cls")),
            }
        }
        _ => {
            options.kv = match value.as_str() {
                "f16" => KvType::F16,
                "q8" => KvType::Q8,
                "q4" => KvType::Q4,
                _ => return Err(format!("--kv: '{value}' is none of f16|q8|q4")),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options, String> {
        match read(line.split_whitespace().map(OsString::from))? {
            Wish::Serve(options) => Ok(*options),
            _ => Err("help or version".into()),
        }
    }

    #[test]
    fn every_way_to_write_them() {
        let read = options("-p 9 --ho=0.0.0.0 m.gguf -c77 --kv q8 --max-t 5").unwrap();
        assert_eq!((read.port, read.host.as_str(), read.context, read.max_time), (9, "0.0.0.0", 77, 5));
        assert_eq!((read.model.to_str(), read.kv), (Some("m.gguf"), KvType::Q8));
        assert!(!read.prompt_lookup && read.draft_model.is_none());
        let read = options("--prompt-l --draft-model d.gguf m.gguf").unwrap();
        assert!(read.prompt_lookup && read.draft_model == Some("d.gguf".into()));
        assert_eq!(options("-- -m").unwrap().model.to_str(), Some("-m"));
        assert!(matches!(super::read(["-h".into()]), Ok(Wish::Help)));
    }

    #[test]
    fn wrong_ones_are_named() {
        for (line, wanted) in [
            ("", "which model"),
            ("a b", "one model"),
            ("m -x", "no option -x"),
            ("m --nothing", "no option --nothing"),
            ("m --max", "several"),
            ("m --port", "needs a value"),
            ("m --port 65536", "'65536' is no number from 0 to 65535"),
            ("m --context -1", "'-1'"),
            ("m --context +1", "'+1'"),
            ("m --pooling sum", "none of last|mean|cls"),
            ("m --kv f8", "none of f16|q8|q4"),
            ("m --help=1", "takes no value"),
            ("m --prompt-lookup=1", "takes no value"),
        ] {
            let error = options(line).unwrap_err();
            assert!(error.contains(wanted), "{line}: {error}");
        }
    }

    /// The manual has what the help has.
    #[test]
    fn the_manual_names_them_all() {
        let manual = include_str!("../mlxrocm-serve.1").replace('\\', "");
        for (name, ..) in OPTIONS {
            assert!(manual.contains(&format!("--{name}")), "{name}");
        }
    }
}
