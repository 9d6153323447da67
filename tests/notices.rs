//! `THIRD-PARTY.md`: whose code is in the library, and under which terms. It is made of `Cargo.lock`
//! and the licence files of the packages that it names.

#[path = "support/notices.rs"]
mod notices;

const HEAD: &str = "\
# Third-party code
What is linked into libmlxrocm, and its licences. Made of `Cargo.lock` by
`MLXROCM_BLESS=1 cargo test --test notices`; a test compares it.

Where a package leaves the choice and MIT is one of its licences, that one is used. Rust's standard library
(MIT or Apache 2.0, copyright The Rust Project Contributors) is linked too.
";

#[test]
fn the_notices_are_those_of_the_packages() {
    notices::check(env!("CARGO_MANIFEST_DIR").as_ref(), "mlxrocm", HEAD);
}
