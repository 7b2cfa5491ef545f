"""Takes the requests of the host and has each one done."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Any

import files
import kernel
import stats
from browser import Browser
from digests import Digests
from failures import Cancelled, Failure, failure_of
from forwarder import Forwarder
from frames import HELLO, VERSION, pack_document
from intake import Intake
from link import Channel, Link
from loop import Loop, Task
from output import LeftBehind
from paths import Workspace
from processes import Limits, kill_everything, set_oom_score
from python_context import PythonContext
from runs import run
from starter import Starter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loop import Steps

_OOM_LATER = b"500"
_LAST_ROUNDS = 20


class Guest:
    """Everything that the requests share."""

    def __init__(
        self,
        *,
        path: str,
        workspace: str,
        limits: Mapping[str, Any],
        proxy_port: int | None,
        streams: tuple[int, int],
    ) -> None:
        self.path = path
        """Of this program itself: workers are started from it."""
        self.loop = Loop()
        self.limits = Limits(limits)
        self.workspace = Workspace(workspace)
        self.environment = dict(os.environ)
        self.null = os.open(os.devnull, os.O_RDWR)
        self.left_behind = LeftBehind()
        self.mains: set[int] = set()
        """The first processes of all that runs."""
        self.starter = Starter(self.loop, self.limits, self.mains)
        self._python = PythonContext(self)
        self._browser = Browser(self)
        self._digests = Digests(self.workspace)
        self._link = Link(self.loop, streams[0], streams[1], self._request)
        if proxy_port is not None:
            forwarder = Forwarder(self.loop, self._link, proxy_port)
            self.environment.update(_proxy_variables(forwarder.port))

    def run(self) -> None:
        """Serve until the host is gone; then nothing stays."""
        _harden()
        self._link.send(pack_document(HELLO, 0, {"version": VERSION}))
        try:
            self.loop.run()
        finally:
            for _ in range(_LAST_ROUNDS):
                if not kill_everything():
                    break
                time.sleep(0.01)

    def _request(self, channel: Channel, request: dict[str, Any]) -> None:
        try:
            if request["op"] == "run":
                run(self, channel, request)
            else:
                self._work(channel, request)
        except Failure as failure:
            _refuse(channel, failure)
        except Exception as error:  # noqa: BLE001 - one request fails, and the guest goes on
            _refuse(channel, Failure("failed", f"Cannot do this: {type(error).__name__}: {error}."))

    def _work(self, channel: Channel, request: dict[str, Any]) -> None:
        holder: list[Task] = []

        def wake() -> None:
            if holder:
                holder[0].wake()

        def cancel() -> None:
            holder[0].stop(Cancelled())
            channel.result({"ok": False, "code": "cancelled", "message": "Cancelled."})

        channel.on_credit = wake
        channel.on_cancel = cancel
        steps = self._steps(channel, Intake(channel, wake), request)
        doing = f"{request['op']} '{request.get('path', '.')}'"
        holder.append(Task(self.loop, self._answered(channel, steps, doing)))

    def _answered(self, channel: Channel, steps: Steps, doing: str) -> Steps:
        try:
            answer = yield from steps
        except Failure as failure:
            _refuse(channel, failure)
        except OSError as error:
            _refuse(channel, failure_of(error, doing))
        except MemoryError:
            _refuse(channel, Failure("no_process", f"Cannot {doing}: there is no memory left."))
        except Exception as error:  # noqa: BLE001 - one request fails, and the guest goes on
            _refuse(channel, Failure("failed", f"Cannot {doing}: {type(error).__name__}: {error}."))
        else:
            channel.result({"ok": True, **answer})

    def _steps(self, channel: Channel, intake: Intake, request: dict[str, Any]) -> Steps:
        op, path = request["op"], str(request.get("path", "."))
        if op == "python":
            return self._python.answer(channel, intake, request)
        if op == "browse":
            return self._browser.answer(channel, intake, request)
        if op == "read":
            return files.read(self.workspace, channel, path, request.get("max_bytes"))
        if op == "write":
            executable, most = bool(request.get("executable")), self.limits.file_bytes
            return files.write(self.workspace, intake, path, executable=executable, max_bytes=most)
        if op == "list":
            return files.listing(self.workspace, channel, path)
        if op == "delete":
            return files.delete(self.workspace, path)
        if op == "digests":
            return self._digests.answer(channel, intake)
        if op == "stats":
            return stats.answer(self.workspace, hidden=self.starter.pid)
        if op in {"put_tar", "get_tar"}:
            return self._tar(channel, intake, request, path)
        raise Failure("failed", f"This guest does not know '{op}'.")

    def _tar(self, channel: Channel, intake: Intake, request: dict[str, Any], path: str) -> Steps:
        import tars  # noqa: PLC0415 - the start is quicker without

        if request["op"] == "get_tar":
            return tars.packed(self.workspace, channel, path)
        unpacking = tars.Unpacking(
            self.workspace, max_bytes=self.limits.disk_bytes, max_file_bytes=self.limits.file_bytes
        )
        return unpacking.answer(intake, path, [str(removed) for removed in request.get("remove", ())])


def _refuse(channel: Channel, failure: Failure) -> None:
    channel.result({"ok": False, "code": failure.code, "message": failure.message[:2000]})


def _proxy_variables(port: int) -> dict[str, str]:
    url = f"http://127.0.0.1:{port}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    variables = {variant: url for name in names for variant in (name, name.lower())}
    return {**variables, "NO_PROXY": "", "no_proxy": ""}


def _harden() -> None:
    """Keep what runs inside from looking into the guest, losing its children, or outliving it."""
    with contextlib.suppress(OSError):
        set_oom_score(_OOM_LATER)
    kernel.die_with_parent()
    kernel.adopt_orphans()
    kernel.set_dumpable(False)
