// Children for the items of a list: `each` and `key`.

//# each without a key
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools)]
    pools: Pools,
}

//# key without each
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(key = |pool| &pool.name)]
    pools: Pools,
}

//# each without a question
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each, key = |pool| &pool.name)]
    pools: Pools,
}

//# each that is a list
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = [1, 2], key = |pool| &pool.name)]
    pools: Pools,
}

//# key that is a text
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = "name")]
    pools: Pools,
}

//# key that is a field
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = pool.name)]
    pools: Pools,
}

//# closure of each that takes nothing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = || pools(), key = |pool| &pool.name)]
    pools: Pools,
}

//# closure of key that takes nothing
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = || "blue")]
    pools: Pools,
}

//# closure of key that takes two
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = |app, pool| &pool.name)]
    pools: Pools,
}

//# closure of key that takes what from names
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(each = |app| &app.spec.pools, key = |pool, config| &pool.name, from(config))]
    pools: Pools,
}

//# closure of each that takes too many
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app, plan| &plan.pools, key = |pool| &pool.name)]
    pools: Pools,
}

//# each of a resource
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource, each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: ConfigMap,
}

//# each of a list
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: Vec<Pools>,
}

//# each twice
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = pools, each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: Pools,
}

//# each above the struct
#[provisioner(serial, owner = WebApp, each = |app| &app.spec.pools)]
struct Tree {
    pools: Pools,
}

//# key misspelled
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, keys = |pool| &pool.name)]
    pools: Pools,
}

//# resource named like what finds keys
#[provisioner(serial, owner = Each<WebApp, Pool>)]
struct Tree {
    #[provisioner(resource)]
    keys: ConfigMap,
}

//# key without a question
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key)]
    pools: Pools,
}

//# each of an optional provisioner
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: Option<Pools>,
}
