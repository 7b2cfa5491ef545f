"""Tasks done by commands and code: files, JSON and small tools."""

import pytest
from tests.unit.releases.mining.logs import Log

from skillyard.releases.mining.sequences import LoggedExecution, mine
from skillyard.releases.payloads import CheckKind, PayloadKind, VariableType


def only(logs, **more):
    (sequence,) = mine([log.session for log in logs], **more).sequences
    return sequence


def texts(sequence):
    return [step.text for step in sequence.payload.steps]


def test_options_and_files_that_differ_are_variables():
    logs = []
    for year in (2024, 2025, 2026):
        log = Log().shell("ls").shell("mkdir -p reports")
        report = f"reports/report-{year}.csv"
        log.shell(f"python3 gen.py --year {year} --out {report}", f"Wrote 12 rows to {report}\n")
        logs.append(log.shell(f"wc -l {report}", "13"))
    sequence = only(logs)
    assert sequence.payload.kind is PayloadKind.CODE
    assert texts(sequence) == [
        "mkdir -p reports",
        "python3 gen.py --year {{year}} --out reports/report-{{year}}.csv",
    ]
    assert sequence.payload.variables["year"].type is VariableType.INTEGER
    assert [(one.kind, one.value) for one in sequence.payload.steps[-1].checks] == [
        (CheckKind.EXIT_CODE, "0"),
        (CheckKind.OUTPUT_CONTAINS, "rows to reports/report-{{year}}.csv"),
    ]
    files = [one.value for one in sequence.payload.postconditions if one.kind is CheckKind.FILE_EXISTS]
    assert "reports/report-{{year}}.csv" in files


def test_quotes_and_blanks_make_no_difference():
    first = Log().shell("python3 tool.py   --in 'a.csv' --out \"x.json\"")
    second = Log().shell("python3 tool.py --in b.csv --out my-file.json")
    sequence = only([first, second])
    assert sequence.example_values == {"in": ("a.csv", "b.csv"), "out": ("x.json", "my-file.json")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("python3 tool.py --in=a.csv --out=x.json --tidy", "python3 tool.py --in b.csv --out y.json --tidy"),
        ("python3 tool.py --in a.csv --out x.json --tidy", "python3 tool.py --tidy --out=y.json --in b.csv"),
        ("sh tool.sh --tidy --out x.json --in a.csv", "sh tool.sh --in=b.csv --tidy --out 'y.json'"),
        ("tool -o x.json --in a.csv --tidy | sort", "tool --in b.csv --tidy -o y.json | sort"),
        ("LANG=C tool main.cfg --in a.csv -o x.json 2>&1", "LANG=C tool --in b.csv -o y.json main.cfg 2>&1"),
    ],
)
def test_how_options_are_spelt_and_in_which_order_makes_no_difference(first, second):
    sequence = only([Log().shell(first), Log().shell(second)])
    assert sequence.repeats == 2
    assert sorted(sequence.example_values.values()) == [("a.csv", "b.csv"), ("x.json", "y.json")]
    assert texts(sequence)[0].count("{{") == 2
    assert [check.value for check in sequence.payload.postconditions] in (["{{out}}"], ["{{output}}"])


def test_where_the_order_of_options_matters_another_one_is_another_task():
    first, second = "find . -name a -o --size 3 > x", "find . --size 3 -o -name a > x"
    assert mine([Log().shell(first).session, Log().shell(second).session]).sequences == ()


WRITTEN = """cat > tool.py <<'EOF'
import sys
{}
EOF"""


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("source, copies = sys.argv[1], int(sys.argv[2])\nlabel = sys.argv[3]", ["source", "copies", "label"]),
        ("source, copies = sys.argv[1], len(sys.argv[2:])\nlabel = sys.argv[3]", ["value", "value_2", "label"]),
        ("source, copies, label = sys.argv[1:]", ["source", "copies", "label"]),
        ("_, source, copies, label = sys.argv", ["source", "copies", "label"]),
        ("source = open(sys.argv[1])\ncopies = int(sys.argv[2])\nlabel=sys.argv[3]", ["source", "copies", "label"]),
        ("p.add_argument('source')\np.add_argument('--x')\np.add_argument(\n 'n')", ["source", "n", "value"]),
        ("# Usage: tool.py SOURCE COPIES [LABEL]", ["source", "copies", "value"]),
        ("# tool.py SOURCE COPIES LABEL", ["source", "copies", "label"]),
        ("# tool.py needs what is in SOURCE", ["value", "value_2", "value_3"]),
        ("sys.exit('usage: python3 tool.py <source> <copies> <label>')", ["source", "copies", "label"]),
        ("sys.exit('usage: other.py <source> <copies> <label>')", ["value", "value_2", "value_3"]),
        ("print(__doc__)", ["value", "value_2", "value_3"]),
    ],
)
def test_arguments_are_called_what_the_script_calls_them(source, names):
    log = Log().shell(WRITTEN.format(source))
    for value in ("red one 2", "blue two 3", "green ten 4"):
        log.shell(f"python3 tool.py {value} > all.log")
    assert list(only([log]).example_values) == names


