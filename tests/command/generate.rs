//! `mlxrocm run`.

use super::{
    cc, demo_model, finish, gpu_env, mlxrocm, plain_model, program, refused, run, run_with,
    scratch, succeed,
};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What the example program prints, which is tested on its own.
fn example(arguments: &[&str]) -> String {
    let mut command = cc::command(cc::example("03_generate"), arguments);
    cc::stdout(&cc::succeed(super::gpu_env::none(&mut command)))
}

#[test]
fn the_demo_model_answers() {
    let model = demo_model();
    let out = succeed(&["run", &model, "What is the capital of France?"], "");
    assert!(out.contains("Paris") && out.ends_with('\n'), "{out}");
    // It says nothing more, unless it is asked.
    let question = "What is the capital of France?\n";
    let said = run(&["run", "-n8", &model], question);
    assert_eq!((said.status, said.errors.as_str()), (Some(0), ""));
    assert!(out.starts_with(said.out.trim_end()));
    let said = run(&["run", "-v", "-n8", &model, "-"], question);
    assert!(said.errors.contains("on the CPU"), "{}", said.errors);
    assert!(said.errors.contains("end: the "), "{}", said.errors);
}

#[test]
fn answers_are_what_they_must_be() {
    let model = demo_model();
    let prompt = "Is Paris in France? Answer yes or no.";
    let schema = r#"{"type": "object", "properties": {"answer": {"enum": ["yes", "no"]}}, "required": ["answer"],
        "additionalProperties": false}"#;
    let file = scratch().join("schema.json");
    std::fs::write(&file, schema).unwrap();
    let at_file = format!("@{}", file.to_str().unwrap());
    let answer = |option: &str, what: &str| succeed(&["run", option, what, &model, prompt], "");
    let json = answer("--json-schema", schema);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(
        ["yes", "no"].iter().any(|word| value["answer"] == *word),
        "{json}"
    );
    assert_eq!(answer("--json-schema", &at_file), json);
    let word = answer("--regex", "[A-Z]{3}!");
    assert!(word.len() == 5 && word.ends_with("!\n"), "{word:?}");
    let word = answer("--grammar", "start: (\"ja\" | \"nein\") \".\"");
    assert!(["ja.\n", "nein.\n"].contains(&word.as_str()), "{word:?}");
    let wrong = |options: &[&str], says: &str| {
        refused(
            1,
            &[&["run"], options, &[&model, prompt]].concat(),
            "",
            says,
        );
    };
    wrong(&["--regex", "("], "regex: ");
    wrong(&["--json-schema", "{"], "json_schema is not JSON");
    wrong(&["--json-schema", "{}", "--regex", "a"], "only one of");
    wrong(&["--grammar", "@/no/such"], "/no/such");
    wrong(&["--regex", ""], "--regex is empty");
}

