//! What instructions mean for the order of memory: which counter a memory instruction raises, what a
//! wait waits for, which caches are written back or invalidated, and which registers an instruction
//! names. Read once from the text.

use super::decode::Target;
use super::disassembly::{Text, parse};
use super::operand::{ACC, Operand, Place, SCALARS, VCC};

/// Queues of memory instructions in flight. gfx9 counts stores with loads, gfx12 gives each queue a
/// counter of its own; scalar loads and LDS share one before gfx12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Vector loads and atomics with a result (on gfx9 all of vector memory): in order.
    Load,
    /// Vector stores and atomics without a result (gfx10 and later).
    Store,
    /// LDS and what goes through its crossbar: in order.
    Lds,
    /// Scalar loads, in any order: only a wait for none of them says anything.
    Scalar,
}

pub const QUEUES: usize = 4;

/// Registers in one numbering: vector registers and AccVGPRs, then scalars.
pub const FIRST_SCALAR: u16 = 2 * ACC;
/// All of them.
pub const REGISTERS: usize = 2 * ACC as usize + SCALARS;
const WORDS: usize = REGISTERS.div_ceil(64);

/// A set of registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(pub [u64; WORDS]);

impl Registers {
    pub fn add(&mut self, first: u16, n: u16) {
        for r in first..first + n {
            if let Some(word) = self.0.get_mut(usize::from(r / 64)) {
                *word |= 1 << (r % 64);
            }
        }
    }

    pub fn remove(&mut self, r: u16) {
        if let Some(word) = self.0.get_mut(usize::from(r / 64)) {
            *word &= !(1 << (r % 64));
        }
    }

    #[inline(always)]
    pub fn meets(&self, other: &Registers) -> bool {
        let mut both = 0;
        for i in 0..WORDS {
            both |= self.0[i] & other.0[i];
        }
        both != 0
    }

    /// The first register of both sets.
    pub fn first_of_both(&self, other: &Registers) -> Option<u16> {
        (0..WORDS).find_map(|i| {
            let both = self.0[i] & other.0[i];
            (both != 0).then(|| (64 * i) as u16 + both.trailing_zeros() as u16)
        })
    }
}

/// A register's name, for messages.
pub fn register_name(r: u16) -> String {
    match r {
        r if r >= FIRST_SCALAR => match r - FIRST_SCALAR {
            VCC => "vcc_lo".into(),
            s if s == VCC + 1 => "vcc_hi".into(),
            s => format!("s{s}"),
        },
        r if r >= ACC => format!("a{}", r - ACC),
        r => format!("v{r}"),
    }
}

/// A memory instruction that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    pub queue: Queue,
    /// Flat instructions count in LDS's queue too.
    pub flat: bool,
    /// Registers that will be written: first and count.
    pub result: Option<(u16, u16)>,
    /// The result is merged into the register's old value (16-bit halves, buffer atomics).
    pub merges: bool,
    /// Its result orders what comes after it: atomics, and loads that go past this unit's caches.
    pub acquires: bool,
    /// A store that a write-back must carry on before other workgroups see it.
    pub dirty: bool,
}

/// How far a cache operation reaches: the workgroup's caches, or all of the device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Workgroup,
    Device,
}

/// What an instruction does to the order of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Issue(Issue),
    /// How many of each queue may remain; none: does not wait for it.
    Wait([Option<u32>; QUEUES]),
    /// Loads that follow see what other compute units wrote.
    Invalidate(Reach),
    /// The cache between L0 and L2 alone (gfx10, gfx11); `Invalidate` of L0 must follow.
    InvalidateMiddle,
    /// L0 alone (gfx10, gfx11).
    InvalidateNear,
    /// What was stored before goes to where the whole device sees it.
    WriteBack(Queue),
    /// The scalar cache forgets.
    InvalidateScalar,
    /// gfx12: says that the wave has come to the barrier.
    Arrive,
}

impl Effect {
    /// Whether it is there for order alone: a wait or a fence, which mutation tests take out.
    pub fn is_order(&self) -> bool {
        !matches!(self, Effect::Issue(_) | Effect::Arrive)
    }

    /// Whether it is a wait for counters.
    pub fn is_wait(&self) -> bool {
        matches!(self, Effect::Wait(_))
    }
}

fn combined(o: &Operand) -> Option<(u16, u16)> {
    match o.place {
        Place::V(first, n) => Some((first, n)),
        Place::S(first, n) => Some((FIRST_SCALAR + first, n)),
        _ => None,
    }
}

