//! Files that are none: a FIFO that nobody writes to must not hold anybody up.

#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::formats::ScalarType;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
use mlxrocm::text::Tokenizer;
use random_model::{Spec, Storage};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

fn fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// The error of `open`, which must come soon.
#[track_caller]
fn refused(open: impl FnOnce() -> Option<mlxrocm::Error> + Send + 'static, name: &str) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(open()));
    let error = receiver
        .recv_timeout(Duration::from_secs(20))
        .unwrap_or_else(|_| panic!("{name} held the call up"));
    let error = error
        .unwrap_or_else(|| panic!("{name} was read"))
        .to_string();
    assert!(
        error.contains(name) && error.contains("not a regular file"),
        "{error}"
    );
}

fn load(path: &Path) -> Option<mlxrocm::Error> {
    let options = LoadOptions {
        threads: 1,
        device: DeviceChoice::Cpu,
        ..LoadOptions::default()
    };
    Model::load(path, &options, None).err()
}

#[test]
fn a_fifo_in_place_of_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    fifo(&path);
    refused(move || load(&path), "model.gguf");
    for name in [
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "chat_template.jinja",
        "model.safetensors",
        "model.safetensors.index.json",
    ] {
        let spec = Spec::new(name, "llama", Storage::Dense(ScalarType::F16));
        let path = spec.write(folder.path());
        let _ = std::fs::remove_file(path.join(name));
        fifo(&path.join(name));
        let model = path.clone();
        refused(move || load(&model), name);
        if name.starts_with("tokenizer") {
            refused(move || Tokenizer::from_folder(&path).err(), name);
        }
    }
}
