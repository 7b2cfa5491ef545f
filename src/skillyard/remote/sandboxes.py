"""The sandboxes of a yard: made, used and taken away."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import httpx

from skillyard.errors import UnavailableError
from skillyard.remote.connection import Connection, error_of, given, json_of
from skillyard.skill.archive import pack
from skillyard.skill.bundle import Bundle

V1: Final = "/v1"
_PATIENCE: Final = 60.0
"""Seconds for starting a sandbox and for the way there and back, beside the time of a run."""
_TRANSFER: Final = 660.0
_SILENCE: Final = httpx.Timeout(_PATIENCE, connect=30.0)
"""Of a run that is followed: the yard says every few seconds that it goes on."""

OnOutput: TypeAlias = Callable[[str, str], None]
"""Called with `stdout` or `stderr` and each piece of text, as it comes; with no text now and then while none comes."""


class SandboxClient:
    """Isolated places to run things in; answers are the JSON of `/v1`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        *,
        profile: str | None = None,
        cargo: str | None = None,
        ttl: int | None = None,
        idle_ttl: int | None = None,
        allow: Sequence[str] = (),
        limits: Mapping[str, int] | None = None,
        labels: Mapping[str, str] | None = None,
        isolation: str | Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """A new sandbox; `allow` lists the endpoints that it may reach. Nothing runs before the first call."""
        body = {
            "profile": profile,
            "cargo_id": cargo,
            "ttl": ttl,
            "idle_ttl": idle_ttl,
            "network": {"allow": list(allow)} if allow else None,
            "limits": dict(limits) if limits else None,
            "labels": dict(labels) if labels else None,
            "isolation": isolation if isolation is None or isinstance(isolation, str) else list(isolation),
        }
        return self._send("POST", f"{V1}/sandboxes", json=given(body))

    def all(self, *, status: str | None = None) -> Iterator[dict[str, Any]]:
        """Yours, the newest first."""
        return self._pages("sandboxes", status=status)

    def get(self, sandbox_id: str) -> dict[str, Any]:
        return self._send("GET", _of(sandbox_id))

    def extend(self, sandbox_id: str, seconds: int) -> dict[str, Any]:
        """Move its end."""
        return self._send("POST", _of(sandbox_id, "extend_ttl"), json={"extend_by": seconds})

    def keep_alive(self, sandbox_id: str) -> None:
        """Let it be idle for its whole time again."""
        self._send("POST", _of(sandbox_id, "keepalive"))

    def stop(self, sandbox_id: str) -> None:
        """End what runs in it; its files stay."""
        self._send("POST", _of(sandbox_id, "stop"))

    def delete(self, sandbox_id: str) -> None:
        """Take it away, with its files if they were made with it."""
        self._ask("DELETE", _of(sandbox_id))

    def snapshot(self, sandbox_id: str) -> dict[str, Any]:
        """A new cargo with its files."""
        return self._send("POST", _of(sandbox_id, "snapshot"), seconds=_TRANSFER)

    def load_skills(self, sandbox_id: str, skills: Sequence[str]) -> list[dict[str, Any]]:
        """Put skills of the registry into it; for each whether it is there, its `path`, or the `reason`."""
        asked = {"skills": list(skills)}
        return self._send("POST", _of(sandbox_id, "skills"), seconds=_TRANSFER, json=asked)["items"]

    def put_skill(self, sandbox_id: str, bundle: Bundle, folder: str) -> dict[str, Any]:
        """Send a skill of this machine into it: whether it is there, its `path`, or the `reason`."""
        where, packed = _of(sandbox_id, "skills/upload"), pack(bundle, folder)
        return self._send("POST", where, seconds=_TRANSFER, files={"file": (f"{folder}.skill", packed)})

    def stats(self, sandbox_id: str) -> dict[str, Any]:
        """What it uses now."""
        return self._send("GET", _of(sandbox_id, "stats"))

    def shell(
        self,
        sandbox_id: str,
        command: str,
        *,
        cwd: str | None = None,
        environment: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        timeout: int = 30,
        learn: bool = False,
        on_output: OnOutput | None = None,
    ) -> dict[str, Any]:
        """Run a command line. With `on_output` its output is told as it comes, and giving up ends the run.

        `learn` has it looked through for know-how, once the sandbox is silent.
        """
        body = {"command": command, "cwd": cwd, "env": dict(environment or {}), "learn": learn}
        return self._run(sandbox_id, "shell", body, secrets, timeout, on_output)

    def python(
        self,
        sandbox_id: str,
        code: str,
        *,
        secrets: Mapping[str, str] | None = None,
        timeout: int = 30,
        learn: bool = False,
        on_output: OnOutput | None = None,
    ) -> dict[str, Any]:
        """Run code in the context that lasts as long as the sandbox runs; `learn` and `on_output` as for `shell`."""
        return self._run(sandbox_id, "python", {"code": code, "learn": learn}, secrets, timeout, on_output)

    def browse(
        self,
        sandbox_id: str,
        steps: Sequence[str],
        *,
        secrets: Mapping[str, str] | None = None,
        timeout: int = 60,
        stop_on_error: bool = True,
        trace: bool = False,
        learn: bool = False,
    ) -> dict[str, Any]:
        """Take steps in the browser, such as `open https://example.org` and `click @e2`; `learn` as for `shell`."""
        body = {
            "commands": list(steps),
            "timeout": timeout,
            "stop_on_error": stop_on_error,
            "include_trace": trace,
            "learn": learn,
            "secrets": dict(secrets or {}),
        }
        return self._send("POST", _of(sandbox_id, "browser/exec_batch"), seconds=timeout + _PATIENCE, json=body)

    def trace(self, sandbox_id: str, trace_ref: str) -> dict[str, Any]:
        """What a run of the browser left."""
        return self._send("GET", _of(sandbox_id, f"browser/traces/{quote(trace_ref, safe=':')}"))

    def files(self, sandbox_id: str, path: str = ".") -> list[dict[str, Any]]:
        """What is in a folder of the workspace."""
        return self._send("GET", _of(sandbox_id, "filesystem/directories"), params={"path": path})["entries"]

    def read(self, sandbox_id: str, path: str) -> str:
        """A text file."""
        return self._send("GET", _of(sandbox_id, "filesystem/files"), params={"path": path})["content"]

    def download(self, sandbox_id: str, path: str) -> bytes:
        """Any file."""
        where = _of(sandbox_id, "filesystem/download")
        return self._ask("GET", where, seconds=_TRANSFER, params={"path": path}).content

    def upload(self, sandbox_id: str, path: str, data: bytes) -> dict[str, Any]:
        """Write any file; folders on the way are made."""
        where = _of(sandbox_id, "filesystem/upload")
        name = path.rpartition("/")[2]
        return self._send("POST", where, seconds=_TRANSFER, files={"file": (name, data)}, data={"path": path})

    def remove(self, sandbox_id: str, path: str) -> None:
        """Delete a file, or a folder with all that is in it."""
        self._send("DELETE", _of(sandbox_id, "filesystem/files"), params={"path": path})

    def history(self, sandbox_id: str, **query: Any) -> dict[str, Any]:  # noqa: ANN401 -- query values
        """What was run in it, the newest first: `entries` and their `total`."""
        return self._send("GET", _of(sandbox_id, "history"), params=given(query))

    def execution(self, sandbox_id: str, execution_id: str) -> dict[str, Any]:
        return self._send("GET", _of(sandbox_id, f"history/{quote(execution_id, safe='')}"))

    def annotate(self, sandbox_id: str, execution_id: str, **said: str | None) -> dict[str, Any]:
        """Say something beside an execution: `description`, `tags` or `notes`."""
        return self._send("PATCH", _of(sandbox_id, f"history/{quote(execution_id, safe='')}"), json=given(said))

    def profiles(self) -> list[dict[str, Any]]:
        """The kinds of sandboxes that can be made."""
        return self._send("GET", f"{V1}/profiles", params={"detail": "true"})["items"]

    def create_cargo(self, *, size_limit_mb: int | None = None) -> dict[str, Any]:
        """A workspace that outlives sandboxes."""
        return self._send("POST", f"{V1}/cargos", json=given({"size_limit_mb": size_limit_mb}))

    def cargos(self, *, managed: bool | None = None) -> Iterator[dict[str, Any]]:
        return self._pages("cargos", managed=managed)

    def delete_cargo(self, cargo_id: str) -> None:
        self._ask("DELETE", f"{V1}/cargos/{quote(cargo_id, safe='')}")

    def _run(
        self,
        sandbox_id: str,
        kind: str,
        body: Mapping[str, Any],
        secrets: Mapping[str, str] | None,
        seconds: int,
        on_output: OnOutput | None,
    ) -> dict[str, Any]:
        whole = {**given(body), "timeout": seconds, "secrets": dict(secrets or {})}
        if on_output is None:
            return self._send("POST", _of(sandbox_id, f"{kind}/exec"), seconds=seconds + _PATIENCE, json=whole)
        where = _of(sandbox_id, f"{kind}/stream")
        with self._connection.stream("POST", where, json=whole, timeout=_SILENCE) as response:
            if response.is_error or response.has_redirect_location:
                response.read()
                json_of(response)
            return _followed(response, on_output)

    def _pages(self, kind: str, **query: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 -- query values
        cursor: str | None = None
        while True:
            page = self._send("GET", f"{V1}/{kind}", params=given({**query, "limit": 200, "cursor": cursor}))
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _send(self, method: str, path: str, *, seconds: float = _PATIENCE, **options: Any) -> dict[str, Any]:  # noqa: ANN401 -- httpx's own
        return json_of(self._ask(method, path, seconds=seconds, **options))

    def _ask(self, method: str, path: str, *, seconds: float = _PATIENCE, **options: Any) -> httpx.Response:  # noqa: ANN401 -- as above
        response = self._connection.ask(method, path, timeout=seconds, **options)
        if not response.is_success:
            json_of(response)
        return response


def _of(sandbox_id: str, rest: str = "") -> str:
    return f"{V1}/sandboxes/{quote(sandbox_id, safe='')}{'/' if rest else ''}{rest}"


def _followed(response: httpx.Response, on_output: OnOutput) -> dict[str, Any]:
    """What came of a run whose output is told on the way."""
    for line in response.iter_lines():
        try:
            said: dict[str, Any] = json.loads(line or "{}")
        except ValueError:
            break
        if not said:
            on_output("stdout", "")
        elif "text" in said:
            on_output(said["stream"], said["text"])
        elif "result" in said:
            return said["result"]
        elif "error" in said:
            raise error_of(said["error"])
    raise UnavailableError(
        "The yard went away while something ran in the sandbox.",
        hint="What came of it is in the history of the sandbox, if it was kept: skillyard sandbox history ID",
    )