@pytest.mark.parametrize(
    "source",
    [
        "region=$1 name=$2",
        'export REGION="$1"; NAME=${2}',
        'echo "usage: $0 REGION NAME"',
        "# usage: push.sh REGION NAME",
    ],
)
def test_arguments_of_a_shell_script_are_called_what_it_calls_them(source):
    log = Log().shell(f"cat > push.sh <<'EOF'\n#!/bin/sh\n{source}\nEOF\nchmod +x push.sh")
    for value in ("eu shop", "us blog", "ap wiki"):
        log.shell(f"./push.sh {value} > all.log")
    assert list(only([log]).example_values) == ["region", "name"]


def test_arguments_are_called_what_the_usage_of_a_command_calls_them():
    usage = "usage: paint [-h] [--size SIZE]\n             colour <where>\n\nPaints."
    logs = [
        Log().shell("paint --help > help.txt; cat help.txt", usage).shell(f"paint {values} | tee -a log")
        for values in ("red door", "blue wall")
    ]
    assert list(only(logs).example_values) == ["colour", "where"]


@pytest.mark.parametrize(
    ("command", "said", "names"),
    [
        ("python3 tool.py in/A.csv out/B.json --loud", "Wrote 3 rows to out/B.json", ["input_file", "output_file"]),
        ("python3 -u tool.py A.csv --loud 2 > B.json", "", ["input_file", "output_file"]),
        ("python3 tool.py A.csv --out B.json", "", ["input_file", "out"]),
        ("python3 tool.py A.csv B.csv --loud 2", "", ["file", "file_2"]),
        ("sort -u A.txt | uniq -c > B.txt", "", ["input_file", "output_file"]),
        ("./report.py A B 2026-05-20 > all.txt", "", ["value", "value_2"]),
        ("./report.py 2026-05-0A B@example.org > all.txt", "", ["date", "email"]),
    ],
)
def test_arguments_are_called_what_becomes_of_them_or_what_they_are(command, said, names):
    logs = [
        Log().shell(command.replace("A", one).replace("B", other), said.replace("B", other))
        for one, other in (("1", "ada"), ("2", "bob"), ("3", "zoe"))
    ]
    assert list(only(logs).example_values) == names


def test_what_stands_beside_something_that_the_shell_puts_in_is_a_value():
    logs = []
    for day, level, part in (("2027-01-05", "ERROR", "app"), ("2027-02-17", "WARN", "web")):
        log = Log(learn=True).shell(
            f'mkdir {part} && for i in 1 2; do echo "{day} {level} $i" >> {part}/{day}.log; done'
        )
        logs.append(log.shell(f"grep -c {level} {part}/{day}.log > counts-{day}.txt").session)
    (sequence,) = mine(logs).sequences
    assert [step.text for step in sequence.payload.steps] == [
        'mkdir {{folder}} && for i in 1 2; do echo "{{date}} {{pattern}} $i" >> {{folder}}/{{date}}.log; done',
        "grep -c {{pattern}} {{folder}}/{{date}}.log > counts-{{date}}.txt",
    ]


def test_values_in_json_are_named_by_their_keys():
    logs = []
    for name, port in (("ada", 80), ("bob", 81)):
        log = Log().shell(f'cat > conf.json <<\'EOF\'\n{{"name": "{name}", "port": {port}, "on": true}}\nEOF')
        logs.append(log.shell(f'curl -s -d \'{{"user": "{name}"}}\' http://127.0.0.1:9/users', f'"{name}"'))
    sequence = only(logs)
    assert texts(sequence) == [
        'cat > conf.json <<\'EOF\'\n{"name": "{{name}}", "port": {{port}}, "on": true}\nEOF',
        'curl -s -d \'{"user": "{{name}}"}\' http://127.0.0.1:9/users',
    ]


def test_what_a_command_uses_is_made_before_it():
    log = Log().shell("cat > tool.py <<'EOF'\nimport sys\nprint(sys.argv[1])\nEOF").shell("echo unrelated > x.txt")
    for name in ("ada", "bob", "zoe"):
        log.shell(f"python3 tool.py {name} --times 2 --loud > {name}.txt", "")
    sequence = only([log])
    assert sequence.repeats == 3
    assert len(texts(sequence)) == 2
    assert texts(sequence)[0].startswith("cat > tool.py")


def test_the_same_file_written_anew_each_time_is_written_once():
    log = Log()
    for name in ("ada", "bob", "zoe"):
        log.shell("cat > order.sh <<'EOF'\necho $1\nEOF").shell(f"sh order.sh --for {name} --count 3", name)
    assert len(texts(only([log]))) == 2


def test_names_that_code_needs_are_defined_before_it():
    log = Log().python("import json").python("def greet(name):\n    return 'Hello ' + name").python("unused = 1")
    for name in ("ada", "bob"):
        log.python(f"text = json.dumps({{'text': greet('{name}')}})\nopen('{name}.json', 'w').write(text)")
    sequence = only([log])
    assert texts(sequence) == [
        "import json",
        "def greet(name):\n    return 'Hello ' + name",
        "text = json.dumps({'text': greet('{{text}}')})\nopen('{{text}}.json', 'w').write(text)",
    ]


