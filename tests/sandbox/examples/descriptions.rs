//! Takes the descriptions of the table: reads the documents of `/openapi/v3/...` that lie as JSON files in a folder, and
//! writes `table/descriptions.json.zst`.
//!
//! `cargo run -p opgen-sandbox --example descriptions -- FOLDER`

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

use serde_json::Value;

/// How hard it is compressed.
const LEVEL: i32 = 19;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("the folder of the documents is missing")?;
    let mut taken: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let document: Value = serde_json::from_slice(&fs::read(entry?.path())?)?;
        for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
            let own = schema["description"].as_str().map(|text| (String::new(), text.to_owned()));
            let fields = schema["properties"].as_object().into_iter().flatten();
            let fields =
                fields.filter_map(|(field, schema)| Some((field.clone(), schema["description"].as_str()?.to_owned())));
            taken.insert(name.clone(), own.into_iter().chain(fields).collect());
        }
    }
    let text = serde_json::to_vec(&taken)?;
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("table/descriptions.json.zst");
    fs::write(table, zstd::encode_all(text.as_slice(), LEVEL)?)?;
    Ok(())
}
