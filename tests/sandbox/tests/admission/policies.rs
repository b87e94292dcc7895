//! Tests of admission policies.

use http::Method;
use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

use super::{answer, create, register, sandbox, send};

fn rules(plural: &str) -> Value {
    let operations = ["CREATE", "UPDATE", "DELETE"];
    json!({"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": operations, "resources": [plural]}]})
}

async fn validating(sandbox: &Sandbox, name: &str, mut spec: Value) -> (u16, Value) {
    spec["matchConstraints"] = rules("configmaps");
    register(sandbox, "validatingadmissionpolicies", name, json!({"spec": spec})).await
}

async fn bind(sandbox: &Sandbox, sort: &str, name: &str, mut spec: Value) {
    if spec.get("policyName").is_none() {
        spec["policyName"] = name.into();
    }
    if sort == "validating" && spec.get("validationActions").is_none() {
        spec["validationActions"] = json!(["Deny"]);
    }
    let (code, body) = register(sandbox, &format!("{sort}admissionpolicybindings"), name, json!({"spec": spec})).await;
    assert_eq!(code, 201, "{body}");
}

async fn mutating(sandbox: &Sandbox, name: &str, mutations: Value) {
    let condition = json!({"name": "m", "expression": format!("has(object.data) && '{name}' in object.data")});
    let spec = json!({"matchConstraints": rules("configmaps"), "reinvocationPolicy": "Never",
        "matchConditions": [condition], "mutations": mutations});
    let (code, body) = register(sandbox, "mutatingadmissionpolicies", name, json!({"spec": spec})).await;
    assert_eq!(code, 201, "{body}");
    bind(sandbox, "mutating", name, json!({})).await;
}

fn apply(expression: &str) -> Value {
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
}

fn patch(expression: &str) -> Value {
    json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
}

async fn map(sandbox: &Sandbox, name: &str, data: Value) -> (u16, Value) {
    create(sandbox, "configmaps", json!({"metadata": {"name": name}, "data": data})).await
}