def test_constants_in_code_are_named_by_what_they_are_given_to():
    logs = []
    for name, age, on in (("ada", 36, True), ("bob", 41, False)):
        code = (
            f"name = '{name}'  # who\nsave(path='data/{name}.json', age={age}, on={on}, mode='w')\nprint('saved', name)"
        )
        logs.append(Log().python(f"save = dict\n{code}", f"saved {name}\n"))
    sequence = only(logs)
    assert texts(sequence)[0].splitlines()[2] == "save(path='data/{{name}}.json', age={{age}}, on={{on}}, mode='w')"
    types = {name: one.type for name, one in sequence.payload.variables.items()}
    assert types == {"name": VariableType.STRING, "age": VariableType.INTEGER, "on": VariableType.BOOLEAN}
    assert [one.value for one in sequence.payload.steps[0].checks] == ["saved {{name}}"]


def test_other_names_or_another_structure_are_another_task():
    first = Log().python("a = load('x.csv')\nb = clean(a)\nstore(b, 'y.csv')")
    second = Log().python("a = load('x.csv')\nb = other(a)\nstore(b, 'y.csv')")
    assert mine([first.session, second.session]).sequences == ()


def test_a_secret_given_to_a_run_is_given_again():
    logs = []
    for name in ("ada", "bob"):
        log = Log().shell(f"sh order.sh --customer {name} --quantity 3 --now", f"ordered for {name}")
        trace = {"kind": "shell_exec_trace", "cwd": "shop", "environment": ["LANG=C"], "secrets": ["SHOP_PASSWORD"]}
        log.entries[-1] = LoggedExecution(execution=log.entries[-1].execution, trace=trace)
        logs.append(log)
    sequence = only(logs)
    folder, text = texts(sequence)
    assert folder == "mkdir -p shop"
    assert text.splitlines() == [
        "export SHOP_PASSWORD='{{shop_password}}'",
        "export LANG='C'",
        "sh order.sh --customer {{customer}} --quantity 3 --now",
    ]
    assert sequence.payload.variables["shop_password"].secret
    assert sequence.payload.steps[1].cwd == "shop"


def test_a_secret_in_whatever_quotes_is_the_same_secret():
    commands = ("--password='{}' --to ada", "--to=bob --password {}", "--password=''\"{}' --to zoe")
    logs = [Log().shell(f"sh send.sh {command.format('{{secret:password}}')} > log.txt") for command in commands]
    sequence = only(logs)
    assert sequence.repeats == 3
    assert {name: one.secret for name, one in sequence.payload.variables.items()} == {"password": True, "to": False}
    assert "secret:" not in texts(sequence)[0]


def test_browser_and_code_together_are_one_task():
    logs = []
    for name in ("ada", "bob"):
        log = Log().open("/report").fill("Name", name).click("Download", goes_to="/done", shown=["Ready"])
        logs.append(log.shell(f"sort {name}.txt | uniq -c > {name}.counts"))
    sequence = only(logs)
    assert sequence.payload.kind is PayloadKind.HYBRID
    assert list(sequence.payload.variables) == ["name"]


def test_commands_that_failed_are_left_out():
    logs = []
    for name in ("a", "b"):
        log = Log().shell(f"python3 tool.py --nmae {name}.csv --x 1", success=False)
        logs.append(log.shell(f"python3 tool.py --name {name}.csv --out {name}.json"))
    assert len(texts(only(logs))) == 1


def test_a_chosen_command_keeps_its_values():
    sequence = only([Log().shell("python3 tool.py --in a.csv --out b.json")], chosen=True)
    assert texts(sequence) == ["python3 tool.py --in a.csv --out b.json"]
    assert sequence.payload.variables == {}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("jq '.[] | select(.name == \"VALUE\")' users.json > found.json", "jq '.[] | select(.name == \"{{name}}\")'"),
        ("git commit -q -m 'VALUE' && git push -q origin main && git tag x", "git commit -q -m '{{message}}'"),
        ("NAME=VALUE make build install test > log.txt", "NAME={{name}} make build"),
        ("python3 -c \"print('VALUE', 2 * 3, open('a.txt').read())\" > b.txt", "python3 -c \"print('{{text}}', 2"),
        ("bash -c 'echo \"VALUE\" | sort > b.txt'", 'bash -c \'echo "{{name}}" | sort'),
        ("sed 's/old/VALUE/' a.txt | sort | uniq > b.txt", "sed 's/old/{{name}}/' a.txt"),
    ],
)
def test_values_stand_in_commands_where_they_stood(command, expected):
    sequence = only([Log().shell(command.replace("VALUE", value)) for value in ("alpha", "beta")])
    assert texts(sequence)[0].startswith(expected)


def test_what_cannot_take_a_value_keeps_the_one_it_had():
    logs = [Log().shell(f"echo `date -d {day}` > day.txt; sort -u day.txt > days.txt") for day in ("now", "now")]
    assert "`date -d now`" in texts(only(logs))[0]
