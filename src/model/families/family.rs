//! What a family is: how its config is read, what its tensors are called, and its forward pass.

use crate::Result;
use crate::array::Array;
use crate::model::Config;
use crate::model::bind::Bound;
use crate::model::config::{Fields, Form, GgufFields};
use crate::model::weights::Source;

/// What a forward pass gives for the wanted rows.
pub struct Results {
    /// What the final norm gives.
    pub hidden: Array,
    /// Logits of the next token.
    pub logits: Array,
}

/// A family of models: one entry of [`super::FAMILIES`].
pub struct Family {
    /// What programs are told: `mlxrocm_model_info`'s family.
    pub name: &'static str,
    /// `model_type`s of config.json, none of which is in another entry.
    pub model_types: &'static [&'static str],
    /// `general.architecture`s of GGUF files, none of which is in another entry.
    pub architectures: &'static [&'static str],
    /// Keys of config.json that it reads beside those that every family reads.
    pub keys: &'static [&'static str],
    /// Keys of config.json that are about its training only.
    pub harmless: &'static [&'static str],
    /// Keys of the GGUF architecture that it reads beside those that every family reads, or (`head_count_kv`,
    /// `feed_forward_length`) in place of what reads them for every family, layer by layer.
    pub gguf_keys: &'static [&'static str],
    /// The context where config.json says nothing.
    pub context: usize,
    /// The RoPE base where config.json says nothing.
    pub rope_theta: f64,
    /// What config.json says beyond what every family's does; the config holds that already.
    pub read: fn(&Fields, &mut Config) -> Result<()>,
    /// The same for a GGUF file's metadata.
    pub read_gguf: fn(&GgufFields, &mut Config) -> Result<()>,
    /// The form of its blocks.
    pub form: Form,
    /// Sizes that config.json need not say.
    pub sizes: &'static [(&'static str, usize)],
    /// Modules whose names in a folder are not the usual ones: of a block, or whole paths; with a point at the end, how
    /// names begin.
    pub folder_modules: &'static [(&'static str, &'static str)],
    /// Modules of a block whose GGUF names are not the usual ones: path in a folder, name in a GGUF file.
    pub gguf_modules: &'static [(&'static str, &'static str)],
    /// Modules that mlx-lm quantizes with 8 bits whatever the others get, by the ends of their paths.
    pub wide_modules: &'static [&'static str],
    /// Its folders can be quantized: what mlx-lm makes of them is known.
    pub quantizes: bool,
    /// Binds the weights and makes what the model gives for the wanted rows.
    pub forward: fn(&Source, &mut Bound) -> Result<Results>,
}

impl Family {
    /// A family of the llama form that reads nothing of its own.
    pub const PLAIN: Family = Family {
        name: "",
        model_types: &[],
        architectures: &[],
        keys: &[],
        harmless: &[],
        gguf_keys: &[],
        context: 32_768,
        rope_theta: 10_000.0,
        read: |_, _| Ok(()),
        read_gguf: |_, _| Ok(()),
        form: Form::LLAMA,
        sizes: &[],
        folder_modules: &[],
        gguf_modules: &[],
        wide_modules: &[],
        quantizes: true,
        forward: super::dense::forward,
    };
}

// By what it is called: there is one entry for each.
impl PartialEq for Family {
    fn eq(&self, other: &Family) -> bool {
        (self.name, self.model_types) == (other.name, other.model_types)
    }
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
