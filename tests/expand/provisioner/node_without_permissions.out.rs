#[automatically_derived]
impl ::opgen::Provisioner for Gate {
    type Inputs = ();
    type Output = ();
    const SHAPE: ::opgen::shape::Shape = ::opgen::shape::Shape {
        node: ::opgen::shape::Node::Custom,
        access: &[],
        children: &[],
    };
}
#[allow(dead_code)]
const _: () = {
    fn reads(node: &Gate) {
        let _ = (node,);
    }
    #[automatically_derived]
    impl ::opgen::__private::Group for Gate {
        type Children = ::opgen::__private::NoChildren;
    }
};
