//! The command line of clang for a kernel source; the library compiles with the same at run time.

/// Whether the target is NVIDIA's.
pub fn is_nvidia(target: &str) -> bool {
    target.starts_with("sm_")
}

/// Everything that decides the object besides the text; part of each cached object's key.
pub fn arguments(target: &str) -> Vec<String> {
    let mut list: Vec<String> = [
        "-std=c++17",
        "-O3",
        "-Wall",
        "-Wextra",
        "-Wno-unused-function",
        "-nostdinc",
        "-ffp-contract=fast",
    ]
    .map(String::from)
    .to_vec();
    let mut add =
        |arguments: &[&str]| list.extend(arguments.iter().map(|argument| argument.to_string()));
    if is_nvidia(target) {
        add(&[
            "-x",
            "cuda",
            "--cuda-device-only",
            "-nocudainc",
            "-nocudalib",
            "-S",
        ]);
        // PTX 8.1 is what CUDA 12.1 reads.
        add(&["-Xclang", "-target-feature", "-Xclang", "+ptx81"]);
        add(&[&format!("--cuda-gpu-arch={target}")]);
    } else {
        add(&[
            "-x",
            "hip",
            "--offload-device-only",
            "--no-gpu-bundle-output",
            "-nogpulib",
            "-nogpuinc",
        ]);
        // Local memory of 16-bit numbers is read and written 16 bytes at a time. (PTX comes out otherwise with it: NVIDIA's
        // stays what was measured.)
        add(&["-fno-strict-aliasing"]);
        // Else a symbol's name would be a hash of the command line.
        add(&["-cuid=mlxrocm", "-Wno-unused-command-line-argument"]);
        // Generic targets exist from version 6 on; what every ROCm 6 and 7 loads is 5.
        let generic = target.ends_with("-generic");
        add(&[if generic {
            "-mcode-object-version=6"
        } else {
            "-mcode-object-version=5"
        }]);
        add(&[&format!("--offload-arch={target}")]);
    }
    list
}
