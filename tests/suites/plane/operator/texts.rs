//! Texts by chance, of every length, in whatever an operator writes: the API server takes all of it.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};
use kube::CustomResource;
use libtest_mimic::Trial;
use opgen::{
    condition::{Truth, set},
    prelude::*,
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{Plane, case, wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::site::Site;

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("texts_of_any_length_are_shortened_to_what_the_server_takes", any_length)]
}

/// So many objects: enough for each outcome to meet each length.
const OBJECTS: u64 = 48;

/// An object of which an operator has much to say.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
#[kube(group = "live.example.com", version = "v1", kind = "Speech", plural = "speeches", namespaced, status = "Status")]
pub(crate) struct SpeechSpec {
    pub(crate) seed: i64,
}

#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Speech)]
struct SpeechTree {
    /// Refused for every fourth object, with its text in the refusal.
    #[provisioner(resource)]
    config: ConfigMap,
    words: Words,
}

impl SpeechTree {
    fn config(speech: &Speech) -> ConfigMap {
        let mut dice = Dice::of(speech);
        let key = if speech.spec.seed % 4 == 0 { format!("/{}", dice.text()) } else { "key".to_owned() };
        ConfigMap { data: Some(BTreeMap::from([(key, String::new())])), ..ConfigMap::default() }
    }
}

#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct Words;

impl Provision<Speech> for Words {
    async fn provision(cx: &Context<'_, Speech, Self>) -> Result<()> {
        let mut dice = Dice::of(cx.object());
        let (reason, message) = (dice.text(), dice.text());
        cx.event(EventType::Warning, &reason, &message);
        let (by_hand, now) = (dice.text(), cx.now());
        cx.status(|status| {
            set(&mut status.conditions, "Set", Truth::True, &reason, &message, 1, now);
            status.conditions.retain(|held| held.type_ != "ByHand");
            let (type_, status_) = ("ByHand".to_owned(), "True".to_owned());
            let last_transition_time = Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH);
            let (reason, message, observed_generation) = (by_hand.clone(), by_hand, None);
            status.conditions.push(Condition {
                type_,
                status: status_,
                reason,
                message,
                last_transition_time,
                observed_generation,
            });
        });
        match dice.of_number(5) {
            0 => Ok(()),
            1 => Err(Error::yielding(reason, message)),
            2 => Err(Error::user_action(reason, message)),
            3 => Err(Error::terminal(reason, message)),
            _ => Err(Error::blocked("Blocked", message)),
        }
    }

    async fn deprovision(_: &Teardown<'_, Speech, Self>) -> Result<()> {
        Ok(())
    }
}

struct Dice(Seeded);

impl Dice {
    fn of(speech: &Speech) -> Self {
        Self(Seeded::new(speech.spec.seed.unsigned_abs()))
    }

    fn of_number(&mut self, number: usize) -> usize {
        usize::try_from(self.0.bits() >> 33).unwrap_or_default() % number
    }

    /// A text around one of the limits, of characters of one to four bytes, some of them of no width.
    fn text(&mut self) -> String {
        const SIZES: [usize; 8] = [0, 1, 127, 1_023, 1_025, 32_767, 32_769, 100_000];
        const CHARACTERS: [char; 12] = ['a', 'Z', '7', '_', '-', ':', ' ', '\n', '\u{1}', 'é', '…', '\u{1f600}'];
        let size = SIZES[self.of_number(SIZES.len())] + self.of_number(3);
        let (first, few) = (self.of_number(CHARACTERS.len()), 1 + self.of_number(CHARACTERS.len()));
        (0..size).map(|_| CHARACTERS[(first + self.of_number(few)) % CHARACTERS.len()]).collect()
    }
}

async fn any_length(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().controls::<Speech, SpeechTree>();
    let _running = site.start(&operator).await;
    let names: Vec<_> = (0..OBJECTS).map(|seed| format!("speech-{seed}")).collect();
    for (seed, name) in (0..).zip(&names) {
        site.create(&Speech::new(name, SpeechSpec { seed })).await;
    }
    for name in &names {
        let spoke = |speech: &Speech| speech.status.as_ref().is_some_and(|status| status.observed_generation.is_some());
        wait::until_object(&site.api::<Speech>(), name, "has a status", spoke).await;
    }
    let asked = site.settled().await;
    let refused = asked.writes().with(|entry| entry.code >= 400 && entry.resource != "configmaps");
    assert!(refused.is_empty(), "{refused}");
    let events = asked.resource("events").verb("create");
    assert!(events.len() >= names.len(), "{} events for {} objects", events.len(), names.len());
}
