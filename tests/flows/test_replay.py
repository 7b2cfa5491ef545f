"""Replays on a real browser in a real sandbox, against a site that does not stay as it was when it was recorded."""

import re

import pytest
from tests.demo_forms import PASSWORD, USER, demo_site
from tests.replay_rooms import replay_rooms

from skillyard.errors import InputError
from skillyard.releases.outcomes import Verdict
from skillyard.releases.payload_json import parse_payload, payload_document
from skillyard.sandbox.network import parse_network
from skillyard.sandbox.sandboxes import SandboxSpec

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG"
CUSTOMER = 'Zoë "Q" O\'Neil <b> 李 $(id) {{x}}'
LOGIN = {"user": USER, "password": PASSWORD}
VALUES = {**LOGIN, "customer": CUSTOMER, "quantity": 7}
LOGIN_VARIABLES = {"user": {"type": "string"}, "password": {"type": "string", "secret": True}}
ORDER = {"customer": CUSTOMER, "quantity": "7", "size": "m", "gift": "yes", "coupon": ""}


@pytest.fixture(scope="module")
def site():
    with demo_site() as site:
        yield site


@pytest.fixture(scope="module")
async def yard(tmp_path_factory, site, anyio_backend):
    """Sandboxes, and one of them with a browser, which all tests share: the page of each opens anew."""
    async with replay_rooms(tmp_path_factory.mktemp("yard")) as yard:
        network = parse_network({"allow": [site.url]})
        spec = SandboxSpec(profile="browser-python", network=network)
        yard.sandbox = await yard.rooms.sandboxes.create(yard.caller, spec)
        signed_in = [f"open {site.url}/", "eval \"document.cookie = 'in=yes; path=/'\""]
        await yard.rooms.browsing.batch(yard.caller, yard.sandbox.id, signed_in)

        async def replay(payload, values, **more):
            wish = {"sandbox_id": yard.sandbox.id, "seconds": 60, **more}
            return await yard.replayer.replay(yard.caller, payload, values, **wish)

        yard.replay = replay
        yield yard


def step(cmd, role=None, name="", checks=(), **element):
    written = {"type": "browser", "cmd": cmd}
    if role:
        written["element"] = {"role": role, "name": name, **element}
    if checks:
        written["postcondition"] = list(checks)
    return written


def shows(text):
    return {"kind": "text_visible", "value": text}


def ordering(site, *before):
    """Orders something, after some steps of others."""
    return parse_payload(
        {
            "kind": "browser",
            "network": [site.url],
            "variables": {
                **LOGIN_VARIABLES,
                "customer": {"type": "string"},
                "quantity": {"type": "integer"},
                "size": {"type": "string", "default": "m"},
            },
            "steps": [
                *before,
                step('fill @e1 "{{customer}}"', "textbox", "Customer"),
                step('fill @e2 "{{quantity}}"', "spinbutton", "Quantity"),
                step('select @e3 "{{size}}"', "combobox", "Size"),
                step("check @e4", "checkbox", "Gift wrapping"),
                step("click @e5", "button", "Save", [shows("saved for {{customer}}")]),
            ],
            "postconditions": [{"kind": "element_present", "role": "heading", "name": "Orders"}],
        }
    )


@pytest.fixture
def login(site):
    return [
        step(f"open {site.url}/"),
        step("snapshot -i"),
        step('fill @e1 "{{user}}"', "textbox", "User name"),
        step('fill @e2 "{{password}}"', "textbox", "Password", password=True),
        step("click @e3", "button", "Sign in", [{"kind": "url_matches", "value": "/orders"}]),
    ]


@pytest.fixture
def whole(site, login):
    """From the login to the order."""
    return ordering(site, *login, step("click @e1", "link", "New order"))


@pytest.fixture
def order(site):
    """The order alone, of someone who is signed in."""
    return ordering(site, step(f"open {site.url}/orders/new"))


async def test_it_passes_with_new_values_on_a_page_in_another_order(yard, site, whole):
    site.reset("reordered")
    done = await yard.replay(whole, VALUES)
    assert (done.verdict, done.reason, done.step) == (Verdict.PASS, "", None)
    assert (site.orders, site.logins) == ([ORDER], [(USER, PASSWORD)])
    assert done.screenshot.startswith(PNG)
    assert done.total_steps == len(done.steps) == len(whole.steps)
    assert [report.recovered for report in done.steps if report.recovered] == []


