"""Where the catalogue is that is part of the product, and what its files say of kinds beside definitions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

from advisor import files


def builtin_folder() -> FilePath:
    """`advisor/catalog` where the package is installed, `catalog` beside it in a checkout."""
    package = FilePath(__file__).parents[1]
    installed = package / "catalog"
    return installed if installed.is_dir() else package.parent / "catalog"


@lru_cache(maxsize=16)
def by_kind(folder: FilePath, name: str) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """The rules of `NAME.yaml` under the key `name`, each by the group and kind that it is about."""
    (document,) = files.documents(files.read(str(folder / f"{name}.yaml")))
    return {(rule["group"], rule["kind"]): rule for rule in document.data[name]}
