//! The C API called from Rust as C does: functions with raw pointers, objects that are freed by hand.
#![allow(dead_code, unused_imports)] // each test program uses a part

use crate::gpu;
pub use mlxrocm::capi::array::binary::*;
pub use mlxrocm::capi::array::data::*;
pub use mlxrocm::capi::array::dtype::*;
pub use mlxrocm::capi::array::memory::*;
pub use mlxrocm::capi::array::object::*;
pub use mlxrocm::capi::array::reduce::*;
pub use mlxrocm::capi::array::shape::*;
pub use mlxrocm::capi::buffer::*;
pub use mlxrocm::capi::device::*;
pub use mlxrocm::capi::device_memory::*;
pub use mlxrocm::capi::error::*;
pub use mlxrocm::capi::kernel::*;
pub use mlxrocm::capi::launch::*;
pub use mlxrocm::capi::module::*;
pub use mlxrocm::capi::program::*;
pub use mlxrocm::capi::status::*;
pub use mlxrocm::capi::stream::*;
use mlxrocm::gpu::arrays::{Chains, use_chains};
use std::ffi::CStr;
use std::ptr::{null, null_mut};

/// A call that succeeds.
macro_rules! ok {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut error = std::ptr::null_mut();
        // SAFETY: the arguments are as the function's documentation asks.
        let status = unsafe { $function($($argument,)* &raw mut error) };
        let name = stringify!($function);
        assert_eq!(status, MLXROCM_OK, "{name}: {}", $crate::c_calls::message(error));
    }};
}

/// A call that fails with a status: its message.
macro_rules! fails {
    ($status:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let mut error = std::ptr::null_mut();
        // SAFETY: what is wrong with the arguments is what the function must find.
        let status = unsafe { $function($($argument,)* &raw mut error) };
        let message = $crate::c_calls::message(error);
        assert_eq!(status, $status, "{}: {message}", stringify!($function));
        message
    }};
}

/// The array that an operation gives.
macro_rules! made {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut result = std::ptr::null_mut();
        ok!($function($($argument,)* &raw mut result));
        result
    }};
}

/// Gives an object back.
macro_rules! free {
    ($function:ident($object:expr)) => {
        // SAFETY: the object is not used afterwards.
        unsafe { $function($object) }
    };
}

pub(crate) use {fails, free, made, ok};

/// What an error says; it is freed.
pub fn message(error: *mut mlxrocm_error) -> String {
    if error.is_null() {
        return String::new();
    }
    // SAFETY: a live error.
    unsafe {
        let text = CStr::from_ptr(mlxrocm_error_message(error, null_mut()));
        let text = text.to_string_lossy().into_owned();
        mlxrocm_error_free(error);
        text
    }
}

/// 0 is the CPU, 1 the first GPU.
pub fn open(index: usize) -> *mut mlxrocm_device {
    made!(mlxrocm_device_open(index))
}

pub fn stream_on(device: *const mlxrocm_device) -> *mut mlxrocm_stream {
    made!(mlxrocm_stream_new(device))
}

pub fn buffer_on(device: *const mlxrocm_device, size: u64) -> *mut mlxrocm_buffer {
    made!(mlxrocm_buffer_new(device, MLXROCM_BUFFER_DEVICE, size))
}

/// Bytes of a device in use.
pub fn active(device: *const mlxrocm_device) -> u64 {
    // SAFETY: numbers.
    let mut memory: mlxrocm_device_memory = unsafe { std::mem::zeroed() };
    memory.struct_size = size_of::<mlxrocm_device_memory>() as u32;
    ok!(mlxrocm_device_get_memory(device, &raw mut memory));
    memory.active
}

pub fn address(buffer: *const mlxrocm_buffer) -> u64 {
    // SAFETY: numbers and a pointer.
    let mut info: mlxrocm_buffer_info = unsafe { std::mem::zeroed() };
    info.struct_size = size_of::<mlxrocm_buffer_info>() as u32;
    ok!(mlxrocm_buffer_get_info(buffer, &raw mut info));
    info.address
}

pub fn array_of(numbers: &[f32], shape: &[i64]) -> *mut mlxrocm_array {
    let (data, sizes) = (numbers.as_ptr().cast(), shape.as_ptr());
    made!(mlxrocm_array_from_data(
        data,
        sizes,
        shape.len(),
        MLXROCM_DTYPE_FLOAT32
    ))
}

pub fn from_buffer(
    buffer: *const mlxrocm_buffer,
    offset: u64,
    shape: &[i64],
    dtype: u32,
) -> *mut mlxrocm_array {
    let (rank, shape) = (shape.len(), shape.as_ptr());
    made!(mlxrocm_array_from_buffer(
        buffer, offset, shape, rank, dtype
    ))
}

