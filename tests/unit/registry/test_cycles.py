import itertools

from hypothesis import given
from hypothesis import strategies as st

from skillyard.registry.cycles import circles

NODES = "abcdefg"
GRAPHS = st.dictionaries(st.sampled_from(NODES), st.sets(st.sampled_from(NODES)), max_size=len(NODES))


def groups(graph):
    return sorted(sorted(group) for group in circles(graph))


def test_a_chain_has_no_circle():
    assert groups({"a": ["b"], "b": ["c"]}) == []


def test_a_node_that_leads_to_itself_is_no_circle():
    assert groups({"a": ["a"]}) == []


def test_circles_that_share_a_node_are_one_group():
    assert groups({"a": ["b", "c"], "b": ["a"], "c": ["a"], "d": ["a"]}) == [["a", "b", "c"]]


def test_two_circles_are_two_groups_though_one_leads_to_the_other():
    assert groups({"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"]}) == [["a", "b"], ["c", "d"]]


def test_a_very_long_circle_is_found():
    size = 100_000
    graph = {str(number): [str((number + 1) % size)] for number in range(size)}
    assert [len(group) for group in circles(graph)] == [size]


@given(GRAPHS)
def test_two_nodes_share_a_group_exactly_if_each_reaches_the_other(graph):
    reach = {node: reachable(graph, node) for node in NODES}
    expected = {
        frozenset(pair)
        for pair in itertools.combinations(NODES, 2)
        if pair[0] in reach[pair[1]] and pair[1] in reach[pair[0]]
    }
    found = {frozenset(pair) for group in circles(graph) for pair in itertools.combinations(group, 2)}
    assert found == expected


def reachable(graph, start):
    seen, todo = set(), [start]
    while todo:
        for target in graph.get(todo.pop(), ()):
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen
