//! Random inputs.

/// A generator of random numbers (splitmix64); the same seed gives the same numbers.
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from -1 to 1 with 24 random bits.
    pub fn unit(&mut self) -> f32 {
        let step = (self.bits() >> 40) as f32;
        step / (1 << 23) as f32 - 1.0
    }

    /// `count` numbers from -1 to 1.
    pub fn units(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.unit()).collect()
    }

    /// `count` words of any bits.
    pub fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| (self.bits() >> 32) as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fill_their_range() {
        let units = Random::new(7).units(4000);
        assert!(units.iter().all(|x| (-1.0..=1.0).contains(x)));
        let mean = units.iter().sum::<f32>() / 4000.0;
        assert!(mean.abs() < 0.05, "{mean}");
        assert!(units.iter().any(|x| *x < -0.99) && units.iter().any(|x| *x > 0.99));
        assert_eq!(Random::new(7).units(3), units[..3]);
        assert_ne!(Random::new(8).words(4), Random::new(9).words(4));
    }
}
