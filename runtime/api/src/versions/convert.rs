//! `Versions`: the versions of a kind, and the conversion of an object from one to another.

use super::{
    conversion::{Conversion, ConversionOf},
    direction::Direction,
    preserved::{Comparison, PreservedPart},
    problem::FieldProblem,
};
use crate::validation::ValidationOf;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, fmt};

/// The annotation with the fields that the version of an object can't hold. It is written and read by the conversion only.
pub const CONVERSION_DATA_ANNOTATION: &str = "conversion.opgen.dev/data";

/// The annotation of an object that lacks fields of its stored version, since they are too large for its annotations.
const INCOMPLETE_ANNOTATION: &str = "conversion.opgen.dev/incomplete";

/// The maximum size of all annotations of an object in the API server, in bytes.
const MAX_ANNOTATIONS: usize = 256 << 10;

/// The function that returns the versions of a kind.
pub type VersionsOf = fn() -> Versions;

/// The versions of a kind.
#[derive(Clone, Debug)]
pub struct Versions {
    /// The versions, the oldest first.
    versions: Vec<Version>,
    stored: &'static str,
}

/// A version of a kind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Version {
    /// The name, for example `v1beta1`.
    pub name: &'static str,
    /// Returns the definition that has only this version.
    pub definition: fn() -> CustomResourceDefinition,
    /// Returns its schema, in which types are referenced by name.
    pub schema: fn() -> Value,
    /// The rules between the fields of the spec.
    pub validation: Option<ValidationOf>,
    /// The conversion of the spec from the version before; `None` if it has no changes.
    pub spec: Option<ConversionOf>,
    /// The conversion of the status from the version before; `None` if it has no changes.
    pub status: Option<ConversionOf>,
}

/// The content of the annotation, by version.
type ConversionData = BTreeMap<String, VersionData>;

/// The preserved parts of an object in one version.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum VersionData {
    Preserved(PreservedPart),
    /// Data that this release can't parse, for example of a later one. It is kept until a conversion to or from its version.
    Unknown(Value),
}

impl Version {
    /// A version by its name, with the functions that return its definition and its schema. It has no rules, and no conversion from the
    /// version before.
    pub fn new(name: &'static str, definition: fn() -> CustomResourceDefinition, schema: fn() -> Value) -> Self {
        Self { name, definition, schema, validation: None, spec: None, status: None }
    }

    /// Sets the rules between the fields of the spec. Default: none.
    #[must_use]
    pub fn with_rules(self, validation: Option<ValidationOf>) -> Self {
        Self { validation, ..self }
    }

    /// Sets the conversions of the spec and of the status from the version before. Default: none.
    #[must_use]
    pub fn converted(self, spec: Option<ConversionOf>, status: Option<ConversionOf>) -> Self {
        Self { spec, status, ..self }
    }

    /// Returns the conversion of the object from the version before.
    fn conversion(&self) -> Conversion {
        Conversion::of_struct(Vec::new()).with_field("spec", &[], self.spec).with_field("status", &[], self.status)
    }
}

/// Why an object can't be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversionError {
    /// The object has no version of the kind, or another group.
    UnknownVersion {
        /// The `apiVersion` of the object, or the wanted one.
        api_version: String,
    },
    /// The value is no object, or has no `metadata`.
    NotAnObject,
    /// The fields that the stored version can't hold are too large for the annotations.
    TooLarge {
        /// The size of all annotations in bytes.
        size: usize,
    },
    /// The object lacks fields of another version, which were too large for its annotations. Written back, it would lose them.
    Incomplete,
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownVersion { api_version } => write!(f, "the kind has no version {api_version:?}"),
            Self::NotAnObject => f.write_str("the value is not a Kubernetes object"),
            Self::TooLarge { size } => {
                write!(f, "with the fields that the stored version can't hold, the annotations have {size} bytes")?;
                write!(f, "; the annotations of an object have at most {MAX_ANNOTATIONS}")
            }
            Self::Incomplete => {
                f.write_str("the object lacks large fields of its stored version; change it in that version")
            }
        }
    }
}

impl std::error::Error for ConversionError {}

