//! Decodes the object in a request body.

use serde_json::{Map, Value};

use crate::{
    call::Strictness,
    failure::{Cause, Failure},
    object,
    request::ResourceRequest,
    schema::builtin,
};

mod protobuf;
mod read;
pub(super) mod syntax;
mod types;

/// An object decoded from a request, and the warnings for the client.
pub(crate) struct Decoded {
    pub(crate) object: Value,
    pub(crate) warnings: Vec<String>,
}

/// Parses JSON and collects the paths of duplicate fields. Returns a syntax error with the message of Go's `encoding/json`.
pub(crate) fn read_json(text: &[u8]) -> Result<(Value, Vec<String>), String> {
    match read::json(text) {
        Ok(read::ParsedValue { value, duplicates }) => Ok((value, duplicates)),
        Err(error) => Err(syntax::syntax_error(text).unwrap_or_else(|| error.to_string())),
    }
}

/// Returns the first type error in `DeleteOptions`, in the words of Go's decoder.
pub(super) fn options_type_error(options: &Value) -> Option<String> {
    types::type_error(builtin::definition("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions")?, options)
}

impl ResourceRequest<'_> {
    /// Decodes the object in the body, which must have the kind and version of the request. Prunes unknown fields and sets defaults.
    /// Returns a 4xx error if the body is invalid.
    pub(crate) fn decode(&self) -> Result<Decoded, Failure> {
        let read::ParsedValue { value, duplicates } = self.parse_body()?;
        // Go decodes null as an object without fields.
        let object = if value.is_null() { Value::Object(Map::new()) } else { value };
        self.check_type(&object)?;
        self.check_values(&object)?;
        self.complete_decoded(object, duplicates)
    }

    /// Parses the body as JSON or YAML.
    pub(crate) fn parse(&self) -> Result<Value, Failure> {
        self.parse_body().map(|read| read.value)
    }

    /// Parses the body by its content type. Returns a 400 error if it is invalid, or a 415 error if its content type is
    /// not supported.
    fn parse_body(&self) -> Result<read::ParsedValue, Failure> {
        let body = &self.call.body;
        match self.call.content_type.as_str() {
            "" | "application/json" => read::json(body).map_err(|error| {
                let why = syntax::syntax_error(body).unwrap_or_else(|| error.to_string());
                self.unrecognized_body(&format!("couldn't get version/kind; json parse error: {why}"))
            }),
            "application/yaml" => {
                let text = std::str::from_utf8(body).map_err(|_| self.unrecognized_body("yaml: invalid UTF-8"))?;
                let value = read::yaml(text).map_err(|error| self.unrecognized_body(&format!("yaml: {error}")))?;
                // Duplicate fields are detected in JSON only.
                Ok(read::ParsedValue { value, duplicates: Vec::new() })
            }
            // As in Kubernetes, custom resources have no protobuf encoding.
            "application/vnd.kubernetes.protobuf" if self.kind.custom().is_none() => {
                let why = if body.starts_with(protobuf::PREFIX) {
                    "proto: illegal wireType or unexpected end"
                } else {
                    "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
                };
                let value = protobuf::decode_object(body).ok_or_else(|| self.unrecognized_body(why))?;
                Ok(read::ParsedValue { value, duplicates: Vec::new() })
            }
            _ => {
                let custom = self.kind.custom().is_some();
                let protobuf = if custom { "" } else { ", application/vnd.kubernetes.protobuf" };
                let known = format!("application/json, application/yaml{protobuf}");
                Err(Failure::unsupported_media(format!(
                    "the body of the request was in an unknown format - accepted media types include: {known}"
                )))
            }
        }
    }

    /// Returns the 400 error for a body that cannot be parsed.
    fn unrecognized_body(&self, why: &str) -> Failure {
        let (kind, beginning) = (&self.kind.kind, summary(&self.call.body));
        Failure::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({beginning})"
        ))
    }

    /// Prunes and defaults the object, as strictly as `fieldValidation` requests: duplicate and unknown fields are an
    /// error, warnings, or ignored.
    fn complete_decoded(&self, mut object: Value, duplicates: Vec<String>) -> Result<Decoded, Failure> {
        let unknown = self.complete(&mut object);
        let problems = duplicates.iter().map(|field| format!("duplicate field {field:?}"));
        let problems: Vec<String> =
            problems.chain(unknown.iter().map(|field| format!("unknown field {field:?}"))).collect();
        match self.call.options.field_validation.unwrap_or(Strictness::Warn) {
            Strictness::Strict if !problems.is_empty() => {
                let why = format!("strict decoding error: {}", problems.join(", "));
                Err(Failure::bad_request(self.unusable_message(&object, &why)))
            }
            Strictness::Warn => Ok(Decoded { warnings: problems, object }),
            Strictness::Ignore | Strictness::Strict => Ok(Decoded { object, warnings: Vec::new() }),
        }
    }

    /// Builds the message `Pod in version "v1" cannot be handled as a Pod: …`. The first kind and the version are those in the object, or
    /// those of the request if the object has none.
    fn unusable_message(&self, object: &Value, why: &str) -> String {
        let kind = &self.kind.kind;
        let shown_kind = Some(object::text(object, &["kind"])).filter(|name| !name.is_empty()).unwrap_or(kind);
        let version = object::text(object, &["apiVersion"]);
        let version = if version.is_empty() { &self.kind.version } else { version };
        let version = version.rsplit('/').next().unwrap_or_default();
        format!("{shown_kind} in version {version:?} cannot be handled as a {kind}: {why}")
    }

    /// Checks that the object has the kind and version of the request, which an object of a built-in kind may omit. Returns a 4xx error
    /// with the message of kube-apiserver for another kind or version.
    fn check_type(&self, object: &Value) -> Result<(), Failure> {
        let kind = self.kind;
        if !object.is_object() {
            let json_type = if object.is_array() {
                "array"
            } else if object.is_string() {
                "string"
            } else if object.is_boolean() {
                "bool"
            } else {
                "number"
            };
            // Go decodes only these two fields first, to find out the type of the object.
            let go_struct = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; \
                Kind string \"json:\\\"kind,omitempty\\\"\" }";
            let why = format!("json: cannot unmarshal {json_type} into Go value of type {go_struct}");
            return Err(self.unrecognized_body(&format!("couldn't get version/kind; json parse error: {why}")));
        }
        let (api_version, kind_name) = (object::text(object, &["apiVersion"]), object::text(object, &["kind"]));
        if kind.custom().is_some() {
            return self.check_custom_type(object, api_version, kind_name);
        }
        let expected_version = kind.api_version();
        let has_version = api_version.is_empty() || api_version == expected_version;
        if has_version && (kind_name.is_empty() || kind_name == kind.kind) {
            return Ok(());
        }
        let shown_version = if api_version.is_empty() { &expected_version } else { api_version };
        let shown_kind = if kind_name.is_empty() { kind.kind.as_str() } else { kind_name };
        Err(Failure::bad_request(self.unusable_message(object, &self.other_type(shown_version, shown_kind))))
    }

    /// Returns the message of Go's `runtime.Scheme` for an object of another kind or version than the request: no conversion exists from
    /// another built-in kind, and any other kind is not registered.
    pub(crate) fn other_type(&self, api_version: &str, kind_name: &str) -> String {
        let kind = self.kind;
        if self.server.kinds.of_kind(api_version, kind_name).is_some_and(|other| other.custom().is_none()) {
            // The name of the Go package: the first label of the group, or `core`.
            let package = kind.group.split('.').next().filter(|label| !label.is_empty()).unwrap_or("core");
            let version = api_version.rsplit('/').next().unwrap_or_default();
            let (from, to) = (format!("{version}.{kind_name}"), format!("{package}.{}", kind.kind));
            format!("converting ({from}) to ({to}): unknown conversion")
        } else {
            format!(
                "no kind {kind_name:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
            )
        }
    }

    /// Checks that a custom resource has the `kind` and `apiVersion` of the request. Returns a 400 error for a missing field or another
    /// version, and a 422 error for another kind.
    fn check_custom_type(&self, object: &Value, api_version: &str, kind_name: &str) -> Result<(), Failure> {
        let kind = self.kind;
        for (field, value) in [("Kind", kind_name), ("apiVersion", api_version)] {
            if value.is_empty() {
                let text = String::from_utf8_lossy(&self.call.body);
                return Err(self.unrecognized_body(&format!("Object '{field}' is missing in '{text}'")));
            }
        }
        let expected = kind.api_version();
        if api_version != expected {
            return Err(Failure::bad_request(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({expected})"
            )));
        }
        if kind_name != kind.kind {
            let cause = Cause::invalid("kind", &kind_name.into(), &format!("must be {}", kind.kind));
            return Err(Failure::invalid_of_kind(kind_name, &kind.group, object::name(object), &[cause]));
        }
        Ok(())
    }

    /// Checks that values have the types of their fields. For custom kinds it checks only the metadata.
    fn check_values(&self, object: &Value) -> Result<(), Failure> {
        self.type_error(object).map_or(Ok(()), |why| Err(Failure::bad_request(self.unusable_message(object, &why))))
    }

    /// Returns the first value that does not have the type of its field, as an error message of Go's decoder; `None` if all types are
    /// correct. Of a custom resource, checks only the metadata.
    pub(crate) fn type_error(&self, object: &Value) -> Option<String> {
        match self.kind.custom() {
            Some(_) => types::metadata_type_error(&object["metadata"]),
            None => self.kind.in_table().and_then(|definition| types::type_error(definition, object)),
        }
    }

    /// Returns the 400 error for an object without `metadata.name`, which is required even if the path contains the name.
    pub(crate) fn missing_name(&self) -> Failure {
        let name = self.name;
        let why = format!("the name of the object ({name} based on URL) was undeterminable: name must be provided");
        Failure::bad_request(why)
    }

    /// Sets the name and namespace of the object to those in the path. Returns a 400 error if the object has another name or namespace.
    pub(crate) fn set_name_from_path(&self, object: &mut Value) -> Result<(), Failure> {
        let (namespace, name) = (object::namespace(object).to_owned(), object::name(object).to_owned());
        if !self.name.is_empty() && !name.is_empty() && name != self.name {
            let why = format!("the name of the object ({name}) does not match the name on the URL ({})", self.name);
            return Err(Failure::bad_request(why));
        }
        if !namespace.is_empty() && namespace != self.namespace {
            let why = if self.kind.namespaced {
                "the namespace of the provided object does not match the namespace sent on the request"
            } else {
                "the namespace of the object is not empty, but its kind is in no namespace"
            };
            return Err(Failure::bad_request(why));
        }
        let metadata = object::metadata_mut(object);
        if self.kind.namespaced {
            metadata.insert("namespace".into(), self.namespace.into());
        }
        if !self.name.is_empty() {
            metadata.insert("name".into(), self.name.into());
        }
        Ok(())
    }
}

/// The maximum number of bytes of a body that an error message quotes.
const MAX_QUOTED_BYTES: usize = 30;

/// Returns the beginning of a body for an error message: as text if it may be a JSON object, else in hexadecimal digits.
fn summary(body: &[u8]) -> String {
    let beginning = body.get(..MAX_QUOTED_BYTES).unwrap_or(body);
    let ellipsis = if body.len() > MAX_QUOTED_BYTES { " ..." } else { "" };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{ellipsis}", String::from_utf8_lossy(beginning)),
        Some(_) => format!("{}{ellipsis}", beginning.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}
