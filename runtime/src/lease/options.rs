//! `LeaderElection`: the name, namespace and times of leader election, and their validation.

use crate::dns_name::is_dns_subdomain;
use std::{collections::BTreeMap, time::Duration};

/// The options of leader election: replicas of an operator elect the one that writes, by a Lease of `coordination.k8s.io/v1`.
///
/// The record of the Lease is that of client-go, so `kubectl get leases` displays it, and candidates of client-go and of opgen
/// understand each other. There is no other lock: a move from another lock needs a stop of all replicas in between.
///
/// ```
/// # use opgen::{Operator, leader_election::LeaderElection};
/// # use std::time::Duration;
/// let election = LeaderElection::default().lease_duration(Duration::from_secs(30)).renew_deadline(Duration::from_secs(20));
/// let operator = Operator::new("teams").leader_election(election);
/// # let _ = operator;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaderElection {
    lease_name: Option<String>,
    namespace: Option<String>,
    labels: BTreeMap<String, String>,
    pub(crate) times: LeaseTimes,
}

/// The times of leader election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeaseTimes {
    pub(crate) lease_duration: Duration,
    pub(crate) renew_deadline: Duration,
    pub(crate) retry_period: Duration,
}

impl Default for LeaseTimes {
    /// Returns the times of client-go and controller-runtime.
    fn default() -> Self {
        Self {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

/// The maximum random extension of a retry period, in percent of it.
pub(crate) const JITTER_PERCENT: u32 = 20;

/// An option of leader election that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaderElectionError {
    /// The Lease stores its duration in whole seconds, at least one.
    #[error("the lease duration {0:?} is not a whole number of seconds; the Lease stores it in seconds, at least one")]
    LeaseDuration(Duration),
    /// Another replica would take the lead before the holder has lost it.
    #[error("the renew deadline {renew_deadline:?} must be shorter than the lease duration {lease_duration:?}")]
    RenewDeadline {
        /// The renew deadline.
        renew_deadline: Duration,
        /// The lease duration.
        lease_duration: Duration,
    },
    /// The holder would lose the lead before it has tried to renew it.
    #[error(
        "the retry period {retry_period:?}, extended by a fifth, must be shorter than the renew deadline {renew_deadline:?}"
    )]
    RetryPeriod {
        /// The retry period.
        retry_period: Duration,
        /// The renew deadline.
        renew_deadline: Duration,
    },
    /// The name or namespace is not a DNS subdomain.
    #[error("{0:?} is not a valid name or namespace of a Lease; use lower-case letters, digits, `-` and `.`")]
    Name(String),
}

impl LeaderElection {
    /// Sets the name of the Lease. All replicas must use the same name. Default: `<operator>.opgen.dev`.
    #[must_use]
    pub fn lease_name(mut self, name: impl Into<String>) -> Self {
        self.lease_name = Some(name.into());
        self
    }

    /// Sets the namespace of the Lease. Default: the namespace of the Pod (`POD_NAMESPACE`), else that of the client. The generated
    /// role grants the namespace of the operator only.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Adds a label to the Lease when this replica creates or writes it. Default: none.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// Sets the time without a renewal after which another replica takes the lead, in whole seconds. Default: 15 s.
    #[must_use]
    pub fn lease_duration(mut self, duration: Duration) -> Self {
        self.times.lease_duration = duration;
        self
    }

    /// Sets the time after its last successful renewal at which the holder stops all writes and ends. It is shorter than the lease
    /// duration; the difference is the time for writes in flight, and for clocks of different rates. Default: 10 s.
    #[must_use]
    pub fn renew_deadline(mut self, deadline: Duration) -> Self {
        self.times.renew_deadline = deadline;
        self
    }

    /// Sets the time between two renewals or attempts. A fifth more must be shorter than the renew deadline. Default: 2 s.
    #[must_use]
    pub fn retry_period(mut self, period: Duration) -> Self {
        self.times.retry_period = period;
        self
    }

