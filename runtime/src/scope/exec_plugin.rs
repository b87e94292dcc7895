//! `ExecPlugin`: a program that the kubeconfigs of other clusters may run for their credentials.

use kube::config::ExecConfig;
use std::{borrow::Cow, collections::HashMap};

/// A program that the kubeconfigs of other clusters may run for their credentials, as the exec plugins of client-go do: it prints an
/// `ExecCredential` of `client.authentication.k8s.io/v1` or `v1beta1`. Without it, a kubeconfig with `exec` is refused.
///
/// A kubeconfig may run the program if its `command` is the same text, its `args` begin with the [arguments](ExecPlugin::arguments), and
/// its `env` has no other variables than those of [`ExecPlugin::environment`]. The operator runs the program
/// - when it connects to the cluster,
/// - a minute before the credentials expire; requests wait for it only after that, and if it fails, the old ones remain in use,
/// - when the cluster refuses the credentials, at most every ten seconds.
///
/// It runs once at a time with the same arguments and variables. A program that has not ended after 30 s is killed, and one that has
/// failed is not run again for ten seconds. It has no terminal and no input, so a kubeconfig with `interactiveMode: Always` is refused.
/// What it prints to its standard error is never logged, because it may contain credentials.
///
/// A CD system can't run the program, so applications can't be deployed below a remote node whose kubeconfig needs one.
///
/// # Security
/// - Whoever writes the Secret of the kubeconfig chooses the arguments after yours, and the values of the allowed variables. Allow only a
///   program, and arguments, after which no argument runs other programs, writes files, or sends credentials to another server. Name all
///   arguments that you know.
/// - Never allow a shell, and never a variable by which other code is loaded, such as `PATH` or `LD_PRELOAD`.
/// - The program runs in the container of the operator, and can read its environment and its files, such as the token of the operator.
/// - The program must be in the image of the operator.
///
/// # Example
///
/// ```
/// use opgen::{Operator, scope::ExecPlugin};
///
/// // The order of the arguments is that of `aws eks update-kubeconfig`.
/// let arguments = ["--region", "eu-central-1", "eks", "get-token", "--cluster-name"];
/// let aws = ExecPlugin::new("aws").arguments(arguments).environment(["AWS_PROFILE"]);
/// let operator = Operator::new("teams").exec_plugin(aws);
/// # let _ = operator;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecPlugin {
    pub(super) command: String,
    arguments: Vec<String>,
    environment: Vec<String>,
}

impl ExecPlugin {
    /// Creates a plugin without required arguments and without environment variables. `command` is a name in the `PATH` of the operator,
    /// or the path of the program, exactly as kubeconfigs name it.
    pub fn new(command: impl Into<String>) -> Self {
        Self { command: command.into(), arguments: Vec::new(), environment: Vec::new() }
    }

    /// Sets the arguments with which those of a kubeconfig must begin. Default: none, so any arguments are allowed.
    #[must_use]
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the names of the environment variables that a kubeconfig may set. Default: none.
    #[must_use]
    pub fn environment(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.environment = names.into_iter().map(Into::into).collect();
        self
    }

    /// Returns why a kubeconfig may not run the program with the arguments and the variables of `exec`; `None` if it may.
    fn problem_of(&self, exec: &ExecConfig) -> Option<Cow<'static, str>> {
        if !exec.args.as_deref().unwrap_or_default().starts_with(&self.arguments) {
            return Some("runs its program with arguments that the operator does not allow".into());
        }
        let is_allowed = |name: &str| self.environment.iter().any(|allowed| allowed == name);
        let (name, _) = variables(exec).find(|(name, _)| !is_allowed(name))?;
        Some(match plain_name(name) {
            Some(name) => {
                format!("runs its program with the environment variable {name} that the operator does not allow").into()
            }
            None => "runs its program with an environment variable that the operator does not allow".into(),
        })
    }
}

