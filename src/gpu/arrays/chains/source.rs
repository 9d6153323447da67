//! The text of a chain's kernel: `hip/ops/arrays/chain.hip` says what it is made of.

use super::super::numbers::{CAST, binary_number, unary_number};
use super::find::{Chain, Reads};
use crate::gpu::kernels::Registry;
use crate::ir::{Dtype, Op};
use crate::{Error, Result};
use std::fmt::Write as _;

/// The kernel that the text before generated ones comes with, and what ends that text.
const BESIDE: &str = "mlxrocm_array_full";
const MARK: &str = "// Generated kernels come before this line.";
/// The name of all generated kernels.
pub(super) const NAME: &str = "mlxrocm_array_chain";

/// How a chain's inputs lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As `vectors.h` takes them; those of these bits are one number each.
    Vectors { numbers: u32 },
    /// With any strides.
    Anyhow,
}

fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F16 | Dtype::Bf16 | Dtype::F32)
}

/// What stands before every chain's own source.
pub(super) fn beginning() -> Result<&'static str> {
    let text = Registry::text(BESIDE)?;
    let lost = || Error::Internal("the text of chains has no end".into());
    text.split_once(MARK).map(|(text, _)| text).ok_or_else(lost)
}

impl Chain {
    /// Elements of a group of the first form; `None` if it takes none of these dtypes.
    pub(super) fn width(&self) -> Option<usize> {
        let dtypes = self.inputs.iter().chain([&self.ty().dtype]);
        match dtypes.map(|dtype| dtype.size()).max() {
            Some(size @ (1 | 2 | 4)) => Some(16 / size),
            _ => None,
        }
    }

    /// Groups of a thread, which takes those of several arrays.
    pub(super) fn groups(&self, numbers: u32) -> usize {
        match (
            self.inputs.len() - numbers.count_ones() as usize,
            self.width(),
        ) {
            (..=1, Some(4)) => 4,
            (..=3, Some(4 | 8)) => 2,
            _ => 1,
        }
    }

    /// What is the chain's own of its source.
    pub(super) fn source(&self, form: Form) -> String {
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = self.write(&mut text, form);
        text
    }

