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
    Entry("usage", "session_logs:usage", "Which skills agents really used here, and which never."),
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

SANDBOX_CARGOS: Final = (
    Entry("ls", "sandbox_cargos:list_cargos", "Your cargos."),
    Entry("create", "sandbox_cargos:create", "Make a cargo: a workspace for sandboxes to come."),
    Entry("rm", "sandbox_cargos:remove", "Take cargos away, with their files."),
)

_LIFE: Final = "Life"
_RUNS: Final = "Running things"

SANDBOX: Final = (
    Entry("create", "sandbox:create", "Make a sandbox.", _LIFE),
    Entry("ls", "sandbox:list_sandboxes", "Your sandboxes.", _LIFE),
    Entry("show", "sandbox:show", "What is known of a sandbox.", _LIFE),
    Entry("stop", "sandbox:stop", "End what runs in sandboxes; their files stay.", _LIFE),
    Entry("rm", "sandbox:remove", "Take sandboxes away, with their files.", _LIFE),
    Entry("extend", "sandbox_life:extend", "Let a sandbox live longer.", _LIFE),
    Entry("keepalive", "sandbox_life:keepalive", "Let the idle time of sandboxes begin anew.", _LIFE),
    Entry("snapshot", "sandbox_life:snapshot", "Copy the files of a sandbox into a cargo of their own.", _LIFE),
    Entry("stats", "sandbox_life:stats", "What a sandbox uses now.", _LIFE),
    Entry("cargos", SANDBOX_CARGOS, "Files that outlive the sandboxes they are used in.", _LIFE),
    Entry("exec", "sandbox_runs:exec_command", "Run a command and see its output as it comes.", _RUNS),
    Entry("python", "sandbox_runs:python", "Run Python that remembers.", _RUNS),
    Entry("browser", "sandbox_browser:browser", "Take steps in the browser of a sandbox.", _RUNS),
    Entry("files", SANDBOX_FILES, "The files of a sandbox.", _RUNS),
    Entry("history", "sandbox_history:history", "What was run in a sandbox.", _RUNS),
)

BENCHMARKS: Final = (
    Entry("list", "release_benchmarks:list_benchmarks", "The benchmarks there are."),
    Entry("show", "release_benchmarks:show_benchmark", "The cases of a benchmark."),
    Entry("save", "release_benchmarks:save_benchmark", "Keep a benchmark."),
    Entry("delete", "release_benchmarks:delete_benchmark", "Take a benchmark away."),
)

PAYLOAD: Final = (
    Entry("put", "release_benchmarks:put_payload", "Keep a payload."),
    Entry("get", "release_benchmarks:get_payload", "Read a payload."),
)

_EVIDENCE: Final = "What was done"
_CANDIDATES: Final = "Candidates"
_RELEASES: Final = "Releases"

RELEASE: Final = (
    Entry("executions", "release_evidence:executions", "What was run, in all your sandboxes.", _EVIDENCE),
    Entry("import", "session_logs:import_sessions", "Read in what agents ran, from the logs they keep.", _EVIDENCE),
    Entry("forget", "session_forget:forget", "Take what was read in away again.", _EVIDENCE),
    Entry("mine", "release_evidence:mine", "Look for know-how in what was run.", _EVIDENCE),
    Entry("gaps", "release_evidence:gaps", "What is done by hand, or fails, again and again.", _EVIDENCE),
    Entry("candidates", "release:candidates", "Know-how that may become a skill.", _CANDIDATES),
    Entry("show", "release_show:show", "Read a candidate, a release or an evaluation.", _CANDIDATES),
    Entry("create", "release:create", "Make a candidate of chosen executions.", _CANDIDATES),
    Entry("replay", "release_replay:replay", "Replay a candidate, each time in a fresh sandbox.", _CANDIDATES),
    Entry("evaluate", "release_replay:evaluate", "Record a verdict from elsewhere.", _CANDIDATES),
    Entry("benchmarks", BENCHMARKS, "Values and checks to replay candidates with.", _CANDIDATES),
    Entry("payload", PAYLOAD, "The steps that candidates are made of.", _CANDIDATES),
    Entry("promote", "release_stages:promote", "Release a candidate whose last evaluation passed.", _RELEASES),
    Entry("list", "release_stages:list_releases", "The learned skills in use.", _RELEASES),
    Entry("run", "release_replay:run", "Run a released skill with your values.", _RELEASES),
    Entry("health", "release_health:health", "How a release does, beside the stable one.", _RELEASES),
    Entry("diff", "release_stages:diff", "What differs between two releases.", _RELEASES),
    Entry("rollback", "release_stages:rollback", "Take a release back.", _RELEASES),
    Entry("kill", "release_stages:kill", "Switch a release or a skill off at once.", _RELEASES),
    Entry("retire", "release_stages:retire", "What should be retired, and retiring it.", _RELEASES),
    Entry("delete", "release:delete", "Take a candidate or a release away.", _RELEASES),
    Entry("search", "release_health:search", "Search learned skills.", _RELEASES),
    Entry("insights", "release_health:insights", "How all learned skills do.", _RELEASES),
)

