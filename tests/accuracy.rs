//! The default path against float32 references: the demo GGUF and MLX folders made from it.
//!
//! Gates: first-step logits within 5e-2, mean KL divergence over the text at most 5e-4 nats, perplexity within
//! 0.1 %, 64 greedy tokens equal wherever the reference's margin exceeds 0.1, and a batch of four gives each
//! request the tokens it gets alone.

mod accuracy_support;

use accuracy_support::*;
use mlxrocm::model::{KvType, Model};
use serde::Deserialize;
use std::sync::Arc;

/// `text.json`: the ids of `text.txt`. (Perplexities are taken from the per-position references.)
#[derive(Deserialize)]
struct Text {
    ids: Vec<u32>,
}

fn text_ids() -> Vec<u32> {
    let text = std::fs::read_to_string(golden("text.json")).expect("text.json");
    serde_json::from_str::<Text>(&text)
        .expect("text.json in the expected form")
        .ids
}

/// First-step logits and greedy tokens of every prompt.
fn check_prompts(model: &Arc<Model>, references: &str) {
    let vocab = model.info().vocab_size;
    let session = session(model, 1024, 1);
    for (name, reference) in prompt_references(references) {
        let logits = session
            .logits(&reference.ids)
            .expect("logits of the prompt");
        assert_eq!(logits.len(), reference.ids.len() * vocab);
        let row = &logits[logits.len() - vocab..];
        let worst = compare_first_step(row, &reference);
        let lse = (log_sum_exp(row) - reference.logsumexp as f64).abs();
        let (differences, decode) = compare_greedy(
            &session,
            &name,
            &reference.ids,
            &reference.greedy,
            &reference.margins,
            &reference.logprobs,
        )
        .unwrap_or_else(|problem| panic!("{problem}"));
        println!(
            "{references} {name}: first-step logits within {worst:.5}, logsumexp within {lse:.5}, \
             {} greedy tokens, {differences} differences at small margins, log-probabilities within {decode:.5}",
            reference.greedy.len()
        );
        assert!(
            worst <= LOGIT_TOLERANCE,
            "{name}: a logit is off by {worst}"
        );
        assert!(
            decode <= LOGIT_TOLERANCE,
            "{name}: a decoded log-probability is off by {decode}"
        );
        assert!(
            lse <= LOGIT_TOLERANCE as f64,
            "{name}: logsumexp is off by {lse}"
        );
    }
}

/// KL divergence and perplexity over the text, as far as the reference goes.
fn check_text(model: &Arc<Model>, references: &str, tokens: usize) {
    let reference = text_reference(references);
    let reference = &reference[..tokens.min(reference.len())];
    let ids = &text_ids()[..reference.len()];
    let figures = compare_text(model, reference, ids);
    let change = figures.perplexity / figures.reference_perplexity - 1.0;
    println!(
        "{references}: {} tokens: mean KL {:.3e} (worst position {:.3e}), perplexity {:.4}, reference {:.4} ({:+.4} %)",
        ids.len(),
        figures.mean_kl,
        figures.worst_kl,
        figures.perplexity,
        figures.reference_perplexity,
        100.0 * change
    );
    assert!(figures.mean_kl <= KL_LIMIT, "mean KL {}", figures.mean_kl);
    // A lower bound of a divergence is not below zero either, but for the rounding of the reference's numbers.
    assert!(figures.mean_kl >= -1e-6, "mean KL {}", figures.mean_kl);
    assert!(
        change.abs() <= PERPLEXITY_TOLERANCE,
        "perplexity is off by {change}"
    );
}

/// Four requests at once give the tokens that each gives alone.
fn check_batch(model: &Arc<Model>, references: &str, kv: KvType) {
    const TOKENS: usize = 48;
    let references = prompt_references(references);
    // Different lengths: some are in prefill while others decode.
    let prompts: Vec<&[u32]> = ["one_token", "long", "digits", "chat_turns"]
        .iter()
        .map(|&name| references[name].ids.as_slice())
        .collect();
    let alone: Vec<Vec<u32>> = prompts
        .iter()
        .map(|prompt| {
            // A session each: nothing can come from a cache.
            let session = session_over(model, 1024, 1, kv);
            collect(
                &session
                    .submit(greedy_request(prompt, TOKENS))
                    .expect("a generation"),
            )
        })
        .collect();
    let session = session_over(model, 1024, 4, kv);
    let together: Vec<_> = prompts
        .iter()
        .map(|prompt| {
            session
                .submit(greedy_request(prompt, TOKENS))
                .expect("a generation")
        })
        .collect();
    for (i, generation) in together.iter().enumerate() {
        assert_eq!(collect(generation), alone[i], "request {i} of the batch");
    }
}

#[test]
fn demo_tokenizer_gives_the_ids_of_the_text() {
    let model = load(&demo_model());
    let text = std::fs::read_to_string(golden("text.txt")).expect("text.txt");
    let ids = model
        .tokenizer()
        .encode(&text, false, true)
        .expect("the text encodes");
    assert_eq!(ids, text_ids());
}