#[tokio::test(start_paused = true)]
async fn a_policy_refuses_in_its_words() {
    let sandbox = sandbox().await;
    let validations = json!([
        {"expression": "!has(object.data) || !('bad' in object.data)"},
        {"expression": "!has(object.data) || !('msg' in object.data)", "message": "no msg please", "reason": "Forbidden"},
        {"expression": "!has(object.data) || !('expr' in object.data)",
         "messageExpression": "'name is ' + object.metadata.name + ' by ' + request.userInfo.username"},
        {"expression": "!has(object.data) || object.data.missing != 'u'"},
    ]);
    validating(&sandbox, "p", json!({"validations": validations})).await;
    bind(&sandbox, "validating", "p", json!({})).await;
    assert_eq!(create(&sandbox, "configmaps", json!({"metadata": {"name": "c0"}})).await.0, 201);
    for (key, code, why) in [
        ("bad", 422, "failed expression: !has(object.data) || !('bad' in object.data)"),
        ("msg", 403, "no msg please"),
        ("expr", 422, "name is c1 by admin"),
        (
            "other",
            422,
            "expression '!has(object.data) || object.data.missing != 'u'' resulted in error: no such key: missing",
        ),
    ] {
        let mut data = json!({key: "1"});
        if key != "other" {
            data["missing"] = "x".into();
        }
        let (was, status) = map(&sandbox, "c1", data).await;
        let message = format!("ValidatingAdmissionPolicy 'p' with binding 'p' denied request: {why}");
        assert_eq!((was, &status["message"]), (code, &json!(format!("configmaps \"c1\" is forbidden: {message}"))));
        assert_eq!(status["reason"], if code == 403 { "Forbidden" } else { "Invalid" });
        assert_eq!(status["details"], json!({"name": "c1", "kind": "configmaps", "causes": [{"message": message}]}));
    }
    // A deletion has no object.
    assert_eq!(send(&sandbox, Method::DELETE, "/api/v1/namespaces/a/configmaps/c0", json!({})).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_only_warns_lets_through() {
    let sandbox = sandbox().await;
    let validations = json!([
        {"expression": "!('bad' in object.data)", "message": "no bad \"ones\""}, {"expression": "object.data.x == 'y'"}]);
    validating(&sandbox, "p", json!({"validations": validations})).await;
    bind(&sandbox, "validating", "b", json!({"policyName": "p", "validationActions": ["Warn", "Audit"]})).await;
    let body = json!({"metadata": {"name": "c"}, "data": {"bad": "1"}});
    let (code, headers, _) = answer(&sandbox, Method::POST, "/api/v1/namespaces/a/configmaps", body).await;
    assert_eq!(code, 201);
    let warnings: Vec<_> = headers.get_all("warning").iter().map(|value| value.to_str().unwrap()).collect();
    let told = "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': ";
    let expected = [
        format!("{told}no bad \\\"ones\\\"\""),
        format!("{told}expression 'object.data.x == 'y'' resulted in error: no such key: x\""),
    ];
    assert_eq!(warnings, expected);
}

#[tokio::test(start_paused = true)]
async fn parameters_are_objects_of_the_cluster() {
    let sandbox = sandbox().await;
    let condition =
        json!({"name": "m", "expression": "request.operation != 'DELETE' && object.metadata.name != 'free'"});
    let spec = json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConditions": [condition],
        "variables": [{"name": "max", "expression": "int(params.data.max)"}],
        "validations": [{"expression": "size(object.metadata.name) <= variables.max",
            "messageExpression": "'at most ' + string(variables.max)", "reason": "Forbidden"}],
    });
    validating(&sandbox, "p", spec).await;
    map(&sandbox, "three", json!({"max": "3"})).await;
    map(&sandbox, "none", json!({"max": "x"})).await;
    let bindings =
        [("allow", "gone", "Allow"), ("deny", "gone", "Deny"), ("three", "three", "Deny"), ("none", "none", "Deny")];
    for (name, param, action) in bindings {
        let selector = json!({"objectSelector": {"matchLabels": {"a": name}}});
        let reference = json!({"name": param, "namespace": "a", "parameterNotFoundAction": action});
        let spec = json!({"policyName": "p", "matchResources": selector, "paramRef": reference});
        bind(&sandbox, "validating", name, spec).await;
    }
    let labelled = async |name: &str, label: &str| {
        create(&sandbox, "configmaps", json!({"metadata": {"name": name, "labels": {"a": label}}})).await
    };
    assert_eq!(labelled("long-name", "allow").await.0, 201);
    assert_eq!(labelled("abc", "three").await.0, 201);
    assert_eq!(labelled("free", "three").await.0, 201);
    let missing = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";
    let unreadable = "expression 'size(object.metadata.name) <= variables.max' resulted in error: composited variable \"max\" fails to evaluate: type conversion error from 'string' to 'int'";
    for (label, code, why) in [("deny", 422, missing), ("three", 403, "at most 3"), ("none", 422, unreadable)] {
        let (was, status) = labelled("name", label).await;
        let denied = format!("ValidatingAdmissionPolicy 'p' with binding '{label}' denied request: {why}");
        let message = format!("configmaps \"name\" is forbidden: {denied}");
        assert_eq!((was, &status["message"]), (code, &json!(message)));
    }
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_evaluated_is_refused_when_it_is_written() {
    let sandbox = sandbox().await;
    let spec = json!({
        "validations": [
            {"expression": "objec.x == 1"}, {"expression": "1"}, {"expression": "true", "messageExpression": "1"}],
        "variables": [{"name": "a-b", "expression": "1"}, {"name": "a", "expression": "variables.zz"}],
        "matchConditions": [{"name": "x", "expression": "1"}],
    });
    let (code, status) = validating(&sandbox, "p", spec).await;
    let cause = |field: &str, message: &str| json!({"reason": "FieldValueInvalid", "message": message, "field": field});
    let causes = [
        cause("spec.matchConditions[0].expression", "Invalid value: \"1\": must evaluate to bool but got int"),
        cause("spec.variables[0].name", "Invalid value: \"a-b\": must be a valid CEL identifier"),
        cause(
            "spec.variables[1].expression",
            "Invalid value: \"variables.zz\": compilation failed: ERROR: <input>:1:10: undefined field 'zz'\n | variables.zz\n | .........^",
        ),
        cause(
            "spec.validations[0].expression",
            "Invalid value: \"objec.x == 1\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'objec' (in container '')\n | objec.x == 1\n | ^",
        ),
        cause("spec.validations[1].expression", "Invalid value: \"1\": must evaluate to bool but got int"),
        cause("spec.validations[2].messageExpression", "Invalid value: \"1\": must evaluate to string but got int"),
    ];
    assert_eq!((code, &status["details"]["causes"]), (422, &json!(causes)));
    let (code, status) = validating(&sandbox, "p", json!({"validations": [{"expression": "params.x == 1"}]})).await;
    assert_eq!(code, 422, "{status}");
    let (code, _) = validating(&sandbox, "p", json!({"validations": [{"expression": "object.x +"}]})).await;
    assert_eq!(code, 422);
}

/// The policy that opgen writes for its operators, for a built-in kind.
async fn finalizer_policy(sandbox: &Sandbox) {
    let expression = "Object{metadata: Object.metadata{finalizers: {\n  \"configmaps.\": [\"demo.example.com/webapp\"]\n}[request.resource.resource + \".\" + request.resource.group]}}";
    let rule = json!({"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["configmaps"]});
    let spec = json!({
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": [rule]},
        "mutations": [apply(expression)],
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "reinvocationPolicy": "Never",
    });
    let name = "webapp-finalizer-policy";
    let (code, body) = register(sandbox, "mutatingadmissionpolicies", name, json!({"spec": spec})).await;
    assert_eq!(code, 201, "{body}");
    let reference = json!({"name": name, "namespace": "a", "parameterNotFoundAction": "Allow"});
    bind(sandbox, "mutating", name, json!({"paramRef": reference})).await;
}

#[tokio::test(start_paused = true)]
async fn opgens_policy_adds_its_finalizer_as_long_as_its_parameter_is_there() {
    let sandbox = sandbox().await;
    finalizer_policy(&sandbox).await;
    let (_, before) = map(&sandbox, "before", json!({})).await;
    assert_eq!(before["metadata"].get("finalizers"), None);
    map(&sandbox, "webapp-finalizer-policy", json!({})).await;
    let own = json!({"metadata": {"name": "own", "finalizers": ["other.example.com/mine"]}});
    let (code, own) = create(&sandbox, "configmaps", own).await;
    let both = json!(["other.example.com/mine", "demo.example.com/webapp"]);
    assert_eq!((code, &own["metadata"]["finalizers"]), (201, &both));
    send(&sandbox, Method::DELETE, "/api/v1/namespaces/a/configmaps/webapp-finalizer-policy", json!({})).await;
    let (_, after) = map(&sandbox, "after", json!({})).await;
    assert_eq!(after["metadata"].get("finalizers"), None);
}

#[tokio::test(start_paused = true)]
async fn mutations_are_applied_and_patched() {
    let sandbox = sandbox().await;
    let labels =
        "Object{metadata: Object.metadata{labels: {'n': request.namespace, 'k': object.kind}}, data: {'m1': 'yes'}}";
    let tested = "[JSONPatch{op: 'test', path: '/data/m1', value: 'yes'}, JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a/b'), value: 'v'}, JSONPatch{op: 'move', from: '/data/' + jsonpatch.escapeKey('a/b'), path: '/data/ab'}]";
    let refused =
        "[JSONPatch{op: 'add', path: '/data/never', value: ''}, JSONPatch{op: 'test', path: '/data/m1', value: 'no'}]";
    mutating(&sandbox, "one", json!([apply(labels), patch(tested), patch(refused)])).await;
    let (code, made) = map(&sandbox, "made", json!({"one": ""})).await;
    assert_eq!(code, 201, "{made}");
    assert_eq!((code, &made["data"]), (201, &json!({"one": "", "m1": "yes", "ab": "v"})));
    assert_eq!(made["metadata"]["labels"], json!({"n": "a", "k": "ConfigMap"}));
}

#[tokio::test(start_paused = true)]
async fn mutations_that_fail_refuse_the_write() {
    let sandbox = sandbox().await;
    mutating(&sandbox, "err", json!([apply("Object{data: {'q': object.data.nope}}")])).await;
    mutating(&sandbox, "remove", json!([patch("[JSONPatch{op: 'remove', path: '/data/none'}]")])).await;
    mutating(&sandbox, "unknown", json!([apply("Object{spec: Object.spec{replicas: 3}}")])).await;
    for (name, why) in [
        ("err", "expression 'Object{data: {'q': object.data.nope}}' resulted in error: no such key: nope"),
        (
            "remove",
            "JSON Patch: error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value",
        ),
        (
            "unknown",
            "error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema",
        ),
    ] {
        let (code, status) = map(&sandbox, "n", json!({name: "1"})).await;
        let message = format!("policy '{name}' with binding '{name}' denied request: {why}");
        assert_eq!((code, &status["message"], &status["reason"]), (403, &json!(message), &json!("Invalid")));
        assert_eq!(status["details"], json!({"name": "n", "kind": "configmaps", "causes": [{"message": message}]}));
    }
}

#[tokio::test(start_paused = true)]
async fn lists_are_merged_by_their_keys() {
    let sandbox = sandbox().await;
    let expression = "Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'mesh', image: 'm', \
        ?restartPolicy: optional.of('Always')}], containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, \
        env: [Object.spec.containers.env{name: 'A', value: c.image}]})}}";
    let mut rules = rules("pods");
    rules["resourceRules"][0]["operations"] = json!(["CREATE"]);
    let spec = json!({"matchConstraints": rules, "reinvocationPolicy": "Never", "mutations": [apply(expression)]});
    register(&sandbox, "mutatingadmissionpolicies", "p", json!({"spec": spec})).await;
    bind(&sandbox, "mutating", "p", json!({})).await;
    let containers = json!([{"name": "c", "image": "x", "env": [{"name": "B", "value": "b"}]}]);
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"automountServiceAccountToken": false, "containers": containers}});
    let (code, pod) = create(&sandbox, "pods", pod).await;
    assert_eq!(code, 201, "{pod}");
    let env = json!([{"name": "B", "value": "b"}, {"name": "A", "value": "x"}]);
    assert_eq!(pod["spec"]["containers"][0]["env"], env);
    assert_eq!(pod["spec"]["initContainers"][0]["restartPolicy"], "Always");
}

