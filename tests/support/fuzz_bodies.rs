//! What is done with an arbitrary input: open it as a file and use all of it. Shared by the fuzz
//! targets (`tests/fuzz`) and by `tests/fuzz_regressions.rs`, which runs the inputs that once failed.
//!
//! Any result is fine that is a value or a one-line error naming the file; a panic, an endless loop
//! or more heap than the input can justify is not. Inputs of several parts separate them by NUL.

#[path = "counting_allocator.rs"]
pub mod counting_allocator;
#[path = "damage.rs"]
#[allow(dead_code)] // the damage tests use the rest
mod damage;
#[path = "gguf_writer.rs"]
#[allow(dead_code)] // the damage tests use the rest
pub mod gguf_writer;

use counting_allocator::peak_of;
use gguf_writer::GgufWriter;
use mlxrocm::Error;
use mlxrocm::chess::{ChessNet, File, Game, InputFormat, NetOptions};
use mlxrocm::formats::folder::Folder;
use mlxrocm::formats::gguf::Gguf;
use mlxrocm::model::Config;
use mlxrocm::text::{ChatTemplate, DecodeStream, GrammarSource, Message, Tokenizer};
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tempfile::TempDir;

/// The longest input: what `-max_len` of the fuzzer says.
pub const MAX_INPUT: usize = 64 << 10;

/// The most heap a tokenizer of an input may take, and the encoding of its text.
const TOKENIZER_HEAP: usize = 64 << 20;

/// The most heap the rendering of a template may take.
const TEMPLATE_HEAP: usize = 128 << 20;

/// The most processor time of one input, with the fuzzer's checks built in. Processor time, because
/// a busy machine makes everything slow.
const MAX_SECONDS: f64 = 5.0;

/// A target: its name and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// Runs one input through a target.
pub fn run(body: fn(&[u8]), input: &[u8]) {
    let start = cpu_seconds();
    body(input);
    let seconds = cpu_seconds() - start;
    assert!(seconds < MAX_SECONDS, "{seconds} seconds of processor time");
}

/// The processor time of this thread.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writing one timespec; the clock exists on Linux.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The most heap that a chess network may take: what a small file may be unpacked to, while it grows.
const CHESS_HEAP: usize = 256 << 20;

/// All targets.
pub const TARGETS: [Target; 7] = [
    ("gguf", gguf),
    ("safetensors", safetensors),
    ("config", config),
    ("tokenizer", tokenizer),
    ("chat_template", chat_template),
    ("chess", chess),
    ("grammar", grammar),
];

/// The input is a whole GGUF file.
pub fn gguf(input: &[u8]) {
    let folder = folder(&[("input.gguf", input)]);
    damage::survives(&folder.path().join("input.gguf"), &|| "the input".into());
}

/// The input is the `model.safetensors` of a model folder; the first part, if there are two, its
/// quantization as `config.json` has it.
pub fn safetensors(input: &[u8]) {
    let config = br#"{"model_type":"llama","hidden_size":64,"intermediate_size":64,
        "num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":1,"vocab_size":8,
        "max_position_embeddings":128,"rms_norm_eps":1e-5,"tie_word_embeddings":true,
        "quantization":{"group_size":32,"bits":4}}"#;
    let folder = folder(&[("config.json", config), ("model.safetensors", input)]);
    damage::survives(folder.path(), &|| "the input".into());
}

/// The input is `config.json` and `generation_config.json`; or, after a `G`, GGUF metadata as a JSON
/// object of which `tensors` gives names and dimensions.
pub fn config(input: &[u8]) {
    let read = |read: &dyn Fn() -> mlxrocm::Result<Config>| {
        let (result, peak) = peak_of(read);
        assert!(peak < damage::MAX_HEAP, "{peak} bytes of heap");
        match result {
            Ok(config) => {
                assert!(config.heads * config.head_dim > 0 && config.vocab_size > 0);
                assert_eq!(config.heads % config.kv_heads, 0);
            }
            Err(error) => check(&error),
        }
    };
    if let Some(metadata) = input.strip_prefix(b"G") {
        with_metadata(metadata, |path, _| {
            read(&|| Config::from_gguf(&Gguf::open(path)?))
        });
        return;
    }
    let [config, generation_config] = parts(input);
    let folder = folder(&[
        ("config.json", config),
        ("generation_config.json", generation_config),
        ("model.safetensors", b"\x02\0\0\0\0\0\0\0{}"),
    ]);
    for has_head in [false, true] {
        read(&|| Config::from_folder(&Folder::open(folder.path())?, has_head));
    }
}

