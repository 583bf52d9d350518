"""From a path to the text of a file, and from a failure to one line that names the file.

Text or bytes into a file, whole or not at all.
"""

import contextlib
import gzip
import io
import os
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ...base.errors import InstanceError, suggestion

__all__ = [
    "DEEPEST",
    "DEEPEST_DOCUMENT",
    "EMPTY",
    "FORMATS",
    "LARGEST",
    "MUCH_TOO_DEEP",
    "STANDARD_INPUT",
    "TOO_DEEP",
    "File",
    "abandon",
    "failure",
    "format_of",
    "one_line",
    "path_of",
    "read_file",
    "read_text",
    "refuse_newer",
    "shown",
    "unfinished",
    "write_whole",
]


DEEPEST = 32
"""Levels of nesting that are read; an instance file has four, a scenario eight."""

TOO_DEEP = f"lists and tables are nested deeper than {DEEPEST} levels: no instance or scenario needs as many"

DEEPEST_DOCUMENT = 96
"""Levels that are read of what other programs write: a tree of queues takes three a level."""

MUCH_TOO_DEEP = f"lists and tables are nested deeper than {DEEPEST_DOCUMENT} levels: no cluster says that"

FORMATS = {".toml": "toml", ".json": "json", ".yaml": "yaml", ".yml": "yaml"}
"""The format of an instance file by its suffix."""

LARGEST = 200 * 2**20
"""Bytes of the largest file that is read: a million users take half of it, beyond it is a mistake."""

PARQUET = b"PAR1"
"""How a Parquet file begins."""

GZIP = b"\x1f\x8b"
"""How a gzip file begins; traces are handed out so."""

STANDARD_INPUT = "standard input"

EMPTY = "is empty: name the file that was meant"
"""What is said of a file without text, unless there is more to say."""

LONGEST_MESSAGE = 600
"""Characters of an error line: what a terminal shows without scrolling; names in a file can be far longer."""

NAMES_LOOKED_AT = 2000
"""Files of a folder among which a near name is sought: in a huge folder a mistyped name costs nothing."""


