import pytest

TEXT = " ".join(f"step{number} does thing{number * 7 % 31} and then goes on" for number in range(60))


@pytest.fixture
def library(skill, tmp_path):
    root = tmp_path / "skills"
    skill("pdf", under=root, body=TEXT)
    skill("pdf-copy", under=root, body=TEXT)
    skill("acme-paint", under=root, body="Something else entirely. " * 20)
    return root


def test_the_report_names_groups_what_differs_and_what_to_run(run, library):
    found = run("skill", "similar", "--root", library)
    assert found.code == 0
    assert "copies  2 skills" in found.out or "variants  2 skills" in found.out
    assert "differs in name" in found.out
    assert found.out.splitlines()[-1].startswith("3 skills compared:")


def test_a_library_without_copies_says_so(run, skill, tmp_path):
    skill("pdf", under=tmp_path / "skills", body=TEXT)
    found = run("skill", "similar", "--root", tmp_path / "skills")
    assert (found.code, found.out) == (0, "1 skill compared: none is like another.\n")


def test_the_report_is_one_document_for_scripts(run, library):
    document = run("skill", "similar", "--root", library, "--json").json
    assert (document["compared"], document["threshold"], len(document["groups"])) == (3, 0.7, 1)
    assert [skill["id"] for skill in document["groups"][0]["skills"]] == ["pdf", "pdf-copy"]


def test_what_is_like_one_skill_is_listed(run, library):
    found = run("skill", "similar", "pdf", "--root", library)
    assert found.code == 0
    assert "pdf-copy" in found.out
    assert "acme-paint" not in found.out
    assert found.err == ""
    assert run("skill", "similar", library / "pdf", "--root", library, "--json").json["similar"][0]["id"] == "pdf-copy"


def test_nothing_like_it_is_a_negative_result(run, library):
    found = run("skill", "similar", "acme-paint", "--root", library)
    assert (found.code, found.out, found.err) == (1, "", "None of 2 skills is like it.\n")


def test_an_unknown_skill_and_a_wrong_threshold_are_told(run, library):
    assert run("skill", "similar", "acme-pain", "--root", library).code == 3
    refused = run("skill", "similar", "--threshold", "2", "--root", library)
    assert (refused.code, "between 0.5 and 1" in refused.err) == (1, True)


@pytest.mark.usefixtures("open_yard")
def test_the_yard_tells_what_is_like_a_skill(run, library):
    for name in ("pdf", "pdf-copy", "acme-paint"):
        assert run("publish", library / name).code == 0
    found = run("registry", "similar", "pdf")
    assert (found.code, "ann/pdf-copy" in found.out, "acme" in found.out) == (0, True, False)
    nothing = run("registry", "similar", "acme-paint")
    assert (nothing.code, "Nothing that you can see" in nothing.err) == (1, True)


@pytest.mark.usefixtures("open_yard")
def test_the_yard_is_reported_on_as_a_whole(run, library):
    for name in ("pdf", "pdf-copy", "acme-paint"):
        assert run("publish", library / name).code == 0
    document = run("registry", "similar", "--json").json
    assert document["compared"] == 3
    (group,) = document["groups"]
    assert {skill["id"] for skill in group["skills"]} == {"ann/pdf", "ann/pdf-copy"}
    assert all(command.startswith("skillyard registry ") for command in group["commands"])
