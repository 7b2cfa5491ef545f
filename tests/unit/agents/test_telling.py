from skillyard.agents.telling import Telling


def test_what_comes_after_a_failure_nobody_expected_is_told_and_the_failure_logged_once(caplog):
    told = []

    def tell(things):
        if "bad" in things:
            raise KeyError("bad")
        told.extend(things)

    telling = Telling(tell)
    for thing in ("bad", "one", "bad", "two"):
        telling.add(thing)
        telling.flush()
    assert told == ["one", "two"]
    assert [record.getMessage() for record in caplog.records] == [
        "something could not be told; the next time this is not logged"
    ]
