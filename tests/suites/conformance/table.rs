//! What the sandbox knows of the built-in kinds, held against what the real kube-apiserver says of them.
//!
//! These cases are the program that takes the table, too: `OPGEN_BLESS=1` writes what they found in place of what is there.

mod columns;
mod discovery;
mod first;
mod openapi;

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use http::{Request, header::ACCEPT};
use kube::Client;
use libtest_mimic::Trial;
use opgen_tests::{Form, Options, Plane, case::trial};
use serde_json::Value;
use tokio::{runtime::Runtime, sync::OnceCell};

/// Takes the table anew.
const BLESS: &str = "OPGEN_BLESS";

/// How hard what only people read is compressed.
const LEVEL: i32 = 19;

/// How many lines that differ are told.
const TOLD: usize = 5;

/// Only these work on what a new cluster has: on the roles that gather others', on the addresses of Services, and on the
/// account without which none is ready.
const CONTROLLERS: &str = "clusterrole-aggregation-controller,service-cidr-controller,serviceaccount-controller";

/// A file as lines by what they are of, whose order is not the server's to say.
type Lines = BTreeMap<String, String>;

/// A cluster in which nobody else does anything, started by the first case that asks for it.
#[derive(Default)]
struct Cluster(OnceCell<Plane>);

impl Cluster {
    async fn client(&self) -> Result<Client, String> {
        let options = Options {
            form: Form::ControlPlane,
            kubelet: false,
            controllers: Some(CONTROLLERS.to_owned()),
            ..Options::default()
        };
        let plane = self.0.get_or_try_init(async || Plane::start(options).await).await;
        Ok(plane.map_err(|missing| missing.to_string())?.client())
    }
}

/// The cases. All hold on to the one cluster; it ends with the last of them.
pub(crate) fn all(runtime: Arc<Runtime>) -> Vec<Trial> {
    let cluster = Arc::new(Cluster::default());
    let case = |name: &str, check: fn(&Runtime, &Cluster) -> Result<(), String>| {
        let (runtime, cluster) = (runtime.clone(), cluster.clone());
        trial(Form::ControlPlane, &format!("table::{name}"), move || check(&runtime, &cluster).map_err(Into::into))
    };
    vec![
        case("kinds_are_those_that_are_served", |runtime, cluster| {
            let taken = runtime.block_on(async { discovery::kinds(&cluster.client().await?).await })?;
            check_lines("kinds.json", &taken)
        }),
        case("schemas_are_those_that_are_served", |runtime, cluster| {
            let taken = runtime.block_on(async { openapi::schemas(&cluster.client().await?).await })?;
            check_lines("schemas.json", &taken)
        }),
        case("descriptions_are_those_that_are_served", |runtime, cluster| {
            let taken = runtime.block_on(async { openapi::descriptions(&cluster.client().await?).await })?;
            check_compressed("descriptions.json.zst", &taken)
        }),
        case("columns_are_those_that_are_served", |runtime, cluster| {
            let taken = runtime.block_on(async { columns::columns(&cluster.client().await?).await })?;
            check_compressed("columns.json.zst", &taken)
        }),
        case("first_objects_are_those_of_a_new_cluster", |runtime, cluster| {
            let is = read("bootstrap.jsonl")?;
            let taken = runtime.block_on(async { first::objects(&cluster.client().await?, &is).await })?;
            let must = first::written(&taken, &is);
            check("bootstrap.jsonl", &first::lines(&is), &first::lines(&must), || must.clone().into_bytes())
        }),
    ]
}

/// The answer to a path.
async fn get(client: &Client, path: &str, accept: &str) -> Result<Value, String> {
    let request = Request::get(path).header(ACCEPT, accept).body(Vec::new()).map_err(|error| error.to_string())?;
    client.request(request).await.map_err(|error| format!("{path}: {error}"))
}

fn place(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sandbox/table").join(file)
}

fn read(file: &str) -> Result<String, String> {
    fs::read_to_string(place(file)).map_err(|error| format!("{file}: {error}"))
}

/// A file with a line for each.
fn check_lines(file: &str, taken: &str) -> Result<(), String> {
    let by_line = |text: &str| text.lines().map(|line| (line.to_owned(), String::new())).collect::<Lines>();
    check(file, &by_line(&read(file)?), &by_line(taken), || taken.to_owned().into_bytes())
}

/// A file of compressed JSON.
fn check_compressed(file: &str, taken: &Value) -> Result<(), String> {
    let by_entry = |value: &Value| match value {
        Value::Object(entries) => entries.iter().map(|(name, entry)| (name.clone(), entry.to_string())).collect(),
        entries => {
            entries.as_array().into_iter().flatten().map(|row| (row.to_string(), String::new())).collect::<Lines>()
        }
    };
    let is = fs::read(place(file)).and_then(|text| zstd::decode_all(text.as_slice()));
    let is: Value =
        is.and_then(|text| Ok(serde_json::from_slice(&text)?)).map_err(|error| format!("{file}: {error}"))?;
    let compressed =
        zstd::encode_all(taken.to_string().as_bytes(), LEVEL).map_err(|error: io::Error| error.to_string())?;
    check(file, &by_entry(&is), &by_entry(taken), || compressed.clone())
}

fn check(file: &str, is: &Lines, must: &Lines, bytes: impl Fn() -> Vec<u8>) -> Result<(), String> {
    if is == must {
        return Ok(());
    }
    if env::var_os(BLESS).is_some() {
        return fs::write(place(file), bytes()).map_err(|error| format!("{file}: {error}"));
    }
    let only = |these: &Lines, those: &Lines, sign: &str| -> Vec<String> {
        let differ = these.iter().filter(|(name, line)| those.get(*name) != Some(line));
        differ.map(|(name, line)| format!("{sign} {name} {line}")).collect()
    };
    let (gone, new) = (only(is, must, "-"), only(must, is, "+"));
    let told: Vec<_> = gone.iter().take(TOLD).chain(new.iter().take(TOLD)).map(String::as_str).collect();
    let (gone, new) = (gone.len(), new.len());
    Err(format!(
        "{file} differs from what the server says ({gone} lines gone, {new} new); with {BLESS}=1 it is written anew\n{}",
        told.join("\n")
    ))
}
