//! Chess networks beside what Leela Chess Zero itself said (the golden files).

use mlxrocm_rs::{ChessNet, ChessOptions, ChessQueue, Position, Status};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/golden/chess")).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(golden(name)).unwrap()
}

fn positions() -> Vec<Position> {
    let games = text("games.txt");
    let games: Vec<&str> = games.lines().collect();
    let chosen = text("positions.txt");
    let one = |line: &str| {
        let (game, plies) = line.split_once('|').unwrap();
        let (fen, moves) = games[game.parse::<usize>().unwrap()].split_once('|').unwrap();
        let moves = moves.split_whitespace().take(plies.parse().unwrap()).map(str::to_owned);
        Position { fen: Some(fen.to_owned()), moves: moves.collect() }
    };
    chosen.lines().map(one).collect()
}

fn near(found: f32, wanted: f32) -> bool {
    (found - wanted).abs() < 1e-3
}

#[test]
fn evaluations() {
    let net = ChessNet::load(golden("attention.pb.gz")).unwrap();
    let info = net.info().unwrap();
    assert!(info.has_draws && info.has_moves_left && info.parameters > 0);
    let all = positions();
    let found = net.evaluate(&all, 1.0).unwrap();
    let bytes = std::fs::read(golden("attention.out")).unwrap();
    let mut numbers = bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()));
    for (i, (of, position)) in found.iter().zip(&all).enumerate() {
        let [q, d, m] = [(); 3].map(|()| numbers.next().unwrap());
        assert!(near(of.win - of.loss, q) && near(of.draw, d) && near(of.moves_left, m), "{i}: {of:?}");
        let logits: Vec<(u32, f32)> = (i as u32 % 8..1858).step_by(8).zip(numbers.by_ref()).collect();
        assert!(near(of.moves.iter().map(|one| one.chance).sum(), 1.0), "{i}: {of:?}");
        let known: Vec<(f32, f32)> = of
            .moves
            .iter()
            .filter_map(|one| {
                let (_, logit) = logits.iter().find(|(index, _)| *index == one.policy_index)?;
                Some((one.chance, *logit))
            })
            .collect();
        for (chance, logit) in &known {
            assert!(((chance / known[0].0).ln() - (logit - known[0].1)).abs() < 2e-3, "{i}: {of:?}");
        }
        assert_eq!(&net.evaluate(std::slice::from_ref(position), 1.0).unwrap()[0], of, "{i} alone");
    }
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(net.evaluate(&all, 1.0).unwrap(), found));
        }
    });
}

#[test]
fn ends_and_mistakes() {
    let options = ChessOptions { threads: 1, ..Default::default() };
    let net = ChessNet::load_with(golden("attention.pb.gz"), options).unwrap();
    let after = |moves: &str| Position { moves: moves.split_whitespace().map(str::to_owned).collect(), fen: None };
    assert_eq!(net.evaluate(&[after("")], 1.0).unwrap()[0].moves.len(), 20);
    assert!(net.evaluate(&[after("f2f3 e7e5 g2g4 d8h4")], 1.0).unwrap()[0].moves.is_empty());
    assert!(net.evaluate(&[], 1.0).unwrap().is_empty());
    let refused = |positions: &[Position], temperature| net.evaluate(positions, temperature).unwrap_err().status;
    assert_eq!(refused(&[after("e2e5")], 1.0), Status::InvalidArgument);
    assert_eq!(refused(&[after("e2e4\0")], 1.0), Status::InvalidArgument);
    assert_eq!(refused(&[Position { fen: Some(String::new()), moves: vec![] }], 1.0), Status::InvalidArgument);
    assert_eq!(refused(&[after("")], 0.0), Status::InvalidArgument);
    assert_eq!(refused(&vec![after(""); 1025], 1.0), Status::InvalidArgument);
    assert_eq!(ChessNet::load("/nowhere").unwrap_err().status, Status::Io);
}

#[test]
fn queues() {
    let net = ChessNet::load(golden("attention.pb.gz")).unwrap();
    let all = positions();
    let wanted = net.evaluate(&all, 1.0).unwrap();
    let queue = ChessQueue::new(&net).unwrap();
    let take = || {
        queue.next_within(None).map(|taken| taken.unwrap().expect("a batch")).map(|batch| (batch.number, batch.found))
    };
    assert!(take().is_none());
    for i in 0..8 {
        assert_eq!(queue.submit(&all[..=i], 1.0).unwrap(), Some(i as u64));
    }
    for i in 0..8 {
        assert_eq!(take(), Some((i as u64, wanted[..=i].to_vec())));
    }
    assert_eq!(queue.submit(&all, 1.0).unwrap(), Some(8));
    let mut taken = queue.next_within(Some(Duration::ZERO));
    while let Some(Ok(None)) = taken {
        taken = queue.next_within(Some(Duration::from_millis(1)));
    }
    let batch = taken.unwrap().unwrap().unwrap();
    assert_eq!((batch.number, batch.found), (8, wanted.clone()));
    // A queue that is full takes no more.
    let mut handed = 0;
    while queue.submit(&all[..1], 1.0).unwrap().is_some() {
        handed += 1;
    }
    assert_eq!(handed, mlxrocm_sys::MLXROCM_CHESS_QUEUE_BATCHES);
    for _ in 0..handed {
        assert_eq!(take().unwrap().1, wanted[..1]);
    }
    assert!(take().is_none());
    let many = vec![Position::default(); 1025];
    for (wrong, temperature) in [(&all[..0], 1.0), (&many[..], 1.0), (&all[..], 0.0), (&all[..], f32::NAN)] {
        assert_eq!(queue.submit(wrong, temperature).unwrap_err().status, Status::InvalidArgument);
    }
    // Several threads hand in and take: each batch comes out once.
    let (handed, taken) = (Mutex::new(HashMap::new()), Mutex::new(0));
    thread::scope(|scope| {
        for seed in 0..4 {
            let (queue, all, wanted, handed, taken) = (&queue, &all, &wanted, &handed, &taken);
            scope.spawn(move || {
                for i in 0..20 {
                    let count = 1 + (7 * seed + i) % 5;
                    let mut handed_in = handed.lock().unwrap();
                    handed_in.insert(queue.submit(&all[..count], 1.0).unwrap().unwrap(), count);
                    drop(handed_in);
                    let Some(got) = queue.next_within(None) else {
                        continue;
                    };
                    let batch = got.unwrap().unwrap();
                    assert_eq!(batch.found, wanted[..handed.lock().unwrap()[&batch.number]]);
                    *taken.lock().unwrap() += 1;
                }
            });
        }
    });
    assert_eq!(*taken.lock().unwrap(), 80);
    // What a queue holds is dropped with it.
    assert!(queue.submit(&all, 1.0).unwrap().is_some());
}
