"""Files of skills as answers, never as something a browser would run."""

from collections.abc import Mapping
from urllib.parse import quote

from fastapi import Response


def file_response(data: bytes, path: str, headers: Mapping[str, str] | None = None) -> Response:
    """The bytes of a file: text as plain text, anything else as a download."""
    if is_text(data):
        return Response(data, media_type="text/plain; charset=utf-8", headers=headers)
    return download(data, path.rpartition("/")[2], "application/octet-stream", headers)


def download(data: bytes, name: str, media_type: str, headers: Mapping[str, str] | None = None) -> Response:
    """Bytes that a browser saves under a name."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Response(data, media_type=media_type, headers={**(headers or {}), "Content-Disposition": disposition})


def is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False
