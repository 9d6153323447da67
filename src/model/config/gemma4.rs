//! What a config says about Gemma 4, whose layers differ in more than windows.

/// The numbers of Gemma 4 that no other family has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gemma4 {
    /// Width of a head in layers that see everything; in the others it is the usual one.
    pub full_dim: usize,
    /// Key heads in layers that see everything.
    pub full_kv_heads: usize,
    /// In layers that see everything values are keys, before their norm and rotation.
    pub keys_are_values: bool,
    /// So many of the last layers take keys and values of the last layer of their kind before them.
    pub sharing: usize,
    /// Columns that the tokens' embeddings have for each layer besides; 0: none.
    pub per_layer: usize,
    /// Experts beside the MLP.
    pub experts: bool,
    /// The experts' weights are multiplied by a number of each expert.
    pub expert_scales: bool,
}
