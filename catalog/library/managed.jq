# Of a job that names another controller than its own (`$own`) in the field at `$path`, a list: that one makes the pods.
# MultiKueue does not: it makes the same object, without the field, in the cluster of its choice.
def managed($path; $own):
  (getpath($path) // "") | select(. != "" and . != $own and . != "kueue.x-k8s.io/multikueue")
  | {path: ($path | join(".")), text: "another controller makes the pods", restricts: false};
