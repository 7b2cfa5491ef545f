"""Words that say nothing about what a skill does, as `tokens` spells them."""

from typing import Final

_ENGLISH: Final = """
a about above after again all also am an and any are as at be because been before being below between both
but by can could did do does doing down during each etc few for from further get give had has have having he
help her here hers him his how i if in into is it its just let like make may me might more most must my need
no nor not now of off on once one only or other our out over own please same shall she should so some such
than that the their them then there these they thi this those through to too under until up upon us use user
using very via want was we were what when where which while who whom why will with would you your
"""

# Pairs, because that is how these languages are cut.
_CHINESE: Final = "怎么 如何 什么 可以 一个 这个 那个 我们 你们 他们 使用 进行 以及 或者 需要 帮我 请帮 一下 能够 时候"
_JAPANESE: Final = "する して した ます です から こと もの ため よう ない ある いる など また では には とき"
_KOREAN: Final = "하는 하고 하기 해줘 하다 합니 니다 에서 으로 있는 있다 것을 이다 그리 리고 또는 위한 위해 싶다"

STOP_WORDS: Final = frozenset(f"{_ENGLISH} {_CHINESE} {_JAPANESE} {_KOREAN}".split())
