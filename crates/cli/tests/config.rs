//! `regreen config`: the settings, and where they come from.

use std::os::unix::fs::symlink;

use regreen_test_support::Workspace;
use snapbox::str;

/// The user's own file, as seen from the workspace.
const USERS: &str = "user/.config/regreen/config.toml";

#[test]
fn without_any_file_the_defaults_hold() {
    Workspace::new()
        .regreen(&["config"])
        .exits(0)
        .complains("")
        .prints(str![[r#"
agent                  auto (shell)  default
agent_permissions      skip          default
agent_model            none          default
agent_args             none          default
agent_env              none          default
gate                   none          default
timeout                30m           default
verify_timeout         10m           default
idle_timeout           off           default
max_wait               6h            default
max_task_iterations    5             default
max_global_iterations  100           default
max_cost               off           default
max_tokens             off           default
max_time               off           default
max_task_cost          off           default
max_task_tokens        off           default
max_task_time          off           default
repairs                safe          default
final_check            fail          default
final_check_time       30m           default
tamper                 fail          default
preflight              fail          default
context_tokens         1000          default
include_optional       false         default
commit                 auto          default
strict                 false         default
excuse_known_failures  false         default
keep_state             false         default
diagnosis.ask          off           default
ci.push                false         default
history.record         true          default
history.recall         true          default
history.share          false         default
history.keep           365d          default
alert.failures_24h     off           default
alert.first_pass_rate  off           default
alert.timeout          off           default
alert.missing_context  off           default
alert.tool_error       off           default
alert.invalid_task     off           default
alert.partial          off           default
on_alert               none          default
prompts                built-in      default
mcp.answer             false         default
on_end                 none          default
on_question            none          default
inhibit                false         default

workspace file: regreen.toml (not found)
user file:      ~/.config/regreen/config.toml (not found)
spec:           none

"#]]);
}

const ALL_PLACES: [(&str, &str); 4] = [
    ("specs/login/tasks.md", "- [ ] 1.1 a\n"),
    (
        "specs/login/.ralph-state.json",
        r#"{"maxTaskIterations": 8, "maxGlobalIterations": 100}"#,
    ),
    (
        "regreen.toml",
        "# for everybody\ngate = 'touch ran'\ntimeout = '45m'\nmax_wait = '1h'\n",
    ),
    (
        USERS,
        "agent = 'command:touch ran'\ntimeout = '20m'\non_end = ['touch', 'ran']\n",
    ),
];

fn all_places() -> Workspace {
    let files = ALL_PLACES.into_iter();
    files.fold(Workspace::new(), |test, (path, text)| test.file(path, text))
}

#[test]
fn each_value_has_its_origin_and_nothing_is_run() {
    let test = all_places();
    test.regreen(&["config", "--max-wait", "90s", "--keep-state"])
        .exits(0)
        .complains("")
        .prints(str![[r#"
agent                  command:touch ran  ~/.config/regreen/config.toml:1
agent_permissions      skip               default
agent_model            none               default
agent_args             none               default
agent_env              none               default
gate                   touch ran          regreen.toml:2
timeout                45m                regreen.toml:3
verify_timeout         10m                default
idle_timeout           off                default
max_wait               1m30s              --max-wait
max_task_iterations    8                  the spec's state file
max_global_iterations  100                default
max_cost               off                default
max_tokens             off                default
max_time               off                default
max_task_cost          off                default
max_task_tokens        off                default
max_task_time          off                default
repairs                safe               default
final_check            fail               default
final_check_time       30m                default
tamper                 fail               default
preflight              fail               default
context_tokens         1000               default
include_optional       false              default
commit                 auto               default
strict                 false              default
excuse_known_failures  false              default
keep_state             true               --keep-state
diagnosis.ask          off                default
ci.push                false              default
history.record         true               default
history.recall         true               default
history.share          false              default
history.keep           365d               default
alert.failures_24h     off                default
alert.first_pass_rate  off                default
alert.timeout          off                default
alert.missing_context  off                default
alert.tool_error       off                default
alert.invalid_task     off                default
alert.partial          off                default
on_alert               none               default
prompts                built-in           default
mcp.answer             false              default
on_end                 ["touch","ran"]    ~/.config/regreen/config.toml:3
on_question            none               default
inhibit                false              default

workspace file: regreen.toml
user file:      ~/.config/regreen/config.toml
spec:           login

"#]]);
    assert!(!test.path("ran").exists());
}

#[test]
fn scripts_get_the_same_as_json() {
    all_places()
        .regreen(&["config", "login", "--json"])
        .exits(0)
        .complains("")
        .prints(str![[r#"
{
  "settings": {
    "agent": {
      "value": "command:touch ran",
      "origin": "user",
      "file": "[FOLDER]/user/.config/regreen/config.toml",
      "line": 1,
      "means": "command"
    },
    "agent_permissions": {
      "value": "skip",
      "origin": "default",
      "file": null,
      "line": null
    },
    "agent_model": {
      "value": null,
      "origin": "default",
      "file": null,
      "line": null
    },
    "agent_args": {
      "value": [],
      "origin": "default",
      "file": null,
      "line": null
    },
    "agent_env": {
      "value": [],
      "origin": "default",
      "file": null,
      "line": null
    },
    "gate": {
      "value": "touch ran",
      "origin": "workspace",
      "file": "[FOLDER]/regreen.toml",
      "line": 2
    },
    "timeout": {
      "value": "45m",
      "origin": "workspace",
      "file": "[FOLDER]/regreen.toml",
      "line": 3
    },
    "verify_timeout": {
      "value": "10m",
      "origin": "default",
      "file": null,
      "line": null
    },
    "idle_timeout": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "max_wait": {
      "value": "1h",
      "origin": "workspace",
      "file": "[FOLDER]/regreen.toml",
      "line": 4
    },
    "max_task_iterations": {
      "value": 8,
      "origin": "state",
      "file": null,
      "line": null
    },
    "max_global_iterations": {
      "value": 100,
      "origin": "default",
      "file": null,
      "line": null
    },
    "max_cost": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "max_tokens": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "max_time": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "max_task_cost": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "max_task_tokens": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "max_task_time": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "repairs": {
      "value": "safe",
      "origin": "default",
      "file": null,
      "line": null
    },
    "final_check": {
      "value": "fail",
      "origin": "default",
      "file": null,
      "line": null
    },
    "final_check_time": {
      "value": "30m",
      "origin": "default",
      "file": null,
      "line": null
    },
    "tamper": {
      "value": "fail",
      "origin": "default",
      "file": null,
      "line": null
    },
    "preflight": {
      "value": "fail",
      "origin": "default",
      "file": null,
      "line": null
    },
    "context_tokens": {
      "value": 1000,
      "origin": "default",
      "file": null,
      "line": null
    },
    "include_optional": {
      "value": false,
      "origin": "default",
      "file": null,
      "line": null
    },
    "commit": {
      "value": "auto",
      "origin": "default",
      "file": null,
      "line": null
    },
    "strict": {
      "value": false,
      "origin": "default",
      "file": null,
      "line": null
    },
    "excuse_known_failures": {
      "value": false,
      "origin": "default",
      "file": null,
      "line": null
    },
    "keep_state": {
      "value": false,
      "origin": "default",
      "file": null,
      "line": null
    },
    "diagnosis.ask": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "ci.push": {
      "value": false,
      "origin": "default",
      "file": null,
      "line": null
    },
    "history.record": {
      "value": true,
      "origin": "default",
      "file": null,
      "line": null
    },
    "history.recall": {
      "value": true,
      "origin": "default",
      "file": null,
      "line": null
    },
    "history.share": {
      "value": false,
      "origin": "default",
      "file": null,
      "line": null
    },
    "history.keep": {
      "value": "365d",
      "origin": "default",
      "file": null,
      "line": null
    },
    "alert.failures_24h": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "alert.first_pass_rate": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "alert.timeout": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "alert.missing_context": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "alert.tool_error": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "alert.invalid_task": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "alert.partial": {
      "value": "off",
      "origin": "default",
      "file": null,
      "line": null
    },
    "on_alert": {
      "value": null,
      "origin": "default",
      "file": null,
      "line": null
    },
    "prompts": {
      "value": null,
      "origin": "default",
      "file": null,
      "line": null
    },
    "mcp.answer": {
      "value": false,
      "origin": "default",
      "file": null,
      "line": null
    },
    "on_end": {
      "value": [
        "touch",
        "ran"
      ],
      "origin": "user",
      "file": "[FOLDER]/user/.config/regreen/config.toml",
      "line": 3
    },
    "on_question": {
      "value": null,
      "origin": "default",
      "file": null,
      "line": null
    },
    "inhibit": {
      "value": false,
      "origin": "default",
      "file": null,
      "line": null
    }
  },
  "workspace_file": {
    "path": "[FOLDER]/regreen.toml",
    "exists": true
  },
  "user_file": {
    "path": "[FOLDER]/user/.config/regreen/config.toml",
    "exists": true
  },
  "spec": "login"
}

"#]]);
}

#[test]
fn the_users_file_lies_where_xdg_says() {
    let test = Workspace::new()
        .file(USERS, "commit = 'never'\n")
        .file("xdg/regreen/config.toml", "keep_state = true\n");
    let answer = test.regreen_with(&[("XDG_CONFIG_HOME", "xdg")], &["config"]);
    answer.exits(0).prints(str![[r#"
agent                  auto (shell)  default
agent_permissions      skip          default
agent_model            none          default
agent_args             none          default
agent_env              none          default
gate                   none          default
timeout                30m           default
verify_timeout         10m           default
idle_timeout           off           default
max_wait               6h            default
max_task_iterations    5             default
max_global_iterations  100           default
max_cost               off           default
max_tokens             off           default
max_time               off           default
max_task_cost          off           default
max_task_tokens        off           default
max_task_time          off           default
repairs                safe          default
final_check            fail          default
final_check_time       30m           default
tamper                 fail          default
preflight              fail          default
context_tokens         1000          default
include_optional       false         default
commit                 auto          default
strict                 false         default
excuse_known_failures  false         default
keep_state             true          [FOLDER]/xdg/regreen/config.toml:1
diagnosis.ask          off           default
ci.push                false         default
history.record         true          default
history.recall         true          default
history.share          false         default
history.keep           365d          default
alert.failures_24h     off           default
alert.first_pass_rate  off           default
alert.timeout          off           default
alert.missing_context  off           default
alert.tool_error       off           default
alert.invalid_task     off           default
alert.partial          off           default
on_alert               none          default
prompts                built-in      default
mcp.answer             false         default
on_end                 none          default
on_question            none          default
inhibit                false         default

workspace file: regreen.toml (not found)
user file:      [FOLDER]/xdg/regreen/config.toml
spec:           none

"#]]);
}

#[test]
fn a_repository_may_not_choose_programs() {
    Workspace::new()
        .file(
            "regreen.toml",
            "agent = 'command:./evil.sh'\non_end = ['./evil.sh']\n\n[agents.claude]\nprogram = './evil.sh'\n",
        )
        .regreen(&["config"])
        .exits(2)
        .prints("")
        .complains(str![[r#"
  × a repository may not choose the program to run as the agent
   ╭─[regreen.toml:1:9]
 1 │ agent = 'command:./evil.sh'
   ·         ─────────┬─────────
   ·                  ╰── only these are allowed here: auto, claude, codex, gemini, opencode, shell
 2 │ on_end = ['./evil.sh']
   ╰────
  help: if you trust it, set `agent` in ~/.config/regreen/config.toml, or pass --agent 'command:PROGRAM ARGS'

  × a repository may not set `on_end`
   ╭─[regreen.toml:2:1]
 1 │ agent = 'command:./evil.sh'
 2 │ on_end = ['./evil.sh']
   · ───┬──
   ·    ╰── it chooses a program to run on your machine
 3 │ 
   ╰────
  help: to use it, set it in ~/.config/regreen/config.toml

  × a repository may not set `agents`
   ╭─[regreen.toml:4:2]
 3 │ 
 4 │ [agents.claude]
   ·  ───┬──
   ·     ╰── it chooses a program to run on your machine
 5 │ program = './evil.sh'
   ╰────
  help: if you trust it, set the program in ~/.config/regreen/config.toml: agent = "command:PROGRAM ARGS"

"#]]);
}

#[test]
fn mistakes_are_shown_where_they_stand() {
    Workspace::new()
        .file(
            "regreen.toml",
            "timout = '30m'\nverify_timeout = '30'\nidle_timeout = '0s'\nmax_task_iterations = 0\ncommit = 'always'\n",
        )
        .regreen(&["config"])
        .exits(2)
        .prints("")
        .complains(str![[r#"
  × unknown setting `timout`
   ╭─[regreen.toml:1:1]
 1 │ timout = '30m'
   · ───┬──
   ·    ╰── did you mean `timeout`?
 2 │ verify_timeout = '30'
   ╰────
  help: known settings: agent, gate, timeout, verify_timeout, idle_timeout, max_wait, max_task_iterations, max_global_iterations, max_cost, max_tokens, max_time, max_task_cost, max_task_tokens, max_task_time, preflight, context_tokens, include_optional, commit, keep_state, history.record, history.recall, alert.failures_24h, alert.first_pass_rate, alert.timeout, alert.missing_context, alert.tool_error, alert.invalid_task, alert.partial, prompts

  × invalid value for `verify_timeout`
   ╭─[regreen.toml:2:18]
 1 │ timout = '30m'
 2 │ verify_timeout = '30'
   ·                  ──┬─
   ·                    ╰── `30` has no unit
 3 │ idle_timeout = '0s'
   ╰────
  help: write a number with a unit: 250ms, 0.5s, 30m, 1h30m

  × invalid value for `idle_timeout`
   ╭─[regreen.toml:3:16]
 2 │ verify_timeout = '30'
 3 │ idle_timeout = '0s'
   ·                ──┬─
   ·                  ╰── `0s` is too short
 4 │ max_task_iterations = 0
   ╰────
  help: use a longer time, or leave it out for the default; `off` means no limit

  × invalid value for `max_task_iterations`
   ╭─[regreen.toml:4:23]
 3 │ idle_timeout = '0s'
 4 │ max_task_iterations = 0
   ·                       ┬
   ·                       ╰── `0` is too small
 5 │ commit = 'always'
   ╰────
  help: use at least 1, or leave it out for the default

  × invalid value for `commit`
   ╭─[regreen.toml:5:10]
 4 │ max_task_iterations = 0
 5 │ commit = 'always'
   ·          ────┬───
   ·              ╰── unknown commit mode `always`
   ╰────
  help: use "auto", "all" or "never"

"#]]);
}

#[test]
fn invalid_toml_is_shown_where_it_breaks() {
    Workspace::new()
        .file(USERS, "timeout = 30m\n")
        .regreen(&["config"])
        .exits(2)
        .prints("")
        .complains(str![[r#"
  × invalid TOML
   ╭─[~/.config/regreen/config.toml:1:11]
 1 │ timeout = 30m
   ·           ─┬─
   ·            ╰── string values must be quoted, expected literal string
   ╰────
  help: write settings like this: timeout = "30m"

"#]]);
}

#[test]
fn an_unreadable_file_is_an_error() {
    Workspace::new()
        .file("regreen.toml/x", "")
        .regreen(&["config"])
        .exits(2)
        .complains(str![[r#"
  × regreen.toml is a folder, not a file
  help: rename regreen.toml: regreen expects a file there

"#]]);
    Workspace::new()
        .file("regreen.toml", b"gate = 'caf\xe9'")
        .regreen(&["config"])
        .exits(2)
        .complains(str![[r#"
  × regreen.toml is not UTF-8 text: line 1 has an invalid byte (at offset 11)
  help: save it as UTF-8 text

"#]]);
}

#[test]
fn secrets_are_not_shown() {
    let key = format!("sk-ant-api03-{}", "a1B2".repeat(12));
    let right = format!("agent = 'command:my-agent --key {key}'\non_end = ['tell', '{key}']\n");
    let test = Workspace::new().file(USERS, right);
    test.regreen(&["config"]).exits(0).prints(str![[r#"
agent                  command:my-agent --key ***anthropic-key***  ~/.config/regreen/config.toml:1
agent_permissions      skip                            default
agent_model            none                            default
agent_args             none                            default
agent_env              none                            default
gate                   none                            default
timeout                30m                             default
verify_timeout         10m                             default
idle_timeout           off                             default
max_wait               6h                              default
max_task_iterations    5                               default
max_global_iterations  100                             default
max_cost               off                             default
max_tokens             off                             default
max_time               off                             default
max_task_cost          off                             default
max_task_tokens        off                             default
max_task_time          off                             default
repairs                safe                            default
final_check            fail                            default
final_check_time       30m                             default
tamper                 fail                            default
preflight              fail                            default
context_tokens         1000                            default
include_optional       false                           default
commit                 auto                            default
strict                 false                           default
excuse_known_failures  false                           default
keep_state             false                           default
diagnosis.ask          off                             default
ci.push                false                           default
history.record         true                            default
history.recall         true                            default
history.share          false                           default
history.keep           365d                            default
alert.failures_24h     off                             default
alert.first_pass_rate  off                             default
alert.timeout          off                             default
alert.missing_context  off                             default
alert.tool_error       off                             default
alert.invalid_task     off                             default
alert.partial          off                             default
on_alert               none                            default
prompts                built-in                        default
mcp.answer             false                           default
on_end                 ["tell","***anthropic-key***"]  ~/.config/regreen/config.toml:2
on_question            none                            default
inhibit                false                           default

workspace file: regreen.toml (not found)
user file:      ~/.config/regreen/config.toml
spec:           none

"#]]);
    let json = test.regreen(&["config", "--json"]).exits(0).stdout;
    assert!(!json.contains(&key), "{json}");
    let wrong = format!("agent = 'comand:my-agent --key {key}'\n");
    Workspace::new()
        .file(USERS, wrong)
        .regreen(&["config"])
        .exits(2)
        .complains(str![[r#"
  × invalid value for `agent`
   ╭─[~/.config/regreen/config.toml:1:9]
 1 │ agent = 'comand:my-agent --key ***anthropic-key***'
   ·         ──────────────────────────────────────────┬──────────────────────────────────────────
   ·                                                   ╰── unknown agent `comand:my-agent --key ***anthropic-key***`
   ╰────
  help: known agents: auto, claude, codex, gemini, opencode, shell, command:PROGRAM ARGS, acp:PROGRAM ARGS

"#]]);
}

#[test]
fn prompts_are_checked() {
    let test = Workspace::new().file("regreen.toml", "prompts = 'texts'\n");
    test.regreen(&["config"]).exits(2).complains(str![[r#"
  × cannot read the prompts folder texts: No such file or directory (os error 2)
  help: create the folder, or remove `prompts` from regreen.toml:1

"#]]);
    let test = test
        .file("texts/README.md", "Our prompts.\n")
        .file("texts/executer.md", "Do {{task_id}}.\n")
        .file("texts/noop.md", "Do something for {{task_id}}.\n");
    test.regreen(&["config"]).exits(0).complains(str![[r#"
note: texts/executer.md is ignored: no prompt has this name

"#]]);
    // The workspace itself is inside it.
    let test = test.file("regreen.toml", "prompts = '.'\n");
    let answer = test.regreen(&["config"]).exits(0).complains("");
    assert!(answer.stdout.contains("prompts                .  "));
    let test = test
        .file("regreen.toml", "prompts = 'texts'\n")
        .file("texts/noop.md", "Do something, {{name}}.\n");
    test.regreen(&["config"]).exits(2).complains(str![[r#"
  × texts/noop.md: line 1: unknown placeholder {{name}}; known placeholders: task_id
  help: use one of these; to keep literal braces, put a space inside them: {{ name }}

"#]]);
}

#[test]
fn prompts_of_a_repository_do_not_lead_out_of_it() {
    let outside = Workspace::new().file("private.md", "private");
    let test = Workspace::new()
        .file("regreen.toml", "prompts = 'texts'\n")
        .file("texts/README.md", "");
    symlink(outside.path("private.md"), test.path("texts/noop.md")).unwrap();
    let answer = test.regreen(&["config"]).exits(2);
    assert!(answer.stderr.contains("outside the workspace"));
    // The user's own prompts may be anywhere.
    std::fs::remove_file(test.path("regreen.toml")).unwrap();
    test.file(USERS, "prompts = '../../../texts'\n")
        .regreen(&["config"])
        .exits(0);
}

#[test]
fn a_named_spec_has_to_exist() {
    let test = Workspace::new()
        .file("specs/login/tasks.md", "")
        .file("specs/logout/tasks.md", "")
        .file("specs/logout/.ralph-state.json", "{");
    test.regreen(&["config"]).exits(0).complains(str![[r#"
note: limits stored with a spec are not shown; name a spec to include them: login, logout

"#]]);
    test.regreen(&["config", "logout"]).exits(0).complains(str![[r#"
note: [FOLDER]/specs/logout/.ralph-state.json is not JSON: EOF while parsing an object at line 1 column 1; ignoring its limits

"#]]);
    // An unreadable file is left to a run.
    assert_eq!(test.text("specs/logout/.ralph-state.json"), "{");
    test.regreen(&["config", "signup"])
        .exits(2)
        .complains(str![[r#"
  × spec or task file signup not found
  help: choose one of these: login, logout

"#]]);
}

#[test]
fn bad_flags_are_refused_with_a_hint() {
    Workspace::new()
        .regreen(&["config", "--timeout", "0"])
        .exits(2)
        .complains(str![[r#"
error: invalid value '0' for '--timeout <TIME|auto>': `0` has no unit; write a number with a unit: 250ms, 0.5s, 30m, 1h30m

For more information, try '--help'.

"#]]);
}

/// The schemas are generated: `UPDATE_DOCS=1 cargo test -p regreen` writes them.
#[test]
fn the_schemas_match_the_code() {
    for (flag, page) in [
        ("--schema", "docs/regreen.schema.json"),
        ("--schema=user", "docs/user-config.schema.json"),
        ("--schema=recovery", "docs/recovery.schema.json"),
    ] {
        let schema = Workspace::new().regreen(&["config", flag]).exits(0).stdout;
        let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &schema).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(
            written == schema,
            "{page} is out of date: run this with UPDATE_DOCS=1"
        );
    }
}

#[test]
fn the_page_has_every_setting() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let listing = Workspace::new()
        .regreen(&["config", "--json"])
        .exits(0)
        .stdout;
    let listing: serde_json::Value = serde_json::from_str(&listing).unwrap();
    for (key, entry) in listing["settings"].as_object().unwrap() {
        let row = page
            .lines()
            .find(|l| l.starts_with(&format!("| `{key}` |")));
        let default = row
            .unwrap_or_default()
            .split(" | ")
            .nth(2)
            .unwrap_or_default();
        let value = match &entry["value"] {
            serde_json::Value::Null if key == "prompts" => "built-in".to_owned(),
            serde_json::Value::Null => "none".to_owned(),
            text @ serde_json::Value::String(_) => format!("`{text}`"),
            flag @ serde_json::Value::Bool(_) => format!("`{flag}`"),
            other => other.to_string(),
        };
        assert_eq!(default, value, "{key}");
    }
}

#[test]
fn the_examples_of_the_page_work() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let block = |first_line: &str| {
        let from = page.split(first_line).nth(1).unwrap();
        format!("{first_line}{}", from.split("```").next().unwrap())
    };
    let test = Workspace::new()
        .file("regreen.toml", block("# regreen.toml\n"))
        .file(USERS, block("# config.toml\n"))
        .file("docs/prompts/README.md", "");
    let command = "$ regreen config --timeout 1h30m\n";
    let answer = test.regreen(&["config", "--timeout", "1h30m"]).exits(0);
    assert_eq!(block(command), format!("{command}{}", answer.stdout));
    let refusal = Workspace::new()
        .file("regreen.toml", "agent = 'command:./evil.sh'\n")
        .regreen(&["config"])
        .exits(2);
    assert!(page.contains(&refusal.stderr), "{}", refusal.stderr);
}
