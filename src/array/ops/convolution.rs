//! Convolutions.

use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::ir::{Conv, Kind, Op, Shape, SliceSpec};
use smallvec::{SmallVec, smallvec};

/// How a convolution moves over its input (`conv_general`): a list with a number for each spatial axis, one
/// number for all, or none for MLX's default.
#[derive(Debug, Clone, Default)]
pub struct ConvOptions {
    /// Steps of the kernel; 1.
    pub stride: Vec<i64>,
    /// Zeros before; negative: elements not looked at. 0.
    pub low: Vec<i64>,
    /// Zeros behind.
    pub high: Vec<i64>,
    /// Distance of the kernel's elements; 1.
    pub kernel_dilation: Vec<i64>,
    /// Distance of the input's elements; 1.
    pub input_dilation: Vec<i64>,
    /// Parts of the channels that do not see each other; 0 is 1.
    pub groups: usize,
    /// The kernel is turned round.
    pub flip: bool,
}

type Numbers = SmallVec<[i64; 3]>;

/// One number for each spatial axis, none below `least`.
fn each(
    name: &str,
    what: &str,
    given: &[i64],
    axes: usize,
    usual: i64,
    least: i64,
) -> Result<Numbers> {
    let numbers: Numbers = match given {
        [] => smallvec![usual; axes],
        [one] => smallvec![*one; axes],
        all => all.into(),
    };
    let fits = numbers.iter().all(|&n| n >= least && n.abs() < 1 << 31);
    match numbers.len() == axes && fits {
        true => Ok(numbers),
        false => Err(invalid(
            name,
            format!("{what} {given:?} for {axes} spatial axes"),
        )),
    }
}

fn sizes(numbers: &Numbers) -> SmallVec<[usize; 3]> {
    numbers.iter().map(|&n| n.unsigned_abs() as usize).collect()
}

impl Array {
    /// The convolution of `[batch, …, channels]` with `[channels out, …, channels / groups]`, of one to three
    /// spatial axes. No kernel is turned round unless `flip` says so.
    ///
    /// # Errors
    /// `InvalidArgument` for other shapes, integers and complex numbers, and kernels larger than the input.
    pub fn conv_general(&self, weight: &Array, options: &ConvOptions) -> Result<Array> {
        let name = "convolution";
        let (x, w) = (known(name, self)?, known(name, weight)?);
        let groups = options.groups.max(1);
        let fits = (3..=5).contains(&x.len())
            && x.len() == w.len()
            && w[w.len() - 1].checked_mul(groups) == Some(x[x.len() - 1])
            && w[0].is_multiple_of(groups)
            && !w[1..].contains(&0);
        if !fits {
            let what = format!(
                "x of shape {} with a weight of shape {} in {groups} groups",
                self.shape(),
                weight.shape()
            );
            return Err(invalid(name, what));
        }
        let dtype = self.dtype().promote(weight.dtype());
        if dtype.kind() != Kind::Float {
            return Err(invalid(name, format!("numbers of {dtype}")));
        }
        let axes = x.len() - 2;
        let stride = each(name, "stride", &options.stride, axes, 1, 1)?;
        let mut low = each(name, "padding", &options.low, axes, 0, i64::MIN)?;
        let mut high = each(name, "padding", &options.high, axes, 0, i64::MIN)?;
        let dilation = &options.kernel_dilation;
        let kernel_dilation = each(name, "kernel dilation", dilation, axes, 1, 1)?;
        let dilation = &options.input_dilation;
        let input_dilation = each(name, "input dilation", dilation, axes, 1, 1)?;
        let input = self.astype(dtype).cut(&mut low, &mut high)?;
        let x = known(name, &input)?;
        let mut dims = vec![x[0]];
        for axis in 0..axes {
            let dilated = |size: usize, dilation: i64| (size as i64 - 1) * dilation + 1;
            let room = dilated(x[axis + 1], input_dilation[axis]) + low[axis] + high[axis];
            let places = (room - dilated(w[axis + 1], kernel_dilation[axis])) / stride[axis] + 1;
            if x[axis + 1] == 0 || room < dilated(w[axis + 1], kernel_dilation[axis]) {
                let what = format!(
                    "a kernel of shape {} does not fit x of shape {} with its padding",
                    weight.shape(),
                    self.shape()
                );
                return Err(invalid(name, what));
            }
            dims.push(places as usize);
        }
        dims.push(w[0]);
        let op = Op::Convolution(Box::new(Conv {
            stride: sizes(&stride),
            low,
            high,
            kernel_dilation: sizes(&kernel_dilation),
            input_dilation: sizes(&input_dilation),
            groups,
            flip: options.flip,
        }));
        let shape = Shape::new(dims);
        if shape.count().is_none() {
            return Err(invalid(
                name,
                format!("a result of shape {shape} is too large"),
            ));
        }
        Ok(Array::one(
            op,
            vec![input, weight.astype(dtype)],
            dtype,
            shape,
        ))
    }

    /// Without the elements that negative padding takes away.
    fn cut(self, low: &mut Numbers, high: &mut Numbers) -> Result<Array> {
        if low.iter().chain(high.iter()).all(|&n| n >= 0) {
            return Ok(self);
        }
        let mut sizes = known("convolution", &self)?;
        let mut spec = SliceSpec {
            start: smallvec![0; sizes.len()],
            step: smallvec![1; sizes.len()],
        };
        for (axis, (low, high)) in low.iter_mut().zip(high).enumerate() {
            let (before, behind) = ((-*low).max(0), (-*high).max(0));
            spec.start[axis + 1] = before;
            let left = (sizes[axis + 1] as i64).saturating_sub(before + behind);
            sizes[axis + 1] = left.max(0) as usize;
            (*low, *high) = ((*low).max(0), (*high).max(0));
        }
        let dtype = self.dtype();
        Ok(Array::one(
            Op::Slice(spec),
            vec![self],
            dtype,
            Shape::new(sizes),
        ))
    }

    /// The transposed convolution: what a convolution with these numbers takes back to its input's size, and
    /// `output_padding` more behind.
    ///
    /// # Errors
    /// As [`Array::conv_general`].
    pub fn conv_transpose(
        &self,
        weight: &Array,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        output_padding: &[i64],
        groups: usize,
    ) -> Result<Array> {
        let name = "conv_transpose";
        let (x, w) = (known(name, self)?, known(name, weight)?);
        if x.len() < 3 || x.len() != w.len() {
            let what = format!("x {self:?} with a weight {weight:?}");
            return Err(invalid(name, what));
        }
        let axes = x.len() - 2;
        let stride = each(name, "stride", stride, axes, 1, 1)?;
        let padding = each(name, "padding", padding, axes, 0, i64::MIN)?;
        let dilation = each(name, "dilation", dilation, axes, 1, 1)?;
        let more = each(name, "output padding", output_padding, axes, 0, 0)?;
        let low = |axis: usize| dilation[axis] * (w[axis + 1] as i64 - 1) - padding[axis];
        let options = ConvOptions {
            low: (0..axes).map(low).collect(),
            high: (0..axes).map(|axis| low(axis) + more[axis]).collect(),
            kernel_dilation: dilation.to_vec(),
            input_dilation: stride.to_vec(),
            stride: vec![1],
            groups,
            flip: true,
        };
        self.conv_general(weight, &options)
    }
}
