"""Files that are written all or not at all."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def can_write(folder: Path) -> bool:
    """Whether a file can be made in this folder, found out by making one."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@contextmanager
def drafts(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Paths beside those given, of the same suffixes; what is written there takes its place when all is done."""
    beside = [path.with_name(f".{path.stem}.{os.getpid()}.draft{path.suffix}") for path in paths]
    try:
        yield beside
        for draft, path in zip(beside, paths, strict=True):
            os.replace(draft, path)
    finally:
        for draft in beside:
            draft.unlink(missing_ok=True)