impl Versions {
    /// The versions of a kind, the oldest first. Each has the conversion from the one before it.
    pub fn new(versions: Vec<Version>, stored: &'static str) -> Self {
        Self { versions, stored }
    }

    /// Returns the versions, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter()
    }

    /// Returns the name of the version in which the API server stores the objects.
    pub fn stored(&self) -> &'static str {
        self.stored
    }

    /// Returns whether an object differs between two versions in more than its `apiVersion`, so that the API server needs a webhook to
    /// convert it.
    pub fn need_webhook(&self) -> bool {
        self.versions.iter().skip(1).any(|version| !version.conversion().is_identity())
    }

    /// Converts an object to another version, for example to `v1beta1`. What that version can't hold is kept in the annotation
    /// [`CONVERSION_DATA_ANNOTATION`], and comes back with the conversion back, unless it has been changed meanwhile.
    ///
    /// A field whose function fails is left out, or gets its default, and its value is in the annotation, too. Returns these fields.
    ///
    /// # Errors
    /// Those of [`ConversionError`]. The object is unchanged then.
    pub fn convert(&self, object: &mut Value, version: &str) -> Result<Vec<FieldProblem>, ConversionError> {
        let (group, from) = self.version_of(object)?;
        let unknown = || ConversionError::UnknownVersion { api_version: format!("{group}/{version}") };
        let to = self.position(version).ok_or_else(unknown)?;
        if from != to && annotation(object, INCOMPLETE_ANNOTATION).is_some() {
            return Err(ConversionError::Incomplete);
        }
        let mut data = read_data(object);
        let (mut parts, mut problems) = (parts(object), Vec::new());
        for step in Step::between(from, to) {
            problems.extend(self.convert_by_step(&mut parts, step, &mut data));
        }
        let data = (!data.is_empty()).then(|| json!(data).to_string());
        let size = size_with(object, data.as_deref());
        let is_too_large = size > MAX_ANNOTATIONS && from != to;
        // An object that is stored must be complete. In other versions the object is returned without these fields, since an error would
        // also fail the lists that contain it.
        if is_too_large && version == self.stored {
            return Err(ConversionError::TooLarge { size });
        }
        let Some(object) = object.as_object_mut() else { return Err(ConversionError::NotAnObject) };
        for part in ["spec", "status"] {
            match parts.as_object_mut().and_then(|parts| parts.remove(part)) {
                Some(value) => drop(object.insert(part.to_owned(), value)),
                None => drop(object.remove(part)),
            }
        }
        object.insert("apiVersion".to_owned(), format!("{group}/{version}").into());
        match is_too_large {
            true => {
                write_annotation(object, CONVERSION_DATA_ANNOTATION, None);
                write_annotation(object, INCOMPLETE_ANNOTATION, Some("true".to_owned()));
            }
            false => write_annotation(object, CONVERSION_DATA_ANNOTATION, data),
        }
        Ok(problems)
    }

    /// Returns the fields of an object that an earlier conversion from another version could not convert, and that no client has set since.
    /// Each path begins with the name of the version that has the field.
    pub fn problems(&self, object: &Value) -> Vec<FieldProblem> {
        let mut problems = Vec::new();
        let Ok((_, from)) = self.version_of(object) else { return problems };
        let data = read_data(object);
        for (version, version_data) in &data {
            let (VersionData::Preserved(preserved), Some(to)) = (version_data, self.position(version)) else {
                continue;
            };
            if !preserved.has_problem() || to == from {
                continue;
            }
            // Converts without the preserved values, to compare them with the result.
            let (mut parts, mut other_data) = (parts(object), data.clone());
            other_data.remove(version);
            for step in Step::between(from, to) {
                self.convert_by_step(&mut parts, step, &mut other_data);
            }
            let mut found = Vec::new();
            preserved.problems(Some(&parts), "", &mut found);
            problems.extend(
                found
                    .into_iter()
                    .map(|problem| FieldProblem { path: format!("{version}: {}", problem.path), ..problem }),
            );
        }
        problems
    }

    /// Converts the spec and the status of an object by one step, to an adjacent version. Restores the values in `data` that an earlier
    /// conversion from the target version has stored, and stores in `data` the values that the target version can't hold.
    fn convert_by_step(&self, parts: &mut Value, step: Step, data: &mut ConversionData) -> Vec<FieldProblem> {
        let Step { from, to, direction } = step;
        let (Some(source), Some(target), Some(newer)) =
            (self.versions.get(from), self.versions.get(to), self.versions.get(from.max(to)))
        else {
            return Vec::new();
        };
        let (conversion, original, mut problems) = (newer.conversion(), parts.clone(), Vec::new());
        conversion.apply(parts, direction, "", &mut problems);
        if let Some(VersionData::Preserved(preserved)) = data.remove(target.name) {
            preserved.restore(parts);
            conversion.copy_moved(parts, &original, direction);
        }
        // A value that differs after a conversion back is one that the target version can't hold.
        let mut back = parts.clone();
        conversion.apply(&mut back, direction.reversed(), "", &mut Vec::new());
        let comparison = Comparison { problems: &problems };
        match comparison.difference(Some(&back), Some(&original), Some(&conversion), &[], "") {
            Some(preserved) => drop(data.insert(source.name.to_owned(), VersionData::Preserved(preserved))),
            None => drop(data.remove(source.name)),
        }
        problems
    }

    /// Returns the API group of an object, and the position of its version among the versions of the kind. Fails if the value is no object
    /// or has an unknown version.
    fn version_of(&self, object: &Value) -> Result<(String, usize), ConversionError> {
        let api_version = object.get("apiVersion").and_then(Value::as_str).ok_or(ConversionError::NotAnObject)?;
        object.get("metadata").and_then(Value::as_object).ok_or(ConversionError::NotAnObject)?;
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let position = self.position(version);
        let position =
            position.ok_or_else(|| ConversionError::UnknownVersion { api_version: api_version.to_owned() })?;
        Ok((group.to_owned(), position))
    }

    fn position(&self, version: &str) -> Option<usize> {
        self.versions.iter().position(|known| known.name == version)
    }
}

