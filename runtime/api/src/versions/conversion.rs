//! `Conversion`: how the JSON of a type changes from one version of a kind to the next.

use super::{
    direction::Direction,
    field_path::{FieldPath, find, join, set, take},
    function::{ConvertFields, call, value_of},
    problem::FieldProblem,
    variant_change::VariantChange,
};
use serde_json::{Map, Value};

/// The function that returns the conversion of a type.
pub type ConversionOf = fn() -> Conversion;

/// The conversion of a type from one version to the next, in both directions.
#[derive(Clone, Debug, Default)]
pub struct Conversion {
    changes: Vec<FieldChange>,
    fields: Vec<NestedConversion>,
    flattened: Vec<ConversionOf>,
    variants: Option<Variants>,
    /// The conversion of the items of a list, or of the values of a map.
    items: Option<ConversionOf>,
}

/// A field of both versions, whose type has a conversion of its own.
#[derive(Clone, Debug)]
struct NestedConversion {
    name: &'static str,
    list_keys: &'static [&'static str],
    conversion: ConversionOf,
}

/// The variants of an enum.
#[derive(Clone, Debug)]
struct Variants {
    /// The name of the field with the variant; `None` where the variant is the only field around its content.
    tag: Option<&'static str>,
    changes: Vec<VariantChange>,
    /// The variants of both versions, by their name in the newer one, whose content has a conversion of its own.
    contents: Vec<(&'static str, ConversionOf)>,
}

/// A change of the fields of a struct.
#[derive(Clone, Copy, Debug)]
pub struct FieldChange {
    /// The fields that only the older version has.
    old: &'static [FieldPath],
    /// The fields that only the newer version has.
    new: &'static [FieldPath],
    /// Converts the old fields to the new ones. `None` copies the only one.
    up: Option<ConvertFields>,
    /// Converts the new fields to the old ones. `None` copies the only one.
    down: Option<ConvertFields>,
    /// The value of the first old field where no new field has a value.
    old_default: Option<fn() -> Option<Value>>,
    /// The value of the first new field where no old field has a value.
    new_default: Option<fn() -> Option<Value>>,
    /// The conversion of the only field, before it is copied.
    nested: Option<ConversionOf>,
    /// The fields that identify the items, if the only field is a list.
    list_keys: &'static [&'static str],
}

impl FieldChange {
    /// A field that only the newer version has. `default` returns its value for older objects; without a value they lack the field.
    pub const fn added(new: &'static [FieldPath], default: Option<fn() -> Option<Value>>) -> Self {
        Self { new_default: default, ..Self::moved(&[], new, None) }
    }

    /// A field that only the older version has. `default` returns its value for newer objects; without a value they lack the field.
    pub const fn removed(old: &'static [FieldPath], default: Option<fn() -> Option<Value>>) -> Self {
        Self { old_default: default, ..Self::moved(old, &[], None) }
    }

    /// A field with another name or place in the newer version. `nested` is the conversion of its type; `None` copies the value.
    pub const fn moved(old: &'static [FieldPath], new: &'static [FieldPath], nested: Option<ConversionOf>) -> Self {
        Self { old, new, up: None, down: None, old_default: None, new_default: None, nested, list_keys: &[] }
    }

    /// Fields of the older version that others replace in the newer version. If a function fails, the first target field has no value, and
    /// [`Versions::convert`](super::Versions::convert) returns the problem.
    pub const fn replaced(
        old: &'static [FieldPath],
        new: &'static [FieldPath],
        up: ConvertFields,
        down: ConvertFields,
    ) -> Self {
        Self { up: Some(up), down: Some(down), ..Self::moved(old, new, None) }
    }

