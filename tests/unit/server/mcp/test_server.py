"""The server with a client of the SDK in one process, both of today's protocol and of the one before."""

import asyncio
import shutil
import threading
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import mcp_types as types
import pytest
from anyio import CapacityLimiter
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated, ToolsListChanged
from mcp_types.jsonrpc import INVALID_PARAMS

from skillyard.agents.library_source import LibrarySource
from skillyard.agents.materialise import OnThisMachine
from skillyard.agents.progress import report_progress
from skillyard.agents.tool import tool_of
from skillyard.errors import ConflictError, StoreUnavailableError, UnauthenticatedError, UnavailableError
from skillyard.library.folder import FolderLibrary
from skillyard.server.mcp.guests import Guest, OneGuest
from skillyard.server.mcp.server import SkillServer
from skillyard.server.mcp.wanted import Wanted

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
PATIENCE = 60
AGENT = "claude-code"
FIVE = {"load_skill", "search_skills", "load_skill_asset", "get_skill_script_path", "list_skill_assets"}


@pytest.fixture
def uses():
    return []


@pytest.fixture
def guest(folder, tmp_path, uses):
    folder.add("pdf", description="Reads PDF files.")
    return Guest(
        LibrarySource(FolderLibrary(folder.root), record=uses.append),
        Wanted(),
        yard=lambda: pytest.fail("no yard is needed"),
        session="session",
        place=OnThisMachine(tmp_path),
        wait=partial(asyncio.sleep, 0.01),
    )


@asynccontextmanager
async def connected(guest, era="2026-07-28", **given):
    who = types.Implementation(name=AGENT, version="1")
    async with Client(SkillServer(OneGuest(guest)), **{"client_info": who, "mode": era, **given}) as client:
        yield client


