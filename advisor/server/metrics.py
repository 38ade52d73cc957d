"""What Prometheus is told; names as in controller-runtime and federation.md 12. A registry of its own, no globals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from advisor.server.review import Decision, outcome

MEDIA_TYPE = CONTENT_TYPE_LATEST
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2, 3, 5)


class Metrics:
    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._decisions = Counter(
            "wm_place_decisions_total",
            "Decisions, by the door they came through and what they came to.",
            ("layer", "decision", "verdict", "reason", "cluster"),
            registry=registry,
        )
        self._duration = Histogram(
            "wm_place_decision_duration_seconds",
            "From request to decision.",
            ("layer",),
            buckets=BUCKETS,
            registry=registry,
        )
        self._requests = Counter(
            "wm_place_requests_total", "HTTP requests, by path and status.", ("path", "code"), registry=registry
        )
        self._latency = Histogram(
            "wm_place_request_duration_seconds",
            "From request to answer.",
            ("path",),
            buckets=BUCKETS,
            registry=registry,
        )
        self._in_flight = Gauge("wm_place_requests_in_flight", "HTTP requests being answered.", registry=registry)
        self._age = Gauge(
            "wm_place_snapshot_age_seconds", "Age of the snapshot in use.", ("cluster",), registry=registry
        )
        self._failing = Gauge(
            "wm_place_cluster_failing", "1 while the last read of a cluster failed.", ("cluster",), registry=registry
        )
        self._holds = Gauge("wm_place_assumed_placements", "Objects that room is held for.", registry=registry)
        self._reloads = Counter(
            "wm_place_certificate_reloads_total", "Certificates read, by result.", ("result",), registry=registry
        )

    def decided(self, layer: str, decision: Decision) -> None:
        verdict, cluster, code = outcome(decision.advice.answer) if decision.advice else ("", "", "")
        self._decisions.labels(layer, decision.word, verdict, code, cluster).inc()

    @contextmanager
    def deciding(self, layer: str) -> Iterator[None]:
        with self._duration.labels(layer).time():
            yield

    @contextmanager
    def request(self, path: str) -> Iterator[list[int]]:
        """Give it the status in the end."""
        status: list[int] = []
        began = perf_counter()
        with self._in_flight.track_inprogress():
            try:
                yield status
            finally:
                self._latency.labels(path).observe(perf_counter() - began)
                self._requests.labels(path, str(status[0] if status else 500)).inc()

    def reloaded(self, *, well: bool) -> None:
        self._reloads.labels("ok" if well else "failed").inc()

    def cluster(self, name: str, age: float | None, *, failing: bool) -> None:
        self._failing.labels(name).set(failing)
        if age is not None:
            self._age.labels(name).set(age)

    def holding(self, objects: int) -> None:
        self._holds.set(objects)

    def text(self) -> bytes:
        return generate_latest(self._registry)
