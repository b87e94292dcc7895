//! Filters objects by name, namespace and selectors.

use serde_json::Value;

use crate::{
    call::selector::{FieldSelector, LabelSelector},
    discovery::{self, Selectable},
    failure::Failure,
    kind::Kind,
    object,
    request::ResourceRequest,
    store::Stored,
};

/// A filter of objects by name, namespace and selectors.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    name: String,
    pub(super) namespace: String,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Filter {
    pub(super) fn of(request: ResourceRequest<'_>) -> Result<Self, Failure> {
        let options = &request.call.options;
        let fields = FieldSelector::parse(&options.field_selector)?;
        for requirement in &fields.0 {
            let field = &requirement.field;
            match discovery::selectable(request.kind, field) {
                Selectable::Yes => {}
                Selectable::NoLabel => {
                    return Err(Failure::bad_request(format!("field label not supported: {field}")));
                }
                Selectable::OnlyMetadata => {
                    let only = "only \"metadata.name\", \"metadata.namespace\"";
                    return Err(Failure::bad_request(format!("{field:?} is not a known field selector: {only}")));
                }
            }
        }
        Ok(Self {
            name: request.name.to_owned(),
            namespace: request.namespace.to_owned(),
            labels: LabelSelector::parse(&options.label_selector)?,
            fields,
        })
    }

    /// Whether the filter has no criterion other than the namespace.
    pub(super) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty() && self.name.is_empty()
    }

    /// Returns the only name that can match.
    pub(super) fn only_name(&self) -> Option<&str> {
        let by_field = || {
            let named = self.fields.0.iter().find(|wanted| wanted.field == "metadata.name" && wanted.equal);
            named.map(|wanted| wanted.value.as_str())
        };
        if self.name.is_empty() { by_field() } else { Some(&self.name) }
    }

    pub(super) fn passes(&self, kind: &Kind, item: &Stored) -> bool {
        let placed = self.namespace.is_empty() || *item.namespace == *self.namespace;
        let named = self.name.is_empty() || *item.name == *self.name;
        placed && named && self.labels.matches(|key| item.label(key)) && self.fields_match(kind, item)
    }

    fn fields_match(&self, kind: &Kind, item: &Stored) -> bool {
        let mut read = None;
        self.fields.0.iter().all(|wanted| {
            let equal = match wanted.field.as_str() {
                "metadata.name" => *item.name == *wanted.value,
                "metadata.namespace" => *item.namespace == *wanted.value,
                field => plain(read.get_or_insert_with(|| item.object(kind)), field) == wanted.value,
            };
            equal == wanted.equal
        })
    }
}

/// Returns a field in the form that a field selector compares; an absent field has the zero value of its Go type.
fn plain(object: &Value, field: &str) -> String {
    let path: Vec<&str> = match field {
        "source" if !object::text(object, &["source", "component"]).is_empty() => vec!["source", "component"],
        "source" => vec!["reportingComponent"],
        "status.successful" => vec!["status", "succeeded"],
        "status.podIPs" => {
            let all = object::at(object, &["status", "podIPs"]).and_then(Value::as_array);
            return all.into_iter().flatten().map(|ip| object::text(ip, &["ip"])).collect::<Vec<_>>().join(",");
        }
        field => field.split('.').collect(),
    };
    match object::at(object, &path) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None if matches!(field, "spec.unschedulable" | "spec.hostNetwork") => "false".to_owned(),
        None if matches!(field, "status.successful" | "status.replicas") => "0".to_owned(),
        None => String::new(),
    }
}
