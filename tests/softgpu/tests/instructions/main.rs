//! Every instruction that the software GPU decodes, against expectations written from the pseudo-code of
//! AMD's "Instruction Set Architecture" reference guides: AMD Instinct MI200 and MI300 (CDNA 2 and 3),
//! RDNA 2, RDNA 3, RDNA 3.5 and RDNA 4; the chapters "Instructions" (scalar, vector, memory) unless a
//! file names another. Expectations are plain integer and f64 arithmetic; nothing of the interpreter.
//!
//! Modes are those of compiled kernels: round to nearest even, denormals kept, IEEE; signalling NaNs are
//! not tried where IEEE mode would quiet them.

mod atomic;
mod compare;
mod control;
mod convert;
mod cross_lane;
mod dot;
mod dual;
mod half;
mod harness;
mod lds;
mod matrix;
mod modifiers;
mod numbers;
mod salu;
mod salu_float;
mod smem;
mod tables;
mod valu_float;
mod valu_int;
mod vmem;

#[test]
fn scalar_integers() {
    harness::run(&salu::cases());
}

#[test]
fn vector_integers() {
    harness::run(&valu_int::cases());
}

#[test]
fn vector_floats() {
    harness::run(&valu_float::cases());
}

#[test]
fn halves() {
    harness::run(&half::cases());
}

#[test]
fn comparisons() {
    harness::run(&compare::cases());
}

#[test]
fn conversions() {
    harness::run(&convert::cases());
}

#[test]
fn scalar_floats() {
    harness::run(&salu_float::cases());
}

#[test]
fn scalar_memory() {
    harness::run(&smem::cases());
}

#[test]
fn control_flow() {
    harness::run(&control::cases());
}

#[test]
fn dot_products() {
    harness::run(&dot::cases());
}

#[test]
fn across_lanes() {
    harness::run(&cross_lane::cases());
}

#[test]
fn dual_issue() {
    harness::run(&dual::cases());
}

#[test]
fn operand_modifiers() {
    harness::run(&modifiers::cases());
}

#[test]
fn local_memory() {
    harness::run(&lds::cases());
}

#[test]
fn vector_memory() {
    harness::run(&vmem::cases());
}

#[test]
fn matrices() {
    harness::run(&matrix::cases());
}
