"""Rows of decision tables with what is to be said of them."""

from skillyard.server.web.rule_rows import compared, gaps_of, marks_of, same_frame


def remark(kind, *rules, **more):
    return {"kind": kind, "seriousness": "warning", "message": "", "rules": list(rules), **more}


def table(*rows, **frame):
    rules = [{"id": name, "when": [cell], "then": [1]} for name, cell in rows]
    return {"hit_policy": "F", "inputs": [], "outputs": [], "rules": rules, **frame}


def test_each_row_has_one_mark_of_a_kind_with_all_the_others():
    marks = marks_of([remark("overlap", "a", "b"), remark("overlap", "a", "c"), remark("unreachable", "c")])
    assert [(mark.kind, mark.others) for mark in marks["a"]] == [("overlap", ("b", "c"))]
    assert [mark.kind for mark in marks["c"]] == ["overlap", "unreachable"]


def test_gaps_are_cells_and_other_remarks_are_none():
    where = {"grade": '"vip"'}
    assert gaps_of([remark("gap", where=where), remark("overlap", "a", "b"), {"kind": "case", "case": {}}]) == [where]


def test_rows_that_are_new_gone_and_other_than_before_are_told_in_one_order():
    before = table(("a", "1"), ("b", "2"), ("c", "3"))
    after = table(("a", "1"), ("x", "9"), ("c", "4"))
    rows = compared(before, after)
    assert [(row.kind, row.row["id"]) for row in rows] == [
        ("same", "a"),
        ("removed", "b"),
        ("added", "x"),
        ("changed", "c"),
    ]
    assert rows[-1].before["when"] == ["3"]


def test_tables_with_other_columns_are_not_compared_by_rows():
    assert same_frame(table(("a", "1")), table())
    assert not same_frame(table(), table(hit_policy="U"))
    assert not same_frame(table(), table(default=[1]))
