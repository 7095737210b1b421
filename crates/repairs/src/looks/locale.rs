use regreen_model::{Failure, FailureKind, RepairAction};

use crate::plan::{Deed, Plan};
use crate::scene::Scene;
use crate::text;
use crate::verdict::Verdict;

/// What lets programs read and write more than ASCII.
const SETTINGS: [(&str, &str); 3] = [
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("PYTHONUTF8", "1"),
];

/// Words of programs that know ASCII only; others mean that the data are not as expected.
const ASCII: [&str; 4] = ["'ascii'", "us-ascii", "ansi_x3.4", "locale"];

/// Programs of the run that speak ASCII only, for want of a locale.
pub(super) fn look(scene: &Scene<'_>, failure: &Failure) -> Option<Verdict> {
    let line = text::blocker(failure).to_ascii_lowercase();
    let is_ascii = ASCII.iter().any(|word| line.contains(word));
    let is_set = scene
        .environment
        .iter()
        .any(|(name, _)| name == "PYTHONUTF8");
    if failure.kind != FailureKind::LocaleEncoding || !is_ascii || is_set {
        return None;
    }
    let action = RepairAction::SetEnv {
        args: SETTINGS
            .map(|(name, value)| format!("{name}={value}"))
            .into(),
    };
    let environment = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let plan = Plan::new(
        action,
        "use UTF-8 in what the run starts",
        Deed::Environment,
    );
    Some(Verdict::Allowed(plan.setting(environment.into())))
}