    fn write(&self, text: &mut String, form: Form) -> std::fmt::Result {
        let all = 0..self.inputs.len();
        let join = |each: &dyn Fn(usize) -> String| -> String {
            let all: Vec<String> = all.clone().map(each).collect();
            all.join(", ")
        };
        let dtype = |at: usize| self.inputs[at] as u32;
        let to = self.ty().dtype as u32;
        let kind = |dtype| if is_float(dtype) { "f32" } else { "i64" };
        let parameters = join(&|at| format!("{} x{at}", kind(self.inputs[at])));
        writeln!(text, "DEVICE auto chain_of({parameters}) {{")?;
        for (place, member) in self.members.iter().enumerate() {
            let value = |from: &Reads| match from {
                Reads::Input(at) => format!("x{at}"),
                Reads::Member(at) => format!("v{at}"),
            };
            let dtype_of = |from: &Reads| match from {
                Reads::Input(at) => self.inputs[*at] as u32,
                Reads::Member(at) => self.members[*at].ty.dtype as u32,
            };
            let given: Vec<String> = member.inputs.iter().map(value).collect();
            let from = member.inputs.first().map_or(0, dtype_of);
            let to = member.ty.dtype as u32;
            let made = match &member.op {
                Op::Unary(function) => {
                    let function = unary_number(*function).unwrap_or(CAST);
                    format!("unary_of<{function}, {from}, {to}>({})", given[0])
                }
                Op::Binary(function) => {
                    let function = binary_number(*function).unwrap_or(0);
                    format!("binary_of<{function}, {from}, {to}>({})", given.join(", "))
                }
                Op::Select => format!("{} ? {} : {}", given[0], given[1], given[2]),
                _ => format!("unary_of<{CAST}, {from}, {to}>({})", given[0]),
            };
            writeln!(
                text,
                "    const {} v{place} = {made};",
                kind(member.ty.dtype)
            )?;
        }
        writeln!(
            text,
            "    return v{};\n}}",
            self.members.len().saturating_sub(1)
        )?;
        let pointers = join(&|at| format!("const void *x{at}"));
        match (form, self.width()) {
            (Form::Vectors { numbers }, Some(width)) => {
                let groups = self.groups(numbers);
                let is_number = |at: &usize| numbers >> at & 1 == 1;
                let arrays = all.clone().filter(|at| !is_number(at));
                let steps = join(&|at| format!("i32 row{at}, u32 step{at}"));
                let declared: String = all
                    .clone()
                    .map(|at| format!("    const void *x{at}; i32 row{at}; u32 step{at};\n"))
                    .collect();
                let once: String = all
                    .clone()
                    .filter(is_number)
                    .map(|at| {
                        format!(
                            "        const auto n{at} = element_in<{0}>(element_at<{0}>(x{at}, 0));\n",
                            dtype(at)
                        )
                    })
                    .collect();
                let bits: String = arrays
                    .clone()
                    .map(|at| {
                        format!(
                            "        Bits<V * bytes_of({0})> bits{at}[GROUPS];\n",
                            dtype(at)
                        )
                    })
                    .collect();
                let loads: String = arrays.clone().map(|at| {
                    format!(
                        "        load_groups<{0}, V>(bits{at}, x{at}, places, row{at}, step{at});\n",
                        dtype(at)
                    )
                }).collect();
                let spreads: String = arrays
                    .map(|at| format!("        spread<{0}, V>(bits{at}, step{at});\n", dtype(at)))
                    .collect();
                let given = join(&|at| match is_number(&at) {
                    true => format!("n{at}"),
                    false => format!("element_in<{0}>(bits_in<{0}>(bits{at}[j], i))", dtype(at)),
                });
                let one = join(&|at| {
                    format!(
                        "element_in<{0}>(element_at<{0}>(x{at}, plane.place(at, row{at}, step{at})))",
                        dtype(at)
                    )
                });
                let fields = join(&|at| format!("x{at}, row{at}, step{at}"));
                let kind = kind(self.ty().dtype);
                write!(
                    text,
                    "struct Chain {{\n    static constexpr int V = {width}, GROUPS = {groups};\n{declared}    void *out;\n    \
                     Plane plane;\n    METHOD void groups(const u32 (&at)[GROUPS], u32 valid) const {{\n{bits}        \
                     const Places<GROUPS> places = plane.places(at);\n{once}{loads}{spreads}        \
                     UNROLL for (u32 j = 0; j < GROUPS; j++) {{\n            if (j >= valid) continue;\n            \
                     {kind} values[V];\n            UNROLL for (int i = 0; i < V; i++) values[i] = chain_of({given});\n            \
                     store_elements<{to}>(out, at[j], values);\n        }}\n    }}\n    \
                     METHOD void one(u32 at) const {{ store_element<{to}>(out, at, chain_of({one})); }}\n}};\n\
                     KERNEL(256) void {NAME}({pointers}, void *out, u32 count, u32 columns, {steps}) {{\n    \
                     grid_dependency_launch();\n    grid_dependency_wait();\n    \
                     over_groups<Chain::V, Chain::GROUPS>(Chain{{{fields}, out, Plane{{count, columns}}}}, count);\n}}\n"
                )
            }
            _ => {
                let strides = join(&|at| format!("STRIDES(x{at})"));
                let bits: String = all
                    .clone()
                    .map(|at| {
                        let each = (0..6)
                            .map(|axis| format!("x{at}{axis}"))
                            .collect::<Vec<_>>()
                            .join(", ");
                        format!(
                            "        bits{at}[j] = element_at<{0}>(x{at}, index.at({each}));\n",
                            dtype(at)
                        )
                    })
                    .collect();
                let declared = join(&|at| format!("bits{at}[PER_THREAD]"));
                let given = join(&|at| format!("element_in<{0}>(bits{at}[j])", dtype(at)));
                write!(
                    text,
                    "KERNEL(256) void {NAME}({pointers}, void *out, u32 count, AXES, {strides}) {{\n    \
                     grid_dependency_launch();\n    grid_dependency_wait();\n    \
                     const u32 first = block_x() * BLOCK + thread_x();\n    u64 {declared};\n    \
                     UNROLL for (u32 j = 0; j < PER_THREAD; j++) {{\n        \
                     const Index index = index_of(minimum(first + j * 256, count - 1), count, s1, s2, s3, s4, s5);\n{bits}    }}\n    \
                     UNROLL for (u32 j = 0; j < PER_THREAD; j++)\n        if (first + j * 256 < count) \
                     store_element<{to}>(out, first + j * 256, chain_of({given}));\n}}\n"
                )
            }
        }
    }
}
