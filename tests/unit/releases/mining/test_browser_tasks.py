"""Tasks done in a browser: found whatever the order, the looks and the mistakes on the way."""

import pytest
from tests.unit.releases.mining.logs import SITE, Log, order, sign_in

from skillyard.releases.mining.sequences import as_one, mine

ORDERS = [("Ada", "3", 101), ("Bob & Co", "5", 102), ("Zoë", "12", 103)]


def texts(sequence):
    return [step.text for step in sequence.payload.steps]


def elements(sequence):
    return [(step.text.split()[0], step.element.name) for step in sequence.payload.steps if step.element]


def test_the_same_form_with_different_values_is_one_task():
    logs = [order(sign_in(Log()), *values).session for values in ORDERS]
    (sequence,) = mine(logs).sequences
    assert sequence.repeats == 3
    assert len(sequence.execution_ids) == 3
    assert texts(sequence) == [
        f"open {SITE}/",
        'fill @e1 "ada"',
        'fill @e2 "{{password}}"',
        "click @e3",
        "click @e4",
        'fill @e5 "{{customer}}"',
        'fill @e6 "{{quantity}}"',
        'select @e7 "m"',
        "click @e8",
    ]
    assert elements(sequence) == [
        ("fill", "User name"),
        ("fill", "Password"),
        ("click", "Sign in"),
        ("click", "New order"),
        ("fill", "Customer"),
        ("fill", "Quantity"),
        ("select", "Size"),
        ("click", "Save"),
    ]
    assert [step.element.password for step in sequence.payload.steps if step.element][:2] == [False, True]
    assert sequence.payload.network == (SITE,)


def test_steps_one_by_one_in_batches_and_by_other_means_are_the_same():
    batch = order(sign_in(Log()), *ORDERS[0]).session
    single = order(sign_in(Log(one_by_one=True)), *ORDERS[1]).session
    sought = Log()
    sought.open("/", "Sign in").fill("User name", "ada").fill("Password", "{{secret:password}}", password=True)
    sought.step('find role button click --name "Sign in"', {"role": "button", "name": "Sign in"}, goes_to="/orders")
    sought.click("New order", role="link", goes_to="/orders/new")
    sought.step('find label "Customer" fill "Zoë"', {"role": "textbox", "name": "Customer"})
    sought.step('find label "Quantity" type "12"', {"role": "textbox", "name": "Quantity"})
    sought.select("Size", "m").click("Save", goes_to="/orders", shown=["Order 9 saved for Zoë."])
    (sequence,) = mine([batch, single, sought.session]).sequences
    assert sequence.repeats == 3
    assert list(sequence.payload.variables) == ["password", "customer", "quantity"]


def test_the_order_in_which_a_form_is_filled_and_the_looks_between_make_no_difference():
    first = Log().open("/new").fill("A", "one").fill("B", "two").select("C", "x").click("Save", goes_to="/ok")
    second = Log().open("/new").look().select("C", "x").step("scroll down").fill("B", "four").look()
    second.step("wait 100").fill("A", "three").step("get text @e1", stdout="x").click("Save", goes_to="/ok").look()
    (sequence,) = mine([first.session, second.session]).sequences
    assert sequence.example_values == {"a": ("one", "three"), "b": ("two", "four")}
    assert [text for text in texts(sequence) if text.startswith(("snapshot", "wait"))] == [
        "snapshot --interactive",
        "snapshot --interactive",
        "wait 100",
        "snapshot --interactive",
    ], "looks and waits are where a replay sees anew"
    assert not [text for text in texts(sequence) if text.startswith(("get", "scroll"))]


def test_what_failed_and_what_was_undone_is_left_out():
    first = Log().open("/other", "Wrong").open("/new").fill("A", "typo").fill("A", "one")
    first.click("Terms", role="checkbox", verb="check").click("Terms", role="checkbox", verb="uncheck")
    first.click("Help", role="link", goes_to="/help").step("back", stdout=f"New\n{SITE}/new")
    first.click("Missing", exit_code=1).fill("B", "two").click("Save", goes_to="/ok")
    second = Log().open("/new").fill("A", "three").fill("B", "four").click("Save", goes_to="/ok")
    (sequence,) = mine([first.session, second.session]).sequences
    assert elements(sequence) == [("fill", "A"), ("fill", "B"), ("click", "Save")]
    assert texts(sequence)[0] == f"open {SITE}/new"


