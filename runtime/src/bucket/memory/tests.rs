//! Tests of the bucket in memory.

use super::*;

type Watch = BoxStream<'static, Result<BucketEvent, BucketError>>;

/// Returns the next events of a watch that are there without waiting.
fn ready_events(watch: &mut Watch) -> Vec<Result<BucketEvent, BucketError>> {
    std::iter::from_fn(|| watch.next().now_or_never().flatten()).collect()
}

fn put(key: &str, value: &str, revision: u64) -> Result<BucketEvent, BucketError> {
    Ok(BucketEvent::Put(BucketEntry::new(key, value, revision)))
}

fn removed(key: &str, revision: u64) -> Result<BucketEvent, BucketError> {
    Ok(BucketEvent::Removed { key: key.to_owned(), revision })
}

#[tokio::test]
async fn a_write_happens_in_the_expected_state_only() {
    let bucket = MemoryBucket::new("apps");
    assert_eq!(bucket.put("a", b"1".to_vec(), Expected::Revision(1)).await, Err(BucketError::conflict("a")));
    assert_eq!(bucket.put("a", b"1".to_vec(), Expected::Absent).await, Ok(1));
    assert_eq!(bucket.put("a", b"2".to_vec(), Expected::Absent).await, Err(BucketError::conflict("a")));
    assert_eq!(bucket.put("b", b"1".to_vec(), Expected::Absent).await, Ok(2));
    assert_eq!(bucket.put("a", b"2".to_vec(), Expected::Revision(1)).await, Ok(3));
    assert_eq!(bucket.remove("a", 1).await, Err(BucketError::conflict("a")));
    assert_eq!(bucket.remove("a", 3).await, Ok(4));
    assert_eq!(bucket.get("a").await, Ok(None));
    // The revision of a deletion is none of an entry.
    assert_eq!(bucket.put("a", b"3".to_vec(), Expected::Revision(4)).await, Err(BucketError::conflict("a")));
    assert_eq!(bucket.put("a", b"3".to_vec(), Expected::Absent).await, Ok(5));
    let expected = [BucketEntry::new("a", "3", 5), BucketEntry::new("b", "1", 2)];
    assert_eq!(bucket.list().await, Ok(expected.into_iter().collect()));
}

#[tokio::test]
async fn invalid_keys_and_large_values_are_refused() {
    let bucket = MemoryBucket::with_limit("apps", 2);
    assert_eq!(bucket.get("a b").await, Err(BucketError::invalid_key("a b")));
    assert_eq!(bucket.put("a..b", vec![], Expected::Absent).await, Err(BucketError::invalid_key("a..b")));
    assert_eq!(bucket.put("a", vec![0; 3], Expected::Absent).await, Err(BucketError::too_large("a", 3, 2)));
}

#[tokio::test]
async fn a_watch_lists_and_follows() {
    let bucket = MemoryBucket::new("apps");
    bucket.put_raw("b", "1");
    bucket.put_raw("a", "1");
    bucket.delete_raw("b");
    let mut watch = bucket.watch();
    let listed = [Ok(BucketEvent::ListStarted), put("a", "1", 2), Ok(BucketEvent::ListEnded)];
    assert_eq!(ready_events(&mut watch), listed);
    bucket.put_raw("a", "2");
    bucket.put_raw("c", "1");
    bucket.put_raw("a", "3");
    bucket.purge_raw("c");
    // The last value of a key is enough.
    assert_eq!(ready_events(&mut watch), [put("a", "3", 6), removed("c", 7)]);
    assert!(ready_events(&mut watch).is_empty());
}

#[tokio::test]
async fn a_watch_lists_again_after_an_interruption_and_after_lost_deletions() {
    let bucket = MemoryBucket::new("apps");
    bucket.put_raw("a", "1");
    let mut watch = bucket.watch();
    ready_events(&mut watch);
    bucket.interrupt();
    let events = ready_events(&mut watch);
    assert!(matches!(&events[0], Err(BucketError::Unavailable { .. })), "{events:?}");
    assert_eq!(events[1..], [Ok(BucketEvent::ListStarted), put("a", "1", 1), Ok(BucketEvent::ListEnded)]);
    bucket.delete_raw("a");
    bucket.compact();
    assert_eq!(ready_events(&mut watch), [Ok(BucketEvent::ListStarted), Ok(BucketEvent::ListEnded)]);
    // A deletion that is delivered can be forgotten.
    bucket.put_raw("a", "2");
    bucket.delete_raw("a");
    assert_eq!(ready_events(&mut watch), [removed("a", 4)]);
    bucket.compact();
    assert!(ready_events(&mut watch).is_empty());
}
