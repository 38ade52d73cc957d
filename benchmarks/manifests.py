"""The gangs that the benchmarks ask about."""

from __future__ import annotations

from typing import Any


def jobset(**roles: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    """Role → (pods, limits)."""
    jobs = [
        {
            "name": name,
            "template": {
                "spec": {
                    "parallelism": count,
                    "completions": count,
                    "template": {
                        "spec": {
                            "restartPolicy": "Never",
                            "containers": [{"name": "main", "image": "example/train", "resources": {"limits": limits}}],
                        }
                    },
                }
            },
        }
        for name, (count, limits) in roles.items()
    ]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "gang"},
        "spec": {"replicatedJobs": jobs},
    }


FOUR_ROLES = jobset(
    head=(1, {"cpu": "8", "memory": "32Gi"}),
    trainer=(64, {"nvidia.com/gpu": 8, "cpu": "64", "memory": "512Gi"}),
    evaluator=(8, {"nvidia.com/gpu": 2, "cpu": "16", "memory": "64Gi"}),
    loader=(16, {"cpu": "12", "memory": "96Gi"}),
)
EIGHT_GPUS = jobset(worker=(1024, {"nvidia.com/gpu": 8}))
FOUR_GPUS = jobset(leader=(1, {"nvidia.com/gpu": 4, "cpu": "8"}), worker=(32, {"nvidia.com/gpu": 4, "cpu": "16"}))
