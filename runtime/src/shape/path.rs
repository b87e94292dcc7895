//! Defines `Path`: the path of a node in its tree, such as `pools[blue]/service`. Also reads the key in brackets from the text of a path.

use std::fmt;

/// The path of a node in its tree, displayed as `workload/service`. Below `each` it includes the key of the item:
/// `pools[blue]/service`.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    up: Option<&'a Path<'a>>,
    name: &'a str,
    key: Option<&'a str>,
}

impl<'a> Path<'a> {
    pub(crate) const ROOT: Path<'static> = Path { up: None, name: "", key: None };

    pub(crate) fn child(&'a self, name: &'a str) -> Path<'a> {
        Path { up: Some(self), name, key: None }
    }

    /// Returns the path of one item of an `each` node.
    pub(crate) fn keyed(self, key: &'a str) -> Path<'a> {
        Path { key: Some(key), ..self }
    }

    /// Returns the key of the innermost item that the path is in; `None` outside of items.
    pub fn key(&self) -> Option<&'a str> {
        self.key.or_else(|| self.up.and_then(Path::key))
    }

    pub(crate) fn is_root(&self) -> bool {
        self.up.is_none()
    }
}

impl fmt::Display for Path<'_> {
    /// Writes the path with the keys of items in brackets: `pools[blue]/service`. The root, whose name is empty, has no segment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(up) = self.up.filter(|up| !up.name.is_empty()) {
            write!(f, "{up}/")?;
        }
        f.write_str(self.name)?;
        match self.key {
            Some(key) => write!(f, "[{}]", Escaped(key)),
            None => Ok(()),
        }
    }
}

/// A key of an item, displayed with the separators of paths percent-encoded, as in a URL.
struct Escaped<'a>(&'a str);

const SEPARATORS: [char; 4] = ['%', '/', '[', ']'];

impl fmt::Display for Escaped<'_> {
    /// Writes the key with each `%`, `/`, `[` and `]` percent-encoded, so that the path can be split at these characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(SEPARATORS) {
            write!(f, "{}%{:02X}", &rest[..at], rest.as_bytes()[at])?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

/// Returns the key of the item that a path belongs to, unescaped: `blue` for the node `pools` and the path `pools[blue]/service`.
/// Returns `None` if the path is not in an item of `node`.
pub(crate) fn key_below(node: &str, path: &str) -> Option<String> {
    let inside = path.strip_prefix(node)?.strip_prefix('[')?;
    let (escaped, _) = inside.split_once(']')?;
    let mut key = escaped.to_owned();
    // The escape of `%` is replaced last, so that the `%` in its result does not form another escape.
    for separator in SEPARATORS.iter().rev() {
        key = key.replace(&format!("%{:02X}", u32::from(*separator)), separator.encode_utf8(&mut [0; 4]));
    }
    Some(key)
}

/// Returns whether a path is that of a node below `node`. A path below an item of `node` (`pools[blue]/service` for `pools`) is not.
pub(crate) fn is_below(path: &str, node: &str) -> bool {
    path.strip_prefix(node).is_some_and(|below| below.starts_with('/'))
}

/// Returns a path without its keys, which is the path of the node in the shape of its tree.
pub(crate) fn without_keys(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((prefix, key_and_rest)) = rest.split_once('[') {
        plain.push_str(prefix);
        rest = key_and_rest.split_once(']').map_or("", |(_, suffix)| suffix);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_groups_and_keys() {
        let (root, key) = (Path::ROOT, "a/b%2F[x]");
        let pools = root.child("pools").keyed(key);
        let service = pools.child("service");
        assert_eq!(service.to_string(), "pools[a%2Fb%252F%5Bx%5D]/service");
        assert_eq!(service.key(), Some(key));
        assert_eq!(key_below("pools", &service.to_string()).as_deref(), Some(key));
        assert_eq!(without_keys(&service.to_string()), "pools/service");
        assert_eq!(root.child("config").to_string(), "config");
    }

    #[test]
    fn a_key_is_found_only_in_an_item_of_the_given_node() {
        assert_eq!(key_below("pools", "pools/service"), None);
        assert_eq!(key_below("pool", "pools[a]"), None);
        assert_eq!(key_below("a/pools", "a/pools[b]/nodes[c]/pod").as_deref(), Some("b"));
    }
}