async def test_a_replay_is_one_execution_from_which_nothing_is_learned_and_that_holds_no_secret(yard, site, login):
    site.reset()
    payload = parse_payload({"kind": "browser", "variables": LOGIN_VARIABLES, "steps": login})
    done = await yard.replay(payload, LOGIN)
    (execution_id,) = done.execution_ids
    kept = await yard.rooms.log.get(yard.sandbox.id, execution_id)
    assert (kept.success, kept.learn, kept.tags) == (True, False, "skill-replay")
    assert 'fill @e2 "{{password}}"' in kept.code
    stored = b"".join(path.read_bytes() for path in yard.home.rglob("*") if path.is_file())
    assert PASSWORD.encode() not in stored
    assert PASSWORD not in repr(done)


async def test_a_form_that_comes_late_is_waited_for(yard, site, order):
    site.reset("slow")
    done = await yard.replay(order, VALUES)
    assert done.passed, done.reason
    assert site.orders == [ORDER]


@pytest.mark.parametrize("coupon", ["", "TEA-10"])
async def test_a_field_is_left_as_it_is_where_nothing_is_given_for_it(yard, site, order, coupon):
    site.reset("reordered")
    optional = {**step('fill @e9 "{{coupon}}"', "textbox", "Coupon"), "when": "coupon"}
    document = payload_document(order)
    document["steps"].insert(1, optional)
    document["variables"]["coupon"] = {"default": ""}
    given = {"coupon": coupon} if coupon else {}
    done = await yard.replay(parse_payload(document), {**VALUES, **given})
    assert done.passed, done.reason
    assert (site.orders, len(done.steps)) == ([{**ORDER, "coupon": coupon}], len(order.steps) + 1)
    kept = await yard.rooms.log.get(yard.sandbox.id, done.execution_ids[0])
    assert kept.success


async def test_steps_after_the_one_that_failed_are_not_told_as_left_out(yard, site, order):
    site.reset("two_customers")
    document = payload_document(order)
    optional = {**step('fill @e9 "{{coupon}}"', "textbox", "Coupon"), "when": "coupon"}
    document["steps"][1:1] = [optional]
    document["steps"].append(optional)
    document["steps"].append({"type": "shell", "cmd": "echo {{coupon}}", "when": "coupon"})
    document["kind"] = "hybrid_sequence"
    document["variables"]["coupon"] = {"default": ""}
    payload = parse_payload(document)
    done = await yard.replay(payload, VALUES)
    assert (done.verdict, done.step) == (Verdict.STEP_FAIL, 2)
    assert [(report.index, report.success) for report in done.steps] == [(0, True), (1, True), (2, False)]
    on = await yard.replay(payload, VALUES, stop_on_error=False)
    assert [report.index for report in on.steps] == list(range(len(payload.steps)))


async def test_what_the_page_itself_says_went_wrong_is_quoted_without_the_secret(yard, site, login):
    site.reset("echoes")
    *before, sign_in = login
    steps = [*before, {**sign_in, "postcondition": []}, step("click @e1", "link", "New order")]
    payload = parse_payload({"kind": "browser", "variables": LOGIN_VARIABLES, "steps": steps})
    wrong = "not-the-password"
    done = await yard.replay(payload, {**LOGIN, "password": wrong})
    assert (done.verdict, done.step) == (Verdict.STEP_FAIL, 5)
    assert 'has no link "New order"' in done.reason
    assert "The page says: “The user name or the password is wrong: " in done.reason
    assert wrong not in done.reason
    assert "\n" not in done.reason

    checked = parse_payload({"kind": "browser", "variables": LOGIN_VARIABLES, "steps": login})
    done = await yard.replay(checked, {**LOGIN, "password": wrong})
    assert done.verdict is Verdict.POSTCONDITION_FAIL
    assert "The page says: “The user name or the password is wrong: " in done.reason


async def test_labels_that_changed_a_little_are_recognised_and_told(yard, site, order):
    site.reset("relabelled")
    done = await yard.replay(order, VALUES)
    assert done.passed, done.reason
    assert site.orders == [ORDER]
    assert [report.recovered for report in done.steps if report.recovered] == [
        'textbox "Customer" is now textbox "Customer name"',
        'spinbutton "Quantity" is now spinbutton "Quantity (required)"',
        'button "Save" is now button "Save order"',
    ]


def dated(order, **element):
    """The order with a date, of which the field was called otherwise."""
    document = payload_document(order)
    document["variables"]["due"] = {"type": "date"}
    recorded = step('fill @e8 "{{due}}"', "textbox", "Deliver on", tag="input", **element)
    document["steps"].insert(2, recorded)
    return parse_payload(document)


