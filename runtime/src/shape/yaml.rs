//! Parses multi-document YAML into objects with their line numbers, and derives the permissions that they need.

use crate::{
    kind::Kind,
    shape::{builtin, permission::Access},
};
use serde_json::Value;
use std::fmt;

/// The error of a YAML manifest that is invalid, with its position. It quotes no values, since the text may contain a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidManifest {
    /// The path of the file, or the node whose build function returned the text.
    pub source: String,
    /// The number of the document in the text, from 1.
    pub document: usize,
    /// The line, from 1, at which the document begins or its YAML is malformed.
    pub line: usize,
    /// The problem and a fix.
    pub problem: String,
}

impl fmt::Display for InvalidManifest {
    /// Writes the file or node, the line, the number of the YAML document, and the problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, document, line, problem } = self;
        write!(f, "{source}:{line} (document {document}): {problem}")
    }
}

impl std::error::Error for InvalidManifest {}

/// One YAML document of a manifest: an object with its position.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    number: usize,
    line: usize,
    api_version: String,
    kind: String,
    pub(crate) object: Value,
}

impl Document {
    /// Returns an error about this YAML document, with its number and line.
    fn error(&self, source: &str, problem: String) -> InvalidManifest {
        InvalidManifest { source: source.to_owned(), document: self.number, line: self.line, problem }
    }

    fn is_of_kind(&self, kind: &Kind) -> bool {
        kind.kind == self.kind && kind.api_version() == self.api_version
    }

    /// Returns the kind of the object: the one of `kinds`, the kinds of the manifest node, with the same `apiVersion` and `kind`.
    ///
    /// # Errors
    /// Fails if the node doesn't have the kind. The error names `source`, the file or the node.
    pub(crate) fn kind_in(&self, source: &str, kinds: &[Kind]) -> Result<Kind, InvalidManifest> {
        let unknown_kind = || {
            let Self { api_version, kind, .. } = self;
            let fix = "declare the kind in `manifest(...)`, so that the role gets its permission";
            self.error(source, format!("{kind} of {api_version} is not among the node's kinds; {fix}"))
        };
        kinds.iter().find(|kind| self.is_of_kind(kind)).cloned().ok_or_else(unknown_kind)
    }
}

/// Parses the YAML documents of a text, which lines with `---` separate, into objects. Empty documents are skipped. Errors name
/// `source`, the file or the node.
///
/// # Errors
/// Fails for the first document that is not an object with `apiVersion`, `kind` and `metadata.name`, or that is the same object
/// as an earlier document.
pub(crate) fn documents(source: &str, text: &str) -> Result<Vec<Document>, InvalidManifest> {
    let mut documents: Vec<Document> = Vec::new();
    for (index, (line, text)) in split(text).into_iter().enumerate() {
        let invalid = |line, problem: &str| InvalidManifest {
            source: source.to_owned(),
            document: index + 1,
            line,
            problem: problem.to_owned(),
        };
        let object: Value = serde_saphyr::from_str(&text).map_err(|error| {
            // The parser counts lines from 1 within the document.
            let offset = error.location().map_or(0, |location| usize::try_from(location.line()).unwrap_or(1) - 1);
            invalid(line + offset, "the YAML is invalid")
        })?;
        if object.is_null() {
            continue;
        }
        let text_of = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let [Some(api_version), Some(kind), Some(_)] =
            [&object["apiVersion"], &object["kind"], &object["metadata"]["name"]].map(text_of)
        else {
            return Err(invalid(line, "an object needs `apiVersion`, `kind` and `metadata.name`"));
        };
        let document = Document { number: index + 1, line, api_version, kind, object };
        if let Some(earlier) = documents.iter().find(|earlier| earlier.is_same_object(&document)) {
            return Err(invalid(line, &format!("the object is a duplicate of line {}", earlier.line)));
        }
        documents.push(document);
    }
    Ok(documents)
}

impl Document {
    /// Returns whether two documents describe the same object: group, kind, namespace and name are equal, in any API version.
    fn is_same_object(&self, other: &Self) -> bool {
        let name = |document: &Self| {
            let metadata = &document.object["metadata"];
            (metadata["name"].clone(), metadata["namespace"].clone())
        };
        let group = |document: &Self| document.api_version.rsplit_once('/').map_or("", |(group, _)| group).to_owned();
        self.kind == other.kind && name(self) == name(other) && group(self) == group(other)
    }
}

