//! Services: which programs run during a row.
//!
//! A row declares one with `**Service**` and `**Ready**`, or as smart-ralph does: with a `VE` row
//! that starts a server in the background. It runs for the rows that follow in the same section or
//! group, until a row ends it.

use regreen_model::{Fields, Service, Task, TaskId, TaskKind};

use super::code::{Piece, pieces, spans};
use super::numbering::letters;
use super::verify::verify_commands;
use super::{RowId, TaskFile};
use crate::markdown::LineKind;

/// The ids of smart-ralph's rows that check the running program.
const CHECKS_OF_PROGRAM: &str = "VE";
/// The name of the field, in any case.
const SERVICE_FIELD: &str = "service";
/// Values of a Service field that end running services.
const STOP: [&str; 4] = ["stop", "none", "end", "-"];

/// First words of steps that start something.
const START: [&str; 5] = ["start", "launch", "run", "boot", "bring up"];
/// Things that keep running once started.
const SERVERS: [&str; 3] = ["server", "service", "daemon"];
const BACKGROUND: [&str; 3] = ["in the background", "in background", "(background"];
/// First words of steps that regreen carries out itself for a service.
const OWN_STEPS: [&str; 9] = [
    "wait", "poll", "sleep", "check", "verify", "confirm", "ensure", "record", "save",
];
/// Words in the titles of smart-ralph's startup rows.
const STARTUP: [&str; 5] = ["startup", "start up", "start ", "launch", "boot"];
const CLEANUP: [&str; 6] = [
    "cleanup",
    "clean up",
    "clean-up",
    "teardown",
    "tear down",
    "stop",
];

impl TaskFile {
    /// Returns the services that run during a row: its own, and those of finished rows above it. A
    /// fix needs the same as its original.
    #[must_use]
    pub fn services(&self, row: RowId) -> Vec<Service> {
        let row = self.root(row);
        if self.ends_services(row) {
            return Vec::new();
        }
        let mut running: Vec<(RowId, Service)> = Vec::new();
        let above = self.rows().take_while(|above| *above < row);
        for above in above.filter(|above| self.may_be_about_services(*above)) {
            if self.ends_services(above) {
                running.retain(|(declared, _)| !self.is_in_scope(*declared, above));
            }
            let service = self.declared_service(above);
            let service = service.filter(|_| self.is_in_scope(above, row));
            running.extend(service.map(|service| (above, service.of_others())));
        }
        let own = self.declared_service(row);
        let running = running.into_iter().map(|(_, service)| service);
        running.chain(own).collect()
    }

    /// Returns the service that a row declares.
    #[must_use]
    pub fn declared_service(&self, row: RowId) -> Option<Service> {
        let task = self.task(row)?;
        if matches!(task.kind, TaskKind::Checklist | TaskKind::Group) || task.fix_of.is_some() {
            return None;
        }
        let service = |command: String, ready, is_whole_task| {
            Some(Service {
                task: self.key(row)?,
                command,
                ready,
                is_own: true,
                is_whole_task,
            })
        };
        if let Some(field) = &task.fields.service {
            let command = service_command(field).filter(|command| !says_stop(command))?;
            let ready = task.fields.ready.as_deref().map(verify_commands);
            return service(
                command,
                ready.unwrap_or_default(),
                task.fields.action.is_none(),
            );
        }
        let (command, is_whole_task) = started_by_check(&task)?;
        service(command, self.verify_commands(row), is_whole_task)
    }

    /// Returns whether a row ends running services: it says so, or it is smart-ralph's cleanup row.
    #[must_use]
    pub fn ends_services(&self, row: RowId) -> bool {
        let Some(task) = self.task(row) else {
            return false;
        };
        match &task.fields.service {
            Some(field) => service_command(field).is_some_and(|command| says_stop(&command)),
            None => is_check_of_program(&task) && has_any(&task.title, &CLEANUP),
        }
    }

