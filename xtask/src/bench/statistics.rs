//! Medians and their confidence, without assuming any shape of the noise.

use serde::Serialize;

/// A median with the interval that holds it at 95 % confidence; with fewer than six samples, their whole range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Median {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl std::fmt::Display for Median {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:.2} ({:.2}–{:.2})", self.value, self.low, self.high)
    }
}

pub fn median(samples: &[f64]) -> Median {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    assert!(count > 0, "a median needs at least one sample");
    let value = f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
    let outside = outside_interval(count);
    Median { value, low: sorted[outside], high: sorted[count - 1 - outside] }
}

/// The median of the ratios taken round by round, so that a slow minute hits both sides.
pub fn median_ratio(ours: &[f64], theirs: &[f64]) -> Median {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    median(&ratios)
}

pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// How many sorted samples may be dropped at each end: the largest number for which the median lies beyond that end
/// with a chance of at most 2.5 % (each sample is above the median with a chance of one half).
fn outside_interval(count: usize) -> usize {
    let mut chance = 0.5f64.powi(count as i32);
    let mut total = chance;
    let mut outside = 0;
    while total <= 0.025 && outside < count / 2 {
        outside += 1;
        chance *= (count - outside + 1) as f64 / outside as f64;
        total += chance;
    }
    outside.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_even_and_odd_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Median { value: 2.0, low: 1.0, high: 3.0 });
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]).value, 2.5);
    }

    #[test]
    fn the_interval_follows_the_sign_test() {
        // From the binomial table: at 20 samples the interval runs from the 6th to the 15th, at 10 from the 2nd to the 9th.
        let samples = |count: u32| (1..=count).map(f64::from).collect::<Vec<_>>();
        let twenty = median(&samples(20));
        assert_eq!((twenty.low, twenty.high), (6.0, 15.0));
        let ten = median(&samples(10));
        assert_eq!((ten.low, ten.high), (2.0, 9.0));
        let five = median(&samples(5));
        assert_eq!((five.low, five.high), (1.0, 5.0));
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        assert_eq!(median_ratio(&[1.0, 10.0, 2.0], &[2.0, 20.0, 4.0]), Median { value: 0.5, low: 0.5, high: 0.5 });
    }

    #[test]
    fn the_geometric_mean_of_a_ratio_and_its_inverse_is_one() {
        assert!((geometric_mean(&[2.0, 0.5]) - 1.0).abs() < 1e-12);
    }
}
