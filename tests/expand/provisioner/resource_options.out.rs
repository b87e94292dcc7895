#[automatically_derived]
impl ::opgen::Provisioner for WebAppTree {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::CONCURRENT,
        access: &[],
        children: &[
            ::opgen::shape::Edge {
                resource: ::opgen::shape::ResourceOptions {
                    once: true,
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
                bucket: ::opgen::__private::bucket_of!(Secret),
                ..::opgen::__private::resource_edge::<
                    Secret,
                    _,
                >("password", ::core::line!())
            },
            ::opgen::shape::Edge {
                resource: ::opgen::shape::ResourceOptions {
                    adopt: true,
                    adopt_from: &[],
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
                bucket: ::opgen::__private::bucket_of!(ConfigMap),
                ..::opgen::__private::resource_edge::<
                    ConfigMap,
                    _,
                >("config", ::core::line!())
            },
            ::opgen::shape::Edge {
                resource: ::opgen::shape::ResourceOptions {
                    once: true,
                    adopt: true,
                    adopt_from: &["helm", "kubectl"],
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
                bucket: ::opgen::__private::bucket_of!(Option < Secret >),
                ..::opgen::__private::resource_edge::<
                    Option<Secret>,
                    _,
                >("key", ::core::line!())
            },
            ::opgen::shape::Edge {
                resource: ::opgen::shape::ResourceOptions {
                    delete: ::core::option::Option::Some(
                        ::opgen::shape::DeletionPropagation::Foreground,
                    ),
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
                bucket: ::opgen::__private::bucket_of!(Service),
                ..::opgen::__private::resource_edge::<
                    Service,
                    _,
                >("service", ::core::line!())
            },
            ::opgen::shape::Edge {
                resource: ::opgen::shape::ResourceOptions {
                    timeout: ::core::option::Option::Some(
                        ::core::time::Duration::from_millis(5400000u64),
                    ),
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
                bucket: ::opgen::__private::bucket_of!(PersistentVolumeClaim),
                ..::opgen::__private::resource_edge::<
                    PersistentVolumeClaim,
                    _,
                >("data", ::core::line!())
            },
            ::opgen::shape::Edge {
                resource: ::opgen::shape::ResourceOptions {
                    once: true,
                    adopt: true,
                    adopt_from: &[],
                    if_api: true,
                    delete: ::core::option::Option::Some(
                        ::opgen::shape::DeletionPropagation::Background,
                    ),
                    timeout: ::core::option::Option::Some(
                        ::core::time::Duration::from_millis(600000u64),
                    ),
                    ..::opgen::shape::ResourceOptions::DEFAULT
                },
                bucket: ::opgen::__private::bucket_of!(Deployment),
                ..::opgen::__private::resource_edge::<
                    Deployment,
                    _,
                >("web", ::core::line!())
            },
        ],
    };
}
#[automatically_derived]
#[allow(clippy::redundant_closure)]
impl ::opgen::Provision<WebApp> for WebAppTree {
    async fn provision(cx: &::opgen::Context<'_, WebApp, Self>) -> ::opgen::Result<()> {
        ::opgen::__private::concurrently([
                ::opgen::__private::apply_with::<
                    Secret,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "password",
                    ::opgen::shape::ResourceOptions {
                        once: true,
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                    ::opgen::__private::inputs_digest(cx, &[]),
                    |draft| {
                        let built = Self::password(draft);
                        ::opgen::__private::desired_objects::<Secret, _>(built)
                    },
                ),
                ::opgen::__private::apply_with::<
                    ConfigMap,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "config",
                    ::opgen::shape::ResourceOptions {
                        adopt: true,
                        adopt_from: &[],
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                    ::opgen::__private::inputs_digest(cx, &[]),
                    |draft| {
                        let built = Self::config(draft);
                        ::opgen::__private::desired_objects::<ConfigMap, _>(built)
                    },
                ),
                ::opgen::__private::apply_with::<
                    Option<Secret>,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "key",
                    ::opgen::shape::ResourceOptions {
                        once: true,
                        adopt: true,
                        adopt_from: &["helm", "kubectl"],
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                    ::opgen::__private::inputs_digest(cx, &[]),
                    |draft| {
                        let built = Self::key(draft);
                        ::opgen::__private::desired_objects::<Option<Secret>, _>(built)
                    },
                ),
                ::opgen::__private::apply_with::<
                    Service,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "service",
                    ::opgen::shape::ResourceOptions {
                        delete: ::core::option::Option::Some(
                            ::opgen::shape::DeletionPropagation::Foreground,
                        ),
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                    ::opgen::__private::inputs_digest(cx, &[]),
                    |draft| {
                        let built = Self::service(draft);
                        ::opgen::__private::desired_objects::<Service, _>(built)
                    },
                ),
                ::opgen::__private::apply_with::<
                    PersistentVolumeClaim,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "data",
                    ::opgen::shape::ResourceOptions {
                        timeout: ::core::option::Option::Some(
                            ::core::time::Duration::from_millis(5400000u64),
                        ),
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                    ::opgen::__private::inputs_digest(cx, &[]),
                    |draft| {
                        let built = Self::data(draft);
                        ::opgen::__private::desired_objects::<
                            PersistentVolumeClaim,
                            _,
                        >(built)
                    },
                ),
                ::opgen::__private::apply_with::<
                    Deployment,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "web",
                    ::opgen::shape::ResourceOptions {
                        once: true,
                        adopt: true,
                        adopt_from: &[],
                        if_api: true,
                        delete: ::core::option::Option::Some(
                            ::opgen::shape::DeletionPropagation::Background,
                        ),
                        timeout: ::core::option::Option::Some(
                            ::core::time::Duration::from_millis(600000u64),
                        ),
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                    ::opgen::__private::inputs_digest(cx, &[]),
                    |draft| {
                        let built = Self::web(draft);
                        ::opgen::__private::desired_objects::<Deployment, _>(built)
                    },
                ),
            ])
            .await
    }
    async fn deprovision(
        cx: &::opgen::Teardown<'_, WebApp, Self>,
    ) -> ::opgen::Result<()> {
        ::opgen::__private::concurrently([
                ::opgen::__private::remove_with::<
                    Secret,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "password",
                    ::opgen::shape::ResourceOptions {
                        once: true,
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                ),
                ::opgen::__private::remove_with::<
                    ConfigMap,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "config",
                    ::opgen::shape::ResourceOptions {
                        adopt: true,
                        adopt_from: &[],
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                ),
                ::opgen::__private::remove_with::<
                    Option<Secret>,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "key",
                    ::opgen::shape::ResourceOptions {
                        once: true,
                        adopt: true,
                        adopt_from: &["helm", "kubectl"],
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                ),
                ::opgen::__private::remove_with::<
                    Service,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "service",
                    ::opgen::shape::ResourceOptions {
                        delete: ::core::option::Option::Some(
                            ::opgen::shape::DeletionPropagation::Foreground,
                        ),
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                ),
                ::opgen::__private::remove_with::<
                    PersistentVolumeClaim,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "data",
                    ::opgen::shape::ResourceOptions {
                        timeout: ::core::option::Option::Some(
                            ::core::time::Duration::from_millis(5400000u64),
                        ),
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                ),
                ::opgen::__private::remove_with::<
                    Deployment,
                    _,
                    _,
                    _,
                >(
                    cx,
                    "web",
                    ::opgen::shape::ResourceOptions {
                        once: true,
                        adopt: true,
                        adopt_from: &[],
                        if_api: true,
                        delete: ::core::option::Option::Some(
                            ::opgen::shape::DeletionPropagation::Background,
                        ),
                        timeout: ::core::option::Option::Some(
                            ::core::time::Duration::from_millis(600000u64),
                        ),
                        ..::opgen::shape::ResourceOptions::DEFAULT
                    },
                ),
            ])
            .await
    }
}
#[allow(
    dead_code,
    missing_debug_implementations,
    missing_docs,
    non_upper_case_globals,
    private_interfaces,
    unreachable_pub
)]
const _: () = {
    fn reads(node: &WebAppTree) {
        let _ = (
            node,
            &node.password,
            &node.config,
            &node.key,
            &node.service,
            &node.data,
            &node.web,
        );
    }
    pub struct ChildrenOfWebAppTree;
    impl ChildrenOfWebAppTree {
        pub const password: ::opgen::__private::Resource<Secret> = ::opgen::__private::Resource::CHILD;
        pub const config: ::opgen::__private::Resource<ConfigMap> = ::opgen::__private::Resource::CHILD;
        pub const key: ::opgen::__private::Resource<Option<Secret>> = ::opgen::__private::Resource::CHILD;
        pub const service: ::opgen::__private::Resource<Service> = ::opgen::__private::Resource::CHILD;
        pub const data: ::opgen::__private::Resource<PersistentVolumeClaim> = ::opgen::__private::Resource::CHILD;
        pub const web: ::opgen::__private::Several<Deployment> = ::opgen::__private::Several::CHILD;
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for WebAppTree {
        type Children = ChildrenOfWebAppTree;
    }
};
