"""What becomes a variable: named by what people call it, of the right type, each once; and what stays as it is."""

from dataclasses import replace

import pytest
from tests.unit.releases.mining.logs import SITE, Log

from skillyard.releases.mining.naming import key_of, variable_name
from skillyard.releases.mining.sequences import mine
from skillyard.releases.payload_json import parse_payload, payload_document
from skillyard.releases.payloads import VariableType


def form(*repeats, end="Save"):
    """A form filled several times: each a dictionary of labels and values."""
    logs = []
    for number, values in enumerate(repeats):
        log = Log().open("/new", "New")
        for label, value in values.items():
            log.fill(label, value)
        logs.append(log.click(end, goes_to=f"/things/{number}").session)
    (sequence,) = mine(logs).sequences
    return sequence


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["3", "12"], VariableType.INTEGER),
        (["3.5", "12"], VariableType.NUMBER),
        (["2026-01-31", "2026-02-01"], VariableType.DATE),
        (["a@b.org", "c@d.org"], VariableType.EMAIL),
        (["https://a.org/x", "http://b.org"], VariableType.URL),
        (["007", "12"], VariableType.STRING),
        (["3", "many"], VariableType.STRING),
        (["a.txt", "b.txt"], VariableType.STRING),
    ],
)
def test_a_variable_is_of_the_type_that_all_its_values_are(values, expected):
    sequence = form({"Thing": values[0]}, {"Thing": values[1]})
    assert sequence.payload.variables["thing"].type is expected


@pytest.mark.parametrize("label", ["Phone", "Zip code", "Account number", "Customer ID", "우편번호", "手机"])
def test_digits_that_are_no_amount_are_a_text(label):
    sequence = form({label: "12345"}, {label: "99999"})
    (variable,) = sequence.payload.variables.values()
    assert variable.type is VariableType.STRING


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("User name", "user_name"),
        ("Enter your e-mail address *", "email_address"),
        ("Pick a colour", "colour"),
        ("Pick-up date", "pick_up_date"),
        ("Type of goods", "type_of_goods"),
        ("Input file", "input_file"),
        ("Quantity (required)", "quantity"),
        ("Größe", "grosse"),
        ("이메일 주소", "email"),
        ("처리 담당자", "cheori_damdangja"),
        ("标题", "title"),
        ("送货要求", "value_1"),
        ("お名前", "name"),
        ("1st line", "value_1st_line"),
        ("🙂", "value_1"),
    ],
)
def test_a_variable_is_named_by_its_label_in_plain_letters(label, name):
    sequence = form({label: "one"}, {label: "two"})
    (variable,) = sequence.payload.variables.values()
    assert variable.name == name
    assert label in variable.description


def test_names_are_not_used_twice():
    assert variable_name("Name", taken={"name", "name_2"}) == "name_3"
    assert variable_name("送货", taken={"value_1"}) == "value_2"
    assert key_of("저장", "새 주문") == "save-new-order"
    assert len(key_of("word " * 50)) <= 48


def test_what_was_the_same_every_time_stays():
    sequence = form({"Country": "Germany", "City": "Berlin"}, {"Country": "Germany", "City": "Bonn"})
    assert list(sequence.payload.variables) == ["city"]
    assert 'fill @e1 "Germany"' in [step.text for step in sequence.payload.steps]


def test_the_same_value_in_two_places_is_one_variable():
    sequence = form(
        {"Name": "Ada", "Repeat name": "Ada", "Folder": "home-Ada"},
        {"Name": "Bob", "Repeat name": "Bob", "Folder": "home-Bob"},
    )
    assert list(sequence.payload.variables) == ["name"]
    assert [step.text for step in sequence.payload.steps][1:4] == [
        'fill @e1 "{{name}}"',
        'fill @e2 "{{name}}"',
        'fill @e3 "home-{{name}}"',
    ]


