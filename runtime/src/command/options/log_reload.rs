//! `LogReload`: the log of the process, whose filter follows the configuration file.

use super::{
    correlated::Correlated,
    error::ConfigurationError,
    file::{ConfigurationFile, read_text},
    group::ManagerOptions,
    log_options::{LogFormat, LogOptions, parse_filter},
};
use crate::spans::export::{self, BoxedLayer, ExportError, ExportSettings};
use std::{io::IsTerminal, time::Duration};
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    fmt::{self, MakeWriter, format::Format},
    layer::SubscriberExt,
    reload,
    util::SubscriberInitExt,
};

/// How often the file is read. A mounted ConfigMap replaces its files by a link, so there is no signal of the change.
const RELOAD_INTERVAL: Duration = Duration::from_secs(5);

/// The log of the process, whose filter can change.
pub struct LogReload {
    handle: reload::Handle<EnvFilter, Registry>,
    flags: LogOptions,
    file: Option<ConfigurationFile>,
    /// The current filter.
    filter: String,
    /// The content of the file when it was last read.
    text: String,
}

impl LogReload {
    /// Starts the log on standard error, and the export of spans if there are settings for it. An operator without the feature `otlp`
    /// logs that it exports none.
    ///
    /// # Errors
    /// Fails if the process has a log already, or if the export can't be started.
    pub(super) fn start(
        flags: LogOptions,
        file: Option<ConfigurationFile>,
        settings: Option<ExportSettings>,
    ) -> Result<Self, ConfigurationError> {
        let is_colored = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let (log_reload, log_layer) = Self::new(flags, file, std::io::stderr, is_colored)?;
        let export = settings.as_ref().map(export::start).transpose();
        // An operator without the feature `otlp` runs without the export, and logs the error once the log is started.
        let (span_layer, not_built) = match export {
            Ok(span_layer) => (span_layer, None),
            Err(error @ ExportError::NotBuilt) => (None, Some(error)),
            Err(error @ ExportError::Invalid(_)) => return Err(ConfigurationError::Otlp(error.to_string())),
        };
        let subscriber =
            tracing_subscriber::registry().with([log_layer].into_iter().chain(span_layer).collect::<Vec<_>>());
        subscriber.try_init().map_err(|error| ConfigurationError::Log(error.to_string()))?;
        if let Some(ExportSettings { endpoint, .. }) = &settings {
            match not_built {
                Some(error) => tracing::warn!(endpoint, %error, "spans are not exported"),
                None => tracing::info!(endpoint, "exporting spans"),
            }
        }
        Ok(log_reload)
    }

    /// Creates the handle of the log filter, and the layer that writes the log, from the flags and the file. The filter applies to this
    /// layer only, and not to the layer that exports spans.
    ///
    /// # Errors
    /// Fails if the filter is invalid.
    pub(super) fn new<W>(
        flags: LogOptions,
        file: Option<ConfigurationFile>,
        writer: W,
        is_colored: bool,
    ) -> Result<(Self, BoxedLayer), ConfigurationError>
    where
        W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
    {
        let options = effective(&flags, file.as_ref().map(|file| &file.options));
        let filter = options.filter().to_owned();
        let (filter_layer, handle) = reload::Layer::new(parse_filter(&filter).map_err(ConfigurationError::Log)?);
        let log_layer = fmt::layer().with_writer(writer).with_ansi(is_colored);
        let log_layer = match options.log_format.unwrap_or_default() {
            LogFormat::Json => log_layer.json().map_event_format(|format| Correlated { format, is_json: true }).boxed(),
            LogFormat::Text => {
                let correlated = |format: Format| Correlated { format: format.with_ansi(is_colored), is_json: false };
                log_layer.map_event_format(correlated).boxed()
            }
        };
        let text = file.as_ref().map(|file| file.text.clone()).unwrap_or_default();
        Ok((Self { handle, flags, file, filter, text }, log_layer.with_filter(filter_layer).boxed()))
    }

    /// Reads the configuration file every five seconds, and applies a changed log filter. It never returns. A file that can't be used
    /// changes nothing and is reported in the log. Other options take effect at the next start.
    pub async fn follow_file(mut self) {
        let mut ticks = tokio::time::interval(RELOAD_INTERVAL);
        loop {
            ticks.tick().await;
            self.reload();
        }
    }

    /// Reads the configuration file, and applies its log filter if the content has changed since the last read. A file that can't be used
    /// changes nothing, and is logged.
    fn reload(&mut self) {
        let Some(file) = &self.file else { return };
        let text = match read_text(&file.path) {
            Ok(text) if text == self.text => return,
            Ok(text) => text,
            // The file may be missing for a moment while it is replaced.
            Err(error) => return tracing::debug!(%error, "the configuration file was not read"),
        };
        self.text.clone_from(&text);
        match ConfigurationFile::parse(&file.path, text) {
            Ok(changed) => self.apply(&changed),
            Err(error) => {
                let hint = error.hint();
                tracing::warn!(%error, hint, "the changed configuration file is refused; the log filter stays");
            }
        }
    }

    /// Applies the log filter of a changed file. Logs whether it succeeded, and whether the file has other changes, which need a
    /// restart.
    fn apply(&mut self, changed: &ConfigurationFile) {
        let options = effective(&self.flags, Some(&changed.options));
        let filter = options.filter();
        if filter != self.filter {
            let applied =
                parse_filter(filter).and_then(|filter| self.handle.reload(filter).map_err(|error| error.to_string()));
            match applied {
                Ok(()) => {
                    tracing::info!(filter, "changed the log filter");
                    self.filter = filter.to_owned();
                }
                Err(error) => tracing::warn!(filter, error, "failed to change the log filter"),
            }
        }
        let without_filter = |options: &ManagerOptions| {
            let mut options = options.clone();
            options.log.log = None;
            options
        };
        let is_restart_needed =
            self.file.as_ref().is_some_and(|file| without_filter(&file.options) != without_filter(&changed.options));
        if is_restart_needed {
            tracing::info!("the configuration file has other changes, which take effect at the next start");
        }
    }
}

/// Returns the options of the log: those of the flags, else those of the file.
fn effective(flags: &LogOptions, file: Option<&ManagerOptions>) -> LogOptions {
    flags.clone().or(file.map(|file| file.log.clone()).unwrap_or_default())
}

impl std::fmt::Debug for LogReload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogReload").field("filter", &self.filter).finish_non_exhaustive()
    }
}
