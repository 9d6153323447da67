//! Weights of model folders in the formats of other tools, as they were published: AWQ, GPTQ,
//! compressed-tensors, 8-bit floats, gpt-oss' own mxfp4. All stay what they are in the file.

use super::folder::FolderTensors;
use super::method::Method;
use super::quantization::Quantization;
use crate::Result;
use crate::formats::safetensors::{Dtype, Tensor};
use crate::formats::{Format, Weight};

/// Ends of names of tensors that belong to a weight beside them.
const PARTS: [&str; 14] = [
    ".scales",
    ".biases",
    ".qzeros",
    ".g_idx",
    ".weight_scale",
    ".weight_scale_inv",
    ".weight_shape",
    ".weight_zero_point",
    ".weight_g_idx",
    ".weight_global_scale",
    ".input_scale",
    ".input_global_scale",
    ".k_scale",
    ".v_scale",
];

impl FolderTensors {
    /// Whether a tensor is a part of the weight beside it.
    pub(super) fn belongs_to_another(&self, name: &str) -> bool {
        let blocks = |base: &str| self.folder.tensor(&format!("{base}_blocks")).is_some();
        PARTS.iter().any(|part| name.ends_with(part))
            || name.strip_suffix("_scales").is_some_and(blocks)
    }

    /// The weights whose codes (or biases) `tensor` holds, with the names they are found by, where its own name
    /// says that it holds some.
    pub(super) fn published(
        &self,
        name: &str,
        tensor: &Tensor,
        quantization: &Quantization,
    ) -> Result<Vec<(String, Weight)>> {
        let method = quantization.method();
        let weight = if let Some(module) = name.strip_suffix(".qweight") {
            let weight = match method {
                Some(Method::Gptq { group, plus }) => self.gptq(module, name, tensor, group, plus),
                Some(Method::Awq { group }) => self.awq(module, name, tensor, group),
                _ => Err(self.unsaid(name, "gptq or awq", method)),
            };
            (module, weight?)
        } else if let Some(module) = name.strip_suffix(".weight_packed") {
            let weight = match method {
                Some(Method::Packed { bits, group, zeros }) => match zeros {
                    false => self.centered(module, name, tensor, bits, group),
                    true => self.around_zeros(module, name, tensor, bits, group),
                },
                Some(Method::Nvfp4) => self.nvfp4(module, name, tensor),
                _ => Err(self.unsaid(name, "compressed-tensors", method)),
            };
            (module, weight?)
        } else if method == Some(Method::Mxfp4) {
            return self.mxfp4(name, tensor);
        } else {
            return Ok(Vec::new());
        };
        Ok(vec![(format!("{}.weight", weight.0), weight.1)])
    }

    /// `module.weight` of a folder in another tool's format: 8-bit floats, or what was not quantized.
    pub(super) fn unpacked(
        &self,
        module: &str,
        name: &str,
        tensor: &Tensor,
        method: Method,
    ) -> Result<Option<Weight>> {
        match method {
            Method::Float8 { block } if tensor.dtype == Dtype::E4M3 => {
                self.float8(module, name, tensor, block).map(Some)
            }
            _ => self.dense(name, tensor),
        }
    }

    fn unsaid(&self, name: &str, needed: &str, method: Option<Method>) -> crate::Error {
        let said = method.map_or("none", Method::name);
        self.bad(
            name,
            format_args!("needs the quant_method {needed}; that of config.json is {said}"),
        )
    }

    /// A part beside `name`, of a type.
    pub(super) fn part(&self, name: &str, part: &str, dtypes: &[Dtype]) -> Result<&Tensor> {
        match self.folder.tensor(part) {
            Some((tensor, _)) if dtypes.contains(&tensor.dtype) => Ok(tensor),
            Some((tensor, _)) => Err(self.bad(
                name,
                format_args!("{part} has type {}, which is not supported", tensor.dtype),
            )),
            None => Err(self.bad(name, format_args!("{part} is missing"))),
        }
    }

