//! The pages of the authorization server. All text is escaped, and there are no scripts.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use lapidary_auth::{AuthorizationRequest, ClientSource};
use lapidary_tools::Effect;

use super::consent_form::{ConsentChoice, ConsentOffer, LIFETIMES, VAULT, asked_effect};

const STYLE: &str = include_str!("authorize.css");

pub(super) async fn style() -> Response {
    let headers = [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "public, max-age=3600")];
    (headers, STYLE).into_response()
}

/// Text as it is shown, never as markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            letter => out.push(letter),
        }
    }
    out
}

/// A whole page. `form_leads_to` is where a form may lead in the end, apart from this server: browsers check the redirect
/// that answers it, too.
fn page(status: StatusCode, title: &str, main: &str, form_leads_to: &str) -> Response {
    let markup = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{} · Lapidary</title>\n\
         <link rel=\"icon\" href=\"/assets/icon.svg\">\n<link rel=\"stylesheet\" href=\"/authorize.css\">\n</head>\n<body>\n<main>\n{main}\n</main>\n</body>\n</html>\n",
        escaped(title)
    );
    let policy = format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; \
         form-action 'self' {form_leads_to}"
    );
    let mut response = (status, Html(markup)).into_response();
    let headers = response.headers_mut();
    // An origin consists of letters that a header can have; if not, the form leads nowhere.
    let strict = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; form-action 'none'");
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_str(policy.trim_end()).unwrap_or(strict));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // With `no-referrer`, browsers would hide from us that our own form was sent by our own page.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Something went wrong, and the browser is not sent anywhere.
pub(super) fn error_page(status: StatusCode, title: &str, explanation: &str) -> Response {
    let main = format!(
        "<h1>{}</h1>\n<p>{}</p>\n<p class=\"quiet\">Nothing was granted. You can close this page.</p>",
        escaped(title),
        escaped(explanation)
    );
    page(status, title, &main, "")
}

/// What a request says of itself before anyone has looked into it.
pub(super) struct UnprovenRequest<'a> {
    /// What is shown in large letters: the host of its document, or where the answer goes. Never a name, which everyone can
    /// choose.
    pub(super) host: &'a str,
    /// How it calls itself, if it has no document.
    pub(super) name: Option<&'a str>,
    pub(super) returns_to: &'a str,
    /// The parameters of the request, to come back to it.
    pub(super) query: &'a str,
}

pub(super) fn sign_in_page(status: StatusCode, request: &UnprovenRequest<'_>, problem: Option<&str>) -> Response {
    let problem = problem.map(|problem| format!("<p class=\"problem\" role=\"alert\">{}</p>\n", escaped(problem)));
    let returns_to = escaped(request.returns_to);
    let asks = match request.name {
        Some(name) => {
            let name = escaped(name);
            format!(
                "A program that calls itself “{name}” asks for access, and wants the answer sent to <b>{returns_to}</b>."
            )
        }
        None => format!("asks for access, and wants the answer sent to <b>{returns_to}</b>."),
    };
    let main = format!(
        "<h1>Sign in to your notes</h1>\n\
         <div class=\"who\">\n<p class=\"host\">{}</p>\n<p>{asks}</p>\n\
         <p class=\"quiet\">Neither is proven. After signing in you see more, and decide.</p>\n</div>\n{}\
         <form method=\"post\" action=\"/authorize\">\n<input type=\"hidden\" name=\"action\" value=\"sign-in\">\n\
         <input type=\"hidden\" name=\"query\" value=\"{}\">\n\
         <input type=\"text\" name=\"username\" value=\"owner\" autocomplete=\"username\" hidden>\n\
         <label for=\"passphrase\">The owner's passphrase</label>\n\
         <input id=\"passphrase\" name=\"passphrase\" type=\"password\" autocomplete=\"current-password\" required autofocus>\n\
         <div class=\"buttons\"><button type=\"submit\" class=\"main\">Sign in</button></div>\n</form>\n\
         <p class=\"quiet\">If you did not just connect a program, close this page.</p>",
        escaped(request.host),
        problem.unwrap_or_default(),
        escaped(request.query),
    );
    // The form leads back to this server only.
    page(status, "Sign in", &main, "")
}

