//! Pods as an API server lists them: about 3.2 KB each and 1.6 KB of managedFields, of 400 deployments in 40 namespaces.

/// Numbers that follow from a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn uid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xfff,
            b >> 48 & 0xfff,
            b << 16 >> 16
        )
    }

    fn sha256(&mut self) -> String {
        (0..4).map(|_| format!("{:016x}", self.next())).collect()
    }

    fn suffix(&mut self, len: usize) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        (0..len).map(|_| char::from(LETTERS[self.below(LETTERS.len() as u64) as usize])).collect()
    }

    fn time(&mut self) -> String {
        let at = self.next();
        format!(
            "2026-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            at % 9 + 1,
            at / 9 % 28 + 1,
            at / 300 % 24,
            at / 7_200 % 60,
            at / 500_000 % 60
        )
    }
}

/// What the Pods of one Deployment have in common.
struct App {
    name: String,
    namespace: String,
    hash: String,
    owner: String,
    image: String,
}

const APPS: usize = 400;
const NAMES: [&str; 10] =
    ["checkout", "cart", "payment", "search", "catalog", "gateway", "auth", "mailer", "worker", "report"];

fn app(number: usize) -> App {
    let mut dice = Dice(number as u64 + 1);
    let name = format!("{}-{}", NAMES[number % NAMES.len()], dice.suffix(4));
    let tag = format!("v{}.{}.{}", dice.below(9), dice.below(30), dice.below(100));
    App {
        namespace: format!("team-{:02}", number / NAMES.len()),
        hash: dice.suffix(9),
        owner: dice.uid(),
        image: format!("registry.example.com/shop/{name}:{tag}@sha256:{}", dice.sha256()),
        name,
    }
}

/// The JSON of Pod `number` of `total`, in the order of a listing.
pub(crate) fn pod(number: usize, total: usize) -> String {
    let app = app(number * APPS / total);
    let mut dice = Dice(1_000_000 + number as u64);
    let node = format!("node-{:03}.eu-west.example.internal", dice.below(500));
    let (metadata, spec, status) = (metadata(&app, &mut dice), spec(&app, &node, &mut dice), status(&app, &mut dice));
    format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{metadata},"spec":{spec},"status":{status}}}"#)
}

fn metadata(app: &App, dice: &mut Dice) -> String {
    let App { name, namespace, hash, owner, .. } = app;
    let (suffix, uid, version, time) = (dice.suffix(5), dice.uid(), 90_000_000 + dice.below(9_000_000), dice.time());
    let managed = MANAGED.replace("$TIME", &time).replace("$OWNER", owner);
    format!(
        r#"{{"name":"{name}-{hash}-{suffix}","generateName":"{name}-{hash}-","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}","generation":1,"creationTimestamp":"{time}","labels":{{"app.kubernetes.io/instance":"{name}","app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/name":"{name}","app.kubernetes.io/part-of":"shop","pod-template-hash":"{hash}"}},"annotations":{{"prometheus.io/port":"9090","prometheus.io/scrape":"true"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{name}-{hash}","uid":"{owner}","controller":true,"blockOwnerDeletion":true}}],"managedFields":{managed}}}"#,
    )
}

fn spec(app: &App, node: &str, dice: &mut Dice) -> String {
    let App { name, namespace, image, .. } = app;
    let (volume, shard, seed, zone) = (dice.suffix(5), dice.below(64), dice.sha256(), dice.below(3));
    format!(
        r#"{{"volumes":[{{"name":"config","configMap":{{"name":"{name}-config","defaultMode":420}}}},{{"name":"kube-api-access-{volume}","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}}],"defaultMode":420}}}}],"containers":[{{"name":"{name}","image":"{image}","args":["--listen=:8080","--shard={shard}","--upstream=http://{name}.{namespace}.svc:8080"],"ports":[{{"name":"http","containerPort":8080,"protocol":"TCP"}},{{"name":"metrics","containerPort":9090,"protocol":"TCP"}}],"env":[{{"name":"POD_IP","valueFrom":{{"fieldRef":{{"apiVersion":"v1","fieldPath":"status.podIP"}}}}}},{{"name":"ZONE","value":"eu-west-{zone}"}},{{"name":"SEED","value":"{seed}"}},{{"name":"LOG","value":"info"}}],"resources":{{"limits":{{"memory":"512Mi"}},"requests":{{"cpu":"250m","memory":"256Mi"}}}},"volumeMounts":[{{"name":"config","readOnly":true,"mountPath":"/etc/{name}"}},{{"name":"kube-api-access-{volume}","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],"readinessProbe":{{"httpGet":{{"path":"/ready","port":"http","scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}},"imagePullPolicy":"IfNotPresent"}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"{name}","serviceAccount":"{name}","nodeName":"{node}","securityContext":{{"runAsNonRoot":true}},"schedulerName":"default-scheduler","priority":0,"enableServiceLinks":true}}"#
    )
}

fn status(app: &App, dice: &mut Dice) -> String {
    let App { name, image, .. } = app;
    let conditions: Vec<_> = ["Initialized", "Ready", "ContainersReady", "PodScheduled"]
        .map(|kind| format!(r#"{{"type":"{kind}","status":"True","lastTransitionTime":"{}"}}"#, dice.time()))
        .into();
    let (conditions, node, third, last) = (conditions.join(","), dice.below(250), dice.below(250), dice.below(250));
    let (restarts, container, started, start) = (dice.below(3), dice.sha256(), dice.time(), dice.time());
    format!(
        r#"{{"phase":"Running","conditions":[{conditions}],"hostIP":"10.0.1.{node}","podIP":"10.244.{third}.{last}","startTime":"{start}","containerStatuses":[{{"name":"{name}","state":{{"running":{{"startedAt":"{started}"}}}},"lastState":{{}},"ready":true,"restartCount":{restarts},"image":"{image}","imageID":"{image}","containerID":"containerd://{container}","started":true}}],"qosClass":"Burstable"}}"#
    )
}

const MANAGED: &str = r#"[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"$TIME","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:prometheus.io/port":{},"f:prometheus.io/scrape":{}},"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"$OWNER\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:args":{},"f:env":{".":{},"k:{\"name\":\"SEED\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"ZONE\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:readinessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}}},"f:resources":{},"f:volumeMounts":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:volumes":{}}}},{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"$TIME","subresource":"status","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:startTime":{}}}}]"#;
