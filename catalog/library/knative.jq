# What Knative Serving makes of a Service: one revision, of whose pods a queue-proxy is part.

# Of annotations: the first of these keys that is there; most have an older spelling.
def knative_said($keys): (. // {}) as $said | first($keys[] | $said[.] // empty) // null;

# Of annotations: a number of pods, null where nothing is said.
def knative_scale($name; $older):
  knative_said(["autoscaling.knative.dev/\($name)", "autoscaling.knative.dev/\($older)"]) | if . then tonumber else null end;

# A revision starts with its initial scale, of which a cluster allows no zero unless it is told to.
def knative_initial: [knative_scale("initial-scale"; "initialScale") // 1, 1] | max;

# Below the Horizontal Pod Autoscaler there is always one pod.
def knative_least:
  (if knative_said(["autoscaling.knative.dev/class"]) == "hpa.autoscaling.knative.dev" then 1 else 0 end) as $floor
  | [knative_scale("min-scale"; "minScale") // 0, $floor] | max;

# A maximum of 0 is none.
def knative_most: knative_scale("max-scale"; "maxScale") | if . == 0 then null else . end;

# Of the template's annotations: pods at the start.
def knative_pods: [knative_initial, knative_least] | max;

# Of containers: those without a name get one, which is numbered where there are several.
def knative_names($all; $base):
  length as $count
  | reduce .[] as $one ({taken: $all, next: 0, named: []};
      if ($one.name // "") != "" then .named += [$one]
      elif $count == 1 and (.taken | index($base) | not) then .named += [$one + {name: $base}]
      else .taken as $taken | .next as $next
        | first(($taken + [0] | keys[] | . + $next) | select("\($base)-\(.)" as $name | $taken | index($name) | not)) as $number
        | .named += [$one + {name: "\($base)-\($number)"}] | .next = $number + 1 end)
  | .named;

# Of the spec of the template, defaults of the webhook that pods show.
def knative_defaults:
  [(.containers // [])[], (.initContainers // [])[] | .name // empty] as $names
  | .containers |= knative_names($names; "user-container")
  | if .initContainers then .initContainers |= knative_names($names; "init-container") else . end;

# A share of what the user's container asks for, within bounds in thousandths; null where there is none of it.
def knative_share($amount; $share; $least; $most):
  ($amount // 0 | thousandths) as $has
  | if $has == 0 or $share == 0 then null else [[$has * $share | floor, $least] | max, $most] | min | "\(.)m" end;

# What the queue-proxy asks for, of the template: 25m of CPU unless annotations say otherwise. A limit of memory without
# a request is the request; of CPU there always is one.
def knative_queue:
  (.metadata.annotations // {}) as $said
  | ((.spec.containers | map(select((.ports // []) != [])) + .)[0].resources // {}) as $user
  | "queue.sidecar.serving.knative.dev/" as $key
  | ($said | knative_said(["\($key)resource-percentage", "\($key)resourcePercentage"])
     | if . then tonumber / 100 else 0 end) as $share
  | {requests: {
       cpu: ($said["\($key)cpu-resource-request"] // knative_share($user.requests.cpu; $share; 25; 100) // "25m"),
       memory: ($said["\($key)memory-resource-request"]
                // knative_share($user.requests.memory; $share; 52428800000; 209715200000)),
       "ephemeral-storage": $said["\($key)ephemeral-storage-resource-request"]},
     limits: {
       cpu: ($said["\($key)cpu-resource-limit"] // knative_share($user.limits.cpu; $share; 40; 500)),
       memory: ($said["\($key)memory-resource-limit"]
                // knative_share($user.limits.memory; $share; 209715200000; 524288000000)),
       "ephemeral-storage": $said["\($key)ephemeral-storage-resource-limit"]}}
  | map_values(with_entries(select(.value)));

# Of a pod template: what runs in the end. The serving container has the one port, 8080 unless it says another.
def knative_pod:
  knative_queue as $queue
  | (.spec.containers | length) as $count
  | (first(.spec.containers[].ports // [] | .[0] // empty) // {}) as $port
  | .spec.containers |= map(
      if (.ports // []) != [] or $count == 1
      then .ports = [{name: "user-port", containerPort: ($port.containerPort // 8080)}] else . end)
  | .spec.containers += [{
      name: "queue-proxy", resources: $queue,
      ports: ([8022, 9090, 9091, 8112, if $port.name == "h2c" then 8013 else 8012 end] | map({containerPort: .}))}];

# Labels of the pods of the revision of a Service; `$template` may name the revision.
def knative_labels($service; $template):
  ($template.metadata.name // null) as $revision
  | (if $revision then $revision else counted("role") end) as $named
  | {"serving.knative.dev/service": name_or_made($service; "workload"),
     "serving.knative.dev/configuration": name_or_made($service; "workload"),
     "serving.knative.dev/configurationGeneration": counted("role"),
     "serving.knative.dev/revision": $named,
     "serving.knative.dev/revisionUID": made("role"),
     "serving.knative.dev/configurationUID": made("workload"),
     "serving.knative.dev/serviceUID": made("workload"),
     "pod-template-hash": made("role")}
  + if ($template.metadata.labels // {}).app then {} else {app: $named} end;
