//! Checks that the errors of a bucket have one line, name the key of the call, and never contain a value.

use opgen::bucket::{BucketError, Expected};

use super::{
    client::Client,
    deadline::{CheckResult, expect, expect_equal, failed},
    statement::{CheckRun, Statement},
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(108, "`Conflict` names the key of the call", |run| Box::pin(name_key_of_conflict(run))),
    Statement::new(109, "`InvalidKey` names the key of the call", |run| Box::pin(name_invalid_key(run))),
    Statement::new(110, "The text of an error is one line", |run| Box::pin(write_one_line(run))),
    Statement::new(111, "No error has a value in its text or in its debug form", |run| {
        Box::pin(hide_values_in_errors(run))
    }),
    Statement::new(112, "The debug form of a bucket has no value", |run| Box::pin(hide_values_in_debug_form(run))),
];

/// A value that may be a secret.
const SECRET: &str = "opgen-hidden-value";

/// Makes calls of `put` and `remove` fail with conflicts, with invalid keys, and with a value above the limit of the store if it has one.
/// Returns their errors.
async fn cause_errors(client: &Client) -> CheckResult<Vec<BucketError>> {
    let revision = client.create("present", SECRET).await?;
    let mut errors = Vec::new();
    let puts = [
        ("present", Expected::Absent),
        ("present", Expected::Revision(revision + 1)),
        ("absent", Expected::Revision(1)),
        ("no..key", Expected::Absent),
    ];
    for (key, expected) in puts {
        match client.try_put(key, SECRET, expected).await? {
            Ok(seen) => return failed(format!("put({key:?}, {expected:?}): expected an error, seen revision {seen}")),
            Err(error) => errors.push(error),
        }
    }
    for (key, revision) in [("present", revision + 1), ("absent", 1), ("no key", 1)] {
        match client.try_remove(key, revision).await? {
            Ok(seen) => return failed(format!("remove({key:?}, {revision}): expected an error, seen revision {seen}")),
            Err(error) => errors.push(error),
        }
    }
    if let Some(limit) = client.store.value_limit() {
        let value = SECRET.repeat(limit / SECRET.len() + 1);
        errors.extend(client.try_put("large", value, Expected::Absent).await?.err());
    }
    Ok(errors)
}

/// Checks statement 108: `Conflict` names the key of the call.
async fn name_key_of_conflict(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for key in ["a", "namespace.name.with.dots", "_claim.a.b"] {
        let revision = client.create(key, "value").await?;
        client.expect_put_conflict(key, Expected::Absent).await?;
        client.expect_put_conflict(key, Expected::Revision(revision + 1)).await?;
        client.expect_remove_conflict(key, revision + 1).await?;
    }
    client.expect_put_conflict("absent", Expected::Revision(1)).await?;
    client.expect_remove_conflict("absent", 1).await
}

/// Checks statement 109: `InvalidKey` names the key of the call.
async fn name_invalid_key(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for key in ["a..b", " ", "*.a"] {
        let result = client.try_put(key, "value", Expected::Absent).await?;
        expect_equal(&format!("put({key:?}, Absent)"), result, Err(BucketError::invalid_key(key)))?;
        let result = client.try_get(key).await?;
        expect_equal(&format!("get({key:?})"), result, Err(BucketError::invalid_key(key)))?;
    }
    Ok(())
}

/// Checks statement 110: The text of an error is one line.
async fn write_one_line(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for error in cause_errors(&client).await? {
        let text = error.to_string();
        expect(text.lines().count() == 1, || format!("expected a text of one line, seen {text:?}"))?;
    }
    Ok(())
}

/// Checks statement 111: No error has a value in its text or in its debug form.
async fn hide_values_in_errors(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    // The debug form of a byte vector is a list of numbers.
    let bytes = format!("{:?}", SECRET.as_bytes());
    for error in cause_errors(&client).await? {
        let (text, debug) = (error.to_string(), format!("{error:?}"));
        let has_value = [&text, &debug].iter().any(|text| text.contains(SECRET) || text.contains(bytes.as_str()));
        // The report does not show the text, which has the value in it.
        expect(!has_value, || "expected an error without the value, seen one with it".to_owned())?;
    }
    Ok(())
}

/// Checks statement 112: The debug form of a bucket has no value.
async fn hide_values_in_debug_form(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    client.create("a", SECRET).await?;
    client.get("a").await?;
    client.list().await?;
    let debug = format!("{:?}", client.bucket);
    // The debug form of a byte vector is a list of numbers.
    let bytes = SECRET.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>();
    let has_value = debug.contains(SECRET) || debug.contains(&bytes.join(", "));
    expect(!has_value, || "expected a debug form without values, seen one with a value".to_owned())
}
