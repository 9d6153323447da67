//! Kernels that an application writes for its arrays.

use super::lazy::home_of;
use super::{Array, Home};
use crate::cpu::ops::number_bytes;
use crate::gpu::arrays::{PRELUDE, Place};
use crate::ir::{CustomKernel, Dtype, Op, Shape, Type};
use crate::{Error, Result};
use std::fmt::Write;
use std::sync::Arc;

/// What a kernel is made of.
#[derive(Debug, Clone, Default)]
pub struct KernelSource {
    /// The function's name.
    pub name: String,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
    /// The function's body.
    pub body: String,
    /// What stands before the function.
    pub header: String,
    /// Inputs are given as they lie, not copied to lie row after row.
    pub strided: bool,
}

/// A name in the source that each call gives a meaning.
#[derive(Debug, Clone)]
pub enum Template {
    /// A type.
    Dtype(String, Dtype),
    /// A whole number.
    Int(String, i64),
    /// A truth value.
    Bool(String, bool),
}

/// How a kernel is called.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// Dtype and shape of each output.
    pub outputs: Vec<(Dtype, Shape)>,
    /// Meanings of names.
    pub templates: Vec<Template>,
    /// Work items along x, y and z; rounded up to whole blocks.
    pub grid: [u32; 3],
    /// Work items of a block.
    pub block: [u32; 3],
    /// What the outputs hold before.
    pub initial: Option<f64>,
}

/// A kernel of the application on a GPU. Immutable: any thread.
pub struct Kernel {
    place: Arc<Place>,
    source: KernelSource,
}

fn invalid(name: &str, what: impl std::fmt::Display) -> Error {
    Error::InvalidArgument(format!("kernel {name}: {what}"))
}

/// A name of the language.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

/// The language's type of a dtype.
fn type_of(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bool => "bool",
        Dtype::U8 => "unsigned char",
        Dtype::U16 => "unsigned short",
        Dtype::U32 => "unsigned int",
        Dtype::U64 => "unsigned long long",
        Dtype::I8 => "signed char",
        Dtype::I16 => "short",
        Dtype::I32 => "int",
        Dtype::I64 => "long long",
        Dtype::F16 => "float16",
        Dtype::F32 => "float",
        Dtype::F64 => "double",
        Dtype::Bf16 => "bfloat16",
        Dtype::C64 => "complex64",
    }
}

impl Kernel {
    /// A kernel for the arrays of a GPU. It is compiled when a call says what it is for.
    ///
    /// # Errors
    /// `Unsupported` for the CPU; `InvalidArgument` for names that are none or twice there.
    pub fn new(home: &Home, source: KernelSource) -> Result<Kernel> {
        let name = &source.name;
        let Home::Gpu(place) = home else {
            return Err(Error::Unsupported(format!(
                "kernel {name}: kernels of an application run on GPUs, the CPU has no compiler; write it with \
                 operations on arrays, or open a GPU"
            )));
        };
        let all = [&source.inputs[..], &source.outputs].concat();
        for (at, other) in all.iter().chain([name]).enumerate() {
            if !is_name(other) {
                return Err(invalid(name, format!("{other:?} is no name in C")));
            }
            if all[..at.min(all.len())].contains(other) {
                return Err(invalid(name, format!("{other} names two things")));
            }
        }
        if source.outputs.is_empty() {
            return Err(invalid(name, "no outputs"));
        }
        Ok(Kernel {
            place: place.clone(),
            source,
        })
    }

