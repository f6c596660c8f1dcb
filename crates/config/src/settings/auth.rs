//! How HTTP clients prove who they are.

use lapidary_auth::{SecretText, SharedSecretVerifier};

use super::{DAY, SECOND, switch};
use crate::model::AuthMode;
use crate::profiles::tokens;
use crate::refused::ConfigRefusal;
use crate::setting::{Setting, SettingFlag, ShownDefault};
use crate::value::{issuer_url, milliseconds, redirect_places, toggle, word};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: Some("http.auth_mode"),
        variable: Some("MCP_AUTH_MODE"),
        flag: None,
        default: ShownDefault::Words("`builtin` with a public URL, `bearer` if there is any token, `none` otherwise"),
        doc: "How HTTP clients authenticate: `none` (not at all, but tokens in the configuration are still \
              required), `bearer` (a token of the configuration or of `lapidary token create NAME`), `builtin` (the same, and \
              OAuth with the server's own sign-in page), `jwt` (a JSON web token, HS256) or `oauth` (tokens of another \
              authorization server).",
        apply: |draft, given| {
            let words = [
                ("none", AuthMode::None),
                ("bearer", AuthMode::Bearer),
                ("builtin", AuthMode::Builtin),
                ("jwt", AuthMode::Jwt),
                ("oauth", AuthMode::Oauth),
            ];
            word(&given.raw, &words).map(|mode| draft.config.http.auth.mode = Some(mode))
        },
    },
    Setting {
        key: Some("http.access_ttl_ms"),
        variable: Some("LAPIDARY_ACCESS_TTL_MS"),
        flag: None,
        default: ShownDefault::Value("86400000"),
        doc: "How long an access token of `builtin` lives before its client gets the next one: 5 minutes to 7 days.",
        apply: |draft, given| {
            milliseconds(&given.raw, 300 * SECOND..=7 * DAY).map(|life| draft.config.http.auth.access_life = life)
        },
    },
    Setting {
        key: Some("http.allowed_redirects"),
        variable: Some("LAPIDARY_ALLOWED_REDIRECTS"),
        flag: None,
        default: ShownDefault::Words("every `https` page, known programs, programs on the user's computer"),
        doc: "Where `builtin` may send a browser back to with a code: origins like `https://claude.ai`, schemes of programs \
              like `cursor:`, and `loopback`.",
        apply: |draft, given| redirect_places(&given.raw).map(|places| draft.config.http.auth.redirects = Some(places)),
    },
    Setting {
        key: Some("http.oauth_issuer"),
        variable: Some("OAUTH_ISSUER_URL"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "For `oauth`: the issuer whose tokens are accepted, exactly as in their claim `iss`.",
        apply: |draft, given| issuer_url(&given.raw).map(|issuer| draft.config.http.auth.foreign.issuer = Some(issuer)),
    },
    Setting {
        key: Some("http.oauth_audience"),
        variable: Some("OAUTH_AUDIENCE"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "For `oauth`: the required value of the claim `aud`, or one of its values.",
        apply: |draft, given| {
            given.raw.text().map(|text| draft.config.http.auth.foreign.audience = Some(text.to_owned()))
        },
    },
    Setting {
        key: Some("http.oauth_keys_url"),
        variable: Some("OAUTH_JWKS_URI"),
        flag: None,
        default: ShownDefault::Words("`/.well-known/jwks.json` below the issuer"),
        doc: "For `oauth`: where the issuer publishes its keys.",
        apply: |draft, given| issuer_url(&given.raw).map(|keys| draft.config.http.auth.foreign.keys = Some(keys)),
    },
    Setting {
        key: Some("http.oauth_keys_cooldown_ms"),
        variable: Some("OAUTH_JWKS_COOLDOWN_MS"),
        flag: None,
        default: ShownDefault::Value("300000"),
        doc: "For `oauth`: how long to wait before the keys are fetched again because a token names one that is not there.",
        apply: |draft, given| {
            milliseconds(&given.raw, 0..=DAY).map(|time| draft.config.http.auth.foreign.cooldown = time)
        },
    },
    Setting {
        key: Some("http.oauth_keys_timeout_ms"),
        variable: Some("OAUTH_JWKS_TIMEOUT_MS"),
        flag: None,
        default: ShownDefault::Value("5000"),
        doc: "For `oauth`: how long fetching the keys may take.",
        apply: |draft, given| {
            milliseconds(&given.raw, 1..=60 * SECOND).map(|time| draft.config.http.auth.foreign.timeout = time)
        },
    },
    Setting {
        key: Some("http.resource_identifier"),
        variable: Some("MCP_SERVER_RESOURCE_IDENTIFIER"),
        flag: None,
        default: ShownDefault::Words("not checked"),
        doc: "For `oauth`: the resource that a token has to be for, in its claim `resource` or `aud` (RFC 8707).",
        apply: |draft, given| {
            given.raw.text().map(|text| draft.config.http.auth.foreign.resource = Some(text.to_owned()))
        },
    },
    Setting {
        key: Some("http.auth_secret_key"),
        variable: Some("MCP_AUTH_SECRET_KEY"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The secret with which JSON web tokens are signed, for `jwt`: 32 characters or more. It is never logged.",
        apply: |draft, given| {
            let secret = given.raw.text()?;
            SharedSecretVerifier::new(secret, None, None).map_err(|_| ConfigRefusal::WeakSecret)?;
            draft.config.http.auth.secret = Some(SecretText::new(secret.to_owned()));
            Ok(())
        },
    },
    Setting {
        key: Some("http.jwt_issuer"),
        variable: Some("MCP_JWT_EXPECTED_ISSUER"),
        flag: None,
        default: ShownDefault::Words("any"),
        doc: "The required value of the claim `iss` of a JSON web token.",
        apply: |draft, given| given.raw.text().map(|text| draft.config.http.auth.issuer = Some(text.to_owned())),
    },
    Setting {
        key: Some("http.jwt_audience"),
        variable: Some("MCP_JWT_EXPECTED_AUDIENCE"),
        flag: None,
        default: ShownDefault::Words("any"),
        doc: "The required value of the claim `aud` of a JSON web token, or one of its values.",
        apply: |draft, given| given.raw.text().map(|text| draft.config.http.auth.audience = Some(text.to_owned())),
    },
    Setting {
        key: Some("http.ignore_scopes"),
        variable: Some("MCP_AUTH_DISABLE_SCOPE_CHECKS"),
        flag: None,
        default: ShownDefault::Value("false"),
        doc: "Accept every valid JSON web token for all tools, regardless of its scopes. The server warns about it at startup.",
        apply: |draft, given| toggle(&given.raw).map(|ignored| draft.config.http.auth.ignores_scopes = ignored),
    },
    Setting {
        key: None,
        variable: None,
        flag: Some(SettingFlag {
            name: "--insecure-no-auth",
            value: "",
            given: |flags| switch(flags.insecure_no_auth),
        }),
        default: ShownDefault::Value("false"),
        doc: "Serve an address that other computers can reach without authentication: every client that reaches the \
              port can read and change the vaults.",
        apply: |draft, given| toggle(&given.raw).map(|insecure| draft.config.http.auth.insecure = insecure),
    },
    Setting {
        key: Some("tokens"),
        variable: Some("LAPIDARY_TOKENS"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The clients that may call over HTTP, each with a token that it sends as `Authorization: Bearer …` and \
              its own profile. In the file, a table `[tokens.name]` with `token` and `profile`; in the variable, \
              `name:profile:token`, separated by `;`. A token may be written as `sha256:` and its hash. If any token is set, \
              clients without one are refused. In the file, a token may also have `vaults` (the names of the vaults that \
              exist for it; default all), `read_paths` and `write_paths` (folders, within those of `access`; \
              `write_paths` default to `read_paths`) and `read_only`. Anything outside does not exist \
              for that client.",
        apply: |draft, given| {
            draft.config.tokens = tokens(&given.raw)?;
            // Profiles are checked when all are known, and the refusal has to name this place.
            draft.tokens_place = Some(given.place.clone());
            Ok(())
        },
    },
    Setting {
        key: None,
        variable: Some("LAPIDARY_TOKEN"),
        flag: None,
        default: ShownDefault::Words("none"),
        doc: "The token with which `lapidary doctor --remote` asks as a client. It is never logged.",
        apply: |draft, given| {
            draft.config.client_token = Some(SecretText::new(given.raw.text()?.to_owned()));
            Ok(())
        },
    },
];
