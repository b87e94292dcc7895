//! The versions of a kind, and the conversion of its objects between them: the attribute [`#[versions]`](macro@versions).
//!
//! The schema of a kind changes while clusters store objects of it. `#[versions]` on a module reads one set of structs with their history,
//! and generates the structs of each version, the CustomResourceDefinition with all versions, and the conversion between each two versions.
//! The operator serves the conversion to the API server as a conversion webhook.
//!
//! ```
//! # extern crate opgen_api as opgen;
//! #[opgen::versions(v1alpha1(deprecated), v1beta1, v1)]
//! pub mod database {
//!     use opgen::prelude::*;
//!
//!     #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
//!     #[kube(group = "demo.example.com", kind = "Database", namespaced, status = "Status")]
//!     #[serde(rename_all = "camelCase")]
//!     #[version(replaced(v1beta1, from(endpoint), to(host, port), up = split, down = |host, port| format!("{host}:{port}")))]
//!     pub struct DatabaseSpec {
//!         #[version(renamed(v1beta1, from = size))]
//!         pub replicas: u32,
//!         pub endpoint: String,
//!         pub host: String,
//!         pub port: u16,
//!         #[version(added(v1, default = Backup::Daily))]
//!         pub backup: Backup,
//!         #[version(removed(v1))]
//!         pub legacy_mode: Option<bool>,
//!     }
//!
//!     #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq)]
//!     pub enum Backup {
//!         Daily,
//!         Never,
//!     }
//!
//!     fn split(endpoint: String) -> Result<(String, u16), String> {
//!         let (host, port) = endpoint.rsplit_once(':').ok_or("the endpoint has no port")?;
//!         Ok((host.to_owned(), port.parse().map_err(|_| "the port is no number")?))
//!     }
//! }
//!
//! use database::{v1, v1alpha1};
//! use opgen::versions::convert;
//!
//! let old = v1alpha1::DatabaseSpec { size: 3, endpoint: "db:5432".to_owned(), legacy_mode: Some(true) };
//! let old = v1alpha1::Database::new("orders", old);
//! let new: v1::Database = convert(&old).unwrap();
//! assert_eq!((new.spec.replicas, new.spec.host.as_str(), new.spec.port), (3, "db", 5432));
//! let back: v1alpha1::Database = convert(&new).unwrap();
//! assert_eq!(back.spec, old.spec);
//! # fn main() {}
//! ```
//!
//! # Versions
//! `#[versions(v1alpha1, v1beta1, v1)]` lists the versions, the oldest first. The operator works with the newest one. Each version takes
//! options in parentheses:
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `deprecated`, `deprecated = "use v1"` | clients that use the version get a warning | not deprecated |
//! | `not_served` | the API server refuses requests in the version | served |
//! | `stored` | the API server stores the objects in the version | the newest version is stored |
//!
//! A new version should be stored only after a release that serves it. Otherwise a rollback to the release before can't read the objects.
//!
//! The structs and enums with a history, and those that contain one, are in a module of each version, for example `v1::DatabaseSpec`. All
//! other items stay in the outer module. The visibilities mean the same as without versions: `pub(super)` is visible to the parent of the
//! module, and a private item to the module. `#[kube(...)]` has no `version`, and `Managed` is derived for the newest version. A version
//! has a rule (`#[valid(...)]`) if it has all fields of the rule.
//!
//! # History of a field
//!
//! | attribute | meaning |
//! |---|---|
//! | `#[version(added(v1))]` | older versions don't have the field. `default = …` is its value for objects of older versions. Without it, the value is the default of the type, and clients need not set the field, see below |
//! | `#[version(removed(v1))]` | `v1` and newer versions don't have the field. `default = …` is its value in older versions for objects of newer ones. It is required unless the field is an `Option` or has a default |
//! | `#[version(renamed(v1, from = size))]` | the field had another name before `v1` |
//! | `#[version(retyped(v1, from = u32, up = f, down = g))]` | the field had another type before `v1`. Without functions, `TryFrom` converts in both directions |
//! | `#[version(moved(v1, from = network.port))]` | the field was inside another field before `v1`. The type of that field has `removed(v1, moved)` |
//! | on the struct: `#[version(replaced(v1, from(a), to(b, c), up = f, down = g))]` | `v1` replaces some fields by others, for example to split a field or to merge several |
//!
//! `up` converts to the newer version, `down` to the older one. Both are the path of a function, or a closure such as
//! `|host, port| format!("{host}:{port}")`. A function returns the value, or a `Result` whose error implements `Display`. A function for
//! several fields takes them as arguments and returns them as a tuple, in the order of the attribute.
//!
//! The parameters of a closure have the types of the fields. If the compiler can't infer what the closure returns, for example with `?`,
//! declare it: `|port| -> Result<u16, ParseIntError> { … }`. A closure is in the module of the newer version: it names the types of that
//! version without a path, and those of the older one with its name, for example `v1beta1::Backup`.
//!
//! A field with `added(v1)` and no `default = …` gets `#[serde(default)]` in all versions that have it, so its type must implement
//! `Default`. The attribute is not added to an `Option`, whose default is `None`, and not if the field or its struct has `#[serde(default)]`
//! already.
//!
//! # History of an enum
//!
//! | attribute of a variant | meaning |
//! |---|---|
//! | `#[version(added(v1, instead = Other))]` | older versions don't have the variant, and show `Other` |
//! | `#[version(removed(v1, instead = Other))]` | `v1` and newer versions don't have the variant, and show `Other` |
//! | `#[version(renamed(v1, from = Old))]` | the variant had another name before `v1` |
//!
//! `instead` uses the names of the version that shows the value.
//!
//! # Optional fields
//! An `Option` without a value is left out of JSON, as the Kubernetes API conventions want it, and not written as `null`: `#[versions]` adds
//! `#[serde(skip_serializing_if = "Option::is_none")]` to each named field with the type `Option` in the structs and enums of the module that
//! derive `Serialize`. It does not add the attribute
//!
//! - to a field that has it already, or has `skip`, `flatten`, `with`, `serialize_with` or `deserialize_with`,
//! - to a field whose default may be another value than `None`: by `#[serde(default = "…")]` on the field or the struct, or by
//!   `#[serde(default)]` on a struct that does not derive `Default`,
//! - in a type with `untagged`, `content`, `transparent`, `from`, `try_from` or `into`.
//!
//! # Round trips
//! An object is unchanged after a conversion to any other version and back. The conversion stores the values that a version can't hold in
//! the annotation [`CONVERSION_DATA_ANNOTATION`], and restores them in the version that can. So a client of an old version that reads an
//! object and writes it back changes only the fields that it edits.
//!
//! - A value is not restored if the client has changed the field that represents it, or has removed the object around it.
//! - The items of a list are matched by their keys (`x-kubernetes-list-map-keys`), else by their content, else by their position.
//! - A client that replaces an object without its annotations loses the values in them.
//!
//! # Conversion errors
//! If the function of a field fails, the conversion leaves the field out, or sets its default, and stores the value in the annotation. It
//! does not fail, so other objects of a list are not affected. [`Versions::problems`] returns these fields.
//!
//! # Limits
//! - The annotations of an object have at most 256 KiB. If the values that the stored version can't hold are larger, a write fails. In
//!   other versions the object has the annotation `conversion.opgen.dev/incomplete`, lacks these values, and can't be written.
//! - The API server does not validate the values in the annotation, and they can set the status. The generated manifests have a policy:
//!   only clients that may update the status of an object can set or change its annotation.
//! - Metadata is not converted.

