import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.search import Document, SkillIndex

SKILLS = {
    "pdf-tools": "Merge, split and fill PDF forms.",
    "deck-maker": "Builds slide decks and presentations as pptx files.",
    "csv-cleaner": "Cleans messy tables: removes duplicate rows, fixes types.",
    "k8s-rollout": "Rolls out containers to a Kubernetes cluster and rolls back on failure.",
    "podcast-studio": "Produces podcast episodes: scripts, voices and chapters.",
    "air-quality": "대기질과 미세먼지 농도를 지역별로 알려준다.",
    "stock-backtest": "用历史数据回测股票交易策略。",
    "GitHub Actions Doctor": "Finds out why a CI workflow fails.",
}


@pytest.fixture(scope="module")
def index() -> SkillIndex:
    return SkillIndex.of(
        Document(key=name, name=name, description=description, body=f"# {name}\n\nSteps to follow.")
        for name, description in SKILLS.items()
    )


def keys(index: SkillIndex, query: str, **rest) -> list[str]:
    return [hit.key for hit in index.search(query, **rest).hits]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("merge two pdf files", "pdf-tools"),
        ("prepare a presentation for the board", "deck-maker"),
        ("발표 자료 만들기", "deck-maker"),
        ("做一个幻灯片", "deck-maker"),
        ("오늘 미세먼지 어때", "air-quality"),
        ("回测策略", "stock-backtest"),
        ("backtest a trading strategy", "stock-backtest"),
        ("github action fails", "GitHub Actions Doctor"),
        ("deploy to kubernetes", "k8s-rollout"),
        ("podcst", "podcast-studio"),
        ("cleanr for csv", "csv-cleaner"),
    ],
)
def test_the_skill_that_fits_comes_first(index: SkillIndex, query: str, first: str):
    assert keys(index, query)[0] == first


@pytest.mark.parametrize(
    "query", ["quantum chromodynamics lattice", "", "   ", "the of and", "zzzzqqq", "!!! ???", "的", '()"AND OR NOT*']
)
def test_what_has_nothing_to_do_with_any_skill_finds_nothing(index: SkillIndex, query: str):
    assert keys(index, query) == []


def test_the_very_name_of_a_skill_puts_it_first(index: SkillIndex):
    assert keys(index, "csv-cleaner")[0] == "csv-cleaner"
    assert keys(index, " GITHUB actions doctor ")[0] == "GitHub Actions Doctor"


def test_a_long_instruction_finds_the_skill_it_needs(index: SkillIndex):
    instruction = (
        "You are given /root/input/quarterly.csv with sales of the last year. Some rows are duplicated and the "
        "dates have mixed types. Clean the table, drop the duplicates, and write the result to "
        "/root/output/clean.csv with the columns "
        "region, date and amount. Do not change the order of the columns. Explain nothing."
    )
    assert keys(index, instruction)[0] == "csv-cleaner"


def test_the_body_is_searched_too():
    index = SkillIndex.of([Document(key="a", name="a", description="Paints.", body="Uses the aardvark brush.")])
    assert keys(index, "aardvark brush") == ["a"]


@pytest.fixture(scope="module")
def owned() -> SkillIndex:
    return SkillIndex.of(
        Document(
            key=f"{owner}-{kind}",
            name=f"{kind} tool",
            description=f"Handles {kind} for {owner}.",
            seen_by=(owner,),
            labels=(f"kind:{kind}", f"owner:{owner}"),
        )
        for owner in ("ann", "bob")
        for kind in ("invoices", "letters")
    )


def test_only_what_may_be_seen_is_found_and_counted(owned: SkillIndex):
    found = owned.search("invoices", seen_by=["ann"])
    assert [hit.key for hit in found.hits] == ["ann-invoices"]
    assert found.total == 1
    assert keys(owned, "invoices tool", seen_by=["nobody"]) == []
    assert keys(owned, "invoices tool", seen_by=[]) == []


