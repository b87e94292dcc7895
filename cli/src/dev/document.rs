//! `Document`: a Kubernetes object from a YAML file, with the functions that find its path on the API server.

use serde_json::Value;

use crate::error::{Result, ResultExt as _};

/// An object of a YAML file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    pub(super) object: Value,
}

impl Document {
    /// Parses all objects of a text; errors name it `source`.
    pub(super) fn parse(text: &str, source: &str) -> Result<Vec<Self>> {
        let objects: Vec<Value> = serde_saphyr::from_multiple(text).or_failed(|| format!("failed to read {source}"))?;
        Ok(objects.into_iter().filter(Value::is_object).map(|object| Self { object }).collect())
    }

    pub(super) fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or_default()
    }

    pub(super) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    pub(super) fn namespace(&self) -> Option<&str> {
        self.object["metadata"]["namespace"].as_str()
    }

    pub(super) fn group(&self) -> &str {
        self.object["apiVersion"].as_str().and_then(|version| version.split_once('/')).map_or("", |(group, _)| group)
    }

    /// Returns the kind and name, for messages: `WebApp webapp-sample`.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.kind(), self.name())
    }

    /// Returns the discovery path of the group and version.
    pub(super) fn discovery_path(&self) -> String {
        let version = self.object["apiVersion"].as_str().unwrap_or_default();
        if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") }
    }

    /// Returns the URL path of the object. `resources` is the APIResourceList of its group and version; `None` if it lacks the kind.
    pub(super) fn path(&self, resources: &Value, default_namespace: &str) -> Option<String> {
        let of_kind = |resource: &&Value| {
            // A name with a slash is a subresource, for example `deployments/scale`.
            resource["kind"] == self.kind() && resource["name"].as_str().is_some_and(|name| !name.contains('/'))
        };
        let resource = resources["resources"].as_array()?.iter().find(of_kind)?;
        let namespace = match resource["namespaced"].as_bool()? {
            true => format!("/namespaces/{}", self.namespace().unwrap_or(default_namespace)),
            false => String::new(),
        };
        Some(format!("{}{namespace}/{}/{}", self.discovery_path(), resource["name"].as_str()?, self.name()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "# A note.\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n";

    #[test]
    fn every_document_of_a_file_is_an_object() {
        let titles: Vec<_> = Document::parse(TEXT, "it").unwrap().iter().map(Document::title).collect();
        assert_eq!(titles, ["Deployment a", "Namespace b"]);
        assert!(Document::parse("a: [", "it").unwrap_err().to_string().starts_with("failed to read it"));
    }

    #[test]
    fn a_path_follows_from_discovery() {
        let documents = Document::parse(TEXT, "it").unwrap();
        let apps = json!({"resources": [
            {"kind": "Scale", "name": "deployments/scale", "namespaced": true},
            {"kind": "Deployment", "name": "deployments", "namespaced": true},
        ]});
        assert_eq!(documents[0].path(&apps, "here").unwrap(), "/apis/apps/v1/namespaces/here/deployments/a");
        let core = json!({"resources": [{"kind": "Namespace", "name": "namespaces", "namespaced": false}]});
        assert_eq!(documents[1].path(&core, "here").unwrap(), "/api/v1/namespaces/b");
        assert_eq!(documents[1].path(&apps, "here"), None);
    }
}
