//! `Schedule`: the faults and changes of a test run, each with the API call before or after which it happens, and a text form for replays.

use std::{fmt, str::FromStr};

use opgen_sandbox::fault::{Fault, FaultClass};

use crate::{
    cluster_disturbance::ClusterDisturbance, service_event::ServiceEvent, store_disturbance::StoreDisturbance,
    webhook_schedule::WebhookSchedule,
};

/// The fault schedule of one run, from the creation of the samples to their deletion.
///
/// Its text form is a list of words such as `after:17`:
///
/// | word | meaning |
/// |---|---|
/// | `before:N`, `after:N` | the process is stopped before, or after, its N-th call |
/// | `delete:N` | the samples are deleted just before the N-th call |
/// | `foreground:1`, `orphan:1` | the samples are deleted with that propagation policy instead of `Background` |
/// | `again:N` | the samples are deleted by force and created again just before the N-th call; for 0 at rest, unseen by watches |
/// | `edit:N` | the samples are changed to the N-th variant and back |
/// | `change:N=V` | the samples are changed to the V-th variant just before the N-th call, and are not changed back |
/// | `fresh:N` | the samples are created as the N-th variant |
/// | `lose:N` | another client deletes the N-th object that the program has created |
/// | `unseen:1` | watches miss the event of `lose`; only a new list shows the deletion |
/// | `old:1` | after a stop, the first list that accepts any version shows the state before the samples |
/// | `held:0` | foreign finalizers block the deletion of the samples and of all their children |
/// | `held:N` | foreign finalizers block the deletion of the samples and of the N-th child alone |
/// | `idle:1` | the program is left alone for a long time, then its process is replaced |
/// | `upgrade:1` | an older release runs before the program, and once more after it |
/// | `beside:N` | a second object is created beside sample N/2, or beside all samples in another namespace; for an even N the second objects are deleted, for an odd N the samples |
/// | `chance:N` | random faults from seed N; `chance:N=lateEvent,cut` only of these classes |
/// | `webhook:N=FAULT` | the N-th call to a webhook has a fault, such as `refused` or `timedOut` |
/// | `outage:N=FAULT` | the calls to webhooks have that fault for a minute, from the N-th on |
/// | `webhooks:N` | random faults of the calls to webhooks from seed N |
/// | `cluster:N=EVENT` | just before the N-th call, the clusters of remote nodes have a `partition`, new `credentials`, an `emptying` or a `replacement`; for 0 at rest, and then also a `restore` or a `restoreAhead` from a backup |
/// | `bucket:N=EVENT` | just before the N-th call, another client puts the bare `spec` of the samples into their buckets, a `stale` or an `invalid` value, or another object in their place (`replacement`); it removes them (`deletion`, `purge`; `absence` while the program is stopped after that call) or the `children` in buckets; or there is an `interruption` of all watches; for 0 at rest |
/// | `service:N=EVENT` | the N-th call, to an external service, is `refused`, `lost`, `timedOut`, `slow` or `throttled`; or just before the N-th call, for 0 at rest, another client causes a `loss`, a `drift` or a `foreignChange` of its things; `service:0=quota` exhausts its quota for a while |
/// | `dice:N` | the seed of names, UIDs and the program's random values; 1 by default |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The seed of names, UIDs and the program's random values; `None` for 1.
    pub(crate) seed: Option<u64>,
    /// The calls before or after which the process is stopped.
    pub(crate) stops: Vec<(u64, Fault)>,
    /// The call before which the samples are deleted; `None` at the end of the run only.
    pub(crate) delete_at: Option<u64>,
    /// The propagation policy of the deletion of the samples.
    pub(crate) propagation: Propagation,
    /// The call before which the samples are deleted and created again; 0 at rest.
    pub(crate) recreate_at: Option<u64>,
    /// The variant to which the samples are changed, and back.
    pub(crate) edit: Option<usize>,
    /// The call before which the samples are changed for good, and the variant.
    pub(crate) change: Option<(u64, usize)>,
    /// The variant as which the samples are created.
    pub(crate) initial_variant: Option<usize>,
    /// The index of the child that another client deletes.
    pub(crate) deleted_child: Option<usize>,
    /// Whether watches miss the deletion of that child.
    pub(crate) hides_events: bool,
    /// Whether the first list after a stop shows the state before the samples.
    pub(crate) has_stale_list: bool,
    /// The number of the child with a foreign finalizer; 0 for all children.
    pub(crate) foreign_finalizers: Option<usize>,
    /// The number of the isolation case.
    pub(crate) second_object: Option<usize>,
    /// Whether the program is left alone for a long time.
    pub(crate) idle: bool,
    /// Whether the older release runs before and after the program.
    pub(crate) upgrade: bool,
    /// The seed and the classes of random faults.
    pub(crate) random_faults: Option<(u64, Vec<FaultClass>)>,
    /// The faults of the calls to webhooks.
    pub(crate) webhooks: Option<WebhookSchedule>,
    /// The call before which the clusters of remote nodes are disturbed; 0 at rest.
    pub(crate) cluster: Option<(u64, ClusterDisturbance)>,
    /// The call before which the buckets are disturbed; 0 at rest.
    pub(crate) bucket: Option<(u64, StoreDisturbance)>,
    /// The call to an external service that fails, or before which its things are disturbed; 0 at rest.
    pub(crate) service: Option<(u64, ServiceEvent)>,
}

