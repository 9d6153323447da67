//! The collection of small random models.

use super::{F16, Rope, Spec, Storage};
use mlxrocm::formats::{Format, ScalarType};

/// The GGUF formats with the names that files carry.
pub const GGUF_FORMATS: [(&str, Format); 13] = [
    ("f32", Format::Dense(ScalarType::F32)),
    ("f16", Format::Dense(F16)),
    ("bf16", Format::Dense(ScalarType::BF16)),
    ("q4_0", Format::Q4_0),
    ("q4_1", Format::Q4_1),
    ("q5_0", Format::Q5_0),
    ("q5_1", Format::Q5_1),
    ("q8_0", Format::Q8_0),
    ("q2_k", Format::Q2K),
    ("q3_k", Format::Q3K),
    ("q4_k", Format::Q4K),
    ("q5_k", Format::Q5K),
    ("q6_k", Format::Q6K),
];

/// The models of formats that came later, whose references are files of their own.
pub fn later_formats() -> Vec<Spec> {
    let gguf = [
        ("q8_1", Format::Q8_1),
        ("iq1_s", Format::Iq1S),
        ("iq1_m", Format::Iq1M),
        ("iq2_xxs", Format::Iq2Xxs),
        ("iq2_xs", Format::Iq2Xs),
        ("iq2_s", Format::Iq2S),
        ("iq3_xxs", Format::Iq3Xxs),
        ("iq3_s", Format::Iq3S),
        ("iq4_nl", Format::Iq4Nl),
        ("iq4_xs", Format::Iq4Xs),
        ("tq1_0", Format::Tq1_0),
        ("tq2_0", Format::Tq2_0),
        ("mxfp4", Format::GgufMxfp4),
        ("nvfp4", Format::GgufNvfp4),
    ];
    let float8 = |rows, cols, scale| Format::Float8 { rows, cols, scale };
    let centered = |bits, group, scale| Format::Centered { bits, group, scale };
    let folders = [
        ("mlx-mxfp4", Format::Mxfp4),
        ("mlx-mxfp8", Format::Mxfp8),
        ("mlx-nvfp4", Format::Nvfp4),
        (
            "gptq",
            Format::Gptq {
                group: 128,
                plus: 1,
            },
        ),
        ("gptq-v2", Format::Gptq { group: 32, plus: 0 }),
        ("awq", Format::Awq { group: 64 }),
        ("int4", centered(4, 128, ScalarType::BF16)),
        ("int8", centered(8, 64, F16)),
        ("fp8-blocks", float8(128, 128, ScalarType::F32)),
        ("fp8-rows", float8(1, 256, ScalarType::BF16)),
    ];
    let families = ["llama", "qwen2", "qwen3"];
    let mut specs = Vec::new();
    for (i, (name, format)) in gguf.into_iter().enumerate() {
        let family = families[i % 3];
        let storage = Storage::Gguf(3, format);
        specs.push(Spec::new(format!("{family}-{name}.gguf"), family, storage));
    }
    for (i, (name, format)) in folders.into_iter().enumerate() {
        let family = families[i % 3];
        let storage = Storage::Folder(format);
        specs.push(Spec::new(format!("{family}-{name}"), family, storage));
    }
    specs
}

const SCALARS: [(&str, ScalarType); 3] = [
    ("f16", F16),
    ("bf16", ScalarType::BF16),
    ("f32", ScalarType::F32),
];

/// Every model of the collection.
pub fn all() -> Vec<Spec> {
    let mut specs = Vec::new();
    for (name, format) in GGUF_FORMATS {
        let storage = Storage::Gguf(3, format);
        specs.push(Spec::new(format!("llama-{name}.gguf"), "llama", storage));
    }
    let q4_1 = Storage::Gguf(3, Format::Q4_1);
    for family in ["qwen2", "qwen3"] {
        for (name, format) in [("q4_1", Format::Q4_1), ("q6_k", Format::Q6K)] {
            let storage = Storage::Gguf(3, format);
            specs.push(Spec::new(format!("{family}-{name}.gguf"), family, storage));
        }
    }
    for version in [1, 2] {
        let storage = Storage::Gguf(version, Format::Q8_0);
        specs.push(Spec::new(
            format!("llama-v{version}.gguf"),
            "llama",
            storage,
        ));
    }
    // Every number of bits with every group; families and scale types take turns.
    let families = ["llama", "qwen2", "qwen3"];
    for (i, bits) in [2, 3, 4, 5, 6, 8].into_iter().enumerate() {
        for (j, group) in [32, 64, 128].into_iter().enumerate() {
            let (scalar_name, scale) = SCALARS[(i + j) % 3];
            let family = families[(i + 2 * j) % 3];
            let name = format!("{family}-mlx-b{bits}-g{group}-{scalar_name}");
            specs.push(Spec::new(
                name,
                family,
                Storage::Affine { bits, group, scale },
            ));
        }
    }
    for ((name, scalar), family) in SCALARS.into_iter().zip(families) {
        let name = format!("{family}-mlx-dense-{name}");
        specs.push(Spec::new(name, family, Storage::Dense(scalar)));
    }
    for family in families {
        let name = format!("{family}-mlx-mixed");
        specs.push(Spec::new(name, family, Storage::Mixed));
    }
    let b4 = Storage::Affine {
        bits: 4,
        group: 64,
        scale: F16,
    };
    let special = |name: &str, family, storage, change: fn(&mut Spec)| {
        let mut spec = Spec::new(name, family, storage);
        change(&mut spec);
        spec
    };
    specs.extend([
        special("llama-mlx-nested", "llama", b4, |s| s.nested = true),
        special("llama-mlx-sharded", "llama", b4, |s| s.shards = 3),
        special("mistral-mlx-window", "mistral", b4, |s| s.window = Some(16)),
        special("llama-mlx-rope-linear", "llama", b4, |s| {
            s.rope = Rope::Linear
        }),
        special("llama-mlx-rope-llama3", "llama", b4, |s| {
            s.rope = Rope::Llama3
        }),
        special("qwen2-mlx-rope-yarn", "qwen2", b4, |s| s.rope = Rope::Yarn),
        special("qwen3-mlx-wide-heads", "qwen3", b4, |s| s.head_dim = 128),
        special("llama-rope-linear.gguf", "llama", q4_1, |s| {
            s.rope = Rope::Linear
        }),
        special("llama-rope-factors.gguf", "llama", q4_1, |s| {
            s.rope = Rope::Llama3
        }),
        special("qwen2-rope-yarn.gguf", "qwen2", q4_1, |s| {
            s.rope = Rope::Yarn
        }),
        special("qwen3-wide-heads.gguf", "qwen3", q4_1, |s| s.head_dim = 128),
    ]);
    specs
}
