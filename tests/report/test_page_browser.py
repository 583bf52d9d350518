"""The page in headless Chromium: silent, alone, as wide as the screen, and all of it usable by keyboard."""

import itertools
import json
import os
import re

import pytest
from clusters_to_show import HOSTILE, NSDI, crowd, hostile, machines, organised

from benchmarks.browser import chromium, missing
from drfopt import what_if
from drfopt.base.tables import clean
from drfopt.planning.sweeping import sweep
from drfopt.reporting import page, study

pytestmark = pytest.mark.browser

WIDTHS = (360, 768, 1440)
USERS = 500

READY = "html[data-ready=yes]"
"""What stands on the page when all its drawings do."""

CUT = """[...document.querySelectorAll(".scroll")].some((one) => one.scrollWidth > one.clientWidth + 1)"""
"""Whether a column or a drawing is cut off."""

OWN = ("file:", "data:", "blob:")
"""Addresses that need no network."""


@pytest.fixture(scope="session")
def browser():
    if reason := missing():
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Return the documents and the files of the pages, by name."""
    folder, found = tmp_path_factory.mktemp("pages"), {}
    for name, instance in (("pool", NSDI), ("machines", machines()), ("hostile", hostile()), ("crowd", crowd(USERS))):
        resource = instance.resources[0]
        document = study(
            instance,
            sweeps=[sweep(instance, ["1/2", "1", "2"], resource=resource, jobs=1)],
            whatifs=[what_if(instance, [f"scale {resource}=2"])],
        )
        path = folder / f"{name}.html"
        path.write_text(page(document), encoding="utf-8")
        found[name] = document, path.as_uri()
    return found


@pytest.fixture
def opened(browser, pages):
    """Return a function that opens a page; what it says or asks of a network fails the test at the end."""
    said, contexts = [], []

    def open_(name, width=1440, scheme="light", **rest):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **rest)
        context.set_offline(True)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: said.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: said.append(f"error: {error}"))
        tab.on("dialog", lambda dialog: (said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        tab.on(
            "request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or said.append(request.url)
        )
        tab.goto(pages[name][1])
        tab.locator(READY).wait_for()
        return tab

    yield open_
    for context in contexts:
        context.close()
    assert not said


def column(tab, table, heading, nth=0):
    """Return position and header cell of the nth column of that heading."""
    heads = tab.locator(f"#table-{table} thead tr:last-child th")
    texts = [text.replace("\u00a0", " ").strip() for text in heads.all_text_contents()]
    place = [i for i, text in enumerate(texts) if text == heading][nth]
    return place, heads.nth(place)


def cells(tab, table, place):
    """Return the values of the rows that are shown: the full number where there is one."""
    return tab.evaluate(
        """([table, place]) => [...document.querySelectorAll(`#table-${table} tbody tr`)].map(
            (row) => row.cells[place].title || row.cells[place].textContent)""",
        [table, place],
    )


@pytest.mark.parametrize("name", ["pool", "machines", "hostile", "crowd"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_no_wider_than_the_screen_and_all_plots_are_there(opened, pages, name, width):
    tab = opened(name, width)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    plots = tab.locator(".drawing svg")
    assert plots.count() >= 8
    sizes = plots.evaluate_all(
        "all => all.map(one => { const b = one.getBoundingClientRect(); return [b.width, b.height]; })"
    )
    assert all(w >= 250 and h >= 30 for w, h in sizes)
    letters = tab.evaluate(
        """() => Math.min(...[...document.querySelectorAll(".drawing svg text")].map((text) => {
            const matrix = text.getScreenCTM();
            return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(matrix.a, matrix.b);
        }))"""
    )
    assert letters >= 9


@pytest.mark.parametrize("name", ["pool", "machines", "hostile"])
def test_names_and_letters_of_drawings_stay_on_their_sheet(opened, name):
    tab = opened(name)
    outside = tab.evaluate(
        """() => [...document.querySelectorAll(".drawing svg text")].filter((text) => {
            const box = text.getBoundingClientRect(), sheet = text.ownerSVGElement.getBoundingClientRect();
            return box.left < sheet.left - 4 || box.right > sheet.right + 4;
        }).map((text) => text.textContent)"""
    )
    assert not outside


def test_a_heading_sorts_by_mouse(opened):
    tab = opened("crowd")
    place, head = column(tab, "users", "dominant share")
    assert head.get_attribute("aria-sort") is None
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    largest = [float(value) for value in cells(tab, "users", place)]
    assert largest == sorted(largest, reverse=True)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    smallest = [float(value) for value in cells(tab, "users", place)]
    assert smallest == sorted(smallest)
    assert smallest[0] < largest[-1]
    assert tab.locator("#table-users th[aria-sort]").count() == 1


def test_a_heading_sorts_by_keyboard_and_names_by_their_numbers(opened):
    tab = opened("crowd")
    place, head = column(tab, "users", "user")
    head.get_by_role("button").focus()
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    names = cells(tab, "users", place)
    numbers = [tuple(map(int, re.findall(r"\d+", name))) for name in names]
    assert numbers == sorted(numbers)
    tab.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    assert tab.evaluate("document.activeElement.closest('th').textContent") == "user"


def test_a_word_filters_and_the_rest_is_counted(opened):
    tab = opened("crowd")
    box = tab.get_by_label("Filter users").last
    status = tab.locator("#table-users [role=status]")
    assert status.text_content() == f"1–25 of {USERS} users"
    box.focus()
    tab.keyboard.type("TEAM-3 user-1")
    names = cells(tab, "users", 0)
    expected = [f"team-3/user-{i}" for i in range(USERS) if i % 7 == 3 and f"user-{i}".startswith("user-1")]
    assert names == expected[:25]
    assert status.text_content() == f"{len(expected)} found, 1–{len(names)} of {len(expected)} ({USERS} in all)"
    box.fill("nobody at all")
    assert cells(tab, "users", 0) == []
    assert "none" in status.text_content()
    box.fill("")
    assert len(cells(tab, "users", 0)) == 25


def test_pages_are_turned_and_nobody_is_lost(opened):
    tab = opened("crowd")
    table = tab.locator("#table-users")
    seen = cells(tab, "users", 0)
    while table.get_by_role("button", name="Next").is_enabled():
        table.get_by_role("button", name="Next").press("Enter")
        seen += cells(tab, "users", 0)
    assert sorted(seen) == sorted(f"team-{i % 7}/user-{i}" for i in range(USERS))
    table.get_by_label("Rows").select_option("0")
    assert len(cells(tab, "users", 0)) == USERS


@pytest.mark.parametrize("name", ["pool", "machines", "hostile", "crowd"])
def test_every_number_is_the_one_in_the_json(opened, pages, name):
    tab = opened(name)
    assert json.loads(tab.locator("#document").text_content()) == json.loads(json.dumps(pages[name][0]))
    wrong = tab.evaluate(
        """() => {
            const root = JSON.parse(document.getElementById("document").textContent);
            const at = (path, key) => {
                let i = 0;
                return path.reduce((found, step) => found[step ?? key[i++]], root);
            };
            const wrong = [];
            let counted = 0;
            for (const table of document.querySelectorAll("table")) {
                const heads = [...table.querySelectorAll("thead tr:last-child th")];
                const paths = heads.map((th) => JSON.parse(th.dataset.at));
                for (const row of table.tBodies[0].rows) {
                    const key = JSON.parse(row.dataset.row);
                    [...row.cells].forEach((cell, j) => {
                        if (!cell.classList.contains("n")) return;
                        const value = at(paths[j], key);
                        const text = cell.title || cell.textContent.replaceAll(",", "");
                        counted += 1;
                        const same = value === null ? text === "–" : Number(text) === value;
                        if (!same) wrong.push([paths[j], key, text, value]);
                    });
                }
            }
            for (const data of document.querySelectorAll("data")) {
                counted += 1;
                if (Number(data.value) !== at(JSON.parse(data.dataset.at), [])) wrong.push(data.outerHTML);
            }
            return counted > 20 ? wrong : ["nothing was looked at"];
        }"""
    )
    assert not wrong


CONTRAST = """() => {
    const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
    const linear = (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const paper = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    const low = [];
    let counted = 0;
    for (const element of document.querySelectorAll("body *")) {
        if (!element.checkVisibility() || ["SCRIPT", "STYLE", "OPTION", "OPTGROUP"].includes(element.tagName)) continue;
        if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
        const drawn = element.namespaceURI.endsWith("svg");
        const style = getComputedStyle(element);
        // Letters on a part: the palette's own test has looked at them and their part's colour.
        const onPart = drawn && /--on-/.test(element.getAttribute("fill"));
        const halo = drawn && style.stroke !== "none";
        if (onPart || halo || element.tagName === "title") continue;
        const ink = parse(drawn ? style.fill : style.color);
        const under = paper(element);
        const [a, b] = [light(ink), light(under)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        counted += 1;
        if (ratio < 4.5 && !element.disabled) low.push([ratio.toFixed(2), element.tagName, element.textContent]);
    }
    return counted > 50 ? low : ["nothing was looked at"];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["pool", "machines"])
def test_letters_contrast_with_their_paper(opened, name, scheme):
    tab = opened(name, scheme=scheme)
    assert not tab.evaluate(CONTRAST)
    # The other theme, by the button this time.
    before = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.locator("#theme").focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert not tab.evaluate(CONTRAST)


def test_the_theme_is_the_systems_until_the_button_says_otherwise(opened):
    tab = opened("pool", scheme="dark")
    button = tab.locator("#theme")
    assert button.get_attribute("aria-label") == "Switch to the light theme"
    tab.emulate_media(color_scheme="light")
    # By a locator: a function that is waited for is compiled in the page, which its content policy forbids.
    tab.locator("#theme[aria-label='Switch to the dark theme']").wait_for()
    button.click()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_keyboard_reaches_everything_in_order(opened):
    tab = opened("machines", width=360)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the results"
    assert tab.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    focusable = tab.evaluate(
        """[...document.querySelectorAll("main :is(a, button, input, select, summary, [tabindex='0'])")]
            .filter((one) => one.checkVisibility()).length"""
    )
    reached = 0
    for _ in range(focusable):
        tab.keyboard.press("Tab")
        reached += tab.evaluate(
            "document.activeElement.closest('main') !== null && document.activeElement.id !== 'main'"
        )
    assert reached == focusable
    names = tab.evaluate(
        """[...document.querySelectorAll("button, input, select, [tabindex='0']")].map(
            (one) => one.ariaLabel || one.textContent.trim() || one.labels?.[0]?.textContent.trim())"""
    )
    assert all(names)


def test_nothing_moves_where_motion_is_not_wanted(opened):
    tab = opened("pool", reduced_motion="reduce")
    assert tab.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    assert tab.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("name", ["pool", "crowd"])
def test_print_is_black_on_white_without_what_cannot_be_pressed(opened, name):
    tab = opened(name, scheme="dark")
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    visible = tab.evaluate(
        """[...document.querySelectorAll("nav, .tools, #theme, #save, .back")]
            .filter((one) => one.checkVisibility()).length"""
    )
    assert visible == 0
    heads = tab.locator("thead tr:last-child th span")
    assert heads.count() and all(head.is_visible() for head in heads.all() if head.text_content())
    assert tab.locator(".drawing svg").first.is_visible()
    assert not tab.evaluate(CONTRAST)
    assert tab.pdf().startswith(b"%PDF")


def test_the_numbers_are_saved_as_a_file(opened, pages):
    tab = opened("pool", accept_downloads=True)
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Save the numbers as JSON").click()
    path = waiting.value.path()
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(pages["pool"][0]))


def test_what_is_chosen_in_the_legend_stands_alone(opened):
    tab = opened("machines")
    figure = tab.locator("#holdings")
    faded = "all => all.filter((one) => Number(getComputedStyle(one).opacity) < 1).length"
    bars = figure.locator(".mark-rect path[fill*=user]")
    assert bars.count() >= 9
    assert bars.evaluate_all(faded) == 0
    button = figure.get_by_role("button", name="web")
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    figure.locator(".mark-rect path[fill*=user1][opacity^='0.1']").first.wait_for()
    seen = bars.evaluate_all("all => all.filter((one) => one.getAttribute('fill').includes('user0')).length")
    assert bars.evaluate_all(faded) == bars.count() - seen
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    figure.locator(".mark-rect path[fill*=user1]:not([opacity^='0.1'])").first.wait_for()
    assert bars.evaluate_all(faded) == 0


@pytest.mark.parametrize("name", ["machines", "hostile"])
def test_a_pointer_is_told_what_it_rests_on(opened, pages, name):
    tab = opened(name)
    first = tab.locator("#holdings .mark-rect path[fill*=user]").first
    # On its letters, where it has some: they tell the same.
    first.hover(force=True)
    told = tab.locator("#vg-tooltip-element.visible")
    told.wait_for()
    user = pages[name][0]["users"][0]["name"]
    assert told.text_content().startswith(f"{clean(user)}: ")
    assert tab.evaluate("window.hacked === undefined")


def test_the_theme_paints_the_drawings_too(opened):
    tab = opened("pool")
    ink = "getComputedStyle(document.querySelector('.drawing text')).fill"
    light = tab.evaluate(ink)
    tab.locator("#theme").click()
    assert tab.evaluate(ink) != light


def test_hostile_names_do_nothing(opened):
    tab = opened("hostile")
    assert tab.evaluate("window.hacked === undefined")
    for place, _ in enumerate(tab.locator("#table-users thead tr:last-child th").all()):
        tab.locator("#table-users thead tr:last-child th").nth(place).get_by_role("button").click()
    assert tab.evaluate("window.hacked === undefined")
    assert set(cells(tab, "users", 0)) == {clean(name) for name in HOSTILE}
    assert tab.title() == "<script>window.hacked = 1</script>"


def test_a_script_that_got_in_would_not_run(browser, pages, tmp_path):
    text = page(pages["pool"][0])
    path = tmp_path / "injected.html"
    path.write_text(text.replace("</main>", "<script>window.hacked = 1</script></main>"), encoding="utf-8")
    tab = browser.new_page()
    tab.goto(path.as_uri())
    tab.locator(READY).wait_for()
    assert tab.evaluate("window.hacked === undefined")
    tab.close()


def test_the_page_has_all_numbers_without_scripts(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(pages["crowd"][1])
    assert tab.locator("#table-users tbody tr").count() == USERS
    # Every drawing in words, and that it is one.
    assert tab.locator(".drawing[aria-label]").count() >= 12
    assert tab.locator("figure details p").count() >= 6
    assert tab.locator("noscript").first.is_visible()
    assert not tab.get_by_role("button").count()
    context.close()


def test_every_width_between_fits_too(opened):
    tab = opened("machines")
    for width in itertools.chain(range(320, 900, 60), (1024, 1280, 1440, 1920)):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, width
        assert not tab.evaluate(CUT), f"a column is cut off at {width}"


def test_columns_without_room_are_folded_away_and_told(opened):
    tab = opened("machines", width=1024)
    box = tab.locator("#table-users")
    more, last = box.locator(".more"), box.locator("thead tr:last-child th").last
    assert not last.is_visible()
    assert re.match(r"\d+ more columns?: ", more.text_content())
    assert last.text_content().strip() in more.text_content()
    more.press("Enter")
    assert last.is_visible()
    assert more.get_attribute("aria-expanded") == "true"
    more.press("Enter")
    assert not last.is_visible()
    tab.emulate_media(media="print")
    assert last.is_visible(), "a print has all of them"
    tab.emulate_media(media="screen")
    tab.set_viewport_size({"width": 2400, "height": 800})
    assert box.locator("tbody tr").first.is_visible()


def test_the_answer_stands_on_the_first_screen(opened):
    tab = opened("machines")
    heads = tab.locator("#summary .answer h3")
    assert heads.count() >= 2
    for place in range(2):
        box = heads.nth(place).bounding_box()
        assert box["y"] + box["height"] < 900


def test_a_plot_is_zoomed_with_shift_and_the_wheel_alone_moves_the_page(opened):
    tab = opened("crowd")
    plot = tab.locator("#shares .drawing svg").first
    plot.scroll_into_view_if_needed()
    ticks = "all => all.map((one) => one.textContent).join()"
    axis = tab.locator("#shares .drawing").first.locator("svg text")
    before, box = axis.evaluate_all(ticks), plot.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.mouse.wheel(0, -40)
    assert axis.evaluate_all(ticks) == before
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tab.keyboard.down("Shift")
    tab.mouse.wheel(0, -400)
    tab.keyboard.up("Shift")
    tab.wait_for_timeout(200)
    assert axis.evaluate_all(ticks) != before


def test_the_mark_of_a_guarantee_stands_below_its_number(browser, tmp_path):
    (tmp_path / "page.html").write_text(page(study(organised())), encoding="utf-8")
    with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
        tab = context.new_page()
        tab.goto((tmp_path / "page.html").as_uri())
        tab.locator(READY).wait_for()
        marks = tab.locator("td.bar[data-mark]").evaluate_all(
            """all => all.map(cell => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                const digits = range.getBoundingClientRect(), box = cell.getBoundingClientRect();
                const size = getComputedStyle(cell).backgroundSize.split(",")[0].split(" ").slice(1).join(" ");
                const high = size.startsWith("calc") ? box.height : parseFloat(size);
                return {digits: [digits.top, digits.height], mark: box.bottom - high, place:
                    getComputedStyle(cell).backgroundPosition.split(",")[0]};
            })"""
        )
    assert marks
    for found in marks:
        top, height = found["digits"]
        # The lowest fifth of a line is below its digits.
        assert found["mark"] >= top + height * 0.8 and found["place"].endswith("calc(100% - 3px)")


@pytest.mark.parametrize("name", ["hostile", "crowd"])
def test_who_gains_by_a_machine_is_read_in_two_lines(opened, name):
    tab = opened(name)
    lines = tab.locator("#rows-prices td bdi").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight))"
    )
    assert lines and max(lines) <= 2.1
