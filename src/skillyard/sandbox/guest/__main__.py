"""Starts the guest, or one of its workers: `python3 -I -S -X utf8 GUEST --workspace /workspace --fd 3`."""

from __future__ import annotations

import json
import os
import sys


def main(arguments: list[str]) -> None:
    here = sys.path[0]
    if arguments[:1] == ["python-worker"]:
        import python_worker  # noqa: PLC0415 - each role loads only what it needs

        python_worker.main(int(arguments[1]), int(arguments[2]))
    elif arguments[:1] == ["browser-worker"]:
        import browser_worker  # noqa: PLC0415

        browser_worker.main()
    else:
        _supervise(here, arguments)


def _supervise(path: str, arguments: list[str]) -> None:
    from supervisor import Guest  # noqa: PLC0415

    options = dict(zip(arguments[::2], arguments[1::2]))  # noqa: B905 - the guest runs on Python 3.8 too
    link = options.get("--fd")
    incoming, outgoing = (int(link), int(link)) if link else (os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    for fd in {incoming, outgoing}:
        os.set_inheritable(fd, False)
    port = options.get("--proxy-port")
    Guest(
        path=path,
        workspace=options["--workspace"],
        limits=json.loads(options.get("--limits", "{}")),
        proxy_port=int(port) if port is not None else None,
        streams=(incoming, outgoing),
    ).run()


main(sys.argv[1:])