/// The memory of an array for a stream, or for the host.
pub fn buffer_of(
    array: *const mlxrocm_array,
    stream: *const mlxrocm_stream,
) -> (*mut mlxrocm_buffer, u64) {
    let (mut buffer, mut offset) = (null_mut(), 0);
    ok!(mlxrocm_array_buffer(
        array,
        stream,
        &raw mut buffer,
        &raw mut offset
    ));
    (buffer, offset)
}

pub fn eval(array: *const mlxrocm_array) {
    ok!(mlxrocm_array_eval(&raw const array, 1));
}

/// Queues an array.
pub fn queue(array: *const mlxrocm_array) {
    ok!(mlxrocm_array_eval_async(&raw const array, 1));
}

/// The numbers of an array.
pub fn read(array: *const mlxrocm_array) -> Vec<f32> {
    // SAFETY: a live array.
    let mut numbers = vec![0.0_f32; unsafe { mlxrocm_array_size(array) }];
    ok!(mlxrocm_array_read(
        array,
        numbers.as_mut_ptr().cast(),
        numbers.len() * 4
    ));
    numbers
}

/// Numbers of a buffer, after the work of a stream.
pub fn numbers_in(
    stream: *const mlxrocm_stream,
    buffer: *const mlxrocm_buffer,
    offset: u64,
    count: usize,
) -> Vec<f32> {
    let mut numbers = vec![0.0_f32; count];
    ok!(mlxrocm_stream_read(
        stream,
        buffer,
        offset,
        numbers.as_mut_ptr().cast(),
        count * 4
    ));
    numbers
}

/// Numbers of a buffer, whatever streams do.
pub fn numbers_now(buffer: *const mlxrocm_buffer, offset: u64, count: usize) -> Vec<f32> {
    let mut numbers = vec![0.0_f32; count];
    ok!(mlxrocm_buffer_read(
        buffer,
        offset,
        numbers.as_mut_ptr().cast(),
        count * 4
    ));
    numbers
}

const SOURCE: &CStr = c"
extern \"C\" __global__ void ramp(float *x, unsigned count, float begin) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] = begin + (float)i;
}
extern \"C\" __global__ void ramp_by_address(float *const *x, unsigned count, float begin) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[0][i] = begin + (float)i;
}
extern \"C\" __global__ void add(float *y, const float *x, unsigned count, float number) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = x[i] + number;
}
extern \"C\" __global__ void slow_ramp(float *x, unsigned count, float begin, unsigned rounds) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (unsigned r = 0; r < rounds; r++) sum = sum * 0.5f + (float)(r & 1);
    if (i < count) x[i] = begin + (float)i + (sum < 0 ? 1 : 0);
}
";

/// Kernels of an application.
pub struct Kernels {
    ramp: *mut mlxrocm_kernel,
    ramp_by_address: *mut mlxrocm_kernel,
    add: *mut mlxrocm_kernel,
    slow_ramp: *mut mlxrocm_kernel,
}

impl Kernels {
    pub fn new(device: *const mlxrocm_device) -> Kernels {
        let module = made!(mlxrocm_module_compile(
            device,
            SOURCE.as_ptr(),
            usize::MAX,
            null()
        ));
        let kernel =
            |name: &CStr| made!(mlxrocm_module_get_kernel(module, name.as_ptr(), usize::MAX));
        let kernels = Kernels {
            ramp: kernel(c"ramp"),
            ramp_by_address: kernel(c"ramp_by_address"),
            add: kernel(c"add"),
            slow_ramp: kernel(c"slow_ramp"),
        };
        free!(mlxrocm_module_free(module));
        kernels
    }

    pub fn free(self) {
        for kernel in [self.ramp, self.ramp_by_address, self.add, self.slow_ramp] {
            free!(mlxrocm_kernel_free(kernel));
        }
    }

    /// `begin`, `begin` + 1, …
    pub fn ramp(
        &self,
        stream: *const mlxrocm_stream,
        x: *const mlxrocm_buffer,
        count: u32,
        begin: f32,
    ) {
        let args = Args::new(&[output(x, 0), number(count), float(begin)], &[]);
        ok!(mlxrocm_stream_launch(
            stream,
            self.ramp,
            &args.launch(count)
        ));
    }

    /// The same after so many rounds of nothing.
    pub fn slow_ramp(
        &self,
        stream: *const mlxrocm_stream,
        x: *const mlxrocm_buffer,
        count: u32,
        begin: f32,
        rounds: u32,
    ) {
        let args = [output(x, 0), number(count), float(begin), number(rounds)];
        let args = Args::new(&args, &[]);
        ok!(mlxrocm_stream_launch(
            stream,
            self.slow_ramp,
            &args.launch(count)
        ));
    }

