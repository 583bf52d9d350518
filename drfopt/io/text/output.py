"""Text or bytes into a file, whole or not at all."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from ...base.errors import InstanceError
from .input import failure

__all__ = ["write_whole"]


def write_whole(path: str | Path, text: str | bytes) -> None:
    """Write `text` to a file, so that the file is at every moment the old one or the new one.

    Text is written in UTF-8, bytes as they are.  They go to a new file in the same folder, which then takes the place
    of `path`; a link is followed, and an existing file keeps its permissions. A device or pipe (``/dev/stdout``) is
    written to directly.

    Raises
    ------
    InstanceError
        When the file cannot be written; nothing is left behind then.
    """
    place = str(path)
    if not place:
        raise InstanceError("the file to write has no name: give one")
    try:
        data = text if isinstance(text, bytes) else text.encode()
    except UnicodeEncodeError as error:
        character = f"U+{ord(error.object[error.start]):04X}"
        raise failure(place, f"a name holds the character {character}, half of a pair: no file can hold it") from None
    try:
        target = Path(os.path.realpath(path))
        mode = _mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as file:
                file.write(data)
            return
        if mode is not None and not os.access(target, os.W_OK):
            raise PermissionError(None, "it is read-only")
        _replace(target, data, mode)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        if isinstance(error, FileNotFoundError):
            raise failure(place, f"the folder {str(Path(path).parent)!r} does not exist: make it first") from None
        if isinstance(error, IsADirectoryError):
            raise failure(place, "is a folder: name a file in it") from None
        reason = getattr(error, "strerror", None) or str(error)
        raise failure(place, f"cannot be written ({reason}): name another file") from None


def _mode(target: Path) -> int | None:
    """Return the mode of an existing file, None where there is none."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    part = target.with_name(f".drfopt-{secrets.token_hex(6)}.part")
    # Opened by hand: it gets the permissions of any new file, where tempfile would shut out other readers.
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            part.chmod(stat.S_IMODE(mode))
        part.replace(target)
    finally:
        with contextlib.suppress(FileNotFoundError):  # gone when it took its place
            part.unlink()