/// The registers that an instruction's text names.
pub fn registers(text: &str) -> Registers {
    let mut set = Registers::default();
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "[]:_.".contains(c)));
    for (first, n) in words.filter_map(|w| combined(&Operand::parse(w)?)) {
        set.add(first, n);
    }
    if text.starts_with("v_div_fmas") || text.starts_with("s_cbranch_vcc") {
        set.add(FIRST_SCALAR + VCC, 2);
    }
    set
}

/// The number of a wait: `vmcnt(3)` or `0x3`.
fn count(t: &Text, name: &str) -> Option<u32> {
    t.odd.iter().find_map(|o| {
        let inside = o.strip_prefix(name)?.strip_prefix('(')?;
        inside.strip_suffix(')')?.parse().ok()
    })
}

fn wait(t: &Text, target: &Target) -> Option<Effect> {
    let number = || {
        t.operands
            .iter()
            .rev()
            .find_map(|o| o.int().ok())
            .map(|n| n as u32)
    };
    let [load, store, lds, scalar] = [0, 1, 2, 3];
    let mut left = [None; QUEUES];
    // Before gfx12 LDS and scalar loads share a counter, on which scalar loads have no order.
    let shared = |left: &mut [Option<u32>; QUEUES], n: Option<u32>| {
        left[lds] = n;
        left[scalar] = n.filter(|n| *n == 0);
    };
    let pair = |n: u32| (Some(n >> 8 & 63), Some(n & 63));
    match t.name.as_str() {
        "s_waitcnt" => {
            left[load] = count(t, "vmcnt");
            shared(&mut left, count(t, "lgkmcnt"));
            // A plain 0 waits for all.
            if number() == Some(0) {
                left = [Some(0); QUEUES];
            }
        }
        "s_waitcnt_vmcnt" => left[load] = number(),
        "s_waitcnt_vscnt" | "s_wait_storecnt" => left[store] = number(),
        "s_waitcnt_lgkmcnt" => shared(&mut left, number()),
        "s_wait_loadcnt" => left[load] = number(),
        "s_wait_dscnt" => left[lds] = number(),
        "s_wait_kmcnt" => left[scalar] = number(),
        "s_wait_loadcnt_dscnt" => (left[load], left[lds]) = pair(number()?),
        "s_wait_storecnt_dscnt" => (left[store], left[lds]) = pair(number()?),
        "s_wait_idle" => left = [Some(0); QUEUES],
        _ => return None,
    }
    // Nothing is known about the order in which stores end.
    left[store] = left[store].filter(|n| *n == 0);
    left[scalar] = left[scalar].filter(|n| *n == 0);
    if target.generation == 9 {
        left[store] = None;
    }
    Some(Effect::Wait(left))
}

fn reaches_device(t: &Text) -> bool {
    matches!(t.value("scope"), Some("SCOPE_DEV" | "SCOPE_SYS"))
}

fn cache(t: &Text, target: &Target) -> Option<Effect> {
    let device = |yes: bool| if yes { Reach::Device } else { Reach::Workgroup };
    Some(match t.name.as_str() {
        "buffer_gl0_inv" => Effect::InvalidateNear,
        "buffer_gl1_inv" => Effect::InvalidateMiddle,
        "buffer_wbinvl1" | "buffer_wbinvl1_vol" => Effect::Invalidate(Reach::Device),
        "buffer_inv" => Effect::Invalidate(device(t.has("sc1"))),
        "global_inv" => Effect::Invalidate(device(reaches_device(t))),
        // gfx90a needs it for other agents only, which the device's own L2 serves.
        "buffer_wbl2" if t.has("sc1") => Effect::WriteBack(Queue::Load),
        "global_wb" | "global_wbinv" if reaches_device(t) => Effect::WriteBack(Queue::Store),
        "s_dcache_inv" => Effect::InvalidateScalar,
        "s_barrier_signal" => Effect::Arrive,
        _ => return wait(t, target),
    })
}

fn vector_memory(t: &Text, target: &Target) -> Option<Issue> {
    let (segment, rest) = t.name.split_once('_')?;
    if !matches!(segment, "global" | "flat" | "scratch" | "buffer") {
        return None;
    }
    let stores = if target.generation == 9 {
        Queue::Load
    } else {
        Queue::Store
    };
    // Whether the device's other L2s (gfx942) or other units (gfx12) see a store only after a write-back.
    let held = match (target.generation, target.name.as_str()) {
        (12, _) => !reaches_device(t),
        (9, "gfx90a") => false,
        (9, _) => !t.has("sc1"),
        _ => false,
    };
    let mut issue = Issue {
        queue: Queue::Load,
        flat: segment == "flat",
        result: None,
        merges: false,
        acquires: false,
        dirty: false,
    };
    if rest.starts_with("load") {
        let to_lds = t.has("lds") || rest.starts_with("load_lds");
        issue.result = if to_lds {
            None
        } else {
            combined(t.operand(0).ok()?)
        };
        issue.merges = rest.contains("d16");
        issue.acquires = super::vmem::is_coherent(t);
    } else if rest.starts_with("store") {
        issue.queue = stores;
        issue.dirty = held && segment != "scratch";
    } else if rest.starts_with("atomic") {
        let returns = super::atomics::returns(t);
        issue.queue = if returns { Queue::Load } else { stores };
        issue.result = if returns {
            combined(t.operand(0).ok()?)
        } else {
            None
        };
        issue.merges = segment == "buffer";
        issue.acquires = returns;
    } else {
        return None;
    }
    Some(issue)
}

