//! Explains the objects that a spec references, by name or by label selector.

use crate::{
    cache::{Header, ObjectKey},
    client::Target,
    command::{
        lookup::LookupError,
        why::{
            Why,
            examine::{ExaminedObject, Examiner, STATE_CYCLE, call_error},
        },
    },
    kind::Kind,
    reference::{Pointer, PointerTarget, ScopedSelector},
};
use serde_json::Value;

impl Examiner<'_> {
    /// Explains all objects that the references of a spec name or select. In a cycle of references, the text says which field to change.
    pub(crate) async fn examine_references(&mut self, pointers: &[Pointer]) -> Result<Vec<Why>, LookupError> {
        let mut reasons = Vec::new();
        for Pointer { field, kind, to, .. } in pointers {
            match to {
                PointerTarget::One(key) => {
                    let mut why = self.examine(kind, key.namespace(), key.name()).await?;
                    if why.state == STATE_CYCLE {
                        why.state += &format!("; change {field} of one of them");
                    }
                    reasons.push(why);
                }
                PointerTarget::All(selector) => match selector.invalid_reason() {
                    Some(reason) => reasons.push(Why::new(*field, format!("selects nothing: {reason}"))),
                    None => reasons.extend(self.examine_matching(field, kind, selector).await?),
                },
            }
        }
        Ok(reasons)
    }

    /// Lists and explains the objects that a label selector of a spec selects. If the user may not list them, explains this instead.
    async fn examine_matching(
        &mut self,
        field: &str,
        kind: &Kind,
        selector: &ScopedSelector,
    ) -> Result<Vec<Why>, LookupError> {
        let target = Target { kind, namespace: selector.namespace.as_deref(), name: "" };
        let labels = selector.to_string();
        let list =
            match self.client.list::<Value>(target, Some(labels.as_str()).filter(|labels| !labels.is_empty())).await {
                Ok(list) => list,
                Err(error) if error.is_forbidden() => {
                    return Ok(vec![Why::new(field, format!("selects {kind} objects, which you can't list"))]);
                }
                Err(error) => return Err(call_error(error)),
            };
        let mut reasons = Vec::new();
        for object in list {
            let text = |field: &str| object["metadata"][field].as_str();
            reasons.push(self.examine(kind, text("namespace"), text("name").unwrap_or_default()).await?);
        }
        Ok(reasons)
    }
}

/// Returns whether a reference of a spec names the examined object, or selects it by its labels.
pub(crate) fn references_object(pointer: &Pointer, examined: &ExaminedObject<'_>) -> bool {
    pointer.kind == *examined.kind
        && match &pointer.to {
            PointerTarget::One(key) => *key == ObjectKey::new(examined.namespace(), examined.name()),
            PointerTarget::All(selector) => {
                Header::parse(examined.object.to_string().as_bytes()).is_ok_and(|header| selector.matches(&header))
            }
        }
}
