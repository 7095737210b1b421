//! The definition of a secret. One row per kind; the examples in each row are its tests.

use crate::rule::Before::{Anything, NoWord};
use crate::rule::Needs::{Digit, Mix};
use crate::rule::Shape::{
    After, Assigned, Authorization, BotToken, Cookie, Jwt, KeyBlock, Named, Token, UrlPassword,
};
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
        keeps: &["risk-proj-{hex:40}", "sk-proj-name", "sk-admin-panel-of-the-second-floor"],
    },
    Rule {
        name: "openrouter-key", anchors: &["sk-or-v1-"], before: Anything,
        shape: Token(Body::open(&HEX, 32)),
        masks: &["«sk-or-v1-{hex:64}»"],
        keeps: &["sk-or-v1-models"],
    },
    Rule {
        name: "api-key", anchors: &["sk-"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 32).needing(Mix)),
        masks: &["OPENAI_API_KEY=«sk-{alnum:48}»", "(«sk-{hex:32}»)", "\u{1b}[31m«sk-{alnum:48}»\u{1b}[0m"],
        keeps: &["sk-learn", "task-{hex:40}", "sk-scikit-learn-contrib", "sk-abcdefghijklmnopqrstuvwxyzabcdefghij"],
    },
    Rule {
        name: "google-key", anchors: &["AIza"], before: NoWord,
        shape: Token(Body::exact(&BASE64_URL, 35)),
        masks: &["?key=«AIza{alnum:35}»&x=1", "x«AIza{alnum:35}»", "\u{1b}[32m«AIza{alnum:35}»\u{1b}[0mx"],
        keeps: &["AIza{alnum:20}", "AIza{alnum:60}"],
    },
    Rule {
        name: "google-oauth", anchors: &["ya29.", "GOCSPX-"], before: NoWord,
        shape: Token(Body::open(&DOTTED, 24)),
        masks: &["«ya29.{alnum:60}»", "\"client\":\"«GOCSPX-{alnum:28}»\""],
        keeps: &["ya29.txt"],
    },
    Rule {
        name: "google-refresh-token", anchors: &["1//0"], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 30).needing(Mix)),
        masks: &["\"refresh\":\"«1//0{alnum:40}-{alnum:55}»\"", "(«1//0g{alnum:40}»)"],
        keeps: &["https://h/v1//0", "1//0 is not a number", "a1//0-not-a-token-but-a-path-with-words"],
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
        keeps: &["r8_unorm", "gfx_r8_{hex:37}"],
    },
    Rule {
        name: "huggingface-token", anchors: &["hf_", "api_org_"], before: NoWord,
        shape: Token(Body::exact(&ALNUM, 34).needing(Mix)),
        masks: &["HF_TOKEN=«hf_{alnum:34}»"],
        keeps: &["hf_hub_download", "hf_{alnum:12}", "elf_hf_{hex:34}"],
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
        masks: &["aws_access_key_id = «AKIA{upper:16}»", "id«AKIA{upper:16}»", "\\n«ASIA{upper:16}»\\n"],
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
        name: "databricks-token", anchors: &["dapi"], before: Anything,
        shape: Token(Body::exact(&HEX, 32)),
        masks: &["token: «dapi{hex:32}»", "x«dapi{hex:32}»"],
        keeps: &["dapifier", "dapi{hex:40}"],
    },
    Rule {
        name: "vault-token", anchors: &["hvs.", "hvb."], before: NoWord,
        shape: Token(Body::open(&BASE64_URL, 24).needing(Mix)),
        masks: &["«hvs.{alnum:90}»"],
        keeps: &["hvs.rs", "archvs.{hex:90}"],
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
        masks: &["«ghp_{alnum:36}»", "token«ghp_{alnum:36}»", "https://«gho_{alnum:36}»@github.com/a/b", "\\t«ghu_{alnum:36}»"],
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
        name: "rubygems-key", anchors: &["rubygems_"], before: Anything,
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
        name: "discord-webhook", anchors: &[
            "discord.com/api/webhooks/", "discord.com/api/v6/webhooks/", "discord.com/api/v7/webhooks/",
            "discord.com/api/v8/webhooks/", "discord.com/api/v9/webhooks/", "discord.com/api/v10/webhooks/",
            "discordapp.com/api/webhooks/", "discordapp.com/api/v6/webhooks/", "discordapp.com/api/v7/webhooks/",
            "discordapp.com/api/v8/webhooks/", "discordapp.com/api/v9/webhooks/", "discordapp.com/api/v10/webhooks/",
        ], before: Anything,
        shape: After(Body::open(&PATH, 40).needing(Digit)),
        masks: &[
            "curl https://discord.com/api/webhooks/«123456789012345678/{alnum:68}» -d x",
            "\"https://discordapp.com/api/v10/webhooks/«1234567890123456789/{alnum:34}_-{alnum:32}»\"",
        ],
        keeps: &["https://discord.com/api/webhooks/123456789012345678", "https://discord.com/api/v10/users/@me/guilds"],
    },
    Rule {
        name: "telegram-token", anchors: &[
            ":AA", ":AB", ":AC", ":AD", ":AE", ":AF", ":AG", ":AH", ":AI", ":AJ", ":AK", ":AL", ":AM", ":AN", ":AO",
            ":AP", ":AQ", ":AR", ":AS", ":AT", ":AU", ":AV", ":AW", ":AX", ":AY", ":AZ", ":Aa", ":Ab", ":Ac", ":Ad",
            ":Ae", ":Af", ":Ag", ":Ah", ":Ai", ":Aj", ":Ak", ":Al", ":Am", ":An", ":Ao", ":Ap", ":Aq", ":Ar", ":As",
            ":At", ":Au", ":Av", ":Aw", ":Ax", ":Ay", ":Az", ":A0", ":A1", ":A2", ":A3", ":A4", ":A5", ":A6", ":A7",
            ":A8", ":A9", ":A_", ":A-",
        ], before: Anything,
        shape: BotToken,
        masks: &["TELEGRAM=123456789:«AA{alnum:33}»", "https://api.telegram.org/bot7654321098:«AAF-{alnum:31}»/getMe"],
        keeps: &["12:AA{alnum:33}", "123456789:AA{alnum:40}", "at 20240101:ABC", "123456789:AA{alnum:20}"],
    },
    Rule {
        name: "stripe-key", anchors: &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], before: NoWord,
        shape: Token(Body::open(&ALNUM, 16).needing(Mix)),
        masks: &["«sk_live_{alnum:24}»", "«rk_live_{alnum:99}»"],
        keeps: &["task_test_{hex:24}", "sk_test_fixture"],
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
        keeps: &["SG.component.name", "MSG.{hex:22}.{hex:43}"],
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
        name: "shopify-token", anchors: &["shpat_", "shpss_", "shpca_", "shppa_"], before: Anything,
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
        masks: &["token=«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{alnum:43}»;", "x«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{alnum:43}»", "\"«eyJ{alnum:30}..{alnum:16}.{alnum:80}.{alnum:22}»\""],
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
        name: "cookie", anchors: &["Cookie", "cookie", "COOKIE"], before: Anything,
        shape: Cookie,
        masks: &[
            "< Set-Cookie: session=«{hex:32}»; Path=/; HttpOnly", "curl -H 'Cookie: theme=«dark; sid={alnum:24}»' x",
            "\"set-cookie\": [\"sid=«s%3A{alnum:30}»; Path=/\"]", "{\\\"cookie\\\":\\\"id=«{alnum:20}»\\\"}",
            "> cookie: _ga=«GA1.2.1; auth={alnum:20}»",
        ],
        keeps: &[
            "Cookie: <name>=<value>", "Set-Cookie: a=; Max-Age=0", "cookie: required", "Set-Cookie: ${NAME}=${VALUE}",
            "cookie = parse(header)", "cookies: {a: 1}", "document.cookie: string", "Set-Cookie: sid=${SID}",
        ],
    },
    Rule {
        name: "password", anchors: &[
            "password", "Password", "PASSWORD", "passwd", "Passwd", "PASSWD", "passphrase", "Passphrase", "PASSPHRASE",
            "pwd", "Pwd", "PWD",
        ], before: Anything,
        shape: Named { min: 6 },
        masks: &[
            "password=«hunter2»", "POST /login?user=bob&password=«hunter2!»&next=/", "{\"password\":\"«hunter2»\",\"x\":1}",
            "\"password\": \"«Tr0ub4dor&3»\"", "DB_PASSWORD=«s3cr3tvalue»", "  password: «h4rd-to-guess»\n",
            "{\\\"password\\\":\\\"«hunter2»\\\"}", "psql --password «s3cr3tvalue» -h db", "--db-password=«s3cr3tvalue»",
            "Server=db;Uid=app;Pwd=«s3cr3tvalue»;", "password = '«correcthorsebattery»'", "params['password'] = '«hunter2»'",
            "'passwd' => '«p@ssW0rd»',", "PGPASSWORD=«a7b8c9d0» psql", "userPassword: «Summer2024!»",
        ],
        keeps: &[
            "password=password", "password = request.form['password']", "password: str", "password=self.password1",
            "\"password\": \"string\"", "password: 'Password is required'", "password: \"required|min:8\"", "password=None",
            "password = hash_password2(pw)", "login(user=u1, password=pw1234)", "Password: ", "password=${DB_PASSWORD1}",
            "password: <your password>", "if password == 'hunter2':", "\"generate-password\": \"^1.7.0\"", "password: uint256",
            "password: at least 8 characters", "PWD=/srv/user1/project2", "password: '[FILTERED]'", "password=********",
            "\"password\": 12345678,", "password: 32-character string", "password::v1::hash", "the password of user1",
            "autocomplete=\"current-password\"", "password: 'Passwort'", "{\"password\":[\"too short\"]}", "password=$PASSWORD1",
        ],
    },
    Rule {
        name: "api-key", anchors: &[
            "api_key", "apikey", "apiKey", "ApiKey", "APIKey", "API_KEY", "APIKEY", "secret_key", "secretKey", "SECRET_KEY",
            "access_key", "accessKey", "ACCESS_KEY", "auth_token", "authToken", "AUTH_TOKEN", "api_token", "apiToken",
            "API_TOKEN", "api_secret", "apiSecret", "API_SECRET", "SECRET_KEY_BASE", "secret_key_base",
        ], before: Anything,
        shape: Named { min: 8 },
        masks: &[
            "api_key: «abc123def456»", "?api_key=«{hex:32}»&x=1", "\"apiKey\": \"«{alnum:24}»\"", "SECRET_KEY='«django-insecure-{alnum:30}»'",
            "//registry.example.org/:_authToken=«{alnum:30}»", "WEATHER_API_KEY=«{alnum:20}»", "--api_key «{alnum:20}»",
        ],
        keeps: &[
            "api_key: string", "api_key=config.api_key2", "apiKey: process.env.API_KEY1", "api_key = \"YOUR_API_KEY_1\"",
            "API_KEY=DEFAULT_KEY_2", "auth_token: 64-character hex", "secret_key=get_key1()", "api_key: \"short\"",
        ],
    },
    Rule {
        name: "url-password", anchors: &["://", ":\\/\\/", ":\\\\/\\\\/"], before: Anything,
        shape: UrlPassword,
        masks: &[
            "postgres://app:«s3cret»@db:5432/app", "redis://:«p@ss:word»@host", "\"https:\\/\\/u:«pw»@h\\/\"",
            "amqp://guest:«guest»@localhost", "https://«{alnum:24}»@git.example.org/a.git", "https://«{hex:40}:x-oauth-basic»@h/a",
            "https://«{hex:40}:»@h/a",
        ],
        keeps: &[
            "https://some-organization@dev.example.org/x", "https://registry.example.org/@scope/name-1234567890123456",
            "https://u1@h", "https://${ACCESS_TOKEN_NUMBER_1}@h", "http://localhost:8080/a@b", "https://example.com/x:y@z", "ssh://git@github.com", "http://[::1]:80/",
            "postgres://u:${PASS}@h", "mysql://u:<password>@h", "http://h:80 a@b", "https://u:{pw}@h", "x://u:@h",
            "http://h:3000?mail=a@b", "https://u:$DB_PASS@h", "resolves to http://u:p@h.example/a?b",
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
