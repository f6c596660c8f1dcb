//! Playbooks: notes of a folder that the owner chose are prompts and skills, and `find_tool` finds them.

use base64::{Engine, prelude::BASE64_STANDARD};
use lapidary_note::ContentHash;
use serde_json::{Value, json};

use crate::{
    harness::{Era, Server, Vault},
    http::HttpServer,
};

#[test]
fn playbooks_are_prompts_and_are_found_with_the_tools() {
    let vault = Vault::new(&[
        (
            "Skills/Weekly review.md",
            b"---\ndescription: Look back at the week and plan the next\n---\n1. Read the daily notes.\n",
        ),
        ("Skills/meeting/SKILL.md", b"# Prepare a meeting\n\nAsk <% tp.mcpTools.prompt('person') %> first.\n"),
        ("Skills/secret.md", b"for the owner\n"),
        ("Other/x.md", b"nothing\n"),
    ]);
    let environment = [("LAPIDARY_SKILLS_FOLDER", "Skills"), ("OBSIDIAN_DENY_PATHS", "Skills/secret.md")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    let listed = server.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Notes/Skills/Weekly review", "Notes/Skills/meeting"]);
    assert_eq!(listed[1]["description"], "Prepare a meeting");
    let got = server.request("prompts/get", json!({ "name": names[1], "arguments": { "person": "Ada" } }));
    assert!(got["result"].to_string().contains("Ask Ada first."), "{got}");
    let found = server.done("find_tool", json!({ "query": "plan my next week" }));
    assert_eq!(found["skills"][0]["path"], "Skills/Weekly review.md", "{found}");
    assert!(!server.done("find_tool", json!({ "query": "owner secret" })).to_string().contains("secret.md"));
    drop(server);
    let mut without = vault.serve().open(Era::Modern);
    assert_eq!(without.request("prompts/list", json!({}))["result"]["prompts"], json!([]));
    assert!(without.done("find_tool", json!({ "query": "plan my next week" })).get("skills").is_none());
}

#[test]
fn with_several_vaults_the_answer_names_the_vault_of_a_playbook_and_the_call() {
    let vault = Vault::new(&[("Skills/Weekly review.md", b"Look back at the week\n"), ("a.md", b"x\n")]);
    let other = vault.path().parent().unwrap().join("Other");
    std::fs::create_dir(&other).unwrap();
    let more = ["--vault", other.to_str().unwrap()];
    let mut server = vault.serve_with(&more, &[("LAPIDARY_SKILLS_FOLDER", "Skills")]).open(Era::Modern);
    let found = server.call("find_tool", json!({ "query": "look back at the week" }));
    let (skill, text) = (&found["structuredContent"]["skills"][0], found["content"][0]["text"].as_str().unwrap());
    assert_eq!((&skill["path"], &skill["vault"]), (&json!("Skills/Weekly review.md"), &json!("Notes")));
    assert!(text.contains("`Skills/Weekly review.md` in the vault `Notes`"), "{text}");
    let found = server.done("find_tool", json!({ "query": "file_read", "limit": 1 }));
    assert_eq!(found["matches"][0]["example"]["vault"], "Notes", "{found}");
    let arguments = found["matches"][0]["arguments"].as_str().unwrap();
    assert_eq!(arguments.matches("vault: ").count(), 1, "{arguments}");
}

#[test]
fn prompt_names_are_unique() {
    let prompt: &[u8] = b"---\ntags: mcp-tools-prompt\n---\nx\n";
    let vault = Vault::new(&[
        ("Prompts/Skills/x.md", prompt),
        ("Skills/x.md", b"y\n"),
        ("Skills/x/SKILL.md", b"z\n"),
        ("Skills/y.md", b"y\n"),
    ]);
    let mut server = vault.serve_with(&[], &[("LAPIDARY_SKILLS_FOLDER", "Skills")]).open(Era::Modern);
    let listed = server.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Notes/Skills/x", "Notes/Skills/y"]);
}

#[test]
fn a_title_that_is_repeated_is_no_description() {
    let vault = Vault::new(&[
        ("Skills/Weekly review.md", b"# Weekly review\n\nLook back at the week.\n"),
        ("Skills/Alone.md", b"# Alone\n"),
    ]);
    let mut server = vault.serve_with(&[], &IN_SKILLS).open(Era::Modern);
    let listed = skills(&mut server);
    let described: Vec<&str> =
        listed.iter().skip(1).map(|skill| skill["frontmatter"]["description"].as_str().unwrap()).collect();
    assert_eq!(described, ["Alone", "Look back at the week."]);
    let prompts = server.request("prompts/list", json!({}))["result"]["prompts"].clone();
    assert_eq!(prompts[1]["description"], "Look back at the week.");
}

#[test]
fn no_caller_is_told_of_tools_that_it_does_not_have() {
    let vault = Vault::new(&[("a.md", b"x\n")]);
    for (flags, told, not_told) in [
        (&[][..], &["`find_tool`", "`call_tool`", "`obsidian_get_note`"][..], &[][..]),
        (&["--tools", "files"], &[], &["`find_tool`", "`call_tool`", "`obsidian_get_note`"]),
        (&["--exclude-tools", "call_tool"], &["`find_tool`", "call them by name"], &["`call_tool`"]),
    ] {
        let mut server = vault.serve_with(flags, &[]).open(Era::Modern);
        let said = server.request("server/discover", json!({}))["result"]["instructions"].as_str().unwrap().to_owned();
        assert!(told.iter().all(|part| said.contains(part)), "{flags:?}: {said}");
        assert!(!not_told.iter().any(|part| said.contains(part)), "{flags:?}: {said}");
    }
    let mut server = vault.serve_with(&["--exclude-tools", "call_tool"], &[]).open(Era::Modern);
    let found = server.call("find_tool", json!({ "query": "file_read", "limit": 1 })).to_string();
    assert!(!found.contains("`call_tool`"), "{found}");
}

#[test]
fn a_folder_in_which_nothing_can_be_found_is_refused_at_the_start() {
    let vault = Vault::new(&[(".skills/a.md", b"x\n")]);
    let mut command = vault.command();
    let output =
        command.arg("--vault").arg(vault.path()).arg("tools").env("LAPIDARY_SKILLS_FOLDER", ".skills").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("skills_folder"));
}

