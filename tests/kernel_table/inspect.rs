//! Facts of a code object: from the notes and the disassembly (AMD), from the text (PTX).

use super::{fences, occupancy};
use mlxrocm::gpu::kernels::BuiltIn;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// One kernel for one target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub kernel: String,
    pub target: String,
    /// Vector registers, accumulation registers, scalar registers, local memory, all as text; "-" in
    /// PTX, where the driver decides.
    pub counts: [String; 4],
    pub scratch: u64,
    pub spills: u64,
    /// Waves that a SIMD holds, an estimate.
    pub occupancy: String,
    /// Global loads of 16 bytes, as instructions.
    pub loads: usize,
    /// Arithmetic beyond the plain: dot2, dot4, wmma, mfma, mma.
    pub units: String,
    /// Whether it has the last of several blocks add up, and what is missing around the atomic then.
    pub reduces: bool,
    pub fences: Vec<String>,
}

impl Row {
    /// The line of the table.
    pub fn line(&self) -> String {
        format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}",
            self.kernel,
            self.target,
            self.counts.join("\t"),
            format_args!("{}\t{}", self.scratch, self.spills),
            self.occupancy,
            self.loads,
            self.units
        )
    }
}

/// The rows of an object.
pub fn rows(object: &BuiltIn) -> Vec<Row> {
    if object.target.starts_with("sm_") {
        ptx(object)
    } else {
        elf(object)
    }
}

fn ptx(object: &BuiltIn) -> Vec<Row> {
    let text = std::str::from_utf8(object.code).unwrap();
    let mut rows = Vec::new();
    for part in text.split(".entry ").skip(1) {
        let name = part.split('(').next().unwrap();
        rows.push(Row {
            kernel: name.to_owned(),
            target: object.target.to_owned(),
            counts: ["-", "-", "-", "-"].map(String::from),
            // `.local` memory would be an array on the stack.
            scratch: part.matches(".local ").count() as u64,
            spills: 0,
            occupancy: "-".into(),
            loads: part
                .lines()
                .filter(|line| line.contains("ld.global") && line.contains(".v4."))
                .count(),
            units: units(
                part.lines()
                    .filter_map(|line| line.split_whitespace().next()),
            ),
            reduces: false,
            fences: Vec::new(),
        });
    }
    check_names(object, rows.iter().map(|row| row.kernel.as_str()));
    rows
}

fn elf(object: &BuiltIn) -> Vec<Row> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), object.code).unwrap();
    let notes = tool(
        "llvm-readelf-19",
        &["--notes", &file.path().to_string_lossy()],
    );
    let listing = tool(
        "llvm-objdump-19",
        &["-d", "--no-show-raw-insn", &file.path().to_string_lossy()],
    );
    let instructions = instructions(&listing);
    let mut rows = Vec::new();
    for kernel in kernels(&notes) {
        let number =
            |name: &str| -> u64 { kernel.get(name).map_or(0, |value| value.parse().unwrap()) };
        let name = kernel[".name"].clone();
        let code = &instructions[&name];
        check_arguments(&name, &kernel);
        assert_eq!(
            kernel.get(".uses_dynamic_stack").map(String::as_str),
            Some("false"),
            "{name}"
        );
        let (vgprs, agprs, lds) = (
            number(".vgpr_count"),
            number(".agpr_count"),
            number(".group_segment_fixed_size"),
        );
        let threads = number(".max_flat_workgroup_size");
        let wave = number(".wavefront_size");
        let words = || {
            code.iter()
                .filter_map(|line| line.split_whitespace().next())
        };
        let wide = [
            "global_load_b128",
            "global_load_dwordx4",
            "buffer_load_b128",
            "buffer_load_dwordx4",
        ];
        rows.push(Row {
            target: object.target.to_owned(),
            counts: [vgprs, agprs, number(".sgpr_count"), lds].map(|count| count.to_string()),
            scratch: number(".private_segment_fixed_size"),
            spills: number(".vgpr_spill_count") + number(".sgpr_spill_count"),
            occupancy: occupancy::waves(object.target, vgprs, lds, threads, wave).to_string(),
            loads: words().filter(|word| wide.contains(word)).count(),
            units: units(words()),
            reduces: fences::reduces(code),
            fences: fences::faults(object.target, code),
            kernel: name,
        });
    }
    check_names(object, rows.iter().map(|row| row.kernel.as_str()));
    rows
}

/// The object has exactly the kernels that the index says.
fn check_names<'a>(object: &BuiltIn, found: impl Iterator<Item = &'a str>) {
    let found: BTreeSet<&str> = found.collect();
    let said: BTreeSet<&str> = object.kernels.iter().copied().collect();
    assert_eq!(found, said, "{} for {}", object.source, object.target);
}

/// Kernels take pointers and numbers of 32 and 64 bits, which are packed alike on both platforms.
fn check_arguments(name: &str, kernel: &BTreeMap<String, String>) {
    for size in kernel["arguments"].split_whitespace() {
        assert!(
            size == "4" || size == "8",
            "{name} takes an argument of {size} bytes"
        );
    }
}

/// Which special arithmetic is among the instructions.
fn units<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut found = BTreeSet::new();
    for word in words {
        for (prefix, unit) in [
            ("v_dot2", "dot2"),
            ("v_dot4", "dot4"),
            ("v_dot8", "dot8"),
            ("v_wmma", "wmma"),
            ("v_mfma", "mfma"),
            ("mma.sync", "mma"),
            ("wgmma", "wgmma"),
            ("dp4a", "dot4"),
        ] {
            if word.starts_with(prefix) {
                found.insert(unit);
            }
        }
    }
    if found.is_empty() {
        "-".into()
    } else {
        found.into_iter().collect::<Vec<_>>().join(",")
    }
}

/// The kernels' maps in the notes, as llvm-readelf prints them; "arguments" has the sizes of the
/// explicit arguments.
fn kernels(notes: &str) -> Vec<BTreeMap<String, String>> {
    let mut list: Vec<BTreeMap<String, String>> = Vec::new();
    let mut size = String::new();
    for line in notes.lines() {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim_start();
        let Some((key, value)) = text.trim_start_matches("- ").split_once(':') else {
            continue;
        };
        let value = value.trim();
        if indent == 2 && text.starts_with("- ") {
            list.push(BTreeMap::from([("arguments".to_owned(), String::new())]));
        }
        let Some(kernel) = list.last_mut() else {
            continue;
        };
        match (indent, key) {
            (2 | 4, key) => {
                kernel.insert(key.to_owned(), value.to_owned());
            }
            (_, ".size") => size = value.to_owned(),
            (_, ".value_kind") if !value.starts_with("hidden") => {
                kernel
                    .entry("arguments".into())
                    .or_default()
                    .push_str(&format!(" {size}"));
            }
            _ => {}
        }
    }
    list.retain(|kernel| kernel.contains_key(".name"));
    assert!(!list.is_empty(), "no kernels in the notes:\n{notes}");
    list
}

/// The instructions of each function.
fn instructions(listing: &str) -> BTreeMap<String, Vec<String>> {
    let mut functions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = String::new();
    for line in listing.lines() {
        if let Some((_, rest)) = line.split_once(" <")
            && let Some(name) = rest.strip_suffix(">:")
        {
            current = name.to_owned();
        } else if line.starts_with('\t') {
            let text = line.split("//").next().unwrap_or_default().trim();
            let code = functions.entry(current.clone()).or_default();
            code.push(text.to_owned());
        }
    }
    functions
}

fn tool(name: &str, arguments: &[&str]) -> String {
    let output = Command::new(name).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}; install llvm-19"));
    assert!(
        output.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
