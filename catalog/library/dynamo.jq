# What the Dynamo operator makes of a DynamoGraphDeployment, of either version.

# Services (v1alpha1, by name) or components (v1beta1, in their order), each with its name.
def dynamo_parts: if .spec.services then .spec.services | to_entries | map(.value + {name: .key}) else .spec.components end;

def dynamo_part($id): dynamo_parts[] | select(.name == $id);

# Defaults of the CRD, for a part.
def dynamo_counted:
  if .replicas == null then .replicas = 1 else . end
  | if .multinode and .multinode.nodeCount == null then .multinode.nodeCount = 2 else . end;

# Of a part: pods of a replica, and replicas without which the graph does not serve.
def dynamo_nodes: if .multinode then .multinode.nodeCount else 1 end;
def dynamo_needed: [.minAvailable // 1, .replicas] | min;

# One gang of what is needed of every part; a further replica on several nodes needs all of them, too.
def dynamo_gangs:
  [{count: 1, members: (dynamo_parts | map({(.name): (dynamo_needed * dynamo_nodes)}) | add)}]
  + (dynamo_parts | map(select(.multinode) | {count: (.replicas - dynamo_needed), members: {(.name): dynamo_nodes}, further: true}));

# Of one side of Dynamo's own resources: as those of a container.
def dynamo_quantities:
  ({cpu, memory} + {(if (.gpuType // "") == "" then "nvidia.com/gpu" else .gpuType end): .gpu} | with_entries(select((.value // "") != "")))
  + (.custom // {});

def dynamo_added($more): {requests: ((.requests // {}) + ($more.requests // {})), limits: ((.limits // {}) + ($more.limits // {}))}
  + (((.claims // []) + ($more.claims // [])) | if . == [] then {} else {claims: .} end);

# Of a part: what its own resources, and those of its device, add to the first container.
def dynamo_asked:
  {requests: (.resources.requests // {} | dynamo_quantities), limits: (.resources.limits // {} | dynamo_quantities),
   claims: .resources.claims};
def dynamo_device: .device.resources // {} | {requests: ., limits: .};

# Of a part: the GPUs that its pods ask for, whichever way.
def dynamo_gpus:
  ((.extraPodSpec.mainContainer // ([(.podTemplate.spec.containers // [])[] | select(.name == "main")][0])).resources // {}) as $main
  | dynamo_asked as $own
  | $main | dynamo_added($own)
  | .limits["nvidia.com/gpu"] // .requests["nvidia.com/gpu"] // 0 | whole;
def dynamo_all_gpus: .device.resources["nvidia.com/gpu"] // dynamo_gpus | whole;

# Of a part: the GPU memory service that it asks for, or null.
def dynamo_memory: if .gpuMemoryService.enabled == true then .gpuMemoryService else .experimental.gpuMemoryService end;

# GPUs that the containers of a pod share through one claim.
def dynamo_claims:
  .metadata.name as $name
  | [dynamo_parts[] | dynamo_memory as $memory | select($memory)
     | {name: "\($name)-\(.name | ascii_downcase)-gpu",
        spec: {devices: {requests: [{name: "gpus", exactly: {
          deviceClassName: ($memory.deviceClassName // "" | if . == "" then "gpu.nvidia.com" else . end),
          count: dynamo_all_gpus}}]}}}];

def dynamo_without_gpus: if . then del(.["nvidia.com/gpu"]) else . end;

# Of a pod, in which the main container is the one of that number: resources, device, volumes and memory service.
def dynamo_pod($object; $id; $main):
  ($object | dynamo_part($id)) as $part
  | ($part | dynamo_asked) as $own
  | ($part | dynamo_device) as $device
  | ($part | dynamo_memory) as $memory
  | .spec.containers[$main].resources |= (. // {} | dynamo_added($own))
  | .spec.containers[0].resources |= (. // {} | dynamo_added($device))
  | .spec.tolerations = (.spec.tolerations // []) + ($part.device.tolerations // [])
  | .spec.nodeSelector = ($part.device.nodeSelector // {}) + (.spec.nodeSelector // {})
  | if (.spec.schedulerName // "") == "" then .spec.schedulerName = $part.device.schedulerName else . end
  | [(.spec.volumes // [])[].name] as $there
  | [($object.spec.pvcs // [])[] | select(.create == true) | .name] as $made
  | .spec.volumes = (.spec.volumes // [])
      + ([($part.volumeMounts // [])[].name, (.spec.containers[$main].volumeMounts // [])[].name, $part.compilationCache.pvcName // empty]
         | unique - $there - $made | map({name: ., persistentVolumeClaim: {claimName: .}}))
  | if $memory then
      .spec.containers[$main].resources.requests |= dynamo_without_gpus
      | .spec.containers[$main].resources.limits |= dynamo_without_gpus
      | .spec.tolerations += [{key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule"}]
      | .spec.resourceClaims = (.spec.resourceClaims // [])
          + [{name: "shared-gpu", resourceClaimTemplateName: "\($object.metadata.name)-\($id | ascii_downcase)-gpu"}]
      | .spec.initContainers = [{name: "gms-weights", restartPolicy: "Always"}] + (.spec.initContainers // [])
    else . end;

# Labels of the pods of a part, which Grove, a LeaderWorkerSet or a Deployment makes.
def dynamo_labels($id; $type; $component):
  (reduce ("grove.io/podclique", "grove.io/podgang", "grove.io/podcliqueset-replica-index", "grove.io/podclique-pod-index",
           "grove.io/podcliquescalinggroup", "grove.io/podcliquescalinggroup-replica-index", "grove.io/base-podgang",
           "app.kubernetes.io/name", "app.kubernetes.io/managed-by", "app.kubernetes.io/component", "app.kubernetes.io/part-of",
           "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index", "leaderworkerset.sigs.k8s.io/worker-index",
           "nvidia.com/dynamo-sub-component-type", "nvidia.com/dynamo-discovery-backend", "nvidia.com/dynamo-discovery-enabled",
           "nvidia.com/metrics-enabled", "nvidia.com/selector") as $key ({}; .[$key] = (counted("pod") | sometimes)))
  + (reduce ("grove.io/pod-template-hash", "leaderworkerset.sigs.k8s.io/group-key",
             "leaderworkerset.sigs.k8s.io/template-revision-hash", "pod-template-hash",
             "nvidia.com/dynamo-worker-hash") as $key ({}; .[$key] = (made("pod") | sometimes)))
  + {"nvidia.com/dynamo-component": $component,
     "nvidia.com/dynamo-graph-deployment-name": name_or_made(.metadata.name; "workload"),
     "nvidia.com/dynamo-namespace": counted("workload")}
  + if ($type // "") == "" then {} else {"nvidia.com/dynamo-component-type": $type} end;

# Required packing, and what changes pods or adds some.
def dynamo_unmodelled:
  (if .spec.services then .spec.services | to_entries | map({at: "spec.services.\(.key)", part: .value})
   else .spec.components | to_entries | map({at: "spec.components[\(.key)]", part: .value}) end) as $parts
  | [(.spec | ., .experimental | .topologyConstraint.packDomain // empty
      | {path: "spec.topologyConstraint", text: "all pods in one \(.)", restricts: true}),
     ($parts[] | .at as $at | .part
      | (.topologyConstraint.packDomain // empty | {path: "\($at).topologyConstraint", text: "all its pods in one \(.)", restricts: true}),
        (.failover, .experimental.failover | select(. != null and .enabled != false)
         | {path: "\($at).failover", text: "an engine that stands by and shares the GPUs", restricts: true}),
        (dynamo_memory | select(.mode == "interPod" or .mode == "InterPod")
         | {path: "\($at).gpuMemoryService", text: "further pods, which hold the GPU memory", restricts: true}),
        (.checkpoint, .experimental.checkpoint | select(. != null and .enabled != false)
         | {path: "\($at).checkpoint", text: "pods that are restored from a checkpoint", restricts: true})),
     (.spec | ("componentGroups", "providerOverride") as $key | select(.[$key] != null)
      | {path: "spec.\($key)", text: "what it asks for", restricts: true}),
     (.spec.pvcs // [] | select(any(.[]; .create == true))
      | {path: "spec.pvcs", text: "volumes that the operator makes", restricts: true})];
