"""Words that say nothing, or little, about what a skill does."""

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
_CHINESE: Final = """
怎么 如何 什么 可以 一个 这个 那个 我们 你们 他们 使用 进行 以及 或者 需要 帮我 请帮 一下 能够 时候 这些 那些 一些 如果
但是 因为 所以 然后 就是 不是 没有 已经 还是 还有 其中 之后 之前 同时 并且 而且 以下 下面 每个 所有 请你 给我 我想 我要
想要 希望 必须 应该 不要 不能 可能 它们 自己 目前 现在 有没 么样 怎样 哪些 哪里 为什 是否 请问 有什 请把 请根 根据 其他
"""
_JAPANESE: Final = """
する して した ます です から こと もの ため よう ない ある いる など また では には とき この その あの
どの ださ さい たい ので けど まで より だけ れる られ せる なら たら でき きる まし ませ せん った って てい
"""
_KOREAN: Final = """
하는 하고 하기 해줘 하다 합니 니다 에서 으로 있는 있다 것을 이다 그리 리고 또는 위한 위해 싶다 습니 입니 됩니 해서 하여
하면 하게 했다 했는 되는 되어 에게 에는 에도 까지 부터 이나 이며 라는 라고 려고 하려 싶어 싶은 주세 세요 해주 어줘 줘요
어떻 떻게 무엇 어떤 이런 그런 저런 모든 각각 대한 대해 통해 따라 따른 같은 같이 때문 경우 이번 우리 저희 제가 내가 나는
있어 없는 없어 없이 있게 있습 않는 않고 않은 하지 지만 그래 그러 러나 아래 다음 다시 먼저 정도 해야
한다 는지 인지 으면
"""

STOP_WORDS: Final = frozenset(f"{_ENGLISH} {_CHINESE} {_JAPANESE} {_KOREAN}".split())

COMMON_WORDS: Final = """
able accept across act action actual actually add added adding additional afterwards against ago agree ahead allow
almost alone along already alright although always among amount another answer anybody anymore anyone anything
anyway apart appear application apply area around arrive ask asked asking away awful back bad bag base based basic
become bed begin beginning behind believe belong best better big bit black blue body boss both bottom box break
breaks bring broken brother brought build built busy buy call calling came card care careful carry case catch cause
certain chance change cheap check choose chore clean clear clearly close code cold collect come comes coming company
complete completely concern consider contain content continue correct correctly cost count couple cover crazy create
creating csv current currently cut daily dark data date day dead deal decide deep definitely describe desk detail
different difficult dinner direct directory discover discuss done door double doubt downstairs draw dream drive drop
dry each early earn easily easy eat effect effort either else empty end enjoy enough ensure entire entirely
especially even evening ever every everybody everyone everything exact exactly example excellent except expect
explain extra eye face fact fail fair fall family far fast fault favorite feel felt field fields figure file files
fill final finally find fine finish first fit fix floor folder follow following food foot force forever forget form
format forward found four free fresh friend friendly front full fun funny future game gave general generally
generate gets getting girl given gives giving glad goal goes going gone good got great green group grow guess guide
guy half hand handle hang happen happened happens happy hard hardly hate having head hear heard heart heavy held
hello hey hi high hit hold hole home hope hot hour house huge idea imagine implement important improve include
included includes including indeed individual information input inside instead interest interested interesting issue
item job join json jump keep kept key kid kind knew know known knows lack land large last late lately later latest
laugh lead learn least leave left legal less level life light likely line list listen little live local long longer
look looked looking looks lose lost lot loud love low lower lucky main mainly making manage many mark matter maybe
mean means meant meet mention middle mind minute miss missing mistake mix moment money month morning mostly move
moved much multiple must name namely near nearby nearly necessary needed needs neither never new newer news next
nice night nobody none normal normally note nothing notice number obvious obviously occur odd offer often okay old
older open opinion opposite order ordinary original others otherwise ought output outside overall page paid pair
paper part particular particularly party pass past path pay people perfect perfectly perhaps person pick picked
picture piece place plan play plenty point poor popular position possible possibly post posterity power prefer
prepare present pretty prevent previous price probably problem process produce project proper properly prove provide
provided public pull purpose push put question quick quickly quiet quietly quite raise ran rather reach read ready
real realize really reason receive recent recently red regular regularly relate remain remember remove repeat reply
request require required respect respond rest result results return right road room rough round rule run running
safe said sale save saw say saying says seat second see seem seems seen sell send sense sent separate serious serve
set several shape share sheet short shot show shown shows shut sick side sign similar similarly simple simply since
single sit site situation size skill slow slowly small smart solve somebody somehow someone something sometimes
somewhere son soon sort sound source space speak special specific spend spot stand standard start started state stay
step still stop store story straight strange street strong stuff style subject success such sudden suddenly suggest
suggestion suit sum supply support suppose sure surely surprise system table take taken takes taking talk tall task
tell ten tend term test text thank thing things think third thought three throw thus ticket tie till time times tiny
tired today together told tomorrow tongue took tool top total totally touch toward town trade tried trip trouble
true truly trust try trying turn turns twice two type understand understood unless unlike upper useful user users
usual usually value various version view visit voice wait walk wall wanted wants warm watch water way ways week
weekly welcome well went whatever whenever wherever whether white whole whose wide willing win window wish within
without woman wonder wood word words work worked working works world worry worse worst worth write writing written
wrong wrote yeah year yes yesterday yet young yours
"""
"""Words of everyday language: rare among skills perhaps, yet they tell little about which one is meant."""
