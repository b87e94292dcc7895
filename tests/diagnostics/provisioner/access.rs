// Permissions of a hand-written node.

//# verb misspelled
#[provisioner(access(Secret: gett))]
struct Snapshot;

//# verb in upper case
#[provisioner(access(Secret: Get))]
struct Snapshot;

//# verb of another tool
#[provisioner(access(Secret: read))]
struct Snapshot;

//# verb twice
#[provisioner(access(Secret: get, get))]
struct Snapshot;

//# every verb
#[provisioner(access(Secret: *))]
struct Snapshot;

//# every kind
#[provisioner(access(*: get))]
struct Snapshot;

//# kind without verbs
#[provisioner(access(Secret))]
struct Snapshot;

//# colon without verbs
#[provisioner(access(Secret:))]
struct Snapshot;

//# kind in quotes
#[provisioner(access("Secret": get))]
struct Snapshot;

//# plural for a kind
#[provisioner(access(secrets: get))]
struct Snapshot;

//# kinds separated by a comma
#[provisioner(access(Secret: get, Pod: delete))]
struct Snapshot;

//# kind with a subresource after a comma
#[provisioner(access(Secret: get, Pod/status: patch))]
struct Snapshot;

//# comma between verbs is missing
#[provisioner(access(Secret: get list))]
struct Snapshot;

//# colon is missing
#[provisioner(access(Secret get))]
struct Snapshot;

//# verb in quotes
#[provisioner(access(Secret: "get"))]
struct Snapshot;

//# list of a subresource
#[provisioner(access(Pod/log: list))]
struct Snapshot;

//# subresource without a name
#[provisioner(access(Pod/: get))]
struct Snapshot;

//# number for a kind
#[provisioner(access(5: get))]
struct Snapshot;

//# access without a list
#[provisioner(access)]
struct Snapshot;

//# access with a value
#[provisioner(access = Secret)]
struct Snapshot;

//# two mistakes in two kinds
#[provisioner(access(Secret: gett; Pod: Delete))]
struct Snapshot;

//# list limited to names
#[provisioner(access(Secret("tls"): get, list))]
struct Snapshot;

//# create limited to names
#[provisioner(access(Secret("tls"): create))]
struct Snapshot;

//# watch limited to names
#[provisioner(access(Secret("tls"): watch))]
struct Snapshot;

//# deletecollection limited to names
#[provisioner(access(Secret("tls"): deletecollection))]
struct Snapshot;

//# no names between the parentheses
#[provisioner(access(Secret(): get))]
struct Snapshot;

//# empty name
#[provisioner(access(Secret(""): get))]
struct Snapshot;

//# name without quotes
#[provisioner(access(Secret(tls): get))]
struct Snapshot;

//# names twice
#[provisioner(access(Deployment("web")/scale("web"): get))]
struct Snapshot;

//# namespace without quotes
#[provisioner(access(Secret in kube_system: get))]
struct Snapshot;

//# name that no namespace has
#[provisioner(access(Secret in "Kube_System": get))]
struct Snapshot;

//# verb of a path
#[provisioner(access("/metrics": get, delete))]
struct Snapshot;

//# path without verbs
#[provisioner(access("/metrics":))]
struct Snapshot;

//# star inside a path
#[provisioner(access("/api/*/health": get))]
struct Snapshot;

//# subresource without calls
#[provisioner(access(Pod/exec: create))]
struct Snapshot;

//# subresource misspelled
#[provisioner(access(Pod("web")/evict: create))]
struct Snapshot;

//# create of a status
#[provisioner(access(Pod/status: create, patch))]
struct Snapshot;

//# create of a scale
#[provisioner(access(Deployment/scale: create))]
struct Snapshot;

//# delete of a subresource that is a type
#[provisioner(access(Machine/parts::Pause: delete))]
struct Snapshot;

//# raw without anything
#[provisioner(access(raw()))]
struct Snapshot;

//# raw inside raw
#[provisioner(access(raw(raw(Pod: list))))]
struct Snapshot;

//# raw with a reason instead of rights
#[provisioner(access(raw("reads the log")))]
struct Snapshot;

//# raw for everything
#[provisioner(access(raw(*)))]
struct Snapshot;

//# mistake inside raw
#[provisioner(access(Secret: get; raw(Pod: lst); ConfigMap: get))]
struct Snapshot;

//# reference to objects by name
#[provisioner(access(Network("blue"): reference))]
struct Snapshot;

//# reference in one namespace
#[provisioner(access(Network in "shop": reference))]
struct Snapshot;

//# reference to a subresource
#[provisioner(access(Network/status: reference))]
struct Snapshot;

//# reference for the raw client
#[provisioner(access(raw(Network: reference)))]
struct Snapshot;

//# reference to a path
#[provisioner(access("/metrics": reference))]
struct Snapshot;
