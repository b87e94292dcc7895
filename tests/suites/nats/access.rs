//! Permissions, credentials, and buckets that are missing, different or too small.

use std::{collections::BTreeSet, time::Duration};

use async_nats::ConnectOptions;
use futures::StreamExt as _;
use nkeys::KeyPair;
use opgen::{
    bucket::{Bucket as _, BucketDefinition, BucketError, Expected},
    nats::{NatsBucket, NatsBuckets, NatsConnection, NatsError, NatsOptions, NatsPermissions},
};
use opgen_tests::{NatsServer, NatsServerOptions, nats::ForeignClient, wait};

use crate::{
    case::{BUCKET, Scene, connect, open, options},
    watched::{Watched, listed},
};

/// More than the server sends before it waits for the answer of flow control.
const VALUES: usize = 60;
const VALUE_SIZE: usize = 128 * 1024;

/// Starts a server with a user `admin` who may do everything, and these users. All have the password `secret`.
async fn server(users: &[(String, String)]) -> NatsServer {
    let users = users
        .iter()
        .map(|(user, permissions)| format!("{{ user: {user:?}, password: secret, permissions: {permissions} }}"));
    let users: Vec<_> = std::iter::once("{ user: admin, password: secret }".to_owned()).chain(users).collect();
    let configuration = format!("authorization {{ users: [{}] }}", users.join(", "));
    NatsServer::start(&NatsServerOptions { configuration }).await
}

fn user(server: &NatsServer, user: &str) -> NatsOptions {
    options([server.url()]).user_and_password(user, "secret")
}

async fn fill(server: &NatsServer) {
    let connection = connect(user(server, "admin")).await;
    open(&connection, &BucketDefinition::new(BUCKET)).await;
    let options = ConnectOptions::with_user_and_password("admin".to_owned(), "secret".to_owned());
    let admin = ForeignClient::connect_with(options, &[server.url()], BUCKET).await;
    for number in 0..VALUES {
        admin.put(&format!("filled-{number}"), &vec![b'x'; VALUE_SIZE]).await;
    }
}

pub(crate) async fn derived_permissions() {
    let permissions = NatsPermissions::new(&NatsOptions::new([""])).bucket(BUCKET).bucket("new").creation("new");
    let server = server(&[("operator".to_owned(), permissions.to_string())]).await;
    fill(&server).await;
    let connection = connect(user(&server, "operator")).await;
    for name in [BUCKET, "new"] {
        let bucket = open(&connection, &BucketDefinition::new(name)).await;
        let watch = Watched::follow(&bucket);
        watch.until_listed(1).await;
        let revision = bucket.put("a", b"1".to_vec(), Expected::Absent).await.expect("a creation");
        let revision = bucket.put("a", b"2".to_vec(), Expected::Revision(revision)).await.expect("a write");
        assert_eq!(bucket.get("a").await.expect("a read").map(|entry| entry.revision), Some(revision));
        bucket.put("b", b"1".to_vec(), Expected::Absent).await.expect("a creation");
        bucket.remove("a", revision).await.expect("a removal");
        bucket.put("a", b"3".to_vec(), Expected::Absent).await.expect("a creation after a removal");
        watch.until_equal(&listed(&bucket).await).await;
        assert!(watch.errors().is_empty(), "{:?}", watch.errors());
    }
}

/// A user who may only read sees the same entries, and is refused every write.
pub(crate) async fn permissions_to_read() {
    let permissions = NatsPermissions::new(&NatsOptions::new([""])).read_only_bucket(BUCKET);
    let server = server(&[("reader".to_owned(), permissions.to_string())]).await;
    fill(&server).await;
    let bucket = existing(&server, "reader").await;
    let watch = Watched::follow(&bucket);
    watch.until_listed(1).await;
    let entries = listed(&bucket).await;
    assert_eq!(entries.len(), VALUES);
    watch.until_equal(&entries).await;
    assert!(watch.errors().is_empty(), "{:?}", watch.errors());
    let entry = bucket.get("filled-0").await.expect("a read").expect("an entry");
    let put = bucket.put("filled-0", Vec::new(), Expected::Revision(entry.revision)).await;
    names(put, "$KV.things.filled-0");
    names(bucket.remove("filled-0", entry.revision).await, "$KV.things.filled-0");
}

