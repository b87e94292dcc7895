//! Implements `DefaultTolerationSeconds`: lets a Pod tolerate a not-ready or unreachable node for five minutes.

use serde_json::{Value, json};

use crate::{
    admission::{Operation, Review},
    object,
};

const TAINTS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

pub(crate) fn mutate(review: &mut Review<'_>) {
    let pod = review.writes(Operation::Create, "", "pods") || review.writes(Operation::Update, "", "pods");
    if !pod {
        return;
    }
    let held = object::at(&review.object, &["spec", "tolerations"]).and_then(Value::as_array);
    let mut tolerations = held.cloned().unwrap_or_default();
    for taint in TAINTS {
        if !tolerations.iter().any(|toleration| tolerates(toleration, taint)) {
            let toleration =
                json!({"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
            tolerations.push(toleration);
        }
    }
    object::map_at(&mut review.object, &["spec"]).insert("tolerations".into(), tolerations.into());
}

/// Whether a toleration covers the taint: an empty key or effect covers every one.
fn tolerates(toleration: &Value, taint: &str) -> bool {
    let (key, effect) = (object::text(toleration, &["key"]), object::text(toleration, &["effect"]));
    (key.is_empty() || key == taint) && (effect.is_empty() || effect == "NoExecute")
}
