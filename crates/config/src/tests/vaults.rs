//! Tests of how vaults are chosen.

use super::*;

const LIST: &str = "/home/me/.config/obsidian/obsidian.json";

/// A machine whose Obsidian lists these vaults, all of which exist.
fn obsidian(vaults: &[&str]) -> Machine {
    let machine = Machine::new().file(LIST, &list(vaults));
    vaults.iter().fold(machine, |machine, vault| machine.folder(vault))
}

fn list(vaults: &[&str]) -> String {
    let vaults: serde_json::Map<_, _> = vaults
        .iter()
        .enumerate()
        .map(|(id, path)| (format!("{id:016x}"), serde_json::json!({"path": path, "ts": 1, "open": true})))
        .collect();
    serde_json::json!({ "vaults": vaults, "updateDisabled": true }).to_string()
}

fn key_file(vault: &str) -> String {
    format!("{vault}/.obsidian/plugins/obsidian-local-rest-api/data.json")
}

#[test]
fn the_first_source_that_gives_any_vault_wins() {
    let machine = || {
        let machine =
            obsidian(&["/list"]).variable("OBSIDIAN_API_KEY", "key").file(&key_file("/list"), r#"{"apiKey": "key"}"#);
        ["/flag", "/env", "/dotenv", "/file"].iter().fold(machine, |machine, folder| machine.folder(folder))
    };
    assert_eq!(machine().vaults(), ["list=/list"]);
    let with_file = || machine().toml("[vaults]\nf = \"/file\"\n");
    assert_eq!(with_file().vaults(), ["f=/file"]);
    let with_dotenv = || with_file().dotenv("OBSIDIAN_VAULT_PATHS=/dotenv");
    assert_eq!(with_dotenv().vaults(), ["f=/file"]);
    let with_dotenv = || with_dotenv().variable("LAPIDARY_ENV_FILE", ".env");
    assert_eq!(with_dotenv().vaults(), ["dotenv=/dotenv"]);
    let with_env = || with_dotenv().variable("OBSIDIAN_VAULT_PATHS", "/env");
    assert_eq!(with_env().vaults(), ["env=/env"]);
    assert_eq!(with_env().words(&["--vault", "/flag"]).vaults(), ["flag=/flag"]);
    assert_eq!(with_env().words(&["--vault", ""]).vaults(), ["env=/env"]);
    assert_eq!(with_env().words(&["--vault", "/flag", "--demo"]).vaults(), ["demo"]);
}

#[test]
fn the_demo_warns_that_it_replaces_named_vaults() {
    let machine = Machine::with_vault().words(&["--demo"]);
    assert_holds(&machine.warnings().concat(), &["--demo", "--vault"]);
    assert!(Machine::new().variable("OBSIDIAN_VAULT_PATHS", "/nowhere").words(&["--demo"]).warnings().is_empty());
}

#[test]
fn a_vault_is_named_or_called_like_its_folder() {
    let machine = || {
        let folders = ["/work/a=b", "/home/me", "/home/me/My Notes", "/work/deep/er"];
        folders
            .iter()
            .fold(Machine::new().variable("LAPIDARY_STATE_DIR", "/state"), |machine, folder| machine.folder(folder))
    };
    for (written, expected) in [
        ("/work/Notes", "Notes=/work/Notes"),
        ("/work/Notes/", "Notes=/work/Notes"),
        ("/work/./Notes//", "Notes=/work/Notes"),
        ("Notes", "Notes=/work/Notes"),
        ("./Notes", "Notes=/work/Notes"),
        ("n=Notes", "n=/work/Notes"),
        (" n = Notes ", "n=/work/Notes"),
        ("My Name=~/My Notes", "My Name=/home/me/My Notes"),
        ("~", "me=/home/me"),
        ("~/My Notes", "My Notes=/home/me/My Notes"),
        ("/work/a=b", "a=b=/work/a=b"),
        ("./a=b", "a=b=/work/a=b"),
        ("x=a=b", "x=/work/a=b"),
    ] {
        assert_eq!(machine().words(&["--vault", written]).vaults(), [expected], "{written}");
    }
}

#[test]
fn a_path_that_goes_up_is_not_cut_short_and_names_the_folder_it_reaches() {
    let machine = Machine::new().folder("/work/Notes/..").words(&["--vault", "Notes/.."]);
    assert_eq!(machine.vaults(), ["work=/work/Notes/.."]);
}

#[test]
fn windows_paths_are_read_as_windows_reads_them() {
    let machine =
        || Machine::new().platform(Platform::Windows, r"C:\Users\me").folder("C:/Users/me/Notes").folder("//nas/n");
    for (written, expected) in [
        (r"C:\Users\me\Notes", "Notes=C:/Users/me/Notes"),
        ("C:/Users/me/Notes", "Notes=C:/Users/me/Notes"),
        (r"~\Notes", "Notes=C:/Users/me/Notes"),
        (r"n=C:\Users\me\Notes", "n=C:/Users/me/Notes"),
        (r"\\nas\n", "n=//nas/n"),
    ] {
        assert_eq!(machine().words(&["--vault", written]).vaults(), [expected], "{written}");
    }
    let both = machine().variable("OBSIDIAN_VAULT_PATHS", r"C:\Users\me\Notes; \\nas\n");
    assert_eq!(both.vaults(), ["Notes=C:/Users/me/Notes", "n=//nas/n"]);
}

#[test]
fn the_variable_takes_paths_between_semicolons() {
    let machine = |value: &str| Machine::new().folder("/b").folder("/work/a=b").variable("OBSIDIAN_VAULT_PATHS", value);
    assert_eq!(machine(" /work/Notes ; /b;; ").vaults(), ["Notes=/work/Notes", "b=/b"]);
    assert_eq!(machine("a=b").vaults(), ["a=b=/work/a=b"]);
}

#[test]
fn vaults_of_one_name_all_stay_reachable() {
    let folders = ["/1/Notes", "/2/Notes", "/3/Notes", "/4/x"];
    let machine = folders.iter().fold(Machine::new(), |machine, folder| machine.folder(folder));
    let machine = machine.words(&["--vault", "/1/Notes", "--vault", "/2/Notes", "--vault", "Notes-2=/4/x"]);
    let machine = machine.words(&["--vault", "/3/Notes"]);
    assert_eq!(machine.vaults(), ["Notes=/1/Notes", "Notes-3=/2/Notes", "Notes-2=/4/x", "Notes-4=/3/Notes"]);
    assert_eq!(
        machine.warnings(),
        [
            "two vaults are called 'Notes'; /2/Notes is served as 'Notes-3'",
            "two vaults are called 'Notes'; /3/Notes is served as 'Notes-4'",
        ]
    );
}

#[test]
fn the_same_folder_twice_is_one_vault() {
    let machine = Machine::with_vault().words(&["--vault", "Notes/", "--vault", "other=Notes"]);
    assert_eq!(machine.vaults(), ["Notes=/work/Notes"]);
    assert_eq!(machine.warnings(), ["/work/Notes is given twice; it is served once, as 'Notes', not as 'other'"]);
}

#[test]
fn a_vault_that_does_not_exist_is_named_as_it_was_given() {
    for (machine, parts) in [
        (Machine::new().words(&["--vault", "/none"]), vec!["--vault", "no folder /none"]),
        (Machine::new().words(&["--vault", "n=Nope"]), vec!["--vault", "no folder Nope", "(resolved to /work/Nope)"]),
        (Machine::new().words(&["--vault", "~/x"]), vec!["no folder ~/x", "/home/me/x"]),
        (Machine::new().variable("OBSIDIAN_VAULT_PATHS", "/work/Notes;/none"), vec!["OBSIDIAN_VAULT_PATHS", "/none"]),
        (Machine::new().toml("[vaults]\na = \"/none\"\n"), vec!["`vaults`", "lapidary.toml", "/none"]),
    ] {
        assert_holds(&machine.error(), &parts);
    }
}

#[test]
fn a_name_may_differ_in_case_and_a_misspelt_one_is_answered_with_the_nearest() {
    let machine = || obsidian(&["/v/Notes", "/v/Work", "/x/WORK"]);
    assert_eq!(machine().words(&["--vault", "notes"]).vaults(), ["Notes=/v/Notes"]);
    assert_eq!(machine().words(&["--vault", "Work"]).vaults(), ["Work=/v/Work"]);
    assert_holds(&machine().words(&["--vault", "work"]).error(), &["--vault work could be any of these", "/x/WORK"]);
    // A folder of the working folder is what was typed, to the letter.
    assert_eq!(machine().folder("/work/notes").words(&["--vault", "notes"]).vaults(), ["notes=/work/notes"]);
    assert_holds(&machine().words(&["--vault", "Nots"]).error(), &["no folder Nots", "did you mean --vault Notes?"]);
    assert!(!machine().words(&["--vault", "a=Nots"]).error().contains("did you mean"));
}

#[test]
fn a_vault_flag_without_path_or_name_is_refused() {
    assert_holds(&Machine::new().words(&["--vault", "notes="]).error(), &["--vault", "'notes' has no path"]);
    assert_holds(&Machine::new().words(&["--vault", "n=${user_config.v}"]).error(), &["'n' has no path"]);
    assert_holds(&Machine::new().words(&["--vault", "=/x"]).error(), &["empty name"]);
}

#[test]
fn the_only_vault_that_obsidian_knows_is_served() {
    let mac = "/Users/me/Library/Application Support/obsidian/obsidian.json";
    let windows = || Machine::new().platform(Platform::Windows, r"C:\Users\me").folder("C:/Vault");
    let one = list(&["/work/Notes"]);
    for machine in [
        Machine::new().file(LIST, &one),
        Machine::new().variable("XDG_CONFIG_HOME", "/xdg").file("/xdg/obsidian/obsidian.json", &one),
        Machine::new().file("/home/me/.var/app/md.obsidian.Obsidian/config/obsidian/obsidian.json", &one),
        Machine::new().file("/home/me/snap/obsidian/current/.config/obsidian/obsidian.json", &one),
        Machine::new().platform(Platform::MacOs, "/Users/me").file(mac, &one),
        // An entry of a deleted vault, and the same vault in two installations.
        Machine::new().file(LIST, &list(&["/gone", "/work/Notes"])),
        Machine::new().file(LIST, &one).file("/home/me/snap/obsidian/current/.config/obsidian/obsidian.json", &one),
    ] {
        assert_eq!(machine.vaults(), ["Notes=/work/Notes"]);
    }
    let one = list(&[r"C:\Vault"]);
    for machine in [
        windows().variable("APPDATA", r"D:\R").file("D:/R/obsidian/obsidian.json", &one),
        windows().file("C:/Users/me/AppData/Roaming/obsidian/obsidian.json", &one),
    ] {
        assert_eq!(machine.vaults(), ["Vault=C:/Vault"]);
    }
}

#[test]
fn several_vaults_and_none_chosen_is_an_error_with_the_lines_to_add() {
    let error = obsidian(&["/work/Notes", "/home/me/My Work"]).error();
    assert_holds(&error, &["has 2", "\n  --vault \"/home/me/My Work\"\n  --vault \"/work/Notes\""]);
}

#[test]
fn no_vault_at_all_is_an_error_with_the_line_to_add() {
    for machine in [Machine::new(), Machine::new().file(LIST, &list(&["/gone"])), Machine::new().file(LIST, "{}")] {
        assert_holds(&machine.error(), &["--vault /path/to/vault", "--demo", LIST, "md.obsidian.Obsidian", "snap"]);
    }
}

#[test]
fn an_error_about_vaults_includes_the_warnings() {
    let misspelt = |machine: Machine| machine.variable("OBSIDIAN_VAULT_PATH", "/work/Notes").error();
    let hint = "did you mean OBSIDIAN_VAULT_PATHS?";
    assert_holds(&misspelt(Machine::new()), &[hint]);
    assert_holds(&misspelt(obsidian(&["/a", "/b"])), &[hint]);
    assert_holds(&Machine::new().file(LIST, "{broken").error(), &[LIST, "not JSON at line 1"]);
    assert_holds(&Machine::new().unreadable(LIST).error(), &[LIST, "could not be read"]);
}

#[test]
fn the_key_of_the_plugin_chooses_its_vault() {
    let machine = || {
        obsidian(&["/a", "/b", "/c"])
            .file(&key_file("/a"), r#"{"apiKey": "other", "port": 27124}"#)
            .file(&key_file("/b"), r#"{"apiKey": "k3y-s3cret"}"#)
    };
    assert_eq!(machine().variable("OBSIDIAN_API_KEY", "k3y-s3cret").vaults(), ["b=/b"]);
    assert_eq!(machine().dotenv("OBSIDIAN_API_KEY='k3y-s3cret'").vaults(), ["b=/b"]);
}

#[test]
fn a_key_of_no_vault_here_is_that_of_the_vault_behind_the_app() {
    let machine = || {
        let machine = obsidian(&["/a"]).file(&key_file("/a"), r#"{"apiKey": "other"}"#);
        machine.variable("OBSIDIAN_API_KEY", "k3y-s3cret")
    };
    assert_eq!(machine().vaults(), ["obsidian=http://127.0.0.1:27123"]);
    let elsewhere = machine().variable("OBSIDIAN_BASE_URL", "https://x/");
    assert_eq!(elsewhere.vaults(), ["obsidian=https://x"]);
    let VaultsConfig::Chosen(vaults) = elsewhere.config().vaults else { panic!("chosen") };
    let remote = vaults[0].remote.clone().unwrap();
    assert_eq!((remote.url.as_str(), remote.key.reveal(), remote.certificate), ("https://x", "k3y-s3cret", None));
    assert_eq!(vaults[0].folder(), None);
}

#[test]
fn a_vault_of_the_file_may_be_behind_the_app() {
    let file = "[vaults.Notes]\nurl = \"https://notes.example:27124/\"\nkey = \"k3y-s3cret\"\ncertificate = \"/cert.pem\"\ndeny = [\"Private\"]\n";
    let machine = || Machine::new().toml(file).file("/cert.pem", "PEM");
    assert_eq!(machine().vaults(), ["Notes=https://notes.example:27124"]);
    assert_eq!(machine().words(&["--vault", "Notes"]).vaults(), ["Notes=https://notes.example:27124"]);
    let VaultsConfig::Chosen(vaults) = machine().config().vaults else { panic!("chosen") };
    assert_eq!(vaults[0].remote.as_ref().unwrap().certificate.as_deref(), Some("PEM"));
    assert_eq!(vaults[0].access.deny, ["Private"]);
    assert!(!format!("{:?}", machine().load()).contains("k3y-s3cret"));
    let missing = Machine::new().toml(file);
    assert_holds(&missing.error(), &["/cert.pem"]);
    for half in ["url = \"https://x\"", "key = \"k\"", "path = \"/a\"\nkey = \"k\""] {
        let error = Machine::new().toml(&format!("[vaults.Notes]\n{half}\n")).error();
        assert_holds(&error, &["Notes", "`url` and `key`"]);
    }
}

#[test]
fn a_key_of_several_vaults_chooses_none() {
    let data = r#"{"apiKey": "k3y-s3cret"}"#;
    let machine = obsidian(&["/a", "/b"]).file(&key_file("/a"), data).file(&key_file("/b"), data);
    let error = machine.variable("OBSIDIAN_API_KEY", "k3y-s3cret").error();
    assert_holds(&error, &["several vaults", "--vault \"/a\"", "--vault \"/b\""]);
}

#[test]
fn the_key_is_never_shown() {
    let broken = r#"{"apiKey": "k3y-s3cret" "#;
    for machine in [
        Machine::new(),
        Machine::with_vault(),
        obsidian(&["/a"]),
        obsidian(&["/a"]).file(&key_file("/a"), broken),
        obsidian(&["/a", "/b"]).file(&key_file("/a"), r#"{"apiKey": "k3y-s3cret"}"#).file(&key_file("/b"), broken),
    ] {
        let outcome = format!("{:?}", machine.variable("OBSIDIAN_API_KEY", "k3y-s3cret").load());
        assert!(!outcome.contains("k3y-s3cret"), "{outcome}");
    }
}

fn access_of(machine: &Machine) -> Vec<(String, VaultAccess)> {
    match machine.config().vaults {
        VaultsConfig::Demo => Vec::new(),
        VaultsConfig::Chosen(vaults) => vaults.into_iter().map(|vault| (vault.name, vault.access)).collect(),
    }
}

const RULED: &str = r#"
[vaults]
plain = "/a"

[vaults.notes]
path = "/work/Notes"
allow = ["Work/**", "{a,b}/*.md"]
deny = "Work/Secret/**"
follow = ["~/Shared", "/srv"]
"#;

fn rules() -> VaultAccess {
    VaultAccess {
        allow: Some(vec!["Work/**".into(), "{a,b}/*.md".into()]),
        deny: vec!["Work/Secret/**".into()],
        follow: vec!["/home/me/Shared".into(), "/srv".into()],
    }
}

#[test]
fn a_vault_may_have_its_own_rules() {
    let machine = Machine::new().folder("/a").folder("/srv").folder("/home/me/Shared").toml(RULED);
    assert!(machine.warnings().is_empty(), "{:?}", machine.warnings());
    assert_eq!(machine.vaults(), ["plain=/a", "notes=/work/Notes"]);
    assert_eq!(access_of(&machine), [("plain".into(), VaultAccess::default()), ("notes".into(), rules())]);
}

#[test]
fn rules_apply_to_the_folder_however_it_is_named() {
    for machine in [
        Machine::new().words(&["--vault", "/work/Notes"]),
        Machine::new().words(&["--vault", "other=Notes/"]),
        Machine::new().variable("OBSIDIAN_VAULT_PATHS", "/work/Notes"),
    ] {
        let access = access_of(&machine.folder("/a").toml(RULED));
        assert_eq!(access.into_iter().map(|(_, access)| access).collect::<Vec<_>>(), [rules()]);
    }
}

#[test]
fn invalid_rules_are_refused() {
    let vault = |lines: &str| Machine::new().toml(&format!("[vaults.notes]\n{lines}\n")).error();
    assert_holds(&vault("path = \"/work/Notes\"\nalow = [\"x\"]"), &["'notes'", "`alow`", "did you mean `allow`?"]);
    assert_holds(&vault("path = \"/work/Notes\"\nallow = []"), &["`vaults`", "empty list"]);
    assert_holds(&vault("deny = [\"x\"]"), &["'notes' has no path"]);
    assert_holds(&vault("path = \"/work/Notes\"\ndeny = [[\"x\"]]"), &["expected one value, found a list"]);
    let twice = "[vaults]\na = \"/work/Notes\"\nb = { path = \"/work/Notes\", deny = [\"x\"] }\n";
    assert_eq!(access_of(&Machine::new().toml(twice)).len(), 1, "the rules apply to both");
    let twice =
        "[vaults]\na = { path = \"/work/Notes\", deny = [\"y\"] }\nb = { path = \"/work/Notes\", deny = [\"x\"] }\n";
    assert_holds(&Machine::new().toml(twice).error(), &["/work/Notes is given twice", "'a'", "'b'"]);
}

#[test]
fn folders_to_follow_are_those_of_the_vault_and_those_of_all() {
    let machine = Machine::new().folder("/a").toml(RULED).variable("LAPIDARY_FOLLOW_LINKS", "/srv; /mnt/x");
    let follow: Vec<_> = access_of(&machine).into_iter().map(|(_, access)| access.follow).collect();
    let folders = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(follow, [folders(&["/mnt/x", "/srv"]), folders(&["/home/me/Shared", "/mnt/x", "/srv"])]);
    assert_eq!(
        machine.warnings(),
        ["/mnt/x", "/srv", "/home/me/Shared"]
            .map(|folder| format!("links into {folder} are followed, but the folder does not exist"))
    );
}

#[test]
fn a_folder_with_a_vault_or_the_state_in_it_is_not_followed() {
    for (folder, other) in [
        ("/work", "/work/Notes"),
        ("/work/Notes", "/work/Notes"),
        ("/work/Notes/x", "/work/Notes"),
        ("~", "/home/me/.local/state/lapidary"),
        ("/", "/work/Notes"),
    ] {
        let machine = Machine::with_vault().variable("LAPIDARY_FOLLOW_LINKS", folder);
        assert_holds(&machine.error(), &["links into", "cannot be followed", other]);
        let machine = Machine::with_vault().variable("LAPIDARY_IMPORT_FOLDER", folder);
        assert_holds(&machine.error(), &["cannot be imported from", other]);
    }
}