def test_a_form_that_came_back_to_be_corrected_was_sent_once():
    first = sign_in(Log(), secret="{{secret:password_2}}")
    first.fill("Password", "{{secret:password}}", password=True).click("Sign in", goes_to="/orders")
    first.fill("Name", "x").fill("Mail", "wrong").click("Save").fill("Mail", "a@b.org").click("Save", goes_to="/ok")
    second = sign_in(Log()).fill("Name", "y").fill("Mail", "c@d.org").click("Save", goes_to="/ok")
    (sequence,) = mine([first.session, second.session]).sequences
    assert sequence.repeats == 2
    assert sequence.example_values == {"name": ("x", "y"), "mail": ("a@b.org", "c@d.org")}


def test_a_task_repeated_in_one_sandbox_is_several_repeats():
    log = Log()
    for values in ORDERS:
        order(sign_in(log), *values)
    (sequence,) = mine([log.session]).sequences
    assert sequence.repeats == 3


def test_a_form_filled_again_and_again_after_one_sign_in_is_done_with_signing_in():
    log = sign_in(Log(one_by_one=True))
    for values in ORDERS:
        order(log, *values).look()
    (sequence,) = mine([log.session]).sequences
    assert sequence.repeats == 3
    assert list(sequence.payload.variables) == ["password", "customer", "quantity"]
    separate = mine([order(sign_in(Log()), *values).session for values in ORDERS])
    assert separate.sequences[0].canonical == sequence.canonical


@pytest.mark.parametrize("again", ["/", "/orders"])
def test_whoever_is_signed_in_already_does_the_same_task(again):
    log = order(sign_in(Log()), *ORDERS[0])
    for values in ORDERS[1:]:
        order(log.open(again, "Orders"), *values)
    (sequence,) = mine([log.session]).sequences
    assert sequence.repeats == 3
    assert "password" in sequence.payload.variables


def test_a_page_opened_after_signing_in_is_part_of_the_task():
    logs = []
    for customer, quantity, _ in ORDERS:
        log = sign_in(Log()).open("/orders/new", "New order").fill("Customer", customer).fill("Quantity", quantity)
        logs.append(log.click("Save", goes_to="/orders").open("/orders", "Orders").look().session)
    (sequence,) = mine(logs).sequences
    assert texts(sequence)[4:] == [
        f"open {SITE}/orders/new",
        'fill @e4 "{{customer}}"',
        'fill @e5 "{{quantity}}"',
        "click @e6",
        f"open {SITE}/orders",
        "snapshot --interactive",
    ]


def test_several_tasks_of_one_session_are_told_apart():
    log = Log()
    for customer, quantity, number in ORDERS:
        order(log.open("/orders", "Orders"), customer, quantity, number)
    for query in ("red", "blue"):
        log.open("/articles", "Articles").fill("Search", query).click("Find", goes_to="/found", shown=["Results"])
    found = {sequence.skill_key: sequence.repeats for sequence in mine([log.session]).sequences}
    assert found == {"create-order": 3, "find": 2}


def test_a_new_life_of_the_sandbox_has_nobody_signed_in():
    log = sign_in(Log())
    log.end()
    log.life = "sess-2"
    for name in ("x", "y"):
        log.open("/public").fill("Name", name).click("Send", goes_to="/ok")
    (sequence,) = mine([log.session]).sequences
    assert list(sequence.payload.variables) == ["name"]


def test_addresses_that_lead_to_the_same_sign_in_are_one_entrance():
    logs = []
    for values, path in zip(ORDERS, ("/", "/orders", "/login"), strict=True):
        log = Log().open(path, "Sign in - Shop").fill("User name", "ada")
        log.fill("Password", "{{secret:password}}", password=True).click("Sign in", goes_to="/orders")
        logs.append(order(log, *values).session)
    (sequence,) = mine(logs).sequences
    assert (sequence.repeats, texts(sequence)[0]) == (3, f"open {SITE}/")
    assert set(sequence.payload.variables) == {"password", "customer", "quantity"}


