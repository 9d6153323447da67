//! Tokens that are guessed and checked in one step on the CPU: what each family's model writes is to the bit what it
//! writes without. A draft model has the same tokens.

#[path = "support/demo_model.rs"]
mod demo_model;
#[path = "support/golden_family.rs"]
mod golden_family;
#[path = "support/guesses.rs"]
mod guesses;

use golden_family::{tiny_tokenizer, variants, write};
use mlxrocm::Error;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
use mlxrocm::session::{Session, SessionOptions};
use std::path::Path;
use std::sync::Arc;

fn load(path: &Path) -> Arc<Model> {
    let options = LoadOptions {
        device: DeviceChoice::Cpu,
        threads: 2,
        ..LoadOptions::default()
    };
    Model::load(path, &options, None).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The plain model of a family.
fn family(name: &str) -> Arc<Model> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/families");
    let text = std::fs::read_to_string(golden.join(format!("{name}.json"))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &variants(&text)["plain"]);
    tiny_tokenizer::write_files(folder.path());
    load(folder.path())
}

#[test]
fn guesses_change_no_bit_in_any_family() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/families");
    let files = std::fs::read_dir(golden).unwrap();
    let names = files.filter_map(|file| {
        let name = file.unwrap().file_name().into_string().unwrap();
        name.strip_suffix(".json").map(str::to_string)
    });
    let names: Vec<String> = names.collect();
    assert!(names.len() > 40);
    let mut right = [0; 2];
    for name in &names {
        let model = family(name);
        let found = guesses::change_nothing(name, &model, &model, false);
        println!("{name}: {found:?} were right");
        right = [right[0] + found[0], right[1] + found[1]];
    }
    assert!(
        right.iter().all(|right| *right > 5 * names.len()),
        "{right:?}"
    );
}

#[test]
fn guesses_change_no_bit_of_the_demo_model() {
    let model = load(&demo_model::demo_model());
    let [looked_up, drafted] = guesses::change_nothing("demo", &model, &model, false);
    assert!(looked_up > 10 && drafted > 10, "{looked_up} {drafted}");
}

#[test]
fn a_draft_model_with_other_tokens_is_refused() {
    let options = SessionOptions {
        draft: Some(family("qwen3")),
        ..Default::default()
    };
    let refused = Session::new(load(&demo_model::demo_model()), options);
    let Err(Error::InvalidArgument(message)) = refused else {
        panic!("{:?}", refused.err());
    };
    assert!(
        message.contains("the draft model has other tokens"),
        "{message}"
    );
}
