//! Formats of other tools: a `quantization_config` with a `quant_method`.

use crate::formats::brief;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::path::Path;

/// How the quantized modules of a folder are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// `qweight`, `qzeros`, `scales`, and `g_idx`, which must not reorder.
    Gptq {
        /// Weights a group.
        group: u16,
        /// What is added to a stored zero point.
        plus: u8,
    },
    /// `qweight`, `qzeros`, `scales`.
    Awq {
        /// Weights a group.
        group: u16,
    },
    /// compressed-tensors integers: `weight_packed`, `weight_scale`.
    Packed {
        /// 4 or 8.
        bits: u8,
        /// Weights a group.
        group: u16,
        /// Beside `weight_zero_point`.
        zeros: bool,
    },
    /// compressed-tensors' 4-bit floats: `weight_packed`, `weight_scale`, `weight_global_scale`.
    Nvfp4,
    /// 8-bit floats in `weight`, beside `weight_scale_inv` (blocks) or `weight_scale` (rows or all).
    Float8 {
        /// Rows and columns of a block; the shape of the scales says where there is none.
        block: Option<(u32, u32)>,
    },
    /// gpt-oss: `…_blocks`, `…_scales`.
    Mxfp4,
}

/// A config's object and what messages about it begin with.
struct Place<'a> {
    object: &'a Map<String, Value>,
    path: &'a Path,
    place: &'a str,
    method: &'a str,
}

impl Method {
    /// The method of a `quantization_config`; `None` where it names none.
    pub(super) fn read(
        object: &Map<String, Value>,
        path: &Path,
        place: &str,
    ) -> Result<Option<Method>> {
        let Some(value) = object.get("quant_method").filter(|m| !m.is_null()) else {
            return Ok(None);
        };
        let method = value.as_str().unwrap_or_default();
        let at = Place {
            object,
            path,
            place,
            method,
        };
        let read = match method {
            "gptq" => at.gptq()?,
            "awq" => at.awq()?,
            "compressed-tensors" => at.compressed()?,
            "fp8" => at.float8(object, "weight_block_size")?,
            "mxfp4" => Method::Mxfp4,
            _ => {
                return Err(Error::Unsupported(format!(
                    "{}: {place}.quant_method is {}; supported are awq, gptq, compressed-tensors, fp8, \
                     mxfp4 and MLX's own formats",
                    path.display(),
                    brief(value)
                )));
            }
        };
        Ok(Some(read))
    }

    /// Its name in configs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Method::Gptq { .. } => "gptq",
            Method::Awq { .. } => "awq",
            Method::Packed { .. } | Method::Nvfp4 => "compressed-tensors",
            Method::Float8 { .. } => "fp8",
            Method::Mxfp4 => "mxfp4",
        }
    }
}

impl Place<'_> {
    /// A setting, which is not null, of `object`.
    fn get<'a>(&self, object: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
        object.get(key).filter(|value| !value.is_null())
    }

    fn unsupported<T>(&self, key: &str, value: Option<&Value>, needed: &str) -> Result<T> {
        let found = value.map_or("missing".to_string(), brief);
        Err(Error::Unsupported(format!(
            "{}: {}.{key} is {found}; of {} models {needed} is supported",
            self.path.display(),
            self.place,
            self.method
        )))
    }

    /// A number out of `allowed`.
    fn number(&self, object: &Map<String, Value>, key: &str, allowed: &[u64]) -> Result<u64> {
        let value = self.get(object, key);
        match value.and_then(Value::as_u64) {
            Some(number) if allowed.contains(&number) => Ok(number),
            _ => self.unsupported(key, value, &format!("one of {allowed:?}")),
        }
    }

    fn group(&self, object: &Map<String, Value>) -> Result<u16> {
        Ok(self.number(object, "group_size", &[32, 64, 128])? as u16)
    }

    fn gptq(&self) -> Result<Method> {
        self.number(self.object, "bits", &[4])?;
        let format = self.get(self.object, "checkpoint_format");
        let plus = match format.map(Value::as_str) {
            None | Some(Some("gptq")) => 1,
            Some(Some("gptq_v2")) => 0,
            _ => return self.unsupported("checkpoint_format", format, "gptq or gptq_v2"),
        };
        Ok(Method::Gptq {
            group: self.group(self.object)?,
            plus,
        })
    }

    fn awq(&self) -> Result<Method> {
        self.number(self.object, "bits", &[4])?;
        let version = self.get(self.object, "version");
        match version.and_then(Value::as_str) {
            None if version.is_none() => {}
            Some(name) if name.eq_ignore_ascii_case("gemm") => {}
            _ => return self.unsupported("version", version, "gemm"),
        }
        Ok(Method::Awq {
            group: self.group(self.object)?,
        })
    }

    /// 8-bit floats whose blocks `object` gives under `key`.
    fn float8(&self, object: &Map<String, Value>, key: &str) -> Result<Method> {
        let size = self.get(object, key);
        let Some(size) = size else {
            return Ok(Method::Float8 { block: None });
        };
        let numbers = size.as_array().map(|list| {
            let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
            list.iter().map(number).collect::<Vec<_>>()
        });
        match numbers.as_deref() {
            Some([Some(rows), Some(cols)]) if *rows > 0 && *cols > 0 && cols.is_multiple_of(32) => {
                Ok(Method::Float8 {
                    block: Some((*rows, *cols)),
                })
            }
            _ => self.unsupported(
                key,
                Some(size),
                "[rows, columns], columns a multiple of 32,",
            ),
        }
    }

    fn compressed(&self) -> Result<Method> {
        let groups = self.get(self.object, "config_groups");
        let groups = groups.and_then(Value::as_object);
        let mut found = None;
        for (name, group) in groups.into_iter().flatten() {
            let key = format!("config_groups.{name}.weights");
            let Some(weights) = group.get("weights").and_then(Value::as_object) else {
                return self.unsupported(&key, group.get("weights"), "an object");
            };
            let method = self.compressed_weights(weights)?;
            if found.is_some_and(|found| found != method) {
                return self.unsupported(&key, group.get("weights"), "one kind of weights");
            }
            found = Some(method);
        }
        match found {
            Some(method) => Ok(method),
            None => self.unsupported("config_groups", None, "at least one group"),
        }
    }

    fn compressed_weights(&self, weights: &Map<String, Value>) -> Result<Method> {
        let order = self.get(weights, "actorder");
        if order.is_some_and(|order| order.as_str() == Some("group") || *order == Value::Bool(true))
        {
            return self.unsupported("actorder", order, "an order that moves no column");
        }
        let symmetric = self.get(weights, "symmetric");
        let zeros = symmetric == Some(&Value::Bool(false));
        let kind = self.get(weights, "type");
        match kind.and_then(Value::as_str) {
            Some("int") => Ok(Method::Packed {
                bits: self.number(weights, "num_bits", &[4, 8])? as u8,
                group: self.group(weights)?,
                zeros,
            }),
            Some("float") if zeros => self.unsupported("symmetric", symmetric, "true"),
            Some("float") if self.number(weights, "num_bits", &[4, 8])? == 4 => {
                self.number(weights, "group_size", &[16])?;
                Ok(Method::Nvfp4)
            }
            Some("float") => self.float8(weights, "block_structure"),
            _ => self.unsupported("type", kind, "int or float"),
        }
    }
}