    /// Sets the fields that identify the items, if the only field is a list with `x-kubernetes-list-type: map`.
    #[must_use]
    pub const fn with_list_keys(self, list_keys: &'static [&'static str]) -> Self {
        Self { list_keys, ..self }
    }

    fn sources(&self, direction: Direction) -> &'static [FieldPath] {
        if direction == Direction::Up { self.old } else { self.new }
    }

    /// Converts the values of the source fields to values of the target fields. If there is no value to copy, or if the function of the
    /// user fails, returns the default of the first target field.
    fn convert(
        &self,
        mut values: Vec<Option<Value>>,
        direction: Direction,
        path: &str,
        problems: &mut Vec<FieldProblem>,
    ) -> Vec<Option<Value>> {
        let (function, default) = match direction {
            Direction::Up => (self.up, self.new_default),
            Direction::Down => (self.down, self.old_default),
        };
        let default = || vec![default.and_then(value_of)];
        let is_absent = values.iter().all(Option::is_none);
        if is_absent && function.is_none() {
            return default();
        }
        let source = self.sources(direction).first().map_or_else(String::new, |field| join(path, field));
        let Some(function) = function else {
            if let (Some(nested), Some(Some(value))) = (self.nested, values.first_mut()) {
                nested().apply(value, direction, &source, problems);
            }
            return values;
        };
        call(function, &values).unwrap_or_else(|message| {
            // If no source field has a value, there is nothing to report.
            if !is_absent {
                problems.push(FieldProblem { path: source, message });
            }
            default()
        })
    }
}

impl Conversion {
    /// The conversion of a struct with these changes.
    pub fn of_struct(changes: Vec<FieldChange>) -> Self {
        Self { changes, ..Self::default() }
    }

    /// The conversion of an enum with these changes. With a tag, that field has the name of the variant.
    pub fn of_enum(tag: Option<&'static str>, changes: Vec<VariantChange>) -> Self {
        Self { variants: Some(Variants { tag, changes, contents: Vec::new() }), ..Self::default() }
    }

    /// The conversion of a list or map of items.
    pub(super) fn of_items(items: ConversionOf) -> Self {
        Self { items: Some(items), ..Self::default() }
    }

