#[provisioner(serial, owner = WebApp)]
pub struct WebAppTree {
    solve: Solve,
    #[provisioner(each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: PoolTree,
    #[provisioner(each = |app, plan| plan.nodes(app), key = Node::name, from(solve))]
    nodes: NodeTree,
}
