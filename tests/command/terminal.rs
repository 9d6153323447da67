//! The command on a terminal: colours, progress and Ctrl-C.

use super::{demo_model, mlxrocm, plain_model};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program on a pseudo-terminal of its own.
struct Terminal {
    child: Child,
    screen: File,
    seen: Vec<u8>,
    /// Where the next search begins.
    read: usize,
}

impl Terminal {
    fn new(command: &mut Command) -> Terminal {
        let (mut screen, mut terminal) = (-1, -1);
        // SAFETY: openpty writes two numbers; the other pointers may be null.
        let status = unsafe {
            libc::openpty(
                &mut screen,
                &mut terminal,
                std::ptr::null_mut(),
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        assert_eq!(status, 0);
        // SAFETY: both are open and belong to nobody else.
        let (screen, terminal) =
            unsafe { (File::from_raw_fd(screen), OwnedFd::from_raw_fd(terminal)) };
        // SAFETY: fcntl takes any number.
        unsafe { libc::fcntl(screen.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        command
            .env("TERM", "xterm")
            .stdin(Stdio::from(terminal.try_clone().unwrap()))
            .stdout(Stdio::from(terminal.try_clone().unwrap()))
            .stderr(Stdio::from(terminal));
        // SAFETY: only system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // The terminal's Ctrl-C goes to the session that it controls.
                if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            })
        };
        let child = command.spawn().unwrap();
        // The parent's copies of the terminal are closed: the screen ends with the program.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Terminal {
            child,
            screen,
            seen: Vec::new(),
            read: 0,
        }
    }

    /// Reads what comes within the time; false at the end.
    fn look(&mut self, limit: Duration) -> bool {
        let mut waited = libc::pollfd {
            fd: self.screen.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let milliseconds = limit.as_millis().try_into().unwrap();
        // SAFETY: one structure.
        if unsafe { libc::poll(&mut waited, 1, milliseconds) } < 1 {
            return true;
        }
        let mut block = [0; 4096];
        match self.screen.read(&mut block) {
            // Linux gives EIO when nobody has the terminal any more.
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.seen.extend_from_slice(&block[..count]);
                true
            }
        }
    }

    /// Waits for a text after what was waited for before.
    fn until(&mut self, text: &str) {
        let start = Instant::now();
        loop {
            let after = &self.seen[self.read..];
            if let Some(at) = after.windows(text.len()).position(|w| w == text.as_bytes()) {
                self.read += at + text.len();
                return;
            }
            let open = self.look(Duration::from_millis(100));
            let late = start.elapsed() > Duration::from_secs(120);
            assert!(open && !late, "no {text:?} in {:?}", self.text());
        }
    }

