//! Cases: assembly, how registers are filled before, what they must be after; run on every target
//! whose assembler knows the instruction.

pub use crate::close::Close;
use crate::close::{difference, sources};
use crate::numbers::Random;
use softgpu::isa::Checks;
use softgpu::isa::testing::{Snippets, State};
use softgpu::memory::Memory;
use std::collections::BTreeSet;

pub const TARGETS: [&str; 9] = [
    "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201",
];

/// 9 to 12.
pub fn generation(target: &str) -> u32 {
    if target.starts_with("gfx9") {
        9
    } else {
        target[3..5].parse().expect("a target's name")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reg {
    V(usize),
    S(usize),
}

type Prepare = Box<dyn Fn(&mut State, &mut Random, usize) + Send + Sync>;
/// From the target, the registers and the memory before; changes the registers and the memory.
type MemoryExpect = Box<dyn Fn(&str, &State, &mut State, &mut [u8]) + Send + Sync>;
type Content = Box<dyn Fn(&mut [u8], &mut Random) + Send + Sync>;
type Expect = Box<dyn Fn(&str, &State, &mut State) + Send + Sync>;

/// Chooses targets.
pub type On = fn(&str) -> bool;

/// One case. In `asm`, `{vcc}`, `{exec}` and `{sN}` stand for lane masks of the wave's size.
pub struct Case {
    pub asm: String,
    /// Targets beside which the case is not meant at all (other spellings, other rules).
    pub on: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// Waves of 64 on every target.
    pub wave64: bool,
    pub runs: usize,
    /// Sets inputs; all registers are random before. The number is the run's.
    pub prepare: Prepare,
    /// From the registers before, changes a copy of them to what must come out.
    pub expect: Expect,
    pub close: Vec<(Reg, Close)>,
    /// Bytes of device memory (random; s[2:3] holds the address) and what becomes of them.
    pub memory: Option<(usize, MemoryExpect)>,
    /// Fills the memory where random bytes will not do.
    pub content: Option<Content>,
}

impl Case {
    pub fn new(
        asm: impl Into<String>,
        prepare: impl Fn(&mut State, &mut Random, usize) + Send + Sync + 'static,
        expect: impl Fn(&str, &State, &mut State) + Send + Sync + 'static,
    ) -> Case {
        Case {
            asm: asm.into(),
            on: Box::new(|_| true),
            wave64: false,
            runs: 12,
            prepare: Box::new(prepare),
            expect: Box::new(expect),
            close: Vec::new(),
            memory: None,
            content: None,
        }
    }

    /// A case with device memory.
    pub fn with_memory(
        asm: impl Into<String>,
        bytes: usize,
        prepare: impl Fn(&mut State, &mut Random, usize) + Send + Sync + 'static,
        expect: impl Fn(&str, &State, &mut State, &mut [u8]) + Send + Sync + 'static,
    ) -> Case {
        let mut case = Case::new(asm, prepare, |_, _, _| {});
        case.memory = Some((bytes, Box::new(expect)));
        case
    }

    pub fn content(
        mut self,
        fill: impl Fn(&mut [u8], &mut Random) + Send + Sync + 'static,
    ) -> Case {
        self.content = Some(Box::new(fill));
        self
    }

    pub fn on(mut self, on: impl Fn(&str) -> bool + Send + Sync + 'static) -> Case {
        self.on = Box::new(on);
        self
    }

    pub fn wave64(mut self) -> Case {
        self.wave64 = true;
        self
    }

    pub fn runs(mut self, runs: usize) -> Case {
        self.runs = runs;
        self
    }

    pub fn close(mut self, reg: Reg, close: Close) -> Case {
        self.close.push((reg, close));
        self
    }

    fn lanes(&self, target: &str) -> usize {
        if self.wave64 || generation(target) == 9 {
            64
        } else {
            32
        }
    }

    fn text(&self, target: &str) -> String {
        let wide = self.lanes(target) == 64;
        let mut text = self
            .asm
            .replace("{vcc}", if wide { "vcc" } else { "vcc_lo" })
            .replace("{exec}", if wide { "exec" } else { "exec_lo" });
        while let Some(at) = text.find("{s") {
            let end = at + text[at..].find('}').expect("a closed placeholder");
            let n: usize = text[at + 2..end].parse().expect("a register number");
            let register = if wide {
                format!("s[{n}:{}]", n + 1)
            } else {
                format!("s{n}")
            };
            text.replace_range(at..=end, &register);
        }
        text
    }
}

/// The cases of one wave size that a target has, assembled.
pub struct Batch<'c> {
    pub cases: Vec<&'c Case>,
    pub code: Snippets,
}

/// Messages for instructions (or encodings of them) that a target has not.
const ABSENT: [&str; 3] = [
    "instruction not supported on this GPU",
    "invalid instruction",
    "variant of this instruction is not supported",
];

/// Assembles what the target has; any other complaint of the assembler is a mistake in a case.
pub fn assemble<'c>(target: &str, cases: &[&'c Case], wave64: bool) -> Option<Batch<'c>> {
    let mut cases: Vec<&Case> = cases
        .iter()
        .copied()
        .filter(|c| (c.on)(target) && c.wave64 == wave64)
        .collect();
    loop {
        if cases.is_empty() {
            return None;
        }
        let texts: Vec<String> = cases.iter().map(|c| c.text(target)).collect();
        let lines: Vec<&str> = texts.iter().map(String::as_str).collect();
        let wide = wave64 || generation(target) == 9;
        let message = match Snippets::new(target, wide, &lines) {
            Ok(code) => return Some(Batch { cases, code }),
            Err(message) => message,
        };
        let (mut absent, mut mistakes) = (BTreeSet::new(), Vec::new());
        for error in message.lines().filter(|l| l.contains(": error: ")) {
            let (place, what) = error.split_once(": error: ").expect("an error");
            let line: usize = place
                .split(':')
                .nth(1)
                .and_then(|n| n.parse().ok())
                .unwrap_or_else(|| panic!("{target}: {error}"));
            // Each snippet has its lines and an s_endpgm.
            let mut first = 1;
            let case = texts
                .iter()
                .position(|t| {
                    first += t.lines().count() + 1;
                    line < first
                })
                .expect("a line of ours");
            if !ABSENT.iter().any(|a| what.contains(a)) {
                mistakes.push(format!("{target}: {}: {what}", texts[case]));
            }
            absent.insert(case);
        }
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
        assert!(!absent.is_empty(), "{target}: {message}");
        let mut i = 0;
        cases.retain(|_| {
            i += 1;
            !absent.contains(&(i - 1))
        });
    }
}

