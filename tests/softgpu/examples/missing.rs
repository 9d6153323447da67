//! Lists the instructions of code objects that the software GPU does not implement.
//!
//! `cargo run -p softgpu --example missing file.co ...`

use softgpu::isa::CodeObject;
use std::collections::BTreeMap;

fn main() {
    let mut found: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for path in std::env::args().skip(1) {
        let code = match std::fs::read(&path)
            .map_err(|e| e.to_string())
            .and_then(|b| CodeObject::load(&b))
        {
            Ok(code) => code,
            Err(e) => {
                eprintln!("{path}: {e}");
                continue;
            }
        };
        for (text, why) in code.missing() {
            let entry = found
                .entry(why)
                .or_insert((0, format!("{text}  [{}]", code.target())));
            entry.0 += 1;
        }
    }
    for (why, (n, text)) in found {
        println!("{n:6} {why}: {text}");
    }
}
