//! The same C source on the host and on the software GPU, bit for bit, on random and special inputs.

mod support;
use std::ffi::{CString, c_void};
use std::process::Command;
use support::{Args, Gpu, Random, TARGETS, compile};

const N: usize = 256;
/// Results a kernel may write: ten arrays of 8 bytes a lane.
const OUT: usize = N * 80;

type Kernel = extern "C" fn(*mut c_void, *const c_void, *mut c_void, i32);

/// The kernels compiled for this machine.
struct Host(*mut c_void);

impl Host {
    fn new() -> Host {
        let source = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/kernels/differential.hip"
        );
        let out = std::env::temp_dir().join(format!("softgpu-host-{}.so", std::process::id()));
        let clang = std::env::var("SOFTGPU_CLANG").unwrap_or_else(|_| "clang++-19".into());
        let done = Command::new(clang)
            .args([
                "-x",
                "c++",
                "-DHOST",
                "-shared",
                "-fPIC",
                "-O1",
                "-ffp-contract=off",
                "-w",
            ])
            .args([
                "-Xclang",
                "-ffloat16-excess-precision=none",
                "-Xclang",
                "-fbfloat16-excess-precision=none",
                source,
                "-o",
            ])
            .arg(&out)
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        let name = CString::new(out.to_str().unwrap()).unwrap();
        // SAFETY: a library just built from our own source.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        assert!(!handle.is_null());
        let _ = std::fs::remove_file(&out);
        Host(handle)
    }

    fn symbol(&self, name: &str) -> *mut c_void {
        let name = CString::new(name).unwrap();
        // SAFETY: the handle is open.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!found.is_null(), "{name:?}");
        found
    }

    fn run(&self, name: &str, a: &mut [u8], b: &[u8], c: &mut [u8]) {
        // SAFETY: all kernels have this signature; the variable is an int.
        unsafe {
            let f: Kernel = std::mem::transmute(self.symbol(name));
            let thread = self.symbol("host_thread").cast::<i32>();
            for i in 0..N {
                *thread = i as i32;
                f(
                    a.as_mut_ptr().cast(),
                    b.as_ptr().cast(),
                    c.as_mut_ptr().cast(),
                    N as i32,
                );
            }
        }
    }
}

/// Element kinds for inputs (special values) and for comparing (any NaN is a NaN).
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    F32,
    F64,
    F16,
    Bf16,
    Bits,
}

fn kind(name: &str) -> Kind {
    match name {
        "float" => Kind::F32,
        "double" => Kind::F64,
        "h" | "h2" => Kind::F16,
        "__bf16" => Kind::Bf16,
        _ => Kind::Bits,
    }
}

fn size(name: &str) -> usize {
    match name {
        "double" | "i64" | "n64" => 8,
        "h" | "short" | "n16" | "__bf16" => 2,
        "i8" | "n8" => 1,
        _ => 4,
    }
}

/// Random bytes with special floats sprinkled in.
fn input(r: &mut Random, kind: Kind) -> Vec<u8> {
    let mut out: Vec<u8> = (0..N * 16).map(|_| r.bits() as u8).collect();
    let width = match kind {
        Kind::F64 => 8,
        Kind::F16 | Kind::Bf16 => 2,
        _ => 4,
    };
    for chunk in out.chunks_exact_mut(width) {
        let pick = r.bits() % 8;
        let small = r.f32() * [1.0, 100.0, 1e-3, 1e5, 3e9][(r.bits() % 5) as usize];
        match (kind, pick) {
            (Kind::Bits, 0) => chunk.fill(0),
            (Kind::Bits, 1) => chunk.fill(0xff),
            (Kind::Bits, 2) => {
                chunk.fill(0);
                chunk[3] = 0x80;
            }
            (Kind::Bits, 3) => chunk[1..].fill(0),
            (Kind::F32, 0..=5) => chunk.copy_from_slice(&small.to_le_bytes()),
            (Kind::F64, 0..=5) => chunk.copy_from_slice(&f64::from(small).to_le_bytes()),
            (Kind::Bf16, 0..=5) => chunk.copy_from_slice(&small.to_le_bytes()[2..]),
            // Exponents near one; the rest keeps random bits: NaN, infinities, denormals among them.
            (Kind::F16, 0..=5) => chunk[1] = chunk[1] & 0x83 | (0x2c + ((r.bits() % 8) as u8) * 4),
            (Kind::F32, 6) => chunk.copy_from_slice(
                &[
                    0u32,
                    1 << 31,
                    0x7f80_0000,
                    0xff80_0000,
                    5,
                    0x8000_0001,
                    0x7fc0_0000,
                    0x0080_0000,
                ][(r.bits() % 8) as usize]
                    .to_le_bytes(),
            ),
            (Kind::F64, 6) => chunk.copy_from_slice(
                &[
                    0u64,
                    1 << 63,
                    0x7ff << 52,
                    0xfff << 52,
                    5,
                    1 << 52,
                    0x7ff8 << 48,
                    1 << 63 | 1,
                ][(r.bits() % 8) as usize]
                    .to_le_bytes(),
            ),
            _ => {}
        }
    }
    out
}

