# What the NIM operator makes of a service, which is {name, spec} here: a NIMService, or a part of a NIMPipeline.

def nim_service: {name: (.metadata.name // null), spec};
def nim_services: [(.spec.services // [])[] | select(.enabled == true) | {name, spec}];

# LeaderWorkerSets are for more than one pod in a row.
def nim_size: .spec.multiNode.parallelism.pipeline // 1;
def nim_served: .spec.inferencePlatform == "kserve";
def nim_wide: (nim_served | not) and nim_size > 1;
def nim_narrow: (nim_served | not) and nim_size <= 1;
def nim_picks: .spec.expose.router.eppConfig != null;

def nim_scaled: .spec.scale.enabled == true;
def nim_replicas: if nim_scaled then .spec.scale.hpa.minReplicas // 1 else .spec.replicas end;
def nim_least: if nim_scaled then nim_replicas else [1, nim_replicas] | min end;
def nim_most: if nim_scaled then .spec.scale.hpa.maxReplicas else null end;

# Of the spec of a service, defaults; what is scaled has no replicas of its own.
def nim_defaults:
  if .scale.enabled == true then
    if .scale.hpa.minReplicas == null then .scale.hpa.minReplicas = 1 else . end
  elif .replicas == null then .replicas = 1 else . end;

def nim_profile: .spec.storage.nimCache.profile // "";

# Does the manifest leave the number of GPUs to the model's profile? Then the operator adds them.
def nim_leaves_gpus:
  nim_profile != "" and (.spec.draResources // []) == []
  and (.spec.resources.requests["nvidia.com/gpu"] // .spec.resources.limits["nvidia.com/gpu"]) == null;

# What a NIMCache that is ready knows of the profile; null where that is not known.
def nim_cached($cache): nim_profile as $name | first($cache.status.profiles[]? | select(.name == $name)) // null;

def nim_resources($cache):
  nim_cached($cache) as $known
  | if nim_leaves_gpus and ($cache.status.profiles == null or $known != null) then
      (if .spec.multiNode then .spec.multiNode.parallelism.tensor // 1 else ($known.config.tp // 1 | tonumber) end) as $count
      | (.spec.resources // {})
      | .requests["nvidia.com/gpu"] = $count | .limits["nvidia.com/gpu"] = $count
    else .spec.resources // {} end;

# Templates of claims that the operator makes.
def nim_template($number): "\(.name // "nim")-claim-\($number)";
def nim_claims:
  . as $service
  | [(.spec.draResources // []) | to_entries[] | select(.value.claimCreationSpec != null)
     | {name: (.key as $number | $service | nim_template($number)),
        spec: {devices: {requests: [(.value.claimCreationSpec.devices // [])[]
          | {name, exactly: {deviceClassName: (.deviceClassName // "gpu.nvidia.com"), count: (.count // 1)}}]}}}];

# Volumes that are there before: those of a cache that is ready, or named.
def nim_volumes($cache):
  .spec.storage
  | if .nimCache.name then $cache.status.pvc // (($cache.spec.storage.pvc // {}) | select(.create != true) | .name) // null
    elif .pvc and .pvc.create != true then .pvc.name // null
    else null end
  | if . then [{name: "model-store", persistentVolumeClaim: {claimName: .}}] else [] end;

def nim_labels:
  {"app.kubernetes.io/part-of": "nim-service", "app.kubernetes.io/managed-by": "k8s-nim-operator"} + (.spec.labels // {});

# The names of containers that the operator takes over with images and commands, never with resources.
def nim_containers($field): [(.spec[$field] // [])[] | {name}];

def nim_pod($container; $cache):
  . as $service
  | .spec as $spec
  | {metadata: {labels: nim_labels, annotations: ($spec.annotations // {})},
     spec: {
       containers: ([{name: $container, resources: nim_resources($cache)}] + nim_containers("sidecarContainers")),
       initContainers: (nim_containers("initContainers")
                        + if $spec.proxy then [{name: "update-ca-certificates"}] else [] end),
       nodeSelector: $spec.nodeSelector,
       tolerations: $spec.tolerations,
       runtimeClassName: $spec.runtimeClassName,
       priorityClassName: $spec.priorityClassName,
       schedulerName: $spec.schedulerName,
       volumes: (nim_volumes($cache)
                 + if $spec.storage.hostPath then [{name: "model-store", hostPath: {path: $spec.storage.hostPath}}] else [] end),
       resourceClaims: [($spec.draResources // []) | to_entries[]
         | {name: "claim-\(.key)"}
           + if .value.resourceClaimName then {resourceClaimName: .value.resourceClaimName}
             elif .value.resourceClaimTemplateName then {resourceClaimTemplateName: .value.resourceClaimTemplateName}
             else {resourceClaimTemplateName: (.key as $number | $service | nim_template($number))} end]}};

def nim_narrow_pod($cache): .spec.affinity as $affinity | nim_pod("nim"; $cache) | .spec.affinity = $affinity;

# The operator leaves affinity out of LeaderWorkerSets, and the scheduler's name out of their workers.
def nim_leader_pod($cache): nim_pod("nim-leader"; $cache) | .metadata.labels["nim-llm-role"] = "leader";
def nim_worker_pod($cache): nim_pod("nim-worker"; $cache) | .spec.schedulerName = null | .metadata.labels = {};

def nim_epp_pod:
  .spec.expose.router.eppConfig
  | {metadata: {}, spec: {containers: [{name: (.containerSpec.name // "epp"), ports: [(.ports // [])[] | {containerPort, hostPort}]}]}};

# With KServe the operator makes an InferenceService.
def nim_inference_service($cache):
  . as $service
  | (.spec.annotations // {}) as $said
  | (nim_pod("nim"; $cache)) as $pod
  | {metadata: {name, annotations: $said, labels: nim_labels},
     spec: {predictor: ($pod.spec + {
       affinity: .spec.affinity,
       labels: nim_labels, annotations: $said,
       minReplicas: ([nim_replicas, ($said | knative_least)] | max),
       maxReplicas: (if nim_scaled then nim_most else ($said | knative_most) end)})}}
  | kserve_defaults;

def nim_served_pod($cache): nim_inference_service($cache) | . as $made | kserve_predictor_pod($made; {});
def nim_served_pods($cache): nim_inference_service($cache) | . as $made | .spec.predictor | kserve_pods($made);
def nim_served_least($cache): nim_inference_service($cache) | . as $made | .spec.predictor | kserve_least($made);
def nim_served_most($cache): nim_inference_service($cache) | . as $made | .spec.predictor | kserve_most($made);

# Labels, of what the manifest does not tell: of a Deployment, of the InferenceService, and of the LeaderWorkerSet.
def nim_named:
  (.spec.labels // {}) as $own
  | {"app.kubernetes.io/name": name_or_made(.name; "role"), "app.kubernetes.io/instance": name_or_made(.name; "role"),
     "app.kubernetes.io/operator-version": counted("workload")}
  | with_entries(select(.key as $key | $own | has($key) | not));
def nim_narrow_labels: nim_named + {app: name_or_made(.name; "role"), "pod-template-hash": made("role")};
def nim_epp_labels: {app: (if .name then "\(.name)-epp" else made("role") end), "pod-template-hash": made("role")};
def nim_served_labels:
  .name as $name
  | nim_named + ({metadata: {name: $name, annotations: .spec.annotations}}
                 | kserve_labels(.; if $name then "\($name)-predictor" else null end; {}));
def nim_group_set:
  {metadata: {name: (if .name then "\(.name)-lws" else null end)},
   spec: {replicas: nim_replicas, leaderWorkerTemplate: {size: nim_size}}};
def nim_leader_labels:
  nim_named + (nim_group_set | {app: name_or_made(.metadata.name; "workload")} + lws_labels + lws_leader_labels);
def nim_worker_labels: nim_group_set | lws_labels + lws_worker_labels;

def nim_leader_owner: nim_group_set | lws_leader_owner;
def nim_worker_owner: nim_group_set | lws_worker_owner;
def nim_served_owner: kserve_owner(.name; "predictor");

# What nobody evaluates yet, below a path.
def nim_unmodelled($path; $cache):
  [(select(nim_leaves_gpus and .spec.multiNode == null and $cache.status.profiles == null)
    | {path: "\($path).storage.nimCache.profile", text: "GPUs that the operator adds for the model's profile", restricts: true}),
   (select(.spec.storage.nimCache.name and nim_volumes($cache) == [])
    | {path: "\($path).storage.nimCache", text: "the volume of the NIMCache", restricts: true}),
   (select(.spec.storage.nimCache.name == null and .spec.storage.pvc.create == true)
    | {path: "\($path).storage.pvc", text: "a volume that is made with the pods", restricts: true}),
   (select(.spec.multiNode.computeDomain != null)
    | {path: "\($path).multiNode.computeDomain", text: "a domain of nodes with shared memory", restricts: true}),
   (select(nim_served and .spec.multiNode != null)
    | {path: "\($path).multiNode", text: "several nodes of an InferenceService", restricts: true})];

# Of a service of a pipeline: its cache among those that were found.
def nim_cache($refs): .spec.storage.nimCache.name as $name | first($refs.caches[]? | select(.metadata.name? == $name)) // null;
