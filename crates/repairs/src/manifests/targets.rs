//! Targets of make and just. A target creates the file it is named after, and those that its recipe
//! writes.

use super::recipe::{MADE, Recipe};
use super::{ManifestContent, Target};
use crate::package_names::is_target;

pub(super) fn makefile(text: &str) -> ManifestContent {
    let joined = text.replace("\\\n", " ");
    let variables = Variables::of(&joined);
    let mut targets: Vec<Target> = Vec::new();
    let mut everywhere = joined.lines().find_map(steers);
    let mut open = Vec::new();
    for line in joined.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            let recipe = Recipe::of(&variables.expand(recipe.trim_start_matches(PREFIXES)));
            everywhere = everywhere.or(loose(&open, &recipe));
            add_recipe(&mut targets, &open, line, &recipe);
        } else if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            let rule = variables.expand(line);
            open = rule_names(&rule);
            let (needs, doubt) = needs(&rule);
            targets.extend(open.iter().map(|name| named(name, needs.clone(), &doubt)));
            let inline = rule.split_once(';').map_or("", |(_, recipe)| recipe);
            let recipe = Recipe::of(inline);
            everywhere = everywhere.or(loose(&open, &recipe));
            add_recipe(&mut targets, &open, inline, &recipe);
        }
    }
    saying(targets, everywhere.as_ref())
}

/// Characters that may precede a command.
const PREFIXES: [char; 4] = ['@', '-', '+', ' '];

/// Returns the risk of a rule that isn't named after one file: it may apply to any target.
fn loose(open: &[String], recipe: &Recipe) -> Option<String> {
    let script = recipe.scripts.first().map(|_| "a script".to_owned());
    recipe.doubt.clone().or(script).filter(|_| open.is_empty())
}

/// Returns a word that includes other files, runs something immediately, or changes how recipes
/// run.
fn steers(line: &str) -> Option<String> {
    let first = line.split_ascii_whitespace().next().unwrap_or_default();
    let words = [
        "include", "-include", "sinclude", "load", "-load", "define", "vpath", "export", "override",
    ];
    let anywhere = [
        "$(shell",
        "${shell",
        "$(eval",
        "${eval",
        "$(file",
        "${file",
        "$(guile",
        "$(call",
        "$(foreach",
        "!=",
        "SHELL",
        "MAKEFLAGS",
        "MAKEFILES",
        ".RECIPEPREFIX",
        ".DEFAULT",
        ".SECONDEXPANSION",
        "PATH",
        "LD_",
        "BASH_ENV",
        "NODE_OPTIONS",
    ];
    let is_recipe = line.starts_with('\t') && !line.contains("$(");
    let found = words.into_iter().find(|word| *word == first && !is_recipe);
    found
        .or_else(|| {
            anywhere
                .into_iter()
                .find(|word| line.contains(word) && !is_recipe)
        })
        .map(|word| word.trim_start_matches(['$', '(', '{']).to_owned())
}

/// The variables of a Makefile that are plain text.
struct Variables(Vec<(String, String)>);

/// How deeply variables may refer to other variables.
const MAX_EXPANSIONS: usize = 5;

impl Variables {
    fn of(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with(['\t', '#']));
        let set = lines.filter_map(|line| {
            let (name, value) = line.split_once('=')?;
            let name = name.trim_end_matches([':', '?', '+']).trim();
            let value = value.split('#').next().unwrap_or_default().trim();
            (is_target(name) && !name.contains(':')).then(|| (name.to_owned(), value.to_owned()))
        });
        Self(set.collect())
    }

    /// Expands a line as make does. Automatic variables become one character; unknown variables
    /// stay.
    fn expand(&self, line: &str) -> String {
        let mut text = line.to_owned();
        for _ in 0..MAX_EXPANSIONS {
            for (name, value) in &self.0 {
                // A variable that is set twice may have either value.
                let is_sure = self.0.iter().filter(|(other, _)| other == name).count() == 1;
                let value = if is_sure { value.as_str() } else { "$" };
                text = text.replace(&format!("$({name})"), value);
                text = text.replace(&format!("${{{name}}}"), value);
            }
        }
        let made = MADE.to_string();
        for sign in ["@", "<", "^", "*", "?", "+"] {
            for spelled in [
                format!("${sign}"),
                format!("$({sign}D)"),
                format!("$({sign}F)"),
            ] {
                text = text.replace(&spelled, &made);
            }
        }
        text.replace("$$", "$")
    }
}

