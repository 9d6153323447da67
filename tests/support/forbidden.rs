//! Runs a program as a user without permission on `/dev/kfd`, whatever this machine has there.

use super::cc::{C_WARNINGS, exists, root, scratch, succeed};
use std::path::Path;
use std::process::Command;

/// In a mount namespace: a `/dev` of its own, with a node that nobody may open, and then, as root may
/// open everything, without root's capabilities.
const SCRIPT: &str = "mount -t tmpfs none /dev && touch /dev/kfd && chmod 000 /dev/kfd && \
    exec setpriv --bounding-set=-all --inh-caps=-all \"$0\" \"$@\"";

/// A command for `program` there. Where no namespace is to be had (many containers), the answers of
/// the C library are changed instead.
pub fn without_permission(program: &Path, arguments: &[&str]) -> Command {
    // Root needs no more than a mount namespace, others one of users too.
    for namespaces in ["-m", "-Urm"] {
        let mut command = Command::new("unshare");
        command.args([namespaces, "sh", "-c", SCRIPT]);
        command.arg("sh").args(["-c", "! cat /dev/kfd"]);
        if exists("unshare") && exists("setpriv") && works(&mut command) {
            let mut command = Command::new("unshare");
            command.args([namespaces, "sh", "-c", SCRIPT]);
            command.arg(program).args(arguments);
            return command;
        }
    }
    eprintln!("no mount namespace here: /dev/kfd is forbidden by a preloaded library");
    let library = scratch().join("no_kfd.so");
    succeed(
        Command::new("gcc")
            .args(C_WARNINGS)
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(root().join("tests/support/no_kfd.c")),
    );
    let mut command = Command::new(program);
    command.args(arguments).env("LD_PRELOAD", library);
    command
}

fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
