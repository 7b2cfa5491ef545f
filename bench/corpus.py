"""Skills and queries made up for measuring search: words as common and as rare as in a language."""

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

from skillyard.search import Document

_SYLLABLES = [a + b for a in "bcdfghjklmnprstvwz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il", "on", "us")]
_RARE = 60_000
_OWN = 6
"""Words of its own that a skill has, shared with few others."""
_HAN = "数据图像表格文件合同翻译分析生成测试部署监控备份搜索邮件会议笔记学习股票天气旅行菜谱音乐视频语音安全密码网络"


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    key: str
    """The skill that it was made for."""


class Corpus:
    """As many skills as asked for, always the same ones."""

    def __init__(self, skills: int) -> None:
        self.skills = skills
        made = random.Random(7)
        # Words that the lexicon knows: to say them in other words is part of what search does.
        lexicon = "".join(file.read_text("utf-8") for file in files("skillyard.search").joinpath("words").iterdir())
        self._common = sorted(set(re.findall(r"\b[a-z]{3,14}\b", lexicon)))
        made.shuffle(self._common)
        self._zipf = list(itertools.accumulate(1 / (rank + 8) for rank in range(len(self._common))))
        made_up = itertools.islice(itertools.product(_SYLLABLES, repeat=3), _RARE)
        self._rare = ["".join(parts) for parts in made_up]

    @cached_property
    def documents(self) -> list[Document]:
        return list(self._documents())

    def _documents(self) -> Iterator[Document]:
        for number in range(self.skills):
            made, own = self._maker(number)
            name = f"{own[0]}-{own[1]}-{number}"
            description = f"{self._prose(made, 14)} {' '.join(own[:4])} {self._prose(made, 10)}."
            body = " ".join(
                f"## {made.choice(own)} {self._prose(made, 3)}\n\n{self._prose(made, 60)} {made.choice(own)}.\n"
                for _ in range(6)
            )
            yield Document(
                key=str(number), name=name, description=description, body=body, seen_by=(f"team-{number % 50}",)
            )

    def queries(self, count: int, *, words: int) -> list[Query]:
        """Tasks of so many words, each with some of the words of the skill it needs."""
        chosen = random.Random(11).sample(range(self.skills), count)
        queries: list[Query] = []
        for number in chosen:
            _, own = self._maker(number)
            asked = random.Random(f"query {number}")
            text = self._prose(asked, words - 3).split()
            for word in asked.sample(own, 3):
                text.insert(asked.randrange(len(text) + 1), word)
            queries.append(Query(" ".join(text), str(number)))
        return queries

    def _maker(self, number: int) -> tuple[random.Random, list[str]]:
        made = random.Random(f"skill {number}")
        own = made.choices(self._rare, k=_OWN)
        if number % 10 == 0:
            own[-1] = "".join(made.sample(_HAN, 4))
        return made, own

    def _prose(self, made: random.Random, words: int) -> str:
        return " ".join(made.choices(self._common, cum_weights=self._zipf, k=words))
