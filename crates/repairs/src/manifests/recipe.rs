//! Judges a recipe as a shell would run it: which programs it starts, on which scripts of the
//! workspace, and the first thing in it that isn't known to be harmless. It uses an allowlist,
//! because dangerous commands can't be listed completely.

use crate::package_names::is_listed;

use super::shell_reader::{Command, read};

/// The result of reading a recipe. The text isn't kept, because it may contain secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) programs: Vec<String>,
    /// Files of the workspace that it runs.
    pub(super) scripts: Vec<String>,
    /// The part that a person should see first.
    pub(super) doubt: Option<String>,
}

/// Programs that only print, read, or create what they are told to.
const HARMLESS: &str = "\
    : [ base64 basename cat cp cut date dirname echo expr false flatc grep head jq ls md5sum \
    mkdir paste printf protoc pwd seq set sha256sum tail test touch tr true uniq wc";

/// Programs that run a script, each with the option for code on the command line.
const INTERPRETERS: [(&str, &str); 9] = [
    ("python", "-c"),
    ("python3", "-c"),
    ("node", "-e"),
    ("sh", ""),
    ("bash", ""),
    ("ruby", "-e"),
    ("perl", "-e"),
    ("php", "-r"),
    ("lua", "-e"),
];

/// Python modules that only create files or tables.
const MODULES: [&str; 2] = ["alembic", "grpc_tools.protoc"];

/// Variables that influence only the result.
const VARIABLES: &str = "\
    NODE_ENV LC_ALL LANG LANGUAGE TZ SOURCE_DATE_EPOCH PYTHONHASHSEED PYTHONPATH";

/// Parts of scripts that do more than create a file.
const RISKY: [&str; 34] = [
    "sudo",
    "rm -",
    "rmtree",
    "rmsync",
    "rmdirsync",
    "unlink",
    "os.remove",
    "-delete",
    "rimraf",
    "git push",
    "git reset",
    "git clean",
    "git checkout",
    "git restore",
    "publish",
    "deploy",
    "curl",
    "wget",
    "urlopen",
    "requests.",
    "socket",
    "fetch(",
    "http.get",
    "https.get",
    "ssh ",
    "scp ",
    "kubectl",
    "terraform",
    "docker",
    "drop table",
    "drop database",
    "truncate ",
    "mkfs",
    "dd if=",
];

/// Returns the first part of a script that a person should see.
pub(super) fn risky_word(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let word = RISKY.iter().find(|word| text.contains(**word));
    word.map(|word| word.trim().to_owned())
}

impl Recipe {
    pub(super) fn of(text: &str) -> Self {
        let mut recipe = Self::default();
        match read(text) {
            Some(commands) => commands.iter().for_each(|command| recipe.add(command)),
            None => recipe.doubt("a command that cannot be read"),
        }
        recipe
    }

    fn doubt(&mut self, what: impl Into<String>) {
        self.doubt.get_or_insert(what.into());
    }

    fn add(&mut self, command: &Command) {
        let is_sure = |place: &String| is_inside(place) && !place.contains('$');
        if let Some(place) = command.writes.iter().find(|place| !is_sure(place)) {
            self.doubt(format!("> {}", shown(place)));
        }
        let is_assignment = |word: &&String| variable(word).is_some();
        let assigned = command.words.iter().take_while(is_assignment);
        let strange = assigned
            .filter_map(|word| variable(word))
            .find(|name| !is_listed(VARIABLES, name));
        if let Some(name) = strange {
            self.doubt(format!("{name}="));
        }
        let words: Vec<&str> = command
            .words
            .iter()
            .skip_while(is_assignment)
            .map(String::as_str)
            .collect();
        if let Some((program, args)) = words.split_first() {
            self.add_program(program, args);
        }
    }

