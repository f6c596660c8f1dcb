//! How good an order is, and whether two ways to rank differ by more than chance.

use std::collections::BTreeMap;

/// The first page of results.
pub(crate) const PAGE: usize = 10;

/// How good the order is of what was found for one query.
#[derive(Clone, Copy, Default)]
pub(crate) struct Measures {
    /// Normalised discounted cumulative gain.
    pub(crate) gain: f64,
    /// One divided by the place of the first wanted note; 0 if there is none.
    pub(crate) reciprocal: f64,
    /// 1 if a wanted note is among the first five.
    pub(crate) hit: f64,
}

impl Measures {
    /// For a query and how much each note is wanted, from 1 to 3.
    pub(crate) fn of(found: &[String], wants: &BTreeMap<String, u32>) -> Self {
        let discounted = |wants: &[u32]| -> f64 {
            let one = |(at, want): (usize, &u32)| (2_f64.powf(f64::from(*want)) - 1.0) / (at as f64 + 2.0).log2();
            wants.iter().enumerate().map(one).sum()
        };
        let got: Vec<u32> = found.iter().take(PAGE).map(|path| wants.get(path).copied().unwrap_or_default()).collect();
        let mut best: Vec<u32> = wants.values().copied().collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        best.truncate(PAGE);
        let first = got.iter().position(|want| *want > 0);
        Self {
            gain: discounted(&got) / discounted(&best),
            reciprocal: first.map_or(0.0, |first| 1.0 / (first as f64 + 1.0)),
            hit: f64::from(u8::from(first.is_some_and(|first| first < 5))),
        }
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Two ways to rank, compared query by query.
pub(crate) struct Paired {
    pub(crate) difference: f64,
    /// How often chance alone makes as much of a difference, by changing signs at random.
    pub(crate) chance: f64,
    /// The difference that such a set shows four times of five.
    pub(crate) detectable: f64,
}

impl Paired {
    const ROUNDS: u32 = 10_000;

    pub(crate) fn of(one: &[f64], other: &[f64]) -> Self {
        let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
        let difference = mean(&differences);
        let squares: f64 = differences.iter().map(|value| (value - difference).powi(2)).sum();
        let count = differences.len().max(2) as f64;
        let detectable = 2.8 * (squares / (count - 1.0)).sqrt() / count.sqrt();
        // The same numbers each time, so that a result can be repeated.
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut as_much = 0;
        for _ in 0..Self::ROUNDS {
            let signed = differences.iter().map(|value| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                if seed & 1 == 0 { *value } else { -value }
            });
            as_much += u32::from((signed.sum::<f64>() / count).abs() >= difference.abs() - 1e-12);
        }
        Self { difference, chance: f64::from(as_much) / f64::from(Self::ROUNDS), detectable }
    }
}
