"""`skillyard registry` on the yard of this machine: skills, versions and what happened."""

import pytest

pytestmark = pytest.mark.usefixtures("open_yard")


@pytest.fixture
def published(run, skill, tmp_path):
    """Publish a skill of that name, with that text; returns its folder."""

    def _publish(name, *, body="# Do it\n", metadata="", words=()):
        folder = skill(name, under=tmp_path / "tree", body=body)
        if metadata:
            file = folder / "SKILL.md"
            file.write_text(file.read_text().replace("\n---\n", f"\nmetadata:\n  {metadata}\n---\n", 1))
        assert run("publish", folder, *words).code == 0
        return folder

    return _publish


def test_an_empty_yard_says_how_to_begin(run):
    assert "skillyard publish" in run("registry", "list").err
    assert "To see all" in run("registry", "list", "--tag", "none").err
    assert run("registry", "whoami", "--json").json["name"] == "ann"


def test_skills_are_listed_searched_and_shown_to_others(run, published):
    published("alpha")
    published("beta")
    assert [one["name"] for one in run("registry", "list", "-q", "bet", "--json").json["skills"]] == ["beta"]
    assert run("registry", "visibility", "beta", "public").out == "ann/beta is public now.\n"
    line = run("registry", "list").out.splitlines()[1]
    assert line.split()[:3] == ["ann/beta", "0.1.0", "public"]
    assert run("registry", "visibility", "beta", "world").code == 2


def test_a_skill_is_read_as_it_is_shipped(run, published):
    folder = published("alpha", body="# First\n")
    (folder / "notes.txt").write_text("beside\n")
    published("alpha", body="# Second\n")
    assert "# Second" in run("registry", "show", "alpha").out
    assert "# First" in run("registry", "show", "ann/alpha", "--version", "0.1.0").out
    assert run("registry", "show", "alpha", "--tree").out == "alpha/\n├── SKILL.md\n└── notes.txt\n"
    assert "beside" in run("registry", "show", "alpha", "--files", "--json").json["text"]
    assert run("registry", "show", "alpha", "--version", "9.9.9").code == 3


def test_pulling_brings_what_is_required_and_can_be_repeated(run, published, tmp_path):
    published("base")
    published("top", metadata="requires: base >=0.1")
    into = tmp_path / "out"
    planned = run("registry", "pull", "top", "--into", into, "--dry-run", "--json")
    assert [one["skill"] for one in planned.json["pulled"]] == ["ann/base", "ann/top"]
    assert not into.exists()
    assert run("registry", "pull", "ann/top@0.1.0", "--into", into).code == 0
    for name in ("base", "top"):
        assert (into / name / "SKILL.md").read_bytes() == (tmp_path / "tree" / name / "SKILL.md").read_bytes()
    again = run("registry", "pull", "top", "--into", into, "--json")
    assert [one["present"] for one in again.json["pulled"]] == [True, True]
    (into / "base/SKILL.md").write_text("mine")
    assert run("registry", "pull", "top", "--into", into).code == 5
    assert (into / "base/SKILL.md").read_text() == "mine"
    assert run("registry", "pull", "top", "--into", tmp_path / "one", "--alone").code == 0
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["top"]


def test_pulling_again_brings_the_new_version_where_nobody_edited_the_old_one(run, published, tmp_path):
    published("alpha", body="# First\n")
    into = tmp_path / "out"
    assert run("registry", "pull", "alpha", "--into", into).code == 0
    published("alpha", body="# Second\n")
    planned = run("registry", "pull", "alpha", "--into", into, "--dry-run")
    assert "0.1.0 → 0.1.1" in planned.out
    assert "# First" in (into / "alpha/SKILL.md").read_text()
    assert run("registry", "pull", "alpha", "--into", into).code == 0
    assert "# Second" in (into / "alpha/SKILL.md").read_text()
    assert run("registry", "pull", "alpha@0.1.0", "--into", into, "--json").json["pulled"][0]["replaces"] == "0.1.1"
    assert "# First" in (into / "alpha/SKILL.md").read_text()
    assert [path.name for path in into.iterdir()] == ["alpha"]


