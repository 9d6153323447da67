//! Damaged GGUF files: every byte of a header changed, every truncation, every kind of field.

#[path = "support/counting_allocator.rs"]
mod counting_allocator;
#[path = "support/damage.rs"]
mod damage;
#[path = "support/tiny_gguf.rs"]
#[allow(dead_code)]
mod tiny_gguf;

use damage::{every_byte, every_length, survives};
use mlxrocm::Error;
use mlxrocm::formats::gguf::{Gguf, Value};
use mlxrocm::model::weights::Source;
use std::path::Path;
use tiny_gguf::{metadata, refused, refused_with, tensors, tiny, write};

#[global_allocator]
static ALLOCATOR: counting_allocator::CountingAllocator = counting_allocator::CountingAllocator;

#[test]
fn undamaged_files_of_all_versions_open() {
    for version in 1..=3 {
        let file = write(&tiny(version));
        assert!(survives(&file.path, &|| format!("version {version}")));
        let source = Source::open(&file.path).unwrap();
        assert_eq!(source.config().stop_tokens, [3, 2]);
        assert_eq!(source.config().name, "tiny");
    }
}

#[test]
fn every_byte_of_the_header_may_be_wrong() {
    for version in [1, 3] {
        let bytes = tiny(version);
        let name = b"blk.0.ffn_down.weight";
        let last = bytes.windows(name.len()).rposition(|w| w == name).unwrap();
        let file = write(&bytes);
        let (refused, accepted) = every_byte(&file.path, &file.path, last + name.len() + 40);
        assert!(
            refused > 5 * accepted / 2,
            "{refused} refused, {accepted} accepted"
        );
    }
}

#[test]
fn every_truncation_is_refused() {
    for version in [1, 3] {
        let file = write(&tiny(version));
        every_length(&file.path, &file.path);
    }
}

#[test]
fn random_damage_is_survived() {
    let bytes = tiny(3);
    let file = write(&bytes);
    let mut state = 1u64;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for round in 0..4000 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + next(4) {
            let at = next(damaged.len() - 8);
            match next(4) {
                0 => damaged[at] = next(256) as u8,
                1 => damaged[at..at + 8].fill(0xff),
                2 => damaged[at..at + 8].copy_from_slice(&(1u64 << next(64)).to_le_bytes()),
                _ => {
                    damaged.drain(at..at + 1 + next(7));
                }
            }
        }
        std::fs::write(&file.path, damaged).unwrap();
        survives(&file.path, &|| format!("round {round}"));
    }
}

#[test]
fn what_is_no_gguf_is_named() {
    assert!(refused(b"").contains("not a GGUF file"));
    assert!(refused(b"GGU").contains("not a GGUF file"));
    assert!(refused(b"PK\x03\x04 something else").contains("not a GGUF file"));
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 98362432\n";
    assert!(refused(pointer).contains("git lfs pull"));
    assert!(refused(b"GGUF").contains("version"));
    assert!(refused(b"GGUF\x00\x00\x00\x03\x00\x00\x00\x00").contains("big-endian"));
    assert!(refused(b"GGUF\x04\x00\x00\x00\x00\x00\x00\x00").contains("version 4"));
    assert!(refused(b"GGUF\x00\x00\x00\x00\x00\x00\x00\x00").contains("version 0"));
}

