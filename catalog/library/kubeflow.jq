# What the Training Operator makes of its replica specs, a map of replica type to {replicas, template}.

# Types are spelled in any case, and a type without replicas has one.
def kubeflow_defaults($types):
  with_entries(
    .key as $key
    | .key = ($types | map(select(ascii_downcase == ($key | ascii_downcase))) | .[0] // $key)
    | if .value.replicas == null then .value.replicas = 1 else . end);

# Of a pod: the port of the job on the container that must bear this name. The replica spec says when it is restarted.
def kubeflow_pod($container; $name; $port):
  del(.spec.restartPolicy)
  | .spec.containers |= map(
    if .name == $container and all((.ports // [])[]; .name != $name)
    then .ports = ((.ports // []) + [{name: $name, containerPort: $port}]) else . end);

# Of the job: the labels of its pods. `$number` is the index of a pod.
def kubeflow_labels($operator; $labels; $number):
  {"training.kubeflow.org/job-name": name_or_made(.metadata.name; "workload"),
   "training.kubeflow.org/operator-name": $operator}
  + $labels
  + if $number then {"training.kubeflow.org/replica-index": $number} else {} end;

# The index of `$pods` pods that are counted from `$first`.
def kubeflow_number($pods; $first): counted("pod") | if $pods == 1 then known($first) else . end;

# Of an MPIJob's replica specs: one launcher, and no workers unless their number is given.
def mpi_defaults:
  if .Launcher and .Launcher.replicas == null then .Launcher.replicas = 1 else . end
  | if .Worker and .Worker.replicas == null then .Worker.replicas = 0 else . end;

# Of the job, with its replica specs: the workers that a start needs at least. The other types must all be there.
def kubeflow_workers($specs):
  .spec.runPolicy.schedulingPolicy.minAvailable as $least
  | $specs.Worker.replicas as $workers
  | ([$specs[].replicas] | add) as $pods
  | if $least == null then $workers else [0, $least - ($pods - $workers)] | max end;

# Of the job: its pods of a type, that call themselves master when `$master` (some of them: "first").
def kubeflow_type($operator; $type; $pods; $master):
  kubeflow_labels($operator; {"training.kubeflow.org/replica-type": $type}; kubeflow_number($pods; 0))
  + if $master == true then {"training.kubeflow.org/job-role": "master"}
    elif $master == "first" then
      {"training.kubeflow.org/job-role": (counted("part") | sometimes | if $pods == 1 then known("master") else . end)}
    else {} end;

# Of the job: a queue, which is one of Volcano's for each of these kinds.
def kubeflow_unmodelled:
  .spec.runPolicy.schedulingPolicy.queue // empty | select(. != "" and . != "default")
  | {path: "spec.runPolicy.schedulingPolicy.queue", text: "a Volcano queue", restricts: true, needs: "scheduling.volcano.sh"};
