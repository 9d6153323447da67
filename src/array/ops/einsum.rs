//! Einstein's summation: sums of products whose axes are named by letters.
//!
//! Operands are contracted two at a time, the pair with the smallest result for its operands first, as products of
//! matrices where the dtype has them.

use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::ir::{Reduce, Shape};

/// The name of an axis: a letter, or above 127 the axes of `...`, the last one being 255.
type Label = u8;

const NAME: &str = "einsum";

/// An operand whose axes have different names.
#[derive(Clone)]
struct Term {
    labels: Vec<Label>,
    array: Array,
}

impl Array {
    /// Sums of products over named axes: `"ij,jk->ik"` is the product of two matrices. `...` stands for axes without
    /// names, which are broadcast; without `->` the result has the names that appear once, in the order of the
    /// alphabet.
    ///
    /// # Errors
    /// `InvalidArgument` for subscripts that make no sense or do not fit the operands.
    pub fn einsum(subscripts: &str, operands: &[Array]) -> Result<Array> {
        let text: String = subscripts.chars().filter(|c| *c != ' ').collect();
        let (inputs, output) = match text.split_once("->") {
            Some((inputs, output)) => (inputs, Some(output)),
            None => (text.as_str(), None),
        };
        let inputs: Vec<&str> = inputs.split(',').collect();
        if inputs.len() != operands.len() {
            let (names, arrays) = (inputs.len(), operands.len());
            let what = format!("{subscripts:?} names {names} operands, there are {arrays}");
            return Err(invalid(NAME, what));
        }
        let terms = inputs.iter().zip(operands);
        let named = terms.map(|(text, array)| labels(text, array.rank()));
        let named: Vec<Vec<Label>> = named.collect::<Result<_>>()?;
        let wide = named.iter().flatten().filter(|label| **label > 127).min();
        let rest = wide.map_or(0, |&first| usize::from(Label::MAX - first) + 1);
        let wanted = match output {
            Some(text) => {
                let letters = text.chars().filter(char::is_ascii_alphabetic).count();
                let has_rest = text.contains("...");
                labels(text, letters + if has_rest { rest } else { 0 })?
            }
            None => {
                let count = |label| named.iter().flatten().filter(|l| **l == label).count();
                let once = (0..=127).filter(|&label| count(label) == 1);
                (0..rest)
                    .rev()
                    .map(|i| Label::MAX - i as u8)
                    .chain(once)
                    .collect()
            }
        };
        let mut terms = Vec::with_capacity(operands.len());
        for (labels, array) in named.into_iter().zip(operands) {
            terms.push(Term::new(labels, array)?);
        }
        spread(&mut terms, &wanted)?;
        while let [_, _, ..] = terms[..] {
            let (first, second) = cheapest(&terms, &wanted)?;
            let b = terms.remove(second);
            let a = terms.remove(first);
            let needed = |label: &Label| {
                wanted.contains(label) || terms.iter().any(|term| term.labels.contains(label))
            };
            terms.push(contract(a, b, needed)?);
        }
        let last = terms.pop().ok_or_else(|| invalid(NAME, "no operands"))?;
        let last = last.sum_all_but(|label| wanted.contains(label))?;
        last.ordered(&wanted)
    }
}

/// The names of the axes of an operand of this rank.
fn labels(text: &str, rank: usize) -> Result<Vec<Label>> {
    let letters = |part: &str| -> Result<Vec<Label>> {
        match part.bytes().find(|byte| !byte.is_ascii_alphabetic()) {
            None => Ok(part.bytes().collect()),
            Some(_) => Err(invalid(
                NAME,
                format!("subscripts {text:?}: axes are letters, and ... once"),
            )),
        }
    };
    let (before, after) = match text.split_once("...") {
        Some((before, after)) => (letters(before)?, Some(letters(after)?)),
        None => (letters(text)?, None),
    };
    let given = before.len() + after.as_ref().map_or(0, Vec::len);
    let rest = match rank.checked_sub(given) {
        Some(rest) if (after.is_some() && rest < 128) || rest == 0 => rest,
        _ => {
            let what = format!("subscripts {text:?} for an operand of {rank} axes");
            return Err(invalid(NAME, what));
        }
    };
    let unnamed = (0..rest).rev().map(|place| Label::MAX - place as u8);
    let after = after.into_iter().flatten();
    Ok(before.into_iter().chain(unnamed).chain(after).collect())
}

