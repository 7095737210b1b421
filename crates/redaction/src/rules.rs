//! What regreen takes for a secret. One row per kind; the examples of each row are its tests.

use crate::rule::Before::{Anything, NoWord};
use crate::rule::Needs::{Digit, Mix};
use crate::rule::Shape::{After, Assigned, Authorization, Jwt, KeyBlock, Token, UrlPassword};
use crate::rule::{
    ALNUM, BASE64, BASE64_URL, Body, DOTTED, HEX, PATH, Rule, SLACK, TOKEN68, UPPER, WORD,
};

#[rustfmt::skip]
pub(crate) const RULES: &[Rule] = &[
    // Models.
    Rule {
        name: "anthropic-key", anchors: &["sk-ant-"], before: Anything,
        shape: Token(Body::open(&BASE64_URL, 20)),
        masks: &["ANTHROPIC_API_KEY=«sk-ant-api03-{alnum:86}-AA»", "{\"k\":\"a\\n«sk-ant-oat01-{alnum:40}»\"}"],
        keeps: &["sk-ant-hill", "sk-ant-${KEY}"],
    },
    Rule {
        name: "openai-key", anchors: &["sk-proj-", "sk-svcacct-", "sk-admin-"], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 20).needing(Mix)),
        masks: &["key «sk-proj-{alnum:60}_{alnum:60}»!", "'«sk-svcacct-{alnum:40}»'"],
        keeps: &["risk-proj-{alnum:40}", "sk-proj-name", "sk-admin-panel-of-the-second-floor"],
    },
    Rule {
        name: "openrouter-key", anchors: &["sk-or-v1-"], before: NoWord,
        shape: Token(Body::open(&HEX, 32)),
        masks: &["«sk-or-v1-{hex:64}»"],
        keeps: &["sk-or-v1-models"],
    },
    Rule {
        name: "api-key", anchors: &["sk-"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 32).needing(Mix)),
        masks: &["OPENAI_API_KEY=«sk-{alnum:48}»", "(«sk-{hex:32}»)", "\u{1b}[31m«sk-{alnum:48}»\u{1b}[0m"],
        keeps: &["sk-learn", "task-{hex:40}", "disk-{alnum:48}", "sk-scikit-learn-contrib", "sk-abcdefghijklmnopqrstuvwxyzabcdefghij"],
    },
    Rule {
        name: "google-key", anchors: &["AIza"], before: NoWord,
        shape: Token(Body::exact(&BASE64_URL, 35)),
        masks: &["?key=«AIza{alnum:35}»&x=1"],
        keeps: &["AIza{alnum:20}", "xAIza{alnum:35}", "AIza{alnum:60}"],
    },
    Rule {
        name: "google-oauth", anchors: &["ya29.", "GOCSPX-"], before: NoWord,
        shape: Token(Body::open(&DOTTED, 24)),
        masks: &["«ya29.{alnum:60}»", "\"client\":\"«GOCSPX-{alnum:28}»\""],
        keeps: &["ya29.txt"],
    },
    Rule {
        name: "groq-key", anchors: &["gsk_"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 40)),
        masks: &["«gsk_{alnum:52}»"],
        keeps: &["gsk_free_list_node"],
    },
    Rule {
        name: "xai-key", anchors: &["xai-"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 60)),
        masks: &["«xai-{alnum:80}»"],
        keeps: &["xai-sdk", "xai-{hex:40}"],
    },
    Rule {
        name: "perplexity-key", anchors: &["pplx-"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 40)),
        masks: &["«pplx-{alnum:48}»"],
        keeps: &["pplx-7b-online"],
    },
    Rule {
        name: "cerebras-key", anchors: &["csk-"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 40)),
        masks: &["«csk-{alnum:48}»"],
        keeps: &["csk-1"],
    },
    Rule {
        name: "replicate-token", anchors: &["r8_"], before: NoWord,
        shape: Token(Body::exact(&ALNUM, 37)),
        masks: &["«r8_{alnum:37}»"],
        keeps: &["r8_unorm", "gfx_r8_{alnum:37}"],
    },
    Rule {
        name: "huggingface-token", anchors: &["hf_", "api_org_"], before: NoWord,
        shape: Token(Body::exact(&ALNUM, 34).needing(Mix)),
        masks: &["HF_TOKEN=«hf_{alnum:34}»"],
        keeps: &["hf_hub_download", "hf_{alnum:12}", "elf_hf_{alnum:34}"],
    },
    Rule {
        name: "langsmith-key", anchors: &["lsv2_pt_", "lsv2_sk_"], before: NoWord,
        shape: Token(Body::open(&WORD, 32)),
        masks: &["«lsv2_pt_{hex:32}_{hex:10}»"],
        keeps: &["lsv2_pt_x"],
    },

    // Clouds.
    Rule {
        name: "aws-key-id", anchors: &["AKIA", "ASIA", "ABIA", "ACCA"], before: NoWord,
        shape: Token(Body::exact(&UPPER, 16)),
        masks: &["aws_access_key_id = «AKIA{upper:16}»", "\\n«ASIA{upper:16}»\\n"],
        keeps: &["ASIAN", "EURASIA{upper:16}", "AKIA{upper:30}", "AKIA{upper:8}"],
    },
    Rule {
        name: "aws-secret", anchors: &[
            "aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey",
            "aws_secret_key", "AWS_SECRET_KEY",
        ], before: Anything,
        shape: Assigned(Body::exact(&BASE64, 40).needing(Mix)),
        masks: &[
            "AWS_SECRET_ACCESS_KEY=«{base64:40}»", "\"SecretAccessKey\": \"«{base64:40}»\",",
            "{\\\"SecretAccessKey\\\":\\\"«{base64:40}»\\\"}", "aws configure set aws_secret_access_key «{base64:40}»",
        ],
        keeps: &["AWS_SECRET_ACCESS_KEY=$SECRET", "aws_secret_access_key is not set", "{base64:40}"],
    },
    Rule {
        name: "aws-session-token", anchors: &[
            "aws_session_token", "AWS_SESSION_TOKEN", "SessionToken", "sessionToken",
        ], before: Anything,
        shape: Assigned(Body::open(&BASE64, 60).needing(Mix)),
        masks: &["AWS_SESSION_TOKEN=«{base64:300}»", "\"SessionToken\" : \"«{base64:300}»\""],
        keeps: &["sessionToken = await getSessionToken()"],
    },
    Rule {
        name: "azure-key", anchors: &["AccountKey=", "SharedAccessKey="], before: Anything,
        shape: After(Body::open(&BASE64, 40).needing(Mix)),
        masks: &["AccountName=a;AccountKey=«{base64:86}==»;EndpointSuffix=x"],
        keeps: &["AccountKey=;", "AccountKey=<key>"],
    },
    Rule {
        name: "digitalocean-token", anchors: &["dop_v1_", "doo_v1_", "dor_v1_"], before: Anything,
        shape: Token(Body::exact(&HEX, 64)),
        masks: &["«dop_v1_{hex:64}»"],
        keeps: &["dop_v1_token", "dop_v1_{hex:40}"],
    },
    Rule {
        name: "databricks-token", anchors: &["dapi"], before: NoWord,
        shape: Token(Body::exact(&HEX, 32)),
        masks: &["token: «dapi{hex:32}»"],
        keeps: &["dapifier", "webdapi{hex:32}"],
    },
    Rule {
        name: "vault-token", anchors: &["hvs.", "hvb."], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 24).needing(Mix)),
        masks: &["«hvs.{alnum:90}»"],
        keeps: &["hvs.rs", "archvs.{alnum:90}"],
    },
    Rule {
        name: "fly-token", anchors: &["fm2_", "fo1_"], before: NoWord,
        shape: Token(Body::open(&TOKEN68, 40)),
        masks: &["FlyV1 «fm2_{base64:80}»"],
        keeps: &["fm2_synth"],
    },
    Rule {
        name: "tailscale-key", anchors: &["tskey-"], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 20).needing(Mix)),
        masks: &["«tskey-auth-k{alnum:11}CNTRL-{alnum:32}»"],
        keeps: &["tskey-file"],
    },
    Rule {
        name: "supabase-key", anchors: &["sbp_", "sb_secret_"], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 30).needing(Mix)),
        masks: &["«sbp_{hex:40}»", "«sb_secret_{alnum:22}_{alnum:8}»"],
        keeps: &["sb_secret_name", "sbp_"],
    },
    Rule {
        name: "planetscale-token", anchors: &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], before: Anything,
        shape: Token(Body::open(&DOTTED, 30)),
        masks: &["«pscale_tkn_{alnum:43}»"],
        keeps: &["pscale_tkn_id"],
    },

    // Code hosts and package registries.
    Rule {
        name: "github-token", anchors: &["ghp_", "gho_", "ghu_", "ghr_"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 36)),
        masks: &["«ghp_{alnum:36}»", "https://«gho_{alnum:36}»@github.com/a/b", "\\t«ghu_{alnum:36}»"],
        keeps: &["ghp_import", "ghp_{alnum:20}"],
    },
    Rule {
        name: "github-token", anchors: &["ghs_"], before: NoWord,
        shape: Token(Body::open(&DOTTED, 36)),
        masks: &["«ghs_{alnum:36}»", "«ghs_123_eyJ{alnum:30}.eyJ{alnum:50}.{alnum:40}»"],
        keeps: &["ghs_install"],
    },
    Rule {
        name: "github-token", anchors: &["github_pat_"], before: Anything,
        shape: Token(Body::open(&WORD, 22)),
        masks: &["«github_pat_{alnum:22}_{alnum:59}»"],
        keeps: &["github_pat_test"],
    },
    Rule {
        name: "gitlab-token", anchors: &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-", "glimt-",
        ], before: NoWord,
        shape: Token(Body::open(&DOTTED, 20).needing(Mix)),
        masks: &["PRIVATE-TOKEN: «glpat-{alnum:20}»", "«glpat-{alnum:27}.01.{alnum:9}»"],
        keeps: &["glrt-runner", "glft-fontconfig-for-terminals"],
    },
    Rule {
        name: "npm-token", anchors: &["npm_"], before: NoWord,
        shape: Token(Body::exact(&ALNUM, 36)),
        masks: &["//registry/:_authToken=«npm_{alnum:36}»"],
        keeps: &["npm_config_registry", "npm_lifecycle_event", "npm_{alnum:40}"],
    },
    Rule {
        name: "pypi-token", anchors: &["pypi-AgE"], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 50)),
        masks: &["password = «pypi-AgEIcHlwaS5vcmc{alnum:120}»"],
        keeps: &["pypi-AgEIc"],
    },
    Rule {
        name: "rubygems-key", anchors: &["rubygems_"], before: NoWord,
        shape: Token(Body::exact(&HEX, 48)),
        masks: &["«rubygems_{hex:48}»"],
        keeps: &["rubygems_version"],
    },
    Rule {
        name: "docker-token", anchors: &["dckr_pat_", "dckr_oat_"], before: Anything,
        shape: Token(Body::open(&BASE64_URL, 24)),
        masks: &["«dckr_pat_{alnum:27}»"],
        keeps: &["dckr_pat_"],
    },

    // Services.
    Rule {
        name: "slack-token", anchors: &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xoxc-", "xoxd-", "xoxo-", "xapp-1-"],
        before: NoWord,
        shape: Token(Body::open(&SLACK, 20).needing(Mix)),
        masks: &["«xoxb-123456789012-123456789012-{alnum:24}»", "«xapp-1-A{alnum:10}-{hex:64}»"],
        keeps: &["xoxo-with-all-my-heart-from-here", "xoxb-token"],
    },
    Rule {
        name: "slack-webhook", anchors: &["hooks.slack.com/services/", "hooks.slack.com/triggers/"], before: Anything,
        shape: After(Body::open(&PATH, 24).needing(Digit)),
        masks: &["https://hooks.slack.com/services/«T{upper:8}/B{upper:8}/{alnum:24}»"],
        keeps: &["https://hooks.slack.com/services/T000/B000/XXX"],
    },
    Rule {
        name: "stripe-key", anchors: &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 16).needing(Mix)),
        masks: &["«sk_live_{alnum:24}»", "«rk_live_{alnum:99}»"],
        keeps: &["task_test_{alnum:24}", "sk_test_fixture"],
    },
    Rule {
        name: "webhook-secret", anchors: &["whsec_"], before: NoWord,
        shape: Token(Body::open(&BASE64, 24).needing(Mix)),
        masks: &["«whsec_{base64:32}»"],
        keeps: &["whsec_test"],
    },
    Rule {
        name: "sendgrid-key", anchors: &["SG."], before: NoWord,
        shape: Token(Body::exact(&DOTTED, 66).needing(Mix)),
        masks: &["«SG.{alnum:22}.{alnum:43}»"],
        keeps: &["SG.component.name", "MSG.{alnum:22}.{alnum:43}"],
    },
    Rule {
        name: "twilio-key", anchors: &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf",
        ], before: NoWord,
        shape: Token(Body::exact(&HEX, 31)),
        masks: &["TWILIO_API_KEY=«SK{hex:32}»"],
        keeps: &["TASK{hex:32}", "SKIPPED", "SK{hex:40}"],
    },
    Rule {
        name: "shopify-token", anchors: &["shpat_", "shpss_", "shpca_", "shppa_"], before: NoWord,
        shape: Token(Body::exact(&HEX, 32)),
        masks: &["«shpat_{hex:32}»"],
        keeps: &["shpat_token"],
    },
    Rule {
        name: "square-token", anchors: &["sq0atp-", "sq0csp-", "sq0idp-"], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 22)),
        masks: &["«sq0atp-{alnum:22}»"],
        keeps: &["sq0atp-x"],
    },
    Rule {
        name: "newrelic-key", anchors: &["NRAK-"], before: NoWord,
        shape: Token(Body::exact(&UPPER, 27)),
        masks: &["«NRAK-{upper:27}»"],
        keeps: &["NRAK-KEY"],
    },
    Rule {
        name: "sentry-token", anchors: &["sntrys_", "sntryu_"], before: NoWord,
        shape: Token(Body::open(&TOKEN68, 40)),
        masks: &["«sntryu_{hex:64}»"],
        keeps: &["sntrys_token"],
    },
    Rule {
        name: "grafana-token", anchors: &["glsa_", "glc_eyJ"], before: NoWord,
        shape: Token(Body::open(&WORD, 32)),
        masks: &["«glsa_{alnum:32}_{hex:8}»"],
        keeps: &["glsa_client"],
    },
    Rule {
        name: "linear-key", anchors: &["lin_api_", "lin_oauth_"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 32)),
        masks: &["«lin_api_{alnum:40}»"],
        keeps: &["lin_api_client"],
    },
    Rule {
        name: "notion-token", anchors: &["ntn_"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 40)),
        masks: &["«ntn_{alnum:46}»"],
        keeps: &["ntn_page"],
    },
    Rule {
        name: "postman-key", anchors: &["PMAK-"], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 50)),
        masks: &["«PMAK-{hex:24}-{hex:34}»"],
        keeps: &["PMAK-1"],
    },
    Rule {
        name: "atlassian-token", anchors: &["ATATT3", "ATCTT3"], before: NoWord,
        shape: Token(Body::open(&TOKEN68, 60)),
        masks: &["«ATATT3xFfGF0{alnum:160}=2F08A9E1»"],
        keeps: &["ATATT3"],
    },
    Rule {
        name: "figma-token", anchors: &["figd_"], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 36)),
        masks: &["«figd_{alnum:40}»"],
        keeps: &["figd_file"],
    },

    // Forms that any service may use.
    Rule {
        name: "jwt", anchors: &["eyJ"], before: NoWord,
        shape: Jwt,
        masks: &["token=«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{alnum:43}»;", "\"«eyJ{alnum:30}..{alnum:16}.{alnum:80}.{alnum:22}»\""],
        keeps: &["eyJ{alnum:40}", "base64,eyJ{alnum:300}==", "eyJ{alnum:20}.js", "keyJ{alnum:40}.{alnum:40}"],
    },
    Rule {
        name: "bearer-token", anchors: &["Bearer ", "bearer ", "BEARER "], before: NoWord,
        shape: After(Body::open(&TOKEN68, 16).needing(Mix)),
        masks: &["curl -H 'X: Bearer «{alnum:32}»'", "with bearer «{hex:40}», then"],
        keeps: &["Bearer authentication is required", "Bearer $TOKEN", "bearer token-based-authentication"],
    },
    Rule {
        name: "authorization", anchors: &["uthorization", "UTHORIZATION"], before: Anything,
        shape: Authorization,
        masks: &[
            "Authorization: Bearer «hunter2hunter2»", "> authorization: Basic «dXNlcjpwYXNzd29yZA==»",
            "\"Authorization\": \"token «{hex:40}»\"", "{\\\"Authorization\\\":\\\"Basic «dXNlcjpwYXNz»\\\"}",
            "Authorization: «{alnum:32}»", "proxy-authorization: basic «dXNlcjpwYXNz»",
        ],
        keeps: &[
            "Authorization: Bearer <token>", "authorization failed", "Authorization: Bearer ${TOKEN}",
            "authorization: none", "Authorization: required-for-every-request-here",
        ],
    },
    Rule {
        name: "api-key", anchors: &["api-key", "Api-Key", "API-Key", "API-KEY"], before: Anything,
        shape: Assigned(Body::open(&TOKEN68, 16).needing(Digit)),
        masks: &["x-api-key: «{alnum:24}»", "\"X-Api-Key\": \"«{hex:32}»\""],
        keeps: &["x-api-key: <your key>", "api-key: required", "--api-key $KEY"],
    },
    Rule {
        name: "oauth-secret", anchors: &[
            "client_secret", "clientSecret", "CLIENT_SECRET", "access_token", "accessToken", "ACCESS_TOKEN",
            "refresh_token", "refreshToken", "REFRESH_TOKEN",
        ], before: Anything,
        shape: Assigned(Body::open(&TOKEN68, 20).needing(Digit)),
        masks: &["client_secret=«{alnum:40}»&grant_type=x", "{\"access_token\":\"«{alnum:40}»\",\"expires_in\":1}"],
        keeps: &["access_token: string", "refresh_token = self.refresh_tokens_of_user", "client_secret=${SECRET}"],
    },
    Rule {
        name: "url-password", anchors: &["://", ":\\/\\/", ":\\\\/\\\\/"], before: Anything,
        shape: UrlPassword,
        masks: &[
            "postgres://app:«s3cret»@db:5432/app", "redis://:«p@ss:word»@host", "\"https:\\/\\/u:«pw»@h\\/\"",
            "amqp://guest:«guest»@localhost",
        ],
        keeps: &[
            "http://localhost:8080/a@b", "https://example.com/x:y@z", "ssh://git@github.com", "http://[::1]:80/",
            "postgres://u:${PASS}@h", "mysql://u:<password>@h", "http://h:80 a@b", "https://u:{pw}@h", "x://u:@h",
            "http://h:3000?mail=a@b", "https://u:$DB_PASS@h",
        ],
    },
    Rule {
        name: "private-key", anchors: &["-----BEGIN "], before: Anything,
        shape: KeyBlock,
        masks: &[
            "a\n«-----BEGIN RSA PRIVATE KEY-----\n{base64:64}\n{base64:20}\n-----END RSA PRIVATE KEY-----»\nb",
            "{\"key\":\"«-----BEGIN PRIVATE KEY-----\\n{base64:64}\\n-----END PRIVATE KEY-----»\\n\",\"b\":1}",
            "{\"cut\":\"«-----BEGIN EC PRIVATE KEY-----\\n{base64:50}»\",\"b\":1}",
        ],
        keeps: &[
            "-----BEGIN CERTIFICATE-----\n{base64:64}\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----\n{base64:64}", "if (s.startsWith(\"-----BEGIN PRIVATE KEY-----\")) {",
            "{\"code\":\"has(\\\"-----BEGIN PRIVATE KEY-----\\\")\"}",
        ],
    },
    Rule {
        name: "age-key", anchors: &["AGE-SECRET-KEY-1"], before: Anything,
        shape: Token(Body::open(&UPPER, 50)),
        masks: &["«AGE-SECRET-KEY-1{upper:58}»"],
        keeps: &["AGE-SECRET-KEY-1..."],
    },
];