    /// Two dimensions of packed 32-bit words.
    pub(super) fn words(&self, name: &str, tensor: &Tensor) -> Result<(usize, usize)> {
        match (&tensor.dtype, &tensor.shape[..]) {
            (Dtype::I32 | Dtype::U32, [rows, cols]) => Ok((*rows, *cols)),
            (dtype, shape) => Err(self.bad(
                name,
                format_args!("{dtype} of shape {shape:?} where a matrix of I32 is needed"),
            )),
        }
    }

    /// Times eight codes a word.
    pub(super) fn eight(&self, name: &str, words: usize) -> Result<usize> {
        words
            .checked_mul(8)
            .ok_or_else(|| self.bad(name, "its shape overflows"))
    }

    pub(super) fn check(
        &self,
        name: &str,
        part: &str,
        tensor: &Tensor,
        needed: &[usize],
    ) -> Result<()> {
        if tensor.shape == needed {
            return Ok(());
        }
        Err(self.bad(
            name,
            format_args!("{part} has shape {:?} instead of {needed:?}", tensor.shape),
        ))
    }

    /// Scales and zero points of a transposed matrix.
    fn transposed(
        &self,
        module: &str,
        name: &str,
        packed: &Tensor,
        format: Format,
        (rows, cols): (usize, usize),
        group: u16,
    ) -> Result<Weight> {
        let group = usize::from(group);
        if !cols.is_multiple_of(group) || !rows.is_multiple_of(8) {
            return Err(self.bad(
                name,
                format_args!(
                    "[{rows}, {cols}] does not form groups of {group} and words of 8 rows"
                ),
            ));
        }
        let (scales_name, zeros_name) = (format!("{module}.scales"), format!("{module}.qzeros"));
        let f16 = Dtype::Float(crate::formats::ScalarType::F16);
        let scales = self.part(name, &scales_name, &[f16])?;
        let zeros = self.part(name, &zeros_name, &[Dtype::I32, Dtype::U32])?;
        self.check(name, &scales_name, scales, &[cols / group, rows])?;
        self.check(name, &zeros_name, zeros, &[cols / group, rows / 8])?;
        let (data, scales, zeros) = (packed.data.clone(), scales.data.clone(), zeros.data.clone());
        self.weight(
            name,
            format,
            (1, rows, cols),
            data,
            Some(scales),
            Some(zeros),
        )
    }

    fn gptq(
        &self,
        module: &str,
        name: &str,
        packed: &Tensor,
        group: u16,
        plus: u8,
    ) -> Result<Weight> {
        let (words, rows) = self.words(name, packed)?;
        let cols = self.eight(name, words)?;
        let order_name = format!("{module}.g_idx");
        if self.folder.tensor(&order_name).is_some() {
            let order = self.part(name, &order_name, &[Dtype::I32])?;
            self.check(name, &order_name, order, &[cols])?;
            let (indices, _) = order.data.as_chunks::<4>();
            let in_order = |(k, index): (usize, &[u8; 4])| {
                u32::from_le_bytes(*index) as usize == k / usize::from(group)
            };
            if !indices.iter().enumerate().all(in_order) {
                return Err(crate::Error::Unsupported(format!(
                    "{}: tensor {order_name}: the columns are reordered (desc_act), which is not \
                     supported",
                    self.file(&order_name).display()
                )));
            }
        }
        let format = Format::Gptq { group, plus };
        self.transposed(module, name, packed, format, (rows, cols), group)
    }

    fn awq(&self, module: &str, name: &str, packed: &Tensor, group: u16) -> Result<Weight> {
        let (cols, words) = self.words(name, packed)?;
        let rows = self.eight(name, words)?;
        let format = Format::Awq { group };
        self.transposed(module, name, packed, format, (rows, cols), group)
    }