mod conversion;
mod convert;
mod digest;
mod direction;
mod field_path;
mod function;
mod item_position;
mod preserved;
mod problem;
mod variant_change;

pub use conversion::{Conversion, ConversionOf, FieldChange};
pub use convert::{CONVERSION_DATA_ANNOTATION, ConversionError, Version, Versions, VersionsOf};
pub use field_path::FieldPath;
pub use function::ConvertFields;
pub use opgen_macros::versions;
pub use problem::FieldProblem;
pub use variant_change::VariantChange;

use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

/// A type with a history, in a version that is not the oldest. [`#[versions]`](macro@versions) implements it.
#[diagnostic::on_unimplemented(
    message = "the conversion between versions can't look into `{Self}`",
    note = "a type with a history can be in `Option`, `Box`, `Vec`, or a map from `String`"
)]
pub trait Versioned {
    /// Returns the conversion between the previous version and this one, in both directions.
    fn conversion() -> Conversion;
}

/// The object of a kind with versions, in one of them. [`#[versions]`](macro@versions) implements it.
pub trait VersionedKind {
    /// The name of the version of this type.
    const VERSION: &'static str;

    /// Returns all versions of the kind.
    fn versions() -> Versions;
}

/// Converts an object to another version of its kind, as the conversion webhook of the operator does.
///
/// # Errors
/// Fails if the fields that the other version can't hold are too large, or if the result does not fit its type: then a field without a
/// default could not be converted.
pub fn convert<From, To>(object: &From) -> Result<To, ConvertError>
where
    From: VersionedKind + Serialize,
    To: VersionedKind + DeserializeOwned,
{
    let mut value = serde_json::to_value(object).map_err(|error| ConvertError::Type(error, Vec::new()))?;
    let problems = From::versions().convert(&mut value, To::VERSION).map_err(ConvertError::Conversion)?;
    serde_json::from_value(value).map_err(|error| ConvertError::Type(error, problems))
}

