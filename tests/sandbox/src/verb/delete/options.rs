//! Parses `DeleteOptions` from the body of a request or from its parameters.

use serde_json::{Value, json};

use crate::{
    call::{DryRun, Propagation},
    failure::{Cause, Failure},
    object,
    request::ResourceRequest,
    verb::body::options_type_error,
};

/// The options of a deletion.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: bool,
    pub(crate) grace: Option<i64>,
    pub(crate) propagation: Option<Propagation>,
    uid: Option<String>,
    version: Option<String>,
}

impl DeleteOptions {
    /// Parses the options of a request from its body, which makes the query parameters without effect, as upstream, or from the
    /// query parameters if the body is empty.
    pub(crate) fn parse(request: ResourceRequest<'_>) -> Result<Self, Failure> {
        if !request.call.body.is_empty() {
            return Self::parse_body(&request.parse()?);
        }
        let parameters = &request.call.options;
        Ok(Self {
            dry_run: parameters.dry_run == DryRun::All,
            grace: parameters.grace_period_seconds.map(clamp_grace),
            propagation: parameters.propagation,
            ..Self::default()
        })
    }

    /// Parses a `DeleteOptions` object: the body of a delete, or the field `deleteOptions` of an Eviction. Returns a 400 error for
    /// another kind or a field of another type, and a 422 error for an unknown value of `dryRun` or of the propagation.
    pub(crate) fn parse_body(body: &Value) -> Result<Self, Failure> {
        let kind = object::text(body, &["kind"]);
        if !matches!(kind, "" | "DeleteOptions") {
            let version = object::text(body, &["apiVersion"]);
            let why = format!(
                "no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
            );
            return Err(Failure::bad_request(why));
        }
        if let Some(why) = options_type_error(body) {
            return Err(Failure::bad_request(why));
        }
        let precondition = |key: &str| body["preconditions"][key].as_str().map(str::to_owned);
        Ok(Self {
            dry_run: parse_dry_run(&body["dryRun"])?,
            grace: body["gracePeriodSeconds"].as_i64().map(clamp_grace),
            propagation: parse_propagation(body)?,
            uid: precondition("uid"),
            version: precondition("resourceVersion"),
        })
    }

    /// Checks the preconditions against the stored object. Returns a 409 error if the uid or the resourceVersion differs.
    pub(crate) fn check(&self, request: ResourceRequest<'_>, stored: &Value) -> Result<(), Failure> {
        let conflict = |field: &str, requested: &str, actual: &str, hint: &str| {
            // In kube-apiserver, namespaces have a delete handler of their own, which reports another message.
            if request.kind.is("", "namespaces") {
                let why = format!(
                    "Precondition failed: {field} in precondition: {requested}, {field} in object meta: {actual}"
                );
                return Failure::conflict(request.kind, request.name, &why);
            }
            let kind = request.kind.qualified();
            let why = format!(
                "the {field} in the precondition ({requested}) does not match the {field} in record ({actual}). {hint}"
            );
            let mut failure = Failure::conflict(request.kind, request.name, &why);
            // Unlike other conflicts, this error names the kind (`Pod`) instead of the resource (`pods`).
            failure.message = format!("Operation cannot be fulfilled on {kind} {:?}: {why}", request.name);
            failure.details.insert("kind".into(), request.kind.kind.clone().into());
            if request.kind.error_group().is_empty() {
                failure.details.remove("group");
            }
            failure
        };
        let uid = object::uid(stored);
        if let Some(requested) = self.uid.as_deref().filter(|requested| *requested != uid) {
            return Err(conflict("UID", requested, uid, "The object might have been deleted and then recreated"));
        }
        let version = object::version(stored).unwrap_or_default();
        if let Some(requested) = self.version.as_deref().filter(|requested| *requested != version) {
            return Err(conflict("ResourceVersion", requested, version, "The object might have been modified"));
        }
        Ok(())
    }
}

/// Replaces a negative grace period by the minimum of one second.
fn clamp_grace(grace: i64) -> i64 {
    if grace < 0 { 1 } else { grace }
}

/// Parses `dryRun` of a body, a list of stages; returns whether it requests a dry run. Returns a 422 error for any stage other than `All`.
fn parse_dry_run(value: &Value) -> Result<bool, Failure> {
    let stages: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if stages.iter().all(|stage| *stage == "All") {
        return Ok(!stages.is_empty());
    }
    Err(Failure::invalid_options("DeleteOptions", &Cause::unsupported("dryRun", &json!(stages), &["All"])))
}

/// Parses `propagationPolicy` or the deprecated `orphanDependents` of a body; `None` if it has neither. Returns a 422
/// error if it has both.
fn parse_propagation(body: &Value) -> Result<Option<Propagation>, Failure> {
    let policy = body["propagationPolicy"].as_str();
    match (policy, body["orphanDependents"].as_bool()) {
        (Some(policy), Some(_)) => {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            Err(Failure::invalid_options("DeleteOptions", &Cause::invalid("propagationPolicy", &policy.into(), why)))
        }
        (Some(policy), None) => Propagation::parse(policy).map(Some),
        (None, Some(true)) => Ok(Some(Propagation::Orphan)),
        (None, Some(false)) => Ok(Some(Propagation::Background)),
        (None, None) => Ok(None),
    }
}
