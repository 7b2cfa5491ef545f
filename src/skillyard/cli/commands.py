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
    Entry("similar", "similar:similar", "Copies and variants of skills, and different skills of one name."),
    Entry("catalog", "catalog:catalog", "The skills as a text for a prompt, within a budget."),
    Entry("triggers", "triggers:triggers", "Which skills your prompts bring up, and which not."),
    Entry("enable", "switches:enable", "Let agents see a skill again."),
    Entry("disable", "switches:disable", "Hide a skill from agents without moving it."),
    Entry("restore", "trash:restore", "Put a removed or replaced skill back."),
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

AGENTS: Final = (
    Entry("list", "registry_agents:list_agents", "The agents there are."),
    Entry("create", "registry_agents:create_agent", "Add an agent."),
    Entry("delete", "registry_agents:delete_agent", "Take an agent away."),
    Entry("skills", "registry_agents:agent_skills", "The skills an agent gets, and why."),
    Entry("attach", "registry_agents:attach", "Attach a skill to an agent, or to all."),
    Entry("detach", "registry_agents:detach", "Take a skill from an agent, or from all."),
)

TOKENS: Final = (
    Entry("list", "registry_people:list_tokens", "Your tokens, without their secrets."),
    Entry("create", "registry_people:create_token", "Make a token."),
    Entry("revoke", "registry_people:revoke_token", "End a token at once, and those that were made with it."),
)

NAMESPACES: Final = (
    Entry("list", "registry_people:list_namespaces", "The namespaces you are in, and your role."),
    Entry("create", "registry_people:create_namespace", "Make a team."),
    Entry("members", "registry_people:members", "Who is in a namespace."),
    Entry("member", "registry_people:set_member", "Give a person a role in a team."),
    Entry("policy", "registry_people:policy", "What a namespace demands of what is published."),
)

PEOPLE: Final = (
    Entry("list", "registry_people:list_people", "The people of the tenant."),
    Entry("create", "registry_people:create_person", "Add a person to the tenant."),
    Entry("disable", "registry_people:disable_person", "Shut a person out; their skills stay."),
    Entry("enable", "registry_people:enable_person", "Let a person in again."),
)

_SKILLS: Final = "Skills"
_VERSIONS: Final = "Versions"
_STORY: Final = "What happened"
_WHO: Final = "Who may"

REGISTRY: Final = (
    Entry("list", "registry:list_skills", "The skills that you can see in the yard.", _SKILLS),
    Entry("show", "registry:show", "Read a skill, or the tree of its files.", _SKILLS),
    Entry("pull", "registry:pull", "Copy skills, and what they require, into a folder.", _SKILLS),
    Entry("import", "publish:import_skills", "Put skills into the yard as working copies.", _SKILLS),
    Entry("export", "registry:export", "Write a skill into one .skill file.", _SKILLS),
    Entry("similar", "registry_similar:similar", "Copies and variants of skills in the yard.", _SKILLS),
    Entry("visibility", "registry:visibility", "Change who may see a skill.", _SKILLS),
    Entry("delete", "registry:delete", "Take a skill away; undo brings it back.", _SKILLS),
    Entry("versions", "registry_versions:versions", "The versions of a skill.", _VERSIONS),
    Entry("release", "registry_versions:release", "Publish the working copy that the yard has.", _VERSIONS),
    Entry("diff", "registry_versions:diff", "What differs between two versions.", _VERSIONS),
    Entry("tags", "registry_versions:tags", "The tags of a skill, and setting them.", _VERSIONS),
    Entry("yank", "registry_versions:yank", "Ship a version no more.", _VERSIONS),
    Entry("restore", "registry_versions:restore", "Take a yank back.", _VERSIONS),
    Entry("approve", "registry_versions:approve", "Let a version that waits be shipped.", _VERSIONS),
    Entry("reject", "registry_versions:reject", "Turn down a version that waits.", _VERSIONS),
    Entry("history", "registry_history:history", "Every change: who, when, why.", _STORY),
    Entry("undo", "registry_history:undo", "Take one change back.", _STORY),
    Entry("graph", "registry_history:graph", "Which skill refers to which, and what is broken.", _STORY),
    Entry("usage", "registry_history:usage", "How often skills were used, and how it went.", _STORY),
    Entry("whoami", "registry_people:whoami", "Who you are in the yard.", _WHO),
    Entry("tokens", TOKENS, "Keys to the API.", _WHO),
    Entry("namespaces", NAMESPACES, "Teams, their members and their rules.", _WHO),
    Entry("people", PEOPLE, "Who there is.", _WHO),
    Entry("agents", AGENTS, "Agents, and the skills attached to them.", _WHO),
    Entry("apply", "registry_agents:apply", "Make agents and attachments as a file says.", _WHO),
)

SANDBOX_FILES: Final = (
    Entry("ls", "sandbox_files:list_folder", "What is in a folder of a sandbox."),
    Entry("read", "sandbox_files:read", "Print a text file."),
    Entry("write", "sandbox_files:write", "Write a text, or what comes on stdin, into a file."),
    Entry("rm", "sandbox_files:remove", "Delete files, and folders with all that is in them."),
    Entry("upload", "sandbox_files:upload", "Copy files of this machine into a sandbox."),
    Entry("download", "sandbox_files:download", "Copy a file out of a sandbox."),
)

_LIFE: Final = "Life"
_RUNS: Final = "Running things"

SANDBOX: Final = (
    Entry("create", "sandbox:create", "Make a sandbox.", _LIFE),
    Entry("ls", "sandbox:list_sandboxes", "Your sandboxes.", _LIFE),
    Entry("show", "sandbox:show", "What is known of a sandbox.", _LIFE),
    Entry("stop", "sandbox:stop", "End what runs in sandboxes; their files stay.", _LIFE),
    Entry("rm", "sandbox:remove", "Take sandboxes away, with their files.", _LIFE),
    Entry("exec", "sandbox_runs:exec_command", "Run a command and see its output as it comes.", _RUNS),
    Entry("python", "sandbox_runs:python", "Run Python that remembers.", _RUNS),
    Entry("browser", "sandbox_browser:browser", "Take steps in the browser of a sandbox.", _RUNS),
    Entry("files", SANDBOX_FILES, "The files of a sandbox.", _RUNS),
    Entry("history", "sandbox_history:history", "What was run in a sandbox.", _RUNS),
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
    Entry("publish", "publish:publish", "Publish skills as versions that never change.", _DAILY),
    Entry("serve", "serve:serve", "Serve the registry, and the skills in reach, over HTTP.", _DAILY),
    Entry("demo", "demo:demo", "See a messy home audited and fixed.", _DAILY),
    Entry("doctor", "doctor:doctor", "Check this machine and the set-up.", _DAILY),
    Entry("skill", SKILL, "Look into single skills and keep them in order.", _GROUPS),
    Entry("registry", REGISTRY, "Skills kept in a yard: versions, history, people.", _GROUPS),
    Entry("sandbox", SANDBOX, "Isolated places to run things in.", _GROUPS),
    Entry("env", ENV, "Environments: sets of skills to switch between.", _GROUPS),
    Entry("config", CONFIG, "Settings.", _GROUPS),
)
