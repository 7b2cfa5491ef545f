"""What well-known programs take: which of their words say what to do, and what the others are called."""

import re
from collections.abc import Mapping
from typing import Final

LOOKING: Final = frozenset(
    (
        *(
            "ls",
            "pwd",
            "cat",
            "head",
            "tail",
            "echo",
            "printf",
            "which",
            "whoami",
            "date",
            "env",
            "ps",
            "df",
            "du",
            "file",
        ),
        *(
            "stat",
            "tree",
            "history",
            "clear",
            "true",
            ":",
            "cd",
            "id",
            "uname",
            "hostname",
            "type",
            "less",
            "more",
            "man",
        ),
        *("help", "test", "[", "wc", "printenv", "set", "alias", "sleep", "uptime", "free", "top"),
    )
)
"""Programs that show something, or nothing."""
EVERYDAY: Final = frozenset(
    ("mkdir", "touch", "rm", "cp", "mv", "chmod", "chown", "ln", "export", "rmdir", "unset", "source", ".", "kill")
)
"""What everyone knows how to do."""
WRAPPING: Final = frozenset(
    {
        "sudo",
        "env",
        "time",
        "nohup",
        "exec",
        "command",
        "nice",
        "then",
        "do",
        "else",
        "if",
        "elif",
        "while",
        "until",
        "!",
        "{",
    }
)
"""Words that another command follows."""
WRITING: Final = frozenset({"cp", "mv", "touch", "mkdir", "tee", "convert", "ffmpeg", "ln"})
"""Programs whose last argument is there afterwards."""
KEYWORDS: Final = frozenset({"for", "fi", "done", "case", "esac", "function", "in", "}"})
COMMANDED: Final = frozenset(
    (
        *(
            "git",
            "docker",
            "podman",
            "npm",
            "npx",
            "pnpm",
            "yarn",
            "pip",
            "pip3",
            "uv",
            "cargo",
            "go",
            "kubectl",
            "aws",
        ),
        *("gh", "apt", "apt-get", "systemctl", "poetry", "conda", "make", "terraform", "gcloud", "az", "brew", "helm"),
        *(
            "skillyard",
            "openssl",
            "ip",
            "nmcli",
            "flatpak",
            "snap",
            "dotnet",
            "mvn",
            "gradle",
            "bundle",
            "rails",
            "django",
        ),
    )
)
"""Programs whose next words say what they are to do."""
INTERPRETING: Final = re.compile(r"python[0-9.]*|(?:ba|da|z|k)?sh|node|deno|bun|ruby|perl|php|Rscript|lua")
"""Programs whose first argument is another one."""
FILTERING: Final = frozenset({"sed", "awk", "gawk", "jq", "yq", "perl"})
"""Programs whose first argument is in a language of its own."""
ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "grep": ("pattern", "file"),
    "egrep": ("pattern", "file"),
    "rg": ("pattern", "path"),
    "jq": ("filter", "file"),
    "yq": ("filter", "file"),
    "sed": ("expression", "file"),
    "awk": ("program", "file"),
    "cp": ("source", "target"),
    "mv": ("source", "target"),
    "ln": ("source", "target"),
    "mkdir": ("folder",),
    "touch": ("file",),
    "rm": ("file",),
    "cat": ("file",),
    "wc": ("file",),
    "sort": ("file",),
    "head": ("file",),
    "tail": ("file",),
    "curl": ("url",),
    "wget": ("url",),
    "git clone": ("url", "folder"),
    "git checkout": ("branch",),
    "git tag": ("tag",),
    "tar": ("file",),
    "unzip": ("archive",),
    "zip": ("archive", "file"),
    "ssh": ("host",),
    "echo": ("text",),
    "printf": ("format", "text"),
    "convert": ("input", "output"),
    "ffmpeg": ("output",),
    "tee": ("output",),
    "diff": ("old", "new"),
    "find": ("folder",),
    "chmod": ("mode", "file"),
    "base64": ("file",),
    "sha256sum": ("file",),
    "sqlite3": ("database", "query"),
}
"""What the arguments of a program are called, in their order; the last name holds for the rest."""
OPTIONS: Final[Mapping[str, str]] = {
    "-o": "output",
    "-O": "output",
    "-d": "data",
    "-m": "message",
    "-X": "method",
    "-H": "header",
    "-n": "count",
    "-i": "input",
    "-f": "file",
    "-F": "form",
    "-u": "user",
    "-C": "folder",
}
"""What follows a short option, where most programs mean the same."""
PLAIN: Final[Mapping[str, str]] = {
    "awk": "o",
    "base64": "di",
    "cat": "neE",
    "cp": "finuHdc",
    "curl": "fiOn",
    "cut": "n",
    "diff": "uidCcEe",
    "echo": "neE",
    "egrep": "nioHcE",
    "find": "o",
    "grep": "nioHcE",
    "gunzip": "fnc",
    "gzip": "fnc",
    "jq": "nCce",
    "ln": "finF",
    "ls": "cdfiuomnHFC",
    "mount": "no",
    "mv": "finu",
    "ps": "uofFe",
    "rg": "nioFuHc",
    "rm": "fid",
    "rsync": "nudimHCOcE",
    "scp": "oCO",
    "sed": "niE",
    "set": "oufmnCeE",
    "sort": "nudifmCc",
    "ssh": "oCnf",
    "tail": "fF",
    "tar": "odmOc",
    "tee": "i",
    "uniq": "udic",
    "unzip": "nouC",
    "wc": "mc",
    "xz": "fce",
    "zip": "mufFdce",
    "zstd": "fdc",
}
"""Programs to which some of these short options are plain switches: no value follows them."""
WRITING_OPTIONS: Final = frozenset({"output", "out", "outfile", "output-file", "dest", "destination", "target"})
IN_ORDER: Final = frozenset(
    {"find", "ffmpeg", "convert", "magick", "test", "[", "expr", "docker", "podman", "ssh", "xargs"}
)
"""Programs to which it matters in which order they are given their options."""
MODULES: Final = "-m"
PROGRAM_FLAGS: Final = frozenset({"-c", "-e", "-E", "--eval"})
