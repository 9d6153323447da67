//! Steps that the cases' child processes run.

use mlxrocm::Error;
use mlxrocm::driver::Platform;
use mlxrocm::gpu::kernels::{Compiler, Registry};
use mlxrocm::log::{self, Level};
use std::sync::{Arc, Mutex};

/// A kernel as an application writes it.
const SOURCE: &str = r#"
extern "C" __global__ void scale(float *to, const float *from, float factor, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = from[i] * factor + OFFSET;
}
"#;

/// A child's step: prints what the case wants to know.
pub fn step(step: &str) {
    let mut words = step.split(' ');
    match (words.next(), words.next()) {
        (Some("application"), Some(arch)) => application(arch, "-DOFFSET=1.0f"),
        (Some("offset2"), Some(arch)) => application(arch, "-DOFFSET=2.0f"),
        (Some("built-in"), Some(arch)) => built_in(arch),
        (Some("wrong"), Some(arch)) => show(
            Compiler::new(arch, platform(arch))
                .compile_source("mine.hip", "\nnonsense;\n", &[])
                .map(drop),
        ),
        (Some("refuse"), Some(arch)) => refuse(arch),
        (Some("part"), Some(arch)) => part(arch),
        (Some("chains"), Some(_)) => crate::ending::step(),
        other => panic!("no step {other:?}"),
    }
}

fn platform(arch: &str) -> Platform {
    if arch.starts_with("sm_") {
        Platform::Cuda
    } else {
        Platform::Hip
    }
}

/// Compiles [`SOURCE`]: "cached <hash>", "compiled <hash>", or "error <kind> <message>"; then the
/// log's lines.
fn application(arch: &str, option: &str) {
    let lines = listen();
    let compiler = Compiler::new(arch, platform(arch));
    match compiler.compile_source("scale.hip", SOURCE, &[option]) {
        Ok(code) => {
            let how = if code.is_cached { "cached" } else { "compiled" };
            println!("{how} {}", fingerprint(&code.bytes));
            println!("mentions {}", mentions(&code.bytes, arch));
        }
        Err(error) => show(Err(error)),
    }
    print(&lines);
}

/// Two kernels of two sources out of the registry.
fn built_in(arch: &str) {
    let lines = listen();
    let registry = Registry::new(arch, platform(arch));
    for name in [
        "mlxrocm_fill_u32",
        "mlxrocm_reduce_sum_f32",
        "mlxrocm_reduce_max_f32",
    ] {
        match registry.code(name) {
            Ok(code) => println!(
                "code {name} {} {}",
                mentions(&code, arch),
                mentions(&code, name)
            ),
            Err(error) => show(Err(error)),
        }
    }
    print(&lines);
}

/// A driver that takes no generic object.
fn refuse(arch: &str) {
    let registry = Registry::new(arch, platform(arch));
    let mut offered = Vec::new();
    let code = registry.load("mlxrocm_fill_u32", |code| {
        let is_generic = mentions(code, "-generic");
        offered.push(if is_generic { "generic" } else { "exact" });
        if is_generic {
            Err(Error::InvalidFile("no generic code here".into()))
        } else {
            Ok(mentions(code, arch))
        }
    });
    println!("{offered:?} {code:?}");
}

/// The kernels whose turn it is: those of every sixth source, another sixth after three days, as it takes minutes;
/// `MLXROCM_TEST_ALL=1`: all.
pub fn todays() -> Vec<&'static str> {
    let day = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    let all = std::env::var("MLXROCM_TEST_ALL").is_ok_and(|all| all == "1");
    let mut sources: Vec<&str> = Registry::names().filter_map(Registry::source).collect();
    sources.sort();
    sources.dedup();
    let is_today = |name: &&str| {
        let source = Registry::source(name);
        let place = sources.iter().position(|other| Some(*other) == source);
        all || place.is_some_and(|place| place as u64 % 6 == day / 3 % 6)
    };
    Registry::names().filter(is_today).collect()
}

/// Kernels of today's sources, compiled now even if there is code for the target.
fn part(arch: &str) {
    let registry = Registry::new(arch, platform(arch));
    let built_in = mlxrocm::gpu::kernels::built_in().unwrap();
    for name in todays() {
        let mut compiled = None;
        let result = registry.load(name, |code| {
            let mut built = built_in.iter().filter(|o| o.kernels.contains(&name));
            if built.any(|object| object.code == &code[..]) {
                return Err(Error::InvalidFile("not this one".into()));
            }
            compiled = Some(mentions(code, name));
            Ok(())
        });
        match result {
            Ok(()) => println!("{name} {compiled:?}"),
            Err(error) => println!("{name} {error}"),
        }
    }
}

fn mentions(code: &[u8], word: &str) -> bool {
    code.windows(word.len())
        .any(|window| window == word.as_bytes())
}

fn fingerprint(bytes: &[u8]) -> String {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{}:{sum:016x}", bytes.len())
}

fn show(result: mlxrocm::Result<()>) {
    match result {
        Ok(()) => println!("no error"),
        Err(error) => println!("error {} {error}", error.status()),
    }
}

fn listen() -> Arc<Mutex<Vec<String>>> {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = lines.clone();
    let sink =
        move |level: Level, line: &str| kept.lock().unwrap().push(format!("{level:?} {line}"));
    log::set_sink(Level::Info, Some(Arc::new(sink)));
    lines
}

fn print(lines: &Mutex<Vec<String>>) {
    lines
        .lock()
        .unwrap()
        .iter()
        .for_each(|line| println!("log {line}"));
}
