//! `ALERTS` lists the alerts of an operator, from which its alert rules are generated.

/// How urgent an [`Alert`] is: the value of its label `severity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AlertSeverity {
    /// Objects are not reconciled; somebody has to act now.
    Critical,
    /// Some objects are late or the operator is slow; somebody has to look at it soon.
    Warning,
}

impl AlertSeverity {
    /// Returns the value of the label `severity`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
        }
    }
}

/// One alert of an operator.
///
/// In its texts `$operator` stands for the name of the operator, and in its expression for the label matchers that select the
/// series of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alert {
    /// The value of the label `alertname`.
    pub name: &'static str,
    /// The value of the label `severity`.
    pub severity: AlertSeverity,
    /// The condition in PromQL.
    pub expression: &'static str,
    /// How long the condition must hold until the alert fires, in minutes.
    pub minutes: u32,
    /// One sentence for the title of a notification.
    pub summary: &'static str,
    /// The meaning, with values and labels as a template of Prometheus.
    pub description: &'static str,
    /// The first thing to do.
    pub runbook: &'static str,
}

/// The alerts of an operator, in the order of the generated rules.
///
/// An object is stuck after 15 minutes. The window of errors is longer than the maximum of
/// [`Backoff::EXPONENTIAL`](crate::Backoff::EXPONENTIAL), so an error that is retried that rarely persists, too.
pub const ALERTS: &[Alert] = &[
    Alert {
        name: "OpgenNoLeader",
        severity: AlertSeverity::Critical,
        expression: "max by (name) (leader_election_master_status{$operator}) == 0 \
            or absent(leader_election_master_status{$operator})",
        minutes: 5,
        summary: "No replica of $operator leads, or Prometheus can't scrape the leader",
        description: "For 5 minutes no scraped replica of $operator was allowed to act, so no object is reconciled.",
        runbook: "Check that the Pods run and that Prometheus scrapes them; then search their logs for errors of the Lease.",
    },
    Alert {
        name: "OpgenObjectStuck",
        severity: AlertSeverity::Warning,
        expression: "max by (controller) (opgen_oldest_unconverged_seconds{$operator}) > 900",
        minutes: 0,
        summary: "An object of $operator has not been ready for more than 15 minutes",
        description: "The oldest unready object of {{ $labels.controller }} has been unready for {{ $value | humanizeDuration }}.",
        runbook: "List the objects whose condition Ready is not True, and run `opgen why KIND/NAME` for the oldest of them.",
    },
    Alert {
        name: "OpgenErrorsPersist",
        severity: AlertSeverity::Warning,
        expression: "sum by (controller, reason) (increase(opgen_errors_total{$operator}[20m])) > 0",
        minutes: 30,
        summary: "Passes of $operator fail again and again",
        description: "Passes of the controller {{ $labels.controller }} have failed with the reason {{ $labels.reason }} for 30 minutes.",
        runbook: "Search the logs for \"the pass failed\" with this reason, and run `opgen why KIND/NAME` for the object of that line.",
    },
    Alert {
        name: "OpgenFighting",
        severity: AlertSeverity::Warning,
        expression: "sum by (controller) (increase(opgen_fights_total{$operator}[10m])) > 0",
        minutes: 10,
        summary: "Another client undoes the writes of $operator, or a pass never comes to rest",
        description: "The controller {{ $labels.controller }} has written the same children again and again for 10 minutes.",
        runbook: "Find the objects with the reason Fighting. Their conditions name the field and its other manager; stop that client.",
    },
    Alert {
        name: "OpgenPanics",
        severity: AlertSeverity::Warning,
        expression: "sum by (closure) (increase(opgen_panics_total{$operator}[15m])) > 0",
        minutes: 0,
        summary: "Code of $operator has panicked",
        description: "The closure {{ $labels.closure }} has panicked in the last 15 minutes.",
        runbook: "Search the logs for the panic; they have its message and the object. Fix the code, or the object that it can't handle.",
    },
    Alert {
        name: "OpgenWatchRestarts",
        severity: AlertSeverity::Warning,
        expression: "sum by (resource) (increase(opgen_watch_restarts_total{$operator}[15m])) > 10",
        minutes: 15,
        summary: "A watch of $operator restarts again and again",
        description: "Watches of {{ $labels.resource }} have ended with errors {{ $value | humanize }} times in 15 minutes.",
        runbook: "Search the logs for \"the watch failed\"; check the load of the API server and the network between it and the operator.",
    },
    Alert {
        name: "OpgenWatchFailing",
        severity: AlertSeverity::Critical,
        expression: "max by (resource, state) (opgen_watches{$operator,state=~\"forbidden|failing\"}) > 0",
        minutes: 10,
        summary: "A watch of $operator does not follow its resource",
        description: "A watch of {{ $labels.resource }} has been {{ $labels.state }} for 10 minutes; its controllers miss changes.",
        runbook: "If it is forbidden, apply the generated roles again. Otherwise search the logs for \"the watch failed\".",
    },
    Alert {
        name: "OpgenRemoteClusterUnreachable",
        severity: AlertSeverity::Warning,
        expression: "min by (kubeconfig) (opgen_remote_cluster_reachable{$operator}) == 0",
        minutes: 10,
        summary: "Another cluster does not answer $operator, or refuses its credentials",
        description: "The cluster of Secret {{ $labels.kubeconfig }} has been unreachable for 10 minutes, and its owners wait.",
        runbook: "If its owners have the reason ClusterRefused, renew the Secret. Otherwise check the cluster and the network to it.",
    },
    Alert {
        name: "OpgenQueueBacklog",
        severity: AlertSeverity::Warning,
        expression: "sum by (controller) (workqueue_depth{$operator}) > 100",
        minutes: 15,
        summary: "The queue of $operator does not drain",
        description: "The queue of the controller {{ $labels.controller }} holds {{ $value | humanize }} ready objects.",
        runbook: "Compare the duration of a pass and the latency of calls with earlier days. If both are normal, add workers.",
    },
    Alert {
        name: "OpgenLongRunningPass",
        severity: AlertSeverity::Warning,
        expression: "max by (controller) (workqueue_longest_running_processor_seconds{$operator}) > 600",
        minutes: 0,
        summary: "A pass of $operator does not end",
        description: "A worker of the controller {{ $labels.controller }} has held its object for {{ $value | humanizeDuration }}.",
        runbook: "Look for a call without a timeout in the code of the controller. A restart of the Pod frees the worker.",
    },
    Alert {
        name: "OpgenCallsThrottled",
        severity: AlertSeverity::Warning,
        expression: "sum(increase(opgen_throttled_total{$operator}[10m])) > 0",
        minutes: 15,
        summary: "The API server throttles $operator",
        description: "The API server has answered calls with Retry-After for 15 minutes, and the operator waits each time.",
        runbook: "Check the load of the API server and its FlowSchemas, and find the resource with the most calls.",
    },
];