def test_what_was_edited_gives_way_to_a_pull_by_force_only_and_comes_back(run, published, tmp_path):
    published("alpha")
    into = tmp_path / "out"
    run("registry", "pull", "alpha", "--into", into)
    (into / "alpha/notes.md").write_text("mine")
    refused = run("registry", "pull", "alpha", "--into", into)
    assert refused.code == 5
    assert "--force (it goes to the trash)" in refused.err
    done = run("registry", "pull", "alpha", "--into", into, "--force")
    assert not (into / "alpha/notes.md").exists()
    undo = done.out.partition("undo: skillyard ")[2].split()
    assert run(*undo).code == 0
    assert (into / "alpha/notes.md").read_text() == "mine"
    (into / "alpha/.git").mkdir()
    assert run("registry", "pull", "alpha", "--into", into, "--force").code == 5


def test_what_is_required_and_missing_stops_a_pull(run, published, tmp_path):
    published("top", metadata="requires: nowhere")
    refused = run("registry", "pull", "top", "--into", tmp_path / "out")
    assert refused.code == 5
    assert "nowhere is not there" in refused.err
    assert "--alone" in refused.err
    assert run("registry", "pull", "top", "--into", tmp_path / "out", "--alone").code == 0
    assert run("registry", "pull", "none", "--into", tmp_path / "out").code == 3


def test_a_pull_alone_does_not_mind_who_contradicts_whom(run, published, tmp_path):
    published("base")
    published("top", metadata="requires: base >=7")
    assert run("registry", "pull", "top", "--into", tmp_path / "out").code == 5
    assert run("registry", "pull", "top", "--into", tmp_path / "out", "--alone").code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["top"]


@pytest.mark.parametrize("words", [["top@7.0.0"], ["top"], ["top@^0"], ["top@^0", "--alone"]])
def test_a_version_that_is_not_there_or_yanked_is_not_found(run, published, words, tmp_path):
    published("top")
    run("registry", "yank", "top", "0.1.0", "-m", "wrong")
    refused = run("registry", "pull", *words, "--into", tmp_path / "out")
    assert refused.code == 3
    assert "skillyard registry versions ann/top" in refused.err
    assert "--alone" not in refused.err


def test_a_yanked_version_comes_with_a_warning_to_whoever_names_it(run, published, tmp_path):
    published("top")
    run("registry", "yank", "top", "0.1.0", "-m", "it is wrong")
    done = run("registry", "pull", "top@0.1.0", "--into", tmp_path / "out")
    assert done.code == 0
    assert "was yanked: it is wrong" in done.err


def test_deleting_names_what_breaks_asks_and_can_be_undone(run, published):
    published("base")
    published("top", metadata="requires: base")
    refused = run("registry", "delete", "base")
    assert refused.code == 2
    assert "This breaks 1 skill: ann/top" in refused.err
    done = run("registry", "delete", "base", "-y", "--json")
    assert done.json["breaks"] == ["ann/top"]
    assert run("registry", "versions", "base").code == 3
    undone = run("registry", "undo", done.json["entry"], "-m", "needed after all")
    assert f"Undid {done.json['entry']}" in undone.out
    assert run("registry", "versions", "base").code == 0
    assert run("registry", "undo", 99999).code == 3