/// The propagation policy of a deletion, as in `DeleteOptions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Propagation {
    #[default]
    Background,
    Foreground,
    Orphan,
}

impl Propagation {
    pub(crate) const ALL: [Self; 3] = [Self::Background, Self::Foreground, Self::Orphan];

    /// Returns the policy as the API writes it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

/// The error of a text that is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchedule(String);

impl fmt::Display for InvalidSchedule {
    /// Writes the invalid word, and examples of valid ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a part of a schedule: use `after:17`, `before:3`, `delete:4`, `edit:2` or `chance:9`",
            self.0
        )
    }
}

impl std::error::Error for InvalidSchedule {}

impl Schedule {
    /// Returns a schedule without faults and edits. The seed determines names, UIDs and random values.
    pub(crate) fn undisturbed(seed: u64) -> Self {
        Self { seed: Some(seed), ..Self::default() }
    }

    /// Stops the process at calls.
    pub(crate) fn stops(stops: impl IntoIterator<Item = (u64, Fault)>) -> Self {
        Self { stops: stops.into_iter().collect(), ..Self::default() }
    }

    /// Stops the process after a call; the next process starts from a stale list.
    pub(crate) fn stale_list(call: u64) -> Self {
        Self { has_stale_list: true, ..Self::stops([(call, Fault::StopAfter)]) }
    }

    /// Deletes a child; watches may miss the event.
    pub(crate) fn child_deletion(index: usize, hides_events: bool) -> Self {
        Self { deleted_child: Some(index), hides_events, ..Self::default() }
    }

    /// Puts foreign finalizers on the samples and all children for 0, else on the child of that number alone.
    pub(crate) fn foreign_finalizers(which: usize) -> Self {
        Self { foreign_finalizers: Some(which), ..Self::default() }
    }

    /// Creates second objects beside the samples.
    pub(crate) fn second_objects(number: usize) -> Self {
        Self { second_object: Some(number), ..Self::default() }
    }

    /// Deletes the samples before a call.
    pub(crate) fn deletion_before(call: u64) -> Self {
        Self { delete_at: Some(call), ..Self::default() }
    }

    /// Deletes the samples with a propagation policy.
    pub(crate) fn with_propagation(self, propagation: Propagation) -> Self {
        Self { propagation, ..self }
    }

    /// Recreates the samples before a call; at rest for 0.
    pub(crate) fn recreation_before(call: u64) -> Self {
        Self { recreate_at: Some(call), ..Self::default() }
    }

    /// Creates the samples as a variant, with another spec, and recreates them in their original form while the program is idle.
    pub(crate) fn recreation_after(variant: usize) -> Self {
        Self { initial_variant: Some(variant), recreate_at: Some(0), ..Self::default() }
    }

    /// Injects random faults of some classes.
    pub(crate) fn random_faults(seed: u64, classes: &[FaultClass]) -> Self {
        Self { random_faults: Some((seed, classes.to_vec())), ..Self::default() }
    }

