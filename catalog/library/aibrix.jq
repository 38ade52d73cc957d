# What AIBrix makes of a StormService: RoleSets, each with the pods of all roles. The input is the object.

# Nothing stands for a number that is not given; a replica of a role is one pod unless it is a group of them.
def storm_defaults:
  if .spec.replicas == null then .spec.replicas = 0 else . end
  | .spec.template.spec.roles |= map(
      if .replicas == null then .replicas = 0 else . end
      | if .podGroupSize == null then .podGroupSize = 1 else . end);

def storm_role($name): .spec.template.spec.roles[] | select(.name == $name);

# The pods of a role in one RoleSet.
def storm_pods($name): storm_role($name) | .replicas * .podGroupSize;

# The strategies that hold a gang together, with what each calls it on a pod.
def storm_schedulers:
  (. // {}) as $s
  | {"scheduling.x-k8s.io/pod-group": $s.coschedulingSchedulingStrategy,
     "godel.bytedance.com/pod-group-name": $s.godelSchedulingStrategy,
     "scheduling.k8s.io/group-name": $s.volcanoSchedulingStrategy}
  | with_entries(select(.value));

# Pods that one RoleSet's scheduler starts with, where there is one RoleSet and it says so.
def storm_least:
  if .spec.replicas == 1 then [.spec.template.spec.schedulingStrategy | storm_schedulers[] | .minMember // empty] | max
  else null end;

# Pods of a role that a start needs: those of one RoleSet, or where fewer of a RoleSet are enough, those without which
# its other roles would not make up that number.
def storm_minimum($name):
  storm_pods($name) as $own
  | storm_least as $least
  | if $least == null then ([1, .spec.replicas] | min) * $own
    else [0, $least - ([.spec.template.spec.roles[] | .replicas * .podGroupSize] | add) + $own] | max end;

# Of a pod: the sidecar, and the wish of the topology policy as the affinity that the controller makes of it.
def storm_pod($object; $name):
  if ($object.metadata.annotations // {} | has("model.aibrix.ai/sidecar-injection"))
     and all(.spec.containers[]; .name != "aibrix-runtime") then
    .spec.containers = [{name: "aibrix-runtime", ports: [{name: "metrics", containerPort: 8080}],
                         resources: {requests: {cpu: "100m", memory: "256Mi"}, limits: {cpu: "500m", memory: "512Mi"}}}]
                       + .spec.containers
  else . end
  | $object.spec.template.spec.topologyPolicy as $policy
  | if $policy.mode == "Required" and ($policy.key // "") != "" then
      .spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution += [
        {topologyKey: $policy.key,
         labelSelector: {matchLabels: (if $policy.scope == "Role" then {"role-name": $name} else {} end)},
         matchLabelKeys: (["storm-service-name"] + if $policy.scope == "RoleSet" then ["roleset-name"] else [] end)}]
    else . end;

# A RoleSet's name belongs to its pods alone, so to all of the workload's where there is one.
def storm_labels($name):
  storm_role($name) as $role
  | .spec.replicas as $sets
  | (if $sets == 1 then "workload" else "group" end) as $set
  | (if $sets * $role.replicas == 1 then "role" else "part" end) as $group
  | (if $role.podGroupSize == 1 then "pod" else $group end) as $numbered
  | {"storm-service-name": name_or_made(.metadata.name; "workload"),
     "role-name": $name,
     "roleset-name": made($set),
     "role-template-hash": made("role"),
     "stormservice.orchestration.aibrix.ai/role-revision": (counted("role") | sometimes),
     "stormservice.orchestration.aibrix.ai/role-revision-name": (made("role") | sometimes)}
  + (if $role.stateful or $role.podGroupSize > 1 then
       {"stormservice.orchestration.aibrix.ai/role-replica-index":
          (counted($numbered) | if $role.replicas == 1 then known(0) else . end)} else {} end)
  + (if $role.podGroupSize > 1 then
       {"stormservice.orchestration.aibrix.ai/podset-name": made($group),
        "stormservice.orchestration.aibrix.ai/pod-group-index": counted(if $group == "role" then "pod" else "part" end)}
     else {} end)
  + (.spec.template.spec.schedulingStrategy | storm_schedulers | map_values(made($set)))
  + (if $role.podGroupSize > 1 then $role.schedulingStrategy | storm_schedulers | map_values(made($group)) else {} end)
  + (.spec.template.metadata.labels // {} | with_entries(select(.key == "name" or .key == "previous-owner")))
  | resizes("workload"; "group") | resizes("role"; "part");

def storm_unmodelled:
  .spec.template.spec as $spec
  | ["spec.template.spec", $spec.schedulingStrategy],
    ($spec.roles | to_entries[] | ["spec.template.spec.roles[\(.key)]", .value.schedulingStrategy])
  | .[0] as $path | .[1]
  | (.volcanoSchedulingStrategy.queue // empty | select(. != "" and . != "default")
     | {path: "\($path).schedulingStrategy.volcanoSchedulingStrategy.queue", text: "a Volcano queue",
        restricts: true, needs: "scheduling.volcano.sh"}),
    (.godelSchedulingStrategy.affinity // empty
     | {path: "\($path).schedulingStrategy.godelSchedulingStrategy.affinity", text: "affinities of pod groups",
        restricts: true});

# Of a RayClusterFleet's pods: the fleet's name, and labels of the cluster that they are in.
def fleet_labels($own):
  (if .spec.replicas == 1 then "workload" else "group" end) as $cluster
  | {"orchestration.aibrix.ai/raycluster-fleet-name": name_or_made(.metadata.name; "workload"),
     "ray.io/cluster": made($cluster), "ray.io/identifier": made("group")}
  + $own
  | resizes("workload"; "group");
