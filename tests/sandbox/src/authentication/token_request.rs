//! Issues tokens by `TokenRequest` (`serviceaccounts/NAME/token`).

use std::sync::{Arc, LazyLock, OnceLock};

use http::StatusCode;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{
    claims::{BoundObject, TokenClaims},
    credentials::ISSUER,
};
use crate::{
    environment,
    failure::{Cause, Failure},
    fields,
    kind::{Kind, Origin, SchemaOf, builtin},
    object,
    request::ResourceRequest,
    response::ApiResponse,
};

/// The default validity of a token in seconds.
const DEFAULT_SECONDS: i64 = 3600;

/// The minimum validity that a request may ask for, in seconds.
const MIN_SECONDS: i64 = 600;

/// The kind `TokenRequest`, which is served only as a subresource.
static TOKEN_REQUEST: LazyLock<Option<Arc<Kind>>> = LazyLock::new(|| {
    let (group, version, kind) = ("authentication.k8s.io", "v1", "TokenRequest");
    let review = builtin::by_plural("tokenreviews").find(|kind| kind.group == group)?;
    Some(Arc::new(Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        list_kind: format!("{kind}List"),
        plural: "tokenrequests".to_owned(),
        singular: "tokenrequest".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: vec!["create".to_owned()],
        subresources: Vec::new(),
        schema: SchemaOf::Table(OnceLock::new()),
        group_resource: review.group_resource.clone(),
        origin: Origin::Builtin,
    }))
});

/// Handles the creation of a `TokenRequest`: validates it, and returns it with a signed token. Returns a 404 error if
/// the ServiceAccount does not exist.
pub(crate) fn answer(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let kind = TOKEN_REQUEST.as_ref().ok_or_else(Failure::no_such_resource)?;
    let account = request.stored_object()?;
    let request = ResourceRequest { kind, ..request };
    let decoded = request.decode()?;
    let mut token_request = decoded.object;
    // `fill_in` refuses a different name with its own error.
    ResourceRequest { name: "", ..request }.set_name_from_path(&mut token_request)?;
    fill_in(request, &mut token_request, &account.uid)?;
    set_managed_fields(request, &mut token_request);
    let seconds = check_seconds(request, &token_request)?;
    let bound = bound_objects(request, &token_request)?;
    let mut audiences: Vec<String> = object::at(&token_request, &["spec", "audiences"])
        .and_then(|list| serde_json::from_value(list.clone()).ok())
        .unwrap_or_default();
    if audiences.is_empty() {
        audiences.push(ISSUER.to_owned());
    }
    let name = request.name.to_owned();
    let account = BoundObject { kind: "serviceaccount", name, uid: account.uid.to_string() };
    let claims = TokenClaims { namespace: request.namespace, account, bound, audiences: &audiences, seconds };
    let token = claims.token(request.server).map_err(|no_key| Failure::internal(no_key.to_string()))?;
    let now = request.server.environment.now();
    let expiration = now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(now);
    object::map_at(&mut token_request, &["spec"]).insert("audiences".into(), json!(audiences));
    object::map_at(&mut token_request, &["spec"]).entry("boundObjectRef").or_insert(Value::Null);
    token_request["status"] = json!({"token": token, "expirationTimestamp": environment::seconds(expiration)});
    token_request["kind"] = kind.kind.as_str().into();
    token_request["apiVersion"] = kind.api_version().into();
    Ok(ApiResponse::json(StatusCode::CREATED, token_request.to_string().into()).with_warnings(decoded.warnings))
}

/// Sets the metadata of a `TokenRequest` from its ServiceAccount, whose uid is `uid`, and the default lifetime of a token; removes the
/// status. Returns a 422 error if the body has a name other than that of the ServiceAccount.
fn fill_in(request: ResourceRequest<'_>, token_request: &mut Value, uid: &str) -> Result<(), Failure> {
    let name = object::name(token_request);
    if !name.is_empty() && name != request.name {
        let why = "must match the service account name if specified";
        let cause = Cause::invalid("metadata.name", &name.into(), why);
        return Err(Failure::invalid(request.kind, request.name, &[cause]));
    }
    let time = request.server.environment.time();
    let metadata = object::metadata_mut(token_request);
    metadata.insert("name".into(), request.name.into());
    metadata.insert("uid".into(), uid.into());
    metadata.insert("creationTimestamp".into(), time.into());
    let spec = object::map_at(token_request, &["spec"]);
    spec.retain(|_, value| !value.is_null());
    spec.entry("expirationSeconds").or_insert_with(|| DEFAULT_SECONDS.into());
    if let Value::Object(token_request) = token_request {
        token_request.remove("status");
    }
    Ok(())
}