/// Returns the targets of a rule; empty for variables and conditionals.
fn rule_names(line: &str) -> Vec<String> {
    let Some((names, rest)) = line.split_once(':') else {
        return Vec::new();
    };
    let is_variable = rest.starts_with('=') || names.contains('=') || rest.starts_with(":=");
    if is_variable || line.starts_with([' ', '.']) {
        return Vec::new();
    }
    let names = names.split_ascii_whitespace();
    names
        .filter(|name| is_target(name))
        .map(str::to_owned)
        .collect()
}

/// Returns the prerequisites of a rule, and a doubt if some aren't plain names.
fn needs(line: &str) -> (Vec<String>, Option<String>) {
    let after = line.split_once(':').map_or("", |(_, rest)| rest);
    let names = after
        .split([';', '#'])
        .next()
        .unwrap_or_default()
        .trim_start_matches(':')
        .split_ascii_whitespace()
        .filter(|name| *name != "|" && *name != "&&");
    let (plain, other): (Vec<&str>, Vec<&str>) = names.partition(|name| is_target(name));
    let doubt = other
        .first()
        .map(|_| "prerequisites that are not plain names".to_owned());
    (plain.into_iter().map(str::to_owned).collect(), doubt)
}

fn named(name: &str, needs: Vec<String>, doubt: &Option<String>) -> Target {
    let is_file = name.contains(['/', '.']);
    Target {
        makes: is_file.then(|| name.to_owned()).into_iter().collect(),
        needs,
        risk: doubt.clone(),
        ..Target::called(name)
    }
}

fn add_recipe(targets: &mut [Target], names: &[String], line: &str, recipe: &Recipe) {
    for target in targets
        .iter_mut()
        .filter(|target| names.contains(&target.name))
    {
        target.makes.extend(written_by(line));
        target.makes.dedup();
        target.add(recipe);
    }
}

pub(super) fn justfile(text: &str) -> ManifestContent {
    let mut targets: Vec<Target> = Vec::new();
    let everywhere = text.lines().find_map(steers_just);
    let mut open = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            let line = line.trim_start().trim_start_matches(['@', '-']);
            add_recipe(&mut targets, &open, line, &just_recipe(line));
        } else if let Some((head, rest)) = line.split_once(':')
            && !rest.starts_with('=')
            && !line.starts_with('#')
        {
            // Recipes with parameters can't run without values.
            let mut words = head.trim_start_matches('@').split_ascii_whitespace();
            let name = words.next().filter(|name| is_target(name));
            open = name
                .filter(|_| words.next().is_none())
                .map(str::to_owned)
                .into_iter()
                .collect();
            let (needs, doubt) = needs(line);
            targets.extend(open.iter().map(|name| Target {
                needs: needs.clone(),
                risk: doubt.clone(),
                ..Target::called(name)
            }));
        }
    }
    saying(targets, everywhere.as_ref())
}

/// Judges a recipe of just. Those with expressions or their own interpreter can't be judged.
fn just_recipe(line: &str) -> Recipe {
    match line.starts_with("#!") || line.contains("{{") {
        true => Recipe {
            doubt: Some("a recipe that cannot be read".to_owned()),
            ..Recipe::default()
        },
        false => Recipe::of(line),
    }
}

fn steers_just(line: &str) -> Option<String> {
    let first = line.split_ascii_whitespace().next()?;
    let words = ["import", "import?", "mod", "mod?", "set", "export"];
    let word = words.iter().find(|word| **word == first);
    let is_run_at_once = !line.starts_with([' ', '\t', '#']) && line.contains('`');
    word.map(|word| (*word).to_owned())
        .or_else(|| is_run_at_once.then(|| "`".to_owned()))
}

/// Adds the risk of the whole file to each of its targets.
fn saying(mut targets: Vec<Target>, everywhere: Option<&String>) -> ManifestContent {
    for target in &mut targets {
        target.risk = target.risk.take().or_else(|| everywhere.cloned());
    }
    ManifestContent {
        targets,
        ..ManifestContent::default()
    }
}