/// The input is `tokenizer.json`, `tokenizer_config.json` and a text to encode; or, after a `G`, GGUF
/// metadata as a JSON object, whose `text` is encoded.
pub fn tokenizer(input: &[u8]) {
    if let Some(metadata) = input.strip_prefix(b"G") {
        with_metadata(metadata, |path, text| {
            use_tokenizer(&|| Tokenizer::from_gguf(&Gguf::open(path)?), text)
        });
        return;
    }
    let [json, config, text] = parts(input);
    let folder = folder(&[("tokenizer.json", json), ("tokenizer_config.json", config)]);
    let text = String::from_utf8_lossy(text);
    use_tokenizer(&|| Tokenizer::from_folder(folder.path()), &text);
}

/// Encodes the text in every way and decodes it at once and token by token.
fn use_tokenizer(open: &dyn Fn() -> mlxrocm::Result<Tokenizer>, text: &str) {
    let (result, peak) = peak_of(open);
    assert!(peak < TOKENIZER_HEAP, "{peak} bytes of heap to open");
    let tokenizer = match result {
        Ok(tokenizer) => Arc::new(tokenizer),
        Err(error) => return check(&error),
    };
    let size = tokenizer.vocab_size() as u32;
    for id in tokenizer.end_tokens().iter().copied() {
        assert!(id < size && tokenizer.id_to_token(id).is_some());
    }
    for (add_special, parse_special) in [(false, false), (true, true)] {
        let (ids, peak) = peak_of(|| tokenizer.encode(text, add_special, parse_special));
        assert!(peak < TOKENIZER_HEAP, "{peak} bytes of heap to encode");
        let ids = match ids {
            Ok(ids) => ids,
            Err(error) => return check(&error),
        };
        for id in &ids {
            assert!(tokenizer.token_bytes(*id).is_some(), "token {id} of {size}");
        }
        let at_once = tokenizer.decode(&ids, true).unwrap();
        let mut stream = DecodeStream::new(tokenizer.clone(), &[], true);
        let mut streamed: String = ids.iter().map(|id| stream.push(*id).unwrap()).collect();
        streamed.push_str(&stream.finish());
        assert_eq!(streamed, at_once);
    }
    assert!(tokenizer.decode(&[size], false).is_err());
}

/// The input is a template, further variables as JSON, and the content of a message.
pub fn chat_template(input: &[u8]) {
    let [template, extra, content] = parts(input).map(String::from_utf8_lossy);
    let (result, peak) = peak_of(|| {
        let template = ChatTemplate::new(&template, "<s>", "</s>")?;
        let message = |role: &str, content: &str| Message {
            role: role.into(),
            content: content.into(),
        };
        let messages = [
            message("system", "Be brief."),
            message("user", &content),
            message("assistant", "<think>\nno\n</think>\nYes."),
            message("user", "Why?"),
        ];
        for (messages, open) in [(&messages[..], true), (&messages[1..3], false)] {
            template.render(messages, open, &extra)?;
        }
        Ok::<_, Error>(())
    });
    assert!(peak < TEMPLATE_HEAP, "{peak} bytes of heap");
    if let Err(error) = result {
        assert!(
            matches!(error, Error::InvalidFile(_) | Error::InvalidArgument(_)),
            "{error:?}"
        );
        check_text(&error.to_string());
    }
}

/// The input is what a text must be: a letter (s: a JSON schema, r: a regular expression, g: a grammar), and its text.
pub fn grammar(input: &[u8]) {
    static TOKENIZER: OnceLock<Tokenizer> = OnceLock::new();
    let tokenizer = TOKENIZER.get_or_init(|| {
        let [json, config, _] = parts(include_bytes!("../fuzz/seeds/tokenizer/tiny_folder"));
        let [json, config] = [json, config].map(|text| str::from_utf8(text).unwrap());
        Tokenizer::from_json(json, config, "tiny_folder").unwrap()
    });
    let Some((kind, text)) = input.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(text);
    let source = match kind {
        b's' => GrammarSource::JsonSchema(&text),
        b'r' => GrammarSource::Regex(&text),
        b'g' => GrammarSource::Lark(&text),
        _ => return,
    };
    let start = Instant::now();
    let result = tokenizer
        .grammars()
        .unwrap()
        .compile(source)
        .and_then(|mut grammar| {
            let mut number = input
                .iter()
                .fold(7_usize, |sum, byte| sum * 31 % 65_521 + usize::from(*byte));
            for _ in 0..12 {
                let allowed = grammar.allowed(&[])?;
                let can: Vec<u32> = (0..320).filter(|token| allowed.contains(*token)).collect();
                if can.is_empty() || grammar.is_complete() {
                    break;
                }
                number = number * 75 % 65_537;
                grammar.accept(can[number % can.len()])?;
            }
            Ok(())
        });
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    if let Err(error) = result {
        assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
        check_text(&error.to_string());
    }
}

