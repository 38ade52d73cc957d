"""Names of objects, and what is known beforehand of those that a controller makes.

A form is a name with signs for what nobody knows before: `#` is a number, `?` one of the characters that Kubernetes
makes names with (apimachinery `rand`), `*` one or more of them. No name has such signs itself.
"""

from __future__ import annotations

import re

SIGNS = {"#": "[0-9]+", "?": "[bcdfghjklmnpqrstvwxz2456789]", "*": "[bcdfghjklmnpqrstvwxz2456789]+"}


def titled(group: str, kind: str, name: str) -> str:
    """`Job.batch/train`: the kind with its API group, and the name, as kubectl writes both."""
    return f"{kind}.{group}/{name}" if group else f"{kind}/{name}"


def pattern(form: str) -> re.Pattern[str]:
    """What all of a name must match to be of that form."""
    return re.compile("".join(SIGNS.get(sign) or re.escape(sign) for sign in form))


def beginning(form: str) -> str:
    """What all names of that form begin with."""
    return re.split("[#?*]", form, maxsplit=1)[0]