    fn float8(
        &self,
        module: &str,
        name: &str,
        tensor: &Tensor,
        block: Option<(u32, u32)>,
    ) -> Result<Weight> {
        let [rows, cols] = tensor.shape[..] else {
            return Err(self.bad(name, "8-bit floats have two dimensions"));
        };
        let mut part = format!("{module}.weight_scale_inv");
        if self.folder.tensor(&part).is_none() {
            part = format!("{module}.weight_scale");
        }
        let scales = self.part(name, &part, &FLOATS)?;
        let Dtype::Float(scale) = scales.dtype else {
            return Err(self.bad(name, "its scales are no floats"));
        };
        // The whole width, as blocks of columns are multiples of 32.
        let all = (u32::try_from(rows).ok(), u32::try_from(cols).ok());
        let (Some(all_rows), Some(all_cols)) = (
            all.0,
            all.1.and_then(|cols| cols.checked_next_multiple_of(32)),
        ) else {
            return Err(self.bad(name, format_args!("shape {:?} is too large", tensor.shape)));
        };
        let (block_rows, block_cols) = match (block, &scales.shape[..]) {
            (Some(block), _) => {
                let needed = [
                    rows.div_ceil(block.0 as usize),
                    cols.div_ceil(block.1 as usize),
                ];
                self.check(name, &part, scales, &needed)?;
                block
            }
            (None, [] | [1] | [1, 1]) => (all_rows, all_cols),
            (None, [n] | [n, 1]) if *n == rows => (1, all_cols),
            (None, shape) => {
                return Err(self.bad(
                    name,
                    format_args!("{part} has shape {shape:?}; one number or one a row is needed"),
                ));
            }
        };
        let format = Format::Float8 {
            rows: block_rows,
            cols: block_cols,
            scale,
        };
        let (data, scales) = (tensor.data.clone(), scales.data.clone());
        self.weight(name, format, (1, rows, cols), data, Some(scales), None)
    }

    /// gpt-oss: `module_blocks` beside `module_scales`, and `module_bias` `[experts, rows]`; rows of
    /// `gate_up_proj` are those of gate and of up by turns.
    fn mxfp4(&self, name: &str, tensor: &Tensor) -> Result<Vec<(String, Weight)>> {
        let (module, part) = if let Some(module) = name.strip_suffix("_blocks") {
            (module, "weight")
        } else if let Some(module) = name.strip_suffix("_bias") {
            (module, "bias")
        } else {
            return Ok(Vec::new());
        };
        let weight = match (part, &tensor.dtype, &tensor.shape[..]) {
            ("weight", ..) => self.mxfp4_blocks(module, name, tensor)?,
            (_, Dtype::Float(scalar), [experts, rows]) => {
                let (shape, data) = ((*experts, *rows, 1), tensor.data.clone());
                self.weight(name, Format::Dense(*scalar), shape, data, None, None)?
            }
            (_, dtype, shape) => {
                return Err(self.bad(
                    name,
                    format_args!(
                        "{dtype} of shape {shape:?} where floats [experts, rows] are needed"
                    ),
                ));
            }
        };
        let Some(path) = module.strip_suffix("gate_up_proj") else {
            return Ok(vec![(format!("{module}.{part}"), weight)]);
        };
        let half = |(turn, half): (usize, &str)| {
            let weight = weight.clone().by_turns(2, turn, 1);
            let weight = weight.map_err(|error| self.in_file(name, error))?;
            Ok((format!("{path}{half}.{part}"), weight))
        };
        let halves = ["gate_proj", "up_proj"];
        halves.into_iter().enumerate().map(half).collect()
    }

    /// `[experts, rows, groups, 16]` bytes of codes, `[experts, rows, groups]` of scales.
    fn mxfp4_blocks(&self, base: &str, name: &str, tensor: &Tensor) -> Result<Weight> {
        let (Dtype::U8, [stack, rows, groups, 16]) = (&tensor.dtype, &tensor.shape[..]) else {
            return Err(self.bad(
                name,
                format_args!(
                    "{} of shape {:?} where U8 [experts, rows, groups, 16] is needed",
                    tensor.dtype, tensor.shape
                ),
            ));
        };
        let part = format!("{base}_scales");
        let scales = self.part(name, &part, &[Dtype::U8])?;
        self.check(name, &part, scales, &[*stack, *rows, *groups])?;
        let Some(cols) = groups.checked_mul(32) else {
            return Err(self.bad(name, "its shape overflows"));
        };
        let shape = (*stack, *rows, cols);
        let (data, scales) = (tensor.data.clone(), scales.data.clone());
        self.weight(name, Format::Mxfp4, shape, data, Some(scales), None)
    }
}

pub(super) const FLOATS: [Dtype; 3] = {
    use crate::formats::ScalarType::{BF16, F16, F32};
    [Dtype::Float(F32), Dtype::Float(F16), Dtype::Float(BF16)]
};
