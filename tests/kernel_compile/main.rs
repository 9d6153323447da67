//! Run-time compilation and its disk cache, on the software GPU's hiprtc and on stand-ins.
//!
//! What is tested depends on the environment of the process (libraries, cache folder), so each case
//! is a process of its own: this program calls itself with the case's name.

mod cases;
mod ending;
#[path = "../support/gpu.rs"]
mod gpu;
mod lacks;
mod steps;
mod world;

use world::World;

/// A case: prepares a [`World`] and runs children in it, or is the child.
type Case = (&'static str, fn(&World));

const CASES: &[Case] = &[
    ("compiled_once_then_from_the_cache", cases::compiled_once),
    ("a_damaged_entry_is_compiled_again", cases::damaged_entry),
    (
        "an_entry_of_another_target_is_compiled_again",
        cases::wrong_target,
    ),
    ("everything_works_without_a_cache", cases::no_cache),
    ("many_processes_at_once", cases::many_processes),
    (
        "an_unlisted_target_is_compiled_and_said_once",
        cases::unlisted_target,
    ),
    (
        "every_source_compiles_for_unlisted_targets",
        lacks::every_source,
    ),
    ("what_unlisted_targets_lack_is_known", lacks::all_known),
    (
        "a_refused_generic_object_is_compiled",
        cases::refused_generic,
    ),
    ("an_unknown_target_is_an_error", cases::unknown_target),
    (
        "a_compiler_that_aborts_kills_nothing",
        cases::aborting_compiler,
    ),
    (
        "a_target_missing_in_comgr_is_never_compiled",
        cases::comgr_list,
    ),
    ("an_error_carries_the_compilers_log", cases::log_in_error),
    ("clang_compiles_for_nvidia", cases::clang_for_nvidia),
    ("no_compiler_at_all", cases::no_compiler),
    (
        "a_process_ends_when_what_is_compiled_is_there",
        ending::waits,
    ),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, step] = arguments.as_slice()
        && flag == "--step"
    {
        return steps::step(step);
    }
    if arguments.iter().any(|argument| argument == "--list") {
        CASES.iter().for_each(|(name, _)| println!("{name}: test"));
        return;
    }
    let wanted = |name: &str| {
        let mut filters = arguments
            .iter()
            .filter(|argument| !argument.starts_with('-'))
            .peekable();
        filters.peek().is_none() || filters.any(|filter| name.contains(filter.as_str()))
    };
    let (mut passed, mut failed) = (0, 0);
    for (name, case) in CASES.iter().filter(|(name, _)| wanted(name)) {
        let world = World::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&world)));
        println!(
            "test {name} ... {}",
            if result.is_ok() { "ok" } else { "FAILED" }
        );
        match result {
            Ok(()) => passed += 1,
            Err(_) => failed += 1,
        }
    }
    // As other test programs end, for `make test` to count.
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {verdict}. {passed} passed; {failed} failed; 0 ignored");
    if failed > 0 {
        std::process::exit(1);
    }
}
