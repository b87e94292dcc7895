//! Plans the schedules with faults of the calls to webhooks.

use std::ops::Range;

use opgen_sandbox::fault::WebhookFault;

use crate::{schedule::Schedule, webhook_schedule::WebhookSchedule};

/// The maximum number of runs in which one call has a fault.
const MAX_CALLS: usize = 40;

/// The maximum number of runs with an outage.
const MAX_OUTAGES: usize = 20;

/// Every n-th seed injects random faults.
const SEED_INTERVAL: u64 = 3;

/// Returns schedules with faults of the calls to webhooks: a fault of one call, an outage from a call on, and random faults for every third
/// seed, half of them with an edit of the samples to one of `variants` edited forms. With an older release, adds upgrades with random
/// faults. A call in `calls` has its number, and whether it converts objects. Returns no schedule without calls.
pub(super) fn schedules(
    calls: &[(u64, bool)],
    seeds: Range<u64>,
    variants: usize,
    has_older_release: bool,
) -> Vec<Schedule> {
    if calls.is_empty() {
        return Vec::new();
    }
    let single = in_turn(calls, MAX_CALLS).map(|(number, fault)| WebhookSchedule::Call(number, fault));
    let outages = in_turn(calls, MAX_OUTAGES).map(|(number, fault)| WebhookSchedule::Outage(number, fault));
    let at_calls = single.chain(outages).map(Schedule::webhooks);
    let seeds = || seeds.clone().filter(|seed| seed.is_multiple_of(SEED_INTERVAL));
    let random = seeds().map(|seed| {
        let index = usize::try_from(seed / SEED_INTERVAL).unwrap_or_default();
        let edit = (variants > 0 && index % 2 == 1).then(|| index / 2 % variants);
        Schedule { edit, ..Schedule::webhooks(WebhookSchedule::Random(seed)) }
    });
    let upgrades = seeds()
        .filter(|_| has_older_release)
        .map(|seed| Schedule { upgrade: true, ..Schedule::webhooks(WebhookSchedule::Random(seed)) });
    at_calls.chain(random).chain(upgrades).collect()
}

/// Returns at most `limit` pairs of a call number and a fault. Takes up to `limit` calls evenly from all, and gives each of them another of
/// its faults in each round, until all faults or the limit is reached. A call in `calls` has its number, and whether it converts objects.
fn in_turn(calls: &[(u64, bool)], limit: usize) -> impl Iterator<Item = (u64, WebhookFault)> {
    let count = calls.len().min(limit);
    let calls: Vec<(u64, Vec<WebhookFault>)> = (0..count)
        .map(|index| calls[index * calls.len() / count])
        .map(|(number, is_conversion)| (number, faults(is_conversion)))
        .collect();
    // In each round, each call has its next fault, and neighbouring calls have different ones.
    let rounds = 0..WebhookFault::ALL.len();
    let all = rounds.flat_map(move |round| {
        let in_round: Vec<(u64, WebhookFault)> = calls
            .iter()
            .enumerate()
            .filter(|(_, (_, faults))| round < faults.len())
            .map(|(index, (number, faults))| (*number, faults[(index + round) % faults.len()]))
            .collect();
        in_round
    });
    all.take(limit)
}

/// Returns the faults that a call to a webhook can have; some need a conversion.
fn faults(is_conversion: bool) -> Vec<WebhookFault> {
    WebhookFault::ALL.into_iter().filter(|fault| is_conversion || !fault.needs_conversion()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns the text forms of the schedules for calls and nine seeds.
    fn planned(calls: &[(u64, bool)], variants: usize, has_older_release: bool) -> Vec<String> {
        schedules(calls, 0..9, variants, has_older_release).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_program_without_webhook_calls_has_no_runs() {
        assert!(planned(&[], 3, true).is_empty());
    }

    #[test]
    fn each_call_has_each_of_its_faults() {
        let faults = ["refused", "timedOut", "serverError", "notJson", "otherRequest", "incomplete"];
        // The schedules with each fault at call 4, either of this call alone or of an outage from it on.
        let with_each_fault = |word: &str| faults.iter().map(|fault| format!("{word}:4={fault}")).collect::<Vec<_>>();
        let expected = [
            with_each_fault("webhook"),
            with_each_fault("outage"),
            ["webhooks:0", "edit:0 webhooks:3", "webhooks:6"].map(str::to_owned).to_vec(),
        ];
        assert_eq!(planned(&[(4, false)], 1, false), expected.concat());
        let for_conversion: Vec<_> = planned(&[(2, true)], 0, true);
        for word in ["webhook:2=otherName", "outage:2=otherVersion", "webhooks:3", "upgrade:1 webhooks:6"] {
            assert!(for_conversion.iter().any(|schedule| schedule == word), "{word}: {for_conversion:?}");
        }
    }

    #[test]
    fn many_calls_are_taken_evenly() {
        let calls: Vec<_> = (1..=100).map(|number| (number, true)).collect();
        let planned = schedules(&calls, 0..0, 0, false);
        assert_eq!(planned.len(), MAX_CALLS + MAX_OUTAGES);
        let faults: BTreeSet<String> = planned
            .iter()
            .map(|schedule| schedule.to_string().split('=').nth(1).unwrap_or_default().to_owned())
            .collect();
        assert_eq!(faults.len(), WebhookFault::ALL.len(), "{faults:?}");
    }
}
