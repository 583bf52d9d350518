"""What commands say, judged on random instances; a false sentence, and one that nobody judges, are found."""

from dataclasses import replace

import pytest
from reported import COMMANDS, run

BAD = ("false", "fault")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_little_of_what_commands_say_is_true(command):
    words = [run(command, 11, number) for number in range(12)]
    assert not [wrong for word, wrong in words if word in BAD]
    assert sum(word == "judged" for word, _ in words) > 6


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_all_that_commands_say_is_true(command, some):
    assert not [one for number in range(some(500)) if (one := run(command, 12, number))[0] in BAD]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_text_that_is_of_no_template_is_found(command, monkeypatch):
    book = COMMANDS[command].book
    monkeypatch.setattr(book, "templates", book.templates[:0])
    assert any("no template" in wrong for number in range(3) for wrong in run(command, 11, number)[1])


def test_every_template_has_a_judge_and_a_name_of_its_own():
    for command in COMMANDS.values():
        names = [template.name for template in command.book.templates]
        assert len(set(names)) == len(names) and all(callable(template.judge) for template in command.book.templates)


def test_a_number_that_is_a_little_off_is_called_false(monkeypatch):
    import said_by_compare

    def less(instance, policies, **how):
        found = compare(instance, policies, **how)
        return replace(found, price_of_fairness={p: v and v * 0.999 for p, v in found.price_of_fairness.items()})

    compare = said_by_compare.compare
    monkeypatch.setattr(said_by_compare, "compare", less)
    assert "false" in [run("compare", 11, number)[0] for number in range(12)]
