# Of replicated jobs: how many jobs they make, and how many of these come before those of `$id`.
def jobs: map(.replicas) | add // 0;
def before($id): .[:map(.name) | index($id)] | jobs;

# The address of the coordinator's pod, as a label.
def jobset_coordinator:
  .metadata.name as $name
  | (.spec.network.subdomain // $name) as $domain
  | .spec.coordinator
  | if $name then "\($name)-\(.replicatedJob)-\(.jobIndex // 0)-\(.podIndex // 0).\($domain)"
    else made("workload") end;

# The labels of the pods of a replicated job, whose `$pods` pods are in all of its jobs; the input is the JobSet.
def jobset_labels($id; $pods):
  .metadata.name as $name
  | .spec.replicatedJobs as $all
  | ($all[] | select(.name == $id)) as $own
  | ($own.groupName // "default") as $group
  | [$all[] | select((.groupName // "default") == $group)] as $grouped
  | (if $own.replicas == 1 then "role" elif $pods == $own.replicas then "pod" else "part" end) as $of
  | def alone($value): if $own.replicas == 1 then known($value) else . end;
    def sized($of; $value): counted($of) | known($value);
    (job_labels($own.template.spec;
       if $name then counted($of) | alone("\($name)-\($id)-0") else made($of) end;
       $of;
       if ($own.template.spec.completionMode // "Indexed") != "Indexed" then null
       else $own.template.spec | job_index(if $own.replicas == 1 then "pod" else "part" end) end)
    + {"jobset.sigs.k8s.io/jobset-name": name_or_made($name; "workload"),
       "jobset.sigs.k8s.io/jobset-uid": made("workload"),
       "jobset.sigs.k8s.io/replicatedjob-name": $id,
       "jobset.sigs.k8s.io/replicatedjob-replicas": sized("role"; $own.replicas),
       "jobset.sigs.k8s.io/global-replicas": sized("workload"; $all | jobs),
       "jobset.sigs.k8s.io/restart-attempt": "0",
       "jobset.sigs.k8s.io/job-index": (counted($of) | alone(0)),
       "jobset.sigs.k8s.io/job-global-index": (counted($of) | alone($all | before($id))),
       "jobset.sigs.k8s.io/job-key": made($of),
       "jobset.sigs.k8s.io/group-name": $group,
       "jobset.sigs.k8s.io/group-replicas": sized("group"; $grouped | jobs),
       "jobset.sigs.k8s.io/job-group-index": (counted($of) | alone($grouped | before($id))),
       "jobset.sigs.k8s.io/priority": counted("priority")}
     + if .spec.coordinator then {"jobset.sigs.k8s.io/coordinator": jobset_coordinator} else {} end)
    | resizes($of; "part");

# The replicated jobs that come before `$id`; the input is the JobSet.
def jobset_before($id):
  .spec as $s | [.spec.replicatedJobs[].name] as $names | ($names | index($id)) as $n
  | if $s.startupPolicy.startupPolicyOrder == "InOrder" then $names[:$n][-1:]
    else [$s.replicatedJobs[$n].dependsOn // [] | .[].name] end;

# What the jobs of `$id` wait for, as text; the input is the JobSet.
def jobset_after($id):
  .spec as $s | [.spec.replicatedJobs[].name] as $names | ($names | index($id)) as $n
  | if $s.startupPolicy.startupPolicyOrder == "InOrder" and $n > 0
    then "\($names[$n - 1]) Ready (startupPolicy InOrder)"
    else [$s.replicatedJobs[$n].dependsOn // [] | .[] | "\(.name) \(.status)"] | join(" and ") end;

# The stages in which they live: a job starts one stage after the last job that it wants Complete, and ends before the
# first that wants it so.
def jobset_stage($id):
  .spec.replicatedJobs as $jobs
  | if all($jobs[]; .dependsOn == null) then [0, 0] else
      (reduce $jobs[] as $j ({}; . as $done | .[$j.name] = (
        [0, (($j.dependsOn // [])[] | ($done[.name] // 0) + (if .status == "Complete" then 1 else 0 end))] | max))
      ) as $first
    | [$jobs[] | select(any((.dependsOn // [])[]; .name == $id and .status == "Complete")) | $first[.name]] as $wanted
    | [$first[$id], if $wanted == [] then [$first[]] | max else ($wanted | min) - 1 end] end;

# Requests that each of the jobs has a domain for itself, with the places that may say so.
def jobset_topology($id; $set; $job; $pod):
  "alpha.jobset.sigs.k8s.io/exclusive-topology" as $key
  | (.spec.replicatedJobs[] | select(.name == $id)) as $own
  | [(.metadata.annotations[$key] // empty | [., $set]),
     ($own.template.metadata.annotations[$key] // empty | [., $job]),
     ($own.template.spec.template.metadata.annotations[$key] // empty | [., $pod])]
  | .[:1] | map({key: .[0], unit: "job", exclusive: true, path: "\(.[1])[\"\($key)\"]"});

# All that run in the last stage, as a group; jobs that are complete by then have made room.
def jobset_gang($roles):
  .spec.replicatedJobs as $jobs
  | [$jobs[] | (.dependsOn // [])[] | select(.status == "Complete") | .name] as $ended
  | [{count: 1, members: ($roles | with_entries(select(.key as $k | $ended | index($k) | not) | .value |= .replicas))}];

# The pods of the jobs that have not succeeded: those that have are not run again. The input is the JobSet.
def jobset_left:
  (.status.replicatedJobsStatus // [] | map({key: .name, value: (.succeeded // 0)}) | from_entries) as $done
  | [.spec.replicatedJobs[]
     | {key: .name,
        value: (([.replicas - ($done[.name] // 0), 0] | max)
                * ([.template.spec.parallelism, .template.spec.completions] | map(select(. != null)) | min))}]
  | from_entries;
