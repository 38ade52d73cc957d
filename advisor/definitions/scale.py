"""How many pods a component and everything below it make, by upstream's rule (definitions.md 9.4).

Known to be wrong in known ways (zero and unset are one thing, a path that already multiplies is multiplied again), and
kept as it is: tests compare it with upstream's numbers. Mirrors karta `pkg/instructions/gang_scheduling.go`.
"""

from __future__ import annotations

from advisor.definitions import tree
from advisor.definitions.extract import Extraction, Scale
from advisor.errors import InputError


def subtree(extraction: Extraction, name: str, instance: str | None = None) -> int:
    """The subtree scale of a component, or of one of its instances. Raises InputError when a path cannot be read."""
    scaled = any(component.scale_definition is not None for component in extraction.definition.components)
    return _by_scale(extraction, name, instance) if scaled else _by_leaves(extraction, name, instance)


def _by_scale(extraction: Extraction, name: str, instance: str | None) -> int:
    scales = extraction.scales(name) or {}
    if instance is not None and instance not in scales:
        raise InputError(f"{name} has no instance {instance}")
    own = sum(_effective(scale) for id_, scale in scales.items() if instance in (None, id_))
    below = sum(_by_scale(extraction, child.name, None) for child in tree.children(extraction.definition, name))
    return own * below if own and below else own or below


def _by_leaves(extraction: Extraction, name: str, instance: str | None) -> int:
    component = tree.component(extraction.definition, name)
    if not component.is_leaf:
        return sum(_by_leaves(extraction, child.name, None) for child in tree.children(extraction.definition, name))
    if component.instance_id_path is None:
        return 1
    ids = extraction.ids(name)
    if instance is not None and instance not in ids:
        raise InputError(f"{name} has no instance {instance}")
    return len(ids) if instance is None else 1


def _effective(scale: Scale) -> int:
    return next((number for number in (scale.minimum, scale.replicas) if number is not None and number > 0), 0)