/// Returns the files that a recipe writes: after `>`, `-o`, `--output`, `tee`, `touch`.
pub(super) fn written_by(recipe: &str) -> Vec<String> {
    let spaced = recipe.replace(">>", " > ").replace('>', " > ");
    let words: Vec<&str> = spaced
        .split(|c: char| c.is_whitespace() || ";&|()".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let writes = |word: &str| matches!(word, ">" | "-o" | "--output" | "--out" | "tee" | "touch");
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [before, path] if writes(before) => Some(*path),
        _ => None,
    });
    let assigned = words.iter().filter_map(|word| {
        word.strip_prefix("--output=")
            .or_else(|| word.strip_prefix("--outfile="))
    });
    let is_path = |word: &&str| is_target(word) && !word.starts_with('/');
    pairs
        .chain(assigned)
        .map(|word| word.trim_matches(['\'', '"']))
        .filter(is_path)
        .map(|word| word.trim_start_matches("./").to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn makes(content: &ManifestContent) -> Vec<(&str, Vec<&str>)> {
        content
            .targets
            .iter()
            .map(|target| {
                (
                    target.name.as_str(),
                    target.makes.iter().map(String::as_str).collect(),
                )
            })
            .collect()
    }

    #[test]
    fn a_rule_creates_the_file_it_is_named_after() {
        let content = makefile(
            "V := 1\nX = a:b\n.PHONY: gen\ngen: gen/version.py\ngen/version.py: version.txt\n\
             \tmkdir -p gen; echo x > $@\nschema:\n\tprotoc -o api/s.bin x.proto\n",
        );
        assert_eq!(
            makes(&content),
            [
                ("gen", vec![]),
                ("gen/version.py", vec!["gen/version.py"]),
                ("schema", vec!["api/s.bin"])
            ]
        );
    }

    fn risks(content: &ManifestContent) -> Vec<Option<&str>> {
        content.targets.iter().map(|t| t.risk.as_deref()).collect()
    }

    #[test]
    fn includes_and_expansions_of_a_makefile_are_doubted() {
        let plain = "PY = python3\nG := $(PY) gen.py\na.py: a.txt\n\t@$(G) $< > $@\n";
        let content = makefile(plain);
        assert_eq!(risks(&content), [None]);
        assert_eq!(content.targets[0].scripts, ["gen.py"]);
        for line in [
            "include other.mk",
            "-include x",
            "SHELL = ./sh",
            "X := $(shell rm x)",
            "X != rm x",
            "%.txt:\n\trm x",
            "define f\nrm\nendef",
            "PY = rm",
            "a.py: SHELL = ./sh",
            "export PATH = .",
            "PATH = .",
            "%.txt:\n\t./other.sh",
        ] {
            let content = makefile(&format!("{plain}{line}\n"));
            assert!(content.targets[0].risk.is_some(), "{line}");
        }
        for rule in [
            "a.py:\n\t$(MAKE) clean",
            "a.py:\n\t$(RM) x",
            "a.py: ; rm x",
            "D = rm x\na.py:\n\t$(D)",
            "a.py: $(wildcard *)\n\techo x > $@",
        ] {
            let content = makefile(rule);
            assert!(content.targets[0].risk.is_some(), "{rule}");
        }
    }

    #[test]
    fn imports_and_settings_of_a_justfile_are_doubted() {
        for text in [
            "import 'x'\ngen:\n  echo a > b\n",
            "set shell := ['x']\ngen:\n  echo a > b\n",
            "v := `rm x`\ngen:\n  echo a > b\n",
            "gen:\n  #!/bin/x\n",
            "gen:\n  echo {{v}} > b\n",
        ] {
            assert!(justfile(text).targets[0].risk.is_some(), "{text}");
        }
    }

    #[test]
    fn a_recipe_creates_the_files_it_writes() {
        let content = justfile("v := '1'\ngen:\n    node gen.js > src/v.js\nrelease tag:\n    x\n");
        assert_eq!(makes(&content), [("gen", vec!["src/v.js"])]);
    }
}
