//! How the token after a row is chosen, for devices that do it themselves.

/// The most recent tokens that a device takes penalties for.
pub const MAX_RECENT: usize = 64;
/// The most biases that a device adds.
pub const MAX_BIASES: usize = 64;

/// No token: not all logits of a row were finite.
pub const NO_TOKEN: u32 = u32::MAX;
/// No token: biases ban every one.
pub const ALL_BANNED: u32 = u32::MAX - 1;

/// How the token after a row is chosen: the steps of the session's sampler for one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice<'a> {
    /// 0: the largest logit.
    pub temperature: f32,
    /// 0: off.
    pub top_k: u32,
    /// 1 (or 0): off.
    pub top_p: f32,
    /// 0: off.
    pub min_p: f32,
    /// The random number, of 2^64; its last eleven bits are 0.
    pub random: u64,
    /// 1: off.
    pub repetition: f32,
    /// 0: off.
    pub presence: f32,
    /// 0: off.
    pub frequency: f32,
    /// Tokens that penalties look at, in two parts…
    pub recent: [&'a [u32]; 2],
    /// …and whether the row's own token is one more.
    pub own_is_recent: bool,
    /// Added to logits.
    pub biases: &'a [(u32, f32)],
    /// The row itself is asked for, too: the model's logits, without what is added and taken here.
    pub rated: bool,
}

impl Choice<'_> {
    /// The first token of the largest logit.
    pub const GREEDY: Choice<'static> = Choice {
        temperature: 0.0,
        top_k: 0,
        top_p: 0.0,
        min_p: 0.0,
        random: 0,
        repetition: 1.0,
        presence: 0.0,
        frequency: 0.0,
        recent: [&[]; 2],
        own_is_recent: false,
        biases: &[],
        rated: false,
    };

    /// Of a row that is asked for, and whose token nobody looks at.
    pub const ROW: Choice<'static> = Choice {
        rated: true,
        ..Choice::GREEDY
    };

    /// Whether the logits as they are tell the token.
    pub fn is_greedy(&self) -> bool {
        let edits = self.recents() + self.biases.len();
        (self.temperature == 0.0 || self.top_k == 1) && edits == 0
    }

    /// Whether its lists are as short as devices take them.
    pub fn fits(&self) -> bool {
        self.recents() <= MAX_RECENT && self.biases.len() <= MAX_BIASES
    }

    /// How many tokens penalties look at.
    pub fn recents(&self) -> usize {
        let own = usize::from(self.own_is_recent);
        self.recent.iter().map(|part| part.len()).sum::<usize>() + own
    }
}

/// A `top_p` of 2^32, if it leaves anything out.
pub fn top_p_bits(top_p: f32) -> Option<u32> {
    let used = top_p > 0.0 && top_p < 1.0;
    used.then(|| ((f64::from(top_p) * 2f64.powi(32)) as u32).max(1))
}
