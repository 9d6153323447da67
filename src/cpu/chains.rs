//! Chains of planned graphs: functions of elements whose results nothing else reads become one step.

use super::arrays::{Argument, Call, Chain, function};
use super::replay::{From, Placed, Step, Work};
use smallvec::SmallVec;

/// Most functions and inputs of a chain.
const FUNCTIONS: usize = 128;
const INPUTS: usize = 12;

/// A chain while it grows.
struct Growing {
    calls: SmallVec<[Call; 1]>,
    inputs: SmallVec<[Placed; 3]>,
}

impl Growing {
    fn input(&mut self, placed: &Placed) -> Argument {
        let known = self.inputs.iter().position(|input| input == placed);
        Argument::Input(known.unwrap_or_else(|| {
            self.inputs.push(placed.clone());
            self.inputs.len() - 1
        }))
    }

    /// Takes in another chain; where its last result is.
    fn join(&mut self, other: &Growing) -> Argument {
        let first = self.calls.len();
        let inputs: Vec<Argument> = other.inputs.iter().map(|input| self.input(input)).collect();
        for call in &other.calls {
            let arguments = call.arguments.map(|argument| match argument {
                Argument::Input(input) => inputs[input],
                Argument::Made(made) => Argument::Made(first + made),
            });
            self.calls.push(Call { arguments, ..*call });
        }
        Argument::Made(self.calls.len() - 1)
    }
}

/// Joins the steps of a graph whose results do not share slots yet.
pub fn join(steps: Vec<Step>, outputs: &[Placed]) -> Vec<Step> {
    let slots = steps.iter().flat_map(|step| &step.outputs).count();
    // How the only step that reads a result does so; several if it does so in two ways, or if the graph gives it away.
    let mut reader: Vec<Option<(usize, &Placed)>> = vec![None; slots];
    let mut readers = vec![0usize; slots];
    for (place, step) in steps.iter().enumerate() {
        for input in &step.inputs {
            if let From::Slot(slot) = input.from
                && reader[slot] != Some((place, input))
            {
                reader[slot] = Some((place, input));
                readers[slot] += 1;
            }
        }
    }
    for output in outputs {
        if let From::Slot(slot) = output.from {
            readers[slot] += 2;
        }
    }
    // The chain that makes a result, until it is taken in.
    let mut growing: Vec<Option<Growing>> = (0..slots).map(|_| None).collect();
    let mut joined: Vec<Option<Step>> = Vec::with_capacity(steps.len());
    let mut made_by = vec![0; slots];
    for (place, mut step) in steps.into_iter().enumerate() {
        let chained = match (&step.work, &step.outputs[..]) {
            (Work::Op(op), [(slot, dtype, sizes)]) => {
                let alike = step.inputs.iter().all(|input| input.dtype == *dtype);
                function(op, *dtype)
                    .filter(|_| alike && !sizes.contains(&0))
                    .map(|function| (function, *slot, sizes.clone()))
            }
            _ => None,
        };
        for (slot, ..) in &step.outputs {
            made_by[*slot] = place;
        }
        if let Some((function, slot, sizes)) = chained {
            let mut chain = Growing {
                calls: SmallVec::new(),
                inputs: SmallVec::new(),
            };
            let mut arguments: SmallVec<[Argument; 2]> = SmallVec::new();
            let mut taken: SmallVec<[(usize, Argument); 2]> = SmallVec::new();
            for input in &step.inputs {
                let whole = input.layout.offset == 0
                    && input.layout.sizes == sizes
                    && input.layout.is_rows();
                let earlier = match input.from {
                    From::Slot(slot) if whole && readers[slot] == 1 => Some(slot),
                    _ => None,
                };
                let again = taken.iter().find(|(slot, _)| Some(*slot) == earlier);
                if let Some((_, argument)) = again {
                    arguments.push(*argument);
                    continue;
                }
                let other = earlier.and_then(|slot| Some((slot, growing[slot].take()?)));
                let other = match other {
                    Some((slot, other))
                        if chain.calls.len() + other.calls.len() >= FUNCTIONS
                            || chain.inputs.len() + other.inputs.len() >= INPUTS =>
                    {
                        growing[slot] = Some(other);
                        None
                    }
                    other => other,
                };
                arguments.push(match other {
                    Some((slot, other)) => {
                        joined[made_by[slot]] = None;
                        let argument = chain.join(&other);
                        taken.push((slot, argument));
                        argument
                    }
                    None => chain.input(input),
                });
            }
            let first = arguments[0];
            chain.calls.push(Call {
                function,
                arguments: [first, arguments.get(1).copied().unwrap_or(first)],
            });
            if chain.calls.len() > 1 {
                step.work = match step.work {
                    Work::Op(op) | Work::Chain(_, op) => {
                        Work::Chain(Chain::new(chain.calls.clone()), op)
                    }
                };
                step.inputs = chain.inputs.clone();
            }
            growing[slot] = Some(chain);
        }
        joined.push(Some(step));
    }
    joined.into_iter().flatten().collect()
}
