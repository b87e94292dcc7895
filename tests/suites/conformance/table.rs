//! What the sandbox knows of the built-in kinds, held against what the real kube-apiserver says of them.
//!
//! This case is the program that takes the table, too: `OPGEN_BLESS=1` writes what it found in place of what is there.

mod columns;
mod discovery;
mod first;
mod openapi;

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use http::{Request, header::ACCEPT};
use kube::Client;
use libtest_mimic::Trial;
use opgen_tests::{Form, Options, case_on};
use serde_json::Value;

use self::first::First;

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

/// The case, in a cluster in which nobody else does anything.
pub(crate) fn case() -> Trial {
    let options = Options {
        form: Form::ControlPlane,
        kubelet: false,
        controllers: Some(CONTROLLERS.to_owned()),
        ..Options::default()
    };
    case_on("table::it_is_what_a_new_cluster_says", options, async |plane| {
        let checked = all(&plane.client()).await?;
        let differ: Vec<_> = checked.into_iter().filter_map(Result::err).collect();
        if differ.is_empty() { Ok(()) } else { Err(differ.join("\n\n")) }
    })
}

/// File by file.
async fn all(client: &Client) -> Result<[Result<(), String>; 5], String> {
    let first = read("bootstrap.jsonl")?;
    Ok([
        check_lines("kinds.json", &discovery::kinds(client).await?),
        check_lines("schemas.json", &openapi::schemas(client).await?),
        check_compressed("descriptions.json.zst", &openapi::descriptions(client).await?),
        check_compressed("columns.json.zst", &columns::columns(client).await?),
        check_first("bootstrap.jsonl", &first::objects(client, &first).await?),
    ])
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

/// A file with a line for each, in the order of the server.
fn check_lines(file: &str, taken: &str) -> Result<(), String> {
    let is = read(file)?;
    if is == taken {
        return Ok(());
    }
    let by_line = |text: &str| text.lines().map(|line| (line.to_owned(), String::new())).collect::<Lines>();
    differs(file, &by_line(&is), &by_line(taken), taken.as_bytes())
}

/// A file with two lines for each, in an order of its own.
fn check_first(file: &str, taken: &[First]) -> Result<(), String> {
    let is = read(file)?;
    let taken = first::written(taken, &is);
    let (is, must) = (first::lines(&is), first::lines(&taken));
    if is == must { Ok(()) } else { differs(file, &is, &must, taken.as_bytes()) }
}

/// A file of compressed JSON.
fn check_compressed(file: &str, taken: &Value) -> Result<(), String> {
    let is = fs::read(place(file)).and_then(|text| zstd::decode_all(text.as_slice()));
    let is =
        is.and_then(|text| Ok(serde_json::from_slice::<Value>(&text)?)).map_err(|error| format!("{file}: {error}"))?;
    if is == *taken {
        return Ok(());
    }
    let by_entry = |value: &Value| match value {
        Value::Object(entries) => entries.iter().map(|(name, entry)| (name.clone(), entry.to_string())).collect(),
        rows => rows.as_array().into_iter().flatten().map(|row| (row.to_string(), String::new())).collect::<Lines>(),
    };
    let compressed = zstd::encode_all(taken.to_string().as_bytes(), LEVEL).map_err(|error| error.to_string())?;
    differs(file, &by_entry(&is), &by_entry(taken), &compressed)
}

/// Says what is different, or writes what was taken.
fn differs(file: &str, is: &Lines, must: &Lines, taken: &[u8]) -> Result<(), String> {
    if env::var_os(BLESS).is_some() {
        return fs::write(place(file), taken).map_err(|error| format!("{file}: {error}"));
    }
    let only = |these: &Lines, those: &Lines, sign: &str| -> Vec<String> {
        let differ = these.iter().filter(|(name, line)| those.get(*name) != Some(line));
        differ.map(|(name, line)| format!("{sign} {name} {line}")).collect()
    };
    let (gone, new) = (only(is, must, "-"), only(must, is, "+"));
    let told: Vec<_> = gone.iter().take(TOLD).chain(new.iter().take(TOLD)).map(String::as_str).collect();
    let what = match (gone.len(), new.len()) {
        (0, 0) => "its order".to_owned(),
        (gone, new) => format!("{gone} lines are gone, {new} are new"),
    };
    let told = told.join("\n");
    Err(format!("{file} is not what the server says: {what}; with {BLESS}=1 it is written anew\n{told}"))
}
