//! Generates `table/fields.json.zst`, the protobuf field numbers, from the tags of Kubernetes' Go types. FOLDER is the folder
//! of the Go modules, `GOPATH/pkg/mod/k8s.io`.
//!
//! `cargo run -p opgen-sandbox --example fields -- FOLDER VERSION`

use std::{
    collections::{BTreeMap, HashMap},
    env,
    error::Error,
    fs,
    path::Path,
};

/// The level of the zstd compression.
const LEVEL: i32 = 19;

/// The modules, and the beginning of the names of their definitions.
const MODULES: [(&str, &str); 4] = [
    ("api", "io.k8s.api"),
    ("apimachinery", "io.k8s.apimachinery"),
    ("apiextensions-apiserver", "io.k8s.apiextensions-apiserver"),
    ("kube-aggregator", "io.k8s.kube-aggregator"),
];

/// The types with an encoding of their own, and their letters.
const SPECIAL_TYPES: [(&str, char); 8] = [
    ("io.k8s.apimachinery.pkg.apis.meta.v1.Time", 't'),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", 'T'),
    ("io.k8s.apimachinery.pkg.api.resource.Quantity", 'q'),
    ("io.k8s.apimachinery.pkg.util.intstr.IntOrString", 'o'),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", 'r'),
    ("io.k8s.apimachinery.pkg.runtime.RawExtension", 'r'),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.Duration", 'd'),
    ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", 'r'),
];

/// A field of a message: the number, the name, the letters of its type, the flags, and the definition of its message type, as in
/// `FieldRow` in `src/verb/body/protobuf.rs`.
type Row = (u64, String, String, String, String);

/// The imports of a Go file: the full names of packages by their short names.
type Imports = HashMap<String, String>;

/// The types of the Go files that were read, by their full name.
#[derive(Default)]
struct Types {
    /// The structs: the Go type and the tags of each field with a protobuf tag, and the imports of the file.
    structures: HashMap<String, (Vec<(String, String)>, Imports)>,
    /// The types that are declared as another type: the Go name of that type, and the imports of the file.
    aliases: HashMap<String, (String, Imports)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let folder = words.next().ok_or("the folder of the modules is missing")?;
    let version = words.next().ok_or("the version of the modules is missing")?;
    let mut types = Types::default();
    for (module, name) in MODULES {
        types.read(&Path::new(&folder).join(format!("{module}@{version}")), name)?;
    }
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("table");
    let schemas: HashMap<String, serde_json::Value> = serde_json::from_slice(&fs::read(table.join("schemas.json"))?)?;
    // The definitions of the API, and all messages that they contain.
    let mut wanted: Vec<String> = schemas.into_keys().collect();
    let mut rows_by_definition: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        if rows_by_definition.contains_key(&name) {
            continue;
        }
        let Some((fields, imports)) = types.structures.get(&name) else { continue };
        let package = name.rsplit_once('.').map_or("", |(package, _)| package);
        let rows: Vec<Row> = fields.iter().filter_map(|(go, tags)| types.row(go, tags, imports, package)).collect();
        wanted.extend(rows.iter().map(|row| row.4.clone()).filter(|message| !message.is_empty()));
        rows_by_definition.insert(name, rows);
    }
    let text = serde_json::to_vec(&rows_by_definition)?;
    fs::write(table.join("fields.json.zst"), zstd::encode_all(text.as_slice(), LEVEL)?)?;
    Ok(())
}

