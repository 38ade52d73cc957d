"""Where the catalogue is that is part of the product."""

from __future__ import annotations

from pathlib import Path as FilePath


def builtin_folder() -> FilePath:
    """`advisor/catalog` where the package is installed, `catalog` beside it in a checkout."""
    package = FilePath(__file__).parents[1]
    installed = package / "catalog"
    return installed if installed.is_dir() else package.parent / "catalog"
