//! Tokens that are guessed and checked in one step on a GPU: what is written is to the bit what is written without, by
//! models with attention of each kind, with recurrent layers and with experts. `MLXROCM_TEST_GPU=real` uses this
//! machine's GPU.

#[path = "support/golden_family.rs"]
mod golden_family;
#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/guesses.rs"]
mod guesses;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;

use golden_family::{tiny_tokenizer, variants, write};
use mlxrocm::model::DeviceChoice;
use on_gpu::{device, load};
use std::path::Path;

/// Families of which a software GPU runs one a day.
const OTHERS: &[&str] = &["qwen3_next", "lfm2", "mamba2", "deepseek_v2", "gpt_oss"];

#[test]
fn guesses_change_no_bit() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/families");
    let target = gpu::todays(&["gfx1151", "gfx942", "gfx1201"]);
    let gpu = device(target);
    let mut right = [0; 2];
    let families = match gpu::is_real() {
        true => [&["qwen3"], OTHERS].concat(),
        false => vec!["qwen3", OTHERS[gpu::day() % OTHERS.len()]],
    };
    for family in families {
        let text = std::fs::read_to_string(golden.join(format!("{family}.json"))).unwrap();
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &variants(&text)["plain"]);
        tiny_tokenizer::write_files(folder.path());
        let model = load(folder.path(), DeviceChoice::Gpu(0));
        // The same model: what differs is which steps its rows are of.
        let found = guesses::change_nothing(family, &model, &model, true);
        println!("{target} {family}: {found:?} were right");
        right = [right[0] + found[0], right[1] + found[1]];
    }
    assert!(right.iter().all(|right| *right > 20), "{right:?}");
    if !gpu::is_real() {
        assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
    }
}
