//! Evaluates the RBAC policy: roles and bindings, cached until one of them changes.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use serde::Deserialize;

use super::{attributes::Attributes, rule::PolicyRule};
use crate::{
    store::{Store, Stored, Subscription},
    user::User,
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The RBAC policy of the store, recomputed when a role or binding changes.
#[derive(Debug)]
pub(crate) struct RbacCache {
    group_resources: [Arc<str>; 4],
    state: Mutex<RbacState>,
}

/// The cached policy, and the subscriptions that tell whether it is outdated.
#[derive(Debug)]
struct RbacState {
    subscription: [Subscription; 4],
    policy: Arc<RbacPolicy>,
}

/// All roles and bindings at one time.
#[derive(Debug, Default)]
pub(crate) struct RbacPolicy {
    /// The roles by namespace (empty for ClusterRoles) and name.
    roles: HashMap<(Box<str>, Box<str>), Arc<Role>>,
    /// The bindings by namespace, empty for ClusterRoleBindings.
    bindings: HashMap<Box<str>, Bindings>,
}

/// The bindings of one namespace, by name, and their indices by subject.
#[derive(Debug, Default)]
struct Bindings {
    all: Vec<Arc<RbacBinding>>,
    of_subject: HashMap<RbacSubject, Vec<usize>>,
}

/// A Role or ClusterRole, with its rules parsed on first use.
#[derive(Debug)]
struct Role {
    stored: Arc<Stored>,
    rules: OnceLock<Vec<PolicyRule>>,
}

/// A RoleBinding or ClusterRoleBinding.
#[derive(Debug)]
struct RbacBinding {
    stored: Arc<Stored>,
    subjects: Vec<RbacSubject>,
    role: RoleRef,
}

/// A subject: `User` or `Group` and a name; a ServiceAccount has its user name.
type RbacSubject = (SubjectKind, String);

/// The kind of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum SubjectKind {
    User,
    Group,
    ServiceAccount,
}

/// The role that a binding refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct RoleRef {
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// The part of a binding that is parsed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BindingText {
    #[serde(default)]
    role_ref: RoleRef,
    subjects: Option<Vec<SubjectText>>,
}

/// A subject of a binding.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct SubjectText {
    kind: String,
    name: String,
    namespace: String,
}

/// The part of a role that is parsed.
#[derive(Deserialize)]
struct RoleText {
    rules: Option<Vec<PolicyRule>>,
}

/// The decision on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Allowed, with the reason for access reviews.
    Allowed(String),
    /// Denied, with errors of the evaluation: bound roles that don't exist.
    Denied(String),
}

impl RbacCache {
    /// Creates the cache with an empty policy, which the first use replaces by the policy of the store.
    pub(crate) fn new(store: &Store) -> Self {
        let group_resource = |plural| Arc::from(format!("{plural}.{GROUP}"));
        let group_resources = ["clusterroles", "roles", "clusterrolebindings", "rolebindings"].map(group_resource);
        let mut subscription = [0, 1, 2, 3].map(|index: usize| store.subscribe(&group_resources[index]));
        subscription.iter_mut().for_each(Subscription::mark_changed);
        Self { group_resources, state: Mutex::new(RbacState { subscription, policy: Arc::default() }) }
    }

    /// Returns the current policy.
    pub(crate) fn current(&self, store: &Store) -> Arc<RbacPolicy> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.subscription.iter().any(|subscription| subscription.has_changed()) {
            state.subscription.iter_mut().for_each(Subscription::mark_unchanged);
            state.policy = Arc::new(state.policy.refreshed(&self.group_resources, store));
        }
        state.policy.clone()
    }
}

