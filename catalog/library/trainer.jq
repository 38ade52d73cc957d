# What Kubeflow Trainer (2.2) makes of a runtime's JobSet template and a TrainJob.
def trainer_step: .template.metadata.labels["trainer.kubeflow.org/trainjob-ancestor-step"];
def trainer_steps: ["trainer", "dataset-initializer", "model-initializer"];

def without_nulls: walk(if type == "object" then with_entries(select(.value != null)) else . end);
def only($keys): with_entries(select(.key as $key | $keys | index($key)));

# A strategic merge of a list by a key: members of the same key become what `merged` makes of them, others are added.
def with_members($key; $patch; merged):
  (. // []) as $own
  | [$own[] | . as $one | [$patch[] | select(.[$key] == $one[$key])] as $same
     | if $same == [] then . else [., $same[0]] | merged end]
    + [$patch[] | select(.[$key] as $name | all($own[]; .[$key] != $name))];
def both: .[0] * .[1];
def with_list($field; $key; $patch; merged):
  if $patch[$field] then .[$field] |= with_members($key; $patch[$field]; merged) else . end;

# Fields that a runtime patch may have; the API server drops all others.
def patched_pod_fields:
  ["serviceAccountName", "volumes", "initContainers", "containers", "imagePullSecrets", "securityContext",
   "nodeSelector", "affinity", "tolerations", "schedulingGates", "terminationGracePeriodSeconds"];
def patched_container_fields: ["name", "env", "volumeMounts", "securityContext"];

def with_metadata($patch):
  ($patch.metadata // {} | only(["labels", "annotations"])) as $own
  | if $own == {} then . else .metadata = ((.metadata // {}) * $own) end;
def container_patched:
  (.[1] | only(patched_container_fields)) as $patch
  | .[0] * ($patch | del(.env, .volumeMounts))
  | with_list("volumeMounts"; "mountPath"; $patch; both);
def pod_patched($patch):
  with_metadata($patch)
  | ($patch.spec // {} | only(patched_pod_fields)) as $spec
  | .spec = ((.spec // {}) * ($spec | del(.volumes, .initContainers, .containers, .imagePullSecrets, .schedulingGates))
      | with_list("volumes"; "name"; $spec; both)
      | with_list("schedulingGates"; "name"; $spec; both)
      | with_list("initContainers"; "name"; $spec; container_patched)
      | with_list("containers"; "name"; $spec; container_patched));
def jobs_patched($patches):
  reduce ($patches[] | .trainingRuntimeSpec.template.spec.replicatedJobs // [] | .[] | select(.template)) as $patch (.;
    map(if .name == $patch.name
        then .template |= (with_metadata($patch.template) | .spec.template |= pod_patched($patch.template.spec.template))
        else . end));

# The pods of a job: the runtime's number of nodes for the trainer's steps, then what the TrainJob says.
def trainer_count($policy; $nodes; $first):
  (if trainer_step == "trainer" and $policy then $policy.numNodes // 1 else .template.spec.parallelism // 1 end
   | [., 1] | max) as $own
  | if $nodes == null then $own
    elif $policy.mpi then
      if .name != "node" then $own elif $policy.mpi.runLauncherAsNode then [$nodes - 1, 1] | max else $nodes end
    elif $first then $nodes
    else $own end;

# The name of the job whose number of pods the TrainJob says, in a runtime.
def trainer_sized:
  .spec as $spec | [.spec.template.spec.replicatedJobs[]
    | select(if $spec.mlPolicy.mpi then .name == "node" else trainer_step == "trainer" end) | .name] | first;

# A port for the pods to meet, which takes the place of one without a name.
def trainer_port:
  {containerPort: 29500} as $port
  | ((. // []) | map(.containerPort == 29500 or .name == null) | index(true)) as $at
  | if $at then .[$at] = $port else (. // []) + [$port] end;

def trainer_job($policy; $trainer; $first):
  (trainer_step == "trainer" or ($policy.mpi.runLauncherAsNode and .name == "node")) as $trains
  | ($trainer.resourcesPerNode // {} | {limits, requests} | without_nulls) as $resources
  | ($first and $trainer and ($policy.torch or $policy.jax or $policy.xgboost)) as $meets
  | trainer_count($policy; $trainer.numNodes; $first) as $count
  | .replicas = (if trainer_step as $step | trainer_steps | index($step) then 1 else .replicas // 1 end)
  | .template.spec.parallelism = $count
  | .template.spec.completions = $count
  | .template.spec.template.spec.containers |= ((. // []) | map(
      if .name != "node" then . else
        (if $trains and $resources != {} then .resources = $resources else . end)
        | (if $meets then .ports |= trainer_port else . end) end));

# What a PodGroup's scheduler knows its pods by.
def trainer_grouped($policy; $name):
  (if $policy.coscheduling and $name then .metadata.labels["scheduling.x-k8s.io/pod-group"] = $name else . end)
  | (if $policy.volcano and $name then .metadata.annotations["scheduling.k8s.io/group-name"] = $name else . end);

# The JobSet that is made of a TrainJob, the input, and its runtime.
def trainer_jobset($runtime):
  . as $job
  | ($job.spec.runtimePatches // [] | without_nulls) as $patches
  | $runtime.spec.mlPolicy as $policy
  | ($runtime.spec.template.spec.replicatedJobs | without_nulls | jobs_patched($patches)) as $jobs
  | ($jobs | map(trainer_step == "trainer") | index(true)) as $first
  | [$runtime.spec.template.metadata, ($patches[] | .trainingRuntimeSpec.template.metadata)] as $told
  | {metadata: {
       name: $job.metadata.name,
       namespace: $job.metadata.namespace,
       labels: ([$told[] | .labels // {}] | add // {}),
       annotations: ([$told[] | .annotations // {}] | add // {})},
     spec: ($runtime.spec.template.spec + {replicatedJobs: [
       range($jobs | length) as $n | $jobs[$n]
       | trainer_job($policy; $job.spec.trainer; $n == $first)
       | .template.spec.template |= trainer_grouped($runtime.spec.podGroupPolicy // {}; $job.metadata.name)]})};

# Of the JobSet: pods that a PodGroup waits for, whatever the replicas of a job.
def trainer_members: [.spec.replicatedJobs[].template.spec.parallelism] | add;

# The names of the containers of a runtime's job.
def job_containers($name):
  [.spec.template.spec.replicatedJobs[]? | select(.name == $name) | .template.spec.template.spec
   | (.initContainers, .containers) // [] | .[] | .name];
