//! What every cluster starts with.

use std::{collections::BTreeMap, sync::LazyLock, time::Duration};

use kube::Client;
use opgen_tests::wait;
use regex::Regex;
use serde_json::{Map, Value};

use super::{Lines, get};

/// What stands for a time, for a day and for a uid.
const TIME: &str = r#""2006-01-02T15:04:05Z""#;
const DAY: &str = r#""2006-01-02""#;
const UID: &str = "00000000-0000-4000-8000-000000000000";

static TIMES: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ""#).unwrap());
static DAYS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""\d{4}-\d\d-\d\d""#).unwrap());

/// How long a new cluster may take to become what the table has.
const LIMIT: Duration = Duration::from_secs(30);

/// The kinds of what a new cluster has: without what tells of the machine (endpoints, leases, certificates), and without what
/// controllers of the sandbox make in it (accounts, APIServices).
const KINDS: [(&str, &str); 12] = [
    ("v1", "namespaces"),
    ("v1", "configmaps"),
    ("v1", "services"),
    ("flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations"),
    ("flowcontrol.apiserver.k8s.io/v1", "flowschemas"),
    ("scheduling.k8s.io/v1", "priorityclasses"),
    ("rbac.authorization.k8s.io/v1", "clusterroles"),
    ("rbac.authorization.k8s.io/v1", "clusterrolebindings"),
    ("rbac.authorization.k8s.io/v1", "roles"),
    ("rbac.authorization.k8s.io/v1", "rolebindings"),
    ("networking.k8s.io/v1", "ipaddresses"),
    ("networking.k8s.io/v1", "servicecidrs"),
];

/// Of the ConfigMaps only this has no certificate in it.
const TRACKING: &str = "kube-apiserver-legacy-service-account-token-tracking";

/// On which port the API server is, to whoever asks its Service.
const PORT: u16 = 6443;

/// An object with its two lines: what has to be known of it, and itself.
#[derive(Debug)]
pub(super) struct First {
    key: String,
    version: u64,
    lines: String,
}

/// All of them, as soon as they are those of the table; or, if they never are, what there is.
pub(super) async fn objects(client: &Client, table: &str) -> Result<Vec<First>, String> {
    let expected = lines(table);
    let mut taken = Vec::new();
    let as_expected = async || {
        taken = take(client).await?;
        if lines(&written(&taken, table)) == expected { Ok(()) } else { Err("another cluster".to_owned()) }
    };
    match wait::within(LIMIT, as_expected).await {
        Err(error) if taken.is_empty() => Err(error),
        _ => Ok(taken),
    }
}

async fn take(client: &Client) -> Result<Vec<First>, String> {
    let mut taken = Vec::new();
    for (api_version, plural) in KINDS {
        let root = if api_version == "v1" { "/api" } else { "/apis" };
        let mut list = get(client, &format!("{root}/{api_version}/{plural}"), "application/json").await?;
        let group = api_version.split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
        for object in list["items"].as_array_mut().into_iter().flatten() {
            if plural != "configmaps" || object["metadata"]["name"] == TRACKING {
                taken.push(First::of(object.take(), api_version, &format!("{plural}{group}")));
            }
        }
    }
    taken.sort_by_key(|first| first.version);
    Ok(taken)
}

impl First {
    fn of(mut object: Value, api_version: &str, shelf: &str) -> Self {
        let metadata = &mut object["metadata"];
        let word = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let (namespace, name, uid) = (word("namespace"), word("name"), word("uid"));
        let version = word("resourceVersion");
        metadata["resourceVersion"] = "".into();
        let labels = metadata["labels"].clone();
        if let Some(port) = object.pointer_mut("/spec/ports/0/targetPort") {
            *port = PORT.into();
        }
        let text = object.to_string().replace(&uid, UID);
        let text = DAYS.replace_all(&TIMES.replace_all(&text, TIME), DAY).into_owned();
        let mut heading = Map::new();
        for (word, value) in [("apiVersion", api_version.into()), ("bytes", text.len().into()), ("labels", labels)] {
            heading.insert(word.to_owned(), value);
        }
        for (word, value) in [("name", &name), ("namespace", &namespace)] {
            heading.insert(word.to_owned(), value.as_str().into());
        }
        heading.insert("shelf".to_owned(), shelf.into());
        heading.retain(|_, value| !value.is_null() && *value != "");
        Self {
            key: key(&heading),
            version: version.parse().unwrap_or_default(),
            lines: format!("{}\n{text}\n", Value::Object(heading)),
        }
    }
}

fn key(heading: &Map<String, Value>) -> String {
    let word = |name: &str| heading.get(name).and_then(Value::as_str).unwrap_or_default();
    format!("{} {}/{}", word("shelf"), word("namespace"), word("name"))
}

/// The two lines of each.
pub(super) fn lines(table: &str) -> Lines {
    in_order(table).into_iter().collect()
}

fn in_order(table: &str) -> Vec<(String, String)> {
    let lines: Vec<_> = table.lines().collect();
    let pair = |pair: &[&str]| Some((key(serde_json::from_str::<Value>(pair[0]).ok()?.as_object()?), pair.join("\n")));
    lines.chunks(2).filter_map(pair).collect()
}

/// The file that has them: in the order that it is in, which is none of theirs but the one that versions follow from, and
/// what is new in the order of the server.
pub(super) fn written(taken: &[First], table: &str) -> String {
    let places: BTreeMap<_, _> = in_order(table).into_iter().enumerate().map(|(at, (key, _))| (key, at)).collect();
    let mut taken: Vec<_> = taken.iter().collect();
    taken.sort_by_key(|first| places.get(&first.key).copied().unwrap_or(usize::MAX));
    taken.into_iter().map(|first| first.lines.as_str()).collect()
}
