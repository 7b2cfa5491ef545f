from pathlib import Path

from skillyard.delivery.depot import Depot


def test_a_bundle_is_kept_by_its_digest(home: Path, make_bundle):
    bundle = make_bundle({"evals/evals.json": "{}", "b.bin": bytes(range(256))})
    Depot(home).keep(bundle)
    Depot(home).keep(bundle)
    assert Depot(home).get(bundle.digest) == bundle
    assert [path.name for path in (home / "bundles").iterdir()] == [f"{bundle.digest[7:]}.skill"]


def test_what_is_not_there_or_not_whole_is_not_given(home: Path, make_bundle):
    depot, bundle = Depot(home), make_bundle()
    assert depot.get(bundle.digest) is None
    assert depot.get("../../etc/passwd") is None
    depot.keep(make_bundle({"other": "x"}))
    (other,) = depot.folder.iterdir()
    other.rename(depot.folder / f"{bundle.digest[7:]}.skill")
    assert depot.get(bundle.digest) is None
    (depot.folder / f"{bundle.digest[7:]}.skill").write_bytes(b"torn")
    assert depot.get(bundle.digest) is None


def test_a_bundle_that_is_no_longer_whole_is_kept_anew(home: Path, make_bundle):
    depot, bundle = Depot(home), make_bundle()
    depot.keep(bundle)
    (kept,) = depot.folder.iterdir()
    kept.write_bytes(kept.read_bytes()[:100])
    depot.keep(bundle)
    assert depot.get(bundle.digest) == bundle
