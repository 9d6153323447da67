//! Model families: how the config of each is read, and its forward pass as array operations.
//!
//! A new one is a file here with an entry in [`FAMILIES`], and fields of [`Config`](super::Config) for what no
//! other has.

mod activation;
mod attention;
mod cohere;
mod deepseek;
mod delta;
mod delta_config;
mod dense;
mod exaone;
mod family;
mod gemma;
mod gemma4;
mod gemma4_gguf;
mod glm;
mod gpt_oss;
mod granite;
mod kimi;
mod latent;
mod layer_norm;
mod lfm2;
mod llama;
mod llama4;
mod mixtures;
mod mlp;
mod nemotron_h;
mod norm;
mod olmo;
mod qwen;
mod recurrent;
mod state_space;
mod state_space_gguf;
mod variants;

pub use family::{Family, Results};

use super::bind::Bound;
use super::weights::Source;
use crate::Result;
use crate::array::{self, Array};
use crate::graph::{Rules, fuse};
use crate::log::{self, Level};
use crate::plan;
use crate::step::Schedule;

/// All families.
pub static FAMILIES: &[Family] = &[
    llama::LLAMA,
    llama::MISTRAL,
    qwen::QWEN2,
    qwen::QWEN3,
    qwen::QWEN3_MOE,
    delta_config::QWEN3_NEXT,
    delta_config::QWEN3_5,
    delta_config::QWEN3_5_MOE,
    gemma::GEMMA,
    gemma::GEMMA2,
    gemma::GEMMA3,
    gemma4::GEMMA4,
    variants::PHI3,
    olmo::OLMO2,
    olmo::OLMO3,
    variants::SMOLLM3,
    granite::GRANITE,
    glm::GLM4,
    variants::MINISTRAL3,
    cohere::COHERE2,
    exaone::EXAONE4,
    layer_norm::STARCODER2,
    layer_norm::STABLELM,
    variants::SEED_OSS,
    variants::INTERNLM2,
    variants::INTERNLM3,
    variants::HUNYUAN,
    variants::ERNIE,
    variants::APERTUS,
    variants::HELIUM,
    layer_norm::NEMOTRON,
    mixtures::MIXTRAL,
    mixtures::OLMOE,
    gpt_oss::GPT_OSS,
    qwen::QWEN2_MOE,
    glm::GLM4_MOE,
    granite::GRANITE_MOE,
    mixtures::DOTS1,
    mixtures::ERNIE_MOE,
    mixtures::PHIMOE,
    mixtures::MINIMAX,
    llama4::LLAMA4,
    lfm2::LFM2,
    lfm2::LFM2_MOE,
    deepseek::DEEPSEEK2,
    deepseek::DEEPSEEK3,
    deepseek::GLM4_MOE_LITE,
    state_space::MAMBA2,
    nemotron_h::NEMOTRON_H,
    state_space::GRANITE_HYBRID,
    state_space::FALCON_H1,
    state_space::JAMBA,
    kimi::KIMI_LINEAR,
];

/// The family of a `model_type` of config.json.
pub fn of_model_type(model_type: &str) -> Option<&'static Family> {
    FAMILIES
        .iter()
        .find(|family| family.model_types.contains(&model_type))
}

/// The family of a `general.architecture` of GGUF.
pub fn of_architecture(architecture: &str) -> Option<&'static Family> {
    FAMILIES
        .iter()
        .find(|family| family.architectures.contains(&architecture))
}

/// All families as config.json calls them, for messages.
pub fn names() -> String {
    let names = FAMILIES.iter().flat_map(|family| family.model_types);
    names.copied().collect::<Vec<_>>().join(", ")
}

/// Binds the weights of `source` and plans its family's forward pass.
///
/// # Errors
/// `InvalidFile` for a tensor that is missing or has another shape than the config says.
pub fn schedule(source: &Source, rules: Rules) -> Result<(Bound, Schedule)> {
    let mut bound = Bound::default();
    let Results { hidden, logits } = (source.config().family.forward)(source, &mut bound)?;
    let plan = |result: &Array| {
        let mut graph = array::trace(result)?;
        let counts = fuse(&mut graph, rules);
        log::write(Level::Debug, || format!("fusions: {counts:?}"));
        plan::schedule(&graph, &bound.vectors)
    };
    let mut schedule = plan(&logits)?;
    schedule.hidden = Some(Box::new(plan(&hidden)?));
    Ok((bound, schedule))
}
