//! What the products of decoding cost on AMD machine code: the software GPU's counters for one row
//! times a matrix of 4096 columns, compared with `tests/golden/decode_counters.tsv`.
//!
//! A kernel's work is a part that every block does once (it prepares the row) and a part for each
//! weight. Two matrices of different height on the same grid tell them apart: the difference of their
//! counters belongs to the rows that only one has. The bounds on that part hold for every compiler;
//! the table's numbers for the one in its first line. `MLXROCM_BLESS=1` rewrites the table.

mod channels;
mod experts;
#[path = "../support/gpu.rs"]
mod gpu;
#[path = "../support/kernel_source.rs"]
mod kernel_source;
#[path = "../support/mapped.rs"]
mod mapped;
mod product;
mod roofline;

use mlxrocm::formats::{Format, ScalarType};
use mlxrocm::gpu::kernels::Registry;
use roofline::{CARDS, Card};
use std::path::Path;

/// Columns, and rows of the two matrices. With four compute units both fill the grid, with whole
/// numbers of tiles for each block.
const COLS: usize = 4096;
const ROWS: [usize; 2] = [2048, 4096];
const COMPUTE_UNITS: u32 = 4;

/// Forms and the bits of their codes.
const FORMS: [(&str, u32, Format); 5] = [
    (
        "q4_bf16_g64",
        4,
        Format::Affine {
            bits: 4,
            group: 64,
            scale: ScalarType::BF16,
        },
    ),
    ("q4_0", 4, Format::Q4_0),
    ("q8_0", 8, Format::Q8_0),
    ("q4_k", 4, Format::Q4K),
    ("q6_k", 6, Format::Q6K),
];

const HEAD: &str = "target\tform\tbits\trequested\tcodes\tcode_lines\tscales\tscale_lines\tscale_loads\tvalu\t\
                    dot\tlds\tblock_valu\tsource";

/// A hash of the source of the kernels for codes of so many bits.
fn source(bits: u32) -> String {
    let begin = format!("mlxrocm_matmul_rows_q{bits}_");
    let kernel = Registry::names().find(|name| name.starts_with(&begin));
    kernel_source::hash(kernel.expect("a kernel"))
}

/// What one weight costs.
struct Row {
    target: &'static str,
    form: &'static str,
    /// Bits of a code, and of a weight in the file.
    code_bits: u32,
    bits: f64,
    /// Bytes that lanes asked for over bytes of the file.
    requested: f64,
    /// Loads of 128 bits: bytes that lanes asked for over bytes of the codes, and bytes of the memory
    /// lines that a load touches over those asked for.
    codes: f64,
    code_lines: f64,
    /// Other loads: bytes asked for, and of memory lines, over bytes of the scales; how many for each
    /// load of 128 bits.
    scales: f64,
    scale_lines: f64,
    scale_loads: f64,
    /// Instructions of a lane: vector arithmetic, of which dot products; shared memory.
    valu: f64,
    dot: f64,
    lds: f64,
    /// Vector instructions that each wave executes whatever it multiplies.
    block_valu: f64,
}

impl Row {
    fn line(&self) -> String {
        let numbers = [
            self.bits,
            self.requested,
            self.codes,
            self.code_lines,
            self.scales,
            self.scale_lines,
            self.scale_loads,
            self.valu,
            self.dot,
            self.lds,
            self.block_valu,
        ];
        let numbers = numbers.map(|number| format!("{number:.4}"));
        let (numbers, source) = (numbers.join("\t"), source(self.code_bits));
        format!("{}\t{}\t{numbers}\t{source}", self.target, self.form)
    }
}

