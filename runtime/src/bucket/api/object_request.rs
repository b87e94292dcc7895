//! `ObjectRequest`: a request for one object, or for all objects of a namespace or kind.

use super::{
    call::ApiCall,
    failure::ApiFailure,
    fields::FieldWriter,
    kind::BucketKind,
    kind_store::KindStore,
    object::{map_mut, metadata_mut, text},
    object_key::KeyedName,
};
use serde_json::Value;

/// A request for objects of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectRequest<'a> {
    pub(super) store: &'a KindStore,
    pub(super) call: &'a ApiCall,
    pub(super) namespace: &'a str,
    /// Empty for a request for several objects.
    pub(super) name: &'a str,
    /// Empty, or `status`.
    pub(super) subresource: &'a str,
}

impl<'a> ObjectRequest<'a> {
    pub(super) fn kind(&self) -> &'a BucketKind {
        &self.store.kind
    }

    /// Returns the bucket key of the requested object; `None` if the namespace or the name of the request is invalid for the kind.
    pub(super) fn key(&self) -> Option<String> {
        KeyedName::new(&self.kind().kind, self.namespace, self.name).map(|name| name.key())
    }

    /// Returns the writer that `managedFields` records: the field manager, the kind, and the subresource. `now` is the time of the write.
    pub(super) fn writer(&self, now: &'a str) -> FieldWriter<'a> {
        FieldWriter { kind: self.kind(), subresource: self.subresource, manager: self.call.field_manager(), now }
    }

    pub(super) fn not_found(&self) -> ApiFailure {
        ApiFailure::not_found(self.kind(), self.name)
    }

    /// Decodes the object in the body.
    ///
    /// # Errors
    /// 400 if the body is no object of the kind, or if a field of its metadata has the wrong type.
    pub(super) fn decode_body(&self) -> Result<Value, ApiFailure> {
        let decoded: Result<Value, _> = serde_json::from_slice(&self.call.body);
        let object = decoded.map_err(|error| ApiFailure::bad_request(format!("the body is no JSON: {error}")))?;
        if !object.is_object() {
            return Err(ApiFailure::bad_request("the body is no JSON object"));
        }
        self.check_type(&object)?;
        match super::metadata::metadata_type_error(&object) {
            None => Ok(object),
            Some(why) => Err(ApiFailure::bad_request(why)),
        }
    }

    /// Checks that an object has the apiVersion and the kind of the requested resource.
    ///
    /// # Errors
    /// 400 if one of them differs.
    pub(super) fn check_type(&self, object: &Value) -> Result<(), ApiFailure> {
        let kind = &self.kind().kind;
        for (field, expected) in [("apiVersion", kind.api_version()), ("kind", kind.kind.to_string())] {
            let value = text(object, &[field]);
            if value != expected {
                let why = format!("the {field} in the data ({value}) does not match the expected {field} ({expected})");
                return Err(ApiFailure::bad_request(why));
            }
        }
        Ok(())
    }

    /// Sets the name and the namespace of an object to those of the request, as far as the request has them.
    ///
    /// # Errors
    /// 400 if the object has another name or namespace.
    pub(super) fn set_name(&self, object: &mut Value) -> Result<(), ApiFailure> {
        let (namespace, name) = (text(object, &["metadata", "namespace"]), text(object, &["metadata", "name"]));
        if !self.name.is_empty() && !name.is_empty() && name != self.name {
            let why = format!("the name of the object ({name}) does not match the name on the URL ({})", self.name);
            return Err(ApiFailure::bad_request(why));
        }
        if !namespace.is_empty() && namespace != self.namespace {
            let why = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(ApiFailure::bad_request(why));
        }
        let metadata = metadata_mut(object);
        for (field, value) in [("namespace", self.namespace), ("name", self.name)] {
            if !value.is_empty() {
                metadata.insert(field.to_owned(), value.into());
            }
        }
        Ok(())
    }

    /// Sets the name of an object that has `generateName` and no name: the prefix in `generateName` with a random suffix, as kube-apiserver
    /// does.
    pub(super) fn generate_name(&self, object: &mut Value) {
        /// The letters of suffixes, which spell no words.
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        /// The number of letters of a suffix.
        const SUFFIX_LENGTH: usize = 5;
        /// The maximum length of the prefix. With the suffix, a name has at most 63 characters, as the value of a label.
        const MAX_PREFIX: usize = 63 - SUFFIX_LENGTH;
        let prefix = text(object, &["metadata", "generateName"]);
        if prefix.is_empty() || !text(object, &["metadata", "name"]).is_empty() {
            return;
        }
        let mut name: String = prefix.chars().take(MAX_PREFIX).collect();
        let mut random = self.store.random();
        for _ in 0..SUFFIX_LENGTH {
            let count = LETTERS.len() as u64;
            let at = usize::try_from(random % count).unwrap_or_default();
            name.extend(LETTERS.get(at).copied().map(char::from));
            random /= count;
        }
        metadata_mut(object).insert("name".to_owned(), name.into());
    }

    /// Removes the fields of a new object that only the server sets: fields of the metadata, and the status if the kind has a status
    /// subresource.
    pub(super) fn without_server_fields(&self, object: &mut Value) {
        let metadata = metadata_mut(object);
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion", "generation"] {
            metadata.remove(field);
        }
        if self.kind().has_status {
            map_mut(object).remove("status");
        }
    }
}
