//! In which order workgroups and waves run.

/// A permutation of the workgroups.
pub struct Order {
    n: u64,
    step: u64,
    start: u64,
}

impl Order {
    pub fn new(n: u64, seed: u64) -> Order {
        if seed == 0 {
            return Order {
                n,
                step: 1,
                start: 0,
            };
        }
        let mut random = Random(seed);
        let start = random.next() % n;
        let gcd = |mut a: u64, mut b: u64| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let mut step = random.next() % n;
        while gcd(step, n) != 1 {
            step = (step + 1) % n.max(2);
        }
        Order { n, step, start }
    }

    /// The workgroup that comes as number `i`.
    pub fn at(&self, i: u64) -> u64 {
        ((u128::from(i) * u128::from(self.step) + u128::from(self.start)) % u128::from(self.n))
            as u64
    }
}

/// Repeatable numbers.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }
}