/// A state with every register random; 40 vector registers and no LDS.
pub fn random_state(target: &str, wave64: bool, random: &mut Random) -> State {
    let lanes = if wave64 || generation(target) == 9 {
        64
    } else {
        32
    };
    let mut s = State {
        lanes,
        s: [0; 106],
        vcc: 0,
        exec: if lanes == 64 { u64::MAX } else { 0xffff_ffff },
        m0: 0,
        scc: false,
        v: vec![[0; 64]; 40],
        acc: Vec::new(),
        lds: Vec::new(),
        scratch: 0,
    };
    s.s.iter_mut().for_each(|r| *r = random.next() as u32);
    for row in &mut s.v {
        row.iter_mut().for_each(|v| *v = random.next() as u32);
    }
    s.vcc = random.next();
    s.m0 = random.next() as u32;
    s.scc = random.next() & 16 != 0;
    s
}

/// What a family's run gave: the mnemonics that ran on each target, and what failed.
#[derive(Default)]
pub struct Outcome {
    pub ran: BTreeSet<(&'static str, String)>,
    pub failures: Vec<String>,
}

/// Runs all cases on all targets.
pub fn run(cases: &[Case]) -> Outcome {
    let mut outcome = Outcome::default();
    let all: Vec<&Case> = cases.iter().collect();
    let mut ran = BTreeSet::new();
    for target in TARGETS {
        for wave64 in [false, true] {
            let Some(batch) = assemble(target, &all, wave64) else {
                continue;
            };
            for (i, case) in batch.cases.iter().enumerate() {
                ran.insert(std::ptr::from_ref(*case));
                let names = batch.code.names(i).into_iter().chain(written(&case.asm));
                outcome.ran.extend(names.map(|name| (target, name)));
                if let Err(e) = run_case(target, case, &batch.code, i) {
                    let text = case.asm.replace('\n', "; ");
                    outcome.failures.push(format!("{target}: {text}: {e}"));
                }
            }
        }
    }
    for case in cases
        .iter()
        .filter(|c| !ran.contains(&std::ptr::from_ref(*c)))
    {
        outcome.failures.push(format!("no target has {}", case.asm));
    }
    outcome
}

/// The mnemonics as a case writes them, which the disassembler may spell anew.
fn written(asm: &str) -> impl Iterator<Item = String> {
    asm.split(['\n', ':'])
        .filter_map(|line| line.split_whitespace().next())
        .map(|name| {
            let suffix = ["_e64_dpp", "_dpp", "_sdwa", "_e32", "_e64"]
                .into_iter()
                .find_map(|s| name.strip_suffix(s));
            suffix.unwrap_or(name).to_string()
        })
}

fn run_case(target: &str, case: &Case, code: &Snippets, i: usize) -> Result<(), String> {
    for run in 0..case.runs {
        let mut random = Random::new(run as u64 * 977 + 13);
        let mut input = random_state(target, case.wave64, &mut random);
        // Every third run leaves some lanes out.
        if run % 3 == 2 {
            input.exec &= random.next() | 1;
        }
        let memory = Memory::new();
        let mut region = None;
        if let Some((bytes, _)) = &case.memory {
            let base = memory.allocate(*bytes, "case").ok_or("no memory")?;
            let mut content: Vec<u8> = (0..*bytes).map(|_| random.next() as u8).collect();
            if let Some(fill) = &case.content {
                fill(&mut content, &mut random);
            }
            // SAFETY: the allocation just made, of this size.
            unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), base as *mut u8, *bytes) };
            memory.mark_initialised(base, *bytes);
            (input.s[2], input.s[3]) = (base as u32, (base >> 32) as u32);
            region = Some((base, content));
        }
        (case.prepare)(&mut input, &mut random, run);
        let mut want = input.clone();
        (case.expect)(target, &input, &mut want);
        if let (Some((_, expect)), Some((_, content))) = (&case.memory, &mut region) {
            expect(target, &input, &mut want, content);
        }
        let got = code.run(i, &input, &memory, Checks::default())?;
        if let Some((base, content)) = region {
            // SAFETY: as above; the run is over.
            let after = unsafe { std::slice::from_raw_parts(base as *const u8, content.len()) };
            if let Some(at) = (0..content.len()).find(|at| content[*at] != after[*at]) {
                return Err(format!(
                    "run {run}: memory byte {at}: want {:#x}, got {:#x}",
                    content[at], after[at]
                ));
            }
        }
        if let Some(difference) = difference(case, &want, &got) {
            return Err(format!(
                "run {run}: {difference} [{}]",
                sources(&difference, &input)
            ));
        }
    }
    Ok(())
}