    /// Adds a field of both versions, whose type may have a conversion. `list_keys` are the fields that identify the items of a list.
    #[must_use]
    pub fn with_field(
        mut self,
        name: &'static str,
        list_keys: &'static [&'static str],
        conversion: Option<ConversionOf>,
    ) -> Self {
        self.fields.extend(conversion.map(|conversion| NestedConversion { name, list_keys, conversion }));
        self
    }

    /// Adds the fields of a type that are fields of this type (`#[serde(flatten)]`).
    #[must_use]
    pub fn with_flattened(mut self, conversion: Option<ConversionOf>) -> Self {
        self.flattened.extend(conversion);
        self
    }

    /// Adds a variant, whose content may have a conversion, by its name in the newer version.
    #[must_use]
    pub fn with_variant(mut self, name: &'static str, conversion: Option<ConversionOf>) -> Self {
        if let Some(variants) = &mut self.variants {
            variants.contents.extend(conversion.map(|conversion| (name, conversion)));
        }
        self
    }

    /// Returns whether both versions have the same JSON.
    pub(super) fn is_identity(&self) -> bool {
        let variants_change = self.variants.as_ref().is_some_and(|variants| {
            !variants.changes.is_empty() || variants.contents.iter().any(|(_, content)| !content().is_identity())
        });
        self.changes.is_empty()
            && !variants_change
            && self.fields.iter().all(|field| (field.conversion)().is_identity())
            && self.flattened.iter().chain(&self.items).all(|conversion| conversion().is_identity())
    }

    /// Returns the conversion of the value at `name`, if it has one, and the keys of its items if it is a list map. `name` is a field in
    /// either version, or a variant that is the only field around its content.
    pub(super) fn field(&self, name: &str) -> Option<(Self, &'static [&'static str])> {
        let own = self.fields.iter().find(|field| field.name == name);
        let moved = || {
            let has_name = |fields: &[FieldPath]| fields.iter().any(|field| *field == [name]);
            let change = self.changes.iter().find(|change| has_name(change.old) || has_name(change.new))?;
            change.nested.map(|nested| (nested(), change.list_keys))
        };
        let content = || self.variants.as_ref()?.content(name);
        own.map(|field| ((field.conversion)(), field.list_keys))
            .or_else(moved)
            .or_else(content)
            .or_else(|| self.flattened.iter().find_map(|flattened| flattened().field(name)))
    }

    /// Returns the fields that a function of the user converts together with a field, itself included; none for a field that no function
    /// converts.
    pub(super) fn converted_with(&self, name: &str) -> Vec<&'static str> {
        let is_named = |fields: &[FieldPath]| fields.iter().any(|field| *field == [name]);
        let change = self
            .changes
            .iter()
            .filter(|change| change.up.is_some())
            .find_map(|change| [change.old, change.new].into_iter().find(|fields| is_named(fields)));
        let of_flattened = || {
            let names = self.flattened.iter().map(|flattened| flattened().converted_with(name));
            names.into_iter().find(|names| !names.is_empty()).unwrap_or_default()
        };
        match change {
            Some(fields) => fields.iter().filter_map(|field| field.last().copied()).collect(),
            None => of_flattened(),
        }
    }

    /// Copies each field that moved into another object from `source` again: if that object was restored, it has an old value of the field.
    pub(super) fn copy_moved(&self, target: &mut Value, source: &Value, direction: Direction) {
        let (Some(target), Some(source)) = (target.as_object_mut(), source.as_object()) else { return };
        for change in self.changes.iter().filter(|change| change.up.is_none() && change.nested.is_none()) {
            let (from, to) = (change.sources(direction), change.sources(direction.reversed()));
            if let ([from], [to]) = (from, to)
                && to.len() > 1
            {
                match find(source, from) {
                    Some(value) => set(target, to, value.clone()),
                    None => drop(take(target, to)),
                }
            }
        }
        for NestedConversion { name, conversion, .. } in &self.fields {
            if let (Some(target), Some(source)) = (target.get_mut(*name), source.get(*name)) {
                conversion().copy_moved(target, source, direction);
            }
        }
    }

    /// Returns whether two values are different variants of an enum.
    pub(super) fn are_other_variants(&self, a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
        self.variants.as_ref().is_some_and(|variants| match variants.tag {
            Some(tag) => a.get(tag) != b.get(tag),
            None => !a.keys().eq(b.keys()),
        })
    }

    /// Returns the conversion of the items of a list or map.
    pub(super) fn item(&self) -> Option<Self> {
        self.items.map(|items| items())
    }

    /// Converts a value and the values in it. A field that can't be converted is added to `problems`, and left out or set to its default.
    pub(super) fn apply(&self, value: &mut Value, direction: Direction, path: &str, problems: &mut Vec<FieldProblem>) {
        if let Some(variants) = &self.variants {
            return variants.apply(value, direction, path, problems);
        }
        match (value, self.items) {
            (Value::Array(items), Some(conversion)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    conversion().apply(item, direction, &format!("{path}[{index}]"), problems);
                }
            }
            (Value::Object(values), Some(conversion)) => {
                for (key, value) in values {
                    conversion().apply(value, direction, &join(path, &[key.as_str()]), problems);
                }
            }
            (Value::Object(object), None) => self.apply_to_fields(object, direction, path, problems),
            _ => {}
        }
    }

    /// Converts the fields of a struct: applies the changes of its fields, and the conversions of nested and flattened types.
    fn apply_to_fields(
        &self,
        object: &mut Map<String, Value>,
        direction: Direction,
        path: &str,
        problems: &mut Vec<FieldProblem>,
    ) {
        // All sources are removed before a target is set, so that fields can exchange their names. The deepest are removed first, so
        // that a field can leave an object that is removed.
        let mut taken: Vec<Vec<Option<Value>>> =
            self.changes.iter().map(|change| vec![None; change.sources(direction).len()]).collect();
        let mut sources: Vec<_> = self
            .changes
            .iter()
            .zip(&mut taken)
            .flat_map(|(change, values)| change.sources(direction).iter().zip(values))
            .collect();
        sources.sort_by_key(|(field, _)| std::cmp::Reverse(field.len()));
        for (field, value) in sources {
            *value = take(object, field);
        }
        for NestedConversion { name, conversion, .. } in &self.fields {
            if let Some(value) = object.get_mut(*name) {
                conversion().apply(value, direction, &join(path, &[name]), problems);
            }
        }
        for conversion in &self.flattened {
            conversion().apply_to_fields(object, direction, path, problems);
        }
        let mut targets: Vec<(FieldPath, Value)> = Vec::new();
        for (change, values) in self.changes.iter().zip(taken) {
            let fields = change.sources(direction.reversed());
            if !fields.is_empty() {
                let values = change.convert(values, direction, path, problems);
                targets.extend(fields.iter().zip(values).filter_map(|(field, value)| Some((*field, value?))));
            }
        }
        // The shortest paths are set first, so that an object that gets its default exists before a field moves into it.
        targets.sort_by_key(|(field, _)| field.len());
        for (field, value) in targets {
            set(object, field, value);
        }
    }
}

