"""Every command there is: its name, where it lives and one line of help."""

from typing import Final

from skillyard.cli.frame import Entry

_DAILY: Final = "Every day"
_GROUPS: Final = "Groups"

SKILL: Final = (
    Entry("diff", "bundles:diff", "What differs between two skills, file by file."),
    Entry("scan", "scan:scan", "Look for anything in skills that could do harm."),
    Entry("unpack", "bundles:unpack", "Unpack a .skill, .zip or .tar.gz into a folder."),
    Entry("references", "scan:references", "What a skill points at, and what is broken."),
    Entry("enable", "switches:enable", "Let agents see a skill again."),
    Entry("disable", "switches:disable", "Hide a skill from agents without moving it."),
    Entry("restore", "trash:restore", "Put a removed skill back."),
    Entry("adopt", "install:adopt", "Start keeping track of skills that are there already."),
    Entry("check", "install:check", "Which installed skills are no longer as installed."),
)

ENV: Final = (
    Entry("list", "env:list_environments", "The environments there are."),
    Entry("create", "env:create", "Make an empty environment."),
    Entry("show", "env:show", "An environment's skills, agents and model."),
    Entry("use", "env:use", "Make an environment the active one."),
    Entry("none", "env:none", "Use no environment."),
    Entry("path", "env:path", "Where an environment's files are."),
)

CONFIG: Final = (
    Entry("show", "config:show", "All settings, and where each comes from."),
    Entry("get", "config:get", "The value of one setting."),
    Entry("set", "config:set_value", "Write one setting to a file."),
    Entry("unset", "config:unset", "Take one setting out of a file."),
    Entry("path", "config:path", "Where settings and data are kept."),
)

COMMANDS: Final = (
    Entry("audit", "audit:audit", "What each agent here really sees, and what is wrong.", _DAILY),
    Entry("init", "create:init", "Start a new skill.", _DAILY),
    Entry("validate", "validate:validate", "Check skills against the specification.", _DAILY),
    Entry("pack", "create:pack", "Pack a skill into one .skill file.", _DAILY),
    Entry("list", "library:list_skills", "The skills in reach from here.", _DAILY),
    Entry("find", "library:find", "Search skills by what they do.", _DAILY),
    Entry("show", "show:show", "Read one skill.", _DAILY),
    Entry("add", "install:add", "Install skills from a folder, an archive, git or a URL.", _DAILY),
    Entry("remove", "install:remove", "Remove installed skills.", _DAILY),
    Entry("update", "install:update", "Bring installed skills up to date, keeping your edits.", _DAILY),
    Entry("serve", "serve:serve", "Serve the skills in reach over HTTP on this machine.", _DAILY),
    Entry("demo", "demo:demo", "See a messy home audited and fixed.", _DAILY),
    Entry("doctor", "doctor:doctor", "Check this machine and the set-up.", _DAILY),
    Entry("skill", SKILL, "Look into single skills and keep them in order.", _GROUPS),
    Entry("env", ENV, "Environments: sets of skills to switch between.", _GROUPS),
    Entry("config", CONFIG, "Settings.", _GROUPS),
)
