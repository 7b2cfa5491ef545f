"""Sentences meant to take over the agent, or to keep something from the person it works for."""

import re
from typing import Final

from skillyard.skill.models import Severity
from skillyard.skill.scan.rule import REACH, Level, Pattern, Rule
from skillyard.skill.scan.rules.hosts import Host, host_in

RULE: Final = Rule(
    code="scan-agent-instruction",
    looks_for="Instructions aimed at the agent instead of the task, in English, Chinese, Korean and Japanese: "
    "ignore earlier instructions, hide something from the user, forged system messages, orders in comments.",
    why="The agent reads a skill as trusted text; such words can turn it against the person it works for.",
    fix="Remove the words and describe the task; an example of an attack belongs in a code block.",
)

_TAKEOVER: Final = Level(Severity.WARNING, Severity.WARNING, Severity.ERROR)
_CONCEALMENT: Final = Level(Severity.WARNING, Severity.INFO, Severity.WARNING)
_FORGERY: Final = Level(Severity.INFO, None, Severity.WARNING)

_FILLER: Final = r"(?:(?:all|any|of|the|your|every|these|those|my|its|and|other|that)\s{1,4}){0,5}+"
_RULES: Final = (
    r"(?:(?:system|safety|user|developer|security)\s{1,4}){0,2}+(?:instructions?|prompts?|rules|guidelines?|"
    r"directives?|constraints|restrictions|polic(?:y|ies)|messages?|commands?)\b"
)
_HIDE: Final = (
    r"\b(?:hide|conceal|keep)\s{1,4}(?:this|it|these|that|everything|the fact|what you|your|all)\b[^\n.]{0,60}\Z"
)
_NOT: Final = r"(?:\bnot|n[^a-z\s]{1,3}t|\bnever)"
_COMMENT: Final = r"(?:(?!-->)[\s\S])"
_KOREAN_RULES: Final = (
    r"(?:이전|앞선|앞의|위의|위|기존|시스템|지금까지의)\s{0,2}(?:의\s{0,2})?(?:모든\s{0,2})?(?:시스템\s{0,2})?"
    r"(?:지시|명령|지침|프롬프트|규칙)(?:사항)?(?:들)?(?:을|를|은|는)?\s{0,2}(?:모두|전부|완전히|다)?\s{0,2}\Z"
)
_JAPANESE_RULES: Final = (
    r"(?:以前|これまで|上記|今まで|前|先ほど|システム|既存|すべて|全て)の(?:すべての|全ての|システム)?"
    r"(?:指示|命令|プロンプト|ルール|制約|指令)(?:を|は)(?:すべて|全て|完全に)?\Z"
)


def _grade_page(match: re.Match[bytes]) -> Level | None:
    before = match.string[max(0, match.start() - REACH) : match.start()]
    host = host_in(before[max(0, before.rfind(b"http")) :])
    if host in {Host.LOCAL, Host.NONE}:
        return None
    return _TAKEOVER if host is Host.SUSPECT else _CONCEALMENT


