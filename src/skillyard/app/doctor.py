"""Looking over this machine and the set-up: each check says what is, and what to do about it."""

import os
import platform
import shlex
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from skillyard.app.checks import Check, Status, ok, writable
from skillyard.app.environments import ACTIVE, active_name, all_environments
from skillyard.app.libraries import reach
from skillyard.app.registry_checks import examine_registry
from skillyard.config.load import load_settings
from skillyard.config.paths import project_config_file, user_config_file
from skillyard.config.settings import ENV_PREFIX, Settings
from skillyard.errors import SkillyardError
from skillyard.library.environments import name_problem
from skillyard.library.folder import FolderLibrary
from skillyard.library.index import index_dir
from skillyard.library.roots import Machine

if TYPE_CHECKING:
    from skillyard.app.damage import Track

_OTHER_VARIABLES: Final = frozenset({"SKILLYARD_CONFIG_DIR", "SKILLYARD_DEBUG"})


def examine(track: "Track | None" = None) -> Iterator[Check]:
    """Every check, one after the other; `track` reads everything that the yard keeps."""
    yield ok("python", f"{platform.python_implementation()} {platform.python_version()}")
    yield _git()
    yield from _variables()
    try:
        settings = load_settings()
    except SkillyardError as error:
        yield Check(name="config", status=Status.FAILED, message=error.message, fix=error.hint)
        return
    files = [str(path) for path in (project_config_file(), user_config_file()) if path.exists()]
    yield ok("config", ", ".join(files) or "no file; every setting has its default")
    yield writable("home", settings.home)
    yield from examine_registry(settings, track)
    from skillyard.app.job_checks import examine_jobs  # noqa: PLC0415 -- slow to import

    yield from examine_jobs(settings)
    from skillyard.app.learning_checks import examine_learning  # noqa: PLC0415 -- as above

    yield from examine_learning(settings)
    if settings.embeddings is not None:
        from skillyard.app.embedding import examine_embeddings  # noqa: PLC0415 -- most people have none

        yield from examine_embeddings(settings)
    from skillyard.app.sandbox_checks import examine_sandboxes  # noqa: PLC0415 -- only once the settings are known

    yield from examine_sandboxes(settings)
    yield from _environment(settings)
    yield from _named_folders(settings)
    yield from _roots(settings)


def _git() -> Check:
    found = shutil.which("git")
    if found:
        return ok("git", found)
    return Check(
        name="git",
        status=Status.WARNING,
        message="git is not on the PATH; skills cannot be installed from repositories.",
        fix="Install git with the package manager of this system, or from https://git-scm.com/downloads",
    )


def _variables() -> Iterator[Check]:
    known = {f"{ENV_PREFIX}{key.upper()}" for key in _keys(Settings)} | _OTHER_VARIABLES
    for name in sorted(os.environ):
        if name.startswith(ENV_PREFIX) and name not in known:
            yield Check(
                name="environment variables",
                status=Status.WARNING,
                message=f"{name} is set, but there is no such setting.",
                fix=f"unset {name}",
            )


def _keys(model: type[BaseModel]) -> Iterator[str]:
    """What can be set, and what of it one by one: `learning` and `learning__skills`."""
    for key, field in model.model_fields.items():
        yield key
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{key}__{inner}" for inner in _keys(field.annotation))


def _environment(settings: Settings) -> Iterator[Check]:
    name = active_name(settings)
    if name is None:
        return
    try:
        environment = all_environments().get(name)
    except SkillyardError as error:
        yield Check(name="environment", status=Status.FAILED, message=error.message, fix=_environment_fix(name))
        return
    yield ok("environment", f"{name} ({environment.path})")
    for error in environment.files.errors:
        yield Check(name="environment", status=Status.WARNING, message=error.message, fix=error.hint)


def _environment_fix(name: str) -> str:
    if name_problem(name) is None:
        return f"skillyard env create {name}"
    variable = f"{ENV_PREFIX}{ACTIVE.upper()}"
    return f"unset {variable}" if os.environ.get(variable) == name else "skillyard env none"


def _named_folders(settings: Settings) -> Iterator[Check]:
    named = {"roots": settings.roots, "document_root": (settings.document_root,)}
    for key, folders in named.items():
        for folder in folders:
            if folder is not None and not folder.is_dir():
                yield Check(
                    name="roots",
                    status=Status.WARNING,
                    message=f"{folder}, named by the setting {key!r}, is no folder.",
                    fix=f"mkdir -p {shlex.quote(str(folder))}",
                )


def _roots(settings: Settings) -> Iterator[Check]:
    try:
        roots = reach(settings, Machine.here())
    except SkillyardError as error:
        yield Check(name="roots", status=Status.FAILED, message=error.message, fix=error.hint)
        return
    known = [root.path for root in roots]
    for root in roots:
        if not os.access(root.path, os.R_OK | os.X_OK):
            yield Check(
                name="roots",
                status=Status.FAILED,
                message=f"{root.label} cannot be read.",
                fix=f"chmod u+rx {shlex.quote(str(root.path))}",
            )
            continue
        library = FolderLibrary(
            root.path, index_dir=index_dir(settings.home), known_roots=known, max_depth=settings.max_depth
        )
        catalog = library.catalog()
        found = f"{root.label}: {_skills(len(catalog.entries))}"
        if catalog.problems:
            yield Check(
                name="roots",
                status=Status.WARNING,
                message=f"{found}, {len(catalog.problems):,} that cannot be used.",
                fix="skillyard audit",
            )
        else:
            yield ok("roots", found)


def _skills(number: int) -> str:
    return f"{number:,} skill" if number == 1 else f"{number:,} skills"