    fn add_program(&mut self, program: &str, args: &[&str]) {
        self.programs.push(shown(program));
        let leads_out = args.iter().find(|arg| !is_inside(arg));
        let interpreter = INTERPRETERS.iter().find(|(name, _)| *name == program);
        match (program, interpreter) {
            _ if leads_out.is_some() => {
                self.doubt(leads_out.map(|arg| shown(arg)).unwrap_or_default());
            }
            (_, Some((_, option))) => self.interpret(program, option, args),
            ("sed", _) if args.iter().all(|arg| is_harmless_sed(arg)) => {}
            ("awk", _) if !args.iter().any(|arg| is_risky_awk(arg)) => {}
            ("sort", _) if !args.iter().any(|arg| arg.starts_with("-o")) => {}
            ("mv", _) if args.iter().all(|arg| arg.starts_with(['-', MADE])) => {}
            ("git", _) if matches!(args.first(), Some(&("describe" | "rev-parse"))) => {}
            ("protoc" | "flatc", _) if args.iter().any(|arg| arg.contains("plugin")) => {
                self.doubt(format!("{program} with a plugin"));
            }
            ("alembic", _) if args.first() == Some(&"upgrade") => {}
            (path, _) if path.contains('/') && is_inside(path) && !path.contains(['$', MADE]) => {
                self.scripts.push(path.to_owned());
            }
            (name, _) if is_listed(HARMLESS, name) => {}
            (name, _) => self.doubt(shown(name)),
        }
    }

    /// Handles a script of the workspace, or code on the command line.
    fn interpret(&mut self, program: &str, option: &str, args: &[&str]) {
        let args: Vec<&str> = args
            .iter()
            .copied()
            .skip_while(|arg| {
                ["-u", "-B", "-I", "-s", "-E", "-eu", "-e"].contains(arg) && option != *arg
            })
            .collect();
        match args.as_slice() {
            [first, text, ..] if *first == option => {
                if let Some(word) = risky_word(text).or_else(|| starts_something(text)) {
                    self.doubt(word);
                }
            }
            ["-m", module, ..] if program.starts_with("python") && MODULES.contains(module) => {}
            [file, ..] if !file.starts_with('-') && !file.contains(['$', MADE]) => {
                self.scripts.push((*file).to_owned());
            }
            _ => self.doubt(shown(program)),
        }
    }
}

/// Returns a word for starting programs or evaluating code.
fn starts_something(text: &str) -> Option<String> {
    let words = [
        "subprocess",
        "system",
        "exec",
        "eval",
        "spawn",
        "popen",
        "__import__",
        "`",
    ];
    let found = words.iter().find(|word| text.contains(**word));
    found.map(|word| (*word).to_owned())
}

/// Stands for automatic variables such as `$@` and `$<`.
pub(super) const MADE: char = '\u{1}';

