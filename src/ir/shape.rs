//! Shapes: dimensions are numbers, or symbols where a model is traced for batches of any size.

use crate::{Error, Result};
use smallvec::SmallVec;
use std::fmt::{self, Display};

/// A size that is not known while a model is traced. Two are equal only if they are the same symbol:
/// sizes that happen to coincide are never taken for one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    /// Tokens of the batch.
    Tokens,
    /// Tokens whose logits are wanted.
    Wanted,
}

/// A dimension: a multiple of 1 or of a symbol. The highest two bits tell which, the others how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim(u64);

const SYMBOL_AT: u32 = 62;
/// A multiple that is as large or larger: no array has so many elements.
const LARGEST: u64 = (1 << SYMBOL_AT) - 1;

impl Dim {
    /// A number.
    pub const fn fixed(size: usize) -> Dim {
        let size = size as u64;
        Dim(if size > LARGEST { LARGEST } else { size })
    }

    fn new(multiple: usize, symbol: Option<Symbol>) -> Dim {
        let symbol = match symbol {
            None => 0,
            Some(Symbol::Tokens) => 1,
            Some(Symbol::Wanted) => 2,
        };
        Dim(Dim::fixed(multiple).0 | symbol << SYMBOL_AT)
    }

    /// The number, or the factor of the symbol.
    pub fn multiple(self) -> usize {
        (self.0 & LARGEST) as usize
    }

    /// The symbol.
    pub fn symbol(self) -> Option<Symbol> {
        match self.0 >> SYMBOL_AT {
            0 => None,
            1 => Some(Symbol::Tokens),
            _ => Some(Symbol::Wanted),
        }
    }

    /// The number, if it is one.
    pub fn number(self) -> Option<usize> {
        (self.0 <= LARGEST).then_some(self.0 as usize)
    }

    /// The product; `None` if it overflows or would need two symbols.
    pub fn times(self, other: Dim) -> Option<Dim> {
        let symbol = match (self.symbol(), other.symbol()) {
            (Some(_), Some(_)) => return None,
            (one, other) => one.or(other),
        };
        let multiple = self.multiple().checked_mul(other.multiple())?;
        (multiple as u64 <= LARGEST).then(|| Dim::new(multiple, symbol))
    }

    /// `self / other` where that is whole for every value of the symbols.
    pub fn over(self, other: Dim) -> Option<Dim> {
        let symbol = match (self.symbol(), other.symbol()) {
            (symbol, None) => symbol,
            (Some(a), Some(b)) if a == b => None,
            _ => return None,
        };
        if other.multiple() == 0 || !self.multiple().is_multiple_of(other.multiple()) {
            return None;
        }
        Some(Dim::new(self.multiple() / other.multiple(), symbol))
    }

    /// Whether it is the number 1.
    pub fn is_one(self) -> bool {
        self == Dim::fixed(1)
    }
}

impl From<usize> for Dim {
    fn from(size: usize) -> Dim {
        Dim::fixed(size)
    }
}

impl From<Symbol> for Dim {
    fn from(symbol: Symbol) -> Dim {
        Dim::new(1, Some(symbol))
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.multiple(), self.symbol()) {
            (number, None) => write!(f, "{number}"),
            (1, Some(symbol)) => write!(f, "{symbol:?}"),
            (factor, Some(symbol)) => write!(f, "{factor}·{symbol:?}"),
        }
    }
}

/// The dimensions of an array, outermost first; none for a scalar.
#[derive(PartialEq, Eq, Hash, Default)]
pub struct Shape(SmallVec<[Dim; 4]>);

impl Clone for Shape {
    fn clone(&self) -> Shape {
        // As bytes: every operation on arrays does it a few times.
        Shape(SmallVec::from_slice(&self.0))
    }
}

/// The most elements an array can have: strides and offsets in bytes fit 63 bits.
const MAX_ELEMENTS: usize = 1 << 56;

impl Shape {
    /// A shape of numbers or symbols.
    pub fn new<D: Into<Dim>>(dims: impl IntoIterator<Item = D>) -> Shape {
        Shape(dims.into_iter().map(Into::into).collect())
    }

    /// The shape of a scalar.
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// Dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The dimensions.
    pub fn dims(&self) -> &[Dim] {
        &self.0
    }

    /// The dimensions, to change.
    pub fn dims_mut(&mut self) -> &mut SmallVec<[Dim; 4]> {
        &mut self.0
    }

    /// The sizes, where all are numbers.
    pub fn numbers(&self) -> Option<SmallVec<[usize; 4]>> {
        self.0.iter().map(|dim| dim.number()).collect()
    }

