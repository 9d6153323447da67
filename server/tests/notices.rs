//! `THIRD-PARTY.md` of the server, as of the library.

// Formatted as the library's.
#[rustfmt::skip]
#[path = "../../tests/support/notices.rs"]
mod notices;

const HEAD: &str = "\
# Third-party code
What is linked into mlxrocm-serve besides libmlxrocm, and its licences. Made of `Cargo.lock` by
`MLXROCM_BLESS=1 cargo test --test notices`; a test compares it.

Where a package leaves the choice and MIT is one of its licences, that one is used. Rust's standard library
(MIT or Apache 2.0, copyright The Rust Project Contributors) is linked too.
";

#[test]
fn the_notices_are_those_of_the_packages() {
    notices::check(env!("CARGO_MANIFEST_DIR").as_ref(), "mlxrocm-serve", HEAD);
}
