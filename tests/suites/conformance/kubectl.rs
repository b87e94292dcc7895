//! What unmodified kubectl prints, asked of both servers over HTTPS: the cases of `kubectl.yaml`.

use std::{
    collections::HashMap,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Command, Output, Stdio},
    sync::LazyLock,
    time::Duration,
};

use opgen_tests::{binaries::Binaries, wait};
use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::script::filled;

/// A row of `kubectl.yaml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) run: Vec<Line>,
}

/// A command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    /// The arguments, parted by spaces.
    #[serde(rename = "do")]
    pub(crate) arguments: String,
    /// Standard input.
    #[serde(default)]
    pub(crate) input: String,
    /// Whether it is tried until it succeeds.
    #[serde(default)]
    pub(crate) again: bool,
    /// What is run as soon as it has said its first line: it watches.
    #[serde(default)]
    pub(crate) meanwhile: Vec<Line>,
}

impl Line {
    fn filled(&self, known: &Map<String, Value>) -> Self {
        Self {
            arguments: filled(&self.arguments, known),
            input: filled(&self.input, known),
            again: self.again,
            meanwhile: self.meanwhile.iter().map(|line| line.filled(known)).collect(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Texts that cases take by their anchors.
    #[serde(rename = "values")]
    _values: HashMap<String, String>,
    cases: Vec<Session>,
}

impl Session {
    /// The name of the case.
    pub(crate) fn title(&self) -> String {
        format!("kubectl::{}", self.name)
    }
}

/// The sessions of the file.
pub(crate) fn all(path: &Path) -> Vec<Session> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let options = serde_saphyr::options! { strict_booleans: true };
    let file: File = serde_saphyr::from_str_with_options(&text, options)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.cases
}

/// Plays a session with one kubeconfig, in a namespace that is made first.
pub(crate) async fn play(binaries: &Binaries, kubeconfig: &Path, session: &Session, namespace: &str) -> Vec<Value> {
    let user = User { binaries, kubeconfig, namespace };
    let own = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let made = Line { arguments: "apply -f -".to_owned(), input: own.to_string(), again: false, meanwhile: Vec::new() };
    user.run(&made);
    let known = Map::from_iter([("ns".to_owned(), Value::from(namespace))]);
    let mut said = Vec::new();
    for line in &session.run {
        said.push(user.told(&line.filled(&known)).await);
    }
    said
}

struct User<'a> {
    binaries: &'a Binaries,
    kubeconfig: &'a Path,
    namespace: &'a str,
}

impl User<'_> {
    async fn told(&self, line: &Line) -> Value {
        let mut output = self.run(line);
        if line.again {
            let succeeded = wait::within(Duration::from_secs(20), async || {
                output = self.run(line);
                if output.status.success() { Ok(()) } else { Err(String::new()) }
            });
            // What it said at last is compared in any case.
            let _ = succeeded.await;
        }
        let lines = |bytes: &[u8]| {
            let text = plain(&String::from_utf8_lossy(bytes));
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        json!({"code": output.status.code(), "out": lines(&output.stdout), "error": lines(&output.stderr)})
    }

    fn run(&self, line: &Line) -> Output {
        let mut command: Command = self.binaries.command("kubectl");
        command.arg("--kubeconfig").arg(self.kubeconfig).arg("--namespace").arg(self.namespace);
        // Its cache of discovery documents would be shared between servers that are not the same.
        command.arg("--cache-dir").arg(self.kubeconfig.with_extension(self.namespace));
        command.args(line.arguments.split(' '));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let spawned = command.spawn().and_then(|mut child| {
            child.stdin.take().map(|mut stdin| stdin.write_all(line.input.as_bytes())).transpose()?;
            let mut said = Vec::new();
            if let Some(stdout) = child.stdout.as_mut().filter(|_| !line.meanwhile.is_empty()) {
                let mut stdout = BufReader::new(stdout);
                stdout.read_until(b'\n', &mut said)?;
                for line in &line.meanwhile {
                    let output = self.run(line);
                    assert!(output.status.success(), "kubectl {}: {output:?}", line.arguments);
                }
                stdout.read_to_end(&mut said)?;
            }
            let output = child.wait_with_output()?;
            Ok(Output { stdout: [said, output.stdout].concat(), ..output })
        });
        spawned.unwrap_or_else(|error| panic!("kubectl {} can't be run: {error}", line.arguments))
    }
}

/// Without ages, versions, files and processes, which are no two times the same.
fn plain(text: &str) -> String {
    static CHANGING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let rules = [
            (r"(?m)(\s)\d+(ms|s|m\d+s)\b", "${1}AGE"),
            (r#"resourceVersion: "\d+""#, "resourceVersion: N"),
            (r"/tmp/(LIVE|MERGED)-\d+", "/tmp/${1}"),
            (r"(?m)^(\+\+\+|---) (\S+)\s.*$", "${1} ${2}"),
            (r"127\.0\.0\.1:\d+", "SERVER"),
            // Versions that the definitions of other cases brought.
            (r"(?m)^c[0-9a-f]{6}-k?\d+\.example\.com/\S+\n", ""),
            // Columns are as wide as their widest cell, and an age is one.
            (r" {2,}", "  "),
        ];
        rules.map(|(rule, stands)| (Regex::new(rule).expect("an expression"), stands)).into()
    });
    CHANGING.iter().fold(text.to_owned(), |text, (rule, stands)| rule.replace_all(&text, *stands).into_owned())
}
