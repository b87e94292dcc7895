//! `Examiner`: follows an object's references and children in the cluster to explain its state.

use crate::{
    client::{CallError, Client, Target},
    command::{live, lookup::LookupError, why::Why},
    controller::factory::Factory,
    kind::{Kind, kind_of},
    manager::{
        operator::Operator,
        upgrade_record::{RecordEntry, record_name},
    },
    manifest::{DiagramNode, DiagramObject, KindDescription, NodeState, Project},
    readiness::pod::pods,
};
use futures::future::{BoxFuture, FutureExt};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum length of a chain of reasons.
const MAX_DEPTH: usize = 8;

/// Explains objects for one run of the verb `why`, and examines each object once.
pub(crate) struct Examiner<'a> {
    pub(crate) operator: &'a Operator,
    pub(crate) project: &'a Project,
    pub(crate) client: Client,
    /// The explanation of each examined object, by its label.
    results: BTreeMap<String, String>,
    /// The labels from the object of the command line to the one under examination.
    path: Vec<String>,
}

/// An object under examination.
pub(crate) struct ExaminedObject<'o> {
    pub(crate) label: String,
    pub(crate) kind: &'o Kind,
    pub(crate) object: &'o Value,
}

impl ExaminedObject<'_> {
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.object["metadata"]["namespace"].as_str()
    }

    pub(crate) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    pub(crate) fn finalizers(&self) -> Vec<&str> {
        let finalizers = self.object["metadata"]["finalizers"].as_array();
        finalizers.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Returns an explanation about this object.
    fn why(&self, state: impl Into<String>) -> Why {
        Why::new(&self.label, state)
    }
}

impl<'a> Examiner<'a> {
    pub(crate) fn new(operator: &'a Operator, project: &'a Project, client: Client) -> Self {
        Self { operator, project, client, results: BTreeMap::new(), path: Vec::new() }
    }

