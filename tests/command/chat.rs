//! `mlxrocm chat` with a script on stdin, and the files that it keeps chats in.

use super::{demo_model, plain_model, refused, run, scratch, succeed};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A file of this test that is not there yet.
fn new_file(name: &str) -> PathBuf {
    let path = scratch().join(name);
    let _ = std::fs::remove_file(&path);
    path
}

fn saved(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A chat of this script, as it was saved at its end.
fn after(script: &str) -> Vec<Value> {
    let (_, model) = plain_model();
    let file = new_file(&format!("after-{}.json", script.len()));
    let script = format!("{script}/save {}\n", file.display());
    succeed(&["chat", "-n12", model], &script);
    saved(&file).as_array().unwrap().clone()
}

#[test]
fn a_chat_remembers_what_was_said() {
    let chat = after("one\ntwo\n");
    let roles: Vec<&Value> = chat.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    // The second answer is that to all before it, and not that to the second message alone.
    let start = new_file("start.json");
    std::fs::write(&start, serde_json::to_string(&chat[..2]).unwrap()).unwrap();
    assert_eq!(after(&format!("/load {}\ntwo\n", start.display())), chat);
    let alone = after("two\n");
    assert_ne!(alone[1], chat[3]);
    assert_eq!(after("one\n/clear\ntwo\n"), alone);
    // What is in the KV cache is not run again.
    let said = run(
        &["chat", "-v", "-n8", &demo_model()],
        "Say hello.\nAgain.\n",
    );
    assert_eq!(said.status, Some(0), "{}", said.errors);
    let ends = said.errors.lines().filter(|line| line.starts_with("end: "));
    let ends: Vec<&str> = ends.collect();
    assert_eq!(ends.len(), 2, "{}", said.errors);
    assert!(ends[0].contains("(0 cached)") && !ends[1].contains("(0 cached)"));
}

/// Each answer is what `run` gives for the same messages.
#[test]
fn messages_may_have_several_lines() {
    let (_, model) = plain_model();
    let file = new_file("lines.json");
    let script = format!(
        "\n  \none\\\ntwo\n\"\"\"a\n\nb\"\"\"\n\"\"\"/c\"\"\"\nlast\r\n/save {}\n",
        file.display()
    );
    let out = succeed(&["chat", "-n3", "--system", "Sys", model], &script);
    let chat = saved(&file);
    let contents: Vec<&str> = chat
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(contents, ["one\ntwo", "a\n\nb", "/c", "last"]);
    assert_eq!(chat[0], json!({"role": "system", "content": "Sys"}));
    let first = succeed(&["run", "-n3", "--system", "Sys", model, "one\ntwo"], "");
    assert!(out.starts_with(&first), "{out:?} {first:?}");
    let answer = chat[2]["content"].as_str().unwrap();
    assert_eq!(first.trim_end_matches('\n'), answer.trim_end_matches('\n'));
    // What the input's end cuts off counts.
    succeed(&["chat", "-n1", model], "\"\"\"open");
    succeed(&["chat", "-n1", model], "no newline");
    succeed(&["chat", "-n1", model], "");
    assert_eq!(succeed(&["chat", "-n1", model], "/exit\nnever read\n"), "");
}

#[test]
fn chats_are_saved_and_loaded() {
    let (_, model) = plain_model();
    let (file, again) = (new_file("chat.json"), new_file("again.json"));
    let odd = "quotes \" and \\ tab \t é 😀 \u{1} \u{7f} </s>";
    let chat = json!([
        {"role": "system", "content": odd},
        {"content": "first", "role": "user"},
        {"role": "assistant", "content": "\u{fffd}\n"},
    ]);
    let escaped = chat
        .to_string()
        .replace('é', "\\u00e9")
        .replace('😀', "\\uD83D\\ude00");
    std::fs::write(&file, format!(" {escaped}\n ")).unwrap();
    let script = format!("/load {}\n/save {}\n", file.display(), again.display());
    succeed(&["chat", model], &script);
    assert_eq!(saved(&again), chat);
    // Loaded again, it goes on; a chat is replaced by a chat.
    let script = format!("/load {0}\nnext\n/save {0}\n", again.display());
    succeed(&["chat", "-n2", model], &script);
    let longer = saved(&again);
    assert_eq!(longer.as_array().unwrap().len(), 5);
    assert_eq!(longer[3], json!({"role": "user", "content": "next"}));
    // /system replaces, shows and removes.
    let script = format!(
        "/load {0}\n/system New\n/system\n/save {0}\n/system -\n/system\n/save {1}\n",
        again.display(),
        file.display()
    );
    let said = run(&["chat", model], &script);
    assert_eq!(said.status, Some(0), "{}", said.errors);
    assert_eq!(said.errors, "New\nthere is no system message\n");
    assert_eq!(saved(&again)[0]["content"], "New");
    assert_eq!(saved(&file)[0]["role"], "user");
}

#[test]
fn other_files_are_neither_loaded_nor_replaced() {
    let (_, model) = plain_model();
    let file = new_file("other.json");
    for (content, why) in [
        ("", "no array"),
        ("{}", "no array"),
        ("[", "no object"),
        ("[{}]", "no string"),
        ("[{\"role\": \"user\"}]", "without role or content"),
        ("[{\"role\": \"user\", \"content\": 1}]", "no string"),
        ("[{\"role\": \"user\", \"content\": \"a\"", "no comma"),
        ("[{\"role\": \"user\", \"content\": \"a\"}", "no comma"),
        ("[{\"role\": \"user\", \"content\": \"a\"},]", "no object"),
        ("[{\"role\": \"user\", \"content\": \"a\"}] x", "more than"),
        ("[{\"role\": \"user\", \"content\": \"a", "without its end"),
        ("[{\"role\": \"user\", \"content\": \"a\\", "unknown escape"),
        (
            "[{\"role\": \"user\", \"content\": \"\\x\"}]",
            "unknown escape",
        ),
        ("[{\"role\": \"user\", \"content\": \"\\u12\"}]", "damaged"),
        (
            "[{\"role\": \"user\", \"content\": \"\\ud800\"}]",
            "damaged",
        ),
        (
            "[{\"role\": \"user\", \"content\": \"\\ud800\\u0041\"}]",
            "damaged",
        ),
        (
            "[{\"role\": \"user\", \"content\": \"\\udc00\"}]",
            "damaged",
        ),
        ("[{\"role\": \"user\", \"content\": \"\\u0000\"}]", "NUL"),
        ("[{\"role\": \"user\", \"content\": \"\n\"}]", "control"),
        (
            "[{\"role\": \"king\", \"content\": \"a\"}]",
            "a role besides",
        ),
        (
            "[{\"role\": \"user\", \"content\": \"a\", \"name\": \"b\"}]",
            "a key besides",
        ),
        (
            "[{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"system\", \"content\": \"a\"}]",
            "not the first",
        ),
    ] {
        std::fs::write(&file, content).unwrap();
        let load = format!("/load {}\n", file.display());
        refused(1, &["chat", model], &load, why);
        if !content.is_empty() {
            let save = format!("/save {}\n", file.display());
            refused(1, &["chat", model], &save, "left as it is");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    }
    // Every beginning of a chat that is one.
    let whole = "[{\"role\": \"user\", \"content\": \"\\ud83d\\ude00\"}]";
    for end in (1..whole.len()).step_by(3) {
        std::fs::write(&file, &whole[..end]).unwrap();
        let load = format!("/load {}\n", file.display());
        refused(1, &["chat", model], &load, "is no chat");
    }
    refused(
        1,
        &["chat", model],
        "/load /no/such\n",
        "/no/such: No such file",
    );
    refused(
        1,
        &["chat", model],
        "/save /no/such/file\n",
        "/no/such/file: No such file",
    );
    refused(
        1,
        &["chat", model],
        &format!("/load {}\n", scratch().display()),
        "directory",
    );
    // What a link leads to is replaced, not the link, and nothing that is no file.
    let (link, fifo) = (new_file("link.json"), new_file("fifo.json"));
    std::fs::write(&file, "[]").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    succeed(
        &["chat", model],
        &format!("/system A\n/save {}\n", link.display()),
    );
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(saved(&file)[0]["content"], "A");
    let name = std::ffi::CString::new(fifo.to_str().unwrap()).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let save = format!("/save {}\n", fifo.display());
    refused(1, &["chat", model], &save, "no regular file; it was left");
    assert!(!std::fs::metadata(&fifo).unwrap().is_file());
}

#[test]
fn wrong_commands_end_a_script() {
    let (_, model) = plain_model();
    refused(1, &["chat", model], "/sytem x\n", "did you mean /system?");
    refused(1, &["chat", model], "/etc/passwd\n", "goes between \"\"\"");
    refused(1, &["chat", model], "/save\n", "/save wants a FILE");
    refused(1, &["chat", model], "/clear all\n", "/clear stands alone");
    refused(1, &["chat", model], "a\0b\n", "NUL");
    let long = format!("{}\n", "word ".repeat(200));
    refused(1, &["chat", "-c", "64", model], &long, "/clear forgets");
    refused(2, &["chat", model, "x"], "", "too many");
    refused(1, &["chat", "/no/such"], "hi\n", "/no/such");
    let said = run(&["chat", model], "/help\n");
    for command in ["/help", "/clear", "/system", "/save", "/load", "/exit"] {
        assert!(
            said.errors.contains(&format!("  {command} ")),
            "{}",
            said.errors
        );
        let manual = std::fs::read_to_string(super::root().join("command/mlxrocm.1")).unwrap();
        assert!(manual.contains(command), "{command} is not in the manual");
    }
}
