"""The server: everything that it needs is read and checked before it listens."""

from __future__ import annotations

from advisor import files
from advisor.commands import definitions, exits, fleet
from advisor.commands.given import Clusters, Result
from advisor.question import Limits
from advisor.server import logs, schema, serving
from advisor.server.desk import Rules

SHARE = 8
"""An answer takes several searches, each of which gets this part of the deadline at most."""


def run(path: str) -> Result:
    """Raises InputError for a configuration that cannot be used."""
    config = schema.server_config(schema.only(files.documents(files.read(path)), path))
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
    serving.serve(config, sources, rules)
    return Result("", exits.PLACED)