def test_addresses_that_lead_to_different_pages_behind_a_sign_in_are_none():
    logs = []
    for path in ("/coats", "/shoes"):
        log = Log().open(path, "Sign in - Shop").fill("User name", "ada")
        log.fill("Password", "{{secret:password}}", password=True).click("Sign in", goes_to=path)
        logs.append(log.fill("Customer", "Ada").click("Save").session)
    assert not mine(logs).sequences


def test_signing_out_ends_it():
    log = sign_in(Log()).click("Log out", role="link", goes_to="/")
    for name in ("x", "y"):
        log.open("/public").fill("Name", name).click("Send", goes_to="/ok")
    (sequence,) = mine([log.session]).sequences
    assert list(sequence.payload.variables) == ["name"]


def test_things_of_a_list_that_are_chosen_by_their_names_are_values():
    logs = []
    for name, phone in (("Ada", "030 1"), ("Bob", "030 2"), ("Zoë", "030 3")):
        log = Log().open("/customers", "Customers").click(name, role="link", goes_to="/customers/7", shown=[name])
        log.fill("Phone", phone).click("Save", goes_to="/customers", shown=[f"{name} was updated"])
        logs.append(log.session)
    (sequence,) = mine(logs).sequences
    assert list(sequence.payload.variables) == ["customer", "phone"]
    assert elements(sequence)[0] == ("click", "{{customer}}")
    assert len(sequence.variants) == 3


def test_different_links_are_different_tasks_when_each_is_done_again():
    logs = []
    for page in ("Orders", "Invoices"):
        for _ in range(2):
            log = Log().open("/", "Start").click(page, role="link", goes_to=f"/{page}").click("Export", goes_to="/ok")
            logs.append(log.session)
    assert [sequence.repeats for sequence in mine(logs).sequences] == [2, 2]


def test_a_thing_just_made_is_found_again_by_what_it_was_called():
    logs = []
    for number, title in ((17, "Printer broken"), (18, "No light"), (19, "Too loud")):
        log = Log().open("/tickets", "Tickets").fill("Title", title).click("Add", goes_to="/tickets")
        log.click(title, role="link", goes_to=f"/tickets/{number}")
        log.click("Close", within=f"{title} open", goes_to="/tickets", shown=[f"{title} is closed"])
        logs.append(log.session)
    (sequence,) = mine(logs).sequences
    assert list(sequence.payload.variables) == ["title"]
    link, close = (step.element for step in sequence.payload.steps[-2:])
    assert (link.name, close.within) == ("{{title}}", "{{title}} open")


STOCK = ("No", "Name"), ("11", "Oak desk"), ("12", "Swivel chair"), ("13", "Oak desk")


@pytest.mark.parametrize(
    ("table", "name", "values"),
    [
        ((*STOCK[:3], ("13", "Lamp")), "name", ("Swivel chair", "Lamp")),
        ((*STOCK[1:3], ("13", "Lamp")), "row", ("Swivel chair", "Lamp")),
        (STOCK, "row", ("12 Swivel chair Archive", "13 Oak desk Archive")),
        ((), "row", ("12 Swivel chair Archive", "13 Lamp Archive")),
    ],
)
def test_a_row_of_a_table_is_known_by_the_cell_that_no_other_row_has(table, name, values):
    logs = []
    for number, thing in (("12", values[0]), ("13", values[1])):
        shown = []
        for cells in table:
            role = "columnheader" if cells == STOCK[0] else "cell"
            shown += ["- row [ref=e1]", *(f'  - {role} "{cell}" [ref=e2]' for cell in cells), f"  - {role} [ref=e3]"]
        text = thing if thing.startswith(number) else f"{number} {thing} Archive"
        log = Log().open("/stock").look(*shown).click("Edit", role="link", within=text, goes_to=f"/stock/{number}")
        logs.append(log.fill("Quantity", f"{number}0").click("Save", goes_to="/stock").session)
    (sequence,) = mine(logs).sequences
    assert sequence.example_values[name] == values
    (edit,) = [step for step in sequence.payload.steps if step.element and step.element.name == "Edit"]
    assert edit.element.within == f"{{{{{name}}}}}"


