//! The memory hierarchy: first caches of the compute units, L2, the memory-side cache, DRAM channels.
//!
//! Each level has a latency and a server that takes one line after the other; what waits for a busy server
//! waits in order. Times are in ticks, [`TICKS`] to a cycle.

use super::cache::{Cache, mix};
use super::card::{Card, ChannelHash};
use super::dispatch::Slice;
use super::trace::LINE;

/// Ticks of a clock cycle.
pub const TICKS: u64 = 1024;

/// Where data came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    First,
    L2,
    Mall,
    Dram,
}

/// Something that serves one request after the other.
#[derive(Clone, Debug, Default)]
pub struct Server {
    free: u64,
    pub busy: u64,
}

impl Server {
    /// Asks at `at` for `ticks` of work; gives when it begins.
    pub fn take(&mut self, at: u64, ticks: u64) -> u64 {
        let start = self.free.max(at);
        self.free = start + ticks;
        self.busy += ticks;
        start
    }
}

/// Lines that came from each level, and that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    pub l0_hits: u64,
    pub l2_hits: u64,
    pub mall_hits: u64,
    pub dram_reads: f64,
    pub dram_writes: f64,
}

/// The memory of a slice of a card.
pub struct Memory {
    l0: Vec<Cache>,
    scalar: Vec<Cache>,
    l2: Vec<Cache>,
    mall: Option<Cache>,
    fill: Vec<Server>,
    l2_server: Vec<Server>,
    mall_server: Server,
    channels: Vec<Server>,
    hash: ChannelHash,
    l0_latency: u64,
    l2_latency: u64,
    scalar_latency: u64,
    mall_latency: u64,
    dram_latency: u64,
    fill_ticks: u64,
    l2_ticks: u64,
    mall_ticks: u64,
    dram_ticks: u64,
    write_ticks: u64,
    /// Misses of a slice that other units of the card share with it, as a running sum.
    owed: f64,
    /// L2 is written back at the end of a kernel.
    drains: bool,
    /// Written lines do not fit into the caches: each goes to DRAM sooner or later, here at once.
    pub streams_out: bool,
    pub traffic: Traffic,
}

fn ticks(cycles: f64) -> u64 {
    (cycles * TICKS as f64).round().max(1.0) as u64
}

impl Memory {
    /// The memory that a slice of a card sees: its share of everything shared.
    pub fn new(card: &Card, slice: &Slice) -> Memory {
        let (units, share) = (slice.units, slice.share());
        let clock = card.clock_mhz * 1e6;
        let line = LINE as f64;
        let l2s = if slice.is_whole(card) {
            card.l2_count
        } else {
            1
        };
        let l2_lines =
            f64::from(card.l2_bytes) * f64::from(card.l2_count) * share / f64::from(l2s) / line;
        let channels = (f64::from(card.channels) * share).round().max(1.0);
        let cycles = |gbs: f64| line * clock / (gbs * 1e9);
        let cus = (units * card.cus_per_unit) as usize;
        let dram = cycles(card.dram_gbs * share) * channels;
        Memory {
            l0: (0..cus)
                .map(|_| Cache::new(u64::from(card.l0_bytes) / LINE, 8))
                .collect(),
            scalar: (0..units)
                .map(|_| Cache::new(u64::from(card.scalar_bytes) / LINE, 4))
                .collect(),
            l2: (0..l2s).map(|_| Cache::new(l2_lines as u64, 16)).collect(),
            mall: (card.mall_bytes > 0)
                .then(|| Cache::new((card.mall_bytes as f64 * share / line) as u64, 16)),
            fill: vec![Server::default(); cus],
            l2_server: vec![Server::default(); l2s as usize],
            mall_server: Server::default(),
            channels: vec![Server::default(); channels as usize],
            hash: card.hash,
            l0_latency: ticks(f64::from(card.l0_latency)),
            l2_latency: ticks(f64::from(card.l2_latency)),
            scalar_latency: ticks(f64::from(card.scalar_latency)),
            mall_latency: ticks(card.mall_ns * clock * 1e-9),
            dram_latency: ticks(card.dram_ns * clock * 1e-9),
            fill_ticks: ticks(line / f64::from(card.fill_bytes)),
            l2_ticks: ticks(cycles(card.l2_gbs * share / f64::from(l2s))),
            mall_ticks: ticks(cycles(card.mall_gbs.max(1.0) * share)),
            dram_ticks: ticks(dram),
            write_ticks: ticks(dram * card.write_cost),
            owed: 0.0,
            drains: card.drains,
            streams_out: false,
            traffic: Traffic::default(),
        }
    }

    /// Which channel has a line.
    fn channel(&self, line: u64) -> usize {
        let n = self.channels.len() as u64;
        let mixed = mix(line >> 1);
        (match self.hash {
            ChannelHash::Straight { shift } => ((line * LINE) >> shift) % n,
            ChannelHash::Mixed => mixed % n,
        }) as usize
    }

    fn dram(&mut self, line: u64, at: u64, write: bool) -> u64 {
        let c = self.channel(line);
        let work = if write {
            self.write_ticks
        } else {
            self.dram_ticks
        };
        if write {
            self.traffic.dram_writes += 1.0;
        } else {
            self.traffic.dram_reads += 1.0;
        }
        self.channels[c].take(at, work)
    }

