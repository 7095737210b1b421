use regex::Regex;

use crate::scene::{Scene, Told};

impl Scene {
    /// What a command answers, whenever it was.
    pub(crate) fn look(&self, arguments: &[&str]) -> Told {
        let mut told = self.regreen(arguments);
        told.stdout = timeless(&told.stdout);
        told.stderr = timeless(&told.stderr);
        told
    }

    /// A run whose own words are of no interest here.
    pub(crate) fn has_run(self, flags: &[&str], code: i32) -> Self {
        let told = self.run(flags);
        assert_eq!(told.code, Some(code), "{}{}", told.stdout, told.stderr);
        self
    }

    /// The names of the runs, oldest first.
    pub(crate) fn runs(&self) -> Vec<String> {
        let folder = std::fs::read_dir(self.path(".regreen/runs")).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

pub(crate) fn timeless(text: &str) -> String {
    [
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\b", "[MOMENT]"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b", "[MOMENT]"),
        (r"(is at work|verifying) for \d+s\b", "$1 for [TIME]"),
        (r#""commit": "[0-9a-f]{7,40}""#, r#""commit": "[HASH]""#),
        (r#""process": \d+"#, r#""process": [PID]"#),
        (
            r"stays committed \([0-9a-f, ]+\)",
            "stays committed ([HASHES])",
        ),
        (r#""time_ms": \d+"#, r#""time_ms": [TIME]"#),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (from, to)| {
        let from = Regex::new(from).unwrap();
        from.replace_all(&text, to).into_owned()
    })
}
