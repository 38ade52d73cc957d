"""What it means that no answer came: urllib3's exceptions as causes. Their texts are not repeated, only names from the
operating system and from OpenSSL, which hold nothing of the request."""

from __future__ import annotations

import ssl

from advisor.kube.deadline import Deadline
from advisor.kube.failure import CUT_OFF, DNS, REFUSED, TLS, ApiError


def explained(error: Exception, errand: str, host: str, deadline: Deadline) -> ApiError:
    from urllib3 import exceptions as urllib3

    match error:
        case urllib3.NameResolutionError():
            return ApiError(DNS, f"the name {host} cannot be resolved")
        case urllib3.NewConnectionError() | urllib3.ProxyError():
            return ApiError(REFUSED, f"{host} cannot be reached: {_of_the_system(error)}")
        case urllib3.ConnectTimeoutError() | urllib3.ReadTimeoutError() | TimeoutError():
            return deadline.over()
        case urllib3.SSLError():
            return ApiError(TLS, f"no secure connection to {host}: {_of_openssl(error)}")
    return ApiError(CUT_OFF, f"the connection to {host} broke off while trying to {errand}")


def _of_openssl(error: Exception) -> str:
    inner = next((arg for arg in error.args if isinstance(arg, ssl.SSLError)), None)
    if isinstance(inner, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({inner.verify_message})"
    return ((inner and inner.reason) or "TLS failed").replace("_", " ").lower()


def _of_the_system(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    return "no connection"
