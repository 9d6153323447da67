//! The committed output of bindgen against HIP's own headers (Debian's libamdhip64-dev).

use super::hip;
use std::fmt::Write;
use std::mem::offset_of;
use std::process::Command;

/// One assertion a constant of `hip.rs`, as C.
fn constants() -> String {
    let mut text = String::new();
    let mut count = 0;
    for line in include_str!("hip.rs").lines() {
        let Some(rest) = line.strip_prefix("pub const ") else {
            continue;
        };
        let (name, rest) = rest.split_once(':').expect("a type");
        let (_, value) = rest.split_once(" = ").expect("a value");
        let value = value.trim_end_matches(';');
        writeln!(text, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
        count += 1;
    }
    assert!(count > 150, "{count} constants");
    text
}

macro_rules! layout {
    ($text:expr, $type:ident { $($field:ident),* }) => {
        let size = size_of::<hip::$type>();
        let name = stringify!($type);
        writeln!($text, "_Static_assert(sizeof({name}) == {size}, \"{name}\");").unwrap();
        $(
            let (field, offset) = (stringify!($field), offset_of!(hip::$type, $field));
            writeln!(
                $text,
                "_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field}\");"
            )
            .unwrap();
        )*
    };
}

#[test]
fn constants_and_layouts_are_those_of_the_headers() {
    let mut text = constants();
    layout!(text, dim3 { x, y, z });
    layout!(
        text,
        hipKernelNodeParams {
            blockDim,
            extra,
            func,
            gridDim,
            kernelParams,
            sharedMemBytes
        }
    );
    layout!(
        text,
        hipMemsetParams {
            dst,
            elementSize,
            height,
            pitch,
            value,
            width
        }
    );
    let (output, errors) = compile(&text);
    assert!(output, "{errors}");
    // The check can fail.
    let (output, errors) = compile("_Static_assert(hipErrorNoDevice == 99, \"seen\");");
    assert!(!output && errors.contains("seen"), "{errors}");
}

fn compile(assertions: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("check.c");
    let head = "#define __HIP_PLATFORM_AMD__\n#define __HIP_PLATFORM_HCC__\n\
                #include <stddef.h>\n#include <hip/hip_runtime_api.h>\n";
    std::fs::write(&source, format!("{head}{assertions}\n")).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut command = Command::new(compiler);
    command
        .args(["-std=c11", "-w", "-fsyntax-only"])
        .arg(&source);
    let output = command.output().expect("a C compiler");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let missing = errors.contains("hip_runtime_api.h: No such file");
    assert!(
        !missing,
        "install HIP's headers: apt-get install libamdhip64-dev"
    );
    (output.status.success(), errors)
}
