"""Secrets in code, commands and texts: recognised, and nothing else touched."""

import ast
import re
import shlex
import time

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from skillyard.sandbox.capture.browser_secrets import mask_step
from skillyard.sandbox.capture.known_secrets import KnownSecrets
from skillyard.sandbox.capture.python_secrets import mask_python
from skillyard.sandbox.capture.secret_texts import mask_output, mask_source
from skillyard.sandbox.capture.shell_secrets import mask_shell

SECRET = "hunter2x"


@pytest.mark.parametrize(
    "command",
    [
        "mysql -uroot -pSECRET db",
        "sshpass -p 'SECRET' ssh host",
        "curl -u admin:SECRET http://h/",
        "tool --password SECRET --verbose",
        "tool --password=SECRET",
        "tool --api-token 'SECRET'",
        "PASSWORD='SECRET' ./run",
        "export API_KEY=SECRET USER=x",
        "echo SECRET | sudo -S apt update",
        "echo SECRET | docker login --password-stdin",
        "docker login -u me -p SECRET",
        "unzip -P SECRET a.zip",
        "cat > .env <<EOF\nDB_PASSWORD=SECRET\nUSER=x\nEOF",
        "cat > c.yml <<EOF\ndb:\n  password: SECRET\nEOF",
        "python -c \"password='SECRET'\"",
        "curl -H 'Authorization: Bearer SECRET' -H 'Accept: x' http://h",
        "curl -H 'X-Api-Key: SECRET' http://h",
        'curl -d \'{"user": "a", "password": "SECRET"}\' http://h',
        "curl 'http://h/?token=SECRET&q=1'",
        "git clone https://me:SECRET@host/r.git",
        "echo 'unclosed PASSWORD=SECRET",
        'mysql --password="SECRET',
        "openssl enc -aes256 -pass pass:SECRET -in a",
        "ssh-keygen -q -N SECRET -f key",
        "curl -F password=SECRET --data-urlencode 'token=SECRET' http://h",
    ],
)
def test_a_secret_in_a_command_is_masked_and_known_from_then_on(command):
    known = KnownSecrets()
    masked = mask_shell(command.replace("SECRET", SECRET), known.learn)
    assert SECRET not in masked
    assert "{{secret:" in masked
    assert SECRET not in known.clean(f"it was {SECRET}")


@pytest.mark.parametrize(
    "command",
    [
        "ls -la; pwd",
        "tool --password $PW",
        'PASSWORD="$(cat file)" ./run',
        "tool --password-stdin < file",
        "sort --key=2 file",
        "mysql -p db",
        "printf '%s' \"$PASSWORD\" | sudo -S ls",
        "PWD=/workspace make",
        "grep token file.txt | cut -d: -f2",
        "git commit -m 'Fix the password reset'",
        "curl http://h:8080/a@b",
    ],
)
def test_a_command_without_a_secret_stays_as_it_is(command):
    known = KnownSecrets()
    assert mask_shell(command, known.learn) == command
    assert repr(known) == "KnownSecrets(0)"