impl RbacPolicy {
    /// Returns the policy of the roles and bindings that are in the store now. Reuses the parsed roles and bindings that have not changed.
    fn refreshed(&self, [cluster_roles, roles, cluster_bindings, bindings]: &[Arc<str>; 4], store: &Store) -> Self {
        let mut next = Self::default();
        for stored in [store.list(cluster_roles, None).1, store.list(roles, None).1].concat() {
            let key = (stored.namespace.clone(), stored.name.clone());
            let cached = self.roles.get(&key).filter(|cached| Arc::ptr_eq(&cached.stored, &stored)).cloned();
            next.roles.insert(key, cached.unwrap_or_else(|| Arc::new(Role { stored, rules: OnceLock::new() })));
        }
        let cached_bindings: HashMap<_, _> =
            self.bindings.values().flat_map(|bindings| &bindings.all).map(|binding| (binding.key(), binding)).collect();
        for stored in [store.list(cluster_bindings, None).1, store.list(bindings, None).1].concat() {
            let cached = cached_bindings.get(&(&*stored.namespace, &*stored.name)).copied();
            let cached = cached.filter(|cached| Arc::ptr_eq(&cached.stored, &stored)).cloned();
            let binding = cached.unwrap_or_else(|| Arc::new(RbacBinding::parse(stored)));
            next.bindings.entry(binding.stored.namespace.clone()).or_default().add(binding);
        }
        next
    }

    /// Allows a request if the role of a binding of the user has a rule that allows it; the reason names the first such binding. Denies
    /// other requests; the reason then lists the bound roles that don't exist.
    pub(crate) fn decide(&self, attributes: &Attributes<'_>) -> Decision {
        let mut missing = Vec::new();
        for (binding, subject) in self.bindings_of(attributes.user, attributes.namespace()) {
            match self.rules_of_binding(binding) {
                Ok(rules) if rules.iter().any(|rule| rule.allows(attributes)) => {
                    return Decision::Allowed(binding.reason(subject));
                }
                Ok(_) => {}
                Err(unknown) => missing.push(unknown),
            }
        }
        Decision::Denied(join_errors("RBAC: ", &missing, ""))
    }

    /// Returns all rules of a user in a namespace, and the errors for bound roles that do not exist.
    pub(crate) fn rules_of(&self, user: &User, namespace: &str) -> (Vec<&PolicyRule>, Vec<String>) {
        let (mut rules, mut missing) = (Vec::new(), Vec::new());
        for (binding, _) in self.bindings_of(user, namespace) {
            match self.rules_of_binding(binding) {
                Ok(role_rules) => rules.extend(role_rules),
                Err(unknown) => missing.push(unknown),
            }
        }
        (rules, missing)
    }

    /// Returns the rules of the role that a binding in a namespace refers to; `None` if the role does not exist.
    pub(crate) fn rules_of_role(&self, role: &RoleRef, namespace: &str) -> Option<&[PolicyRule]> {
        let namespace = if role.kind == "Role" { namespace } else { "" };
        self.roles.get(&(namespace.into(), role.name.as_str().into())).map(|role| role.rules())
    }

    /// Returns the bindings of a user, ClusterRoleBindings first, each with the subject that matches the user.
    fn bindings_of<'a>(
        &'a self,
        user: &'a User,
        namespace: &str,
    ) -> impl Iterator<Item = (&'a RbacBinding, &'a RbacSubject)> {
        // A cluster-scoped request has no namespace: the ClusterRoleBindings must not be returned twice.
        let scopes = ["", namespace].into_iter().enumerate();
        let scopes = scopes.filter(|(index, namespace)| *index == 0 || !namespace.is_empty());
        let bindings: Vec<_> = scopes.filter_map(|(_, namespace)| self.bindings.get(namespace)).collect();
        bindings.into_iter().flat_map(|bindings| bindings.of_user(user))
    }

    /// Returns the rules of the role that a binding refers to. Returns an error if the role does not exist.
    fn rules_of_binding(&self, binding: &RbacBinding) -> Result<&[PolicyRule], String> {
        let RoleRef { kind, name } = &binding.role;
        self.rules_of_role(&binding.role, &binding.stored.namespace)
            .ok_or_else(|| format!("{}.{GROUP} {name:?} not found", kind.to_lowercase()))
    }
}

