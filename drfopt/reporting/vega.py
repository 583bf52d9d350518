"""The program that draws: vl-convert, which draws without a browser, and the script that it has for one.

Putting that script together takes a second or two, and it is the same every time: it is kept in the user's cache folder
(``$XDG_CACHE_HOME`` or ``~/.cache``), by the version of vl-convert. What cannot be kept, or read, is put together anew.
"""

import base64
import gzip
import os
import zlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..base.errors import DrfoptError, InstanceError
from ..io.text.files import write_whole

__all__ = ["converter", "library"]


def converter() -> Any:
    """Return vl-convert, which draws without a browser and has the library for one; or say which extra has it."""
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise DrfoptError(
            'drawing needs vl-convert-python, which is not installed: pip install "drfopt[plot]"'
        ) from None
    return vl_convert


@cache
def library() -> tuple[str, str]:
    """Return the script that draws on a page, and the same compressed, in letters."""
    drawer, folder = converter(), _cache_folder()
    kept = folder and folder / f"vega-{version('vl-convert-python')}.js.gz"
    if kept:
        with suppress(OSError, EOFError, zlib.error, UnicodeDecodeError):
            packed = kept.read_bytes()
            return gzip.decompress(packed).decode(), base64.b64encode(packed).decode()
    script = drawer.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    packed = gzip.compress(script.encode(), mtime=0)
    if kept:
        with suppress(OSError, InstanceError):
            kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(kept, packed)
    return script, base64.b64encode(packed).decode()


def _cache_folder() -> Path | None:
    """Return where the user keeps what can be made again; None where there is no such place."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    with suppress(RuntimeError):  # Nobody may have no home.
        folder = given if given.is_absolute() else Path("~/.cache").expanduser()
        return folder / "drfopt"
    return None
