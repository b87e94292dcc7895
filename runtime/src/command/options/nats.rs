//! Defines the options of the connection to NATS, for operators that keep objects in NATS key-value buckets.

use super::{error::ConfigurationError, merge::overriding};
use crate::manager::operator::Operator;
use clap::Args;
use schemars::JsonSchema;
use serde::Deserialize;
use std::ffi::OsStr;

/// The variable of the credentials file.
const CREDENTIALS_VARIABLE: &str = "NATS_CREDS";

/// The connection to NATS, for kinds in buckets. It needs the feature `nats` of the crate opgen.
#[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, expecting = "a mapping")]
#[group(skip)]
pub(crate) struct BucketOptions {
    /// URLs of the servers of NATS: a list, with commas in the flag and in the variable [default: none, the operator's own connection]
    // A value of the variable may have a password, although such a URL is refused later.
    #[arg(long, env = "NATS_URL", hide_env_values = true, value_name = "URLS", value_delimiter = ',')]
    #[serde(rename = "url")]
    pub(super) nats_url: Option<Vec<String>>,
    /// Credentials file of the operator's user, as `nsc generate creds` writes it [default: none, the anonymous user]
    #[arg(long, env = "NATS_CREDS", value_name = "FILE")]
    #[serde(rename = "credentials")]
    pub(super) nats_credentials: Option<String>,
}

overriding!(BucketOptions { nats_url, nats_credentials });

impl BucketOptions {
    /// Sets the connection of an operator to NATS if there is a URL. The client connects when the operator opens its first bucket, so an
    /// operator without kinds in buckets never connects. It creates missing buckets.
    ///
    /// # Errors
    /// Fails if a flag or the file names credentials and there is no URL. The variable may be set without a URL, as in the generated
    /// Deployment.
    pub(super) fn apply_to(&self, operator: &mut Operator) -> Result<(), ConfigurationError> {
        self.check(std::env::var_os(CREDENTIALS_VARIABLE).as_deref())?;
        self.set_connection(operator, true);
        Ok(())
    }

    /// Fails if a flag or the file names a credentials file, and there is no URL. Credentials that equal `variable_value`, the value of the
    /// environment variable, are those of the variable, which may be set without a URL.
    fn check(&self, variable_value: Option<&OsStr>) -> Result<(), ConfigurationError> {
        match self.credentials() {
            Some(file) if self.urls().next().is_none() && variable_value != Some(OsStr::new(file)) => {
                Err(ConfigurationError::CredentialsWithoutUrl { path: file.into() })
            }
            _ => Ok(()),
        }
    }

    fn urls(&self) -> impl Iterator<Item = &String> {
        self.nats_url.iter().flatten().filter(|url| !url.is_empty())
    }

    fn credentials(&self) -> Option<&str> {
        self.nats_credentials.as_deref().filter(|file| !file.is_empty())
    }

    /// Does the same as [`apply_to`](Self::apply_to) for a verb, which creates no buckets.
    pub(crate) fn apply_to_verb(&self, operator: &mut Operator) {
        self.set_connection(operator, false);
    }

    fn set_connection(&self, operator: &mut Operator, create_missing: bool) {
        connection::set(operator, self.urls().cloned().collect(), self.credentials(), create_missing);
    }
}

#[cfg(not(feature = "nats"))]
mod connection {
    use crate::manager::operator::Operator;

    /// Does nothing: without the feature there is no client of NATS. The variables may be set for another part of the process.
    pub(super) fn set(_: &mut Operator, _: Vec<String>, _: Option<&str>, _: bool) {}
}

#[cfg(feature = "nats")]
mod connection {
    use crate::{
        bucket::{Bucket, BucketDefinition, BucketError, OpenBuckets},
        manager::operator::Operator,
        manifest::mounted_credentials,
        nats::{NatsBuckets, NatsConnection, NatsError, NatsOptions},
    };
    use futures::{FutureExt, future::BoxFuture};
    use std::{
        path::{Path, PathBuf},
        sync::Arc,
    };
    use tokio::sync::OnceCell;