def test_versions_are_compared_tagged_yanked_and_restored(run, published):
    folder = published("alpha", words=["--notes", "the first"])
    (folder / "more.txt").write_text("more\n")
    run("publish", folder)
    assert [one["version"] for one in run("registry", "versions", "alpha", "--json").json["versions"]] == [
        "0.1.1",
        "0.1.0",
    ]
    diff = run("registry", "diff", "alpha", "0.1.0", "0.1.1")
    assert diff.code == 1
    assert "more.txt  added" in diff.out
    assert run("registry", "diff", "alpha", "0.1.1").code == 0
    assert run("registry", "tags", "alpha", "good", "0.1.0", "--json").json == {"tags": {"good": "0.1.0"}}
    assert run("registry", "tags", "alpha", "--json").json == {"tags": {"latest": "0.1.1", "good": "0.1.0"}}
    assert run("registry", "tags", "alpha", "lost").code == 3
    assert run("registry", "tags", "alpha", "--delete").code == 2
    assert "good" not in run("registry", "tags", "alpha", "good", "--delete").out
    assert run("registry", "yank", "alpha", "0.1.1").code == 2
    assert run("registry", "yank", "alpha", "0.1.1", "-m", "broken").out == "alpha 0.1.1 is yanked.\n"
    assert "broken" in run("registry", "versions", "alpha").out
    assert run("registry", "tags", "alpha", "latest", "--json").json == {"tags": {"latest": "0.1.0"}}
    assert run("registry", "restore", "alpha", "0.1.1").out == "alpha 0.1.1 is published.\n"
    assert run("registry", "yank", "alpha", "9.9.9", "-m", "x").code == 3


def test_a_working_copy_in_the_yard_is_released(run, skill, tmp_path):
    folder = skill("alpha", under=tmp_path / "tree")
    run("registry", "import", folder)
    assert "skillyard registry release alpha" in run("registry", "versions", "alpha").err
    assert run("registry", "release", "alpha", "--version", "1.0.0").out == "alpha 1.0.0 is published.\n"


def test_nobody_approves_what_they_published_themselves(run, published):
    run("registry", "namespaces", "create", "team")
    run("registry", "namespaces", "policy", "team", "review=true")
    published("alpha", words=["-n", "team"])
    refused = run("registry", "approve", "team/alpha", "0.1.0")
    assert refused.code == 4
    assert "someone else must review it" in refused.err


def test_history_tells_who_did_what_and_why(run, published):
    published("alpha")
    run("registry", "visibility", "alpha", "public", "-m", "for all")
    entries = run("registry", "history", "alpha", "--json").json["entries"]
    assert (entries[0]["actor"]["name"], entries[0]["reason"]) == ("ann", "for all")
    text = run("registry", "history", "-n", "1").out
    assert text.split()[0] == str(entries[0]["number"])
    assert "for all" in text
    older = run("registry", "history", "--before", entries[0]["number"], "--json").json["entries"]
    assert entries[0]["number"] not in [one["number"] for one in older]
    assert run("registry", "history", "none").code == 3


def test_history_names_versions_and_tags_and_marks_what_was_refused(run, published):
    folder = published("alpha", words=["--version", "1.0.0"])
    run("registry", "tags", "alpha", "good", "1.0.0", "-m", "it is good")
    (folder / "more.txt").write_text("more")
    assert run("publish", folder, "--version", "1.0.0").code == 5
    lines = run("registry", "history", "alpha").out.splitlines()
    assert lines[0].startswith("✗ ")
    assert lines[0].endswith("  ann  version.published refused  ann/alpha")
    assert lines[1].strip() == "'ann/alpha' 1.0.0 is published already, with other content."
    assert lines[2].endswith("  ann  version.tagged  ann/alpha  good  1.0.0")
    assert lines[3].strip() == "it is good"
    assert lines[4].endswith("  ann  version.published  ann/alpha  1.0.0")


