import itertools

import pytest

from skillyard.errors import NotAllowedError
from skillyard.identity.principals import Principal, Role, Scope


@pytest.mark.parametrize("kind", [Role, Scope])
def test_each_rank_covers_itself_and_those_before_it(kind):
    for (low, first), (high, second) in itertools.combinations(enumerate(kind), 2):
        assert low < high
        assert second.covers(first)
        assert not first.covers(second)
        assert first.covers(first)


def principal(**fields):
    return Principal(**{"person_id": "p", "name": "jane", "tenant_id": "t", "scope": Scope.ADMIN, **fields})


def test_a_principal_holds_the_keys_of_tenant_person_and_namespaces():
    held = principal(roles={"n": Role.VIEWER}).audiences
    assert held == {"tenant:t", "person:p", "namespace:n"}


def test_only_an_administrator_with_a_token_for_it_holds_the_administrators_key():
    assert "admins:t" in principal(admin=True).audiences
    assert "admins:t" not in principal(admin=True, scope=Scope.PUBLISH).audiences
    assert "admins:t" not in principal().audiences


def test_a_missing_scope_is_named_with_what_is_there():
    with pytest.raises(NotAllowedError) as caught:
        principal(scope=Scope.READ).require_scope(Scope.PUBLISH)
    assert caught.value.details == {"needed": "publish", "scope": "read"}


def test_administering_needs_the_person_and_the_scope():
    principal(admin=True).require_admin()
    for lesser in (principal(), principal(admin=True, scope=Scope.PUBLISH)):
        with pytest.raises(NotAllowedError):
            lesser.require_admin()