    /// Reads and explains an object, with its causes. Stops at an object that is already explained, that is on the path of the
    /// examination (a cycle), or that is too deep.
    pub(crate) fn examine<'l>(
        &'l mut self,
        kind: &'l Kind,
        namespace: Option<&'l str>,
        name: &'l str,
    ) -> BoxFuture<'l, Result<Why, LookupError>> {
        async move {
            let namespace = namespace.filter(|_| kind.namespaced);
            let label = label(kind, namespace, name);
            if self.path.contains(&label) {
                return Ok(Why::new(label, STATE_CYCLE));
            }
            if let Some(description) = self.results.get(&label) {
                let description = if description == STATE_READY { STATE_READY } else { "is already explained" };
                return Ok(Why::new(label, description));
            }
            if self.path.len() == MAX_DEPTH {
                return Ok(Why::new(label, "is not examined at this depth; run `why` for it"));
            }
            let object = match self.client.get(Target { kind, namespace, name }).await {
                Ok(Some(object)) => object,
                Ok(None) => return Ok(Why::new(label, "does not exist")),
                Err(error) if error.is_forbidden() => return Ok(Why::new(label, "is forbidden to you")),
                Err(error) => return Err(call_error(error)),
            };
            self.path.push(label.clone());
            let examined = ExaminedObject { label, kind, object: &object };
            let why = match self.controlled(kind) {
                _ if !object["metadata"]["deletionTimestamp"].is_null() => self.examine_deletion(&examined).await,
                Some((controlled, factory)) => self.examine_controlled(&examined, controlled, factory).await,
                None => self.examine_uncontrolled(&examined).await,
            };
            if let (Some(label), Ok(why)) = (self.path.pop(), &why) {
                self.results.insert(label, why.state.clone());
            }
            why
        }
        .boxed()
    }

    /// Returns the controlled kind and its factory, if the operator controls the kind.
    pub(crate) fn controlled(&self, kind: &Kind) -> Option<(&'a KindDescription, &'a dyn Factory)> {
        let controlled = self.project.controllers.iter().find(|controlled| controlled.kind == *kind)?;
        let factory = self.operator.factories.iter().find(|factory| factory.kind() == *kind)?;
        Some((controlled, factory.as_ref()))
    }

    /// Explains an object of a kind that the operator controls. The first explanation that applies counts: what keeps the operator from
    /// reconciling it, the referenced objects that are not ready, the children that are not ready. Panics in event handlers for the object
    /// are reasons as well.
    async fn examine_controlled(
        &mut self,
        examined: &ExaminedObject<'_>,
        controlled: &KindDescription,
        factory: &dyn Factory,
    ) -> Result<Why, LookupError> {
        let facts = match factory.spec_facts(examined.object) {
            Ok(facts) => facts,
            Err(error) => {
                let problems = factory.versions().map(|versions| versions().problems(examined.object));
                let problems: String = problems.iter().flatten().map(|problem| format!("; {problem}")).collect();
                return Ok(examined.why(format!("can't be decoded: {error}{problems}")));
            }
        };
        if facts.paused {
            return Ok(examined.why("is paused: the operator does not reconcile it"));
        }
        if let Some(why) = not_selected(examined, factory) {
            return Ok(why);
        }
        let (state, why) = live::state_of(examined.kind, examined.object);
        let generation = examined.object["metadata"]["generation"].as_i64().unwrap_or_default();
        let observed = examined.object["status"]["observedGeneration"].as_i64();
        // The status of a foreign kind, which the operator does not define, belongs to another controller.
        let owns_status = controlled.crd.is_some();
        let problem = if !examined.finalizers().contains(&controlled.finalizer.as_str()) {
            Some("has not reconciled it yet")
        } else if owns_status && observed.is_none_or(|observed| observed < generation) {
            Some("has not reconciled its latest spec yet")
        } else {
            None
        };
        if let Some(problem) = problem {
            let upgrade = self.unfinished_upgrade(controlled).await?;
            return Ok(examined.why(upgrade.unwrap_or_else(|| self.operator_behind(problem))));
        }
        let mut reasons = self.examine_references(&facts.references).await?;
        reasons.retain(|why| why.state != STATE_READY);
        if reasons.is_empty() {
            reasons = self.unready_children(examined, controlled).await?;
        }
        let message = available_condition(examined.object).filter(|(is_true, _)| !is_true).map(|(_, message)| message);
        let description = match (state, message) {
            (_, Some(message)) => format!("is not ready: {message}"),
            (NodeState::Ready, None) if reasons.is_empty() => STATE_READY.to_owned(),
            (NodeState::Ready, None) => "was ready, but a dependency is not ready".to_owned(),
            (_, None) => format!("is not ready: {why}"),
        };
        let panics = self.panics(examined, factory).await?;
        let may_miss_changes = description == STATE_READY && !panics.is_empty();
        reasons.extend(panics);
        let description =
            if may_miss_changes { "is ready, but the operator may miss changes".to_owned() } else { description };
        Ok(examined.why(description).with_reasons(reasons))
    }

    /// Returns the text for an object that the operator has not processed yet.
    pub(crate) fn operator_behind(&self, problem: &str) -> String {
        let name = &self.project.name;
        format!("is not ready: the operator {problem}; check that {name} is running and check its /readyz")
    }

    /// Returns the text for an object that is not reconciled yet because the upgrade hook of its controller has not succeeded. Returns
    /// `None` if there is no hook, if it has succeeded, or if the user may not read the ConfigMap in which the operator records the hooks.
    async fn unfinished_upgrade(&self, controlled: &KindDescription) -> Result<Option<String>, LookupError> {
        if controlled.upgrade.is_none() {
            return Ok(None);
        }
        let Project { name, namespace, version, .. } = self.project;
        let (config_map, record) = (kind_of::<ConfigMap>(), record_name(name));
        let target = Target { kind: &config_map, namespace: Some(namespace), name: &record };
        let stored = match self.client.get::<Value>(target).await {
            Ok(stored) => stored.unwrap_or_default(),
            Err(error) if error.is_forbidden() => return Ok(None),
            Err(error) => return Err(call_error(error)),
        };
        let entry = stored["data"][controlled.kind.full_name()].as_str().unwrap_or("{}");
        let is_finished = RecordEntry::is_finished(entry, version);
        let kind = &controlled.kind;
        Ok((!is_finished).then(|| {
            format!(
                "is not ready: the upgrade hook of {name} for version {version} has not succeeded yet, and no {kind} is reconciled \
                 before; check the log of {name} and its /readyz"
            )
        }))
    }

    /// Explains the children of an object that are missing or not ready.
    async fn unready_children(
        &mut self,
        examined: &ExaminedObject<'_>,
        controlled: &KindDescription,
    ) -> Result<Vec<Why>, LookupError> {
        let diagram = live::live_diagram(self.client.clone(), self.operator, controlled, examined.object).await?;
        let mut tree_objects = TreeObjects::default();
        tree_objects.collect(&diagram.root);
        let mut reasons = tree_objects.missing;
        for child in tree_objects.objects.iter().filter(|child| child.state != NodeState::Ready) {
            reasons.push(self.examine(&child.kind, child.namespace.as_deref(), &child.name).await?);
        }
        Ok(reasons)
    }

    /// Explains an object of a kind that the operator does not control. If it is a workload (`apps` or `batch`) that is not ready, the
    /// reasons are its Pods that are not ready.
    async fn examine_uncontrolled(&mut self, examined: &ExaminedObject<'_>) -> Result<Why, LookupError> {
        let (state, why) = live::state_of(examined.kind, examined.object);
        if state == NodeState::Ready {
            return Ok(examined.why(STATE_READY));
        }
        let labels = examined.object["spec"]["selector"]["matchLabels"].as_object();
        let labels =
            labels.into_iter().flatten().filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
        let labels = labels.collect::<Vec<_>>().join(",");
        let mut reasons = Vec::new();
        if !labels.is_empty() && matches!(examined.kind.group.as_ref(), "apps" | "batch") {
            reasons = self.pods_of(examined, &labels).await?;
        }
        Ok(examined.why(format!("is not ready: {why}")).with_reasons(reasons))
    }

    /// Explains the Pods that have the labels and are not ready or being deleted. If the user may not list Pods, explains this instead.
    async fn pods_of(&self, examined: &ExaminedObject<'_>, labels: &str) -> Result<Vec<Why>, LookupError> {
        let kind = pods();
        let list = match self
            .client
            .list(Target { kind: &kind, namespace: examined.namespace(), name: "" }, Some(labels))
            .await
        {
            Ok(list) => list,
            Err(error) if error.is_forbidden() => {
                return Ok(vec![Why::new("its Pods", "are forbidden: you have no permission to list them")]);
            }
            Err(error) => return Err(call_error(error)),
        };
        let pods = list.iter().filter_map(|pod| {
            let (state, why) = live::state_of(&kind, pod);
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            let description = if state == NodeState::Deleting {
                "is being deleted".to_owned()
            } else {
                format!("is not ready: {why}")
            };
            (state != NodeState::Ready).then(|| Why::new(label(&kind, examined.namespace(), name), description))
        });
        Ok(pods.collect())
    }
}