def test_who_may_see_everything_finds_the_same_as_without_rights(owned: SkillIndex):
    assert owned.search("invoices", seen_by=["ann", "bob"]) == owned.search("invoices")


def test_a_document_for_nobody_is_hidden_from_those_who_see_all_others():
    index = SkillIndex.of(
        Document(key=key, name=key, description="Cuts paper.", seen_by=seen_by)
        for key, seen_by in (("shared", ("ann", "bob")), ("ann", ("ann",)), ("none", ()))
    )
    assert sorted(keys(index, "cut paper", seen_by=["ann"])) == ["ann", "shared"]


def test_the_very_name_finds_no_more_than_may_be_seen(owned: SkillIndex):
    assert keys(owned, "letters tool", seen_by=["bob"], labels=["kind:letters"]) == ["bob-letters"]


def test_every_label_must_be_there(owned: SkillIndex):
    assert sorted(keys(owned, "tool", labels=["kind:letters"])) == ["ann-letters", "bob-letters"]
    assert keys(owned, "tool", labels=["kind:letters", "owner:bob"]) == ["bob-letters"]


def test_other_skills_of_the_same_name_do_not_crowd_out_the_rest():
    copies = [Document(key=f"copy-{n}", name="pdf", description="Reads pdf files.") for n in range(6)]
    other = Document(key="other", name="pdf-forms", description="Fills in forms in pdf files.")
    assert "other" in keys(SkillIndex.of([*copies, other]), "pdf files", limit=5)


def test_the_same_question_gets_the_same_answer(index: SkillIndex):
    assert index.search("slides and tables") == index.search("slides and tables")


def test_no_more_than_the_limit_is_given(index: SkillIndex):
    assert len(keys(index, "files tables slides clusters", limit=2)) <= 2
    assert keys(index, "pdf", limit=0) == []
    assert keys(index, "pdf", limit=-1) == []


def test_pages_together_are_all_that_fits_once_however_large_they_are():
    copies = [Document(key=f"copy-{n}", name=f"count-{n % 40}", description="Counts lines.") for n in range(130)]
    index = SkillIndex.of([*copies, Document(key="other", name="cats", description="Draws cats.")])
    whole = [hit.key for hit in index.page("count", limit=1_000).hits]
    assert sorted(whole) == sorted(each.key for each in copies)
    pages = [index.page("count", limit=50, offset=offset) for offset in (0, 50, 100, 150)]
    assert [hit.key for page in pages for hit in page.hits] == whole
    assert {(page.total, page.is_more) for page in pages} == {(130, False)}


def test_an_index_of_nothing_has_an_empty_page():
    assert SkillIndex.of([]).page("count", limit=50).total == 0


def test_an_index_of_nothing_finds_nothing():
    assert keys(SkillIndex.of([]), "anything") == []


@pytest.mark.parametrize(
    "query",
    [
        "a" * 1_000_000,
        "word " * 200_000,
        "幻灯片" * 100_000,
        "\x00\x01\x1b[31m pdf",
        "\ud800 pdf",
        'name:pdf^9 +x -y "z"~2 [a TO b]',
        "🙂" * 5_000,
    ],
)
def test_hostile_queries_are_answered(index: SkillIndex, query: str):
    assert index.search(query).total >= 0


@given(query=st.text(max_size=300))
def test_any_query_is_answered_in_order(index: SkillIndex, query: str):
    scores = [hit.score for hit in index.search(query).hits]
    assert all(score >= 0 for score in scores)


@given(name=st.text(max_size=60), description=st.text(max_size=200), body=st.text(max_size=300))
def test_any_document_can_be_indexed_and_found_by_its_name(name: str, description: str, body: str):
    index = SkillIndex.of([Document(key="k", name=name, description=description, body=body)])
    assert keys(index, name) == (["k"] if name.strip() == name else keys(index, name))
