//! A program, ready to be tried.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    edit, install,
    life::text,
    program::{Manifests, Program},
    surroundings::Surroundings,
};

/// A program and what is known of it.
pub(crate) struct Prepared {
    pub(crate) program: Arc<dyn Program>,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) manifests: Manifests,
    /// No call for so long, and it is at rest.
    pub(crate) pause: Duration,
    /// The samples with other specs.
    pub(crate) variants: Vec<Vec<Value>>,
    /// Where its objects are; empty until it has run once.
    pub(crate) surroundings: OnceLock<Surroundings>,
}

impl Prepared {
    /// Reads the manifests; samples of the caller's take the place of the generated ones.
    pub(crate) fn new(program: Arc<dyn Program>, samples: &[Value]) -> Result<Self, String> {
        let mut manifests = program.manifests()?;
        if !samples.is_empty() {
            manifests.samples = samples.to_vec();
        }
        for sample in &mut manifests.samples {
            complete(sample, &manifests.install)?;
        }
        if manifests.samples.is_empty() {
            return Err("there is no sample to work on".to_owned());
        }
        Ok(Self {
            name: program.name(),
            namespace: program.namespace(),
            pause: program.longest_pause(),
            variants: edit::variants(&manifests.samples, &manifests.install),
            manifests,
            program,
            surroundings: OnceLock::new(),
        })
    }
}

/// A sample as it can be made: in a namespace, if its kind is, and without what the server says.
fn complete(sample: &mut Value, installed: &[Value]) -> Result<(), String> {
    let version = text(sample, "/apiVersion");
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let definition = install::definition(group, text(sample, "/kind"), installed);
    let namespaced = definition.is_none_or(|definition| definition["spec"]["scope"] == "Namespaced");
    let Some(object) = sample.as_object_mut() else { return Err("a sample is no JSON object".to_owned()) };
    object.remove("status");
    let metadata = &mut sample["metadata"];
    if namespaced && metadata["namespace"].is_null() {
        metadata["namespace"] = json!("default");
    }
    Ok(())
}
