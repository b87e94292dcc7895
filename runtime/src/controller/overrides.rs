//! `SettingOverrides`: settings of a controller from the command line, the environment or a file.

use crate::{controller::Settings, queue::Backoff};
use std::time::Duration;

/// Settings that override those of the code of an operator. An absent one keeps the value of the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SettingOverrides {
    pub(crate) workers: Option<usize>,
    pub(crate) requeue_after: Option<Duration>,
    /// The resync period; zero turns it off.
    pub(crate) resync_period: Option<Duration>,
    /// The delay after the first error.
    pub(crate) backoff_base: Option<Duration>,
    /// The maximum delay after errors. With it, the delay doubles with each error.
    pub(crate) backoff_cap: Option<Duration>,
}

impl SettingOverrides {
    /// Replaces the settings of a controller for which there is an override. The number of workers becomes at least 1, a resync period of
    /// zero turns the resync off, and a cap makes a fixed backoff exponential.
    pub(crate) fn apply_to(self, settings: &mut Settings) {
        settings.workers = self.workers.unwrap_or(settings.workers).max(1);
        settings.requeue_after = self.requeue_after.unwrap_or(settings.requeue_after);
        if let Some(period) = self.resync_period {
            settings.resync_period = Some(period).filter(|period| !period.is_zero());
        }
        let (own_base, own_cap) = match settings.backoff {
            Backoff::Fixed(delay) => (delay, None),
            Backoff::Exponential { base, cap } => (base, Some(cap)),
        };
        let base = self.backoff_base.unwrap_or(own_base);
        settings.backoff = match self.backoff_cap.or(own_cap) {
            Some(cap) => Backoff::Exponential { base, cap },
            None => Backoff::Fixed(base),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies overrides in seconds to a backoff of the code.
    fn backoff(of_code: Backoff, base: Option<u64>, cap: Option<u64>) -> Backoff {
        let mut settings = Settings { backoff: of_code, ..Settings::default() };
        let seconds = |seconds: Option<u64>| seconds.map(Duration::from_secs);
        let overrides =
            SettingOverrides { backoff_base: seconds(base), backoff_cap: seconds(cap), ..Default::default() };
        overrides.apply_to(&mut settings);
        settings.backoff
    }

    #[test]
    fn a_cap_makes_the_backoff_exponential_and_other_values_of_the_code_remain() {
        let seconds = Duration::from_secs;
        let fixed = Backoff::Fixed(seconds(10));
        let exponential = |base, cap| Backoff::Exponential { base: seconds(base), cap: seconds(cap) };
        assert_eq!(backoff(fixed, None, None), fixed);
        assert_eq!(backoff(fixed, Some(3), None), Backoff::Fixed(seconds(3)));
        assert_eq!(backoff(fixed, None, Some(60)), exponential(10, 60));
        assert_eq!(backoff(exponential(1, 60), Some(2), None), exponential(2, 60));
        assert_eq!(backoff(exponential(1, 60), None, Some(90)), exponential(1, 90));
    }

    #[test]
    fn a_resync_period_of_zero_turns_the_resync_off() {
        let mut settings = Settings { resync_period: Some(Duration::from_secs(60)), ..Settings::default() };
        SettingOverrides::default().apply_to(&mut settings);
        assert_eq!(settings.resync_period, Some(Duration::from_secs(60)));
        SettingOverrides { resync_period: Some(Duration::ZERO), ..Default::default() }.apply_to(&mut settings);
        assert_eq!(settings.resync_period, None);
    }
}