    /// Elements; `None` if they are too many or would need two symbols.
    pub fn elements(&self) -> Option<Dim> {
        let none_at_all = self.0.iter().any(|dim| dim.multiple() == 0);
        if none_at_all {
            return Some(Dim::fixed(0));
        }
        self.0
            .iter()
            .try_fold(Dim::fixed(1), |product, &dim| product.times(dim))
            .filter(|product| product.multiple() <= MAX_ELEMENTS)
    }

    /// Elements of a shape of numbers.
    pub fn count(&self) -> Option<usize> {
        self.elements()?.number()
    }

    /// The place of an axis that may count from the end.
    ///
    /// # Errors
    /// `InvalidArgument` naming `operation` if there is no such axis.
    pub fn axis(&self, operation: impl Display + Copy, axis: i64) -> Result<usize> {
        axis_of(operation, axis, self.rank()).map_err(|_| {
            Error::InvalidArgument(format!(
                "{operation}: axis {axis} of an array of shape {self}, which has {} axes",
                self.rank()
            ))
        })
    }

    /// Several axes, each at most once.
    ///
    /// # Errors
    /// As [`Shape::axis`], and if one is named twice.
    pub fn axes(
        &self,
        operation: impl Display + Copy,
        axes: &[i64],
    ) -> Result<SmallVec<[usize; 4]>> {
        let mut places = SmallVec::new();
        for &axis in axes {
            let place = self.axis(operation, axis)?;
            if places.contains(&place) {
                return Err(Error::InvalidArgument(format!(
                    "{operation}: axis {axis} is named twice"
                )));
            }
            places.push(place);
        }
        Ok(places)
    }

    /// The shape that both are broadcast to, aligned at their ends.
    ///
    /// # Errors
    /// `InvalidArgument` naming `operation` and both shapes.
    pub fn broadcast(&self, other: &Shape, operation: impl Display + Copy) -> Result<Shape> {
        if self == other || other.rank() == 0 {
            return Ok(self.clone());
        }
        let rank = self.rank().max(other.rank());
        let dim = |shape: &Shape, place: usize| match (place + shape.rank()).checked_sub(rank) {
            Some(at) => shape.0[at],
            None => Dim::fixed(1),
        };
        let dims = (0..rank).map(|place| match (dim(self, place), dim(other, place)) {
            (a, b) if a == b || b.is_one() => Some(a),
            (a, b) if a.is_one() => Some(b),
            _ => None,
        });
        match dims.collect::<Option<SmallVec<_>>>() {
            Some(dims) => Ok(Shape(dims)),
            None => Err(Error::InvalidArgument(format!(
                "{operation}: shapes {self} and {other} cannot be broadcast together"
            ))),
        }
    }

    /// With sizes for the symbols.
    pub fn bind(&self, size: &dyn Fn(Symbol) -> usize) -> Shape {
        let bind = |dim: &Dim| match dim.symbol() {
            Some(symbol) => Dim::fixed(dim.multiple() * size(symbol)),
            None => *dim,
        };
        Shape(self.0.iter().map(bind).collect())
    }
}

/// The place of `axis` among `rank` axes; negative ones count from the end.
///
/// # Errors
/// `InvalidArgument` naming `operation` if there is no such axis.
pub fn axis_of(operation: impl Display + Copy, axis: i64, rank: usize) -> Result<usize> {
    let place = if axis < 0 { axis + rank as i64 } else { axis };
    match usize::try_from(place) {
        Ok(place) if place < rank => Ok(place),
        _ => Err(Error::InvalidArgument(format!(
            "{operation}: there is no axis {axis} among {rank}"
        ))),
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (place, dim) in self.0.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(f, "{comma}{dim}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_known_by_identity() {
        let tokens = Shape::new([Dim::from(Symbol::Tokens), 64.into()]);
        let wanted = Shape::new([Dim::from(Symbol::Wanted), 64.into()]);
        assert!(tokens.broadcast(&wanted, "add").is_err());
        assert_eq!(tokens.broadcast(&Shape::new([64]), "add").unwrap(), tokens);
        let elements = tokens.elements().unwrap();
        assert_eq!(elements.over(Dim::fixed(32)).unwrap().multiple(), 2);
        assert_eq!(elements.over(Symbol::Tokens.into()), Some(Dim::fixed(64)));
        assert_eq!(elements.over(Symbol::Wanted.into()), None);
        let bound = tokens.bind(&|_| 3);
        assert_eq!(bound.numbers().unwrap().as_slice(), [3, 64]);
    }

    #[test]
    fn sizes_of_zero_broadcast_with_one_only() {
        let none = Shape::new([0, 3]);
        assert_eq!(none.broadcast(&Shape::new([1, 1]), "add").unwrap(), none);
        assert!(none.broadcast(&Shape::new([2, 3]), "add").is_err());
        assert_eq!(none.count(), Some(0));
        assert_eq!(Shape::new([usize::MAX, 2]).elements(), None);
        assert_eq!(Shape::scalar().count(), Some(1));
    }
}
