//! What networks say beside what the engine says.

use crate::golden::{Answer, answers, positions};
use mlxrocm::chess::{ChessNet, Evaluation, Game, MOVES, NetOptions};

/// Planes of positions, one after the other.
pub fn inputs(net: &ChessNet, games: &[Game]) -> (Vec<u64>, Vec<f32>) {
    let format = net.info().format.input;
    let planes: Vec<_> = games.iter().map(|game| game.planes(format)).collect();
    let masks = planes.iter().flat_map(|planes| planes.masks).collect();
    let values = planes.iter().flat_map(|planes| planes.values).collect();
    (masks, values)
}

/// The largest difference of logits, of Q and D, of moves left.
fn differences(found: &Evaluation, expected: &[Answer]) -> [f32; 3] {
    let mut worst = [0f32; 3];
    for (place, answer) in expected.iter().enumerate() {
        let policy = &found.policy[place * MOVES..][..MOVES];
        let logits = policy[place..].iter().step_by(8);
        for (a, b) in logits.zip(&answer.logits) {
            worst[0] = worst[0].max((a - b).abs());
        }
        let [win, draw, loss] = found.wdl[place * 3..][..3] else {
            unreachable!()
        };
        worst[1] = worst[1].max((win - loss - answer.q).abs());
        worst[1] = worst[1].max((draw - answer.d).abs());
        worst[2] = worst[2].max((found.moves_left[place] - answer.m).abs());
    }
    worst
}

/// The engine's answers to the golden positions, within a tolerance.
pub fn compare(name: &str, net: &ChessNet, golden: &str, tolerance: f32) {
    let games = positions();
    let (masks, values) = inputs(net, &games);
    let found = net.evaluate(&masks, &values).unwrap();
    let expected = answers(golden);
    let logits: Vec<f32> = expected.iter().flat_map(|a| a.logits.clone()).collect();
    let spread = logits.iter().fold(0f32, |most, x| most.max(x.abs()));
    assert!(spread > 0.1, "{name}: logits up to {spread} tell nothing");
    let worst = differences(&found, &expected);
    println!("{name}: {worst:?} of logits up to {spread}");
    assert!(
        worst.iter().all(|&difference| difference <= tolerance),
        "{name}: {worst:?}"
    );
}

/// Small networks of every kind; of hybrids (encoders over convolutions) the engine's converter and ONNX Runtime said it.
pub const NETS: [&str; 21] = [
    "classical",
    "oldest",
    "se_convolution",
    "se_attention",
    "policy_encoders",
    "attention",
    "no_smolgen",
    "no_gates",
    "tagged_se",
    "heads_of_32",
    "heads_of_64",
    "whole_boards",
    "ffn_relu",
    "ffn_none",
    "ffn_tanh",
    "ffn_sigmoid",
    "ffn_selu",
    "ffn_swish",
    "hybrid_plain",
    "hybrid_tagged_se",
    "hybrid_map",
];

/// The real network that `make model` fetches.
pub fn maia(options: &NetOptions) -> ChessNet {
    let folder = std::env::var_os("MLXROCM_TEST_MODELS").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".cache/models"),
        Into::into,
    );
    let file = folder.join("maia-1900.pb.gz");
    assert!(
        file.is_file(),
        "{} is missing: `make model` fetches it",
        file.display()
    );
    ChessNet::load(&file, options).unwrap()
}
