"""Elements found again by role and name: exactly one, or none."""

import pytest

from skillyard.releases.payloads import Element
from skillyard.releases.replay.page import Page
from skillyard.releases.replay.resolution import (
    NotFoundHereError,
    NothingLikeItError,
    exactly,
    fields_to_type,
    nearly,
    only_of_type,
)

PAGE = Page(
    """
- generic [ref=e20]
  - heading "Orders \\"today\\"" [level=1] [ref=e21]
  - text: Total: 3
  - group "Billing" [ref=e22]
    - textbox "Street" [ref=e1]: Main: 5
  - group "Shipping" [ref=e23]
    - textbox "Street" [ref=e2]
  - textbox "E-mail *" [ref=e3]
  - generic [clickable] [ref=e4]: Open menu
  - button "Save order" [disabled] [ref=e5]
  - link "Help" [ref=e6]
    - /url: /help
  - combobox "Size" [ref=e7]
    - option "Small" [selected]
  - table [ref=e24]
    - row [ref=e25]
      - cell "Ada" [ref=e26]
      - cell [ref=e27]
        - button "Delete" [ref=e8]
    - row [ref=e28]
      - cell "Bob" [ref=e29]
      - cell [ref=e30]
        - button "Delete" [ref=e9]
  - button "New" [ref=e10]
  - button "Cancel" [ref=e11]
""".lstrip("\n")
)


def element(role, name, within=""):
    return Element(role=role, name=name, within=within)


def test_a_snapshot_is_read_with_names_values_and_refs():
    by_ref = {node.ref: node for node in PAGE.elements}
    assert by_ref["@e21"].name == 'Orders "today"'
    assert (by_ref["@e1"].name, by_ref["@e1"].value) == ("Street", "Main: 5")
    assert (by_ref["@e4"].role, by_ref["@e4"].name) == ("generic", "Open menu")
    assert (by_ref["@e5"].disabled, by_ref["@e6"].disabled) == (True, False)
    assert list(PAGE.around(by_ref["@e9"])) == ["Bob"]
    assert list(PAGE.around(by_ref["@e2"])) == ["Shipping"]
    assert "Total: 3" in PAGE.text
    assert "/help" not in PAGE.text
    assert "Main: 5" not in PAGE.text


@pytest.mark.parametrize(
    ("sought", "verb", "ref"),
    [
        (element("link", "Help"), "click", "@e6"),
        (element("link", "  Help "), "click", "@e6"),
        (element("textbox", "Street", "Shipping"), "fill", "@e2"),
        (element("button", "Delete", "Ada"), "click", "@e8"),
        (element("generic", "Open menu"), "click", "@e4"),
        (element("combobox", "Size"), "select", "@e7"),
    ],
)
def test_the_one_element_of_a_role_and_name_is_found(sought, verb, ref):
    found = exactly(PAGE, sought, verb)
    assert (found.ref, found.recovered) == (ref, "")


@pytest.mark.parametrize(
    "sought", [element("button", "Help"), element("button", "Delete", "Cyd"), element("textbox", "street")]
)
def test_nothing_else_is_exactly_it(sought):
    assert exactly(PAGE, sought, "click") is None


def test_of_two_that_are_alike_none_is_taken():
    with pytest.raises(NotFoundHereError, match='2 elements are button "Delete"'):
        exactly(PAGE, element("button", "Delete"), "click")


@pytest.mark.parametrize(
    ("verb", "sought"),
    [
        ("fill", element("button", "New")),
        ("select", element("textbox", "E-mail *")),
        ("check", element("link", "Help")),
    ],
)
def test_a_verb_must_fit_what_was_found(verb, sought):
    with pytest.raises(NotFoundHereError, match=f"'{verb}' does not fit"):
        exactly(PAGE, sought, verb)


@pytest.mark.parametrize(
    ("sought", "verb", "ref", "told"),
    [
        (element("textbox", "Email"), "fill", "@e3", 'textbox "Email" is now textbox "E-mail *"'),
        (element("button", "Save"), "click", "@e5", 'button "Save" is now button "Save order"'),
        (element("button", "Help"), "click", "@e6", 'button "Help" is now link "Help"'),
        (element("textbox", "street", "Billing"), "fill", "@e1", 'textbox "street" is now textbox "Street"'),
    ],
)
def test_a_changed_label_is_recognised_and_told(sought, verb, ref, told):
    found = nearly(PAGE, sought, verb)
    assert (found.ref, found.recovered) == (ref, told)


