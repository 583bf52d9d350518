"""Wrong usage is one line and status 2; help and version are status 0."""

import pytest

import drfopt as package

COMMANDS = (
    "solve",
    "compare",
    "crosscheck",
    "audit",
    "search",
    "theorems",
    "schedule",
    "explain",
    "whatif",
    "price",
    "sweep",
    "convert",
    "export",
    "new",
    "engines",
    "policies",
    "library",
    "formats",
)


def test_the_bare_program_prints_its_help(drfopt):
    ran = drfopt()
    assert ran.status == 0
    assert ran.err == ""
    for command in COMMANDS:
        assert command in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(drfopt, command):
    ran = drfopt(command, "--help")
    assert ran.status == 0
    assert f"Example: drfopt {command}" in ran.out


def test_version_names_what_computes(drfopt):
    ran = drfopt("--version")
    assert ran.status == 0
    assert ran.out.startswith(f"drfopt {package.__version__}, numpy ")
    assert ", highspy " in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--wrong"], ["--wrong", "see 'drfopt --help'"]),
        (["sovle"], ["'sovle'", "did you mean 'solve'?"]),
        (["solve"], ["INSTANCE", "see 'drfopt solve --help'"]),
        (["solve", "x", "y"], ["(y)", "see 'drfopt solve --help'"]),
        (["solve", "x", "--policy"], ["'--policy' requires an argument; see 'drfopt solve --help'"]),
        (["solve", "x", "--polcy", "drf"], ["--polcy", "--policy"]),
        (["solve", "x", "--format", "tabel"], ["'tabel'", "did you mean 'table'?"]),
        (["solve", "x", "--json", "--format", "csv"], ["--json", "csv", "see 'drfopt solve --help'"]),
        (["solve", "x", "--time-limit", "soon"], ["'soon'", "seconds"]),
        (["solve", "x", "--time-limit", "nan"], ["'nan'"]),
        (["solve", "x", "--time-limit", "-1"], ["'-1'"]),
        (["solve", "x", "--time-limit", "inf"], ["'inf'"]),
        (["solve", "x", "-o"], ["-o"]),
        (["schedule", "x", "--when-full", "stopp"], ["'stopp'", "did you mean 'stop'?"]),
        (["compare", "x", "--policies", ","], ["--policies"]),
        (["sweep", "nsdi2011", "--factors", ","], ["--factors"]),
        (
            ["sweep", "nsdi2011", "--factors", "two"],
            ["(--factors): 'two' is not a number: write a decimal or a fraction"],
        ),
        (["sweep", "nsdi2011", "--factors", "0"], ["cannot be multiplied by 0"]),
        (["sweep", "nsdi2011", "--resource", "cpus"], ["'cpus'", "did you mean 'cpu'?"]),
        (["sweep", "nsdi2011", "--jobs", "0"], ["'0'", "1 or more"]),
        (["solve", "nsdi2011", "--jobs", "0"], ["'0'", "1 or more"]),
        (["convert", "x"], ["--from"]),
        (["solve", "x", "-pdrf", "--policy=ceei"], ["--policy is given as 'drf' and as 'ceei': keep one of them"]),
        (["solve", "x", "-o", "a", "--output", "b"], ["--output is given as 'a' and as 'b'"]),
        (["schedule", "x", "--trace", "--no-trace"], ["--trace and --no-trace are both given: keep one of them"]),
        (["simulate", "x", "--slowdown", "cpu=1,cpu=2"], ["'cpu' is given twice"]),
        (["export", "x", "--to", "csv", "--resource", "a=b,a=c"], ["'a'", "'b'", "'c'", "keep one of them"]),
        (["search", "--policy", "drf", "--formulation", "x.py"], ["--policy and --formulation name two policies"]),
        (["solve", "x", "--jobs", "２"], ["--jobs is given as '２': write it with the digits 0 to 9"]),
        (["solve", "nsdi2011", "-p", "alpha:２"], ["'alpha:２'"]),
        (["convert", "--from", "csv"], ["FILES"]),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line(drfopt, refused, arguments, words):
    refused(drfopt(*arguments), *words)