fn other_memory(t: &Text) -> Option<Issue> {
    let name = t.name.as_str();
    let issue = |queue, result| Issue {
        queue,
        flat: false,
        result,
        merges: false,
        acquires: false,
        dirty: false,
    };
    if let Some(rest) = name.strip_prefix("ds_") {
        let result = [
            "load", "read", "bpermute", "permute", "swizzle", "consume", "append",
        ];
        let returns = result.iter().any(|r| rest.starts_with(r)) || rest.contains("_rtn");
        let to = if returns {
            combined(t.operand(0).ok()?)
        } else {
            None
        };
        return (name != "ds_nop").then(|| Issue {
            merges: rest.contains("d16"),
            ..issue(Queue::Lds, to)
        });
    }
    let scalar = [
        "s_load_",
        "s_buffer_load_",
        "s_memtime",
        "s_memrealtime",
        "s_sendmsg_rtn",
    ];
    if scalar.iter().any(|p| name.starts_with(p)) {
        return Some(issue(Queue::Scalar, combined(t.operand(0).ok()?)));
    }
    None
}

/// What an instruction does to the order of memory, if anything.
pub fn effect(text: &str, target: &Target) -> Option<Effect> {
    let t = parse(text);
    let issue = || vector_memory(&t, target).or_else(|| other_memory(&t));
    cache(&t, target).or_else(|| issue().map(Effect::Issue))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, target: &str) -> Effect {
        effect(text, &Target::new(target).unwrap()).unwrap()
    }

    #[test]
    fn waits_are_read() {
        let none = None;
        for (text, target, left) in [
            (
                "s_waitcnt vmcnt(3) lgkmcnt(1)",
                "gfx90a",
                [Some(3), none, Some(1), none],
            ),
            (
                "s_waitcnt lgkmcnt(0)",
                "gfx1100",
                [none, none, Some(0), Some(0)],
            ),
            (
                "s_waitcnt_vscnt null, 0x0",
                "gfx1100",
                [none, Some(0), none, none],
            ),
            (
                "s_wait_loadcnt_dscnt 0x201",
                "gfx1201",
                [Some(2), none, Some(1), none],
            ),
            (
                "s_wait_storecnt_dscnt 0x0",
                "gfx1201",
                [none, Some(0), Some(0), none],
            ),
            ("s_wait_kmcnt 0x0", "gfx1201", [none, none, none, Some(0)]),
        ] {
            assert_eq!(of(text, target), Effect::Wait(left), "{text}");
        }
    }

    #[test]
    fn memory_instructions_are_read() {
        let Effect::Issue(load) = of("global_load_b128 v[4:7], v2, s[4:5] offset:16", "gfx1151")
        else {
            panic!();
        };
        assert_eq!((load.queue, load.result), (Queue::Load, Some((4, 4))));
        let Effect::Issue(store) = of("global_store_dword v0, v1, s[4:5]", "gfx942") else {
            panic!();
        };
        assert!(store.dirty && store.queue == Queue::Load && store.result.is_none());
        let Effect::Issue(s) = of("s_load_b64 vcc, s[0:1], 0x10", "gfx1201") else {
            panic!();
        };
        assert_eq!(s.result, Some((FIRST_SCALAR + VCC, 2)));
        assert_eq!(
            of("buffer_inv sc1", "gfx942"),
            Effect::Invalidate(Reach::Device)
        );
        assert_eq!(
            of("global_inv scope:SCOPE_SE", "gfx1200"),
            Effect::Invalidate(Reach::Workgroup)
        );
        assert_eq!(
            of("buffer_wbl2 sc1", "gfx942"),
            Effect::WriteBack(Queue::Load)
        );
    }

    #[test]
    fn named_registers_are_found() {
        let set = registers("v_dual_fmac_f32 v5, v9, s3 :: v_dual_mul_f32 v6, -v[2:3], v1");
        let mut want = Registers::default();
        for (first, n) in [(1, 3), (5, 2), (9, 1), (FIRST_SCALAR + 3, 1)] {
            want.add(first, n);
        }
        assert_eq!(set, want);
    }
}
