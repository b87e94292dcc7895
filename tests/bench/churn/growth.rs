//! `Growth`: the change of a value over time, by linear regression.

use std::fmt;

/// The number of samples of which the mean is one point of the regression. Samples that follow each other are not independent.
const BLOCK: usize = 15;

/// The samples of a value, each with its time in hours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growth(Vec<(f64, f64)>);

/// The change of a value in an hour, and the standard error of it.
struct Slope {
    change: f64,
    error: f64,
}

impl Growth {
    pub(crate) fn add(&mut self, hours: f64, value: f64) {
        self.0.push((hours, value));
    }

    /// Returns whether the value grew in the last two thirds: by more than three standard errors, and by more than a
    /// twentieth of the value in the time that was measured.
    pub(crate) fn is_leak(&self) -> bool {
        let Slope { change, error } = self.slope();
        let hours = self.0.last().map_or(0.0, |last| last.0);
        change > 3.0 * error && change * hours > self.third(1) / 20.0
    }

    /// Returns the mean of a third.
    fn third(&self, number: usize) -> f64 {
        let length = self.0.len() / 3;
        let third = &self.0[number * length..][..length];
        third.iter().map(|(_, value)| value).sum::<f64>() / length.max(1) as f64
    }

    /// Returns the slope over the last two thirds. In the first one the caches fill.
    fn slope(&self) -> Slope {
        let mean = |values: &[(f64, f64)]| {
            let sum = values.iter().fold((0.0, 0.0), |sum, value| (sum.0 + value.0, sum.1 + value.1));
            (sum.0 / values.len() as f64, sum.1 / values.len() as f64)
        };
        let points: Vec<_> = self.0[self.0.len() / 3..].chunks_exact(BLOCK).map(mean).collect();
        if points.len() < 3 {
            return Slope { change: f64::NAN, error: f64::NAN };
        }
        let (middle, average) = mean(&points);
        let spread: f64 = points.iter().map(|(hours, _)| (hours - middle).powi(2)).sum();
        let change = points.iter().map(|(hours, value)| (hours - middle) * (value - average)).sum::<f64>() / spread;
        let rest = |(hours, value): &(f64, f64)| (value - average - change * (hours - middle)).powi(2);
        let variance = points.iter().map(rest).sum::<f64>() / (points.len() - 2) as f64;
        Slope { change, error: (variance / spread).sqrt() }
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Slope { change, error } = self.slope();
        let [first, second, last] = [0, 1, 2].map(|number| self.third(number));
        write!(f, "{first:.1} | {second:.1} | {last:.1} | {change:+.1} ± {error:.1}")
    }
}