#[test]
fn demo_prompts() {
    check_prompts(&load(&demo_model()), "demo");
}

#[test]
fn demo_text() {
    check_text(&load(&demo_model()), "demo", usize::MAX);
}

#[test]
fn demo_batch_of_four_equals_alone() {
    check_batch(&load(&demo_model()), "demo", KvType::F16);
}

/// Mean KL divergence of the text's logits over each quantized cache from those over f16, in nats.
#[test]
fn demo_quantized_caches() {
    const TOKENS: usize = 512;
    let model = load(&demo_model());
    let vocab = model.info().vocab_size;
    let ids = &text_ids()[..TOKENS];
    let reference = text_reference("demo");
    let logits = |kv| {
        let session = session_over(&model, TOKENS, 1, kv);
        session.logits(ids).expect("logits of the text")
    };
    let plain = logits(KvType::F16);
    for (kv, limit) in [(KvType::Q8, 1e-3), (KvType::Q4, 0.1)] {
        let (mut sum, mut from_f32) = (0.0, 0.0);
        let rows = plain.chunks_exact(vocab).zip(reference.iter());
        for ((p, reference), q) in rows.zip(logits(kv).chunks_exact(vocab)) {
            let (p_lse, q_lse) = (log_sum_exp(p), log_sum_exp(q));
            for (p, q) in p.iter().zip(q) {
                let (log_p, log_q) = (f64::from(*p) - p_lse, f64::from(*q) - q_lse);
                sum += log_p.exp() * (log_p - log_q);
            }
            from_f32 += kl_divergence(reference, q, q_lse);
        }
        let (mean, from_f32) = (sum / TOKENS as f64, from_f32 / TOKENS as f64);
        println!("{kv:?}: mean KL {mean:.3e} from f16, {from_f32:.3e} from the f32 reference");
        // A cache that is no different would give 0.
        assert!(mean > 1e-9 && mean < limit, "{kv:?}: {mean}");
    }
}

#[test]
fn demo_batch_of_four_equals_alone_over_quantized_caches() {
    let model = load(&demo_model());
    check_batch(&model, "demo", KvType::Q8);
    check_batch(&model, "demo", KvType::Q4);
}

#[test]
fn folder_g64_4bit() {
    let model = load(&folder("g64-4bit"));
    check_prompts(&model, "g64-4bit");
    check_text(&model, "g64-4bit", usize::MAX);
    check_batch(&model, "g64-4bit", KvType::F16);
}

#[test]
fn folder_g32_8bit() {
    let model = load(&folder("g32-8bit"));
    check_prompts(&model, "g32-8bit");
    check_text(&model, "g32-8bit", usize::MAX);
}

#[test]
fn folder_mixed() {
    let model = load(&folder("mixed"));
    check_prompts(&model, "mixed");
    check_text(&model, "mixed", usize::MAX);
    check_batch(&model, "mixed", KvType::F16);
}

/// This folder holds the numbers of the GGUF, so the GGUF's references are its own.
#[test]
fn folder_with_the_numbers_of_the_gguf() {
    let model = load(&folder("gguf-g32"));
    check_prompts(&model, "demo");
    check_text(&model, "demo", 512);
}

/// The comparisons themselves find what they look for: a reference compared with itself passes, a slightly
/// different one does not.
#[test]
fn the_comparisons_can_fail() {
    let reference = text_reference("demo");
    let position = &reference[100];
    let mut row = vec![-30.0f32; 49152];
    for &(id, logit) in &position.top {
        row[id as usize] = logit;
    }
    // Spread what the top tokens leave over the others, so that the row has the reference's logsumexp.
    let top: f64 = position.top.iter().map(|&(_, x)| (x as f64).exp()).sum();
    let rest = ((position.logsumexp as f64).exp() - top) / (49152 - position.top.len()) as f64;
    for x in row.iter_mut().filter(|x| **x == -30.0) {
        *x = rest.ln() as f32;
    }
    let same = kl_divergence(position, &row, log_sum_exp(&row));
    assert!(
        same.abs() < 1e-5,
        "KL of a distribution from itself: {same}"
    );
    // A wrong best token by 0.2 must show.
    row[position.top[0].0 as usize] -= 0.2;
    let other = kl_divergence(position, &row, log_sum_exp(&row));
    assert!(other > KL_LIMIT, "KL of a changed distribution: {other}");

    let prompts = prompt_references("demo");
    let capital = &prompts["chat_capital"];
    let mut row = vec![0.0f32; 49152];
    for (i, &x) in capital.every_128th_logit.iter().enumerate() {
        row[128 * i] = x;
    }
    for (&id, &x) in capital.top_ids.iter().zip(&capital.top_logits) {
        row[id as usize] = x;
    }
    assert!(compare_first_step(&row, capital) < 1e-4);
    assert_eq!(argmax(&row), capital.greedy[0]);
    row[capital.top_ids[40] as usize] += 0.06;
    assert!(compare_first_step(&row, capital) > LOGIT_TOLERANCE);
}
