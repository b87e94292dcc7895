//! External nodes in trees without a cluster.

use k8s_openapi::api::core::v1::Namespace;
use opgen::{
    external::{External, ExternalContext, ExternalKey, ExternalResource, Observed, UpdateOutcome},
    prelude::*,
    shape::Node,
    testing::{Answer, TreeHarness},
};
use serde_json::json;

/// A bucket. The harness calls none of its functions except `spec`.
#[derive(Provisioner)]
#[provisioner(access())]
struct Bucket;

impl ExternalResource for Bucket {
    type Owner = Foreign<Namespace>;
    type Spec = String;
    const NAME: &'static str = "bucket";

    fn spec(draft: &Draft<'_, Self::Owner>) -> Result<String> {
        Ok(format!("{}-files", draft.name_any()))
    }

    async fn observe(_: &ExternalContext<'_, Self>, _: ExternalKey<'_>) -> Result<Option<Observed<()>>> {
        Err(Error::unexpected("there is no service"))
    }

    fn is_up_to_date(_: &String, (): &()) -> bool {
        false
    }

    async fn create(_: &ExternalContext<'_, Self>, _: &String, _: &str) -> Result<String> {
        Err(Error::unexpected("there is no service"))
    }

    async fn update(_: &ExternalContext<'_, Self>, _: &str, _: &String) -> Result<UpdateOutcome> {
        Err(Error::unexpected("there is no service"))
    }

    async fn delete(_: &ExternalContext<'_, Self>, _: &str) -> Result<()> {
        Err(Error::unexpected("there is no service"))
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = Foreign<Namespace>)]
struct Tree {
    bucket: External<Bucket>,
}

#[tokio::test]
async fn the_harness_answers_for_an_external_node_and_has_its_spec() {
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("shop".to_owned());
    let harness = TreeHarness::<Foreign<Namespace>, Tree>::new(namespace.into());
    harness.answer("bucket", Answer::Yield);
    assert!(matches!(harness.up().await, Err(Error::Yield { .. })));
    harness.answer("bucket", Answer::Ok);
    harness.up().await.unwrap();
    assert_eq!(harness.objects("bucket"), [json!("shop-files")]);
    harness.down().await.unwrap();
    assert_eq!(harness.called(), ["provision bucket: yield", "provision bucket", "deprovision bucket"]);
}

#[test]
fn the_shape_of_an_external_node_has_the_name_of_its_thing() {
    assert_eq!(Tree::SHAPE.children[0].shape.node, Node::External("bucket"));
}
