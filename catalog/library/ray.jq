# What KubeRay makes of a RayCluster's spec; the input is that spec unless a line says otherwise.

# Defaults of the CRD; a group without replicas starts at its minimum.
def ray_defaults:
  if .workerGroupSpecs == null then .workerGroupSpecs = [] else . end
  | .workerGroupSpecs |= map(
      if .numOfHosts == null then .numOfHosts = 1 else . end
      | if .minReplicas == null then .minReplicas = 0 else . end
      | if .replicas == null then .replicas = .minReplicas else . end);

def ray_group($name): .workerGroupSpecs[] | select(.groupName == $name);

# Of a group: its pods within its bounds, a replica being numOfHosts pods; a suspended group has none.
def ray_desired:
  (.maxReplicas // 2147483647) as $most
  | if .suspend then 0 else ([([.replicas, .minReplicas] | max), $most] | min) * .numOfHosts end;

# The autoscaler starts with the least; KAI takes the least that a group states even without it.
def ray_least($name):
  .enableInTreeAutoscaling as $scales
  | ray_group($name)
  | if .suspend then 0
    elif $scales or (.template.spec.schedulerName == "kai-scheduler" and .minReplicas > 0)
    then .minReplicas * .numOfHosts
    else ray_desired end;

# Of a group: the pods up to which it may grow, or null; 2147483647 is what the CRD fills in.
def ray_bound: (.maxReplicas // 2147483647) * .numOfHosts | if . < 2147483647 then . else null end;

def ray_most($name):
  .enableInTreeAutoscaling as $scales
  | ray_group($name)
  | if $scales then ray_bound else null end;

# Of a container: the port for metrics, unless it has one of that name.
def ray_metrics:
  if any((.ports // [])[]; .name == "metrics") then .
  else .ports = ((.ports // []) + [{name: "metrics", containerPort: 8080}]) end;

# Labels whose values are known. Some give way to those of the template and of its group.
def ray_labels($type; $group; $cluster; $own):
  .metadata.labels = (
    {"ray.io/is-ray-node": "yes", "app.kubernetes.io/name": "kuberay", "app.kubernetes.io/created-by": "kuberay-operator"}
    + (if $cluster then {"ray.io/identifier": "\($cluster)-\($type)"[-63:]} else {} end)
    + (.metadata.labels // {}) + ($own.labels // {})
    + {"ray.io/node-type": $type, "ray.io/group": $group}
    + (if $cluster then {"ray.io/cluster": $cluster} else {} end));

# The labels that hold the name of the cluster, where the API server or KubeRay makes that; the identifier says also
# whether a pod is a head or a worker.
def ray_made($cluster):
  if $cluster then {} else {"ray.io/cluster": made("workload"), "ray.io/identifier": made("group")} end;

# The cluster of a RayJob or RayService of that name; KubeRay 1.3 and older put a word into its name.
def ray_owner($name): [owned("RayCluster.ray.io"; $name; "-?????", "-raycluster-?????") | values];

# Of the spec: what a group's pods bear where KubeRay counts hosts (a feature gate, off by default).
def ray_counted($name):
  ray_group($name).numOfHosts as $hosts
  | {"ray.io/worker-group-replica-index": (counted(if $hosts > 1 then "part" else "pod" end) | sometimes)}
    + if $hosts > 1 then {"ray.io/worker-group-replica-name": (made("part") | sometimes),
                          "ray.io/replica-host-index": (counted("part") | sometimes)} else {} end;

# Of a pod: the collector of the history server, where one is asked for (a feature gate of KubeRay, off by default).
def ray_collector($spec):
  if $spec.historyServerOptions.collectorOptions
  then .spec.containers += [{name: "collector", resources: ($spec.historyServerOptions.collectorOptions.resources // {})}]
  else . end;

# Of the head's pod: the autoscaler runs beside Ray.
def ray_head($spec; $cluster):
  .spec.containers[0] |= ray_metrics
  | if $spec.enableInTreeAutoscaling then
      .spec.containers += [{name: "autoscaler", securityContext: $spec.autoscalerOptions.securityContext,
        resources: ($spec.autoscalerOptions.resources // {
          requests: {cpu: "500m", memory: "512Mi"}, limits: {cpu: "500m", memory: "512Mi"}})}]
    else . end
  | ray_collector($spec)
  | ray_labels("head"; "headgroup"; $cluster; $spec.headGroupSpec);

# Of a worker's pod: it waits for the head in an init container, with the rights of Ray's own.
def ray_worker($spec; $group; $cluster):
  .spec.containers[0] |= ray_metrics
  | .spec.initContainers = ((.spec.initContainers // []) + [{
      name: "wait-gcs-ready", securityContext: .spec.containers[0].securityContext,
      resources: {requests: {cpu: "200m", memory: "256Mi"}, limits: {cpu: "200m", memory: "256Mi"}}}])
  | ray_collector($spec)
  | ray_labels("worker"; $group; $cluster; $spec | ray_group($group));

# The container that submits a RayJob, with its default size.
def ray_submitter_container:
  {name: "ray-job-submitter", resources: {requests: {cpu: "500m", memory: "200Mi"}, limits: {cpu: "1", memory: "1Gi"}}};

# Of a RayService's pods. The head's value is false at first and follows the health of its proxy.
def ray_serve($type): {"ray.io/serve": (if $type == "head" then counted("role") else "true" end)};

# Of the spec of a RayJob. With a selector the cluster is there already: none is made.
def rayjob_defaults:
  if .submissionMode == null then .submissionMode = "K8sJobMode" else . end
  | if (.clusterSelector // {}) != {} then del(.rayClusterSpec) else .rayClusterSpec |= ray_defaults end;

def rayjob_waits:
  if .clusterSelector then "immediately: the selected RayCluster already exists"
  else "RayCluster Ready (head and all desired workers)" end;

# The roles of the cluster that must be Ready before the submitter is made.
def rayjob_first: if .rayClusterSpec then ["head", (.rayClusterSpec.workerGroupSpecs // [])[].groupName] else [] end;

# Of the head's pod: in SidecarMode it submits the job, too.
def rayjob_head($job):
  ray_head($job.rayClusterSpec; null)
  | if $job.submissionMode == "SidecarMode" then .spec.containers += [ray_submitter_container] else . end;

# A template of the user's gets no default size.
def rayjob_submitter: .submitterPodTemplate // {metadata: {}, spec: {containers: [ray_submitter_container]}};

def rayjob_podless: (.clusterSelector // {}) != {} and .submissionMode != "K8sJobMode";

def rayjob_unmodelled($path):
  [.clusterSelector // {} | select(. != {})
   | {path: "\($path).clusterSelector", text: "the cluster that holds the selected RayCluster", restricts: true}];

# The role of the submitter, or null. (A group may be called submitter, too.)
def rayjob_later($roles):
  if .submissionMode != "K8sJobMode" then null
  elif $roles | has("submitter/submitter") then "submitter/submitter" else "submitter" end;

# The roles without the submitter, which comes when the cluster is ready.
def rayjob_gang($roles):
  rayjob_later($roles) as $later
  | [{count: 1, members: ($roles | with_entries(select(.key != $later)) | map_values(.minimum))}];

# KubeRay submits when the cluster is ready, head and all desired workers. In SidecarMode the head does it by itself.
def rayjob_order($roles):
  (rayjob_later($roles) // "head") as $first
  | if .submissionMode == "SidecarMode" or ($roles | has($first) | not) then {}
    else {($first): [$roles | keys[] | select(. != $first) | {(.): null}]} end;
