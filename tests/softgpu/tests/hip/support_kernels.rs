//! Compiling and launching kernels in tests.

use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::sync::{LazyLock, Mutex};

use crate::support::*;
use softgpu::hip::hiprtc::*;
use softgpu::hip::launch::hipModuleLaunchKernel;
use softgpu::hip::module::*;

/// c[i] = a[i] + b[i]; a[i] *= factor; block sums through LDS; a store at a given index.
pub const SOURCE: &str = r#"
extern "C" __global__ void vadd(const float* a, const float* b, float* c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void scale(float* a, unsigned n, float factor) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= factor;
}
extern "C" __global__ void poke(unsigned* a, unsigned long long index, unsigned value) {
    if (threadIdx.x == 0) a[index] = value;
}
extern "C" __global__ void peek(const unsigned* a, unsigned* out, unsigned long long index) {
    if (threadIdx.x == 0) *out = a[index];
}
extern "C" __global__ void reverse(unsigned* a) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    a[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
"#;

/// Compiles with hiprtc: the result code, the log, the code.
pub fn compile(source: &str, options: &[&str]) -> (c_int, String, Vec<u8>) {
    let source = CString::new(source).unwrap();
    let options: Vec<CString> = options
        .iter()
        .map(|option| CString::new(*option).unwrap())
        .collect();
    let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program = NULL;
    unsafe {
        let none = std::ptr::null();
        let code = hiprtcCreateProgram(
            &raw mut program,
            source.as_ptr(),
            none,
            0,
            none.cast(),
            none.cast(),
        );
        ok(code);
        let code = hiprtcCompileProgram(program, pointers.len() as c_int, pointers.as_ptr());
        let (mut log_size, mut size) = (0, 0);
        ok(hiprtcGetProgramLogSize(program, &raw mut log_size));
        let mut log = vec![0u8; log_size];
        ok(hiprtcGetProgramLog(program, log.as_mut_ptr().cast()));
        assert_eq!(log.pop(), Some(0));
        let mut object = Vec::new();
        if code == 0 {
            ok(hiprtcGetCodeSize(program, &raw mut size));
            object = vec![0u8; size];
            ok(hiprtcGetCode(program, object.as_mut_ptr().cast()));
        } else {
            assert_eq!(hiprtcGetCodeSize(program, &raw mut size), 4);
        }
        ok(hiprtcDestroyProgram(&raw mut program));
        assert_eq!(program, NULL);
        (code, String::from_utf8(log).unwrap(), object)
    }
}

/// The code of [`SOURCE`] for a target, compiled once.
pub fn object(arch: &str) -> Vec<u8> {
    static OBJECTS: LazyLock<Mutex<HashMap<String, Vec<u8>>>> = LazyLock::new(Mutex::default);
    let mut objects = OBJECTS.lock().unwrap();
    objects
        .entry(arch.to_owned())
        .or_insert_with(|| {
            let (code, log, object) = compile(SOURCE, &[&format!("--offload-arch={arch}")]);
            assert_eq!(code, 0, "{log}");
            object
        })
        .clone()
}

/// Loads [`SOURCE`] for the thread's device.
pub fn load(arch: &str) -> Handle {
    let object = object(arch);
    let mut module = NULL;
    ok(unsafe { hipModuleLoadData(&raw mut module, object.as_ptr().cast()) });
    module
}

#[track_caller]
pub fn function(module: Handle, name: &str) -> Handle {
    let name = CString::new(name).unwrap();
    let mut function = NULL;
    ok(unsafe { hipModuleGetFunction(&raw mut function, module, name.as_ptr()) });
    function
}

/// Arguments in boxes of their own, and the array of pointers to them.
pub struct Pack {
    _values: Vec<Box<[u8]>>,
    pub pointers: Vec<*mut c_void>,
}

pub fn pack(values: &[&[u8]]) -> Pack {
    let mut values: Vec<Box<[u8]>> = values.iter().map(|value| Box::from(*value)).collect();
    let pointers = values
        .iter_mut()
        .map(|value| value.as_mut_ptr().cast())
        .collect();
    Pack {
        _values: values,
        pointers,
    }
}

pub fn address(handle: Handle) -> [u8; 8] {
    (handle as u64).to_ne_bytes()
}

/// Launches in one dimension; the code of the call.
pub fn launch(
    function: Handle,
    blocks: u32,
    threads: u32,
    stream: Handle,
    values: &[&[u8]],
) -> c_int {
    let mut pack = pack(values);
    let params = pack.pointers.as_mut_ptr();
    unsafe {
        hipModuleLaunchKernel(
            function,
            blocks,
            1,
            1,
            threads,
            1,
            1,
            0,
            stream,
            params,
            NULL.cast(),
        )
    }
}

pub fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect()
}

pub fn get_floats(from: Handle, count: usize) -> Vec<f32> {
    get(from, 4 * count)
        .chunks_exact(4)
        .map(|four| f32::from_ne_bytes(four.try_into().unwrap()))
        .collect()
}
