//! Implements the verb `list`: returns whole or paginated lists, at the current or an older resourceVersion.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::{BufMut as _, Bytes, BytesMut};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    filter::Filter,
    list_options::{self, check_reached},
    read::{go_type, metadata_of, type_meta},
};
use crate::{
    call::{Options, Representation},
    discovery::print,
    failure::Failure,
    kind::Origin,
    request::ResourceRequest,
    response::ApiResponse,
    store::Stored,
};

/// The contents of a continue token.
#[derive(Serialize, Deserialize)]
struct ContinueToken {
    #[serde(rename = "v")]
    version: String,
    /// The version of the first page; -1 continues with the current objects.
    #[serde(rename = "rv")]
    resource_version: i64,
    /// The key at which the list continues: a slash and the key just after the last listed object.
    start: String,
}

/// The version of the token's format.
const TOKEN: &str = "meta.k8s.io/v1";

/// A page of a list.
struct Page {
    version: u64,
    items: Vec<Arc<Stored>>,
    token: Option<String>,
    remaining: Option<usize>,
}

/// Handles a list: returns the objects that match, or one page of them, in the accepted representation.
pub(super) async fn list(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    list_options::check(&request.call.options, request.call.verb)?;
    request.convert_all().await?;
    let page = read_page(request)?;
    request.convert(&page.items).await?;
    let mut metadata = Map::from_iter([("resourceVersion".to_owned(), json!(page.version.to_string()))]);
    let representation = request.call.accept.representation();
    match page.token {
        Some(token) => drop(metadata.insert("continue".into(), token.into())),
        // The lists of custom kinds always have this field.
        None if request.kind.custom().is_some()
            && matches!(representation, Representation::Json | Representation::Yaml) =>
        {
            metadata.insert("continue".into(), "".into());
        }
        None => {}
    }
    if let Some(remaining) = page.remaining {
        metadata.insert("remainingItemCount".into(), remaining.into());
    }
    let (kind, metadata) = (request.kind, Value::Object(metadata));
    let objects = || page.items.iter().map(|item| item.object(kind));
    match representation {
        Representation::Table => {
            let mut table = print::table(request, &objects().collect::<Vec<_>>(), &metadata)?;
            table["apiVersion"] = request.call.accept.meta_version().into();
            Ok(ApiResponse::object(&table))
        }
        Representation::MetadataList => {
            let items: Vec<Value> = objects().map(|object| metadata_of(&object)).collect();
            let version = request.call.accept.meta_version();
            let list = json!({"kind": "PartialObjectMetadataList", "apiVersion": version, "metadata": metadata, "items": items});
            Ok(ApiResponse::object(&list))
        }
        Representation::Metadata => {
            let what = "you requested PartialObjectMetadata, but the requested object is a list";
            Err(Failure::not_acceptable(format!("{what} ({})", go_type(kind, "List"))))
        }
        Representation::Unsupported | Representation::UnknownShape => Err(Failure::no_such_representation()),
        Representation::Json | Representation::Yaml | Representation::Discovery => {
            Ok(ApiResponse::json(StatusCode::OK, encode_list(request, &metadata, &page.items)))
        }
    }
}

/// Returns the response to a `deletecollection`: all items as one list, with `version` as its resourceVersion.
pub(super) fn full_list(request: ResourceRequest<'_>, version: u64, items: &[Arc<Stored>]) -> ApiResponse {
    let metadata = json!({"resourceVersion": version.to_string()});
    ApiResponse::json(StatusCode::OK, encode_list(request, &metadata, items))
}

/// Encodes a list by concatenating the JSON texts of the stored objects, without decoding them. As in Kubernetes, only items of custom
/// kinds contain `kind` and `apiVersion`.
fn encode_list(request: ResourceRequest<'_>, metadata: &Value, items: &[Arc<Stored>]) -> Bytes {
    let kind = request.kind;
    let type_meta = matches!(kind.origin, Origin::Custom(_)).then(|| type_meta(kind));
    let extra_bytes = type_meta.as_ref().map_or(1, |type_meta| type_meta.len() + 1);
    // 256 bytes are enough for the beginning and the end of the list.
    let mut text = BytesMut::with_capacity(items.iter().map(|item| item.json.len() + extra_bytes).sum::<usize>() + 256);
    let (list_kind, api_version) = (&kind.list_kind, kind.api_version());
    text.extend_from_slice(
        format!("{{\"kind\":{list_kind:?},\"apiVersion\":{api_version:?},\"metadata\":{metadata},\"items\":[")
            .as_bytes(),
    );
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.put_u8(b',');
        }
        match &type_meta {
            Some(type_meta) => {
                // `type_meta` replaces the opening brace of the item.
                text.extend_from_slice(type_meta);
                text.extend_from_slice(item.text(kind).get(1..).unwrap_or_default());
            }
            None => text.extend_from_slice(&item.text(kind)),
        }
    }
    text.extend_from_slice(b"]}\n");
    text.freeze()
}

