//! From a request to its answer.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    answer::Answer,
    authorization,
    call::{Call, Form, ResourceTarget, Target, Verb},
    discovery,
    failure::Failure,
    kind::{Kind, definition},
    sandbox::Server,
    store::Stored,
};

mod body;
mod create;
mod delete;
mod filter;
mod list;
mod list_options;
mod owners;
mod patch;
mod read;
mod replace;
mod subresource;
mod watch;
mod write;

pub(crate) use body::read_json;
pub(crate) use delete::{FOREGROUND, ORPHAN};
pub(crate) use subresource::keep_rest;

/// A request for a kind that is served.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) server: &'a Server,
    pub(crate) call: &'a Call,
    pub(crate) kind: &'a Arc<Kind>,
    /// Of a kind in namespaces; empty for all of them, and for kinds in none.
    pub(crate) namespace: &'a str,
    /// Empty for a collection.
    pub(crate) name: &'a str,
    pub(crate) subresource: Option<&'a str>,
}

/// Answers a request, if its user may make it.
pub(crate) async fn answer(server: &Server, call: &Call) -> Result<Answer, Failure> {
    authorization::authorize(server, call)?;
    let target = match &call.target {
        Target::Path(path) => return discovery::answer(server, call, path),
        Target::Resource(target) => target,
    };
    let Some(kind) = server.kinds.find(&target.group, &target.version, &target.plural) else {
        return discovery::no_kind(server, &target.group, &target.version);
    };
    let asked = match Asked::new(server, call, &kind, target) {
        Ok(asked) => asked,
        // Beside the paths of a custom kind there is nothing at all.
        Err(failure) if failure.code == 404 && kind.custom().is_some() => return Ok(discovery::no_page()),
        Err(failure) => return Err(failure),
    };
    if let Some(name) = asked.subresource {
        return subresource::answer(asked, name).await;
    }
    // What is only asked has no names.
    if !kind.is_kept() && !asked.name.is_empty() {
        return Err(Failure::no_such_resource());
    }
    // One object is written by its name, and made without it.
    let misplaced = match call.verb {
        Verb::Update | Verb::Patch => asked.name.is_empty(),
        Verb::Create => !asked.name.is_empty(),
        _ => false,
    };
    if misplaced || !kind.verbs.iter().any(|verb| verb == call.verb.as_str()) {
        return Err(Failure::method_not_allowed());
    }
    if call.accept.form() == Form::Foreign {
        let shapeless = call.accept.has(Form::Shapeless);
        return Err(if shapeless { Failure::no_such_shape() } else { Failure::no_such_form() });
    }
    // Who uses a deprecated version is told so, whatever comes of it.
    let answer = by_verb(asked).await;
    match deprecation(&kind) {
        None => answer,
        // What is refused before a kind is looked at tells nothing of it.
        Some(_) if answer.as_ref().is_err_and(|failure| failure.code == 415) => answer,
        Some(warning) => Ok(answer.unwrap_or_else(Answer::from).warning(vec![warning])),
    }
}

fn deprecation(kind: &Kind) -> Option<String> {
    if kind.is("", "endpoints") {
        return Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned());
    }
    kind.custom().and_then(|custom| custom.warning.clone())
}

async fn by_verb(asked: Asked<'_>) -> Result<Answer, Failure> {
    match asked.call.verb {
        Verb::Get => read::get(asked).await,
        Verb::List => list::list(asked).await,
        Verb::Watch => {
            asked.convert_all().await?;
            watch::watch(asked)
        }
        Verb::Create => create::create(asked).await,
        Verb::Update => replace::replace(asked).await,
        Verb::Patch => patch::patch(asked).await,
        Verb::Delete => delete::delete(asked).await,
        Verb::DeleteCollection => delete::delete_collection(asked).await,
    }
}

impl<'a> Asked<'a> {
    fn new(
        server: &'a Server,
        call: &'a Call,
        kind: &'a Arc<Kind>,
        target: &'a ResourceTarget,
    ) -> Result<Self, Failure> {
        let namespace = if kind.namespaced { target.namespace.as_str() } else { "" };
        let name = target.name.as_deref().unwrap_or_default();
        // A path of the other scope is none.
        let wrong_scope = if kind.namespaced {
            namespace.is_empty() && !(name.is_empty() && matches!(call.verb, Verb::List | Verb::Watch))
        } else {
            !target.namespace.is_empty() && target.plural != "namespaces"
        };
        if wrong_scope {
            let one_of_all = kind.namespaced && name.is_empty();
            return Err(if one_of_all { Failure::method_not_allowed() } else { Failure::no_such_resource() });
        }
        Ok(Self { server, call, kind, namespace, name, subresource: target.subresource.as_deref() })
    }

    /// The object that is asked for.
    pub(crate) fn held(&self) -> Result<Arc<Stored>, Failure> {
        let held = self.server.store.get(&self.kind.shelf, self.namespace, self.name);
        held.ok_or_else(|| Failure::not_found(self.kind, self.name))
    }

    /// The schema of the kind, defaults filled in and unknown fields gone: an object as it may be worked with.
    pub(crate) fn complete(&self, object: &mut Value) -> Vec<String> {
        let mut unknown = crate::schema::prune(self.kind.schema(), object);
        if self.kind.custom().is_some() {
            unknown.sort();
            crate::schema::whole_numbers(object);
        }
        crate::schema::default(self.kind.schema(), object);
        if definition::is(self.kind) {
            definition::default(object);
        }
        crate::strategy::default(self.kind, object);
        // A request may leave to its path what it is about.
        let typed = crate::object::map_at(object, &[]);
        typed.insert("apiVersion".into(), self.kind.api_version().into());
        typed.insert("kind".into(), self.kind.kind.as_str().into());
        unknown
    }
}
