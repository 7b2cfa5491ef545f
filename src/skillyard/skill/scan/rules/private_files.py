"""The files that hold a person's keys, as anchors and expressions that several rules share."""

from typing import Final, NamedTuple


class PrivateFiles(NamedTuple):
    anchors: tuple[str, ...]
    expression: str
    """Matched where one of the anchors starts."""


KEYS: Final = PrivateFiles(
    (
        ".ssh/id",
        ".ssh/*",
        ".aws/credentials",
        "/etc/shadow",
        ".git-credentials",
        ".gnupg/",
        ".config/solana",
        "wallet.dat",
        ".electrum/",
        "keychain-db",
        "key4.db",
        "logins.json",
        "cookies.sqlite",
        "/login data",
        "/cookies",
        "/web data",
    ),
    r"(?:\.ssh/(?:id_[a-z0-9]{2,12}+(?!\.pub)\b|identity\b|\*)|\.aws/credentials|/etc/shadow\b|\.git-credentials"
    r"|\.gnupg/|\.config/solana/id\.json|wallet\.dat\b|\.electrum/wallets|keychain-db|key4\.db|logins\.json"
    r"|cookies\.sqlite|(?<=/default)/(?:login data|cookies|web data)\b)",
)
"""Keys, passwords and sessions: programs other than their owners have no business with them."""

LOGINS: Final = PrivateFiles(
    (".netrc", ".pypirc", ".docker/config.json", ".kube/config", ".config/gh/hosts", ".config/gcloud/"),
    r"(?:\.netrc\b|\.pypirc\b|\.docker/config\.json|\.kube/config\b|\.config/gh/hosts"
    r"|\.config/gcloud/(?:credentials|application_default|\*))",
)
"""Settings of tools that hold a login too: many honest programs name them."""

ALL: Final = PrivateFiles((*KEYS.anchors, *LOGINS.anchors), f"(?:{KEYS.expression}|{LOGINS.expression})")
