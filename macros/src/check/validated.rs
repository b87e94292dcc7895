//! Checks the rules of `#[valid(...)]`: their names, places, arguments and the types of the fields.

use super::{
    Checked,
    validation::{JsonType, json_type},
};
use crate::{
    diag::Diags,
    model::{
        type_path::last_segment,
        validated::{Argument, Rule, TypeStyle, Validated, ValidatedField},
    },
};
use syn::Lit;

/// The rules of a field and those of a struct.
const FIELD_RULES: [&str; 7] =
    ["immutable", "set_once", "required_if", "forbidden_if", "at_most", "less_than", "unique"];
const STRUCT_RULES: [&str; 3] = ["one_of", "at_most_one_of", "at_least_one_of"];

/// The maximum length of a message. Source: `MaxLength` of `ValidationRule.message` in `apiextensions/v1`.
const MAX_MESSAGE: usize = 2048;

/// Checks a type that derives `Validated`, and its `#[valid(...)]` rules. Returns `None` for a type that can't have rules: it is generic,
/// or is neither an enum nor a struct with named fields. After any other error it returns the type without its rules.
pub(crate) fn check(mut model: Validated, diags: &mut Diags) -> Option<Checked<Validated>> {
    let before = diags.error_count();
    if model.style == TypeStyle::Other {
        let fix = "write the rules in a struct with named fields";
        diags.error(&model.ident, format!("`{}` has no named fields", model.ident), fix);
        return None;
    }
    if let (TypeStyle::Enum, Some(tagging)) = (model.style, &model.tagging) {
        let problem = "the variants of an enum with this tagging have no place of their own for their rules";
        diags.error(tagging, problem, "remove it, so that each variant is a separate property");
    }
    if let (TypeStyle::Enum, Some(rule)) = (model.style, model.rules.first()) {
        let fix = "write the rules in the structs that are the contents of the variants";
        diags.error(&rule.key, format!("`{}` is an enum, which has no fields", model.ident), fix);
        model.rules.clear();
    }
    if !model.generics.params.is_empty() {
        diags.error(
            &model.generics,
            format!("`{}` is generic", model.ident),
            "remove the parameters and name the types",
        );
        return None;
    }
    for rule in &model.rules {
        check_rule(&model, rule, diags);
    }
    if diags.error_count() > before {
        model.rules.clear();
    }
    Some(Checked(model))
}

/// Checks one `#[valid(...)]` rule: that its name is known, that it is at the right place (above the struct or on a field), and then its
/// message and arguments.
fn check_rule(model: &Validated, rule: &Rule, diags: &mut Diags) {
    let key = rule.key.to_string();
    let is_one_of = |rules: &[&str]| rules.contains(&key.as_str());
    let field = rule.field.and_then(|index| model.fields.get(index));
    match field {
        Some(_) if is_one_of(&STRUCT_RULES) => {
            let fix = format!("move it above `{}`", model.ident);
            return diags.error(&rule.key, format!("`{key}` is a rule of the struct"), fix);
        }
        None if is_one_of(&FIELD_RULES) => {
            return diags.error(&rule.key, format!("`{key}` is a rule of a field"), "move it to the field");
        }
        Some(_) if !is_one_of(&FIELD_RULES) => return diags.unknown("rule", &rule.key, &FIELD_RULES),
        None if !is_one_of(&STRUCT_RULES) => return diags.unknown("rule", &rule.key, &STRUCT_RULES),
        _ => {}
    }
    check_message(rule, diags);
    match field {
        Some(field) if field.hints.skip || field.hints.flatten => {
            let problem = format!("`{}` is not a field of its own in JSON", field.ident);
            diags.error(&rule.key, problem, "remove the rule");
        }
        Some(field) => check_field_rule(model, rule, field, diags),
        None => {
            check_argument_count(rule, 2, diags);
            for argument in named_fields(model, rule, diags) {
                check_optional(argument, diags);
            }
        }
    }
}

/// Checks the arguments of a rule on a field, and that the type of the field fits: an `Option`, a number or a list, depending on the rule.
fn check_field_rule(model: &Validated, rule: &Rule, field: &ValidatedField, diags: &mut Diags) {
    match rule.key.to_string().as_str() {
        "immutable" => check_argument_count(rule, 0, diags),
        "set_once" => {
            check_argument_count(rule, 0, diags);
            check_optional(field, diags);
        }
        "unique" => check_unique(rule, field, diags),
        "at_most" | "less_than" => {
            check_argument_count(rule, 1, diags);
            check_number(field, diags);
            for other in named_fields(model, rule, diags) {
                check_number(other, diags);
            }
        }
        // `required_if` and `forbidden_if`, whose argument is a condition and may have a value.
        _ => {
            check_argument_count(rule, 1, diags);
            check_optional(field, diags);
            if let Some(Argument { value: Some(value), .. }) = rule.arguments.first()
                && !matches!(value, Lit::Str(_) | Lit::Int(_) | Lit::Bool(_))
            {
                diags.error(
                    value,
                    "a field is compared to a string, an integer or a boolean",
                    "write `mode = \"Public\"`",
                );
            }
            named_fields(model, rule, diags);
        }
    }
}