def test_the_history_of_a_deleted_skill_is_found_by_its_name(run, published):
    published("alpha")
    run("registry", "delete", "alpha", "-y")
    entries = run("registry", "history", "ann/alpha", "--json").json["entries"]
    assert [entry["action"] for entry in entries] == ["skill.deleted", "version.published", "skill.created"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["history", "-n", "500"], "--limit takes a whole number from 1 to 200."),
        (["history", "-n", "0"], "--limit takes a whole number from 1 to 200."),
        (["history", "--before", "0"], "--before takes a whole number of at least 1."),
        (["undo", "0"], "NUMBER takes a whole number of at least 1."),
        (["usage", "--days", "3651"], "--days takes a whole number from 1 to 3650."),
        (["tokens", "create", "x", "--days", "3651"], "--days takes a whole number from 1 to 3650."),
        (["namespaces", "policy", "ann", "review=maybe"], "review cannot be 'maybe'."),
        (["namespaces", "policy", "ann", "scan=no"], "scan cannot be 'no'."),
        (["namespaces", "policy", "ann", "file_types=md"], "file_types cannot be 'md'."),
    ],
)
def test_values_out_of_range_are_told_in_the_words_of_the_command(run, words, said):
    refused = run("registry", *words)
    assert refused.code == 2
    assert said in refused.err
    assert "The request is wrong" not in refused.err


def test_a_skill_that_ships_no_version_is_listed_as_unpublished(run, published):
    published("alpha")
    run("registry", "yank", "alpha", "0.1.0", "-m", "wrong")
    assert run("registry", "list").out.split()[:2] == ["ann/alpha", "unpublished"]


def test_the_graph_shows_references_and_what_is_broken(run, published):
    published("base")
    published("top", body="See [[base]] and [x](missing.md).\n")
    found = run("registry", "graph")
    assert found.code == 1
    assert "ann/top  →  ann/base" in found.out
    assert "missing.md: no file" in found.out
    assert run("registry", "graph", "--json").json["broken"][0]["path"] == "missing.md"


def test_usage_tells_of_skills_that_nobody_uses(run, published):
    published("alpha")
    assert "ann/alpha" in run("registry", "usage").out
    assert "Nobody used alpha" in run("registry", "usage", "alpha").err
    assert run("registry", "usage", "--days", "0").code == 2


def test_agents_get_skills_one_by_one_or_declared(run, published, tmp_path):
    published("alpha")
    published("beta")
    assert "agents.toml" in run("registry", "agents", "list").err
    assert run("registry", "agents", "create", "support", "--role", "helps").out == "Created the agent support.\n"
    assert run("registry", "agents", "create", "support").code == 5
    assert run("registry", "agents", "attach", "alpha", "--agent", "support").code == 0
    assert run("registry", "agents", "attach", "beta").out == "ann/beta is attached to every agent.\n"
    shown = run("registry", "agents", "skills", "support").out.splitlines()
    assert [line.split(maxsplit=2)[2] for line in shown] == ["attached", "attached to every agent"]
    assert run("registry", "agents", "detach", "beta").code == 0
    file = tmp_path / "agents.toml"
    file.write_text('[agents.support]\nname = "Support"\nskills = ["beta"]\n')
    planned = run("registry", "apply", file, "--dry-run", "--json")
    assert [step["action"] for step in planned.json["steps"]] == ["update", "attach", "detach"]
    assert planned.json["applied"] is False
    assert "+ attach  support ann/beta" in run("registry", "apply", file).out
    assert "Nothing to do" in run("registry", "apply", file).err
    file.write_text("agents = 3")
    assert run("registry", "apply", file).code == 1
    assert run("registry", "apply", tmp_path / "none.toml").code == 3
    assert run("registry", "agents", "delete", "support").code == 0
    assert run("registry", "agents", "skills", "support").code == 3


def test_tokens_are_shown_once_and_revoked(run):
    made = run("registry", "tokens", "create", "ci", "--scope", "publish", "--days", "30", "--json").json
    assert made["secret"].startswith("sky_")
    listed = run("registry", "tokens", "list")
    assert made["secret"] not in listed.out
    assert "never used" in listed.out
    assert run("registry", "tokens", "create", "x", "--scope", "all").code == 2
    run("registry", "people", "create", "bob")
    theirs = run("registry", "tokens", "create", "bobs", "--person", "bob", "--json").json
    assert theirs["id"] not in run("registry", "tokens", "list").out
    assert [line.split()[:3] for line in run("registry", "tokens", "list", "--everyone").out.splitlines()] == [
        [made["id"], "ann", "ci"],
        [theirs["id"], "bob", "bobs"],
    ]
    assert run("registry", "tokens", "list", "--everyone", "--token", made["secret"]).code == 4
    assert run("registry", "whoami", "--token", made["secret"], "--json").json["scope"] == "publish"
    assert run("registry", "tokens", "revoke", made["id"]).out == "Revoked the token ci.\n"
    assert run("registry", "whoami", "--token", made["secret"]).code == 4
    assert run("registry", "tokens", "revoke", "none").code == 3


