use super::*;
use serde_json::json;

/// The parts of an answer that comes in pieces of `size` bytes, texts put together.
fn parts(form: Form, answer: &str, size: usize) -> Vec<Part> {
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "warm": {"type": "boolean"},
        "list": {"type": "array"}, "maybe": {"anyOf": [{"type": "number"}, {"type": "null"}]}
    }}}}]);
    let (mut calls, mut parts) = (ToolCalls::new(form, tools), Vec::new());
    let pieces = answer.as_bytes().chunks(size);
    let mut found: Vec<Part> = pieces.flat_map(|piece| calls.push(std::str::from_utf8(piece).unwrap())).collect();
    found.extend(calls.finish());
    for part in found {
        match (parts.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (Some(Part::Reasoning(before)), Part::Reasoning(text)) => before.push_str(&text),
            (_, part) => parts.push(part),
        }
    }
    parts
}

fn text(text: &str) -> Part {
    Part::Text(text.into())
}

fn call(name: &str, arguments: &str) -> Part {
    Part::Call { name: name.into(), arguments: arguments.into() }
}

fn check(form: Form, cases: Vec<(&str, Vec<Part>)>) {
    for (answer, wanted) in cases {
        for size in 1..=answer.len().max(1) {
            assert_eq!(parts(form, answer, size), wanted, "{form:?}: {answer} in pieces of {size}");
        }
    }
}

