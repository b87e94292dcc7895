//! The Ingress of the shop.

use k8s_openapi::api::{
    core::v1::Service,
    networking::v1::{
        HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule, IngressServiceBackend,
        IngressSpec, ServiceBackendPort,
    },
};
use kube::ResourceExt as _;

use super::{ShopTree, backend::PORT};
use shop_api::Shop;

impl ShopTree {
    pub(super) fn ingress(shop: &Shop, service: &Service) -> Ingress {
        let port = ServiceBackendPort { name: Some(PORT.1.to_owned()), ..ServiceBackendPort::default() };
        let service = IngressServiceBackend { name: service.name_any(), port: Some(port) };
        let path = HTTPIngressPath {
            path: Some("/".to_owned()),
            path_type: "Prefix".to_owned(),
            backend: IngressBackend { service: Some(service), ..IngressBackend::default() },
        };
        let rule = IngressRule { host: shop.spec.host.clone(), http: Some(HTTPIngressRuleValue { paths: vec![path] }) };
        Ingress { spec: Some(IngressSpec { rules: Some(vec![rule]), ..IngressSpec::default() }), ..Ingress::default() }
    }
}
