//! Runs a few assembled instructions on one wave: registers in, registers out.
//!
//! ```no_run
//! use softgpu::isa::testing::{State, run_asm};
//! let mut s = State::new("gfx1100");
//! s.v[1] = [3; 64];
//! s.v[2] = std::array::from_fn(|lane| lane as u32);
//! let out = run_asm("gfx1100", "v_add_nc_u32 v0, v1, v2", &s).unwrap();
//! assert_eq!(out.v[0][5], 8);
//! ```

use super::decode::Target;
use super::disassembly::{Line, disassemble, parse};
use super::kernel::{Descriptor, Kernel};
use super::launch::{Checks, Shared};
use super::operand::{ACC, EXEC, M0, PRIVATE_BASE, SHARED_BASE, VCC};
use super::program::{Decoded, Program};
use super::wave::{Flow, Wave};
use super::workgroup::{Group, PRIVATE_APERTURE, SHARED_APERTURE};
use crate::memory::Memory;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Registers before or after.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// 32 or 64 lanes.
    pub lanes: usize,
    /// s0 to s105.
    pub s: [u32; 106],
    pub vcc: u64,
    pub exec: u64,
    pub m0: u32,
    pub scc: bool,
    /// v0 to v255, by lane (lanes past the wave's are unused).
    pub v: Vec<[u32; 64]>,
    /// a0 to a255 (gfx9).
    pub acc: Vec<[u32; 64]>,
    pub lds: Vec<u8>,
    /// Bytes of private memory a lane.
    pub scratch: usize,
}

impl State {
    /// All registers zero, all lanes active, 64 KiB of zeroed LDS, the target's usual wave size.
    pub fn new(target: &str) -> State {
        let lanes = if target.starts_with("gfx9") { 64 } else { 32 };
        State {
            lanes,
            s: [0; 106],
            vcc: 0,
            exec: if lanes == 64 { u64::MAX } else { 0xffff_ffff },
            m0: 0,
            scc: false,
            v: vec![[0; 64]; 256],
            acc: vec![[0; 64]; 256],
            lds: vec![0; 65536],
            scratch: 256,
        }
    }

    /// The same with waves of 64 on gfx10 and later.
    pub fn wide(target: &str) -> State {
        let mut s = State::new(target);
        (s.lanes, s.exec) = (64, u64::MAX);
        s
    }
}

/// Assembles text for a target into an ELF object with `clang-19` (or `SOFTGPU_CLANG_AS`).
///
/// # Errors
/// The assembler's own words.
pub fn assemble(target: &str, wave64: bool, asm: &str) -> Result<Vec<u8>, String> {
    let program = std::env::var("SOFTGPU_CLANG_AS").unwrap_or_else(|_| "clang-19".into());
    let object = std::env::temp_dir().join(format!(
        "softgpu-asm-{}-{:?}-{:p}.o",
        std::process::id(),
        std::thread::current().id(),
        asm
    ));
    let mut command = Command::new(&program);
    command
        .args([
            "-x",
            "assembler",
            "-target",
            "amdgcn-amd-amdhsa",
            "-c",
            "-",
            "-o",
        ])
        .arg(&object);
    command.arg(format!("-mcpu={target}"));
    if wave64 && !target.starts_with("gfx9") {
        command.arg("-mwavefrontsize64");
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| {
            format!("cannot run {program}: {e}; install clang-19 or set SOFTGPU_CLANG_AS")
        })?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(asm.as_bytes()).map_err(|e| e.to_string())?;
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let bytes = std::fs::read(&object).map_err(|e| e.to_string())?;
    let _ = std::fs::remove_file(&object);
    Ok(bytes)
}

/// The mnemonics in disassembled text, without `_e32`, `_e64`, `_dpp`, `_sdwa`; two for a dual issue.
fn names_of(text: &str) -> impl Iterator<Item = String> {
    text.split("::").map(|half| parse(half.trim()).name)
}

/// The mnemonics of an ELF object's code.
///
/// # Errors
/// The disassembler's own words.
pub fn mnemonics(elf: &[u8]) -> Result<BTreeSet<String>, String> {
    let lines = disassemble(elf, false)?;
    Ok(lines.iter().flat_map(|l| names_of(&l.text)).collect())
}

/// What the decoder says to one instruction as the disassembler would print it.
///
/// # Errors
/// Why it cannot be decoded.
pub fn decodes(target: &str, text: &str) -> Result<(), String> {
    let line = Line {
        pc: 0,
        size: 4,
        text: text.into(),
    };
    let decoded = Decoded::new(Target::new(target)?, &[line]);
    match decoded.code.into_iter().next().and_then(|i| i.missing) {
        Some(why) => Err(why),
        None => Ok(()),
    }
}

/// Snippets of assembly in one object, each of which runs by itself from given registers.
pub struct Snippets {
    program: Arc<Program>,
    kernel: Kernel,
    /// First instruction of each snippet, and the end of the last.
    starts: Vec<usize>,
}