pub(crate) async fn missing_permissions() {
    let all = NatsPermissions::new(&NatsOptions::new([""])).bucket(BUCKET).creation("new");
    let lacking = |missing: &str| {
        let publish: BTreeSet<_> = all.publish().iter().filter(|subject| *subject != missing).collect();
        assert_eq!(publish.len() + 1, all.publish().len(), "{missing} is a permission");
        format!("{{ publish: {:?}, subscribe: [\"_INBOX.>\"] }}", publish.into_iter().collect::<Vec<_>>())
    };
    let users = [
        ("read", lacking("$JS.API.STREAM.MSG.GET.KV_things")),
        ("write", lacking("$KV.things.>")),
        ("list", lacking("$JS.API.CONSUMER.CREATE.KV_things.>")),
        ("flow", lacking("$JS.FC.KV_things.>")),
        ("open", lacking("$JS.API.STREAM.INFO.KV_things")),
        ("create", "{ publish: [\"$JS.API.STREAM.INFO.KV_new\"], subscribe: [\"_INBOX.>\"] }".to_owned()),
        ("inbox", "{ publish: [\">\"], subscribe: [\"nothing\"] }".to_owned()),
    ];
    let server = server(&users.map(|(user, permissions)| (user.to_owned(), permissions))).await;
    fill(&server).await;

    let bucket = existing(&server, "read").await;
    names(bucket.get("a").await, "$JS.API.STREAM.MSG.GET.KV_things");
    let bucket = existing(&server, "write").await;
    names(bucket.put("a", Vec::new(), Expected::Absent).await, "$KV.things.a");
    for (user, subject) in [("list", "$JS.API.CONSUMER.CREATE.KV_things."), ("flow", "$JS.FC.KV_things.")] {
        let bucket = existing(&server, user).await;
        names(bucket.list().await, subject);
        let mut errors = bucket.watch().filter_map(|event| std::future::ready(event.err()));
        names(errors.next().await.map_or(Ok(()), Err), subject);
    }
    for (name, subject) in [("open", "$JS.API.STREAM.INFO.KV_things"), ("inbox", "\"_INBOX.")] {
        let buckets = NatsBuckets::new(connect(user(&server, name)).await);
        names_in_opening(buckets.open(&BucketDefinition::new(BUCKET)).await, subject);
    }
    let buckets = NatsBuckets::new(connect(user(&server, "create")).await).create_missing(true);
    names_in_opening(buckets.open(&BucketDefinition::new("new")).await, "$JS.API.STREAM.CREATE.KV_new");
}

async fn existing(server: &NatsServer, user: &str) -> NatsBucket {
    open(&connect(self::user(server, user)).await, &BucketDefinition::new(BUCKET)).await
}

#[track_caller]
fn names_in_opening(result: Result<NatsBucket, NatsError>, subject: &str) {
    match result {
        Err(NatsError::Bucket(error)) => names::<()>(Err(error), subject),
        other => panic!("{other:?} in place of an error about {subject}"),
    }
}

/// The error says that the permission for a subject is missing.
#[track_caller]
fn names<T: std::fmt::Debug>(result: Result<T, BucketError>, subject: &str) {
    match result {
        Err(BucketError::Forbidden { message, .. }) => assert!(message.contains(subject), "{message}: {subject}"),
        Err(other) => panic!("{other} in place of an error about {subject}"),
        Ok(_) => panic!("a success in place of an error about {subject}"),
    }
}

pub(crate) async fn refused_credentials() {
    let mut server = server(&[]).await;
    let wrong = options([server.url()]).user_and_password("admin", "wrong");
    let refused = NatsConnection::connect(wrong).await.map(drop);
    assert!(matches!(refused, Err(NatsError::Unauthorized { .. })), "{refused:?}");
    let anonymous = NatsConnection::connect(options([server.url()])).await.map(drop);
    assert!(matches!(anonymous, Err(NatsError::Unauthorized { .. })), "{anonymous:?}");
    server.stop();
    let stopped = NatsConnection::connect(user(&server, "admin")).await.map(drop);
    assert!(matches!(stopped, Err(NatsError::Unreachable { .. })), "{stopped:?}");
    assert_eq!(NatsConnection::connect(options([])).await.map(drop), Err(NatsError::NoServer));
    let in_url = options(["nats://admin:secret@127.0.0.1".to_owned()]);
    assert_eq!(NatsConnection::connect(in_url).await.map(drop), Err(NatsError::CredentialsInUrl));
}

