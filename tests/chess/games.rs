//! Planes and legal moves of games.

use crate::golden::{games, read};
use mlxrocm::chess::{Game, InputFormat, Planes};

fn fnv(bytes: impl IntoIterator<Item = u8>) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    bytes.into_iter().fold(0x811c_9dc5, step)
}

fn hash(planes: &Planes) -> u32 {
    let pairs = planes.masks.iter().zip(&planes.values);
    fnv(pairs.flat_map(|(mask, value)| mask.to_le_bytes().into_iter().chain(value.to_le_bytes())))
}

const FORMATS: [InputFormat; 7] = [
    InputFormat::Classical,
    InputFormat::CastlingPlane,
    InputFormat::Canonical,
    InputFormat::CanonicalHectoplies,
    InputFormat::CanonicalHectopliesArmageddon,
    InputFormat::CanonicalV2,
    InputFormat::CanonicalV2Armageddon,
];

/// Every position of all games, in all formats, bit for bit.
#[test]
fn planes_and_moves_are_the_engines() {
    let golden = read("planes.bin");
    let mut golden = golden
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()));
    let (mut positions, mut wrong) = (0, Vec::new());
    for (fen, moves) in games() {
        for plies in 0..=moves.len() {
            let game = Game::new(Some(&fen), &moves[..plies]).unwrap();
            for format in FORMATS {
                let expected = golden.next().unwrap();
                let planes = game.planes(format);
                if expected != 0 && hash(&planes) != expected {
                    wrong.push(format!("{format:?}: {fen} {:?}", &moves[..plies]));
                }
            }
            let legal = game.legal_moves(Default::default());
            let indices = legal.iter().map(|m| m.index as u16);
            if fnv(indices.flat_map(u16::to_le_bytes)) != golden.next().unwrap() {
                wrong.push(format!("moves: {fen} {:?}", &moves[..plies]));
            }
            positions += 1;
        }
    }
    assert_eq!(golden.next(), None);
    assert!(positions >= 1000, "{positions}");
    assert!(
        wrong.is_empty(),
        "{}: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(8)]
    );
}

#[test]
fn moves_have_the_names_of_uci() {
    let names = |fen: Option<&str>, moves: &[&str]| -> Vec<String> {
        let game = Game::new(fen, moves).unwrap();
        let legal = game.legal_moves(Default::default());
        legal.into_iter().map(|m| m.name).collect()
    };
    let has = |names: &[String], name: &str| names.iter().any(|n| n == name);
    let start = names(None, &[]);
    assert_eq!(start.len(), 20);
    assert!(has(&start, "g1f3") && has(&start, "e2e4"));
    // Castling of the usual kind and of Chess960; both notations are taken.
    let castle = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1";
    let black = names(Some(castle), &[]);
    assert!(has(&black, "e8g8") && has(&black, "e8c8") && !has(&black, "e8h8"));
    for moves in [["e8g8", "e1c1"], ["e8h8", "e1a1"]] {
        let both = names(Some(castle), &moves);
        assert!(has(&both, "f8f1") && !has(&both, "g8h7x"), "{both:?}");
    }
    let other = names(
        Some("1rkr4/pppppppp/8/8/8/8/PPPPPPPP/1RKR4 w DBdb - 0 1"),
        &[],
    );
    assert!(has(&other, "c1d1") && !has(&other, "c1b1"), "{other:?}");
    let promotion = names(Some("8/P7/8/1k6/6K1/8/p7/8 b - - 0 1"), &[]);
    for piece in ["q", "r", "b", "n"] {
        assert!(has(&promotion, &format!("a2a1{piece}")), "{promotion:?}");
    }
}

#[test]
fn what_is_no_position_or_move_is_an_error() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for fen in [
        "",
        "x",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "kk6/8/8/8/8/8/8/K7 w - - 0 1",
        "kK6/8/8/8/8/8/8/8 w - - 0 1",
        "8/8/8/3k4/4K3/8/8/8 b - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w XQ - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e6 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - -1 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 more",
        "4k3/8/8/8/8/8/8/R3K3 w K - 0 1",
        "9/8/8/8/8/8/8/K6k w - - 0 1",
        "K6k w - - 0 1",
        "99999999999999999999/8/8/8/8/8/8/K6k w - - 0 1",
        "pppppppp/8/8/8/8/8/8/K6k w - - 0 1",
        "k7/8/8/8/8/8/8/KQ6 w - - 0 99999999999",
        "k7/8/8/8/8/8/8/K6Ä w - - 0 1",
    ] {
        let refused = Game::new::<&str>(Some(fen), &[]).err();
        let message = refused.unwrap_or_else(|| panic!("{fen}")).to_string();
        assert!(message.contains("FEN"), "{message}");
    }
    let long = "k".repeat(100_000);
    assert!(Game::new::<&str>(Some(&long), &[]).is_err());
    for bad in [
        "", "e2e5", "e7e5", "e1g1", "e2", "e2e4q", "zz", "e2e4 ", "ääää", "0000",
    ] {
        let message = Game::new(Some(start), &["g1f3", "g8f6", bad])
            .unwrap_err()
            .to_string();
        assert!(message.contains("move 3"), "{message}");
    }
}