impl Types {
    /// Reads all Go files of a folder and the folders in it, except for tests and generated files.
    fn read(&mut self, folder: &Path, package: &str) -> Result<(), Box<dyn Error>> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if path.is_dir() {
                if name != "testdata" && name != "vendor" {
                    self.read(&path, &format!("{package}.{name}"))?;
                }
            } else if name.ends_with(".go") && !name.ends_with("_test.go") && !name.contains("generated") {
                self.read_file(&fs::read_to_string(&path)?, package);
            }
        }
        Ok(())
    }

    /// Adds the structs and the aliases of a Go file that gofmt has formatted. `open` is the full name of the struct whose fields follow.
    fn read_file(&mut self, text: &str, package: &str) {
        let (mut imports, mut open) = (Imports::new(), None::<String>);
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match (&open, &words[..]) {
                (None, [.., path]) if path.starts_with("\"k8s.io/") => {
                    let (short, full) = import(&words, path);
                    imports.insert(short, full);
                }
                (None, ["type", name, "struct", "{"]) => open = Some(format!("{package}.{name}")),
                (None, ["type", name, alias]) => {
                    self.aliases.insert(format!("{package}.{name}"), ((*alias).to_owned(), imports.clone()));
                }
                (Some(_), _) if line.starts_with('}') => open = None,
                (Some(name), [first, ..]) if !first.starts_with("//") => {
                    let Some((before, tags)) = line.split_once('`') else { continue };
                    let (Some(go), true) = (before.split_whitespace().last(), tags.contains("protobuf:\"")) else {
                        continue;
                    };
                    let entry = self.structures.entry(name.clone()).or_insert_with(|| (Vec::new(), imports.clone()));
                    entry.0.push((go.to_owned(), tags.trim_end_matches('`').to_owned()));
                }
                _ => {}
            }
        }
    }

    /// Returns the row of a field; `None` if it has no protobuf number or no name in JSON, or if its Go type is unknown.
    fn row(&self, go: &str, tags: &str, imports: &Imports, package: &str) -> Option<Row> {
        let tag = |name: &str| Some(tags.split_once(&format!("{name}:\""))?.1.split_once('"')?.0);
        let number = tag("protobuf")?.split(',').nth(1)?.parse().ok()?;
        let mut json = tag("json")?.split(',');
        let name = json.next()?.to_owned();
        let options: Vec<&str> = json.collect();
        let (letters, message) = self.type_letters(go, imports, package)?;
        let flags = [
            ('p', go.starts_with('*')),
            ('e', options.contains(&"omitempty")),
            ('0', options.contains(&"omitzero")),
            ('n', options.contains(&"inline") || name.is_empty()),
        ];
        let flags = flags.into_iter().filter_map(|(flag, is_set)| is_set.then_some(flag)).collect();
        Some((number, name, letters, flags, message))
    }

    /// Returns the letters of a Go type, and the definition of its message; that is empty if the type is no message. The last letter is one
    /// that `MessageField::value_type` in `src/verb/body/protobuf.rs` lists; `l` before it means a list of such items, and `m` a map of
    /// such values. `None` for an unknown type.
    fn type_letters(&self, go: &str, imports: &Imports, package: &str) -> Option<(String, String)> {
        let go = go.trim_start_matches('*');
        let base = match go {
            "string" => "s",
            "bool" => "z",
            "int" | "int32" | "int64" | "uint32" | "uint64" | "uint8" | "byte" => "i",
            "float64" => "f",
            "[]byte" => "b",
            _ => "",
        };
        if !base.is_empty() {
            return Some((base.to_owned(), String::new()));
        }
        if let Some((_, value)) = go.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            let (letters, message) = self.type_letters(value, imports, package)?;
            // In protobuf, a value of a map can't be a list: Kubernetes wraps it in a message, `x`.
            return Some(if letters.starts_with('l') {
                ("mx".to_owned(), String::new())
            } else {
                (format!("m{letters}"), message)
            });
        }
        if let Some(item) = go.strip_prefix("[]") {
            let (letters, message) = self.type_letters(item, imports, package)?;
            return Some((format!("l{letters}"), message));
        }
        let full = match go.split_once('.') {
            Some((short, name)) => format!("{}.{name}", imports.get(short)?),
            None => format!("{package}.{go}"),
        };
        if let Some((_, letter)) = SPECIAL_TYPES.iter().find(|(name, _)| *name == full) {
            return Some((letter.to_string(), String::new()));
        }
        if self.structures.contains_key(&full) {
            return Some(("m".to_owned(), full));
        }
        let (alias, imports) = self.aliases.get(&full)?;
        self.type_letters(alias, imports, full.rsplit_once('.')?.0)
    }
}

/// Returns the short and the full name of the package that a line imports, with its own name or another one.
fn import(words: &[&str], path: &str) -> (String, String) {
    let path = path.trim_matches('"').trim_start_matches("k8s.io/");
    let last = path.rsplit('/').next().unwrap_or_default();
    let short = if words.len() > 1 && words[0] != "import" { words[0] } else { last };
    (short.to_owned(), format!("io.k8s.{}", path.replace('/', ".")))
}
