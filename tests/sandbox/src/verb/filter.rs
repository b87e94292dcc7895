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
    /// Parses the filter of a request from its path and its selectors. Returns a 400 error if a selector is invalid, or if the kind does
    /// not support a field of the field selector.
    pub(super) fn parse(request: ResourceRequest<'_>) -> Result<Self, Failure> {
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

    /// Returns whether the filter has no criterion other than the namespace.
    pub(super) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty() && self.name.is_empty()
    }

    /// Returns the name of the only object that can match, from the path or from the field selector `metadata.name=…`; `None` if the
    /// filter requires no single name.
    pub(super) fn only_name(&self) -> Option<&str> {
        let by_field = || {
            let name_requirement =
                self.fields.0.iter().find(|requirement| requirement.field == "metadata.name" && requirement.equal);
            name_requirement.map(|requirement| requirement.value.as_str())
        };
        if self.name.is_empty() { by_field() } else { Some(&self.name) }
    }

    /// Returns whether a stored object matches the name, the namespace and the selectors.
    pub(super) fn matches(&self, kind: &Kind, item: &Stored) -> bool {
        let in_namespace = self.namespace.is_empty() || *item.namespace == *self.namespace;
        let has_name = self.name.is_empty() || *item.name == *self.name;
        in_namespace && has_name && self.labels.matches(|key| item.label(key)) && self.fields_match(kind, item)
    }

    /// Returns whether a stored object meets the field selector. Decodes the object only if the selector has a field other than name and
    /// namespace.
    fn fields_match(&self, kind: &Kind, item: &Stored) -> bool {
        let mut decoded = None;
        self.fields.0.iter().all(|requirement| {
            let is_equal = match requirement.field.as_str() {
                "metadata.name" => *item.name == *requirement.value,
                "metadata.namespace" => *item.namespace == *requirement.value,
                field => field_text(decoded.get_or_insert_with(|| item.object(kind)), field) == requirement.value,
            };
            is_equal == requirement.equal
        })
    }
}

/// Returns the value of a field as text, to compare with a field selector; an absent field has the zero value of its Go type.
fn field_text(object: &Value, field: &str) -> String {
    // These field labels are no paths: `source` of an Event, `status.successful` of a Job, and `status.podIPs`, which is a list.
    let path: Vec<&str> = match field {
        "source" if !object::text(object, &["source", "component"]).is_empty() => vec!["source", "component"],
        "source" => vec!["reportingComponent"],
        "status.successful" => vec!["status", "succeeded"],
        "status.podIPs" => {
            let ips = object::at(object, &["status", "podIPs"]).and_then(Value::as_array);
            return ips.into_iter().flatten().map(|ip| object::text(ip, &["ip"])).collect::<Vec<_>>().join(",");
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
