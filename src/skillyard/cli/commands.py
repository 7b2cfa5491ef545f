"""Every command there is: its name, where it lives and one line of help."""

from typing import Final

from skillyard.cli.frame import Entry

_DAILY: Final = "Every day"
_GROUPS: Final = "Groups"

SKILL: Final = (
    Entry("diff", "bundles:diff", "Show what differs between two skills, file by file."),
    Entry("scan", "scan:scan", "Look for anything in skills that could do harm."),
    Entry("unpack", "bundles:unpack", "Unpack a .skill, .zip or .tar.gz into a folder."),
    Entry("references", "scan:references", "List what a skill points at, and what is broken."),
    Entry("similar", "similar:similar", "Find copies and variants of skills, and namesakes."),
    Entry("catalog", "catalog:catalog", "Print the skills as a text for a prompt, within a budget."),
    Entry("triggers", "triggers:triggers", "Check which skills your prompts bring up."),
    Entry("usage", "session_logs:usage", "Show which skills agents really used here, and which never."),
    Entry("enable", "switches:enable", "Let agents see skills again."),
    Entry("disable", "switches:disable", "Hide skills from agents without moving them."),
    Entry("restore", "trash:restore", "Put a removed or replaced skill back."),
    Entry("adopt", "install:adopt", "Start tracking skills that are already installed."),
    Entry("check", "install:check", "Check which installed skills were edited or are missing."),
)

ENV: Final = (
    Entry("list", "env:list_environments", "List the environments."),
    Entry("create", "env:create", "Create an empty environment."),
    Entry("show", "env:show", "Show an environment's skills, agents and model."),
    Entry("use", "env:use", "Make an environment the active one."),
    Entry("none", "env:none", "Use no environment."),
    Entry("path", "env:path", "Print where an environment's files are."),
)

CONFIG: Final = (
    Entry("show", "config:show", "Show all settings, and where each comes from."),
    Entry("get", "config:get", "Print the value of one setting."),
    Entry("set", "config:set_value", "Write one setting to a file."),
    Entry("unset", "config:unset", "Remove one setting from a file."),
    Entry("path", "config:path", "Print where settings and data are kept."),
)

AGENTS: Final = (
    Entry("list", "registry_agents:list_agents", "List the agents."),
    Entry("create", "registry_agents:create_agent", "Add an agent."),
    Entry("delete", "registry_agents:delete_agent", "Delete an agent."),
    Entry("skills", "registry_agents:agent_skills", "List the skills an agent gets, and why."),
    Entry("attach", "registry_agents:attach", "Attach a skill to an agent, or to all."),
    Entry("detach", "registry_agents:detach", "Detach a skill from an agent, or from all."),
)

TOKENS: Final = (
    Entry("list", "registry_people:list_tokens", "List your tokens, without their secrets."),
    Entry("create", "registry_people:create_token", "Create a token."),
    Entry("revoke", "registry_people:revoke_token", "Revoke a token, and those that were created with it."),
)

NAMESPACES: Final = (
    Entry("list", "registry_people:list_namespaces", "List the namespaces you are in, and your role."),
    Entry("create", "registry_people:create_namespace", "Create a team."),
    Entry("members", "registry_people:members", "List who is in a namespace."),
    Entry("member", "registry_people:set_member", "Give a person a role in a team."),
    Entry("policy", "registry_people:policy", "Show or set what a namespace requires of new versions."),
)

PEOPLE: Final = (
    Entry("list", "registry_people:list_people", "List the people of the tenant."),
    Entry("create", "registry_people:create_person", "Add a person to the tenant."),
    Entry(
        "disable",
        "registry_people:disable_person",
        "Disable a person: their tokens and sessions no longer work. Their skills stay.",
    ),
    Entry("enable", "registry_people:enable_person", "Enable a person who was disabled."),
)

_SKILLS: Final = "Skills"
_VERSIONS: Final = "Versions"
_STORY: Final = "What happened"
_WHO: Final = "Who may"

