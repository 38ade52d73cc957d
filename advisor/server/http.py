"""The doors of the server: paths, methods, media types, time limits. What is decided is decided elsewhere.

Reviews go through one thread, so that a decision and its hold are one step; `/v1/place` promises nothing and has a
thread of its own, so that a large manifest keeps no review waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from advisor.errors import InputError
from advisor.schema import duration
from advisor.server import bodies, logs, metrics, placing, request, review, scaling, states
from advisor.server.desk import Desk, Rules, Ticket, TooLateError
from advisor.server.metrics import Metrics
from advisor.server.review import Decision
from advisor.server.scaling import Find
from advisor.server.store import Snapshots

T = TypeVar("T")
Handler = Callable[[Request], Awaitable[Response]]

MARGIN = 0.5
"""Seconds of the API server's patience that are left for the way there and back."""

PATIENCE = 30.0
"""Seconds for one `/v1/place`."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What the handlers need. `deciding` is an executor of one thread; `placing` and `looking` may have more.

    `find` looks at objects of the management cluster; None: it cannot be asked. `certificate_fault` says what is wrong
    with the certificate at a time.
    """

    desk: Desk
    snapshots: Snapshots
    rules: Rules
    deadline: float
    metrics: Metrics
    deciding: Executor
    placing: Executor
    looking: Executor
    find: Find | None
    certificate_fault: Callable[[datetime], str]
    clock: Callable[[], datetime]

    def application(self) -> Starlette:
        routes = [
            self._route("/v1/review/advise", self._advise, "POST"),
            self._route("/v1/review/enforce", self._enforce, "POST"),
            self._route("/v1/place", self._place, "POST"),
            self._route("/v1/clusters", self._clusters, "GET"),
            self._route("/healthz", self._healthz, "GET"),
            self._route("/readyz", self._readyz, "GET"),
            self._route("/metrics", self._metrics, "GET"),
        ]
        return Starlette(routes=routes, exception_handlers={HTTPException: _refused})

    def _route(self, path: str, handler: Handler, method: str) -> Route:
        async def answer(asked: Request) -> Response:
            with self.metrics.request(path) as status:
                response = await _guarded(handler, asked)
                status.append(response.status_code)
                return response

        return Route(path, answer, methods=[method])

    # -- admission

    async def _advise(self, asked: Request) -> Response:
        return await self._review(asked, enforced=False)

    async def _enforce(self, asked: Request) -> Response:
        return await self._review(asked, enforced=True)

    async def _review(self, asked: Request, *, enforced: bool) -> Response:
        found = request.parse(bodies.parsed(await bodies.body(asked, bodies.JSON)))
        began, seconds = perf_counter(), self._seconds(asked)
        with self.metrics.deciding("admission"):
            if scaling.concerns(found):
                found, decision = await self._scaled(found, enforced, seconds)
            else:
                decision = await self._decided(found, enforced, seconds)
        self.metrics.decided("admission", decision)
        _log(found, decision, enforced, perf_counter() - began)
        return bodies.answer(review.response(found, decision))

    async def _decided(self, found: request.Request, enforced: bool, seconds: float) -> Decision:
        decision = await self._within(seconds, lambda ticket: self._decide(found, enforced, ticket))
        return decision or review.undecided(seconds)

    async def _scaled(self, found: request.Request, enforced: bool, seconds: float) -> tuple[request.Request, Decision]:
        """The decision about the object that is scaled. To look at it takes half of the time at most."""
        growth = scaling.growth(found)
        if growth == 0:
            return found, Decision(review.WAVED)
        began, patience = perf_counter(), seconds / 2
        looked = asyncio.get_running_loop().run_in_executor(self.looking, self._look, found, patience)
        done, _ = await asyncio.wait({looked}, timeout=patience)
        whole = looked.result() if done else "the management cluster did not answer in time"
        if not isinstance(whole, str):
            return whole, await self._decided(whole, enforced, seconds - (perf_counter() - began))
        strictness = self.rules.strictness if enforced else None
        return found, review.unscaled(whole, strictness) if growth > 0 else Decision(review.WAVED)

    def _look(self, found: request.Request, seconds: float) -> request.Request | str:
        """The request for the object behind it, or why there is none."""
        try:
            return scaling.whole(found, self.find, self.rules.catalog, seconds)
        except InputError as error:
            return str(error.faults[0].message)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not keep an object out
            logs.fault("look failed", error)
            return "a fault of wm-place"

    def _seconds(self, asked: Request) -> float:
        """Our own deadline, or what the API server says that it will wait, less the way there and back."""
        try:
            allowed = duration(asked.query_params["timeout"]) - MARGIN
        except (KeyError, InputError):
            return self.deadline
        return max(0.05, min(self.deadline, allowed))

    async def _within(self, seconds: float, work: Callable[[Ticket], T]) -> T | None:
        """What the deciding thread comes to; None when it is not done in time, and then it leaves no trace."""
        ticket = Ticket()
        future = asyncio.get_running_loop().run_in_executor(self.deciding, work, ticket)
        done, _ = await asyncio.wait({future}, timeout=seconds)
        return None if not done and ticket.claim() else await future

    def _decide(self, found: request.Request, enforced: bool, ticket: Ticket) -> Decision:
        if ticket.claimed and found.operation != request.DELETE:
            return review.undecided(self.deadline)
        try:
            return self.desk.review(found, enforced, ticket)
        except TooLateError:
            return review.undecided(self.deadline)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not keep an object out
            logs.fault("review failed", error)
            return review.broken()

    # -- everything else

    async def _place(self, asked: Request) -> Response:
        body = await bodies.body(asked, bodies.MANIFESTS)
        namespace = asked.query_params.get("namespace") or "default"
        try:
            async with asyncio.timeout(PATIENCE):
                return bodies.answer(await self._placed(body, namespace))
        except TimeoutError:
            return bodies.error(503, f"not answered within {PATIENCE:g} s")

    async def _placed(self, body: bytes, namespace: str) -> Any:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self.placing, placing.manifest, body, self.rules.catalog, namespace)
        clusters, now = await loop.run_in_executor(self.deciding, self.desk.standing)
        question = self.desk.question(found.reading.workloads, clusters, now, thorough=True)
        return await loop.run_in_executor(self.placing, placing.report, found, question)

    async def _clusters(self, asked: Request) -> Response:
        latest, held = self.snapshots.latest(), self.desk.reservations
        return bodies.answer(states.clusters(latest, held, self.clock(), self.rules.max_age))

    async def _healthz(self, asked: Request) -> Response:
        return PlainTextResponse("ok")

    async def _readyz(self, asked: Request) -> Response:
        latest, now = self.snapshots.latest(), self.clock()
        reason = states.unready(latest, self.certificate_fault(now))
        return PlainTextResponse(reason or states.ready(latest, now, self.rules.max_age), 503 if reason else 200)

    async def _metrics(self, asked: Request) -> Response:
        now = self.clock()
        for one in self.snapshots.latest():
            self.metrics.cluster(one.name, one.age(now), failing=one.failure is not None)
        self.metrics.holding(len({hold.key for hold in self.desk.reservations.at(now).holds if hold.pods}))
        return Response(self.metrics.text(), media_type=metrics.MEDIA_TYPE)