def test_what_is_a_list_may_be_given_again_and_one_value_twice(drfopt):
    together = drfopt("compare", "nsdi2011", "--policies", "drf,ceei")
    assert together.status == 0
    assert drfopt("compare", "nsdi2011", "-p", "drf", "-p", "ceei").out == together.out
    assert drfopt("policies", "--format", "csv", "--format", "csv").status == 0
    served = drfopt("schedule", "nsdi2011", "--ties", "B", "--ties", "A")
    assert served.out == drfopt("schedule", "nsdi2011", "--ties", "B,A").out


def test_a_name_that_is_nothing_names_both_possibilities_and_the_nearest(drfopt, refused):
    refused(drfopt("solve", "nsdi2012"), "file", "library", "did you mean 'nsdi2011'?")


def test_a_file_nearby_is_suggested(drfopt, refused, cluster):
    refused(drfopt("solve", cluster.with_name("clster.toml")), "cluster.toml")


def test_a_folder_is_refused(drfopt, refused, tmp_path):
    refused(drfopt("solve", tmp_path), str(tmp_path))


def test_a_broken_file_is_refused_by_name(drfopt, refused, tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text("[capacity\ncpu = 9")
    refused(drfopt("solve", path), "broken.toml")


def test_an_unknown_policy_and_an_unknown_engine_are_refused(drfopt, refused, cluster):
    refused(drfopt("solve", cluster, "--policy", "dfr"), "did you mean 'drf'?")
    refused(drfopt("solve", cluster, "--engine", "fillin"), "did you mean 'filling'?")


def test_what_is_written_to_start_from_is_named_as_it_is_read(drfopt, refused, tmp_path):
    for name in ("x.json", "x.yaml", "x.txt"):
        for more in ([], ["--scenario"]):
            refused(drfopt("new", *more, "-o", tmp_path / name), "is TOML: let the name end in .toml")
    assert drfopt("new", "-o", tmp_path / "x.toml").status == drfopt("solve", tmp_path / "x.toml").status == 0


def test_output_into_nowhere_is_refused_before_the_work(drfopt, refused, cluster, tmp_path):
    refused(drfopt("solve", cluster, "-o", tmp_path), "folder")
    refused(drfopt("solve", cluster, "-o", tmp_path / "none" / "x.json"), "none")
    refused(
        drfopt("solve", cluster, "-o", tmp_path / "x.pdf"), "nothing is written as '.pdf'", ".json, .csv, .md, .tex"
    )
    assert drfopt("solve", cluster, "-o", tmp_path / "x.pdf", "--format", "table").status == 0


def test_names_cannot_steer_the_terminal(drfopt, refused):
    ran = drfopt("solve", "no\x1b[31m\nsuch")
    refused(ran)
    assert "\x1b" not in ran.err


def test_a_solver_is_refused_where_none_is_asked_or_none_is_there(drfopt, refused, cluster):
    refused(drfopt("solve", cluster, "--integer", "--solver", "cbx"), "did you mean 'cbc'?")
    refused(drfopt("solve", cluster, "--solver", "cbc"), "ask for whole tasks")
    assert " by cbc, " in drfopt("solve", cluster, "--integer", "--solver", "cbc").out


def test_a_folder_without_parquet_is_none(drfopt, refused, tmp_path):
    refused(drfopt("solve", tmp_path), "is a folder without files *.parquet")
    refused(drfopt("solve", ""), "'' is neither a file nor a library instance")


def test_no_file_is_written_over_another_of_the_same_command(drfopt, refused, cluster, tmp_path):
    same = tmp_path / "same.json"
    words = f"--certificate and --output both name '{same}': name two files"
    refused(drfopt("solve", cluster, "-o", same, "--certificate", same), words)
    assert not same.exists()
    same.write_text("old")
    (tmp_path / "link.json").symlink_to(same)
    refused(drfopt("solve", cluster, "-o", tmp_path / "link.json", "--certificate", same), "both name")
    refused(drfopt("size", cluster, "-t", "A>=5", "--cost", "cpu=1", "-o", same, "--cluster", same), "both name")
    found = drfopt("simulate", "two-users", "--plot", tmp_path / "p.svg", "-o", tmp_path / "p.svg", "--format", "csv")
    refused(found, "--plot and --output both name")
    refused(
        drfopt("convert", "--from", "csv", cluster, "-o", same, "--current", same), "--current and --output both name"
    )
    assert same.read_text() == "old"
    assert drfopt("solve", cluster, "-o", same, "--certificate", tmp_path / "other.json").status == 0
