#![no_main]
//! See `bodies::grammar`.

#[path = "../../support/fuzz_bodies.rs"]
#[allow(dead_code)]
mod bodies;

#[global_allocator]
static ALLOCATOR: bodies::counting_allocator::CountingAllocator =
    bodies::counting_allocator::CountingAllocator;

libfuzzer_sys::fuzz_target!(|input: &[u8]| bodies::run(bodies::grammar, input));
