//! Predicts how long cards take for a kernel of a code object.
//!
//! `timing_run <code object> <kernel> --card <name> [--grid x,y,z] [--block x,y,z] [--lds bytes] [--warm n]
//! [--budget instructions] [--json] <argument>...`
//!
//! Arguments: `buf:<bytes>` (zeroed, one pointer each; `buf:<bytes>@<offset>` begins later), `words:<n>,<n>,...` (a buffer
//! of words of 32 bits), `i32:<n>`, `i64:<n>`, `f32:<x>`, `u8:<n>`. Without `--card`, all cards of the code object's target.

use softgpu::isa::{Checks, CodeObject, Launch};
use softgpu::memory::Memory;
use softgpu::timing::{Card, Options, cards, predict};

/// Address space without memory behind it until something is written.
fn map(bytes: usize) -> u64 {
    // SAFETY: a fresh anonymous mapping.
    let p = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes.max(4096),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    assert!(p != libc::MAP_FAILED, "no address space for {bytes} bytes");
    p as u64
}

fn three(text: &str) -> [u32; 3] {
    let mut out = [1; 3];
    for (to, from) in out.iter_mut().zip(text.split(',')) {
        *to = from.parse().expect("a number of blocks or threads");
    }
    out
}

/// Appends an argument with its natural alignment.
fn push(out: &mut Vec<u8>, bytes: &[u8]) {
    while !out.len().is_multiple_of(bytes.len()) {
        out.push(0);
    }
    out.extend_from_slice(bytes);
}

fn argument(text: &str, memory: &Memory, out: &mut Vec<u8>) {
    let (kind, value) = text.split_once(':').expect("an argument is kind:value");
    match kind {
        "buf" => {
            let (size, offset) = value.split_once('@').unwrap_or((value, "0"));
            let size: usize = size.parse().expect("bytes");
            let at = map(size);
            memory.import(at, size, text);
            push(
                out,
                &(at + offset.parse::<u64>().expect("an offset")).to_le_bytes(),
            );
        }
        "words" => {
            let words = value.split(',').map(|n| n.parse::<u32>().expect("u32"));
            let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            let at = map(bytes.len());
            // SAFETY: `map` gave at least so many bytes, to nobody else.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len());
            }
            memory.import(at, bytes.len(), text);
            push(out, &at.to_le_bytes());
        }
        "i32" => push(out, &value.parse::<i32>().expect("i32").to_le_bytes()),
        "i64" => push(out, &value.parse::<i64>().expect("i64").to_le_bytes()),
        "f32" => push(out, &value.parse::<f32>().expect("f32").to_le_bytes()),
        "u8" => push(out, &[value.parse::<u8>().expect("u8")]),
        other => panic!("unknown argument kind {other}"),
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let file = words.next().expect("a code object");
    let name = words.next().expect("a kernel's name");
    let (mut grid, mut block, mut lds, mut json) = ([1; 3], [64, 1, 1], 0, false);
    let mut chosen: Vec<String> = Vec::new();
    let mut options = Options::default();
    let memory = Memory::new();
    let mut kernarg = Vec::new();
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("a value");
        match word.as_str() {
            "--card" => chosen.push(value()),
            "--grid" => grid = three(&value()),
            "--block" => block = three(&value()),
            "--lds" => lds = value().parse().expect("bytes of LDS"),
            "--warm" => options.warm = value().parse().expect("a number of launches"),
            "--budget" => options.budget = value().parse().expect("a number of instructions"),
            "--json" => json = true,
            argument_text => argument(argument_text, &memory, &mut kernarg),
        }
    }
    let code =
        CodeObject::load(&std::fs::read(&file).expect("the code object")).expect("a code object");
    let kernel = code.kernel(&name).unwrap_or_else(|| {
        let all: Vec<_> = code.kernels().iter().map(|k| k.name.clone()).collect();
        panic!("no kernel {name}, only {all:?}")
    });
    let wanted = |c: &&Card| {
        if chosen.is_empty() {
            c.target == code.target()
        } else {
            chosen.iter().any(|n| n.eq_ignore_ascii_case(c.name))
        }
    };
    for card in cards().iter().filter(wanted) {
        let launch = Launch {
            kernel: &kernel,
            grid_blocks: grid,
            block,
            dynamic_lds: lds,
            kernarg: &kernarg,
            memory: &memory,
            seed: 0,
            threads: 1,
            checks: Checks {
                uninitialised: false,
                lds_race: false,
                ..Checks::default()
            },
            stop: None,
            without: None,
        };
        let p = predict(&launch, card, options).unwrap_or_else(|fault| panic!("{fault}"));
        if json {
            println!("{}", p.to_json());
        } else {
            print!("{}", p.to_text());
        }
    }
}
