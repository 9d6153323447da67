//! Options, help, the manual and the completions.

use super::{plain_model, refused, root, run, succeed};
use std::collections::BTreeSet;

const SUBCOMMANDS: [&str; 8] = [
    "run",
    "chat",
    "info",
    "devices",
    "bench",
    "perplexity",
    "quantize",
    "selftest",
];

/// The long options that a text names.
fn options(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let parts = text.split(|c: char| !is_part(c));
    let names = parts.filter_map(|part| part.strip_prefix("--"));
    let names = names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
    names.map(str::to_owned).collect()
}

/// The options that a subcommand's help lists.
fn listed(subcommand: &str) -> BTreeSet<String> {
    let help = succeed(&[subcommand, "--help"], "");
    assert_eq!(succeed(&["help", subcommand], ""), help);
    assert!(help.starts_with(&format!("usage: mlxrocm {subcommand} ")));
    let lines = help.lines().filter(|line| line.starts_with("  "));
    let words = lines.flat_map(|line| line.split_whitespace().take(2));
    options(&words.collect::<Vec<_>>().join(" "))
}

#[test]
fn help_and_version_are_printed() {
    let version = env!("CARGO_PKG_VERSION");
    let first = format!("mlxrocm {version} (library {version})\n");
    assert!(succeed(&["--version"], "").starts_with(&first));
    let help = succeed(&["--help"], "");
    assert_eq!(succeed(&["help"], ""), help);
    for subcommand in SUBCOMMANDS {
        assert!(help.contains(&format!("mlxrocm {subcommand} ")), "{help}");
        assert!(listed(subcommand).contains("help"));
    }
    let nothing = run(&[], "");
    assert_eq!((nothing.status, nothing.out.as_str()), (Some(2), ""));
    assert_eq!(nothing.errors, help);
}

/// The manual has a subcommand's options somewhere; bash completes them for the subcommand.
#[test]
fn the_manual_and_the_completions_have_every_option() {
    let read = |path: &str| std::fs::read_to_string(root().join("command").join(path)).unwrap();
    let manual = read("mlxrocm.1").replace("\\-", "-");
    let (bash, zsh, fish) = (
        read("completions/bash"),
        read("completions/zsh"),
        read("completions/fish"),
    );
    let mut all = BTreeSet::new();
    for subcommand in SUBCOMMANDS {
        assert!(manual.contains(&format!(".B {subcommand}\n")));
        let listed = listed(subcommand);
        let completed = complete(&["mlxrocm", subcommand, "-"]);
        assert_eq!(options(&completed), listed, "{subcommand}");
        all.extend(listed);
    }
    all.insert("version".to_owned());
    assert_eq!(options(&manual), all);
    assert_eq!(options(&bash), all);
    assert_eq!(options(&zsh), all);
    let commands = fish.lines().filter(|line| line.starts_with("complete "));
    let long = commands.filter_map(|line| line.split_once(" -l "));
    let long: BTreeSet<String> = long
        .map(|(_, rest)| rest)
        .map(|rest| rest.split_whitespace().next().unwrap().to_owned())
        .collect();
    assert_eq!(long, all);
}

/// What bash completes, as it calls the function.
fn complete(words: &[&str]) -> String {
    let script = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                  _mlxrocm; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let completion = root().join("command/completions/bash");
    let mut bash = super::command("bash", &["-c", script, "bash"]);
    bash.arg(completion).args(words);
    let output = super::cc::succeed(&mut bash);
    assert!(output.stderr.is_empty());
    super::cc::stdout(&output)
}

#[test]
fn bash_completes() {
    assert_eq!(complete(&["mlxrocm", "ch"]), "chat\n");
    assert_eq!(complete(&["mlxrocm", "run", "--te"]), "--temperature\n");
    assert_eq!(complete(&["mlxrocm", "bench", "--kv", "q"]), "q8\nq4\n");
    let license = root().join("LICENSE-A");
    let found = complete(&["mlxrocm", "info", license.to_str().unwrap()]);
    assert_eq!(found, format!("{}PACHE\n", license.display()));
}

#[test]
fn wrong_arguments_are_refused_with_a_hint() {
    let (_, model) = plain_model();
    for (arguments, why) in [
        (&["rnu"][..], "did you mean 'run'?"),
        (&["--verison"], "there is no option --verison"),
        (&["run"], "wanted: MODEL [PROMPT]"),
        (&["run", model, "a", "b"], "'b' is one argument too many"),
        (
            &["run", "--temprature", "1", model, "a"],
            "did you mean --temperature?",
        ),
        (&["run", "-x", model, "a"], "there is no option -x"),
        (&["run", "--t", "1", model, "a"], "may be several options"),
        (
            &["run", "--verbose=1", model, "a"],
            "--verbose takes no value",
        ),
        (&["run", model, "a", "--seed"], "--seed wants a value: N"),
        (&["run", "-n", "x", model, "a"], "'x' is no whole number"),
        (&["run", "-n", "-1", model, "a"], "'-1' is no whole number"),
        (&["run", "-n", "4294967296", model, "a"], "no whole number"),
        (&["run", "-n", "1.5", model, "a"], "no whole number"),
        (&["run", "-n", "", model, "a"], "'' is no whole number"),
        (
            &["run", "--seed", "18446744073709551616", model, "a"],
            "no number",
        ),
        (&["run", "--top-p", "1.1", model, "a"], "from 0 to 1"),
        (&["run", "--top-p", "nan", model, "a"], "from 0 to 1"),
        (
            &["run", "--temperature", "1e999", model, "a"],
            "is no number",
        ),
        (&["run", "--temperature", "", model, "a"], "is no number"),
        (
            &["run", "--kv", "q5", model, "a"],
            "'q5' is none of f16|q8|q4",
        ),
        (
            &["run", "--chat", "--raw", model, "a"],
            "exclude each other",
        ),
        (
            &["run", "--raw", "--system", "s", model, "a"],
            "no place for --system",
        ),
        (&["bench", "-n", "1", model], "from 2"),
        (
            &["perplexity", "-w", "8", "--stride", "7", model, "-"],
            "at most the window less 2",
        ),
        (&["devices", "x"], "'x' is one argument too many"),
        (&["help", "nothing"], "there is no subcommand nothing"),
    ] {
        refused(2, arguments, "", why);
    }
    let mut many = vec!["run", model, "a"];
    many.extend(["--stop=z"; 65]);
    refused(2, &many, "", "at most 64");
}

#[test]
fn options_have_several_forms() {
    let (_, model) = plain_model();
    let expected = succeed(&["run", "--raw", "--max-tokens", "6", model, "Hello"], "");
    for arguments in [
        &["run", "--raw", "-n", "6", model, "Hello"][..],
        &["run", "--raw", "-n6", model, "Hello"],
        &["run", model, "Hello", "--max-tokens=6", "--ra"],
        &["run", "--max", "6", "--raw", "--", model, "Hello"],
        &["run", "-qn6", "--raw", "--temp", ".0", model, "Hello"],
    ] {
        assert_eq!(succeed(arguments, ""), expected, "{arguments:?}");
    }
    // What stands behind the two dashes is no option.
    let dashes = succeed(&["run", "--raw", "-n6", model, "--", "--help"], "");
    assert_eq!(succeed(&["run", "--raw", "-n6", model], "--help\n"), dashes);
    assert!(!dashes.contains("usage"));
}