/// Joins error messages as Go does: one alone, several in brackets, each case between `before` and `after`. Returns an
/// empty text if there are none.
pub(crate) fn join_errors(before: &str, messages: &[String], after: &str) -> String {
    match messages {
        [] => String::new(),
        [message] => format!("{before}{message}{after}"),
        several => format!("{before}[{}]{after}", several.join(", ")),
    }
}

impl Bindings {
    /// Adds a binding and its position in the list to the index by subject.
    fn add(&mut self, binding: Arc<RbacBinding>) {
        for subject in &binding.subjects {
            self.of_subject.entry(subject.clone()).or_default().push(self.all.len());
        }
        self.all.push(binding);
    }

    /// Returns the bindings of a user in order, each with the first of its subjects that matches the user.
    fn of_user<'a>(&'a self, user: &User) -> impl Iterator<Item = (&'a RbacBinding, &'a RbacSubject)> + use<'a> {
        let mut subjects: BTreeMap<usize, &RbacSubject> = BTreeMap::new();
        let account =
            user.name.starts_with("system:serviceaccount:").then_some((SubjectKind::ServiceAccount, &user.name));
        let groups = user.groups.iter().map(|group| (SubjectKind::Group, group));
        for (kind, name) in [(SubjectKind::User, &user.name)].into_iter().chain(account).chain(groups) {
            let Some((subject, positions)) = self.of_subject.get_key_value(&(kind, name.clone())) else { continue };
            for position in positions {
                subjects.entry(*position).or_insert(subject);
            }
        }
        subjects.into_iter().filter_map(|(position, subject)| Some((&**self.all.get(position)?, subject)))
    }
}

impl Role {
    /// Returns the rules of the role, which are parsed on first use.
    fn rules(&self) -> &[PolicyRule] {
        self.rules.get_or_init(|| {
            let text: Option<RoleText> = serde_json::from_slice(&self.stored.json).ok();
            text.and_then(|text| text.rules).unwrap_or_default()
        })
    }
}

impl RbacBinding {
    /// Parses a stored binding. Omits subjects of unknown kinds; a ServiceAccount without a namespace gets that of the
    /// binding.
    fn parse(stored: Arc<Stored>) -> Self {
        let text: Option<BindingText> = serde_json::from_slice(&stored.json).ok();
        let (role, subjects) = text.map(|text| (text.role_ref, text.subjects.unwrap_or_default())).unwrap_or_default();
        let subject = |subject: SubjectText| match subject.kind.as_str() {
            "User" => Some((SubjectKind::User, subject.name)),
            "Group" => Some((SubjectKind::Group, subject.name)),
            "ServiceAccount" => {
                let namespace = if subject.namespace.is_empty() { &*stored.namespace } else { &subject.namespace };
                Some((SubjectKind::ServiceAccount, format!("system:serviceaccount:{namespace}:{}", subject.name)))
            }
            _ => None,
        };
        let subjects = subjects.into_iter().filter_map(subject).collect();
        Self { stored, subjects, role }
    }

    /// Returns the namespace and the name.
    fn key(&self) -> (&str, &str) {
        (&self.stored.namespace, &self.stored.name)
    }

    /// Returns the reason why this binding allows a request to a subject, in the words of access reviews of Kubernetes.
    fn reason(&self, (kind, subject): &RbacSubject) -> String {
        let RoleRef { kind: role_kind, name: role } = &self.role;
        let (namespace, name) = self.key();
        let binding = if namespace.is_empty() {
            format!("ClusterRoleBinding {name:?}")
        } else {
            format!("RoleBinding {:?}", format!("{name}/{namespace}"))
        };
        let subject = match subject.split(':').collect::<Vec<_>>()[..] {
            [_, _, namespace, name] if *kind == SubjectKind::ServiceAccount => {
                format!("ServiceAccount {:?}", format!("{name}/{namespace}"))
            }
            _ => format!("{kind:?} {subject:?}"),
        };
        format!("RBAC: allowed by {binding} of {role_kind} {role:?} to {subject}")
    }
}
