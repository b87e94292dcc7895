//! A script, played on one server.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use opgen_tests::wait;
use serde_json::{Map, Value, json};

use super::{
    script::{Case, Step, filled, filled_value},
    side::{Asker, Server, Watch, Watches, variables},
};

/// The headers that count.
const HEADERS: [&str; 3] = ["content-type", "retry-after", "location"];

/// How long a watch may be silent before its next event.
const SILENCE: Duration = Duration::from_secs(3);

/// What one server answers to all steps of a script, in a namespace of its own that both servers have by the same name.
pub(crate) async fn play(server: &Server, case: &Case, namespace: &str) -> Vec<Value> {
    let mut known = variables(namespace);
    known.extend(case.variables.clone());
    let mut player = Player { server, known, watches: Watches::new() };
    player.open_namespace(namespace).await;
    let mut answers = Vec::new();
    for step in &case.steps {
        let only = step.only.iter().map(|pointer| filled(pointer, &player.known)).collect();
        let step = &Step { only, ..step.clone() };
        let answer = player.step(step).await.unwrap_or_else(|error| json!({"broken": error}));
        player.keep(step, &answer);
        answers.push(answer);
    }
    answers
}

struct Player<'a> {
    server: &'a Server,
    known: Map<String, Value>,
    watches: Watches,
}

impl Player<'_> {
    /// A namespace is ready when it has what controllers put into it.
    async fn open_namespace(&self, name: &str) {
        let line = |line: String| Step { line, ..Step::default() };
        let body = json!({"metadata": {"name": name}});
        let _ = self.ask(&Step { body, ..line("POST /api/v1/namespaces".to_owned()) }).await;
        for part in ["serviceaccounts/default", "configmaps/kube-root-ca.crt"] {
            let step = line(format!("GET /api/v1/namespaces/{name}/{part}"));
            let _ = wait::within(self.patience() / 4, async || self.wanted(&step, &json!(200)).await).await;
        }
    }

    fn patience(&self) -> Duration {
        match self.server {
            Server::Real(_) => Duration::from_secs(40),
            // What takes a cluster seconds takes it no time.
            Server::Sandbox(_) => Duration::from_secs(2),
        }
    }

    async fn step(&mut self, step: &Step) -> Result<Value, String> {
        if let Some(name) = step.line.strip_prefix("READ ") {
            let watch = self.watches.get_mut(name).ok_or_else(|| format!("no watch `{name}` is open"))?;
            return Ok(json!({"events": read(watch, &step.events).await}));
        }
        if let Some(name) = &step.open {
            let heard = self.send(step).await?;
            let answer = json!({"code": heard.code.as_u16()});
            self.watches.insert(name.clone(), Watch::new(heard));
            return Ok(answer);
        }
        if step.until.is_null() {
            return self.ask(step).await.map(|answer| chosen(step, answer));
        }
        let mut last = Err("never asked".to_owned());
        let wanted = filled_value(&step.until, &self.known);
        let asked = wait::within(self.patience(), async || {
            last = self.ask(step).await;
            let answer = last.clone()?;
            if is(&answer, &wanted) { Ok(answer) } else { Err(String::new()) }
        });
        match asked.await {
            Ok(answer) => Ok(chosen(step, answer)),
            Err(_) => last.map(|answer| {
                let mut answer = chosen(step, answer);
                answer["until"] = format!("never was {wanted}").into();
                answer
            }),
        }
    }

    async fn wanted(&self, step: &Step, wanted: &Value) -> Result<(), String> {
        let answer = self.ask(step).await?;
        if is(&answer, wanted) { Ok(()) } else { Err(answer.to_string()) }
    }

    async fn send(&self, step: &Step) -> Result<super::side::Heard, String> {
        let line = filled(step.line.strip_prefix("LINE ").unwrap_or(&step.line), &self.known);
        let (method, target) = line.split_once(' ').ok_or_else(|| format!("no request: {line}"))?;
        let mut request = Request::builder().method(method).uri(target.trim()).header("user-agent", "conformance/1");
        let (body, media) = self.body(step, method);
        if let Some(media) = media {
            request = request.header("content-type", media);
        }
        for (name, value) in &step.headers {
            request = request.header(name, filled(value, &self.known));
        }
        let request = request.body(body).map_err(|error| format!("{line}: {error}"))?;
        self.server.ask(Asker::of(&filled_value(&step.user, &self.known)), request).await
    }

    fn body(&self, step: &Step, method: &str) -> (Bytes, Option<String>) {
        let body = match &step.text {
            Some(text) => filled(text, &self.known),
            None if step.body.is_null() => String::new(),
            None => filled_value(&step.body, &self.known).to_string(),
        };
        let media = step.media.as_deref().map(|media| match media {
            "apply" => "application/apply-patch+yaml".to_owned(),
            "json" | "merge" | "strategic" => {
                let prefix = if media == "strategic" { "strategic-merge" } else { media };
                format!("application/{prefix}-patch+json")
            }
            other => other.to_owned(),
        });
        let written = media.or_else(|| (!body.is_empty() && method != "GET").then(|| "application/json".to_owned()));
        (Bytes::from(body), written.filter(|media| media != "none"))
    }

    async fn ask(&self, step: &Step) -> Result<Value, String> {
        let heard = self.send(step).await?;
        let mut headers = Map::new();
        for name in HEADERS {
            if let Some(value) = heard.headers.get(name) {
                headers.insert(name.to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned().into());
            }
        }
        let warnings = heard.headers.get_all("warning").into_iter();
        let warnings: Vec<_> = warnings.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
        if !warnings.is_empty() {
            headers.insert("warning".to_owned(), warnings.into());
        }
        let code = heard.code.as_u16();
        if !step.events.is_null() && code == 200 {
            let mut watch = Watch::new(heard);
            return Ok(json!({"code": code, "headers": headers, "events": read(&mut watch, &step.events).await}));
        }
        let body = heard.whole().await?;
        let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
        let body = serde_json::from_slice(&body).unwrap_or_else(|_| text());
        Ok(json!({"code": code, "headers": headers, "body": body}))
    }

    /// What later steps call by a name; what isn't there is empty.
    fn keep(&mut self, step: &Step, answer: &Value) {
        for (name, pointer) in &step.keep {
            let body = answer.get("body").unwrap_or(&Value::Null);
            let value = body.pointer(pointer).or_else(|| body.get(pointer)).cloned();
            self.known.insert(name.clone(), value.unwrap_or_else(|| Value::String(String::new())));
        }
    }
}

