# What the Training Operator makes of its replica specs, a map of replica type to {replicas, template}.

# Types are spelled in any case, and a type without replicas has one.
def kubeflow_defaults($types):
  with_entries(
    .key as $key
    | .key = ($types | map(select(ascii_downcase == ($key | ascii_downcase))) | .[0] // $key)
    | if .value.replicas == null then .value.replicas = 1 else . end);

# Of a pod: the port of the job on the container that must bear this name.
def kubeflow_port($container; $name; $port):
  .spec.containers |= map(
    if .name == $container and all((.ports // [])[]; .name != $name)
    then .ports = ((.ports // []) + [{name: $name, containerPort: $port}]) else . end);

def kubeflow_labels($job; $labels):
  .metadata.labels += $labels
  | if $job then .metadata.labels += {"training.kubeflow.org/job-name": $job} else . end;

# Of an MPIJob's replica specs: one launcher, and no workers unless their number is given.
def mpi_defaults:
  if .Launcher and .Launcher.replicas == null then .Launcher.replicas = 1 else . end
  | if .Worker and .Worker.replicas == null then .Worker.replicas = 0 else . end;
