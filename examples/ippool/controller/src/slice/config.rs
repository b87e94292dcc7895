//! Reads the slice options from the CNI configuration of a network.

use ippool_api::NetworkAttachmentDefinition;
use serde::Deserialize;

/// The slice options of a network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Network {
    pub(crate) uid: String,
    pub(crate) config: Config,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Config {
    /// No slices: no configuration, another plugin, or whereabouts without a slice size or a range.
    Elsewhere,
    /// The configuration is not the JSON of a CNI plugin.
    Malformed(String),
    Wanted(Wanted),
}

/// The slices of a network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wanted {
    /// The name of the NodeSlicePool.
    pub(crate) pool: String,
    pub(crate) range: String,
    pub(crate) slice_size: String,
}

impl Wanted {
    /// Two networks can share a pool only if they have the same options.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.range == other.range && self.slice_size.trim_start_matches('/') == other.slice_size.trim_start_matches('/')
    }
}

impl Network {
    pub(crate) fn wanted(&self) -> Option<&Wanted> {
        match &self.config {
            Config::Wanted(wanted) => Some(wanted),
            Config::Elsewhere | Config::Malformed(_) => None,
        }
    }

    pub(crate) fn pool_name(&self) -> Option<String> {
        self.wanted().map(|wanted| wanted.pool.clone())
    }
}

pub(crate) fn network(nad: &NetworkAttachmentDefinition) -> Network {
    Network { uid: nad.metadata.uid.clone().unwrap_or_default(), config: read(nad.config()) }
}

/// A plugin, or a list of plugins with one name.
#[derive(Deserialize)]
struct Cni {
    #[serde(default)]
    name: String,
    #[serde(default)]
    ipam: Option<Ipam>,
    #[serde(default)]
    plugins: Vec<Plugin>,
}

#[derive(Deserialize)]
struct Plugin {
    #[serde(default)]
    ipam: Option<Ipam>,
}

#[derive(Deserialize)]
struct Ipam {
    #[serde(rename = "type", default)]
    type_: String,
    #[serde(default)]
    range: String,
    #[serde(default)]
    node_slice_size: String,
    #[serde(default)]
    network_name: String,
}

fn read(text: &str) -> Config {
    if text.trim().is_empty() {
        return Config::Elsewhere;
    }
    let cni: Cni = match serde_json::from_str(text) {
        Ok(cni) => cni,
        Err(error) => return Config::Malformed(format!("spec.config is not a CNI configuration: {error}")),
    };
    let ipams = cni.ipam.into_iter().chain(cni.plugins.into_iter().filter_map(|plugin| plugin.ipam));
    let Some(ipam) = ipams.into_iter().find(|ipam| ipam.type_ == "whereabouts") else { return Config::Elsewhere };
    if ipam.node_slice_size.is_empty() || ipam.range.is_empty() {
        return Config::Elsewhere;
    }
    let pool = if ipam.network_name.is_empty() { cni.name } else { ipam.network_name };
    if pool.is_empty() {
        return Config::Malformed("spec.config has neither `name` nor `network_name`".to_owned());
    }
    Config::Wanted(Wanted { pool, range: ipam.range, slice_size: ipam.node_slice_size })
}

#[cfg(test)]
mod tests;