    /// Injects faults into the calls to webhooks.
    pub(crate) fn webhooks(webhooks: WebhookSchedule) -> Self {
        Self { webhooks: Some(webhooks), ..Self::default() }
    }

    /// Disturbs the clusters of remote nodes before a call; at rest for 0.
    pub(crate) fn cluster_disturbance(call: u64, disturbance: ClusterDisturbance) -> Self {
        Self { cluster: Some((call, disturbance)), ..Self::default() }
    }

    /// Disturbs the buckets before a call; at rest for 0.
    pub(crate) fn bucket_disturbance(call: u64, disturbance: StoreDisturbance) -> Self {
        Self { bucket: Some((call, disturbance)), ..Self::default() }
    }

    /// Disturbs an external service at a call; at rest for 0.
    pub(crate) fn service_event(call: u64, event: ServiceEvent) -> Self {
        Self { service: Some((call, event)), ..Self::default() }
    }

    /// Changes the samples to a variant and back.
    pub(crate) fn edit(variant: usize) -> Self {
        Self { edit: Some(variant), ..Self::default() }
    }

    /// Changes the samples to a variant before a call.
    pub(crate) fn change_before(call: u64, variant: usize) -> Self {
        Self { change: Some((call, variant)), ..Self::default() }
    }

    /// Creates the samples as a variant.
    pub(crate) fn fresh(variant: usize) -> Self {
        Self { initial_variant: Some(variant), ..Self::default() }
    }
}

/// Returns the name of a fault class in the text form.
fn class_name(class: FaultClass) -> String {
    serde_json::to_value(class).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

impl fmt::Display for Schedule {
    /// Writes the text form: a word for each field that is set, separated by spaces, such as `after:17 edit:2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        for (call, fault) in &self.stops {
            words.push(format!("{}:{call}", if *fault == Fault::StopBefore { "before" } else { "after" }));
        }
        words.extend(self.delete_at.map(|call| format!("delete:{call}")));
        words.extend(self.recreate_at.map(|call| format!("again:{call}")));
        words.extend(self.edit.map(|variant| format!("edit:{variant}")));
        words.extend(self.change.map(|(call, variant)| format!("change:{call}={variant}")));
        words.extend(self.initial_variant.map(|variant| format!("fresh:{variant}")));
        words.extend(self.deleted_child.map(|index| format!("lose:{index}")));
        words.extend(self.foreign_finalizers.map(|which| format!("held:{which}")));
        words.extend(match self.propagation {
            Propagation::Background => None,
            Propagation::Foreground => Some("foreground:1".to_owned()),
            Propagation::Orphan => Some("orphan:1".to_owned()),
        });
        words.extend(self.second_object.map(|number| format!("beside:{number}")));
        let flags = [
            ("unseen", self.hides_events),
            ("old", self.has_stale_list),
            ("idle", self.idle),
            ("upgrade", self.upgrade),
        ];
        for (word, is_set) in flags {
            words.extend(is_set.then(|| format!("{word}:1")));
        }
        if let Some((seed, classes)) = &self.random_faults {
            let names: Vec<_> = classes.iter().map(|class| class_name(*class)).collect();
            let list =
                if classes.len() == FaultClass::ALL.len() { String::new() } else { format!("={}", names.join(",")) };
            words.push(format!("chance:{seed}{list}"));
        }
        words.extend(self.webhooks.map(|webhooks| webhooks.to_string()));
        words.extend(self.cluster.map(|(call, disturbance)| format!("cluster:{call}={disturbance}")));
        words.extend(self.bucket.map(|(call, disturbance)| format!("bucket:{call}={disturbance}")));
        words.extend(self.service.map(|(call, event)| format!("service:{call}={event}")));
        words.extend(self.seed.map(|seed| format!("dice:{seed}")));
        f.write_str(&words.join(" "))
    }
}

impl FromStr for Schedule {
    type Err = InvalidSchedule;