pub(super) fn consent_page(
    request: &AuthorizationRequest,
    offer: &ConsentOffer,
    choice: &ConsentChoice,
    ticket: &str,
    problem: Option<&str>,
) -> Response {
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let problem = problem.map(|problem| format!("<p class=\"problem\" role=\"alert\">{}</p>\n", escaped(problem)));
    // Fixed words, never those of the client: what is asked for has to be comparable between programs.
    let asks: Vec<&str> = match asked_effect(request) {
        Effect::Read => vec!["read and search your notes"],
        Effect::Write => vec!["read and search your notes", "create and change notes; you can undo this"],
        Effect::Destroy => {
            vec!["read and search your notes", "create and change notes; you can undo this", "delete notes"]
        }
    };
    let asks: String = asks.iter().map(|words| format!("<li>{words}</li>\n")).collect();
    let main = format!(
        "<h1>Give access to your notes?</h1>\n{}\n<p>It asks to</p>\n<ul>\n{asks}</ul>\n{}\
         <form method=\"post\" action=\"/authorize\">\n<input type=\"hidden\" name=\"action\" value=\"consent\">\n\
         <input type=\"hidden\" name=\"ticket\" value=\"{}\">\n{}\n\
         <div class=\"buttons\">\n<button type=\"submit\" name=\"decision\" value=\"deny\">Deny</button>\n\
         <button type=\"submit\" name=\"decision\" value=\"allow\">Allow</button>\n</div>\n</form>\n\
         <p class=\"quiet\">You can end this at any time: <code>lapidary token list</code> shows it, <code>lapidary token revoke NAME</code> ends it.</p>",
        who(request),
        problem.unwrap_or_default(),
        escaped(ticket),
        fields(offer, choice),
    );
    // Browsers check the redirect that answers a form against the same rule.
    page(status, "Give access", &main, &request.redirect.origin())
}

/// Who asks, how far that is proven, and where the answer goes.
fn who(request: &AuthorizationRequest) -> String {
    let (name, place) = (escaped(&request.client.name), escaped(&request.redirect.shown_place()));
    // The host is what was proven; the rest of the address is chosen by the client.
    let host = request.client.id.strip_prefix("https://").and_then(|rest| rest.split('/').next()).map(escaped);
    let (host, class, mark) = match (request.client.source, host) {
        (ClientSource::Document, Some(host)) => {
            let mark = format!("Verified: {host} describes this program as its own.");
            (host, "proven", mark)
        }
        (ClientSource::BuiltIn, Some(host)) => {
            let mark = format!("Well known: {host} did not say so itself just now, but Lapidary knows this program.");
            (host, "proven", mark)
        }
        _ => (place.clone(), "unproven", format!("Not verified: the program itself says that it is called “{name}”.")),
    };
    let goes_to = if request.redirect.is_loopback() {
        "The answer goes to a program on the computer where this page is open. Which one cannot be proven.".to_owned()
    } else {
        format!("The answer goes to <b>{place}</b>.")
    };
    format!(
        "<div class=\"who\">\n<p class=\"host\">{host}</p>\n<p class=\"name\">{name}</p>\n<p class=\"{class}\">{mark}</p>\n\
         <p>{goes_to}</p>\n</div>"
    )
}

fn fields(offer: &ConsentOffer, choice: &ConsentChoice) -> String {
    let profiles: String = offer
        .profiles
        .iter()
        .map(|(name, most)| {
            let checked = if *name == choice.profile { " checked" } else { "" };
            // The owner chose these names; they are escaped like any other text.
            let name = escaped(name);
            let words = match most {
                Effect::Read => "read and search",
                Effect::Write => "also create and change",
                Effect::Destroy => "also delete",
            };
            format!(
                "<label class=\"choice\"><input type=\"radio\" name=\"profile\" value=\"{name}\"{checked}> \
                 <span><b>{name}</b>: {words}</span></label>\n"
            )
        })
        .collect();
    let vaults: String = offer
        .vaults
        .iter()
        .map(|vault| {
            let checked = if choice.vaults.contains(vault) { " checked" } else { "" };
            let vault = escaped(vault);
            format!(
                // With a prefix, so that no vault can have the name of another field.
                "<label class=\"choice\"><input type=\"checkbox\" name=\"{VAULT}{vault}\" value=\"on\"{checked}> \
                 <span>{vault}</span></label>\n"
            )
        })
        .collect();
    let lifetimes: String = LIFETIMES
        .iter()
        .map(|(word, words)| {
            let selected = if *word == choice.lifetime { " selected" } else { "" };
            format!("<option value=\"{word}\"{selected}>{words}</option>\n")
        })
        .collect();
    let read_only = if choice.read_only { " checked" } else { "" };
    format!(
        "<fieldset><legend>It may</legend>\n{profiles}\
         <label class=\"choice\"><input type=\"checkbox\" name=\"read_only\" value=\"on\"{read_only}> \
         <span>read-only, whatever is chosen above</span></label>\n</fieldset>\n\
         <fieldset><legend>In these vaults</legend>\n{vaults}</fieldset>\n\
         <label for=\"folders\">Only in these folders, one in each line (empty: everywhere)</label>\n\
         <textarea id=\"folders\" name=\"folders\" rows=\"2\" autocapitalize=\"off\" spellcheck=\"false\" \
         placeholder=\"projects/\">{}</textarea>\n\
         <label for=\"lifetime\">For</label>\n<select id=\"lifetime\" name=\"lifetime\">\n{lifetimes}</select>",
        escaped(&choice.folders)
    )
}