const IN_SKILLS: [(&str, &str); 1] = [("LAPIDARY_SKILLS_FOLDER", "Skills")];
const CONFORMING: &[u8] =
    b"---\r\nname: pdf-forms\r\ndescription: Fill in forms\r\nlicense: MIT\r\nmetadata:\r\n  tested: true\r\n---\r\nSee references/FORMS.md\r\n";

fn skills(server: &mut Server) -> Vec<Value> {
    let reply = server.request("skills/list", json!({}));
    let result = &reply["result"];
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")), "{reply}");
    assert!(result["ttlMs"].is_u64(), "{reply}");
    result["skills"].as_array().unwrap().clone()
}

fn uris(skill: &Value) -> Vec<&str> {
    skill["resources"].as_array().unwrap().iter().map(|file| file["uri"].as_str().unwrap()).collect()
}

/// The bytes of a resource, as a client gets them.
fn bytes(server: &mut Server, uri: &str) -> Vec<u8> {
    let reply = server.request("resources/read", json!({ "uri": uri }));
    let contents = &reply["result"]["contents"][0];
    assert_eq!(contents["uri"], uri, "{reply}");
    match contents["text"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => BASE64_STANDARD.decode(contents["blob"].as_str().unwrap()).unwrap(),
    }
}

#[test]
fn every_file_of_a_skill_is_what_its_hash_says() {
    let vault = Vault::new(&[
        ("Skills/pdf/SKILL.md", CONFORMING),
        ("Skills/pdf/references/FORMS.md", b"\xef\xbb\xbfa\r\nb"),
        ("Skills/pdf/scripts/run it.py", b"print()\n"),
        ("Skills/pdf/logo.png", b"\x89PNG\0\xff"),
        ("Skills/Team work/Weekly review.md", b"---\ntags: [x]\n---\n\n# Look \"back\"\n\nat the week\n"),
        ("Skills/meeting/SKILL.md", b"# Prepare a meeting\n"),
        ("Other/x.md", b"nothing\n"),
    ]);
    let mut server = vault.serve_with(&[], &IN_SKILLS).open(Era::Modern);
    let discovered = server.request("server/discover", json!({}))["result"]["capabilities"].clone();
    assert_eq!(discovered["extensions"], json!({ "io.modelcontextprotocol/skills": {} }));
    let listed = skills(&mut server);
    let main: Vec<&str> = listed.iter().map(|skill| skill["uri"].as_str().unwrap()).collect();
    assert_eq!(
        main,
        [
            "skill://lapidary/SKILL.md",
            "skill://Notes/Team%20work/weekly-review/SKILL.md",
            "skill://Notes/meeting/SKILL.md",
            "skill://Notes/pdf-forms/SKILL.md",
        ]
    );
    let expected = json!({ "name": "pdf-forms", "description": "Fill in forms", "license": "MIT",
        "metadata": { "tested": true } });
    assert_eq!(listed[3]["frontmatter"], expected);
    assert_eq!(
        uris(&listed[3]),
        [
            "skill://Notes/pdf-forms/SKILL.md",
            "skill://Notes/pdf-forms/logo.png",
            "skill://Notes/pdf-forms/references/FORMS.md",
            "skill://Notes/pdf-forms/scripts/run%20it.py",
        ]
    );
    assert_eq!(listed[1]["frontmatter"], json!({ "name": "weekly-review", "description": "Look \"back\"" }));
    for skill in &listed {
        for file in skill["resources"].as_array().unwrap() {
            let read = bytes(&mut server, file["uri"].as_str().unwrap());
            assert_eq!(file["digest"], ContentHash::of(&read).to_string(), "{file}");
            assert_eq!(file["size"], read.len(), "{file}");
        }
        let got = server.request("skills/get", json!({ "uri": skill["uri"] }));
        assert_eq!(&got["result"]["skill"], skill);
        assert_eq!(got["result"]["resultType"], "complete");
        // The last name of the path is that of the skill.
        let name = skill["uri"].as_str().unwrap().rsplit('/').nth(1).unwrap();
        assert_eq!(skill["frontmatter"]["name"], name);
    }
    assert_eq!(bytes(&mut server, "skill://Notes/pdf-forms/SKILL.md"), CONFORMING);
    let made = String::from_utf8(bytes(&mut server, main[1])).unwrap();
    let expected =
        "---\nname: weekly-review\ndescription: \"Look \\\"back\\\"\"\n---\n\n# Look \"back\"\n\nat the week\n";
    assert_eq!(made, expected);
    // Every note of it is a prompt as before, and what belongs to a skill is none.
    let prompts = server.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = prompts.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Notes/Skills/Team work/Weekly review", "Notes/Skills/meeting", "Notes/Skills/pdf"]);
    // A changed file has another hash, and the log has each request.
    vault.write("Skills/pdf/logo.png", b"new");
    let again = server.request("skills/get", json!({ "uri": main[3] }));
    assert_eq!(again["result"]["skill"]["resources"][1]["digest"], ContentHash::of(b"new").to_string());
    server.stop();
    let called: Vec<String> = vault.log().iter().map(|line| line["tool"].as_str().unwrap().to_owned()).collect();
    assert!(called.contains(&"skills/list".to_owned()) && called.contains(&"skills/get".to_owned()), "{called:?}");
}