def test_an_address_of_mail_that_holds_a_name_is_a_value_of_its_own():
    sequence = form({"User": "ada", "Mail": "ada@x.org"}, {"User": "bob", "Mail": "bob@x.org"})
    assert list(sequence.payload.variables) == ["user", "mail"]


def test_a_choice_is_named_by_what_is_chosen():
    logs = []
    for speed, city in (("Slow", "Bonn"), ("Fast", "Oslo")):
        log = Log().open("/new").click(speed, role="radio", verb="check", group="Speed of delivery")
        logs.append(log.click(city, role="option").click("Save", goes_to="/ok").session)
    (sequence,) = mine(logs).sequences
    assert sequence.example_values == {"speed_of_delivery": ("Slow", "Fast"), "choice": ("Bonn", "Oslo")}
    assert sequence.payload.steps[1].element.name == "{{speed_of_delivery}}"


def test_a_choice_is_named_by_what_was_clicked_so_that_it_was_offered():
    logs = []
    for name, kind in (("Level", "Tools"), ("Matt black", "Paint")):
        log = Log().open("/new").fill("Item name", name).click("Category", role="combobox")
        logs.append(log.click(kind, role="option", group="New item").click("Save item", goes_to="/ok").session)
    (sequence,) = mine(logs).sequences
    assert sequence.skill_key == "save-item"
    assert list(sequence.payload.variables) == ["item_name", "category"]


def test_parts_of_addresses_are_named_by_their_keys():
    logs = []
    for number, query in ((17, "red"), (18, "blue")):
        log = Log().open(f"/shops/{number}/search?q={query}&page=1").fill("Note", query).click("Keep", goes_to="/ok")
        logs.append(log.session)
    (sequence,) = mine(logs).sequences
    assert sequence.payload.steps[0].text == f"open {SITE}/shops/{{{{shop_id}}}}/search?q={{{{note}}}}&page=1"
    assert sequence.payload.variables["shop_id"].type is VariableType.STRING


def test_secrets_are_variables_without_values():
    logs = []
    for number in (1, 2):
        log = Log().open("/account")
        log.fill("New password", f"{{{{secret:password_{number}}}}}", password=True)
        log.fill("Repeat it", f"{{{{secret:password_{number}}}}}", password=True)
        log.fill("API token", "{{secret:api_token}}").fill("Name", f"n{number}xyz").click("Save", goes_to="/ok")
        logs.append(log.session)
    (sequence,) = mine(logs).sequences
    variables = sequence.payload.variables
    assert {name: one.secret for name, one in variables.items()} == {
        "new_password": True,
        "api_token": True,
        "name": False,
    }
    assert all(one.default is None for one in variables.values())
    assert list(sequence.example_values) == ["name"]


def test_a_name_that_is_its_own_password_is_no_secret():
    logs = []
    for _ in range(2):
        log = Log().open("/").fill("User", "{{secret:password}}")
        log.fill("Password", "{{secret:password}}", password=True)
        logs.append(log.click("Log in", goes_to="/home").click("Go on", goes_to="/ok").session)
    (sequence,) = mine(logs).sequences
    assert {name: one.secret for name, one in sequence.payload.variables.items()} == {"user": False, "password": True}
    assert sequence.example_values == {}


def test_a_secret_in_a_longer_text_is_a_part_of_it():
    logs = [
        Log().shell(f"curl -u {user}:{{{{secret:password}}}} -o {user}.html http://127.0.0.1/x").session
        for user in ("ada", "bob")
    ]
    (sequence,) = mine(logs).sequences
    assert sequence.payload.steps[0].text == ("curl -u {{user}}:{{password}} -o {{user}}.html http://127.0.0.1/x")


def test_a_value_that_was_read_from_a_page_is_said_to_be():
    logs = []
    for code in ("AX-4711", "BY-1234"):
        log = Log().open("/code").step("get text @e1", stdout=f"Your number is {code}.")
        logs.append(log.fill("Number", code).click("Redeem", goes_to="/ok").session)
    (sequence,) = mine(logs).sequences
    assert "earlier step shows" in sequence.payload.variables["number"].description


