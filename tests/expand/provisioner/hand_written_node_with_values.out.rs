#[automatically_derived]
impl ::opgen::Provisioner for Solve {
    type Takes = (::opgen::Made<ConfigMap>, ::opgen::Made<Option<Secret>>);
    type Gives = Plan;
    const SHAPE: ::opgen::Shape = ::opgen::Shape {
        node: ::opgen::Node::Custom,
        access: &[],
        children: &[],
    };
}
#[automatically_derived]
impl ::opgen::__private::GivesValue for Solve {}
#[allow(dead_code)]
const _: () = {
    fn reads(node: &Solve) {
        let _ = (node,);
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for Solve {
        type Children = ::opgen::__private::NoChildren;
    }
};
