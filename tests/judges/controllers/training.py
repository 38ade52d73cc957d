"""Training Operator v1.9.3: the first generation of Kubeflow's jobs, with its validating webhooks.

Its certificate rotator wants a Secret and a configuration to put its own authority into, and a certificate under a
fixed path; it gets empty ones, and the real webhooks are registered beside them. MPIJob v1 has the name of the newer
MPIJob's resource, so the two cannot be on one server.
"""

from __future__ import annotations

from pathlib import Path

from tests.judges.bench import Bench, free_port

MODULE = "github.com/kubeflow/training-operator"
NEWER_SCHEMES = ("pytorchjob", "tfjob", "xgboostjob", "paddlejob", "jaxjob")
NAMESPACE = "kubeflow"
LOOKED_FOR = Path("/tmp/k8s-webhook-server/serving-certs/tls.crt")
"""pkg/cert/cert.go, `certDir`: the rotator waits until something is there; the server reads from TMPDIR."""


def start(bench: Bench) -> None:
    _start(bench, NEWER_SCHEMES)


def start_with_mpi(bench: Bench) -> None:
    _start(bench, (*NEWER_SCHEMES, "mpijob"))


def _start(bench: Bench, schemes: tuple[str, ...]) -> None:
    base = bench.source(MODULE) / "manifests" / "base"
    bench.install(*(base / "crds" / f"kubeflow.org_{scheme}s.yaml" for scheme in schemes))
    _content_rotator(bench)
    port = free_port()
    bench.certificates("tmp", "k8s-webhook-server", "serving-certs")
    bench.start(
        "training-operator",
        *(f"--enable-scheme={scheme}" for scheme in schemes),
        *(f"--kubeconfig={bench.kubeconfig}", f"--webhook-server-port={port}", "--controller-threads=8"),
        *("--metrics-bind-address=0", "--health-probe-bind-address=0", "--kube-api-qps=200", "--kube-api-burst=400"),
        environment={"MY_POD_NAMESPACE": NAMESPACE},
        port=port,
    )
    bench.webhooks(port, base / "webhook" / "manifests.yaml")


def _content_rotator(bench: Bench) -> None:
    LOOKED_FOR.parent.mkdir(parents=True, exist_ok=True)
    LOOKED_FOR.touch()
    secret = {"name": "training-operator-webhook-cert", "namespace": NAMESPACE}
    bench.server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    bench.server.create({"apiVersion": "v1", "kind": "Secret", "metadata": secret})
    bench.server.create(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "validator.training-operator.kubeflow.org"},
        }
    )
