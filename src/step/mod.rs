//! The vocabulary between plans and devices: steps over buffers, and the batch they run on.
//!
//! A leaf above `ir`: `plan` writes it, every device executes it.

mod batch;
mod choice;
mod items;
mod lives;
mod schedule;
mod slots;
mod steps;
mod together;

pub use batch::{CHOSEN, Slice, Wanted};
pub use choice::{ALL_BANNED, Choice, MAX_BIASES, MAX_RECENT, NO_TOKEN, top_p_bits};
pub use items::*;
pub use lives::place;
pub use schedule::Schedule;
pub use slots::SlotBook;
pub use steps::*;
pub use together::{Together, together};
