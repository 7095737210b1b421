//! The projects on the screens.

use regreen_test_support::Workspace;

const TASKS: &str = "\
# Tasks: login

- [x] 1.1 Add the form
- [ ] 1.2 Validate input
  - **Verify**: `sh check.sh tests/test_form.py`
  - **Commit**: `feat: validate input`
- [ ] 1.3 Show every message beside its field, in the language of the browser and in English otherwise
  - **Verify**: `test -f messages`
  - **Commit**: `feat: show messages`
- [ ] 1.4 Send a mail to confirm the address
";

/// A check that prints pytest's output, until the fix is made.
const CHECK: &str = r#"test -f fixed && echo "2 passed" && exit
cat test-output.txt
exit 1
"#;

const TEST_OUTPUT: &str = "\
============================= test session starts ==============================
collected 2 items

tests/test_form.py .F                                                    [100%]

=================================== FAILURES ===================================
______________________________ test_empty_name _________________________________

    def test_empty_name():
>       assert validate({'name': ''}) == 'name is required'
E       AssertionError: assert '' == 'name is required'
E         - name is required

tests/test_form.py:18: AssertionError
=========================== short test summary info ============================
FAILED tests/test_form.py::test_empty_name - AssertionError: assert '' == 'name is required'
========================= 1 failed, 1 passed in 0.02s ==========================
";

/// Imitates the output of Claude Code. A fix runs the tests until the test lets it continue.
const CLAUDE: &str = r#"
says() { printf '%s\n' "$1"; }
says '{"type":"system","subtype":"init","session_id":"s-1"}'
case $REGREEN_TASK_ID in
1.2.1)
    says '{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"pytest -q tests/test_form.py"}}],"usage":{"input_tokens":12000,"output_tokens":345}}}'
    until test -f "$notes/go"; do sleep 0.02; done
    touch fixed ;;
1.3) touch messages ;;
*) echo "$REGREEN_TASK_ID" >>log.txt ;;
esac
says '{"type":"result","subtype":"success","is_error":false,"result":"Done.\nTASK_COMPLETE","total_cost_usd":0.25,"usage":{"input_tokens":41000,"output_tokens":3000}}'
"#;

/// A login form whose tests fail until a fix is made.
pub(crate) fn login() -> Workspace {
    Workspace::new()
        .file("specs/login/tasks.md", TASKS)
        .file("specs/release/tasks.md", "- [x] 1 Tag it\n")
        .file("check.sh", CHECK)
        .file("test-output.txt", TEST_OUTPUT)
        .program("claude", CLAUDE)
        .file("user/.claude/.credentials.json", "{}")
        .git_repository()
}

/// A release whose agent has to wait for its service.
pub(crate) fn release() -> Workspace {
    const LIMITED: &str = r#"
printf '%s\n' '{"type":"system","subtype":"init","session_id":"s-1"}' '{"type":"system","subtype":"api_retry","attempt":1,"error_status":429,"error":"rate_limit","retry_delay_ms":3599500}'
sleep 100
"#;
    Workspace::new()
        .file(
            "specs/release/tasks.md",
            "# Tasks\n\n- [ ] 1 Tag the release\n- [ ] 2 Write the announcement\n",
        )
        .program("claude", LIMITED)
        .file("user/.claude/.credentials.json", "{}")
        .git_repository()
}

/// A plan with a weakness of each common sort, whose agent asks a question.
pub(crate) fn sessions() -> Workspace {
    const TASKS: &str = "\
# Tasks: sessions

- [ ] 1.1 Store sessions as discussed
  - **Files**: `src/sessions.py`
  - **Verify**: `sh check.sh tests/test_sessions.py`
- [ ] 1.2 Show every message beside its field, in the language of the browser and in English otherwise
  - **Verify**: `cat messages || true`
- [ ] 1.3 Start the server
  - **Do**: `npm run dev &`
  - **Verify**: it works
- [ ] Write the documentation
";
    const ASKING: &str = r#"
printf '%s\n' '{"type":"system","subtype":"init","session_id":"s-1"}' '{"type":"result","subtype":"success","is_error":false,"result":"I need to know where sessions are kept. Should I use PostgreSQL for the sessions, or do you prefer SQLite in one file?"}'
"#;
    Workspace::new()
        .file("specs/sessions/tasks.md", TASKS)
        .file("check.sh", "exit 1\n")
        .program("claude", ASKING)
        .file("user/.claude/.credentials.json", "{}")
        .git_repository()
}
