"""Logs written by hand: executions as they are kept, in a shop with a login, a form and a list."""

import itertools
from datetime import UTC, datetime, timedelta

from skillyard.releases.mining.sequences import LoggedExecution, SessionLog
from skillyard.sandbox.executions import ExecType, Execution

SITE = "http://127.0.0.1:8000"
_NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)


class Log:
    """The executions of one sandbox, one after the other."""

    _numbers = itertools.count(1)

    def __init__(self, *, learn=False, one_by_one=False, traced=True):
        self.sandbox_id = f"sbx-{next(self._numbers):012d}"
        self.learn = learn
        self.life = "sess-1"
        self.entries = []
        self.url = ""
        self._one_by_one = one_by_one
        self._traced = traced
        self._steps = []

    def shell(self, code, output="", *, success=True, cwd=None, **more):
        trace = {"kind": "shell_exec_trace", "cwd": cwd, "environment": []} if cwd else None
        return self._add(ExecType.SHELL, code, output, success=success, trace=trace, **more)

    def python(self, code, output="", *, success=True, **more):
        return self._add(ExecType.PYTHON, code, output, success=success, **more)

    def step(self, cmd, target=None, stdout="", *, exit_code=0, **more):
        """One step in the browser; steps become one batch, or an execution each."""
        if target is not None:
            after = more.pop("goes_to", None)
            target = {"ref": "@e1", "url_before": self.url, **target}
            self.url = SITE + after if after else self.url
            target["url_after"] = self.url
            target["shown"] = more.pop("shown", [])
        step = {"kind": "individual_action", "cmd": cmd, "stdout": stdout, "exit_code": exit_code, "target": target}
        if self._one_by_one:
            self._browser(ExecType.BROWSER, [step], **more)
        else:
            self._steps.append(step)
        return self

    def open(self, path, title="Shop", **more):
        self.url = SITE + path
        return self.step(f"open {SITE}{path}", stdout=f"{title}\n{self.url}", **more)

    def fill(self, label, text, *, password=False, verb="fill", ref="@e1", **more):
        kind = "password" if password else "text"
        target = {"role": "textbox", "name": label, "tag": "input", "type": kind, "is_password": password}
        return self.step(f'{verb} {ref} "{text}"', target, f'{verb}: textbox "{label}"', **more)

    def select(self, label, value, **more):
        return self.step(f'select @e1 "{value}"', {"role": "combobox", "name": label, "tag": "select"}, **more)

    def click(self, name, *, role="button", verb="click", **more):
        around = {key: more.pop(key, "") for key in ("within", "group")}
        target = {"role": role, "name": name, "tag": role, **around}
        return self.step(f"{verb} @e1", target, f'{verb}: {role} "{name}"', **more)

    def look(self, *lines):
        return self.step("snapshot -i", stdout="\n".join(lines))

    def end(self, *, success=True, **more):
        """Write down the steps so far as one batch."""
        if self._steps:
            steps, self._steps = self._steps, []
            self._browser(ExecType.BROWSER_BATCH, steps, success=success, **more)
        return self

    @property
    def session(self):
        self.end()
        return SessionLog(sandbox_id=self.sandbox_id, entries=tuple(self.entries))

    def _browser(self, kind, steps, *, success=True, **more):
        code = "\n".join(step["cmd"] for step in steps)
        output = "\n".join(step["stdout"] for step in steps if step["stdout"])
        success = success and all(step["exit_code"] == 0 for step in steps)
        trace = {"kind": "browser_batch_trace", "steps": steps} if self._traced else None
        self._add(kind, code, output, success=success, trace=trace, **more)

    def _add(self, kind, code, output, *, success, trace=None, **more):
        self.end() if kind in {ExecType.SHELL, ExecType.PYTHON} else None
        number = next(self._numbers)
        execution = Execution(
            id=f"exec-{number:012d}",
            sandbox_id=self.sandbox_id,
            session_id=self.life,
            exec_type=kind,
            code=code,
            success=success,
            ending="exited",
            exit_code=0 if success else 1,
            milliseconds=5,
            output=output,
            error=None,
            truncated=False,
            network=(SITE,),
            skills=(),
            trace_ref=None,
            learn=self.learn,
            created_at=_NOON + timedelta(seconds=number),
            **more,
        )
        self.entries.append(LoggedExecution(execution=execution, trace=trace))
        return self


def sign_in(log, user="ada", secret="{{secret:password}}"):
    log.open("/", "Sign in - Shop")
    log.fill("User name", user)
    log.fill("Password", secret, password=True)
    return log.click("Sign in", goes_to="/orders", shown=["Orders"])


def order(log, customer, quantity, number, *, size="m"):
    """Order something, from the list of orders."""
    log.click("New order", role="link", goes_to="/orders/new", shown=["New order"])
    log.fill("Customer", customer)
    log.fill("Quantity", quantity)
    log.select("Size", size)
    said = f"Order {number} saved for {customer}."
    return log.click("Save", goes_to="/orders", shown=["Orders", said])
