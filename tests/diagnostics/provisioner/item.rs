// Items that are no node.

//# enum
#[provisioner(serial, owner = WebApp)]
enum Tree {
    Workload(Workload),
}

//# union
#[provisioner(serial, owner = WebApp)]
union Tree {
    a: Workload,
}

//# group without children
#[provisioner(serial, owner = WebApp)]
struct Tree {}

//# group that is a unit
#[provisioner(serial, owner = WebApp)]
struct Tree;

//# group that is a tuple
#[provisioner(serial, owner = WebApp)]
struct Tree(Workload);

//# generic group
#[provisioner(serial, owner = WebApp)]
struct Tree<T> {
    workload: T,
}

//# generic node
#[provisioner(access(Secret: get))]
struct Snapshot<T> {
    of: T,
}

//# function
#[provisioner(serial)]
fn tree() {}