    fn send(&mut self, keys: &str) {
        self.screen.write_all(keys.as_bytes()).unwrap();
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Waits for the program's end; gives its status and all that was on the screen.
    fn end(mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        while self.look(Duration::from_millis(100)) {
            assert!(
                start.elapsed() < Duration::from_secs(120),
                "{:?}",
                self.text()
            );
        }
        let status = self.child.wait().unwrap();
        (status.code(), self.text())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

#[test]
fn ctrl_c_stops_the_answer_and_a_second_one_leaves() {
    let mut chat = Terminal::new(&mut mlxrocm(&["chat", "--ignore-eos", &demo_model()]));
    chat.until("> ");
    chat.send("Tell a very long story about the sea.\n");
    chat.until("sea.\r\n");
    chat.until(" the ");
    chat.send(CTRL_C);
    chat.until("Ctrl-C again or Ctrl-D leaves");
    chat.until("> ");
    // A line between: the next Ctrl-C is a first one again.
    chat.send("/system\n");
    chat.until("there is no system message");
    chat.until("> ");
    chat.send(CTRL_C);
    chat.until("Ctrl-C again or Ctrl-D leaves");
    chat.until("> ");
    chat.send(CTRL_C);
    let (status, text) = chat.end();
    assert_eq!(status, Some(0), "{text:?}");
}

#[test]
fn a_stopped_answer_stays_and_ctrl_d_leaves() {
    let file = super::scratch().join("stopped.json");
    let _ = std::fs::remove_file(&file);
    let mut chat = Terminal::new(&mut mlxrocm(&["chat", "--ignore-eos", &demo_model()]));
    chat.until("> ");
    chat.send("\"\"\"Tell a story\n");
    chat.until(". ");
    chat.send("of the sea.\"\"\"\n");
    chat.until("sea.\"\"\"\r\n");
    chat.until(" the ");
    chat.send(CTRL_C);
    chat.until("> ");
    chat.send(&format!("/save {}\n", file.display()));
    chat.until("> ");
    chat.send(CTRL_D);
    let (status, text) = chat.end();
    assert_eq!(status, Some(0), "{text:?}");
    let saved: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(saved[0]["content"], "Tell a story\nof the sea.");
    let answer = saved[1]["content"].as_str().unwrap();
    // The terminal itself shows the key where the answer is by then.
    let shown = text.replace("^C", "").replace("\r\n", "\n");
    assert!(
        answer.contains(" the ") && shown.contains(answer.trim_end()),
        "{answer:?} {text:?}"
    );
}

#[test]
fn ctrl_c_ends_a_run() {
    let mut run = Terminal::new(&mut mlxrocm(&[
        "run",
        "--ignore-eos",
        &demo_model(),
        "Tell a story",
    ]));
    run.until(" the ");
    run.send(CTRL_C);
    let (status, text) = run.end();
    assert_eq!(status, Some(130), "{text:?}");
    assert!(text.ends_with("\r\n"), "{text:?}");
}

/// Exit status and screen of a run on a terminal.
pub fn on_terminal(command: &mut Command) -> (Option<i32>, String) {
    Terminal::new(command).end()
}

#[test]
fn colours_and_progress_are_for_terminals() {
    let (_, model) = plain_model();
    let arguments = ["run", "-v", "-n4", model, "Hello"];
    let (status, text) = on_terminal(&mut mlxrocm(&arguments));
    assert_eq!(status, Some(0));
    assert!(
        text.contains("\x1b[2m") && text.contains("loading 100 %\r"),
        "{text:?}"
    );
    let (_, text) = on_terminal(mlxrocm(&arguments).env("NO_COLOR", "1"));
    assert!(
        !text.contains('\x1b') && text.contains("loading 100 %\r"),
        "{text:?}"
    );
    let (_, text) = on_terminal(mlxrocm(&arguments).env("NO_COLOR", ""));
    assert!(text.contains('\x1b'), "{text:?}");
    let (_, text) = on_terminal(&mut mlxrocm(&["run", "-qn4", model, "Hello"]));
    assert!(!text.contains("loading"), "{text:?}");
    let said = super::run(&arguments, "");
    assert!(!said.errors.contains('\x1b') && !said.errors.contains("loading"));
    assert!(!said.out.contains('\x1b'));
    let (_, text) = on_terminal(&mut mlxrocm(&["devices"]));
    assert!(text.contains("\x1b[1m0  "), "{text:?}");
    assert!(!super::succeed(&["devices"], "").contains('\x1b'));
    let (status, text) = on_terminal(&mut mlxrocm(&["rnu"]));
    assert_eq!(status, Some(2));
    assert!(text.contains("\x1b[1;31merror: \x1b[0m"), "{text:?}");
}

/// A model's text may move the cursor or do worse: a terminal gets none of that, a pipe all of it.
#[test]
fn control_characters_of_a_model_stay_off_the_terminal() {
    let (plain, _) = plain_model();
    let folder = tempfile::tempdir().unwrap();
    let path = plain.write_with(folder.path(), |writer| {
        writer.text("general.name", "evil\x1b]0;title\x07\u{9b}31m name");
    });
    let arguments = ["info", path.to_str().unwrap()];
    let out = super::succeed(&arguments, "");
    assert!(
        out.contains("evil\x1b]0;title\x07\u{9b}31m name"),
        "{out:?}"
    );
    let (status, text) = Terminal::new(mlxrocm(&arguments).env("NO_COLOR", "1")).end();
    assert_eq!(status, Some(0));
    assert!(text.contains("evil]0;title31m name"), "{text:?}");
    assert!(!text.contains(['\x1b', '\x07', '\u{9b}']), "{text:?}");
}
