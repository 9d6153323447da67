//! What is no grammar, and what is too much of one.

use super::{compile, end, random};
use mlxrocm::Error;
use mlxrocm::text::GrammarSource;
use std::time::{Duration, Instant};

#[test]
fn what_cannot_be_compiled_is_an_error_that_names_the_field() {
    let deep = |text: &str| text.repeat(100_000);
    let nots = deep(r#"{"not":"#);
    let schemas = [
        ("", "json_schema is not JSON"),
        ("{", "json_schema is not JSON"),
        ("5", "json_schema: "),
        (r#"{"type": "objekt"}"#, "objekt"),
        (r##"{"$ref": "#/nowhere"}"##, "json_schema: "),
        (r#"{"type": "array", "uniqueItems": true}"#, "uniqueItems"),
        (r#"{"not": {"const": 1}}"#, "not"),
        (r#"{"type": "string", "format": "words"}"#, "words"),
        (r#"{"$ref": "http://example.org/schema"}"#, "json_schema: "),
        (
            r#"{"type": "string", "minLength": 3, "maxLength": 2}"#,
            "json_schema: ",
        ),
        (r#"{"type": "string", "pattern": "("}"#, "json_schema: "),
        (&nots, "json_schema is not JSON"),
    ]
    .map(|(text, says)| (GrammarSource::JsonSchema(text), says));
    let open = deep("(");
    let regexes = [
        ("(", "regex: "),
        ("a(?=b)", "regex: "),
        (r"\ba", "regex: "),
        (&open, "regex: "),
    ]
    .map(|(text, says)| (GrammarSource::Regex(text), says));
    let groups = format!("start: {}", deep("("));
    let grammars = [
        ("", "grammar: "),
        ("begin: \"a\"", "start"),
        ("start: nothing", "nothing"),
        ("start: \"a", "grammar: "),
        (&groups, "grammar: "),
    ]
    .map(|(text, says)| (GrammarSource::Lark(text), says));
    // Words that are no keywords say nothing.
    compile(GrammarSource::JsonSchema(r#"{"title": "A", "unknown": 1}"#)).unwrap();
    for (source, says) in schemas.into_iter().chain(regexes).chain(grammars) {
        let begin = Instant::now();
        match compile(source) {
            Err(Error::InvalidArgument(what)) => {
                assert!(what.contains(says) && !what.contains('\n'), "{what}");
                assert!(what.len() < 2_000, "{}", what.len());
            }
            other => panic!("{says}: {other:?}"),
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{says}");
    }
}

#[test]
fn what_is_large_or_ambiguous_goes_on_or_is_an_error_in_seconds() {
    let end = end();
    let mut random = random();
    let nested = (0..120).fold("{}".to_string(), |inner, _| {
        format!(r#"{{"type": "object", "properties": {{"a": {inner}}}, "required": ["a"]}}"#)
    });
    let wide: Vec<String> = (0..2_000)
        .map(|i| format!(r#""property {i}": {{}}"#))
        .collect();
    let wide = format!(r#"{{"properties": {{{}}}}}"#, wide.join(","));
    let loops = r##"{"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}, "$ref": "#/$defs/a"}"##;
    let (long, rules) = (chain(17_000), "start: start start | \"a\" | \"\"");
    let groups = format!("{}a{}", "(".repeat(200), ")*".repeat(200));
    let refs: Vec<String> = (0..30_000)
        .map(|i| format!(r##""{i}": {{"$ref": "#/$defs/{}"}}"##, (i + 1) % 30_000))
        .collect();
    let refs = format!(
        r##"{{"$defs": {{{}}}, "$ref": "#/$defs/0"}}"##,
        refs.join(",")
    );
    let arrays: Vec<String> = (0..30_000)
        .map(|i| {
            format!(
                r##""{i}": {{"type": "array", "items": {{"$ref": "#/$defs/{}"}}}}"##,
                i + 1
            )
        })
        .chain([r#""30000": {}"#.into()])
        .collect();
    let arrays = format!(
        r##"{{"$defs": {{{}}}, "$ref": "#/$defs/0"}}"##,
        arrays.join(",")
    );
    for source in [
        GrammarSource::JsonSchema(&refs),
        GrammarSource::JsonSchema(&arrays),
        GrammarSource::JsonSchema(&nested),
        GrammarSource::JsonSchema(&wide),
        GrammarSource::JsonSchema(loops),
        GrammarSource::Regex("(a{1000}){1000}{1000}"),
        GrammarSource::Regex("((a|b)*c?(a|b)*){50}d"),
        GrammarSource::Regex("(.*a){30}.{200}"),
        GrammarSource::Regex(&groups),
        GrammarSource::Lark(&long),
        GrammarSource::Lark(rules),
    ] {
        let begin = Instant::now();
        let name = format!("{source:?}").chars().take(60).collect::<String>();
        if let Ok(mut grammar) = compile(source) {
            for _ in 0..20 {
                let Ok(allowed) = grammar.allowed(&[end]) else {
                    break;
                };
                let can: Vec<u32> = (0..49_000).filter(|id| allowed.contains(*id)).collect();
                let token = can.get(random.below(can.len().max(1) as u64) as usize);
                match token.filter(|token| **token != end) {
                    Some(token) if grammar.accept(*token).is_ok() && !grammar.is_complete() => {}
                    _ => break,
                }
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        println!("{name}: {seconds:.2} s");
        assert!(seconds < 30.0, "{name}: {seconds} s");
    }
}

/// So many rules, each of which is the next one.
fn chain(rules: usize) -> String {
    let rule = |i: usize| format!("r{i}: r{}\n", i + 1);
    let rules: String = (0..rules)
        .map(rule)
        .chain([format!("r{rules}: \"a\"\n")])
        .collect();
    format!("start: r0\n{rules}")
}