/// Returns the name to which a word assigns.
fn variable(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = !name.is_empty() && name.chars().all(fits);
    (is_name && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// Returns whether a word mentions no path outside of the workspace.
fn is_inside(word: &str) -> bool {
    let places = word.split(['=', ':', ',']);
    let is_plain = |place: &str| {
        let leads_out = place.starts_with(['/', '~']) || place.split('/').any(|part| part == "..");
        !leads_out || place == "/dev/null" || place == "/dev/stdin"
    };
    let own = [".git", ".regreen"];
    let is_own = word.split('/').any(|part| own.contains(&part));
    // A sed script such as `s/a/b/`, or other text, isn't a path.
    let leads_out = word.starts_with(['/', '~']) || word.contains("../");
    let is_text = word.contains(char::is_whitespace) && !leads_out;
    is_text
        || (places
            .map(|place| place.trim_start_matches("-o"))
            .all(is_plain)
            && !is_own)
}

/// Accepts `s/a/b/g`, and nothing that writes or runs; files may only be read.
fn is_harmless_sed(arg: &str) -> bool {
    if let Some(rest) = arg
        .strip_prefix("s")
        .filter(|_| !arg.contains('.') || arg.starts_with("s/"))
    {
        let Some(border) = rest.chars().next() else {
            return true;
        };
        let parts: Vec<&str> = rest.split(border).collect();
        let is_script = !border.is_ascii_alphanumeric() && parts.len() == 4;
        let has_plain_end = parts.last().is_some_and(|end| {
            end.chars()
                .all(|c| c == 'g' || c == 'I' || c.is_ascii_digit())
        });
        return (is_script && has_plain_end) || border.is_ascii_alphanumeric();
    }
    let is_option = ["-e", "-n", "-E", "-r", "-ne"].contains(&arg);
    let is_file =
        !arg.starts_with('-') && arg.contains(['.', '/', MADE]) && !arg.contains([';', ' ']);
    is_option || is_file
}

fn is_risky_awk(arg: &str) -> bool {
    arg.contains("system") || arg.contains(['|', '>']) || arg.starts_with("-f") || arg == "-i"
}

/// Returns the part of a word that may be shown: a name, never a value.
fn shown(word: &str) -> String {
    let fits = |c: &char| c.is_ascii_alphanumeric() || "._-/+~".contains(*c);
    let name: String = word.chars().take_while(fits).take(30).collect();
    if name.is_empty() {
        "$".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_that_only_create_files_are_harmless() {
        for text in [
            "mkdir -p gen; echo \"V='`cat version.txt`'\" > \u{1}",
            "echo x > \u{1}",
            "node gen.js > src/v.js",
            "python3 -u tools/gen.py --out gen && touch gen/done",
            "sed 's/@V@/1.2/g' a.in > \u{1}.tmp && mv \u{1}.tmp \u{1}",
            "./scripts/gen.sh a b 2>/dev/null",
            "protoc -I proto --python_out=gen proto/a.proto",
            "NODE_ENV=production node gen.js >out.js 2>&1",
            "awk '{print $1}' a.txt > \u{1}",
            "echo $(git describe --tags) > v.txt",
            "python3 -c 'print(1)' > v.py",
            "python3 migrate.py # the database",
        ] {
            assert_eq!(Recipe::of(text).doubt, None, "{text}");
        }
        assert_eq!(Recipe::of("sh a.sh; ./b x").scripts, ["a.sh", "./b"]);
    }

    #[test]
    fn all_other_recipes_are_doubted() {
        for text in [
            "rm -f x",
            "/bin/rm -rf data",
            "\\rm -r data",
            "r''m -rf data",
            "\"rm\" x",
            "echo x; rm x",
            "echo `rm x`",
            "echo \"$(rm x)\"",
            "echo x & rm x",
            "true || rm x",
            "(rm x)",
            "{ rm x; }",
            "if true; then rm x; fi",
            "$RM x",
            "$(echo rm) x",
            "find . -delete",
            "find . -name x -exec rm {} +",
            "xargs rm < a",
            "git clean -fdx",
            "git -C . reset --hard",
            "git checkout .",
            "env rm x",
            "exec rm x",
            "eval rm x",
            "command rm x",
            "PATH=. cat x",
            "BASH_ENV=x sh a.sh",
            "curl x > y",
            "nc h 1",
            "make clean",
            "npm run clean",
            "yarn clean",
            "npx x",
            "sed -i s/a/b/ x",
            "sed -ni p x",
            "sed 's/a/b/w out' x",
            "sed 's/a/touch x/e' x",
            "sed 'w out' x",
            "awk 'BEGIN{system(\"rm x\")}'",
            "echo x > ../out",
            "echo x > /etc/x",
            "echo x >~/x",
            "echo x > .git/hooks/pre-commit",
            "cp a ../../b",
            "cp a '../b c'",
            "echo x > $HOME/y",
            "mkdir -p /opt/x",
            "mv data old",
            "psql -c 'DROP TABLE x'",
            "python3 -c 'import shutil; shutil.rmtree(\"x\")'",
            "python3 -m pip install x",
            "bash -c 'rm x'",
            "sh",
            "node -r ./x gen.js",
            "sort -o src.txt src.txt",
            "sudo true",
            "cd .. && echo x > y",
            "echo 'open",
            "cat <<EOF",
            ". ./x.sh",
            "source x.sh",
        ] {
            assert!(Recipe::of(text).doubt.is_some(), "{text}");
        }
    }
}