    /// A changed line leaves L2.
    fn write_back(&mut self, line: u64, at: u64) {
        if let Some(mall) = &mut self.mall {
            self.mall_server.take(at, self.mall_ticks);
            if mall.find(line, true).is_none()
                && let Some(out) = mall.insert(line, at, true)
            {
                self.dram(out.line, at, true);
            }
        } else {
            self.dram(line, at, true);
        }
    }

    /// L2 and what is behind it. `weight` is the share of a miss that is the slice's own.
    fn shared(&mut self, unit: usize, line: u64, at: u64, weight: f64) -> (u64, Level) {
        let i = unit % self.l2.len();
        let start = self.l2_server[i].take(at, self.l2_ticks);
        if let Some(ready) = self.l2[i].find(line, false) {
            self.traffic.l2_hits += 1;
            return ((start + self.l2_latency).max(ready), Level::L2);
        }
        self.owed += weight;
        if self.owed < 1.0 {
            // Another unit of the card has fetched it.
            self.traffic.l2_hits += 1;
            let done = start + self.l2_latency;
            self.fetched(i, line, start, done);
            return (done, Level::L2);
        }
        self.owed -= 1.0;
        let (done, level) = self.behind(line, start);
        self.fetched(i, line, start, done);
        (done, level)
    }

    fn fetched(&mut self, l2: usize, line: u64, at: u64, done: u64) {
        if let Some(out) = self.l2[l2].insert(line, done, false) {
            self.write_back(out.line, at);
        }
    }

    fn behind(&mut self, line: u64, start: u64) -> (u64, Level) {
        if let Some(mall) = &mut self.mall {
            let begun = self.mall_server.take(start, self.mall_ticks);
            if let Some(ready) = mall.find(line, false) {
                self.traffic.mall_hits += 1;
                return ((begun + self.mall_latency).max(ready), Level::Mall);
            }
            let done = self.dram(line, begun, false) + self.dram_latency;
            if let Some(mall) = &mut self.mall
                && let Some(out) = mall.insert(line, done, false)
            {
                self.dram(out.line, begun, true);
            }
            return (done, Level::Dram);
        }
        (
            self.dram(line, start, false) + self.dram_latency,
            Level::Dram,
        )
    }

    /// A vector load of one line by a compute unit; `past_first`: it does not look into the first cache.
    pub fn load(
        &mut self,
        cu: usize,
        unit: usize,
        line: u64,
        at: u64,
        past_first: bool,
        weight: f64,
    ) -> (u64, Level) {
        if !past_first && let Some(ready) = self.l0[cu].find(line, false) {
            self.traffic.l0_hits += 1;
            return ((at + self.l0_latency).max(ready), Level::First);
        }
        let (done, level) = self.shared(unit, line, at, weight);
        // The way back into the unit takes its time, too.
        let done = done + (self.fill[cu].take(at, self.fill_ticks) - at);
        if !past_first {
            self.l0[cu].insert(line, done, false);
        }
        (done, level)
    }

    /// A scalar load of one line.
    pub fn scalar(&mut self, unit: usize, line: u64, at: u64) -> (u64, Level) {
        if let Some(ready) = self.scalar[unit].find(line, false) {
            return ((at + self.scalar_latency).max(ready), Level::First);
        }
        let (done, level) = self.shared(unit, line, at, 1.0);
        self.scalar[unit].insert(line, done, false);
        (done, level)
    }

    /// A store or atomic of one line: when L2 has it.
    pub fn store(&mut self, unit: usize, line: u64, at: u64) -> u64 {
        let i = unit % self.l2.len();
        let start = self.l2_server[i].take(at, self.l2_ticks);
        if self.l2[i].find(line, !self.streams_out).is_none() {
            if let Some(out) = self.l2[i].insert(line, start, !self.streams_out) {
                self.write_back(out.line, start);
            }
            if self.streams_out {
                self.dram(line, start, true);
            }
        }
        start + self.l2_latency
    }

    /// The end of a kernel: where the card writes its L2 back then, what that takes.
    pub fn write_back_all(&mut self) -> u64 {
        if !self.drains {
            return 0;
        }
        let lines: u64 = self.l2.iter_mut().map(Cache::clean).sum();
        if self.mall.is_some() {
            return lines * self.mall_ticks;
        }
        self.traffic.dram_writes += lines as f64;
        lines * self.write_ticks / self.channels.len() as u64
    }

    /// How long all channels together were busy, as a share of `end`.
    pub fn dram_busy(&self, end: u64) -> f64 {
        let busy: u64 = self.channels.iter().map(|c| c.busy).sum();
        busy as f64 / self.channels.len() as f64 / end.max(1) as f64
    }

    /// After a launch: caches stay as the next one finds them, nobody waits any more.
    pub fn settle(&mut self) {
        self.l0
            .iter_mut()
            .chain(&mut self.scalar)
            .for_each(Cache::clear);
        self.l2
            .iter_mut()
            .chain(&mut self.mall)
            .for_each(Cache::settle);
        for s in self
            .fill
            .iter_mut()
            .chain(&mut self.l2_server)
            .chain(&mut self.channels)
        {
            *s = Server::default();
        }
        self.mall_server = Server::default();
        self.traffic = Traffic::default();
    }
}