/// Splits a text at lines with `---` into YAML documents. Returns each with the line, from 1, at which it begins. Leaves out documents
/// with only blank lines and comments.
fn split(text: &str) -> Vec<(usize, String)> {
    let mut documents = vec![(1, String::new())];
    for (index, line) in text.lines().enumerate() {
        match line.strip_prefix("---").filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)) {
            // Text after `---` on the same line belongs to the new document.
            Some(rest) => documents.push((index + 1, format!("{rest}\n"))),
            None => {
                if let Some((_, document)) = documents.last_mut() {
                    document.push_str(line);
                    document.push('\n');
                }
            }
        }
    }
    documents.retain(|(_, text)| text.lines().any(|line| !line.trim().is_empty() && !line.trim().starts_with('#')));
    documents
}

/// Returns the permissions for the objects of a YAML manifest: the `declared` permissions, and a permission to apply objects for each
/// built-in kind in the text that they lack. They are sorted by the order in which objects of the kinds are created.
///
/// # Errors
/// Fails if the text is invalid, or contains an object of a kind that is neither declared nor built into Kubernetes.
pub(crate) fn permissions(source: &str, text: &str, declared: &[Access]) -> Result<Vec<Access>, InvalidManifest> {
    let mut all = declared.to_vec();
    for document in documents(source, text)? {
        if all.iter().any(|access| access.kind().is_some_and(|kind| document.is_of_kind(&kind))) {
            continue;
        }
        let Document { api_version, kind, .. } = &document;
        let Some(builtin_kind) = builtin::find(api_version, kind) else {
            let fix = format!("declare its type: `manifest(\"{source}\", {kind})`");
            let problem = format!("{kind} of {api_version} is not a known kind of Kubernetes; {fix}");
            return Err(document.error(source, problem));
        };
        all.push(Access::applied(builtin_kind));
    }
    all.sort_by_key(|access| {
        let kind = access.kind();
        (kind.as_ref().map(builtin::rank), kind)
    });
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = "\
# a comment, and nothing else
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: agent}
--- # the settings
apiVersion: v1
kind: ConfigMap
metadata: {name: agent}
data:
  text: |
    a
    --- b
---
";

    /// Returns the message of the error for an invalid manifest.
    fn problem(text: &str) -> String {
        documents("agent.yaml", text).unwrap_err().to_string()
    }

    #[test]
    fn documents_are_split_and_have_line_numbers() {
        let parsed = documents("agent.yaml", TEXT).unwrap();
        let lines: Vec<_> = parsed.iter().map(|document| (document.kind.as_str(), document.line)).collect();
        assert_eq!(lines, [("Deployment", 2), ("ConfigMap", 6)]);
        // `---` inside a block of text does not separate documents.
        assert_eq!(parsed[1].object["data"]["text"], "a\n--- b\n");
        assert!(documents("agent.yaml", "").unwrap().is_empty());
    }

    #[test]
    fn an_error_names_the_line_and_quotes_no_value() {
        let no_yaml = format!("{TEXT}apiVersion: v1\nkind: Secret\nstringData:\n  key: [hidden\n");
        let message = problem(&no_yaml);
        assert!(message.starts_with("agent.yaml:1"), "{message}");
        assert!(message.ends_with("(document 3): the YAML is invalid") && !message.contains("hidden"), "{message}");
        assert!(problem("---\n- a\n").starts_with("agent.yaml:1 (document 1): an object needs"));
        assert!(problem("kind: Pod\napiVersion: v1\n").contains("`metadata.name`"));
        let twice = format!("{TEXT}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: agent}}\n");
        assert_eq!(problem(&twice), "agent.yaml:14 (document 3): the object is a duplicate of line 6");
    }

    #[test]
    fn permissions_are_derived_from_the_kinds_in_order_of_ranks() {
        let found = permissions("agent.yaml", TEXT, &[]).unwrap();
        let kinds: Vec<_> = found.iter().filter_map(|access| Some(access.kind()?.kind)).collect();
        assert_eq!(kinds, ["ConfigMap", "Deployment"]);
        let custom = "apiVersion: gauge.example.org/v1\nkind: Gauge\nmetadata: {name: a}\n";
        let message = permissions("agent.yaml", custom, &[]).unwrap_err().to_string();
        assert!(message.contains("declare its type: `manifest(\"agent.yaml\", Gauge)`"), "{message}");
        let gauge = Access::applied(|| Kind {
            group: "gauge.example.org".into(),
            version: "v1".into(),
            kind: "Gauge".into(),
            plural: "gauges".into(),
            namespaced: true,
        });
        assert_eq!(permissions("agent.yaml", custom, &[gauge]).unwrap().len(), 1);
    }
}
