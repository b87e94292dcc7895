//! Checks that a bucket accepts only keys with allowed characters and lengths, and that different keys have different entries.

use opgen::bucket::{BucketError, Expected};

use super::{
    client::Client,
    deadline::{CheckResult, expect, expect_equal},
    statement::{CheckRun, Statement},
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(1, "A key may have each of the characters `-/_=.a-zA-Z0-9`", |run| {
        Box::pin(accept_allowed_characters(run))
    }),
    Statement::new(2, "A key may have 1 to 1,024 characters", |run| Box::pin(accept_allowed_lengths(run))),
    Statement::new(3, "A key may begin with any allowed character but a dot", |run| {
        Box::pin(accept_allowed_beginnings(run))
    }),
    Statement::new(4, "An empty key is refused with `InvalidKey`", |run| Box::pin(refuse_empty_key(run))),
    Statement::new(
        5,
        "A key with a dot at its start, at its end or beside another dot is refused with `InvalidKey`",
        |run| Box::pin(refuse_misplaced_dots(run)),
    ),
    Statement::new(6, "A key with any other character is refused with `InvalidKey`", |run| {
        Box::pin(refuse_other_characters(run))
    }),
    Statement::new(7, "A key of more than 1,024 characters is refused with `InvalidKey`", |run| {
        Box::pin(refuse_too_long_key(run))
    }),
    Statement::new(8, "A call with an invalid key has no effect", |run| Box::pin(refuse_without_effect(run))),
    Statement::new(9, "Keys that differ in the case of letters only are different keys", |run| {
        Box::pin(distinguish_case(run))
    }),
    Statement::new(10, "A key that is the beginning of another key is a different key", |run| {
        Box::pin(distinguish_prefixes(run))
    }),
    Statement::new(11, "A key with slashes and dots is no path: it is a different key than its parts", |run| {
        Box::pin(distinguish_parent_paths(run))
    }),
];

/// Creates an entry for each key, and expects that each has its own value and revision. Removes the keys one after the other, and expects
/// after each removal that the entries of the other keys have not changed.
async fn expect_different(client: &Client, keys: &[&str]) -> CheckResult {
    let mut written = Vec::new();
    for key in keys {
        let value = format!("of {key}");
        written.push((*key, value.clone(), client.create(key, value).await?));
    }
    for (key, value, revision) in &written {
        client.expect_entry(key, value.as_str(), *revision).await?;
    }
    expect_equal("the number of entries", client.list().await?.len(), keys.len())?;
    let mut remaining = written.as_slice();
    while let [(key, _, revision), others @ ..] = remaining {
        client.remove(key, *revision).await?;
        client.expect_absent(key).await?;
        for (key, value, revision) in others {
            client.expect_entry(key, value.as_str(), *revision).await?;
        }
        remaining = others;
    }
    Ok(())
}

/// Expects that `get`, `put` and `remove` refuse the key with `InvalidKey`.
async fn expect_invalid(client: &Client, key: &str) -> CheckResult {
    let invalid_key = || BucketError::invalid_key(key);
    expect_equal(&format!("get({key:?})"), client.try_get(key).await?, Err(invalid_key()))?;
    let put = client.try_put(key, "value", Expected::Absent).await?;
    expect_equal(&format!("put({key:?}, Absent)"), put, Err(invalid_key()))?;
    let put = client.try_put(key, "value", Expected::Revision(1)).await?;
    expect_equal(&format!("put({key:?}, Revision(1))"), put, Err(invalid_key()))?;
    expect_equal(&format!("remove({key:?}, 1)"), client.try_remove(key, 1).await?, Err(invalid_key()))
}

/// Checks statement 1: A key may have each of the characters `-/_=.a-zA-Z0-9`.
async fn accept_allowed_characters(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let letters: String = ('a'..='z').chain('A'..='Z').collect();
    expect_different(&client, &[&letters, "0123456789", "a-b", "a/b", "a_b", "a=b", "a.b", "a-/_=b.C=-"]).await
}