_ENGLISH: Final = (
    Pattern(
        rule=RULE,
        anchors=("ignore ", "disregard ", "forget "),
        expression=rf"(?:ignore|disregard|forget)\s{{1,4}}{_FILLER}(?:previous|prior|above|earlier|preceding|"
        rf"existing|system|safety|developer|original)\s{{1,4}}{_RULES}",
        says="The agent is told to ignore its instructions",
        level=_TAKEOVER,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("override ", "bypass "),
        expression=rf"(?:override|bypass)\s{{1,4}}{_FILLER}(?:(?:previous|prior|system|developer)\s{{1,4}}"
        r"(?:instruction|prompt|directive)s?|(?:safety|security)\s{1,4}(?:guidelines?|restrictions?|constraints?|rules|"
        r"policy|policies))\b",
        says="The agent is told to override its instructions",
        level=_CONCEALMENT,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("you are now ", "you're now "),
        expression=r"you(?: are|'re) now\s{1,4}(?:(?:in|an?)\s{1,4}){0,2}+(?:dan\b|jailbroken|do anything now|"
        r"unrestricted|unfiltered|(?:developer|maintenance|god|jailbreak)[ -]mode\b)",
        says="The agent is told to leave its rules behind",
        level=_TAKEOVER,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("tell the user", "inform the user", "notify the user", "alert the user", "tell user", "inform user"),
        leads=(rf"{_NOT}\s{{1,4}}\Z",),
        expression=r"\w{4,6} (?:the )?users?\b(?=\s{0,4}(?:[.!;]|\n|\Z|about (?:this|it|these)))",
        says="The agent is told to keep something from the user",
        level=_CONCEALMENT,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("to the user", "to user"),
        leads=(
            rf"{_NOT}\s{{1,4}}(?:mention|reveal|disclose)\s{{1,4}}(?:this|it|that|any|anything|these)\b[^\n.]{{0,60}}\Z",
        ),
        expression=r"to (?:the )?users?\b",
        says="The agent is told to keep something from the user",
        level=_CONCEALMENT,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("from the user", "from your user", "from user"),
        leads=(_HIDE,),
        expression=r"from (?:the |your )?users?\b(?!-)",
        says="The agent is told to hide something from the user",
        level=_TAKEOVER,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("user must not ", "user should not ", "user must never ", "user should never "),
        expression=r"user \w{4,6} (?:not|never) (?:know|notice|find out|be aware|be told|realize|learn)\b",
        says="The agent is told to act behind the user's back",
        level=_CONCEALMENT,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("without the user", "without user", "without telling", "without informing", "without notifying"),
        expression=r"without (?:(?:the )?user(?:[^a-z\s]{1,3}s)? (?:knowledge|noticing|knowing|awareness|"
        r"realizing|finding out)|(?:telling|informing|notifying) (?:the )?user\b)",
        says="The agent is told to act behind the user's back",
        level=_CONCEALMENT,
    ),
    Pattern(
        rule=RULE,
        anchors=("<system", "<|im_start|>", "<|system|>", "[inst]", "<<sys>>", "<|start_header_id|>"),
        expression=r"<system(?:[_-](?:prompt|message|reminder|instruction)s?)?>|<\|im_start\|>\s{0,4}system|"
        r"<\|system\|>|\[inst\]|<<sys>>|<\|start_header_id\|>\s{0,4}system",
        says="A system message is forged",
        level=_FORGERY,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("message from ", "instruction from ", "instructions from ", "directive from "),
        leads=(r"\b(?:important|urgent|official|system|security|new|priority)\s\Z",),
        expression=r"(?:message|instructions?|directive) from (?:the )?(?:anthropic|openai|google|system|developers?|"
        r"administrators?|admin)\b",
        says="A message from an authority is forged",
        level=_CONCEALMENT,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("exactly", "word for word", "to the letter", "whatever it says", "without question"),
        expression=r"[a-z ]{7,20}",
        nearby=r"\b(?:read|fetch|open|load|get|curl|visit|download|retrieve|browse)\b[^\n]{0,80}?https?://[^\s)>\"'`]{3,200}+"
        r"(?:(?!\n[ \t]{0,8}\n)[\s\S]){0,100}?\b(?:follow|obey|execute|carry out|perform|do)\s[^\n]{0,60}\Z",
        says="The agent is told to obey a web page",
        level=_CONCEALMENT,
        grade=_grade_page,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("<!--",),
        expression=rf"<!--(?={_COMMENT}{{0,400}}?\b(?:send|upload|post|forward|e-?mail|transmit|copy)\s{_COMMENT}{{0,120}}?"
        r"(?:\.env\b|passwords?\b|credentials?\b|secrets\b|api[ _-]?keys?\b|tokens\b|private keys?\b|ssh keys?\b))"
        rf"{_COMMENT}{{0,60}}+",
        says="A comment that readers do not see asks the agent to send secrets",
        level=Level(Severity.ERROR, Severity.WARNING, Severity.ERROR),
    ),
    Pattern(
        rule=RULE,
        anchors=("<!--",),
        expression=rf"<!--(?={_COMMENT}{{0,400}}?\b(?:run|execute|send|upload|read|fetch|download|append|post|delete)\s)"
        rf"(?={_COMMENT}{{0,400}}?(?:\b(?:do not|don[^a-z\s]{{0,3}}t|never|without) "
        r"(?:mention|tell|reveal|show|inform)\w{0,6}|\b(?:silently|secretly|covertly)\b))"
        rf"{_COMMENT}{{0,60}}+",
        says="A comment that readers do not see gives the agent an order to keep from the user",
        level=Level(Severity.ERROR, Severity.WARNING, Severity.ERROR),
    ),
    Pattern(
        rule=RULE,
        anchors=("<!--",),
        expression=r"<!--(?>(?:(?!-->)[\s\S]){0,200}?\b(?:(?:ai|claude|llm|assistant|agent|model)s?\s{0,2}(?::|,|must|"
        r"should|shall|will)|you (?:must|should|are|will)|secretly|covertly|when (?:you|reading|processing) "
        r"(?:read|this|the)))(?:(?!-->)[\s\S]){0,160}?\b(?:run|execute|send|upload|read|ignore|fetch|download|"
        r"append|post|never|always|delete|tell|say)\b",
        says="A comment that readers do not see speaks to the agent",
        level=_CONCEALMENT,
    ),
)