#[test]
fn nothing_else_is_read_through_a_skill() {
    let vault = Vault::new(&[
        ("Skills/pdf/SKILL.md", CONFORMING),
        ("Skills/pdf/notes/a.md", b"a\n"),
        ("Skills/other.md", b"other\n"),
        ("secret.md", b"secret\n"),
        ("outside.md", b"outside\n"),
    ]);
    let mut server = vault.serve_with(&[], &IN_SKILLS).open(Era::Modern);
    for uri in [
        "skill://Notes/pdf-forms/../../secret.md",
        "skill://Notes/pdf-forms/..%2F..%2Fsecret.md",
        "skill://Notes/pdf-forms/notes",
        "skill://Notes/pdf-forms",
        "skill://Notes/pdf-forms/",
        "skill://Notes/pdf/SKILL.md",
        "skill://Notes/other/x.md",
        "skill://Notes/secret.md",
        "skill://Other/pdf-forms/SKILL.md",
        "skill://lapidary/x.md",
        "skill://Notes/pdf-forms/skill.md",
        "skill://",
    ] {
        for method in ["skills/get", "resources/read"] {
            let reply = server.request(method, json!({ "uri": uri }));
            assert_eq!(reply["error"]["code"], -32602, "{method} {uri}: {reply}");
        }
    }
    // A file of a skill is not a skill.
    let reply = server.request("skills/get", json!({ "uri": "skill://Notes/pdf-forms/notes/a.md" }));
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    assert_eq!(server.request("skills/get", json!({}))["error"]["code"], -32602);
    assert_eq!(server.request("skills/other", json!({}))["error"]["code"], -32601);
    assert_eq!(server.request("resources/directory/read", json!({}))["error"]["code"], -32601);
}

