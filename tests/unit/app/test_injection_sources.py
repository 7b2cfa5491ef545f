from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from skillyard.app.injection_sources import AGENT_LABEL, BuiltinSkills, LibraryPicks, Remembered
from skillyard.app.yard import Yard, open_yard
from skillyard.config.settings import Settings
from skillyard.delivery.bundle_source import Desired, Receiver
from skillyard.errors import NotAllowedError
from skillyard.history.entries import Why
from skillyard.identity.owners import Owners
from skillyard.identity.principals import Scope
from skillyard.library.builtin import builtin_root
from skillyard.library.disk import read_folder
from skillyard.library.folder import FolderLibrary

pytestmark = pytest.mark.anyio
RECEIVER = Receiver(owner="kim", sandbox_id="sandbox-1")
WHY = Why(reason="a test asked for it")


@pytest.fixture
async def yard(tmp_path: Path, new_home: Callable[[Path], Path], anyio_backend: str) -> AsyncIterator[Yard]:
    async with open_yard(Settings(home=new_home(tmp_path))) as yard:
        yield yard


class Counting:
    kind = "counting"

    def __init__(self) -> None:
        self.asked = 0

    async def desired(self, receiver: Receiver) -> Desired:
        self.asked += 1
        return Desired()


async def test_a_source_is_asked_again_only_after_a_change_or_for_another_receiver(yard: Yard):
    counting = Counting()
    source = Remembered(counting, yard.database)
    for _ in range(3):
        await source.desired(RECEIVER)
    assert counting.asked == 1
    await source.desired(Receiver(owner="kim", sandbox_id="sandbox-2", labels={"other": "label"}))
    assert counting.asked == 1
    await source.desired(Receiver(owner="kim", sandbox_id="sandbox-1", labels={AGENT_LABEL: "writer"}))
    await source.desired(Receiver(owner="lee", sandbox_id="sandbox-1"))
    assert counting.asked == 3
    await yard.people.ensure_person(await yard.people.ensure_tenant(), "somebody")
    await source.desired(RECEIVER)
    assert counting.asked == 4


async def test_owners_read_with_the_rights_they_have_now(yard: Yard):
    tenant = await yard.people.ensure_tenant()
    person = await yard.people.ensure_person(tenant, "kim")
    principal = await Owners(yard.database).principal(person.id)
    assert (principal.person_id, principal.scope) == (person.id, Scope.READ)
    boss = await yard.access.of_person(await yard.people.ensure_person(tenant, "boss", admin=True))
    await yard.people.set_disabled(boss, "kim", disabled=True, why=WHY)
    with pytest.raises(NotAllowedError):
        await Owners(yard.database).principal(person.id)
    with pytest.raises(NotAllowedError):
        await Owners(yard.database).principal("nobody")


async def test_the_built_in_skills_are_those_of_the_package():
    desired = await BuiltinSkills().desired(RECEIVER)
    for each in desired.bundles:
        assert await each.load() == read_folder(builtin_root() / each.folder).require()
    assert "skill-creator" in {each.folder for each in desired.bundles}


async def test_what_a_library_does_not_have_is_a_shortfall():
    desired = await LibraryPicks(FolderLibrary(builtin_root()), ["skillyard", "nothing"]).desired(RECEIVER)
    assert [each.folder for each in desired.bundles] == ["skillyard"]
    assert "nothing" in desired.shortfalls[0].reason
