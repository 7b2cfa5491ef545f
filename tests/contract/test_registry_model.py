"""The registry against a model of it in plain dictionaries: whatever is done in whatever order, they agree."""

import asyncio
import hashlib
import itertools
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.errors import ConflictError, NotAllowedError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.principals import Role
from skillyard.registry.drafts import draft_of
from skillyard.registry.skills import Visibility
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.versions import Version, latest
from skillyard.skill.write import compose_skill_md

WHY = Why(reason="because")
TEAM = "team"
ROLES = {"boss": Role.ADMIN, "pub": Role.PUBLISHER, "ed": Role.EDITOR, "out": None}
PRIVATE, PUBLIC = Visibility.PRIVATE, Visibility.PUBLIC

people = st.sampled_from(sorted(ROLES))
able_people = st.sampled_from(["boss", "pub", "pub", "pub", "ed", "out"])
places = st.sampled_from([TEAM, TEAM, TEAM, "ed"])
names = st.sampled_from(["alpha", "beta", "보고서"])
bodies = st.sampled_from(["One.\n", "Two.\n", "Three.\n"])
paths = st.sampled_from(["a.md", "data/b.bin"])
numbers = st.sampled_from([None, "0.1.0", "1.0.0", "1.1.0-rc.1"])
picks = st.integers(0, 50)


@dataclass(frozen=True)
class Content:
    """The files of a skill, as little as tells them."""

    name: str
    body: str
    files: frozenset[tuple[str, bytes]] = frozenset()

    @property
    def bundle(self) -> Bundle:
        text = compose_skill_md(self.name, f"About {self.name}", self.body).encode()
        return Bundle([BundleFile("SKILL.md", text), *(BundleFile(path, data) for path, data in self.files)])

    @property
    def digest(self) -> str:
        lines = sorted(
            f"{file.path}\0-\0{hashlib.sha256(file.data).hexdigest()}\n".encode() for file in self.bundle.files
        )
        return "sha256:" + hashlib.sha256(b"".join(lines)).hexdigest()

    def with_file(self, path: str, data: bytes | None) -> "Content":
        files = {kept: text for kept, text in self.files if kept != path}
        return replace(self, files=frozenset((files if data is None else files | {path: data}).items()))


@dataclass
class ModelSkill:
    id: str
    place: str
    content: Content
    visibility: Visibility
    is_deleted: bool = False
    versions: dict[str, str] = field(default_factory=dict)
    yanked: dict[str, str | None] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def latest(self) -> str | None:
        newest = latest([Version.parse(version) for version in self.versions if self.yanked[version] is None])
        return newest and str(newest)


@dataclass
class ModelEntry:
    number: int
    kind: str
    skill: ModelSkill
    before: object = None
    after: object = None
    key: str = ""
    """The version or the tag."""
    is_undo: bool = False
    is_undone: bool = False


NEEDED = {"updated": Role.EDITOR}


