//! Chat templates against jinja2 as transformers sets it up, and hostile templates.
//! tests/golden/text/make_templates.py made the references.

use mlxrocm::text::{ChatTemplate, Message};
use serde_json::Value;

fn golden() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/text/templates.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn as_transformers_renders_them() {
    let mut failures = Vec::new();
    let mut total = 0;
    for entry in golden() {
        let text = |key: &str| entry[key].as_str().unwrap();
        let name = text("name");
        let template = match ChatTemplate::new(text("template"), text("bos"), text("eos")) {
            Ok(template) => template,
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        assert_eq!(template.source(), text("template"));
        for (index, case) in entry["cases"].as_array().unwrap().iter().enumerate() {
            let messages = case["messages"].as_array().unwrap().iter();
            let text = |value: &Value| value.as_str().unwrap().to_string();
            let messages: Vec<Message> = messages
                .map(|message| Message {
                    role: text(&message["role"]),
                    content: text(&message["content"]),
                })
                .collect();
            let extra = case["extra"].as_str().unwrap();
            let add = case["add"].as_bool().unwrap();
            let result = template.render(&messages, add, extra);
            total += 1;
            match (result, case.get("output"), case.get("error")) {
                (Ok(text), Some(wanted), _) if text == wanted.as_str().unwrap() => {}
                (Err(error), _, Some(wanted)) => {
                    // The template's own message must reach the caller.
                    let (error, wanted) = (error.to_string(), wanted.as_str().unwrap());
                    if wanted.len() > 30 && !error.contains(wanted) && error.contains("raise") {
                        failures.push(format!("{name} {index}: {error:?}, wanted {wanted:?}"));
                    }
                }
                (result, output, error) => failures.push(format!(
                    "{name} {index}:\n got   {result:?}\n wanted {output:?} {error:?}"
                )),
            }
        }
    }
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} of {total}:\n{}",
        failures.join("\n")
    );
    assert!(total >= 100);
}
