//! Numbers that kernels and the library both need are written in `hip/` alone: those listed here become constants of Rust.
//!
//! A name is a `#define` whose value is made of numbers and of other such names, or a member of an `enum`, of a source with
//! what it includes; `enum X` stands for all members of X, which are `u32` as launches take them (the others `usize`). What `#if PLATFORM_NVIDIA` (or `_AMD`) decides has a value for each platform; what any other condition
//! decides is no constant, and asking for it fails the build.

use crate::conditions::{Conditions, PLATFORMS};
use std::collections::BTreeMap;

/// Sources (below `hip/ops`) and the names that are taken from them.
pub const SHARED: &[(&str, &[&str])] = &[
    ("arrays/attention", &["WIDEST"]),
    (
        "arrays/attention_parts",
        &["COLUMNS", "SHARED_QUERIES", "MOST_PARTS", "MOST_GROUPS"],
    ),
    ("arrays/attention_tiles", &["QUERIES"]),
    ("arrays/complex", &["enum ComplexFunction"]),
    ("arrays/f64_order", &["enum Scan"]),
    ("arrays/f64_product", &["SIDE"]),
    ("arrays/fft", &["THREADS", "MOST", "enum Flags"]),
    (
        "arrays/fft_powers",
        &["POWER_MOST", "POWER_THREADS", "SMALL_MOST", "SMALL_THREADS"],
    ),
    ("arrays/codes", &["enum Mode"]),
    (
        "arrays/elementwise",
        &[
            "BLOCK",
            "enum BinaryFunction",
            "enum Dtype",
            "enum UnaryFunction",
        ],
    ),
    ("arrays/hadamard", &["MOST"]),
    (
        "arrays/convolution_depthwise",
        &["LINE_ROWS", "MOST_LINE_TAPS", "MOST_TAPS", "ROWS_EACH"],
    ),
    ("arrays/order", &["enum Scan"]),
    (
        "arrays/product_one_warps",
        &["DEPTH", "STAGES", "STAGE_16", "STAGE_32", "WARPS"],
    ),
    ("arrays/product_warpgroup_f32", &["SPLIT_BLOCKS"]),
    ("arrays/reduce_columns", &["MOST_THIN_THREADS"]),
    ("arrays/reduce_rows", &["FEWEST_LANES", "enum Reduction"]),
    ("arrays/rope_vectors", &["ANGLES"]),
    ("arrays/scan_rows", &["enum Scan"]),
    ("arrays/scatter", &["enum Meeting"]),
    ("arrays/sort_tiles", &["EACH", "SORTED_TILE"]),
    ("arrays/unary_vectors_f32", &["F32_GROUPS"]),
    ("attention/flash", &["QUERIES", "WIDE_BYTES"]),
    (
        "attention/paged",
        &["HEADS", "PAGE_TOKENS", "PARTS", "SPLIT", "UNUSED"],
    ),
    (
        "attention/paged_warps",
        &[
            "GROUP_HEADS",
            "LONG_PARTS",
            "MOST_PARTS",
            "ONE_PART",
            "TILE_BYTES",
            "WARP_THREADS",
        ],
    ),
    ("attention/wide", &["HEADS", "THREADS"]),
    ("attention/widest", &["COLUMNS"]),
    ("experts/route", &["FEW_ROUTED", "MAX_ROUTED"]),
    (
        "experts/route_scores",
        &["MOST_EXPERTS", "ROUTE_LANES", "enum Scores"],
    ),
    ("experts/route_sort", &["MOST_PAIRS", "MOST_SORTED"]),
    ("experts/sum", &["PARTS"]),
    ("matmul/blas", &["DECODE_COLS", "FINISH_NUMBERS"]),
    ("matmul/block_q4", &["BLOCK_ROWS", "PART_THREADS"]),
    ("matmul/experts_q4", &["GROUP_ROWS", "MAX_CHOSEN"]),
    (
        "matmul/experts_routed_q4",
        &["MOST_ROUTED_HERE", "ROUTED_BARRIERS", "ROUTED_STAGES"],
    ),
    (
        "matmul/experts_tiles_q4",
        &["LANE_SUMS", "RUNS_AT_ONCE", "SHARERS", "TILE_STAGES"],
    ),
    ("matmul/rows_pieces", &["CHUNK", "FOUR_ROWS", "ROWS_EACH"]),
    ("matmul/rows_finish", &["FINISH_THREADS"]),
    ("matmul/cluster_q4", &["CLUSTER", "QUARTERS"]),
    (
        "matmul/rows_q4",
        &[
            "BLOCK_COLS",
            "MANY_ROWS",
            "ROWS_TEAMS",
            "ROW_STAGE_BYTES",
            "STAGES",
            "STAGE_BYTES",
            "TILE_ROWS",
            "WIDE_COLS",
            "WIDE_TEAMS",
            "enum Epilogue",
            "enum Scales",
        ],
    ),
    ("matmul/warpgroup_q4", &["WARPGROUP_BYTES"]),
    ("network/attention", &["MOST_ROWS"]),
    (
        "network/chain",
        &[
            "MOST_CALLS",
            "LONG_CALLS",
            "LONG_EACH",
            "enum Kind",
            "enum Function",
        ],
    ),
    ("network/norm", &["HELD", "FINER_TEAM"]),
    ("network/pair", &["PAIR_COLUMNS", "PAIR_THREADS"]),
    (
        "network/product",
        &["TILE_BYTES", "STEP_COLS", "enum Activation"],
    ),
    ("network/product_f32", &["SIDE"]),
    ("network/product_warpgroup", &["STAGED_BYTES"]),
    ("pack/dense", &["TEAMS"]),
    (
        "plain/elementwise",
        &["enum BinaryFunction", "enum UnaryFunction"],
    ),
    ("recurrent/delta", &["ROWS", "THREADS"]),
    (
        "recurrent/delta_chunks",
        &["CHUNK", "CHUNK_WAVES", "KEY_WAVES", "STATE_WAVES"],
    ),
    (
        "recurrent/delta_step",
        &["STEP_TAPS", "STEP_THREADS", "STEP_VALUES"],
    ),
    (
        "recurrent/conv",
        &[
            "CHANNELS",
            "FOUR",
            "FRESH",
            "SECOND",
            "SEQUENCE_WORDS",
            "UNUSED_ROWS",
        ],
    ),
    ("recurrent/gated_norm", &["NORM_WAVES"]),
    ("recurrent/selective_scan", &["THREADS"]),
    ("rows/argmax", &["BLOCKS"]),
    (
        "rows/sample",
        &["BLOCKS", "CHOICE_WORDS", "LIST", "ROW_BYTES"],
    ),
];