PROPOSALS: Final = (
    Entry("list", "learn_proposals:list_proposals", "The changes that wait for someone's word."),
    Entry("show", "learn_proposals:show_proposal", "Read a proposal: what it would change, and why."),
    Entry("approve", "learn_proposals:approve", "Make a proposed change."),
    Entry("reject", "learn_proposals:reject", "Turn a proposed change down."),
)

MEMORY: Final = (
    Entry("list", "learn_memory:list_memories", "What is remembered."),
    Entry("recall", "learn_memory:recall", "What is remembered about something."),
    Entry("add", "learn_memory:add", "Have something remembered."),
    Entry("change", "learn_memory:change", "Change what is remembered."),
    Entry("forget", "learn_memory:forget", "Forget something; undo brings it back."),
    Entry("judge", "learn_memory:judge", "Count that a memory helped, or did harm."),
)

RULES: Final = (
    Entry("list", "learn_rules:list_rules", "The decision rules there are."),
    Entry("show", "learn_rules:show_rule", "Read a decision rule as a table."),
    Entry("evaluate", "learn_rules:evaluate", "Decide a case."),
    Entry("check", "learn_rule_changes:check", "Look a decision table over without keeping it."),
    Entry("add", "learn_rule_changes:add", "Add a decision rule."),
    Entry("change", "learn_rule_changes:change", "Change a decision rule."),
    Entry("delete", "learn_rule_changes:delete", "Take a decision rule away; undo brings it back."),
    Entry("cases", "learn_rules:cases", "The cases that a rule decided."),
    Entry("pin", "learn_rules:pin", "Keep a case as an example that must hold."),
    Entry("versions", "learn_rules:versions", "The versions of a rule, the newest first."),
    Entry("export", "learn_rules:export", "Write a rule into one file, as JSON or as DMN XML."),
)

SOURCES: Final = (
    Entry("list", "learn_sources:list_sources", "Where feedback is polled from."),
    Entry("add", "learn_sources:add", "Have feedback polled from an address or a table."),
    Entry("poll", "learn_sources:poll", "Look for new feedback there now."),
    Entry("switch", "learn_sources:switch", "Switch a source on or off."),
    Entry("remove", "learn_sources:remove", "Look there no more; the feedback that came from it stays."),
    Entry("dead", "learn_sources:dead", "What came from a source and is no feedback."),
)

_FEEDBACK: Final = "Feedback"
_LEARNED: Final = "What is learned"

LEARN: Final = (
    Entry("feedback", "learn:feedback", "Give feedback, one piece or a file.", _FEEDBACK),
    Entry("list", "learn:list_feedback", "Feedback, where it stands, and how much stands where.", _FEEDBACK),
    Entry("show", "learn_show:show", "Read feedback, and what came of it.", _FEEDBACK),
    Entry("watch", "learn_watch:watch", "See what is learned, until nothing is worked on.", _FEEDBACK),
    Entry("retry", "learn:retry", "Learn from feedback again, from where that stopped.", _FEEDBACK),
    Entry("sources", SOURCES, "Where feedback is polled from.", _FEEDBACK, default="list"),
    Entry("proposals", PROPOSALS, "Changes that wait for someone's word.", _LEARNED, default="list"),
    Entry("undo", "learn:undo", "Take back all that a lesson changed.", _LEARNED),
    Entry("lock", "learn_locks:lock", "Lock a skill against learning.", _LEARNED),
    Entry("unlock", "learn_locks:unlock", "Unlock a skill.", _LEARNED),
    Entry("memory", MEMORY, "What agents remember.", _LEARNED, default="list"),
    Entry("rules", RULES, "Decision rules: tables that decide.", _LEARNED, default="list"),
)

MCP: Final = (
    Entry("serve", "mcp:serve", "Serve skills to a client that starts this, over stdin and stdout."),
    Entry("install", "mcp_install:install", "Put this server into an agent's list of MCP servers."),
    Entry("uninstall", "mcp_install:uninstall", "Take this server out of an agent's list again."),
    Entry("clients", "mcp_install:clients", "The agents there are, and which of them have this server."),
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
    Entry("demo", "demo:demo", "See it all work, on a sample: from a messy home to a skill that was learned.", _DAILY),
    Entry("doctor", "doctor:doctor", "Check this machine and the set-up.", _DAILY),
    Entry("skill", SKILL, "Look into single skills and keep them in order.", _GROUPS),
    Entry("registry", REGISTRY, "Skills kept in a yard: versions, history, people.", _GROUPS),
    Entry("sandbox", SANDBOX, "Isolated places to run things in.", _GROUPS),
    Entry("release", RELEASE, "What was done, turned into skills that earn their way in.", _GROUPS),
    Entry("learn", LEARN, "Feedback, and what agents learn from it.", _GROUPS),
    Entry("mcp", MCP, "Skills, and the rest of a yard, for every MCP client.", _GROUPS),
    Entry("env", ENV, "Environments: sets of skills to switch between.", _GROUPS),
    Entry("config", CONFIG, "Settings.", _GROUPS),
)
