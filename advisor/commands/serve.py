"""The server: everything that it needs is read and checked before it listens."""

from __future__ import annotations

from advisor import files
from advisor.commands import definitions, exits, fleet
from advisor.commands.given import Clusters, Result
from advisor.errors import at
from advisor.kube import clusters
from advisor.question import Limits
from advisor.server import hub, logs, schema, serving
from advisor.server.desk import Rules

SHARE = 8
"""An answer takes several searches, each of which gets this part of the deadline at most."""


def run(path: str) -> Result:
    """Raises InputError for a configuration that cannot be used."""
    document = schema.only(files.documents(files.read(path)), path)
    config = schema.server_config(document)
    with document.faults(), at("hub"):
        find = hub.finder(clusters.access(config.hub)) if config.hub else None
    planned = fleet.plan(Clusters(clusters=str(config.clusters)))
    accelerators = definitions.accelerators()
    sources = planned.sources(accelerators)
    rules = Rules(
        catalog=definitions.catalog([str(path) for path in config.definitions]),
        accelerators=accelerators,
        policy=planned.policy,
        limits=Limits(deterministic_seconds=config.deadline / SHARE),
        strictness=config.strictness,
        assume_namespaces=planned.assume_namespaces,
        max_age=config.max_age,
        expiry=config.expiry,
        referred=definitions.referred(),
    )
    logs.begin(config.log_level)
    serving.serve(config, sources, rules, find)
    return Result("", exits.PLACED)
