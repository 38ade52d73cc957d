# Of a job that names another controller than its own (`$own`) in the field at `$path`, a list: that one makes the pods.
def managed($path; $own):
  (getpath($path) // "") | select(. != "" and . != $own)
  | {path: ($path | join(".")),
     text: (if . == "kueue.x-k8s.io/multikueue" then "MultiKueue makes the pods, in a cluster of its choice"
            else "another controller makes the pods" end),
     restricts: false};
