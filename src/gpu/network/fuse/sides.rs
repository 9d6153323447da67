//! Queries, keys and values become one product.

use super::super::activations::Activation;
use super::super::steps::{Matrix, Product, Step};
use super::Fuser;

impl Fuser<'_> {
    /// Products of the same rows whose results only one attention takes become one.
    pub(super) fn merge_sides(&mut self) {
        for at in 0..self.plan.steps.len() {
            let Some(Step::Attention { attention, .. }) = self.plan.steps.get(at) else {
                continue;
            };
            let buffers = attention.sides.each_ref().map(|side| side.buffer);
            let made = buffers.map(|buffer| {
                self.plan.steps.iter().position(|step| match step {
                    Step::Product(product) => product.out == buffer,
                    _ => false,
                })
            });
            if let [Some(q), Some(k), Some(v)] = made {
                self.merge(at, [q, k, v]);
            }
        }
    }

    fn merge(&mut self, attention: usize, made: [usize; 3]) {
        let mut products = Vec::new();
        for at in made {
            match self.plan.steps.get(at) {
                Some(Step::Product(product)) => products.push(product.clone()),
                _ => return,
            }
        }
        let alike = |product: &Product| {
            product.x == products[0].x
                && product.bias.is_some() == products[0].bias.is_some()
                && product.residual.is_none()
                && product.activation == Activation::None
                && self.readers[product.out] == 1
                && self.plan.matrices[product.matrix].taps == 1
        };
        let Some(Step::Attention { attention: of, .. }) = self.plan.steps.get(attention) else {
            return;
        };
        let columns: Vec<usize> = products
            .iter()
            .map(|product| self.plan.matrices[product.matrix].columns)
            .collect();
        let by_rows = of.sides.iter().zip(&columns).all(|(side, &columns)| {
            side.layout.strides.get(2) == Some(&(columns as isize)) && side.layout.offset < columns
        });
        let distinct = made[0] != made[1] && made[1] != made[2] && made[0] != made[2];
        if !products.iter().all(alike) || !by_rows || !distinct {
            return;
        }
        let total: usize = columns.iter().sum();
        let rows = self.plan.counts[products[0].out] / columns[0];
        let parts = products
            .iter()
            .flat_map(|product| self.plan.matrices[product.matrix].parts.clone());
        let matrix = Matrix {
            parts: parts.collect(),
            inner: self.plan.matrices[products[0].matrix].inner,
            taps: 1,
            columns: total,
        };
        let bias: Option<Vec<f32>> = products
            .iter()
            .map(|product| product.bias)
            .map(|bias| bias.map(|of| self.plan.vectors[of.first..of.first + of.len].to_vec()))
            .collect::<Option<Vec<_>>>()
            .map(|all| all.concat());
        let bias = bias.map(|bias| self.vector(&bias));
        let matrix = self.matrix(matrix);
        self.plan.counts.push(rows * total);
        self.readers.push(1);
        let out = self.plan.counts.len() - 1;
        let first = made.iter().copied().min().unwrap_or_default();
        let merged = Product {
            matrix,
            bias,
            out,
            ..products[0].clone()
        };
        if let Some(Step::Attention { attention: of, .. }) = self.plan.steps.get_mut(attention) {
            let mut before = 0;
            for (side, columns) in of.sides.iter_mut().zip(&columns) {
                side.buffer = out;
                side.layout.offset += before;
                side.layout.strides[2] = total as isize;
                before += columns;
            }
        }
        // Places of the others stay, so that those found before still hold.
        for at in made {
            self.plan.steps[at] = match at == first {
                true => Step::Product(merged.clone()),
                false => Step::nothing(),
            };
        }
    }
}
