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
                (result, output, error) => {
                    let got = result.unwrap_or_else(|error| error.to_string());
                    let wanted = output.or(error).unwrap().as_str().unwrap();
                    let same = got.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b);
                    let from = same.count().saturating_sub(30);
                    let tail = |text: &str| {
                        String::from_utf8_lossy(text.as_bytes().get(from..).unwrap_or_default())
                            .chars()
                            .take(120)
                            .collect::<String>()
                    };
                    failures.push(format!(
                        "{name} {index} at byte {from}:\n got    {:?}\n wanted {:?}",
                        tail(&got),
                        tail(wanted)
                    ));
                }
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

/// Operators, text methods and tuples: `make_expressions.py` had jinja2 render them.
#[test]
fn expressions_as_jinja2_renders_them() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/text/expressions.json"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<(String, Option<String>)> = serde_json::from_str(&text).unwrap();
    let mut failures = Vec::new();
    for (source, wanted) in &cases {
        let got = ChatTemplate::new(source, "", "").and_then(|t| t.render(&[], false, ""));
        if got.as_ref().ok() != wanted.as_ref() {
            let wanted = wanted.as_deref().unwrap_or("an error");
            failures.push(format!("{source}: {got:?}, wanted {wanted:?}"));
        }
    }
    let (count, total) = (failures.len(), cases.len());
    assert!(
        failures.is_empty(),
        "{count} of {total}:\n{}",
        failures.join("\n")
    );
    assert!(total >= 500);
}

/// CPU time of this thread: other processes do not count.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec of this frame.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The largest amount of memory this process has held, in MiB.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    let kilobytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes >> 10
}

