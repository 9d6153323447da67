//! Numbers that the library takes from kernel sources (`build/constants.rs`).

#[allow(dead_code)] // the build uses the rest
#[path = "../build/constants.rs"]
mod constants;

const TEXT: &str = "
#define ROWS 16u // a comment: 99
#define WIDTH (ROWS * (2 + 6) / 4 - 1)
#define FUNCTION(x) 3
#define PARTS (PLATFORM_NVIDIA ? 33 : 0x40)
#if PLATFORM_NVIDIA
#define STAGES 5
#define ONLY 7
#elif PLATFORM_AMD
#define STAGES 2
#endif
#if defined(__gfx90a__)
#define LANES 64
#else
#define LANES 32
#endif
#if PLATFORM_AMD
#if WAVE == 64
#define DEEP 1
#endif
#endif
#define TWICE 1
#define TWICE 2
enum Kind : u32 { FIRST, SECOND = 4,
                  THIRD };
";

fn of(name: &str) -> Result<Vec<constants::Value>, String> {
    constants::values(TEXT, &[name])
}

#[test]
fn values_of_both_platforms() {
    for (name, values) in [
        ("ROWS", [16, 16]),
        ("WIDTH", [31, 31]),
        ("PARTS", [64, 33]),
        ("STAGES", [2, 5]),
        ("ONLY", [7, 7]),
        ("THIRD", [5, 5]),
    ] {
        assert_eq!(of(name), Ok(vec![(name.to_string(), values, false)]));
    }
    let members: Vec<constants::Value> = [("FIRST", 0), ("SECOND", 4), ("THIRD", 5)]
        .map(|(name, value)| (name.to_string(), [value; 2], true))
        .into();
    assert_eq!(of("enum Kind"), Ok(members));
}

#[test]
fn what_is_no_constant_is_an_error_that_names_it() {
    for name in ["LANES", "DEEP", "TWICE", "FUNCTION", "NOWHERE"] {
        let error = of(name).expect_err(name);
        assert!(error.contains(name), "{error}");
    }
    let source = constants::rust(|_| None).unwrap_err();
    assert!(source.contains("is not there"), "{source}");
}