REGISTRY: Final = (
    Entry("list", "registry:list_skills", "List the skills that you can see in the yard.", _SKILLS),
    Entry("show", "registry:show", "Read a skill, or the tree of its files.", _SKILLS),
    Entry("pull", "registry:pull", "Copy skills, and what they require, into a folder.", _SKILLS),
    Entry("import", "publish:import_skills", "Store skills in the yard as working copies.", _SKILLS),
    Entry("export", "registry:export", "Write a skill into one .skill file.", _SKILLS),
    Entry("similar", "registry_similar:similar", "Find copies and variants of skills in the yard.", _SKILLS),
    Entry("visibility", "registry:visibility", "Change who may see a skill.", _SKILLS),
    Entry("delete", "registry:delete", "Delete a skill; undo brings it back.", _SKILLS),
    Entry("versions", "registry_versions:versions", "List the versions of a skill.", _VERSIONS),
    Entry("release", "registry_versions:release", "Publish the yard's working copy as a version.", _VERSIONS),
    Entry("diff", "registry_versions:diff", "Show what differs between two versions.", _VERSIONS),
    Entry("tags", "registry_versions:tags", "List, set or delete the tags of a skill.", _VERSIONS),
    Entry("yank", "registry_versions:yank", "Stop shipping a version.", _VERSIONS),
    Entry("restore", "registry_versions:restore", "Ship a yanked version again.", _VERSIONS),
    Entry("approve", "registry_versions:approve", "Approve a version that waits for review.", _VERSIONS),
    Entry("reject", "registry_versions:reject", "Reject a version that waits for review.", _VERSIONS),
    Entry("history", "registry_history:history", "List every change: who, when, why.", _STORY),
    Entry("undo", "registry_history:undo", "Undo one change.", _STORY),
    Entry("graph", "registry_history:graph", "Show which skill refers to which, and what is broken.", _STORY),
    Entry("usage", "registry_history:usage", "Show how often skills were used, and how it went.", _STORY),
    Entry("whoami", "registry_people:whoami", "Show who you are in the yard.", _WHO),
    Entry("tokens", TOKENS, "Keys to the API.", _WHO),
    Entry("namespaces", NAMESPACES, "Teams, their members and their rules.", _WHO),
    Entry("people", PEOPLE, "The people of the tenant.", _WHO),
    Entry("policy", "registry_people:tenant_policy", "Show or set what the people of the tenant may do.", _WHO),
    Entry("agents", AGENTS, "Agents, and the skills attached to them.", _WHO),
    Entry("apply", "registry_agents:apply", "Create agents and attachments from a file.", _WHO),
)

SANDBOX_FILES: Final = (
    Entry("ls", "sandbox_files:list_folder", "List a folder of a sandbox."),
    Entry("read", "sandbox_files:read", "Print a text file."),
    Entry("write", "sandbox_files:write", "Write a text, or stdin, into a file."),
    Entry("rm", "sandbox_files:remove", "Delete files, and folders with everything in them."),
    Entry("upload", "sandbox_files:upload", "Copy files from this machine into a sandbox."),
    Entry("download", "sandbox_files:download", "Copy a file out of a sandbox."),
)

SANDBOX_CARGOS: Final = (
    Entry("ls", "sandbox_cargos:list_cargos", "List your cargos."),
    Entry("create", "sandbox_cargos:create", "Create a cargo: a workspace for future sandboxes."),
    Entry("rm", "sandbox_cargos:remove", "Delete cargos, with their files."),
)

_LIFE: Final = "Life"
_RUNS: Final = "Running things"

SANDBOX: Final = (
    Entry("create", "sandbox:create", "Create a sandbox.", _LIFE),
    Entry("ls", "sandbox:list_sandboxes", "List your sandboxes.", _LIFE),
    Entry("show", "sandbox:show", "Show a sandbox.", _LIFE),
    Entry("stop", "sandbox:stop", "Stop sandboxes; their files stay.", _LIFE),
    Entry("rm", "sandbox:remove", "Delete sandboxes, with their files.", _LIFE),
    Entry("extend", "sandbox_life:extend", "Extend the life of a sandbox.", _LIFE),
    Entry("keepalive", "sandbox_life:keepalive", "Restart the idle time of sandboxes.", _LIFE),
    Entry("snapshot", "sandbox_life:snapshot", "Copy the files of a sandbox into a cargo of their own.", _LIFE),
    Entry("stats", "sandbox_life:stats", "Show what a sandbox uses now.", _LIFE),
    Entry("cargos", SANDBOX_CARGOS, "Files that outlive the sandboxes they are used in.", _LIFE),
    Entry("exec", "sandbox_runs:exec_command", "Run a command and see its output as it comes.", _RUNS),
    Entry("python", "sandbox_runs:python", "Run Python in a session that keeps its state.", _RUNS),
    Entry("browser", "sandbox_browser:browser", "Take steps in the browser of a sandbox.", _RUNS),
    Entry("files", SANDBOX_FILES, "The files of a sandbox.", _RUNS),
    Entry("history", "sandbox_history:history", "List what was run in a sandbox.", _RUNS),
)

