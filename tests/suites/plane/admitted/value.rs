//! Values by a schema: most of them plain, some at its edges or beyond.

use serde_json::{Map, Value, json};

use super::dice::Dice;

/// A value that the schema may admit.
pub(super) fn of(schema: &Value, dice: &mut Dice, depth: usize) -> Value {
    if schema["nullable"] == true && dice.below(4) == 0 {
        return Value::Null;
    }
    if let Some(choices) = schema["enum"].as_array() {
        return dice.one_of(choices).clone();
    }
    match schema["type"].as_str() {
        Some("object") => object(schema, dice, depth),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or_default();
            let most = schema["maxItems"].as_u64().unwrap_or(least + 2);
            let length = least + dice.below((most - least + 1) as usize) as u64;
            (0..length).map(|_| of(&schema["items"], dice, depth + 1)).collect()
        }
        Some("boolean") => json!(dice.below(2) == 0),
        Some("integer") => whole(schema, dice),
        Some("number") => dice.one_of(&[json!(0), json!(-1.5), json!(1e300), json!(-7)]).clone(),
        Some("string") => text(schema, dice),
        _ if schema["x-kubernetes-int-or-string"] == true => match dice.below(2) {
            0 => whole(schema, dice),
            _ => text(schema, dice),
        },
        _ => dice.one_of(&[json!(1), json!("a"), json!([null]), json!({"a": {"b": [1, {}]}}), json!(true)]).clone(),
    }
}

fn object(schema: &Value, dice: &mut Dice, depth: usize) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut made = Map::new();
    // One variant of a union, or all fields of a struct.
    let union = ["oneOf", "anyOf"].into_iter().find_map(|key| schema[key].as_array());
    let variant = union.map(|variants| dice.one_of(variants)["required"].as_array().cloned().unwrap_or_default());
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let wanted = required.contains(&json!(name)) || variant.as_ref().is_none_or(|some| some.contains(&json!(name)));
        if wanted && (required.contains(&json!(name)) || variant.is_some() || dice.below(3) > 0) {
            made.insert(name.clone(), of(inner, dice, depth + 1));
        }
    }
    if schema["additionalProperties"].is_object() {
        for key in ["a", "0", "", "a/b"].into_iter().take(dice.below(4)) {
            made.insert(key.to_owned(), of(&schema["additionalProperties"], dice, depth + 1));
        }
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        made.insert("open".into(), json!({"a": [1, null, "b"]}));
    }
    made.into()
}

fn whole(schema: &Value, dice: &mut Dice) -> Value {
    let mut choice =
        vec![json!(0), json!(1), json!(7), json!(-1), json!(3_000_000_000_u32), json!(i64::MIN), json!(i64::MAX)];
    choice.extend([json!(1e15), json!(i32::MIN), json!(2.0)]);
    choice.extend(["minimum", "maximum"].iter().map(|key| schema[*key].clone()).filter(|bound| !bound.is_null()));
    dice.one_of(&choice).clone()
}

fn text(schema: &Value, dice: &mut Dice) -> Value {
    let by_format: &[&str] = match schema["format"].as_str() {
        Some("date-time") => &[
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00+02:00",
            "2026-12-31T23:59:60Z",
            "2026-01-01t00:00:00z",
            "2026-01-01T00:00:00.123456789Z",
            "9999-12-31T23:59:59Z",
            "9999-12-31T23:59:59-23:59",
            "0000-01-01T00:00:00Z",
            "2026-02-31T00:00:00Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T25:00:00Z",
            "2026-01-01T00:00:00+0200",
            "2026-01-01T00:00:00x5Z",
            "2026-01-01T00:00:00+99:99",
            "2026-01-01T00:00:00.1234567890Z",
        ],
        Some("byte") => &["", "YQ==", "YQ", "Y Q==", "YQ==\n", "YR==", "YWI=", "YWJ=", "-_8=", "*"],
        Some("ipv4") => &["192.0.2.1", "192.0.2.01", "1.2.3", "::ffff:1.2.3.4"],
        Some("ipv6") => &["2001:db8::1", "::1.2.3.4", "fe80::1%eth0", "::"],
        _ if schema["anyOf"].is_array() => &["192.0.2.1", "2001:db8::1", "a", "fe80::1%eth0", "010.0.0.1"],
        _ => &["", "a", "0", "a b", "\u{e9}", "\u{1f600}", "-1", "null", "1Gi", "5m", "x:80"],
    };
    json!(dice.one_of(by_format))
}

/// Takes all but a few of the optional fields of a spec away, so that one refusal doesn't hide the others.
pub(super) fn calm(spec: &mut Value, schema: &Value, dice: &mut Dice) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let kept = 1 + dice.below(3);
    let Some(fields) = spec.as_object_mut() else { return };
    while fields.len() > kept + required.len() {
        let names: Vec<_> = fields.keys().filter(|name| !required.contains(&json!(name))).cloned().collect();
        let name = dice.one_of(&names);
        fields.remove(name);
    }
}