    /// Sets the connection with the servers at these URLs, if there are any.
    pub(super) fn set(operator: &mut Operator, urls: Vec<String>, credentials: Option<&str>, create_missing: bool) {
        if urls.is_empty() {
            return;
        }
        let options = NatsOptions::new(urls).connection_name(&operator.name);
        let credentials = credentials.map(PathBuf::from);
        let connection = LazyConnection { options, credentials, create_missing, buckets: OnceCell::new() };
        operator.buckets = Some(Arc::new(connection));
    }

    /// A connection that is made when the first bucket is opened.
    #[derive(Debug)]
    struct LazyConnection {
        options: NatsOptions,
        credentials: Option<PathBuf>,
        create_missing: bool,
        buckets: OnceCell<NatsBuckets>,
    }

    impl LazyConnection {
        /// Connects to NATS with the credentials file. Connects anonymously if there is none, or if the generated Deployment names a file
        /// that its optional Secret does not contain.
        async fn connect(&self) -> Result<NatsBuckets, NatsError> {
            let options = match self.credentials.as_deref().filter(|file| !is_unmounted(file)) {
                Some(file) => self.options.clone().credentials_file(file),
                None => self.options.clone(),
            };
            let connection = NatsConnection::connect(options).await?;
            Ok(NatsBuckets::new(connection).create_missing(self.create_missing))
        }
    }

    /// Returns whether `file` is the path where the generated Deployment mounts the credentials, and no file is mounted there because its
    /// optional Secret has no credentials.
    fn is_unmounted(file: &Path) -> bool {
        file == Path::new(&mounted_credentials()) && !file.exists()
    }

    impl OpenBuckets for LazyConnection {
        /// Opens a bucket over the connection, which the first successful call establishes. Converts errors of NATS to those of the bucket.
        fn open<'a>(&'a self, definition: &'a BucketDefinition) -> BoxFuture<'a, Result<Arc<dyn Bucket>, BucketError>> {
            async move {
                let opened = async {
                    let buckets = self.buckets.get_or_try_init(|| self.connect()).await?;
                    buckets.open(definition).await
                };
                let bucket = opened.await.map_err(|error: NatsError| error.of_bucket(&definition.name))?;
                Ok(Arc::new(bucket) as Arc<dyn Bucket>)
            }
            .boxed()
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[tokio::test]
        async fn nats_u31_only_wrong_settings_are_an_error_that_no_retry_mends() {
            let connection = |credentials: Option<&str>| LazyConnection {
                options: NatsOptions::new(["nats://127.0.0.1:9"]),
                credentials: credentials.map(PathBuf::from),
                create_missing: true,
                buckets: OnceCell::new(),
            };
            let bucket = BucketDefinition::new("units");
            // The Secret of the Deployment may have no credentials. The operator retries after `Unavailable`, and ends after `Invalid`.
            for anonymous in [None, Some(mounted_credentials())] {
                let unreachable = connection(anonymous.as_deref()).open(&bucket).await;
                assert!(matches!(unreachable, Err(BucketError::Unavailable { .. })), "{unreachable:?}");
            }
            let refused = connection(Some("/nowhere/operator.creds")).open(&bucket).await;
            assert!(matches!(refused, Err(BucketError::Invalid { .. })), "{refused:?}");
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use clap::Command;

    /// Clap prints the values of variables in the help, and those of URLs may have a password.
    #[test]
    fn the_help_does_not_print_the_urls_of_the_variable() {
        let command = BucketOptions::augment_args(Command::new("operator"));
        let option = command.get_arguments().find(|option| option.get_long() == Some("nats-url")).unwrap();
        assert_eq!(option.get_env(), Some(OsStr::new("NATS_URL")));
        assert!(option.is_hide_env_values_set());
    }

    #[test]
    fn only_the_variable_may_name_credentials_without_a_url() {
        let mut options = BucketOptions { nats_credentials: Some("a.creds".to_owned()), nats_url: None };
        let error = options.check(None).unwrap_err();
        assert_eq!(error.to_string(), "there is a credentials file for NATS, a.creds, but no URL of a server");
        assert!(error.hint().unwrap().starts_with("set `--nats-url`"));
        assert!(options.check(Some(OsStr::new("b.creds"))).is_err());
        assert!(options.check(Some(OsStr::new("a.creds"))).is_ok());
        options.nats_url = Some(vec!["nats://a".to_owned()]);
        assert!(options.check(None).is_ok());
    }
}
