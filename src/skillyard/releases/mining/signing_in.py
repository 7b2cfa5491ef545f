"""Signing in and out: what is done once, so that all that follows can be done."""

import re
from collections.abc import Sequence
from typing import Final

from skillyard.releases.mining.browser_acts import BrowserAct

_LEAVING: Final = re.compile(
    r"log ?out|sign ?out|log ?off|로그아웃|退出|登出|ログアウト|abmelden|déconnexion", re.IGNORECASE
)
_ENTERING: Final = re.compile(
    r"log[ _-]?in|sign[ _-]?in|log[ _-]?on|auth|session|로그인|登录|登錄|登入|ログイン|サインイン|"
    r"anmelden|einloggen|connexion|iniciar|entrar|accedi|войти",
    re.IGNORECASE,
)
_SENDING: Final = frozenset({"click", "press", "dblclick"})
_FEW: Final = 3
"""Fields of a form by which one signs in."""


def end_of_sign_in(acts: Sequence[BrowserAct], *, known: bool) -> int:
    """How many of the acts it takes to be let in, from the first one on; 0 if nobody is.

    `known` is whether somebody already was: then it must be said that this is what is done.
    """
    end = 0
    for index, act in enumerate(acts):
        if act.verb not in _SENDING or act.is_entry:
            continue
        entered = [one for one in acts[end:index] if one.is_entry]
        secrets = {one.same_place for one in entered if one.enters_secret}
        if not secrets:
            if end:
                break
            continue
        is_code = bool(end) and len(entered) == 1  # a second question on the way in
        if not is_code and (len(secrets) > 1 or not _signs_in(act, entered, acts[:index], known=known)):
            break
        end = index + 1
    return end


def leaves(act: BrowserAct) -> bool:
    """Whether it signs one out."""
    return act.verb == "click" and act.spot is not None and _LEAVING.search(act.spot.name) is not None


def _signs_in(sent: BrowserAct, entered: Sequence[BrowserAct], before: Sequence[BrowserAct], *, known: bool) -> bool:
    if not any(one.spot is None or one.spot.password for one in entered if one.enters_secret):
        return False
    said = [sent.spot.name if sent.spot else "", sent.before, *(act.title for act in before)]
    return any(map(_ENTERING.search, said)) or (not known and len(entered) <= _FEW)
