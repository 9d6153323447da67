//! Chess networks against lc0 itself: `tests/golden/chess/make.py` wrote what the engine says.

mod compare;
mod damage;
mod edit;
mod evaluations;
mod games;
mod golden;
mod queues;
