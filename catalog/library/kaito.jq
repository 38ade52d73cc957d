# What KAITO makes of a Workspace, or of the Workspaces of an InferenceSet. `$resource`: what either says of nodes.

# Of an InferenceSet: the resource of each of its Workspaces.
def kaito_of_set: (.spec.template.resource // {}) + {labelSelector: .spec.labelSelector};

# The GPUs of a machine, all of which a pod of a preset gets; null where nobody knows them.
def kaito_machine: .instanceType // "" | machine_gpus[.];

# What a pod of a preset asks for: a part of a GPU, so many GPUs, or those of a machine, of which there is one at least.
def kaito_devices:
  if .partition.mode == "mig" then {"nvidia.com/mig-\(.partition.profile)": 1}
  elif .partition.mode == "accelerator" then {"nvidia.com/gpu": .partition.count}
  else {"nvidia.com/gpu": (kaito_machine // 1)} end;

# Nodes with the labels of the selector.
def kaito_nodes:
  (.labelSelector.matchLabels // {} | to_entries | map({key, operator: "In", values: [.value]})) as $wanted
  | if $wanted == [] then null else
      {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: $wanted}]}}} end;

def kaito_tolerations:
  [{key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule"}, {key: "sku", operator: "Equal", value: "gpu", effect: "NoSchedule"}]
  + if .partition.mode == "mig"
    then [{key: "nvidia.com/mig-\(.partition.profile)", operator: "Exists", effect: "NoSchedule"}] else [] end;

# Of a pod of the user's: where it may go. Without one, a pod for a preset.
def kaito_pod($resource; $own):
  if $own then . else .spec.containers = [{name: "main", resources: ($resource | kaito_devices | {requests: ., limits: .})}] end
  | ($resource | kaito_nodes) as $nodes
  | if $nodes then .spec.affinity = $nodes else . end
  | .spec.tolerations = (.spec.tolerations // []) + ($resource | kaito_tolerations);

# What a Workspace leaves to KAITO. `$at`: where its resource stands; `$pods`: what it says of their number, if KAITO
# works that out from the model.
def kaito_unmodelled($resource; $at; $preset; $pods):
  [($preset | select(. != null)
    | ($pods | select(. != null and $resource.partition.mode != "mig")
       | {path: $preset, text: "how many pods the model takes, which KAITO works out", restricts: (. == 1)}),
      ($resource | select(.partition == null and kaito_machine == null)
       | if (.instanceType // "") == ""
         then {path: $at, text: "how many GPUs the nodes have, all of which a pod gets: one is counted", restricts: true}
         else {path: "\($at).instanceType", text: "how many GPUs such a machine has, all of which a pod gets: one is counted", restricts: true} end)),
   ($resource | select(.partition == null and (.instanceType // "") != "")
    | {path: "\($at).instanceType", text: "nodes that KAITO would make", restricts: false, needs: "karpenter.sh"})];
