//! Prunes and defaults an object before it is written.

use serde_json::Value;

use crate::{kind::definition, request::ResourceRequest};

impl ResourceRequest<'_> {
    /// Prunes unknown fields of an object, and sets defaults, `apiVersion` and `kind`. Returns the paths of the unknown fields.
    pub(crate) fn complete(&self, object: &mut Value) -> Vec<String> {
        let mut unknown = crate::schema::prune(self.kind.schema(), object);
        if self.kind.custom().is_some() {
            unknown.sort();
            crate::schema::whole_numbers_to_integers(object);
        }
        crate::schema::default(self.kind.schema(), object);
        if definition::is_crd(self.kind) {
            definition::default(object);
        }
        crate::strategy::set_defaults(self.kind, object);
        // A body may omit the type, because the path determines it.
        let type_meta = crate::object::map_at(object, &[]);
        type_meta.insert("apiVersion".into(), self.kind.api_version().into());
        type_meta.insert("kind".into(), self.kind.kind.as_str().into());
        unknown
    }
}
