//! Checks conditional writes by many clients at once.

use opgen::bucket::{BucketError, Expected};

use super::{
    client::Client,
    deadline::{CheckResult, expect, expect_equal, failed},
    statement::{CheckRun, Statement},
    thread::on_threads,
};

pub(super) const STATEMENTS: &[Statement] = &[
    Statement::new(43, "Of many concurrent creations of a key, one succeeds and all others are conflicts", |run| {
        Box::pin(create_concurrently(run))
    }),
    Statement::new(
        44,
        "Of many concurrent writes with one revision, one succeeds and all others are conflicts",
        |run| Box::pin(replace_concurrently(run)),
    ),
    Statement::new(45, "Of a concurrent write and removal with one revision, one succeeds", |run| {
        Box::pin(write_and_remove_concurrently(run))
    }),
    Statement::new(46, "A hundred concurrent increments of a number, each repeated after conflicts, add up", |run| {
        Box::pin(increment_concurrently(run))
    }),
    Statement::new(47, "Concurrent writes of different keys all succeed", |run| Box::pin(write_different_keys(run))),
];

/// The number of threads that write at once.
const WRITERS: usize = 16;
/// The number of keys for which a race between threads is repeated.
const ROUNDS: usize = 8;

type PutResult = Result<u64, BucketError>;

/// Checks statement 43: Of many concurrent creations of a key, one succeeds and all others are conflicts.
async fn create_concurrently(run: &CheckRun) -> CheckResult {
    let clients: [Client; 2] = run.two_clients().await?.into();
    for round in 0..ROUNDS {
        expect_one_winner(run, &clients, &format!("key-{round}"), Expected::Absent).await?;
    }
    Ok(())
}

/// Checks statement 44: Of many concurrent writes with one revision, one succeeds and all others are conflicts.
async fn replace_concurrently(run: &CheckRun) -> CheckResult {
    let clients: [Client; 2] = run.two_clients().await?.into();
    for round in 0..ROUNDS {
        let key = format!("key-{round}");
        let revision = clients[0].create(&key, "first").await?;
        expect_one_winner(run, &clients, &key, Expected::Revision(revision)).await?;
    }
    Ok(())
}

/// Writes a key with the same condition on 16 threads at once. Expects that one write succeeds, that all others are conflicts, and that the
/// entry has the value and the revision of the write that succeeded.
async fn expect_one_winner(run: &CheckRun, clients: &[Client; 2], key: &str, expected: Expected) -> CheckResult {
    let results = on_threads(run.deadline, WRITERS, |writer| {
        write_as(clients[writer % 2].clone(), key.to_owned(), writer, expected)
    });
    let results = results.await?;
    let mut winner = None;
    for (writer, result) in results.iter().enumerate() {
        match result {
            Ok(revision) => {
                expect(winner.is_none(), || {
                    format!("{WRITERS} concurrent put({key:?}, {expected:?}): expected one success, seen {results:?}")
                })?;
                winner = Some((writer, *revision));
            }
            Err(error) => {
                expect_equal("a concurrent write", error.clone(), BucketError::conflict(key))?;
            }
        }
    }
    let Some((writer, revision)) = winner else {
        return failed(format!("{WRITERS} concurrent put({key:?}, {expected:?}): expected one success, seen none"));
    };
    clients[0].expect_entry(key, format!("of writer {writer}"), revision).await
}

/// Writes a key with a value that names the writer.
async fn write_as(client: Client, key: String, writer: usize, expected: Expected) -> CheckResult<PutResult> {
    client.try_put(&key, format!("of writer {writer}"), expected).await
}

/// Checks statement 45: Of a concurrent write and removal with one revision, one succeeds.
async fn write_and_remove_concurrently(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    for round in 0..ROUNDS * 2 {
        let key = format!("key-{round}");
        let revision = client.create(&key, "first").await?;
        // Thread 0 writes, and thread 1 removes.
        let results = on_threads(run.deadline, 2, |thread| {
            let caller = if thread == 0 { client.clone() } else { other.clone() };
            write_or_remove(caller, key.clone(), revision, thread == 0)
        });
        let results = results.await?;
        match results.as_slice() {
            [Ok(written), Err(_)] => client.expect_entry(&key, "second", *written).await?,
            [Err(_), Ok(_)] => client.expect_absent(&key).await?,
            _ => {
                return failed(format!(
                    "a put and a removal of key {key:?} with revision {revision}: expected one success, seen {results:?}"
                ));
            }
        }
    }
    Ok(())
}

/// Replaces the entry of a key if `writes` is true, and removes it otherwise. The call succeeds if the entry still has this revision.
async fn write_or_remove(client: Client, key: String, revision: u64, writes: bool) -> CheckResult<PutResult> {
    if writes {
        client.try_put(&key, "second", Expected::Revision(revision)).await
    } else {
        client.try_remove(&key, revision).await
    }
}

/// Checks statement 46: A hundred concurrent increments of a number, each repeated after conflicts, add up.
async fn increment_concurrently(run: &CheckRun) -> CheckResult {
    const THREADS: usize = 4;
    const INCREMENTS: u64 = 25;
    let (client, other) = run.two_clients().await?;
    client.create("counter", "0").await?;
    let increments = on_threads(run.deadline, THREADS, |thread| {
        increment(if thread % 2 == 0 { client.clone() } else { other.clone() }, INCREMENTS)
    });
    increments.await?;
    let (sum, _) = number(&client).await?;
    // `THREADS` times `INCREMENTS`.
    expect_equal("the sum of the increments", sum, 100)
}

/// Increments the number in the entry `counter`, `times` times, by reading it and writing it with its revision. After a conflict with
/// another thread, the increment is tried again.
async fn increment(client: Client, times: u64) -> CheckResult {
    let mut left = times;
    while left > 0 {
        expect(!client.deadline.is_over(), || {
            format!("expected {times} increments; {left} were left at the deadline")
        })?;
        let (number, revision) = number(&client).await?;
        let next = (number + 1).to_string();
        match client.try_put("counter", next, Expected::Revision(revision)).await? {
            Ok(_) => left -= 1,
            Err(BucketError::Conflict { .. }) => {}
            Err(error) => return failed(format!("expected success or a conflict, seen the error {error:?}")),
        }
    }
    Ok(())
}

/// Returns the number in the entry `counter`, and the revision of the entry.
async fn number(client: &Client) -> CheckResult<(u64, u64)> {
    let Some(entry) = client.get("counter").await? else {
        return failed("expected the entry of the counter, seen none");
    };
    let number = std::str::from_utf8(&entry.value).ok().and_then(|text| text.parse().ok());
    match number {
        Some(number) => Ok((number, entry.revision)),
        None => failed(format!("expected a number, seen {:?}", entry.value)),
    }
}

/// Checks statement 47: Concurrent writes of different keys all succeed.
async fn write_different_keys(run: &CheckRun) -> CheckResult {
    let (client, other) = run.two_clients().await?;
    let results = on_threads(run.deadline, WRITERS, |writer| {
        let client = if writer % 2 == 0 { &client } else { &other };
        write_as(client.clone(), format!("key-{writer:02}"), writer, Expected::Absent)
    });
    let results = results.await?;
    for (writer, result) in results.into_iter().enumerate() {
        match result {
            Ok(revision) => {
                client.expect_entry(&format!("key-{writer:02}"), format!("of writer {writer}"), revision).await?;
            }
            Err(error) => return failed(format!("expected that each creation succeeds, seen the error {error:?}")),
        }
    }
    expect_equal("the number of entries", client.list().await?.len(), WRITERS)
}