/// Checks statement 2: A key may have 1 to 1,024 characters.
async fn accept_allowed_lengths(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    // The limits of Kubernetes names, the greatest number of one byte, and the limit of keys.
    let long = [63, 64, 253, 255, 256, 1024].map(|length| "k".repeat(length));
    let dots = format!("{}z", "a.".repeat(511));
    let mut keys: Vec<&str> = long.iter().map(String::as_str).collect();
    keys.extend(["a", "Z", "0", &dots]);
    expect_different(&client, &keys).await
}

/// Checks statement 3: A key may begin with any allowed character but a dot.
async fn accept_allowed_beginnings(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    expect_different(&client, &["_claim.a.b", "-a", "--help", "=a", "/a", "//", "0", "-", "_", "=", "a/", "a=="]).await
}

/// Checks statement 4: An empty key is refused with `InvalidKey`.
async fn refuse_empty_key(run: &CheckRun) -> CheckResult {
    expect_invalid(&run.client().await?, "").await
}

/// Checks statement 5: A key with a dot at its start, at its end or beside another dot is refused with `InvalidKey`.
async fn refuse_misplaced_dots(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for key in [".", "..", ".a", "a.", "a..b", "a.b.", "/../", "a...b"] {
        expect_invalid(&client, key).await?;
    }
    Ok(())
}

/// Checks statement 6: A key with any other character is refused with `InvalidKey`.
async fn refuse_other_characters(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for character in (' '..='~').filter(|c| !c.is_ascii_alphanumeric() && !"-/_=.".contains(*c)) {
        expect_invalid(&client, &format!("a{character}b")).await?;
    }
    for key in ["*", ">", "a.*", "a.>", "a\nb", "a\0", "\ta", "a\u{7f}", "ä", "日本", "a ", " a"] {
        expect_invalid(&client, key).await?;
    }
    Ok(())
}

/// Checks statement 7: A key of more than 1,024 characters is refused with `InvalidKey`.
async fn refuse_too_long_key(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for length in [1025, 5000] {
        expect_invalid(&client, &"k".repeat(length)).await?;
    }
    Ok(())
}

/// Checks statement 8: A call with an invalid key has no effect.
async fn refuse_without_effect(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let revision = client.create("a.b", "value").await?;
    let mut watch = client.follow();
    watch.list().await?;
    let calls = [("a..b", Expected::Absent), ("a.b ", Expected::Revision(revision)), (".a.b", Expected::Absent)];
    for (key, expected) in calls {
        let put = client.try_put(key, "other", expected).await?;
        expect(put.is_err(), || format!("put({key:?}, {expected:?}): expected an error, seen {put:?}"))?;
        let removal = client.try_remove(key, revision).await?;
        expect(removal.is_err(), || format!("remove({key:?}, {revision}): expected an error, seen {removal:?}"))?;
    }
    client.expect_entry("a.b", "value", revision).await?;
    expect_equal("the number of entries", client.list().await?.len(), 1)?;
    let next = client.create("next", "value").await?;
    watch.until_revision("next", Some(next)).await?;
    expect_equal("the entries of the watch", watch.entries().len(), 2)
}

/// Checks statement 9: Keys that differ in the case of letters only are different keys.
async fn distinguish_case(run: &CheckRun) -> CheckResult {
    expect_different(&run.client().await?, &["key", "Key", "KEY", "kEY"]).await
}

/// Checks statement 10: A key that is the beginning of another key is a different key.
async fn distinguish_prefixes(run: &CheckRun) -> CheckResult {
    expect_different(&run.client().await?, &["a", "a.b", "a.b.c", "ab", "abc", "a.bc", "a-", "a.b-c"]).await
}

/// Checks statement 11: A key with slashes and dots is no path: it is a different key than its parts.
async fn distinguish_parent_paths(run: &CheckRun) -> CheckResult {
    expect_different(&run.client().await?, &["a/b", "a", "a/b/c", "b", "a.b", "a/b.c", "a//b", "/a/b", "a/"]).await
}
