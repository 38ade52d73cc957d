# The labels of the pods of a LeaderWorkerSet, which is the input.
def lws_labels:
  {"leaderworkerset.sigs.k8s.io/name": name_or_made(.metadata.name; "workload"),
   "leaderworkerset.sigs.k8s.io/template-revision-hash": made("workload")};

# The index of the one group that there is.
def lws_alone($groups): if $groups == 1 then known(0) else . end;

# The group's key is shared by its leader and its workers.
def lws_leader_labels:
  .spec.replicas as $groups
  | .spec.leaderWorkerTemplate.subGroupPolicy as $subgroups
  | set_labels(.metadata.name; 0; $groups; "role")
    + {"leaderworkerset.sigs.k8s.io/worker-index": "0",
       "leaderworkerset.sigs.k8s.io/group-index": (counted("pod") | lws_alone($groups)),
       "leaderworkerset.sigs.k8s.io/group-key": made(if $groups == 1 then "workload" else "pod" end)}
    + if $subgroups and $subgroups.subGroupPolicyType != "LeaderExcluded" then
        {"leaderworkerset.sigs.k8s.io/subgroup-index": "0",
         "leaderworkerset.sigs.k8s.io/subgroup-key": made("pod")}
      else {} end
    | resizes("workload"; "pod");

def lws_leader_owner: owned("StatefulSet.apps"; .metadata.name; "");
def lws_worker_owner: owned("StatefulSet.apps"; .metadata.name; "-#");

# The workers of each group are a StatefulSet of their own, counted from 1.
def lws_worker_labels:
  .spec.replicas as $groups
  | (.spec.leaderWorkerTemplate.size - 1) as $workers
  | (if $groups == 1 and .metadata.name then "\(.metadata.name)-0" else null end) as $set
  | set_labels($set; 1; $workers; if $groups == 1 then "role" else "part" end)
    + {"leaderworkerset.sigs.k8s.io/worker-index":
         (counted(if $groups == 1 then "pod" else "part" end) | if $workers == 1 then known(1) else . end),
       "leaderworkerset.sigs.k8s.io/group-index": (counted("part") | lws_alone($groups)),
       "leaderworkerset.sigs.k8s.io/group-key": made(if $groups == 1 then "workload" else "group" end)}
    + if .spec.leaderWorkerTemplate.subGroupPolicy then
        {"leaderworkerset.sigs.k8s.io/subgroup-index": counted("part"),
         "leaderworkerset.sigs.k8s.io/subgroup-key": made("group")}
      else {} end
    | resizes("workload"; "group") | resizes("role"; "part");

# What its annotations ask for: groups, or parts of groups, that have a place of their own.
def lws_topology:
  [["leaderworkerset.sigs.k8s.io/exclusive-topology", "group"],
   ["leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "subgroup"]] as $keys
  | (.metadata.annotations // {}) as $a
  | [$keys[] | . as [$key, $unit] | select($a[$key])
     | {key: $a[$key], unit: $unit, exclusive: true, path: "metadata.annotations[\"\($key)\"]"}];