_CHINESE: Final = (
    Pattern(
        rule=RULE,
        anchors=("忽略", "无视", "忘记", "忘掉"),
        expression=r"(?:忽略|无视|忘记|忘掉)(?:你|您)?(?:之前|以上|上面|先前|前面|此前|以前|系统|原有|所有|一切|任何|全部)"
        r"(?:的)?(?:之前|以上|先前|系统|安全)?(?:的)?(?:所有|全部|任何|系统)?(?:的)?(?:指令|指示|提示|规则|命令|限制)",
        says="The agent is told to ignore its instructions",
        level=_TAKEOVER,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("告诉用户", "告知用户", "通知用户"),
        leads=(r"(?:不要|不得|切勿|禁止|请勿|别|不能|不可)\Z",),
        expression=r"(?:告诉|告知|通知)用户(?=此|这|本|该|任何|。|\s{0,4}(?:\n|\Z))",
        says="The agent is told to keep something from the user",
        level=_CONCEALMENT,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("让用户", "向用户"),
        leads=(r"(?:不要|不得|切勿|禁止|请勿|别|不能|不可)\Z",),
        expression=r"让用户(?:知道|发现|察觉)|向用户(?:透露|提及|披露)(?:此|这|本|该|任何)",
        says="The agent is told to keep something from the user",
        level=_CONCEALMENT,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("瞒着用户", "背着用户", "对用户", "向用户"),
        expression=r"(?:瞒着|背着)用户|(?:对|向)用户(?:隐瞒|保密)",
        says="The agent is told to act behind the user's back",
        level=_CONCEALMENT,
    ),
)

_KOREAN: Final = (
    Pattern(
        rule=RULE,
        anchors=("무시하", "무시해", "잊어", "잊으"),
        leads=(_KOREAN_RULES,),
        expression=r"무시(?:하고|해|하세요|하라|하십시오)|잊(?:어|으)",
        says="The agent is told to ignore its instructions",
        level=_TAKEOVER,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("사용자에게", "사용자한테", "사용자가", "사용자 몰래"),
        expression=r"사용자(?:(?:에게|한테)(?:는)?\s{0,2}(?:[^\s.]{1,30}+\s){0,2}(?:알리지|말하지|알려주지|밝히지)\s{0,2}"
        r"(?:마|말)|가\s{0,2}(?:알지|눈치채지|알아채지)\s{0,2}못하| 몰래)",
        says="The agent is told to keep something from the user",
        level=_CONCEALMENT,
        quotable=True,
    ),
)

_JAPANESE: Final = (
    Pattern(
        rule=RULE,
        anchors=("無視", "忘れ"),
        leads=(_JAPANESE_RULES,),
        expression=r"無視(?:し|せよ|する)|忘れ(?:て|ろ)",
        says="The agent is told to ignore its instructions",
        level=_TAKEOVER,
        quotable=True,
    ),
    Pattern(
        rule=RULE,
        anchors=("ユーザーに", "ユーザに", "利用者に"),
        expression=r"(?:ユーザー|ユーザ|利用者)に(?:は)?(?:このことを|これを|何も|決して|絶対に)?"
        r"(?:知らせ|伝え|言わ|教え|気づかれ|気付かれ)(?:ず|ない|てはいけ|るな)",
        says="The agent is told to keep something from the user",
        level=_CONCEALMENT,
        quotable=True,
    ),
)

PATTERNS: Final = (*_ENGLISH, *_CHINESE, *_KOREAN, *_JAPANESE)
