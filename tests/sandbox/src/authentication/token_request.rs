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

/// The default validity of a token and the minimum that a request may ask for, in seconds.
const DEFAULT_SECONDS: i64 = 3600;
const LEAST_SECONDS: i64 = 600;

/// The kind `TokenRequest`, which is served only as a subresource.
static TOKEN_REQUEST: LazyLock<Option<Arc<Kind>>> = LazyLock::new(|| {
    let (group, version, kind) = ("authentication.k8s.io", "v1", "TokenRequest");
    let review = builtin::by_plural("tokenreviews").find(|own| own.group == group)?;
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

pub(crate) fn answer(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    let kind = TOKEN_REQUEST.as_ref().ok_or_else(Failure::no_such_resource)?;
    let account = request.stored_object()?;
    let request = ResourceRequest { kind, ..request };
    let decoded = request.decode()?;
    let mut token_request = decoded.object;
    // `fill_in` refuses a different name with its own error.
    ResourceRequest { name: "", ..request }.place(&mut token_request)?;
    fill_in(request, &mut token_request, &account.uid)?;
    track(request, &mut token_request);
    let seconds = check_seconds(request, &token_request)?;
    let bound = bound(request, &token_request)?;
    let mut audiences: Vec<String> = object::at(&token_request, &["spec", "audiences"])
        .and_then(|list| serde_json::from_value(list.clone()).ok())
        .unwrap_or_default();
    if audiences.is_empty() {
        audiences.push(ISSUER.to_owned());
    }
    let name = request.name.to_owned();
    let account = BoundObject { kind: "serviceaccount", name, uid: account.uid.to_string() };
    let grant = TokenClaims { namespace: request.namespace, account, bound, audiences: &audiences, seconds };
    let token = grant.token(request.server).map_err(|no_key| Failure::internal(no_key.to_string()))?;
    let now = request.server.environment.now();
    let end = now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(now);
    object::map_at(&mut token_request, &["spec"]).insert("audiences".into(), json!(audiences));
    object::map_at(&mut token_request, &["spec"]).entry("boundObjectRef").or_insert(Value::Null);
    token_request["status"] = json!({"token": token, "expirationTimestamp": environment::seconds(end)});
    token_request["kind"] = kind.kind.as_str().into();
    token_request["apiVersion"] = kind.api_version().into();
    Ok(ApiResponse::json(StatusCode::CREATED, token_request.to_string().into()).with_warnings(decoded.warnings))
}

/// Fills in the metadata from the account.
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

/// Sets `managedFields`. Go always encodes `boundObjectRef`, at least as null; therefore nobody owns it as a whole.
fn track(request: ResourceRequest<'_>, token_request: &mut Value) {
    fields::update(request, None, token_request);
    let written = token_request.pointer_mut("/metadata/managedFields/0/fieldsV1/f:spec/f:boundObjectRef");
    if let Some(Value::Object(reference)) = written {
        reference.remove(".");
    }
}

fn check_seconds(request: ResourceRequest<'_>, token_request: &Value) -> Result<i64, Failure> {
    let seconds = object::number(token_request, &["spec", "expirationSeconds"]).unwrap_or(DEFAULT_SECONDS);
    let why = match seconds {
        ..LEAST_SECONDS => "may not specify a duration less than 10 minutes",
        0x1_0000_0001.. => "may not specify a duration larger than 2^32 seconds",
        _ => return Ok(seconds),
    };
    let cause = Cause::invalid("spec.expirationSeconds", &seconds.into(), why);
    Err(Failure::invalid(request.kind, "", &[cause]))
}

/// Returns the objects that the token is bound to: the object that the request names, and the node of a Pod.
fn bound(request: ResourceRequest<'_>, token_request: &Value) -> Result<Vec<BoundObject>, Failure> {
    let Some(reference) = object::at(token_request, &["spec", "boundObjectRef"]) else { return Ok(Vec::new()) };
    let word = |key: &str| object::text(reference, &[key]);
    let (word_kind, plural, kind) = match (word("apiVersion"), word("kind")) {
        ("v1" | "", "Pod") => ("pod", "pods", "Pod"),
        ("v1" | "", "Secret") => ("secret", "secrets", "Secret"),
        ("v1" | "", "Node") => ("node", "nodes", "Node"),
        (version, other) => {
            let slash = if version.contains('/') { "" } else { "/" };
            let why = format!("cannot bind token to object of type {slash}{version}, Kind={other}");
            return Err(Failure::bad_request(why));
        }
    };
    let found = builtin::by_plural(plural).find(|own| own.group.is_empty()).ok_or_else(Failure::no_such_resource)?;
    let place = if word_kind == "node" { "" } else { request.namespace };
    let held = request.server.store.get(&found.group_resource, place, word("name"));
    let held = held.ok_or_else(|| Failure::not_found(found, word("name")))?;
    let object = held.object(found);
    if word_kind == "pod" && object::text(&object, &["spec", "serviceAccountName"]) != request.name {
        let why = "to pod running with different serviceaccount name.";
        return Err(Failure::bad_request(format!("cannot bind token for serviceaccount {:?} {why}", request.name)));
    }
    if !word("uid").is_empty() && *held.uid != *word("uid") {
        return Err(replaced(kind, word("name"), word("uid")));
    }
    let mut named = vec![BoundObject { kind: word_kind, name: word("name").to_owned(), uid: held.uid.to_string() }];
    let node = object::text(&object, &["spec", "nodeName"]);
    if word_kind == "pod" && !node.is_empty() {
        let uid = request.server.store.get("nodes", "", node).map(|node| node.uid.to_string()).unwrap_or_default();
        named.push(BoundObject { kind: "node", name: node.to_owned(), uid });
    }
    Ok(named)
}

/// Returns the 409 error for an object with another uid than the request names; it names the object by its kind.
fn replaced(kind: &str, name: &str, uid: &str) -> Failure {
    let why = format!(
        "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
    );
    Failure::conflict_of(kind, name, &why)
}
