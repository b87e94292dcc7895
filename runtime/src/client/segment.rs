//! Escapes object names for URL paths and field selectors.

use std::{borrow::Cow, fmt::Write as _};

/// Encodes a name as one segment of a URL path: it percent-encodes all characters except those that a segment may have
/// (`pchar`), so that none of them ends the segment or the path.
///
/// The API server decodes a path before it splits it, so an encoded slash would begin a subresource. Characters that no name may
/// have (`/`, `%`, and dots alone) are therefore encoded twice: the server then looks for a name that can't exist.
///
/// Source: `pchar` of RFC 3986, section 3.3; `IsValidPathSegmentName` of `k8s.io/apimachinery`.
pub(super) fn segment(name: &str) -> Cow<'_, str> {
    let is_segment_character = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte);
    // A segment of dots alone would lead to another path.
    let is_dots = matches!(name, "." | "..");
    if !is_dots && name.bytes().all(is_segment_character) {
        return name.into();
    }
    let mut encoded = String::with_capacity(name.len() * 3);
    for byte in name.bytes() {
        if is_segment_character(byte) && !is_dots {
            encoded.push(byte.into());
        } else {
            // `%25` is an encoded percent sign: these characters are encoded twice.
            let percent = if is_dots || matches!(byte, b'/' | b'%') { "%25" } else { "%" };
            // Writing to a string can't fail.
            let _ = write!(encoded, "{percent}{byte:02X}");
        }
    }
    encoded.into()
}

/// Escapes a name as a value of a field selector.
///
/// Source: `EscapeValue` of `k8s.io/apimachinery/pkg/fields`.
pub(super) fn field_selector_value(name: &str) -> String {
    name.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{
        convert::Infallible,
        future::ready,
        sync::{Arc, Mutex},
    };

    use http::{Request, Response};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::{
        api::{DeleteParams, Patch},
        client::Body,
    };
    use serde::de::IgnoredAny;
    use serde_json::json;

    use super::{field_selector_value, segment};
    use crate::{
        client::{Client, Target},
        kind::kind_of,
    };

    #[test]
    fn a_name_never_leaves_its_segment() {
        for name in ["a", "system:node", "web-1.example.com", "a_b~c"] {
            assert_eq!(segment(name), name);
        }
        for (name, encoded) in
            [("a?x=y", "a%3Fx=y"), ("a/b#c", "a%252Fb%23c"), ("..", "%252E%252E"), ("ä %", "%C3%A4%20%2525")]
        {
            assert_eq!(segment(name), encoded);
        }
        assert_eq!(field_selector_value(r"a,b=c\d"), r"a\,b\=c\\d");
    }

    /// Sends each kind of call for names with special characters, and checks the path of each request.
    #[tokio::test]
    async fn every_call_requests_the_path_of_the_name() {
        let requested_paths: Arc<Mutex<Vec<String>>> = Arc::default();
        let recorder = requested_paths.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            recorder.lock().unwrap().push(request.uri().path().to_owned());
            ready(Ok::<_, Infallible>(Response::new(Body::from(b"{}".to_vec()))))
        });
        let client = Client::new(kube::Client::new(service, "default"));
        for name in ["a?x=y", "a/status", "../b", "..", "a#b", "a%2Fb", "a b"] {
            let target = Target { kind: &kind_of::<ConfigMap>(), namespace: Some("n?/s"), name };
            let (object, patch) = (json!({}), Patch::Merge(json!({})));
            client.get::<IgnoredAny>(target).await.unwrap();
            client.get_metadata::<IgnoredAny>(target).await.unwrap();
            client.apply::<IgnoredAny>(target, &object, "demo").await.unwrap();
            client.patch(target, &patch, "demo").await.unwrap();
            client.delete(target, &DeleteParams::default()).await.unwrap();
            let requested_paths = std::mem::take(&mut *requested_paths.lock().unwrap());
            let expected = format!("/api/v1/namespaces/n%3F%252Fs/configmaps/{}", segment(name));
            assert_eq!(requested_paths, [(); 5].map(|()| expected.clone()), "{name}");
        }
    }
}
