"""The model that the settings name, made when it is first needed."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import ValidationError

from skillyard.cancellation import to_the_end
from skillyard.config.settings import Settings
from skillyard.errors import NoModelError, UsageError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_SECONDS: Final = 120.0
"""For one answer."""
_RETRIES: Final = 3
"""Of one question that got no answer: too many at once, or nobody there."""
_NEEDS_KEY: Final = "none"
"""Sent where the settings have no key: servers on one's own machine take any."""


class ModelSource:
    """Where a chat model comes from; asking for none is an error that says how to set one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: tuple[Settings, BaseChatModel] | None = None

    def use(self, settings: Settings) -> None:
        """Take the model from other settings from now on; what is under way ends with the one it began with."""
        self._settings = settings

    @property
    def configured(self) -> bool:
        return self._settings.model is not None

    @property
    def name(self) -> str:
        """As the settings have it."""
        return self._settings.model or ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not stand in anything that is kept of talking to it: some servers repeat the key they got."""
        key = self._settings.model_api_key
        return (key.get_secret_value(),) if key else ()

    @property
    def chat(self) -> "BaseChatModel":
        """The model. One that cannot be made is an error of the settings."""
        settings = self._settings
        if self._made is None or self._made[0] is not settings:
            self._made = (settings, _make(settings))
        return self._made[1]

    async def load(self) -> None:
        """Have everything ready that talking to the model needs: importing it takes seconds, and others go on."""
        # An import cannot be ended, and whoever imports the same beside it may get half of a module.
        await to_the_end(asyncio.to_thread(self._load))

    def _load(self) -> None:
        if self.chat:
            import_module("skillyard.llm.agents")  # with all that agents are made of


def _make(settings: Settings) -> "BaseChatModel":
    if not settings.model:
        raise NoModelError
    try:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415 -- an extra, and slow to import
    except ImportError as error:
        raise UsageError(
            "Models need a part of Skillyard that is not installed.",
            hint="Install it: pip install 'skillyard[learning]'",
        ) from error
    try:
        return cast("BaseChatModel", init_chat_model(settings.model, **_options(settings.model, settings)))
    except Exception as error:  # providers have errors of their own, of no common kind
        raise UsageError(
            f"The model {settings.model!r} cannot be used: {_reason(error)}",
            hint="Name it as provider:model, such as openai:gpt-5, with its key in SKILLYARD_MODEL_API_KEY, and "
            "install what its provider needs.",
            details={"field": "model", "value": settings.model},
        ) from error


def _reason(error: Exception) -> str:
    """What a provider has against its settings, without the values: one of them is the key."""
    if isinstance(error, ValidationError):
        return "; ".join(each["msg"] for each in error.errors(include_input=False, include_url=False))
    return str(error)


def _options(name: str, settings: Settings) -> dict[str, Any]:
    options: dict[str, Any] = {"timeout": _SECONDS, "max_retries": _RETRIES}
    key = settings.model_api_key
    if settings.model_base_url:
        options["base_url"] = settings.model_base_url
        options["api_key"] = key.get_secret_value() if key else _NEEDS_KEY
        if ":" not in name:
            options["model_provider"] = "openai"
    elif key:
        options["api_key"] = key.get_secret_value()
    return options
