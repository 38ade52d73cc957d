# What KServe makes of InferenceServices and graphs. Sizes are those of a default installation (inferenceservice-config
# of KServe 0.15.2); the ConfigMap of a cluster may say others.

def kserve_sizes($cpu; $memory; $cpu_limit; $memory_limit):
  {requests: {cpu: $cpu, memory: $memory}, limits: {cpu: $cpu_limit, memory: $memory_limit}};
def kserve_default_size: kserve_sizes("1"; "2Gi"; "1"; "2Gi");
def kserve_helper_size: kserve_sizes("100m"; "100Mi"; "1"; "1Gi");
def kserve_modelcar_size: kserve_sizes("10m"; "15Mi"; "10m"; "15Mi");

def kserve_frameworks:
  ["sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "huggingface", "pmml", "lightgbm", "paddle"];
def kserve_explainers: ["art", "alibi", "aix"];

# The default runtimes of KServe 0.15.2: what bears on pods. `formats`: name → version, priority and whether a model of
# that format may choose the runtime.
def kserve_usual($name; $protocols; $formats; $size):
  {kind: "ClusterServingRuntime", metadata: {name: $name},
   spec: {protocolVersions: $protocols,
          supportedModelFormats: [$formats[] | {name: .[0], version: .[1], priority: .[2], autoSelect: (.[2] != null)}],
          containers: [{name: "kserve-container", resources: $size}]}};
def kserve_runtimes:
  kserve_default_size as $size
  | kserve_sizes("2"; "6Gi"; "4"; "12Gi") as $large
  | [kserve_usual("kserve-huggingfaceserver"; ["v2", "v1"]; [["huggingface", "1", 1]]; $size),
     (kserve_usual("kserve-huggingfaceserver-multinode"; ["v2", "v1"]; [["huggingface", "1", 2]]; $large)
      | .spec.workerSpec = {pipelineParallelSize: 1, tensorParallelSize: 1,
                            containers: [{name: "worker-container", resources: $large}]}),
     kserve_usual("kserve-lgbserver"; ["v1", "v2"]; [["lightgbm", "3", 1]]; $size),
     kserve_usual("kserve-mlserver"; ["v2"];
       [["sklearn", "0", 2], ["sklearn", "1", 2], ["xgboost", "1", 2], ["xgboost", "2", 2], ["lightgbm", "3", 2],
        ["lightgbm", "4", 2], ["mlflow", "1", 1], ["mlflow", "2", 1]]; $size),
     kserve_usual("kserve-paddleserver"; ["v1", "v2"]; [["paddle", "2", 1]]; $size),
     kserve_usual("kserve-pmmlserver"; ["v1", "v2"]; [["pmml", "3", 1], ["pmml", "4", 1]]; $size),
     kserve_usual("kserve-sklearnserver"; ["v1", "v2"]; [["sklearn", "1", 1]]; $size),
     kserve_usual("kserve-tensorflow-serving"; ["v1", "grpc-v1"]; [["tensorflow", "1", 2], ["tensorflow", "2", 2]]; $size),
     kserve_usual("kserve-torchserve"; ["v1", "v2", "grpc-v2"]; [["pytorch", "1", 2]]; $size),
     kserve_usual("kserve-tritonserver"; ["v2", "grpc-v2"];
       [["tensorrt", "8", 1], ["tensorflow", "1", 1], ["tensorflow", "2", 1], ["onnx", "1", 1], ["pytorch", "1", null],
        ["triton", "2", 1]]; $size),
     kserve_usual("kserve-xgbserver"; ["v1", "v2"]; [["xgboost", "1", 1]]; $size)];

# Of an object: does it get Deployments in place of Knative Services? Standard is what later versions call it.
def kserve_mode: (.metadata.annotations // {})["serving.kserve.io/deploymentMode"] // "Serverless";
def kserve_raw: kserve_mode | . == "RawDeployment" or . == "Standard";
def kserve_meshed: kserve_mode == "ModelMesh";

# Of a predictor that names a framework: that as a model. Formats that need it speak v2.
def kserve_as_model:
  . as $own
  | (first(kserve_frameworks[] | select($own[.] != null)) // null) as $framework
  | if $framework and .model == null then .model = {modelFormat: {name: $framework}} + .[$framework] else . end
  | if .model and .model.protocolVersion == null
       and (.model.modelFormat.name == "triton" or (["onnx", "huggingface"] | index($framework)))
    then .model.protocolVersion = "v2" else . end;

# Of a container, sizes of the webhook.
def kserve_sized:
  kserve_default_size as $size
  | .resources.requests = $size.requests + (.resources.requests // {})
  | .resources.limits = $size.limits + (.resources.limits // {});

# Of a component: its first container is the one that serves, unless a predictor says which one is.
def kserve_custom($always):
  if (.containers // []) == [] then .
  else
    if $always or (.containers | length) == 1 or (.containers[0].name // "") == ""
    then .containers[0].name = "kserve-container" else . end
    | .containers[0] |= kserve_sized
  end;

def kserve_defaults:
  def scaled: if .minReplicas == null then .minReplicas = 1 else . end;
  .spec.predictor |= (scaled | kserve_as_model | if .model then . else kserve_custom(false) end)
  | if .spec.transformer then .spec.transformer |= (scaled | kserve_custom(true)) else . end
  | if .spec.explainer then
      .spec.explainer |= (
        scaled
        | reduce (kserve_explainers[] as $key | select(.[$key] != null) | $key) as $key (.; .[$key] |= kserve_sized)
        | kserve_custom(true))
    else . end;

# Of a model: does a runtime that it may choose itself support it?
def kserve_supported($runtime; $nodes):
  (.modelFormat.name) as $name
  | (.modelFormat.version // null) as $version
  | (.protocolVersion // "v1") as $protocol
  | $runtime.spec
  | .disabled != true and .multiModel != true and ((.workerSpec != null) == $nodes)
    and ((.protocolVersions // []) | . == [] or index($protocol) != null)
    and any((.supportedModelFormats // [])[];
            .autoSelect == true and .name == $name and ($version == null or .version == $version));

# Of the object as it is written: would its model choose that runtime, if there were no other?
def kserve_would_choose($runtime):
  (.spec.predictor.workerSpec? != null) as $nodes
  | try (.spec.predictor | kserve_as_model | .model | kserve_supported($runtime; $nodes)) catch false;

# Of a model that names that runtime: does it get it?
def kserve_may_have($runtime):
  (.modelFormat.name) as $name
  | (.modelFormat.version // null) as $version
  | (.protocolVersion // null) as $protocol
  | $runtime.spec
  | .disabled != true
    and ($protocol == null or ((.protocolVersions // []) | . == [] or index($protocol) != null))
    and any((.supportedModelFormats // [])[]; .name == $name and ($version == null or .version == $version));

# Of a name: is it that of a default runtime?
def kserve_is_usual: . as $name | any(kserve_runtimes[]; .metadata.name == $name);

# Of a model: the runtime that it gets of these. Those of the namespace come first, then the highest priority.
def kserve_choice($runtimes; $nodes):
  . as $model
  | [$runtimes[] | select(. as $one | $model | kserve_supported($one; $nodes))]
  | sort_by(
      if .kind == "ServingRuntime" or .metadata.namespace then 0 else 1 end,
      (first(.spec.supportedModelFormats[] | select(.name == $model.modelFormat.name)).priority
       | if . == null then [1] else [0, -.] end),
      .metadata.name)
  | .[0];

# Of the object: the runtime of its predictor among those that were found, else null.
def kserve_found($refs):
  (.spec.predictor.workerSpec != null) as $nodes
  | .spec.predictor.model
  | if . == null then null
    elif .runtime then $refs.runtime
    else kserve_choice($refs.runtimes // []; $nodes) end;

# Else that of a default installation, else null.
def kserve_runtime($refs):
  (.spec.predictor.workerSpec != null) as $nodes
  | kserve_found($refs) as $found
  | .spec.predictor.model
  | if . == null or $found then $found
    elif .runtime then .runtime as $name | first(kserve_runtimes[] | select(.metadata.name == $name)) // null
    else kserve_choice(kserve_runtimes; $nodes) end;

# A container of the runtime with what the manifest's says of it: its values win, key by key.
def kserve_merged($own):
  . as $base
  | ($own | with_entries(select(.value != null))) as $own
  | ($own.ports // []) as $ports
  | $base * $own + {
      name: $base.name,
      ports: ([($base.ports // [])[] | select(.containerPort as $number | all($ports[]; .containerPort != $number))] + $ports)};

# Of a component's own pod spec: with the runtime's, of which only this much counts.
def kserve_placed($base):
  . as $own
  | .nodeSelector = (($base.nodeSelector // {}) + (.nodeSelector // {}))
  | .affinity = (($base.affinity // {}) * (.affinity // {}))
  | .tolerations = (.tolerations // $base.tolerations // [])
  | .volumes = ([($base.volumes // [])[] | select(.name as $name | all(($own.volumes // [])[]; .name != $name))]
                + (.volumes // []));

# Of a predictor with a model: the pod spec of the model's runtime. Without a runtime there is what the manifest says.
def kserve_of_model($runtime):
  ($runtime.spec.containers // [{name: "kserve-container"}]) as $base
  | (.containers // []) as $own
  | ([$own[] | select(.name == "transformer-container")][0]) as $transformer
  | .model as $model
  | kserve_placed($runtime.spec // {})
  | .containers = (
      [first($base[] | select(.name == "kserve-container"), {name: "kserve-container"}) | kserve_merged($model)]
      + ([$base[] | select(.name == "transformer-container")][0] as $usual
         | if $usual and $transformer then [$usual | kserve_merged($transformer)]
           else [$usual // $transformer // empty] end)
      + [$base[] | select(.name != "kserve-container" and .name != "transformer-container")]
      + [$own[] | select(.name != "transformer-container")]);

# Where a component's model lies, as text: "" where it takes none.
def kserve_source:
  if .model then
    .model.storageUri // (if .model.storage.path or .storageUris then "storage://" else "" end)
  else
    (first(kserve_explainers[] as $key | .[$key].storageUri // empty) // null)
    // (first((.containers // [])[] | select(.name == "kserve-container") | (.env // [])[]
              | select(.name == "STORAGE_URI") | .value // empty) // "")
  end;

# Of a pod spec: the model is mounted, held by a container beside, or fetched before.
def kserve_with_source($source):
  if $source | startswith("pvc://") then
    .volumes = ((.volumes // [])
      + [{name: "kserve-pvc-source", persistentVolumeClaim: {claimName: ($source | ltrimstr("pvc://") | split("/")[0])}}])
  elif $source | startswith("oci://") then
    .containers += [{name: "modelcar", resources: kserve_modelcar_size}]
    | .initContainers = ((.initContainers // []) + [{name: "modelcar-init", resources: kserve_modelcar_size}])
  elif $source != "" and all((.initContainers // [])[]; .name != "storage-initializer") then
    .initContainers = ((.initContainers // []) + [{name: "storage-initializer", resources: kserve_helper_size}])
  else . end;

def kserve_with_agent($component):
  if ($component.logger != null or $component.batcher != null) and all(.containers[]; .name != "agent") then
    .containers += [{name: "agent", resources: kserve_helper_size, ports: [{containerPort: 9081}]}]
  else . end;

def kserve_with_accelerator($annotations):
  $annotations["serving.kserve.io/gke-accelerator"] as $type
  | if $type and any(.containers[]; .resources.limits["nvidia.com/gpu"] != null)
    then .nodeSelector = (.nodeSelector // {}) + {"cloud.google.com/gke-accelerator": $type} else . end;

# The annotations that KServe takes on to pods: it sets the bounds of scaling itself. A service that is not stopped says
# nothing of it.
def kserve_annotations:
  (. // {}) | del(.["autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/max-scale", "serving.kserve.io/stop"]);

# Of the object: labels that it gets for two of the default runtimes, whichever component the pods are of.
def kserve_runtime_labels($refs):
  (kserve_runtime($refs).metadata.name // "") as $runtime
  | .spec.predictor.model
  | if $runtime == "kserve-mlserver" then
      {modelClass: ({xgboost: "mlserver_xgboost.XGBoostModel", lightgbm: "mlserver_lightgbm.LightGBMModel",
                     mlflow: "mlserver_mlflow.MLflowRuntime"}[.modelFormat.name] // "mlserver_sklearn.SKLearnModel")}
    elif $runtime == "kserve-torchserve" then
      {serviceEnvelope: (if .protocolVersion == "v2" or .protocolVersion == "grpc-v2" then "kservev2" else "kserve" end)}
    else {} end;

# Of a pod spec: the pod template of a component of the object, before what Knative and webhooks add.
def kserve_template($object; $role; $component; $runtime):
  {metadata: {
     labels: (($runtime.labels // {}) + ($object.metadata.labels // {}) + ($component.labels // {}) + {component: $role}),
     annotations: (($runtime.annotations // {}) + ($object.metadata.annotations | kserve_annotations)
                   + ($component.annotations | kserve_annotations))},
   spec: .};

# Of that: what runs in the end.
def kserve_pod($object; $component; $source):
  if $object | kserve_raw then . else .spec |= knative_defaults | knative_pod end
  | .metadata.annotations as $annotations
  | .spec |= (kserve_with_source($source) | kserve_with_agent($component) | kserve_with_accelerator($annotations));

def kserve_predictor_pod($object; $refs):
  ($object.spec.predictor) as $own
  | ($object | kserve_runtime($refs)) as $runtime
  | $own
  | if .model then kserve_of_model($runtime) else . end
  | kserve_template($object; "predictor"; $own; $runtime.spec // {})
  | .metadata.labels += ($object | kserve_runtime_labels($refs))
  | kserve_pod($object; $own; $own | kserve_source);

def kserve_beside_pod($object; $role; $refs):
  ($object.spec[$role]) as $own
  | $own
  | (first(kserve_explainers[] as $key | .[$key] // empty) // null) as $explainer
  | if $explainer then .containers = [$explainer + {name: "kserve-container"}] else . end
  | kserve_template($object; $role; $own; {})
  | .metadata.labels += ($object | kserve_runtime_labels($refs))
  | kserve_pod($object; $own; $own | kserve_source);

# Several nodes.

def kserve_gpu_types: ["nvidia.com/gpu", "amd.com/gpu", "intel.com/gpu", "habana.ai/gaudi"];
def kserve_all_gpu_types($object):
  kserve_gpu_types
  + (($object.metadata.annotations // {})["serving.kserve.io/gpu-resource-types"] // "[]" | try fromjson catch []);

# Of a container: GPUs that it requests; a limit alone does not count here.
def kserve_gpus: (.resources.requests // {}) as $asks | first(kserve_gpu_types[] | $asks[.] // empty | whole) // 0;

# Of a container: with that many GPUs of the type that it names, whatever number it named.
def kserve_with_gpus($count; $types):
  (.resources // {}) as $asks
  | (first($types[] | . as $type | select(($asks.limits[$type] // $asks.requests[$type] // 0 | whole) > 0))
     // "nvidia.com/gpu") as $type
  | .resources.limits[$type] = $count
  | .resources.requests[$type] = $count;

def kserve_head($refs):
  kserve_runtime($refs) as $runtime | .spec.predictor | if .model then kserve_of_model($runtime) else . end;

def kserve_worker($refs):
  kserve_runtime($refs) as $runtime
  | (.spec.predictor.workerSpec.containers // [{}])[0] as $own
  | ([($runtime.spec.workerSpec.containers // [])[] | select(.name == "worker-container")][0] // {name: "worker-container"})
    as $base
  | .spec.predictor.workerSpec
  | kserve_placed($runtime.spec.workerSpec // {})
  | .containers = [$base | kserve_merged($own)];

# Of the object: {total, nodes, head, worker}, in nodes and GPUs of each. Ray needs `total` of them.
def kserve_ray($refs):
  (kserve_runtime($refs).spec.workerSpec // {}) as $usual
  | .spec.predictor.workerSpec as $own
  | (($own.tensorParallelSize // $usual.tensorParallelSize // 1)
     * ($own.pipelineParallelSize // $usual.pipelineParallelSize // 1)) as $total
  | (kserve_head($refs).containers[0] | kserve_gpus) as $head
  | (kserve_worker($refs).containers[0] | kserve_gpus) as $worker
  | if $worker > 0 then
      (if $head >= $total then 1 else $total / $worker | ceil end) as $nodes
      | if $nodes == 1 then {nodes: 1, head: $total, worker: 0}
        else {nodes: $nodes, head: (if $head > 0 then $head else $total - $worker * ($nodes - 1) end), worker: $worker} end
    elif $head > 0 then {nodes: ([1, 1 + $total - $head] | max), head: $head, worker: 1}
    else {nodes: $total, head: 1, worker: 1} end
  | .total = $total;

def kserve_head_pod($object; $refs):
  ($object | kserve_ray($refs)) as $ray
  | ($object | kserve_runtime($refs).spec // {}) as $usual
  | ($object.spec.predictor) as $own
  | $object | kserve_head($refs)
  | .containers[0] |= kserve_with_gpus($ray.head; kserve_all_gpu_types($object))
  | kserve_template($object; "predictor"; $own; $usual)
  | .spec |= (kserve_with_source($own | kserve_source) | kserve_with_agent($own));

def kserve_worker_pod($object; $refs):
  ($object | kserve_ray($refs)) as $ray
  | ($object | kserve_runtime($refs).spec.workerSpec // {}) as $usual
  | ($object.spec.predictor) as $own
  | $object | kserve_worker($refs)
  | .containers[0] |= kserve_with_gpus($ray.worker; kserve_all_gpu_types($object))
  | kserve_template($object; "predictor"; $own; $usual)
  | .spec |= kserve_with_source($own | kserve_source);

# Numbers of pods, of a component of the object (a graph is its own).

def kserve_scaler($object): ($object.metadata.annotations // {})["serving.kserve.io/autoscalerClass"] // "hpa";

# What Knative is told of the scaling, as annotations.
def kserve_scaling($object):
  (($object.metadata.annotations | kserve_annotations) + (.annotations | kserve_annotations))
  + {"autoscaling.knative.dev/min-scale": "\(.minReplicas // 1)",
     "autoscaling.knative.dev/max-scale": "\(.maxReplicas // 0)"};

# Deployments start with one pod, and the autoscaler raises that to its minimum; a Horizontal Pod Autoscaler knows no 0.
def kserve_pods($object):
  if $object | kserve_raw | not then kserve_scaling($object) | knative_pods
  else kserve_scaler($object) as $class
  | if $class == "none" then .minReplicas // 1
    elif $class == "external" then 1
    else [.minReplicas // 1, 1] | max end end;

def kserve_least($object):
  if $object | kserve_raw | not then kserve_scaling($object) | [knative_least, knative_pods] | min
  else kserve_scaler($object) as $class
  | if $class == "none" then [.minReplicas // 1, 1] | min
    elif $class == "keda" then .minReplicas // 1
    else kserve_pods($object) end end;

def kserve_most($object):
  if $object | kserve_raw | not then kserve_scaling($object) | knative_most
  else kserve_scaler($object) as $class
  | if $class == "none" or $class == "external" then null
    else [.maxReplicas // 0, .minReplicas // 1, 1] | max end end;

# What looks after the pods of a component: a Deployment's ReplicaSets, or those of the revisions of a Knative Service.
def kserve_owner($name; $component):
  [owned("ReplicaSet.apps"; $name; "-\($component)-*", "-\($component)-#-deployment-*") | values];

# Labels of the pods of a Deployment or Knative Service of that name, of a component of the object. Each component has one.
def kserve_labels($object; $name; $component):
  {"serving.kserve.io/inferenceservice": name_or_made($object.metadata.name; "workload")}
  + if $object | kserve_raw
    then {app: (if $name then "isvc.\($name)" else made("role") end), "pod-template-hash": made("role")}
    else knative_labels($name; {metadata: {labels: (($object.metadata.labels // {}) + ($component.labels // {}))}})
      | map_values(if type == "object" and .of == "workload" then .of = "role" else . end) end;

# The same where there are several nodes, of the object.
def kserve_node_labels($part):
  .metadata.name as $name
  | {"serving.kserve.io/inferenceservice": name_or_made($name; "workload"),
     "isvc.generation": counted("workload"),
     app: (if $name then "isvc.\($name)-\($part)" else made("role") end),
     "pod-template-hash": made("role")};

# Of a graph: the pod of its router.
def kserve_router_pod:
  . as $object
  | .spec
  | (if (.resources // {}) == {} then kserve_helper_size else .resources end) as $asks
  | {containers: [{name: (($object | select(kserve_raw) | .metadata.name) // "user-container"), resources: $asks}],
     affinity, tolerations, nodeSelector, nodeName}
  | kserve_template($object; "router"; {}; {})
  | .metadata.labels |= (delpaths([["component"]]) + {
      "serving.kserve.io/inferencegraph": $object.metadata.name,
      "serving.kserve.io/kind": (if $object | kserve_raw then null else "InferenceGraph" end)})
  | .metadata.labels |= with_entries(select(.value != null))
  | if $object | kserve_raw then . else .spec |= knative_defaults | knative_pod end;