    /// Returns the name of the Lease of an operator.
    pub(crate) fn name_of(&self, operator: &str) -> String {
        self.lease_name.clone().unwrap_or_else(|| format!("{operator}.opgen.dev"))
    }

    /// Returns the namespace of the Lease. The default is `operator_namespace`.
    pub(crate) fn namespace_or(&self, operator_namespace: &str) -> String {
        self.namespace.clone().unwrap_or_else(|| operator_namespace.to_owned())
    }

    /// Returns the additional labels of the Lease.
    pub(crate) fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// Checks that the times fit the format of a Lease and each other, and that the name and the namespace are valid.
    ///
    /// # Errors
    /// Fails with the first option that can't be used.
    pub(crate) fn check(&self) -> Result<(), LeaderElectionError> {
        let LeaseTimes { lease_duration, renew_deadline, retry_period } = self.times;
        let seconds = i32::try_from(lease_duration.as_secs());
        if lease_duration.subsec_nanos() != 0 || !seconds.is_ok_and(|seconds| seconds > 0) {
            return Err(LeaderElectionError::LeaseDuration(lease_duration));
        }
        if renew_deadline >= lease_duration {
            return Err(LeaderElectionError::RenewDeadline { renew_deadline, lease_duration });
        }
        let longest_retry = retry_period.saturating_mul(100 + JITTER_PERCENT) / 100;
        if retry_period.is_zero() || longest_retry >= renew_deadline {
            return Err(LeaderElectionError::RetryPeriod { retry_period, renew_deadline });
        }
        match [&self.lease_name, &self.namespace].into_iter().flatten().find(|name| !is_dns_subdomain(name)) {
            Some(name) => Err(LeaderElectionError::Name(name.clone())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn manager_m1_the_times_are_those_of_client_go_and_each_can_be_set() {
        let default = LeaderElection::default();
        let times = LeaseTimes { lease_duration: ms(15_000), renew_deadline: ms(10_000), retry_period: ms(2_000) };
        assert_eq!((default.times, default.check()), (times, Ok(())));
        let set = default.lease_duration(ms(30_000)).renew_deadline(ms(20_000)).retry_period(ms(5_000));
        let times = LeaseTimes { lease_duration: ms(30_000), renew_deadline: ms(20_000), retry_period: ms(5_000) };
        assert_eq!((set.times, set.check()), (times, Ok(())));
    }

    #[test]
    fn manager_m1_times_with_which_two_would_lead_or_nobody_are_refused() {
        let check = |duration: u64, deadline: u64, retry: u64| {
            let election = LeaderElection::default().lease_duration(ms(duration)).renew_deadline(ms(deadline));
            election.retry_period(ms(retry)).check()
        };
        for duration in [0, 999, 15_500] {
            assert!(matches!(check(duration, 500, 100), Err(LeaderElectionError::LeaseDuration(_))), "{duration}");
        }
        assert!(matches!(check(10_000, 10_000, 2_000), Err(LeaderElectionError::RenewDeadline { .. })));
        for retry in [0, 2_000, 2_500] {
            assert!(matches!(check(3_000, 2_400, retry), Err(LeaderElectionError::RetryPeriod { .. })), "{retry}");
        }
        assert_eq!(check(3_000, 2_401, 2_000), Ok(()));
    }

    #[test]
    fn manager_m3_name_and_namespace_of_the_lease_are_options() {
        let default = LeaderElection::default();
        assert_eq!((default.name_of("shop"), default.namespace_or("here")), ("shop.opgen.dev".into(), "here".into()));
        let set = default.lease_name("election").namespace("there");
        assert_eq!((set.name_of("shop"), set.namespace_or("here")), ("election".into(), "there".into()));
        assert_eq!(set.check(), Ok(()));
        for name in ["", "Shop", "a/b"] {
            let wrong = LeaderElection::default().lease_name(name).check();
            assert_eq!(wrong, Err(LeaderElectionError::Name(name.into())));
        }
    }
}
