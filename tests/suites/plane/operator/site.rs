//! A namespace with an operator of its own: it runs in this process, as its ServiceAccount, by nothing but the role that is
//! generated for it.

use std::{fmt::Debug, sync::Arc};

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
        rbac::v1::{PolicyRule, Role},
    },
};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use opgen::{
    Operator, RunError, RunOptions,
    environment::Environment,
    queue::{Jitter as _, Seeded},
};
use opgen_tests::{
    Entries, Plane,
    wait::{self, PATIENCE},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle};

use super::{install, log, rest};

/// The operator's name, and that of its ServiceAccount and its role.
pub(crate) const NAME: &str = "live";

pub(crate) struct Site {
    pub(crate) plane: Arc<Plane>,
    pub(crate) namespace: String,
}

impl Site {
    pub(crate) async fn new(plane: &Arc<Plane>) -> Self {
        log::keep();
        Self { plane: plane.clone(), namespace: plane.namespace("site").await }
    }

    /// An operator for this namespace, as yet without controllers.
    pub(crate) fn operator(&self) -> Operator {
        Operator::new(NAME).namespace(&self.namespace).namespaced().environment(self.environment())
    }

    /// Returns an environment with the clock of the plane, and with random numbers that are the same in every run.
    pub(crate) fn environment(&self) -> Environment {
        let (plane, dice) = (self.plane.clone(), Seeded::new(1));
        Environment::new(move || plane.now(), move || dice.bits())
    }

    /// Installs the definitions and the role that are generated for it.
    pub(crate) async fn install(&self, operator: &Operator) {
        install::definitions(&self.plane, operator).await;
        self.grant(operator).await;
    }

    /// Gives it the role that is generated for it.
    pub(crate) async fn grant(&self, operator: &Operator) {
        install::apply_quietly(&self.plane, install::generated(operator).text("base/rbac.yaml").expect("a role")).await;
    }

    /// Installs and runs it. One that watches all namespaces works on the objects of other cases where they share a plane:
    /// it is installed and then run with [`RunOptions::namespaces`].
    pub(crate) async fn start(&self, operator: &Operator) -> Running {
        self.install(operator).await;
        self.run(operator, RunOptions::default()).await
    }

    /// Runs it as it is installed.
    pub(crate) async fn run(&self, operator: &Operator, options: RunOptions) -> Running {
        let client = self.client().await;
        Self::run_with(operator, client, options)
    }

    /// Runs it with a client of the caller's.
    pub(crate) fn run_with(operator: &Operator, client: Client, options: RunOptions) -> Running {
        let (stop, stopped) = oneshot::channel::<()>();
        let operator = operator.clone();
        let task = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            operator.run_with(client, options, stopped).await
        });
        Running { stop: Some(stop), task }
    }

    /// A client with the operator's rights.
    pub(crate) async fn client(&self) -> Client {
        self.plane.service_account(&self.namespace, NAME).await.client()
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.plane.client(), &self.namespace)
    }

    /// Returns the key of an object of the namespace in a bucket.
    pub(crate) fn bucket_key(&self, name: &str) -> String {
        format!("{}.{name}", self.namespace)
    }

    pub(crate) async fn create<K>(&self, object: &K) -> K
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + Serialize + DeserializeOwned,
    {
        self.api::<K>().create(&PostParams::default(), object).await.unwrap()
    }

    /// Changes an object by a merge patch.
    pub(crate) async fn patch<K>(&self, name: &str, patch: &Value) -> K
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    {
        self.api::<K>().patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap()
    }

    pub(crate) async fn delete<K>(&self, name: &str)
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    {
        self.api::<K>().delete(name, &DeleteParams::default()).await.unwrap();
    }

    /// What the operator has asked for.
    pub(crate) async fn asked(&self) -> Entries {
        self.plane.audit().await.by_account(&self.namespace, NAME)
    }

    /// Waits until the operator has asked for nothing for a while, and gives what it has asked for.
    pub(crate) async fn settled(&self) -> Entries {
        rest::settled(async || self.asked().await).await
    }

    /// Takes a verb on a resource from the role, and waits until that is in force.
    pub(crate) async fn forbid(&self, group: &str, resource: &str, verb: &str) {
        let roles = self.api::<Role>();
        let mut rules = roles.get(NAME).await.unwrap().rules.unwrap_or_default();
        let is_meant = |rule: &PolicyRule| {
            let one = |list: &Option<Vec<String>>, word| list.as_deref().is_some_and(|words| words == [word]);
            one(&rule.resources, resource) && one(&rule.api_groups, group)
        };
        let at = rules.iter().position(is_meant).expect("a rule of its own");
        rules[at].verbs.retain(|held| held != verb);
        rules.retain(|rule| !rule.verbs.is_empty());
        // In the name of who applies it again later.
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": NAME}, "rules": rules});
        roles.patch(NAME, &PatchParams::apply("kubectl").force(), &Patch::Apply(role)).await.unwrap();
        self.may(group, resource, verb, false).await;
    }

    /// Waits until the operator may do that, or may not.
    pub(crate) async fn may(&self, group: &str, resource: &str, verb: &str, allowed: bool) {
        let client = self.client().await;
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let attributes = ResourceAttributes {
            group: Some(group.to_owned()),
            resource: Some(resource.to_owned()),
            subresource: Some(subresource.to_owned()),
            verb: Some(verb.to_owned()),
            namespace: Some(self.namespace.clone()),
            ..ResourceAttributes::default()
        };
        let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), non_resource_attributes: None };
        let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
        let reviews = Api::<SelfSubjectAccessReview>::all(client);
        wait::until(format!("{verb} {resource} is allowed: {allowed}"), PATIENCE, async || {
            let answer = reviews.create(&PostParams::default(), &review).await.map_err(|error| error.to_string())?;
            let says = answer.status.is_some_and(|status| status.allowed);
            if says == allowed { Ok(()) } else { Err(format!("{says}")) }
        })
        .await;
    }
}

/// An operator that runs. Dropping it stops it at once.
pub(crate) struct Running {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), RunError>>,
}

impl Running {
    /// Asks it to end.
    pub(crate) fn signal(&mut self) {
        drop(self.stop.take());
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.task.is_finished()
    }

    /// Asks it to end, and waits for its regular end.
    pub(crate) async fn end_now(mut self) {
        self.signal();
        self.end().await.expect("a regular end");
    }

    /// How it ends.
    pub(crate) async fn end(mut self) -> Result<(), RunError> {
        let what = "the operator has ended";
        wait::until(what, PATIENCE, async || if self.task.is_finished() { Ok(()) } else { Err("it runs".into()) })
            .await;
        (&mut self.task).await.expect("an operator that does not panic")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}