class Machine(RuleBasedStateMachine):
    tenants = itertools.count(1)

    def __init__(self, runner, yard):
        super().__init__()
        self.run = runner.run
        self.yard = yard
        self.skills: list[ModelSkill] = []
        self.entries: list[ModelEntry] = []
        self.taken: dict[tuple[str, str, str], tuple[str, str]] = {}
        self.agreed = 0
        """The number of the last change after which all was looked at."""

    @initialize()
    def people_come(self):
        async def come():
            tenant = await self.yard.people.ensure_tenant(f"tenant-{next(self.tenants)}")
            found = {name: await self.yard.people.ensure_person(tenant, name) for name in ROLES}
            boss = await self.yard.access.of_person(found["boss"])
            await self.yard.namespaces.create_team(boss, TEAM, why=WHY)
            boss = await self.yard.access.of_person(found["boss"])
            for name in ("pub", "ed"):
                await self.yard.namespaces.set_member(boss, TEAM, name, ROLES[name], why=WHY)
            chief = await self.yard.people.ensure_person(tenant, "chief", admin=True)
            await self.yard.world.allow(await self.yard.access.of_person(chief), allowed=True, why=WHY)
            self.who = {name: await self.yard.access.of_person(person) for name, person in found.items()}
            return await self.yard.database.number()

        self.number = self.run(come())

    # What the model says, and whether the registry says the same.

    def role(self, who, place):
        return ROLES[who] if place == TEAM else Role.ADMIN if who == place else None

    def may(self, who, skill, needed):
        """The error that someone gets who wants to do something with a skill, if any."""
        role = self.role(who, skill.place)
        if skill.is_deleted or (role is None and skill.visibility is PRIVATE):
            return NotFoundError
        return None if (role or Role.VIEWER).covers(needed) else NotAllowedError

    def attempt(self, awaitable, expected):
        """Do it, and see that it ends as the model says; a conflict over content leaves one entry."""
        if expected is None:
            return self.run(awaitable)
        with pytest.raises(expected) as refusal:
            self.run(awaitable)
        assert refusal.type is expected
        return None

    def note(self, kind, skill, before=None, after=None, key="", *, is_undo=False):
        self.number += 1
        self.entries.append(ModelEntry(self.number, kind, skill, before, after, key, is_undo))

    def named(self, place, name):
        return next(
            (
                skill
                for skill in self.skills
                if (skill.place, skill.content.name) == (place, name) and not skill.is_deleted
            ),
            None,
        )

    def pick(self, number):
        return self.skills[number % len(self.skills)] if self.skills else None

    @rule(who=able_people, place=places, name=names, body=bodies, visibility=st.sampled_from([PRIVATE, PUBLIC]))
    def create(self, who, place, name, body, visibility):
        role, content = self.role(who, place), Content(name, body)
        expected = None
        if role is None:
            expected = NotFoundError
        elif not role.covers(Role.EDITOR if visibility is PRIVATE else Role.PUBLISHER):
            expected = NotAllowedError
        elif self.named(place, name):
            expected = ConflictError
            self.number += 1
        workbench = self.yard.registry.workbench
        made = self.attempt(
            workbench.create(self.who[who], draft_of(content.bundle), namespace=place, visibility=visibility, why=WHY),
            expected,
        )
        if made:
            self.skills.append(ModelSkill(made.id, place, content, visibility))
            self.note("created", self.skills[-1], after=(content, visibility))

    def rework(self, who, skill, content, is_stale, make):
        """An edit of any kind to this content."""
        expected = self.may(who, skill, Role.EDITOR)
        is_same = content.digest == skill.content.digest
        if expected is None and is_stale:
            expected = ConflictError
            self.number += not is_same
        elif (
            expected is None
            and content.name != skill.content.name
            and (self.named(skill.place, content.name) or skill.versions)
        ):
            expected = ConflictError
            self.number += 1
        base = "sha256:" + "0" * 64 if is_stale else skill.content.digest
        self.attempt(make(base), expected)
        if expected is None and not is_same:
            self.note("updated", skill, skill.content, content)
            skill.content = content

    @rule(who=able_people, pick=picks, body=bodies, is_stale=st.booleans())
    def edit(self, who, pick, body, is_stale):
        if skill := self.pick(pick):
            bench, principal = self.yard.registry.workbench, self.who[who]
            self.rework(
                who,
                skill,
                replace(skill.content, body=body),
                is_stale,
                lambda base: bench.edit(principal, skill.id, fields={}, body=body, base=base, why=WHY),
            )

    @rule(who=able_people, pick=picks, name=names)
    def rename(self, who, pick, name):
        if skill := self.pick(pick):
            content, principal = replace(skill.content, name=name), self.who[who]
            text = content.bundle.get("SKILL.md")
            self.rework(
                who,
                skill,
                content,
                False,
                lambda base: self.yard.registry.workbench.put_file(principal, skill.id, text, base=base, why=WHY),
            )

    @rule(who=able_people, pick=picks, path=paths, data=st.sampled_from([b"", b"\0\xff", b"text\n", None]))
    def put_or_delete_file(self, who, pick, path, data):
        if skill := self.pick(pick):
            bench, principal = self.yard.registry.workbench, self.who[who]

            def make(base):
                if data is None:
                    return bench.delete_file(principal, skill.id, path, base=base, why=WHY)
                return bench.put_file(principal, skill.id, BundleFile(path, data), base=base, why=WHY)

            self.rework(who, skill, skill.content.with_file(path, data), False, make)

    def label(self, skill, content, wanted):
        """The version that publishing gives, whether it is new, and the error if it cannot be given."""
        mine = [version for version, digest in skill.versions.items() if digest == content.digest]
        if wanted is None:
            if mine:
                return None, None
            newest = max(map(Version.parse, skill.versions), default=None)
            number = newest.bump("patch") if newest else Version.parse("0.1.0")
            while (skill.place, content.name, str(number)) in self.taken:
                number = number.bump("patch")
            return str(number), None
        if wanted in mine:
            return None, None
        return wanted, ConflictError if (skill.place, content.name, wanted) in self.taken else None

    def published(self, skill, version):
        if version is not None:
            skill.versions[version], skill.yanked[version] = skill.content.digest, None
            self.taken[skill.place, skill.content.name, version] = (skill.id, skill.content.digest)
            self.note("published", skill, key=version)

    @rule(who=able_people, pick=picks, wanted=numbers)
    def publish(self, who, pick, wanted):
        if skill := self.pick(pick):
            expected, version = self.may(who, skill, Role.PUBLISHER), None
            if expected is None:
                version, expected = self.label(skill, skill.content, wanted)
                self.number += expected is ConflictError
            publishing = self.yard.registry.publishing
            done = self.attempt(publishing.publish(self.who[who], skill.id, version=wanted, why=WHY), expected)
            if done:
                assert done.created == (version is not None)
                self.published(skill, version)

    @rule(who=able_people, place=places, name=names, body=bodies, wanted=numbers)
    def publish_bundle(self, who, place, name, body, wanted):
        role, content, skill = self.role(who, place), Content(name, body), self.named(place, name)
        place_of = skill or ModelSkill("", place, content, PRIVATE)
        version, expected = self.label(place_of, content, wanted)
        unpublished = skill and skill.content != content and skill.content.digest not in skill.versions.values()
        if version is not None and unpublished:
            expected = ConflictError
        if role is None or not role.covers(Role.PUBLISHER):
            expected = NotFoundError if role is None else NotAllowedError
        self.number += expected is ConflictError
        publishing = self.yard.registry.publishing
        done = self.attempt(
            publishing.publish_bundle(
                self.who[who], draft_of(content.bundle), namespace=place, version=wanted, why=WHY
            ),
            expected,
        )
        if done is None or version is None:
            return
        if skill is None:
            skill = ModelSkill(done.skill.id, place, content, PRIVATE)
            self.skills.append(skill)
            self.note("created", skill, after=(content, PRIVATE))
        elif skill.content != content:
            self.note("updated", skill, skill.content, content)
            skill.content = content
        self.published(skill, version)

    @rule(who=able_people, pick=picks, number=numbers, action=st.sampled_from(["yank", "restore"]))
    def yank_or_restore(self, who, pick, number, action):
        if (skill := self.pick(pick)) and (version := number or next(iter(skill.versions), "9.9.9")):
            expected = self.may(who, skill, Role.PUBLISHER)
            if expected is None and version not in skill.versions:
                expected = NotFoundError
            make = getattr(self.yard.registry.versions, action)
            self.attempt(make(self.who[who], skill.id, version, why=WHY), expected)
            after = WHY.reason if action == "yank" else None
            if expected is None and (skill.yanked[version] is None) != (after is None):
                self.note(f"{action}ed", skill, skill.yanked[version], after, version)
                skill.yanked[version] = after

    @rule(who=able_people, pick=picks, tag=st.sampled_from(["good", "next"]), version=numbers)
    def tag(self, who, pick, tag, version):
        if skill := self.pick(pick):
            expected = self.may(who, skill, Role.PUBLISHER)
            if expected is None and version is not None and version not in skill.versions:
                expected = NotFoundError
            self.attempt(self.yard.registry.versions.tag(self.who[who], skill.id, tag, version, why=WHY), expected)
            if expected is None and skill.tags.get(tag) != version:
                self.note("tagged", skill, skill.tags.get(tag), version, tag)
                self.point(skill, tag, version)

    @staticmethod
    def point(skill, tag, version):
        skill.tags.pop(tag, None)
        if version is not None:
            skill.tags[tag] = version

    @rule(who=able_people, pick=picks, visibility=st.sampled_from(list(Visibility)))
    def show(self, who, pick, visibility):
        if skill := self.pick(pick):
            is_same = visibility is skill.visibility
            expected = self.may(who, skill, Role.EDITOR if is_same else Role.PUBLISHER)
            self.attempt(self.yard.registry.workbench.show(self.who[who], skill.id, visibility, why=WHY), expected)
            if expected is None and not is_same:
                self.note("shown", skill, skill.visibility, visibility)
                skill.visibility = visibility

    @rule(who=able_people, pick=picks)
    def delete(self, who, pick):
        if skill := self.pick(pick):
            expected = self.may(who, skill, Role.PUBLISHER)
            self.attempt(self.yard.registry.workbench.delete(self.who[who], skill.id, why=WHY), expected)
            if expected is None:
                self.note("deleted", skill)
                skill.is_deleted = True

    @rule(who=st.sampled_from(["boss", "pub", "ed"]), back=st.integers(1, 8))
    def undo(self, who, back):
        if back > len(self.entries):
            return
        entry = self.entries[-back]
        role = self.role(who, entry.skill.place)
        if role is None:
            return
        expected = None
        if not role.covers(NEEDED.get(entry.kind, Role.PUBLISHER)):
            expected = NotAllowedError
        elif entry.is_undone or not self.can_take_back(entry):
            expected = ConflictError
        self.attempt(self.yard.registry.chronicle.undo(self.who[who], entry.number, why=WHY), expected)
        if expected is None:
            entry.is_undone = True
            self.take_back(entry)

    def can_take_back(self, entry):
        skill = entry.skill
        if entry.kind == "deleted":
            return skill.is_deleted and self.named(skill.place, skill.content.name) is None
        if skill.is_deleted:
            return False
        match entry.kind:
            case "created":
                is_published = skill.latest is not None and not entry.is_undo
                return (skill.content, skill.visibility) == entry.after and not is_published
            case "updated":
                is_free = not skill.versions and self.named(skill.place, entry.before.name) is None
                return skill.content == entry.after and (entry.before.name == skill.content.name or is_free)
            case "shown":
                return skill.visibility is entry.after
            case "tagged":
                return skill.tags.get(entry.key) == entry.after
            case _:
                return skill.yanked[entry.key] == entry.after

    def take_back(self, entry):
        skill, before, after = entry.skill, entry.before, entry.after
        match entry.kind:
            case "created":
                skill.is_deleted = True
                self.note("deleted", skill, is_undo=True)
            case "deleted":
                skill.is_deleted = False
                self.note("created", skill, after=(skill.content, skill.visibility), is_undo=True)
            case "updated":
                skill.content = before
                self.note("updated", skill, after, before, is_undo=True)
            case "shown":
                skill.visibility = before
                self.note("shown", skill, after, before, is_undo=True)
            case "tagged":
                self.point(skill, entry.key, before)
                self.note("tagged", skill, after, before, entry.key, is_undo=True)
            case _:
                reason = f"undone (entry {entry.number})" if entry.kind == "published" else before
                skill.yanked[entry.key] = reason
                self.note("restored" if reason is None else "yanked", skill, after, reason, entry.key, is_undo=True)

    @invariant()
    def they_agree(self):
        if not hasattr(self, "who"):
            return
        assert self.run(self.yard.database.number()) == self.number
        if self.agreed != self.number:
            self.look()

    def teardown(self):
        """What changed without a number was not looked for; whatever it was, it shows now."""
        if hasattr(self, "who"):
            self.look()

    def look(self):
        for who in ROLES:
            self.run(self.agree_for(who))
        self.agreed = self.number

    async def agree_for(self, who):
        seen = [skill for skill in self.skills if self.may(who, skill, Role.VIEWER) is None]
        page = await self.yard.registry.shelf.page(self.who[who], limit=200)
        assert page.next is None
        found = [
            (skill.id, skill.name, skill.namespace, skill.digest, skill.visibility, skill.latest)
            for skill in page.skills
        ]
        assert sorted(found) == sorted(
            (skill.id, skill.content.name, skill.place, skill.content.digest, skill.visibility, skill.latest)
            for skill in seen
        )
        assert [row[1] for row in found] == sorted(row[1] for row in found)
        for skill in seen if who == "pub" else ():
            stored = await self.yard.registry.shelf.bundle(await self.yard.registry.shelf.get(self.who[who], skill.id))
            assert stored == skill.content.bundle
            versions = await self.yard.registry.versions.all(self.who[who], skill.id)
            assert {one.version: (one.digest, one.yank_reason) for one in versions} == {
                version: (digest, skill.yanked[version]) for version, digest in skill.versions.items()
            }
            assert {tag: one.version for one in versions for tag in one.tags} == skill.tags


def test_the_registry_does_what_its_model_does(tmp_path):
    soak = bool(os.environ.get("SKILLYARD_SOAK"))
    profile = settings(
        max_examples=500 if soak else 6,
        stateful_step_count=80 if soak else 30,
        phases=[Phase.generate, Phase.shrink],
    )
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        yard = runner.run(stack.enter_async_context(open_yard(Settings(home=tmp_path))))
        try:
            run_state_machine_as_test(lambda: Machine(runner, yard), settings=profile)
        finally:
            runner.run(stack.aclose())