/// Sets `managedFields`. Go always encodes `boundObjectRef`, at least as null; therefore no manager owns it as a whole.
fn set_managed_fields(request: ResourceRequest<'_>, token_request: &mut Value) {
    fields::update(request, None, token_request);
    let owned_field = token_request.pointer_mut("/metadata/managedFields/0/fieldsV1/f:spec/f:boundObjectRef");
    if let Some(Value::Object(reference)) = owned_field {
        reference.remove(".");
    }
}

/// Returns the requested lifetime of the token. Returns a 422 error if it is shorter than ten minutes or longer than
/// 2^32 seconds.
fn check_seconds(request: ResourceRequest<'_>, token_request: &Value) -> Result<i64, Failure> {
    let seconds = object::number(token_request, &["spec", "expirationSeconds"]).unwrap_or(DEFAULT_SECONDS);
    let why = match seconds {
        ..MIN_SECONDS => "may not specify a duration less than 10 minutes",
        0x1_0000_0001.. => "may not specify a duration larger than 2^32 seconds",
        _ => return Ok(seconds),
    };
    let cause = Cause::invalid("spec.expirationSeconds", &seconds.into(), why);
    Err(Failure::invalid(request.kind, "", &[cause]))
}

/// Returns the objects that the token is bound to: the object in `spec.boundObjectRef` and, if that is a Pod, the node of the Pod. Returns
/// an error if the kind is not allowed, if the object does not exist or has another uid, or if the Pod has another ServiceAccount.
fn bound_objects(request: ResourceRequest<'_>, token_request: &Value) -> Result<Vec<BoundObject>, Failure> {
    let Some(reference) = object::at(token_request, &["spec", "boundObjectRef"]) else { return Ok(Vec::new()) };
    let field = |key: &str| object::text(reference, &[key]);
    let (claim, plural, kind) = match (field("apiVersion"), field("kind")) {
        ("v1" | "", "Pod") => ("pod", "pods", "Pod"),
        ("v1" | "", "Secret") => ("secret", "secrets", "Secret"),
        ("v1" | "", "Node") => ("node", "nodes", "Node"),
        (version, other) => {
            let slash = if version.contains('/') { "" } else { "/" };
            let why = format!("cannot bind token to object of type {slash}{version}, Kind={other}");
            return Err(Failure::bad_request(why));
        }
    };
    let builtin_kind = builtin::by_plural(plural)
        .find(|candidate| candidate.group.is_empty())
        .ok_or_else(Failure::no_such_resource)?;
    let namespace = if claim == "node" { "" } else { request.namespace };
    let stored = request.server.store.get(&builtin_kind.group_resource, namespace, field("name"));
    let stored = stored.ok_or_else(|| Failure::not_found(builtin_kind, field("name")))?;
    let object = stored.object(builtin_kind);
    if claim == "pod" && object::text(&object, &["spec", "serviceAccountName"]) != request.name {
        let why = "to pod running with different serviceaccount name.";
        return Err(Failure::bad_request(format!("cannot bind token for serviceaccount {:?} {why}", request.name)));
    }
    if !field("uid").is_empty() && *stored.uid != *field("uid") {
        return Err(uid_conflict(kind, field("name"), field("uid")));
    }
    let mut objects = vec![BoundObject { kind: claim, name: field("name").to_owned(), uid: stored.uid.to_string() }];
    let node = object::text(&object, &["spec", "nodeName"]);
    if claim == "pod" && !node.is_empty() {
        let uid = request.server.store.get("nodes", "", node).map(|node| node.uid.to_string()).unwrap_or_default();
        objects.push(BoundObject { kind: "node", name: node.to_owned(), uid });
    }
    Ok(objects)
}

/// Returns the 409 error for an object with another uid than the request names. It names the object by its kind.
fn uid_conflict(kind: &str, name: &str, uid: &str) -> Failure {
    let why = format!(
        "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
    );
    Failure::conflict_of(kind, name, &why)
}
