//! The text of `llvm-objdump -d`, split into instructions once.

use super::operand::Operand;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// One disassembled instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Address in the code object.
    pub pc: u64,
    /// Bytes.
    pub size: u64,
    pub text: String,
}

/// Disassembles an ELF file with `llvm-objdump-19` (or `SOFTGPU_OBJDUMP`); `wave64` for waves of 64 on gfx10+,
/// whose masks are register pairs. Where `SOFTGPU_CACHE` names a folder the result is kept there, as test programs
/// load the same kernels one after the other.
///
/// # Errors
/// A message when the program cannot be run or fails.
pub fn disassemble(elf: &[u8], wave64: bool) -> Result<Vec<Line>, String> {
    let program = std::env::var("SOFTGPU_OBJDUMP").unwrap_or_else(|_| "llvm-objdump-19".into());
    let Some(folder) = std::env::var_os("SOFTGPU_CACHE") else {
        return disassemble_now(&program, elf, wave64);
    };
    let mut hasher = DefaultHasher::new();
    (&program, wave64, elf).hash(&mut hasher);
    let name = format!("{:016x}-{}.text", hasher.finish(), elf.len());
    kept(&Path::new(&folder).join(name), || {
        disassemble_now(&program, elf, wave64)
    })
}

/// What the file holds, or what `make` gives, which is then written there if it can be.
fn kept(
    file: &Path,
    make: impl FnOnce() -> Result<Vec<Line>, String>,
) -> Result<Vec<Line>, String> {
    if let Some(lines) = std::fs::read_to_string(file).ok().and_then(|t| read(&t)) {
        return Ok(lines);
    }
    let lines = make()?;
    // Renamed when it is whole: other processes may write it too.
    let draft = file.with_extension(format!(
        "{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| std::fs::write(&draft, write(&lines)));
    if written
        .and_then(|()| std::fs::rename(&draft, file))
        .is_err()
    {
        let _ = std::fs::remove_file(&draft);
    }
    Ok(lines)
}

/// One line for each instruction, and their number at the end.
fn write(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{:x} {} {}", line.pc, line.size, line.text);
    }
    let _ = writeln!(text, "{}", lines.len());
    text
}

fn read(text: &str) -> Option<Vec<Line>> {
    let (text, count) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let lines = text.lines().map(|line| {
        let (pc, rest) = line.split_once(' ')?;
        let (size, text) = rest.split_once(' ')?;
        Some(Line {
            pc: u64::from_str_radix(pc, 16).ok()?,
            size: size.parse().ok()?,
            text: text.into(),
        })
    });
    let lines: Vec<Line> = lines.collect::<Option<_>>()?;
    (count.parse() == Ok(lines.len())).then_some(lines)
}

fn disassemble_now(program: &str, elf: &[u8], wave64: bool) -> Result<Vec<Line>, String> {
    let mut child = Command::new(program)
        .args(if wave64 {
            &["--mattr=+wavefrontsize64", "-d", "-"][..]
        } else {
            &["-d", "-"][..]
        })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| {
            format!("cannot run {program}: {e}; install llvm-19 or set SOFTGPU_OBJDUMP")
        })?;
    let mut input = child.stdin.take().ok_or("no pipe to the disassembler")?;
    let output = std::thread::scope(|s| {
        s.spawn(move || {
            // A short read shows as an error of the disassembler itself.
            let _ = input.write_all(elf);
        });
        child.wait_with_output()
    })
    .map_err(|e| format!("{program}: {e}"))?;
    if !output.status.success() {
        return Err(format!(
            "{program} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    Ok(lines(&String::from_utf8_lossy(&output.stdout)))
}

fn lines(text: &str) -> Vec<Line> {
    text.lines().filter_map(line).collect()
}

fn line(text: &str) -> Option<Line> {
    let (instruction, comment) = text.strip_prefix('\t')?.split_once("//")?;
    let (pc, words) = comment.trim().split_once(':')?;
    let words = words.split('<').next()?.split_whitespace().count();
    Some(Line {
        pc: u64::from_str_radix(pc.trim(), 16).ok()?,
        size: 4 * words as u64,
        text: instruction.trim().to_string(),
    })
}

/// An instruction's text in parts.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// Without `_e32`, `_e64`, `_dpp`, `_sdwa`.
    pub name: String,
    pub operands: Vec<Operand>,
    /// Operands that are no register or number (`vmcnt(0)`, `hwreg(..)`).
    pub odd: Vec<String>,
    /// `offset:16` and the like; the value is empty for plain words.
    pub modifiers: Vec<(String, String)>,
    pub dpp: bool,
    pub sdwa: bool,
    /// Encoding was named `_e64` (or has only one).
    pub e64: bool,
}

impl Text {
    pub fn has(&self, name: &str) -> bool {
        self.modifiers.iter().any(|(n, _)| n == name)
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.modifiers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    }

    /// A numeric modifier, 0 when absent.
    pub fn number(&self, name: &str) -> Result<i64, String> {
        match self.value(name) {
            None => Ok(0),
            Some(v) => integer(v).ok_or_else(|| format!("modifier {name}:{v} is no number")),
        }
    }

    /// A list modifier (`op_sel:[0,1]`) as bits, None when absent.
    pub fn bits(&self, name: &str) -> Result<Option<u32>, String> {
        let Some(v) = self.value(name) else {
            return Ok(None);
        };
        let list = list(v).ok_or_else(|| format!("modifier {name}:{v} is no list"))?;
        Ok(Some(
            list.iter()
                .enumerate()
                .fold(0, |bits, (i, v)| bits | u32::from(*v != 0) << i),
        ))
    }

    pub fn operand(&self, i: usize) -> Result<&Operand, String> {
        self.operands
            .get(i)
            .ok_or_else(|| format!("operand {i} is missing"))
    }
}

/// `[1,0,3,2]`.
pub fn list(text: &str) -> Option<Vec<i64>> {
    text.strip_prefix('[')?
        .strip_suffix(']')?
        .split(',')
        .map(|v| integer(v.trim()))
        .collect()
}

pub fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => match text.strip_prefix("-0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok().map(|v| -v),
            None => text.parse().ok(),
        },
    }
}