/// Checks the sizes of axes of the same name. Axes of size 1 that meet longer ones are taken away.
fn spread(terms: &mut [Term], wanted: &[Label]) -> Result<()> {
    let mut sizes = [None::<usize>; 256];
    for term in terms.iter() {
        for (&label, size) in term.labels.iter().zip(term.sizes()?) {
            let known = &mut sizes[usize::from(label)];
            match *known {
                None | Some(1) => *known = Some(size),
                Some(other) if other == size || size == 1 => {}
                Some(other) => {
                    let what = format!("{} is of size {size} and {other}", name_of(label));
                    return Err(invalid(NAME, what));
                }
            }
        }
    }
    for (place, label) in wanted.iter().enumerate() {
        if sizes[usize::from(*label)].is_none() {
            let what = format!("{} of the result is in no operand", name_of(*label));
            return Err(invalid(NAME, what));
        }
        if wanted[..place].contains(label) {
            let what = format!("{} is in the result twice", name_of(*label));
            return Err(invalid(NAME, what));
        }
    }
    for term in terms {
        let of_term = term.sizes()?;
        let short = |place: usize| {
            of_term[place] == 1 && { sizes[usize::from(term.labels[place])] != Some(1) }
        };
        let gone: Vec<usize> = (0..of_term.len()).filter(|&place| short(place)).collect();
        if !gone.is_empty() {
            let axes: Vec<i64> = gone.iter().map(|&axis| axis as i64).collect();
            term.array = term.array.squeeze(&axes)?;
            let labels = term.labels.iter().enumerate();
            let left = labels.filter(|(place, _)| !gone.contains(place));
            term.labels = left.map(|(_, &label)| label).collect();
        }
    }
    Ok(())
}

fn name_of(label: Label) -> String {
    match label {
        0..=127 => format!("axis {}", char::from(label)),
        _ => "an axis of ...".into(),
    }
}

impl Term {
    /// An operand; of axes of the same name the diagonal.
    fn new(mut labels: Vec<Label>, array: &Array) -> Result<Term> {
        let mut array = array.clone();
        loop {
            let twice = labels.iter().enumerate().find_map(|(place, label)| {
                let first = labels[..place].iter().position(|other| other == label)?;
                Some((first, place))
            });
            let Some((first, second)) = twice else {
                return Ok(Term { labels, array });
            };
            let sizes = known(NAME, &array)?;
            if sizes[first] != sizes[second] {
                let (one, other) = (sizes[first], sizes[second]);
                let what = format!("{} is of size {one} and {other}", name_of(labels[first]));
                return Err(invalid(NAME, what));
            }
            array = array.diagonal(0, first as i64, second as i64)?;
            let label = labels.remove(second);
            labels.remove(first);
            labels.push(label);
        }
    }

    fn sizes(&self) -> Result<Vec<usize>> {
        Ok(known(NAME, &self.array)?.to_vec())
    }

    fn size_of(&self, labels: &[Label]) -> Result<Vec<usize>> {
        let sizes = self.sizes()?;
        let of = |label| self.labels.iter().position(|l| l == label);
        Ok(labels
            .iter()
            .map(|label| of(label).map_or(1, |at| sizes[at]))
            .collect())
    }

    /// The sum over the other axes.
    fn sum_all_but(self, kept: impl Fn(&Label) -> bool) -> Result<Term> {
        let gone = self.labels.iter().enumerate().filter(|(_, l)| !kept(l));
        let axes: Vec<i64> = gone.map(|(axis, _)| axis as i64).collect();
        if axes.is_empty() {
            return Ok(self);
        }
        Ok(Term {
            array: self.array.reduce(Reduce::Sum, Some(&axes), false)?,
            labels: self.labels.into_iter().filter(kept).collect(),
        })
    }

