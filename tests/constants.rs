//! What the library takes from kernel sources: numbers (`build/constants.rs`), names of parameters (`build/parameters.rs`).

#[allow(dead_code)] // the build uses the rest of all these
#[path = "../build/arguments.rs"]
mod arguments;
#[path = "../build/conditions.rs"]
mod conditions;
#[allow(dead_code)]
#[path = "../build/constants.rs"]
mod constants;
#[allow(dead_code)]
#[path = "../build/parameters.rs"]
mod parameters;
#[allow(dead_code)]
#[path = "../build/source.rs"]
mod source;

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

const KERNELS: &str = "
#define KERNEL(threads) extern C void
#define STEPS(a, b) i32 a##_row, u32 b /* one (of two) */
#define NUMBERS f32 eps, \\
    STEPS(x, last)
#define OF_TYPE(NAME, T, ...) KERNEL(64) NAME(const T *x, NUMBERS) { call<__VA_ARGS__>(x, (u32)eps); }
#if PLATFORM_NVIDIA && defined(ONE)
#define ELSEWHERE(NAME) KERNEL(64) NAME(u64 bytes) {}
#else
#define ELSEWHERE(NAME)
#endif
KERNEL(256) mlxrocm_plain(u8 *RESTRICT to, const u8 *, u32, // no mlxrocm_comment(u32 of)
                          i64 count) {
    to[0] = count;
}
OF_TYPE(mlxrocm_typed, f16, 1, 2)
ELSEWHERE(mlxrocm_elsewhere)
KERNEL(1) mlxrocm_none() {}
";

#[test]
fn parameters_as_sources_name_them() {
    let found = parameters::of_text(KERNELS).unwrap();
    let of = |kernel: &str| -> Vec<(&str, &str)> {
        let list = found.get(kernel).expect(kernel).iter();
        list.map(|(kind, name)| (*kind, name.as_str())).collect()
    };
    let plain = [
        ("Pointer", "to"),
        ("Pointer", ""),
        ("U32", ""),
        ("I64", "count"),
    ];
    assert_eq!(of("mlxrocm_plain"), plain);
    let typed = [
        ("Pointer", "x"),
        ("F32", "eps"),
        ("I32", "x_row"),
        ("U32", "last"),
    ];
    assert_eq!(of("mlxrocm_typed"), typed);
    assert_eq!(of("mlxrocm_elsewhere"), [("U64", "bytes")]);
    assert_eq!(of("mlxrocm_none"), []);
    assert_eq!(found.len(), 4);
}

#[test]
fn parameters_that_are_not_understood_or_differ_are_errors() {
    let error = parameters::of_text("void mlxrocm_k(f16 x) {}").unwrap_err();
    assert!(
        error.contains("mlxrocm_k") && error.contains("f16 x"),
        "{error}"
    );
    let two =
        "#if PLATFORM_AMD\nvoid mlxrocm_k(u32 a) {}\n#else\nvoid mlxrocm_k(u32 b) {}\n#endif\n";
    let error = parameters::of_text(two).unwrap_err();
    assert!(error.contains("mlxrocm_k"), "{error}");
}
