"""Why an API server could not be read: a cause to decide by, and a sentence for people.

The sentence is made of our own words, host names and the names of resources. It never repeats a response body, a
header or the text of a library's exception, since any of these may hold a credential.
"""

from __future__ import annotations

REFUSED = "refused"
DNS = "dns"
TLS = "tls"
UNAUTHORIZED = "unauthorized"
FORBIDDEN = "forbidden"
TIMEOUT = "timeout"
EXEC_PLUGIN = "exec-plugin"
KUBECONFIG = "kubeconfig"
GONE = "gone"
CUT_OFF = "cut-off"
SERVER_ERROR = "server-error"
NOT_FOUND = "not-found"
NOT_KUBERNETES = "not-kubernetes"
INVALID = "invalid"
EXISTS = "exists"

OF_THE_KIND = (FORBIDDEN, GONE, NOT_FOUND, SERVER_ERROR, INVALID)
"""Causes that concern one kind of object: the other kinds are still worth asking for."""


class ApiError(Exception):
    """Something could not be read from an API server. `cause` is one of the words above."""

    def __init__(self, cause: str, text: str) -> None:
        super().__init__(text)
        self.cause = cause
        self.text = text