    /// The outputs of a call: lazy, but the source is compiled here, so that what is wrong with it is said here.
    ///
    /// # Errors
    /// `InvalidArgument` for numbers of arrays that do not fit, for grids that no device takes, and with the
    /// compiler's log; `Unsupported` if there is no compiler.
    pub fn call(&self, inputs: &[Array], call: &Call) -> Result<Vec<Array>> {
        let source = &self.source;
        let name = &source.name;
        let (given, named) = (inputs.len(), source.inputs.len());
        if given != named {
            return Err(invalid(name, format!("{given} inputs, it has {named}")));
        }
        let (given, named) = (call.outputs.len(), source.outputs.len());
        if given != named {
            return Err(invalid(
                name,
                format!("types of {given} outputs, it has {named}"),
            ));
        }
        let threads: u64 = call.block.iter().map(|&size| u64::from(size)).product();
        if call.block.contains(&0) || threads > 1 << 16 {
            return Err(invalid(name, format!("blocks of {:?}", call.block)));
        }
        let blocks = |at: usize| call.grid[at].div_ceil(call.block[at]);
        let mentioned = |what: &str| -> Vec<usize> {
            let names = source.inputs.iter().enumerate();
            let named = |name: &str| source.body.contains(&format!("{name}_{what}"));
            let named = names.filter(|(_, name)| named(name));
            named.map(|(place, _)| place).collect()
        };
        let (sizes, strides) = (mentioned("shape"), mentioned("strides"));
        let initial = call.initial.map(|number| {
            let dtypes = call.outputs.iter().map(|(dtype, _)| *dtype);
            dtypes.map(|dtype| number_bytes(number, dtype)).collect()
        });
        let custom = CustomKernel {
            name: name.clone(),
            source: self.text(inputs, call, &sizes, &strides)?,
            grid: [blocks(0), blocks(1), blocks(2)],
            block: call.block,
            initial: initial.unwrap_or_default(),
            rows: !source.strided,
            sizes,
            strides,
        };
        let most = self.place.custom_kernel(&custom)?.facts().max_block_threads;
        if threads > u64::from(most) {
            let what = format!("blocks of {threads} work items, at most {most} are possible");
            return Err(invalid(name, what));
        }
        let outputs = call.outputs.iter().map(|(dtype, shape)| Type {
            dtype: *dtype,
            shape: shape.clone(),
        });
        let mine = Home::Gpu(self.place.clone());
        let home = mine.or(&home_of(inputs)).clone();
        let op = Op::CustomKernel(Arc::new(custom));
        Ok(Array::call_at(
            home,
            op,
            inputs.iter().cloned().collect(),
            outputs.collect(),
        ))
    }

    /// The whole source of a call.
    fn text(
        &self,
        inputs: &[Array],
        call: &Call,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<String> {
        let source = &self.source;
        let mut text = PRELUDE.to_string();
        for template in &call.templates {
            let (name, line) = match template {
                Template::Dtype(name, dtype) => {
                    (name, format!("typedef {} {name};", type_of(*dtype)))
                }
                Template::Int(name, value) => (name, format!("constexpr int {name} = {value};")),
                Template::Bool(name, value) => (name, format!("constexpr bool {name} = {value};")),
            };
            let value = match template {
                Template::Int(_, value) => i32::try_from(*value).is_ok(),
                _ => true,
            };
            if !is_name(name) || !value {
                return Err(invalid(&source.name, format!("template {template:?}")));
            }
            text += &line;
            text.push('\n');
        }
        let mut parameters: Vec<String> = Vec::new();
        for (name, array) in source.inputs.iter().zip(inputs) {
            parameters.push(format!("const {} *{name}", type_of(array.dtype())));
        }
        for (name, (dtype, _)) in source.outputs.iter().zip(&call.outputs) {
            parameters.push(format!("{} *{name}", type_of(*dtype)));
        }
        let mut locals = String::new();
        let mut numbers = |places: &[usize], what: &str, ty: &str| {
            for &place in places {
                let (name, rank) = (&source.inputs[place], inputs[place].rank());
                let each = |axis: usize| format!("{name}_{what}_{axis}_");
                parameters.extend((0..rank).map(|axis| format!("{ty} {}", each(axis))));
                let all: Vec<String> = (0..rank).map(each).collect();
                // Arrays without elements are not of the language.
                let (room, all) = (rank.max(1), all.join(", "));
                // Writing to a String does not fail.
                let _ = writeln!(locals, "    const {ty} {name}_{what}[{room}] = {{{all}}};");
            }
        };
        numbers(sizes, "shape", "int");
        numbers(strides, "strides", "long long");
        for (name, array) in source.inputs.iter().zip(inputs) {
            if source.body.contains(&format!("{name}_ndim")) {
                let _ = writeln!(locals, "    constexpr int {name}_ndim = {};", array.rank());
            }
        }
        if parameters.len() > crate::gpu::MAX_ARGS {
            let (count, most) = (parameters.len(), crate::gpu::MAX_ARGS);
            let what = format!(
                "{count} arguments, at most {most} are possible: use fewer _shape and _strides"
            );
            return Err(invalid(&source.name, what));
        }
        let (name, parameters) = (&source.name, parameters.join(", "));
        let (header, body) = (&source.header, &source.body);
        let head =
            format!("{header}\nextern \"C\" __global__ void {name}({parameters}) {{\n{locals}");
        // Messages of the compiler count the lines of the body.
        Ok(format!("{text}{head}#line 1 \"{name}\"\n{body}\n}}\n"))
    }
}
