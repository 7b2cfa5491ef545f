"""What must hold afterwards: what was so every time, with nothing in it that changes by itself."""

from tests.unit.releases.mining.logs import SITE, Log

from skillyard.releases.mining.sequences import mine
from skillyard.releases.payloads import CheckKind


def checks(*logs):
    (sequence,) = mine([log.session for log in logs]).sequences
    return [(one.kind, one.value) for one in sequence.payload.postconditions]


def saved(name, *, goes_to="/done", shown=(), look=()):
    log = Log().open("/new", "New thing").fill("Name", name).click("Save", goes_to=goes_to, shown=list(shown))
    return log.look(*look) if look else log


def test_where_it_ended_and_what_was_said_of_the_values():
    found = checks(
        saved("Ada", shown=["Things", "Thing 17 saved for Ada at 12:30."]),
        saved("Bob", shown=["Things", "Thing 18 saved for Bob at 9:05."]),
    )
    assert found == [
        (CheckKind.URL_MATCHES, "**/done"),
        (CheckKind.TEXT_VISIBLE, "saved for {{name}} at"),
        (CheckKind.TEXT_VISIBLE, "Things"),
    ]


def test_numbers_and_values_in_an_address_are_not_asked_for():
    found = checks(saved("Ada", goes_to="/things/17/Ada"), saved("Bob", goes_to="/things/18/Bob"))
    assert found == [(CheckKind.URL_MATCHES, "**/things/*/*")]


def test_what_a_site_gives_a_name_to_is_not_asked_for_by_that_name():
    once = Log(learn=True).open("/new", "New thing").fill("Name", "Ada").fill("Room", "Blue")
    assert checks(once.click("Save", goes_to="/booking/Q-97")) == [(CheckKind.URL_MATCHES, "**/booking/*")]
    found = checks(saved("Ada", goes_to="/things/blue"), saved("Bob", goes_to="/things/teal"))
    assert found == [(CheckKind.URL_MATCHES, "**/things/*")]
    assert checks(saved("Ada", goes_to="/blue"), saved("Bob", goes_to="/teal")) == []


def test_what_follows_a_path_is_allowed_for():
    assert checks(saved("Ada", goes_to="/ok?id=17"), saved("Bob", goes_to="/ok?id=18")) == [
        (CheckKind.URL_MATCHES, "**/ok?**")
    ]
    assert checks(saved("Ada", goes_to="/app#/things/17"), saved("Bob", goes_to="/app#/things/18")) == [
        (CheckKind.URL_MATCHES, "**/app#/things/*")
    ]
    assert checks(saved("Ada", goes_to="/ok?id=17"), saved("Bob", goes_to="/ok")) == []


def test_what_a_look_afterwards_showed_counts():
    lines = ['- heading "Things" [level=1]', "- paragraph: Thank you, NAME", '- textbox "Name": NAME']
    found = checks(*(saved(name, look=[line.replace("NAME", name) for line in lines]) for name in ("Ada", "Bob")))
    assert (CheckKind.TEXT_VISIBLE, "Thank you, {{name}}") in found


def test_what_was_there_before_proves_nothing():
    logs = []
    for name in ("Ada", "Bob"):
        log = Log().open("/new", "New thing").look('- heading "Always there"').fill("Name", name).click("Save")
        logs.append(log.look('- heading "Always there"', '- button "Undo" [ref=e3]'))
    assert checks(*logs) == [(CheckKind.URL_MATCHES, "**/new")]


def test_an_element_that_appeared_is_asked_for_where_nothing_else_can_be():
    logs = []
    for name in ("Ada", "Bob"):
        log = Log().open("/", "Start").look('- button "Save" [ref=e1]').fill("Name", name).click("Save")
        logs.append(log.look('- button "Save" [ref=e1]', '- button "Undo" [ref=e3]'))
    assert checks(*logs) == [(CheckKind.ELEMENT_PRESENT, "button\nUndo")]


def test_what_was_waited_for_is_what_matters():
    logs = [saved(name).step(f'wait --text "Hello {name}"') for name in ("Ada", "Bob")]
    assert (CheckKind.TEXT_VISIBLE, "Hello {{name}}") in checks(*logs)


def test_secrets_are_in_no_check():
    logs = []
    for _ in range(2):
        log = Log().open("/").fill("Password", "{{secret:password}}", password=True)
        log.click("Change", goes_to="/ok", shown=["Your password is now {{secret:password}}, keep it"])
        logs.append(log.click("Go on", goes_to="/end", shown=["It was {{secret:password}}"]))
    assert not [value for _, value in checks(*logs) if "secret" in value or "password" in value]


def test_a_page_opened_at_the_end_to_look_is_where_it_is_checked():
    logs = [
        saved(name).open("/list", "List").step("snapshot", stdout=f"- cell: {name} is listed")
        for name in ("Ada", "Bob")
    ]
    assert checks(*logs) == [
        (CheckKind.URL_MATCHES, "**/list"),
        (CheckKind.TEXT_VISIBLE, "{{name}} is listed"),
    ]
    mixed = [*logs[:1], saved("Bob")]
    assert checks(*mixed) == [(CheckKind.URL_MATCHES, "**/done")]
    assert SITE


def test_files_made_in_a_folder_that_was_gone_into_are_not_sought_elsewhere():
    logs = []
    for name in ("Ada", "Bob", "Zoë"):
        log = Log().shell(f"mkdir -p bills && cd bills && echo {name} > bill.txt && sort bill.txt > sorted.txt")
        logs.append(log.shell(f"tar czf {name}.tar.gz bills > packed.log").session)
    (sequence,) = mine(logs).sequences
    files = {check.value for check in sequence.payload.postconditions if check.kind is CheckKind.FILE_EXISTS}
    assert files == {"bills", "packed.log"}
    assert not sequence.payload.preconditions
