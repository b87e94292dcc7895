//! Checks `get` and `list` of a bucket: they include all writes that ended before the call, and a list is complete and sorted by key.

use opgen::bucket::BucketEntry;

use super::{
    client::Client,
    deadline::{CheckResult, expect, expect_equal, failed},
    follower::keys,
    statement::{CheckRun, Statement},
    thread::on_threads,
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(56, "`get` of a key without an entry returns `None`", |run| Box::pin(get_absent_key(run))),
    Statement::new(57, "`get` includes all writes of each client that ended before", |run| {
        Box::pin(get_after_write(run))
    }),
    Statement::new(58, "`list` includes all writes of each client that ended before", |run| {
        Box::pin(list_after_write(run))
    }),
    Statement::new(59, "Reads do not go back while another client writes", |run| Box::pin(read_during_writes(run))),
    Statement::new(60, "The list of an empty bucket is empty", |run| Box::pin(list_empty_bucket(run))),
    Statement::new(61, "A list has the keys as they were written", |run| Box::pin(list_keys(run))),
    Statement::new(62, "A list has the last value of each key", |run| Box::pin(list_last_values(run))),
    Statement::new(63, "A list has no removed keys", |run| Box::pin(list_without_removed_keys(run))),
    Statement::new(64, "A list of 2,000 entries is complete", |run| Box::pin(list_many_entries(run))),
    Statement::new(65, "A list during writes misses no entry that exists all the time", |run| {
        Box::pin(list_during_writes(run))
    }),
];

/// Checks statement 56: `get` of a key without an entry returns `None`.
async fn get_absent_key(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    for key in ["a", "a.b", &"k".repeat(1024)] {
        expect_equal("get of an empty bucket", client.get(key).await?, None)?;
    }
    client.create("a.b", "value").await?;
    for key in ["a", "a.b.c", "b", "A.b", "a.bc"] {
        expect_equal(&format!("get({key:?}) of a bucket with a.b only"), client.get(key).await?, None)?;
    }
    Ok(())
}

/// Checks statement 57: `get` includes all writes of each client that ended before.
async fn get_after_write(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    expect_equal("get(\"a\")", other.get("a").await?, None)?;
    let mut revision = client.create("a", "0").await?;
    for round in 1..50 {
        let (writer, reader) = if round % 2 == 0 { (&client, &other) } else { (&other, &client) };
        revision = writer.replace("a", round.to_string(), revision).await?;
        let expected = Some(BucketEntry::new("a", round.to_string(), revision));
        expect_equal("get(\"a\") by another client", reader.get("a").await?, expected.clone())?;
        expect_equal("get(\"a\") by the writer", writer.get("a").await?, expected)?;
    }
    client.remove("a", revision).await?;
    expect_equal("get(\"a\") after a removal by another client", other.get("a").await?, None)
}

/// Checks statement 58: `list` includes all writes of each client that ended before.
async fn list_after_write(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut expected = Vec::new();
    for round in 0..30 {
        let (writer, reader) = if round % 2 == 0 { (&client, &other) } else { (&other, &client) };
        let key = format!("key-{round:02}");
        let revision = writer.create(&key, "value").await?;
        expected.push(BucketEntry::new(key, "value", revision));
        expect_equal("list() by another client", reader.list().await?, expected.clone())?;
    }
    while let Some(entry) = expected.pop() {
        client.remove(&entry.key, entry.revision).await?;
        expect_equal("list() after a removal by another client", other.list().await?, expected.clone())?;
    }
    Ok(())
}

/// Checks statement 59: Reads do not go back while another client writes.
async fn read_during_writes(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    client.create("a", "0").await?;
    // Thread 0 writes, and the two others read.
    let calls = on_threads(run.deadline, 3, |thread| {
        write_or_read(if thread == 0 { client.clone() } else { other.clone() }, thread)
    });
    calls.await?;
    let last = client.list().await?.into_iter().next();
    // Each read may reach another server of the store.
    for _ in 0..6 {
        expect_equal("get(\"a\") after the last write", other.get("a").await?, last.clone())?;
    }
    Ok(())
}

