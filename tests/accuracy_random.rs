//! The default path against float64 references, on small random models of every format and family.
//!
//! The models are written by `support/random_model.rs`; the references come from a plain numpy forward pass
//! (`golden/models/make_random_references.py`), which was checked against mlx_lm and llama.cpp.

mod accuracy_support;
#[path = "support/random_model.rs"]
mod random_model;

use accuracy_support::*;
use mlxrocm::model::{KvType, LoadOptions, Model};
use mlxrocm::session::Session;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `random.json`.
#[derive(Deserialize)]
struct References {
    tokens: Vec<u32>,
    positions: Vec<usize>,
    prompt: Vec<u32>,
    /// Models with references over quantized KV caches, in the order of `random_kv.bin`.
    caches: Vec<String>,
    models: BTreeMap<String, ModelReference>,
}

/// What is expected of one model.
#[derive(Deserialize)]
struct ModelReference {
    crc32: u32,
    vocabulary: usize,
    greedy: Vec<u32>,
    margins: Vec<f32>,
    logprobs: Vec<f32>,
}

/// The references of a collection of models, `random` or `later`.
fn references(collection: &str) -> References {
    let name = format!("{collection}.json");
    let text = std::fs::read_to_string(golden(&name)).expect(&name);
    serde_json::from_str(&text).expect(&name)
}

/// CRC-32 (IEEE 802.3, reflected polynomial 0xEDB88320) continued over `bytes`.
fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|i| {
        (0..8).fold(i as u32, |c, _| {
            if c & 1 == 1 {
                0xEDB8_8320 ^ (c >> 1)
            } else {
                c >> 1
            }
        })
    });
    !bytes.iter().fold(!crc, |c, &byte| {
        table[((c ^ byte as u32) & 0xFF) as usize] ^ (c >> 8)
    })
}

/// CRC-32 of a GGUF file, or of a folder's config.json and safetensors files in the order of their names.
fn checksum(path: &Path) -> u32 {
    let mut files: Vec<PathBuf> = if path.is_dir() {
        std::fs::read_dir(path)
            .expect("the model folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|p| {
                p.ends_with("config.json") || p.extension().is_some_and(|e| e == "safetensors")
            })
            .collect()
    } else {
        vec![path.to_path_buf()]
    };
    files.sort();
    files.iter().fold(0, |crc, file| {
        crc32(crc, &std::fs::read(file).expect("a model file"))
    })
}

/// Checks one model; what is wrong comes back as text, so that one broken format does not hide the others.
/// `expected`: the logits of the reference at its positions.
fn check(
    path: &Path,
    references: &References,
    reference: &ModelReference,
    expected: &[f32],
) -> Result<String, String> {
    let model = Model::load(path, &LoadOptions::default(), None).map_err(|e| e.to_string())?;
    let vocab = model.info().vocab_size;
    if vocab != reference.vocabulary {
        return Err(format!(
            "vocabulary of {vocab}, not {}",
            reference.vocabulary
        ));
    }
    let session = session(&model, 256, 1);
    let prefill = farthest_logit(&session, vocab, references, expected)?;
    let (_, decode) = compare_greedy(
        &session,
        "",
        &references.prompt,
        &reference.greedy,
        &reference.margins,
        &reference.logprobs,
    )?;
    let figures = format!(
        "logits within {prefill:.5}, log-probabilities of decoded tokens within {decode:.5}"
    );
    if prefill <= LOGIT_TOLERANCE && decode <= LOGIT_TOLERANCE {
        Ok(figures)
    } else {
        Err(figures)
    }
}

