//! Every instruction that the software GPU decodes, against expectations written from the pseudo-code of
//! AMD's "Instruction Set Architecture" reference guides: AMD Instinct MI200 and MI300 (CDNA 2 and 3),
//! RDNA 2, RDNA 3, RDNA 3.5 and RDNA 4; the chapters "Instructions" (scalar, vector, memory) unless a
//! file names another. Expectations are plain integer and f64 arithmetic; nothing of the interpreter.
//!
//! Modes are those of compiled kernels: round to nearest even, denormals kept, IEEE; signalling NaNs are
//! not tried where IEEE mode would quiet them.

mod atomic;
mod carry;
mod close;
mod compare;
mod completeness;
mod control;
mod convert;
mod cross_lane;
mod division;
mod dot;
mod dual;
mod half;
mod harness;
mod kernels;
mod lds;
mod matrix;
mod mfma;
mod modifiers;
mod numbers;
mod packed;
mod salu;
mod salu_float;
mod salu_mask;
mod smem;
mod tables;
mod transcendental;
mod valu_float;
mod valu_int;
mod values;
mod vmem;
mod vmem_atomic;
mod wmma;

use harness::{Case, Outcome};
use std::sync::OnceLock;

type Family = (fn() -> Vec<Case>, OnceLock<Outcome>);

/// The families; each runs once, for its own test or for the one that looks for gaps.
static FAMILIES: [Family; 23] = [
    (salu::cases, OnceLock::new()),
    (salu_mask::cases, OnceLock::new()),
    (valu_int::cases, OnceLock::new()),
    (carry::cases, OnceLock::new()),
    (valu_float::cases, OnceLock::new()),
    (transcendental::cases, OnceLock::new()),
    (division::cases, OnceLock::new()),
    (half::cases, OnceLock::new()),
    (packed::cases, OnceLock::new()),
    (compare::cases, OnceLock::new()),
    (convert::cases, OnceLock::new()),
    (salu_float::cases, OnceLock::new()),
    (smem::cases, OnceLock::new()),
    (control::cases, OnceLock::new()),
    (dot::cases, OnceLock::new()),
    (cross_lane::cases, OnceLock::new()),
    (dual::cases, OnceLock::new()),
    (modifiers::cases, OnceLock::new()),
    (lds::cases, OnceLock::new()),
    (vmem::cases, OnceLock::new()),
    (vmem_atomic::cases, OnceLock::new()),
    (mfma::cases, OnceLock::new()),
    (wmma::cases, OnceLock::new()),
];

fn outcome(family: &'static Family) -> &'static Outcome {
    family.1.get_or_init(|| harness::run(&family.0()))
}

#[track_caller]
fn check(number: usize) {
    let failures = &outcome(&FAMILIES[number]).failures;
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn scalar_integers() {
    check(0);
}

#[test]
fn scalar_masks() {
    check(1);
}

#[test]
fn vector_integers() {
    check(2);
}

#[test]
fn carries_and_lane_masks() {
    check(3);
}

#[test]
fn vector_floats() {
    check(4);
}

#[test]
fn transcendentals() {
    check(5);
}

#[test]
fn division_and_packed_floats() {
    check(6);
}

#[test]
fn halves() {
    check(7);
}

#[test]
fn packed_halves() {
    check(8);
}

#[test]
fn comparisons() {
    check(9);
}

#[test]
fn conversions() {
    check(10);
}

#[test]
fn scalar_floats() {
    check(11);
}

#[test]
fn scalar_memory() {
    check(12);
}

#[test]
fn control_flow() {
    check(13);
}

#[test]
fn dot_products() {
    check(14);
}

#[test]
fn across_lanes() {
    check(15);
}

#[test]
fn dual_issue() {
    check(16);
}

#[test]
fn operand_modifiers() {
    check(17);
}

#[test]
fn local_memory() {
    check(18);
}

#[test]
fn vector_memory() {
    check(19);
}

#[test]
fn vector_memory_atomics() {
    check(20);
}

#[test]
fn matrices_of_cdna() {
    check(21);
}

#[test]
fn matrices_of_rdna() {
    check(22);
}

/// Every mnemonic that the decoder and a target's assembler know runs on that target.
#[test]
fn no_instruction_is_without_a_case() {
    let ran = FAMILIES
        .iter()
        .flat_map(|family| outcome(family).ran.iter().cloned())
        .collect();
    completeness::check(&ran);
}
