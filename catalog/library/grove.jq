# What the Grove operator makes of a PodCliqueSet, which is the input unless a line says otherwise.

# Defaults of the CRD and of the webhook; to the latter no replicas of a clique are none given.
def grove_defaults:
  if .spec.replicas == null then .spec.replicas = 0 else . end
  | if .spec.template.podCliqueScalingGroups == null then .spec.template.podCliqueScalingGroups = [] else . end
  | .spec.template.cliques |= map(
      if (.spec.replicas // 0) == 0 then .spec.replicas = 1 else . end
      | if .spec.minAvailable == null then .spec.minAvailable = .spec.replicas else . end
      | if .spec.autoScalingConfig and .spec.autoScalingConfig.minReplicas == null
        then .spec.autoScalingConfig.minReplicas = .spec.replicas else . end)
  | .spec.template.podCliqueScalingGroups |= map(
      if .replicas == null then .replicas = 1 else . end
      | if .minAvailable == null then .minAvailable = 1 else . end
      | if .scaleConfig and .scaleConfig.minReplicas == null then .scaleConfig.minReplicas = .replicas else . end);

def grove_clique($id): .spec.template.cliques[] | select(.name == $id);

# The scaling group of a clique, or null.
def grove_group($id): [.spec.template.podCliqueScalingGroups[] | select(.cliqueNames | index($id))][0];

# Of a clique's spec: its pods; of a group: its replicas. An autoscaler raises them to its minimum at once.
def grove_raised($scaler): [.replicas, ($scaler.minReplicas // 0)] | max;
def grove_size: grove_raised(.autoScalingConfig);
def grove_times: if . then grove_raised(.scaleConfig) else 1 end;

def grove_pods($id): .spec.replicas * (grove_group($id) | grove_times) * (grove_clique($id).spec | grove_size);

# Pods of a clique in the base gang of a replica of the set.
def grove_base($id): (grove_group($id) | if . then .minAvailable else 1 end) * grove_clique($id).spec.minAvailable;

# Pods by which a clique alone can grow: where its group has further gangs, they would grow with it.
def grove_step($id):
  grove_group($id) as $group
  | if $group and ($group | grove_times) > $group.minAvailable then 0 else .spec.replicas * ($group | grove_times) end;

def grove_most($id):
  grove_clique($id).spec as $clique
  | grove_group($id) as $group
  | if $group.scaleConfig then .spec.replicas * $group.scaleConfig.maxReplicas * ($clique | grove_size)
    elif $clique.autoScalingConfig then .spec.replicas * $clique.autoScalingConfig.maxReplicas
    else null end;

# Pods of a clique that come with the base gang of a replica of the set.
def grove_with_base($id): (grove_group($id) | if . then .minAvailable else 1 end) * (grove_clique($id).spec | grove_size);

# A gang for each replica of the set; what a group has beyond its minimum follows in gangs of its own. Pods of a clique
# beyond its own minimum come with its gang.
def grove_gangs:
  . as $set
  | [.spec.template.cliques[].name] as $all
  | [{count: .spec.replicas,
      members: ([$all[] | {(.): (. as $id | $set | grove_base($id))}] | add),
      most: ([$all[] | {(.): (. as $id | $set | grove_with_base($id))}] | add)}]
  + [.spec.template.podCliqueScalingGroups[]
     | {count: ($set.spec.replicas * (grove_times - .minAvailable)), further: true,
        members: ([.cliqueNames[] | . as $id | {($id): ($set | grove_clique($id).spec.minAvailable)}] | add),
        most: ([.cliqueNames[] | . as $id | {($id): ($set | grove_clique($id).spec | grove_size)}] | add)}];

# The cliques whose pods must be ready before those of a clique start; all of them are scheduled before.
def grove_before($id):
  .spec.template.cliques as $cliques
  | ([$cliques[].name] | index($id)) as $n
  | if .spec.template.cliqueStartupType == "CliqueStartupTypeInOrder" then $cliques[:$n][-1:] | map(.name)
    elif .spec.template.cliqueStartupType == "CliqueStartupTypeExplicit" then $cliques[$n].spec.startsAfter // []
    else [] end;

# Templates of shared claims that are objects of their own, as references.
def grove_external:
  . as $set
  | [(.spec.template.resourceClaimTemplates // [])[].name] as $own
  | path(.spec.template | .resourceSharing[]?, .podCliqueScalingGroups[]?.resourceSharing[]?, .cliques[].resourceSharing[]?) as $at
  | getpath($at)
  | select(.namespace or (.name | IN($own[]) | not))
  | {group: "resource.k8s.io", kind: "ResourceClaimTemplate", name, namespace, at: ($at + ["name"])};

# Claims that pods share, of the set, of a group and of a clique: `owners` times one claim, or one for each replica.
def grove_sharing:
  . as $set
  | ((.spec.template.resourceSharing // [])[]
      | {name, of: .name, namespace, owners: (if .scope == "AllReplicas" then 1 else $set.spec.replicas end),
         cliques: .filter.childCliqueNames, groups: .filter.childScalingGroupNames}),
    ($set.spec.template.podCliqueScalingGroups[] | . as $group | (.resourceSharing // [])[]
      | {name: "\($group.name)-\(.name)", of: .name, namespace,
         owners: ($set.spec.replicas * if .scope == "AllReplicas" then 1 else ($group | grove_times) end),
         cliques: (.filter.childCliqueNames // $group.cliqueNames)}),
    ($set.spec.template.cliques[] | . as $clique | (.resourceSharing // [])[]
      | {name: "\($clique.name)-\(.name)", of: .name, namespace, each: (.scope == "PerReplica"),
         owners: ($set.spec.replicas * ($set | grove_group($clique.name) | grove_times)
                  * if .scope == "AllReplicas" then 1 else ($clique.spec | grove_size) end),
         cliques: [$clique.name]});

def grove_claims($id):
  grove_group($id).name as $group
  | [grove_sharing | select((.cliques == null and .groups == null)
                            or (.cliques // [] | index($id)) or (.groups // [] | index($group)))];

# Their templates: those of the set, or `$found`, what there is of `grove_external`.
def grove_claim_templates($found):
  . as $set
  | [grove_external] as $sought
  | [grove_sharing
     | . as {$of, $namespace}
     | {name, shared: .owners, each,
        spec: ([($set.spec.template.resourceClaimTemplates // [])[] | select($namespace == null and .name == $of) | .templateSpec.spec][0]
               // [range($sought | length) | select($sought[.] | .name == $of and .namespace == $namespace) | $found[.].spec.spec | objects][0]
               // {devices: {requests: [{}]}})}
     | if .each then del(.shared) else . end
     | del(.each)];

# Of a pod: what is added to it. The init container waits for the cliques before.
def grove_pod($set; $id):
  ($set | grove_claims($id)) as $claims
  | if $claims == [] then . else
      .spec.resourceClaims = ((.spec.resourceClaims // []) + ($claims | map({name, resourceClaimTemplateName: .name}))) end
  | if ($set | grove_before($id)) == [] then . else .spec.initContainers = ((.spec.initContainers // []) + [{name: "grove-initc"}]) end;

# Required packing at every level, with what must be together.
def grove_packing:
  def packed($path; $what): .topologyConstraint | .packDomain // .pack.required // empty
    | {path: "\($path).topologyConstraint", text: "\($what) in one \(.)", restricts: true};
  .spec.template as $t
  | ($t | packed("spec.template"; "all pods of a replica")),
    ($t.podCliqueScalingGroups | to_entries[] | .key as $n
     | .value | packed("spec.template.podCliqueScalingGroups[\($n)]"; "all pods of a replica of \(.name)")),
    ($t.cliques | to_entries[] | .key as $n | .value | packed("spec.template.cliques[\($n)]"; "all pods of \(.name)"));

# Annotations that ask for NVLink between nodes: the pods with GPUs get a claim of a ComputeDomain.
def grove_nvlink:
  "grove.io/mnnvl-group" as $named | "grove.io/auto-mnnvl" as $auto
  | def asked($path): (.annotations // {}) as $a
      | ($a[$named] | select(. != null and . != "none") | $named), ($a[$auto] | select(. == "enabled") | $auto)
      | {path: "\($path).annotations[\"\(.)\"]", text: "one NVLink domain (ComputeDomain) for its pods with GPUs", restricts: true};
  (.metadata | asked("metadata")),
  (.spec.template.podCliqueScalingGroups | to_entries[] | .key as $n
   | .value | asked("spec.template.podCliqueScalingGroups[\($n)]")),
  (.spec.template.cliques | to_entries[] | .key as $n | .value | asked("spec.template.cliques[\($n)]"));

# Labels of the pods of a clique. `$cliques` are the PodCliques that are made of it, in all sets and groups.
def grove_labels($id):
  .metadata.name as $name
  | .spec.replicas as $sets
  | grove_group($id) as $group
  | ($group | grove_times) as $groups
  | ($sets * $groups) as $cliques
  | (grove_clique($id).spec | grove_size) as $pods
  | (if $pods == 1 then "pod" else "part" end) as $part
  | (if $cliques == 1 then "role" else $part end) as $of
  | (if $group then "\($group.name)-0-\($id)" else $id end) as $own
  | def one($n; $value): if $n == 1 and $name then known($value) else . end;
    ({"app.kubernetes.io/name": (counted($of) | one($cliques; "\($name)-0-\($own)")),
      "grove.io/podclique": (counted($of) | one($cliques; "\($name)-0-\($own)")),
      "grove.io/podcliqueset-replica-index": (counted(if $sets == 1 then "role" else $part end) | one($sets; 0)),
      "grove.io/podgang": (counted(if $cliques == 1 then "role" else $part end) | one($cliques; "\($name)-0"))}
     + if $group then
         {"grove.io/podcliquescalinggroup":
            (counted(if $sets == 1 then "role" else $part end) | one($sets; "\($name)-0-\($group.name)")),
          "grove.io/podcliquescalinggroup-replica-index": (counted(if $groups == 1 then "role" else $part end) | one($groups; 0)),
          "grove.io/base-podgang": (counted($part) | sometimes)}
       else {} end
     | resizes("role"; "part") | resizes("pod"; "part"))
    + {"grove.io/podclique-pod-index": (counted("pod") | if $pods == 1 then known(0) else . end | resizes("pod"; "pod")),
       "grove.io/pod-template-hash": made("role"),
       "app.kubernetes.io/managed-by": "grove-operator",
       "app.kubernetes.io/component": (if $group then "pcsg-podclique" else "pcs-podclique" end),
       "app.kubernetes.io/part-of": name_or_made($name; "workload")};

# The PodCliques that are made of a clique.
def grove_owner($id):
  grove_group($id) as $group
  | owned("PodClique.grove.io"; .metadata.name; "-#-" + (if $group then "\($group.name)-#-\($id)" else $id end));

# No order of cliques that wait for each other in a ring: each round starts those that wait for started ones only.
def grove_orderly:
  map({name, after: (.spec.startsAfter // [])}) as $cliques
  | reduce $cliques[] as $round ([]; . as $done | . + [$cliques[] | select((.name | IN($done[]) | not) and (.after - $done == [])) | .name])
  | length == ($cliques | length);
