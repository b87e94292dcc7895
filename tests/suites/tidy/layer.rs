//! Dependencies that a crate or a room must not have.

use std::path::Path;

use toml_edit::{DocumentMut, Item, TableLike};

use super::{
    Breach, holds, sees,
    source::{Fact, Seen, Source, read, sources_in},
};

/// The loop, the cache and the queue don't assume that primaries live in Kubernetes.
const WITHOUT_KUBERNETES: [&str; 4] =
    ["runtime/src/reconcile", "runtime/src/cache", "runtime/src/queue", "runtime/src/controller"];

/// What these may hand through without asking what it is: a hook's client.
const HANDED_THROUGH: [&str; 1] = ["Client"];

/// The last stage of the macros, and what is emitted beside an error.
const EXPANSION: [&str; 2] = ["macros/src/expand", "macros/src/fallback"];

#[test]
fn only_expansion_quotes() {
    let earlier = sources_in(&["macros/src"]).filter(|source| !source.is_in(&EXPANSION));
    holds("`quote!` only in `macros/src/expand`", earlier.flat_map(quotes));
}

#[test]
fn the_macros_know_neither_kubernetes_nor_a_runtime() {
    let strangers = ["kube", "k8s-openapi", "tokio", "serde", "opgen"];
    holds("`opgen-macros` turns tokens into tokens", dependencies("macros/Cargo.toml", &strangers));
}

#[test]
fn the_command_knows_neither_the_macros_nor_the_runtime() {
    let strangers = ["opgen", "opgen-macros", "kube", "k8s-openapi"];
    holds("`opgen-cli` runs the project's own code for what types say", dependencies("cli/Cargo.toml", &strangers));
}

#[test]
fn the_schemas_know_neither_a_client_nor_a_runtime() {
    let strangers = ["kube", "k8s-openapi", "tokio", "clap", "opgen", "opgen-api", "opgen-sandbox"];
    let breaches = dependencies("runtime/schema/Cargo.toml", &strangers);
    holds("`opgen-schema` is linked by every operator, and by the sandbox", breaches);
}

#[test]
fn the_loop_the_cache_and_the_queue_know_no_kubernetes() {
    holds("a primary may live elsewhere", sources_in(&WITHOUT_KUBERNETES).flat_map(mentions_of_kube));
}

fn quotes(source: &Source) -> Vec<Breach> {
    let quoted = |fact: &&Fact| matches!(&fact.seen, Seen::Macro(name) if name == "quote" || name == "quote_spanned");
    let fix = "put the facts into the model and quote them in `macros/src/expand`";
    source.shipped().filter(quoted).map(|fact| Breach::new(&source.path, fact.line, "`quote!`", fix)).collect()
}

fn mentions_of_kube(source: &Source) -> Vec<Breach> {
    let mention = |fact: &Fact| match &fact.seen {
        Seen::Path(words) if words.first().is_some_and(|first| first == "kube") => {
            (!words.get(1).is_some_and(|second| HANDED_THROUGH.contains(&second.as_str()))).then(|| words.join("::"))
        }
        _ => None,
    };
    let fix = "ask the `Source` trait, which knows where primaries live";
    source.shipped().filter_map(|fact| Some(Breach::new(&source.path, fact.line, mention(fact)?, fix))).collect()
}

/// Dependencies, of the program or of its build, that begin with the name of a stranger.
fn dependencies(manifest: &str, strangers: &[&str]) -> Vec<Breach> {
    strange_dependencies(Path::new(manifest), &read(Path::new(manifest)), strangers)
}

fn strange_dependencies(path: &Path, text: &str, strangers: &[&str]) -> Vec<Breach> {
    let manifest: DocumentMut = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let tables = |table: &dyn TableLike| -> Vec<String> {
        let kinds = ["dependencies", "build-dependencies"].into_iter();
        kinds.filter_map(|kind| table.get(kind)?.as_table_like()).flat_map(packages).collect()
    };
    let mut names = tables(manifest.as_table());
    let targets = manifest.get("target").and_then(Item::as_table_like);
    let targets = targets.into_iter().flat_map(|targets| targets.iter().filter_map(|(_, item)| item.as_table_like()));
    names.extend(targets.flat_map(tables));
    let strange = |name: &str| {
        strangers
            .iter()
            .any(|stranger| name == *stranger || (name.starts_with(stranger) && !stranger.starts_with("opgen")))
    };
    let line = |name: &str| text.lines().position(|line| line.contains(name)).map_or(1, |at| at + 1);
    let breach = |name: &String| {
        Breach::new(path, line(name), format!("depends on `{name}`"), "do this where the dependency is at home")
    };
    names.iter().filter(|name| strange(name)).map(breach).collect()
}

/// The packages behind the keys, which may rename them.
fn packages(dependencies: &dyn TableLike) -> Vec<String> {
    let real = |item: &Item| item.as_table_like()?.get("package")?.as_str().map(str::to_owned);
    dependencies.iter().map(|(key, item)| real(item).unwrap_or_else(|| key.to_owned())).collect()
}

#[test]
fn layers_are_read_from_imports_paths_and_manifests() {
    let source = Source::parse(
        "runtime/src/queue/mod.rs",
        "use kube::{Client, Resource, runtime::watcher};\nfn f(_: kube::Client, _: kube::Api<K>) {}",
    );
    sees(mentions_of_kube(&source), &[1, 1, 2]);
    sees(quotes(&Source::parse("macros/src/model/a.rs", "fn f() {\n quote::quote!(a); parse_quote!(b) }")), &[2]);
    let manifest = "[dependencies]\nsyn = '3'\nk = { package = 'kube-core' }\n[target.'cfg(unix)'.build-dependencies]\nserde_json.workspace = true\n[dev-dependencies]\ntokio = '1'";
    sees(strange_dependencies(Path::new("Cargo.toml"), manifest, &["kube", "serde", "tokio"]), &[3, 5]);
    let manifest = "[dependencies]\nopgen-sandbox = '1'\nopgen = '1'";
    sees(strange_dependencies(Path::new("Cargo.toml"), manifest, &["opgen"]).into_iter().take(1), &[2]);
}
