//! The cases, and how they get their servers.

use std::{sync::Arc, time::Duration};

use libtest_mimic::{Failed, Trial};
use opgen::{
    bucket::{BucketDefinition, BucketError},
    nats::{NatsBucket, NatsBuckets, NatsConnection, NatsOptions},
};
use opgen_tests::{
    NatsServer, NatsServerOptions,
    nats::{self, ForeignClient},
    wait,
};
use tokio::{runtime::Builder, time::timeout};

use crate::{access, cluster, conformance, differential, disturbances, lives, loss, outage, tls};

/// The longest duration of a case, without its disturbances.
const LIMIT: Duration = Duration::from_secs(600);

/// The longest duration of a disturbance, on average.
const DISTURBANCE: Duration = Duration::from_secs(30);

pub(crate) fn cases() -> Vec<Trial> {
    vec![
        // The longest ones first, so that none of them runs alone at the end.
        case("two_replicas_on_three_servers_never_write_at_once", disturbances::one_leader),
        case("no_two_writers_win_one_revision_while_the_leader_changes", cluster::one_winner),
        case("a_bucket_keeps_all_statements_about_buckets", conformance::all_statements),
        case("random_calls_have_the_results_of_a_bucket_in_memory", differential::random_calls),
        case("a_watch_goes_on_after_a_restart_of_the_server", outage::restart),
        case("a_watch_lists_again_when_tombstones_were_removed_while_it_was_down", outage::compaction),
        case("a_watch_follows_a_bucket_that_is_deleted_and_created_again", outage::recreated),
        case("calls_fail_while_the_server_is_paused_and_succeed_after", outage::paused),
        case("a_watch_notices_keys_that_a_purge_of_the_stream_removed", loss::purged_stream),
        case("a_watch_notices_keys_that_reached_the_maximum_age", loss::maximum_age),
        case("a_list_is_complete_after_its_last_message_was_removed", loss::last_message),
        case("a_watch_with_a_slow_reader_loses_nothing", loss::slow_reader),
        case("the_derived_permissions_are_enough", access::derived_permissions),
        case("the_permissions_of_a_reader_are_enough_to_read_and_for_nothing_else", access::permissions_to_read),
        case("each_missing_permission_is_named", access::missing_permissions),
        case("refused_credentials_are_named", access::refused_credentials),
        case("rotated_credentials_are_read_again", access::rotated_credentials),
        case("a_certificate_of_an_own_authority_is_trusted_and_others_are_named", tls::own_authority),
        case("a_server_that_begins_with_tls_is_used", tls::handshake_first),
        case("a_server_knows_a_client_by_its_certificate_only", tls::client_certificate),
        case("replaced_certificates_are_used_by_the_next_connection", tls::replaced_certificates),
        case("a_missing_bucket_is_reported_or_created", access::missing_bucket),
        case("other_settings_of_a_bucket_are_reported_and_kept", access::other_settings),
        case("a_value_over_the_limit_is_refused_before_it_is_sent", access::too_large),
        case("reads_include_all_ended_writes_whichever_server_answers", cluster::reads),
        case("an_operator_without_kubernetes_lives_on_a_server", lives::whole_life),
        case("an_operator_without_kubernetes_writes_nothing_after_a_restart", lives::restart),
        case("an_operator_without_kubernetes_and_without_objects_starts_fast", lives::empty_start),
        case("an_operator_without_kubernetes_notices_deletions_whose_tombstones_were_removed", lives::compaction),
        case("an_operator_tears_down_what_reached_the_maximum_age", lives::maximum_age),
    ]
}

/// Returns a case with a server; see [`nats::case_without_server`].
fn case<F: Future<Output = ()>>(name: &str, body: impl FnOnce() -> F + Send + 'static) -> Trial {
    nats::case_without_server(name).unwrap_or_else(|| Trial::test(name, move || run(body)))
}

fn run<F: Future<Output = ()>>(body: impl FnOnce() -> F) -> Result<(), Failed> {
    // The build is no part of the case, which has a time limit.
    nats::find().map_err(|missing| missing.to_string())?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a tokio runtime");
    let limit = LIMIT + DISTURBANCE * disturbances::count();
    let ended = runtime.block_on(async { timeout(limit, body()).await });
    runtime.shutdown_background();
    ended.map_err(|_| format!("the case did not end within {limit:?}").into())
}

/// A server with one bucket.
pub(crate) struct Scene {
    pub(crate) server: NatsServer,
    pub(crate) connection: NatsConnection,
    pub(crate) bucket: Arc<NatsBucket>,
    pub(crate) foreign: ForeignClient,
}

/// The name of the bucket of a scene.
pub(crate) const BUCKET: &str = "things";

impl Scene {
    /// Starts a server, and creates a bucket.
    pub(crate) async fn start() -> Self {
        Self::with(BucketDefinition::new(BUCKET)).await
    }

    /// Starts a server, and creates a bucket of this definition.
    pub(crate) async fn with(definition: BucketDefinition) -> Self {
        let server = NatsServer::start(&NatsServerOptions::default()).await;
        let connection = connect(options([server.url()])).await;
        let bucket = open(&connection, &definition).await;
        let foreign = ForeignClient::connect(&[server.url()], BUCKET).await;
        Self { server, connection, bucket: Arc::new(bucket), foreign }
    }
}

/// Returns options with a short timeout, since tests wait for it.
pub(crate) fn options(urls: impl IntoIterator<Item = String>) -> NatsOptions {
    NatsOptions::new(urls).request_timeout(Duration::from_secs(3))
}

pub(crate) async fn connect(options: NatsOptions) -> NatsConnection {
    NatsConnection::connect(options).await.unwrap_or_else(|error| panic!("no connection: {error}"))
}

/// Opens a bucket, and creates it if it is missing.
pub(crate) async fn open(connection: &NatsConnection, definition: &BucketDefinition) -> NatsBucket {
    buckets_of(connection).open(definition).await.unwrap_or_else(|error| panic!("no bucket: {error}"))
}

/// Opens a bucket of a cluster, as soon as its stream has a leader.
pub(crate) async fn open_in_cluster(connection: &NatsConnection, definition: &BucketDefinition) -> NatsBucket {
    let buckets = buckets_of(connection);
    let opened = async || buckets.open(definition).await.map_err(|error| error.to_string());
    wait::until("a bucket is opened", wait::PATIENCE, opened).await
}

fn buckets_of(connection: &NatsConnection) -> NatsBuckets {
    NatsBuckets::new(connection.clone()).create_missing(true)
}

/// Repeats a call until there is an answer: a cluster gives none while its stream has no leader.
pub(crate) async fn answered<T>(what: &str, mut call: impl AsyncFnMut() -> Result<T, BucketError>) -> T {
    wait::until(what, wait::PATIENCE, async || match call().await {
        Ok(answer) => Ok(answer),
        Err(error @ BucketError::Unavailable { .. }) => Err(error.to_string()),
        Err(error) => panic!("{what}: {error}"),
    })
    .await
}
