//! A tokenizer of 320 tokens: 256 bytes, 60 merges, 4 specials; byte-level BPE as in GPT-2.

use super::gguf_writer::GgufWriter;
use serde_json::{Value, json};
use std::path::Path;

pub const BOS: u32 = 316;
/// `<|endoftext|>`.
pub const EOS: u32 = 317;
/// `<|im_end|>`.
pub const TURN_END: u32 = 319;
const SPECIALS: [&str; 4] = ["<|begin|>", "<|endoftext|>", "<|im_start|>", "<|im_end|>"];

pub const CHAT_TEMPLATE: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + \
    '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}\
    {{ '<|im_start|>assistant\n' }}{% endif %}";

/// In order of rank; each joins two tokens that exist by then. `Ġ` stands for a space.
#[rustfmt::skip]
const MERGES: [(&str, &str); 60] = [
    ("Ġ", "t"), ("h", "e"), ("i", "n"), ("r", "e"), ("o", "n"), ("Ġt", "he"), ("e", "r"),
    ("Ġ", "a"), ("a", "t"), ("e", "n"), ("o", "r"), ("Ġ", "o"), ("e", "s"), ("Ġ", "s"),
    ("i", "s"), ("Ġ", "w"), ("n", "d"), ("i", "t"), ("Ġ", "c"), ("o", "u"), ("Ġ", "f"),
    ("Ġ", "b"), ("a", "l"), ("e", "d"), ("Ġa", "nd"), ("Ġ", "p"), ("Ġo", "f"), ("in", "g"),
    ("a", "n"), ("a", "r"), ("Ġ", "in"), ("Ġt", "o"), ("Ġ", "m"), ("Ġ", "h"), ("i", "c"),
    ("Ġ", "d"), ("l", "e"), ("Ġ", "is"), ("r", "o"), ("a", "s"), ("o", "m"), ("i", "on"),
    ("v", "e"), ("u", "t"), ("l", "l"), ("Ġ", "l"), ("s", "t"), ("Ġ", "re"), ("Ġ", "n"),
    ("Ġw", "h"), ("o", "w"), ("t", "h"), ("e", "l"), ("Ġ", "g"), ("Ġ", "Ġ"), ("Ċ", "Ċ"),
    ("1", "9"), ("2", "0"), ("H", "e"), ("T", "he"),
];

/// The printable character that stands for a byte in the vocabulary.
fn byte_char(byte: u8) -> char {
    let printable = |b: u8| matches!(b, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    match byte {
        byte if printable(byte) => byte.into(),
        byte => {
            let rank = (0..byte).filter(|b| !printable(*b)).count() as u32;
            char::from_u32(256 + rank).unwrap()
        }
    }
}

pub fn tokens() -> Vec<String> {
    let mut tokens: Vec<String> = (0..=255).map(|b| byte_char(b).to_string()).collect();
    for (left, right) in MERGES {
        for part in [left, right] {
            assert!(tokens.iter().any(|t| t == part), "{part}");
        }
        tokens.push(format!("{left}{right}"));
    }
    tokens.extend(SPECIALS.map(String::from));
    tokens
}

/// Writes the tokenizer as GGUF metadata.
pub fn write_gguf(writer: &mut GgufWriter) {
    let tokens = tokens();
    let merges: Vec<String> = MERGES.iter().map(|(a, b)| format!("{a} {b}")).collect();
    let kind = |id: usize| if id < 316 { 1 } else { 3 };
    let kinds: Vec<i32> = (0..tokens.len()).map(kind).collect();
    writer
        .text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", "gpt-2")
        .texts("tokenizer.ggml.tokens", &tokens)
        .i32s("tokenizer.ggml.token_type", &kinds)
        .texts("tokenizer.ggml.merges", &merges)
        .u32("tokenizer.ggml.bos_token_id", BOS)
        .u32("tokenizer.ggml.eos_token_id", EOS)
        .flag("tokenizer.ggml.add_bos_token", false)
        .text("tokenizer.chat_template", CHAT_TEMPLATE);
}

/// The same as `tokenizer.json`.
pub fn tokenizer_json() -> Value {
    let tokens = tokens();
    let vocabulary: serde_json::Map<String, Value> = tokens[..316]
        .iter()
        .enumerate()
        .map(|(id, token)| (token.clone(), id.into()))
        .collect();
    let added: Vec<Value> = (316..320)
        .map(|id| {
            json!({
                "id": id, "content": tokens[id], "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true
            })
        })
        .collect();
    let byte_level = json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true
    });
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
        "normalizer": null, "pre_tokenizer": byte_level, "post_processor": null,
        "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "vocab": vocabulary,
            "merges": MERGES.map(|(a, b)| [a, b]).as_slice()
        }
    })
}

/// `tokenizer_config.json`.
pub fn tokenizer_config() -> Value {
    json!({
        "add_bos_token": false, "bos_token": "<|begin|>", "eos_token": "<|endoftext|>",
        "chat_template": CHAT_TEMPLATE, "clean_up_tokenization_spaces": false,
        "model_max_length": 512, "tokenizer_class": "GPT2Tokenizer"
    })
}

/// Writes the files of both into a folder.
pub fn write_files(folder: &Path) {
    for (file, json) in [
        ("tokenizer.json", tokenizer_json()),
        ("tokenizer_config.json", tokenizer_config()),
    ] {
        std::fs::write(folder.join(file), json.to_string()).unwrap();
    }
}