def one_line(message: str) -> str:
    """Return the message on one line: control characters escaped, the middle of a very long one left out."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in _cut(message))
    return _cut(line)


def _cut(message: str) -> str:
    if len(message) <= LONGEST_MESSAGE:
        return message
    half = LONGEST_MESSAGE // 2
    return f"{message[:half]} ... {message[-half:]}"


IS_A_FOLDER = ("is a folder: name a file in it", "is this folder, and so is an empty name: name a file in it")
"""What is said of a folder where a file is asked for, and of ``.``, which a path makes of an empty name."""


def failure(place: str, sentence: object) -> InstanceError:
    """Return the error ``place: sentence`` on one line."""
    return InstanceError(one_line(f"{place}: {sentence}"))


def refuse_newer(found: object, known: Sequence[str], place: str) -> None:
    """Raise when a document says that it is of another kind, or of a version newer than is known here.

    Parameters
    ----------
    found
        What stands under its key ``schema``; None where nothing does.
    known : sequence of str
        Kinds that are read with their newest versions, such as ``"drfopt instance 1"``.
    place : str
    """
    if found is None:
        return
    kind, _, version = str(found).rpartition(" ")
    newest = {name: int(number) for name, _, number in (text.rpartition(" ") for text in known)}
    if (
        not isinstance(found, str)
        or kind not in newest
        or not (version.isascii() and version.isdecimal())
        or not int(version)
    ):
        raise failure(place, f"schema is {shown(found)}: what is read here is {' or '.join(map(repr, known))}")
    if int(version) > newest[kind]:
        raise failure(
            place, f"schema is {shown(found)}, newer than this program, which knows {newest[kind]}: upgrade drfopt"
        )


def shown(value: object) -> str:
    """Return a value of a file as an error shows it: short, and never the inside of a list or table."""
    if value is None:
        return "empty (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = repr(value[:60]) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def format_of(path: str | Path) -> str:
    """Return ``toml``, ``json`` or ``yaml`` by the suffix of `path`.

    Raises
    ------
    InstanceError
        On any other suffix.
    """
    path_of(path)
    suffix = Path(path).suffix
    if suffix.lower() not in FORMATS:
        said = f"the suffix {suffix!r} is not known" if suffix else "the name has no suffix"
        raise failure(str(path), f"{said}: use {', '.join(FORMATS)}{suggestion(suffix.lower(), FORMATS)}")
    return FORMATS[suffix.lower()]


@dataclass(frozen=True)
class File:
    """A file that was read: its place as errors call it, and its text."""

    place: str
    text: str

    @property
    def name(self) -> str:
        """Its name without the folder."""
        return Path(self.place).name

    @property
    def stem(self) -> str:
        """Its name without folder and suffix."""
        return Path(self.place).stem


def read_file(path: str | Path) -> File:
    """Return a file with its text, once: standard input cannot be read again.

    Raises
    ------
    InstanceError
        As `read_text`.
    """
    return File(STANDARD_INPUT if str(path) == "-" else str(path), read_text(path))


def read_text(path: str | Path, empty: str = EMPTY) -> str:
    """Return the text of a file, or of standard input where `path` is ``-``; `empty` is said of one without any.

    Raises
    ------
    InstanceError
        When the file is missing, not readable, empty, larger than `LARGEST` bytes, or not text in UTF-8.
    """
    path_of(path)
    if str(path) == "-":
        return _decoded(_standard_input(), STANDARD_INPUT, empty)
    place = str(path) or "."
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise failure(place, f"there is no such file{_near(Path(path))}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        if os.path.isdir(place):  # noqa: PTH112  Path.is_dir raises on some of the names that bring us here
            raise failure(place, IS_A_FOLDER[place == "."]) from None
        reason = getattr(error, "strerror", None) or str(error)
        raise failure(place, f"cannot be read ({reason}): check its name and its permissions") from None
    return _decoded(data, place, empty)


def path_of(path: object) -> Path:
    """Return the path that somebody gives.

    Raises
    ------
    InstanceError
        When it is none, nor text.
    """
    if not isinstance(path, str | os.PathLike):
        raise InstanceError(f"a file is named by a {type(path).__name__}: give its path as text")
    return Path(path)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise failure(STANDARD_INPUT, "is closed: name a file instead")
    stream = getattr(sys.stdin, "buffer", None)
    try:
        return stream.read(LARGEST + 1) if stream is not None else sys.stdin.read(LARGEST + 1).encode()
    except (OSError, ValueError) as error:
        raise failure(STANDARD_INPUT, f"cannot be read ({error}): name a file instead") from None


def _decoded(data: bytes, place: str, empty: str) -> str:
    if len(data) > LARGEST:
        raise failure(place, f"is larger than {LARGEST // 2**20} MiB: merge identical users or machines first")
    if data.startswith(PARQUET):
        raise failure(
            place, "is Parquet: users in tables are read by 'drfopt solve --cluster' and solve_partitions alone"
        )
    if data.startswith(GZIP):
        data = _unpacked(data, place)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise failure(
            place,
            f"line {line} is not text in UTF-8 (byte 0x{data[error.start]:02x}): save the file as UTF-8",
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise failure(place, f"line {line} holds a zero byte, so it is no text: name a text file in UTF-8")
    if not text.strip():
        raise failure(place, empty)
    return text


def _unpacked(data: bytes, place: str) -> bytes:
    """Return what a gzip file holds; a small one that would fill the memory is refused."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise failure(place, f"is a damaged gzip file ({error}): write it again") from None
    if len(unpacked) > LARGEST:
        raise failure(place, f"holds more than {LARGEST // 2**20} MiB when unpacked: cut it into parts")
    return unpacked


def _near(path: Path) -> str:
    """Return ``: did you mean ...`` for a file of the same folder with a similar name."""
    folder = path.parent
    try:
        names = list(islice(_files(folder), NAMES_LOOKED_AT))
    except FileNotFoundError:
        return f": the folder {str(folder)!r} does not exist"
    except OSError:
        return ": check the name"
    return suggestion(path.name, names) or ": check the name and the folder"


def _files(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        yield from (entry.name for entry in entries if not entry.is_dir())


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
    path_of(path)
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
        if isinstance(error, FileNotFoundError) and not Path(path).parent.is_dir():
            raise failure(place, f"the folder {str(Path(path).parent)!r} does not exist: make it first") from None
        if isinstance(error, IsADirectoryError):
            raise failure(place, IS_A_FOLDER[place == "."]) from None
        reason = getattr(error, "strerror", None) or str(error)
        raise failure(place, f"cannot be written ({reason}): name another file") from None


def _mode(target: Path) -> int | None:
    """Return the mode of an existing file, None where there is none."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


UNFINISHED: set[Path] = set()
"""Files and folders that are written and have not got their names yet."""


@contextlib.contextmanager
def unfinished(path: Path) -> Iterator[None]:
    """Take a file or a folder away when the block ends, if it is still there, or `abandon` does."""
    UNFINISHED.add(path)
    try:
        yield
    finally:
        _remove(path)
        UNFINISHED.discard(path)


def abandon() -> None:
    """Take away what is unfinished: for who ends the process without the ends of its blocks."""
    for path in tuple(UNFINISHED):
        _remove(path)


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):  # gone when it took its place, or the folder that it was
        path.unlink()


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    part = target.with_name(f".drfopt-{secrets.token_hex(6)}.part")
    # Opened by hand: it gets the permissions of any new file, where tempfile would shut out other readers.
    with unfinished(part):
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            part.chmod(stat.S_IMODE(mode))
        part.replace(target)
