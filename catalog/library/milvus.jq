# What the Milvus operator makes of a Milvus, which is the input unless a line says otherwise.

# Is it of version 2.6 or later? The version, or else the tag of the image; what is no version is older.
def milvus_recent:
  (.spec.components.version // "") as $version
  | (.spec.components.image // "milvus:v2.6") as $image
  | (if $version != "" then $version elif ($image | contains(":")) then $image | split(":")[-1] else "" end)
  | startswith("master-")
    or ([capture("^ *v?(?<major>[0-9]+)([.](?<minor>[0-9]+))?") | [(.major | tonumber), ((.minor // "0") | tonumber)] >= [2, 6]][0] // false);

# Of the components: every one that there may be, as a path.
def milvus_each:
  .mixCoord, .rootCoord, .dataCoord, .queryCoord, .indexCoord, .proxy, .queryNode, .dataNode, .indexNode, .streamingNode,
  .standalone, .cdc;

def milvus_coords: ["rootCoord", "dataCoord", "queryCoord", "indexCoord"];

# The components that are there: all parts of a cluster, or one that is all of them.
def milvus_parts:
  milvus_recent as $recent
  | .spec.components as $c
  | if .spec.mode != "cluster" then ["standalone"] else
      (if $c.mixCoord == null and any(milvus_coords[]; $c[.] != null) then milvus_coords else ["mixCoord"] end)
      + ["proxy", "queryNode", "dataNode"]
      + (if $recent then [] else ["indexNode"] end)
      + (if $recent or $c.streamingMode or ($c.streamingMode == null and $c.streamingNode != null) then ["streamingNode"] else [] end)
      + (if ($c.standalone.replicas // 0) != 0 then ["standalone"] else [] end)
    end
  + (if $c.cdc != null then ["cdc"] else [] end);

# Autoscalers that the pods of parts hang on: where a part or a group leaves its number to one.
def milvus_autoscalers:
  select(any(.spec.components | milvus_each | select(. != null) | .replicas, .groups[]?.replicas; . == -1))
  | {group: "autoscaling", kind: "HorizontalPodAutoscaler", at: ["spec", "components"]};

# Of an autoscaler: is its target a Deployment of this Milvus?
def milvus_is_scaled($object):
  .spec.scaleTargetRef
  | .kind == "Deployment" and ((.name // "") | startswith("\($object.metadata.name)-milvus-"));

# Of those that were found, {least, most} pods for a part or group; null where none counts them.
def milvus_scaled($id; $scalers):
  ($id | split("-")) as [$part]
  | (.spec.components | to_entries[] | select(.key | ascii_downcase == $part) | .value
     | if (.groups // []) == [] then .replicas else .groups[] | select("\($part)-\(.name)" == $id) | .replicas end) as $stated
  | "\(.metadata.name)-milvus-\($id)" as $name
  | [$scalers[].spec
     | select($stated == -1 and .scaleTargetRef.kind == "Deployment"
              and (.scaleTargetRef.name | . == $name or . == "\($name)-0" or . == "\($name)-1"))]
  | if . == [] then null else {least: (map(.minReplicas // 1) | max), most: (map(.maxReplicas) | max)} end;

# What the charts of the operator (milvus-helm 5) ask for; the manifest's values are laid over it.
def milvus_charts:
  {etcd: {replicaCount: 3},
   storage: {mode: "distributed", replicas: 4, resources: {requests: {memory: "2Gi"}}},
   kafka: {replicaCount: 3, zookeeper: {enabled: true, replicaCount: 3}},
   pulsar: {
     components: {zookeeper: true, bookkeeper: true, broker: true, proxy: true, autorecovery: true},
     zookeeper: {replicaCount: 3, resources: {requests: {cpu: "200m", memory: "256Mi"}}},
     bookkeeper: {replicaCount: 3, resources: {requests: {cpu: "500m", memory: "2Gi"}}},
     broker: {replicaCount: 2, resources: {requests: {cpu: "500m", memory: "2Gi"}}},
     proxy: {replicaCount: 2, resources: {requests: {cpu: "500m", memory: "1Gi"}}},
     autorecovery: {replicaCount: 1, resources: {requests: {cpu: "100m", memory: "128Mi"}}}},
   tei: {replicaCount: 1, resources: {requests: {cpu: "4", memory: "8Gi"}, limits: {cpu: "8", memory: "16Gi"}}}};

# The dependencies that the operator installs.
def milvus_installed:
  .spec.dependencies as $d
  | ["etcd", "storage", ($d.msgStreamType | select(. == "pulsar" or . == "kafka")) | select($d[.].external != true)]
    + if $d.tei.enabled then ["tei"] else [] end;

def milvus_alone: {etcd: {replicaCount: 1}, storage: {mode: "standalone"}};

# Defaults of the webhook.
def milvus_defaults:
  if .spec.mode == null or .spec.mode == "" then .spec.mode = "standalone" else . end
  | if .spec.components == null then .spec.components = {} else . end
  | if .spec.dependencies == null then .spec.dependencies = {} else . end
  | milvus_parts as $parts
  | reduce (milvus_coords + ["mixCoord", "proxy", "queryNode", "dataNode", "indexNode", "streamingNode", "standalone"])[] as $part (.;
      if ($parts | index($part)) == null then del(.spec.components[$part])
      elif .spec.components[$part] == null then .spec.components[$part] = {replicas: 1}
      elif .spec.components[$part].replicas == null then .spec.components[$part].replicas = 1
      else . end)
  | if .spec.components.cdc and .spec.components.cdc.replicas == null then .spec.components.cdc.replicas = 1 else . end
  | if (.spec.dependencies.msgStreamType // "") == "" then
      .spec.dependencies.msgStreamType =
        if .spec.mode == "cluster" then "pulsar" elif milvus_recent then "woodpecker" else "rocksmq" end
    else . end
  | .spec.mode as $mode
  | reduce milvus_installed[] as $name (.;
      .spec.dependencies[$name].inCluster.values =
        milvus_charts[$name] * (if $mode == "cluster" then {} else milvus_alone[$name] // {} end)
        * (.spec.dependencies[$name].inCluster.values // {}));

# Of a pod: the configuration is written by an init container.
def milvus_pod: .spec.initContainers = ([{name: "config"}] + (.spec.initContainers // []));

# Of the pods of a part, or of one of its groups.
def milvus_labels($id):
  {"app.kubernetes.io/name": "milvus", "app.kubernetes.io/component": ($id | split("-")[0]),
   "app.kubernetes.io/instance": name_or_made(.metadata.name; "workload"),
   "pod-template-hash": made("role")};

# What the Milvus operator calls its Deployments, some of which are two in turn, and Helm what its charts make.
def milvus_owner($id):
  .metadata.name as $name
  | [[$id, ($id | split("-")[0])] | unique[] | "-milvus-\(.)"
     | owned("ReplicaSet.apps"; $name; "\(.)-*", "\(.)-#-*"), owned("StatefulSet.apps"; $name; .) | values];
def milvus_dependency_owner($id):
  [owned("StatefulSet.apps"; .metadata.name; "-\($id)"), owned("ReplicaSet.apps"; .metadata.name; "-\($id)-*") | values];

def milvus_dependency_labels($id; $pods):
  if $id == "tei" or ($id == "minio" and .spec.dependencies.storage.inCluster.values.mode != "distributed")
  then {"pod-template-hash": made("role")} else set_labels(null; 0; $pods; "role") end;

# What is not evaluated: pods of charts in detail, and volumes that are made with the pods.
def milvus_unmodelled:
  . as $all
  | [(milvus_installed[] | {path: "spec.dependencies.\(.)",
      text: "pods of a Helm chart, taken as milvus-helm 5 makes them, and their volumes", restricts: false}),
     (.spec.components.queryNode.statefulSet | select(.enabled == true)
      | {path: "spec.components.queryNode.statefulSet", text: "volumes that are made with the pods", restricts: true}),
     ((.spec.components | {path: "spec.components", of: .},
       (to_entries[] | select(.value | type == "object") | {path: "spec.components.\(.key)", of: .value}))
      | select(.of.paused == true and ($all.status.status // "Pending") == "Pending")
      | {path: "\(.path).paused", text: "pods that come when it is taken away", restricts: false}),
     (("rocksmq", "natsmq", "woodpecker") | select(. == $all.spec.dependencies.msgStreamType)
      | select($all.spec.dependencies[.].persistence.enabled == true)
      | {path: "spec.dependencies.\(.).persistence", text: "a volume for the message queue", restricts: true})];