#[tokio::test(start_paused = true)]
async fn a_policy_sees_again_what_later_ones_changed() {
    let sandbox = sandbox().await;
    let policy = async |name: &str, again: &str, expression: &str| {
        let spec = json!({
            "matchConstraints": rules("configmaps"), "reinvocationPolicy": again, "mutations": [apply(expression)]});
        register(&sandbox, "mutatingadmissionpolicies", name, json!({"spec": spec})).await;
        bind(&sandbox, "mutating", name, json!({})).await;
    };
    let seen = "Object{metadata: Object.metadata{labels: {'seen-NAME': has(object.data) ? 'data' : 'nothing'}}}";
    policy("a", "IfNeeded", &seen.replace("NAME", "a")).await;
    policy("b", "Never", &seen.replace("NAME", "b")).await;
    policy("c", "Never", "Object{data: {'k': 'v'}}").await;
    let (_, made) = create(&sandbox, "configmaps", json!({"metadata": {"name": "m"}})).await;
    assert_eq!(made["metadata"]["labels"], json!({"seen-a": "data", "seen-b": "nothing"}));
}

#[tokio::test(start_paused = true)]
async fn an_expression_asks_the_authorizer() {
    let sandbox = sandbox().await;
    let check = "authorizer.group('apps').resource('deployments').namespace('x').check('get').allowed() && \
        authorizer.requestResource.check('create').allowed() && !authorizer.path('/x').check('get').errored()";
    validating(&sandbox, "p", json!({"validations": [{"expression": check}]})).await;
    bind(&sandbox, "validating", "p", json!({})).await;
    let (code, status) = map(&sandbox, "m", json!({})).await;
    assert_eq!(code, 201, "{status}");
    // An account without rights.
    let other = "!authorizer.serviceAccount('a', 'other').group('').resource('pods').name('p').check('get').allowed()";
    validating(&sandbox, "q", json!({"validations": [{"expression": other}]})).await;
    bind(&sandbox, "validating", "q", json!({})).await;
    assert_eq!(map(&sandbox, "n", json!({})).await.0, 201);
}

