//! Activations, found again in the functions that they are made of.

use crate::gpu::constants::network_product as numbers;
use crate::step::{Argument, Call, Function};

/// By kernels' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Activation {
    None = numbers::NONE,
    Relu = numbers::RELU,
    ReluSquared = numbers::RELU_SQUARED,
    Sigmoid = numbers::SIGMOID,
    Swish = numbers::SWISH,
    Mish = numbers::MISH,
    Selu = numbers::SELU,
}

/// What a function of a pattern takes.
#[derive(Clone, Copy)]
enum Slot {
    /// What the activation is of.
    X,
    /// The result of the pattern's n-th function.
    Made(usize),
    Number(f32),
    /// Functions of one element have no second argument.
    Nothing,
}
use Slot::{Made, Nothing, Number, X};

type Pattern = &'static [(Function, [Slot; 2])];

/// Longer ones before those that they begin with.
const PATTERNS: &[(Activation, Pattern)] = &[
    (
        Activation::Mish,
        &[
            (Function::Minimum, [X, Number(20.0)]),
            (Function::Exp, [Made(0), Nothing]),
            (Function::Add, [Made(1), Number(2.0)]),
            (Function::Multiply, [Made(1), Made(2)]),
            (Function::Add, [Made(3), Number(2.0)]),
            (Function::Divide, [Made(3), Made(4)]),
            (Function::Multiply, [X, Made(5)]),
        ],
    ),
    (
        Activation::Selu,
        &[
            (Function::Minimum, [X, Number(0.0)]),
            (Function::Expm1, [Made(0), Nothing]),
            (Function::Multiply, [Made(1), Number(1.758_099_3)]),
            (Function::Maximum, [X, Number(0.0)]),
            (Function::Multiply, [Made(3), Number(1.050_701)]),
            (Function::Add, [Made(2), Made(4)]),
        ],
    ),
    (
        Activation::ReluSquared,
        &[
            (Function::Maximum, [X, Number(0.0)]),
            (Function::Square, [Made(0), Nothing]),
        ],
    ),
    (Activation::Relu, &[(Function::Maximum, [X, Number(0.0)])]),
    (
        Activation::Swish,
        &[
            (Function::Sigmoid, [X, Nothing]),
            (Function::Multiply, [X, Made(0)]),
        ],
    ),
    (Activation::Sigmoid, &[(Function::Sigmoid, [X, Nothing])]),
];

/// The activations that begin with the call at `at`, of the result of call `x`, and how many calls they are; the
/// longest first.
pub fn activations(calls: &[Call], at: usize, x: usize) -> Vec<(Activation, usize)> {
    let is_slot = |argument: &Argument, slot: Slot| match slot {
        X => *argument == Argument::Made(x),
        Made(n) => *argument == Argument::Made(at + n),
        Number(number) => match argument {
            Argument::Number(found) => (found - number).abs() <= 1e-6 * number.abs(),
            _ => false,
        },
        Nothing => true,
    };
    let fits = |pattern: &Pattern| {
        let rest = calls.get(at..).unwrap_or_default();
        let is_call = |(call, (function, slots)): (&Call, &(Function, [Slot; 2]))| {
            let [a, b] = &call.arguments;
            call.function == *function && is_slot(a, slots[0]) && is_slot(b, slots[1])
        };
        rest.len() >= pattern.len() && rest.iter().zip(*pattern).all(is_call)
    };
    let found = PATTERNS.iter().filter(|(_, pattern)| fits(pattern));
    found
        .map(|(activation, pattern)| (*activation, pattern.len()))
        .collect()
}
