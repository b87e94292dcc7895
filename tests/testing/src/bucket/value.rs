//! Checks that a bucket keeps all bytes of a value, and refuses a value above the size limit of the bucket.

use opgen::bucket::{BucketEntry, BucketError, Expected};

use super::{
    client::Client,
    deadline::{CheckResult, Obstacle, expect, expect_equal},
    statement::{CheckRun, Statement},
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(12, "An empty value is an entry", |run| Box::pin(keep_empty_value(run))),
    Statement::new(13, "A value keeps all its bytes, also those that are no text", |run| Box::pin(keep_all_bytes(run))),
    Statement::new(14, "A value of Unicode text or JSON keeps its form", |run| Box::pin(keep_text(run))),
    Statement::new(15, "A value may have 512 KiB", |run| Box::pin(keep_large_value(run))),
    Statement::new(16, "A new value replaces the whole value before it", |run| Box::pin(replace_whole_value(run))),
    Statement::new(17, "The same value again is a new revision", |run| Box::pin(write_same_value_again(run))),
    Statement::new(18, "A value above the limit of the store is refused with `TooLarge` and has no effect", |run| {
        Box::pin(refuse_too_large_value(run))
    }),
];

/// Creates a key with a value, and expects all bytes of the value in `get`, in `list`, in a change of a watch and in the list of a new
/// watch of another client.
async fn expect_kept(client: &Client, key: &str, value: &[u8]) -> CheckResult {
    let reader = client.another().await?;
    let mut watch = reader.follow();
    watch.list().await?;
    let revision = client.create(key, value).await?;
    reader.expect_entry(key, value, revision).await?;
    watch.until_revision(key, Some(revision)).await?;
    let expected = Some(BucketEntry::new(key, value, revision));
    expect_equal("a change of a watch", watch.entries().into_iter().find(|entry| entry.key == key), expected.clone())?;
    let listed = reader.follow().list().await?;
    expect_equal("an entry in the list of a watch", listed.into_iter().find(|entry| entry.key == key), expected)
}

/// Checks statement 12: An empty value is an entry.
async fn keep_empty_value(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    expect_kept(&client, "a", b"").await?;
    client.expect_put_conflict("a", Expected::Absent).await
}

/// Checks statement 13: A value keeps all its bytes, also those that are no text.
async fn keep_all_bytes(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let all: Vec<u8> = (0..=u8::MAX).chain((0..=u8::MAX).rev()).collect();
    expect_kept(&client, "all", &all).await?;
    let values: [(&str, &[u8]); 4] =
        [("zero", b"\0"), ("letter", b"x"), ("lines", b"\r\n\na\n"), ("zeros", &[0; 1000])];
    for (key, value) in values {
        expect_kept(&client, key, value).await?;
    }
    Ok(())
}

/// Checks statement 14: A value of Unicode text or JSON keeps its form.
async fn keep_text(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    expect_kept(&client, "text", "Grüße, 日本 🦀 \u{0}\u{feff}e\u{301}".as_bytes()).await?;
    // A store that parses and serializes JSON would change the spaces, the duplicate key and the escape.
    let json = "{\"b\": 1.0, \"a\" : [ ], \"b\": \"\\u00e4\"}\n";
    expect_kept(&client, "json", json.as_bytes()).await
}

/// Checks statement 15: A value may have 512 KiB.
async fn keep_large_value(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    // The highest bytes of a multiplicative hash: bytes without a simple pattern, the same in each run.
    let value: Vec<u8> = (0..512 * 1024_u32).map(|index| index.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    expect_kept(&client, "large", &value).await
}

/// Checks statement 16: A new value replaces the whole value before it.
async fn replace_whole_value(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let mut revision = client.create("a", "a long value").await?;
    for value in ["short", "", "a value that is longer than the first one", "\0", "end"] {
        revision = client.replace("a", value, revision).await?;
        client.expect_entry("a", value, revision).await?;
    }
    Ok(())
}

/// Checks statement 17: The same value again is a new revision.
async fn write_same_value_again(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let first = client.create("a", "value").await?;
    let mut watch = client.follow();
    watch.list().await?;
    let second = client.replace("a", "value", first).await?;
    expect(second > first, || format!("expected a revision after {first}, seen {second}"))?;
    client.expect_entry("a", "value", second).await?;
    watch.until_revision("a", Some(second)).await
}

/// Checks statement 18: A value above the limit of the store is refused with `TooLarge` and has no effect.
async fn refuse_too_large_value(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let Some(limit) = client.store.value_limit() else {
        return Err(Obstacle::Unsupported("the subject has no `value_limit`".to_owned()));
    };
    let revision = client.create("a", vec![b'x'; limit]).await?;
    for (key, expected) in [("a", Expected::Revision(revision)), ("b", Expected::Absent)] {
        let result = client.try_put(key, vec![b'y'; limit + 1], expected).await?;
        let too_large = Err(BucketError::too_large(key, limit + 1, limit));
        expect_equal(&format!("put of {} bytes to {key:?}", limit + 1), result, too_large)?;
    }
    client.expect_entry("a", vec![b'x'; limit], revision).await?;
    client.expect_absent("b").await
}