#[test]
fn huge_counts_and_lengths_are_refused() {
    let header = |tensors: u64, entries: u64, rest: &[u8]| {
        let mut bytes = b"GGUF\x03\x00\x00\x00".to_vec();
        bytes.extend(tensors.to_le_bytes());
        bytes.extend(entries.to_le_bytes());
        bytes.extend(rest);
        refused(&bytes)
    };
    for count in [100, 1 << 32, 1 << 62, u64::MAX] {
        let error = header(count, 0, b"");
        assert!(error.contains("tensor count"), "{error}");
        assert!(error.contains("truncated or damaged"), "{error}");
        assert!(header(0, count, b"").contains("metadata count"));
        let mut key = count.to_le_bytes().to_vec();
        key.extend(b"key and some bytes more");
        assert!(header(0, 1, &key).contains("metadata key 0"));
        for kind in [0u32, 2, 4, 7, 8, 10, 12] {
            let mut value = 1u64.to_le_bytes().to_vec();
            value.push(b'k');
            value.extend(9u32.to_le_bytes());
            value.extend(kind.to_le_bytes());
            value.extend(count.to_le_bytes());
            let error = header(0, 1, &value);
            assert!(
                error.contains("metadata k") && error.contains("count"),
                "{error}"
            );
        }
    }
}

#[test]
fn damaged_metadata_is_named() {
    let cases: &[(&str, u32, &[u8], &str)] = &[
        ("k", 13, &[0; 8], "unknown value type 13"),
        ("k", 7, &[2], "flag of value 2"),
        ("k", 8, b"\x02\0\0\0\0\0\0\0\xff\xfe", "not UTF-8"),
        (
            "k",
            9,
            b"\x09\0\0\0\x01\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0",
            "array of arrays",
        ),
        (
            "k",
            9,
            b"\x0d\0\0\0\x01\0\0\0\0\0\0\0\0",
            "unknown element type 13",
        ),
        ("k", 9, b"\x07\0\0\0\x01\0\0\0\0\0\0\0\x03", "flag"),
        (
            "k",
            9,
            b"\x0a\0\0\0\x01\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
            "2^63",
        ),
    ];
    for (key, kind, value, expected) in cases {
        let error = refused_with(|writer| {
            writer.raw(key, *kind, value);
        });
        assert!(
            error.contains("metadata k") && error.contains(expected),
            "{error}"
        );
    }
    let twice = refused_with(|writer| {
        writer.u32("llama.block_count", 1);
    });
    assert!(
        twice.contains("llama.block_count") && twice.contains("twice"),
        "{twice}"
    );
    let empty = refused_with(|writer| {
        writer.u32("", 1);
    });
    assert!(empty.contains("empty"), "{empty}");
    for alignment in [0u32, 3, 48, 1 << 31] {
        let error = refused_with(|writer| {
            writer.u32("general.alignment", alignment);
        });
        assert!(error.contains("general.alignment"), "{error}");
    }
}

#[test]
fn damaged_tensors_are_named() {
    let with = |dims: &[u64], kind: u32| {
        let mut writer = metadata(3);
        tensors(&mut writer);
        writer.tensor("extra.weight", dims, kind, vec![0; 64]);
        let file = write(&writer.bytes());
        Source::open(&file.path)
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert_eq!(with(&[16], 0), Ok(()));
    assert_eq!(with(&[4, 2, 2, 1], 0), Ok(()));
    for (dims, kind, expected) in [
        (&[][..], 0, "0 dimensions"),
        (&[1, 1, 1, 1, 1], 0, "5 dimensions"),
        (&[0], 0, "dimension 0"),
        (&[4, 0], 0, "dimension 0"),
        (&[1 << 40, 1 << 40], 0, "overflows"),
        (&[u64::MAX], 0, "does not lie inside"),
        (&[1 << 62], 0, "does not lie inside"),
        (&[u64::MAX / 4, 4], 1, "does not lie inside"),
        (&[17], 0, "does not lie inside"),
        (&[33], 2, "multiple of 32"),
        (&[128], 14, "multiple of 256"),
        (&[256, 2], 14, "does not lie inside"),
        (&[128], 16, "multiple of 256"),
        (&[48], 39, "multiple of 32"),
        (&[32], 40, "multiple of 64"),
        (&[256, 2], 19, "does not lie inside"),
        (&[256, 1 << 50], 29, "does not lie inside"),
    ] {
        let error = with(dims, kind).unwrap_err();
        assert!(
            error.contains("extra.weight") && error.contains(expected),
            "{dims:?}: {error}"
        );
    }
    let twice = refused_with(|writer| {
        writer.tensor("token_embd.weight", &[1], 0, vec![0; 4]);
    });
    assert!(
        twice.contains("token_embd.weight") && twice.contains("twice"),
        "{twice}"
    );
}

#[test]
fn unread_types_are_named_when_bound() {
    for (kind, name) in [(15, "Q8_K"), (41, "Q1_0"), (24, "I8"), (200, "number 200")] {
        let mut writer = metadata(3);
        writer.tensor("blk.0.attn_q.weight", &[256, 32], kind, vec![0; 4]);
        let embedding = vec![0; 4 * 18];
        writer.tensor("token_embd.weight", &[32, 4], 2, embedding);
        let file = write(&writer.bytes());
        let source = Source::open(&file.path).unwrap();
        let error = source
            .linear("model.layers.0.self_attn.q_proj", 32, 32)
            .unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)));
        let error = error.to_string();
        assert!(
            error.contains(name) && error.contains("blk.0.attn_q.weight"),
            "{error}"
        );
        assert!(source.embedding("model.embed_tokens", 4, 32).is_ok());
        let gguf = Gguf::open(&file.path).unwrap();
        assert_eq!(gguf.tensors().len(), 1);
        assert!(gguf.tensor("blk.0.attn_q.weight").is_none());
    }
}

