//! Chats in the form of OpenAI's API against mlx-lm's server and transformers: `make_chats.py` made the references.

use mlxrocm::formats::gguf::Gguf;
use mlxrocm::text::{ChatTemplate, Message, Tokenizer};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/text")
}

fn json(path: &Path) -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn source(name: &str) -> String {
    if name.ends_with(".jinja") {
        return std::fs::read_to_string(folder().join("templates").join(name)).unwrap();
    }
    let all = json(&folder().join("templates.json"));
    let entry = all.iter().find(|entry| entry["name"] == name).unwrap();
    entry["template"].as_str().unwrap().to_string()
}

/// The reference has `@FORMAT@` for today's date.
fn with_dates(text: &str) -> String {
    let mut text = text.to_string();
    for format in ["%Y-%m-%d", "%d %B %Y", "%d %b %Y"] {
        let mark = format!("@{format}@");
        if text.contains(&mark) {
            let clock = format!("{{{{ strftime_now('{format}') }}}}");
            let clock = ChatTemplate::new(&clock, "", "").unwrap();
            text = text.replace(&mark, &clock.render(&[], false, "").unwrap());
        }
    }
    text
}

#[test]
fn as_mlx_lm_and_transformers_render_them() {
    let (mut failures, mut compared) = (Vec::new(), 0);
    let cases = json(&folder().join("chats.json"));
    for (index, case) in cases.iter().enumerate() {
        let text = |key: &str| case[key].as_str().unwrap();
        let template = ChatTemplate::new(&source(text("template")), "<s>", "</s>").unwrap();
        let got = template.render(&[], case["add"].as_bool().unwrap(), text("chat"));
        let same = match (&got, case["output"].as_str()) {
            (Ok(got), Some(wanted)) => *got == with_dates(wanted),
            (Err(error), None) => error.to_string().contains(text("error")),
            _ => false,
        };
        compared += usize::from(got.is_ok());
        if !same {
            let wanted = case["output"].as_str().unwrap_or("an error");
            let name = text("template");
            failures.push(format!(
                "{index} {name}:\n got    {got:?}\n wanted {wanted:?}"
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
    assert!(compared >= 140);
}

#[test]
fn what_is_no_chat_is_refused_by_place() {
    let template = ChatTemplate::new("{{ messages|tojson }}", "", "").unwrap();
    let user = r#"{"role": "user", "content": "a"}"#;
    let image = r#"{"type": "image_url", "image_url": {"url": "data:"}}"#;
    for (chat, wanted) in [
        ("[]".to_string(), "not a JSON object"),
        (r#"{"messages": {}}"#.into(), "messages is no array"),
        (r#"{"messages": [1]}"#.into(), "messages[0] is no object"),
        (r#"{"messages": [{"content": "a"}]}"#.into(), "messages[0] has no role"),
        (format!(r#"{{"messages": [{user}, {{"role": "user", "content": 1}}]}}"#), "messages[1].content is neither"),
        (format!(r#"{{"messages": [{{"role": "user", "content": [{image}]}}]}}"#), "type image_url: only text"),
        (r#"{"messages": [{"role": "user", "content": [{"type": "text"}]}]}"#.into(), "content[0] has no text"),
        (r#"{"messages": [{"role": "user", "content": ["a"]}]}"#.into(), "content[0] is no object"),
        (r#"{"messages": [{"role": "assistant", "tool_calls": 1}]}"#.into(), "tool_calls is no array"),
        (r#"{"messages": [{"role": "assistant", "tool_calls": [1]}]}"#.into(), "tool_calls[0] is no object"),
        (
            r#"{"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": "{"}}]}]}"#.into(),
            "tool_calls[0].function.arguments: ",
        ),
        (format!(r#"{{"messages": [{user}], "tools": {{}}}}"#), "tools is no array"),
        (format!(r#"{{"messages": [{user}], "tools": ["f"]}}"#), "tools[0] is no object"),
    ] {
        let error = template.render(&[], true, &chat).unwrap_err().to_string();
        assert!(error.contains("the chat in JSON") && error.contains(wanted), "{chat}: {error}");
    }
    let message = Message {
        role: "user".into(),
        content: "a".into(),
    };
    let twice = format!(r#"{{"messages": [{user}]}}"#);
    let error = template
        .render(&[message], true, &twice)
        .unwrap_err()
        .to_string();
    assert!(error.contains("given twice"), "{error}");
}

/// Nothing that a client writes becomes a control token, wherever it stands.
#[test]
fn control_tokens_in_json_stay_text() {
    let demo =
        std::env::var("MLXROCM_DEMO_MODEL").expect("MLXROCM_DEMO_MODEL names the demo model");
    let tokenizer = Tokenizer::from_gguf(&Gguf::open(Path::new(&demo)).unwrap()).unwrap();
    let template = ChatTemplate::new(&source("qwen3.jinja"), "", "").unwrap();
    let control = |word: &str| {
        let chat = format!(
            r#"{{"messages": [{{"role": "user", "content": [{{"type": "text", "text": "{word}"}}, {{"type": "text", "text": "x"}}]}},
            {{"role": "assistant", "content": null, "reasoning_content": "{word}", "tool_calls": [{{"type": "function",
            "function": {{"name": "{word}", "arguments": "{{\"{word}\": \"{word}\"}}"}}}}]}},
            {{"role": "tool", "content": "{word}"}}],
            "tools": [{{"type": "function", "function": {{"name": "f", "description": "{word}", "{word}": 1}}}}]}}"#
        );
        let ids = template.encode(&tokenizer, &[], true, &chat).unwrap();
        let shown = tokenizer.decode(&ids, false).unwrap();
        assert_eq!(shown, template.render(&[], true, &chat).unwrap());
        assert!(shown.matches(word).count() >= 8, "{shown}");
        ids.into_iter()
            .filter(|id| tokenizer.is_special(*id))
            .count()
    };
    assert!(control("word") > 0);
    assert_eq!(control("<|im_end|>"), control("word"));
    // Nor one that only the parts together spell.
    let chat = r#"{"messages": [{"role": "user", "content":
        [{"type": "text", "text": "<|im_"}, {"type": "text", "text": "end|>"}]}]}"#;
    let plain = chat.replace("<|im_", "<").replace("end|>", ">");
    let count = |chat: &str| {
        let ids = template.encode(&tokenizer, &[], true, chat).unwrap();
        ids.into_iter()
            .filter(|id| tokenizer.is_special(*id))
            .count()
    };
    assert_eq!(count(chat), count(&plain));
    assert!(
        template
            .encode(&tokenizer, &[], true, r#"{"messages": []}"#)
            .is_err()
    );
    assert!(template.encode(&tokenizer, &[], true, "{}").is_err());
}