async def test_a_date_is_found_by_its_type_where_the_page_asks_for_only_one(yard, site, order):
    site.reset("dated")
    done = await yard.replay(dated(order, input_type="date"), {**VALUES, "due": "2027-03-04"})
    assert done.passed, done.reason
    assert site.orders == [{**ORDER, "due": "2027-03-04"}]
    assert [report.recovered for report in done.steps if report.recovered] == [
        'textbox "Deliver on" is now textbox "Delivery date", the only field of the type date'
    ]


@pytest.mark.parametrize(
    ("look", "kind"), [("two_dates", "date"), ("dated", "text"), ("dated", "time"), ("plain", "date")]
)
async def test_a_field_is_not_guessed_by_its_type_where_there_is_a_doubt(yard, site, order, look, kind):
    site.reset(look)
    done = await yard.replay(dated(order, input_type=kind), {**VALUES, "due": "2027-03-04"})
    assert (done.verdict, done.step, site.orders) == (Verdict.STEP_FAIL, 2, [])
    assert 'has no textbox "Deliver on", and nothing that plausibly is it' in done.reason


@pytest.mark.parametrize(
    ("look", "step", "verdict", "reason"),
    [
        ("no_submit", 5, Verdict.STEP_FAIL, 'has no button "Save"'),
        ("opposite", 5, Verdict.STEP_FAIL, 'It has button "Delete order", button "Cancel"'),
        ("does_nothing", 5, Verdict.POSTCONDITION_FAIL, "does not show 'saved for Zoë"),
        ("two_customers", 1, Verdict.STEP_FAIL, '2 elements are textbox "Customer"'),
    ],
)
async def test_a_page_that_is_not_what_it_was_fails_loudly(yard, site, order, look, step, verdict, reason):
    site.reset(look)
    done = await yard.replay(order, VALUES)
    assert (done.verdict, done.step) == (verdict, step)
    assert reason in done.reason
    assert (site.orders, site.deleted) == ([], [])
    assert done.screenshot.startswith(PNG)


async def test_after_a_step_that_failed_it_goes_on_where_that_is_wanted_and_shows_where_it_failed_first(
    yard, site, order
):
    site.reset("two_customers")
    done = await yard.replay(order, VALUES, stop_on_error=False)
    assert (done.verdict, done.step, done.total_steps) == (Verdict.STEP_FAIL, 1, 6)
    assert [report.exit_code for report in done.steps][:5] == [0, 1, 0, 0, 0]
    assert '2 elements are textbox "Customer"' in done.reason
    assert done.screenshot.startswith(PNG)


async def test_a_secret_is_not_typed_where_everybody_could_read_it(yard, site, login):
    site.reset("clear_password")
    payload = parse_payload({"kind": "browser", "variables": LOGIN_VARIABLES, "steps": login})
    done = await yard.replay(payload, LOGIN)
    assert (done.verdict, done.step, site.logins) == (Verdict.STEP_FAIL, 3, [])
    assert "only written into a password field" in done.reason
    assert done.screenshot.startswith(PNG)


async def test_a_secret_goes_into_the_very_text_field_that_it_was_recorded_in_and_then_no_picture_is_taken(
    yard, site, login
):
    site.reset("clear_password")
    login[3] = step('fill @e2 "{{password}}"', "textbox", "Password", tag="input", input_type="text")
    payload = parse_payload({"kind": "browser", "variables": LOGIN_VARIABLES, "steps": login})
    done = await yard.replay(payload, LOGIN)
    assert (done.verdict, done.screenshot, site.logins) == (Verdict.PASS, None, [(USER, PASSWORD)])


async def test_refs_of_which_nothing_is_recorded_never_take_a_secret_into_another_field(yard, site):
    site.reset("reordered")
    raw = {
        "kind": "hybrid_sequence",
        "variables": {"username": {"type": "string"}, "password": {"type": "string", "secret": True}},
        "steps": [
            step(f"open {site.url}/"),
            step('fill @e2 "{{username}}"'),
            step('fill @e4 "{{password}}"'),
            {"type": "python", "code": "print('Login step completed')"},
        ],
    }
    done = await yard.replay(parse_payload(raw), {"username": USER, "password": PASSWORD})
    assert (done.verdict, done.step) == (Verdict.STEP_FAIL, 2)
    assert "only written into a password field" in done.reason
    raw["steps"][1:3] = [step('fill @e1 "{{username}}"')]
    blind = await yard.replay(parse_payload(raw), {"username": USER, "password": PASSWORD})
    assert (blind.verdict, blind.step) == (Verdict.STEP_FAIL, 1)
    assert "@e1 is a button 'Sign in' now" in blind.reason


