//! Every function of arrays, as include/mlxrocm.json has them, with each pointer NULL in turn and with each handle that
//! is freed or never was one: a status, a message, no crash. A C program is made of the description and runs under the
//! sanitizers of gcc.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/gpu_env.rs"]
mod gpu_env;

use cc::{C_WARNINGS, command, finish, scratch, stdout};
use serde_json::Value;
use std::fmt::Write;
use std::time::Duration;

/// What a parameter usually is: something of its type that a call can live with.
fn usual(kind: &str, name: &str) -> String {
    match kind {
        "const mlxrocm_array *" => "x".into(),
        "const mlxrocm_array *const *" => "arrays".into(),
        "const mlxrocm_array_map *" => "map".into(),
        "const mlxrocm_device *" => "device".into(),
        "const mlxrocm_array_kernel *" => "(const mlxrocm_array_kernel *)NO_HANDLE".into(),
        "const mlxrocm_buffer *" => "(const mlxrocm_buffer *)NO_HANDLE".into(),
        "const mlxrocm_stream *" => "(const mlxrocm_stream *)NO_HANDLE".into(),
        "mlxrocm_buffer **" => "&made_buffer".into(),
        "uint64_t *" => "&offset".into(),
        "mlxrocm_array_map **" => "&made_map".into(),
        "mlxrocm_array_kernel **" => "&made_kernel".into(),
        "const mlxrocm_array_kernel_options *" => "&options".into(),
        "const mlxrocm_array_kernel_call *" => "&kernel_call".into(),
        "mlxrocm_error **" => "&error".into(),
        "const int64_t *" | "int64_t *" => "ints".into(),
        "double *" => "&number".into(),
        "size_t *" => "&length".into(),
        "const void *" | "void *" => "room".into(),
        "const char *" => "\"/nonexistent/x\"".into(),
        "mlxrocm_user_data_free" => "NULL".into(),
        "size_t" if name.ends_with("_length") => "MLXROCM_NUL".into(),
        "size_t" if name == "capacity" => "8".into(),
        "size_t" if name == "size" => "sizeof room".into(),
        "size_t" | "int64_t" | "uint64_t" => "1".into(),
        "uint32_t" => "MLXROCM_DTYPE_FLOAT32".into(),
        "int32_t" => "0".into(),
        "double" => "1.0".into(),
        kind => panic!("a type that this test does not know: {kind}"),
    }
}

/// Handles, which may be freed ones.
fn is_handle(kind: &str) -> bool {
    let others = ["_options *", "_call *", "*const *"];
    kind.starts_with("const mlxrocm_") && !others.iter().any(|end| kind.ends_with(end))
}

/// A call with one argument replaced.
fn call(function: &Value, replaced: usize, with: &str) -> String {
    let name = function["name"].as_str().unwrap();
    let parameters = function["parameters"].as_array().unwrap();
    let mut results = 0;
    let arguments = parameters.iter().enumerate().map(|(place, parameter)| {
        let kind = parameter["type"].as_str().unwrap();
        if place == replaced {
            return with.to_string();
        }
        if kind == "mlxrocm_array **" {
            results += 1;
            return format!("out + {}", results - 1);
        }
        usual(kind, parameter["name"].as_str().unwrap())
    });
    format!("{name}({})", arguments.collect::<Vec<_>>().join(", "))
}

