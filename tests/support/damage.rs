//! Damaging files byte by byte, and using what opens all the same.

use super::counting_allocator::peak_of;
use mlxrocm::formats::RowGroups;
use mlxrocm::model::weights::Source;
use mlxrocm::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The most heap that opening and reading a file of a few kilobytes may take.
pub const MAX_HEAP: usize = 4 << 20;

/// Opens the model and reads all that a loader would; any result is fine, a panic is not.
fn open_and_use(path: &Path) -> Result<()> {
    let source = Source::open(path)?;
    let c = source.config().clone();
    source.chat_template();
    source.parameters();
    source.weight_bytes();
    source.quantization();
    source.unused();
    let mut groups = RowGroups::default();
    let mut read = |weight: &mlxrocm::formats::Weight| -> Result<()> {
        // A damaged shape may say millions of columns; the loader sizes buffers by the config.
        let mut values = vec![0.0; weight.cols];
        for row in [0, weight.rows / 2, weight.rows - 1] {
            weight.dequantize_row(row, &mut values)?;
            let dense = weight.format.group_form().is_none();
            match weight.read_groups(row, &mut groups) {
                // A damaged type may make 8-bit floats of anything, also of what is no number.
                Err(error @ Error::InvalidFile(_)) => return Err(error),
                result => assert_eq!(result.is_err(), dense),
            }
        }
        Ok(())
    };
    read(&source.embedding("model.embed_tokens", c.vocab_size, c.hidden_size)?)?;
    let (q, kv) = (c.heads * c.head_dim, c.kv_heads * c.head_dim);
    for layer in 0..c.layers.min(2) {
        let path = |module: &str| format!("model.layers.{layer}.{module}");
        read(
            &source
                .linear(&path("self_attn.q_proj"), q, c.hidden_size)?
                .weight,
        )?;
        read(
            &source
                .linear(&path("self_attn.k_proj"), kv, c.hidden_size)?
                .weight,
        )?;
        read(
            &source
                .linear(&path("mlp.down_proj"), c.hidden_size, c.intermediate_size)?
                .weight,
        )?;
        source.norm(&path("input_layernorm"), c.hidden_size)?;
    }
    source.norm("model.norm", c.hidden_size)?;
    read(
        &source
            .linear("lm_head", c.vocab_size, c.hidden_size)?
            .weight,
    )
}

/// Uses the model, checks the heap and the error; says whether it was accepted.
pub fn survives(model: &Path, what: &dyn Fn() -> String) -> bool {
    let (result, peak) = peak_of(|| open_and_use(model));
    assert!(peak < MAX_HEAP, "{}: {peak} bytes of heap", what());
    match result {
        Ok(()) => true,
        Err(Error::InvalidFile(message) | Error::Unsupported(message) | Error::Io(message)) => {
            let name = model.file_name().unwrap().to_string_lossy();
            assert!(message.contains(&*name), "{}: {message}", what());
            assert!(!message.contains('\n'), "{}: {message:?}", what());
            false
        }
        Err(other) => panic!("{}: {other:?}", what()),
    }
}

/// Changes each byte of `file` below `end` to several values, one at a time. Returns how many
/// changes were refused and how many accepted.
pub fn every_byte(model: &Path, file: &Path, end: usize) -> (usize, usize) {
    let original = std::fs::read(file).unwrap();
    let handle = File::options().write(true).open(file).unwrap();
    let (mut refused, mut accepted) = (0, 0);
    for (at, byte) in original.iter().enumerate().take(end) {
        let mut values = vec![
            0,
            1,
            0x7f,
            0x80,
            0xff,
            byte ^ 1,
            byte ^ 0x20,
            byte.wrapping_add(1),
        ];
        values.extend(*b"\"{[9");
        values.sort_unstable();
        values.dedup();
        for value in values.into_iter().filter(|value| value != byte) {
            handle.write_at(&[value], at as u64).unwrap();
            match survives(model, &|| format!("byte {at} changed to {value:#x}")) {
                true => accepted += 1,
                false => refused += 1,
            }
        }
        handle.write_at(&[*byte], at as u64).unwrap();
    }
    assert!(survives(model, &|| "restored".into()));
    (refused, accepted)
}

/// Cuts the file at every length: each must be refused.
pub fn every_length(model: &Path, file: &Path) {
    let original = std::fs::read(file).unwrap();
    for len in (0..original.len()).rev() {
        let handle = File::options().write(true).open(file).unwrap();
        handle.set_len(len as u64).unwrap();
        let accepted = survives(model, &|| format!("cut to {len} bytes"));
        assert!(
            !accepted,
            "cut to {len} of {} bytes, accepted",
            original.len()
        );
    }
    std::fs::write(file, original).unwrap();
    assert!(survives(model, &|| "restored".into()));
}
