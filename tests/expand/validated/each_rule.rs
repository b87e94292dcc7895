#[serde(rename_all = "camelCase")]
#[valid(one_of(git, image), at_most_one_of(git, tar_file, message = "choose one"))]
#[valid(at_least_one_of(git, image))]
pub struct Source {
    #[valid(immutable)]
    pub class: Class,
    #[valid(set_once(message = "create another one"))]
    pub git: Option<String>,
    pub image: Option<String>,
    pub tar_file: Option<String>,
    #[valid(required_if(class = "Fast"), forbidden_if(tls))]
    pub r#type: Option<String>,
    #[valid(required_if(min = -3))]
    pub token: Option<Token>,
    pub tls: Option<bool>,
    #[valid(forbidden_if(tls = false))]
    pub port: Option<u16>,
    #[valid(at_most(max), less_than(max))]
    pub min: i32,
    pub max: i32,
    #[valid(unique)]
    pub hosts: Vec<String>,
    #[valid(unique(name))]
    #[schemars(length(max = 4), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name", "port"], "maxItems" = 3))]
    pub pools: Vec<Pool>,
    #[x_kube(merge_strategy = ListMerge::Map(vec!["id".into()]))]
    pub disks: Vec<Disk>,
    #[serde(rename = "other-pools")]
    pub others: BTreeMap<String, Pool>,
    #[serde(flatten)]
    pub rest: Rest,
    #[serde(skip)]
    pub cache: Cache,
}
