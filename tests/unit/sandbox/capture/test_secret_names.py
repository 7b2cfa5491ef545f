import pytest

from skillyard.sandbox.capture.secret_names import is_secret_label, is_secret_name, secret_called


@pytest.mark.parametrize(
    "name",
    [
        *(
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "DB_PASS",
            "userPassword",
            "password1",
            "new_password",
            "passphrase",
        ),
        *(
            "apiKey",
            "OPENAI_API_KEY",
            "x-api-key",
            "aws_secret_access_key",
            "private_key",
            "client_secret",
            "secretKey",
        ),
        *("--token", "GITHUB_TOKEN", "access_token", "Authorization", "otp", "pin", "비밀번호", "密码", "パスワード"),
    ],
)
def test_a_name_that_promises_a_secret_is_known(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("PWD", "OLDPWD", "key", "primary_key", "public_key", "sort_key", "max_tokens", "tokens", "tokenizer"),
        *("token_type", "token_count", "next_page_token", "password_field", "password_hash", "secret_name", "author"),
        *("--password-stdin", "--password-file", "bypass", "passed", "pinned", "username", "암호화"),
    ],
)
def test_a_name_that_only_sounds_so_is_left_alone(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "label",
    [
        *("Password", "Repeat password *", "Confirm your password", "Enter your password to continue", "Mot de passe"),
        *("API token", "Access Token (from settings)", "API key", "Your secret", "PIN", "CVV", "One-time code"),
        *("Verification code", "비밀번호 확인", "인증번호", "请输入密码", "验证码", "パスワード", "API キー"),
    ],
)
def test_a_label_that_asks_for_a_secret_is_known(label):
    assert is_secret_label(label)


@pytest.mark.parametrize(
    "label",
    [
        *("User name", "Token name", "Password hint", "Password strength", "Postal code", "Discount code", "Key"),
        *("Keyboard", "Secretary", "Passenger name", "Compass", "이름", "标题", "住所", ""),
    ],
)
def test_a_label_that_asks_for_something_else_is_left_alone(label):
    assert not is_secret_label(label)


@pytest.mark.parametrize(
    ("label", "called"),
    [("Password", "password"), ("API token", "api_token"), ("DB_PASSWORD", "DB_PASSWORD"), ("apiKey", "api_key")],
)
def test_a_secret_is_called_by_its_own_name(label, called):
    assert secret_called(label) == called


@pytest.mark.parametrize(("label", "called"), [("비밀번호", "password"), ("验证码", "code"), ("令牌", "token")])
def test_a_secret_in_other_letters_is_called_by_what_it_is(label, called):
    assert secret_called(label) == called
