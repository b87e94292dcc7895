//! Takes the columns of the table: reads the tables that kube-apiserver answers to lists, and writes
//! `table/columns.json.zst`. They lie in a folder as `GROUP_VERSION_PLURAL.json`, with `core` for the core group.
//!
//! `cargo run -p opgen-sandbox --example columns -- FOLDER`

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

use serde_json::Value;

/// How hard it is compressed.
const LEVEL: i32 = 19;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("the folder of the tables is missing")?;
    let mut taken = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let named = path.file_stem().and_then(|name| name.to_str()).ok_or("a file has no readable name")?;
        let [group, version, plural] = named.splitn(3, '_').collect::<Vec<_>>()[..] else {
            return Err(format!("{named} is no GROUP_VERSION_PLURAL").into());
        };
        let mut table: Value = serde_json::from_slice(&fs::read(&path)?)?;
        let group = if group == "core" { "" } else { group };
        let key = (group.to_owned(), version.to_owned(), plural.to_owned());
        taken.insert(key, table["columnDefinitions"].take());
    }
    let rows: Vec<_> =
        taken.into_iter().map(|((group, version, plural), columns)| (group, version, plural, columns)).collect();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("table/columns.json.zst");
    fs::write(table, zstd::encode_all(serde_json::to_vec(&rows)?.as_slice(), LEVEL)?)?;
    Ok(())
}
