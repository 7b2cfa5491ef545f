"""Fields that are filled in only at some times: one task, in which they may be left as they are."""

import pytest
from tests.unit.releases.mining.logs import Log, sign_in

from skillyard.releases.mining.sequences import mine
from skillyard.releases.payload_json import parse_payload, payload_document
from skillyard.releases.payloads import VariableType

PEOPLE = [("Ada", "3", "By noon"), ("Bob", "5", None), ("Zoë", "7", "At the door")]


def request(log, who, count, note=None, *, gift=False):
    log.fill("Customer", who).fill("Quantity", count)
    if note is not None:
        log.fill("Note", note)
    if gift:
        log.click("Gift wrapping", role="checkbox", verb="check")
    return log.click("Save", goes_to="/ok", shown=[f"Saved for {who}"])


def conditions(sequence):
    return [(step.element.name, step.when) for step in sequence.payload.steps if step.element]


def of_sandboxes():
    return [request(Log().open("/new"), *one).session for one in PEOPLE]


def of_one_sandbox_after_one_sign_in():
    log = sign_in(Log(one_by_one=True))
    for one in PEOPLE:
        request(log.click("New order", role="link", goes_to="/new"), *one)
    return [log.session]


def on_one_page():
    log = Log().open("/new")
    for one in PEOPLE:
        request(log, *one)
    return [log.session]


@pytest.mark.parametrize("logs", [of_sandboxes, of_one_sandbox_after_one_sign_in, on_one_page])
def test_a_field_that_was_not_always_filled_in_is_an_option_of_one_task(logs):
    (sequence,) = mine(logs()).sequences
    assert sequence.repeats == 3
    assert conditions(sequence)[-4:] == [("Customer", ""), ("Quantity", ""), ("Note", "note"), ("Save", "")]
    note = sequence.payload.variables["note"]
    assert (note.default, note.type) == ("", VariableType.STRING)
    assert note.description == "Note; without it, the field is left as it is"
    assert sequence.example_values["note"] == ("By noon", "At the door")
    assert parse_payload(payload_document(sequence.payload)) == sequence.payload
    assert not [check for check in sequence.payload.postconditions if "note" in check.value]


def test_a_box_that_was_ticked_only_once_is_an_option_that_is_true_or_false():
    logs = [request(Log().open("/new"), "Ada", "1", gift=True), request(Log().open("/new"), "Bob", "2")]
    (sequence,) = mine([log.session for log in logs]).sequences
    assert conditions(sequence)[2] == ("Gift wrapping", "gift_wrapping")
    gift = sequence.payload.variables["gift_wrapping"]
    assert (gift.type, gift.default) == (VariableType.BOOLEAN, "false")


def test_however_many_times_were_seen_before_it_is_the_same_task():
    extra = [("Note", "By noon"), ("Coupon", "SPRING"), ("Phone", "5550100")]
    logs = [Log(learn=True).open("/new").fill("Customer", who).fill("Quantity", count) for who, count, _ in PEOPLE]
    sessions = [
        log.fill("Street", who).fill(*more).click("Save", goes_to="/ok").session
        for log, more, (who, *_) in zip(logs, extra, PEOPLE, strict=True)
    ]
    once, twice, (last,) = (mine(sessions[:number]).sequences for number in (1, 2, 3))
    assert (len(once), len(twice), last.repeats) == (1, 1, 3)
    assert {once[0].canonical, twice[0].canonical} < set(last.variants)
    assert once[0].canonical in twice[0].variants


def test_one_of_a_group_that_was_not_always_picked_is_an_option():
    logs = [
        Log().open("/new").fill("Boat", boat).fill("Nights", nights) for boat, nights in (("Otter", "3"), ("Gull", "5"))
    ]
    logs[0].click("16 A", role="radio", group="Shore power")
    (sequence,) = mine([log.click("Save", goes_to="/ok").session for log in logs]).sequences
    assert (sequence.repeats, conditions(sequence)[2]) == (2, ("{{shore_power}}", "shore_power"))
    assert sequence.payload.variables["shore_power"].default == ""


def test_options_of_which_no_two_times_had_the_same_are_all_there():
    first = request(Log().open("/new"), "Ada", "1", "soon").session
    second = request(Log().open("/new"), "Bob", "2", gift=True).session
    (sequence,) = mine([first, second]).sequences
    assert {when for _, when in conditions(sequence)} == {"", "note", "gift_wrapping"}


def test_forms_of_which_more_differs_than_is_the_same_are_different_tasks():
    phone = sign_in(Log()).fill("Phone", "1").click("Save", goes_to="/ok").session
    mail = sign_in(Log()).fill("Mail", "a@b.org").click("Save", goes_to="/ok").session
    assert mine([phone, mail]).sequences == ()


def test_a_password_is_never_an_option():
    plain = request(Log().open("/new"), "Ada", "1").session
    secret = Log().open("/new").fill("Customer", "Bob").fill("Quantity", "2")
    secret.fill("Password", "{{secret:password}}", password=True).click("Save", goes_to="/ok")
    assert mine([plain, secret.session]).sequences == ()


def berth_booked(berth, who, *, mail="E-mail", confirm="Confirm booking", order=1, with_enter=False, **options):
    """A visit to a harbour: sign in, choose a berth from a list, fill in the form, confirm."""
    log = Log(learn=True).open("/", "Harbour").look(f'- textbox "{mail}" [ref=e1]', '- textbox "Password" [ref=e2]')
    log.fill(mail, f"{who}@harbour.test").fill("Password", "{{secret:password}}", password=True)
    if with_enter:  # where it leads is seen only later
        log.step("press Enter", {"role": "textbox", "name": "Password"})
        log.url = "http://127.0.0.1:8000/berths"
    else:
        log.click("Log in", goes_to="/berths")
    log.look('- heading "Berths" [ref=e1]', f'- link "Reserve {berth}" [ref=e2]')
    log.click(f"Reserve {berth}", role="link", goes_to=f"/book/{berth}")
    entries = [("Skipper", who), ("Nights", str(len(who))), ("Boat", f"The {who}"), *options.items()]
    for label, text in entries[::order]:
        log.fill(label, text)
    return log.click("Continue", goes_to="/confirm/7").click(confirm, goes_to="/done", shown=["Thank you"]).session


VISITS = (
    {"berth": "B12", "who": "mira", "Phone": "555"},
    {"berth": "A7", "who": "olaf", "Remarks": "Late", "order": -1, "with_enter": True},
    {"berth": "C3", "who": "ines", "mail": "Email address", "confirm": "Confirm the booking"},
)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_options_labels_that_changed_and_things_of_a_list_together_are_still_one_task(order):
    sessions = [berth_booked(**VISITS[index]) for index in order]
    (sequence,) = mine(sessions).sequences
    assert sequence.repeats == 3
    assert sequence.example_values["berth"] == tuple(VISITS[index]["berth"] for index in order)
    assert {name for name, one in sequence.payload.variables.items() if one.default == ""} == {"phone", "remarks"}
    assert [step.element.name for step in sequence.payload.steps if "Reserve" in str(step.element)] == [
        "Reserve {{berth}}"
    ]
    for many in (1, 2):
        (before,) = mine(sessions[:many]).sequences
        assert before.canonical in {sequence.canonical, *sequence.variants}
