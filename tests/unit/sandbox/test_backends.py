import pytest

from skillyard.errors import UnavailableError, UsageError
from skillyard.sandbox.backends import Backends, BackendSettings
from skillyard.sandbox.capabilities import BOUNDARY, Barrier, Capabilities
from skillyard.sandbox.network import Endpoint, NetworkPolicy
from skillyard.sandbox.place import Place

pytestmark = pytest.mark.anyio
NAMES = ("bwrap", "landlock", "docker", "mcp", "unsafe")


class Offers:
    """A backend that offers something, and does nothing."""

    def __init__(self, name, *, enforced=(), available=True):
        self.name = name
        self.closed = False
        self._offered = Capabilities(
            backend=name,
            available=available,
            enforced=frozenset(enforced),
            reason=f"{name} is missing." if not available else "",
            fix=f"install {name}" if not available else "",
        )

    async def capabilities(self):
        return self._offered

    async def close(self):
        self.closed = True


def absent(name):
    return Offers(name, available=False)


@pytest.fixture
def backends(tmp_path):
    def make(*offered, **settings):
        backends = Backends(BackendSettings(folder=tmp_path, **settings))
        given = {each.name: each for each in offered}
        backends._made = {name: given.get(name) or absent(name) for name in NAMES}
        return backends

    return make


async def test_the_first_that_makes_a_boundary_is_chosen(backends):
    chosen = await backends(Offers("landlock", enforced=BOUNDARY), Offers("docker", enforced=BOUNDARY)).choose(None)
    assert chosen.name == "landlock"


async def test_what_contains_too_little_is_passed_over(backends):
    weak = Offers("bwrap", enforced=BOUNDARY - {Barrier.KERNEL})
    assert (await backends(weak, Offers("docker", enforced=BOUNDARY)).choose(None)).name == "docker"


async def test_a_barrier_that_is_required_decides(backends):
    weak, strong = Offers("bwrap", enforced=BOUNDARY), Offers("docker", enforced=BOUNDARY | {Barrier.MEMORY_TOTAL})
    assert (await backends(weak, strong).choose(None, [Barrier.MEMORY_TOTAL])).name == "docker"


async def test_with_none_it_fails_with_every_reason_and_the_first_fix(backends):
    with pytest.raises(UnavailableError) as refused:
        await backends(Offers("unsafe")).choose(None)
    for name in NAMES[:4]:
        assert f"{name} is missing" in refused.value.message
    assert refused.value.hint == "install bwrap"


async def test_what_contains_nothing_is_never_chosen_unless_the_settings_name_it(backends):
    with pytest.raises(UnavailableError):
        await backends(Offers("unsafe")).choose("unsafe")
    assert (await backends(Offers("unsafe"), backend="unsafe").choose(None)).name == "unsafe"


async def test_what_the_settings_name_is_used_and_nothing_instead_of_it(backends):
    there = Offers("bwrap", enforced=BOUNDARY)
    with pytest.raises(UnavailableError) as refused:
        await backends(there, backend="docker").choose(None)
    assert refused.value.hint == "install docker"


async def test_a_request_goes_before_the_settings(backends):
    both = Offers("bwrap", enforced=BOUNDARY), Offers("docker", enforced=BOUNDARY)
    assert (await backends(*both, backend="docker").choose("bwrap")).name == "bwrap"


async def test_a_weak_one_can_be_named_by_whoever_runs_the_yard_only(backends):
    weak = Offers("mcp")
    with pytest.raises(UnavailableError) as refused:
        await backends(weak).choose("mcp")
    assert refused.value.hint.endswith("sandbox_backend mcp")
    assert (await backends(weak, backend="mcp").choose(None)).name == "mcp"


async def test_even_one_that_is_named_must_enforce_what_is_required(backends):
    with pytest.raises(UnavailableError) as refused:
        await backends(Offers("docker", enforced=BOUNDARY), backend="docker").choose(None, [Barrier.DISK])
    assert "disk" in refused.value.message


async def test_an_unknown_name_is_refused_with_those_that_there_are(backends):
    with pytest.raises(UsageError) as refused:
        await backends().choose("vm")
    assert "bwrap" in refused.value.hint


async def test_a_survey_tells_of_all(backends):
    assert [each.backend for each in await backends().survey()] == list(NAMES)


async def test_closing_ends_those_that_were_used(backends):
    used = Offers("bwrap", enforced=BOUNDARY)
    yard = backends(used)
    await yard.close()
    assert used.closed


async def test_each_is_made_as_its_settings_say(tmp_path):
    backends = Backends(BackendSettings(folder=tmp_path))
    assert [backends.get(name).name for name in NAMES] == list(NAMES)
    assert not (await backends.get("unsafe").capabilities()).available
    await backends.close()


async def test_only_a_sandbox_with_a_list_gets_a_way_out(tmp_path):
    backends = Backends(BackendSettings(folder=tmp_path))
    place = Place(sandbox_id="s", cargo_id="c")
    listed = NetworkPolicy(allow=(Endpoint(scheme="http", host="a", port=80),))
    assert backends._proxy(place) is None
    assert backends._proxy(Place(sandbox_id="s", cargo_id="c", network=listed)) is not None
