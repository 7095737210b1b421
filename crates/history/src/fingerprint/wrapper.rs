//! Lines and prefixes that only say that something failed.

/// What tools put before the message of another tool, or before their own. Lower case.
const FRAMES: [&str; 11] = [
    "npm err!",
    "npm error",
    "[error]",
    "error -",
    "err!",
    "e   ",
    "error:",
    "fatal:",
    "fatal error:",
    "uncaught",
    "failed:",
];

/// Templates that wrap a failure. A line that begins so says nothing about the cause.
const WRAPPERS: [&str; 24] = [
    "make: ***",
    "make <n> : ***",
    "gmake: ***",
    "ninja: build stopped",
    "npm err! code elifecycle",
    "code elifecycle",
    "command failed",
    "the command",
    "subprocess-exited-with-error",
    "exit code",
    "exit status",
    "exited with",
    "process exited",
    "process completed",
    "failed errors=",
    "failed failures=",
    "<n> failed",
    "failed <n>",
    "build failed",
    "compilation terminated",
    "could not compile",
    "test failed, to rerun",
    "tests failed",
    "collect2:",
];

/// Make's own complaints begin like its wrappers.
const CAUSES: [&str; 3] = ["no rule to make target", "missing separator", "no targets"];

/// Removes what frames the message: prefixes of tools, and the time of a log line.
pub(super) fn without_frame(line: &str) -> &str {
    let mut rest = line.trim();
    loop {
        let before = rest.len();
        for frame in FRAMES {
            let head = rest.get(..frame.len());
            if head.is_some_and(|head| head.eq_ignore_ascii_case(frame)) {
                rest = rest.get(frame.len()..).unwrap_or_default().trim_start();
            }
        }
        if rest.len() == before {
            return rest;
        }
    }
}

/// Whether a template says nothing about a cause.
pub(crate) fn is_wrapper(template: &str) -> bool {
    let says_nothing = !template
        .split(|c: char| !c.is_alphabetic() && c != '<')
        .any(|word| word.len() > 1 && !word.starts_with('<'));
    let wraps = WRAPPERS.iter().any(|wrapper| template.starts_with(wrapper));
    says_nothing || (wraps && !CAUSES.iter().any(|cause| template.contains(cause)))
}
