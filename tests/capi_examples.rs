//! The example programs: each is compiled as a user would and run on the demo model.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/gpu_env.rs"]
mod gpu_env;

use cc::{command, demo_model, example, finish, stdout};
use std::process::Output;
use std::time::Duration;

fn run(name: &str, arguments: &[&str], input: &str) -> Output {
    finish(
        &mut command(example(name), arguments),
        input,
        Duration::from_secs(200),
    )
}

/// Runs an example that must succeed.
fn succeed(name: &str, arguments: &[&str], input: &str) -> (String, String) {
    let output = run(name, arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{name}: {}\n{errors}",
        output.status
    );
    (stdout(&output), errors)
}

fn model() -> String {
    demo_model().to_str().unwrap().to_string()
}

#[test]
fn e01_version() {
    let (out, _) = succeed("01_version", &[], "");
    assert!(
        out.starts_with(&format!("library {}", env!("CARGO_PKG_VERSION"))),
        "{out}"
    );
}

#[test]
fn e02_devices() {
    let (out, _) = succeed("02_devices", &[], "");
    assert!(
        out.contains("device 0: ") && out.contains("kind           CPU"),
        "{out}"
    );
}

#[test]
fn e03_generate() {
    let (out, errors) = succeed(
        "03_generate",
        &["--tokens", "12", &model(), "The capital of France is"],
        "",
    );
    assert!(out.contains("Paris"), "{out}");
    assert!(
        errors.contains("loading 100 %") && errors.contains("tokens/s"),
        "{errors}"
    );
    assert!(errors.contains("generated 12"), "{errors}");
    // Same seed, same text; an answer ends by itself.
    let sampled = [
        "--chat",
        "--temperature",
        "0.8",
        "--seed",
        "7",
        &model(),
        "What is the capital of France? Answer in one word.",
    ];
    let (first, errors) = succeed("03_generate", &sampled, "");
    assert_eq!(first, succeed("03_generate", &sampled, "").0);
    assert!(
        errors.contains("the model stopped") || errors.contains("the token limit"),
        "{errors}"
    );
}

#[test]
fn e03_says_how_it_is_used_and_what_failed() {
    assert_eq!(run("03_generate", &[], "").status.code(), Some(2));
    let missing = run("03_generate", &["/no/such.gguf", "x"], "");
    assert_eq!(missing.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        errors.contains("MLXROCM_ERROR_IO: /no/such.gguf"),
        "{errors}"
    );
}

#[test]
fn e04_chat_remembers_earlier_turns() {
    let turns = "Say only the word yes.\nNow say only the word no.\n\nnever read\n";
    // Whole pages of 32 tokens are kept.
    let system = "You are an assistant that answers every question in exactly one word. ".repeat(4);
    let (out, errors) = succeed("04_chat", &[&model(), &system], turns);
    assert!(out.lines().count() >= 2, "{out}");
    let number = |text: &str| {
        text.split_whitespace()
            .find_map(|word| word.parse::<usize>().ok())
    };
    let figures: Vec<(usize, usize)> = errors
        .split("[prompt of ")
        .skip(1)
        .map(|text| {
            let (tokens, cached) = text.split_once(',').unwrap();
            (number(tokens).unwrap(), number(cached).unwrap())
        })
        .collect();
    let [(first, _), (second, cached)] = figures[..] else {
        panic!("{errors}")
    };
    assert!(
        first > 64 && second > first + 10 && cached > first - 32,
        "{figures:?}"
    );
}

#[test]
fn e05_tokenize() {
    let (out, _) = succeed("05_tokenize", &[&model(), "Hello world<|im_end|>"], "");
    assert!(
        out.contains("\"Hello\"") && out.contains("\"<|im_end|>\"  special"),
        "{out}"
    );
    assert!(out.ends_with("tokens: Hello world<|im_end|>\n"), "{out}");
}

#[test]
fn e06_batch_gives_what_each_prompt_gives_alone() {
    let model = model();
    let (out, errors) = succeed("06_batch", &[&model], "");
    for number in 1..=4 {
        assert!(
            errors.contains(&format!("[{number}] end after")),
            "{errors}"
        );
    }
    assert!(out.contains("1. The capital of France is| Paris"), "{out}");
    let (alone, _) = succeed("06_batch", &[&model, "Water boils at"], "");
    let text = alone.strip_prefix("1. ").unwrap();
    assert!(out.contains(text), "{out}\n---\n{alone}");
}

