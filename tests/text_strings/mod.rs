//! The deterministic strings of the tokenizer tests; tests/golden/text/strings.py makes the same.

use serde_json::Value;
use std::path::PathBuf;

/// How many there are.
pub const COUNT: usize = 11_000;

/// The folder of the golden files.
pub fn golden() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/text")
}

/// splitmix64
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E3779B97F4A7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }
}

/// The parts that strings are made of.
pub struct Atoms(Value);

impl Atoms {
    pub fn read() -> Atoms {
        let text = std::fs::read_to_string(golden().join("strings.json")).unwrap();
        Atoms(serde_json::from_str(&text).unwrap())
    }

    fn pick(&self, r: &mut Random, name: &str) -> &str {
        let list = self.0[name].as_array().unwrap();
        list[r.below(list.len() as u64) as usize].as_str().unwrap()
    }

    fn part(&self, r: &mut Random, out: &mut String) {
        let letter = |r: &mut Random| char::from(97 + r.below(26) as u8);
        match r.below(20) {
            0..=3 => out.push_str(self.pick(r, "words")),
            4 | 5 => {
                out.push(' ');
                out.push_str(self.pick(r, "words"));
            }
            6 => out.push(' '),
            7 => (0..1 + r.below(6)).for_each(|_| out.push_str(self.pick(r, "white"))),
            8 => (0..1 + r.below(20)).for_each(|_| out.push(' ')),
            9 => (0..1 + r.below(12)).for_each(|_| out.push(char::from(48 + r.below(10) as u8))),
            10..=12 => {
                let ranges = self.0["ranges"].as_array().unwrap();
                let range = &ranges[r.below(ranges.len() as u64) as usize];
                let (low, high) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
                for _ in 0..1 + r.below(8) {
                    out.push(char::from_u32((low + r.below(high - low + 1)) as u32).unwrap());
                }
            }
            13 => out.push_str(self.pick(r, "emoji")),
            14 => out.push_str(self.pick(r, "code")),
            15 => {
                out.push(letter(r));
                (0..1 + r.below(4)).for_each(|_| out.push_str(self.pick(r, "marks")));
            }
            16 => {
                let code = r.below(65) as u32;
                out.push(char::from_u32(if code < 32 { code } else { code - 32 + 127 }).unwrap());
            }
            17 => {
                if r.below(4) > 0 {
                    out.push_str(self.pick(r, "words"));
                } else {
                    let unit = match r.below(2) {
                        0 => self.pick(r, "words").to_string(),
                        _ => letter(r).to_string(),
                    };
                    let count = 20 + r.below(60);
                    out.push_str(&unit.repeat(count as usize));
                }
            }
            18 => out.push_str(self.pick(r, "special")),
            _ => {
                let starts = [0xC3, 0xE4, 0xF0, 0x80, 0xFF, 0xED];
                let mut bytes = Vec::new();
                for _ in 0..1 + r.below(5) {
                    bytes.push(match r.below(2) {
                        0 => starts[r.below(6) as usize],
                        _ => r.below(256) as u8,
                    });
                }
                out.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
    }

    /// String number `index`.
    pub fn string(&self, index: u64) -> String {
        let mut r = Random(index.wrapping_mul(0x2545F4914F6CDD1D).wrapping_add(1));
        let mut out = String::new();
        for _ in 0..1 + r.below(10) {
            self.part(&mut r, &mut out);
        }
        out
    }

    /// All tested strings.
    pub fn strings() -> Vec<String> {
        let atoms = Atoms::read();
        (0..COUNT as u64).map(|i| atoms.string(i)).collect()
    }
}

/// FNV-1a, 32 bits.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> u32 {
    bytes.into_iter().fold(0x811C9DC5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x01000193)
    })
}

/// The hash of a list of numbers.
pub fn fnv_ids(ids: &[u32]) -> u32 {
    fnv(ids.iter().flat_map(|id| id.to_le_bytes()))
}

/// Compares one hash a string with a golden file of one hash a block of strings.
pub fn compare(name: &str, hashes: &[u32], block: usize) {
    let bytes = std::fs::read(golden().join(name)).unwrap();
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty(), "{name}");
    assert_eq!(words.len(), hashes.len().div_ceil(block), "{name}: blocks");
    let wrong: Vec<usize> = hashes
        .chunks(block)
        .zip(words)
        .enumerate()
        .filter(|(_, (part, word))| {
            let hash = if block == 1 { part[0] } else { fnv_ids(part) };
            hash != u32::from_le_bytes(**word)
        })
        .map(|(at, _)| at * block)
        .collect();
    assert!(
        wrong.is_empty(),
        "{name}: {} of {} blocks of {block} strings differ; they begin at strings {:?}",
        wrong.len(),
        words.len(),
        &wrong[..wrong.len().min(10)]
    );
}
