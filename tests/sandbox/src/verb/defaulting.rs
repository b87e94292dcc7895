//! Prunes and defaults an object before it is written.

use serde_json::Value;

use crate::{kind::definition, request::ResourceRequest};

impl ResourceRequest<'_> {
    /// Prunes unknown fields and sets defaults and the type; returns the paths of the unknown fields.
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
        let typed = crate::object::map_at(object, &[]);
        typed.insert("apiVersion".into(), self.kind.api_version().into());
        typed.insert("kind".into(), self.kind.kind.as_str().into());
        unknown
    }
}
