//! A process that ends while another thread compiles a chain of its arrays.

use crate::gpu;
use crate::world::{World, text};
use mlxrocm::array::{Array, Home, eval, use_plans};
use mlxrocm::cpu::Elements;
use mlxrocm::gpu::Device;
use mlxrocm::gpu::arrays::{Chains, use_chains};
use mlxrocm::ir::Dtype;
use std::io::Write;

/// A compiler that takes half a second, and whose exit handler takes apart what it works with.
const SLOW: &str = r#"
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <unistd.h>
typedef void *program;
static volatile int is_gone;
static void end(void) { is_gone = 1; }
__attribute__((constructor)) static void begin(void) { atexit(end); }
int hiprtcCreateProgram(program *p, const char *s, const char *n, int c, const char **h, const char **i) {
    (void)s, (void)n, (void)c, (void)h, (void)i; *p = malloc(1); return 0; }
int hiprtcCompileProgram(program p, int count, const char **options) {
    (void)p, (void)count, (void)options;
    if (write(1, "begun\n", 6) != 6) abort();
    for (int i = 0; i < 100; i++) { usleep(5000); if (is_gone) abort(); }
    if (write(1, "done\n", 5) != 5) abort();
    return 6; }
int hiprtcGetCodeSize(program p, size_t *n) { (void)p; *n = 0; return 0; }
int hiprtcGetCode(program p, char *to) { (void)p, (void)to; return 0; }
int hiprtcGetProgramLogSize(program p, size_t *n) { (void)p; *n = 1; return 0; }
int hiprtcGetProgramLog(program p, char *to) { (void)p; *to = 0; return 0; }
int hiprtcDestroyProgram(program *p) { free(*p); *p = 0; return 0; }
int hiprtcVersion(int *a, int *b) { *a = 9; *b = 0; return 0; }
const char *hiprtcGetErrorString(int code) { (void)code; return "error"; }
"#;

/// The child: chains of a graph that comes again, of which the second waits for the first one's compiler, and the end.
pub fn step() {
    let home = Home::of(&Device::open(0).unwrap()).unwrap();
    use_chains(Chains::On);
    use_plans(true);
    let x = Array::from_elements(Elements::from_slice(&[1.0f32; 60], Dtype::F32, &[60]).unwrap());
    let x = x.at(&home);
    eval(std::slice::from_ref(&x)).unwrap();
    for _ in 0..3 {
        let y = x.plus(&x).unwrap().times(&x).unwrap().plus(&x).unwrap();
        let z = x.times(&x).unwrap().plus(&x).unwrap();
        eval(&[y, z]).unwrap();
    }
    println!("end");
    std::io::stdout().flush().unwrap();
}

pub fn waits(world: &World) {
    let library = world.library("libhiprtc-slow.so", SLOW);
    let devices = format!("devices={}", gpu::targets()[0]);
    let variables = [
        ("MLXROCM_HIPRTC_LIBRARY", text(&library)),
        ("MLXROCM_CUDA_LIBRARY", "/nonexistent/cuda.so"),
        ("SOFTGPU_CONFIG", devices.as_str()),
    ];
    let said = world.run("chains -", &variables);
    // (A trial in a process of its own may come before.)
    let after: Vec<&str> = said.lines().skip_while(|line| *line != "end").collect();
    assert_eq!(after.last(), Some(&"done"), "{said}");
    let begun = said.lines().filter(|line| *line == "begun").count();
    let done = said.lines().filter(|line| *line == "done").count();
    assert_eq!(begun, done, "{said}");
}