/// Splits at `separator` outside brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            c if c == separator && depth == 0 => {
                parts.push(&text[start..i]);
                start = i + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Splits an instruction into name, operands and modifiers.
pub fn parse(text: &str) -> Text {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mut t = Text::default();
    let mut base = name;
    for (suffix, dpp, sdwa, e64) in [
        ("_e64_dpp", true, false, true),
        ("_dpp", true, false, false),
        ("_sdwa", false, true, false),
        ("_e32", false, false, false),
        ("_e64", false, false, true),
    ] {
        if let Some(b) = name.strip_suffix(suffix) {
            (base, t.dpp, t.sdwa, t.e64) = (b, dpp, sdwa, e64);
            break;
        }
    }
    t.name = base.to_string();
    let parts = split(rest.trim(), ',');
    let last = parts.len() - 1;
    for (i, part) in parts.iter().enumerate() {
        let words: Vec<&str> = split(part.trim(), ' ')
            .into_iter()
            .filter(|w| !w.is_empty())
            .collect();
        for (j, word) in words.iter().enumerate() {
            if j == 0
                && let Some(o) = Operand::parse(word)
            {
                t.operands.push(o);
            } else if let Some((n, v)) = word.split_once(':').filter(|_| i == last)
                && !n.contains(['(', '['])
            {
                t.modifiers.push((n.to_string(), v.to_string()));
            } else if word.contains('(') || i != last {
                t.odd.push((*word).to_string());
            } else {
                t.modifiers.push(((*word).to_string(), String::new()));
            }
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let l = line("\ts_cbranch_execz 27                 // 000000001038: BFA5001B <vadd+0xa8>")
            .unwrap();
        assert_eq!(
            (l.pc, l.size, l.text.as_str()),
            (0x1038, 4, "s_cbranch_execz 27")
        );
        let t = parse(
            "v_add_f32_dpp v1, -v2, |v3| quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1",
        );
        assert_eq!(t.name, "v_add_f32");
        assert!(t.dpp && t.operands.len() == 3 && t.operands[1].neg && t.operands[2].abs);
        assert_eq!(list(t.value("quad_perm").unwrap()).unwrap(), [1, 0, 3, 2]);
        assert_eq!(t.number("row_mask"), Ok(15));
        let t = parse("global_load_b32 v2, v[2:3], off offset:-16 glc");
        assert_eq!(t.number("offset"), Ok(-16));
        assert!(t.has("glc") && t.operands.len() == 3);
        let t = parse("s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 4)");
        assert_eq!(t.odd, ["hwreg(HW_REG_MODE, 0, 4)"]);
    }

    #[test]
    fn what_is_kept_is_taken_if_it_is_whole() {
        let folder = std::env::temp_dir().join(format!("softgpu-kept-{}", std::process::id()));
        let file = folder.join("code.text");
        let some = |text: &str| Line {
            pc: 0x1038,
            size: 4,
            text: text.into(),
        };
        let lines = vec![some("s_nop 0"), some("v_mov_b32_e32 v0, v1")];
        let never = || -> Result<Vec<Line>, String> { Err("asked again".into()) };
        assert_eq!(kept(&file, || Ok(lines.clone())), Ok(lines.clone()));
        assert_eq!(kept(&file, never), Ok(lines.clone()));
        let whole = std::fs::read(&file).unwrap();
        for part in [&whole[..whole.len() - 1], &whole[..30], b"1\n", b""] {
            std::fs::write(&file, part).unwrap();
            assert_eq!(kept(&file, never), never());
        }
        assert_eq!(kept(&file, || Ok(lines.clone())), Ok(lines));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