fn program() -> (String, usize) {
    let text = std::fs::read_to_string(cc::root().join("include/mlxrocm.json")).unwrap();
    let description: Value = serde_json::from_str(&text).unwrap();
    let functions = description["functions"].as_array().unwrap();
    let mut made = String::from(HEAD);
    let (mut calls, mut number) = (String::new(), 0);
    for function in functions {
        let name = function["name"].as_str().unwrap();
        if !name.starts_with("mlxrocm_array_") || name.ends_with("_free") {
            continue;
        }
        let can_fail = function["returns"] == "mlxrocm_status";
        let mut body = String::new();
        let mut one = |call: &str, wanted: &str| {
            number += 1;
            match can_fail {
                true => writeln!(body, "    TRY({wanted}, {call});").unwrap(),
                false => writeln!(body, "    (void){call};").unwrap(),
            }
        };
        one(&call(function, usize::MAX, ""), "ANY");
        for (place, parameter) in function["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
        {
            let kind = parameter["type"].as_str().unwrap();
            if !kind.ends_with('*')
                || kind == "mlxrocm_error **"
                || kind == "void *" && name.ends_with("borrowed")
            {
                continue;
            }
            // Lists without a length of their own, and texts beside which nothing stands, are checked by their docs.
            let refused = parameter["nullable"] != true
                && !parameter["doc"].as_str().unwrap().contains("NULL");
            one(
                &call(function, place, "NULL"),
                if refused { "NULL_OR_INVALID" } else { "ANY" },
            );
            if is_handle(kind) {
                let cast = format!("({kind})");
                let gone = if kind == "const mlxrocm_array *" {
                    "gone"
                } else {
                    "NO_HANDLE"
                };
                one(&call(function, place, &format!("{cast}{gone}")), "NOT_LIVE");
                one(
                    &call(function, place, &format!("{cast}NO_HANDLE")),
                    "NOT_LIVE",
                );
            }
            if kind == "const mlxrocm_array *const *" {
                one(&call(function, place, "gone_arrays"), "NOT_LIVE");
                one(&call(function, place, "null_arrays"), "NULL_OR_INVALID");
            }
        }
        if can_fail {
            // Without room for an error object.
            let last = function["parameters"].as_array().unwrap().len() - 1;
            number += 1;
            writeln!(body, "    (void){}; clear();", call(function, last, "NULL")).unwrap();
        }
        writeln!(made, "static void try_{name}(void) {{\n{body}}}\n").unwrap();
        writeln!(calls, "    try_{name}();").unwrap();
    }
    writeln!(
        made,
        "int main(void) {{\n    begin();\n{calls}    end();\n    return 0;\n}}"
    )
    .unwrap();
    (made, number)
}

const HEAD: &str = r#"#include "check.h"

enum { ANY, NULL_OR_INVALID, NOT_LIVE };
static mlxrocm_array *x, *gone, *out[16];
static const mlxrocm_array *arrays[2], *gone_arrays[1], *null_arrays[1];
static mlxrocm_array_map *map, *made_map;
static mlxrocm_array_kernel *made_kernel;
static mlxrocm_buffer *made_buffer;
static uint64_t offset;
static mlxrocm_device *device;
static mlxrocm_array_kernel_options options;
static mlxrocm_array_kernel_call kernel_call;
static mlxrocm_error *error;
static int64_t ints[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static double number;
static size_t length, nulls, tries;
static char room[4096];

/* What a call gave is used, and freed. */
static void clear(void) {
    for (size_t i = 0; i < sizeof out / sizeof out[0]; i++) {
        if (out[i]) (void)mlxrocm_array_eval((const mlxrocm_array *const *)&out[i], 1, NULL);
        mlxrocm_array_free(out[i]);
        out[i] = NULL;
    }
    mlxrocm_array_map_free(made_map);
    made_map = NULL;
    mlxrocm_array_kernel_free(made_kernel);
    made_kernel = NULL;
    mlxrocm_buffer_free(made_buffer);
    made_buffer = NULL;
}

static void judge(const char *call, int wanted, mlxrocm_status got) {
    const char *message = mlxrocm_error_message(error, NULL);
    int right = got <= 0 || got == MLXROCM_END;
    right = right && (got < 0) == (error != NULL) && (got < 0) == (message[0] != '\0') && !strchr(message, '\n');
    right = right && mlxrocm_status_name(got, NULL)[0] != '\0' && got != MLXROCM_ERROR_INTERNAL;
    tries++;
    nulls += wanted == NULL_OR_INVALID && got == MLXROCM_ERROR_NULL_ARGUMENT;
    /* The file that is not there may be told first. */
    if (wanted == NULL_OR_INVALID)
        right = right && (got == MLXROCM_ERROR_NULL_ARGUMENT || got == MLXROCM_ERROR_INVALID_ARGUMENT || got == MLXROCM_ERROR_IO);
    if (wanted == NOT_LIVE) right = right && got == MLXROCM_ERROR_INVALID_ARGUMENT;
    if (!right) {
        fprintf(stderr, "%s\n  returned %s: %s\n", call, mlxrocm_status_name(got, NULL), message);
        exit(1);
    }
    mlxrocm_error_free(error);
    error = NULL;
    clear();
}

#define TRY(wanted, call) judge(#call, wanted, call)

static void begin(void) {
    const float numbers[4] = {1, 2, 3, 4};
    const int64_t shape[2] = {2, 2};
    OK(mlxrocm_array_from_data(numbers, shape, 2, MLXROCM_DTYPE_FLOAT32, &x, &error));
    OK(mlxrocm_array_clone(x, &gone, &error));
    mlxrocm_array_free(gone);
    arrays[0] = arrays[1] = x;
    gone_arrays[0] = gone;
    OK(mlxrocm_array_map_new(&map, &error));
    OK(mlxrocm_device_open(0, &device, &error));
    options.struct_size = sizeof options;
    kernel_call.struct_size = sizeof kernel_call;
}

static void end(void) {
    mlxrocm_array_free(NULL);
    mlxrocm_array_map_free(NULL);
    mlxrocm_array_kernel_free(NULL);
    mlxrocm_array_free(gone);
    mlxrocm_array_free((mlxrocm_array *)NO_HANDLE);
    /* Everything is as it was. */
    double sum = 0;
    OK(mlxrocm_array_sum(x, NULL, 0, 0, &out[0], &error));
    OK(mlxrocm_array_item_f64(out[0], &sum, &error));
    CHECK(sum == 10);
    clear();
    mlxrocm_array_free(x);
    mlxrocm_array_map_free(map);
    mlxrocm_device_free(device);
    printf("%zu calls, %zu said NULL_ARGUMENT\n", tries, nulls);
}

"#;

#[test]
fn every_function_of_arrays_takes_null_and_freed_handles() {
    let (source, calls) = program();
    let path = scratch().join("array_null.c");
    std::fs::write(&path, source).unwrap();
    let include = format!("-I{}", cc::root().join("tests/c").display());
    let mut flags = C_WARNINGS.to_vec();
    flags.extend([
        "-std=gnu11",
        "-O0",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        // NULL where gcc knows that it is one.
        "-Wno-nonnull",
        include.as_str(),
    ]);
    let program = cc::compile_all("gcc", &[path], &flags, "array_null");
    let mut command = command(program, &[]);
    command.env("ASAN_OPTIONS", "detect_leaks=1");
    let output = finish(gpu_env::none(&mut command), "", Duration::from_secs(180));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{errors}", output.status);
    let said = stdout(&output);
    println!("{calls} calls in the program; {said}");
    let numbers: Vec<usize> = said
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(numbers[0] > 1000 && numbers[1] > 500, "{said}");
}