    /// The elements with axes in this order; those that it has not are of size 1.
    fn ordered(&self, order: &[Label]) -> Result<Array> {
        let there = order.iter().filter(|label| self.labels.contains(label));
        let at = |label: &Label| self.labels.iter().position(|l| l == label);
        let axes: Vec<i64> = there.filter_map(at).map(|axis| axis as i64).collect();
        let turned = match axes.iter().enumerate().all(|(i, &axis)| i as i64 == axis) {
            true => self.array.clone(),
            false => self.array.transpose(&axes)?,
        };
        turned.reshape(Shape::new(self.size_of(order)?))
    }
}

/// The pair whose result is smallest beside its operands.
fn cheapest(terms: &[Term], wanted: &[Label]) -> Result<(usize, usize)> {
    let mut best = (f64::INFINITY, (0, 1));
    for second in 1..terms.len() {
        for first in 0..second {
            let (a, b) = (&terms[first], &terms[second]);
            let others = terms.iter().enumerate();
            let others: Vec<&Term> = others
                .filter(|(place, _)| *place != first && *place != second)
                .map(|(_, term)| term)
                .collect();
            let needed = |label: &Label| {
                wanted.contains(label) || others.iter().any(|term| term.labels.contains(label))
            };
            let product = |sizes: Vec<usize>| sizes.iter().map(|&s| s as f64).product::<f64>();
            let mut result = product(a.size_of(&kept(&a.labels, needed))?);
            let only: Vec<Label> = kept(&b.labels, |l| needed(l) && !a.labels.contains(l));
            result *= product(b.size_of(&only)?);
            let cost = result - product(a.sizes()?) - product(b.sizes()?);
            if cost < best.0 {
                best = (cost, (first, second));
            }
        }
    }
    Ok(best.1)
}

fn kept(labels: &[Label], keep: impl Fn(&Label) -> bool) -> Vec<Label> {
    labels.iter().copied().filter(|label| keep(label)).collect()
}

/// The product of two operands, summed over the axes that nobody else needs.
fn contract(a: Term, b: Term, needed: impl Fn(&Label) -> bool) -> Result<Term> {
    let (of_a, of_b) = (a.labels.clone(), b.labels.clone());
    let a = a.sum_all_but(|label| needed(label) || of_b.contains(label))?;
    let b = b.sum_all_but(|label| needed(label) || of_a.contains(label))?;
    let both = kept(&a.labels, |label| b.labels.contains(label));
    let batch = kept(&both, &needed);
    let inner = kept(&both, |label| !needed(label));
    let rows = kept(&a.labels, |label| !both.contains(label));
    let columns = kept(&b.labels, |label| !both.contains(label));
    let labels = [&batch[..], &rows, &columns].concat();
    let sizes = [a.size_of(&batch)?, a.size_of(&rows)?, b.size_of(&columns)?].concat();
    let count = |sizes: Vec<usize>| sizes.iter().product::<usize>();
    let is_matrix = a.array.dtype().promote(b.array.dtype()).is_inexact();
    let array = match inner.is_empty() {
        true => {
            let left = a.ordered(&labels)?;
            left.times(&b.ordered(&labels)?)?
        }
        false if is_matrix => {
            let shape = |m: usize, n: usize| -> Result<Shape> {
                Ok(Shape::new([a.size_of(&batch)?, vec![m, n]].concat()))
            };
            let (m, k, n) = (
                count(a.size_of(&rows)?),
                count(a.size_of(&inner)?),
                count(b.size_of(&columns)?),
            );
            let left = a.ordered(&[&batch[..], &rows, &inner].concat())?;
            let right = b.ordered(&[&batch[..], &inner, &columns].concat())?;
            let left = left.reshape(shape(m, k)?)?;
            left.matmul(&right.reshape(shape(k, n)?)?)?
        }
        // There are no products of matrices of integers.
        false => {
            let all = [&labels[..], &inner].concat();
            let product = a.ordered(&all)?.times(&b.ordered(&all)?)?;
            let axes: Vec<i64> = (labels.len()..all.len()).map(|axis| axis as i64).collect();
            product.reduce(Reduce::Sum, Some(&axes), false)?
        }
    };
    let array = array.reshape(Shape::new(sizes))?;
    Ok(Term { labels, array })
}