impl Snippets {
    /// Assembles and decodes the snippets (without `s_endpgm`); `wave64` for waves of 64.
    ///
    /// # Errors
    /// The assembler's message, whose line numbers count the snippets' lines and one `s_endpgm` after each.
    pub fn new(target: &str, wave64: bool, snippets: &[&str]) -> Result<Snippets, String> {
        let asm: String = snippets
            .iter()
            .map(|s| format!("{s}\ns_endpgm\n"))
            .collect();
        let object = assemble(target, wave64, &asm)?;
        let isa = Target::new(target)?;
        let lines = disassemble(&object, wave64 && isa.generation >= 10)?;
        let program = Arc::new(Program::new(
            Arc::new(Decoded::new(isa, &lines)),
            vec![0; 1],
            0,
        ));
        let mut starts = vec![0];
        for (i, inst) in program.code.iter().enumerate() {
            if inst.text == "s_endpgm" {
                starts.push(i + 1);
            }
        }
        if starts.len() <= snippets.len() {
            return Err("the disassembler lost instructions".into());
        }
        let kernel = Kernel {
            name: "asm".into(),
            target: target.into(),
            wave_size: if wave64 { 64 } else { 32 },
            lds_bytes: 0,
            scratch_bytes: 0,
            kernarg_bytes: 0,
            args: Vec::new(),
            sgprs: 106,
            vgprs: 512,
            sgpr_spills: 0,
            vgpr_spills: 0,
            max_workgroup: 1024,
            descriptor: Descriptor::default(),
            program: program.clone(),
            entry: 0,
            range: 0..0,
            atomics: false,
            rows: 512,
            missing: None,
        };
        Ok(Snippets {
            program,
            kernel,
            starts,
        })
    }

    /// The mnemonics of snippet `i` with its `s_endpgm`, as the decoder sees them.
    pub fn names(&self, i: usize) -> BTreeSet<String> {
        let code = &self.program.code[self.starts[i]..self.starts[i + 1]];
        code.iter().flat_map(|inst| names_of(&inst.text)).collect()
    }

    /// Runs snippet `i`.
    ///
    /// # Errors
    /// What is not implemented, or the fault.
    pub fn run(
        &self,
        i: usize,
        input: &State,
        memory: &Memory,
        checks: Checks,
    ) -> Result<State, String> {
        let program = &self.program;
        let code = &program.code[self.starts[i]..self.starts[i + 1]];
        if let Some(bad) = code.iter().find(|inst| inst.missing.is_some()) {
            return Err(format!(
                "{}: {}",
                bad.text,
                bad.missing.clone().unwrap_or_default()
            ));
        }
        let shared = Shared {
            program,
            kernel: &self.kernel,
            checks,
            snapshot: memory.snapshot(),
            lds_bytes: input.lds.len(),
            race: None,
            rules: super::visible::Rules::default(),
            without: None,
            grid_blocks: [1; 3],
            block: [input.lanes as u32, 1, 1],
            kernarg: vec![0; 8],
            packet: [0; 8],
            stop: AtomicBool::new(false),
        };
        let mut group = Group::new(&shared);
        group.lds.copy_from_slice(&input.lds);
        group.mark_lds_written();
        // Without AccVGPRs only the registers given exist: most runs need few.
        let registers = if input.acc.is_empty() {
            input.v.len()
        } else {
            512
        };
        let mut w = Wave::new(input.lanes, registers, 0, input.scratch);
        load(&mut w, input);
        w.pc = self.starts[i];
        for _ in 0..1_000_000 {
            let inst = program.code.get(w.pc).ok_or("ran past the end")?;
            w.pc += 1;
            w.executed += 1;
            match (inst.run)(&mut w, &mut group)
                .map_err(|f| format!("{}: lane {}: {}", inst.text, f.lane, f.message))?
            {
                Flow::End => return Ok(store(&w, &group, input)),
                Flow::Barrier => w.signalled = false,
                Flow::Next => {}
            }
        }
        Err("a million instructions and no end".into())
    }
}

/// Runs assembly (no `s_endpgm` needed) from the given registers.
///
/// # Errors
/// The assembler's message, what is not implemented, or the fault.
pub fn run_asm(target: &str, asm: &str, input: &State) -> Result<State, String> {
    run_asm_with(target, asm, input, &Memory::new(), Checks::default())
}

/// The same with device memory and checks of one's own.
///
/// # Errors
/// As [`run_asm`].
pub fn run_asm_with(
    target: &str,
    asm: &str,
    input: &State,
    memory: &Memory,
    checks: Checks,
) -> Result<State, String> {
    Snippets::new(target, input.lanes == 64, &[asm])?.run(0, input, memory, checks)
}

fn load(w: &mut Wave, input: &State) {
    w.s = [0; super::operand::SCALARS];
    w.s[..106].copy_from_slice(&input.s);
    w.set_pair(VCC, input.vcc);
    w.set_pair(EXEC, input.exec);
    w.set_s32(M0, input.m0);
    w.set_pair(SHARED_BASE, u64::from(SHARED_APERTURE) << 32);
    w.set_pair(PRIVATE_BASE, u64::from(PRIVATE_APERTURE) << 32);
    w.scc = input.scc;
    for (first, registers) in [(0, &input.v), (ACC, &input.acc)] {
        for (r, lanes) in registers.iter().enumerate().take(256) {
            for (lane, v) in lanes.iter().enumerate().take(w.lanes) {
                w.set_lane(first + r as u16, lane, *v);
            }
        }
    }
}

fn store(w: &Wave, g: &Group, input: &State) -> State {
    let mut out = input.clone();
    out.s.copy_from_slice(&w.s[..106]);
    (out.vcc, out.exec) = (w.pair(VCC), w.exec());
    (out.m0, out.scc) = (w.s[M0 as usize], w.scc);
    for (first, registers) in [(0, &mut out.v), (ACC, &mut out.acc)] {
        for (r, lanes) in registers.iter_mut().enumerate().take(256) {
            for (lane, v) in lanes.iter_mut().enumerate().take(w.lanes) {
                *v = w.lane(super::operand::Src::V(first + r as u16), lane);
            }
        }
    }
    out.lds.copy_from_slice(&g.lds);
    out
}
