//! The versions of a kind, and the conversion of its objects between them: the attribute [`#[versions]`](macro@versions).
//!
//! A kind lives for years, and its schema changes while clusters store objects of it. `#[versions]` on a module makes the structs of
//! each version from one set of structs with their history. From the same history follow the definition with all versions and the
//! conversion between each two of them, which the operator serves to the API server (a conversion webhook).
//!
//! ```
//! # extern crate opgen_api as opgen;
//! #[opgen::versions(v1alpha1(deprecated), v1beta1, v1)]
//! pub mod database {
//!     use kube::CustomResource;
//!     use opgen::Managed;
//!     use schemars::JsonSchema;
//!     use serde::{Deserialize, Serialize};
//!
//!     #[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
//!     #[kube(group = "demo.example.com", kind = "Database", namespaced, status = "opgen::Status")]
//!     #[serde(rename_all = "camelCase")]
//!     #[version(replaced(v1beta1, from(endpoint), to(host, port), up = split, down = join))]
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
//!
//!     fn join(host: String, port: u16) -> String {
//!         format!("{host}:{port}")
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
//! # The versions
//! `#[versions(v1alpha1, v1beta1, v1)]` names the versions, the oldest first. The operator works with the newest one. A version takes
//! `deprecated` or `deprecated = "use v1"` (clients get a warning), `not_served` (the API server has it, but answers no client), and
//! `stored`: the API server stores the objects in it. Default: the newest. Store a new version only after a release that serves it, so
//! that a rollback to that release can read all objects.
//!
//! Each struct and enum in the module that has a history, or contains such a type, is in a module of each version: `v1::DatabaseSpec`.
//! All other items stay where they are. The items of a version are one module deeper, and so are their visibilities: what is private in
//! the module is visible in it, `pub(super)` means the same as without versions. `#[kube(...)]` has no `version`, and `Managed` is derived for the newest version. Rules
//! (`#[valid(...)]`) are in each version that has all fields of the rule.
//!
//! # The history of a field
//!
//! | attribute | meaning |
//! |---|---|
//! | `#[version(added(v1))]` | older versions don't have the field. `default = …` is its value for older objects; needed unless it is an `Option` or has `#[serde(default)]` |
//! | `#[version(removed(v1))]` | since `v1` there is no such field. `default = …` is its value in older versions for newer objects; needed as above |
//! | `#[version(renamed(v1, from = size))]` | the field had another name before `v1` |
//! | `#[version(retyped(v1, from = u32, up = f, down = g))]` | the field had another type before `v1`. Without functions, `TryFrom` converts |
//! | `#[version(moved(v1, from = network.port))]` | the field was a field of another one before `v1`; that type says `removed(v1, moved)` |
//! | on the struct: `#[version(replaced(v1, from(a), to(b, c), up = f, down = g))]` | since `v1`, other fields replace some: a split, or with several in `from` a merge |
//!
//! A function returns the value, or a `Result` with an error that is `Display`; for several fields it takes or returns them in their
//! order, as arguments and as a tuple.
//!
//! # The history of an enum
//! `added(v1, instead = Other)` on a variant: older versions show `Other`. `removed(v1, instead = Other)`: since `v1` there is `Other`
//! in its place. `renamed(v1, from = Old)`. `instead` names variants and fields as the version has them that shows the value.
//!
//! # What a version can't hold
//! A client of an old version that reads an object and writes it back changes only what it sees. What its version can't hold is in the
//! annotation [`CONVERSION_DATA_ANNOTATION`], and comes back in the version that has it: each object is the same after the way to
//! another version and back, over any versions in between. The values in the annotation are those that the conversion back would not
//! give. A value does not come back if the client has changed the field that stands for it, or has removed the object around it. Items
//! of lists are found by their keys (`x-kubernetes-list-map-keys`), else by their content, else by their position. A client that
//! replaces an object without its annotations removes what only they have.
//!
//! # Conversions that fail
//! If the function of a field fails, the field is left out, or gets its default, and the value stays in the annotation. So an object
//! that can't be converted hinders no other, and loses nothing. [`Versions::problems`] names these fields.
//!
//! # Limits
//! The annotations of an object have at most 256 KiB. If what the stored version can't hold is larger, a write fails. In other versions such
//! an object is shown without it, with the annotation `conversion.opgen.dev/incomplete`, and can't be written back.
//!
//! The annotation is part of the object: who may update an object can change what comes back in another version, its status included.
//! The API server does not validate it.
//!
//! Metadata is not converted.

mod conversion;
mod convert;
mod direction;
mod field_path;
mod function;
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
    /// Returns the conversion from the version before.
    fn conversion() -> Conversion;
}

/// The object of a kind with versions, in one of them. [`#[versions]`](macro@versions) implements it.
pub trait VersionedKind {
    /// The name of the version of this type.
    const VERSION: &'static str;

    /// Returns all versions of the kind.
    fn versions() -> Versions;
}

/// Converts an object to another version of its kind, as the API server does by the conversion webhook of the operator.
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

/// Why [`convert`] fails.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConvertError {
    /// The conversion fails.
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

    /// Reads the value of a field of the source.
    pub fn read<T: DeserializeOwned>(value: Option<&Option<Value>>) -> Result<T, String> {
        let value = value.cloned().flatten().unwrap_or_default();
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// Writes the value of a field of the target. A field that is not set is left out.
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
