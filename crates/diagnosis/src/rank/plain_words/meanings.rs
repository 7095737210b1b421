//! What plain words mean, by kind of failure.

use regreen_model::FailureKind;

use crate::rules::lazy_regex::LazyRegex;

/// What plain words mean. The first entry that matches a line counts, so the more special ones come
/// first.
pub(super) static MEANINGS: [(FailureKind, LazyRegex); 28] = [
    (
        FailureKind::NotExecutable,
        LazyRegex::new(
            r"(?xi) \bnot\s(?:marked\s(?:as\s)?|an?\s)?executable\b
                | \b(?:lacks?|without|no|missing)\s(?:the\s|its\s|an?\s)?(?:execut(?:e|able)|exec|\+x|x)[\s-](?:bit|permission|right|flag)s?\b
                | \b(?:execut(?:e|able)|exec|\+x)[\s-](?:bit|permission|flag)\s(?:is\s)?(?:missing|not\sset|unset|off)\b
                | \b(?:may|can)(?:\snot|not|'t)\sbe\s(?:executed|started|run)\b.*\b(?:mode|permission|bit)\b",
        ),
    ),
    (
        FailureKind::CrlfScript,
        LazyRegex::new(
            r"(?xi) \b(?:CRLF|CR/LF|DOS|Windows)[\s-](?:style\s)?(?:line[\s-]?(?:endings?|ends?|breaks?)|newlines?)\b
                | \bcarriage\sreturns?\b",
        ),
    ),
    (
        FailureKind::PortInUse,
        LazyRegex::new(
            r"(?xi) \bport\b.{0,40}\b(?:busy|in\suse|used|taken|occupied|held|blocked|not\s(?:free|available)|unavailable|allocated)\b
                | \b(?:something|someone|somebody|another\s\w+|a\s\w+)\s(?:else\s)?(?:is\s|already\s|is\salready\s)?(?:listens?|listening|runs|running|sits|bound)\s(?:on|to)\s(?:port\s|:)?\d{2,5}\b
                | \b(?:hold|us|occupy|block)(?:s|es|ing)\s(?:the\s|our\s)?port\s\d{2,5}\b
                | \bno\sfree\sport\b",
        ),
    ),
    (
        FailureKind::DatabaseSchemaMissing,
        LazyRegex::new(
            r"(?xi) \b(?:schema|migrations?|tables?)\b.{0,40}\b(?:missing|pending|(?:not|never)\s(?:been\s)?(?:applied|created|there|run|migrated|initiali[sz]ed|found)|out\sof\sdate|outdated|does(?:\snot|n't)\sexist)\b
                | \bschema\b.{0,20}\bversion\b.{0,40}\b(?:expect|need|require|want)(?:s|d|ed)?\b
                | \b(?:no|missing|without|unapplied)\s(?:\w+\s)?(?:tables?|schema|migrations?)\b",
        ),
    ),
    (
        FailureKind::IntegrityMismatch,
        LazyRegex::new(
            r"(?i)\b(?:checksum|sha-?\d*(?:sum)?|digest|hash|signature|md5)s?\b.{0,60}\b(?:differs?|mismatch\w*|wrong|(?:does|do|did)(?: not|n't) match|(?:manifest|lock ?file|list|index) says|expected|invalid|bad)\b",
        ),
    ),
    (
        FailureKind::DataCorrupt,
        LazyRegex::new(
            r"(?xi) \bcached?\b.{0,60}\b(?:corrupt(?:ed)?|stale|damaged|broken|unreadable|outdated|incompatible|invalid|garbage|(?:from|of|for|by)\sanother\sversion|old\sversion|does(?:\snot|n't)\smatch)\b
                | \b(?:corrupt(?:ed)?|stale|damaged|broken|unreadable|outdated|incompatible)\b.{0,30}\bcache\b",
        ),
    ),
    (
        FailureKind::LockfileOutdated,
        LazyRegex::new(
            r"(?i)\b[\w./-]*lock(?:[ -]?file)?(?:\.\w+)?\b.{0,40}\b(?:no longer match\w*|(?:does|do)(?: not|n't) match|out of (?:date|sync)|outdated|(?:is )?older than|differs? from|is behind)\b",
        ),
    ),
    (
        FailureKind::StaleLock,
        LazyRegex::new(
            r"(?xi) \block(?:ed|[\s-]?file|s)?\b.{0,60}\b(?:held|holds|exists|present|stale|owned|taken|left|another|still\sthere|in\sthe\sway|by\s(?:pid|process))\b
                | \b(?:held|stale|left-?over|another|existing)\b.{0,30}\block(?:[\s-]?file)?\b
                | \banother\s(?:instance|process|build|run|job|copy|deploy(?:ment)?|server)\b.{0,40}\b(?:is|seems|appears|runs|running|active|in\sprogress)\b
                | \balready\s(?:running|in\sprogress|started)\b.{0,60}\b(?:pid|process|lock)\b
                | \S\.(?:pid|lock|lck)\b.{0,60}\b(?:process|pid|owner|running|at\swork|alive|active|busy|in\suse)\b",
        ),
    ),
    (
        FailureKind::WrongToolVersion,
        LazyRegex::new(
            r"(?xi) (?:\b(?:needs?|needed|requires?|required|wants?|expects?|supports?|at\sleast|or\s(?:newer|later|higher|above)|minimum)\b|>=?).{0,60}\b(?:this\sis|found|have|has|got|installed|running|detected|you\sare\son)\b.{0,20}\bv?\d+\.\d
                | \b(?:is|version\s\S+\sis)\s(?:too|much\stoo)\s(?:old|new)\b
                | \bunsupported\s(?:\w+\s)?version\b",
        ),
    ),
    (
        FailureKind::MissingPythonModule,
        LazyRegex::new(
            r#"(?xi) \bpython[\s-](?:package|module|library|dependency)\b.{0,60}\b(?:missing|not\s(?:installed|available|there|found|importable)|(?:is|are)n't|needed|required|cannot|can't)\b
                | \b(?:cannot|can't|could\snot|couldn't|unable\sto|failed\sto)\simport\b
                | \bimport(?:ing)?\s(?:of\s)?['"`]?[\w.]+['"`]?\s(?:did(?:\snot|n't)\swork|failed|fails|is\snot\spossible|went\swrong)\b"#,
        ),
    ),
    (
        FailureKind::MissingEnvVar,
        LazyRegex::new(
            r"(?x) \$?\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b.{0,20}\b(?i:not\sset|unset|blank|empty|missing|undefined|not\sdefined|required|has\sno\svalue|nowhere)\b
                | \b(?i:set|define|export|needs?|requires?|missing|without|no|expects?|fill\sin)\b.{0,30}\$?\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b",
        ),
    ),
    (
        FailureKind::GitDirtyTree,
        LazyRegex::new(
            r"(?xi) \buncommitted\s(?:changes|files|work|edits)\b
                | \b(?:working\s(?:copy|tree)|work\s?tree|checkout|repo(?:sitory)?)\b.{0,30}\b(?:not\sclean|dirty|local\s(?:changes|modifications|edits))\b",
        ),
    ),
    (
        FailureKind::BadUsage,
        LazyRegex::new(
            r#"(?xi) \b(?:don't|do\snot|does(?:\snot|n't))\s(?:know|understand|support|take)\b.{0,40}\s['"`]?--?\w
                | (?:^|\s)['"`]?--?[\w-]+['"`]?\s(?:is|are)(?:\snot|n't)\s(?:an?\s)?(?:\w+\s)?(?:option|flag|argument|switch)s?\b
                | \b(?:unknown|unrecogni[sz]ed|unsupported|no\ssuch)\s(?:option|flag|argument|switch|sub-?command|command|parameter)\b"#,
        ),
    ),
    (
        FailureKind::DiskFull,
        LazyRegex::new(
            r"(?xi) \b(?:disk|volume|device|partition|file\s?system|drive|storage)\b.{0,30}\b(?:full|out\sof\sspace|no\s(?:space|room))\b
                | \bout\sof\s(?:disk\s)?space\b | \bno\s(?:\w+\s)?(?:space|room)\s(?:is\s)?(?:left|on|for|in)\b",
        ),
    ),
    (
        FailureKind::TlsError,
        LazyRegex::new(
            r"(?i)\bcertificates?\b.{0,40}\b(?:expired|(?:not|n't) trusted|untrusted|self-signed|unknown|invalid|(?:cannot|can't) be verified)\b",
        ),
    ),
    (
        FailureKind::AuthFailed,
        LazyRegex::new(
            r"(?xi) \b(?:token|passwords?|passphrase|credentials?|api[\s-]?key|login|sign-?in|session)\b.{0,40}\b(?:rejected|refused|denied|(?:not|n't)\saccepted|invalid|(?:not|n't)\svalid|expired|revoked|wrong|incorrect)\b
                | \b(?:(?:not|n't)\s(?:accept|recogni[sz]e)|reject(?:s|ed)?|refuse[sd]?)\b.{0,20}\b(?:token|passwords?|credentials?|(?:api[\s-]?)?key|login)\b
                | \b(?:not|n't)\s(?:logged|signed)\sin\b | \b(?:log|sign)\sin\s(?:first|again)\b | \b(?:wrong|invalid|bad|expired)\s(?:\w+\s)?(?:token|password|credentials?|api[\s-]?key)\b",
        ),
    ),
    (
        FailureKind::RateLimited,
        LazyRegex::new(
            r"(?i)\btoo many (?:requests|calls|queries)\b|\brate[ -]limit|\b(?:requests?|calls?) per (?:second|minute|hour|day)\b|\bquota\b.{0,30}\b(?:exceeded|used up|exhausted|reached)\b",
        ),
    ),
    (
        FailureKind::ServiceUnavailable,
        LazyRegex::new(
            r"(?xi) \b(?:HTTP|status|code|answer(?:s|ed)?|return(?:s|ed)?|respond(?:s|ed)?|repl(?:y|ies|ied)|said|says|got|with)\s(?:\w+\s)?50[0234]\b
                | \b(?:server|service|registry|mirror|api|upstream|backend|gateway)\b.{0,30}\b(?:overloaded|unavailable|in\smaintenance|down\sfor)\b",
        ),
    ),
    (
        FailureKind::DnsFailure,
        LazyRegex::new(
            r"(?xi) \bhost(?:name)?\s['\x22`]?[\w.-]+['\x22`]?\s.{0,10}\b(?:not\s(?:known|found)|unknown)\b
                | \b(?:does|do|did)(?:\snot|n't)\sresolve\b | \bunknown\shost\b | \bno\ssuch\shost\b
                | \b(?:cannot|can't|could\snot|couldn't|unable\sto|failed\sto)\s(?:resolve|look\sup)\s(?:the\s)?(?:host|name|address|domain|[\w-]+\.[\w.-]+)",
        ),
    ),
    (
        FailureKind::ConnectionRefused,
        LazyRegex::new(
            r"(?xi) \b(?:nobody|nothing|no\s(?:one|server|process|service))\s(?:is\s)?(?:listen(?:s|ing)|answer(?:s|ing)|respond(?:s|ing)|running)\b
                | \bno\s(?:answer|response|reply)\sfrom\b
                | \b(?:cannot|can't|could\snot|couldn't|unable\sto|failed\sto)\s(?:reach|connect|talk|contact|get\sthrough)\b
                | \b(?:server|service|daemon|database|redis|postgres\w*|mysql|broker|queue|backend)\b.{0,30}\b(?:not|n't)\s(?:running|up|reachable|answering|responding)\b",
        ),
    ),
    (
        FailureKind::LintError,
        LazyRegex::new(
            r"(?xi) \b(?:not|n't)\s(?:\w+ly\s)?formatted\b | \bneeds?\s(?:re)?formatting\b
                | \bformat\w*\b.{0,40}\bwould\s(?:change|be\s(?:changed|reformatted))\b
                | \b(?:style|lint|formatting)\s(?:errors?|violations?|problems?)\b",
        ),
    ),
    (
        FailureKind::MissingCommand,
        LazyRegex::new(
            r#"(?xi) \bnot\s(?:on|in)\s(?:the\s|your\s|my\s|this\s)?\$?PATH\b
                | \b(?:cannot|can't|could\snot|couldn't|unable\sto)\s(?:find|locate|run|start)\s(?:the\s)?(?:program|command|executable|binary|tool)\b
                | \b(?:program|command|executable|binary)\b.{0,40}\b(?:missing|not\s(?:found|there|available|installed))\b
                | \b(?:tool|utility)\s['"`]?[\w.+-]+['"`]?\s.{0,40}\b(?:missing|not\s(?:found|there|available|installed|be\s(?:found|located)))\b"#,
        ),
    ),
    (
        FailureKind::SyntaxError,
        LazyRegex::new(
            r"(?i)\bsyntax error\b|\bdoes not parse\b|\bunbalanced (?:braces?|brackets?|parenthes[ei]s)\b",
        ),
    ),
    (
        FailureKind::PermissionDenied,
        LazyRegex::new(
            r"(?xi) \bmay\snot\s(?:be\s)?(?:read|write|written|open|opened|access|accessed|change|changed|create|created|delete|deleted|use|used)\b
                | \b(?:not|n't)\s(?:allowed|permitted|authori[sz]ed)\sto\b | \b(?:not|n't)\s(?:writable|readable)\b
                | \b(?:no|without|lacks?|missing)\s(?:(?:read|write)\s)?(?:permissions?|rights|access)\s(?:to|for|on)\b",
        ),
    ),
    (
        FailureKind::MissingFile,
        LazyRegex::new(
            r"(?xi) \b(?:files?|folders?|director(?:y|ies)|dirs?|paths?|settings|config(?:uration)?|template|fixtures?|data|output|input|artifacts?|artefacts?|generated|headers?|[\w-]+/[\w./-]+|\.?[\w-]+\.[a-z][a-z0-9]{0,9})\b.{0,60}
                  \b(?:missing|absent|gone|nowhere|not\s(?:there|here|present|found|be\sfound|exist(?:ing)?|been\s(?:generated|created|built|made))|(?:is|are)n't\s(?:there|here|present)|does(?:\snot|n't)\sexist|never\s(?:generated|created|built|made)|no\slonger\sthere|(?:has|have|needs?)\sto\sexist|(?:must|should)\sexist|(?:must|has\sto|have\sto|needs?\sto)\sbe\s(?:generated|created|built|made)(?:\sfirst)?)\b
                | \b(?:cannot|can't|could\snot|couldn't|unable\sto)\s(?:find|locate|see|open|read|load|write|create|save)\b.{0,60}(?:[\w.-]+/[\w.-]+|\.?[\w-]+\.[a-z][a-z0-9]{0,9}\b|\bfolder\b|\bfile\b|\bdirectory\b)
                | \b(?:missing|no\ssuch|there\sis\sno|there's\sno|no)\s(?:\w+\s){0,3}(?:files?|folders?|director(?:y|ies)|path)\b
                | \bno\s\.env\b | \b(?:missing|there\sis\sno|there's\sno)\b.{0,30}(?:[\w.-]+/[\w./-]+|\.?[\w-]+\.[a-z][a-z0-9]{0,9}\b)",
        ),
    ),
    (
        FailureKind::DataFormatError,
        LazyRegex::new(
            r"(?xi) \bexpected\s\d+\s(?:columns?|fields?|values?|cells?)\b | \b(?:malformed|ill-formed)\s\w
                | \b(?:line|row|record|entry|item)\s\#?\d+\b.{0,30}\b(?:has\sno|have\sno|lacks?|without|malformed|invalid|(?:not|n't)\san?\s(?:number|date|valid))\b",
        ),
    ),
    (
        FailureKind::ServiceUnavailable,
        LazyRegex::new(
            r"(?xi) \b(?:not\sready|warming\sup|still\s(?:starting|booting|loading|warming)|starting\sup)\b
                | \b(?:try|come\sback|check)\s(?:it\s)?(?:again\s)?(?:later|in\s(?:a\s(?:moment|minute|bit|few\s\w+)|\d+\s?\w+)|shortly|soon)\b
                | \btemporar(?:y|ily)\s(?:un|fail|out|not|down|over)\w*",
        ),
    ),
    (
        FailureKind::TestFailure,
        LazyRegex::new(
            r"(?i)\b(?:expected|wanted|want|should (?:be|have been))\b.{1,60}\b(?:got|have|had|found|received|actual(?:ly)?|but|was|is)\b|\b(?:got|have|had|found|received|was|is)\b.{1,60}\b(?:expected|wanted|should (?:be|have been))\b",
        ),
    ),
];