/// An error of reading a file: of the right kind, one short line, with a file in it.
fn check(error: &Error) {
    let message = error.to_string();
    assert!(
        !matches!(error, Error::Internal(_) | Error::NullArgument(_)),
        "{error:?}"
    );
    let named = [".json", ".gguf", ".safetensors"];
    assert!(named.iter().any(|n| message.contains(n)), "{message}");
    check_text(&message);
}

fn check_text(message: &str) {
    assert!(!message.contains('\n'), "{message:?}");
    assert!(message.len() < 2000, "{} bytes: {message}", message.len());
}

/// The parts of an input; those that it lacks are empty.
fn parts<const N: usize>(input: &[u8]) -> [&[u8]; N] {
    let mut parts = input.splitn(N, |byte| *byte == 0);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// A folder of these files; the empty ones are left out.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix("input.json")
        .tempdir()
        .unwrap();
    for (name, bytes) in files.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// Writes a GGUF file of the metadata in a JSON object; gives its path and the object's `text`.
fn with_metadata(json: &[u8], call: impl FnOnce(&Path, &str)) {
    let Ok(Value::Object(fields)) = serde_json::from_slice(json) else {
        return;
    };
    let mut writer = GgufWriter::new(3);
    let mut numbers = 0;
    for (key, value) in &fields {
        match value {
            Value::Bool(flag) => writer.flag(key, *flag),
            Value::String(text) => writer.text(key, text),
            Value::Array(list) if list.iter().all(Value::is_string) => {
                let texts = list.iter().filter_map(Value::as_str);
                writer.texts(key, &texts.map(String::from).collect::<Vec<_>>())
            }
            Value::Array(list) if list.iter().all(Value::is_i64) => {
                let numbers = list.iter().filter_map(Value::as_i64).map(|n| n as i32);
                writer.i32s(key, &numbers.collect::<Vec<_>>())
            }
            Value::Array(list) => {
                let numbers = list.iter().filter_map(Value::as_f64).map(|n| n as f32);
                let bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
                writer.array(key, 6, bytes.len() / 4, &bytes)
            }
            Value::Number(number) => match (number.as_u64(), number.as_f64()) {
                (Some(number), _) => writer.raw(key, 10, &number.to_le_bytes()),
                (_, number) => writer.f32(key, number.unwrap_or_default() as f32),
            },
            Value::Object(tensors) => {
                for (name, dims) in tensors {
                    let dims = dims.as_array().into_iter().flatten();
                    let dims: Vec<u64> = dims.filter_map(Value::as_u64).take(4).collect();
                    let count = dims.iter().try_fold(4u64, |n, size| n.checked_mul(*size));
                    numbers += count.unwrap_or(u64::MAX / 65536);
                    if numbers > 1 << 20 {
                        return;
                    }
                    writer.tensor(name, &dims, 0, vec![0x3f; count.unwrap_or(0) as usize]);
                }
                &mut writer
            }
            Value::Null => &mut writer,
        };
    }
    let folder = folder(&[("input.gguf", &writer.bytes())]);
    let text = fields.get("text").and_then(Value::as_str);
    call(&folder.path().join("input.gguf"), text.unwrap_or_default());
}

/// The input is the file of a chess network; or, after an `F`, a FEN and moves, one a line.
pub fn chess(input: &[u8]) {
    if let Some(game) = input.strip_prefix(b"F") {
        let text = String::from_utf8_lossy(game);
        let mut lines = text.lines();
        let fen = lines.next().filter(|fen| !fen.is_empty());
        match Game::new(fen, &lines.collect::<Vec<_>>()) {
            Ok(game) => {
                for format in InputFormat::ALL {
                    let planes = game.planes(format);
                    assert_eq!(planes.masks[111], u64::MAX);
                    let legal = game.legal_moves(planes.transform);
                    assert!(legal.len() <= 218 && legal.iter().all(|m| m.index < 1858));
                }
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
        return;
    }
    let options = NetOptions {
        threads: 1,
        ..NetOptions::default()
    };
    let load = || ChessNet::of(&File::parse("the input", input.to_vec())?, &options);
    let (result, peak) = peak_of(load);
    assert!(peak < CHESS_HEAP, "{peak} bytes of heap");
    if let Err(error) = result {
        let message = error.to_string();
        assert!(
            message.contains("the input") && !message.contains('\n'),
            "{message}"
        );
    }
}
