from skillyard.learning.skills.finishing import with_next_version, with_related
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.write import generate_skill_md


def skill(body="Do it.\n", **fields):
    return Bundle([BundleFile("SKILL.md", generate_skill_md("refunds", "Pay back.", body, fields).encode())])


def body_of(bundle):
    return bundle.get("SKILL.md").data.decode().split("---\n", 2)[2]


def test_a_related_skill_that_nothing_points_to_gets_a_line():
    made = with_related(
        skill("Ask `till/SKILL.md`.\n"), "refunds", {"till": "The till.", "bank": "The\nbank.", "refunds": ""}
    )
    assert body_of(made) == "\nAsk `till/SKILL.md`.\n\n## Related skills\n\n- `bank/SKILL.md`: The bank.\n"
    again = with_related(made, "refunds", {"post": "The post."})
    assert body_of(again).endswith("## Related skills\n\n- `post/SKILL.md`: The post.\n- `bank/SKILL.md`: The bank.\n")
    assert with_related(again, "refunds", {"bank": "", "post": "", "till": ""}) is again


def test_a_stated_version_moves_beyond_all_that_were_published():
    bundle, number = with_next_version(skill(metadata={"version": "1.4.0"}), ["1.5.2", "0.9.0"])
    assert number == "1.5.3"
    assert "version: 1.5.3" in bundle.get("SKILL.md").data.decode()


def test_a_skill_that_states_none_or_no_number_is_left_as_it_is():
    for bundle in (skill(), skill(metadata={"version": "latest"})):
        assert with_next_version(bundle, ["1.0.0"]) == (bundle, None)