BENCHMARKS: Final = (
    Entry("list", "release_benchmarks:list_benchmarks", "List the benchmarks."),
    Entry("show", "release_benchmarks:show_benchmark", "Show the cases of a benchmark."),
    Entry("save", "release_benchmarks:save_benchmark", "Save a benchmark."),
    Entry("delete", "release_benchmarks:delete_benchmark", "Delete a benchmark."),
)

PAYLOAD: Final = (
    Entry("put", "release_benchmarks:put_payload", "Store a payload."),
    Entry("get", "release_benchmarks:get_payload", "Read a payload."),
)

_EVIDENCE: Final = "What was done"
_CANDIDATES: Final = "Candidates"
_RELEASES: Final = "Releases"

RELEASE: Final = (
    Entry("executions", "release_evidence:executions", "List what was run in all your sandboxes.", _EVIDENCE),
    Entry("import", "session_logs:import_sessions", "Import what agents ran, from the logs they keep.", _EVIDENCE),
    Entry("forget", "session_forget:forget", "Delete what was imported.", _EVIDENCE),
    Entry("mine", "release_evidence:mine", "Find candidates in what was run.", _EVIDENCE),
    Entry("gaps", "release_evidence:gaps", "List what is done by hand, or fails, repeatedly.", _EVIDENCE),
    Entry("candidates", "release:candidates", "List know-how that may become a skill.", _CANDIDATES),
    Entry("show", "release_show:show", "Read a candidate, a release or an evaluation.", _CANDIDATES),
    Entry("create", "release:create", "Make a candidate from chosen executions.", _CANDIDATES),
    Entry("replay", "release_replay:replay", "Replay a candidate, each time in a fresh sandbox.", _CANDIDATES),
    Entry("evaluate", "release_replay:evaluate", "Record a verdict from elsewhere.", _CANDIDATES),
    Entry("benchmarks", BENCHMARKS, "Values and checks to replay candidates with.", _CANDIDATES),
    Entry("payload", PAYLOAD, "The steps that candidates are made of.", _CANDIDATES),
    Entry("promote", "release_stages:promote", "Release a candidate whose last evaluation passed.", _RELEASES),
    Entry("list", "release_stages:list_releases", "List the learned skills in use.", _RELEASES),
    Entry("run", "release_replay:run", "Run a released skill with your values.", _RELEASES),
    Entry("health", "release_health:health", "Show how a release performs against the stable one.", _RELEASES),
    Entry("diff", "release_stages:diff", "Show what differs between two releases.", _RELEASES),
    Entry("rollback", "release_stages:rollback", "Roll back a release.", _RELEASES),
    Entry("kill", "release_stages:kill", "Switch off a release or a skill at once.", _RELEASES),
    Entry("retire", "release_stages:retire", "List what should be retired, or retire a release.", _RELEASES),
    Entry("delete", "release:delete", "Delete a candidate or a release.", _RELEASES),
    Entry("search", "release_health:search", "Search learned skills.", _RELEASES),
    Entry("insights", "release_health:insights", "Show how all learned skills perform.", _RELEASES),
)

PROPOSALS: Final = (
    Entry("list", "learn_proposals:list_proposals", "List the changes that wait for approval."),
    Entry("show", "learn_proposals:show_proposal", "Read a proposal: what it would change, and why."),
    Entry("approve", "learn_proposals:approve", "Approve a proposed change and carry it out."),
    Entry("reject", "learn_proposals:reject", "Reject a proposed change."),
)

MEMORY: Final = (
    Entry("list", "learn_memory:list_memories", "List memories."),
    Entry("recall", "learn_memory:recall", "Find memories that fit a question."),
    Entry("add", "learn_memory:add", "Add a memory."),
    Entry("change", "learn_memory:change", "Change a memory."),
    Entry("forget", "learn_memory:forget", "Forget a memory; undo brings it back."),
    Entry("judge", "learn_memory:judge", "Count that a memory helped, or did harm."),
)

RULES: Final = (
    Entry("list", "learn_rules:list_rules", "List the decision rules."),
    Entry("show", "learn_rules:show_rule", "Read a decision rule as a table."),
    Entry("evaluate", "learn_rules:evaluate", "Decide a case."),
    Entry("check", "learn_rule_changes:check", "Check a decision table without storing it."),
    Entry("add", "learn_rule_changes:add", "Add a decision rule."),
    Entry("change", "learn_rule_changes:change", "Change a decision rule."),
    Entry("delete", "learn_rule_changes:delete", "Delete a decision rule; undo brings it back."),
    Entry("cases", "learn_rules:cases", "List the cases that a rule decided."),
    Entry("pin", "learn_rules:pin", "Keep a case as an example that must hold."),
    Entry("versions", "learn_rules:versions", "List the versions of a rule, newest first."),
    Entry("export", "learn_rules:export", "Write a rule into one file, as JSON or as DMN XML."),
)