@ERAS
async def test_a_client_sees_the_tools_of_the_default_toolset(guest, era):
    async with connected(guest, era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools.keys() == FIVE | {"skill"}
    assert "Reads PDF files." in tools["skill"].description
    assert tools["skill"].annotations.read_only_hint is True


@ERAS
async def test_what_is_used_is_counted_for_the_program_that_uses_it(guest, uses, era):
    async with connected(guest, era) as client:
        await client.call_tool("skill", {"skill": "pdf"})
        await client.call_tool("load_skill", {"skill_name": "pdf"})
        await client.read_resource("skill://pdf/SKILL.md")
        await client.get_prompt("pdf")
    assert [(use.session, use.agent) for use in uses] == [("session", AGENT)] * 4


async def test_the_name_of_a_program_is_bounded_and_can_be_seen(guest, uses):
    for name in ("x" * 10_000, " \x1b[2J\u202ea "):
        async with connected(guest, client_info=types.Implementation(name=name, version="1")) as client:
            await client.call_tool("skill", {"skill": "pdf"})
    assert [use.agent for use in uses] == ["x" * 100, "\\x1b[2J\\u202ea"]


def test_whoever_names_itself_anew_again_and_again_fills_no_memory(guest):
    kept = guest.toolbox("first")
    assert guest.toolbox("first") is kept
    for number in range(20):
        guest.toolbox(f"agent-{number}")
    assert guest.toolbox("first") is not kept


async def test_the_description_of_the_skill_tool_is_no_longer_than_clients_take(guest, folder):
    for number in range(100):
        folder.add(f"skill-{number:02}", description="Does one thing of a hundred. " * 5)
    async with connected(guest) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert 1_800 < len(tools["skill"].description) <= 2_000
    assert " of 101 shown; use search_skills. Available skills:\n" in tools["skill"].description[:100]


@ERAS
async def test_a_skill_is_executed_and_its_text_is_no_json(guest, era, uses):
    async with connected(guest, era) as client:
        result = await client.call_tool("skill", {"skill": "PDF"})
    assert result.is_error is False
    assert result.content[0].text.endswith("# pdf")
    assert result.structured_content["success"] is True
    assert [(use.kind.value, use.session) for use in uses] == [("loaded", "session")]


async def test_the_description_of_the_skill_tool_follows_the_skills(guest, folder):
    async with connected(guest) as client:
        folder.add("git", description="Commits.")
        [skill] = [tool for tool in (await client.list_tools()).tools if tool.name == "skill"]
        assert "Commits." in skill.description
        (folder.root / "git/SKILL.md").unlink()
        [skill] = [tool for tool in (await client.list_tools()).tools if tool.name == "skill"]
        assert "Commits." not in skill.description


async def test_a_skill_that_is_not_there_is_an_error_of_the_tool_that_names_what_there_is(guest):
    async with connected(guest) as client:
        result = await client.call_tool("skill", {"skill": "pfd"})
    assert result.is_error is True
    assert result.content[0].text == "Skill not found: pfd. Available skills: pdf"


@ERAS
async def test_an_unknown_tool_is_an_error_that_names_the_nearest(guest, era):
    async with connected(guest, era) as client:
        with pytest.raises(MCPError, match="'load_skill'") as caught:
            await client.call_tool("load_skil", {})
    assert caught.value.code == INVALID_PARAMS
    assert caught.value.data["code"] == "not_found"


async def test_wrong_arguments_are_told_to_the_model(guest):
    async with connected(guest) as client:
        result = await client.call_tool("load_skill", {"nome": "pdf"})
    assert result.is_error is True
    assert "skill_name is missing" in result.content[0].text
    assert result.structured_content["error"]["code"] == "invalid_input"


def failing(error):
    def fail() -> str:
        """Fail."""
        raise error

    return tool_of(fail)


async def test_what_a_tool_raises_is_told_and_nothing_of_the_server(guest):
    guest.toolbox(AGENT)._made["fail"] = failing(ConflictError("It is taken.", hint="Take another."))
    async with connected(guest) as client:
        result = await client.call_tool("fail", {})
        assert result.content[0].text == "It is taken. Take another."
        assert result.structured_content["error"]["code"] == "conflict"
        guest.toolbox(AGENT)._made["fail"] = failing(RuntimeError("password=1234"))
        result = await client.call_tool("fail", {})
        assert result.is_error is True
        assert "1234" not in result.model_dump_json()
        guest.toolbox(AGENT)._made["fail"] = failing(StoreUnavailableError("postgresql://user:1234@host failed"))
        assert "1234" not in (await client.call_tool("fail", {})).model_dump_json()


@ERAS
async def test_every_skill_is_a_resource_and_a_prompt(guest, era, uses):
    async with connected(guest, era) as client:
        [resource] = (await client.list_resources()).resources
        read = await client.read_resource(resource.uri)
        assert read.contents[0].text.startswith("---\nname: pdf")
        [prompt] = (await client.list_prompts()).prompts
        assert (prompt.name, prompt.arguments[0].name) == ("pdf", "task")
        got = await client.get_prompt("pdf", {"task": "Fill in the form."})
    assert [message.content.text for message in got.messages][1:] == ["Fill in the form."]
    assert got.messages[0].content.text.endswith("# pdf")
    assert [use.kind.value for use in uses] == ["loaded", "activated"]


async def test_a_prompt_takes_nothing_but_a_task(guest):
    async with connected(guest) as client:
        with pytest.raises(MCPError, match="no 'tone'"):
            await client.get_prompt("pdf", {"tone": "kind"})
        with pytest.raises(MCPError, match="no skill 'none'"):
            await client.get_prompt("none")


@ERAS
async def test_a_cursor_of_nobody_is_refused(guest, era):
    async with connected(guest, era) as client:
        for asked in (client.list_resources, client.list_prompts):
            with pytest.raises(MCPError, match="cursor") as caught:
                await asked(cursor="§")
            assert caught.value.code == INVALID_PARAMS


async def test_the_extension_is_declared(guest):
    async with connected(guest, "auto") as client:
        assert client.server_capabilities.extensions == {"io.modelcontextprotocol/skills": {"directoryRead": True}}


async def test_a_subscriber_is_told_what_changed(guest, folder):
    async with (
        connected(guest) as client,
        client.listen(
            tools_list_changed=True,
            resources_list_changed=True,
            prompts_list_changed=True,
            resource_subscriptions=["skill://pdf/notes.md"],
        ) as events,
    ):
        folder.add("git")
        assert await told(events, 3) == {ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()}
        folder.write("pdf", "notes.md", b"new")
        assert ResourceUpdated(uri="skill://pdf/notes.md") in await told(events, 4)


@pytest.mark.parametrize("is_stamped", [True, False])
async def test_the_first_change_of_a_file_beside_the_instructions_is_told(guest, folder, monkeypatch, is_stamped):
    """Also where only a look at every file shows it."""
    if not is_stamped:
        monkeypatch.setattr(guest.source, "stamp", lambda: "always the same")
    folder.write("pdf", "notes.md", b"old")
    async with connected(guest) as client, client.listen(resource_subscriptions=["skill://pdf/notes.md"]) as events:
        folder.write("pdf", "notes.md", b"newer")
        assert await told(events, 1) == {ResourceUpdated(uri="skill://pdf/notes.md")}


async def test_a_subscriber_to_files_is_told_when_they_are_gone(guest, folder):
    folder.write("pdf", "notes.md", b"old")
    folder.add("tables", name="other-name")
    watched = ["skill://pdf/notes.md", "skill://pdf/SKILL.md", "skill://~tables/other-name/SKILL.md", "skill://none/a"]
    async with connected(guest) as client, client.listen(resource_subscriptions=watched) as events:
        (folder.root / "pdf" / "notes.md").unlink()
        assert await told(events, 2) == {ResourceUpdated(uri=uri) for uri in watched[:2]}
        for skill in ("pdf", "tables"):
            shutil.rmtree(folder.root / skill)
        assert await told(events, 3) >= {ResourceUpdated(uri=watched[2])}


async def test_a_subscriber_hears_nothing_else(guest, folder):
    async with connected(guest) as client, client.listen(prompts_list_changed=True) as events:
        folder.add("git")
        assert await told(events, 1) == {PromptsListChanged()}


class GoesAway:
    """Lets the source of a guest be away, and says when somebody looked for it meanwhile."""

    def __init__(self, guest, monkeypatch):
        self._stamp = guest.source.stamp
        self._looked = threading.Event()
        self._is_away = True
        monkeypatch.setattr(guest.source, "stamp", self._look)

    def _look(self):
        if self._is_away:
            self._looked.set()
            raise UnavailableError("The yard does not answer.")
        return self._stamp()

    async def comes_back_once_missed(self):
        assert await asyncio.to_thread(self._looked.wait, PATIENCE)
        self._is_away = False


async def test_what_changes_while_the_skills_are_away_is_told_when_they_are_back(guest, folder, monkeypatch):
    async with connected(guest) as client, client.listen(prompts_list_changed=True) as events:
        yard = GoesAway(guest, monkeypatch)
        folder.add("git")
        await yard.comes_back_once_missed()
        assert await told(events, 1) == {PromptsListChanged()}


async def test_a_client_that_comes_while_the_skills_are_away_is_told_when_they_are_there(guest, monkeypatch):
    yard = GoesAway(guest, monkeypatch)
    async with connected(guest) as client, client.listen(prompts_list_changed=True) as events:
        await yard.comes_back_once_missed()
        assert await told(events, 1) == {PromptsListChanged()}


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_an_older_client_that_comes_while_the_skills_are_away_is_told_when_they_are_there(guest, monkeypatch):
    heard = asyncio.Queue()

    async def note(message):
        if isinstance(message, types.Notification):
            heard.put_nowait(message.method)

    yard = GoesAway(guest, monkeypatch)
    async with connected(guest, "legacy", message_handler=note), asyncio.timeout(PATIENCE):
        await yard.comes_back_once_missed()
        assert {await heard.get() for _ in range(3)} >= {"notifications/tools/list_changed"}


async def told(events, count):
    async with asyncio.timeout(PATIENCE):
        return {await anext(aiter(events)) for _ in range(count)}


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_an_older_client_is_notified_and_told_so_at_the_start(guest, folder):
    heard = asyncio.Queue()

    async def note(message):
        if isinstance(message, types.Notification):
            heard.put_nowait(message.method)

    async with connected(guest, "legacy", message_handler=note) as client:
        assert client.server_capabilities.tools.list_changed is True
        assert client.server_capabilities.resources.subscribe is True
        await client.subscribe_resource("skill://pdf/SKILL.md")
        await client.list_tools()
        folder.add("pdf", description="Changed.")
        methods = set()
        async with asyncio.timeout(PATIENCE):
            while len(methods) < 4:
                methods.add(await heard.get())
        await client.unsubscribe_resource("skill://pdf/SKILL.md")
    assert methods == {
        "notifications/resources/list_changed",
        "notifications/prompts/list_changed",
        "notifications/tools/list_changed",
        "notifications/resources/updated",
    }


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_who_subscribed_to_a_skill_hears_of_it_when_it_was_away_and_is_back(guest, folder):
    heard = asyncio.Queue()

    async def note(message):
        if isinstance(message, types.Notification):
            heard.put_nowait(message.method)

    async with connected(guest, "legacy", message_handler=note) as client, asyncio.timeout(PATIENCE):
        await client.subscribe_resource("skill://pdf/SKILL.md")
        await client.list_tools()
        (folder.root / "pdf" / "SKILL.md").unlink()
        assert await heard.get() == "notifications/resources/list_changed"
        folder.add("pdf", description="Changed.")
        while await heard.get() != "notifications/resources/updated":
            pass


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_an_older_client_whose_rights_are_over_is_greeted_and_told_so_when_it_asks(guest, monkeypatch, caplog):
    def refuse():
        raise UnauthenticatedError("The token is not valid.")

    monkeypatch.setattr(guest.source, "stamp", refuse)
    async with connected(guest, "legacy") as client:
        await client.list_tools()
        with pytest.raises(MCPError, match="The token is not valid"):
            await client.subscribe_resource("skill://pdf/SKILL.md")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_nobody_is_promised_news_before_the_first_look_is_over(guest, monkeypatch):
    class SaidHello:
        exit_stack = AsyncExitStack()

    look, stamp = threading.Event(), guest.source.stamp
    monkeypatch.setattr(guest.source, "stamp", lambda: look.wait(PATIENCE) and stamp())
    async with SaidHello.exit_stack:
        hello, subscribing = (asyncio.create_task(guest.news.tell(SaidHello)) for _ in range(2))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not hello.done()
        assert not subscribing.done()
        look.set()
        assert await hello is await subscribing


@ERAS
async def test_how_far_a_tool_has_got_is_told_to_whoever_wants_to_know(guest, era):
    def count() -> str:
        """Count."""
        for number in (1, 2, 3):
            report_progress(number, 3, f"step {number}")
        report_progress(2, 3, "never less")
        return "done"

    guest.toolbox(AGENT)._made["count"] = tool_of(count)
    heard = []

    async def note(progress, total, message):
        heard.append((progress, total, message))

    async with connected(guest, era) as client:
        await client.call_tool("count", {}, progress_callback=note)
        assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
        await client.call_tool("count", {})
    assert len(heard) == 3


async def test_calls_beyond_what_may_run_at_once_wait_and_hold_nothing_else_up(guest):
    begun, over = threading.Semaphore(0), threading.Event()

    def work() -> str:
        """Work."""
        begun.release()
        return "done" if over.wait(PATIENCE) else "late"

    guest.calls = CapacityLimiter(1)
    guest.toolbox(AGENT)._made["work"] = tool_of(work)
    async with connected(guest) as client:
        calls = [asyncio.create_task(client.call_tool("work", {})) for _ in range(2)]
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE)
        await client.list_tools()
        assert not begun.acquire(blocking=False)
        over.set()
        assert [(await call).content[0].text for call in calls] == ["done", "done"]