/// Returns the fields that a rule names in its arguments. Reports names of fields that the struct or its JSON doesn't have, a field that is
/// named twice, the field of the rule itself, and values in a rule that compares no values (all but `required_if` and `forbidden_if`).
fn named_fields<'a>(model: &'a Validated, rule: &Rule, diags: &mut Diags) -> Vec<&'a ValidatedField> {
    let has_condition = ["required_if", "forbidden_if"].iter().any(|key| rule.key == key);
    let mut fields = Vec::new();
    let mut seen = Vec::new();
    for Argument { ident, field, value } in &rule.arguments {
        if let Some(value) = value.as_ref().filter(|_| !has_condition) {
            diags.error(value, format!("`{}` compares no values", rule.key), format!("write `{ident}` alone"));
        }
        let Some((index, field)) = field.and_then(|index| Some((index, model.fields.get(index)?))) else {
            let names: Vec<_> = model.fields.iter().map(|field| field.ident.to_string()).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            diags.unknown("field", ident, &names);
            continue;
        };
        if rule.field == Some(index) {
            diags.error(ident, format!("the rule compares `{ident}` to itself"), "name another field");
        } else if seen.contains(&index) {
            diags.error(ident, format!("the rule names `{ident}` twice"), "name it once");
        } else if field.hints.skip || field.hints.flatten {
            diags.error(ident, format!("`{ident}` is not a field of its own in JSON"), "name another field");
        } else {
            fields.push(field);
        }
        seen.push(index);
    }
    fields
}

/// Checks the `message` of a rule: the API server requires one line of 1 to 2,048 characters.
fn check_message(rule: &Rule, diags: &mut Diags) {
    let Some(message) = &rule.message else { return };
    let text = message.value();
    if text.trim().is_empty() || text.chars().count() > MAX_MESSAGE || text.contains(['\n', '\r']) {
        diags.error(message, "this message is not allowed", format!("write one line of 1 to {MAX_MESSAGE} characters"));
    }
}

/// Reports a rule with a wrong number of arguments. A rule on a field has exactly `count` arguments, and a rule of the struct at least
/// `count`.
fn check_argument_count(rule: &Rule, count: usize, diags: &mut Diags) {
    let (key, found) = (&rule.key, rule.arguments.len());
    let example = match key.to_string().as_str() {
        "required_if" | "forbidden_if" => "(mode = \"Public\")",
        "at_most" | "less_than" => "(max)",
        "one_of" | "at_most_one_of" | "at_least_one_of" => "(first, second)",
        _ => "",
    };
    let is_valid = if rule.field.is_none() { found >= count } else { found == count };
    if !is_valid {
        let expected = match count {
            0 => "no arguments".to_owned(),
            1 => "one other field".to_owned(),
            count => format!("at least {count} fields"),
        };
        diags.error(key, format!("`{key}` takes {expected}, found {found}"), format!("write `{key}{example}`"));
    }
}

/// Reports a field whose type is not `Option`, if a rule depends on whether the field is set.
fn check_optional(field: &ValidatedField, diags: &mut Diags) {
    let is_option = last_segment(&field.ty).is_some_and(|segment| segment.ident == "Option");
    if !is_option {
        let problem = format!("the rule asks whether `{}` is set, but it always is", field.ident);
        diags.error(&field.ty, problem, "make it an `Option`");
    }
}

/// Reports a field whose type is known and not a number, if a rule compares numbers. A type that the macro doesn't know may be a number.
fn check_number(field: &ValidatedField, diags: &mut Diags) {
    if !matches!(json_type(&field.ty), JsonType::Number | JsonType::Unknown) {
        let problem = format!("the rule compares numbers, but `{}` is none", field.ident);
        diags.error(&field.ty, problem, "use a number, or remove the rule");
    }
}

/// Checks `unique` and `unique(key)`: the field must be a list, and `key` one name, without a value, of a field of the list's items.
fn check_unique(rule: &Rule, field: &ValidatedField, diags: &mut Diags) {
    if !matches!(json_type(&field.ty), JsonType::List | JsonType::Unknown) {
        diags.error(&field.ty, format!("`unique` is about lists, but `{}` is none", field.ident), "use a `Vec`");
    }
    if let [_, more, ..] = rule.arguments.as_slice() {
        diags.error(&more.ident, "`unique` names one field of the items", "write `unique(name)`");
    }
    if let Some(value) = rule.arguments.iter().find_map(|argument| argument.value.as_ref()) {
        diags.error(value, "`unique` compares no values", "write `unique(name)`");
    }
}