/// As thread 0, replaces the entry of the key `a` 100 times. As another thread, reads it 100 times, alternately by `get` and by `list`, and
/// expects that its revision does not decrease.
async fn write_or_read(client: Client, thread: usize) -> CheckResult {
    let mut last = client.get("a").await?.map(|entry| entry.revision).unwrap_or_default();
    for round in 0..100 {
        if thread == 0 {
            last = client.replace("a", round.to_string(), last).await?;
            continue;
        }
        let read = match round % 2 {
            0 => client.get("a").await?,
            _ => client.list().await?.into_iter().find(|entry| entry.key == "a"),
        };
        let Some(entry) = read else { return failed("expected an entry during writes, seen none") };
        expect(entry.revision >= last, || {
            format!("expected revision {last} or a later one, as before, seen {}", entry.revision)
        })?;
        last = entry.revision;
    }
    Ok(())
}

/// Checks statement 60: The list of an empty bucket is empty.
async fn list_empty_bucket(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    expect_equal("list() of a new bucket", client.list().await?, Vec::new())?;
    let revision = client.create("a", "value").await?;
    client.remove("a", revision).await?;
    expect_equal("list() after the removal of all entries", client.list().await?, Vec::new())
}

/// Checks statement 61: A list has the keys as they were written.
async fn list_keys(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let mut expected = vec!["b", "a.b", "Z", "a", "_claim.a", "a-", "10", "9", "a/b", "=", "a0", "aB", "ab", "-"];
    for key in &expected {
        client.create(key, *key).await?;
    }
    expected.sort_unstable();
    let listed = client.list().await?;
    let seen: Vec<&str> = listed.iter().map(|entry| entry.key.as_str()).collect();
    expect_equal("the keys of list()", seen, expected)
}

/// Checks statement 62: A list has the last value of each key.
async fn list_last_values(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let mut expected = Vec::new();
    for key in ["a", "b", "c"] {
        let mut revision = client.create(key, "first").await?;
        for round in 0..10 {
            revision = client.replace(key, format!("{key} {round}"), revision).await?;
        }
        expected.push(BucketEntry::new(key, format!("{key} 9"), revision));
    }
    expect_equal("list()", client.list().await?, expected)
}

/// Checks statement 63: A list has no removed keys.
async fn list_without_removed_keys(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let mut expected = Vec::new();
    for (number, entry) in client.fill("key-", 20).await?.into_iter().enumerate() {
        if number % 3 == 0 {
            client.remove(&entry.key, entry.revision).await?;
        } else {
            expected.push(entry);
        }
    }
    expect_equal("list()", client.list().await?, expected.clone())?;
    expect_equal("list() of another client", other.list().await?, expected)
}

/// Checks statement 64: A list of 2,000 entries is complete.
async fn list_many_entries(run: &CheckRun) -> CheckResult {
    let client = run.client().await?;
    let expected = client.fill("key-", 2_000).await?;
    let listed = client.list().await?;
    expect(listed == expected, || format!("expected {}, seen {}", keys(&expected), keys(&listed)))
}

/// Checks statement 65: A list during writes misses no entry that exists all the time.
async fn list_during_writes(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let kept = client.fill("kept-", 100).await?;
    // Thread 0 writes other keys, and the two others list.
    let calls = on_threads(run.deadline, 3, |thread| {
        let client = if thread == 0 { client.clone() } else { other.clone() };
        churn_or_list(client, thread, kept.clone())
    });
    calls.await.map(drop)
}

/// As thread 0, creates and removes keys that sort before and after those of `kept`. As another thread, lists the bucket 30 times, and
/// expects all entries of `kept` in each list.
async fn churn_or_list(client: Client, thread: usize, kept: Vec<BucketEntry>) -> CheckResult {
    for round in 0..30 {
        if thread == 0 {
            let key = if round % 2 == 0 { format!("a-{round}") } else { format!("z-{round}") };
            let revision = client.create(&key, "value").await?;
            client.remove(&key, revision).await?;
            continue;
        }
        let listed = client.list().await?;
        let seen: Vec<&BucketEntry> = listed.iter().filter(|entry| entry.key.starts_with("kept-")).collect();
        let is_complete = seen.iter().copied().eq(kept.iter());
        expect(is_complete, || format!("expected {} in a list, seen {}", keys(&kept), keys(&listed)))?;
    }
    Ok(())
}