def test_a_label_that_changed_a_little_is_the_same_field():
    first = Log().open("/new").fill("Customer", "x").fill("Town", "y").click("Save", goes_to="/ok")
    second = Log().open("/new").fill("Customer name", "z").fill("Town *", "w").click("Save", goes_to="/ok")
    (sequence,) = mine([first.session, second.session]).sequences
    assert sequence.repeats == 2
    assert set(sequence.example_values) == {"customer_name", "town"}


def test_a_label_that_changed_after_it_was_the_same_for_long_is_the_same_field():
    labels = ("Arrival", "Arrival", "Arrival", "Date of arrival")
    logs = [
        Log().open("/new").fill(label, f"2027-06-0{day}").fill("Boat", f"Boat {day}").click("Save", goes_to="/ok")
        for day, label in enumerate(labels, 1)
    ]
    (sequence,) = mine([log.session for log in logs]).sequences
    assert sequence.repeats == 4
    assert len(sequence.example_values["boat"]) == 4


def test_labels_that_are_on_a_page_together_are_of_different_fields():
    logs = []
    for label in ("Phone", "Mobile phone"):
        log = Log().open("/new").look('- textbox "Phone" [ref=e1]', '- textbox "Mobile phone" [ref=e2]')
        logs.append(log.fill("Name", "Ada").fill("Town", "Bern").fill(label, "5550100").click("Save", goes_to="/ok"))
    (sequence,) = mine([log.session for log in logs]).sequences
    assert {step.when for step in sequence.payload.steps} == {"", "phone", "mobile_phone"}


def test_buttons_of_a_list_say_what_is_done_to_which():
    logs = []
    for thing, count in (("Oak desk", "1"), ("Lamp", "2"), ("Chair", "3")):
        log = (
            Log()
            .open("/shop", "Articles")
            .look('- button "Add Lamp to cart" [ref=e1]', '- button "Add Chair to cart" [ref=e2]')
        )
        log.click(f"Add {thing} to cart", goes_to="/cart").fill("Count", count).click("Order", goes_to="/ok")
        logs.append(log.session)
    (sequence,) = mine(logs).sequences
    assert elements(sequence)[0] == ("click", "Add {{article}} to cart")
    assert sequence.example_values["article"] == ("Oak desk", "Lamp", "Chair")


def test_a_word_that_names_share_by_chance_is_part_of_the_value():
    logs = []
    for thing, count in (("Blue cup", "1"), ("Blue pot", "2")):
        log = Log().open("/shop", "Articles").click(thing, role="link", goes_to="/article/7")
        logs.append(log.fill("Count", count).click("Order", goes_to="/ok").session)
    (sequence,) = mine(logs).sequences
    assert sequence.example_values["article"] == ("Blue cup", "Blue pot")


def test_a_field_without_a_name_is_found_by_the_name_it_is_sent_with():
    logs = []
    for query in ("red", "blue"):
        log = Log().open("/").step(f'fill @e1 "{query}"', {"role": "textbox", "name": "", "field": "q", "tag": "input"})
        logs.append(log.click("Find", goes_to="/found").session)
    (sequence,) = mine(logs).sequences
    assert texts(sequence)[1] == r'fill "input[name=\"q\"]" "{{q}}"'
    assert sequence.payload.steps[1].element is None


def test_once_is_enough_where_it_is_to_be_learned_from_or_was_chosen():
    def once(**more):
        return order(sign_in(Log(**more)), *ORDERS[0]).session

    assert mine([once()]).sequences == ()
    (learned,) = mine([once(learn=True)]).sequences
    (chosen,) = mine([once()], chosen=True).sequences
    assert learned.payload == chosen.payload
    defaults = {name: one.default for name, one in learned.payload.variables.items()}
    assert defaults == {"user_name": "ada", "password": None, "customer": "Ada", "quantity": "3"}
    assert learned.repeats == 1
    repeated = mine([order(sign_in(Log()), *values).session for values in ORDERS])
    assert repeated.sequences[0].canonical == learned.canonical, "so that more evidence joins it"


@pytest.mark.parametrize(
    "steps",
    [
        lambda log: log.open("/"),
        lambda log: log.open("/").look().step("get title", stdout="Shop"),
        lambda log: log.open("/").click("Next", role="link", goes_to="/2"),
        lambda log: log.shell("ls -la").shell("cat a.txt").shell("pwd"),
        lambda log: log.shell("mkdir x"),
        lambda log: log.python("print(1 + 1)"),
    ],
)
def test_what_everyone_does_is_not_kept(steps):
    assert mine([steps(Log(learn=True)).session for _ in range(3)]).sequences == ()


