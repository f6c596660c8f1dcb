//! The documents by which clients find out where to sign in, and what they demand of them.

use serde_json::Value;

use super::{
    finding::Finding,
    remote_checks::{RemoteAnswer, RemoteVisitor},
};

const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";
const SERVER_METADATA: &str = "/.well-known/oauth-authorization-server";
const FORWARD_ADVICE: &str = "forward all of /.well-known to the server";

pub(super) fn findings(visitor: &RemoteVisitor) -> Vec<Finding> {
    let (finding, issuer) = resource(visitor);
    let mut findings = vec![finding];
    match issuer {
        // Only our own issuer is looked at: another one is not the owner's to correct.
        Some(issuer) if issuer == visitor.address.origin => findings.push(authorization_server(visitor, &issuer)),
        Some(issuer) => {
            findings.push(Finding::ok("sign-in", format!("at {issuer}, which is not looked at here")));
        }
        None => {}
    }
    findings
}

/// The same document at both of its places.
fn at_both(visitor: &RemoteVisitor, place: &str) -> Result<RemoteAnswer, Finding> {
    let (origin, path) = (&visitor.address.origin, &visitor.address.path);
    let wrong = |found: String| Finding::failure("sign-in", found, FORWARD_ADVICE);
    let ask = |url: String| match visitor.get(&url, &[]) {
        Ok(answer) if answer.status == 200 && answer.json().is_object() => Ok(answer),
        Ok(answer) => Err(wrong(format!("{} is answered with {}", &url[origin.len()..], answer.status))),
        Err(problem) => Err(wrong(problem)),
    };
    let (short, long) = (ask(format!("{origin}{place}"))?, ask(format!("{origin}{place}{path}"))?);
    // Byte by byte, since a proxy that rewrites one of them breaks only some clients.
    if short.body != long.body {
        return Err(wrong(format!("{place} and {place}{path} differ")));
    }
    Ok(short)
}

/// Where to sign in for this endpoint.
fn resource(visitor: &RemoteVisitor) -> (Finding, Option<String>) {
    const WHAT: &str = "protected resource";
    let document = match at_both(visitor, RESOURCE_METADATA) {
        Ok(answer) => answer.json(),
        Err(finding) => return (finding, None),
    };
    let (said, wanted) = (document["resource"].as_str().unwrap_or_default(), visitor.address.endpoint());
    if said != wanted {
        let advice = format!("start the server with --public-url {}", visitor.address.origin);
        let found = format!("it is called {said:?}, clients ask for {wanted:?} and compare the two letter by letter");
        return (Finding::failure(WHAT, found, advice), None);
    }
    match document["authorization_servers"].get(0).and_then(Value::as_str) {
        Some(issuer) => (Finding::ok(WHAT, wanted), Some(issuer.to_owned())),
        None => {
            let advice = "clients cannot sign in by themselves; with MCP_AUTH_MODE=builtin they can";
            (Finding::warning(WHAT, "it names no place to sign in", advice), None)
        }
    }
}

/// What hosted clients demand of the place to sign in.
fn authorization_server(visitor: &RemoteVisitor, issuer: &str) -> Finding {
    const WHAT: &str = "sign-in";
    let document = match at_both(visitor, SERVER_METADATA) {
        Ok(answer) => answer.json(),
        Err(finding) => return finding,
    };
    let has = |list: &str, entry: &str| document[list].as_array().is_some_and(|list| list.iter().any(|it| it == entry));
    let missing = [
        // Each of these is required by at least one hosted client before it offers to sign in.
        ("issuer", document["issuer"] == issuer),
        ("code_challenge_methods_supported: S256", has("code_challenge_methods_supported", "S256")),
        ("token_endpoint_auth_methods_supported: none", has("token_endpoint_auth_methods_supported", "none")),
        ("authorization_endpoint", document["authorization_endpoint"].is_string()),
        ("token_endpoint", document["token_endpoint"].is_string()),
    ];
    let missing: Vec<&str> = missing.iter().filter(|(_, holds)| !holds).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        Finding::ok(WHAT, format!("at {issuer}"))
    } else {
        let found = format!("the document lacks {}", missing.join(", "));
        Finding::failure(WHAT, found, "something in front of the server answers in its place")
    }
}