/// A name, its values on AMD and on NVIDIA, and whether it is a member of an enum.
pub type Value = (String, [u64; 2], bool);

/// A module of constants for each source: `texts` gives a source's text with its includes in place.
pub fn rust<'a>(texts: impl Fn(&str) -> Option<&'a str>) -> Result<String, String> {
    let mut module = String::new();
    for (source, names) in SHARED {
        let text = texts(source).ok_or_else(|| {
            format!(
                "build/constants.rs takes numbers from hip/ops/{source}.hip, which is not there"
            )
        })?;
        let values =
            values(text, names).map_err(|error| format!("hip/ops/{source}.hip: {error}"))?;
        module += &format!(
            "/// Of `hip/ops/{source}.hip` and what it includes.\npub mod {} {{\n",
            source.replace('/', "_")
        );
        for (name, [amd, nvidia], is_member) in values {
            let kind = if is_member { "u32" } else { "usize" };
            if is_member {
                // An enum comes whole.
                module += "    #[allow(dead_code)]\n";
            }
            module += &match amd == nvidia {
                true => format!("    pub const {name}: {kind} = {amd};\n"),
                false => format!(
                    "    pub const {name}: super::PerPlatform = super::PerPlatform {{ amd: {amd}, nvidia: {nvidia} }};\n"
                ),
            };
        }
        module += "}\n";
    }
    Ok(module)
}

/// The values of `names` in a text, in their order.
pub fn values(text: &str, names: &[&str]) -> Result<Vec<Value>, String> {
    let tables = [definitions(text, 0), definitions(text, 1)];
    let mut list = Vec::new();
    for name in names {
        let of_enum = tables.iter().find_map(|table| table.enums.get(*name));
        let is_member = of_enum.is_some();
        let members = of_enum.cloned().unwrap_or_else(|| vec![name.to_string()]);
        for member in members {
            let mut both = [0; 2];
            for (platform, value) in both.iter_mut().enumerate() {
                // What only one platform's kernels have is that one's.
                let has = |platform: usize| tables[platform].texts.contains_key(&member);
                let of = if has(platform) {
                    platform
                } else {
                    1 - platform
                };
                *value = evaluate(&tables[of], of, &member, 0)?;
            }
            list.push((member, both, is_member));
        }
    }
    Ok(list)
}

/// What names are defined as on a platform.
#[derive(Default)]
struct Table {
    /// `None`: more than one thing, or something on a condition.
    texts: BTreeMap<String, Option<String>>,
    /// Members by `enum X`.
    enums: BTreeMap<String, Vec<String>>,
}

impl Table {
    fn add(&mut self, name: &str, value: Option<String>) {
        let entry = self.texts.entry(name.to_string());
        let entry = entry.or_insert_with(|| value.clone());
        if *entry != value {
            *entry = None;
        }
    }
}

