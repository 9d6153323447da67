//! What `array_functions!` of `src/capi/array/functions.rs` makes of its text, as Rust source: for tools
//! that read sources without expanding macros. The lines of the manual that all operations share are
//! added here.

/// The lines about a parameter of a kind.
fn about(kind: &str, name: &str, count: &str) -> String {
    match kind {
        "array" => format!("/// - `{name}`: borrowed.\n"),
        "optional" => format!("/// - `{name}`: borrowed; NULL: none.\n"),
        "arrays" => format!("/// - `{name}`: `{count}` arrays, borrowed.\n"),
        "ints" => format!("/// - `{name}`: `{count}` numbers, borrowed for the call.\n"),
        "axes" => format!(
            "/// - `{name}`: `{count}` axes, borrowed for the call; negative ones count from the end;\n\
             ///   NULL: all axes.\n"
        ),
        "axis" => format!(
            "/// - `{name}`: negative ones count from the end; MLXROCM_AXIS_NONE: the array made flat.\n"
        ),
        "shape" => format!("/// - `{name}`: `{count}` sizes, borrowed for the call.\n"),
        "int" | "number" => format!("/// - `{name}`: a number.\n"),
        "flag" => format!("/// - `{name}`: 0 or not.\n"),
        "dtype" => format!("/// - `{name}`: an MLXROCM_DTYPE number.\n"),
        "text" | "path" => format!("/// - `{name}`: UTF-8, borrowed for the call.\n"),
        kind => panic!("a parameter of unknown kind {kind}"),
    }
}

/// The line about the length of a list or text.
fn about_count(kind: &str, name: &str, count: &str) -> String {
    match kind {
        "text" | "path" => format!("/// - `{count}`: bytes of `{name}`, or MLXROCM_NUL.\n"),
        _ => format!("/// - `{count}`: how many.\n"),
    }
}

fn c_type(kind: &str) -> &'static str {
    match kind {
        "array" | "optional" => "*const mlxrocm_array",
        "arrays" => "*const *const mlxrocm_array",
        "ints" | "axes" | "shape" => "*const i64",
        "int" | "axis" => "i64",
        "number" => "f64",
        "flag" => "i32",
        "dtype" => "u32",
        "text" | "path" => "*const c_char",
        kind => panic!("a parameter of unknown kind {kind}"),
    }
}

/// One function: its comment, what is between its parentheses, its results.
fn function(comment: &[&str], name: &str, parameters: &str, results: &str) -> String {
    let mut made = String::new();
    for line in comment.iter().filter(|line| !line.contains("/// - ")) {
        made += &format!("{line}\n");
    }
    made += "///\n";
    let mut signature = String::new();
    let mut bullet = |name: &str, otherwise: String| {
        let own = format!("/// - `{name}`:");
        match comment.iter().find(|line| line.starts_with(&own)) {
            Some(line) => made += &format!("{line}\n"),
            None => made += &otherwise,
        }
    };
    for parameter in parameters
        .split(',')
        .map(str::trim)
        .filter(|p| !p.is_empty())
    {
        let (kind, rest) = parameter.split_once(' ').expect("a kind and a name");
        let (parameter, count) = match rest.trim_end_matches(']').split_once('[') {
            Some((parameter, count)) => (parameter, Some(count)),
            None => (rest, None),
        };
        bullet(parameter, about(kind, parameter, count.unwrap_or_default()));
        signature += &format!("    {parameter}: {},\n", c_type(kind));
        if let Some(count) = count {
            bullet(count, about_count(kind, parameter, count));
            signature += &format!("    {count}: usize,\n");
        }
    }
    for result in results.split(',').map(str::trim) {
        let text = format!(
            "/// - `{result}`: receives an array, owned: free it with mlxrocm_array_free.\n"
        );
        bullet(result, text);
        signature += &format!("    {result}: *mut *mut mlxrocm_array,\n");
    }
    made += "/// - `error`: nullable; receives an owned error object on failure.\n///\n\
             /// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.\n";
    signature += "    error: *mut *mut mlxrocm_error,\n";
    made + &format!(
        "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {name}(\n{signature}) -> mlxrocm_status {{\n    \
             boundary_results()\n}}\n\nsince_0_1! {{ {name} }}\n\n"
    )
}

/// A source file with its operations written out.
pub fn expand(source: &str) -> String {
    let Some((before, inside)) = source.split_once("\narray_functions! {\n") else {
        return source.to_string();
    };
    let mut made = format!("{before}\n\n");
    let inside = inside.split("\n}\n").next().unwrap_or_default();
    let mut comment = Vec::new();
    let mut lines = inside.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line.starts_with("///") {
            comment.push(line);
        } else if let Some(head) = line.strip_prefix("fn ") {
            let mut head = head.to_string();
            while !head.ends_with(';') {
                head.push(' ');
                head += lines.next().expect("the end of a function");
            }
            let (name, rest) = head.split_once('(').expect("parameters");
            let (parameters, rest) = rest.split_once(')').expect("the end of the parameters");
            let results = rest.trim().strip_prefix("->").expect("results");
            let (results, _) = results.split_once('=').expect("a body");
            made += &function(&comment, name, parameters, results.trim());
            comment.clear();
        }
    }
    made
}
