//! Scripts by chance: operations of several users on a few objects, the same on both servers. A seed gives the same
//! script always, so a failed case is played again by its name: `cargo test -p opgen-conformance -- random::seed_7`.

use std::ops::Range;

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::script::{Case, Step};

/// More seeds, as `100..200`.
const SEEDS: &str = "OPGEN_CONFORMANCE_SEEDS";

/// How many operations a script has.
const LENGTH: usize = 30;

const NAMES: [&str; 3] = ["a", "b", "c"];
const COLOURS: [&str; 3] = ["red", "green", "blue"];
const MANAGERS: [&str; 2] = ["one", "two"];

/// The cases of the seeds.
pub(crate) fn all() -> Vec<Case> {
    let seeds = std::env::var(SEEDS).ok().and_then(|written| range(&written)).unwrap_or(0..24);
    seeds.map(case).collect()
}

fn range(written: &str) -> Option<Range<u64>> {
    let (first, end) = written.split_once("..")?;
    Some(first.parse().ok()?..end.parse().ok()?)
}

fn case(seed: u64) -> Case {
    let mut chance = Chance { rng: Rng::with_seed(seed) };
    let steps = beginning().into_iter().chain((0..LENGTH).map(|_| chance.step())).chain(end()).collect();
    Case { name: format!("random::seed_{seed}"), room: "random".to_owned(), variables: Map::new(), steps }
}

/// Two users, one that reads and one that writes.
fn beginning() -> Vec<Step> {
    let bind = |role: &str, user: &str| Step {
        line: "POST $roles/rolebindings".to_owned(),
        body: json!({"metadata": {"name": user}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                     "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}),
        ..Step::default()
    };
    let is_bound = |user: &str| Step {
        line: "GET $apps/deployments".to_owned(),
        user: user.into(),
        until: json!(200),
        keep: [("start".to_owned(), "/metadata/resourceVersion".to_owned())].into(),
        ..Step::default()
    };
    vec![bind("view", "reader"), bind("edit", "writer"), is_bound("reader"), is_bound("writer")]
}

/// What is left, and how it came about.
fn end() -> Vec<Step> {
    let kinds = ["$core/configmaps", "$apps/deployments"];
    let list = |kind: &str| Step { line: format!("GET {kind}?labelSelector=part%3Drandom"), ..Step::default() };
    let watch = |kind: &str| Step {
        line: format!("GET {kind}?labelSelector=part%3Drandom&watch=1&resourceVersion=$start&timeoutSeconds=1"),
        events: json!("all"),
        ..Step::default()
    };
    kinds.iter().flat_map(|kind| [list(kind), watch(kind)]).collect()
}

struct Chance {
    rng: Rng,
}

impl Chance {
    fn one<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.rng.usize(..words.len())]
    }

    fn often(&mut self, percent: u32) -> bool {
        self.rng.u32(..100) < percent
    }

    fn step(&mut self) -> Step {
        let is_map = self.often(65);
        let (kind, at) = if is_map { ("ConfigMap", "$core/configmaps") } else { ("Deployment", "$apps/deployments") };
        let name = self.one(&NAMES);
        let manager = self.one(&MANAGERS);
        let object = self.object(kind, name);
        let one = |method: &str, query: &str| format!("{method} {at}/{name}?fieldManager={manager}{query}");
        let (line, body, media) = match self.rng.u32(..100) {
            0..18 => (format!("POST {at}?fieldManager={manager}"), object, None),
            18..30 => (one("PUT", ""), self.versioned(object, name), None),
            30..55 => {
                let force = if self.often(40) { "&force=true" } else { "" };
                (one("PATCH", force), object, Some("apply"))
            }
            55..65 => (one("PATCH", ""), self.part(is_map), Some("merge")),
            65..72 => (one("PATCH", ""), self.part(is_map), Some("strategic")),
            72..79 => (one("PATCH", ""), self.operations(), Some("json")),
            79..91 => (format!("DELETE {at}/{name}"), self.deletion(name), None),
            91..95 => (format!("GET {at}/{name}"), Value::Null, None),
            _ => (format!("GET {at}?labelSelector=colour%3D{}", self.one(&COLOURS)), Value::Null, None),
        };
        let user = match self.rng.u32(..10) {
            0 => json!("reader"),
            1..4 => json!("writer"),
            _ => Value::Null,
        };
        // The version of a list is that of all that is written meanwhile, by whatever case.
        let is_list = body.is_null() && line.contains("labelSelector");
        let keep = (!is_list).then(|| (format!("version{name}"), "/metadata/resourceVersion".to_owned()));
        let keep = keep.into_iter().collect();
        Step { line, body, media: media.map(str::to_owned), user, keep, ..Step::default() }
    }

    fn object(&mut self, kind: &str, name: &str) -> Value {
        let mut labels = json!({"part": "random"});
        if self.often(60) {
            labels["colour"] = self.one(&COLOURS).into();
        }
        let mut metadata = json!({"name": name, "labels": labels});
        if self.often(15) {
            metadata["finalizers"] = json!([format!("example.com/{}", self.one(&NAMES))]);
        }
        if kind == "ConfigMap" {
            let mut data = Map::new();
            for key in NAMES {
                if self.often(50) {
                    data.insert(key.to_owned(), self.one(&COLOURS).into());
                }
            }
            return json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data});
        }
        let mut container = json!({"name": "main", "image": self.one(&COLOURS)});
        if self.often(40) {
            container["env"] = json!([{"name": "A", "value": self.one(&COLOURS)}, {"name": "B", "value": "x"}]);
        }
        let pod = json!({"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}});
        let mut spec = json!({"selector": {"matchLabels": {"app": name}}, "template": pod});
        if self.often(50) {
            spec["replicas"] = self.rng.u32(0..3).into();
        }
        json!({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec})
    }

    /// Half of the time with the version that was last seen, which may be stale by now.
    fn versioned(&mut self, mut object: Value, name: &str) -> Value {
        if self.often(50) {
            object["metadata"]["resourceVersion"] = format!("$version{name}").into();
        }
        object
    }

    fn part(&mut self, is_map: bool) -> Value {
        match self.rng.u32(..4) {
            0 => json!({"metadata": {"labels": {"colour": self.one(&COLOURS)}}}),
            1 => json!({"metadata": {"finalizers": null}}),
            2 if is_map => json!({"data": {self.one(&NAMES): null}}),
            2 => {
                json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": self.one(&COLOURS)}]}}}})
            }
            _ if is_map => json!({"data": {self.one(&NAMES): self.one(&COLOURS)}}),
            _ => json!({"spec": {"replicas": self.rng.u32(0..3)}}),
        }
    }

    fn operations(&mut self) -> Value {
        match self.rng.u32(..3) {
            0 => json!([{"op": "replace", "path": "/metadata/labels/colour", "value": self.one(&COLOURS)}]),
            1 => json!([{"op": "test", "path": "/metadata/labels/colour", "value": self.one(&COLOURS)},
                        {"op": "remove", "path": "/metadata/labels/colour"}]),
            _ => json!([{"op": "remove", "path": "/metadata/finalizers"}]),
        }
    }

    fn deletion(&mut self, name: &str) -> Value {
        match self.rng.u32(..4) {
            0 => json!({"preconditions": {"resourceVersion": format!("$version{name}")}}),
            1 => json!({"propagationPolicy": "Background"}),
            _ => Value::Null,
        }
    }
}
