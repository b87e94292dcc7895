//! Who holds an object that is to go.

use crate::{
    client::Target,
    command::{
        live,
        lookup::LiveError,
        why::{
            Why,
            look::{ExaminedObject, Look, Parts, RING, condition, failed},
            named::means,
        },
    },
    reference,
};

/// The finalizer by which the garbage collector waits for dependents.
const FOREGROUND: &str = "foregroundDeletion";

impl Look<'_> {
    pub(crate) async fn ending(&mut self, seen: &ExaminedObject<'_>) -> Result<Why, LiveError> {
        let own = self.controlled(seen.kind).map(|(controlled, _)| controlled.finalizer.as_str());
        let mut because = Vec::new();
        for finalizer in seen.finalizers() {
            if reference::is_reference(finalizer) {
                because.push(self.holder(seen, finalizer).await?);
            } else if finalizer != FOREGROUND && Some(finalizer) != own {
                let says = "holds it; whoever put that there takes it away, not this operator";
                because.push(Why::new(format!("finalizer {finalizer}"), says));
            }
        }
        let is_held = |finalizer: &str| seen.finalizers().contains(&finalizer);
        let is_ours = own.is_some_and(is_held);
        if because.is_empty() && (is_ours || is_held(FOREGROUND)) {
            because = self.left(seen).await?;
        }
        let said = condition(seen.object).filter(|(is_true, _)| !is_true).map(|(_, said)| format!(": {said}"));
        let mut says = format!("is being deleted{}", said.unwrap_or_default());
        if because.is_empty() && is_ours {
            let name = &self.project.name;
            says += &format!("; the operator has not let it go yet: does {name} run, and what does its log say?");
        } else if seen.finalizers().is_empty() {
            says += "; nothing holds it but the time it is given to end";
        }
        Ok(Why::new(&seen.label, says).because(because))
    }

    /// An object that names the one that is to go.
    async fn holder(&mut self, seen: &ExaminedObject<'_>, finalizer: &str) -> Result<Why, LiveError> {
        let said = reference::said(finalizer);
        let holder =
            self.project.controllers.iter().find(|one| finalizer.starts_with(&format!("{}/", one.kind.full_name())));
        let Some((kind, key)) = holder.and_then(|one| Some((&one.kind, reference::referrer(&one.kind, finalizer)?)))
        else {
            return Ok(Why::new(said, "names it, and is another operator's to let go"));
        };
        let found =
            self.client.get(Target { kind, namespace: key.namespace(), name: key.name() }).await.map_err(failed)?;
        let Some(object) = found else {
            let says = "named it and is gone; the operator takes its reference away within a minute of its start";
            return Ok(Why::new(said, says));
        };
        if object["metadata"]["deletionTimestamp"].is_null() {
            let controlled = self.controlled(kind);
            let told = controlled.and_then(|(_, factory)| factory.told(&object).ok());
            let field = told.and_then(|told| told.named.into_iter().find(|pointer| means(pointer, seen)));
            let field = field.map(|pointer| pointer.field);
            let by_nodes = controlled.is_some_and(|(one, _)| one.shape.kinds_referenced().contains(seen.kind));
            let says = match field {
                Some(field) => format!("names it in {field}; delete that object, or have it name another"),
                None if by_nodes => {
                    "has a node that references it; delete that object, or have the node let it go".to_owned()
                }
                None => "named it, and has not been able to let it go".to_owned(),
            };
            let deeper = if field.is_some() || by_nodes {
                Vec::new()
            } else {
                vec![self.at(kind, key.namespace(), key.name()).await?]
            };
            return Ok(
                Why::new(crate::command::why::look::label(kind, key.namespace(), key.name()), says).because(deeper)
            );
        }
        let mut why = self.at(kind, key.namespace(), key.name()).await?;
        if why.says == RING {
            why.says += "; the operator breaks it at its youngest member, once nothing alive names one of them";
        }
        Ok(why)
    }

    /// What is left of that which the object was made of.
    async fn left(&mut self, seen: &ExaminedObject<'_>) -> Result<Vec<Why>, LiveError> {
        let Some((controlled, _)) = self.controlled(seen.kind) else { return Ok(Vec::new()) };
        let drawing = live::drawing(self.client.clone(), self.operator, controlled, seen.object).await?;
        let mut parts = Parts::default();
        parts.collect(&drawing.root);
        let mut because = Vec::new();
        for found in &parts.found {
            let mut why = self.at(&found.kind, found.namespace.as_deref(), &found.name).await?;
            if why.says == crate::command::why::look::READY {
                why.says = "is still there".to_owned();
            }
            because.push(why);
        }
        Ok(because)
    }
}
