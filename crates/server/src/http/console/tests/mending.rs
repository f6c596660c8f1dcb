//! The page about the health of a vault.

use axum::http::StatusCode;

use super::ConsoleTrial;

const FILES: &[(&str, &str)] = &[
    ("Plan.md", "See [[old/Stone]], [[Nowhere]] and <b>[[<i>]]</b>.\n"),
    ("Stone.md", "[[Plan]]\n"),
    ("Log.md", "[[Plan]]\n"),
];

#[tokio::test]
async fn findings_are_shown_planned_and_mended_as_shown() {
    let trial = ConsoleTrial::start(FILES, &[], &[]).await;
    let all = trial.get("/console/health").await;
    assert_eq!(all.status, StatusCode::OK, "{}", all.body);
    all.has("broken link");
    let kind = trial.get("/console/health?kind=broken_link").await;
    kind.has("old/Stone");
    kind.lacks("<i>");
    let (_, rest) = kind.body.split_once("name=\"fix.").unwrap();
    let id = format!("fix.{}", rest.split('"').next().unwrap());
    kind.lacks("What would change");
    let planned = trial.post("/console/health", &[("kind", "broken_link"), (&id, "1")]).await;
    assert_eq!(planned.status, StatusCode::OK, "{}", planned.body);
    planned.has("What would change");
    assert_eq!(trial.read("Plan.md"), FILES[0].1, "a plan changes nothing");
    let digest = planned.field("digest");
    let last = if digest.ends_with('0') { "1" } else { "0" };
    let wrong = format!("{}{last}", &digest[..digest.len() - 1]);
    let other = trial.post("/console/health", &[("kind", "broken_link"), (&id, "1"), ("digest", &wrong)]).await;
    assert_eq!((other.status, trial.read("Plan.md").as_str()), (StatusCode::CONFLICT, FILES[0].1));
    let mended = trial.post("/console/health", &[("kind", "broken_link"), (&id, "1"), ("digest", &digest)]).await;
    assert_eq!(mended.status, StatusCode::OK, "{}", mended.body);
    mended.has("Mended");
    assert_eq!(trial.read("Plan.md"), "See [[Stone]], [[Nowhere]] and <b>[[<i>]]</b>.\n");
    let nothing = trial.post("/console/health", &[("kind", "broken_link")]).await;
    nothing.has("Choose a finding first.");
}

#[tokio::test]
async fn a_healthy_vault_is_said_to_be_one() {
    let trial = ConsoleTrial::start(&[("a.md", "[[b]]\n"), ("b.md", "[[a]]\n")], &[], &[]).await;
    trial.get("/console/health").await.has("Nothing is wrong in this vault");
    let unknown = trial.get("/console/health?kind=everything").await;
    assert_eq!(unknown.status, StatusCode::CONFLICT);
}
