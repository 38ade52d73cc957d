# Labels that controllers give to their pods, with values that no manifest tells. `of`: whose value it is, that of the
# workload, the role, a part of the role's pods, a group of pods of several roles, the pod, or the pod's priority.

# A hash or a uid: no selector names it before it is there.
def made($of): {of: $of};

# An index, or a name with one: a selector may name it.
def counted($of): {of: $of, guessable: true};

# On some of the pods only, or of some versions of the controller.
def sometimes: .sure = false;

# The value is known while the workload has the size that it has.
def known($value): .value = ($value | tostring);

# Of labels: whose values they are once the workload has another size.
def resizes($from; $of): map_values(if type == "object" and .of == $from then .resized = $of else . end);

# A name that the API server completes (generateName) is not known.
def name_or_made($name; $of): if $name then $name else made($of) end;

# What looks after the pods of something whose name the manifest tells: an object of that kind whose name begins so and
# ends in a form (`advisor/naming.py`); null where nobody knows the name. A Deployment's pods are its ReplicaSets'.
def owned($kind; $name; $rest): if $name then "\($kind)/\($name)\($rest)" else null end;
def deployed($name): owned("ReplicaSet.apps"; $name; "-*");
def itself: owned("\(.kind).\(.apiVersion | split("/")[0])"; .metadata.name; "");

# What the API server adds to the template of a Job of that name, and the job controller to pods with an index. With a
# selector of the user's it adds nothing. `$of`: whose the Job is.
def job_labels($job; $name; $of; $index):
  if $job.manualSelector then {} else
    {"batch.kubernetes.io/job-name": $name, "job-name": $name,
     "batch.kubernetes.io/controller-uid": made($of), "controller-uid": made($of)} end
  | if $index then .["batch.kubernetes.io/job-completion-index"] = $index else . end;

# Of the spec of a Job: the index of its pods, of which there is one alone where one completion is wanted.
def job_index($of): .completions as $n | counted($of) | if $n == 1 then known(0) else . end;

# What the StatefulSet controller adds; `$name` null: not known. `$of`: whose the set is.
def set_labels($name; $first; $pods; $of):
  (if $of == "part" then "part" else "pod" end) as $numbers
  | ($pods == 1 and $of != "part") as $alone
  | {"controller-revision-hash": made($of),
     "apps.kubernetes.io/pod-index": (counted($numbers) | if $alone then known($first) else . end),
     "statefulset.kubernetes.io/pod-name":
       (if $name | not then made("pod") else counted("pod") | if $alone then known("\($name)-\($first)") else . end end)};