#[test]
fn prompts_come_from_arguments_files_and_stdin() {
    let (_, model) = plain_model();
    let expected = example(&["--chat", "--tokens", "20", model, "Hello there"]);
    assert!(expected.len() > 20, "{expected:?}");
    let file = scratch().join("prompt.txt");
    std::fs::write(&file, "Hello there\n").unwrap();
    let path = file.to_str().unwrap();
    let run = ["run", "-n20", model];
    let with = |more: &[&'static str]| [&run[..], more].concat();
    assert_eq!(succeed(&with(&["Hello there"]), "not read"), expected);
    assert_eq!(succeed(&with(&[]), "Hello there\n"), expected);
    assert_eq!(succeed(&with(&["-"]), "Hello there"), expected);
    assert_eq!(succeed(&with(&["--chat", "Hello there"]), ""), expected);
    assert_eq!(succeed(&["run", "-n20", "-f", path, model], ""), expected);
    let raw = example(&["--tokens", "20", model, "Hello there"]);
    assert_ne!(raw, expected);
    assert_eq!(succeed(&with(&["--raw", "Hello there"]), ""), raw);
    let system = with(&["--system", "Be brief", "Hello there"]);
    assert_ne!(succeed(&system, ""), expected);
    refused(2, &["run", "-f", path, "--raw", "--chat", model], "", "");
    refused(1, &["run", "-f", path, model, "x"], "", "only one of them");
    refused(
        1,
        &["run", "-f", "/no/such", model],
        "",
        "/no/such: No such file",
    );
    refused(1, &["run", model], "", "the prompt is empty");
}

#[test]
fn sampling_follows_the_options() {
    let (_, model) = plain_model();
    let seeded = |seed: &str, more: &[&str]| {
        let base = ["run", "-n40", "--temperature", "1", "-s", seed, model, "Hi"];
        succeed(&[&base[..], more].concat(), "")
    };
    let first = seeded("7", &[]);
    assert_eq!(seeded("7", &[]), first);
    assert_ne!(seeded("8", &[]), first);
    let greedy = succeed(&["run", "-n40", model, "Hi"], "");
    assert_ne!(greedy, first);
    // With one token to choose from, the draw is greedy.
    assert_eq!(seeded("7", &["--top-k", "1"]), greedy);
    assert_eq!(seeded("7", &["--top-p", "0.000001"]), greedy);
    assert_eq!(seeded("7", &["--min-p", "1"]), greedy);
    assert_ne!(seeded("7", &["--repetition-penalty", "5"]), first);
    assert_ne!(seeded("7", &["--presence-penalty", "9"]), first);
    assert_ne!(seeded("7", &["--frequency-penalty", "9"]), first);
    // Without a seed each run has its own, and says which.
    let said = run(&["run", "-vn40", "--temperature", "1", model, "Hi"], "");
    let seed = said.errors.lines().find_map(|l| l.strip_prefix("seed "));
    assert_eq!(seeded(seed.expect("a seed"), &[]), said.out);
    let other = run(&["run", "-vn40", "--temperature", "1", model, "Hi"], "");
    assert_ne!(other.out, said.out);
}

#[test]
fn answers_end_where_they_are_told_to() {
    let model = demo_model();
    let prompt = ["run", "--raw", &model, "One, two, three, four,"];
    let out = succeed(&[&prompt[..], &["-n30", "--stop", "seven"]].concat(), "");
    assert!(out.contains("six") && !out.contains("seven"), "{out}");
    let both = ["-n30", "--stop", "eight", "--stop", "six"];
    let out = succeed(&[&prompt[..], &both].concat(), "");
    assert!(out.contains("five") && !out.contains("six"), "{out}");
    let limit = |n: &str| {
        let said = run(
            &[&prompt[..], &["-v", "--ignore-eos", "-n", n]].concat(),
            "",
        );
        assert!(said.errors.contains("the limit of tokens"));
        assert!(said.errors.contains(&format!("generated {n},")));
    };
    limit("1");
    limit("9");
}

#[test]
fn texts_that_cannot_be_prompts_are_refused() {
    let (_, model) = plain_model();
    let mut latin = mlxrocm(&["run", model]);
    let file = scratch().join("latin1.txt");
    std::fs::write(&file, b"caf\xe9").unwrap();
    latin.args(["-f", file.to_str().unwrap()]);
    let said = run_with(&mut latin, "");
    assert_eq!(said.status, Some(1));
    let why = "the prompt is not UTF-8: byte 3 is 0xe9";
    assert!(said.errors.contains(why), "{}", said.errors);
    refused(1, &["run", model], "a\0b", "NUL");
    // A text that is continued may have one.
    succeed(&["run", "--raw", "-n1", model], "a\0b");
    refused(
        1,
        &["run", "-c", "16", model, &"long ".repeat(9)],
        "",
        "context",
    );
    // Nor can a system message.
    let mut system = mlxrocm(&["run", model, "x", "--system"]);
    let said = run_with(system.arg(OsStr::from_bytes(b"caf\xe9")), "");
    assert_eq!(said.status, Some(2));
    let why = "--system is not UTF-8: byte 3 is 0xe9";
    assert!(said.errors.contains(why), "{}", said.errors);
    refused(1, &["run", "/no/such.gguf", "x"], "", "/no/such.gguf");
    refused(
        1,
        &["run", "-d", "5", model, "x"],
        "",
        "/nonexistent/hip.so",
    );
    refused(
        1,
        &["run", "-d", "gpu", model, "x"],
        "",
        "`mlxrocm devices`",
    );
    refused(
        1,
        &["run", "-d", "12345678", model, "x"],
        "",
        "/nonexistent/hip.so",
    );
}

/// stdin, stdout and stderr may be closed: no file takes their place.
#[test]
fn closed_descriptors_stay_closed() {
    let (_, model) = plain_model();
    let run = |script: &str| {
        let script = format!("exec \"$0\" {script}");
        let mut closed = cc::command("sh", &["-c", &script]);
        gpu_env::none(closed.arg(program()).arg(model));
        let output = finish(&mut closed, "hi\n", Duration::from_secs(60));
        let errors = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), errors)
    };
    for (script, name) in [
        ("chat \"$1\" <&-", "stdin"),
        ("run \"$1\" <&-", "stdin"),
        ("chat -n1 \"$1\" >&-", "stdout"),
    ] {
        let (status, errors) = run(script);
        assert_eq!(status, Some(1), "{script}: {errors}");
        let why = format!("{name}: Bad file descriptor");
        assert!(errors.contains(&why), "{script}: {errors}");
    }
    assert_eq!(run("run -n1 \"$1\" x <&- 2>&-").0, Some(0));
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let model = demo_model();
    let endless = ["run", "--ignore-eos", &model, "Tell a story"];
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = mlxrocm(&["run", "-n4", &model, "Hi"]);
    let child = command
        .stdin(Stdio::null())
        .stdout(full)
        .stderr(Stdio::piped());
    let output = child.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("No space left"), "{errors}");
    // A reader that goes away ends the program soon and silently.
    let mut command = mlxrocm(&endless);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 8]).unwrap();
    drop(out);
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > Duration::from_secs(30) => {
                child.kill().unwrap();
                panic!("it writes to nobody");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    assert!(!status.success());
    let mut errors = String::new();
    child.stderr.unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(errors, "");
}

/// A model that loads, but whose numbers are none: the generation fails, not a call.
#[test]
fn a_failed_generation_is_an_error() {
    let (plain, _) = plain_model();
    let folder = tempfile::tempdir().unwrap();
    let path = plain.write(folder.path());
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len();
    for number in bytes[end - 4096..].chunks_exact_mut(4) {
        number.copy_from_slice(&f32::NAN.to_le_bytes());
    }
    std::fs::write(&path, bytes).unwrap();
    refused(1, &["run", path.to_str().unwrap(), "x"], "", "NaN");
}

/// Ctrl-C without a terminal: kill -INT.
#[test]
fn an_interrupt_ends_the_answer() {
    let model = demo_model();
    let mut command = mlxrocm(&["run", "-v", "--ignore-eos", &model, "Tell a story"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut [0; 8])
        .unwrap();
    let id = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: the child was not waited for, so the number is its own.
    assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.contains("end: stopped"), "{errors}");
    assert!(output.stdout.ends_with(b"\n"));
    // While it loads, too: the program ends, and does not wait for a second one.
    let output = finish(
        mlxrocm(&["info", "/dev/null"]).stdin(Stdio::null()),
        "",
        Duration::from_secs(30),
    );
    assert_eq!(output.status.code(), Some(1));
}
