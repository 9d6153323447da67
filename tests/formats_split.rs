//! GGUF models split over several files.

#[allow(dead_code)] // other tests use the rest
#[path = "support/gguf_writer.rs"]
mod gguf_writer;

use gguf_writer::GgufWriter;
use mlxrocm::formats::gguf::Gguf;
use std::path::{Path, PathBuf};

/// A file of a split: its number and how many there are by its own word, the names of its tensors.
fn file(number: u32, count: u32, tensors: &[&str]) -> Vec<u8> {
    let mut writer = GgufWriter::new(3);
    if number == 0 {
        writer.text("general.architecture", "llama");
    }
    writer.u32("split.no", number);
    writer.u32("split.count", count);
    writer.u32("split.tensors.count", 4);
    for (i, name) in tensors.iter().enumerate() {
        let value = (10 * number + i as u32) as f32;
        let data = value.to_le_bytes().repeat(8);
        writer.tensor(name, &[4, 2], 0, data);
    }
    writer.bytes()
}

fn name(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("model-{number:05}-of-00003.gguf"))
}

/// Three files with four tensors.
fn write() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (number, tensors) in [&["a"][..], &["b", "c"], &["d"]].into_iter().enumerate() {
        let number = number as u32;
        std::fs::write(name(folder.path(), number + 1), file(number, 3, tensors)).unwrap();
    }
    folder
}

#[test]
fn any_file_stands_for_all() {
    let folder = write();
    for number in 1..=3 {
        let all = Gguf::open(&name(folder.path(), number)).unwrap();
        assert_eq!(all.tensors().len(), 4);
        assert!(all.get("general.architecture").is_some());
        for (tensor, expected) in [("a", 0.0), ("b", 10.0), ("c", 11.0), ("d", 20.0)] {
            let mut values = [f32::NAN; 4];
            let weight = all.tensor(tensor).unwrap();
            assert_eq!(weight.name, tensor);
            weight.dequantize_row(1, &mut values).unwrap();
            assert_eq!(values, [expected; 4]);
            assert_eq!(all.dims(tensor), Some(&[4, 2][..]));
        }
    }
}

#[test]
fn what_is_wrong_with_a_split_is_named() {
    let refused = |change: &dyn Fn(&Path), open: u32, expected: &str| {
        let folder = write();
        change(folder.path());
        let error = Gguf::open(&name(folder.path(), open))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(expected) && error.contains(".gguf"),
            "{error}"
        );
    };
    let remove = |number| move |folder: &Path| std::fs::remove_file(name(folder, number)).unwrap();
    refused(&remove(2), 1, "model-00002-of-00003.gguf");
    refused(&remove(1), 3, "model-00001-of-00003.gguf");
    let put = |number: u32, bytes: Vec<u8>| {
        move |folder: &Path| std::fs::write(name(folder, number), &bytes).unwrap()
    };
    refused(
        &put(2, file(2, 3, &["b", "c"])),
        1,
        "not those of file 2 of 3",
    );
    refused(
        &put(2, file(1, 4, &["b", "c"])),
        1,
        "not those of file 2 of 3",
    );
    refused(
        &put(2, file(1, 1, &["b", "c"])),
        1,
        "not those of file 2 of 3",
    );
    refused(
        &put(2, file(1, 3, &["b", "a"])),
        1,
        "tensor a is in another file",
    );
    refused(&put(2, file(1, 3, &["b"])), 1, "split.tensors.count");
    refused(&put(2, vec![1, 2, 3]), 1, "not a GGUF file");
    refused(&put(1, file(3, 3, &["a"])), 1, "split.no is 3");
    refused(&put(1, file(0, 200_000, &["a"])), 1, "split.count 200000");
    refused(
        &put(1, file(0, 2, &["a"])),
        1,
        "must end with -00001-of-00002.gguf",
    );
    // One file that says it is the only one may have any name.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.gguf");
    std::fs::write(&path, file(0, 1, &["a"])).unwrap();
    assert!(Gguf::open(&path).is_ok());
}
