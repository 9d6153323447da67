//! Eval: what arrays wait for is computed.

use super::Array;
use super::lazy::collect;
use crate::Result;
use crate::cpu::{self, Elements, ThreadPool};

/// Computes the elements of all `arrays` that do not have them yet.
///
/// # Errors
/// Those of the operations; arrays that were not reached stay lazy and usable.
pub fn eval(arrays: &[Array]) -> Result<()> {
    eval_with(arrays, None)
}

/// As [`eval`], with the workers of a pool.
///
/// # Errors
/// As [`eval`].
pub fn eval_with(arrays: &[Array], pool: Option<&mut ThreadPool>) -> Result<()> {
    let collected = collect(arrays)?;
    let results = cpu::evaluate(&collected.graph, &collected.leaves, pool)?;
    for (array, elements) in collected.arrays.iter().zip(results) {
        array.set(elements);
    }
    Ok(())
}

impl Array {
    /// The elements, computed if they are not there yet.
    ///
    /// # Errors
    /// As [`eval`].
    pub fn read(&self) -> Result<Elements> {
        if let Some(elements) = self.elements() {
            return Ok(elements);
        }
        eval(std::slice::from_ref(self))?;
        self.elements()
            .ok_or_else(|| crate::Error::Internal("an evaluated array has no elements".into()))
    }
}
