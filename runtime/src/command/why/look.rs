//! What an object waits for.

use crate::{
    client::{CallError, Client, Target},
    command::{live, lookup::LiveError, why::Why},
    controller::factory::Factory,
    kind::Kind,
    manager::operator::Operator,
    manifest::{Controlled, Drawn, Found, NodeState, Project},
    readiness::pod::pods,
};
use futures::future::{BoxFuture, FutureExt};
use serde_json::Value;
use std::collections::BTreeMap;

/// How far a chain of reasons is followed.
const DEEPEST: usize = 8;

/// One look around, that comes by each object once.
pub(crate) struct Look<'a> {
    pub(crate) operator: &'a Operator,
    pub(crate) project: &'a Project,
    pub(crate) client: Client,
    /// What was said of each object.
    said: BTreeMap<String, String>,
    /// From the object that was asked about to the one that is looked at.
    path: Vec<String>,
}

/// What is known of an object that is looked at.
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

    fn why(&self, says: impl Into<String>) -> Why {
        Why::new(&self.label, says)
    }
}

impl<'a> Look<'a> {
    pub(crate) fn new(operator: &'a Operator, project: &'a Project, client: Client) -> Self {
        Self { operator, project, client, said: BTreeMap::new(), path: Vec::new() }
    }

    pub(crate) fn at<'l>(
        &'l mut self,
        kind: &'l Kind,
        namespace: Option<&'l str>,
        name: &'l str,
    ) -> BoxFuture<'l, Result<Why, LiveError>> {
        async move {
            let namespace = namespace.filter(|_| kind.namespaced);
            let label = label(kind, namespace, name);
            if self.path.contains(&label) {
                return Ok(Why::new(label, RING));
            }
            if let Some(said) = self.said.get(&label) {
                let says = if said == READY { READY } else { "is looked at already" };
                return Ok(Why::new(label, says));
            }
            if self.path.len() == DEEPEST {
                return Ok(Why::new(label, "is too far off to be looked at from here; ask about it"));
            }
            let object = match self.client.get(Target { kind, namespace, name }).await {
                Ok(Some(object)) => object,
                Ok(None) => return Ok(Why::new(label, "is not there")),
                Err(error) if error.is_forbidden() => return Ok(Why::new(label, "is nothing that you may read")),
                Err(error) => return Err(failed(error)),
            };
            self.path.push(label.clone());
            let seen = ExaminedObject { label, kind, object: &object };
            let why = match self.controlled(kind) {
                _ if !object["metadata"]["deletionTimestamp"].is_null() => self.ending(&seen).await,
                Some((controlled, factory)) => self.building(&seen, controlled, factory).await,
                None => self.stranger(&seen).await,
            };
            if let (Some(label), Ok(why)) = (self.path.pop(), &why) {
                self.said.insert(label, why.says.clone());
            }
            why
        }
        .boxed()
    }

    pub(crate) fn controlled(&self, kind: &Kind) -> Option<(&'a Controlled, &'a dyn Factory)> {
        let of_kind = |other: &Kind| other.group == kind.group && other.kind == kind.kind;
        let controlled = self.project.controllers.iter().find(|one| of_kind(&one.kind))?;
        let factory = self.operator.factories.iter().find(|one| of_kind(&one.kind()))?;
        Some((controlled, factory.as_ref()))
    }

    async fn building(
        &mut self,
        seen: &ExaminedObject<'_>,
        controlled: &Controlled,
        factory: &dyn Factory,
    ) -> Result<Why, LiveError> {
        let told = match factory.told(seen.object) {
            Ok(told) => told,
            Err(error) => return Ok(seen.why(format!("doesn't have the form of its kind: {error}"))),
        };
        if told.paused {
            return Ok(seen.why("is paused: nothing is done for it until that is taken back"));
        }
        if let Some(why) = excluded(seen, factory) {
            return Ok(why);
        }
        let (state, why) = live::state_of(seen.kind, seen.object);
        let generation = seen.object["metadata"]["generation"].as_i64().unwrap_or_default();
        let observed = seen.object["status"]["observedGeneration"].as_i64();
        let owns_status = controlled.crd.is_some();
        if !seen.finalizers().contains(&controlled.finalizer.as_str()) {
            return Ok(seen.why(self.untouched("has not taken it up")));
        }
        if owns_status && observed.is_none_or(|observed| observed < generation) {
            return Ok(seen.why(self.untouched("has not looked at its latest spec")));
        }
        let mut because = self.named(&told.named).await?;
        because.retain(|why| why.says != READY);
        if because.is_empty() {
            because = self.parts(seen, controlled).await?;
        }
        let said = condition(seen.object).filter(|(is_true, _)| !is_true).map(|(_, said)| said);
        let says = match (state, said) {
            (_, Some(said)) => format!("is not ready: {said}"),
            (NodeState::Ready, None) if because.is_empty() => READY.to_owned(),
            (NodeState::Ready, None) => "was ready, and something it needs is not".to_owned(),
            (_, None) => format!("is not ready: {why}"),
        };
        let panics = self.panics(seen, factory).await?;
        let may_miss = says == READY && !panics.is_empty();
        because.extend(panics);
        let says = if may_miss { "is ready, but the operator may miss changes".to_owned() } else { says };
        Ok(seen.why(says).because(because))
    }

    /// What the operator has not done, and what to look after.
    pub(crate) fn untouched(&self, what: &str) -> String {
        let name = &self.project.name;
        format!("is not ready: the operator {what}; does {name} run, and what does its /readyz say?")
    }

    /// What is not ready of that which the object is made of.
    async fn parts(&mut self, seen: &ExaminedObject<'_>, controlled: &Controlled) -> Result<Vec<Why>, LiveError> {
        let drawing = live::drawing(self.client.clone(), self.operator, controlled, seen.object).await?;
        let mut parts = Parts::default();
        parts.collect(&drawing.root);
        let mut because = parts.missing;
        for found in parts.found.iter().filter(|found| found.state != NodeState::Ready) {
            because.push(self.at(&found.kind, found.namespace.as_deref(), &found.name).await?);
        }
        Ok(because)
    }

    /// An object that another controller is for.
    async fn stranger(&mut self, seen: &ExaminedObject<'_>) -> Result<Why, LiveError> {
        let (state, why) = live::state_of(seen.kind, seen.object);
        if state == NodeState::Ready {
            return Ok(seen.why(READY));
        }
        let labels = seen.object["spec"]["selector"]["matchLabels"].as_object();
        let labels =
            labels.into_iter().flatten().filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
        let labels = labels.collect::<Vec<_>>().join(",");
        let mut because = Vec::new();
        if !labels.is_empty() && matches!(seen.kind.group.as_ref(), "apps" | "batch") {
            because = self.pods_of(seen, &labels).await?;
        }
        Ok(seen.why(format!("is not ready: {why}")).because(because))
    }

    async fn pods_of(&self, seen: &ExaminedObject<'_>, labels: &str) -> Result<Vec<Why>, LiveError> {
        let kind = pods();
        let list =
            match self.client.list(Target { kind: &kind, namespace: seen.namespace(), name: "" }, Some(labels)).await {
                Ok(list) => list,
                Err(error) if error.is_forbidden() => {
                    return Ok(vec![Why::new("its Pods", "are nothing that you may list")]);
                }
                Err(error) => return Err(failed(error)),
            };
        let pods = list.iter().filter_map(|pod| {
            let (state, why) = live::state_of(&kind, pod);
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            let says =
                if state == NodeState::Ending { "is being deleted".to_owned() } else { format!("is not ready: {why}") };
            (state != NodeState::Ready).then(|| Why::new(label(&kind, seen.namespace(), name), says))
        });
        Ok(pods.collect())
    }
}

