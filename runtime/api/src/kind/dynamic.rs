//! Defines `dynamic_kind!`, which declares kinds with JSON content for which there is no Rust type.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::{Map, Value};

/// All fields of an object except `apiVersion`, `kind` and `metadata`.
pub type Content = Map<String, Value>;

/// Declares kinds by their names, with JSON content.
///
/// A declared kind works like any other kind: use it in `access(...)`, in calls and as a resource of a tree. The role of the
/// operator contains it.
///
/// # Example
///
/// ```
/// opgen::dynamic_kind! {
///     pub Certificate: "cert-manager.io/v1", "certificates", namespaced;
///     ClusterIssuer: "cert-manager.io/v1", "clusterissuers", cluster;
/// }
///
/// let certificate = Certificate::new("web", serde_json::json!({"spec": {"secretName": "web-tls"}}));
/// assert_eq!(certificate.content["spec"]["secretName"], "web-tls");
/// # let _ = ClusterIssuer::default();
/// ```
#[macro_export]
macro_rules! dynamic_kind {
    ($($(#[$meta:meta])* $visibility:vis $name:ident: $version:literal, $plural:literal, $scope:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $visibility struct $name {
            /// The metadata: name, namespace, labels, …
            pub metadata: $crate::__private::ObjectMeta,
            /// All fields except `apiVersion`, `kind` and `metadata`.
            pub content: $crate::__private::dynamic::Content,
        }

        impl $name {
            /// Returns an object with this name. A `content` that is not a JSON object is ignored.
            #[allow(dead_code, unreachable_pub)]
            pub fn new(name: &str, content: $crate::__private::dynamic::Value) -> Self {
                let (metadata, content) = $crate::__private::dynamic::parts(name, content);
                Self { metadata, content }
            }
        }

        impl $crate::__private::dynamic::Resource for $name {
            type DynamicType = ();
            type Scope = $crate::__private::dynamic_kind!(@scope $scope);
            fn kind(_: &()) -> ::std::borrow::Cow<'_, str> {
                ::std::borrow::Cow::Borrowed(::core::stringify!($name))
            }
            fn group(_: &()) -> ::std::borrow::Cow<'_, str> {
                ::std::borrow::Cow::Borrowed($crate::__private::dynamic::split($version).0)
            }
            fn version(_: &()) -> ::std::borrow::Cow<'_, str> {
                ::std::borrow::Cow::Borrowed($crate::__private::dynamic::split($version).1)
            }
            fn plural(_: &()) -> ::std::borrow::Cow<'_, str> {
                ::std::borrow::Cow::Borrowed($plural)
            }
            fn meta(&self) -> &$crate::__private::ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut $crate::__private::ObjectMeta {
                &mut self.metadata
            }
        }

        impl $crate::__private::dynamic::Serialize for $name {
            /// Serializes the object with `apiVersion`, `kind` and `metadata` beside the fields of `content`.
            ///
            /// # Errors
            /// Fails with the error of the serializer.
            fn serialize<S: $crate::__private::dynamic::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let names = ($version, ::core::stringify!($name));
                $crate::__private::dynamic::serialize(names, &self.metadata, &self.content, serializer)
            }
        }

        impl<'de> $crate::__private::dynamic::Deserialize<'de> for $name {
            /// Deserializes the metadata, and all other fields except `apiVersion` and `kind` as the content.
            fn deserialize<D: $crate::__private::dynamic::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                let (metadata, content) = $crate::__private::dynamic::deserialize(deserializer)?;
                ::core::result::Result::Ok(Self { metadata, content })
            }
        }
    )+};
    (@scope namespaced) => { $crate::__private::dynamic::NamespaceResourceScope };
    (@scope cluster) => { $crate::__private::dynamic::ClusterResourceScope };
    (@scope $other:ident) => {
        ::core::compile_error!("a kind is `namespaced` or `cluster`; write one of them after its plural")
    };
}

/// Splits an `apiVersion` into group and version; the core group is empty.
pub fn split(version: &'static str) -> (&'static str, &'static str) {
    version.split_once('/').unwrap_or(("", version))
}

/// Returns metadata with this name, and the fields of `content`; no fields if `content` is not a JSON object.
pub fn parts(name: &str, content: Value) -> (ObjectMeta, Content) {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let content = match content {
        Value::Object(content) => content,
        _ => Content::new(),
    };
    (metadata, content)
}

/// Serializes an object of a declared kind: `apiVersion`, `kind` and `metadata` beside the fields of `content`.
///
/// # Errors
/// Fails with the error of the serializer.
pub fn serialize<S: Serializer>(
    (version, kind): (&str, &str),
    metadata: &ObjectMeta,
    content: &Content,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut object = content.clone();
    object.insert("apiVersion".into(), version.into());
    object.insert("kind".into(), kind.into());
    object.insert("metadata".into(), serde_json::to_value(metadata).map_err(serde::ser::Error::custom)?);
    object.serialize(serializer)
}

/// Deserializes an object of a declared kind to its metadata and to its other fields without `apiVersion` and `kind`. Missing metadata is
/// empty.
///
/// # Errors
/// Fails with the error of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(ObjectMeta, Content), D::Error> {
    let mut content = Content::deserialize(deserializer)?;
    content.remove("apiVersion");
    content.remove("kind");
    let metadata = content.remove("metadata").unwrap_or_else(|| Value::Object(Map::new()));
    Ok((serde_json::from_value(metadata).map_err(D::Error::custom)?, content))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::kind::kind_of;
    use serde_json::json;

    crate::dynamic_kind! {
        Widget: "example.com/v1", "widgets", namespaced;
        Thing: "v1", "things", cluster;
    }

    #[test]
    fn a_kind_has_its_declared_names() {
        let (widget, thing) = (kind_of::<Widget>(), kind_of::<Thing>());
        assert_eq!(
            (widget.full_name().as_str(), &*widget.kind, &*widget.version),
            ("widgets.example.com", "Widget", "v1")
        );
        assert_eq!((thing.full_name().as_str(), thing.api_version().as_str()), ("things", "v1"));
        assert!(widget.namespaced && !thing.namespaced);
    }

    #[test]
    fn an_object_deserializes_to_the_serialized_one() {
        let widget = Widget::new("one", json!({"spec": {"size": 1}, "status": {}}));
        let json = serde_json::to_value(&widget).unwrap();
        let expected = json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"size": 1}, "status": {}
        });
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<Widget>(json).unwrap(), widget);
        assert_eq!(Thing::new("one", json!(1)), serde_json::from_value(json!({"metadata": {"name": "one"}})).unwrap());
    }
}