def test_executions_without_a_trace_are_understood_by_the_last_snapshot():
    logs = []
    for name in ("x", "y"):
        log = Log(one_by_one=True, traced=False)
        log.step(f"open {SITE}/new", stdout=f"New\n{SITE}/new")
        log.step("snapshot -i", stdout='- textbox "Name" [ref=e1]\n- button "Save" [ref=e2]')
        logs.append(log.step(f'fill @e1 "{name}"').step("click @e2").session)
    (sequence,) = mine(logs).sequences
    assert elements(sequence) == [("fill", "Name"), ("click", "Save")]


def test_replays_are_no_evidence():
    logs = []
    for values in ORDERS:
        log = order(sign_in(Log()), *values)
        logs.append(log.end(tags="skill-replay,other").session)
    assert mine(logs, chosen=True).sequences == ()


def test_chosen_executions_are_one_task_however_little_they_do():
    log = Log().open("/").look().shell("ls")
    sequence = as_one([log.session])
    assert texts(sequence) == [f"open {SITE}/", "snapshot --interactive", "ls"]
    assert sequence.payload.kind == "hybrid_sequence"
    assert texts(as_one([Log().python("print(1)", "1").session])) == ["print(1)"]
    assert as_one([Log().session]) is None
    assert as_one([Log().step("click @e5", {"role": "", "name": ""}).session]) is None


def test_what_was_done_on_a_page_that_was_open_begins_with_its_address():
    log = Log()
    log.url = f"{SITE}/new"
    sequence = as_one([log.fill("Name", "x").click("Save", goes_to="/ok").session])
    assert texts(sequence) == [f"open {SITE}/new", 'fill @e1 "{{name}}"', "click @e2"]


def test_ways_to_get_into_a_field_make_no_difference():
    first = Log().open("/new").fill("A", "one").fill("B", "two").click("Save", goes_to="/ok")
    second = Log().open("/new").click("A", role="textbox").fill("A", "").fill("A", "three", verb="type")
    second.step("press Tab", {"role": "textbox", "name": "A"}).fill("B", "four", verb="type")
    second.step("reload", stdout=f"New\n{SITE}/new").click("Save", goes_to="/ok")
    (sequence,) = mine([first.session, second.session]).sequences
    assert sequence.example_values == {"a": ("one", "three"), "b": ("two", "four")}
    assert texts(sequence)[1].startswith("fill")


def test_fields_of_the_same_name_are_told_apart_by_what_stands_around_them():
    def field(log, group, city):
        return log.step(f'fill @e1 "{city}"', {"role": "textbox", "name": "City", "within": group})

    first = field(field(Log().open("/new"), "Shipping", "Bonn"), "Billing", "Rome").click("Save", goes_to="/ok")
    second = field(field(Log().open("/new"), "Billing", "Oslo"), "Shipping", "Kyiv").click("Save", goes_to="/ok")
    (sequence,) = mine([first.session, second.session]).sequences
    filled = {step.element.within: step.text for step in sequence.payload.steps[1:3]}
    values = {group: sequence.example_values[text.split("{{")[1].split("}}")[0]] for group, text in filled.items()}
    assert values == {"Billing": ("Rome", "Oslo"), "Shipping": ("Bonn", "Kyiv")}


def test_going_back_to_the_list_between_and_after_is_no_part_of_the_task():
    log = sign_in(Log())
    for name in ("x", "y", "z"):
        log.click("New order", role="link", goes_to="/orders/new").fill("Customer", name)
        log.click("Save", goes_to="/orders/17")
        if name != "z":
            log.click("Orders", role="link", goes_to="/orders")
    (sequence,) = mine([log.session]).sequences
    assert sequence.repeats == 3
    assert elements(sequence)[-1] == ("click", "Save")
    once = sign_in(Log()).click("New order", role="link", goes_to="/orders/new").fill("Customer", "w")
    once.click("Save", goes_to="/orders/18").click("Orders", role="link", goes_to="/orders")
    (joined,) = mine([log.session, once.session]).sequences
    assert (joined.repeats, joined.canonical) == (4, sequence.canonical)