/// Runs both matrices on a card.
fn measure(card: &Card, (form, code_bits, format): (&'static str, u32, Format)) -> Row {
    let [low, high] =
        ROWS.map(|rows| product::counters(card.target, COMPUTE_UNITS, format, rows, COLS));
    assert_eq!(
        (low.workgroups, low.waves),
        (high.workgroups, high.waves),
        "the grid must be the same"
    );
    let rows = ROWS[1] - ROWS[0];
    let weights = (rows * COLS) as f64;
    let bytes = (rows * product::row_bytes(format, COLS)) as f64;
    let code_bytes = weights * f64::from(code_bits) / 8.0;
    let scale_bytes = bytes - code_bytes;
    let more = high.minus(&low);
    let each = |count: u64| (count * card.wave_size) as f64 / weights;
    // What the lower matrix costs without its own weights.
    let fixed = low.valu as f64 - more.valu as f64 * ROWS[0] as f64 / rows as f64;
    Row {
        target: card.target,
        form,
        code_bits,
        bits: bytes * 8.0 / weights,
        requested: (more.wide.bytes + more.narrow.bytes) as f64 / bytes,
        codes: more.wide.bytes as f64 / code_bytes,
        code_lines: (more.wide.lines * 64) as f64 / more.wide.bytes as f64,
        scales: more.narrow.bytes as f64 / scale_bytes,
        scale_lines: (more.narrow.lines * 64) as f64 / scale_bytes,
        scale_loads: more.narrow.count as f64 / more.wide.count as f64,
        valu: each(more.valu),
        dot: each(more.dot),
        lds: each(more.lds),
        block_valu: fixed / low.waves as f64,
    }
}

/// The bounds of the loads: each byte is asked for once; codes with 128 bits, and bytes in a row: 32 lanes
/// touch one line more than they fill if they begin inside one (its rest is the next load's). Scales are
/// less than 16 bytes a lane, so a line of theirs is touched by more than one load; it comes from memory
/// once.
fn check(row: &Row) -> Vec<String> {
    const IN_A_ROW: f64 = 1.0 + 64.0 / (32.0 * 16.0);
    let bounds = [
        (
            "bytes requested over bytes needed",
            row.requested,
            1.0,
            1.05,
        ),
        ("bytes requested over bytes of codes", row.codes, 1.0, 1.05),
        (
            "bytes of lines over bytes requested",
            row.code_lines,
            1.0,
            IN_A_ROW,
        ),
    ];
    let wrong = bounds
        .iter()
        .filter(|(_, value, least, most)| value < least || value > most);
    wrong
        .map(|(what, value, least, most)| {
            format!(
                "{} {}: {what}: {value:.4}, not {least}–{most}",
                row.target, row.form
            )
        })
        .collect()
}

/// The cards whose kernels the library was built for.
fn cards() -> Vec<&'static Card> {
    let targets = CARDS.each_ref().map(|card| card.target);
    let built = gpu::among(&targets);
    let cards = CARDS.iter().filter(|card| built.contains(&card.target));
    cards.collect()
}

/// The table's lines: rows, and what follows from them behind a `#`. Others than the built cards' stay as they are, as
/// long as their kernels are what they were.
#[test]
fn the_products_of_decoding_cost_what_the_table_says() {
    let cards = cards();
    let measured = cards
        .iter()
        .flat_map(|card| FORMS.map(|form| (card, measure(card, form))));
    let measured: Vec<(&&Card, Row)> = measured.collect();
    let wrong: Vec<String> = measured.iter().flat_map(|(_, row)| check(row)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let limits = |(card, row): &(&&Card, Row)| card.limits(row.form, row.bits, row.valu);
    let rows = measured.iter().map(|(_, row)| row.line());
    let found: Vec<String> = rows.chain(measured.iter().map(limits)).collect();
    println!("{}", found.join("\n"));

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/decode_counters.tsv");
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let head = format!("# {}", mlxrocm::gpu::kernels::built_in_compiler());
    let sources = FORMS.map(|(_, bits, _)| source(bits));
    let old_rows = || old.lines().skip(2).filter(|line| !line.starts_with('#'));
    let is_current = |target: &str| {
        let mut of_target = old_rows().filter(|line| line.starts_with(target));
        of_target.all(|line| sources.iter().any(|source| line.ends_with(source)))
    };
    let of = |card: &Card| {
        let begins = [format!("{}\t", card.target), format!("# {} ", card.target)];
        let is_of = move |line: &&str| begins.iter().any(|begin| line.starts_with(begin));
        old.lines().skip(2).filter(is_of).map(String::from)
    };
    if std::env::var_os("MLXROCM_BLESS").is_some() {
        let built = |target: &str| cards.iter().any(|card| card.target == target);
        let others = CARDS
            .iter()
            .filter(|card| !built(card.target) && is_current(card.target));
        let mut all: Vec<String> = others.flat_map(of).chain(found).collect();
        all.sort_by_key(|line| line.starts_with('#'));
        let text = format!("{head}\n{HEAD}\n{}\n", all.join("\n"));
        std::fs::write(&path, text).unwrap();
        return;
    }
    assert!(old.starts_with("# "), "{} is missing", path.display());
    let has_row = |source: &String| old_rows().any(|line| line.ends_with(source));
    assert!(
        sources.iter().all(has_row),
        "the kernels changed: run this test with MLXROCM_BLESS=1 and commit {}",
        path.display()
    );
    // Written where a card's kernels were not built, it has no lines of them.
    let known = cards.iter().filter(|card| is_current(card.target));
    let expected: Vec<String> = known.flat_map(|card| of(card)).collect();
    if old.lines().next() == Some(&head) {
        for line in &expected {
            assert!(
                found.contains(line),
                "the counters changed; if that is meant, run this test with MLXROCM_BLESS=1 and commit \
                 {}\nwas:\n{line}\nare:\n{}",
                path.display(),
                found.join("\n")
            );
        }
    }
}