async def _guarded(handler: Handler, asked: Request) -> Response:
    """Whatever goes wrong becomes an answer that says so."""
    try:
        return await handler(asked)
    except InputError as error:
        return bodies.error(400, "the body cannot be used", error.faults)
    except HTTPException as error:
        return bodies.error(error.status_code, error.detail)
    except ClientDisconnect:
        return bodies.error(400, "the body ends too early")
    except Exception as error:  # noqa: BLE001 - the one place where any fault of ours becomes an answer
        logs.fault("request failed", error)
        return bodies.error(500, "a fault of wm-place; its log says more")


async def _refused(asked: Request, error: Exception) -> Response:
    """No such path, or not with this method."""
    assert isinstance(error, HTTPException)
    response = bodies.error(error.status_code, error.detail)
    response.headers.update(error.headers or {})
    return response


def _log(found: request.Request, decision: Decision, enforced: bool, seconds: float) -> None:
    verdict, cluster, code = review.outcome(decision.advice.answer) if decision.advice else ("", "", "")
    logs.say(
        "review",
        uid=found.uid,
        operation=found.operation,
        group=found.group,
        kind=found.kind,
        namespace=found.namespace,
        name=found.name,
        dryRun=found.dry_run,
        enforced=enforced,
        decision=decision.word,
        allowed=decision.allowed,
        verdict=verdict,
        cluster=cluster,
        reason=code,
        ms=round(seconds * 1000, 1),
    )
