//! The pages and documents that the server has for people and programs.

use serde_json::{Value, json};

use crate::{harness::Vault, http::HttpServer};

const TOKENS: &str = "phone:reader:0123456789abcdef0123456789abcdef";
const BEARER: (&str, &str) = ("Authorization", "Bearer 0123456789abcdef0123456789abcdef");

fn page(server: &HttpServer, path: &str, headers: &[(&str, &str)]) -> String {
    let (status, body) = server.request("GET", path, headers, "");
    assert_eq!(status, 200, "{path}: {body}");
    body
}

fn document(server: &HttpServer, path: &str) -> Value {
    serde_json::from_str(&page(server, path, &[])).unwrap()
}

#[test]
fn the_landing_page_shows_what_is_offered_and_why_the_rest_is_not() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("OBSIDIAN_READ_ONLY", "true")]);
    let page = page(&server, "/", &[]);
    for part in [
        "<code>obsidian_get_note</code>",
        "<code>file_read</code>",
        "read-only; start without --read-only",
        "not chosen; add it to --tools",
        &format!("http://{}/mcp", server.address),
        "claude mcp add --transport http obsidian",
        "codex mcp add obsidian --url",
        "cursor://anysphere.cursor-deeplink/mcp/install?name=obsidian",
        "vscode:mcp/install?",
        "Notes",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script") && !page.contains("style=") && !page.contains("Bearer"), "{page}");
    assert!(!page.contains(vault.path().to_str().unwrap()), "where the vault is concerns no visitor");
}

#[test]
fn a_stranger_learns_names_of_tools_and_nothing_of_the_vaults() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_TOKENS", TOKENS)]);
    let seen = page(&server, "/", &[]);
    assert!(seen.contains("obsidian_get_note") && seen.contains("Authorization: Bearer $LAPIDARY_TOKEN"), "{seen}");
    for hidden in ["Notes", "Read a note", "Vaults", "not in the profile"] {
        assert!(!seen.contains(hidden), "{hidden}: {seen}");
    }
    let known = page(&server, "/", &[BEARER]);
    assert!(known.contains("Notes") && known.contains("Read a note"), "{known}");
    assert!(known.contains("not in the profile"), "it may only read: {known}");
    let wrong = [("Authorization", "Bearer fedcba9876543210fedcba9876543210")];
    assert_eq!(server.request("GET", "/", &wrong, "").0, 401);
    let status = server.request("GET", "/mcp", &[BEARER], "").1;
    assert_eq!(status, "{\"status\":\"ok\"}");
    assert_eq!(server.request("GET", "/mcp", &[], "").0, 401);
}

#[test]
fn names_that_look_like_markup_are_shown_as_names() {
    let vault = Vault::new(&[("a.md", b"x")]);
    let mut command = vault.command();
    let named = format!("<script>\"x\"&={}", vault.path().display());
    command.args(["--http", "127.0.0.1:0", "--vault", &named]);
    let server = HttpServer::start_command(command);
    let page = page(&server, "/", &[]);
    assert!(page.contains("&lt;script&gt;&quot;x&quot;&amp;"), "{page}");
    assert!(!page.contains("<script"), "{page}");
}

#[test]
fn every_page_and_document_keeps_browsers_from_misusing_it() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_METRICS", "true")]);
    for path in [
        "/",
        "/healthz",
        "/robots.txt",
        "/assets/page.css",
        "/assets/icon.svg",
        "/.well-known/mcp.json",
        "/.well-known/mcp/server-card.json",
        "/mcp/server-card",
        "/metrics",
    ] {
        let mut stream = server.send("GET", path, &[], "");
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        let head = answer.split("\r\n\r\n").next().unwrap().to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200"), "{path}: {head}");
        for part in [
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "content-security-policy: default-src 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(head.contains(part), "{path}: {part} in {head}");
        }
    }
}

#[test]
fn the_public_address_is_the_same_everywhere_and_no_request_changes_it() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("MCP_PUBLIC_URL", "https://Vault.example.com/")]);
    let url = "https://vault.example.com/mcp";
    let spoofed =
        [("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example"), ("X-Forwarded-Proto", "http")];
    for path in ["/", "/.well-known/mcp.json", "/mcp/server-card"] {
        for headers in [&[][..], &[("Host", "vault.example.com")], &[("Host", "localhost")], &spoofed] {
            let body = page(&server, path, headers);
            assert!(body.contains(url), "{path}: {body}");
            assert!(!body.contains("evil.example") && !body.contains(&server.address), "{path}: {body}");
        }
    }
    assert!(server.said.iter().all(|line| !line.contains("evil")));
}

#[test]
fn programs_find_the_cards_and_crawlers_stay_away_from_the_endpoint() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[("LAPIDARY_TOKENS", TOKENS)]);
    let older = document(&server, "/.well-known/mcp.json");
    for key in ["mcp_version", "server_name", "server_version", "server_description", "generated_at"] {
        assert!(older[key].is_string(), "{key}: {older}");
    }
    assert_eq!(older["authentication"], json!({ "required": true, "type": "bearer" }));
    assert_eq!(older["capabilities"], json!({ "tools": true, "resources": true, "prompts": true, "logging": false }));
    let card = document(&server, "/mcp/server-card");
    assert_eq!(card, document(&server, "/.well-known/mcp/server-card.json"));
    assert_eq!(card["name"].as_str().unwrap().matches('/').count(), 1, "{card}");
    assert_eq!(card["remotes"][0]["type"], "streamable-http");
    assert_eq!(card["remotes"][0]["headers"][0]["name"], "Authorization");
    let robots = page(&server, "/robots.txt", &[]);
    assert_eq!(robots, "User-agent: *\nAllow: /\nDisallow: /mcp\n");
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server", "/metrics", "/nowhere"]
    {
        assert_eq!(server.request("GET", path, &[], "").0, 404, "{path}");
    }
}

#[test]
fn pages_of_others_may_read_the_cards_and_nothing_else() {
    let vault = Vault::new(&[]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &[]);
    let foreign = [("Origin", "https://directory.example")];
    for path in ["/.well-known/mcp.json", "/.well-known/mcp/server-card.json", "/mcp/server-card"] {
        let mut stream = server.send("GET", path, &foreign, "");
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        let head = answer.split("\r\n\r\n").next().unwrap().to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200") && head.contains("access-control-allow-origin: *"), "{path}: {head}");
        assert_eq!(head.matches("access-control-allow-origin").count(), 1, "{path}: {head}");
    }
    for path in ["/", "/mcp", "/healthz"] {
        assert_eq!(server.request("GET", path, &foreign, "").0, 403, "{path}");
    }
}
