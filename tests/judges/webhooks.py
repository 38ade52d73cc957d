"""A controller's own webhooks, called where the controller runs: on a port of this machine.

The configurations are those of its release (for a Service in the cluster), rewritten to a URL with the authority of the
test server's certificates; what concerns all pods is limited to those that bear the controller's label.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from copy import deepcopy
from pathlib import Path

import yaml

from tests.servers.objects import Object, Objects

KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def read(path: Path) -> Objects:
    found = yaml.safe_load_all(path.read_text())
    return [one for one in found if one and one.get("kind") in KINDS]


def here(configurations: Iterable[Object], name: str, port: int, authority: Path, labels: Mapping[str, str]) -> Objects:
    """The configurations with a URL in place of the Service. `labels`: webhook → the label its pods bear."""
    bundle = base64.b64encode(authority.read_bytes()).decode()
    changed = []
    for given in configurations:
        configuration = deepcopy(given)
        configuration["metadata"] = {"name": f"{name}-{configuration['metadata']['name']}"}
        for webhook in configuration["webhooks"]:
            path = webhook["clientConfig"]["service"].get("path", "/")
            webhook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
            if webhook["name"] in labels:
                has = {"key": labels[webhook["name"]], "operator": "Exists"}
                webhook["objectSelector"] = {"matchExpressions": [has]}
        changed.append(configuration)
    return changed