fn is_nan(kind: Kind, bytes: &[u8]) -> bool {
    let n = bytes.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
    match kind {
        Kind::F32 => n & 0x7fff_ffff > 0x7f80_0000,
        Kind::F64 => n << 1 > 0xffe << 52,
        Kind::F16 => n & 0x7fff > 0x7c00,
        Kind::Bf16 => n & 0x7fff > 0x7f80,
        Kind::Bits => false,
    }
}

/// Number of elements that differ, and the first.
fn differences(kind: Kind, width: usize, got: &[u8], want: &[u8]) -> Option<String> {
    let mut bad = got
        .chunks(width)
        .zip(want.chunks(width))
        .enumerate()
        .filter(|(_, (g, w))| g != w && !(is_nan(kind, g) && is_nan(kind, w)));
    let (i, (g, w)) = bad.next()?;
    Some(format!(
        "{} elements, first {i} (array {}, lane {}): {g:02x?} instead of {w:02x?}",
        1 + bad.count(),
        i / N,
        i % N
    ))
}

fn names() -> Vec<(String, Kind, Kind, usize)> {
    let source = include_str!("kernels/differential.hip");
    assert!(source.contains("CONVERTS(n8)"));
    let mut out: Vec<(String, Kind, Kind, usize)> = Vec::new();
    let mut add =
        |name: String, from: &str, to: &str| out.push((name, kind(from), kind(to), size(to)));
    for t in ["float", "double", "h", "__bf16"] {
        add(format!("floats_{t}"), t, t);
    }
    for t in ["int", "n32", "i64", "n64", "short", "n16", "i8", "n8"] {
        add(format!("integers_{t}"), t, t);
    }
    add("pairs_s2".into(), "short", "short");
    add("pairs_us2".into(), "n16", "n16");
    add("pairs_h2".into(), "h", "h");
    for from in [
        "float", "double", "h", "int", "n32", "i64", "n64", "short", "n16", "n8", "i8",
    ] {
        for to in ["float", "double", "h"] {
            add(format!("convert_{from}_{to}"), from, to);
        }
    }
    add("convert_float___bf16".into(), "float", "__bf16");
    add("convert___bf16_float".into(), "__bf16", "float");
    for from in ["float", "double", "h"] {
        for to in ["int", "n32", "i64", "n64", "short", "n8"] {
            add(format!("to_{from}_{to}"), from, to);
        }
    }
    add("rounding".into(), "float", "float");
    add("rounding_double".into(), "double", "double");
    for name in ["vectors", "scalars", "indexed", "loops"] {
        add(
            name.into(),
            "int",
            if name == "vectors" { "float" } else { "int" },
        );
    }
    out
}

#[test]
fn host_and_gpu_agree_bit_for_bit() {
    let host = Host::new();
    let mut failures = Vec::new();
    for target in TARGETS {
        let code = compile(
            "differential.hip",
            target,
            &[
                "-ffp-contract=off",
                "-Xclang",
                "-ffloat16-excess-precision=none",
                "-Xclang",
                "-fbfloat16-excess-precision=none",
            ],
        );
        for (name, from, to, width) in names() {
            let mut r = Random(name.len() as u64 * 77 + 5);
            let (mut a, b) = (input(&mut r, from), input(&mut r, from));
            let mut want = vec![0u8; OUT];
            let gpu = Gpu::new();
            let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&want));
            host.run(&name, &mut a, &b, &mut want);
            let args = Args::new().ptr(da).ptr(db).ptr(dc).i32(N as i32);
            match gpu.launch(&code, &name, [N as u32 / 64, 1, 1], [64, 1, 1], &args) {
                Err(fault) => failures.push(format!("{target} {name}: {fault}")),
                Ok(_) => {
                    let got: Vec<u8> = gpu.download(dc, OUT);
                    if let Some(text) = differences(to, width, &got, &want) {
                        failures.push(format!("{target} {name}: {text}"));
                    }
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
