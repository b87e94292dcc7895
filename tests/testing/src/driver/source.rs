//! Generates applications with each kind of source (chart or git) for the driver suite, and changes one part of a source.

use opgen::cd::{Application, ApplicationSource, GitRevision};

use super::input::SECRET;

/// An application with a source and no options of the suite.
#[derive(Clone)]
pub(super) struct SourceBase {
    /// The source, for messages.
    pub(super) label: String,
    pub(super) application: Application,
    /// Whether the driver must accept it, since the author of the test added it.
    pub(super) is_required: bool,
}

/// The commit of a revision.
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Returns an application for each type of source: a chart in a repository or a registry, and a chart or manifests in git at a branch, a
/// tag and a commit.
pub(super) fn generated_sources() -> Vec<SourceBase> {
    let git = "https://git.example.com/web.git";
    let revisions = [
        ("branch", GitRevision::branch("main")),
        ("tag", GitRevision::tag("v1.2.3")),
        ("commit", GitRevision::commit(COMMIT)),
    ];
    let mut sources = vec![
        generated("a chart of a repository", Application::chart("https://charts.example.com", "web", "1.2.3")),
        generated("a chart of a registry", Application::chart("oci://registry.example.com/charts", "web", "1.2.3")),
    ];
    for (name, revision) in revisions {
        let chart = Application::git_chart(git, revision.clone(), "charts/web");
        sources.push(generated(&format!("a chart at a {name} in git"), chart));
        let manifests = Application::git_manifests(git, revision, "deploy/web");
        sources.push(generated(&format!("manifests at a {name} in git"), manifests));
    }
    sources
}

/// Returns applications with unusual URLs, versions, revisions and paths, which a driver may refuse.
pub(super) fn unusual_sources() -> Vec<SourceBase> {
    let repository = format!("https://user:{SECRET}@example.com/charts");
    let mut sources = vec![generated("a URL with a password", Application::chart(repository.as_str(), "web", "1.2.3"))];
    let long_version = "1".repeat(128);
    for version in ["v1.2.3", "1.2.3-rc.1+build.7", ">=1.2.0", "latest", long_version.as_str()] {
        let chart = Application::chart("https://charts.example.com", "web", version);
        sources.push(generated("an unusual version", chart));
        let chart = Application::chart("oci://registry.example.com/charts/", "web", version);
        sources.push(generated("an unusual version in a registry", chart));
    }
    let long_path = "long/".repeat(50);
    for text in ["feature/Add_Things", "./charts/web", "/charts/web/", "../web", long_path.as_str()] {
        let revision = || GitRevision::branch(text);
        sources.push(generated(
            "a chart at an unusual place in git",
            Application::git_chart(&repository, revision(), text),
        ));
        let manifests = Application::git_manifests(&repository, revision(), text);
        sources.push(generated("manifests at an unusual place in git", manifests));
    }
    sources
}

/// Returns an application of the suite, which a driver may refuse, with a label for messages.
fn generated(label: &str, application: Application) -> SourceBase {
    SourceBase { label: label.to_owned(), application, is_required: false }
}

/// The parts of sources.
pub(super) const PARTS: [&str; 5] = ["repository", "chart", "version", "revision", "path"];

/// Returns whether a part is the version of a chart or the git revision, a change of which deploys another state of the same source.
pub(super) fn is_version(part: &str) -> bool {
    matches!(part, "version" | "revision")
}

/// Returns a source in which only one part, such as `version`, has another value; `None` if the source has no such part. A version stays a
/// version and a commit stays a commit, so that a driver accepts the changed source as well.
pub(super) fn change_part(source: &ApplicationSource, part: &str) -> Option<ApplicationSource> {
    let mut changed = source.clone();
    let text = part_mut(&mut changed, part)?;
    let old = text.clone();
    *text = match part {
        "version" if old == "9.8.7" => "9.8.6".to_owned(),
        "version" => "9.8.7".to_owned(),
        "revision" if is_commit(&old) => other_commit(&old),
        _ => format!("{old}-other"),
    };
    Some(changed)
}

/// Returns a mutable reference to the part of a source with a name of [`PARTS`]; `None` if a source of this type has no such part.
fn part_mut<'a>(source: &'a mut ApplicationSource, part: &str) -> Option<&'a mut String> {
    use ApplicationSource::{Chart, GitChart, GitManifests};
    match (source, part) {
        (Chart { repository, .. } | GitChart { repository, .. } | GitManifests { repository, .. }, "repository") => {
            Some(repository)
        }
        (Chart { chart, .. }, "chart") => Some(chart),
        (Chart { version, .. }, "version") => Some(version),
        (GitChart { path, .. } | GitManifests { path, .. }, "path") => Some(path),
        (GitChart { revision, .. } | GitManifests { revision, .. }, "revision") => match revision {
            GitRevision::Branch(text) | GitRevision::Tag(text) | GitRevision::Commit(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn is_commit(text: &str) -> bool {
    text.len() == COMMIT.len() && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Returns another commit of the same length.
fn other_commit(commit: &str) -> String {
    let first = if commit.starts_with('0') { '1' } else { '0' };
    std::iter::once(first).chain(commit.chars().skip(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use opgen::{cd::ArgoCd, testing::ApplicationHarness};

    #[test]
    #[allow(clippy::unwrap_used)]
    fn each_source_has_three_parts_and_each_can_be_changed() {
        for SourceBase { label, application, .. } in generated_sources().into_iter().chain(unusual_sources()) {
            let spec = ApplicationHarness::new().resolve::<ArgoCd>(application).unwrap();
            let changed: Vec<_> = PARTS.iter().filter_map(|part| change_part(&spec.source, part)).collect();
            assert_eq!(changed.len(), 3, "{label}");
            assert!(!changed.contains(&spec.source), "{label}");
        }
    }
}