SOURCES: Final = (
    Entry("list", "learn_sources:list_sources", "List where feedback is polled from."),
    Entry("add", "learn_sources:add", "Poll feedback from an address or a table."),
    Entry("poll", "learn_sources:poll", "Poll a source now."),
    Entry("switch", "learn_sources:switch", "Switch a source on or off."),
    Entry("remove", "learn_sources:remove", "Remove a source; the feedback that came from it stays."),
    Entry("dead", "learn_sources:dead", "List items from a source that could not be used."),
)

_FEEDBACK: Final = "Feedback"
_LEARNED: Final = "What is learned"

LEARN: Final = (
    Entry("feedback", "learn:feedback", "Give feedback, one piece or a file.", _FEEDBACK),
    Entry("list", "learn:list_feedback", "List feedback by stage, with counts.", _FEEDBACK),
    Entry("show", "learn_show:show", "Read feedback, and what came of it.", _FEEDBACK),
    Entry("watch", "learn_watch:watch", "Follow learning until all work is done.", _FEEDBACK),
    Entry("retry", "learn:retry", "Learn from feedback again, from where it stopped.", _FEEDBACK),
    Entry("sources", SOURCES, "Where feedback is polled from.", _FEEDBACK, default="list"),
    Entry("proposals", PROPOSALS, "Changes that wait for approval.", _LEARNED, default="list"),
    Entry("undo", "learn:undo", "Undo everything that a lesson changed.", _LEARNED),
    Entry("lock", "learn_locks:lock", "Lock a skill against learning.", _LEARNED),
    Entry("unlock", "learn_locks:unlock", "Unlock a skill.", _LEARNED),
    Entry("memory", MEMORY, "What agents remember.", _LEARNED, default="list"),
    Entry("rules", RULES, "Decision rules: tables that decide.", _LEARNED, default="list"),
)

MCP: Final = (
    Entry("serve", "mcp:serve", "Serve skills to a client that starts this, over stdin and stdout."),
    Entry("install", "mcp_install:install", "Add this server to an agent's list of MCP servers."),
    Entry("uninstall", "mcp_install:uninstall", "Remove this server from an agent's list."),
    Entry("test", "mcp_trial:check", "See whether an agent really gets the tools of this server."),
    Entry("clients", "mcp_install:clients", "List agents, and which of them have this server."),
)

COMMANDS: Final = (
    Entry("audit", "audit:audit", "Show what each agent really sees, and what is wrong.", _DAILY),
    Entry("init", "create:init", "Start a new skill.", _DAILY),
    Entry("validate", "validate:validate", "Check skills against the specification and what agents document.", _DAILY),
    Entry("pack", "create:pack", "Pack a skill into one .skill file.", _DAILY),
    Entry("list", "library:list_skills", "List the skills in reach from here.", _DAILY),
    Entry("find", "library:find", "Search skills by what they do.", _DAILY),
    Entry("show", "show:show", "Read one skill.", _DAILY),
    Entry("add", "install:add", "Install skills from a folder, an archive, git or a URL.", _DAILY),
    Entry("remove", "install:remove", "Remove installed skills.", _DAILY),
    Entry("sync", "install:sync", "Install exactly what skillyard.lock says.", _DAILY),
    Entry("update", "install:update", "Bring installed skills up to date, keeping your edits.", _DAILY),
    Entry("publish", "publish:publish", "Publish skills as versions that never change.", _DAILY),
    Entry("serve", "serve:serve", "Serve pages, API and MCP over HTTP.", _DAILY),
    Entry("demo", "demo:demo", "See it all work on a sample: from a messy home to learned skills.", _DAILY),
    Entry("doctor", "doctor:doctor", "Check this machine and the setup.", _DAILY),
    Entry("skill", SKILL, "Inspect single skills and keep them in order.", _GROUPS),
    Entry("registry", REGISTRY, "Skills kept in a yard: versions, history, people.", _GROUPS),
    Entry("sandbox", SANDBOX, "Isolated places to run things in.", _GROUPS),
    Entry("release", RELEASE, "Skills learned from repeated work: mine, replay, release.", _GROUPS),
    Entry("learn", LEARN, "Feedback, and what agents learn from it.", _GROUPS),
    Entry("mcp", MCP, "Serve skills, and the rest of a yard, to MCP clients.", _GROUPS),
    Entry("env", ENV, "Environments: sets of skills to switch between.", _GROUPS),
    Entry("config", CONFIG, "Settings.", _GROUPS),
)
