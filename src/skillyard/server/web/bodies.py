"""What was entered, as the body that a route of the API takes."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from skillyard.errors import InputError

Body = TypeVar("Body", bound=BaseModel)


def body_of(kind: type[Body], **values: Any) -> Body:  # noqa: ANN401 -- whatever its fields take
    """The body; what it does not take is an error that names the field, as everywhere."""
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{field}: {first['msg']}.", hint="Correct it, and send it again.", details={"field": field}
        ) from error
