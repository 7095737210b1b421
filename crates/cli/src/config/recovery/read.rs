//! Parses and validates recovery templates.

use std::ops::Range;

use regreen_model::{
    FailureKind, PlainLine, RecoveryTemplate, TemplateMatch, TemplateOwner, TemplateStrategy,
    UserRepair,
};
use serde::Deserialize;
use toml::Spanned;

use super::owner_of;
use crate::config::read::{ConfigFault, ConfigFile};
use crate::config::time::TimeLimit;

const FINGERPRINT_CHARS: usize = 16;
const PROMPT_BYTES: usize = 8 * 1024;
const QUESTION_CHARS: usize = 500;
const LONGEST_MS: u64 = 60 * 60 * 1000;
const WAIT_MS: u64 = 30 * 1000;
const REPAIR_MS: u64 = 5 * 60 * 1000;

/// Programs that get more rights than the user, or change the system. No setting permits these.
const FORBIDDEN: [&str; 14] = [
    "sudo", "sudoedit", "doas", "su", "pkexec", "run0", "apt", "apt-get", "dpkg", "dnf", "yum",
    "pacman", "zypper", "apk",
];
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "fish"];
/// Programs that run the program in their arguments.
const WRAPPERS: [&str; 6] = ["env", "nice", "nohup", "setsid", "timeout", "xargs"];

const EXAMPLE: &str = "write templates like this:\n[[template]]\nkind = \"connection_refused\"\nfirst = [\"wait\", \"fix\"]";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateFile {
    #[serde(default)]
    template: Vec<Spanned<WrittenFields>>,
}

/// A template as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFields {
    kind: Option<Spanned<String>>,
    fingerprint: Option<Spanned<String>>,
    first: Option<Spanned<Vec<Spanned<String>>>>,
    wait: Option<Spanned<String>>,
    prompt: Option<Spanned<String>>,
    question: Option<Spanned<String>>,
    repair: Option<Spanned<Vec<String>>>,
    check: Option<Spanned<Vec<String>>>,
    does: Option<Spanned<String>>,
    timeout: Option<Spanned<String>>,
}

