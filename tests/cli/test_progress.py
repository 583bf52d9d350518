from drfopt.base import progress


def test_nobody_listens_by_default(capsys):
    progress.report("round 1")
    assert capsys.readouterr() == ("", "")


def test_who_listens_hears_and_the_inner_one_hides_the_outer():
    outer, inner = [], []
    with progress.reporting(outer.append):
        progress.report("a")
        with progress.reporting(inner.append):
            progress.report("b")
        progress.report("c")
    progress.report("d")
    assert (outer, inner) == (["a", "c"], ["b"])


def test_the_listener_goes_even_when_the_work_fails():
    heard = []
    try:
        with progress.reporting(heard.append):
            raise ValueError
    except ValueError:
        progress.report("after")
    assert heard == []
