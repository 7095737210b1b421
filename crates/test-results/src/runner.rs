//! The test runners, and how to call them.

/// A program that runs tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    Pytest,
    Unittest,
    CargoTest,
    Nextest,
    GoTest,
    Jest,
    Vitest,
    Mocha,
    NodeTest,
}

/// How a runner is called.
pub(crate) struct Call {
    pub(crate) runner: Runner,
    /// The words that begin the command. The first is a program, which may stand in a folder.
    pub(crate) words: &'static [&'static str],
    /// Options by which all tests run and all results are named.
    pub(crate) whole: &'static [&'static str],
    /// Options without a value that may stay when only some tests run.
    pub(crate) flags: &'static [&'static str],
    /// Options whose value is the next word, which may stay as well.
    pub(crate) valued: &'static [&'static str],
    /// Options that stop at the first failure and that nothing takes back.
    pub(crate) stopping: &'static [&'static str],
}

const PYTEST: Call = Call {
    runner: Runner::Pytest,
    words: &["pytest"],
    whole: &["-rA", "--maxfail=0"],
    flags: &[
        "-q",
        "-qq",
        "-v",
        "-vv",
        "-s",
        "-x",
        "-ra",
        "-rA",
        "-rf",
        "-l",
        "-qx",
        "-xq",
        "-xv",
        "-vx",
        "--quiet",
        "--verbose",
        "--exitfirst",
        "--no-header",
        "--no-summary",
        "--strict-markers",
    ],
    valued: &["-p", "-c", "--rootdir", "-o", "-W"],
    stopping: &[],
};
const UNITTEST: Call = Call {
    runner: Runner::Unittest,
    words: &["python3", "-m", "unittest"],
    whole: &["-v"],
    flags: &["-v", "-q", "-b", "--verbose", "--quiet", "--buffer"],
    valued: &[],
    stopping: &["-f", "-vf", "-fv", "-bf", "-fb", "--failfast"],
};
const JEST: Call = Call {
    runner: Runner::Jest,
    words: &["jest"],
    whole: &["--verbose", "--bail=0"],
    flags: &[
        "--ci",
        "--verbose",
        "--silent",
        "--runInBand",
        "-i",
        "--coverage",
        "--no-cache",
    ],
    valued: &["-c", "--config"],
    stopping: &["-b", "--bail"],
};
const VITEST: Call = Call {
    runner: Runner::Vitest,
    words: &["vitest", "run"],
    whole: &["--reporter=verbose", "--bail=0"],
    flags: &["--run", "--globals", "--no-color"],
    valued: &["-c", "--config"],
    stopping: &["--bail"],
};
const MOCHA: Call = Call {
    runner: Runner::Mocha,
    words: &["mocha"],
    whole: &["--reporter=spec", "--no-bail"],
    flags: &["--recursive", "--exit", "--no-color", "--no-colors"],
    valued: &["-r", "--require", "--config"],
    stopping: &["-b", "--bail"],
};

const CARGO_FLAGS: &[&str] = &[
    "-q",
    "-v",
    "--quiet",
    "--verbose",
    "--workspace",
    "--all",
    "--all-targets",
    "--all-features",
    "--no-default-features",
    "--lib",
    "--bins",
    "--tests",
    "--release",
    "--locked",
    "--offline",
    "--frozen",
    "--no-fail-fast",
];
const CARGO_VALUED: &[&str] = &[
    "-p",
    "--package",
    "--exclude",
    "-F",
    "--features",
    "--bin",
    "--test",
    "--example",
    "--manifest-path",
    "--target",
    "--profile",
    "--cargo-profile",
    "-j",
    "--jobs",
    "--color",
];

pub(crate) const CALLS: &[Call] = &[
    PYTEST,
    Call {
        words: &["py.test"],
        ..PYTEST
    },
    Call {
        words: &["python", "-m", "pytest"],
        ..PYTEST
    },
    Call {
        words: &["python3", "-m", "pytest"],
        ..PYTEST
    },
    Call {
        words: &["uv", "run", "pytest"],
        ..PYTEST
    },
    Call {
        words: &["poetry", "run", "pytest"],
        ..PYTEST
    },
    UNITTEST,
    Call {
        words: &["python", "-m", "unittest"],
        ..UNITTEST
    },
    Call {
        runner: Runner::CargoTest,
        words: &["cargo", "test"],
        whole: &["--no-fail-fast"],
        flags: CARGO_FLAGS,
        valued: CARGO_VALUED,
        stopping: &[],
    },
    Call {
        runner: Runner::Nextest,
        words: &["cargo", "nextest", "run"],
        whole: &[
            "--no-fail-fast",
            "--status-level=pass",
            "--final-status-level=fail",
        ],
        flags: CARGO_FLAGS,
        valued: CARGO_VALUED,
        stopping: &[],
    },
    Call {
        runner: Runner::GoTest,
        words: &["go", "test"],
        whole: &["-v", "-failfast=false"],
        flags: &[
            "-v",
            "-race",
            "-short",
            "-cover",
            "-json",
            "-count=1",
            "-failfast",
        ],
        valued: &["-timeout", "-tags", "-p", "-parallel"],
        stopping: &[],
    },
    JEST,
    Call {
        words: &["npx", "jest"],
        ..JEST
    },
    Call {
        words: &["yarn", "jest"],
        ..JEST
    },
    Call {
        words: &["pnpm", "jest"],
        ..JEST
    },
    Call {
        words: &["pnpm", "exec", "jest"],
        ..JEST
    },
    VITEST,
    Call {
        words: &["npx", "vitest", "run"],
        ..VITEST
    },
    Call {
        words: &["yarn", "vitest", "run"],
        ..VITEST
    },
    Call {
        words: &["pnpm", "vitest", "run"],
        ..VITEST
    },
    Call {
        words: &["pnpm", "exec", "vitest", "run"],
        ..VITEST
    },
    MOCHA,
    Call {
        words: &["npx", "mocha"],
        ..MOCHA
    },
    Call {
        words: &["yarn", "mocha"],
        ..MOCHA
    },
    Call {
        words: &["pnpm", "mocha"],
        ..MOCHA
    },
    Call {
        words: &["pnpm", "exec", "mocha"],
        ..MOCHA
    },
    Call {
        runner: Runner::NodeTest,
        words: &["node", "--test"],
        whole: &["--test-reporter=tap"],
        flags: &[],
        valued: &[],
        stopping: &[],
    },
];
