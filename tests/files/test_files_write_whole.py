"""A file is at every moment the old one or the new one, and nothing else is left in its folder."""

import os
import stat
from pathlib import Path

import pytest

from drfopt.base.errors import InstanceError
from drfopt.io.text import files
from drfopt.io.text.files import write_whole


def test_new_and_old_files(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    write_whole(path, "één\n")
    assert path.read_bytes() == "één\n".encode()
    plain = tmp_path / "plain"
    plain.write_text("")
    assert path.stat().st_mode == plain.stat().st_mode, "others may read it as they may read any new file"
    path.chmod(0o640)
    write_whole(str(path), "two")
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(found.name for found in tmp_path.iterdir()) == ["out.txt", "plain"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_relative_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_whole("here.txt", "x")
    assert (tmp_path / "here.txt").read_text() == "x"


def test_a_device_is_written_to(tmp_path: Path) -> None:
    write_whole(os.devnull, "gone")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(InstanceError, match=r"out\.txt: cannot be written \(No space left on device\)"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["out.txt"]


def test_an_interrupt_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "out.txt", "new")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def error_of(path: object) -> str:
        with pytest.raises(InstanceError) as raised:
            write_whole(path, "x")
        assert str(raised.value).isprintable()
        return str(raised.value)

    assert "does not exist: make it first" in error_of(tmp_path / "nowhere" / "out.txt")
    assert error_of(tmp_path).endswith("is a folder: name a file in it")
    assert error_of("") == "the file to write has no name: give one"
    assert "cannot be written" in error_of("/proc/out.txt")
    assert "cannot be written" in error_of("a\0b")
    assert "cannot be written" in error_of(tmp_path / ("a" * 5000))
    path = tmp_path / "out.txt"
    path.write_text("old")
    assert "cannot be written" in error_of(path / "below")
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    assert "cannot be written (it is read-only)" in error_of(path)
    assert path.read_text() == "old"


def test_what_is_unfinished_goes_with_its_block_or_where_no_block_ends(tmp_path: Path) -> None:
    for end in (lambda: None, files.abandon):
        with files.unfinished(tmp_path / "folder"), files.unfinished(tmp_path / "file"):
            (tmp_path / "folder").mkdir()
            (tmp_path / "folder" / "part").write_text("begun")
            (tmp_path / "file").write_text("begun")
            end()
            assert bool(list(tmp_path.iterdir())) == (end is not files.abandon)
        assert list(tmp_path.iterdir()) == []
    (tmp_path / "kept").write_text("whole")
    files.abandon()
    assert [found.name for found in tmp_path.iterdir()] == ["kept"]
