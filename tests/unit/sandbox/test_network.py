import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError, LimitError
from skillyard.sandbox.network import MAX_ENDPOINTS, NONE, Endpoint, canonical_host, parse_network


def only(text):
    (endpoint,) = parse_network({"allow": [text]}).allow
    return endpoint


def test_none_reaches_nothing_and_is_written_as_it_was_asked_for():
    assert parse_network("none") == NONE
    assert parse_network({"allow": []}) == NONE
    assert NONE.as_json() == "none"


def test_a_list_is_kept_in_order_without_repetitions_and_reads_back_the_same():
    policy = parse_network({"allow": ["http://127.0.0.1:8080", "https://Example.org", "HTTPS://example.org.:443/"]})
    assert policy.as_json() == {"allow": ["http://127.0.0.1:8080", "https://example.org:443"]}
    assert parse_network(policy.as_json()) == policy


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("http://example.org", "http://example.org:80"),
        ("https://example.org", "https://example.org:443"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://[::ffff:127.0.0.1]:8080", "http://127.0.0.1:8080"),
        ("http://[0:0:0:0:0:0:0:1]", "http://[::1]:80"),
        ("https://bücher.example", "https://xn--bcher-kva.example:443"),
        ("https://한국.example:8443", "https://xn--3e0b707e.example:8443"),
        ("http://my_service:5000", "http://my_service:5000"),
    ],
)
def test_every_endpoint_has_one_spelling(text, endpoint):
    assert str(only(text)) == endpoint


def test_a_host_header_leaves_out_the_usual_port():
    assert only("http://example.org:80").authority == "example.org"
    assert only("https://example.org:80").authority == "example.org:80"
    assert only("http://[::1]:81").authority == "[::1]:81"


@pytest.mark.parametrize(
    "value",
    [None, "", "all", "NONE", 1, [], ["http://a.example"], {}, {"deny": []}, {"allow": [], "deny": []}]
    + [{"allow": value} for value in (None, "http://a.example", b"x", 5, {"http://a.example": 1})],
)
def test_what_is_not_a_policy_is_refused_with_its_field_and_the_form_it_should_have(value):
    with pytest.raises(InputError) as caught:
        parse_network(value)
    assert caught.value.details["field"] in {"network", "network.allow"}
    assert '{"allow": [' in caught.value.hint


@pytest.mark.parametrize(
    "entry",
    [
        *("example.org", "ftp://example.org", "http:/example.org", "http://", "http://:80", "//example.org"),
        *("http://example.org/path", "http://example.org?q", "http://example.org#f", "http://example.org:"),
        *("http://user@example.org", "http://user:pw@example.org", "http://a.example@b.example"),
        *("http://*.example.org", "http://*", "http://a..b", "http://-a.example", "http://a b.example"),
        *("http://example.org:0", "http://example.org:65536", "http://example.org:-1", "http://example.org:８０"),
        *("http://2130706433", "http://0x7f000001", "http://0177.0.0.1", "http://127.1", "http://1.2.3.4.5"),
        *("http://127.0.0.1.:0", "http://256.0.0.1", "http://[::1", "http://::1", "http://[fe80::1%eth0]"),
        *("http://[127.0.0.1]", "http://0.0.0.0", "http://[::]", "http://224.0.0.1", "http://255.255.255.255"),
        *(
            "http://exa\nmple.org",
            "http://example.org\n",
            "http://a\\b",
            "http://a%2eb",
            "http://" + "a" * 254,
            None,
            5,
        ),
        *("http://\ud800.example", "http://" + "한" * 64 + ".example"),
    ],
)
def test_what_is_not_an_endpoint_is_refused_by_its_place_in_the_list(entry):
    with pytest.raises(InputError) as caught:
        parse_network({"allow": ["http://ok.example", entry]})
    assert caught.value.details["field"] == "network.allow[1]"
    assert caught.value.message.startswith("network.allow[1] = ")
    assert len(caught.value.message) < 500


def test_too_long_a_list_is_refused_with_its_limit():
    with pytest.raises(LimitError) as caught:
        parse_network({"allow": [f"http://h{n}.example" for n in range(MAX_ENDPOINTS + 1)]})
    assert caught.value.details == {"field": "network.allow", "value": MAX_ENDPOINTS + 1, "limit": MAX_ENDPOINTS}


@given(st.text(max_size=40) | st.from_regex(r"https?://[\w.:@\[\]%-]{0,20}", fullmatch=True))
def test_any_text_is_an_endpoint_that_reads_back_the_same_or_is_refused(text):
    try:
        endpoint = only(text)
    except InputError:
        return
    assert only(str(endpoint)) == endpoint
    assert canonical_host(f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host) == endpoint.host
    assert 1 <= endpoint.port <= 65535
    assert isinstance(endpoint, Endpoint)