@pytest.mark.parametrize(
    "code",
    [
        "password = 'SECRET'",
        "user, password = 'a', 'SECRET'",
        "connect(user='a', password='SECRET')",
        "config = {'password': 'SECRET', 'user': 'x'}",
        "requests.get(url, auth=('a', 'SECRET'))",
        "os.environ['API_KEY'] = 'SECRET'",
        "self.token = b'SECRET'",
        "page.fill('#password', 'SECRET')",
        "page.get_by_label('Password').fill('SECRET')",
        "server.login('me', 'SECRET')",
        "if password == 'SECRET':\n    pass",
        "headers = {'Authorization': 'Bearer SECRET'}",
        "def connect(password='SECRET', *, token='SECRET'):\n    pass",
        "url = 'http://a:SECRET@host'",
        "x = '안녕'; password = 'SECRET'  # 안녕",
        "password = 'SECRET' if x else 'SECRET'",
        "password: str = 'SECRET'",
        "if (secret := 'SECRET'):\n    pass",
        'send(\'{"user": "a", "password": "SECRET"}\')',
        "connect('host=h password=SECRET')",
        "os.system('mysql -pSECRET db; echo pass')",
        "subprocess.run('tool --token SECRET', shell=True)",
        "subprocess.run(['tool', '--user', 'a', '--password', 'SECRET', '--verbose'])",
        "subprocess.run(['tool', '--password=SECRET'])",
        "subprocess.run(['mysql', '-pSECRET', 'db'])",
        "command = ('sshpass', '-p', 'SECRET', 'ssh', host); password_less = 1",
        "os.system('tool --password ' + 'SECRET')",
        "os.system('tool --user ' + name + ' --password=' + 'SECRET')",
        "p = 'SECRET'\nos.system(f'tool --password {p}')",
        "p = 'SECRET'\nsubprocess.run(['tool', '--password', p])",
        "p = 'SECRET'\nserver.login('me', p)",
        "p = 'SECRET'\nrequests.post(url, json={'password': p})",
    ],
)
def test_a_secret_in_code_is_masked_and_the_code_is_still_code(code):
    known = KnownSecrets()
    masked = mask_python(code.replace("SECRET", SECRET), known.learn)
    assert SECRET not in masked
    assert "{{secret:" in masked
    ast.parse(masked)
    assert SECRET not in known.clean(f"it was {SECRET}")


@pytest.mark.parametrize("command", ["tool --password -SECRET --verbose", "tool -password -_SECRET -verbose"])
def test_a_password_may_begin_with_a_hyphen(command):
    masked = mask_shell(command.replace("SECRET", SECRET), KnownSecrets().learn)
    assert masked == re.sub("-_?SECRET", "{{secret:password}}", command)
    listed = repr(command.replace("SECRET", SECRET).split())
    assert mask_python(f"run({listed})", KnownSecrets().learn) == f"run({masked.split()!r})"


@pytest.mark.parametrize(
    "way",
    [
        "sh order.sh --user a --password {} --customer b",
        "tool --password={}",
        "export DB_PASSWORD={}; run",
        "sshpass -p {} ssh host",
        "curl -u admin:{} http://h/",
        "mysql -uroot -p{} db",
        "echo {} | sudo -S ls",
        "sudo -S ls <<< {}",
    ],
)
@given(password=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=10, max_size=20))
@example(password="-_hyphens-come-first")
@example(password="'\"quotes\"' $too `many`")
def test_whatever_the_characters_of_a_password_it_is_masked(way, password):
    assume(not re.fullmatch(r"[-*.x]+|\$.*|`.*`|%\w+%|\{[\w.]+\}|--?[a-zA-Z][a-z0-9-]*(=.*)?", password))
    assume("{{secret" not in password)
    known = KnownSecrets()
    quoted = shlex.quote(password)
    masked = known.clean(mask_shell(way.format(quoted), known.learn))
    assert password not in masked
    assert quoted not in masked


@pytest.mark.parametrize(
    "code",
    [
        "token = response.json()['token']",
        "password = os.environ['PASSWORD']",
        "password = getpass('Password: ')",
        "max_tokens = 5; tokenizer = 'gpt2'",
        "headers = {'Authorization': f'Bearer {token}'}",
        "rows = sorted(rows, key='name')",
        "print('the password is wrong')",
        "subprocess.run(['tool', '--password', os.environ['PASSWORD']])",
        "subprocess.run(['tool', '--password', '--verbose'])",
        "columns = ['name', 'password', 'email']",
        "print(f'password {attempt}')",
        "x = 1",
    ],
)
def test_code_without_a_secret_stays_as_it_is(code):
    assert mask_python(code, KnownSecrets().learn) == code