/// Reads the matching objects at the requested version, up to the limit, and creates the continue token for the next page. Returns an error
/// if the version is expired or not reached yet, or if the continue token of the request is invalid.
fn read_page(request: ResourceRequest<'_>) -> Result<Page, Failure> {
    let options = &request.call.options;
    let filter = Filter::parse(request)?;
    let requested = list_options::version(options, request.call.verb)?;
    let token = parse_token(options)?;
    let (version, mut items) = match (&token, exact_version(options, requested)) {
        (Some(token), _) => continue_list(request, token)?,
        (None, Some(version)) => {
            check_reached(request, version)?;
            let items = request.server.store.list_at(&request.kind.group_resource, Some(request.namespace), version);
            (version, items.map_err(|_| Failure::expired("The resourceVersion for the provided list is too old."))?)
        }
        (None, None) => {
            check_reached(request, requested.unwrap_or(0))?;
            current_items(request, &filter)
        }
    };
    items.retain(|item| filter.matches(request.kind, item));
    // A list at any version (`resourceVersion=0`) comes from the watch cache of kube-apiserver, which ignores the limit.
    let limit = options.limit.filter(|limit| *limit < items.len() && requested != Some(0));
    let Some(limit) = limit else { return Ok(Page { version, items, token: None, remaining: None }) };
    let remaining = filter.is_empty().then_some(items.len() - limit);
    items.truncate(limit);
    let last = items.last().map(|item| relative_key(request, item)).unwrap_or_default();
    // The key with an appended NUL byte is the smallest key after the last listed object.
    let next =
        ContinueToken { version: TOKEN.into(), resource_version: version.cast_signed(), start: format!("/{last}\0") };
    Ok(Page { version, items, token: Some(next.encode()), remaining })
}

/// Returns the version that the list must have exactly: the requested version if `resourceVersionMatch` is `Exact`, or if it is empty and
/// the list has a limit. Returns `None` if a list at a newer version is acceptable.
fn exact_version(options: &Options, requested: Option<u64>) -> Option<u64> {
    let is_paginated = options.limit.is_some() && options.resource_version_match.is_empty();
    requested.filter(|version| *version > 0 && (options.resource_version_match == "Exact" || is_paginated))
}

/// Returns the version of the store and the current objects that can match the filter. Reads a single object if the filter determines its
/// name and namespace, so that not all objects are listed.
fn current_items(request: ResourceRequest<'_>, filter: &Filter) -> (u64, Vec<Arc<Stored>>) {
    let (store, group_resource) = (&request.server.store, &request.kind.group_resource);
    match filter.only_name() {
        Some(name) if !(request.kind.namespaced && request.namespace.is_empty()) => {
            let version = store.version();
            (version, store.get(group_resource, request.namespace, name).into_iter().collect())
        }
        _ => store.list(group_resource, Some(request.namespace)),
    }
}

/// Returns the objects after the last page and their version: that of the token, or the current one if the token has the version -1.
/// Returns a 410 error if the version of the token is expired.
fn continue_list(request: ResourceRequest<'_>, token: &ContinueToken) -> Result<(u64, Vec<Arc<Stored>>), Failure> {
    let (store, group_resource) = (&request.server.store, &request.kind.group_resource);
    let (version, mut items) = match u64::try_from(token.resource_version).ok().filter(|version| *version > 0) {
        Some(version) => {
            check_reached(request, version)?;
            let items = store.list_at(group_resource, Some(request.namespace), version);
            (version, items.map_err(|_| expired_token(token))?)
        }
        None => store.list(group_resource, Some(request.namespace)),
    };
    let start = token.start.trim_start_matches('/');
    items.retain(|item| relative_key(request, item).as_str() >= start);
    Ok((version, items))
}

/// Returns the key of an object relative to the listed path: `namespace/name` in a list of all namespaces, else the name.
fn relative_key(request: ResourceRequest<'_>, item: &Stored) -> String {
    if request.kind.namespaced && !request.namespace.is_empty() { item.name.to_string() } else { item.key() }
}

/// Parses the continue token; `None` if the request has none. Returns the 400 error of kube-apiserver if it is invalid.
fn parse_token(options: &Options) -> Result<Option<ContinueToken>, Failure> {
    let encoded = options.continue_token.as_str();
    if encoded.is_empty() {
        return Ok(None);
    }
    let invalid = |why: &str| Failure::bad_request(format!("invalid continue token: continue key is not valid: {why}"));
    let decoded = URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).map_err(|error| {
        let offset = match error {
            base64::DecodeError::InvalidByte(offset, _) | base64::DecodeError::InvalidLastSymbol(offset, _) => offset,
            base64::DecodeError::InvalidLength(length) => length,
            base64::DecodeError::InvalidPadding => encoded.len(),
        };
        invalid(&format!("illegal base64 data at input byte {offset}"))
    })?;
    let value: Value = serde_json::from_slice(&decoded)
        .map_err(|_| invalid(&super::body::syntax::syntax_error(&decoded).unwrap_or_else(|| "no JSON".to_owned())))?;
    if value["v"] != TOKEN {
        let version = value["v"].as_str().unwrap_or_default();
        return Err(invalid(&format!("server does not recognize this encoded version {version}")));
    }
    if !matches!(options.resource_version.as_str(), "" | "0") {
        return Err(Failure::bad_request("specifying resource version is not allowed when using continue"));
    }
    let token: ContinueToken = serde_json::from_value(value).map_err(|error| invalid(&error.to_string()))?;
    if token.start.is_empty() {
        return Err(invalid("encoded start key empty (a valid encoding would have a key)"));
    }
    Ok(Some(token))
}

impl ContinueToken {
    /// Returns the token as base64.
    fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }
}

/// Returns the 410 error with a token that continues at the current version.
fn expired_token(token: &ContinueToken) -> Failure {
    let message = "The provided continue parameter is too old to display a consistent list result. You can start a new \
                   list without the continue parameter, or use the continue token in this response to retrieve the \
                   remainder of the results. Continuing with the provided token results in an inconsistent list - \
                   objects that were created, modified, or deleted between the time the first chunk was returned and \
                   now may show up in the list.";
    let start = token.start.clone();
    let inconsistent = ContinueToken { version: TOKEN.into(), resource_version: -1, start };
    Failure::expired(message).with_continue(inconsistent.encode())
}