    /// Returns whether a row may have started a service or ended one, without reading its fields: a
    /// plan has thousands of rows, and hardly one of them does.
    fn may_be_about_services(&self, row: RowId) -> bool {
        let Some(row) = self.row(row).filter(|row| row.done && row.fix_of.is_none()) else {
            return false;
        };
        let lines = self.lines.get(row.block.clone()).unwrap_or_default();
        let block = match lines {
            [first, .., last] => self.text().get(first.first..last.end),
            [line] => self.text().get(line.first..line.end),
            [] => None,
        };
        let has_field = |block: &str| {
            if !mentions_services(block) {
                return false;
            }
            let mut bold = block
                .split("**")
                .map(|name| name.trim_end_matches(':').trim());
            bold.any(|name| name.eq_ignore_ascii_case(SERVICE_FIELD))
        };
        row.id.as_ref().is_some_and(is_of_program) || block.is_some_and(has_field)
    }

    /// Returns whether a row is in the same group as `declared` or, outside of groups, in its
    /// section.
    fn is_in_scope(&self, declared: RowId, row: RowId) -> bool {
        match self.parent(declared) {
            Some(group) => {
                let mut above = std::iter::successors(self.parent(row), |row| self.parent(*row));
                above.any(|above| above == group)
            }
            None => self.is_in_section(declared, row),
        }
    }

    /// Whether a row is in the same section. A section ends at the next heading of the same or a
    /// higher level.
    fn is_in_section(&self, declared: RowId, row: RowId) -> bool {
        let (Some(from), Some(to)) = (self.row(declared), self.row(row)) else {
            return false;
        };
        let level = |at: usize| self.heading_level(at);
        let own = (0..from.line).rev().find_map(level);
        let ends = |between: usize| own.is_none_or(|own| between <= own);
        !(from.line..to.line).filter_map(level).any(ends)
    }

    fn heading_level(&self, line: usize) -> Option<usize> {
        let line = self.lines.get(line)?;
        if line.kind != LineKind::Heading {
            return None;
        }
        let text = self.text().get(line.first..line.end)?;
        let level = text.bytes().take_while(|byte| *byte == b'#').count();
        Some(level.max(1))
    }
}

