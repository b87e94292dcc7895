//! What an object names.

use crate::{
    cache::{Header, ObjectKey},
    client::Target,
    command::{
        lookup::LiveError,
        why::{
            Why,
            look::{ExaminedObject, Look, RING, failed},
        },
    },
    kind::Kind,
    reference::{Pointer, Selected, To},
};

impl Look<'_> {
    /// What is to be said of all objects that a spec means.
    pub(crate) async fn named(&mut self, pointers: &[Pointer]) -> Result<Vec<Why>, LiveError> {
        let mut because = Vec::new();
        for Pointer { field, kind, to, .. } in pointers {
            match to {
                To::One(key) => {
                    let mut why = self.at(kind, key.namespace(), key.name()).await?;
                    if why.says == RING {
                        why.says += &format!("; have {field} of one of them name another");
                    }
                    because.push(why);
                }
                To::All(selected) => match selected.fault() {
                    Some(fault) => because.push(Why::new(*field, format!("selects nothing: {fault}"))),
                    None => because.extend(self.selected(field, kind, selected).await?),
                },
            }
        }
        Ok(because)
    }

    async fn selected(&mut self, field: &str, kind: &Kind, selected: &Selected) -> Result<Vec<Why>, LiveError> {
        let target = Target { kind, namespace: selected.namespace.as_deref(), name: "" };
        let labels = selected.to_string();
        let list = match self.client.list(target, Some(labels.as_str()).filter(|labels| !labels.is_empty())).await {
            Ok(list) => list,
            Err(error) if error.is_forbidden() => {
                return Ok(vec![Why::new(field, format!("selects objects of {kind}, which you may not list"))]);
            }
            Err(error) => return Err(failed(error)),
        };
        let mut because = Vec::new();
        for object in list {
            let text = |field: &str| object["metadata"][field].as_str();
            because.push(self.at(kind, text("namespace"), text("name").unwrap_or_default()).await?);
        }
        Ok(because)
    }
}

/// Whether this is what means an object.
pub(crate) fn means(pointer: &Pointer, seen: &ExaminedObject<'_>) -> bool {
    pointer.kind == *seen.kind
        && match &pointer.to {
            To::One(key) => *key == ObjectKey::new(seen.namespace(), seen.name()),
            To::All(selected) => {
                Header::parse(seen.object.to_string().as_bytes()).is_ok_and(|header| selected.has(&header))
            }
        }
}
