//! The rules between fields (`#[valid(...)]`): the API server, by the CEL that is generated, and the check in Rust decide alike.

mod kinds;
mod random;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::{StreamExt as _, stream};
use kube::{
    Api, Error,
    api::{DeleteParams, PostParams},
    core::Status,
};
use libtest_mimic::Trial;
use opgen::validation::Validated as _;
use opgen_tests::{Plane, case};

use crate::operator::{install, site::Site};
use kinds::{Ruled, RuledSpec};
use random::Random;

pub(crate) fn cases() -> Vec<Trial> {
    vec![case("validation_the_api_server_and_rust_agree_about_each_rule", agree)]
}

/// How many objects are written at a time.
const WRITERS: u64 = 8;

/// How many objects are generated; each is created and is the edit of another one. `OPGEN_RULE_OBJECTS` sets another number.
fn object_count() -> u64 {
    let count = std::env::var("OPGEN_RULE_OBJECTS").map_or(1_000, |count| count.parse().expect("a number"));
    assert!(count >= 1_000, "each rule is to be violated several times");
    count
}

/// The fields that violate a rule, with what the rule wants. A field may violate two rules.
type Violations = BTreeSet<(String, String)>;

async fn agree(plane: Arc<Plane>) {
    let site = Site::new(&plane).await;
    let operator = site.operator().defines::<Ruled>();
    install::definitions(&plane, &operator).await;
    let seed: u64 = std::env::var("OPGEN_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let writers = (0..WRITERS).map(|writer| write(&site, seed * WRITERS + writer, object_count() / WRITERS));
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut valid = 0;
    for tally in stream::iter(writers).buffer_unordered(8).collect::<Vec<_>>().await {
        valid += tally.valid;
        for (message, count) in tally.violated {
            *seen.entry(message).or_default() += count;
        }
    }
    println!("{valid} valid, violations: {seen:#?}");
    assert!(valid > 20, "only {valid} objects are valid");
    let rare: Vec<_> =
        kinds::MESSAGES.iter().filter(|message| seen.get(**message).is_none_or(|count| *count < 5)).collect();
    assert!(rare.is_empty(), "hardly violated: {rare:?}");
    let unknown: Vec<_> = seen.keys().filter(|message| !kinds::MESSAGES.contains(&message.as_str())).collect();
    assert!(unknown.is_empty(), "not listed: {unknown:?}");
}

/// How often each rule was violated, and how many requests were valid.
#[derive(Default)]
struct Tally {
    violated: BTreeMap<String, usize>,
    valid: usize,
}

impl Tally {
    fn add(&mut self, violations: &Violations) {
        self.valid += usize::from(violations.is_empty());
        for (_, message) in violations {
            *self.violated.entry(message.clone()).or_default() += 1;
        }
    }
}

/// Creates objects without storing them, and writes each as an edit of the object that is stored then.
async fn write(site: &Site, seed: u64, count: u64) -> Tally {
    let (random, mut tally) = (Random::new(seed), Tally::default());
    let api = site.api::<Ruled>();
    let name = format!("ruled-{seed}");
    let mut stored: Option<Ruled> = None;
    for number in 0..count {
        let spec = random.spec(stored.as_ref().map(|stored| &stored.spec));
        let mut object = Ruled::new(&name, spec.clone());
        let dry_run = PostParams { dry_run: true, ..PostParams::default() };
        let context = || format!("seed {seed}, object {number}: {}", serde_json::to_string_pretty(&spec).unwrap());
        let mut creation = object.clone();
        creation.metadata.name = Some(format!("{name}-dry"));
        let (_, by_server) = decide(api.create(&dry_run, &creation).await);
        let in_rust = in_rust(&spec, None);
        assert_eq!(by_server, in_rust, "the creation, {}", context());
        tally.add(&in_rust);
        match &stored {
            None => stored = decide(api.create(&PostParams::default(), &object).await).0,
            Some(old) => {
                object.metadata.resource_version = old.metadata.resource_version.clone();
                let (written, by_server) = decide(api.replace(&name, &PostParams::default(), &object).await);
                let in_rust = self::in_rust(&spec, Some(&old.spec));
                assert_eq!(by_server, in_rust, "an edit, {}\nof {:#?}", context(), old.spec);
                tally.add(&in_rust);
                stored = written.or(stored);
            }
        }
        // Fields that never change would never be violated in an object that lacks them.
        if number % 25 == 24 && stored.take().is_some() {
            delete(&api, &name).await;
        }
    }
    tally
}

async fn delete(api: &Api<Ruled>, name: &str) {
    api.delete(name, &DeleteParams::default()).await.unwrap();
    opgen_tests::wait::until_gone(api, name).await;
}

/// Returns the object that the server accepted, or the fields that it refused.
fn decide(result: Result<Ruled, Error>) -> (Option<Ruled>, Violations) {
    match result {
        Ok(object) => (Some(object), Violations::new()),
        Err(Error::Api(status)) if status.code == 422 => (None, causes(&status)),
        Err(error) => panic!("{error}"),
    }
}

/// Returns the fields of a refusal with the texts of the rules, which stand after the kind of the error and the value.
fn causes(status: &Status) -> Violations {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let text = |message: &str| {
        let known = kinds::MESSAGES.iter().find(|known| message.ends_with(&format!(": {known}")));
        known.map_or_else(|| format!("not by a rule: {message}"), |known| (*known).to_owned())
    };
    causes.map(|cause| (cause.field.clone(), text(&cause.message))).collect()
}

fn in_rust(spec: &RuledSpec, old: Option<&RuledSpec>) -> Violations {
    let invalid = spec.validate(old).err().into_iter().flatten();
    invalid.map(|invalid| (format!("spec{}", invalid.path), invalid.message)).collect()
}