@pytest.mark.parametrize(
    ("sought", "verb", "said"),
    [
        (element("button", "Submit"), "click", 'has no button "Submit", and nothing that plausibly is it'),
        (element("textbox", "street"), "fill", "both textbox"),
        (element("button", "Delete", "Cyd"), "click", "within 'Cyd'"),
        (element("textbox", "New"), "fill", 'has no textbox "New"'),
    ],
)
def test_what_is_not_there_is_not_guessed(sought, verb, said):
    with pytest.raises(NotFoundHereError, match=said):
        nearly(PAGE, sought, verb)


def test_an_element_of_another_step_is_not_taken_for_it():
    page = Page('- textbox "Customer name" [ref=e1]')
    assert nearly(page, element("textbox", "Customer"), "fill").ref == "@e1"
    with pytest.raises(NotFoundHereError):
        nearly(page, element("textbox", "Customer"), "fill", others=[("textbox", "Customer name")])


FIELDS = Page(
    """
- group "Where" [ref=e20]
  - textbox "Customer name" [ref=e1]
  - textbox "Notes" [ref=e2]
- group "When" [ref=e21]
  - textbox "Delivery date" [ref=e3]
- textbox "Contact" [disabled] [ref=e4]
- button "Order" [ref=e5]
""".lstrip("\n")
)
TYPES = {"@e1": "text", "@e2": "textarea", "@e3": "date", "@e4": "email"}


def typed(kind, within="", role="textbox", **more):
    return Element(role=role, name="Deliver on", tag="input", input_type=kind, within=within, **more)


def test_a_field_that_is_called_otherwise_is_known_by_a_type_that_only_it_has():
    with pytest.raises(NothingLikeItError):
        nearly(FIELDS, typed("date"), "fill")
    assert [node.ref for node in fields_to_type(FIELDS, typed("date"), "fill")] == ["@e1", "@e2", "@e3", "@e4"]
    found = only_of_type(FIELDS, typed("date"), TYPES)
    told = 'textbox "Deliver on" is now textbox "Delivery date", the only field of the type date'
    assert (found.ref, found.recovered) == ("@e3", told)


@pytest.mark.parametrize(
    ("sought", "types", "others"),
    [
        (typed("date"), {**TYPES, "@e1": "date"}, []),
        (typed("date"), TYPES, [("textbox", "Delivery date")]),
        (typed("date", within="Where"), TYPES, []),
        (typed("date", role="combobox"), TYPES, []),
        (typed("time"), TYPES, []),
        (typed("email"), TYPES, []),
    ],
    ids=["two of the type", "of another step", "in another group", "of another role", "none of the type", "disabled"],
)
def test_a_type_that_leaves_a_doubt_says_nothing(sought, types, others):
    assert only_of_type(FIELDS, sought, types, others=others) is None


@pytest.mark.parametrize(
    ("sought", "verb"),
    [
        (typed("text"), "fill"),
        (typed(""), "fill"),
        (typed("number"), "fill"),
        (typed("password", password=True), "fill"),
        (typed("date", password=True), "fill"),
        (typed("date"), "click"),
    ],
)
def test_by_types_that_say_little_and_for_passwords_nothing_is_looked_for(sought, verb):
    assert fields_to_type(FIELDS, sought, verb) == []


def test_something_alike_in_another_group_is_a_doubt_too():
    with pytest.raises(NotFoundHereError) as raised:
        nearly(FIELDS, Element(role="textbox", name="Delivery dates", input_type="date", within="Where"), "fill")
    assert not isinstance(raised.value, NothingLikeItError)


def test_a_row_is_known_by_one_of_its_cells():
    page = Page(
        """
- table [ref=e1]
  - row [ref=e2]
    - cell "Ada" [ref=e3]
    - cell "3 open" [ref=e4]
    - cell [ref=e5]
      - button "Close" [ref=e6]
  - row [ref=e7]
    - cell "Ada Lovelace" [ref=e8]
    - cell "5 open" [ref=e9]
    - cell [ref=e10]
      - button "Close" [ref=e11]
""".lstrip("\n")
    )
    assert exactly(page, element("button", "Close", "Ada"), "click").ref == "@e6"
    assert exactly(page, element("button", "Close", "Lovelace"), "click") is None