    /// The same where it may not write.
    pub fn ramp_fails(&self, stream: *const mlxrocm_stream, x: *const mlxrocm_buffer) -> String {
        let args = Args::new(&[output(x, 0), number(1), float(0.0)], &[]);
        let launch = args.launch(1);
        fails!(
            MLXROCM_ERROR_INVALID_ARGUMENT,
            mlxrocm_stream_launch(stream, self.ramp, &raw const launch)
        )
    }

    /// The same, recorded.
    pub fn record_ramp(
        &self,
        program: *const mlxrocm_program,
        x: *const mlxrocm_buffer,
        count: u32,
        begin: f32,
    ) {
        let args = Args::new(&[output(x, 0), number(count), float(begin)], &[]);
        ok!(mlxrocm_program_launch(
            program,
            self.ramp,
            &args.launch(count)
        ));
    }

    /// The same to the buffer `x`, whose address the first number of `pointers` is.
    pub fn ramp_by_address(
        &self,
        stream: *const mlxrocm_stream,
        pointers: *const mlxrocm_buffer,
        x: *const mlxrocm_buffer,
        count: u32,
        begin: f32,
    ) {
        let args = Args::new(
            &[input(pointers, 0), number(count), float(begin)],
            &[output(x, 0)],
        );
        ok!(mlxrocm_stream_launch(
            stream,
            self.ramp_by_address,
            &args.launch(count)
        ));
    }

    /// `y` is `x` from a byte on, plus a number.
    pub fn add(
        &self,
        stream: *const mlxrocm_stream,
        y: *const mlxrocm_buffer,
        (x, offset): (*const mlxrocm_buffer, u64),
        count: u32,
        number_of_it: f32,
    ) {
        let args = [
            output(y, 0),
            input(x, offset),
            number(count),
            float(number_of_it),
        ];
        let args = Args::new(&args, &[]);
        ok!(mlxrocm_stream_launch(stream, self.add, &args.launch(count)));
    }
}

struct Args {
    args: Vec<mlxrocm_arg>,
    touched: Vec<mlxrocm_arg>,
}

impl Args {
    fn new(args: &[mlxrocm_arg], touched: &[mlxrocm_arg]) -> Args {
        let (args, touched) = (args.to_vec(), touched.to_vec());
        Args { args, touched }
    }

    /// A launch of so many work items.
    fn launch(&self, count: u32) -> mlxrocm_launch {
        mlxrocm_launch {
            struct_size: size_of::<mlxrocm_launch>() as u32,
            dynamic_lds: 0,
            grid: [count.div_ceil(64), 1, 1],
            block: [64, 1, 1],
            args: self.args.as_ptr(),
            arg_count: self.args.len(),
            touched: self.touched.as_ptr(),
            touched_count: self.touched.len(),
        }
    }
}

fn output(buffer: *const mlxrocm_buffer, offset: u64) -> mlxrocm_arg {
    // SAFETY: the launch checks it.
    unsafe { mlxrocm_arg_output(buffer, offset) }
}

fn input(buffer: *const mlxrocm_buffer, offset: u64) -> mlxrocm_arg {
    // SAFETY: the launch checks it.
    unsafe { mlxrocm_arg_input(buffer, offset) }
}

fn number(value: u32) -> mlxrocm_arg {
    mlxrocm_arg_u32(value)
}

fn float(value: f32) -> mlxrocm_arg {
    mlxrocm_arg_f32(value)
}

/// A fresh GPU: on software ones the order in which work of different streams runs is drawn by the seed.
pub fn machine(seed: u64) -> gpu::Gpu {
    // Otherwise a thread may still compile when the next test has another machine.
    use_chains(Chains::Off);
    match gpu::is_real() {
        true => gpu::gpu(),
        false => {
            let targets = gpu::among(&["gfx1151", "gfx90a"]);
            let target = targets[seed as usize % targets.len()];
            gpu::soft(&format!(
                "devices={target},{target};integrated=0;seed={seed}"
            ))
        }
    }
}

/// `x` plus `y`, so many times.
pub fn chain(x: *const mlxrocm_array, y: *const mlxrocm_array, times: usize) -> *mut mlxrocm_array {
    let mut sum = made!(mlxrocm_array_add(x, y));
    for _ in 1..times {
        let next = made!(mlxrocm_array_add(sum, y));
        free!(mlxrocm_array_free(sum));
        sum = next;
    }
    sum
}

/// Gives arrays back.
pub fn free_all(arrays: &[*mut mlxrocm_array]) {
    arrays
        .iter()
        .for_each(|&array| free!(mlxrocm_array_free(array)));
}
