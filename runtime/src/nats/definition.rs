//! Builds the settings of the stream of a bucket, and compares them with the settings of an existing stream.

use super::jetstream::{StreamConfig, stream_name};
use crate::bucket::BucketDefinition;
use std::time::Duration;

/// The longest time in which the server recognizes a message that is sent twice.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// The shortest TTL that the server takes for markers of expired keys.
const MIN_MARKER_TTL: Duration = Duration::from_secs(1);

/// Returns the settings of the stream for a bucket, which are those that the NATS clients use for key-value buckets.
pub(super) fn stream_of(definition: &BucketDefinition) -> StreamConfig {
    let max_age = definition.max_age.map(nanoseconds).unwrap_or_default();
    let marker_ttl = definition.max_age.map(|age| nanoseconds(age.max(MIN_MARKER_TTL))).unwrap_or_default();
    let window = nanoseconds(DUPLICATE_WINDOW);
    StreamConfig {
        name: stream_name(&definition.name),
        description: String::new(),
        subjects: vec![subjects(&definition.name)],
        retention: "limits".into(),
        storage: definition.storage.as_str().into(),
        discard: "new".into(),
        num_replicas: definition.replicas.into(),
        max_consumers: -1,
        max_msgs: -1,
        max_msgs_per_subject: definition.history.clamp(1, 64).into(),
        max_bytes: -1,
        max_msg_size: -1,
        max_age,
        duplicate_window: if max_age == 0 { window } else { window.min(max_age) },
        allow_rollup_hdrs: true,
        deny_delete: true,
        allow_direct: true,
        allow_msg_ttl: true,
        subject_delete_marker_ttl: marker_ttl,
        mirror: None,
        sealed: false,
    }
}

/// Returns a text for each setting of an existing stream that differs from the definition of its bucket, such as `history is 3 in place of
/// 5`.
pub(super) fn differences(definition: &BucketDefinition, existing: &StreamConfig) -> Vec<String> {
    let wanted = stream_of(definition);
    let mut differences = Vec::new();
    let mut compare = |setting: &str, wanted: String, existing: String| {
        if wanted != existing {
            differences.push(format!("{setting} is {existing} in place of {wanted}"));
        }
    };
    let text = |number: i64| number.to_string();
    compare("history", text(wanted.max_msgs_per_subject), text(existing.max_msgs_per_subject));
    compare("the number of replicas", wanted.num_replicas.to_string(), existing.num_replicas.to_string());
    let age = |nanoseconds: u64| format!("{:?}", Duration::from_nanos(nanoseconds));
    compare("the maximum age", age(wanted.max_age), age(existing.max_age));
    compare("the storage", wanted.storage, existing.storage.clone());
    differences
}

/// Returns the reason why an existing stream with these settings can't be used as a bucket; `None` if it can.
pub(super) fn obstacle(bucket: &str, existing: &StreamConfig) -> Option<String> {
    let subjects = subjects(bucket);
    if existing.mirror.is_some() {
        Some("it is a mirror of another bucket, which can't be written; name the other bucket".into())
    } else if existing.sealed {
        Some("it is sealed, so it can't be written".into())
    } else if !existing.allow_rollup_hdrs {
        Some("its stream doesn't allow rollup headers, so no key can be purged; set allow_rollup_hdrs".into())
    } else if !existing.subjects.contains(&subjects) {
        Some(format!("its stream has the subjects {:?}; a bucket has {subjects:?}", existing.subjects))
    } else if existing.max_age > 0 && !(existing.allow_msg_ttl && existing.subject_delete_marker_ttl > 0) {
        // Without markers, the server ignores the TTLs of messages when it starts.
        Some(format!(
            "it has a maximum age, but its stream has no TTLs of messages and markers of expired keys, so the claims of its objects would \
             end before their teardown; run `nats stream edit {} --subject-del-markers-ttl 1h`, which sets both, or create the bucket \
             again; this needs nats-server 2.11 or newer",
            stream_name(bucket)
        ))
    } else {
        None
    }
}

fn subjects(bucket: &str) -> String {
    format!("$KV.{bucket}.>")
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket::BucketStorage;

    type BreakStream = fn(&mut StreamConfig);

    #[test]
    fn a_stream_has_the_settings_of_a_bucket() {
        let stream = stream_of(&BucketDefinition::new("machines").history(5).replicas(3));
        assert_eq!(
            (stream.name.as_str(), stream.subjects.as_slice()),
            ("KV_machines", ["$KV.machines.>".to_owned()].as_slice())
        );
        assert_eq!((stream.max_msgs_per_subject, stream.num_replicas, stream.max_age), (5, 3, 0));
        let json = serde_json::to_value(&stream).unwrap();
        assert_eq!((&json["storage"], &json["allow_rollup_hdrs"]), (&"file".into(), &true.into()));
        assert_eq!(json["allow_msg_ttl"], true, "markers of removed keys end");
        assert!(json.get("subject_delete_marker_ttl").is_none() && json.get("mirror").is_none(), "{json}");
        let stream = stream_of(&BucketDefinition::new("machines").max_age(Duration::from_secs(60)));
        assert_eq!((stream.max_age, stream.duplicate_window), (60_000_000_000, 60_000_000_000));
        assert!(stream.allow_msg_ttl && stream.subject_delete_marker_ttl == stream.max_age);
        let stream = stream_of(&BucketDefinition::new("machines").max_age(Duration::from_millis(500)));
        assert_eq!((stream.max_age, stream.subject_delete_marker_ttl), (500_000_000, 1_000_000_000));
    }

    #[test]
    fn settings_that_differ_are_named() {
        let definition = BucketDefinition::new("a").history(5);
        assert!(differences(&definition, &stream_of(&definition)).is_empty());
        let existing = stream_of(&BucketDefinition::new("a").history(3).storage(BucketStorage::Memory));
        assert_eq!(
            differences(&definition, &existing),
            ["history is 3 in place of 5", "the storage is memory in place of file"]
        );
    }

    #[test]
    fn a_stream_that_can_not_be_used_as_a_bucket_has_a_reason() {
        let definition = BucketDefinition::new("a");
        assert_eq!(obstacle("a", &stream_of(&definition)), None);
        assert_eq!(obstacle("a", &stream_of(&definition.clone().max_age(Duration::from_secs(1)))), None);
        let broken: [(&str, BreakStream); 6] = [
            ("is a mirror", |stream| stream.mirror = Some(serde_json::json!({"name": "KV_b"}))),
            ("is sealed", |stream| stream.sealed = true),
            ("allow_rollup_hdrs", |stream| stream.allow_rollup_hdrs = false),
            ("has the subjects", |stream| stream.subjects = vec!["other".into()]),
            ("nats stream edit KV_a --subject-del-markers-ttl", |stream| {
                (stream.max_age, stream.subject_delete_marker_ttl) = (1, 1);
                stream.allow_msg_ttl = false;
            }),
            ("nats stream edit KV_a --subject-del-markers-ttl", |stream| stream.max_age = 1),
        ];
        for (part, break_it) in broken {
            let mut stream = stream_of(&definition);
            break_it(&mut stream);
            let obstacle = obstacle("a", &stream).unwrap();
            assert!(obstacle.contains(part), "{obstacle}");
        }
    }
}
