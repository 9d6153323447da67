//! Policy, value and moves left of every kind of network, in batches and alone.

use crate::compare::{NETS, compare, inputs, maia};
use crate::golden::{net, path, positions};
use mlxrocm::chess::{
    ChessNet, Evaluation, Game, MOVES, NetOptions, PLANES, PolicyHead, ValueHead, probabilities,
};

#[test]
fn every_kind_of_network_says_what_the_engine_says() {
    for name in NETS {
        let net = net(name, &NetOptions::default());
        compare(name, &net, &format!("{name}.out"), 1e-5);
    }
}

#[test]
fn every_head_of_several() {
    let (vanilla, winner) = (PolicyHead::Vanilla, ValueHead::Winner);
    let (optimistic, q) = (PolicyHead::Optimistic, ValueHead::Q);
    for (name, policy, value, golden) in [
        ("multihead", vanilla, winner, "vanilla.winner"),
        ("multihead", optimistic, q, "optimistic.q"),
        ("multihead", PolicyHead::Soft, ValueHead::St, "soft.st"),
        ("multihead", PolicyHead::Opponent, winner, "opponent.winner"),
        ("hybrid_dense", vanilla, winner, "vanilla.winner"),
        ("hybrid_dense", optimistic, q, "optimistic.q"),
    ] {
        let net = net(
            name,
            &NetOptions {
                policy,
                value,
                ..NetOptions::default()
            },
        );
        compare(golden, &net, &format!("{name}.{golden}.out"), 1e-5);
    }
    let options = NetOptions {
        policy: PolicyHead::Soft,
        ..NetOptions::default()
    };
    let refused = ChessNet::load(&path("attention.pb.gz"), &options);
    let message = refused.err().unwrap().to_string();
    assert!(message.contains("no policy head \"soft\""), "{message}");
}

/// The engine of that version reads LINEAR16 only: the same numbers in other encodings.
#[test]
fn every_encoding_of_weights() {
    for (name, tolerance) in [
        ("attention_f32", 1e-5),
        ("attention_f16", 1e-2),
        ("attention_bf16", 5e-2),
    ] {
        let net = net(name, &NetOptions::default());
        compare(name, &net, "attention.out", tolerance);
    }
}

/// The real network that `make model` fetches.
#[test]
fn maia_says_what_the_engine_says() {
    let net = maia(&NetOptions::default());
    compare("maia-1900", &net, "maia-1900.out", 1e-3);
    // The best moves of the start, as a human of that strength plays.
    let game = Game::new::<&str>(None, &[]).unwrap();
    let (masks, values) = inputs(&net, std::slice::from_ref(&game));
    let found = net.evaluate(&masks, &values).unwrap();
    let moves = game.legal_moves(game.planes(net.info().format.input).transform);
    let indices: Vec<u32> = moves.iter().map(|m| m.index as u32).collect();
    let chances = probabilities(&found.policy, &indices, 1.0).unwrap();
    let best = (0..moves.len()).max_by(|&a, &b| chances[a].total_cmp(&chances[b]));
    assert_eq!(moves[best.unwrap()].name, "e2e4");
}

/// A position in any batch gets the bits that it gets alone.
#[test]
fn batches_are_what_each_position_is_alone() {
    for name in [
        "se_convolution",
        "attention",
        "policy_encoders",
        "classical",
        "hybrid_map",
        "hybrid_dense",
    ] {
        let net = net(name, &NetOptions::default());
        let (masks, values) = inputs(&net, &positions());
        let repeat = |count: usize| {
            let masks: Vec<u64> = masks.iter().copied().cycle().take(count * PLANES).collect();
            let values: Vec<f32> = values
                .iter()
                .copied()
                .cycle()
                .take(count * PLANES)
                .collect();
            net.evaluate(&masks, &values).unwrap()
        };
        let mut alone = Evaluation::default();
        for place in 0..8 {
            let range = place * PLANES..(place + 1) * PLANES;
            let one = net.evaluate(&masks[range.clone()], &values[range]).unwrap();
            alone.policy.extend(one.policy);
            alone.wdl.extend(one.wdl);
            alone.moves_left.extend(one.moves_left);
        }
        for count in [1, 7, 64, 70] {
            let batch = repeat(count);
            assert_eq!(batch.policy.len(), count * MOVES);
            let places = || 0..count;
            for place in places() {
                let of =
                    |all: &[f32], size: usize, place: usize| all[place * size..][..size].to_vec();
                let (a, b) = (&batch, &alone);
                assert_eq!(of(&a.policy, MOVES, place), of(&b.policy, MOVES, place % 8));
                assert_eq!(of(&a.wdl, 3, place), of(&b.wdl, 3, place % 8));
                assert_eq!(a.moves_left[place], b.moves_left[place % 8]);
            }
        }
    }
}

#[test]
fn batches_of_other_sizes_are_refused() {
    let net = net("attention", &NetOptions::default());
    for (masks, values) in [(0, 0), (1, 1), (112, 111), (112 * 1025, 112 * 1025)] {
        let refused = net.evaluate(&vec![0; masks], &vec![0.0; values]);
        assert!(refused.is_err(), "{masks} {values}");
    }
    let mut values = vec![0.0; 112];
    values[109] = f32::NAN;
    let message = net.evaluate(&[0; 112], &values).unwrap_err().to_string();
    assert!(message.contains("plane 109 of position 0"), "{message}");
}
