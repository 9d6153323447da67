//! What a card does a second, and what that says of a kernel.

/// A card, from its maker's data sheet.
pub struct Card {
    pub target: &'static str,
    name: &'static str,
    /// Bytes of memory a second.
    bandwidth: f64,
    compute_units: f64,
    clock: f64,
    /// Vector instructions of a wave that a compute unit issues a cycle: two SIMDs of 32 lanes on RDNA
    /// (its second, dual issue is left out), four of 16 lanes on CDNA, which take four cycles for a
    /// wave.
    issue: f64,
    pub wave_size: u64,
}

pub const CARDS: [Card; 4] = [
    Card {
        target: "gfx1151",
        name: "Radeon 8060S",
        bandwidth: 256e9,
        compute_units: 40.0,
        clock: 2.9e9,
        issue: 2.0,
        wave_size: 32,
    },
    Card {
        target: "gfx1201",
        name: "Radeon AI PRO R9700",
        bandwidth: 640e9,
        compute_units: 64.0,
        clock: 2.35e9,
        issue: 2.0,
        wave_size: 32,
    },
    Card {
        target: "gfx1100",
        name: "Radeon RX 7900 XTX",
        bandwidth: 960e9,
        compute_units: 96.0,
        clock: 2.482e9,
        issue: 2.0,
        wave_size: 32,
    },
    Card {
        target: "gfx942",
        name: "Instinct MI300X",
        bandwidth: 5300e9,
        compute_units: 304.0,
        clock: 2.1e9,
        issue: 1.0,
        wave_size: 64,
    },
];

impl Card {
    /// The arithmetic, as a line: `bits` of a weight, `valu` vector instructions of a lane a weight.
    pub fn limits(&self, form: &str, bits: f64, valu: f64) -> String {
        let weights = self.bandwidth * 8.0 / bits;
        let needed = weights * valu;
        let lanes = self.compute_units * self.issue * self.clock * self.wave_size as f64;
        let share = needed / lanes;
        let limit = if share < 1.0 {
            "memory"
        } else {
            "vector issue"
        };
        format!(
            "# {} ({}) {form}: {:.0} GB/s are {:.0} G weights/s, × {valu:.3} = {:.2} T of {:.2} T lane \
             instructions/s ({:.0} %): {limit} limits, {:.0} G weights/s",
            self.target,
            self.name,
            self.bandwidth / 1e9,
            weights / 1e9,
            needed / 1e12,
            lanes / 1e12,
            100.0 * share,
            weights / share.max(1.0) / 1e9
        )
    }
}

#[test]
fn the_limit_follows_from_the_instructions() {
    // 8 bits a weight: 960 G weights/s; 96 · 2 · 32 lanes at 2.482 GHz are 15.25 T a second.
    let card = &CARDS[2];
    let below = card.limits("q", 8.0, 15.0);
    assert!(
        below.contains("960 G weights/s, × 15.000 = 14.40 T of 15.25 T"),
        "{below}"
    );
    assert!(below.contains("(94 %): memory limits, 960 G"), "{below}");
    let above = card.limits("q", 8.0, 30.0);
    assert!(
        above.contains("(189 %): vector issue limits, 508 G"),
        "{above}"
    );
}
