//! `Target`: the program under test with its manifests, its sample objects, made ready for creation, and variants of them: the same objects
//! with other specs.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use opgen::bucket::OpenBuckets;
use serde_json::{Value, json};

use crate::{
    external_service::ProgramWithService,
    footprint::Footprint,
    object::{group, text},
    path::find_definition,
    program::{Manifests, Program},
    variant,
};

/// A program under test, with the data that all of its runs share.
pub(crate) struct Target {
    pub(crate) program: Arc<dyn Program>,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) manifests: Manifests,
    /// The time without a call after which the program is at rest.
    pub(crate) pause: Duration,
    /// The variants of the samples.
    pub(crate) variants: Vec<Vec<Value>>,
    /// The namespaces and labels of its objects; empty before its first run.
    pub(crate) footprint: OnceLock<Footprint>,
    /// The layer between the program and its buckets.
    pub(crate) bucket_layer: Option<BucketLayer>,
    /// The program with its external service; `None` if it uses none.
    pub(crate) service: Option<Arc<dyn ProgramWithService>>,
}

/// A layer of a program between itself and its buckets.
pub(crate) type BucketLayer = Arc<dyn Fn(Arc<dyn OpenBuckets>) -> Arc<dyn OpenBuckets> + Send + Sync>;

impl Target {
    /// Creates the target of a trial: reads the manifests of a program, completes its samples, and generates variants (edited forms) of
    /// them. `samples` replace the generated samples unless they are empty.
    ///
    /// # Errors
    /// If the manifests can't be generated, or if there is no sample.
    pub(crate) fn new(program: Arc<dyn Program>, samples: &[Value]) -> Result<Self, String> {
        let mut manifests = program.manifests()?;
        if !samples.is_empty() {
            manifests.samples = samples.to_vec();
        }
        for sample in &mut manifests.samples {
            complete(sample, &manifests.install)?;
        }
        if manifests.samples.is_empty() {
            return Err("the trial has no sample; add one with `Trial::sample`".to_owned());
        }
        Ok(Self {
            name: program.name(),
            namespace: program.namespace(),
            pause: program.longest_pause(),
            variants: variant::variants(&manifests.samples, &manifests.install),
            manifests,
            program,
            footprint: OnceLock::new(),
            bucket_layer: None,
            service: None,
        })
    }

    /// Adds the external service that the program uses.
    pub(crate) fn with_service(self, service: Option<Arc<dyn ProgramWithService>>) -> Self {
        Self { service, ..self }
    }
}

/// Makes a sample ready for creation: removes the status, and sets the namespace `default` if it has none and its kind is namespaced or
/// unknown.
///
/// # Errors
/// If the sample is not a JSON object.
fn complete(sample: &mut Value, installed: &[Value]) -> Result<(), String> {
    let definition = find_definition(group(sample), text(sample, "/kind"), installed);
    let namespaced = definition.is_none_or(|definition| definition["spec"]["scope"] == "Namespaced");
    let Some(object) = sample.as_object_mut() else { return Err("a sample is not a JSON object".to_owned()) };
    object.remove("status");
    let metadata = &mut sample["metadata"];
    if namespaced && metadata["namespace"].is_null() {
        metadata["namespace"] = json!("default");
    }
    Ok(())
}
