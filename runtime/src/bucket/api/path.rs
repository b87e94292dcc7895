//! `ApiPath`: the path of a request for objects, split into its parts.

use crate::kind::Kind;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// The parts of a path such as `/apis/<group>/<version>/namespaces/<namespace>/<plural>/<name>/<subresource>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApiPath {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    /// Empty for a request for all namespaces or for a cluster-scoped kind.
    pub(super) namespace: String,
    /// Empty for a request for several objects.
    pub(super) name: String,
    /// Empty for the object itself.
    pub(super) subresource: String,
}

impl ApiPath {
    /// Splits the path of a request into its parts, and decodes their percent escapes; `None` if the path is not that of objects.
    pub(super) fn parse(path: &str) -> Option<Self> {
        let decoded = |part| percent_decode_str(part).decode_utf8_lossy();
        let parts: Vec<Cow<'_, str>> = path.split('/').filter(|part| !part.is_empty()).map(decoded).collect();
        let parts: Vec<&str> = parts.iter().map(Cow::as_ref).collect();
        let (group, version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            // In `/namespaces/<name>`, `namespaces` is the plural of the kind Namespace.
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            rest => ("", rest),
        };
        let (plural, name, subresource) = match rest {
            [plural] => (*plural, "", ""),
            [plural, name] => (*plural, *name, ""),
            [plural, name, subresource] => (*plural, *name, *subresource),
            _ => return None,
        };
        let [group, version, plural, namespace, name, subresource] =
            [group, version, plural, namespace, name, subresource].map(str::to_owned);
        Some(Self { group, version, plural, namespace, name, subresource })
    }

    /// Returns whether the path is that of objects of the kind, in its version.
    pub(super) fn is_of(&self, kind: &Kind) -> bool {
        self.group == kind.group && self.version == kind.version && self.plural == kind.plural
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> Option<[String; 6]> {
        let ApiPath { group, version, plural, namespace, name, subresource } = ApiPath::parse(path)?;
        Some([group, version, plural, namespace, name, subresource])
    }

    #[test]
    fn paths_of_objects_are_split_into_their_parts() {
        for (path, expected) in [
            ("/api/v1/configmaps", ["", "v1", "configmaps", "", "", ""]),
            ("/api/v1/namespaces/shop/configmaps/web", ["", "v1", "configmaps", "shop", "web", ""]),
            ("/api/v1/namespaces/shop", ["", "v1", "namespaces", "", "shop", ""]),
            ("/apis/a.b/v1/apps/web/status", ["a.b", "v1", "apps", "", "web", "status"]),
            ("/apis/a.b/v1/namespaces/n/apps/web/status", ["a.b", "v1", "apps", "n", "web", "status"]),
            ("/apis/a.b/v1/namespaces/n%3F/apps/a%252Fb", ["a.b", "v1", "apps", "n?", "a%2Fb", ""]),
            // An incomplete escape stays as it is.
            ("/apis/a.b/v1/namespaces/n%2/apps/%zz%41", ["a.b", "v1", "apps", "n%2", "%zzA", ""]),
        ] {
            assert_eq!(parts(path), Some(expected.map(str::to_owned)), "{path}");
        }
        for path in ["/", "/version", "/api", "/api/v1", "/apis", "/apis/a.b", "/apis/a.b/v1", "/api/v1/a/b/c/d"] {
            assert_eq!(parts(path), None, "{path}");
        }
    }
}
