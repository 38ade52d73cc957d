# What `managedBy` says where it names another controller than the kind's own: `$by` stands at `$path`.
def managed($by; $own; $path):
  if $by == null or $by == "" or $by == $own then empty
  elif $by == "kueue.x-k8s.io/multikueue" then
    {path: $path, text: "MultiKueue makes the pods, in a cluster of its choice", restricts: false}
  else {path: $path, text: "another controller than the kind's own makes the pods", restricts: false} end;
