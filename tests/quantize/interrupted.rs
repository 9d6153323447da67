//! Runs that end early go on, and nothing half written looks complete.

use super::{affine, files, models, read, run};
use mlxrocm::Error;
use mlxrocm::model::quantize::{QuantizeOptions, quantize};
use mlxrocm::model::weights::Source;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

fn several_files() -> QuantizeOptions {
    QuantizeOptions {
        shard_bytes: 200_000,
        ..affine(4, 64)
    }
}

/// Runs until about `share` of the source is read, then cancels.
fn cancelled(source: &Path, target: &Path, options: &QuantizeOptions, share: f64) -> bool {
    let mut go_on = |done: u64, total: u64| (done as f64) < share * total as f64;
    match quantize(source, target, options, &mut go_on) {
        Ok(_) => false,
        Err(Error::Cancelled(_)) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_cancelled_run_goes_on() {
    let model = &models()["llama"];
    let scratch = tempfile::tempdir().unwrap();
    let source = model.write(scratch.path());
    let whole = scratch.path().join("whole");
    let options = several_files();
    run(&source, &whole, &options).unwrap();
    let expected = read(&whole);
    let target = scratch.path().join("target");
    let partial = scratch.path().join("target.partial");
    let mut kept: Vec<(String, u64, i64)> = Vec::new();
    for share in [0.0, 0.1, 0.3, 0.6, 0.95] {
        assert!(cancelled(&source, &target, &options, share), "{share}");
        assert!(!target.exists() && !partial.join("config.json").exists());
        assert!(Source::open(&partial).is_err());
        // Finished files are not written again.
        let finished: Vec<(String, u64, i64)> = files(&partial)
            .into_iter()
            .filter(|name| name.ends_with(".safetensors"))
            .map(|name| {
                let facts = std::fs::metadata(partial.join(&name)).unwrap();
                (name, facts.ino(), facts.mtime_nsec())
            })
            .collect();
        assert!(kept.iter().all(|file| finished.contains(file)), "{share}");
        kept = finished;
    }
    assert!(kept.len() > 2, "{kept:?}");
    let mut first = None;
    let mut note = |done, total| {
        first.get_or_insert((done, total));
        true
    };
    let made = quantize(&source, &target, &options, &mut note).unwrap();
    let (done, total) = first.unwrap();
    assert!(made.resumed_bytes == done && done > total / 2 && done < total);
    assert!(!partial.exists());
    assert_eq!(read(&target), expected);
    for (name, node, _) in kept {
        assert_eq!(std::fs::metadata(target.join(name)).unwrap().ino(), node);
    }
}

#[test]
fn what_was_not_recorded_is_written_again() {
    let model = &models()["llama"];
    let scratch = tempfile::tempdir().unwrap();
    let source = model.write(scratch.path());
    let whole = scratch.path().join("whole");
    let options = several_files();
    run(&source, &whole, &options).unwrap();
    let target = scratch.path().join("target");
    let partial = scratch.path().join("target.partial");
    assert!(cancelled(&source, &target, &options, 0.5));
    let record = std::fs::read_to_string(partial.join("progress.json")).unwrap();
    let done: serde_json::Value = serde_json::from_str(&record).unwrap();
    let done = done["done"].as_u64().unwrap();
    // As if the machine had stopped: an older record, and rubbish where tensors were to be.
    let older = record.replace(
        &format!("\"done\":{done}"),
        &format!("\"done\":{}", done - 1),
    );
    assert_ne!(older, record);
    std::fs::write(partial.join("progress.json"), older).unwrap();
    let part = files(&partial)
        .into_iter()
        .find(|name| name.ends_with(".safetensors.part"));
    let part = partial.join(part.unwrap());
    assert!(std::fs::metadata(&part).unwrap().len() > 1000);
    std::fs::write(partial.join("config.json.part"), "rubbish").unwrap();
    run(&source, &target, &options).unwrap();
    assert_eq!(read(&target), read(&whole));
    assert_eq!(files(&target), files(&whole));
}

#[test]
fn other_runs_are_not_mixed() {
    let scratch = tempfile::tempdir().unwrap();
    let source = models()["llama"].write(scratch.path());
    let target = scratch.path().join("target");
    let options = several_files();
    assert!(cancelled(&source, &target, &options, 0.5));
    let before = files(&scratch.path().join("target.partial"));
    let refused = |options: &QuantizeOptions| {
        let error = run(&source, &target, options).unwrap_err();
        assert!(matches!(error, Error::InvalidArgument(_)), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("target.partial: ") && text.contains("delete this folder"),
            "{text}"
        );
    };
    refused(&affine(4, 64));
    refused(&QuantizeOptions {
        shard_bytes: 200_000,
        ..affine(8, 64)
    });
    // A source that was changed is another one.
    let file = source.join("model-00002-of-00002.safetensors");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, bytes).unwrap();
    refused(&options);
    assert_eq!(files(&scratch.path().join("target.partial")), before);
    std::fs::write(scratch.path().join("target.partial/progress.json"), "{").unwrap();
    refused(&options);
    // A folder of that name that no run made.
    std::fs::remove_dir_all(scratch.path().join("target.partial")).unwrap();
    std::fs::create_dir(scratch.path().join("target.partial")).unwrap();
    std::fs::write(scratch.path().join("target.partial/mine"), "").unwrap();
    refused(&options);
    assert!(scratch.path().join("target.partial/mine").exists());
    std::fs::remove_file(scratch.path().join("target.partial/mine")).unwrap();
    run(&source, &target, &options).unwrap();
}

#[test]
fn two_runs_at_once_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let source = models()["tied"].write(scratch.path());
    let target = scratch.path().join("target");
    let options = affine(4, 64);
    let mut refused = 0;
    quantize(&source, &target, &options, &mut |_, _| {
        let error = run(&source, &target, &options).unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
        refused += 1;
        true
    })
    .unwrap();
    assert!(refused > 5);
    read(&target);
}
