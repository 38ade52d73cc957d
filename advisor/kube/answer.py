"""What an answer of an API server, or the lack of one, means. Pure."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from http.client import HTTPException

import urllib3.exceptions as trouble

from advisor.errors import InputError
from advisor.kube import decode, wire
from advisor.kube.failure import (
    CUT_OFF,
    DNS,
    FORBIDDEN,
    GONE,
    NOT_FOUND,
    NOT_KUBERNETES,
    REFUSED,
    SERVER_ERROR,
    TIMEOUT,
    TLS,
    UNAUTHORIZED,
    ApiError,
)
