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

# Tasks that wait until so many pods of others run as these need at least.
def volcano_order:
  . as $job
  | [.tasks[] | .dependsOn as $on
     | {key: .name,
        value: ([($on.name // [])[] | . as $name
                 | {($name): ($job | volcano_task($name) | if .minAvailable < .replicas then .minAvailable else null end)}]
                | if $on.iteration == "any" then [add // {}] else . end)}]
  | from_entries;

# Of a plugin's arguments (--name=value, or two of them): what is said last, else the default.
def volcano_argument($name; $default):
  [(. // [])[] | tostring | ltrimstr("-") | ltrimstr("-")] as $words
  | [range($words | length) as $n | $words[$n]
     | if startswith("\($name)=") then ltrimstr("\($name)=") elif . == $name then $words[$n + 1] // empty else empty end]
  | last // $default;

# Of a container: a port, unless it has one of that number.
def volcano_port($name; $port):
  ($port | tonumber? // 0) as $port
  | if $port == 0 or any((.ports // [])[]; .containerPort == $port) then .
    else .ports = ((.ports // []) + [{name: $name, containerPort: $port}]) end;

# Of a task's pod: what the plugins of its job add. One that misses a task of the job adds nothing.
def volcano_plugged($job; $name):
  def has_task($task): any($job.tasks[]; .name == $task);
  ($job.plugins // {}) as $plugins
  | if $plugins | has("pytorch") then
      $plugins.pytorch as $args
      | if has_task($args | volcano_argument("master"; "master")) then
          .spec.containers |= map(volcano_port("pytorchjob-port"; $args | volcano_argument("port"; "23456")))
          | if ($args | volcano_argument("wait-master-enabled"; "false")) == "true"
               and $name == ($args | volcano_argument("worker"; "worker"))
               and all((.spec.initContainers // [])[]; .name != "wait-for-master")
            then .spec.initContainers = ((.spec.initContainers // []) + [{name: "wait-for-master"}]) else . end
        else . end
    else . end
  | if $plugins | has("mpi") then
      ($plugins.mpi | volcano_argument("port"; "22")) as $port
      | .spec.containers |= map(volcano_port("mpijob-port"; $port))
      | if .spec.initContainers then .spec.initContainers |= map(volcano_port("mpijob-port"; $port)) else . end
    else . end
  | if $plugins | has("ray") then
      $plugins.ray as $args
      | ($args | volcano_argument("headContainer"; "head")) as $head
      | if $name == ($args | volcano_argument("head"; "head")) then
          .spec.containers |= map(if .name == $head then
            volcano_port("gcs"; $args | volcano_argument("port"; "6379"))
            | volcano_port("dashboard"; $args | volcano_argument("dashboardPort"; "8265"))
            | volcano_port("client-server"; $args | volcano_argument("clientPort"; "10001")) else . end)
        else . end
    else . end;

# Of a task's pod: what it has from its job. A numa policy becomes an annotation.
def volcano_pod($job; $name):
  ($job | volcano_task($name)) as $task
  | .spec.schedulerName |= volcano_text($job.schedulerName)
  | if (.spec.priorityClassName // "") == "" and ($job.priorityClassName // "") != ""
    then .spec.priorityClassName = $job.priorityClassName else . end
  | if ($task.topologyPolicy // "") != ""
    then .metadata.annotations["volcano.sh/numa-topology-policy"] = $task.topologyPolicy else . end
  | .spec.volumes = (.spec.volumes // []) + ([$job.volumes[]? | .volumeClaimName | select(. != null and . != "")] | unique
      | to_entries | map({name: "job-volume-\(.key)", persistentVolumeClaim: {claimName: .value}}))
  | volcano_plugged($job; $name);

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