/// Whether the name of the field is anywhere in the text. Few bytes are a `v`.
fn mentions_services(text: &str) -> bool {
    let name = SERVICE_FIELD.as_bytes();
    let Some(mark) = name.iter().position(|byte| *byte == b'v') else {
        return true;
    };
    let bytes = text.as_bytes();
    let is_at = |v: usize| {
        let from = v.checked_sub(mark);
        let found = from.and_then(|from| bytes.get(from..from + name.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(name))
    };
    let mut marks = bytes.iter().enumerate();
    marks.any(|(at, byte)| byte.eq_ignore_ascii_case(&b'v') && is_at(at))
}

/// Returns what a row starts in the background without declaring a service; it ends with the
/// attempt.
#[must_use]
pub fn background_start(fields: &Fields) -> Option<String> {
    let texts = fields.action.iter().chain(&fields.verify);
    let commands = texts.flat_map(|field| {
        let mut commands = Vec::new();
        for piece in pieces(field) {
            match piece {
                Piece::Code { code, .. } => commands.extend(code.lines().map(str::to_owned)),
                Piece::Line { content, .. } => {
                    let says = has_any(content, &BACKGROUND);
                    let all = spans(content).into_iter().map(|span| span.code);
                    let with_mark = |code: String| if says { format!("{code} &") } else { code };
                    commands.extend(all.map(with_mark).take(if says { 1 } else { usize::MAX }));
                }
            }
        }
        commands
    });
    let mut started = commands.filter(|command| is_in_background(command));
    started.next().map(|command| foreground(&command))
}

/// Whether this is `npm run dev &`, `nohup ./serve` or `npm run dev & echo $! > pid`, but not `a &&
/// b`, nor a command that the same line waits for or ends.
fn is_in_background(command: &str) -> bool {
    let command = command.trim();
    let starts = command.starts_with("nohup ")
        || command.starts_with("setsid ")
        || (command.ends_with('&') && !command.ends_with("&&"))
        || command.contains(" & ");
    let ends_it = ["wait", "kill"].iter().any(|word| {
        let mut words = command.split(|c: char| c.is_whitespace() || ";&|".contains(c));
        words.any(|found| found == *word)
    });
    starts && !ends_it
}

/// Returns the command without the parts that put it into the background.
fn foreground(command: &str) -> String {
    let command = command.trim();
    let command = command.strip_prefix("nohup ").unwrap_or(command);
    let command = command.strip_prefix("setsid ").unwrap_or(command);
    let first = command.split(" & ").next().unwrap_or(command);
    let is_chain = first.ends_with("&&");
    let first = if is_chain {
        first
    } else {
        first.trim_end_matches('&')
    };
    first.trim().to_owned()
}

/// Returns the command of a Service field: fenced code, a code span, or else the first line.
fn service_command(field: &str) -> Option<String> {
    let mut lines = pieces(field).into_iter().map(|piece| match piece {
        Piece::Code { code, .. } => code,
        Piece::Line { content, .. } => {
            let span = spans(content).into_iter().next();
            span.map_or_else(|| content.trim().to_owned(), |span| span.code)
        }
    });
    let command = lines.find(|line| !line.trim().is_empty())?;
    Some(foreground(&command))
}

fn says_stop(command: &str) -> bool {
    STOP.contains(&command.trim_end_matches('.').to_ascii_lowercase().as_str())
}

fn is_check_of_program(task: &Task) -> bool {
    task.id.as_ref().is_some_and(is_of_program)
}

fn is_of_program(id: &TaskId) -> bool {
    letters(id) == CHECKS_OF_PROGRAM
}

/// Returns the command that a smart-ralph row starts, and whether its other steps only wait for it.
fn started_by_check(task: &Task) -> Option<(String, bool)> {
    if !is_check_of_program(task) || !has_any(&task.title, &STARTUP) {
        return None;
    }
    let field = task.fields.action.as_deref()?;
    let steps: Vec<Piece<'_>> = pieces(field);
    let text = |piece: &Piece<'_>| match piece {
        Piece::Line { content, .. } => (*content).to_owned(),
        Piece::Code { code, .. } => code.clone(),
    };
    let steps: Vec<String> = steps.iter().map(text).collect();
    let start = steps.iter().position(|step| starts_server(step))?;
    let span = spans(steps.get(start)?).into_iter().next()?;
    let is_template = span.code.contains("{{");
    let mut others = steps.iter().enumerate().filter(|(at, _)| *at != start);
    let is_whole_task =
        others.all(|(_, step)| step.trim().is_empty() || begins_with(step, &OWN_STEPS));
    (!is_template).then(|| (foreground(&span.code), is_whole_task))
}

/// Returns whether a step starts a program that keeps running.
fn starts_server(step: &str) -> bool {
    let before_code = step.split('`').next().unwrap_or_default();
    let is_start = begins_with(step, &START) && has_any(before_code, &SERVERS);
    is_start || has_any(step, &BACKGROUND)
}

fn has_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

