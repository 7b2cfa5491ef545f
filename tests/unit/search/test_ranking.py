from skillyard.search import Document, SkillIndex

OTHERS = [
    Document(key=f"other-{number}", name=f"helper-{number}", description="Sorts mail into folders.", body="Steps.")
    for number in range(8)
]


def first_keys(query: str, *documents: Document) -> list[str]:
    return [hit.key for hit in SkillIndex.of([*OTHERS, *documents]).search(query).hits]


def test_other_words_for_what_is_asked_are_found_where_a_skill_says_what_it_is_for():
    described = Document(key="described", name="deck-maker", description="Builds slides.", body="Steps.")
    mentioned = Document(key="mentioned", name="office-tour", description="Shows the rooms.", body="Bring your slides.")
    assert first_keys("발표 자료", described, mentioned) == ["described"]


def test_the_words_of_the_query_are_found_in_bodies_too():
    mentioned = Document(key="mentioned", name="office-tour", description="Shows the rooms.", body="Bring your slides.")
    assert first_keys("slides", mentioned) == ["mentioned"]


def test_all_words_of_an_expression_must_be_there():
    whole = Document(key="whole", name="money-matters", description="Tells about project management.", body="Steps.")
    half = Document(key="half", name="rooms", description="Tells about management of rooms.", body="Steps.")
    assert first_keys("项目管理", whole, half) == ["whole"]
