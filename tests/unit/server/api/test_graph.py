import pytest

from skillyard.server.api import graph, skills, versions


@pytest.fixture
def routers():
    return [skills.router, versions.router, graph.router]


def make(person, name, content="Do it.\n", **more):
    answer = person.post("skills", json={"name": name, "description": f"About {name}", "content": content, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def test_the_graph_shows_nodes_edges_and_what_is_broken(ana):
    target = make(ana, "target")
    source = make(ana, "source", "[[target]]\n\n[[nobody]]\n")
    data = ana.get("graph").json()["data"]
    nodes = [{"id": source["id"], "full_name": "ana/source"}, {"id": target["id"], "full_name": "ana/target"}]
    assert data["nodes"] == nodes
    (edge,) = data["edges"]
    assert (edge["source"], edge["target"]) == (source["id"], target["id"])
    assert (edge["file"], edge["trouble"]) == ("SKILL.md", None)
    (broken,) = data["broken"]
    assert (broken["name"], broken["target"], broken["trouble"]) == ("nobody", None, "no-skill")
    assert broken["line"] == edge["line"] + 2
    assert data["cycles"] == []
    assert ana.get("graph", params={"namespace": "ana"}).json()["data"] == data


def test_nobody_else_sees_a_private_graph(ana, bob):
    make(ana, "target", "[[target-2]]\n")
    assert bob.get("graph").json()["data"] == {"nodes": [], "edges": [], "broken": [], "cycles": []}
    assert bob.get("graph", params={"namespace": "ana"}).status_code == 404


def test_the_references_of_a_skill_tell_what_its_deletion_would_break(ana, bob):
    target = make(ana, "target")
    source = make(ana, "source", "[[target]]\n", metadata={"requires": "target ^1"})
    url = f"skills/{target['id']}/references"
    data = ana.get(url).json()["data"]
    assert data["outgoing"] == []
    assert [edge["source"] for edge in data["incoming"]] == [source["id"]]
    assert [node["full_name"] for node in data["nodes"]] == ["ana/source", "ana/target"]
    assert [edge["trouble"] for edge in data["impact"]["references"]] == ["no-skill"]
    assert data["impact"]["dependents"] == [
        {"id": source["id"], "full_name": "ana/source", "version": None, "range": "^1"}
    ]
    assert bob.get(url).status_code == 404


def test_the_dependencies_of_a_skill_are_locked(ana, bob):
    base = make(ana, "base")
    ana.post(f"skills/{base['id']}/versions", json={"version": "1.0.0"})
    tool = make(ana, "tool", metadata={"requires": "base nobody"})
    url = f"skills/{tool['id']}/dependencies"
    data = ana.get(url).json()["data"]
    assert [(item["full_name"], item["version"], item["required_by"]) for item in data["locked"]] == [
        ("ana/base", "1.0.0", ["ana/tool"]),
        ("ana/tool", None, []),
    ]
    assert data["locked"][0]["digest"] == base["digest"]
    assert data["missing"] == [{"name": "nobody", "required_by": ["ana/tool"]}]
    assert data["complete"] is False
    assert ana.get(url, params={"version": "latest"}).json()["data"] == data
    assert bob.get(url).status_code == 404


def test_versions_that_contradict_are_named(ana):
    base = make(ana, "base")
    ana.post(f"skills/{base['id']}/versions", json={"version": "1.0.0"})
    tool = make(ana, "tool", metadata={"requires": "base ^2"})
    data = ana.get(f"skills/{tool['id']}/dependencies").json()["data"]
    (conflict,) = data["conflicts"]
    assert conflict["required"] == [{"by": "ana/tool", "range": "^2"}]
    assert conflict["available"] == ["1.0.0"]
    assert [problem["code"] for problem in data["problems"]] == ["conflict"]


def test_a_version_that_is_not_there_is_a_problem(ana):
    tool = make(ana, "tool")
    data = ana.get(f"skills/{tool['id']}/dependencies", params={"version": "9"}).json()["data"]
    assert [(problem["code"], problem["warning"]) for problem in data["problems"]] == [("unknown-version", False)]