/// Returns whether the first word, after a number or a bullet, is one of these.
fn begins_with(step: &str, words: &[&str]) -> bool {
    let text = step.trim_start_matches(|c: char| !c.is_alphabetic());
    let text = text.to_lowercase();
    words.iter().any(|word| text.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` lists what runs during each row, with `!` where no agent is needed.
    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let file = TaskFile::read(text);
        let found: Vec<(String, String)> = file
            .rows()
            .filter_map(|row| {
                let services = file.services(row);
                let names = services.iter().map(|service| {
                    let mark = if service.is_whole_task { "!" } else { "" };
                    format!("{}{mark}", service.command)
                });
                Some((
                    file.id(row)?.to_string(),
                    names.collect::<Vec<_>>().join(", "),
                ))
            })
            .collect();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(id, names)| (id.as_str(), names.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_declared_service_runs_to_the_end_of_its_section_or_to_a_row_that_ends_it() {
        check(
            "## One\n- [x] 1.1 Serve\n  - **Service**: `npm run dev`\n  - **Ready**: `curl -f localhost:3000`\n- [ ] 1.2 Use\n### Part\n- [ ] 1.3 Use it, too\n## Two\n- [ ] 2.1 Other\n",
            &[
                ("1.1", "npm run dev!"),
                ("1.2", "npm run dev"),
                ("1.3", "npm run dev"),
                ("2.1", ""),
            ],
        );
        check(
            "- [x] 1.1 Serve\n  - **Do**: Write serve.py\n  - **Service**: python3 serve.py\n- [x] 1.2 Use\n- [ ] 1.3 End\n  - **Service**: stop\n- [ ] 1.4 After\n- [x] 1.5 Was open\n",
            &[
                ("1.1", "python3 serve.py"),
                ("1.2", "python3 serve.py"),
                ("1.3", ""),
                ("1.4", "python3 serve.py"),
                ("1.5", "python3 serve.py"),
            ],
        );
    }

    #[test]
    fn only_rows_that_are_done_have_started_theirs_and_a_group_ends_it() {
        check(
            "- [ ] 1 Group\n  - [x] 1.1 Serve\n    - **Service**: `a`\n  - [ ] 1.2 Use\n- [ ] 2 Other\n- [ ] 3 Serve\n  - **Service**: `b`\n- [ ] 4 Use\n",
            &[
                ("1", ""),
                ("1.1", "a!"),
                ("1.2", "a"),
                ("2", ""),
                ("3", "b!"),
                ("4", ""),
            ],
        );
    }

    #[test]
    fn a_fix_runs_with_what_its_original_needs() {
        check(
            "- [x] 1.1 Serve\n  - **Service**: `a`\n- [ ] 1.2 Use\n- [ ] 1.2.1 [FIX 1.2] Fix\n",
            &[("1.1", "a!"), ("1.2", "a"), ("1.2.1", "a")],
        );
    }

    #[test]
    fn rows_of_smart_ralph_mean_the_same() {
        check(
            "- [x] VE1 [VERIFY] E2E startup: launch dev server and verify health\n  - **Do**:\n    1. Start dev server: `npm run dev` (background, save PID to /tmp/ve-pids.txt)\n    2. Wait for server ready: poll `http://localhost:3000/health` until 200 (timeout 30s)\n  - **Verify**: `curl -sf http://localhost:3000/health -o /dev/null && echo PASS`\n- [ ] VE2 [VERIFY] E2E check: run critical flow\n  - **Do**: Run `./flow.sh`\n- [ ] VE3 [VERIFY] E2E cleanup: stop server\n  - **Do**: Kill it\n",
            &[("VE1", "npm run dev!"), ("VE2", "npm run dev"), ("VE3", "")],
        );
        let file = TaskFile::read(
            "- [ ] VE1 [VERIFY] Startup\n  - **Do**: Start the instance via `make e2e &` in the background; record the PID to `/tmp/p`\n    2. Seed the database with `make seed`\n  - **Verify**: `curl -f x`\n",
        );
        let service = file.declared_service(RowId(0)).unwrap();
        assert_eq!(service.command, "make e2e");
        assert_eq!(service.ready[0].command, "curl -f x");
        assert!(!service.is_whole_task);
    }

    #[test]
    fn rows_of_smart_ralph_that_start_nothing_declare_nothing() {
        for row in [
            "- [ ] VE1 [VERIFY] E2E startup: build the binary\n  - **Do**:\n    1. Build: `npx tsup`\n",
            "- [ ] VE1 [VERIFY] Startup\n  - **Do**: Start staging: `make staging-up` (Docker)\n",
            "- [ ] VE1 [VERIFY] Startup\n  - **Do**: Start dev server: `{{dev_cmd}}` (background)\n",
            "- [ ] V1 Startup\n  - **Do**: Start dev server: `npm run dev` (background)\n",
        ] {
            let file = TaskFile::read(row);
            assert_eq!(file.declared_service(RowId(0)), None, "{row}");
        }
    }

    #[test]
    fn what_a_row_starts_in_the_background_is_found() {
        let found = |row: &str| background_start(&TaskFile::read(row).tasks()[0].fields);
        for (step, expected) in [
            ("Run `npm run dev &`", Some("npm run dev")),
            (
                "Run `nohup ./serve > log 2>&1 &`",
                Some("./serve > log 2>&1"),
            ),
            ("Start `make serve` in the background", Some("make serve")),
            ("Run `a && b`", None),
            ("Run `./serve & sleep 1; curl x; kill %1`", None),
            ("Run `make test`", None),
        ] {
            let row = format!("- [ ] 1.1 Serve\n  - **Do**: {step}\n");
            assert_eq!(found(&row).as_deref(), expected, "{step}");
        }
    }
}