impl Variants {
    /// Returns the conversion of the content of the variant `name` in either version. With a tag, `name` is a field of a variant instead.
    fn content(&self, name: &str) -> Option<(Conversion, &'static [&'static str])> {
        if self.tag.is_some() {
            return self.contents.iter().find_map(|(_, content)| content().field(name));
        }
        let newer = self.changes.iter().find_map(|change| match change {
            VariantChange::Renamed(older, newer) if *older == name => Some(*newer),
            _ => None,
        });
        let is_named = |variant: &str| variant == name || newer == Some(variant);
        self.contents.iter().find(|(variant, _)| is_named(variant)).map(|(_, content)| (content(), &[][..]))
    }

    /// Replaces the variant of a value by one that the target version has, or by its name there, and converts its content.
    fn apply(&self, value: &mut Value, direction: Direction, path: &str, problems: &mut Vec<FieldProblem>) {
        let name = match (&*value, self.tag) {
            (Value::String(name), None) => Some(name.clone()),
            (Value::Object(object), None) if object.len() == 1 => object.keys().next().cloned(),
            (Value::Object(object), Some(tag)) => object.get(tag).and_then(Value::as_str).map(str::to_owned),
            _ => None,
        };
        let Some(mut name) = name else { return };
        for change in &self.changes {
            match (*change, direction) {
                (VariantChange::Added(variant, instead), Direction::Down)
                | (VariantChange::Removed(variant, instead), Direction::Up)
                    if variant == name =>
                {
                    *value = value_of(instead).unwrap_or_default();
                    return;
                }
                (VariantChange::Renamed(from, to), Direction::Up)
                | (VariantChange::Renamed(to, from), Direction::Down)
                    if from == name =>
                {
                    self.rename(value, to);
                    name = to.to_owned();
                    break;
                }
                _ => {}
            }
        }
        // `contents` has the names of the newer version.
        let renamed = self.changes.iter().find_map(|change| match change {
            VariantChange::Renamed(old, new) if direction == Direction::Down && *old == name => Some(*new),
            _ => None,
        });
        let newer_name = renamed.unwrap_or(&name).to_owned();
        let Some((_, conversion)) = self.contents.iter().find(|(variant, _)| *variant == newer_name) else { return };
        match (value, self.tag) {
            (value, Some(_)) => conversion().apply(value, direction, path, problems),
            (Value::Object(object), None) => {
                for content in object.values_mut() {
                    conversion().apply(content, direction, &join(path, &[name.as_str()]), problems);
                }
            }
            _ => {}
        }
    }

    /// Replaces the name of a variant: the value of the tag, the only key of an object, or the whole value of a variant without content.
    fn rename(&self, value: &mut Value, name: &str) {
        match (value, self.tag) {
            (Value::Object(object), Some(tag)) => drop(object.insert(tag.to_owned(), name.into())),
            (Value::Object(object), None) => {
                let contents: Vec<_> = std::mem::take(object).into_iter().map(|(_, content)| content).collect();
                object.extend(contents.into_iter().map(|content| (name.to_owned(), content)));
            }
            (value, _) => *value = name.into(),
        }
    }
}