async def test_the_row_that_is_meant_is_told_by_its_group(yard, site):
    site.reset()
    site.orders += [{"customer": name, "quantity": "1", "size": "s"} for name in ("Ada", "Bob", "Cyd")]
    steps = [step(f"open {site.url}/orders"), step("click @e1", "button", "Delete", within="{{who}} 1 s")]
    payload = parse_payload({"kind": "browser", "variables": {"who": {}}, "steps": steps})
    done = await yard.replay(payload, {"who": "Bob"})
    assert done.passed, done.reason
    assert site.deleted == ["Bob"]
    gone = await yard.replay(payload, {"who": "Bob"})
    assert gone.verdict is Verdict.STEP_FAIL
    assert site.deleted == ["Bob"]


async def test_what_must_hold_before_is_looked_at_first(yard, site):
    site.reset()
    payload = parse_payload(
        {
            "kind": "browser",
            "preconditions": [shows("Welcome back")],
            "steps": [step(f"open {site.url}/"), step("click @e3", "button", "Sign in")],
        }
    )
    done = await yard.replay(payload, {})
    assert (done.verdict, done.step, site.logins) == (Verdict.PRECONDITION_FAIL, None, [])


async def test_a_page_that_the_server_refuses_is_a_failure(yard, site):
    site.reset()
    done = await yard.replay(parse_payload([f"open {site.url}/nowhere"], kind="browser"), {})
    assert (done.verdict, done.step) == (Verdict.STEP_FAIL, 0)
    assert "HTTP 404" in done.reason


async def test_rows_of_a_browser_and_of_code_take_turns_and_pages_are_looked_at_in_the_end(yard, site):
    site.reset()
    document = {
        "kind": "hybrid_sequence",
        "variables": {"who": {}},
        "steps": [
            step(f"open {site.url}/"),
            {"type": "shell", "cmd": "printf %s {{who}} > who.txt"},
            step('find role textbox fill "{{who}}" --name "user name"'),
            step("get value @e1", "textbox", "User name", [{"kind": "output_contains", "value": "{{who}}"}]),
            {"type": "python", "code": "print(open('who.txt').read())"},
        ],
        "postconditions": [shows("Sign in to Orders"), {"kind": "output_contains", "value": "{{who}}"}],
    }
    done = await yard.replay(parse_payload(document), {"who": "Ada"})
    assert done.passed, done.reason
    assert (len(done.execution_ids), done.steps[4].output) == (5, "Ada\n")
    assert done.steps[2].recovered == 'textbox "user name" is now textbox "User name"'
    document["postconditions"] = [shows("Somewhere else")]
    done = await yard.replay(parse_payload(document), {"who": "Ada"})
    assert (done.verdict, done.step) == (Verdict.POSTCONDITION_FAIL, None)
    assert done.screenshot.startswith(PNG)


async def test_the_time_of_the_whole_is_kept(yard, site):
    site.reset()
    steps = [f"open {site.url}/", "wait --text Never", "wait --text Never"]
    done = await yard.replay(parse_payload(steps, kind="browser"), {}, seconds=2)
    assert (done.verdict, done.step) == (Verdict.STEP_FAIL, 1)
    assert done.milliseconds < 4_000


async def test_a_sandbox_that_may_not_reach_the_same_is_no_place_for_it(yard, order):
    own = await yard.rooms.sandboxes.create(yard.caller, SandboxSpec())
    done = await yard.replay(order, VALUES, sandbox_id=own.id)
    assert (done.verdict, done.step, done.steps) == (Verdict.PRECONDITION_FAIL, None, ())
    assert "cannot do browser" in done.reason
    wide = await yard.rooms.sandboxes.create(yard.caller, SandboxSpec(profile="browser-python"))
    done = await yard.replay(order, VALUES, sandbox_id=wide.id)
    assert (done.verdict, "may not reach" in done.reason) == (Verdict.PRECONDITION_FAIL, True)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"customer": "Ada"}, "no value is given for password (secret), quantity (integer), user (string)"),
        ({**VALUES, "coupon": "x"}, "there is no variable 'coupon'"),
        ({**VALUES, "quantity": "many"}, "'many' is not a whole number"),
        ({**VALUES, "password": 5}, "variables.password: its value is not a text"),
    ],
)
async def test_wrong_values_are_refused_before_anything_is_done(yard, site, order, values, said):
    site.reset()
    with pytest.raises(InputError, match=re.escape(said)):
        await yard.replay(order, values, sandbox_id=None)
    assert len((await yard.rooms.sandboxes.page(yard.caller)).sandboxes) <= 3
