//! Damaged and hostile files: errors that name the file and the field.

use crate::edit::{change, field, fields, unpacked};
use crate::golden::{path, read};
use mlxrocm::Error;
use mlxrocm::chess::{ChessNet, File, NetOptions};
use std::io::Write;

fn load(data: Vec<u8>) -> Result<ChessNet, Error> {
    ChessNet::of(&File::parse("net.pb", data)?, &NetOptions::default())
}

fn refusal(data: Vec<u8>) -> String {
    let message = load(data).err().expect("a refusal").to_string();
    assert!(message.contains("net.pb"), "{message}");
    message
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(data).unwrap();
    packer.finish().unwrap()
}

/// The network's weights with a field left out or replaced.
fn with_weights(data: &[u8], with: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    change(data, &[10], &with)
}

#[test]
fn a_file_that_ends_anywhere_is_an_error() {
    for name in ["se_convolution", "attention"] {
        let data = unpacked(name);
        assert!(load(data.clone()).is_ok());
        // Every byte of the head, then about two hundred places of the weights.
        let step = data.len() / 200;
        for end in (1..200).chain((200..data.len()).step_by(step)) {
            refusal(data[..end].to_vec());
        }
        let packed = read(&format!("{name}.pb.gz"));
        for end in (2..packed.len() - 1).step_by(packed.len() / 50) {
            refusal(packed[..end].to_vec());
        }
    }
}

#[test]
fn a_missing_tensor_is_named() {
    for (name, numbers) in [
        (
            "se_convolution",
            vec![1, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        ),
        (
            "attention",
            vec![
                4, 5, 7, 8, 17, 18, 19, 20, 22, 25, 26, 28, 29, 30, 31, 32, 35,
            ],
        ),
        ("multihead", vec![37, 38, 39, 40, 41, 42, 43, 44, 45]),
        ("hybrid_plain", vec![1, 2, 25, 26, 28, 29]),
        ("hybrid_dense", vec![1, 2, 25, 26, 39, 40, 41, 42, 43]),
    ] {
        let data = unpacked(name);
        for missing in numbers {
            let without = with_weights(&data, |weights| {
                let all = fields(weights);
                let mut out = Vec::new();
                for (place, (start, number, _)) in all.iter().enumerate() {
                    let end = all.get(place + 1).map_or(weights.len(), |next| next.0);
                    if *number != missing {
                        out.extend(&weights[*start..end]);
                    }
                }
                out
            });
            let message = refusal(without);
            // Without convolutions a hybrid's encoders would see bare planes.
            let named = ["weights.", "head", "input_embedding"];
            let named = named.iter().any(|name| message.contains(name));
            assert!(named, "{name} without field {missing}: {message}");
        }
    }
}

#[test]
fn tensors_of_other_lengths_are_refused() {
    for name in [
        "se_convolution",
        "attention",
        "multihead",
        "policy_encoders",
        "hybrid_map",
    ] {
        let data = unpacked(name);
        let count = fields(&data).iter().filter(|f| f.1 == 10).count();
        assert_eq!(count, 1);
        // A tensor of five numbers fits nowhere.
        let mut layer = vec![0x0d, 0, 0, 0, 0, 0x15, 0, 0, 128, 63];
        layer.extend(field(3, &[7; 10]));
        for changed in [4, 5, 7, 8, 9, 10, 17, 22, 25, 29, 33, 35, 37, 39] {
            let replaced = with_weights(&data, |weights| {
                let all = fields(weights);
                let mut out = Vec::new();
                for (place, (start, number, _)) in all.iter().enumerate() {
                    let end = all.get(place + 1).map_or(weights.len(), |next| next.0);
                    match *number == changed {
                        true => out.extend(field(changed, &layer)),
                        false => out.extend(&weights[*start..end]),
                    }
                }
                out
            });
            if replaced != data {
                let message = refusal(replaced);
                assert!(message.contains("weights."), "{name} {changed}: {message}");
            }
        }
    }
}

#[test]
fn bytes_that_are_changed_anywhere_do_no_harm() {
    for name in ["se_convolution", "attention", "multihead", "hybrid_dense"] {
        let data = unpacked(name);
        let mut state = 1u64;
        for round in 0..400 {
            let mut damaged = data.clone();
            for _ in 0..1 + round % 3 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                // Half of them in the head and the first fields.
                let reach = if state & 1 == 0 { 200 } else { data.len() };
                let at = (state >> 20) as usize % reach;
                damaged[at] ^= 1 << (state >> 60 & 7);
            }
            // Weights may be changed: that is a network too.
            if let Err(error) = load(damaged) {
                assert!(error.to_string().contains("net.pb"), "{error}");
            }
        }
    }
}

#[test]
fn what_is_no_network_is_refused() {
    let message = |data: &[u8]| refusal(data.to_vec());
    assert!(message(b"").contains("magic"));
    assert!(message(b"1\n0.1 0.2\n").contains("text format"));
    assert!(message(b"GGUF\x03\0\0\0").contains("no network"));
    let data = unpacked("attention");
    let mut other = data.clone();
    other[1] ^= 1;
    assert!(message(&other).contains("magic"));
    // Field 3 again, with a version that does not exist yet.
    let all = fields(&data);
    let at = all.iter().find(|f| f.1 == 3).unwrap();
    let newer = |version: &[u8]| {
        let mut out = data[..at.0].to_vec();
        out.extend(field(3, version));
        out.extend(&data[at.2.end..]);
        out
    };
    assert!(load(newer(&[8, 97, 16, 98, 24, 99])).is_ok());
    for version in [&[8, 1][..], &[8, 0, 16, 34]] {
        let message = refusal(newer(version));
        assert!(message.contains("min_version"), "{message}");
    }
    // ONNX.
    let format = all.iter().find(|f| f.1 == 4).unwrap();
    let mut onnx = data[..format.0].to_vec();
    onnx.extend(field(4, &field(2, &[8, 1, 24, 5])));
    onnx.extend(&data[format.2.end..]);
    assert!(refusal(onnx).contains("ONNX"));
    let missing = ChessNet::load(&path("no such file"), &NetOptions::default());
    assert!(matches!(missing.err().unwrap(), Error::Io(_)));
    let folder = ChessNet::load(&path(""), &NetOptions::default());
    assert!(matches!(folder.err().unwrap(), Error::Io(_)));
}

#[test]
fn gzip_bombs_are_refused() {
    let zeros = vec![0; 80 << 20];
    let bomb = gzip(&zeros);
    assert!(bomb.len() < 200 << 10);
    assert!(refusal(bomb).contains("so large"));
    // A length that no memory has.
    let mut hostile = unpacked("attention")[..5].to_vec();
    hostile.extend([0x52, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    assert!(refusal(hostile).contains("announced"));
    // Millions of empty encoders.
    let mut many = unpacked("attention")[..5].to_vec();
    let encoders: Vec<u8> = [0xda, 1, 0].iter().copied().cycle().take(3 << 20).collect();
    many.extend(field(10, &encoders));
    assert!(refusal(many).contains("too many"));
}