def test_a_token_is_replaced_by_one_that_was_made_with_it(run):
    old = run("registry", "tokens", "create", "old", "--scope", "admin", "--json").json
    new = run("registry", "tokens", "create", "new", "--scope", "admin", "--token", old["secret"], "--json").json
    assert new["parent_id"] == old["id"]
    assert run("registry", "tokens", "revoke", old["id"], "--keep-made").code == 0
    assert run("registry", "whoami", "--token", new["secret"]).code == 0
    assert run("registry", "tokens", "revoke", old["id"]).code == 0
    assert run("registry", "whoami", "--token", new["secret"]).code == 4


def test_no_token_is_two_words(run):
    assert run("registry", "whoami", "--token", "two words").code == 2


def test_teams_have_members_and_rules(run):
    assert run("registry", "namespaces", "create", "team").out == "Created the team team.\n"
    assert run("registry", "namespaces", "create", "team").code == 5
    assert run("registry", "people", "create", "bob").code == 0
    assert "bob  editor" in run("registry", "namespaces", "member", "team", "bob", "editor").out
    assert run("registry", "namespaces", "member", "team", "bob", "boss").code == 2
    assert "bob" not in run("registry", "namespaces", "member", "team", "bob", "none").out
    assert run("registry", "namespaces", "members", "strangers").code == 3
    rules = run("registry", "namespaces", "policy", "team", "file_types=.md,.py", "max_files=9", "profile=strict")
    assert "file_types  .md,.py" in rules.out
    freed = run("registry", "namespaces", "policy", "team", "file_types=any", "--json")
    assert freed.json["policy"]["file_types"] == []
    assert run("registry", "namespaces", "policy", "team", "reviews=true").code == 2
    assert run("registry", "namespaces", "policy", "team", "max_files=many").code == 2
    assert "team    team    admin" in run("registry", "namespaces", "list").out


def test_people_are_shut_out_and_let_in(run):
    run("registry", "people", "create", "bob")
    assert run("registry", "people", "disable", "bob").out.startswith("bob is disabled: ")
    assert "disabled" in run("registry", "people", "list").out
    assert run("registry", "people", "enable", "bob").out == "bob is enabled again.\n"
    assert run("registry", "people", "disable", "nobody").code == 3
    assert run("registry", "people", "disable", "../me").code == 3


@pytest.mark.parametrize(
    ("server", "code", "said"),
    [
        ("yard.example.org", 2, "is no address of a server"),
        ("http://x\x7f", 2, "is no address of a server"),
        ("http://127.0.0.1:1", 1, "does not answer"),
    ],
)
def test_an_address_that_leads_nowhere_is_told(run, server, code, said):
    result = run("registry", "list", "--server", server)
    assert result.code == code
    assert said in result.err


@pytest.mark.parametrize("words", [["list"], ["find", "x"], ["show", "x"]])
def test_folders_and_servers_exclude_each_other(run, words, tmp_path):
    assert run(*words, "--server", "http://127.0.0.1:1", "--root", tmp_path).code == 2
    assert run(*words, "--token", "sky_x").code == 2
    assert run(*words, "--server", "http://127.0.0.1:1", "--json").json["error"]["code"] == "unavailable"


def test_the_setting_for_a_server_does_not_move_the_folders(run, monkeypatch):
    monkeypatch.setenv("SKILLYARD_SERVER", "http://127.0.0.1:1")
    assert run("list").code == 0
    assert run("registry", "list").code == 1