#[test]
fn e14_embed_finds_what_is_alike() {
    let texts = [
        "A cat sat on the mat.",
        "A cat sat on the mat.",
        "The cat is sitting on a mat.",
        "def main():",
    ];
    let (out, _) = succeed("14_embed", &[&[model().as_str()], &texts[..]].concat(), "");
    let cosine = |line: &str| line.split(' ').next().unwrap().parse::<f64>().unwrap();
    let cosines: Vec<f64> = out.lines().map(cosine).collect();
    assert_eq!((cosines.len(), cosines[0]), (3, 1.0), "{out}");
    assert!(cosines[0] > cosines[1] && cosines[1] > cosines[2], "{out}");
}

#[test]
fn e15_json_fits_its_schema() {
    let model = model();
    let out = succeed("15_json", &[&model, "Anna is 31 years old. Who is it?"], "").0;
    let person: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(
        person["name"].is_string() && person["age"].as_u64().is_some_and(|age| age <= 150),
        "{out}"
    );
    let schema = r#"{"enum": [["a"], "b"]}"#;
    let out = succeed("15_json", &[&model, "Choose.", schema], "").0;
    assert!(
        ["[\"a\"]", "\"b\""].contains(&out.replace([' ', '\n'], "").as_str()),
        "{out}"
    );
}

#[test]
fn bench_makes_a_model_and_measures_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny");
    let path = path.to_str().unwrap();
    // 1: the CPU.
    let (out, _) = succeed("bench", &["--shape", "tiny", path, "0"], "");
    assert!(
        out.contains("decode 128: ") && !out.contains("nan"),
        "{out}"
    );
}

/// Runs an example on the software GPU; it must succeed.
fn on_gpu(name: &str, arguments: &[&str]) -> String {
    let mut command = command(example(name), arguments);
    let output = finish(
        gpu_env::software(&mut command, "devices=gfx1151;integrated=0"),
        "",
        Duration::from_secs(200),
    );
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{name}: {}\n{}{errors}",
        output.status,
        stdout(&output)
    );
    stdout(&output)
}

/// Runs an example without a GPU: it says so and exits with 77.
fn without_gpu(name: &str) {
    let mut command = command(example(name), &[]);
    let output = finish(gpu_env::none(&mut command), "", Duration::from_secs(60));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(77), "{name}: {errors}");
    assert!(errors.contains("/nonexistent/hip.so"), "{name}: {errors}");
}

#[test]
fn e07_device_info() {
    let out = on_gpu("07_device_info", &[]);
    assert!(
        out.contains("device 1: ")
            && out.contains("code for gfx1151")
            && out.contains("waves of 32"),
        "{out}"
    );
    without_gpu("07_device_info");
}

#[test]
fn e08_vector_add() {
    let out = on_gpu("08_vector_add", &[]);
    assert!(
        out.contains("add on ") && out.ends_with("100000 sums are right\n"),
        "{out}"
    );
    without_gpu("08_vector_add");
}

#[test]
fn e09_program_replay() {
    let out = on_gpu("09_program_replay", &["1"]);
    assert!(
        out.contains("20 launches, ") && out.ends_with("50 runs added 1000 to every number\n"),
        "{out}"
    );
    without_gpu("09_program_replay");
}

#[test]
fn e10_arrays() {
    for name in ["10_arrays", "cpp/arrays"] {
        let (out, _) = succeed(name, &[], "");
        // The least squares of the example's points, by numpy's polyfit.
        let line = out.lines().next().unwrap_or_default();
        assert_eq!(line, "y = 1.990 x + 1.033", "{name}: {out}");
        assert!(
            out.contains("as it should be: add: shapes [8] and [3]"),
            "{name}: {out}"
        );
    }
}

/// The tokens of the model API; on a software GPU one, whose every operation is a launch.
#[test]
fn e11_llama_by_hand_gives_the_model_s_tokens() {
    let model = model();
    for prompt in ["The capital of France is", "def fibonacci(n):"] {
        let (by_hand, _) = succeed("11_llama_by_hand", &[&model, prompt, "8"], "");
        let (expected, _) = succeed("03_generate", &["--tokens", "8", &model, prompt], "");
        assert_eq!(by_hand, expected, "{prompt}");
        let (in_cpp, _) = succeed("cpp/llama_by_hand", &[&model, prompt, "8"], "");
        assert_eq!(in_cpp, expected, "{prompt}, in C++");
    }
    let (first, _) = succeed("03_generate", &["--tokens", "1", &model, "Paris is"], "");
    assert_eq!(
        on_gpu("11_llama_by_hand", &[&model, "Paris is", "1", "1"]),
        first
    );
    for name in ["11_llama_by_hand", "cpp/llama_by_hand"] {
        let refused = run(name, &["/no/such.gguf", "x"], "");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            refused.status.code() == Some(1) && said.contains("/no/such.gguf"),
            "{name}: {said}"
        );
    }
}