def test_what_looks_like_a_placeholder_is_a_value_like_any_other():
    sequence = form({"Text": "{{name}}", "Other": "a {{x}}"}, {"Text": "{{other}}", "Other": "a {{x}}"})
    assert [step.text for step in sequence.payload.steps][1:3] == ['fill @e1 "{{text}}"', 'fill @e2 "a {{!x}}"']
    assert sequence.example_values == {"text": ("{{name}}", "{{other}}")}


def test_a_date_in_the_names_of_files_is_called_so():
    logs = []
    for day in ("2026-01-02", "2026-02-03", "2026-03-04"):
        log = Log().shell(f"tar czf bill-{day}.tar.gz bills && sha256sum bill-{day}.tar.gz > bill-{day}.sum")
        logs.append(log.shell("make check").session)
    (sequence,) = mine(logs).sequences
    assert {name: one.type for name, one in sequence.payload.variables.items()} == {"date": VariableType.DATE}


def test_what_a_placeholder_asks_for_is_the_name():
    assert variable_name("Write a comment") == "comment"
    assert variable_name("Describe the problem") == "problem"
    assert variable_name("Write access") == "write_access"


def test_those_of_one_name_are_numbered_as_they_are_met():
    logs = []
    for name, count in (("Ada Lovelace", "3"), ("Bob Lee", "5"), ("Zoë", "12")):
        log = Log().shell("cat > greet.sh <<'E'\nseq $2 | sed s/^/$1/\nE")
        logs.append(log.shell(f"bash greet.sh '{name}' {count}").session)
    (sequence,) = mine(logs).sequences
    assert sequence.payload.steps[-1].text == "bash greet.sh '{{value}}' {{value_2}}"
    assert {name: one.type for name, one in sequence.payload.variables.items()} == {
        "value": VariableType.STRING,
        "value_2": VariableType.INTEGER,
    }


def test_a_value_that_an_earlier_step_shows_names_the_step_it_was_read_from():
    logs = []
    for area, litres, customer in (("61", "8", "Ada"), ("190", "24", "Bob"), ("30", "4", "Cyd")):
        log = Log().shell(f"printf 'area,{area}\\n' > walls.csv").python("print('litres', need('walls.csv'))")
        log.entries[-1] = replace(
            log.entries[-1], execution=replace(log.entries[-1].execution, output=f"litres {litres}\n")
        )
        number = f"PS-10{litres}"
        log.open("/orders/new", "New order").fill("Customer", customer).fill("Litres", litres)
        log.click("Place order", goes_to=f"/orders/done/{litres}").step("get text strong", stdout=number)
        logs.append(log.end().shell(f"echo '{number} {customer}' >> orders.txt").session)
    (sequence,) = mine(logs).sequences
    payload = sequence.payload
    texts = [step.text for step in payload.steps]
    read = {name: texts[variable.from_step - 1] for name, variable in payload.variables.items() if variable.from_step}
    assert read == {"litres": "print('litres', need('walls.csv'))", "text": "click @e3"}
    assert "earlier step shows (step 2)" in payload.variables["litres"].description
    assert payload.unproven == {name: payload.variables[name].from_step for name in ("litres", "text")}
    assert parse_payload(payload_document(payload)) == payload


def test_a_value_that_was_brought_along_is_read_from_no_step():
    logs = []
    for number, customer in (("PS-1000", "Ada"), ("PS-1002", "Bob")):
        log = Log().open("/find", "Find © 2026").fill("Number", number).click("Search", goes_to=f"/orders/{number}")
        log.look(f'- heading "{number} in 2026"').fill("Note", f"sample for {customer}, May 2026")
        logs.append(log.click("Save", goes_to=f"/orders/{number}/saved").session)
    (sequence,) = mine(logs).sequences
    assert not sequence.payload.unproven