#[test]
fn clients_with_a_handshake_have_no_skills() {
    let vault = Vault::new(&[("Skills/meeting/SKILL.md", b"# Prepare a meeting\n")]);
    for version in ["2025-11-25", "2025-06-18"] {
        let mut server = vault.serve_with(&[], &IN_SKILLS);
        let hello =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }));
        let opened = server.message();
        assert!(opened["result"]["capabilities"].get("resources").is_some(), "{opened}");
        assert!(opened["result"]["capabilities"].get("extensions").is_none(), "{opened}");
        let mut server = vault.serve_with(&[], &IN_SKILLS).open(Era::Legacy(version));
        for (method, params, code) in [
            ("skills/list", json!({}), -32601),
            ("skills/get", json!({ "uri": "skill://Notes/meeting/SKILL.md" }), -32601),
            ("resources/read", json!({ "uri": "skill://Notes/meeting/SKILL.md" }), -32602),
            ("resources/read", json!({ "uri": "skill://lapidary/SKILL.md" }), -32602),
        ] {
            let reply = server.request(method, params);
            assert_eq!(reply["error"]["code"], code, "{method}: {reply}");
        }
        let prompts = server.request("prompts/list", json!({}));
        assert_eq!(prompts["result"]["prompts"][0]["name"], "Notes/Skills/meeting", "{prompts}");
    }
}

#[test]
fn a_skill_in_a_closed_place_does_not_exist() {
    let files: &[(&str, &[u8])] = &[
        ("Skills/open/SKILL.md", b"# Open\n"),
        ("Skills/open/closed.txt", b"xyzzy"),
        ("Skills/hidden/SKILL.md", b"# Hidden xyzzy\n"),
        ("Skills/hidden/beside.md", b"xyzzy\n"),
        ("Skills/half/SKILL.md", b"# Half xyzzy\n"),
        ("Skills/half/visible.md", b"seen\n"),
        ("Skills/secret.md", b"xyzzy\n"),
    ];
    let is_open = |path: &str| path == "Skills/open/SKILL.md" || path == "Skills/half/visible.md";
    let open: Vec<(&str, &[u8])> = files.iter().filter(|(path, _)| is_open(path)).copied().collect();
    let environment = [
        ("LAPIDARY_SKILLS_FOLDER", "Skills"),
        ("OBSIDIAN_DENY_PATHS", "Skills/open/closed.txt,Skills/hidden,Skills/half/SKILL.md,Skills/secret.md"),
    ];
    let asked = |vault: &Vault| {
        let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
        let mut said = vec![json!(skills(&mut server))];
        for uri in ["hidden/SKILL.md", "hidden/beside.md", "secret/SKILL.md", "half/SKILL.md", "open/closed.txt"] {
            for method in ["skills/get", "resources/read"] {
                let mut reply = server.request(method, json!({ "uri": format!("skill://Notes/{uri}") }));
                assert_eq!(reply["error"]["code"], -32602, "{uri}: {reply}");
                reply["id"].take();
                said.push(reply);
            }
        }
        said
    };
    let (with, without) = (asked(&Vault::new(files)), asked(&Vault::new(&open)));
    assert_eq!(with, without);
    assert!(!json!(with).to_string().contains("xyzzy"), "{with:?}");
    let uris: Vec<&str> = with[0].as_array().unwrap().iter().map(|skill| skill["uri"].as_str().unwrap()).collect();
    assert_eq!(
        uris,
        ["skill://lapidary/SKILL.md", "skill://Notes/half/visible/SKILL.md", "skill://Notes/open/SKILL.md"]
    );
}

