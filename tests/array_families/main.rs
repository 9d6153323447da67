//! Products, quantization, convolutions, transforms, layers, linear algebra and random numbers of arrays
//! against MLX's CPU build: tests/golden/arrays/make.py made the results.

mod functions;
mod goldens;
mod layers;
mod linear_algebra;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/prng.rs"]
mod prng;
mod products;
mod quantized;
mod random;
mod refusals;
mod transforms;

/// Where the arrays of the file are.
fn home() -> mlxrocm::array::Home {
    mlxrocm::array::Home::Cpu
}
