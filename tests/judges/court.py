"""The courts: which kinds are tried together, under which controllers, on a server of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.judges.bench import Bench
from tests.judges.controllers import jobset, knative, kserve, kuberay, kubernetes, lws, mpi, trainer, training
from tests.judges.kubelet import Kubelet
from tests.judges.manifests import Kind, Manifest
from tests.judges.trial import Trial, Verdict
from tests.servers import build
from tests.servers.pool import Fleet, Pool
from tests.servers.processes import StartError

DISABLED = ("ServiceAccount", "TaintNodesByCondition", "DefaultTolerationSeconds", "PodTopologyLabels")
"""Admission that changes pods by what the cluster is like: the manifest knows nothing of it."""
AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Controller:
    """A folder of `tests/servers`, the module whose version counts, and how it is started."""

    name: str
    module: str
    start: Callable[[Bench], None]

    @property
    def version(self) -> str:
        return build.source(self.name, self.module).version


@dataclass(frozen=True, slots=True)
class Court:
    """`controllers` beside kube-controller-manager, in the order in which they are started; the last one is judge."""

    kinds: tuple[Kind, ...]
    controllers: tuple[Controller, ...]

    @property
    def judge(self) -> Controller:
        return self.controllers[-1]


KUBERNETES = Controller("kubernetes", "k8s.io/kubernetes", kubernetes.start)
JOBSET = Controller("jobset", jobset.MODULE, jobset.start)
KUBERAY = Controller("kuberay", kuberay.MODULE, kuberay.start)
LWS = Controller("lws", lws.MODULE, lws.start)
TRAINING = Controller("training", training.MODULE, training.start)
TRAINING_WITH_MPI = Controller("training", training.MODULE, training.start_with_mpi)
MPI = Controller("mpi", mpi.MODULE, mpi.start)
TRAINER = Controller("trainer", trainer.MODULE, trainer.start)
KNATIVE = Controller("knative", knative.MODULE, knative.start)
KSERVE = Controller("kserve", kserve.MODULE, kserve.start)

COURTS: Mapping[str, Court] = {
    "kubernetes": Court(
        kinds=(
            Kind("pod", "v1", "Pod"),
            Kind("job", "batch/v1", "Job"),
            Kind("cronjob", "batch/v1", "CronJob"),
            Kind("deployment", "apps/v1", "Deployment"),
            Kind("statefulset", "apps/v1", "StatefulSet"),
            Kind("replicaset", "apps/v1", "ReplicaSet"),
        ),
        controllers=(KUBERNETES,),
    ),
    "jobset": Court((Kind("jobset", "jobset.x-k8s.io/v1alpha2", "JobSet"),), (KUBERNETES, JOBSET)),
    "lws": Court((Kind("leaderworkerset", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),), (KUBERNETES, LWS)),
    "kuberay": Court(
        kinds=(
            Kind("raycluster", "ray.io/v1", "RayCluster"),
            Kind("rayjob", "ray.io/v1", "RayJob"),
            Kind("rayservice", "ray.io/v1", "RayService"),
        ),
        controllers=(KUBERNETES, KUBERAY),
    ),
    "training": Court(
        kinds=(
            Kind("pytorchjob", "kubeflow.org/v1", "PyTorchJob"),
            Kind("tfjob", "kubeflow.org/v1", "TFJob"),
            Kind("xgboostjob", "kubeflow.org/v1", "XGBoostJob"),
            Kind("paddlejob", "kubeflow.org/v1", "PaddleJob"),
            Kind("jaxjob", "kubeflow.org/v1", "JAXJob"),
        ),
        controllers=(KUBERNETES, TRAINING),
    ),
    "training-mpi": Court((Kind("mpijob", "kubeflow.org/v1", "MPIJob"),), (KUBERNETES, TRAINING_WITH_MPI)),
    "mpi": Court((Kind("mpijob", "kubeflow.org/v2beta1", "MPIJob"),), (KUBERNETES, MPI)),
    "knative": Court((Kind("knativeservice", "serving.knative.dev/v1", "Service"),), (KUBERNETES, KNATIVE)),
    "kserve": Court(
        kinds=(
            Kind("inferenceservice", "serving.kserve.io/v1beta1", "InferenceService"),
            Kind("inferencegraph", "serving.kserve.io/v1alpha1", "InferenceGraph"),
        ),
        controllers=(KUBERNETES, KNATIVE, KSERVE),
    ),
    "trainer": Court((Kind("trainjob", "trainer.kubeflow.org/v1alpha1", "TrainJob"),), (KUBERNETES, JOBSET, TRAINER)),
}


class Session:
    """A court while it sits: everything runs, and all of its manifests are tried, several at once."""

    def __init__(self, pool: Pool, court: Court, manifests: Sequence[Manifest], folder: Path) -> None:
        self._pool, self._court = pool, court
        self._fleet: Fleet = pool.lend("main", disabled_plugins=DISABLED, more=("--allow-privileged=true",))
        self.server = self._fleet["main"]
        self._benches: list[Bench] = []
        try:
            for controller in court.controllers:
                self._benches.append(Bench(self.server, controller.name, folder))
                controller.start(self._benches[-1])
        except BaseException:
            self._pool.take_back(self._fleet)
            raise
        self._kubelet = Kubelet(self.server)
        self._threads = ThreadPoolExecutor(AT_ONCE)
        self._verdicts: dict[str, Future[Verdict]] = {
            manifest.key: self._threads.submit(self._try, manifest, f"trial-{number}")
            for number, manifest in enumerate(manifests)
        }

    def _try(self, manifest: Manifest, namespace: str) -> Verdict:
        verdict = Trial(self.server, manifest, namespace).held()
        for process in (one for bench in self._benches for one in bench.processes):
            if not process.running():
                raise StartError(f"{process.name} is no longer there:\n{process.tail()}")
        return verdict

    @property
    def judge(self) -> Controller:
        return self._court.judge

    def verdict(self, manifest: Manifest) -> Verdict:
        return self._verdicts[manifest.key].result()

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._kubelet.close()
        self._pool.take_back(self._fleet)