/// The reasons for which [`convert`] fails.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConvertError {
    /// The object can't be converted to the other version.
    Conversion(ConversionError),
    /// The result does not fit the type, with the fields that could not be converted.
    Type(serde_json::Error, Vec<FieldProblem>),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conversion(error) => write!(f, "{error}"),
            Self::Type(error, problems) => {
                write!(f, "the converted object does not fit its type: {error}")?;
                problems.iter().try_for_each(|problem| write!(f, "; {problem}"))
            }
        }
    }
}

impl std::error::Error for ConvertError {}

impl<T: Versioned> Versioned for Option<T> {
    fn conversion() -> Conversion {
        T::conversion()
    }
}

impl<T: Versioned> Versioned for Box<T> {
    fn conversion() -> Conversion {
        T::conversion()
    }
}

impl<T: Versioned> Versioned for Vec<T> {
    fn conversion() -> Conversion {
        Conversion::of_items(T::conversion)
    }
}

impl<T: Versioned> Versioned for BTreeMap<String, T> {
    fn conversion() -> Conversion {
        Conversion::of_items(T::conversion)
    }
}

impl<T: Versioned, S> Versioned for HashMap<String, T, S> {
    fn conversion() -> Conversion {
        Conversion::of_items(T::conversion)
    }
}

/// The items that the expansion of [`#[versions]`](macro@versions) calls.
#[doc(hidden)]
pub mod expansion {
    use serde::{Serialize, de::DeserializeOwned};
    use serde_json::Value;
    use std::fmt::Display;

    /// Parses the JSON value of a field that a conversion function takes. A missing field is parsed as null.
    pub fn read<T: DeserializeOwned>(value: Option<&Option<Value>>) -> Result<T, String> {
        let value = value.cloned().flatten().unwrap_or_default();
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// Returns the JSON value of a field that a conversion function returned; `None` instead of null, to leave the field out.
    pub fn write<T: Serialize>(value: T) -> Result<Option<Value>, String> {
        let value = serde_json::to_value(value).map_err(|error| error.to_string())?;
        Ok((!value.is_null()).then_some(value))
    }

    /// The result of a function that converts: a value, or a `Result`. See [`Infallible`] for the first.
    #[derive(Debug)]
    pub struct Converted<T>(pub T);

    impl<T, E: Display> Converted<Result<T, E>> {
        /// Returns the value.
        pub fn into_result(self) -> Result<T, String> {
            self.0.map_err(|error| error.to_string())
        }
    }

    /// A function that returns a value.
    pub trait Infallible {
        /// The value.
        type Output;

        /// Returns the value.
        fn into_result(self) -> Result<Self::Output, String>;
    }

    impl<T> Infallible for Converted<T> {
        type Output = T;

        fn into_result(self) -> Result<T, String> {
            Ok(self.0)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