async fn read(watch: &mut Watch, events: &Value) -> Vec<Value> {
    let most = events.as_u64().map_or(usize::MAX, |number| usize::try_from(number).unwrap_or(usize::MAX));
    watch.events(most, SILENCE).await
}

/// An answer with only those parts of its body that a step compares.
fn chosen(step: &Step, mut answer: Value) -> Value {
    if !step.only.is_empty() {
        let body = answer["body"].take();
        let parts =
            step.only.iter().map(|pointer| (pointer.clone(), body.pointer(pointer).cloned().unwrap_or_default()));
        answer["body"] = parts.collect();
    }
    answer
}

/// Whether an answer is what a step waits for.
fn is(answer: &Value, wanted: &Value) -> bool {
    match wanted {
        code @ Value::Number(_) => answer["code"] == *code,
        part => includes(&answer["body"], part),
    }
}

/// Whether the whole has all of the part; of lists each item of the part somewhere, and none of what `$lacks` has.
fn includes(whole: &Value, part: &Value) -> bool {
    if let Some(missing) = part.get("$lacks") {
        return !includes(whole, missing);
    }
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| includes(whole.get(key).unwrap_or(&Value::Null), part))
        }
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().all(|part| whole.iter().any(|whole| includes(whole, part)))
                && (!part.is_empty() || whole.is_empty())
        }
        _ => whole == part,
    }
}
