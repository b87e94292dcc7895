//! Explains why an object that is being deleted still exists: its finalizers, and the referrers and children behind them.

use crate::{
    cache::ObjectKey,
    client::{CallError, Target, selectors::Selectors},
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
    kind::Kind,
    reference,
};
use serde_json::Value;

/// The finalizer with which the garbage collector waits for dependents.
const FOREGROUND_FINALIZER: &str = "foregroundDeletion";

/// Explains a reference finalizer whose referrer does not exist.
const REFERRER_IS_GONE: &str =
    "referenced it and is gone; the operator removes this finalizer within a minute of its start";

/// Explains a reference finalizer with a shortened name if the user may not list the objects that may have the whole name.
const REFERRER_IS_SHORTENED: &str = "references it; the finalizer contains a shortened name, and you may not list all objects of the kind \
    to find the whole name";

impl Examiner<'_> {
    /// Explains why an object that is being deleted still exists. The reasons are its reference finalizers, each of which names an object
    /// that references it, and the finalizers of other controllers. If it has only the finalizer of the operator or of the garbage
    /// collector, the reasons are its children that still exist.
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
        let has_finalizer = |finalizer: &str| examined.finalizers().contains(&finalizer);
        let has_own_finalizer = own_finalizer.is_some_and(has_finalizer);
        if reasons.is_empty() && (has_own_finalizer || has_finalizer(FOREGROUND_FINALIZER)) {
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

    /// Explains a reference finalizer. It names the referrer, an object that references the examined one and so blocks its deletion. The
    /// explanation says where the referrer has the reference, or why the finalizer remains although the referrer has none. A referrer that
    /// is being deleted as well is examined further.
    async fn examine_referrer(&mut self, examined: &ExaminedObject<'_>, finalizer: &str) -> Result<Why, LookupError> {
        let message = reference::describe(finalizer);
        let kind = self
            .project
            .controllers
            .iter()
            .map(|controlled| &controlled.kind)
            .find(|kind| finalizer.starts_with(&format!("{}/", kind.full_name())));
        let Some(kind) = kind else {
            return Ok(Why::new(message, "references it; another operator has to remove this finalizer"));
        };
        let key = match self.referrer(kind, finalizer).await {
            Ok(Some(key)) => key,
            Ok(None) => return Ok(Why::new(message, REFERRER_IS_GONE)),
            Err(error) if error.code() == 403 => return Ok(Why::new(message, REFERRER_IS_SHORTENED)),
            Err(error) => return Err(call_error(error)),
        };
        let object = self
            .client
            .get::<Value>(Target { kind, namespace: key.namespace(), name: key.name() })
            .await
            .map_err(call_error)?;
        let Some(object) = object else {
            return Ok(Why::new(message, REFERRER_IS_GONE));
        };
        if object["metadata"]["deletionTimestamp"].is_null() {
            let controlled = self.controlled(kind);
            let facts = controlled.and_then(|(_, factory)| factory.spec_facts(&object).ok());
            let field = facts
                .and_then(|facts| facts.references.into_iter().find(|pointer| references_object(pointer, examined)));
            let field = field.map(|pointer| pointer.field);
            let is_referenced_by_nodes =
                controlled.is_some_and(|(controlled, _)| controlled.shape.kinds_referenced().contains(examined.kind));
            let description = match field {
                Some(field) => format!("references it in {field}; delete that object or change its reference"),
                None if is_referenced_by_nodes => {
                    "references it in a node; delete that object, or remove the reference in the node".to_owned()
                }
                None => "referenced it, and the operator has not been able to remove this finalizer".to_owned(),
            };
            // The reference itself explains the finalizer; otherwise the state of the referrer does.
            let causes = if field.is_some() || is_referenced_by_nodes {
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

    /// Returns the key of the object of a kind that added a reference finalizer. If the finalizer may contain a shortened name, the
    /// finalizers of all objects of the kind are compared with it; `None` if none of them has this finalizer.
    ///
    /// # Errors
    /// Fails if the objects can't be listed.
    async fn referrer(&self, kind: &Kind, finalizer: &str) -> Result<Option<ObjectKey>, CallError> {
        if let Some(key) = reference::referrer(kind, finalizer) {
            return Ok(Some(key));
        }
        let all_objects = Target { kind, namespace: None, name: "" };
        let matching_key = |object: Value| {
            let metadata = &object["metadata"];
            let key = ObjectKey::new(metadata["namespace"].as_str(), metadata["name"].as_str()?);
            (reference::finalizer_name(kind, &key) == finalizer).then_some(key)
        };
        let keys = self.client.list_each(all_objects, Selectors::default(), matching_key).await?;
        Ok(keys.into_iter().next())
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
