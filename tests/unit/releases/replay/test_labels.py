"""Labels that changed a little are recognised; what may mean something else never is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.releases.replay.labels import ENOUGH, SAME, alikeness


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ("User name", "user name"),
        ("User name", "User name *"),
        ("User name:", "User  name (required)"),
        ("Password", "Password*"),
        ("이름", "이름 (필수)"),
        ("姓名", "姓名:"),
        ("Save", "SAVE"),
        ("Cart (2)", "Cart (13)"),
        ("Cart", "Cart [1]"),
    ],
)
def test_case_signs_and_marks_make_no_difference(recorded, found):
    assert alikeness(recorded, found) == SAME


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ("User name", "Username"),
        ("E-mail", "Email"),
        ("Log in", "Login"),
        ("Log in", "Sign in"),
        ("Name of customer", "Customer name of"),
        ("Customer", "Customer name"),
        ("Email", "E-mail address"),
        ("Email address", "Your email address"),
        ("Save", "Save changes"),
        ("Organisation", "Organization"),
        ("Post code", "ZIP code"),
        ("Adress line", "Address line"),
        ("Description", "Description of the problem"),
        ("Continue", "Continue to review"),
        ("Sign in", "Sign in to your account"),
        ("Remember me", "Remember me on this device"),
    ],
)
def test_small_changes_are_recognised(recorded, found):
    assert ENOUGH <= alikeness(recorded, found) < SAME
    assert ENOUGH <= alikeness(found, recorded) < SAME


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ("Save", "Cancel"),
        ("Save order", "Delete order"),
        ("Save", "Save and delete"),
        ("Save", "Do not save"),
        ("Save", "Save as draft"),
        ("Delete", "Delete all"),
        ("Subscribe", "Unsubscribe"),
        ("Date", "Date to"),
        ("Address", "Ship to address"),
        ("Sign", "Sign in"),
        ("Enable", "Disable"),
        ("Log in", "Log out"),
        ("Sign in", "Sign up"),
        ("First name", "Last name"),
        ("Password", "Confirm password"),
        ("New password", "Password"),
        ("Address line 1", "Address line 2"),
        ("Phone", "Phone 2"),
        ("Start date", "End date"),
        ("Billing address", "Shipping address"),
        ("Publish", "Unpublish"),
        ("保存", "取消"),
        ("주문 저장", "주문 삭제"),
        ("Speichern", "Löschen"),
        ("OK", "No"),
        ("", "Save"),
        ("Save", ""),
        ("Submit", "Search"),
    ],
)
def test_what_may_mean_something_else_is_not_it(recorded, found):
    assert alikeness(recorded, found) < ENOUGH
    assert alikeness(found, recorded) < ENOUGH


@given(st.text(max_size=40), st.text(max_size=40))
def test_it_is_the_same_both_ways_and_between_none_and_certain(one, other):
    assert 0 <= alikeness(one, other) == alikeness(other, one) <= SAME