/// As opgen wrote them for an example.
const WEBAPP: &str = include_str!("../../../../examples/webapp/deploy/finalizer-policy.yaml");

#[tokio::test(start_paused = true)]
async fn the_policy_of_an_example_marks_its_custom_objects() {
    let sandbox = sandbox().await;
    send(&sandbox, Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": "webapp-system"}})).await;
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let names = json!({"plural": "webapps", "singular": "webapp", "kind": "WebApp", "listKind": "WebAppList"});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema});
    let spec = json!({"group": "demo.example.com", "scope": "Namespaced", "names": names, "versions": [version]});
    let crd = json!({"metadata": {"name": "webapps.demo.example.com"}, "spec": spec});
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(send(&sandbox, Method::POST, path, crd).await.0, 201);
    for document in WEBAPP.split("---\n").skip(1) {
        let object: Value = serde_saphyr::from_str(document).unwrap();
        let path = match object["kind"].as_str().unwrap() {
            "ConfigMap" => "/api/v1/namespaces/webapp-system/configmaps",
            "MutatingAdmissionPolicy" => "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies",
            _ => "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
        };
        let (code, body) = send(&sandbox, Method::POST, path, object).await;
        assert_eq!(code, 201, "{body}");
    }
    let object = json!({"apiVersion": "demo.example.com/v1", "kind": "WebApp", "metadata": {"name": "shop"}});
    let path = "/apis/demo.example.com/v1/namespaces/a/webapps";
    let look = async || {
        let (code, made) = send(&sandbox, Method::POST, path, object.clone()).await;
        (code != 404).then_some(made)
    };
    let made = crate::wait::until("the kind", look).await;
    assert_eq!(made["metadata"]["finalizers"], json!(["demo.example.com/webapp"]), "{made}");
}