#[test]
fn missing_tensors_and_wrong_shapes_are_named() {
    let file = write(&tiny(3));
    let source = Source::open(&file.path).unwrap();
    let linear = |path: &str, rows, cols| source.linear(path, rows, cols).unwrap_err().to_string();
    for (error, parts) in [
        (
            linear("model.layers.0.self_attn.q_proj", 32, 64),
            &["blk.0.attn_q.weight", "[32, 32]", "[32, 64]"][..],
        ),
        (
            linear("model.layers.1.self_attn.q_proj", 32, 32),
            &["blk.1.attn_q.weight", "missing"],
        ),
        (
            linear("model.layers.0.mlp.router", 32, 32),
            &["model.layers.0.mlp.router.weight", "missing"],
        ),
        (
            source.norm("model.norm", 31).unwrap_err().to_string(),
            &["output_norm.weight", "[31]"],
        ),
        (
            source
                .norm("model.layers.0.self_attn.k_proj", 512)
                .unwrap_err()
                .to_string(),
            &["attn_k", "[16, 32]"],
        ),
    ] {
        for part in parts.iter().chain(&["tiny.gguf"]) {
            assert!(error.contains(part), "{error}");
        }
    }
    assert!(source.unused().contains(&"blk.0.ffn_up.weight".to_string()));
    // A stack of experts must not pass for a matrix of the same size.
    let mut writer = metadata(3);
    writer.tensor("token_embd.weight", &[32, 4], 2, vec![0; 72]);
    writer.tensor("blk.0.ffn_up.weight", &[32, 16, 2], 2, vec![0; 18 * 32]);
    let file = write(&writer.bytes());
    let source = Source::open(&file.path).unwrap();
    let error = source
        .linear("model.layers.0.mlp.up_proj", 32, 32)
        .unwrap_err()
        .to_string();
    assert!(error.contains("blk.0.ffn_up.weight"), "{error}");
}

