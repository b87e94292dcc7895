//! Explains why an object that is being deleted still exists: its finalizers, and the referrers and children behind them.

use crate::{
    client::Target,
    command::{
        live,
        lookup::LookupError,
        why::{
            Why,
            examine::{
                ExaminedObject, Examiner, STATE_CYCLE, STATE_READY, TreeObjects, available_condition, call_error,
            },
            references::references_object,
        },
    },
    reference,
};
use serde_json::Value;

/// The finalizer with which the garbage collector waits for dependents.
const FOREGROUND_FINALIZER: &str = "foregroundDeletion";

impl Examiner<'_> {
    /// Explains an object that is being deleted: by the finalizers of referrers and of other controllers. If only the operator or the
    /// garbage collector holds it, by the children that still exist.
    pub(crate) async fn examine_deletion(&mut self, examined: &ExaminedObject<'_>) -> Result<Why, LookupError> {
        let own_finalizer = self.controlled(examined.kind).map(|(controlled, _)| controlled.finalizer.as_str());
        let mut reasons = Vec::new();
        for finalizer in examined.finalizers() {
            if reference::is_reference(finalizer) {
                reasons.push(self.examine_referrer(examined, finalizer).await?);
            } else if finalizer != FOREGROUND_FINALIZER && Some(finalizer) != own_finalizer {
                let description = "blocks the deletion; its own controller has to remove it, not this operator";
                reasons.push(Why::new(format!("finalizer {finalizer}"), description));
            }
        }
        let is_held = |finalizer: &str| examined.finalizers().contains(&finalizer);
        let has_own_finalizer = own_finalizer.is_some_and(is_held);
        if reasons.is_empty() && (has_own_finalizer || is_held(FOREGROUND_FINALIZER)) {
            reasons = self.remaining_children(examined).await?;
        }
        let message = available_condition(examined.object)
            .filter(|(is_true, _)| !is_true)
            .map(|(_, message)| format!(": {message}"));
        let mut description = format!("is being deleted{}", message.unwrap_or_default());
        if reasons.is_empty() && has_own_finalizer {
            let name = &self.project.name;
            description += &format!("; the operator has not removed its finalizer yet: check {name} and its log");
        } else if examined.finalizers().is_empty() {
            description += "; it has no finalizers and ends after its grace period";
        }
        Ok(Why::new(&examined.label, description).with_reasons(reasons))
    }

    /// Explains the object whose reference finalizer blocks the deletion: what references it, or why the finalizer remains although
    /// nothing does. A referrer that is itself being deleted is examined further.
    async fn examine_referrer(&mut self, examined: &ExaminedObject<'_>, finalizer: &str) -> Result<Why, LookupError> {
        let message = reference::describe(finalizer);
        let referrer = self
            .project
            .controllers
            .iter()
            .find(|controlled| finalizer.starts_with(&format!("{}/", controlled.kind.full_name())));
        let Some((kind, key)) =
            referrer.and_then(|controlled| Some((&controlled.kind, reference::referrer(&controlled.kind, finalizer)?)))
        else {
            return Ok(Why::new(message, "references it; another operator has to remove this finalizer"));
        };
        let object = self
            .client
            .get::<Value>(Target { kind, namespace: key.namespace(), name: key.name() })
            .await
            .map_err(call_error)?;
        let Some(object) = object else {
            let description =
                "referenced it and is gone; the operator removes this finalizer within a minute of its start";
            return Ok(Why::new(message, description));
        };
        if object["metadata"]["deletionTimestamp"].is_null() {
            let controlled = self.controlled(kind);
            let facts = controlled.and_then(|(_, factory)| factory.spec_facts(&object).ok());
            let field = facts
                .and_then(|facts| facts.references.into_iter().find(|pointer| references_object(pointer, examined)));
            let field = field.map(|pointer| pointer.field);
            let by_nodes = controlled.is_some_and(|(one, _)| one.shape.kinds_referenced().contains(examined.kind));
            let description = match field {
                Some(field) => format!("references it in {field}; delete that object or change its reference"),
                None if by_nodes => {
                    "references it in a node; delete that object, or remove the reference in the node".to_owned()
                }
                None => "referenced it, and the operator has not been able to remove this finalizer".to_owned(),
            };
            let causes = if field.is_some() || by_nodes {
                Vec::new()
            } else {
                vec![self.examine(kind, key.namespace(), key.name()).await?]
            };
            return Ok(Why::new(crate::command::why::examine::label(kind, key.namespace(), key.name()), description)
                .with_reasons(causes));
        }
        let mut why = self.examine(kind, key.namespace(), key.name()).await?;
        if why.state == STATE_CYCLE {
            why.state += "; the operator breaks the cycle at its youngest object once nothing else references it";
        }
        Ok(why)
    }

    /// Explains each child of the object that still exists; none if the operator does not control the object's kind.
    async fn remaining_children(&mut self, examined: &ExaminedObject<'_>) -> Result<Vec<Why>, LookupError> {
        let Some((controlled, _)) = self.controlled(examined.kind) else { return Ok(Vec::new()) };
        let diagram = live::live_diagram(self.client.clone(), self.operator, controlled, examined.object).await?;
        let mut tree_objects = TreeObjects::default();
        tree_objects.collect(&diagram.root);
        let mut explanations = Vec::new();
        for child in &tree_objects.objects {
            let mut why = self.examine(&child.kind, child.namespace.as_deref(), &child.name).await?;
            if why.state == STATE_READY {
                why.state = "still exists".to_owned();
            }
            explanations.push(why);
        }
        Ok(explanations)
    }
}