#[test]
fn hostile_templates_end_soon_and_small() {
    let loops = "{% for a in range(100000) %}{% for b in range(100000) %}";
    let ends = "{% endfor %}{% endfor %}";
    let twice = |body: &str| body.repeat(60);
    let templates = [
        // Time.
        "{% for i in range(10**9) %}x{% endfor %}".to_string(),
        format!("{loops}x{ends}"),
        format!("{loops}{{{{ messages|tojson }}}}{ends}"),
        format!("{loops}{{% if 'a' * 50000000 == 'b' * 50000000 %}}{{% endif %}}{ends}"),
        format!("{loops}{{% set x = messages == messages %}}{ends}"),
        format!("{{% set a = range(100000)|list %}}{loops}{{% set x = b in a %}}{ends}"),
        format!("{{% set a = range(100000)|list %}}{loops}{{{{ a|sort|length }}}}{ends}"),
        format!("{{% set a = range(100000)|list %}}{loops}{{% if a is eq a %}}{{% endif %}}{ends}"),
        "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}".to_string(),
        "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}".to_string(),
        "{% for a in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}".to_string(),
        "{% call(x) m() %}{% endcall %}{% macro m() %}{{ caller(m()) }}{% endmacro %}{{ m() }}"
            .into(),
        // One large value.
        "{{ 'a' * 1000000000 }}".to_string(),
        "{{ 1000000000 * 'a' }}".to_string(),
        "{{ [1] * 1000000000 }}".to_string(),
        "{{ 'a' * 99999999999999999999999 }}".to_string(),
        "{{ 2 ** 1000000000 }}".to_string(),
        "{{ ('a' * 30000000).replace('a', 'b' * 30000000) }}".to_string(),
        "{{ ('a' * 30000000)|replace('a', 'b' * 30000000) }}".to_string(),
        "{{ range(100000)|join('a' * 10000000) }}".to_string(),
        "{{ ('a' * 10000000).join(range(100000)) }}".to_string(),
        "{{ 'x'|indent(1000000000, true) }}".to_string(),
        "{{ ('\\n' * 30000000)|indent('a' * 30000000) }}".to_string(),
        "{{ '{:1000000000}'.format(1) }}".to_string(),
        "{{ '%1000000000d'|format(1) }}".to_string(),
        "{{ [1]|batch(1000000000, 'x')|list }}".to_string(),
        "{{ [1]|slice(1000000000, 'x')|list }}".to_string(),
        "{{ [1]|tojson(indent=1000000000) }}".to_string(),
        "{{ [[[1]]]|tojson(indent='a' * 60000000) }}".to_string(),
        "{{ 'a'.center(1000000000) }}".to_string(),
        "{{ strftime_now('%c' * 100000) }}".to_string(),
        "{{ raise_exception('a' * 1000000000) }}".to_string(),
        // Doubling.
        format!("{{% set x = 'aaaaaaaa' %}}{}", twice("{% set x = x ~ x %}")),
        format!("{{% set x = 'aaaaaaaa' %}}{}", twice("{% set x = x + x %}")),
        format!(
            "{{% set x = 'aaaaaaaa' %}}{}",
            twice("{% set x %}{{ x }}{{ x }}{% endset %}")
        ),
        format!(
            "{{% set x = 'aaaaaaaa' %}}{}",
            twice("{% set x = [x, x]|join %}")
        ),
        format!(
            "{{% set x = 'aaaaaaaa' %}}{}",
            twice("{% set x = '%s%s'|format(x, x) %}")
        ),
        format!(
            "{{% set x = [1] %}}{}{{{{ x }}}}",
            twice("{% set x = x + x %}")
        ),
        format!(
            "{{% set x = [1] %}}{}{{{{ x|length }}}}",
            twice("{% set x = x|chain(x) %}")
        ),
        format!(
            "{{% set x = [1] %}}{}{{{{ x|list }}}}",
            twice("{% set x = x|chain(x) %}")
        ),
        format!(
            "{{% set x = [1] %}}{}{{{{ x }}}}",
            twice("{% set x = [x, x] %}")
        ),
        format!(
            "{{% set x = [1] %}}{}{{{{ x|tojson }}}}",
            twice("{% set x = [x, x] %}")
        ),
        format!(
            "{{% set x = [1] %}}{}{{{{ x == x }}}}",
            twice("{% set x = {'a': x, 'b': x} %}")
        ),
        format!(
            "{{% set x = [1] %}}{}{{{{ x }}}}",
            twice("{% set x = dict(a=x, b=x) %}")
        ),
        format!(
            "{{% set x = [1] %}}{}{{{{ x }}}}",
            twice("{% set x = x|zip(x)|list %}")
        ),
        format!(
            "{{% macro m(x) %}}{{{{ x }}}}{{{{ x }}}}{{% endmacro %}}{{% set x = 'aaaaaaaa' %}}{}",
            twice("{% set x = m(x) %}")
        ),
        // Values that hold themselves.
        "{% set n = namespace() %}{% set n.n = n %}{{ n }}".to_string(),
        "{% set n = namespace() %}{% set n.n = [n] %}{{ n|tojson }}".to_string(),
        "{% set n = namespace() %}{% set m = namespace(n=n) %}{% set n.n = m %}{{ n == m }}".into(),
        "{% set n = namespace() %}{% set m = namespace(n=n) %}{% set n.n = {'x': m} %}{{ n.n }}"
            .into(),
        // Depth and size of the source.
        format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("{{{{ {}1{} }}}}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("{{{{ 1{} }}}}", " + 1".repeat(100_000)),
        format!("{{{{ 1{} }}}}", " ~ 1".repeat(100_000)),
        format!("{{{{ a{} }}}}", ".a".repeat(100_000)),
        format!("{{{{ a{} }}}}", "|upper".repeat(100_000)),
        format!("{{{{ {}1 }}}}", "not ".repeat(100_000)),
        format!("{{{{ {}1 }}}}", "-".repeat(100_000)),
        format!("{{{{ 1{} }}}}", " if 1 else 1".repeat(50_000)),
        format!("{{% if 1 %}}{}{{% endif %}}", "{% elif 1 %}".repeat(50_000)),
        format!(
            "{}{}",
            "{% if 1 %}".repeat(50_000),
            "{% endif %}".repeat(50_000)
        ),
        format!(
            "{}{}",
            "{% for a in b %}".repeat(40_000),
            "{% endfor %}".repeat(40_000)
        ),
        "a".repeat(2_000_000),
        // Names of the guard.
        "{% set mlxrocm_weigh = 1 %}".to_string(),
        "{{ mlxrocm_multiply('a', 2) }}".to_string(),
        "{{ x|map('mlxrocm_x') }}{{ y.mlxrocm_z }}{{ x|mlxrocm_q }}".to_string(),
        // Other files.
        "{% include 'x' %}".to_string(),
        "{% extends 'x' %}".to_string(),
        "{% from 'x' import y %}".to_string(),
    ];
    let messages = [Message {
        role: "user".into(),
        content: "x".repeat(1000),
    }];
    for source in templates {
        let shown: String = source.chars().take(120).collect();
        let start = cpu_seconds();
        let result = ChatTemplate::new(&source, "<s>", "</s>")
            .and_then(|template| template.render(&messages, true, ""));
        let taken = cpu_seconds() - start;
        let error = result.expect_err(&shown).to_string();
        assert!(
            error.len() < 1000 && !error.contains('\n'),
            "{shown}: {error}"
        );
        assert!(taken < 3.0, "{shown}: {taken} s: {error}");
        assert!(
            peak_memory() < 1000,
            "{shown}: {} MiB: {error}",
            peak_memory()
        );
        eprintln!("{taken:6.3} s {:4} MiB {shown}: {error}", peak_memory());
    }
}

#[test]
fn long_chains_of_values_do_not_nest() {
    // Each may fail or work; none may overflow the stack, here or when it is freed.
    for step in [
        "[x]",
        "{'a': x}",
        "dict(a=x)",
        "namespace(a=x)",
        "x[0:]",
        "x[::-1]",
        "x|reverse",
        "x|list",
        "x|items",
        "x|map('string')",
        "x|map(attribute='a')",
        "x|select",
        "x|unique",
        "x|dictsort",
        "x|groupby('a')",
        "x|first",
        "x.items()",
        "x.keys()",
        "x|sort",
        "x + x[0:1]",
        "x * 1",
        "x|default(1)",
        "x if x else x",
        "(x, x)",
    ] {
        for start in ["range(3)", "[1, 2]", "{'a': 1}", "'abc'"] {
            let source = format!(
                "{{% set x = {start} %}}{}{{{{ x }}}}{{{{ x|tojson }}}}{{{{ x == x }}}}",
                format!("{{% set x = {step} %}}").repeat(12_000)
            );
            let start = cpu_seconds();
            let template = ChatTemplate::new(&source, "", "").unwrap();
            let _ = template.render(&[], true, "");
            let taken = cpu_seconds() - start;
            assert!(taken < 5.0, "{step}: {taken}");
        }
    }
}

#[test]
fn wrong_extra_variables_are_errors() {
    let template = ChatTemplate::new("{{ x }}{{ bos_token }}", "<s>", "</s>").unwrap();
    assert_eq!(template.render(&[], false, " ").unwrap(), "<s>");
    assert_eq!(
        template.render(&[], false, "{\"x\": null}").unwrap(),
        "None<s>"
    );
    let deep = format!("{{\"x\": {}{}}}", "[".repeat(1000), "]".repeat(1000));
    for extra in ["[]", "{", "1", "null", "{\"x\": }", "\"x\"", &deep] {
        let error = template.render(&[], false, extra).unwrap_err().to_string();
        assert!(error.contains("the chat in JSON"), "{extra}: {error}");
    }
}

#[test]
fn broken_templates_are_errors_never_panics() {
    // Every prefix and many damaged forms of the golden templates.
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let messages = [Message {
        role: "user".into(),
        content: "Hi".into(),
    }];
    for entry in golden() {
        let source: Vec<char> = entry["template"].as_str().unwrap().chars().collect();
        for round in 0..300 {
            let mut damaged = source.clone();
            if round < 100 {
                damaged.truncate(below(source.len()));
            } else {
                for _ in 0..1 + below(4) {
                    let (from, to) = (below(damaged.len()), below(damaged.len()));
                    match below(3) {
                        0 => damaged[to] = damaged[from],
                        1 => drop(damaged.remove(to)),
                        _ => damaged.insert(to, damaged[from]),
                    }
                }
            }
            let damaged: String = damaged.into_iter().collect();
            if let Ok(template) = ChatTemplate::new(&damaged, "<s>", "</s>") {
                let _ = template.render(&messages, true, "");
            }
        }
    }
}

#[test]
fn where_a_folder_keeps_its_template() {
    use mlxrocm::text::Tokenizer;
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/text/llama3");
    let tokenizer = Tokenizer::from_folder(&golden).unwrap();
    assert!(
        ChatTemplate::from_folder(&golden, &tokenizer)
            .unwrap()
            .is_none()
    );
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let render = || {
        let template = ChatTemplate::from_folder(folder.path(), &tokenizer)
            .unwrap()
            .unwrap();
        template.render(&[], false, "").unwrap()
    };
    write(
        "tokenizer_config.json",
        r#"{"chat_template": "{{ eos_token }}"}"#,
    );
    assert_eq!(render(), "<|eot_id|>");
    let list = r#"{"chat_template": [{"name": "tool_use", "template": "t"},
        {"name": "default", "template": "d{{ bos_token }}"}]}"#;
    write("tokenizer_config.json", list);
    assert_eq!(render(), "d<|begin_of_text|>");
    write("chat_template.json", r#"{"chat_template": "j"}"#);
    assert_eq!(render(), "j");
    write("chat_template.jinja", "file\n");
    assert_eq!(render(), "file");
    write("chat_template.jinja", "{% if %}");
    let error = ChatTemplate::from_folder(folder.path(), &tokenizer)
        .unwrap_err()
        .to_string();
    assert!(error.contains("chat_template.jinja: "), "{error}");
}
