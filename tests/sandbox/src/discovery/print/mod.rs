//! Objects as a table for people (`meta.k8s.io/v1 Table`).

use serde_json::{Value, json};

use crate::{call::Call, kind::Kind};

/// The table of some objects; `metadata` is the list's.
pub(crate) fn table(kind: &Kind, objects: &[Value], metadata: &Value, call: &Call) -> Value {
    let _ = (kind, call);
    let rows: Vec<_> =
        objects.iter().map(|object| json!({"cells": [object["metadata"]["name"]], "object": object})).collect();
    json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": [], "rows": rows})
}
