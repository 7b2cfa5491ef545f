import pytest


@pytest.fixture
def mine(skill, tmp_path):
    """A folder with more skills than a small budget has room for."""
    root = tmp_path / "mine"
    skill("pdf-forms", under=root, description="Fills in PDF forms. Use it for forms that people send as PDF.")
    skill("meeting-notes", under=root, description="Writes down what was decided in a meeting, and who does what.")
    for number in range(30):
        skill(f"handbook-{number:02}", under=root, description=f"Chapter {number} of the handbook. " + "Rules. " * 20)
    return root


def test_the_text_alone_is_on_stdout_and_within_the_budget(run, mine):
    result = run("skill", "catalog", "--root", mine, "--budget", 1000)
    assert result.code == 0
    assert result.out.startswith("<available_skills>\n<skill>\n<name>\nhandbook-00\n")
    assert result.out.endswith("of 32 shown; use search_skills\n</note>\n</available_skills>")
    assert len(result.out) <= 1000
    assert "of 1,000 characters" in result.err
    assert "of 32 skills shown" in result.err


def test_what_fits_the_query_comes_first_and_what_is_pinned_before_it(run, mine):
    words = (
        "skill",
        "catalog",
        "--root",
        mine,
        "-b",
        600,
        "--format",
        "markdown",
        "-q",
        "who decided what in the meeting",
    )
    assert run(*words).out.startswith("- meeting-notes: Writes down")
    assert run(*words, "--pin", "PDF-Forms").out.startswith("- pdf-forms: Fills in PDF forms.")


def test_json_tells_the_counts(run, mine):
    told = run("skill", "catalog", "--root", mine, "--json").json
    assert told["budget"] == 8000
    assert told["format"] == "xml"
    assert told["shown"] == told["whole"] + told["shortened"] + told["named"] <= told["total"] == 32
    assert told["characters"] == len(told["text"]) <= 8000
    assert told["naive_characters"] > told["characters"]


def test_the_same_skills_give_the_same_text(run, mine):
    words = ("skill", "catalog", "--root", mine, "-q", "forms", "--budget", 2000)
    assert run(*words).out == run(*words).out


def test_the_skills_in_reach_are_meant_without_a_folder(run):
    assert "skill-creator" in run("skill", "catalog").out


def test_no_skills_are_an_empty_list(run, tmp_path):
    (tmp_path / "empty").mkdir()
    assert run("skill", "catalog", "--root", tmp_path / "empty", "--format", "markdown").out == ""


def test_a_budget_that_is_too_small_is_refused(run, mine):
    result = run("skill", "catalog", "--root", mine, "--budget", 10, "--json")
    assert result.code == 1
    assert result.json["error"]["details"]["limit"] == 200


def test_a_pin_that_is_not_there_is_not_found(run, mine):
    result = run("skill", "catalog", "--root", mine, "--pin", "pdf-form")
    assert result.code == 3
    assert "pdf-forms" in result.err


def test_the_yard_of_a_server_is_asked_there(run, mine, monkeypatch):
    asked = {}

    class Yard:
        def __init__(self, url, *, token):
            asked["url"] = url

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def catalog(self, query, **options):
            asked.update(query=query, **options)
            counts = dict.fromkeys(("whole", "shortened", "named", "shown", "total", "naive_characters"), 0)
            return {"text": "- a: b", "characters": 6, **counts}

    monkeypatch.setattr("skillyard.client.Skillyard", Yard)
    words = ("skill", "catalog", "--server", "http://yard", "-q", "x", "--pin", "a", "--format", "markdown", "-b", 500)
    assert run(*words).out == "- a: b"
    assert asked == {"url": "http://yard", "query": "x", "budget": 500, "pins": ["a"], "format": "markdown"}
