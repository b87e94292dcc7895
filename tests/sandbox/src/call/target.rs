//! Parses the path of a request into a resource or a non-resource path.

use percent_encoding::percent_decode_str;

/// The target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Resource(ResourceTarget),
    /// A non-resource path such as `/version` or `/openapi/v3`, without a trailing slash.
    Path(String),
}

/// A resource path: `/api/v1/namespaces/NAMESPACE/PLURAL/NAME/SUBRESOURCE`, or the same below `/apis/GROUP/VERSION`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceTarget {
    pub(crate) group: String,
    pub(crate) version: String,
    /// The namespace; empty for cluster-scoped objects and for all namespaces. For a Namespace it is its own name, as
    /// in the attributes for authorization.
    pub(crate) namespace: String,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
    /// The path after the subresource, as in `pods/NAME/proxy/PATH`.
    pub(crate) rest: String,
}

impl Target {
    /// Parses the path of a request. A path outside `/api/VERSION` and `/apis/GROUP/VERSION`, or without a resource, is
    /// a non-resource path.
    pub(crate) fn parse(path: &str) -> Self {
        // The path is decoded before it is split, so that an encoded slash counts as a slash.
        let decoded_path = percent_decoded(path);
        let segments: Vec<&str> = decoded_path.split('/').filter(|segment| !segment.is_empty()).collect();
        let (group, version, rest) = match segments[..] {
            ["api", version, ref rest @ ..] => ("", version, rest),
            ["apis", group, version, ref rest @ ..] => (group, version, rest),
            _ => return Self::path(path),
        };
        // The deprecated path of a watch, `/api/v1/watch/...`, names the resource after `watch`.
        let rest = if let ["watch", rest @ ..] = rest { rest } else { rest };
        let (namespace, rest) = match *rest {
            [] => return Self::path(path),
            // The deprecated proxy path, without a target.
            ["proxy"] => return Self::path(path),
            // A Namespace or one of its subresources.
            ["namespaces", name] | ["namespaces", name, "status" | "finalize"] => (name, rest),
            ["namespaces", namespace, ref rest @ ..] => (namespace, rest),
            _ => ("", rest),
        };
        let segment = |index: usize| rest.get(index).map(|segment| (*segment).to_owned());
        Self::Resource(ResourceTarget {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: namespace.to_owned(),
            plural: segment(0).unwrap_or_default(),
            name: segment(1),
            subresource: segment(2),
            rest: rest.get(3..).unwrap_or_default().join("/"),
        })
    }

    /// Returns the target of a non-resource path, without its trailing slashes.
    fn path(path: &str) -> Self {
        Self::Path(if path.len() > 1 { path.trim_end_matches('/').to_owned() } else { path.to_owned() })
    }
}

/// Returns whether a path is a watch in the deprecated form `/api/VERSION/watch/RESOURCE...` or `/apis/GROUP/VERSION/watch/RESOURCE...`.
pub(super) fn is_watch(path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).take(5).collect();
    matches!(segments[..], ["api", _, "watch", _, ..] | ["apis", _, _, "watch", _])
}

/// Decodes percent-encoded characters of a path.
fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    /// Returns group and version, namespace, plural, name and subresource of a resource path.
    fn resource(path: &str) -> (String, String, String, Option<String>, Option<String>) {
        match Target::parse(path) {
            Target::Resource(t) => (format!("{}/{}", t.group, t.version), t.namespace, t.plural, t.name, t.subresource),
            Target::Path(path) => panic!("{path} is no resource"),
        }
    }

    #[test]
    fn paths_are_parsed_into_resources_and_non_resource_paths() {
        let some = |word: &str| Some(word.to_owned());
        let target = |group_version: &str, namespace: &str, plural: &str, name, subresource| {
            (group_version.to_owned(), namespace.to_owned(), plural.to_owned(), name, subresource)
        };
        assert_eq!(resource("/api/v1/pods"), target("/v1", "", "pods", None, None));
        assert_eq!(resource("/api/v1/namespaces"), target("/v1", "", "namespaces", None, None));
        assert_eq!(resource("/api/v1/namespaces/a"), target("/v1", "a", "namespaces", some("a"), None));
        assert_eq!(
            resource("/api/v1/namespaces/a/status"),
            target("/v1", "a", "namespaces", some("a"), some("status"))
        );
        assert_eq!(resource("/api/v1/namespaces/a/pods/b/log"), target("/v1", "a", "pods", some("b"), some("log")));
        assert_eq!(
            resource("/apis/apps/v1/namespaces/a/deployments"),
            target("apps/v1", "a", "deployments", None, None)
        );
        assert_eq!(resource("/apis/g/v1/things/%61"), target("g/v1", "", "things", some("a"), None));
        assert_eq!(Target::parse("/apis/apps/v1"), Target::Path("/apis/apps/v1".into()));
        assert_eq!(Target::parse("/readyz/"), Target::Path("/readyz".into()));
    }
}
