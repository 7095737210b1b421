use regreen_reporters::JsonLines;
use snapbox::{IntoData as _, assert_data_eq, str};

use crate::scripts;

fn text(out: &[u8]) -> &str {
    std::str::from_utf8(out).expect("it is text")
}

#[test]
fn a_run_is_reported_in_json() {
    let mut out = Vec::new();
    scripts::well_in_the_end(JsonLines::new(&mut out)).finish();
    assert_data_eq!(text(&out), str![[r#"
{"v":1,"at":"2026-11-16T04:45:00.123Z","run":"20261116-0445","event":"run_started","spec":"demo","agent":"command:./agent.sh","only":null,"gate":null,"include_optional":false,"commits":true,"attempts_per_task":5,"attempts_per_run":100,"attempt_timeout_ms":1800000,"verify_timeout_ms":600000,"idle_timeout_ms":null,"max_wait_ms":21600000,"budgets":{"run":{"cost_micro_usd":null,"tokens":null,"time_ms":null},"task":{"cost_micro_usd":null,"tokens":null,"time_ms":null}}}
{"v":1,"at":"2026-11-16T04:45:00.126Z","run":"20261116-0445","event":"plan","rows":[{"task":{"id":"1.1","occurrence":0,"title":"Parse the file"},"depth":0,"kind":"task","done":true,"optional":false},{"task":{"id":"1.2","occurrence":0,"title":"Print it again"},"depth":0,"kind":"task","done":false,"optional":false},{"task":{"id":"1.3","occurrence":0,"title":"Make it fast"},"depth":0,"kind":"task","done":false,"optional":true},{"task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"depth":0,"kind":"task","done":false,"optional":false}]}
{"v":1,"at":"2026-11-16T04:45:00.126Z","run":"20261116-0445","event":"limit_settled","attempts_per_run":100}
{"v":1,"at":"2026-11-16T04:45:00.126Z","run":"20261116-0445","event":"task_picked","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"root":{"id":"1.2","occurrence":0,"title":"Print it again"},"index":0,"total":4,"group":false,"verify":["cargo test"]}
{"v":1,"at":"2026-11-16T04:45:00.126Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"number":1,"limit":5,"prompt":"first","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T04:45:12.126Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"charged":true,"class":"ordinary","why":null,"until":null,"error":"","signalled":true,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":12000,"files_changed":2,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T04:45:12.126Z","run":"20261116-0445","event":"verify_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"again":false}
{"v":1,"at":"2026-11-16T04:45:12.926Z","run":"20261116-0445","event":"verify_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"verdict":"red","error":"exit code 101: cargo test\n\nrunning 2 tests\nthread 'tests::prints' panicked at src/print.rs:7:5:\nassertion `left == right` failed\n  left: 1\n right: 2\ntest result: FAILED. 1 passed; 1 failed\n"}
{"v":1,"at":"2026-11-16T04:45:12.926Z","run":"20261116-0445","event":"verify_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"again":true}
{"v":1,"at":"2026-11-16T04:45:13.626Z","run":"20261116-0445","event":"verify_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"verdict":"red","error":"exit code 101: cargo test\n\nrunning 2 tests\nthread 'tests::prints' panicked at src/print.rs:7:5:\nassertion `left == right` failed\n  left: 1\n right: 2\ntest result: FAILED. 1 passed; 1 failed\n"}
{"v":1,"at":"2026-11-16T04:45:13.626Z","run":"20261116-0445","event":"task_failed","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"error":"exit code 101: cargo test\n\nrunning 2 tests\nthread 'tests::prints' panicked at src/print.rs:7:5:\nassertion `left == right` failed\n  left: 1\n right: 2\ntest result: FAILED. 1 passed; 1 failed\n","attempted_fix":"No fix attempted","diagnosis":null}
{"v":1,"at":"2026-11-16T04:45:13.626Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"number":2,"limit":5,"prompt":"retry","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T04:46:14.626Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"charged":true,"class":"ordinary","why":null,"until":null,"error":"","signalled":true,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":61000,"files_changed":2,"left_running":[],"plan":{"claimed":[{"id":"1.4","occurrence":0,"title":"Write the guide"}],"skipped":[],"put_back":[{"id":"1.3","occurrence":0,"title":"Make it fast"}],"added":[{"id":"1.5","occurrence":0,"title":"Check the links"}],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T04:46:14.626Z","run":"20261116-0445","event":"warned","message":"task 1.3 had vanished from the plan and was put back"}
{"v":1,"at":"2026-11-16T04:46:14.626Z","run":"20261116-0445","event":"claims_judged","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"kept":[],"taken_back":[{"id":"1.4","occurrence":0,"title":"Write the guide"}]}
{"v":1,"at":"2026-11-16T04:46:14.626Z","run":"20261116-0445","event":"warned","message":"the agent's tick of task 1.4 was taken back: nothing shows that it is done. If it is, run `regreen done 1.4`"}
{"v":1,"at":"2026-11-16T04:46:14.626Z","run":"20261116-0445","event":"verify_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"again":false}
{"v":1,"at":"2026-11-16T04:46:15.326Z","run":"20261116-0445","event":"verify_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"verdict":"red","error":"exit code 101: cargo test\n\nrunning 2 tests\nthread 'tests::prints' panicked at src/print.rs:7:5:\nassertion `left == right` failed\n  left: 1\n right: 2\ntest result: FAILED. 1 passed; 1 failed\n"}
{"v":1,"at":"2026-11-16T04:46:15.326Z","run":"20261116-0445","event":"verify_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"again":true}
{"v":1,"at":"2026-11-16T04:46:16.026Z","run":"20261116-0445","event":"verify_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"verdict":"green","error":null}
{"v":1,"at":"2026-11-16T04:46:16.026Z","run":"20261116-0445","event":"committed","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"hash":"0a1b2c3"}
{"v":1,"at":"2026-11-16T04:46:16.026Z","run":"20261116-0445","event":"task_done","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"marks":["flaky"],"hash":"0a1b2c3"}
{"v":1,"at":"2026-11-16T04:46:16.027Z","run":"20261116-0445","event":"plan","rows":[{"task":{"id":"1.1","occurrence":0,"title":"Parse the file"},"depth":0,"kind":"task","done":true,"optional":false},{"task":{"id":"1.2","occurrence":0,"title":"Print it again"},"depth":0,"kind":"task","done":true,"optional":false},{"task":{"id":"1.3","occurrence":0,"title":"Make it fast"},"depth":0,"kind":"task","done":false,"optional":true},{"task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"depth":0,"kind":"task","done":false,"optional":false},{"task":{"id":"1.5","occurrence":0,"title":"Check the links"},"depth":0,"kind":"task","done":false,"optional":false}]}
{"v":1,"at":"2026-11-16T04:46:16.027Z","run":"20261116-0445","event":"task_picked","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"root":{"id":"1.4","occurrence":0,"title":"Write the guide"},"index":0,"total":4,"group":false,"verify":[]}
{"v":1,"at":"2026-11-16T04:46:16.027Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"attempt":1,"number":1,"limit":5,"prompt":"first","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T04:46:21.027Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"attempt":1,"charged":true,"class":"ordinary","why":null,"until":null,"error":"","signalled":false,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":5000,"files_changed":2,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T04:46:21.027Z","run":"20261116-0445","event":"verify_started","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"attempt":1,"again":false}
{"v":1,"at":"2026-11-16T04:46:21.028Z","run":"20261116-0445","event":"verify_ended","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"attempt":1,"verdict":"unverified","error":null}
{"v":1,"at":"2026-11-16T04:46:21.028Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"attempt":2,"number":1,"limit":5,"prompt":"reminder","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T04:46:23.028Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"attempt":2,"charged":false,"class":"ordinary","why":null,"until":null,"error":"","signalled":true,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":2000,"files_changed":2,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T04:46:23.028Z","run":"20261116-0445","event":"verify_started","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"attempt":2,"again":false}
{"v":1,"at":"2026-11-16T04:46:23.029Z","run":"20261116-0445","event":"verify_ended","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"attempt":2,"verdict":"unverified","error":null}
{"v":1,"at":"2026-11-16T04:46:23.029Z","run":"20261116-0445","event":"task_done","task":{"id":"1.4","occurrence":0,"title":"Write the guide"},"marks":["unverified"],"hash":null}
{"v":1,"at":"2026-11-16T04:46:23.030Z","run":"20261116-0445","event":"task_picked","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"root":{"id":"1.5","occurrence":0,"title":"Check the links"},"index":0,"total":4,"group":false,"verify":["./links.sh --all"]}
{"v":1,"at":"2026-11-16T04:46:23.030Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"attempt":1,"number":1,"limit":5,"prompt":"first","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T04:46:23.930Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"attempt":1,"charged":false,"class":"transient","why":"429 rate limit","until":"2026-11-16T04:51:40.000Z","error":"","signalled":false,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":900,"files_changed":0,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T04:46:23.930Z","run":"20261116-0445","event":"wait_started","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"since":"2026-11-16T04:46:23.930Z","until":"2026-11-16T04:51:40.000Z","why":"429 rate limit","repeats":false}
{"v":1,"at":"2026-11-16T04:51:40.000Z","run":"20261116-0445","event":"wait_ended","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"waited_ms":316070}
{"v":1,"at":"2026-11-16T04:51:40.000Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"attempt":2,"number":1,"limit":5,"prompt":"first","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T04:52:10.000Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"attempt":2,"charged":false,"class":"session","why":"context window is full","until":null,"error":"","signalled":false,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":30000,"files_changed":0,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T04:52:10.000Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"attempt":3,"number":1,"limit":5,"prompt":"new_session","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T04:52:18.000Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"attempt":3,"charged":true,"class":"ordinary","why":null,"until":null,"error":"","signalled":true,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":8000,"files_changed":2,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T04:52:18.000Z","run":"20261116-0445","event":"verify_started","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"attempt":3,"again":false}
{"v":1,"at":"2026-11-16T04:52:18.300Z","run":"20261116-0445","event":"verify_ended","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"attempt":3,"verdict":"green","error":null}
{"v":1,"at":"2026-11-16T04:52:18.300Z","run":"20261116-0445","event":"committed","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"hash":null}
{"v":1,"at":"2026-11-16T04:52:18.300Z","run":"20261116-0445","event":"task_done","task":{"id":"1.5","occurrence":0,"title":"Check the links"},"marks":[],"hash":null}
{"v":1,"at":"2026-11-16T04:52:18.301Z","run":"20261116-0445","event":"final_check_started","checks":2}
{"v":1,"at":"2026-11-16T04:52:20.301Z","run":"20261116-0445","event":"final_check_ended","passed":[{"id":"1.2","occurrence":0,"title":"Print it again"},{"id":"1.5","occurrence":0,"title":"Check the links"}],"flaky":[],"regressed":[],"not_repeated":[],"took_ms":2000}
{"v":1,"at":"2026-11-16T04:52:20.301Z","run":"20261116-0445","event":"closing_committed","hash":null}
{"v":1,"at":"2026-11-16T04:52:20.301Z","run":"20261116-0445","event":"run_ended","summary":{"run":"20261116-0445","spec":"demo","outcome":"all_green","exit_code":0,"message":null,"originals":{"done":4,"total":4},"fixes":{"done":0,"made":0},"attempts":{"made":6,"charged":5,"limit":100},"waits":{"count":1,"ms":316070},"time_ms":440178,"cost_micro_usd":null,"tokens":{"input":0,"output":0},"unverified":[{"id":"1.4","occurrence":0,"title":"Write the guide"}],"verify_failed":[],"flaky":[{"id":"1.2","occurrence":0,"title":"Print it again"}],"nothing_changed":[],"claimed":[],"skipped":[],"failed":null,"waiting":[],"regressed":[],"not_repeated":[],"plan_changes":{"added":[{"id":"1.5","occurrence":0,"title":"Check the links"}],"edited":[],"put_back":[{"id":"1.3","occurrence":0,"title":"Make it fast"}],"taken_back":[{"id":"1.4","occurrence":0,"title":"Write the guide"}],"reverted":[]},"warnings":2}}

"#]]
        .raw());
}

#[test]
fn a_limit_ends_with_its_summary() {
    let mut out = Vec::new();
    scripts::limit_reached(JsonLines::new(&mut out)).finish();
    assert_data_eq!(text(&out), str![[r#"
{"v":1,"at":"2026-11-16T04:45:00.123Z","run":"20261116-0445","event":"run_started","spec":"demo","agent":"command:./agent.sh","only":null,"gate":null,"include_optional":false,"commits":true,"attempts_per_task":2,"attempts_per_run":100,"attempt_timeout_ms":1800000,"verify_timeout_ms":600000,"idle_timeout_ms":null,"max_wait_ms":21600000,"budgets":{"run":{"cost_micro_usd":null,"tokens":null,"time_ms":null},"task":{"cost_micro_usd":null,"tokens":null,"time_ms":null}}}
{"v":1,"at":"2026-11-16T04:45:00.126Z","run":"20261116-0445","event":"plan","rows":[{"task":{"id":"1.1","occurrence":0,"title":"Parse the file"},"depth":0,"kind":"task","done":true,"optional":false},{"task":{"id":"1.1.1","occurrence":0,"title":"Fix: boom"},"depth":1,"kind":"fix","done":true,"optional":false},{"task":{"id":"1.2","occurrence":0,"title":"Print it again"},"depth":0,"kind":"task","done":false,"optional":false},{"task":{"id":"1.2.1","occurrence":0,"title":"Fix: no such file"},"depth":1,"kind":"fix","done":false,"optional":false}]}
{"v":1,"at":"2026-11-16T04:45:00.126Z","run":"20261116-0445","event":"limit_settled","attempts_per_run":100}
{"v":1,"at":"2026-11-16T04:45:00.126Z","run":"20261116-0445","event":"task_picked","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"root":{"id":"1.2","occurrence":0,"title":"Print it again"},"index":0,"total":4,"group":false,"verify":["cargo test"]}
{"v":1,"at":"2026-11-16T04:45:00.126Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"number":1,"limit":2,"prompt":"first","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T04:45:03.126Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"charged":true,"class":"ordinary","why":null,"until":null,"error":"","signalled":true,"contradiction":"could not complete","timed_out":false,"exit_code":null,"signal":null,"duration_ms":3000,"files_changed":2,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T04:45:03.126Z","run":"20261116-0445","event":"warned","message":"CONTRADICTION: claimed completion while admitting failure"}
{"v":1,"at":"2026-11-16T04:45:03.126Z","run":"20261116-0445","event":"task_failed","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"error":"CONTRADICTION: claimed completion while admitting failure: could not complete","attempted_fix":"No fix attempted","diagnosis":null}
{"v":1,"at":"2026-11-16T04:45:03.126Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"number":2,"limit":2,"prompt":"retry","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T04:45:07.126Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"charged":true,"class":"ordinary","why":null,"until":null,"error":"","signalled":true,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":4000,"files_changed":2,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T04:45:07.126Z","run":"20261116-0445","event":"verify_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"again":false}
{"v":1,"at":"2026-11-16T04:45:07.226Z","run":"20261116-0445","event":"verify_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"verdict":"green","error":null}
{"v":1,"at":"2026-11-16T04:45:07.226Z","run":"20261116-0445","event":"commit_refused","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"output":"trailing space in src/print.rs"}
{"v":1,"at":"2026-11-16T04:45:07.228Z","run":"20261116-0445","event":"task_failed","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"error":"trailing space in src/print.rs","attempted_fix":"No fix attempted","diagnosis":null}
{"v":1,"at":"2026-11-16T04:45:07.228Z","run":"20261116-0445","event":"run_ended","summary":{"run":"20261116-0445","spec":"demo","outcome":"limit","exit_code":1,"message":"ERROR: Max retries reached for task 1.2 after 2 attempts","originals":{"done":1,"total":2},"fixes":{"done":1,"made":2},"attempts":{"made":2,"charged":2,"limit":100},"waits":{"count":0,"ms":0},"time_ms":7105,"cost_micro_usd":null,"tokens":{"input":0,"output":0},"unverified":[],"verify_failed":[],"flaky":[],"nothing_changed":[],"claimed":[],"skipped":[],"failed":{"id":"1.2","occurrence":0,"title":"Print it again"},"waiting":[],"regressed":[],"not_repeated":[],"plan_changes":{"added":[],"edited":[],"put_back":[],"taken_back":[],"reverted":[]},"warnings":1}}

"#]]
        .raw());
}

/// The second process knows about the first, and keeps counting.
#[test]
fn a_resumed_run_keeps_counting() {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let stopped = scripts::stopped(JsonLines::new(&mut first));
    scripts::goes_on(stopped, JsonLines::new(&mut second)).finish();
    assert_data_eq!(text(&second), str![[r#"
{"v":1,"at":"2026-11-16T05:45:04.126Z","run":"20261116-0445","event":"run_resumed"}
{"v":1,"at":"2026-11-16T05:45:04.126Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":1,"charged":false,"class":"interrupted","why":null,"until":null,"error":"regreen or the machine stopped during the attempt","signalled":false,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":0,"files_changed":0,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T05:45:04.126Z","run":"20261116-0445","event":"attempt_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"number":1,"limit":5,"prompt":"interrupted","timeout_ms":1800000}
{"v":1,"at":"2026-11-16T05:45:05.126Z","run":"20261116-0445","event":"attempt_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"charged":true,"class":"ordinary","why":null,"until":null,"error":"","signalled":true,"contradiction":null,"timed_out":false,"exit_code":null,"signal":null,"duration_ms":1000,"files_changed":2,"left_running":[],"plan":{"claimed":[],"skipped":[],"put_back":[],"added":[],"edited":[],"reverted":[]}}
{"v":1,"at":"2026-11-16T05:45:05.126Z","run":"20261116-0445","event":"verify_started","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"again":false}
{"v":1,"at":"2026-11-16T05:45:05.226Z","run":"20261116-0445","event":"verify_ended","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"attempt":2,"verdict":"green","error":null}
{"v":1,"at":"2026-11-16T05:45:05.226Z","run":"20261116-0445","event":"task_done","task":{"id":"1.2","occurrence":0,"title":"Print it again"},"marks":[],"hash":null}
{"v":1,"at":"2026-11-16T05:45:05.226Z","run":"20261116-0445","event":"plan","rows":[{"task":{"id":"1.2","occurrence":0,"title":"Print it again"},"depth":0,"kind":"task","done":true,"optional":false},{"task":{"id":"2","occurrence":0,"title":"Ship it"},"depth":0,"kind":"group","done":false,"optional":false}]}
{"v":1,"at":"2026-11-16T05:45:05.226Z","run":"20261116-0445","event":"task_picked","task":{"id":"2","occurrence":0,"title":"Ship it"},"root":{"id":"2","occurrence":0,"title":"Ship it"},"index":0,"total":4,"group":true,"verify":["make ship"]}
{"v":1,"at":"2026-11-16T05:45:05.226Z","run":"20261116-0445","event":"verify_started","task":{"id":"2","occurrence":0,"title":"Ship it"},"attempt":0,"again":false}
{"v":1,"at":"2026-11-16T05:45:05.276Z","run":"20261116-0445","event":"verify_ended","task":{"id":"2","occurrence":0,"title":"Ship it"},"attempt":0,"verdict":"green","error":null}
{"v":1,"at":"2026-11-16T05:45:05.276Z","run":"20261116-0445","event":"run_ended","summary":{"run":"20261116-0445","spec":"demo","outcome":"needs_person","exit_code":3,"message":"somebody saves tasks.md again and again","originals":{"done":1,"total":2},"fixes":{"done":0,"made":0},"attempts":{"made":2,"charged":1,"limit":100},"waits":{"count":0,"ms":0},"time_ms":5153,"cost_micro_usd":null,"tokens":{"input":0,"output":0},"unverified":[],"verify_failed":[],"flaky":[],"nothing_changed":[],"claimed":[],"skipped":[],"failed":null,"waiting":[],"regressed":[],"not_repeated":[],"plan_changes":{"added":[],"edited":[],"put_back":[],"taken_back":[],"reverted":[]},"warnings":0}}

"#]]
        .raw());
}
