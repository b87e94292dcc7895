//! `User`: the user that sends a request, with the user's name, uid, groups and extra attributes.

/// An authenticated user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct User {
    /// The name, for example `system:serviceaccount:default:operator`.
    pub name: String,
    /// The uid, if the user has one.
    pub uid: String,
    /// The groups, including `system:authenticated` or `system:unauthenticated`.
    pub groups: Vec<String>,
    /// Extra attributes, such as the Pod that a token is bound to.
    pub extra: Vec<(String, Vec<String>)>,
}

/// The group with all rights.
pub(crate) const MASTERS: &str = "system:masters";

impl User {
    /// Returns a cluster administrator, in the group `system:masters`.
    #[must_use]
    pub fn admin(name: &str) -> Self {
        Self::of(name, &[MASTERS, "system:authenticated"])
    }

    /// Returns a user in these groups and in `system:authenticated`.
    #[must_use]
    pub fn named(name: &str, groups: &[&str]) -> Self {
        Self::of(name, &[groups, &["system:authenticated"]].concat())
    }

    /// Returns the anonymous user of requests without credentials.
    #[must_use]
    pub fn anonymous() -> Self {
        Self::of("system:anonymous", &["system:unauthenticated"])
    }

    /// Returns the user of a ServiceAccount.
    #[must_use]
    pub fn service_account(namespace: &str, name: &str, uid: &str) -> Self {
        let groups = ["system:serviceaccounts", &format!("system:serviceaccounts:{namespace}"), "system:authenticated"];
        let mut user = Self::of(&format!("system:serviceaccount:{namespace}:{name}"), &groups);
        uid.clone_into(&mut user.uid);
        user
    }

    /// Returns the namespace of the user if it is a ServiceAccount; `None` for other users. A client of the ServiceAccount
    /// has this default namespace.
    #[cfg(feature = "client")]
    pub(crate) fn home(&self) -> Option<&str> {
        Some(self.name.strip_prefix("system:serviceaccount:")?.split_once(':')?.0)
    }

    /// Returns a user in exactly these groups.
    fn of(name: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        Self { name: name.to_owned(), uid: String::new(), groups, extra: Vec::new() }
    }

    /// Returns whether the user has all rights, as a member of `system:masters`.
    pub(crate) fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == MASTERS)
    }
}