/// A seed file that is replaced while the operator runs: the next connection is that of the other user.
pub(crate) async fn rotated_credentials() {
    let (reader, writer) = (KeyPair::new_user(), KeyPair::new_user());
    let configuration = format!(
        "authorization {{ users: [{{ nkey: {}, permissions: {{ publish: {{ deny: \"$KV.>\" }} }} }}, {{ nkey: {} }}] }}",
        reader.public_key(),
        writer.public_key()
    );
    let mut server = NatsServer::start(&NatsServerOptions { configuration }).await;
    let path = server.folder().join("user.nk");
    std::fs::write(&path, reader.seed().expect("a seed")).expect("a file");
    let connection = connect(options([server.url()]).nkey_seed_file(&path)).await;
    let bucket = open(&connection, &BucketDefinition::new(BUCKET)).await;
    names(bucket.put("a", Vec::new(), Expected::Absent).await, "$KV.things.a");
    std::fs::write(&path, writer.seed().expect("a seed")).expect("a file");
    server.start_again();
    server.until_healthy().await;
    wait::until("the other user writes", Duration::from_secs(60), async || {
        match bucket.put("a", Vec::new(), Expected::Absent).await {
            // The write before this one had no answer, but happened.
            Ok(_) | Err(BucketError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    })
    .await;
}

pub(crate) async fn missing_bucket() {
    let scene = Scene::start().await;
    let (buckets, definition) = (NatsBuckets::new(scene.connection.clone()), BucketDefinition::new("missing"));
    let missing = buckets.open(&definition).await.map(drop);
    assert_eq!(missing, Err(NatsError::Bucket(BucketError::no_bucket("missing"))));
    let buckets = buckets.create_missing(true);
    let invalid = buckets.open(&BucketDefinition::new("a.b")).await.map(drop);
    assert!(matches!(invalid, Err(NatsError::InvalidBucketName { .. })), "{invalid:?}");
    let refused = buckets.open(&definition.clone().replicas(3)).await.map(drop);
    assert!(matches!(refused, Err(NatsError::NotCreated { .. })), "{refused:?}");
    let (first, second) = tokio::join!(buckets.open(&definition), buckets.open(&definition));
    let revision = first.expect("a bucket").put("a", b"1".to_vec(), Expected::Absent).await.expect("a write");
    let entry = second.expect("the same bucket").get("a").await.expect("a read");
    assert_eq!(entry.map(|entry| entry.revision), Some(revision));
}

pub(crate) async fn other_settings() {
    let scene = Scene::with(BucketDefinition::new(BUCKET).history(2)).await;
    assert!(scene.bucket.differences().is_empty());
    let other = open(&scene.connection, &BucketDefinition::new(BUCKET).history(5)).await;
    assert_eq!(other.differences(), ["history is 2 in place of 5"]);
    for value in [b"1", b"2", b"3"] {
        scene.foreign.put("a", value).await;
    }
    assert_eq!(scene.foreign.history("a").await.len(), 2);
}

pub(crate) async fn too_large() {
    let scene = Scene::start().await;
    let size = 1024 * 1024;
    let refused = scene.bucket.put("a", vec![b'x'; size], Expected::Absent).await;
    let Err(BucketError::TooLarge { limit, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(refused, Err(BucketError::too_large("a", size, limit)));
    let revision = scene.bucket.put("a", vec![b'x'; limit], Expected::Absent).await.expect("a value of the limit");
    let refused = scene.bucket.put("a", vec![b'y'; limit + 1], Expected::Revision(revision)).await;
    assert_eq!(refused, Err(BucketError::too_large("a", limit + 1, limit)));
    let entry = scene.bucket.get("a").await.expect("a read").expect("an entry");
    assert_eq!((entry.value.len(), entry.revision), (limit, revision));
}
