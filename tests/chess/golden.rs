//! The golden files.

use mlxrocm::chess::{ChessNet, Game, NetOptions};
use std::path::PathBuf;

pub fn path(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/golden/chess").join(name)
}

pub fn read(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub fn text(name: &str) -> String {
    String::from_utf8(read(name)).unwrap()
}

/// FEN and moves of each game.
pub fn games() -> Vec<(String, Vec<String>)> {
    let text = text("games.txt");
    let game = |line: &str| {
        let (fen, moves) = line.split_once('|').unwrap();
        let moves = moves.split_whitespace().map(str::to_string).collect();
        (fen.to_string(), moves)
    };
    text.lines().map(game).collect()
}

/// The positions that networks were asked about.
pub fn positions() -> Vec<Game> {
    let games = games();
    let position = |line: &str| {
        let (game, plies) = line.split_once('|').unwrap();
        let (fen, moves) = &games[game.parse::<usize>().unwrap()];
        Game::new(Some(fen), &moves[..plies.parse().unwrap()]).unwrap()
    };
    text("positions.txt").lines().map(position).collect()
}

/// What the engine said about a position.
pub struct Answer {
    pub q: f32,
    pub d: f32,
    pub m: f32,
    /// Logits of moves `place`, `place + 8`, ….
    pub logits: Vec<f32>,
}

pub fn answers(name: &str) -> Vec<Answer> {
    let bytes = read(name);
    let mut numbers = bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()));
    let mut answers = Vec::new();
    for place in 0..8usize {
        let mut next = || numbers.next().unwrap();
        let (q, d, m) = (next(), next(), next());
        let logits = (place..1858).step_by(8).map(|_| next()).collect();
        answers.push(Answer { q, d, m, logits });
    }
    assert_eq!(numbers.next(), None, "{name}");
    answers
}

pub fn net(name: &str, options: &NetOptions) -> ChessNet {
    ChessNet::load(&path(&format!("{name}.pb.gz")), options).unwrap()
}
