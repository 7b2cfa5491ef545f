"""What can be asked of a yard, call by call."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from skillyard.remote.connection import Connection
from skillyard.remote.learning import LearningClient
from skillyard.remote.people import PeopleClient
from skillyard.remote.releases import ReleaseClient
from skillyard.remote.sandboxes import SandboxClient
from skillyard.skill.archive import pack, read_archive
from skillyard.skill.bundle import Bundle
from skillyard.skill.names import is_id


class YardClient:
    """A yard as its API shows it; answers are the JSON of `/api/v1`.

    A skill is named by `namespace/name`, by its name alone, or by its id.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.people = PeopleClient(connection)
        self.sandboxes = SandboxClient(connection)
        self.releases = ReleaseClient(connection)
        self.learning = LearningClient(connection)

    def me(self) -> dict[str, Any]:
        """Who this client speaks for."""
        return self.connection.get("/me")

    def skills(
        self,
        *,
        q: str | None = None,
        tags: Sequence[str] = (),
        namespace: str | None = None,
        include_public: bool = True,
    ) -> Iterator[dict[str, Any]]:
        """Every skill in sight, in the order of their names, without their text."""
        return self.connection.pages(
            "/skills",
            q=q,
            tags=list(tags) or None,
            namespace=namespace,
            include_public=include_public,
            view="summary",
            limit=200,
        )

    def search(
        self,
        query: str,
        *,
        namespace: str | None = None,
        tags: Sequence[str] = (),
        visibility: str | None = None,
        stage: str | None = None,
        limit: int = 10,
    ) -> list[dict[str, Any]]:
        """The skills in sight that fit a query, best first, each with its `score` and a `snippet`."""
        return self.connection.get(
            "/search",
            q=query,
            namespace=namespace,
            tag=list(tags) or None,
            visibility=visibility,
            stage=stage,
            limit=limit,
        )

    def catalog(
        self,
        query: str = "",
        *,
        budget: int | None = None,
        pins: Sequence[str] = (),
        format: str = "xml",  # noqa: A002 -- the parameter's name in the API
    ) -> dict[str, Any]:
        """What is in sight as a text for a prompt, what fits the query first, in at most `budget` characters."""
        return self.connection.get("/catalog", q=query or None, budget=budget, pin=list(pins) or None, format=format)

    def skills_with_text(self) -> Iterator[dict[str, Any]]:
        """Every skill in sight as a whole, in the order of their names."""
        return self.connection.pages("/skills", limit=200)

    def skill(self, name: str) -> dict[str, Any]:
        return self.connection.get(f"/skills/{name}" if is_id(name) else _by_name(name))

    def bundle(self, name: str, *, version: str | None = None) -> Bundle:
        """The files of a skill: of a version or tag, else what is shipped now."""
        return read_archive(self.archive(name, version=version)).require()

    def archive(self, name: str, *, version: str | None = None, slim: bool = False) -> bytes:
        """A skill as one `.skill` file."""
        return self.connection.download(self._of(name, "export"), version=version, slim=slim)

    def send(  # noqa: PLR0913 -- all that may be asked of a version
        self,
        bundle: Bundle,
        folder: str,
        *,
        publish: bool = True,
        namespace: str | None = None,
        version: str | None = None,
        visibility: str | None = None,
        base: str | None = None,
        notes: str | None = None,
        reason: str = "",
        allow_risky: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Send a skill; with `publish`, as a version that never changes, else as a working copy.

        Serious findings of the scan refuse a version; `allow_risky` accepts them, for the `reason`.

        With `dry_run` the answer, or the error, is what would come of it, and nothing is done.
        """
        fields = {
            "publish": publish,
            "namespace": namespace,
            "version": version,
            "visibility": visibility,
            "base": base,
            "notes": notes,
            "dry_run": dry_run or None,
        }
        query = {"reason": reason or None, "allow_risky": allow_risky or None}
        return self.connection.upload("/skills/import", f"{folder}.skill", pack(bundle, folder), query=query, **fields)[
            "data"
        ]

    def delete(self, name: str, *, reason: str = "") -> dict[str, Any]:
        return self._change("DELETE", self._of(name), reason=reason)

    def show_to(self, name: str, visibility: str, *, reason: str = "") -> dict[str, Any]:
        """Change who may see a skill: private, public or discoverable."""
        return self._change("PUT", self._of(name), {"visibility": visibility}, reason=reason)

    def lock(self, name: str, *, locked: bool = True, reason: str = "") -> dict[str, Any]:
        """Let what is learned only be proposed for a skill, or not."""
        return self._change("PUT" if locked else "DELETE", self._of(name, "lock"), reason=reason)

    def versions(self, name: str) -> list[dict[str, Any]]:
        return self.connection.get(self._of(name, "versions"))

    def release(
        self, name: str, *, version: str | None = None, notes: str = "", reason: str = "", allow_risky: bool = False
    ) -> dict[str, Any]:
        """Publish the working copy that the yard has; `allow_risky` accepts serious findings, for the `reason`."""
        body = {"version": version, "notes": notes}
        query = {"reason": reason or None, "allow_risky": allow_risky or None}
        return self.connection.send("POST", self._of(name, "versions"), query=query, body=body)["data"]

    def yank(self, name: str, version: str, *, reason: str) -> dict[str, Any]:
        return self._change("POST", self._of(name, "versions", version, "yank"), {"reason": reason})

    def restore(self, name: str, version: str, *, reason: str = "") -> dict[str, Any]:
        """Take a yank back."""
        return self._change("POST", self._of(name, "versions", version, "restore"), reason=reason)

    def review(self, name: str, version: str, *, approve: bool, reason: str = "") -> dict[str, Any]:
        verdict = "approve" if approve else "reject"
        return self._change("POST", self._of(name, "versions", version, verdict), reason=reason)

    def tag(self, name: str, tag: str, version: str | None, *, reason: str = "") -> dict[str, Any]:
        """Move a tag to a version, or without one take it away."""
        path = self._of(name, "tags", tag)
        if version is None:
            return self._change("DELETE", path, reason=reason)
        return self._change("PUT", path, {"version": version}, reason=reason)

    def diff(self, name: str, old: str | None = None, new: str | None = None) -> dict[str, Any]:
        return self.connection.get(self._of(name, "diff"), **{"from": old, "to": new})

    def references(self, name: str) -> dict[str, Any]:
        return self.connection.get(self._of(name, "references"))

    def similar(self, name: str, *, threshold: float | None = None) -> dict[str, Any]:
        """What in sight is like a skill: copies, variants, others of its name."""
        return self.connection.get(self._of(name, "similar"), threshold=threshold)

    def dependencies(self, name: str, *, version: str | None = None, alone: bool = False) -> dict[str, Any]:
        """What comes along with a skill, in versions that suit each other; `alone`, only the skill itself."""
        return self.connection.get(self._of(name, "dependencies"), version=version, alone=alone or None)

    def graph(self, *, namespace: str | None = None) -> dict[str, Any]:
        return self.connection.get("/graph", namespace=namespace)

    def history(self, *, skill: str | None = None, before: int | None = None, limit: int = 50) -> list[dict[str, Any]]:
        """The newest changes, of one skill or of all that is in sight."""
        return self.connection.get("/history", skill=skill, before=before, limit=limit)

    def last_change(self, skill_id: str) -> dict[str, Any] | None:
        """The newest change of a skill, also of one that is deleted."""
        return next(iter(self.connection.get("/history", subject_kind="skill", subject_id=skill_id, limit=1)), None)

    def undo(self, number: int, *, reason: str = "") -> dict[str, Any]:
        return self._change("POST", f"/history/{number}/undo", reason=reason)

    def changes(self, since: int = 0) -> dict[str, Any]:
        """What changed after a number, and the number to ask on from."""
        return self.connection.get("/changes", since=since)

    def skills_page(self, *, cursor: str | None = None, limit: int = 50) -> tuple[list[dict[str, Any]], str | None]:
        """Some of the skills in sight, without their text, and the cursor that goes on from there."""
        query = {"view": "summary", "cursor": cursor, "limit": limit}
        answer = self.connection.send("GET", "/skills", query=query)
        return answer["data"], answer.get("next_cursor")

    def version(self, name: str, version: str) -> dict[str, Any]:
        """A version by its number or a tag, with the list of its files."""
        return self.connection.get(self._of(name, "versions", version))

    def file(self, name: str, path: str, *, version: str) -> bytes:
        """One file of a version."""
        return self.connection.download(f"{self._of(name, 'files')}/{quote(path)}", version=version)

    def usage_report(self, *, days: int = 30) -> dict[str, Any]:
        """The skills that nobody uses, and those that fail often."""
        return self.connection.get("/usage/report", days=days)

    def usage(self, *, days: int = 30) -> list[dict[str, Any]]:
        """The sums of each skill in sight that was used."""
        return self.connection.get("/usage", days=days)

    def usage_of(self, name: str, *, days: int = 30) -> list[dict[str, Any]]:
        """The daily counts of one skill."""
        return self.connection.get(self._of(name, "usage"), days=days)

    def report_usage(self, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Count uses of skills: each has a `skill` (id or full name), an `event`, perhaps `version`, `session`, …"""
        return self.connection.send("POST", "/usage", body={"events": list(events)})["data"]

    def report_outcome(
        self,
        skill: str,
        *,
        succeeded: bool,
        version: str = "",
        digest: str = "",
        session: str = "",
        agent: str = "",
        detail: str = "",
        id: str | None = None,  # noqa: A002 -- the field's name in the API
        execution_ids: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Tell how a task went for which a skill was used.

        It counts as a use and, where the version that was loaded in this session is a release of yours, as one of its
        runs: `run_id` names it, else `remark` says why there is none.
        """
        body = {
            "skill": skill if is_id(skill) or "/" in skill else self.skill(skill)["id"],
            "succeeded": succeeded,
            "version": version,
            "digest": digest,
            "session": session,
            "agent": agent,
            "detail": detail,
            "id": id,
            "execution_ids": list(execution_ids),
        }
        return self.connection.send("POST", "/outcomes", body=body)["data"]

    def agents(self) -> list[dict[str, Any]]:
        return self.connection.get("/agents")

    def create_agent(self, fields: Mapping[str, Any], *, reason: str = "") -> dict[str, Any]:
        return self._change("POST", "/agents", fields, reason=reason)

    def delete_agent(self, agent: str, *, reason: str = "") -> None:
        self._change("DELETE", f"/agents/{quote(agent, safe='')}", reason=reason)

    def agent_skills(self, agent: str | None) -> dict[str, Any]:
        """What an agent gets, or without one what every agent gets."""
        return self.connection.get(_agent_skills(agent))

    def attach(self, name: str, agent: str | None, *, version: str = "", reason: str = "") -> dict[str, Any]:
        """Attach a skill to an agent, or without one to every agent of the tenant."""
        path = f"{_agent_skills(agent)}/{self.skill(name)['id']}"
        return self._change("PUT", path, {"version": version}, reason=reason)

    def detach(self, name: str, agent: str | None, *, reason: str = "") -> None:
        self._change("DELETE", f"{_agent_skills(agent)}/{self.skill(name)['id']}", reason=reason)

    def apply_agents(self, declaration: Mapping[str, Any], *, dry_run: bool, reason: str = "") -> dict[str, Any]:
        """Make agents and their skills what is declared; answers with the plan."""
        return self._change("POST", "/agents/apply", {**declaration, "dry_run": dry_run}, reason=reason)

    def _change(self, method: str, path: str, body: Any = None, *, reason: str = "") -> Any:  # noqa: ANN401 -- JSON
        return self.connection.send(method, path, query={"reason": reason or None}, body=body)["data"]

    def _of(self, name: str, *parts: str) -> str:
        skill_id = name if is_id(name) else self.skill(name)["id"]
        return "/".join(["/skills", skill_id, *(quote(part, safe="") for part in parts)])


def _agent_skills(agent: str | None) -> str:
    return "/tenant/skills" if agent is None else f"/agents/{quote(agent, safe='')}/skills"


def _by_name(name: str) -> str:
    return "/skills/by-name/" + "/".join(quote(part, safe="") for part in name.split("/", 1))
