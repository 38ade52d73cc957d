# What KServe makes of LLMInferenceServices. Sizes and containers that no manifest tells are those of the presets
# (LLMInferenceServiceConfigs kserve-config-llm-…) that KServe 0.20 installs, and of the tokenizer that its successor will
# install; those of a cluster may say others.

# Specs are merged as patches are: mappings key by key, containers and volumes by name; of other lists the later one
# counts.

def llm_stated: with_entries(select(.value != null));

def llm_by_name($own):
  . as $base
  | [$base[] | .name as $name | first($own[] | select(.name == $name)) // .]
    + [$own[] | select(.name as $name | all($base[]; .name != $name))];

def llm_containers($own):
  . as $base
  | [$base[] | .name as $name | kserve_merged(first($own[] | select(.name == $name)) // {})]
    + [$own[] | select(.name as $name | all($base[]; .name != $name))];

def llm_pod_spec($own):
  if . == null then $own
  elif $own == null then .
  else
    . as $base
    | ($own | llm_stated) as $own
    | $base * $own
      + {containers: (($base.containers // []) | llm_containers($own.containers // [])),
         initContainers: (($base.initContainers // []) | llm_containers($own.initContainers // [])),
         volumes: (($base.volumes // []) | llm_by_name($own.volumes // [])),
         resourceClaims: (($base.resourceClaims // []) | llm_by_name($own.resourceClaims // []))}
    | with_entries(select(.value != []))
  end;

def llm_pod_specs:
  ["template"], ["worker"], ["prefill", "template"], ["prefill", "worker"],
  ["router", "scheduler", "template"], ["router", "scheduler", "tokenizer", "template"];

def llm_spec($own):
  def part(step): if step then step |= llm_stated else . end;
  . as $base
  | ($own | llm_stated | part(.prefill) | part(.router) | part(.router.scheduler?)) as $own
  | reduce llm_pod_specs as $path (
      $base * $own;
      ($base | getpath($path) | llm_pod_spec($own | getpath($path))) as $pods
      | if $pods then setpath($path; $pods) else . end);

# Of a config: are its pods what pods have to be, as far as it matters before all is merged?
def llm_is_sound:
  def pairs: . == null or (type == "object" and all(.[]; type == "string"));
  .spec as $spec
  | [llm_pod_specs as $path | $spec | getpath($path) | select(. != null)]
  | all(.[]; (.nodeSelector | pairs)
             and all(.containers, .initContainers, .volumes;
                     . == null or (type == "array" and all(.[]; (.name | type) == "string"))));

# Of the object: with what its configs say, the last of them first, after its own.
def llm_whole($refs):
  .spec as $own
  | .spec = (reduce ($refs.configs // [])[] as $config ({}; llm_spec($config.spec // {})) | llm_spec($own));

# Of a spec.

def llm_is_scheduled: .router.scheduler != null and (.router.scheduler.pool.ref.name // "") == "";

# The types of plugins of the scheduler. As text they are found, too, though versions of KServe may not find them.
def llm_plugins:
  .router.scheduler.config.inline
  | if type == "object" then [.plugins[]?.type]
    elif type == "string" then [match("type\"?: *[\"']?(?<type>[-a-z]+)"; "g").captures[0].string]
    else [] end;

def llm_has_tokenizer:
  llm_is_scheduled
  and (.router.scheduler.tokenizer != null
       or (llm_plugins | index("token-producer") != null or index("precise-prefix-cache-scorer") != null));

def llm_is_disaggregated: .prefill != null;

# Of a spec or its prefill.

def llm_is_data_parallel: .parallelism | (.data // 0) > 0 or (.dataLocal // 0) > 0;

# Pods of a group.
def llm_size:
  if llm_is_data_parallel
  then .parallelism | [([.data // 1, 1] | max) / ([.dataLocal // 1, 1] | max) | floor, 1] | max
  else .parallelism.pipeline // 1 end;

def llm_replicas: .replicas // .scaling.minReplicas // 1;
def llm_least: if .scaling then llm_replicas else [1, llm_replicas] | min end;
def llm_most: .scaling.maxReplicas;

# The presets.

def llm_main($port): {containers: [{name: "main", ports: [{containerPort: $port}]}]};

# Of a spec or its prefill. For pipelines over several nodes nothing is installed.
def llm_preset($leader; $port):
  if .worker == null then {template: $leader}
  elif llm_is_data_parallel then {template: $leader, worker: llm_main($port)}
  else {} end;

# Of a spec: what there has to be for pipelines over several nodes, [name, path].
def llm_pipelines:
  def wanted: .worker != null and (llm_is_data_parallel | not) and (.parallelism.pipeline // 0) > 0;
  (if llm_is_disaggregated then "decode-" else "" end) as $part
  | ((select(wanted) | ["kserve-config-llm-\($part)worker-pipeline-parallel", ["spec", "parallelism"]]),
     (.prefill | select(. != null and wanted)
      | ["kserve-config-llm-prefill-worker-pipeline-parallel", ["spec", "prefill", "parallelism"]]));

def llm_scheduler_preset:
  {containers: (
     [{name: "main", resources: {requests: {cpu: "1", memory: "2Gi"}},
       ports: [(9002, 9003, 9090, 5557) | {containerPort: .}]}]
     + if llm_plugins | index("predicted-latency-producer") then
         [{name: "training-server", resources: kserve_sizes("2"; "4Gi"; "4"; "8Gi"), ports: [{containerPort: 8000}]},
          {name: "prediction-server", resources: kserve_sizes("8"; "4Gi"; "28"; "8Gi"), ports: [{containerPort: 8001}]}]
       else [] end)};

def llm_tokenizer_preset:
  {containers: [{name: "main", resources: kserve_sizes("1"; "4Gi"; "4"; "12Gi"), ports: [{containerPort: 8000}]}]};

def llm_presets:
  . as $spec
  | (llm_main(8001)
     + {initContainers: [{name: "llm-d-routing-sidecar", restartPolicy: "Always", ports: [{containerPort: 8000}]}]})
    as $decode
  | (if llm_is_disaggregated then llm_preset($decode; 8001) else llm_preset(llm_main(8000); 8000) end)
  | if $spec.prefill then .prefill = ($spec.prefill | llm_preset(llm_main(8000); 8000)) else . end
  | if $spec | llm_is_scheduled then .router.scheduler.template = ($spec | llm_scheduler_preset) else . end
  | if $spec | llm_has_tokenizer then .router.scheduler.tokenizer.template = llm_tokenizer_preset else . end;

def llm_defaults($refs):
  llm_whole($refs)
  | .spec as $spec
  | .spec |= (reduce ($refs.pipelines // [])[] as $config (llm_presets; llm_spec($config.spec // {})) | llm_spec($spec));

# Pods.

def llm_with_model($object):
  $object.spec as $spec
  | if $spec.storageInitializer.enabled == false then .
    else
      kserve_with_source($spec.model.uri)
      | if any(($spec.model.lora.adapters // [])[]; (.uri // "") | test("^(hf|s3)://"))
        then kserve_with_source("hf://") else . end
    end;

# Of a pod spec: with the places beside memory where its main container keeps what it computed.
def llm_with_tiers($own):
  reduce (($own.kvCacheOffloading.secondary // []) | to_entries[] | select(.value.fileSystem)) as {key: $number, value: $tier} (.;
    ($tier.fileSystem) as $place
    | .volumes = ((.volumes // []) + [
        {name: "kv-cache-secondary-\($number)"}
        + if $place.emptyDir then {emptyDir: {sizeLimit: $place.emptyDir.size}}
          elif $place.pvc.spec then {ephemeral: {volumeClaimTemplate: {spec: $place.pvc.spec}}}
          else {persistentVolumeClaim: {claimName: $place.pvc.ref.name}} end])
    | if $place.emptyDir then
        .containers |= map(
          if .name == "main" then
            .resources.requests["ephemeral-storage"] |= "\(((. // 0) | thousandths) + ($place.emptyDir.size | thousandths))m"
          else . end)
      else . end);

def llm_devices: (.metadata.annotations // {})["serving.kserve.io/exp-dra-device-class"];
def llm_claim: "\(.metadata.name // "llm")-managed-dra";
def llm_device_count:
  ((.metadata.annotations // {})["serving.kserve.io/exp-dra-device-count"] // "" | gsub("\\s"; "")) as $count
  | if $count == "" then 1 else $count | tonumber end;

def llm_with_devices($object):
  if ($object | llm_devices) == null or any((.resourceClaims // [])[]; .name == "managed-device") then .
  else
    (($object.metadata.annotations["serving.kserve.io/exp-dra-container-name"] // "") | gsub("^\\s+|\\s+$"; "")) as $name
    | (if $name == "" then .containers[0].name else $name end) as $name
    | .resourceClaims = ((.resourceClaims // []) + [{name: "managed-device", resourceClaimTemplateName: ($object | llm_claim)}])
    | .containers |= map(
        if .name == $name then .resources.claims = ((.resources.claims // []) + [{name: "managed-device"}]) else . end)
  end;

def llm_claims:
  if llm_devices == null then []
  else
    ((.metadata.annotations["serving.kserve.io/exp-dra-cel-selector"] // "") | split("\n") | map(select(test("\\S")))) as $selectors
    | [{name: llm_claim,
        spec: {devices: {requests: [
          {name: "device",
           exactly: {deviceClassName: (llm_devices | gsub("\\s"; "")), count: llm_device_count,
                     selectors: [$selectors[] | {cel: {expression: .}}]}}]}}}]
  end;

# What the object's own metadata hands down to its pods.
def llm_handed($prefixes): with_entries(select(.key as $key | any($prefixes[]; . as $prefix | $key | startswith($prefix))));

# Of a pod spec of a workload, which is the spec or its prefill.
def llm_template($object; $own):
  {metadata: {
     labels: (($object.metadata.labels // {} | llm_handed(["kueue.x-k8s.io"])) + ($own.labels // {})),
     annotations: (($object.metadata.annotations // {}
                    | llm_handed(["k8s.v1.cni.cncf.io", "kueue.x-k8s.io", "prometheus.io"]
                                 + if $own.worker then ["leaderworkerset.sigs.k8s.io"] else [] end))
                   + ($own.annotations // {}))},
   spec: (llm_with_devices($object) | llm_with_model($object) | llm_with_tiers($own))};

def llm_leader($object; $own): $own.template // $own.worker | llm_template($object; $own);

def llm_scheduler_pod:
  . as $object
  | .spec.router.scheduler
  | {metadata: {labels: (.labels // {}), annotations: (.annotations // {})},
     spec: (.template | if any(.containers[]; .name == "tokenizer") then llm_with_model($object) else . end)};

def llm_tokenizer_pod: . as $object | {spec: (.spec.router.scheduler.tokenizer.template | llm_with_model($object))};

# Labels. `$own`: what the manifest says of them, which wins.

def llm_named($part; $more; $own):
  {"app.kubernetes.io/name": name_or_made(.metadata.name; "workload"),
   "app.kubernetes.io/part-of": "llminferenceservice",
   "app.kubernetes.io/component": "llminferenceservice-\($part)"}
  + $more
  | with_entries(select(.key as $key | ($own.labels // {})[$key] == null));

def llm_serving($role): {"kserve.io/component": "workload", "llm-d.ai/role": $role};
def llm_role: if .spec | llm_is_disaggregated then "decode" else "both" end;

def llm_deployment_labels($part; $more; $own): llm_named($part; $more; $own) + {"pod-template-hash": made("role")};

# The LeaderWorkerSet of a workload. Names that would be too long have a hash in them.
def llm_set($suffix; $own):
  (.metadata.name // null) as $name
  | {metadata: {name: (if $name and ($name + $suffix | length) <= 63 then $name + $suffix else null end)},
     spec: {replicas: ($own | llm_replicas),
            leaderWorkerTemplate: (
              {size: ($own | llm_size)}
              + if $suffix == "-kserve-mn-prefill" and ($own | llm_is_data_parallel)
                then {subGroupPolicy: {subGroupSize: ($own | llm_size)}} else {} end)}};

# The ReplicaSets of a Deployment of that name.
def llm_owner($suffix):
  (.metadata.name // null) as $name | if $name and ($name + $suffix | length) <= 63 then deployed($name + $suffix) else null end;

def llm_leader_labels($suffix; $part; $role; $own):
  (llm_set($suffix; $own) | lws_labels + lws_leader_labels)
  + if $own.template then llm_named("workload-leader\($part)"; llm_serving($role); $own)
    else llm_named("workload-worker\($part)"; llm_serving($role); $own) end;
def llm_worker_labels($suffix; $part; $role; $own):
  (llm_set($suffix; $own) | lws_labels + lws_worker_labels)
  + llm_named("workload-worker\($part)"; if $own.template then {} else llm_serving($role) end; $own);

# What starts together: the pods of a group; a decoder and its prefillers, which serve nothing without each other.
def llm_group($leader; $worker):
  {count: llm_replicas, members: ({($leader): 1, ($worker): (llm_size - 1)} | with_entries(select(.value > 0)))};
def llm_groups($roles):
  .spec as $spec
  | if ($spec | llm_is_disaggregated) and $spec.worker == null and $spec.prefill.worker == null then
      [{count: 1,
        members: ({decode: ($spec | llm_replicas), prefill: ($spec.prefill | llm_replicas)}
                  + if $roles.scheduler and $spec.scaling == null and $spec.prefill.scaling == null
                    then {scheduler: $roles.scheduler.replicas} else {} end
                  | with_entries(select(.value > 0)))}]
    else
      [(select($spec.worker) | (if $spec | llm_is_disaggregated then "decode-" else "" end) as $part
        | $spec | llm_group("\($part)leader"; "\($part)worker")),
       (select($spec.prefill.worker) | $spec.prefill | llm_group("prefill-leader"; "prefill-worker"))]
    end;

# Of the object as the manifest and its configs have it: paths of pods whose main container only a preset knows. Those
# that are installed ask for nothing, but every cluster may have its own.
def llm_preset_pods:
  def served: any((.containers // [])[]; .name == null or .name == "main");
  def unserved($path; $pipeline):
    if (.template | served) or (.template == null and .worker != null and $pipeline) then empty else $path + ".template" end,
    if .worker == null or (.worker | served) or $pipeline then empty else $path + ".worker" end;
  def pipeline: .worker != null and (llm_is_data_parallel | not);
  .spec | (pipeline as $pipeline | unserved("spec"; $pipeline)),
    (.prefill | select(. != null) | pipeline as $pipeline | unserved("spec.prefill"; $pipeline));

def llm_doubts($refs; $written):
  [($written | llm_whole($refs) | llm_preset_pods
      | {path: ., text: "the container that serves is that of the cluster's presets, which are not read; the usual ones ask for nothing", restricts: true}),
   (.spec | select(llm_is_scheduled and (llm_has_tokenizer | not) and .router.scheduler.config.ref)
      | {path: "spec.router.scheduler.config.ref", text: "plugins in a ConfigMap, which may ask for a tokenizer", restricts: true}),
     (select(any(., ($refs.configs // [])[]; (.metadata.annotations // {})["serving.kserve.io/merge-append-fields"] != null))
      | {path: "spec.baseRefs", text: "lists that are joined where configs are merged", restricts: true})];