#[test]
fn json_in_tags() {
    let cases = vec![
        ("Hi.\n", vec![text("Hi.\n")]),
        (" a < b <tool <tool_cal", vec![text(" a < b <tool <tool_cal")]),
        ("", vec![]),
        (
            "Wait.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":  [1, \"}</x>\"]}}\n</tool_call>",
            vec![text("Wait."), call("f", "{\"a\":  [1, \"}</x>\"]}")],
        ),
        (
            "<tool_call>{\"name\": \"f\"}</tool_call>\n<tool_call>{\"arguments\": \"{}\", \"name\": \"g\"}</tool_call> z",
            vec![call("f", "{}"), call("g", "{}"), text(" z")],
        ),
        // Another form, and one that is cut off.
        ("<tool_call><function=f></tool_call>!", vec![text("<tool_call><function=f></tool_call>!")]),
        ("<tool_call>{\"name\": \"f\", ", vec![text("<tool_call>{\"name\": \"f\", ")]),
        ("<tool_call>{\"name\": \"f\", \"arguments\": {}}\n", vec![call("f", "{}")]),
    ];
    check(Form::Json, cases);
}

#[test]
fn functions_of_qwen3_coder() {
    let cases = vec![
        (
            "Now.\n\n<tool_call>\n<function=f>\n<parameter=city>\nNew\n York \n</parameter>\n<parameter=days>\n3\n\
             </parameter>\n<parameter=warm>\nTrue\n</parameter>\n</function>\n</tool_call>",
            vec![text("Now."), call("f", "{\"city\": \"New\\n York \", \"days\": 3, \"warm\": true}")],
        ),
        // A text stays one, whatever it looks like; so does what has the wrong type or none.
        (
            "<tool_call><function=f><parameter=city>12</parameter><parameter=days>x</parameter><parameter=maybe>null\
             </parameter><parameter=new>5</parameter></function></tool_call>",
            vec![call("f", "{\"city\": \"12\", \"days\": \"x\", \"maybe\": null, \"new\": \"5\"}")],
        ),
        ("<tool_call><function=g></function></tool_call>", vec![call("g", "{}")]),
        ("<tool_call><function=g", vec![text("<tool_call><function=g")]),
        ("<tool_call>{\"name\": 1}</tool_call>", vec![text("<tool_call>{\"name\": 1}</tool_call>")]),
    ];
    check(Form::Functions, cases);
}

#[test]
fn keys_of_glm() {
    let cases = vec![
        (
            "<tool_call>f\n<arg_key>city</arg_key>\n<arg_value>007</arg_value>\n<arg_key>list</arg_key>\n<arg_value>[1, \
             {\"a\": null}]</arg_value>\n<arg_key>else</arg_key>\n<arg_value>2.5</arg_value>\n</tool_call>",
            vec![call("f", "{\"city\": \"007\", \"list\": [1,{\"a\":null}], \"else\": 2.5}")],
        ),
        ("<tool_call>now</tool_call><tool_call>now\n</tool_call>", vec![call("now", "{}"), call("now", "{}")]),
        ("<tool_call>not a name</tool_call>", vec![text("<tool_call>not a name</tool_call>")]),
    ];
    check(Form::Keys, cases);
}

#[test]
fn section_of_kimi() {
    let cases = vec![
        (
            "Ok.<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"city\": \"A:1\"}\
             <|tool_call_end|><|tool_call_begin|>functions.a.b:1<|tool_call_argument_begin|> {} <|tool_call_end|>\
             <|tool_calls_section_end|>",
            vec![text("Ok."), call("f", "{\"city\": \"A:1\"}"), call("a.b", "{}")],
        ),
        ("<|tool_calls_section_begin|><|tool_call_begin|>f:0<|tool_call_argument_begin|>{}", vec![call("f", "{}")]),
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>f:0<|tool_call_argument_begin|>{",
            vec![text("<|tool_calls_section_begin|><|tool_call_begin|>f:0<|tool_call_argument_begin|>{")],
        ),
    ];
    check(Form::Section, cases);
}

#[test]
fn invokes_of_minimax() {
    let cases = vec![
        (
            "<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"city\">Köln</parameter>\n<parameter \
             name=\"list\">[\"x\"]</parameter>\n</invoke>\n<invoke name=\"g\">\n</invoke>\n</minimax:tool_call>",
            vec![call("f", "{\"city\": \"Köln\", \"list\": [\"x\"]}"), call("g", "{}")],
        ),
        ("<minimax:tool_call>?</minimax:tool_call>", vec![text("<minimax:tool_call>?</minimax:tool_call>")]),
    ];
    // The text has a letter of two bytes.
    for (answer, wanted) in cases {
        assert_eq!(parts(Form::Invokes, answer, answer.len()), wanted);
    }
    check(Form::Invokes, vec![("a <minimax:tool", vec![text("a <minimax:tool")])]);
}

#[test]
fn lists_of_mistral() {
    let cases = vec![
        (
            "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": 1}, \"id\": \"x\"}, {\"name\": \"g\", \"arguments\": {}}]",
            vec![call("f", "{\"a\": 1}"), call("g", "{}")],
        ),
        (
            "So:[TOOL_CALLS]f[ARGS]{\"a\": \"[ARGS]\"}[TOOL_CALLS]g[CALL_ID]abc[ARGS]{}",
            vec![text("So:"), call("f", "{\"a\": \"[ARGS]\"}"), call("g", "{}")],
        ),
        ("[TOOL_CALLS]f[ARGS]{\"a", vec![text("[TOOL_CALLS]f[ARGS]{\"a")]),
        ("A [TOOL_] b", vec![text("A [TOOL_] b")]),
    ];
    check(Form::List, cases);
}

#[test]
fn objects_of_llama() {
    let cases = vec![
        ("{\"name\": \"f\", \"parameters\": {\"a\": 1}}", vec![call("f", "{\"a\": 1}")]),
        (
            "<|python_tag|>{\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}; {\"name\": \"g\"}",
            vec![call("f", "{}"), call("g", "{}")],
        ),
        ("{\"a\": 1} is JSON.", vec![text("{\"a\": 1} is JSON.")]),
        ("As JSON: {\"name\": \"f\"}", vec![text("As JSON: {\"name\": \"f\"}")]),
    ];
    check(Form::Object, cases);
}