def test_a_detour_and_a_form_that_was_given_up_are_no_part_of_the_task():
    direct, detour, given_up = sign_in(Log()), sign_in(Log()), sign_in(Log())
    detour.click("Reports", role="link", goes_to="/reports").click("Orders", role="link", goes_to="/orders")
    given_up.click("New order", role="link", goes_to="/orders/new").fill("Customer", "Oops")
    given_up.click("Cancel", goes_to="/orders")
    logs = [order(log, *values).session for log, values in zip((detour, direct, given_up), ORDERS, strict=True)]
    (sequence,) = mine(logs).sequences
    assert sequence.repeats == 3
    assert "Reports" not in {name for _, name in elements(sequence)}


@pytest.mark.parametrize("again", [False, True])
def test_a_click_on_what_was_in_the_way_only_once_is_no_part_of_the_task(again):
    logs = []
    for index, name in enumerate(("Ada", "Bob", "Zoë")):
        log = sign_in(Log(learn=True))
        if index == 0 or again:
            log.click("Accept all cookies")
        log.click("New order", role="link", goes_to="/new").fill("Customer", name).click("Save", goes_to="/ok")
        logs.append(log.session)
    (sequence,) = mine(logs).sequences
    assert sequence.repeats == 3
    assert (("click", "Accept all cookies") in elements(sequence)) is again


def test_going_somewhere_and_back_is_part_of_the_task_where_it_always_is():
    logs = []
    for customer in ("Ada", "Bob"):
        log = sign_in(Log()).click("Add cup", role="link", goes_to="/cart")
        log.click("Shop", role="link", goes_to="/orders")
        logs.append(order(log, customer, "1", 7).session)
    (sequence,) = mine(logs).sequences
    assert ("click", "Add cup") in elements(sequence)


def test_saying_yes_in_the_end_is_no_part_of_the_name():
    logs = []
    for customer in ("Ada", "Bob"):
        log = sign_in(Log()).click("New order", role="link", goes_to="/orders/new").fill("Customer", customer)
        log.click("Continue", goes_to="/orders/new", shown=["Please confirm"])
        logs.append(log.click("Confirm", goes_to="/orders/done", shown=["Thank you"]).session)
    (sequence,) = mine(logs).sequences
    assert sequence.skill_key == "log-in-and-create-order"


def test_going_on_to_the_next_part_of_a_form_is_no_part_of_the_name():
    logs = []
    for name, phone in (("Ada", "5550100"), ("Bob", "5550199")):
        log = Log().open("/new").fill("Name", name).click("Continue", goes_to="/more", shown=["Your details"])
        logs.append(log.fill("Phone", phone).click("Confirm booking", goes_to="/ok").session)
    (sequence,) = mine(logs).sequences
    assert sequence.skill_key == "confirm-booking"


def test_things_sought_in_a_list_one_after_the_other_are_one_task_by_enter_or_by_the_button():
    log = sign_in(Log())
    for number, (name, sought) in enumerate((("VPN drops", "VPN"), ("Lost badge", "badge"), ("Desk squeaks", "desk"))):
        log.fill("Search", sought)
        if number == 1:
            log.step("press Enter", {"role": "textbox", "name": "Search"}, goes_to=f"/orders?q={sought}")
        else:
            log.click("Find", goes_to=f"/orders?q={sought}")
        log.click(name, role="link", goes_to=f"/orders/{number}").fill("Comment", f"Done {sought}")
        log.click("Update", goes_to=f"/orders/{number}?saved=1").click("All", role="link", goes_to="/orders")
    (sequence,) = mine([log.session]).sequences
    assert sequence.repeats == 3
    assert elements(sequence)[4:6] == [("click", "Find"), ("click", "{{order}}")]
    assert elements(sequence)[-1] == ("click", "Update")


def test_ways_through_a_site_that_share_nothing_are_no_task():
    logs = []
    for one, other in (("Orders", "Open"), ("Help", "Contact"), ("News", "Archive")):
        log = Log().open("/", "Start").click(one, role="link", goes_to="/1").click(other, role="link", goes_to="/2")
        logs.append(log.session)
    assert mine(logs).sequences == ()