@pytest.mark.parametrize(
    "text",
    [
        "ghp_0123456789abcdefABCDEF0123456789abcd",
        "AKIAIOSFODNN7EXAMPLE",
        "sk-proj-abc123def456ghi789jkl012",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END RSA PRIVATE KEY-----",
        "xoxb-123456789012-abcdefghij",
        "password = hunter2x",
        '{"api_key": "hunter2x"}',
        "Set-Cookie: session=0123456789abcdef; Path=/",
        "token: abc123def",
        'textbox "API token" [ref=e5]: hunter2x',
    ],
)
def test_what_looks_like_a_secret_in_output_is_masked(text):
    masked = mask_output(f"before {text} after")
    assert masked.startswith("before ")
    assert "{{secret:" in masked
    assert text not in masked


@pytest.mark.parametrize(
    "text",
    [
        "Password: required",
        "The token is invalid.",
        'textbox "Password": ••••••',
        'textbox "User name": ada',
        "bearer of news",
        "max_tokens=100",
        "see https://example.com:8443/a@b",
        "class sk-toggleable__content-very-long",
        "primary key: id",
    ],
)
def test_what_is_said_about_secrets_in_output_stays(text):
    assert mask_output(text) == text


def test_a_script_that_sets_a_password_is_masked():
    script = "eval \"document.querySelector('#password').value = 'hunter2x'\""
    assert SECRET not in mask_step(script, None, KnownSecrets().learn, succeeded=True)


def test_a_key_pressed_in_a_password_field_is_masked_and_others_are_not():
    field = {"role": "textbox", "name": "Password", "is_password": True}
    assert mask_step("press h", field, KnownSecrets().learn, succeeded=True) == "press {{secret}}"
    assert mask_step("press Enter", field, KnownSecrets().learn, succeeded=True) == "press Enter"
    other = {"role": "textbox", "name": "Search", "is_password": False}
    assert mask_step("press h", other, KnownSecrets().learn, succeeded=True) == "press h"


def test_secrets_are_told_apart_and_the_same_one_is_the_same():
    known = KnownSecrets()
    assert known.learn("first-one", "password") == "{{secret:password}}"
    assert known.learn("second-one", "password") == "{{secret:password_2}}"
    assert known.learn("first-one", "token") == "{{secret:password}}"
    assert known.clean("first-one second-one") == "{{secret:password}} {{secret:password_2}}"


def test_words_of_everyday_and_short_values_are_not_hidden_everywhere():
    known = KnownSecrets()
    for value in ("admin", "abc", "Password"):
        assert known.learn(value, "password") == "{{secret:password}}"
        assert known.clean(f"the {value} page") == f"the {value} page"


def test_markers_are_left_as_they_are():
    known = KnownSecrets()
    known.learn("pass", "password")
    assert known.clean("{{secret:password}} pass") == "{{secret:password}} {{secret:password}}"


def test_only_so_many_are_known_at_once():
    known = KnownSecrets()
    for number in range(100):
        known.learn(f"value-{number}", "token")
    assert repr(known) == "KnownSecrets(64)"
    assert "value-99" not in known.clean("value-99")


@given(st.text(max_size=60) | st.text("\\'\"(){}<>|&;!$`# \n-=axp/", max_size=30))
@example(")")
@example("> out")
@example("2>&1 < in | > out")
def test_nothing_that_is_run_or_printed_breaks_the_masking(text):
    for mask in (mask_shell, mask_python, mask_source):
        mask(text, KnownSecrets().learn)
        mask(f"password='{text}'", KnownSecrets().learn)
    mask_output(text)
    mask_step(text, None, KnownSecrets().learn, succeeded=False)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000 + "=key",
        "key" + '"' * 100_000,
        "key" + 'a="' * 50_000,
        "://a:" * 30_000,
        "sk-aaaaaaaaaaaaaaaaaaaaaaa-" * 8_000,
        "authorization: " * 10_000,
        'textbox "' * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 2_000,
    ],
)
def test_no_text_takes_long_to_look_through(text):
    began = time.process_time()
    mask_output(text)
    assert time.process_time() - began < 2
