# What Volcano makes of the spec of its Job, which is the input unless a line says otherwise.

def volcano_text($default): if . == null or . == "" then $default else . end;

# Of a task: its pods of which a start needs all, where the job does not need fewer.
def volcano_least:
  (.partitionPolicy // {}) as $parts
  | .minAvailable
    // (if ($parts.minPartitions // 0) > 0 then $parts.minPartitions * ($parts.partitionSize // 0) else .replicas end);

# Defaults of the webhook. A task without a name is called default and its place; a minimum of zero is none.
def volcano_defaults:
  .schedulerName |= volcano_text("volcano")
  | .queue |= volcano_text("default")
  | .tasks |= [to_entries[] | .key as $place | .value
      | .name |= volcano_text("default\($place)")
      | if .replicas == null then .replicas = 0 else . end
      | .minAvailable = volcano_least]
  | if (.minAvailable // 0) == 0 then .minAvailable = ([.tasks[].minAvailable] | add) else . end;

def volcano_task($name): .tasks[] | select(.name == $name);

# Below the sum of its tasks' minimums the job starts with that many pods, of whichever tasks they are.
def volcano_any: .minAvailable < ([.tasks[].minAvailable] | add);

# Of a task: what a start needs at least.
def volcano_minimum($name):
  volcano_task($name) as $task
  | if volcano_any then [0, .minAvailable - ([.tasks[].replicas] | add) + $task.replicas] | max else $task.minAvailable end;

def volcano_groups:
  [.tasks[] | select(.replicas > 0)] as $tasks
  | if volcano_any | not then [{count: 1, members: ($tasks | map({key: .name, value: .minAvailable}) | from_entries)}]
    elif $tasks | length == 1 then [{count: 1, members: {($tasks[0].name): .minAvailable}}]
    else [] end;

def volcano_waits($name):
  volcano_task($name).dependsOn as $on
  | ($on.name // []) | join(if $on.iteration == "any" then " or " else " and " end)
  | if . == "" then . else "\(.) running" end;

# Of a task's pod: what it has from its job. A numa policy becomes an annotation.
def volcano_pod($job; $name):
  ($job | volcano_task($name)) as $task
  | .spec.schedulerName |= volcano_text($job.schedulerName)
  | if (.spec.priorityClassName // "") == "" and ($job.priorityClassName // "") != ""
    then .spec.priorityClassName = $job.priorityClassName else . end
  | if ($task.topologyPolicy // "") != ""
    then .metadata.annotations["volcano.sh/numa-topology-policy"] = $task.topologyPolicy else . end
  | .spec.volumes = (.spec.volumes // []) + ([$job.volumes[]? | .volumeClaimName | select(. != null and . != "")] | unique
      | to_entries | map({name: "job-volume-\(.key)", persistentVolumeClaim: {claimName: .value}}));

# Labels of a task's pods; `$job` the job's name, null when it is made, `$space` its namespace.
def volcano_labels($job; $space; $name):
  .queue as $queue
  | volcano_task($name) as $task
  | {"volcano.sh/job-name": name_or_made($job; "workload"),
     "volcano.sh/job-namespace": (if $space then $space else counted("workload") end),
     "volcano.sh/task-spec": $name,
     "volcano.sh/task-index": (counted("pod") | if $task.replicas == 1 then known(0) else . end),
     "volcano.sh/queue-name": (counted("workload") | known($queue))}
  + if $task.partitionPolicy then {"volcano.sh/partition-id": (counted("part") | sometimes)} else {} end;

# `$path`: where in the object the spec is.
def volcano_unmodelled($path):
  (if .queue != "default" then
     {path: "\($path).queue", text: "a Volcano queue", restricts: true, needs: "scheduling.volcano.sh"} else empty end),
  (.networkTopology // empty | select(.mode != "soft")
   | {path: "\($path).networkTopology", text: "a network topology of HyperNodes", restricts: true}),
  (.tasks | to_entries[] | .key as $place | .value | . as $task
   | (.partitionPolicy.networkTopology // empty | select(.mode != "soft")
      | {path: "\($path).tasks[\($place)].partitionPolicy.networkTopology",
         text: "a network topology of HyperNodes for each partition", restricts: true}),
     (.topologyPolicy // "none" | select(. != "none" and . != "best-effort" and . != "")
      | {path: "\($path).tasks[\($place)].topologyPolicy", text: "cpus of one NUMA node", restricts: true})),
  ([.volumes[]? | select(.volumeClaim != null)] | select(length > 0)
   | {path: "\($path).volumes", text: "volumes that are made with the job", restricts: true});