impl WrittenFields {
    /// Returns the lines that are about a repair of the user's own.
    fn command_lines(&self) -> [(&'static str, Option<Range<usize>>); 4] {
        [
            ("repair", self.repair.as_ref().map(Spanned::span)),
            ("check", self.check.as_ref().map(Spanned::span)),
            ("does", self.does.as_ref().map(Spanned::span)),
            ("timeout", self.timeout.as_ref().map(Spanned::span)),
        ]
    }

    fn names_commands(&self) -> bool {
        self.command_lines().iter().any(|(_, span)| span.is_some())
    }
}

/// Reads templates, each with its position in the text.
///
/// # Errors
/// All faults, in the order of the file.
pub(super) fn read_templates(
    text: &str,
    file: &ConfigFile,
) -> Result<Vec<(RecoveryTemplate, usize)>, Vec<ConfigFault>> {
    let written: TemplateFile = toml::from_str(text).map_err(|error| vec![invalid(&error)])?;
    let mut templates: Vec<(RecoveryTemplate, usize)> = Vec::new();
    let mut faults = Vec::new();
    for one in written.template {
        let span = one.span();
        match template(one.get_ref(), &span, file) {
            Ok(found) => {
                let is_same = |(other, _): &(RecoveryTemplate, usize)| other.name() == found.name();
                if templates.iter().any(is_same) {
                    faults.push(twice(found.name(), span));
                } else {
                    templates.push((found, span.start));
                }
            }
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() {
        Ok(templates)
    } else {
        Err(faults)
    }
}

fn template(
    written: &WrittenFields,
    span: &Range<usize>,
    file: &ConfigFile,
) -> Result<RecoveryTemplate, ConfigFault> {
    let owner = owner_of(file.owner);
    if owner == TemplateOwner::Workspace {
        refuse_commands(written, file)?;
    }
    let applies_to = failures(written, span)?;
    let first = strategies(written, span)?;
    let repair = repair(written)?;
    let wants_repair = first.contains(&TemplateStrategy::Repair);
    if wants_repair && owner == TemplateOwner::Workspace {
        return Err(may_not("repair", first_span(written, span), file));
    }
    let is_whole = wants_repair && repair.is_some();
    if (wants_repair || written.names_commands()) && !is_whole {
        return Err(half_a_repair(written, span, wants_repair));
    }
    Ok(RecoveryTemplate {
        applies_to,
        owner,
        first,
        prompt: prompt(written)?,
        question: question(written)?,
        wait_ms: time("wait", written.wait.as_ref(), WAIT_MS)?,
        repair,
    })
}

fn failures(written: &WrittenFields, span: &Range<usize>) -> Result<TemplateMatch, ConfigFault> {
    match (&written.kind, &written.fingerprint) {
        (Some(kind), None) => match FailureKind::from_name(kind.get_ref()) {
            Some(kind) => Ok(TemplateMatch::Kind(kind)),
            None => Err(unknown_kind(kind)),
        },
        (None, Some(text)) if is_fingerprint(text.get_ref()) => {
            Ok(TemplateMatch::Fingerprint(text.get_ref().clone()))
        }
        (None, Some(text)) => Err(fault(
            "invalid value for `fingerprint`",
            text.span(),
            "not 16 digits of 0-9 and a-f",
            "`regreen explain LOG --json` prints the fingerprint of a failure",
        )),
        (Some(_), Some(second)) => Err(fault(
            "a template has either `kind` or `fingerprint`",
            second.span(),
            "remove one of them",
            "a template with a fingerprint counts before one with a kind",
        )),
        (None, None) => Err(fault(
            "a template needs `kind` or `fingerprint`",
            span.clone(),
            "for which failures?",
            "`regreen failures` lists the kinds; write one such as kind = \"missing_file\"",
        )),
    }
}

fn is_fingerprint(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    text.len() == FINGERPRINT_CHARS && text.chars().all(is_digit)
}

fn unknown_kind(kind: &Spanned<String>) -> ConfigFault {
    let name = kind.get_ref();
    let near = |known: &FailureKind| strsim::normalized_damerau_levenshtein(name, known.name());
    let nearest = FailureKind::ALL
        .into_iter()
        .max_by(|one, other| near(one).total_cmp(&near(other)));
    let nearest = nearest.filter(|kind| near(kind) >= 0.5);
    fault(
        format!("unknown kind `{name}`"),
        kind.span(),
        match nearest {
            Some(kind) => format!("did you mean `{kind}`?"),
            None => "not recognized".to_owned(),
        },
        "`regreen failures` lists the kinds",
    )
}

fn strategies(
    written: &WrittenFields,
    span: &Range<usize>,
) -> Result<Vec<TemplateStrategy>, ConfigFault> {
    let known = TemplateStrategy::ALL.map(TemplateStrategy::name).join(", ");
    let hint =
        format!("name what to do first, such as first = [\"wait\", \"fix\"]; there are {known}");
    let named = written.first.as_ref().map(Spanned::get_ref);
    let Some(named) = named.filter(|named| !named.is_empty()) else {
        let span = first_span(written, span);
        return Err(fault(
            "a template needs `first`",
            span,
            "what is done first?",
            hint,
        ));
    };
    let mut strategies = Vec::new();
    for name in named {
        let strategy = TemplateStrategy::from_name(name.get_ref()).ok_or_else(|| {
            let message = format!("unknown strategy `{}`", name.get_ref());
            fault(message, name.span(), "not recognized", hint.clone())
        })?;
        if strategies.contains(&strategy) {
            let message = format!("`{strategy}` is named twice");
            let hint = "each strategy is used once per task; then the recovery table decides";
            return Err(fault(message, name.span(), "remove one of them", hint));
        }
        strategies.push(strategy);
    }
    Ok(strategies)
}

fn first_span(written: &WrittenFields, span: &Range<usize>) -> Range<usize> {
    let first = written.first.as_ref();
    first.map_or_else(|| span.clone(), Spanned::span)
}

fn prompt(written: &WrittenFields) -> Result<Option<String>, ConfigFault> {
    let Some(prompt) = &written.prompt else {
        return Ok(None);
    };
    let text = prompt.get_ref().trim();
    if text.is_empty() || text.len() > PROMPT_BYTES {
        return Err(fault(
            "invalid value for `prompt`",
            prompt.span(),
            "empty, or longer than 8 KB",
            "write a few sentences, or remove the line",
        ));
    }
    Ok(Some(text.to_owned()))
}

fn question(written: &WrittenFields) -> Result<Option<String>, ConfigFault> {
    let Some(question) = &written.question else {
        return Ok(None);
    };
    let line = PlainLine::flatten(question.get_ref(), QUESTION_CHARS);
    if line.is_empty() {
        return Err(fault(
            "invalid value for `question`",
            question.span(),
            "empty",
            "write a sentence, or remove the line",
        ));
    }
    Ok(Some(line.to_string()))
}

fn time(name: &str, written: Option<&Spanned<String>>, usual: u64) -> Result<u64, ConfigFault> {
    let Some(written) = written else {
        return Ok(usual);
    };
    let message = format!("invalid value for `{name}`");
    match written.get_ref().parse::<TimeLimit>() {
        Ok(time) if time.ms() <= LONGEST_MS => Ok(time.ms()),
        Ok(_) => Err(fault(
            message,
            written.span(),
            "longer than 1h",
            "use at most 1h",
        )),
        Err(bad) => Err(fault(message, written.span(), bad.problem, bad.hint)),
    }
}

fn repair(written: &WrittenFields) -> Result<Option<UserRepair>, ConfigFault> {
    let (Some(argv), Some(check)) = (&written.repair, &written.check) else {
        return Ok(None);
    };
    let program = argv.get_ref().first().cloned().unwrap_or_default();
    let does = written.does.as_ref().map(Spanned::get_ref);
    let does = does.cloned().unwrap_or_else(|| format!("run {program}"));
    Ok(Some(UserRepair {
        does: PlainLine::flatten(&does, QUESTION_CHARS).to_string(),
        argv: command("repair", argv)?,
        check: command("check", check)?,
        timeout_ms: time("timeout", written.timeout.as_ref(), REPAIR_MS)?,
    }))
}

/// Checks a command against the rules for repairs that no setting lifts.
fn command(name: &str, written: &Spanned<Vec<String>>) -> Result<Vec<String>, ConfigFault> {
    let argv = written.get_ref();
    let wrong = |label: &str, hint: &str| {
        let message = format!("invalid value for `{name}`");
        Err(fault(message, written.span(), label, hint))
    };
    let Some(program) = argv.first().filter(|program| !program.trim().is_empty()) else {
        return wrong(
            "no program",
            "name the program and its arguments: [\"pg_ctl\", \"start\"]",
        );
    };
    if argv.iter().any(|word| word.contains('\0')) {
        return wrong("it has a NUL character", "remove it");
    }
    if program.contains('/') && !program.starts_with('/') {
        return wrong(
            "a path in the workspace, where an agent may write",
            "use a program in PATH, or an absolute path outside of the workspace",
        );
    }
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let is_wrapped = WRAPPERS.contains(&base(program).as_str());
    let started = argv.iter().take(if is_wrapped { argv.len() } else { 1 });
    let started: Vec<String> = started.map(|word| base(word)).collect();
    let is_one_of = |names: &[&str]| started.iter().any(|word| names.contains(&word.as_str()));
    if is_one_of(&FORBIDDEN) {
        return wrong(
            "it gets more rights, or changes the system",
            "regreen never does that; use first = [\"ask\"] to be asked instead",
        );
    }
    let has_script = argv.iter().skip(1).any(|word| is_script_option(word));
    if is_one_of(&SHELLS) && has_script {
        return wrong(
            "a shell string",
            "write a script of your own outside of the workspace, and name it here",
        );
    }
    Ok(argv.clone())
}

/// Whether an option has a shell run a string: `-c`, `-lc`.
fn is_script_option(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    letters.ends_with('c') && letters.chars().all(|c| c.is_ascii_lowercase())
}

fn half_a_repair(written: &WrittenFields, span: &Range<usize>, is_wanted: bool) -> ConfigFault {
    let hint = "a repair of your own has \"repair\" in first, and the lines repair = [program, …] and check = [program, …]";
    let has = |what: bool, name: &str| (!what).then(|| format!("`{name}` is missing"));
    let missing = has(is_wanted, "\"repair\" in first")
        .or_else(|| has(written.repair.is_some(), "repair"))
        .or_else(|| has(written.check.is_some(), "check"));
    let label = missing.unwrap_or_default();
    fault(
        "a repair that regreen can't make",
        span.clone(),
        label,
        hint,
    )
}

/// A repository may offer texts and an order, but no commands.
fn refuse_commands(written: &WrittenFields, file: &ConfigFile) -> Result<(), ConfigFault> {
    let commands = written.command_lines().into_iter();
    let mut set = commands.filter_map(|(name, span)| Some((name, span?)));
    match set.next() {
        Some((name, span)) => Err(may_not(name, span, file)),
        None => Ok(()),
    }
}

fn may_not(name: &str, span: Range<usize>, file: &ConfigFile) -> ConfigFault {
    fault(
        format!("a repository may not set `{name}`"),
        span,
        crate::config::read::CHOOSES_PROGRAM,
        format!("if you trust it, write the template in {}", file.user_file),
    )
}

fn twice(name: &str, span: Range<usize>) -> ConfigFault {
    fault(
        format!("two templates for `{name}`"),
        span,
        "the second one",
        "make one template of them: `first` may name several strategies",
    )
}

fn invalid(error: &toml::de::Error) -> ConfigFault {
    let label = error.message().lines().collect::<Vec<&str>>().join(", ");
    fault(
        "invalid recovery template",
        error.span().unwrap_or_default(),
        label,
        EXAMPLE,
    )
}

fn fault(
    message: impl Into<String>,
    span: Range<usize>,
    label: impl Into<String>,
    hint: impl Into<String>,
) -> ConfigFault {
    ConfigFault {
        message: message.into(),
        span,
        label: label.into(),
        hint: hint.into(),
    }
}
