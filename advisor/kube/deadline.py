"""How long one cluster may take, for everything together."""

from __future__ import annotations

import time

from advisor.kube.failure import TIMEOUT, ApiError


class Deadline:
    """A moment `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, more than none. Raises ApiError when they are over."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.over()
        return left

    def over(self) -> ApiError:
        return ApiError(TIMEOUT, f"did not answer in full within {self.seconds:g} s")
