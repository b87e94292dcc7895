#[automatically_derived]
impl ::opgen::Provisioner for Solve {
    type Inputs = (::opgen::Output<ConfigMap>, ::opgen::Output<Option<Secret>>);
    type Output = Plan;
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::Custom,
        access: &[],
        children: &[],
    };
}
#[automatically_derived]
impl ::opgen::__private::HasOutput for Solve {}
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