/// One step of a conversion: to the next version, or to the one before.
#[derive(Clone, Copy)]
struct Step {
    from: usize,
    to: usize,
    direction: Direction,
}

impl Step {
    /// Returns the steps from one version to another, each to the next newer or next older version, by the positions of the versions.
    fn between(from: usize, to: usize) -> Vec<Self> {
        let up = (from..to).map(|at| Self { from: at, to: at + 1, direction: Direction::Up });
        let down = (to..from).rev().map(|at| Self { from: at + 1, to: at, direction: Direction::Down });
        up.chain(down).collect()
    }
}

/// Returns an object with only `spec` and `status`, the parts that differ between versions.
fn parts(object: &Value) -> Value {
    let part = |name: &str| Some((name.to_owned(), object.get(name)?.clone()));
    Value::Object(["spec", "status"].into_iter().filter_map(part).collect())
}

/// Returns the text of an annotation.
fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

/// Reads the data of earlier conversions from the annotation of an object. An annotation that doesn't parse was not written by a conversion
/// and counts as empty.
fn read_data(object: &Value) -> ConversionData {
    let text = annotation(object, CONVERSION_DATA_ANNOTATION);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Returns the size of all annotations of an object in bytes, if `data` replaces the data of earlier conversions.
fn size_with(object: &Value, data: Option<&str>) -> usize {
    let annotations = object["metadata"]["annotations"].as_object();
    let others = annotations.into_iter().flatten().filter(|(name, _)| *name != CONVERSION_DATA_ANNOTATION);
    let size = |name: &str, text: &str| name.len() + text.len();
    let size_of_others: usize = others.map(|(name, text)| size(name, text.as_str().unwrap_or_default())).sum();
    size_of_others + data.map_or(0, |data| size(CONVERSION_DATA_ANNOTATION, data))
}

/// Sets an annotation, or removes it if `text` is `None`. Removes the field `annotations` with the last annotation.
fn write_annotation(object: &mut Map<String, Value>, name: &str, text: Option<String>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    if let Some(text) = text {
        let annotations = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
        if !annotations.is_object() {
            *annotations = Value::Object(Map::new());
        }
        annotations[name] = text.into();
    } else if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
        && annotations.remove(name).is_some()
        && annotations.is_empty()
    {
        metadata.remove("annotations");
    }
}
