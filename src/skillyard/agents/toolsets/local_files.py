"""Files of the machine that whoever calls a tool works on, below one folder and nowhere else."""

from pathlib import Path
from typing import Final

from skillyard.config.paths import is_inside
from skillyard.errors import FileMissingError, InputError, LimitError, NotAllowedError, UnavailableError
from skillyard.files import replace_file

MAX_BYTES: Final = 100 * 1024 * 1024


def working_folder(folder: Path, home: Path) -> Path | None:
    """The folder that a process was started in, as one to work on; none where all that a person has is below it.

    Programs with windows start servers in the root of the file system or in the home folder: nobody chose that.
    """
    own = folder.resolve()
    return None if own == Path(own.anchor) or is_inside(own, home) else own


class LocalFiles:
    """Reads and writes files below a folder; without one, none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def read(self, path: str) -> bytes:
        file = self._place(path)
        if not file.is_file():
            raise FileMissingError(f"There is no file {path!r}.", hint=f"Paths are relative to {self._folder}.")
        try:
            size = file.stat().st_size
            if size > MAX_BYTES:
                raise LimitError(
                    f"{path!r} has {size:,} bytes; at most {MAX_BYTES:,} are sent.",
                    hint="Send a smaller file.",
                    details={"field": "local_path", "value": size, "limit": MAX_BYTES},
                )
            return file.read_bytes()
        except OSError as error:
            raise UnavailableError(f"{path!r} cannot be read: {error.strerror}.") from error

    def write(self, path: str, data: bytes) -> str:
        """Write a file whole; where it is."""
        file = self._place(path)
        try:
            replace_file(file, data)
        except OSError as error:
            raise UnavailableError(f"{path!r} cannot be written: {error.strerror}.") from error
        return str(file)

    def _place(self, path: str) -> Path:
        if self._folder is None:
            raise InputError(
                "local_path: this server does not run on your machine, or was not given a folder of it.",
                hint="Send the bytes: content_base64 of upload_file, or download_file without local_path; "
                "or have the server started with --local DIR.",
                details={"field": "local_path", "value": path[:200]},
            )
        file = self._folder / path
        if not is_inside(self._folder, file):
            raise NotAllowedError(
                f"{path[:200]!r} is outside of {self._folder}.",
                hint="Name a file below that folder.",
                details={"field": "local_path", "value": path[:200]},
            )
        return file