/// Returns the plugin that allows the program which a kubeconfig runs for its credentials.
///
/// # Errors
/// Fails with the reason if no plugin allows it. The reason has no text of the kubeconfig except short names of programs and variables.
pub(super) fn find<'a>(plugins: &'a [ExecPlugin], exec: &ExecConfig) -> Result<&'a ExecPlugin, Cow<'static, str>> {
    let command = exec.command.as_deref().unwrap_or_default();
    let mut problem: Cow<'static, str> = match plain_name(command) {
        Some(name) => format!("runs the program {name} for its credentials, which the operator does not allow").into(),
        None => "runs a program for its credentials".into(),
    };
    for plugin in plugins.iter().filter(|plugin| plugin.command == command) {
        match plugin.problem_of(exec) {
            Some(other) => problem = other,
            None => return Ok(plugin),
        }
    }
    Err(problem)
}

/// Returns the environment variables that a kubeconfig sets for its program: names and values.
pub(super) fn variables(exec: &ExecConfig) -> impl Iterator<Item = (&str, &str)> {
    /// Returns the value of a field of a variable; empty if the field is missing.
    fn field<'a>(variable: &'a HashMap<String, String>, name: &str) -> &'a str {
        variable.get(name).map(String::as_str).unwrap_or_default()
    }
    exec.env.iter().flatten().map(|variable| (field(variable, "name"), field(variable, "value")))
}

/// Returns the name if an error message may contain it: up to 64 letters, digits, dots, dashes and underscores. `None` for any other text,
/// which may be a secret in the wrong field.
fn plain_name(name: &str) -> Option<&str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    ((1..=64).contains(&name.len()) && name.chars().all(is_plain)).then_some(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Returns why the program is refused; `None` if it is allowed.
    fn problem(plugins: &[ExecPlugin], exec: Value) -> Option<String> {
        let exec: ExecConfig = serde_json::from_value(exec).unwrap();
        find(plugins, &exec).err().map(Cow::into_owned)
    }

    #[test]
    fn a_program_is_allowed_by_its_exact_name_its_first_arguments_and_the_names_of_its_variables() {
        let aws = ExecPlugin::new("aws").arguments(["eks", "get-token"]).environment(["AWS_PROFILE"]);
        let problem = |exec: Value| problem(&[ExecPlugin::new("aws").arguments(["sts"]), aws.clone()], exec);
        let profile = json!({"name": "AWS_PROFILE", "value": "a"});
        assert_eq!(problem(json!({"command": "aws", "args": ["eks", "get-token", "a"], "env": [profile]})), None);
        assert_eq!(problem(json!({"command": "aws", "args": ["sts", "a"], "env": null})), None);
        for (exec, expected) in [
            (
                json!({"command": "kubelogin"}),
                "runs the program kubelogin for its credentials, which the operator does not allow",
            ),
            (json!({"command": "/tmp/aws"}), "runs a program for its credentials"),
            (json!({"command": "a".repeat(65)}), "runs a program for its credentials"),
            (json!({"args": ["eks", "get-token"]}), "runs a program for its credentials"),
            (
                json!({"command": "aws", "args": ["eks", "hunter2"]}),
                "runs its program with arguments that the operator does not allow",
            ),
            (json!({"command": "aws"}), "runs its program with arguments that the operator does not allow"),
            (
                json!({"command": "aws", "args": ["eks", "get-token"], "env": [profile, {"name": "LD_PRELOAD", "value": "hunter2"}]}),
                "runs its program with the environment variable LD_PRELOAD that the operator does not allow",
            ),
            (
                json!({"command": "aws", "args": ["eks", "get-token"], "env": [{"name": "hunter2!", "value": "a"}]}),
                "runs its program with an environment variable that the operator does not allow",
            ),
            (
                json!({"command": "aws", "args": ["eks", "get-token"], "env": [{"value": "a"}]}),
                "runs its program with an environment variable that the operator does not allow",
            ),
        ] {
            assert_eq!(problem(exec).as_deref(), Some(expected));
        }
    }
}
