//! The object in a request.

use serde_json::Value;

use crate::{
    authorization,
    call::{Strictness, Verb},
    failure::{Cause, Failure},
    kind::Kind,
    object,
    verb::Asked,
};

/// An object from a request, and what the client should be warned of.
pub(crate) struct Decoded {
    pub(crate) object: Value,
    pub(crate) warnings: Vec<String>,
}

impl Asked<'_> {
    /// The object of the request, which must be one of this kind. Unknown fields are gone, defaults are there.
    pub(crate) fn decode(&self) -> Result<Decoded, Failure> {
        let object = self.parse()?;
        self.check_type(&object, self.kind)?;
        self.completed(object)
    }

    /// The body as JSON, from JSON or YAML.
    pub(crate) fn parse(&self) -> Result<Value, Failure> {
        let kind = self.kind;
        let unreadable = |why: String| {
            let what =
                format!("{} in version {:?} cannot be handled as a {}: {why}", kind.kind, kind.version, kind.kind);
            Failure::bad_request(what)
        };
        match self.call.content_type.as_str() {
            "" | "application/json" => {
                serde_json::from_slice(&self.call.body).map_err(|error| unreadable(error.to_string()))
            }
            "application/yaml" => Err(Failure::unsupported_media("YAML is not read yet")),
            other => {
                let known = "application/json, application/yaml";
                Err(Failure::unsupported_media(format!(
                    "the body of the request was in an unknown format - accepted media types include: {known}: {other}"
                )))
            }
        }
    }

    /// Prunes and defaults, as strictly as the request wants it.
    pub(crate) fn completed(&self, mut object: Value) -> Result<Decoded, Failure> {
        crate::validation::check_types(self.kind, &object).map_err(|why| self.unfit(&object, &why))?;
        let unknown = self.complete(&mut object);
        authorization::validation::fill_in(self.kind, &mut object);
        let said = unknown.iter().map(|field| format!("unknown field {field:?}"));
        match self.call.options.field_validation.unwrap_or(Strictness::Warn) {
            Strictness::Strict if !unknown.is_empty() => {
                let said: Vec<_> = said.map(|said| format!("strict decoding error: {said}")).collect();
                Err(Failure::bad_request(said.join(", ")))
            }
            Strictness::Warn => Ok(Decoded { warnings: said.collect(), object }),
            Strictness::Ignore | Strictness::Strict => Ok(Decoded { object, warnings: Vec::new() }),
        }
    }

    /// The object, or what a patch makes of it, is none of the kind.
    fn unfit(&self, object: &Value, why: &str) -> Failure {
        let kind = self.kind;
        if self.call.verb != Verb::Patch {
            let what =
                format!("{} in version {:?} cannot be handled as a {}: {why}", kind.kind, kind.version, kind.kind);
            return Failure::bad_request(what);
        }
        let cause = Cause::invalid("patch", &object.to_string().into(), why);
        Failure::unfit_patch(&cause)
    }

    fn check_type(&self, object: &Value, kind: &Kind) -> Result<(), Failure> {
        let (api_version, name) = (object::text(object, &["apiVersion"]), object::text(object, &["kind"]));
        let expected = (kind.api_version(), kind.kind.as_str());
        if (api_version.is_empty() || api_version == expected.0) && (name.is_empty() || name == expected.1) {
            return Ok(());
        }
        Err(Failure::bad_request(format!(
            "{name} in version {api_version:?} cannot be handled as a {}: no kind {name:?} is registered for version {api_version:?}",
            kind.kind
        )))
    }

    /// Name and namespace of the object must be those of the path; what it leaves out is taken from there.
    pub(crate) fn place(&self, object: &mut Value) -> Result<(), Failure> {
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
