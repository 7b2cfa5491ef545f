import pytest

from skillyard.search import Document, Index, rank
from skillyard.search import index as index_module

LIBRARY = [
    Document("file-diff", "file-diff", "Compares two files line by line and reports the differences."),
    Document("pdf", "pdf", "Reads, merges and splits PDF documents. 合并 PDF 文档。"),
    Document("docker-deploy", "docker-deploy", "Builds container images and deploys them to a server."),
    Document("kubernetes", "kubernetes", "Runs workloads on a cluster.", "Charts need helm upgrade."),
    Document("发票识别", "发票识别", "从扫描件中识别发票金额和税号"),
    Document("발표-자료", "발표-자료", "발표 자료 슬라이드를 만들고 다듬는다"),
    Document("議事録", "議事録", "会議の議事録を要約して書く"),
]


def ids(query: str, limit: int = 10) -> list[str]:
    return [hit.id for hit in rank(query, LIBRARY, limit=limit)]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("compare files", "file-diff"),
        ("merging PDF documents", "pdf"),
        ("I have two versions of a report and want to know the differences between the files", "file-diff"),
        ("deployment of containers", "docker-deploy"),
        ("helm upgrade", "kubernetes"),
        ("识别发票上的金额", "发票识别"),
        ("합치기 말고 슬라이드 만들기", "발표-자료"),
        ("会議の要約", "議事録"),
        ("票", "发票识别"),
    ],
)
def test_the_skill_that_fits_comes_first(query: str, best: str):
    assert ids(query)[0] == best


@pytest.mark.parametrize(
    "query",
    [
        "bake sourdough bread",
        "knit a wool sweater",
        "周末去哪里爬山",
        "김치찌개 끓이는 법",
        "the of and",
        "",
        "   ",
        "!!!",
    ],
)
def test_an_unrelated_query_finds_nothing(query: str):
    assert ids(query) == []


@pytest.mark.parametrize(
    ("query", "best"), [("dokcer", "docker-deploy"), ("kubernets", "kubernetes"), ("kuber", "kubernetes")]
)
def test_a_misspelt_or_unfinished_name_is_found(query: str, best: str):
    assert ids(query) == [best]


def test_a_query_that_is_a_skills_name_puts_it_first():
    noisy = [
        Document("guide", "guide", "pdf pdf pdf pdf pdf pdf"),
        Document("pdf", "pdf", "Handles a common document format of many pages and long texts."),
    ]
    assert [hit.id for hit in rank("PDF", noisy)] == ["pdf", "guide"]


def test_the_text_of_a_skill_counts_and_its_description_counts_more():
    documents = [
        Document("a", "a", "Writes letters.", "Sometimes mentions invoices."),
        Document("b", "b", "Writes invoices.", "Sometimes mentions letters."),
    ]
    assert [hit.id for hit in rank("invoices", documents)] == ["b", "a"]


def test_limit_bounds_the_answer_and_ties_are_in_id_order():
    twins = [Document(name, name, "Formats tables.") for name in ("c", "a", "b")]
    index = Index(twins)
    assert [hit.id for hit in index.search("tables", limit=2)] == ["a", "b"]
    assert index.search("tables", limit=0) == []
    assert index.search("tables", limit=-1) == []


def test_scores_fall_and_are_the_same_every_time():
    index = Index(LIBRARY)
    hits = index.search("compare two PDF files")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits == index.search("compare two PDF files")


def test_an_empty_library_finds_nothing():
    assert rank("anything", []) == []


def test_a_query_of_many_thousand_words_is_answered():
    assert ids("deploy the container image. " * 5000)[0] == "docker-deploy"


def test_a_long_instruction_full_of_unknown_words_still_finds_the_known_ones():
    unknown = " ".join(f"qwx{letter}{other}zzy" for letter in "abcdefgh" for other in "abcdefgh")
    assert ids(f"{unknown} deploy the container images to our server")[0] == "docker-deploy"


def test_a_skill_named_with_words_that_say_nothing_is_found_by_its_name():
    documents = [Document("how-to", "how-to", "Explains."), Document("other", "other", "Else.")]
    assert [hit.id for hit in rank("How-To", documents)] == ["how-to"]
    assert rank("", documents) == []


def test_a_body_is_searched_up_to_its_limit():
    body = "word " * (index_module.MAX_BODY // 5) + "aardvark"
    assert rank("aardvark", [Document("long", "long", "Long.", body)]) == []
    assert rank("aardvark", [Document("long", "long", "Long.", body[10:])]) != []


def test_when_the_work_is_used_up_names_and_descriptions_are_still_searched(monkeypatch):
    monkeypatch.setattr(index_module, "MAX_WORK", 10)
    crowd = " ".join(f"w{number}" for number in range(20))
    documents = [
        Document("crowd", "crowd", "Fills the index.", crowd),
        Document("late", "late", "Paints fences.", "aardvark"),
    ]
    assert rank("aardvark", documents) == []
    assert [hit.id for hit in rank("w7", documents)] == ["crowd"]
    assert [hit.id for hit in rank("paint fences", documents)] == ["late"]


def test_when_descriptions_alone_are_too_many_names_are_still_found(monkeypatch):
    monkeypatch.setattr(index_module, "MAX_SUMMARY_WORK", 10)
    crowd = " ".join(f"w{number}" for number in range(20))
    documents = [Document("crowd", "crowd", crowd), Document("late", "late", "Paints fences.")]
    assert rank("paint fences", documents) == []
    assert [hit.id for hit in rank("late", documents)] == ["late"]