#[test]
fn a_skill_that_no_client_accepts_is_not_served() {
    let vault = Vault::new(&[("Skills/many/SKILL.md", b"# Many\n"), ("Skills/large/SKILL.md", b"# Large\n")]);
    for number in 0..511 {
        vault.write(&format!("Skills/many/{number}.txt"), b"");
    }
    vault.write("Skills/large/a.bin", &vec![1; 9 << 20]);
    vault.write("Skills/large/b.bin", &vec![2; 7 << 20]);
    let mut server = vault.serve_with(&[], &IN_SKILLS).open(Era::Modern);
    let listed = skills(&mut server);
    assert_eq!(listed.len(), 2, "just too large is the second: {:?}", listed.last());
    assert_eq!(uris(&listed[1]).len(), 512);
    vault.write("Skills/many/511.txt", b"");
    vault.write("Skills/large/b.bin", b"");
    let listed = skills(&mut server);
    assert_eq!(listed[1]["uri"], "skill://Notes/large/SKILL.md");
    assert_eq!(listed.len(), 2, "just too many is the second");
}

#[test]
fn rules_about_reading_hold_for_skills_and_the_servers_own_names_what_is_on() {
    let vault = Vault::new(&[("Skills/meeting/SKILL.md", b"# Prepare a meeting\n")]);
    let own = |flags: &[&str]| {
        let mut server = vault.serve_with(flags, &IN_SKILLS).open(Era::Modern);
        String::from_utf8(bytes(&mut server, "skill://lapidary/SKILL.md")).unwrap()
    };
    let usual = own(&[]);
    assert!(usual.contains("`str_replace`") && usual.contains("the Obsidian vault `Notes`"), "{usual}");
    assert!(!own(&["--read-only"]).contains("`str_replace`"));
    assert!(!own(&["--exclude-tools", "query"]).contains("`query`"));
    let environment =
        [("LAPIDARY_SKILLS_FOLDER", "Skills"), ("LAPIDARY_APPROVAL_RULES", "deny group=vault; deny group=read")];
    let mut server = vault.serve_with(&[], &environment).open(Era::Modern);
    for method in ["skills/list", "skills/get", "resources/read"] {
        let reply = server.request(method, json!({ "uri": "skill://Notes/meeting/SKILL.md" }));
        assert!(reply.get("error").is_some(), "{method}: {reply}");
    }
}

#[test]
fn skills_are_served_over_http_as_well() {
    let vault = Vault::new(&[("Skills/meeting/SKILL.md", b"# Prepare a meeting\n")]);
    let server = HttpServer::start(&vault, "127.0.0.1:0", &IN_SKILLS);
    let ask = |method: &str, params: Value| {
        let (status, body) = server.post(&[], method, None, params);
        (status, serde_json::from_str::<Value>(&body).unwrap_or_else(|_| panic!("{body}")))
    };
    let (status, listed) = ask("skills/list", json!({}));
    assert_eq!(listed["result"]["skills"][1]["uri"], "skill://Notes/meeting/SKILL.md", "{status} {listed}");
    let (_, got) = ask("skills/get", json!({ "uri": "skill://Notes/meeting/SKILL.md" }));
    assert_eq!(got["result"]["skill"], listed["result"]["skills"][1]);
    assert_eq!(ask("skills/none", json!({})).0, 404);
    let session = server.session();
    let refused = server.ask_in(&session, &[], "skills/list", &json!({}));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
}