#[test]
fn values_of_every_type_are_read() {
    let mut writer = metadata(3);
    writer
        .raw("u8", 0, &[200])
        .raw("i8", 1, &[0xff])
        .raw("u16", 2, &60_000u16.to_le_bytes())
        .raw("i16", 3, &(-5i16).to_le_bytes())
        .raw("i32", 5, &(-70_000i32).to_le_bytes())
        .raw("u64", 10, &u64::MAX.to_le_bytes())
        .raw("i64", 11, &i64::MIN.to_le_bytes())
        .raw("f64", 12, &1e300f64.to_le_bytes())
        .flag("flag", true)
        .array("u8s", 0, 2, &[1, 255])
        .array("i8s", 1, 2, &[1, 255])
        .array("u16s", 2, 1, &[0xff, 0xff])
        .array("i16s", 3, 1, &[0xff, 0xff])
        .array("u32s", 4, 1, &[0xff; 4])
        .array("u64s", 10, 1, &7u64.to_le_bytes())
        .array("i64s", 11, 1, &[0xff; 8])
        .array("f32s", 6, 1, &1.5f32.to_le_bytes())
        .array("f64s", 12, 1, &2.5f64.to_le_bytes())
        .array("flags", 7, 2, &[0, 1])
        .texts("none", &[]);
    tensors(&mut writer);
    let file = write(&writer.bytes());
    let gguf = Gguf::open(&file.path).unwrap();
    let get = |key: &str| gguf.get(key).unwrap();
    assert_eq!(get("u8").as_u64(), Some(200));
    assert_eq!((get("i8").as_i64(), get("i8").as_u64()), (Some(-1), None));
    assert_eq!(get("u16").as_f64(), Some(60_000.0));
    assert_eq!(get("i16").as_i64(), Some(-5));
    assert_eq!(get("i32").as_i64(), Some(-70_000));
    assert_eq!(
        (get("u64").as_u64(), get("u64").as_i64()),
        (Some(u64::MAX), None)
    );
    assert_eq!(get("i64").as_i64(), Some(i64::MIN));
    assert_eq!(get("f64").as_f64(), Some(1e300));
    assert_eq!(get("flag").as_bool(), Some(true));
    assert_eq!(get("u8s").integers(), Some(&[1, 255][..]));
    assert_eq!(get("i8s").integers(), Some(&[1, -1][..]));
    assert_eq!(get("u16s").integers(), Some(&[65_535][..]));
    assert_eq!(get("i16s").integers(), Some(&[-1][..]));
    assert_eq!(get("u32s").integers(), Some(&[0xffff_ffff][..]));
    assert_eq!(get("u64s").integers(), Some(&[7][..]));
    assert_eq!(get("i64s").integers(), Some(&[-1][..]));
    assert_eq!(get("f32s").floats(), Some(&[1.5][..]));
    assert_eq!(get("f64s").floats(), Some(&[2.5][..]));
    assert_eq!(get("flags").bools(), Some(&[false, true][..]));
    assert_eq!(get("none").texts(), Some(&[][..]));
    assert_eq!(get("general.name"), &Value::Text("tiny".into()));
    assert_eq!(gguf.path(), file.path);
}

#[test]
fn alignments_other_than_32_are_kept() {
    for alignment in [1, 8, 64, 4096] {
        let mut writer = metadata(3);
        writer.alignment(alignment);
        tensors(&mut writer);
        let file = write(&writer.bytes());
        let source = Source::open(&file.path).unwrap();
        let norm = source.norm("model.norm", 32).unwrap();
        assert_eq!(norm, (0..32).map(|i| i as f32).collect::<Vec<_>>());
    }
}

#[test]
fn odd_paths_are_errors() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let odd = |name: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(name));
    for name in [
        &b"missing.gguf"[..],
        b"nul\0inside.gguf",
        b"bad\xff\xfeutf8.gguf",
        b"",
    ] {
        assert!(Source::open(&odd(name)).is_err());
        assert!(Gguf::open(&odd(name)).is_err());
    }
    assert!(matches!(Source::open(Path::new("")), Err(Error::Io(_))));
    // A good file under a name that is not UTF-8 opens.
    std::fs::write(odd(b"bad\xff.gguf"), tiny(3)).unwrap();
    assert!(Source::open(&odd(b"bad\xff.gguf")).is_ok());
    assert!(matches!(Gguf::open(folder.path()), Err(Error::Io(_))));
    assert!(matches!(
        Gguf::open(Path::new("/dev/null")),
        Err(Error::Io(_))
    ));
}
