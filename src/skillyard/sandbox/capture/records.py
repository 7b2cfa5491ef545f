"""Runs as they are kept: with markers where secrets were."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from skillyard.sandbox.capture.known_secrets import KnownSecrets
from skillyard.sandbox.capture.python_secrets import mask_python
from skillyard.sandbox.capture.secret_texts import mask_output, mask_source
from skillyard.sandbox.capture.shell_secrets import mask_shell
from skillyard.sandbox.executions import MAX_KEPT, ExecType, Run, Said

_HALF: Final = MAX_KEPT // 2 - 100
_BORDER: Final = 8 * 1024
"""Characters beyond a cut that are checked too, because what looks like a secret may be cut in two."""


def cleaned(run: Run, known: KnownSecrets, given: Mapping[str, str]) -> Run:
    """A run without its secrets: those given to it, those known of its sandbox, and those that can be recognised.

    What is recognised in what someone wrote is known from then on. The steps of a browser come here without what was
    typed into fields for secrets: only whoever took them knows the fields.
    """
    for name, value in given.items():
        known.learn(value, name)
    of_run = KnownSecrets(given)
    code = of_run.clean(run.code)
    if run.exec_type is ExecType.PYTHON:
        code = mask_python(code, known.learn)
    elif run.exec_type is ExecType.SHELL:
        code = mask_shell(code, known.learn)

    def clean(text: str) -> str:
        return known.clean(of_run.clean(text))

    def shown(text: str) -> str:
        """The beginning and the end of a long text; what is not kept is not checked."""
        if len(text) <= MAX_KEPT:
            return mask_output(clean(text))
        head = mask_output(known.clean(text[: _HALF + _BORDER], cut=True))
        tail = mask_output(known.clean_end(text, _HALF + _BORDER))
        left_out = len(text) - 2 * _HALF
        return f"{head[:_HALF]}\n[… {left_out:,} characters are left out here …]\n{tail[-_HALF:]}"

    def said(text: str | None) -> str | None:
        return None if text is None else clean(mask_source(text, known.learn))

    return replace(
        run,
        code=clean(code),
        output=shown(run.output),
        error=None if run.error is None else shown(run.error),
        said=Said(description=said(run.said.description), tags=said(run.said.tags), notes=said(run.said.notes)),
        trace=None if run.trace is None else _each_text(run.trace, shown),
    )


def _each_text(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 -- any JSON
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _each_text(inner, change) for name, inner in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_each_text(inner, change) for inner in cast("list[Any]", value)]
    return value
