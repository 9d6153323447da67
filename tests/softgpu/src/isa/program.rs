//! Decoded text, and the image that it was loaded with.

use super::decode::{Inst, Map, Target, decode};
use super::disassembly::Line;
use super::operand::ACC;
use std::sync::Arc;

/// Decoded text; loads of the same bytes share it.
pub struct Decoded {
    pub target: Target,
    pub code: Vec<Inst>,
    pub map: Map,
}

/// Decoded text and the loaded image.
pub struct Program {
    decoded: Arc<Decoded>,
    image: Vec<u64>,
    image_bytes: usize,
}

impl std::ops::Deref for Program {
    type Target = Decoded;

    fn deref(&self) -> &Decoded {
        &self.decoded
    }
}

impl Program {
    pub fn new(decoded: Arc<Decoded>, image: Vec<u64>, image_bytes: usize) -> Program {
        Program {
            decoded,
            image,
            image_bytes,
        }
    }

    /// Run-time address of the code object's address 0.
    pub fn base(&self) -> u64 {
        self.image.as_ptr() as u64
    }

    pub fn image_end(&self) -> u64 {
        self.base() + self.image_bytes as u64
    }
}

impl Decoded {
    /// Decodes disassembled text.
    pub fn new(target: Target, lines: &[Line]) -> Decoded {
        let start = lines.iter().map(|l| l.pc).min().unwrap_or(0);
        let end = lines.iter().map(|l| l.pc + l.size).max().unwrap_or(0);
        let mut map = Map {
            start,
            index: vec![u32::MAX; ((end - start) / 4).min(1 << 28) as usize],
        };
        for (i, l) in lines.iter().enumerate() {
            if let Some(slot) = map.index.get_mut(((l.pc - start) / 4) as usize) {
                *slot = i as u32;
            }
        }
        let mut code: Vec<Inst> = lines
            .iter()
            .map(|l| decode(&l.text, l.pc, l.size, &target, &map))
            .collect();
        // Register indexing (gfx9) is known to moves only: anything else between on and off cannot run.
        let mut indexing = false;
        for inst in &mut code {
            if inst.text.starts_with("s_set_gpr_idx_") {
                indexing = inst.text.starts_with("s_set_gpr_idx_on");
            } else if indexing
                && inst.text.starts_with("v_")
                && !inst.text.starts_with("v_mov_b32_e32")
            {
                inst.missing =
                    Some("relative register numbers are implemented for v_mov_b32 only".into());
            }
        }
        for i in 0..code.len() {
            let mut next = i + 1;
            if code[i].falls_through() {
                while code.get(next).is_some_and(|n| n.idle) {
                    next += 1;
                }
            }
            code[i].next = next;
        }
        Decoded { target, code, map }
    }

    /// Highest register row of a range of instructions, plus one.
    pub fn rows(&self, from: usize, to: usize) -> usize {
        let (mut v, mut acc) = (1, 0);
        let relative =
            |i: &Inst| i.text.starts_with("v_movrel") || i.text.starts_with("s_set_gpr_idx");
        if self.code.get(from..to).unwrap_or(&[]).iter().any(relative) {
            v = ACC;
        }
        for inst in self.code.get(from..to).unwrap_or(&[]) {
            for (first, n) in registers(&inst.text) {
                if first >= ACC {
                    acc = acc.max(first + n)
                } else {
                    v = v.max(first + n)
                }
            }
        }
        usize::from(if acc > 0 { acc } else { v })
    }
}

/// Vector registers named in an instruction's text.
fn registers(text: &str) -> Vec<(u16, u16)> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "[]:_.".contains(c)));
    words
        .filter_map(|w| match super::operand::Operand::parse(w)?.place {
            super::operand::Place::V(first, n) => Some((first, n)),
            _ => None,
        })
        .collect()
}
