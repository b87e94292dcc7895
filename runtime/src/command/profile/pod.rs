//! `OperatorPods`: finds the Pod to profile, and gets a token for its metrics server.

use crate::{
    client::{Client, Target},
    command::profile::error::ProfileError,
    kind::{Kind, kind_of},
    manifest::Project,
};
use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{Pod, ServiceAccount},
};
use kube::Config;
use serde_json::{Value, json};

/// The lifetime of a token in seconds: the shortest that the API server accepts.
const TOKEN_SECONDS: u32 = 600;

/// The Pods of an operator in a namespace.
pub(super) struct OperatorPods<'a> {
    client: Client,
    project: &'a Project,
    namespace: &'a str,
}

impl<'a> OperatorPods<'a> {
    pub(super) fn connect(config: Config, project: &'a Project, namespace: &'a str) -> Result<Self, ProfileError> {
        let client = Client::for_command(config).map_err(ProfileError::Client)?;
        Ok(Self { client, project, namespace })
    }

    fn target<'t>(&'t self, kind: &'t Kind, name: &'t str) -> Target<'t> {
        Target { kind, namespace: Some(self.namespace), name }
    }

    /// Returns the name of the Pod to profile. With a name, checks that this Pod belongs to the operator; without a name, chooses the
    /// leader if its Pod is ready, else the first ready Pod.
    pub(super) async fn choose(&self, name: Option<&str>) -> Result<String, ProfileError> {
        let selector = self.project.selector();
        let labels = selector.as_object().into_iter().flatten();
        let labels: Vec<_> =
            labels.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
        let kind = kind_of::<Pod>();
        let pods: Vec<Value> =
            self.client.list(self.target(&kind, ""), Some(&labels.join(","))).await.map_err(Box::new)?;
        let operator = || self.project.name.clone();
        if let Some(name) = name {
            let mut known: Vec<_> = pods.iter().map(|pod| name_of(pod).to_owned()).collect();
            known.sort();
            return match known.iter().any(|pod| pod == name) {
                true => Ok(name.to_owned()),
                false => Err(ProfileError::OtherPod {
                    operator: operator(),
                    namespace: self.namespace.to_owned(),
                    pod: name.to_owned(),
                    known,
                }),
            };
        }
        let chosen = choose(&pods, self.leader().await?.as_deref());
        chosen.ok_or_else(|| ProfileError::NoPod { operator: operator(), namespace: self.namespace.to_owned() })
    }

    /// Returns the identity of the leader; `None` without a leader or a Lease.
    async fn leader(&self) -> Result<Option<String>, ProfileError> {
        let kind = kind_of::<Lease>();
        let lease = self.client.get::<Value>(self.target(&kind, &self.project.lease)).await.map_err(Box::new)?;
        Ok(lease.and_then(|lease| lease["spec"]["holderIdentity"].as_str().map(str::to_owned)))
    }

    /// Requests a token of a ServiceAccount in the namespace of the operator, with the shortest lifetime that the API server accepts.
    pub(super) async fn token(&self, account: &str) -> Result<String, ProfileError> {
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": TOKEN_SECONDS},
        });
        let kind = kind_of::<ServiceAccount>();
        let target = self.target(&kind, account);
        match self.client.create_subresource(target, "token", &request, &self.project.name).await {
            Ok(response) => Ok(response["status"]["token"].as_str().unwrap_or_default().to_owned()),
            Err(error) if error.is_not_found() => Err(ProfileError::NoAccount {
                operator: self.project.name.clone(),
                namespace: self.namespace.to_owned(),
                name: account.to_owned(),
            }),
            Err(error) => Err(ProfileError::Call(Box::new(error))),
        }
    }
}

fn name_of(pod: &Value) -> &str {
    pod["metadata"]["name"].as_str().unwrap_or_default()
}

/// Returns the ready Pod of the leader, or else the first ready Pod by name.
fn choose(pods: &[Value], leader: Option<&str>) -> Option<String> {
    let is_ready_condition = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
    let is_ready = |pod: &&Value| {
        let conditions = pod["status"]["conditions"].as_array();
        pod["metadata"]["deletionTimestamp"].is_null() && conditions.into_iter().flatten().any(is_ready_condition)
    };
    // The identity of a leader starts with the name of its Pod and an underscore, and the name has no underscore.
    let leader = leader.and_then(|identity| identity.split('_').next());
    let ready = pods.iter().filter(is_ready).map(name_of);
    // The leader comes first: its key begins with `false`, which is less than `true`.
    ready.min_by_key(|name| (leader != Some(*name), *name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, ready: &str) -> Value {
        json!({"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": ready}]}})
    }

    #[test]
    fn the_leader_is_profiled_or_else_the_first_ready_pod() {
        let pods = [pod("demo-c", "True"), pod("demo-a", "False"), pod("demo-b", "True")];
        assert_eq!(choose(&pods, Some("demo-c_4f_00")).as_deref(), Some("demo-c"));
        assert_eq!(choose(&pods, Some("demo-a_4f_00")).as_deref(), Some("demo-b"), "the leader is not ready");
        assert_eq!(choose(&pods, None).as_deref(), Some("demo-b"));
        assert_eq!(choose(&[pod("demo-a", "False")], None), None);
    }

    #[test]
    fn a_pod_that_is_being_deleted_is_not_profiled() {
        let mut leaving = pod("demo-a", "True");
        leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(choose(&[leaving], None), None);
    }
}