    /// Parses the text form: words `ACTION:NUMBER` or `ACTION:NUMBER=DETAIL`, separated by spaces.
    fn from_str(text: &str) -> Result<Self, InvalidSchedule> {
        let mut schedule = Self::default();
        for word in text.split_whitespace() {
            let invalid = || InvalidSchedule(word.to_owned());
            let (action, argument) = word.split_once(':').ok_or_else(invalid)?;
            let (number, detail) = argument.split_once('=').unwrap_or((argument, ""));
            let number: u64 = number.parse().map_err(|_| invalid())?;
            let index = usize::try_from(number).map_err(|_| invalid())?;
            match action {
                "before" => schedule.stops.push((number, Fault::StopBefore)),
                "after" => schedule.stops.push((number, Fault::StopAfter)),
                "delete" => schedule.delete_at = Some(number),
                "foreground" => schedule.propagation = Propagation::Foreground,
                "orphan" => schedule.propagation = Propagation::Orphan,
                "again" => schedule.recreate_at = Some(number),
                "edit" => schedule.edit = Some(index),
                "change" => schedule.change = Some((number, detail.parse().map_err(|_| invalid())?)),
                "fresh" => schedule.initial_variant = Some(index),
                "lose" => schedule.deleted_child = Some(index),
                "unseen" => schedule.hides_events = number > 0,
                "old" => schedule.has_stale_list = number > 0,
                "held" => schedule.foreign_finalizers = Some(index),
                "beside" => schedule.second_object = Some(index),
                "idle" => schedule.idle = number > 0,
                "upgrade" => schedule.upgrade = number > 0,
                "cluster" => {
                    let disturbance = ClusterDisturbance::parse(detail);
                    // Such a disturbance happens only while the program is idle, which 0 stands for.
                    let disturbance = disturbance.filter(|disturbance| number == 0 || !disturbance.needs_restart());
                    let disturbance = disturbance.ok_or_else(invalid)?;
                    schedule.cluster = Some((number, disturbance));
                }
                "bucket" => {
                    let disturbance = StoreDisturbance::parse(detail).ok_or_else(invalid)?;
                    schedule.bucket = Some((number, disturbance));
                }
                "service" => {
                    let event = ServiceEvent::parse(detail).filter(|event| event.can_happen_at(number));
                    let event = event.ok_or_else(invalid)?;
                    schedule.service = Some((number, event));
                }
                "dice" => schedule.seed = Some(number),
                "chance" => {
                    let by_name = |name: &str| FaultClass::ALL.into_iter().find(|class| class_name(*class) == name);
                    let classes: Option<Vec<_>> =
                        detail.split(',').filter(|name| !name.is_empty()).map(by_name).collect();
                    let classes = classes.ok_or_else(invalid)?;
                    schedule.random_faults =
                        Some((number, if classes.is_empty() { FaultClass::ALL.to_vec() } else { classes }));
                }
                _ => schedule.webhooks = Some(WebhookSchedule::parse(action, number, detail).ok_or_else(invalid)?),
            }
        }
        Ok(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_parsed_from_its_text_form() {
        for text in [
            "after:17 before:20",
            "delete:3",
            "delete:3 orphan:1",
            "foreground:1",
            "edit:2",
            "chance:9",
            "chance:4=cut,lateEvent dice:3",
            "fresh:0",
            "again:12",
            "again:0 fresh:2",
            "lose:2 held:0",
            "lose:2 unseen:1",
            "after:17 old:1",
            "change:7=2",
            "held:3",
            "beside:1",
            "webhook:3=otherName",
            "edit:1 outage:4=timedOut",
            "upgrade:1 webhooks:7",
            "cluster:4=partition dice:2",
            "bucket:0=absence",
            "bucket:7=spec dice:2",
            "change:8=1 service:7=lost",
            "service:0=foreignChange",
            "cluster:0=restoreAhead",
        ] {
            assert_eq!(text.parse::<Schedule>().map(|schedule| schedule.to_string()).as_deref(), Ok(text));
        }
        for text in [
            "after",
            "after:x",
            "sometimes:3",
            "chance:1=rain",
            "webhook:1",
            "outage:2=rain",
            "cluster:1=rain",
            "cluster:1=restore",
            "bucket:1=rain",
            "service:1=rain",
            "service:5=quota",
            "service:0=lost",
        ] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
