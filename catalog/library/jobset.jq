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
