//! Recognizes the messages that stand for deleted keys, by their headers.

use async_nats::HeaderMap;

/// The header of a message that a client writes in place of a value.
pub(super) const OPERATION: &str = "KV-Operation";

/// The header of a message that the server writes in place of a value that it removed.
const REASON: &str = "Nats-Marker-Reason";

/// The operation that removes a key with its history.
pub(super) const PURGE: &str = "PURGE";

/// Returns whether a message with these headers is a tombstone, which marks its key as deleted.
pub(super) fn is_tombstone(headers: Option<&HeaderMap>) -> bool {
    let Some(headers) = headers else { return false };
    is_deletion(headers.get(OPERATION).map(|value| value.as_str()), headers.get(REASON).is_some())
}

/// Returns whether the headers are those of a tombstone, like [`is_tombstone`], for headers as the server stores them: a first line with
/// the protocol, and then a line `name: value` for each header.
pub(super) fn is_stored_tombstone(headers: &[u8]) -> bool {
    let text = String::from_utf8_lossy(headers);
    let value = |name: &str| {
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(field_name, _)| field_name.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    is_deletion(value(OPERATION).as_deref(), value(REASON).is_some())
}

/// Returns whether the headers are those of a tombstone: the `operation` of a client is a deletion, or there is none and the server has
/// written the message in place of a value that it has removed.
fn is_deletion(operation: Option<&str>, removed_by_server: bool) -> bool {
    match operation {
        Some(operation) => matches!(operation, "DEL" | PURGE),
        None => removed_by_server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deletions_by_clients_and_by_the_server_are_tombstones() {
        let header = |name: &str, value: &str| HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
        for (name, value, tombstone) in [
            ("KV-Operation", "DEL", true),
            ("KV-Operation", "PURGE", true),
            ("KV-Operation", "PUT", false),
            ("Nats-Marker-Reason", "MaxAge", true),
            ("Nats-Marker-Reason", "Remove", true),
            ("Nats-Rollup", "sub", false),
        ] {
            assert_eq!(is_tombstone(Some(&header(name, value))), tombstone, "{name}: {value}");
            let stored = format!("NATS/1.0\r\nOther: 1\r\n{name}: {value}\r\n\r\n");
            assert_eq!(is_stored_tombstone(stored.as_bytes()), tombstone, "{stored}");
        }
        assert!(!is_tombstone(None));
        assert!(!is_stored_tombstone(b""));
    }
}
