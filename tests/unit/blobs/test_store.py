from pathlib import Path

import pytest

from skillyard.blobs.address import BlobError
from skillyard.blobs.disk import DiskBlobs
from skillyard.blobs.s3 import S3Blobs
from skillyard.blobs.store import open_blobs
from skillyard.errors import StoreUnavailableError, UnavailableError, UsageError


@pytest.fixture(autouse=True)
def no_endpoint(monkeypatch):
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AWS_ALLOW_HTTP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("/srv/blobs", "/srv/blobs"),
        ("file:///srv/my%20blobs", "/srv/my blobs"),
        ("file://localhost/srv/blobs", "/srv/blobs"),
        ("~/blobs", str(Path.home() / "blobs")),
        ("blobs", "blobs"),
    ],
)
def test_a_folder_is_named_by_a_path_or_a_file_url(url, place):
    blobs = open_blobs(url)
    assert isinstance(blobs, DiskBlobs)
    assert blobs.place == place


@pytest.mark.parametrize(
    ("url", "place"),
    [("s3://yard", "s3://yard"), ("s3://yard/", "s3://yard"), ("s3://yard/a/b/", "s3://yard/a/b")],
)
def test_a_bucket_is_named_by_an_s3_url(url, place):
    blobs = open_blobs(url)
    assert isinstance(blobs, S3Blobs)
    assert blobs.place == place


@pytest.mark.parametrize(
    "url", ["", "s3://", "s3:///prefix", "gs://bucket", "file://elsewhere/srv", "file:///", "s3://["]
)
def test_anything_else_is_refused_with_the_forms_that_work(url):
    with pytest.raises(UsageError, match="names no store") as caught:
        open_blobs(url)
    assert "s3://bucket/prefix" in caught.value.hint


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:9", "http://[::1]:9", "http://localhost:9", "https://s3.example"]
)
def test_a_server_on_this_machine_or_behind_tls_is_fine(monkeypatch, endpoint):
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    assert isinstance(open_blobs("s3://yard"), S3Blobs)


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
@pytest.mark.parametrize("endpoint", ["http://s3.example", "http://127.0.0.1.example", "http://192.0.2.1:9000"])
def test_a_server_elsewhere_is_spoken_to_in_the_clear_only_where_that_is_allowed(monkeypatch, name, endpoint):
    monkeypatch.setenv(name, endpoint)
    with pytest.raises(UsageError, match="unencrypted") as caught:
        open_blobs("s3://yard")
    assert caught.value.details == {"field": name, "value": endpoint}
    assert "AWS_ALLOW_HTTP=true" in caught.value.hint
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    assert isinstance(open_blobs("s3://yard"), S3Blobs)


@pytest.mark.anyio
async def test_a_server_that_is_not_there_is_unavailable_and_keys_stay_secret(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-key")
    with pytest.raises(UnavailableError, match="s3://yard did not answer") as caught:
        await open_blobs("s3://yard").has("0" * 64)
    assert "secret-key" not in str(caught.value.as_dict())


@pytest.mark.anyio
async def test_where_a_store_is_and_what_it_said_is_not_for_callers(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLEKEYID0001")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    (tmp_path / "file").write_text("no folder")
    for blobs in (S3Blobs("yardblobs", "pre"), DiskBlobs(tmp_path / "file" / "blobs")):
        with pytest.raises(StoreUnavailableError) as failed:
            await blobs.put(b"x")
        assert blobs.place in failed.value.message
        told = failed.value.as_public_dict()
        assert not [part for part in (blobs.place, "127.0.0.1", "AKIA", str(tmp_path)) if part in str(told)]
        assert failed.value.message in caplog.text
    sha256 = await DiskBlobs(tmp_path / "blobs").put(b"x")
    next((tmp_path / "blobs").glob("??/*")).write_bytes(b"y")
    for wanted in (sha256, "0" * 64):
        with pytest.raises(BlobError) as lost:
            await DiskBlobs(tmp_path / "blobs").get(wanted)
        assert str(tmp_path) not in str(lost.value.as_public_dict())
        assert wanted in lost.value.as_public_dict()["message"]
