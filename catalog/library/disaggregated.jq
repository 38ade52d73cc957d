# What a DisaggregatedSet makes: for each slice and role a LeaderWorkerSet. The input is the object.

# A role that something else scales starts with one group, whatever it says.
def disaggregated_defaults:
  if .spec.slices == null then .spec.slices = 1 else . end
  | .spec.roles |= map(
      if .scaling.mode == "External" then .spec.replicas = 1
      elif .spec.replicas == null then .spec.replicas = 1 else . end
      | if .spec.leaderWorkerTemplate.size == null then .spec.leaderWorkerTemplate.size = 1 else . end);

def disaggregated_role($name): .spec.roles[] | select(.name == $name);
def disaggregated_size($name): disaggregated_role($name).spec.leaderWorkerTemplate.size;

# Its groups over all slices.
def disaggregated_groups($name): .spec.slices * disaggregated_role($name).spec.replicas;

# Has it a leader of another kind than its workers?
def disaggregated_led($name): disaggregated_role($name).spec.leaderWorkerTemplate.leaderTemplate != null;

# The pods of one group that are of the worker's template.
def disaggregated_workers($name): disaggregated_size($name) - (if disaggregated_led($name) then 1 else 0 end);

# What a role's pods are called: its name, unless it has pods of two templates.
def disaggregated_name($name; $part): if disaggregated_led($name) then "\($name)-\($part)" else $name end;

def disaggregated_gang:
  . as $object
  | [.spec.roles[].name as $name
     | {count: ($object | disaggregated_groups($name)),
        members: ({($object | disaggregated_name($name; "worker")): ($object | disaggregated_workers($name))}
                  + if $object | disaggregated_led($name) then {"\($name)-leader": 1} else {} end)}]
  | map(.members |= with_entries(select(.value > 0)));

# Of a pod: the affinities of a placement policy. Those of other sets keep away by a label that only their pods bear.
def disaggregated_pod($object):
  $object.spec.placementPolicy as $policy
  | "disaggregatedset.x-k8s.io/" as $p
  | {topologyKey: $policy.topology} as $there
  | if ($policy.type // "None") == "None" then . else
      .spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution += [
        $there + {labelSelector: {}, matchLabelKeys: ["\($p)name", "\($p)slice"]}]
      | .spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution += [
          $there + {labelSelector: {matchExpressions: [{key: "\($p)slice", operator: "Exists"}]},
                    matchLabelKeys: ["\($p)name"], mismatchLabelKeys: ["\($p)slice"]}]
      | if $policy.type == "ExclusiveTopology" then
          .spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution += [
            $there + {labelSelector: {matchExpressions: [{key: "\($p)name", operator: "Exists"},
                                                         {key: "\($p)slice", operator: "Exists"}]},
                      mismatchLabelKeys: ["\($p)name"]}]
        else . end
    end;

# The labels of the pods of a role; `$pods` of them in each group, the leader among them when `$first` is 0.
def disaggregated_labels($name; $pods; $first):
  .spec.slices as $slices
  | disaggregated_role($name).spec as $role
  | disaggregated_groups($name) as $groups
  | (if $slices == 1 then counted("workload") | known(0) else counted("group") end) as $slice
  | (if $groups == 1 and $pods == 1 then "role" else "part" end) as $of
  | {"app": (if .metadata.name and $slices == 1 then "\(.metadata.name)-0-\($name)" else counted("part") end),
     "disaggregatedset.x-k8s.io/name": name_or_made(.metadata.name; "workload"),
     "disaggregatedset.x-k8s.io/role": $name,
     "disaggregatedset.x-k8s.io/slice": $slice,
     "disaggregatedset.x-k8s.io/revision": made("workload"),
     "leaderworkerset.sigs.k8s.io/name": made(if $slices == 1 then "role" else "part" end),
     "leaderworkerset.sigs.k8s.io/template-revision-hash": made(if $slices == 1 then "role" else "part" end),
     "leaderworkerset.sigs.k8s.io/group-index":
       (counted(if $groups == 1 then "role" else "part" end) | if $role.replicas == 1 then known(0) else . end),
     "leaderworkerset.sigs.k8s.io/group-key": made(if $groups == 1 then "role" elif $pods == 1 then "pod" else "part" end),
     "leaderworkerset.sigs.k8s.io/worker-index":
       (counted(if $groups == 1 then "pod" else "part" end) | if $pods == 1 then known($first) else . end),
     "controller-revision-hash": made("part"),
     "apps.kubernetes.io/pod-index": counted("part"),
     "statefulset.kubernetes.io/pod-name": made("pod")}
  + if $role.leaderWorkerTemplate.subGroupPolicy then
      {"leaderworkerset.sigs.k8s.io/subgroup-index": (counted("part") | sometimes),
       "leaderworkerset.sigs.k8s.io/subgroup-key": (made("part") | sometimes)}
    else {} end
  | resizes("role"; "part");

# Co-location that the LeaderWorkerSet of a role is asked for.
def disaggregated_topology($name):
  [["leaderworkerset.sigs.k8s.io/exclusive-topology", "group"],
   ["leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "subgroup"]] as $keys
  | .spec.roles | to_entries[] | select(.value.name == $name)
  | .key as $place | (.value.metadata.annotations // {}) as $a
  | [$keys[] | . as [$key, $unit] | select($a[$key])
     | {key: $a[$key], unit: $unit, exclusive: true, path: "spec.roles[\($place)].metadata.annotations[\"\($key)\"]"}];

def disaggregated_unmodelled:
  .spec.roles | to_entries[] | .key as $place | .value
  | (select((.spec.leaderWorkerTemplate.volumeClaimTemplates // []) != [])
     | {path: "spec.roles[\($place)].spec.leaderWorkerTemplate.volumeClaimTemplates",
        text: "volumes that are made with the pods", restricts: true}),
    (select((.subRoles // []) != [])
     | {path: "spec.roles[\($place)].subRoles", text: "sub-roles, which have numbers of their own", restricts: false});
