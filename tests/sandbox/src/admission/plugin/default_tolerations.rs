//! Implements `DefaultTolerationSeconds`: lets a Pod tolerate a not-ready or unreachable node for five minutes.

use serde_json::{Value, json};

use crate::{
    admission::{Operation, Review},
    object,
};

/// The taints that a Pod tolerates for some time by default.
const TAINTS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/// Lets a new or changed Pod tolerate a not-ready and an unreachable node for 300 seconds, unless it already has tolerations for these
/// taints.
pub(crate) fn mutate(review: &mut Review<'_>) {
    let is_pod = review.writes(Operation::Create, "", "pods") || review.writes(Operation::Update, "", "pods");
    if !is_pod {
        return;
    }
    let existing = object::at(&review.object, &["spec", "tolerations"]).and_then(Value::as_array);
    let mut tolerations = existing.cloned().unwrap_or_default();
    for taint in TAINTS {
        if !tolerations.iter().any(|toleration| tolerates(toleration, taint)) {
            let toleration =
                json!({"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
            tolerations.push(toleration);
        }
    }
    object::map_at(&mut review.object, &["spec"]).insert("tolerations".into(), tolerations.into());
}

/// Returns whether a toleration covers the taint. An empty key or effect covers all.
fn tolerates(toleration: &Value, taint: &str) -> bool {
    let (key, effect) = (object::text(toleration, &["key"]), object::text(toleration, &["effect"]));
    (key.is_empty() || key == taint) && (effect.is_empty() || effect == "NoExecute")
}
