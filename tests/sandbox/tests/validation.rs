//! Tests of validation errors.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

use crate::admin_client::{prepare, send};

/// What kube-apiserver 1.36 refused: `path`, `method`, `object` (for a patch after `before` was created), `code`,
/// `reason`, `causes` as pairs of reason and field.
const REFUSED: &str = include_str!("golden/refused.json");

#[tokio::test(start_paused = true)]
async fn each_fault_is_told_as_kubernetes_tells_it() {
    let rows: Vec<Value> = serde_json::from_str(REFUSED).unwrap();
    assert!(rows.len() > 290);
    let mut different = Vec::new();
    for row in &rows {
        let (code, answer) = refused(row).await;
        let (made, seen) = (told(code, &answer), told_then(row));
        if made != seen {
            let message = answer["message"].as_str().unwrap_or_default();
            different.push(format!("{} {}\n  made {made}\n  seen {seen}\n  {message}", row["path"], row["object"]));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

async fn refused(row: &Value) -> (u16, Value) {
    let sandbox = Sandbox::builder().seed(1).start();
    prepare(&sandbox).await;
    let path = row["path"].as_str().unwrap();
    let object = written_out(&row["object"]);
    let Some(name) = row["before"]["metadata"]["name"].as_str() else {
        return send(&sandbox, "POST", &format!("{path}?dryRun=All"), &object).await;
    };
    let (code, made) = send(&sandbox, "POST", path, &row["before"]).await;
    assert_eq!(code, 201, "{made}");
    let status = if row["method"] == "PATCH/status" { "/status" } else { "" };
    send(&sandbox, "PATCH", &format!("{path}/{name}{status}?dryRun=All"), &object).await
}

/// `x*1000` is a thousand times `x`.
fn written_out(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.split_once('*').map(|(letter, times)| (letter, times.parse::<usize>())) {
            Some((letter, Ok(times))) if letter.len() == 1 => letter.repeat(times).into(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(written_out).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), written_out(value))).collect(),
        _ => value.clone(),
    }
}

fn told(code: u16, answer: &Value) -> Value {
    let causes = answer["details"]["causes"].as_array().into_iter().flatten();
    let causes = causes.map(|cause| json!([cause["reason"], cause["field"]])).collect();
    json!([code, answer["reason"], sorted(causes)])
}

fn told_then(row: &Value) -> Value {
    json!([row["code"], row["reason"], sorted(row["causes"].as_array().cloned().unwrap_or_default())])
}

fn sorted(mut causes: Vec<Value>) -> Vec<Value> {
    causes.sort_by_key(Value::to_string);
    causes
}