/// What is said of an object that is nobody's trouble.
pub(crate) const READY: &str = "is ready";

/// What is said of an object that the way has come by before.
pub(crate) const RING: &str = "waits for what waits for it: a ring";

/// The objects of a tree, and its nodes that lack theirs.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) found: Vec<Found>,
    missing: Vec<Why>,
}

impl Parts {
    pub(crate) fn collect(&mut self, node: &Drawn) {
        self.found.extend(node.objects.iter().cloned());
        if node.state == Some(NodeState::Missing) && node.objects.is_empty() && node.children.is_empty() {
            let why = if node.why.is_empty() { String::new() } else { format!(": {}", node.why) };
            self.missing.push(Why::new(format!("node {}", node.path), format!("has made nothing yet{why}")));
        }
        node.children.iter().for_each(|child| self.collect(child));
    }
}

/// Whether the object is another install's.
fn excluded(seen: &ExaminedObject<'_>, factory: &dyn Factory) -> Option<Why> {
    let selection = &factory.settings().selection;
    let others = [selection.label_selector(), selection.field_selector()].into_iter().flatten().collect::<Vec<_>>();
    let says = || format!("is nobody's: this controller is for objects with {}", others.join(" and "));
    (!selection.includes(seen.object)).then(|| seen.why(says()))
}

/// What the condition of the outcome says, and whether it is true.
pub(crate) fn condition(object: &Value) -> Option<(bool, String)> {
    let conditions = object["status"]["conditions"].as_array()?;
    let available = conditions.iter().find(|condition| condition["type"] == "Available")?;
    let text = |field: &str| available[field].as_str().unwrap_or_default();
    Some((text("status") == "True", format!("{}: {}", text("reason"), text("message"))))
}

/// An object for people.
pub(crate) fn label(kind: &Kind, namespace: Option<&str>, name: &str) -> String {
    let namespace = namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default();
    format!("{kind} {namespace}{name}")
}

pub(crate) fn failed(error: CallError) -> LiveError {
    LiveError::Call(Box::new(error))
}