/// The text for a ready object.
pub(crate) const STATE_READY: &str = "is ready";

/// The text for an object that is already on the path of the examination.
pub(crate) const STATE_CYCLE: &str = "waits for itself in a cycle of references";

/// The objects of a tree, and an explanation of each node without its required object.
#[derive(Default)]
pub(crate) struct TreeObjects {
    pub(crate) objects: Vec<DiagramObject>,
    missing: Vec<Why>,
}

impl TreeObjects {
    /// Collects the objects of a node and of all nodes below it, and an explanation for each node that has not created its object yet.
    pub(crate) fn collect(&mut self, node: &DiagramNode) {
        self.objects.extend(node.objects.iter().cloned());
        if node.state == Some(NodeState::Missing) && node.objects.is_empty() && node.children.is_empty() {
            let why = if node.message.is_empty() { String::new() } else { format!(": {}", node.message) };
            self.missing.push(Why::new(format!("node {}", node.path), format!("has created no object yet{why}")));
        }
        node.children.iter().for_each(|child| self.collect(child));
    }
}

/// Returns an explanation if the controller's selector does not select the object.
fn not_selected(examined: &ExaminedObject<'_>, factory: &dyn Factory) -> Option<Why> {
    let selection = &factory.settings().selection;
    if selection.matches(examined.object) {
        return None;
    }
    let selectors = [selection.label_selector(), selection.field_selector()].into_iter().flatten().collect::<Vec<_>>();
    let state = format!("is not selected: the controller selects objects with {}", selectors.join(" and "));
    Some(examined.why(state))
}

/// Returns whether the condition `Available` is true, with its reason and message; `None` if the object has no such condition.
pub(crate) fn available_condition(object: &Value) -> Option<(bool, String)> {
    let conditions = object["status"]["conditions"].as_array()?;
    let available = conditions.iter().find(|condition| condition["type"] == "Available")?;
    let text = |field: &str| available[field].as_str().unwrap_or_default();
    Some((text("status") == "True", format!("{}: {}", text("reason"), text("message"))))
}

/// Returns the label of an object: `WebApp shop/blue`.
pub(crate) fn label(kind: &Kind, namespace: Option<&str>, name: &str) -> String {
    let namespace = namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{kind} {namespace}{name}")
}

pub(crate) fn call_error(error: CallError) -> LookupError {
    LookupError::Call(Box::new(error))
}
