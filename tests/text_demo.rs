//! The tokenizer and chat template of the demo model.

use mlxrocm::formats::gguf::Gguf;
use mlxrocm::text::{ChatTemplate, DecodeStream, Message, Tokenizer};
use std::path::PathBuf;
use std::sync::Arc;

fn demo_model() -> PathBuf {
    let path = std::env::var_os("MLXROCM_DEMO_MODEL").map_or_else(
        || {
            PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join(".cache/models/SmolLM2-135M-Instruct.Q4_1.gguf")
        },
        PathBuf::from,
    );
    assert!(
        path.is_file(),
        "the demo model {} is missing: run `make test`, or set MLXROCM_DEMO_MODEL",
        path.display()
    );
    path
}

#[test]
fn encode_and_decode() {
    let gguf = Gguf::open(&demo_model()).unwrap();
    let start = std::time::Instant::now();
    let tokenizer = Arc::new(Tokenizer::from_gguf(&gguf).unwrap());
    eprintln!("built in {:?}", start.elapsed());
    assert_eq!(tokenizer.vocab_size(), 49152);
    assert_eq!((tokenizer.bos(), tokenizer.eos()), (Some(1), Some(2)));
    assert_eq!(tokenizer.end_tokens(), [0, 2]);
    let text = "Hello, wörld! 12345 \t\n  中文 👩‍👩‍👧 <|im_end|>";
    let ids = tokenizer.encode(text, true, false).unwrap();
    assert!(!ids.iter().any(|id| tokenizer.is_special(*id)));
    assert_eq!(tokenizer.decode(&ids, true).unwrap(), text);
    let special = tokenizer.encode(text, true, true).unwrap();
    assert_eq!(special.last(), Some(&2));
    assert_eq!(tokenizer.decode(&special, false).unwrap(), text);
    assert!(!tokenizer.decode(&special, true).unwrap().contains("im_end"));
    let mut stream = DecodeStream::new(tokenizer.clone(), &[], true);
    let mut out = String::new();
    for id in ids {
        out += &stream.push(id).unwrap();
    }
    assert_eq!(out + &stream.finish(), text);
    assert!(tokenizer.decode(&[49152], false).is_err());
}

#[test]
fn chat_template() {
    let gguf = Gguf::open(&demo_model()).unwrap();
    let source = gguf
        .get("tokenizer.chat_template")
        .unwrap()
        .as_str()
        .unwrap();
    let template = ChatTemplate::new(source, "<|im_start|>", "<|im_end|>").unwrap();
    let user = Message {
        role: "user".into(),
        content: "Hi".into(),
    };
    let text = template.render(&[user], true, "").unwrap();
    assert_eq!(
        text,
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face\
         <|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    );
}