#[test]
fn e12_custom_kernel() {
    for name in ["12_custom_kernel", "cpp/custom_kernel"] {
        let out = on_gpu(name, &[]);
        assert!(out.starts_with("10000 medians, 0 wrong; "), "{name}: {out}");
        without_gpu(name);
    }
}

/// The real network; the numbers of the start are those of lc0 itself (tests/golden/chess).
#[test]
fn e13_chess() {
    let net = demo_model().with_file_name("maia-1900.pb.gz");
    assert!(
        net.is_file(),
        "maia-1900 is missing: `make model` fetches it"
    );
    let net = net.to_str().unwrap();
    let (out, _) = succeed("13_chess", &[net], "");
    assert!(out.starts_with("e2e4"), "{out}");
    let golden = std::fs::read(cc::root().join("tests/golden/chess/maia-1900.out")).unwrap();
    let number = |at: usize| f32::from_le_bytes(golden[at * 4..][..4].try_into().unwrap());
    let (q, d) = (number(0), number(1));
    let line = out.lines().find(|line| line.starts_with("win")).unwrap();
    let said: Vec<f32> = line
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    let expected = [(1.0 - d + q) / 2.0, d, (1.0 - d - q) / 2.0];
    for (said, expected) in said.iter().zip(expected) {
        assert!((said - 100.0 * expected).abs() < 0.06, "{line}: {q} {d}");
    }
    assert_eq!(said.len(), 3, "{line}");
    let chances = said;
    // After a move; a game that is over; what is no game.
    let (out, _) = succeed("13_chess", &[net, "", "e2e4"], "");
    assert!(out.lines().next().unwrap().contains('%'), "{out}");
    let mate = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
    let (out, _) = succeed("13_chess", &[net, mate], "");
    assert!(out.starts_with("the game is over"), "{out}");
    let refused = run("13_chess", &[net, "", "e2e5"], "");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("e2e5"), "{said}");
    let (out, _) = succeed("13_chess", &["--bench", net], "");
    assert!(out.contains("batch   64: "), "{out}");
    // On a GPU, in f16, to the tenth of a percent that is printed.
    let out = on_gpu("13_chess", &["--device", "1", net]);
    let found: Vec<f32> = out
        .lines()
        .filter(|line| line.starts_with("win"))
        .flat_map(|line| line.split(' '))
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(out.starts_with("e2e4") && found.len() == 3, "{out}");
    for (found, chance) in found.iter().zip(&chances) {
        assert!((found - chance).abs() < 0.5, "{out}: {chance}");
    }
}

#[test]
fn selftest_of_a_device() {
    let out = on_gpu("selftest", &["--quick", "--seed", "5"]);
    for needed in [
        "seed: 5",
        "ok    mlxrocm_vector_add_f32",
        "ok    mlxrocm_matmul_tile_f16",
        "ok    mlxrocm_argmax_f32",
        "ok    mlxrocm_matmul_rows_q4_f16_g64_r1",
        "ok    graph replay",
        "host to device: ",
        "100 kernels, ",
        " passed in ",
    ] {
        assert!(out.contains(needed), "no {needed:?} in {out}");
    }
    assert!(!out.contains("FAIL"), "{out}");
    without_gpu("selftest");
}

#[test]
fn cpp_generate() {
    let (out, errors) = succeed("cpp/generate", &[&model(), "Say hello."], "");
    assert!(
        !out.trim().is_empty() && errors.contains("tokens/s"),
        "{out}{errors}"
    );
}

#[test]
fn examples_are_short_and_all_are_run() {
    let source = include_str!("capi_examples.rs");
    let mut count = 0;
    for folder in ["c_examples", "c_examples/cpp"] {
        for entry in std::fs::read_dir(cc::root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(source.contains(&format!("{name}\"")), "{name} is not run");
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            let most = match name {
                // It makes its models by itself.
                "bench" => 420,
                // A whole model, its file and its text.
                "11_llama_by_hand" => 170,
                _ => 150,
            };
            assert!(lines <= most, "{name} has {lines} lines");
            count += 1;
        }
    }
    assert_eq!(count, 21);
}
