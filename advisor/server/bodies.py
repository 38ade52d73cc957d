"""Request bodies: no more than is sensible, of a type that is understood, and errors that say what is wrong."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from advisor.errors import Fault, InputError, dotted
from advisor.files import MANIFEST_LIMIT

JSON = ("application/json",)
MANIFESTS = (*JSON, "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain")
THROWN_AWAY = 4 * MANIFEST_LIMIT
PATIENCE = 10.0
"""Seconds for a body to come; an API server waits no longer than 30 for the whole answer."""

TOO_LARGE = f"the body is larger than {MANIFEST_LIMIT >> 20} MiB"


async def body(request: Request, media_types: Sequence[str], patience: float = PATIENCE) -> bytes:
    """The whole body. Raises HTTPException 415, 413 or 408.

    What is too large is thrown away as it comes in, up to a point: a client that is still sending hears no answer.
    """
    stated = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if stated not in media_types:
        raise HTTPException(415, f"Content-Type should be {' or '.join(media_types)}")
    try:
        async with asyncio.timeout(patience):
            return await _read(request)
    except TimeoutError:
        raise HTTPException(408, f"the body did not come within {patience:g} s") from None


async def _read(request: Request) -> bytes:
    parts, size = bytearray(), 0
    async for part in request.stream():
        size += len(part)
        if size <= MANIFEST_LIMIT:
            parts += part
        elif size > THROWN_AWAY:
            break
    if size > MANIFEST_LIMIT:
        raise HTTPException(413, TOO_LARGE)
    return bytes(parts)


def parsed(text: bytes) -> Any:
    """JSON as the standard has it, with numbers that a computer can hold. Raises InputError."""
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        raise InputError("is nested too deeply" if deep else "is not JSON") from None


def _no_number(text: str) -> None:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def answer(content: Any, code: int = 200) -> Response:
    """As JSON in ASCII: what a client sent may come back, and it may hold halves of characters."""
    return Response(json.dumps(content), code, media_type="application/json")


def error(code: int, message: str, faults: Sequence[Fault] = ()) -> Response:
    listed = [_fault(fault) for fault in faults]
    content = {"apiVersion": "wm-place/v1", "kind": "Error", "code": code, "message": message, "faults": listed}
    return answer(content, code)


def _fault(fault: Fault) -> dict[str, Any]:
    return {
        "path": dotted(fault.path) or None,
        "line": fault.where.line if fault.where else None,
        "code": fault.code,
        "text": fault.message,
        "hint": fault.hint or None,
    }
