"""What learning keeps of what people say: all of it, less their secrets."""

import pytest

from skillyard.learning.kept_texts import kept, kept_json


@pytest.mark.parametrize(
    "secret",
    ["sk-proj-Xk29vQmZp4rT8wLb3nHs6yJd", "ghp_Xk29vQmZp4rT8wLb3nHs6yJd1fGc7aUe5iOq", "AKIAQ7XK29VQMZP4RT8W"],
)
def test_keys_are_told_by_their_form(secret):
    assert kept(f"그 키는 {secret} 입니다") == "그 키는 {{secret:api_key}} 입니다"


@pytest.mark.parametrize("said", ["password: {}", "DB_PASSWORD={}", "비밀번호: {}", 'the "api_key": "{}" was wrong'])
def test_secrets_are_told_by_the_name_beside_them(said):
    assert "Tr0ub4dor-3" not in kept(said.format("Tr0ub4dor-3"))


@pytest.mark.parametrize(
    "said",
    [
        "Never ask customers for their password: it is a rule.",
        "환불은 3일 안에 해 주세요. 비밀번호는 묻지 마세요.",
        "贵宾客户的密码不要问。",
        "Use sk-front and the key account manager.",
    ],
)
def test_what_is_said_about_secrets_stays(said):
    assert kept(said) == said


def test_a_telling_key_of_json_holds_a_secret():
    assert kept_json({"login": {"user": "ada", "password": "pear"}, "tries": [1, None]}) == {
        "login": {"user": "ada", "password": "{{secret:password}}"},
        "tries": [1, None],
    }
