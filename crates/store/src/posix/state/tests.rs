//! Tests of the state folder and its logs.

use super::*;

fn log(around: &Path, max_bytes: u64) -> LogFile {
    LogFile::new(Arc::new(StateFolder::new(around.join("state"), around.to_owned())), "audit.jsonl", max_bytes)
}

#[test]
fn lines_survive_rotation_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), 40);
    for number in 0..12 {
        log.append(&format!("line number {number}")).unwrap();
    }
    let (lines, mut tail) = log.tail(4).unwrap();
    assert_eq!(lines, ["line number 8", "line number 9", "line number 10", "line number 11"]);
    assert!(tail.more().unwrap().is_empty());
    for number in 12..17 {
        log.append(&format!("line number {number}")).unwrap();
        assert_eq!(tail.more().unwrap(), [format!("line number {number}")]);
    }
}

#[test]
fn many_writers_lose_no_line() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), 10_000);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let log = &log;
            scope.spawn(move || {
                for number in 0..50 {
                    // A busy moment is not a loss: the caller is told.
                    while log.append(&format!("writer {writer} line {number}")).is_err() {}
                }
            });
        }
    });
    assert_eq!(log.tail(usize::MAX).unwrap().0.len(), 200);
}

#[test]
fn a_log_that_is_no_longer_there_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (log(folder.path(), 40), log(folder.path(), 40));
    let path = || one.folder.file("audit.jsonl").unwrap();
    for number in 0..6 {
        // Each rotates away what the other has open.
        one.append(&format!("line number {number}")).unwrap();
        other.append(&format!("other number {number}")).unwrap();
    }
    assert_eq!(one.tail(usize::MAX).unwrap().0.len(), 12);
    std::fs::remove_file(path()).unwrap();
    one.append("after the file").unwrap();
    std::fs::remove_dir_all(folder.path().join("state")).unwrap();
    one.append("after the folder").unwrap();
    assert_eq!(std::fs::read_to_string(path()).unwrap(), "after the folder\n");
}

#[test]
fn a_locked_log_is_not_waited_for_long() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), 10_000);
    log.append("first").unwrap();
    let held = File::open(log.folder.file("audit.jsonl").unwrap()).unwrap();
    held.lock().unwrap();
    assert_eq!(log.append("second").unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[cfg(unix)]
#[test]
fn other_users_cannot_read_the_log() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), 1000);
    log.append("x").unwrap();
    let path = log.folder.file("audit.jsonl").unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[cfg(unix)]
#[test]
fn nothing_is_kept_where_others_can_write() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), 1000);
    let own = {
        log.append("x").unwrap();
        log.folder.file("audit.jsonl").unwrap().parent().unwrap().to_owned()
    };
    for (place, mode) in [(folder.path().join("state"), 0o777), (folder.path().join("state"), 0o770), (own, 0o702)] {
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
        let again = super::tests::log(folder.path(), 1000);
        assert_eq!(again.append("y").unwrap_err().kind(), io::ErrorKind::PermissionDenied, "{mode:o}");
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    super::tests::log(folder.path(), 1000).append("y").unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_in_the_state_folder_is_neither_written_through_nor_read() {
    let folder = tempfile::tempdir().unwrap();
    let log = log(folder.path(), 1000);
    log.append("ours").unwrap();
    let (path, victim) = (log.folder.file("audit.jsonl").unwrap(), folder.path().join("victim"));
    std::fs::write(&victim, "theirs\n").unwrap();
    for name in [path.clone(), older(&path, 1)] {
        drop(std::fs::remove_file(&name));
        std::os::unix::fs::symlink(&victim, &name).unwrap();
    }
    assert!(log.append("ours").is_err());
    assert!(log.tail(10).is_err());
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "theirs\n");
    let database = path.with_file_name("some.db");
    std::os::unix::fs::symlink(&victim, &database).unwrap();
    assert!(open_database(&database).is_err());
    for ending in ["-wal", "-shm", "-journal"] {
        let (database, beside) = (path.with_file_name("other.db"), path.with_file_name(format!("other.db{ending}")));
        std::os::unix::fs::symlink(&victim, &beside).unwrap();
        assert!(open_database(&database).is_err(), "{ending}");
        std::fs::remove_file(&beside).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "theirs\n");
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_folder_of_a_vault_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let first = log(folder.path(), 1000);
    first.append("ours").unwrap();
    let own = first.folder.file("audit.jsonl").unwrap().parent().unwrap().to_owned();
    let elsewhere = folder.path().join("elsewhere");
    std::fs::rename(&own, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &own).unwrap();
    let again = log(folder.path(), 1000);
    assert_eq!(again.append("x").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(std::fs::read_to_string(elsewhere.join("audit.jsonl")).unwrap(), "ours\n");
}

#[cfg(unix)]
#[test]
fn one_vault_by_two_names_has_one_state() {
    let folder = tempfile::tempdir().unwrap();
    let (vault, link) = (folder.path().join("vault"), folder.path().join("link"));
    std::fs::create_dir(&vault).unwrap();
    std::os::unix::fs::symlink(&vault, &link).unwrap();
    let state = |vault: &Path| StateFolder::new(folder.path().to_owned(), vault.to_owned()).file("x").unwrap();
    assert_eq!(state(&vault), state(&link));
}