fn definitions(text: &str, platform: usize) -> Table {
    let mut table = Table::default();
    let mut conditions = Conditions::new(platform);
    let mut members: Option<String> = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or("").trim();
        let sure = match conditions.line(line) {
            Some(false) => continue,
            sure => sure.is_some(),
        };
        if let Some(rest) = line.strip_prefix("#define ") {
            let name = rest
                .split(|c: char| c != '_' && !c.is_alphanumeric())
                .next();
            let value = name.and_then(|name| rest.strip_prefix(name));
            if let (Some(name), Some(value)) = (name, value)
                && !value.starts_with('(')
            {
                table.add(name, sure.then(|| value.trim().to_string()));
            }
        }
        if line.starts_with("enum ") {
            members = Some(String::new());
        }
        if let Some(list) = &mut members {
            list.push_str(line);
            if line.contains('}') {
                let head = list.split([':', '{']).next().unwrap_or("").trim();
                let head = head.to_string();
                for (name, value) in enumerators(list) {
                    table.add(&name, sure.then_some(value));
                    table.enums.entry(head.clone()).or_default().push(name);
                }
                members = None;
            }
        }
    }
    table
}

/// Members of an `enum` and their values.
fn enumerators(text: &str) -> Vec<(String, String)> {
    let inside = text
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'));
    let mut next = "0".to_string();
    let mut list = Vec::new();
    for member in inside.map_or("", |(members, _)| members).split(',') {
        let (name, value) = match member.split_once('=') {
            Some((name, value)) => (name.trim(), value.trim().to_string()),
            None => (member.trim(), next.clone()),
        };
        if !name.is_empty() {
            next = format!("{value} + 1");
            list.push((name.to_string(), value));
        }
    }
    list
}

fn evaluate(table: &Table, platform: usize, name: &str, depth: usize) -> Result<u64, String> {
    if let Some(known) = PLATFORMS.iter().position(|known| *known == name) {
        return Ok(u64::from(known == platform));
    }
    let text = match table.texts.get(name) {
        Some(Some(text)) if depth < 16 => text,
        Some(_) => {
            return Err(format!(
                "{name} is not one number for every target of a platform"
            ));
        }
        None => return Err(format!("{name} is not defined")),
    };
    let tokens = tokens(text);
    let mut at = 0;
    let value = choice(&tokens, &mut at, &|other| {
        evaluate(table, platform, other, depth + 1)
    })?;
    match tokens.get(at) {
        None => Ok(value),
        Some(token) => Err(format!("{name}: `{token}` in `{text}` is not understood")),
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut word = false;
    for c in text.chars() {
        let is_word = c == '_' || c.is_alphanumeric();
        match list.last_mut() {
            Some(last) if is_word && word => last.push(c),
            _ if c.is_whitespace() => {}
            _ => list.push(c.to_string()),
        }
        word = is_word;
    }
    list
}

type Lookup<'a> = &'a dyn Fn(&str) -> Result<u64, String>;

/// `a ? b : c`, then sums, then products, then what stands alone.
fn choice(tokens: &[String], at: &mut usize, of: Lookup<'_>) -> Result<u64, String> {
    let condition = sum(tokens, at, of)?;
    if !is(tokens, *at, "?") {
        return Ok(condition);
    }
    *at += 1;
    let yes = choice(tokens, at, of)?;
    if !is(tokens, *at, ":") {
        return Err("`?` without `:`".into());
    }
    *at += 1;
    let no = choice(tokens, at, of)?;
    Ok(if condition != 0 { yes } else { no })
}

fn sum(tokens: &[String], at: &mut usize, of: Lookup<'_>) -> Result<u64, String> {
    let mut value = product(tokens, at, of)?;
    while is(tokens, *at, "+") || is(tokens, *at, "-") {
        let plus = is(tokens, *at, "+");
        *at += 1;
        let other = product(tokens, at, of)?;
        let next = if plus {
            value.checked_add(other)
        } else {
            value.checked_sub(other)
        };
        value = next.ok_or("a sum out of range")?;
    }
    Ok(value)
}

fn product(tokens: &[String], at: &mut usize, of: Lookup<'_>) -> Result<u64, String> {
    let mut value = alone(tokens, at, of)?;
    while is(tokens, *at, "*") || is(tokens, *at, "/") {
        let times = is(tokens, *at, "*");
        *at += 1;
        let other = alone(tokens, at, of)?;
        let next = if times {
            value.checked_mul(other)
        } else {
            value.checked_div(other)
        };
        value = next.ok_or("a product out of range")?;
    }
    Ok(value)
}

fn alone(tokens: &[String], at: &mut usize, of: Lookup<'_>) -> Result<u64, String> {
    let token = tokens.get(*at).ok_or("an expression that ends early")?;
    *at += 1;
    if token == "(" {
        let value = choice(tokens, at, of)?;
        if !is(tokens, *at, ")") {
            return Err("`(` without `)`".into());
        }
        *at += 1;
        return Ok(value);
    }
    if !token.starts_with(|c: char| c.is_ascii_digit()) {
        return of(token);
    }
    let digits = token.trim_end_matches(['u', 'U', 'l', 'L']);
    let number = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
        None => digits.parse(),
    };
    number.map_err(|_| format!("`{token}` is no number"))
}

fn is(tokens: &[String], at: usize, wanted: &str) -> bool {
    tokens.get(at).is_some_and(|token| token == wanted)
}
