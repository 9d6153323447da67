//! Mixtures of experts.

use super::invalid;
use crate::array::Array;
use crate::ir::{Dtype, Experts, Factor, Gathered, Number, Op, Route, Shape, Type};
use crate::{Error, Result};

impl Array {
    /// The experts of each row and their weights, from router logits `[rows, experts]` f32 and a correction `[experts]`
    /// f32. See [`Route`].
    ///
    /// # Errors
    /// `InvalidArgument` if more are chosen than there are, or none; for groups that do not divide the experts.
    pub fn route(&self, route: Route, correction: Option<&Array>) -> Result<(Array, Array)> {
        let experts = match self.shape().dims() {
            [_, experts] if self.dtype() == Dtype::F32 => experts.number(),
            _ => None,
        };
        let experts = experts.and_then(|all| all.checked_sub(route.shared.into()));
        let fits = experts.is_some_and(|experts| {
            let groups = route.groups.is_none_or(|groups| {
                (1..=groups.count).contains(&groups.kept)
                    && experts.is_multiple_of(groups.count)
                    && (1..=experts / groups.count).contains(&groups.best)
            });
            let correction = correction
                .is_none_or(|c| c.dtype() == Dtype::F32 && *c.shape() == Shape::new([experts]));
            groups && correction && (1..=experts).contains(&route.chosen)
        });
        if !fits {
            let what = format!("{route:?} by logits {self:?}, correction {correction:?}");
            return Err(invalid("route", what));
        }
        let shape = Shape::new([self.shape().dims()[0], route.all().into()]);
        let ty = |dtype| Type {
            dtype,
            shape: shape.clone(),
        };
        let types = vec![ty(Dtype::U32), ty(Dtype::F32)];
        let inputs = [self].into_iter().chain(correction).cloned();
        let mut results = Array::call(Op::Route(route), inputs, types).into_iter();
        match (results.next(), results.next()) {
            (Some(index), Some(weight)) => Ok((index, weight)),
            _ => Err(Error::Internal("route without results".into())),
        }
    }

    /// `silu(gate_k·x) · up_k·x` of each row's experts, `index` `[rows, chosen]`, with stacks of `experts`
    /// matrices `[out, width]`: `[rows, chosen, out]`. With a `limit`: see [`Gathered::SwiGlu`].
    ///
    /// # Errors
    /// `InvalidArgument` if x is not f32 `[rows, width]` or the index has other rows.
    pub fn experts_swiglu(
        &self,
        index: &Array,
        stacks: [Factor; 2],
        experts: usize,
        out: usize,
        limit: Option<f32>,
    ) -> Result<Array> {
        let (&[rows], &[index_rows, chosen]) = (
            &self.shape().dims()[..self.rank().min(1)],
            index.shape().dims(),
        ) else {
            return Err(invalid("experts", format!("{self:?} by {index:?}")));
        };
        let fits = self.rank() == 2 && rows == index_rows && index.dtype() == Dtype::U32;
        if !fits || self.dtype() != Dtype::F32 {
            return Err(invalid("experts", format!("{self:?} by {index:?}")));
        }
        let op = Op::Experts(Experts {
            norm: None,
            experts,
            factors: stacks.into(),
            gathered: Gathered::SwiGlu {
                limit: limit.map(|limit| Number::new(limit.into())),
            },
        });
        let shape = Shape::new([rows, chosen, out.into()]);
        let inputs = vec![self.clone(), index.clone()];
        Ok(Array::one(op, inputs, Dtype::F32, shape))
    }

    /// `Σ weight_k · (W_k·x_k + b_k)` over each row's experts: x `[rows, chosen, width]`, a stack of `experts`
    /// matrices `[out, width]`: `[rows, out]`.
    ///
    /// # Errors
    /// `InvalidArgument` if shapes or dtypes are others.
    pub fn experts_sum(
        &self,
        index: &Array,
        weight: &Array,
        stack: Factor,
        experts: usize,
        out: usize,
    ) -> Result<Array> {
        let fits = self.rank() == 3
            && self.shape().dims()[..2] == *index.shape().dims()
            && index.shape() == weight.shape()
            && (self.dtype(), index.dtype(), weight.dtype())
                == (Dtype::F32, Dtype::U32, Dtype::F32);
        if !fits {
            let what = format!("{self:?} by {index:?} with weights {weight:?}");
            return Err(invalid("experts", what));
        }
        let op = Op::Experts(Experts {
            norm: None,
            experts,
            factors: vec![stack],
            gathered: Gathered::Sum,
        });
        let shape = Shape::new([self.shape().dims()[0], out.into()]);
        let inputs = vec![self.clone(), index.clone(), weight.clone()];
        Ok(Array::one(op, inputs, Dtype::F32, shape))
    }

    /// `W_k·x_k` of each row's own matrices: x `[rows, chosen, width]`, `index` `[rows, chosen]`, a stack of `matrices`
    /// `[out, width]`: `[rows, chosen, out]`.
    ///
    /// # Errors
    /// `InvalidArgument` if shapes or dtypes are others.
    pub fn stack_products(
        &self,
        index: &Array,
        stack: Factor,
        matrices: usize,
        out: usize,
    ) -> Result<Array> {
        let fits = self.rank() == 3
            && self.shape().dims()[..2] == *index.shape().dims()
            && (self.dtype(), index.dtype()) == (Dtype::F32, Dtype::U32);
        if !fits {
            return Err(invalid("experts", format!("{self:?} by {index:?}")));
        }
        let op = Op::Experts(Experts {
            norm: None,
            experts: matrices,
            factors: vec![stack],
            gathered: Gathered::Each,
        });
        let [rows, chosen] = [0, 1].map(|axis| self.shape().dims()[axis]);
        let shape = Shape::new([rows, chosen, out.into()]);
        let inputs = vec![self.clone(), index.clone()];
        Ok(Array::one(op, inputs, Dtype::F32, shape))
    }
}
