//! Products, quantization, convolutions, transforms, layers, linear algebra and random numbers of arrays
//! against MLX's CPU build: tests/golden/arrays/make.py made the results.

mod functions;
mod goldens;
mod layers;
mod linear_algebra;
mod products;
mod quantized;
mod random;
mod refusals;
mod transforms;

/// Where the arrays of the file are.
fn home() -> mlxrocm::array::Home {
    mlxrocm::array::Home::Cpu
}