/// The largest difference of a logit from the reference.
fn farthest_logit(
    session: &Session,
    vocab: usize,
    references: &References,
    expected: &[f32],
) -> Result<f32, String> {
    let logits = session
        .logits(&references.tokens)
        .map_err(|e| e.to_string())?;
    let mut farthest = 0.0f32;
    for (&position, theirs) in references
        .positions
        .iter()
        .zip(expected.chunks_exact(vocab))
    {
        let ours = &logits[position * vocab..][..vocab];
        for (x, y) in ours.iter().zip(theirs) {
            // NaN must not pass.
            let difference = (x - y).abs();
            farthest = if difference.is_nan() {
                f32::INFINITY
            } else {
                farthest.max(difference)
            };
        }
    }
    Ok(farthest)
}

/// Little-endian f32 of a file.
fn floats(name: &str) -> Vec<f32> {
    let bytes = std::fs::read(golden(name)).expect(name);
    let (numbers, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty(), "{name}");
    numbers.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// Quantized KV caches against float64 attention over keys and values that numpy quantized.
#[test]
fn random_models_over_quantized_caches() {
    let references = references("random");
    let expected = floats("random_kv.bin");
    let specs = random_model::all();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut rest = expected.as_slice();
    for name in &references.caches {
        let spec = specs.iter().find(|spec| &spec.name == name).expect(name);
        let model = load(&spec.write(folder.path()));
        let vocab = model.info().vocab_size;
        // A number that falls to another code than the reference's is off by a step: with 4 bits, a
        // fifteenth of the range.
        for (kv, limit) in [
            (KvType::Q8, LOGIT_TOLERANCE),
            (KvType::Q4, 5.0 * LOGIT_TOLERANCE),
        ] {
            let (own, others) = rest.split_at(references.positions.len() * vocab);
            rest = others;
            let session = session_over(&model, 256, 1, kv);
            let farthest = farthest_logit(&session, vocab, &references, own).unwrap();
            println!("{name} over {kv:?}: logits within {farthest:.5}");
            assert!(farthest <= limit, "{name} {kv:?}: {farthest}");
            // Another kind of cache is farther off: the option is not ignored.
            let other = session_over(&model, 256, 1, KvType::F16);
            let plain = farthest_logit(&other, vocab, &references, own).unwrap();
            assert!(plain > 2.0 * farthest, "{name} {kv:?}: {plain} {farthest}");
        }
    }
    assert!(rest.is_empty(), "random_kv.bin is too long");
}

#[test]
fn every_random_model() {
    check_all("random", random_model::all());
}

#[test]
fn every_later_format() {
    check_all("later", random_model::later_formats());
}

fn check_all(collection: &str, specs: Vec<random_model::Spec>) {
    let references = references(collection);
    let expected = floats(&format!("{collection}.bin"));
    let mut names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    names.sort_unstable();
    let known: Vec<&str> = references.models.keys().map(String::as_str).collect();
    assert_eq!(
        names, known,
        "the generator's models and the references differ"
    );

    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut failures = Vec::new();
    let mut rest = expected.as_slice();
    for (name, reference) in &references.models {
        let spec = specs.iter().find(|spec| &spec.name == name).unwrap();
        let path = spec.write(folder.path());
        assert_eq!(
            checksum(&path),
            reference.crc32,
            "{name} is not the model that the reference was made from: \
             run tests/golden/models/make_random_references.py after a change of the generator"
        );
        let (own, others) = rest.split_at(references.positions.len() * reference.vocabulary);
        rest = others;
        match check(&path, &references, reference, own) {
            Ok(figures) => println!("{name}: {figures}"),
            Err(problem) => failures.push(format!("{name}: {problem}")),
        }
    }
    assert!(rest.is_empty(), "{collection}.bin is too long");
    assert!(
        failures.is_empty(),
        "{} of {} models:\n{}",
        failures.len(),
        references.models.len(),
        failures.join("\n")
    );
}

#[test]
fn crc32_is_the_common_one() {
    assert_eq!(crc32(0, b"123456789"), 0xCBF4_3926);
    assert_eq!(crc32(crc32(0, b"1234"), b"56789"), 0xCBF4_3926);
}