#[test]
fn channels_of_gpt_oss() {
    let reasoning = |text: &str| Part::Reasoning(text.into());
    let cases = vec![
        (
            "<|channel|>analysis<|message|>Hm <|x.<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>",
            vec![reasoning("Hm <|x."), text("Hi.")],
        ),
        (
            "<|channel|>commentary<|message|>Wait.<|end|><|start|>assistant<|channel|>commentary to=functions.f \
             <|constrain|>json<|message|>{\"a\": 1}\n<|call|>",
            vec![text("Wait."), call("f", "{\"a\": 1}")],
        ),
        (" to=functions.g<|channel|>commentary json<|message|>{}", vec![call("g", "{}")]),
        ("Plain <|end", vec![text("Plain <|end")]),
        ("<|channel|>fin", vec![text("<|channel|>fin")]),
    ];
    check(Form::Channels, cases);
}

#[test]
fn templates_tell_their_form() {
    let read = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/text/templates/");
        std::fs::read_to_string(format!("{folder}{name}.jinja")).unwrap()
    };
    for (name, form) in [
        ("qwen3", Form::Json),
        ("qwen2.5", Form::Json),
        ("qwen3_coder", Form::Functions),
        ("qwen3.5", Form::Functions),
        ("gpt_oss", Form::Channels),
        ("mistral_nemo", Form::List),
        ("granite4", Form::Json),
        ("smollm2", Form::Json),
    ] {
        assert_eq!(Form::of(&read(name)), form, "{name}");
    }
    for (mark, form) in [
        ("{{ '<|tool_calls_section_begin|>' }}", Form::Section),
        ("{{ '<tool_call>' ~ name }}<arg_key>", Form::Keys),
        ("<minimax:tool_call>", Form::Invokes),
        ("<|python_tag|>", Form::Object),
    ] {
        assert_eq!(Form::of(mark), form);
        assert!(!form.marks().is_empty());
    }
}

#[test]
fn calls_that_can_be_forced() {
    let tools = r#"[
        {"type": "function", "function": {"name": "f", "parameters": { "properties": {"z": true, "a": false}}}},
        {"type": "function", "function": {"name": "g", "parameters": {}}},
        {"type": "function", "function": {"name": "h"}}
    ]"#;
    let layout = r#""x-guidance": {"whitespace_pattern": " "}"#;
    let (f, g) = (
        format!(r#"%json {{"type": "object", {layout}, "properties": {{"z": true, "a": false}}}}"#),
        format!(r#"%json {{"type": "object", {layout}}}"#),
    );
    let check = |form, template: &str, control: fn(&str) -> Option<u32>, [before, between, after]: [&str; 3]| {
        let written = Written::of(form, template, control).unwrap();
        let call = |name: &str, arguments: &str| format!("{before} \"{name}\" {between} {arguments} {after}");
        let wanted = format!("start: {}\n  | {}\n  | {}\n", call("f", &f), call("g", &g), call("h", "\"{}\""));
        assert_eq!(written.grammar(&written::read(tools).unwrap(), None).unwrap(), wanted);
        let or = |schema| written.grammar(&[], Some(schema)).unwrap();
        assert_eq!(or("{ }"), format!("start: %json {{{layout}}}\n"));
        assert_eq!(or("false"), format!("start: %json {{{layout}, \"allOf\": [false]}}\n"));
        written.can_be_told_from_json()
    };
    let arguments = r#""\", \"arguments\": ""#;
    let json = [r#""<tool_call>" "\n{\"name\": \"""#, arguments, r#""}\n" "</tool_call>""#];
    assert!(check(Form::Json, "", |_| None, json));
    let json = [r#"<[7]> "\n{\"name\": \"""#, arguments, r#""}\n" <[7]>"#];
    assert!(check(Form::Json, "", |_| Some(7), json));
    let list = [r#""[TOOL_CALLS]" "[{\"name\": \"""#, arguments, r#""}]""#];
    assert!(!check(Form::List, "", |_| None, list));
    assert!(check(Form::List, "[ARGS]", |mark| (mark == "[TOOL_CALLS]").then_some(9), ["<[9]>", "\"[ARGS]\"", ""]));
    let object = [r#""{\"name\": \"""#, r#""\", \"parameters\": ""#, r#""}""#];
    assert!(!check(Form::Object, "", |_| None, object));
    for form in [Form::Functions, Form::Keys, Form::Section, Form::Invokes, Form::Channels] {
        assert_eq!(Written::of(form, "", |_| None), None);
    }
}
