import pytest

from skillyard.search.lexicon import Lexicon, Mention, built_in
from skillyard.search.tokens import tokenize

LEXICON = Lexicon("""
# Documents
slide deck, presentation, 幻灯片, 발표 자료
.xlsx, worksheet > spreadsheet
~ picture, photo > image
where did I write it, my notes > note taking
""")


def mentions(text: str) -> list[Mention]:
    return list(LEXICON.mentions(tokenize(text)))


@pytest.mark.parametrize("said", ["make slide decks", "a presentation", "做幻灯片", "발표 자료", "발표자료 만들기"])
def test_each_expression_of_a_concept_stands_for_the_others(said: str):
    [mention] = mentions(said)
    assert {("slide", "deck"), ("present",), ("幻灯", "灯片"), ("발표", "자료")} <= set(mention.line.ways)
    assert not mention.line.is_loose


def test_an_arrow_leads_one_way():
    assert [mention.line.ways for mention in mentions("sums.xlsx")] == [(("spreadsheet",),)]
    assert mentions("spreadsheet") == []


def test_a_wave_says_that_it_is_a_guess():
    [mention] = mentions("a photo")
    assert mention.line.is_loose
    assert mention.line.ways == (("imag",),)


def test_the_longest_expression_counts():
    lexicon = Lexicon("machine learning > ml\nmachine > device\nlearning > school")
    assert [mention.line.ways for mention in lexicon.mentions(tokenize("machine learning"))] == [(("ml",),)]


def test_a_guess_does_not_hide_what_is_sure():
    lexicon = Lexicon("pdf > document\n~pdf to text > extraction")
    found = {mention.line.ways for mention in lexicon.mentions(tokenize("pdf to text"))}
    assert found == {(("document",),), (("extract",),)}


def test_a_short_text_may_say_it_in_any_order():
    lexicon = Lexicon("broken links > dead urls")
    [mention] = lexicon.mentions(tokenize("links that are broken"))
    assert mention.line.ways == (("dead", "url"),)
    assert not mention.is_almost


def test_a_short_text_may_leave_out_one_word_of_three():
    lexicon = Lexicon("server keeps crashing > reliability\nserver room > building")
    [mention] = lexicon.mentions(tokenize("my server is crashing"))
    assert mention.said == ("server", "crash")
    assert mention.is_almost


def test_a_long_text_must_say_it_word_for_word():
    lexicon = Lexicon("broken links > dead urls")
    assert list(lexicon.mentions(["broken", *map(str, range(24)), "link"])) == []


def test_an_expression_is_spoken_of_once_for_each_time_it_is_said():
    lexicon = Lexicon("slide deck > pptx")
    assert len(list(lexicon.mentions(tokenize("a slide deck")))) == 1


def test_pairs_of_characters_are_not_put_together_from_several_places():
    lexicon = Lexicon("数据分析 > analysis")
    assert list(lexicon.mentions(tokenize("分析 这些 数据"))) == []


def test_an_expression_that_is_all_but_stop_words_stands_for_nothing():
    assert mentions("write") == []


def test_text_without_a_known_word_speaks_of_nothing():
    assert mentions("aardvarks") == []


class TestBuiltIn:
    def test_every_line_says_something(self):
        assert len(built_in().sure) > 20_000
        assert len(built_in().loose) > 3_000

    @pytest.mark.parametrize(
        ("said", "meant"),
        [
            ("turn it into a slide deck", "pptx"),
            ("슬라이드 만들기", "slide"),
            ("幻灯片", "slide"),
            ("report.xlsx", "excel"),
            ("kubernetes 集群", "cluster"),
        ],
    )
    def test_people_and_skills_understand_each_other(self, said: str, meant: str):
        also = {word for mention in built_in().mentions(tokenize(said)) for way in mention.line.ways for word in way}
        assert set(tokenize(meant)) <= also | set(tokenize(said))
