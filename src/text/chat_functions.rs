//! Functions, filters and tests of chat templates, as transformers' environment has them; each
//! charges the meter for what it reads and makes.

use super::template_format;
use super::template_json::tojson;
use super::template_meter::{Text, charge, fail, weigh};
use super::template_methods;
use super::template_operators;
use super::template_texts::{self, Side};
use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, State, Value, filters};

/// Adds them all.
pub(super) fn register(environment: &mut Environment<'static>) {
    environment.set_unknown_method_callback(template_methods::call);
    environment.set_formatter(|out, _, value| {
        if let Some(text) = value.as_str() {
            charge(text.len())?;
            return out.write_str(text).map_err(Error::from);
        }
        let mut text = Text(String::new());
        text.value(value)?;
        out.write_str(&text.0).map_err(Error::from)
    });
    template_operators::register(environment);
    environment.add_function("raise_exception", |message: &Value| {
        let mut text = Text(String::new());
        text.value(message)?;
        Err::<Value, _>(fail(text.0))
    });
    environment.add_function("strftime_now", strftime_now);
    environment.add_filter("tojson", tojson);
    environment.add_filter("replace", |text: &Value, old: &str, new: &str, count| {
        let mut out = Text(String::new());
        out.value(text)?;
        template_texts::replace(&out.0, old, new, count)
    });
    environment.add_filter("join", join);
    for name in ["string", "safe"] {
        environment.add_filter(name, |value: &Value| {
            let mut text = Text(String::new());
            text.value(value)?;
            Ok::<_, Error>(text.0)
        });
    }
    for name in ["escape", "e"] {
        environment.add_filter(name, escape);
    }
    environment.add_filter("indent", indent);
    environment.add_filter(
        "trim",
        |state: &State, text: &Value, chars: Option<Value>| {
            let mut out = Text(String::new());
            out.value(text)?;
            let args: Vec<Value> = chars.into_iter().collect();
            template_methods::call(state, &Value::from(out.0), "strip", &args)
        },
    );
    environment.add_filter("format", |text: &Value, args: Rest<Value>| {
        let mut out = Text(String::new());
        out.value(text)?;
        args.iter().try_for_each(weigh)?;
        let values = match &args[..] {
            [names] if names.is_kwargs() => names.clone(),
            [.., last] if last.is_kwargs() => {
                return Err(fail("format: values with and without names"));
            }
            values => template_operators::tuple(values.to_vec()),
        };
        template_format::format(&out.0, &values)
    });
    environment.add_filter("center", |text: &Value, rest: Rest<Value>| {
        use minijinja::value::{Kwargs, from_args};
        let (width, options): (Option<i64>, Kwargs) = from_args(&rest)?;
        let width = width.or(options.get::<Option<i64>>("width")?);
        options.assert_all_used()?;
        let mut out = Text(String::new());
        out.value(text)?;
        template_texts::justify(&out.0, width.unwrap_or(80), ' ', Side::Both)
    });
    environment.add_filter("wordcount", |text: &Value| {
        let mut out = Text(String::new());
        out.value(text)?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let words = out.0.split(|c| !is_word(c));
        Ok::<_, Error>(words.filter(|word| !word.is_empty()).count())
    });
    environment.add_filter("items", template_methods::items);
    environment.add_filter("reverse", |value: Value| {
        let (none, back) = (Value::from(()), Value::from(-1));
        let back = template_methods::slice(&value, &none, &none, &back)?;
        // A tuple backwards is none.
        match template_operators::items_of_tuple(&back) {
            Some(items) => Ok(Value::from(items)),
            None => Ok::<_, Error>(back),
        }
    });
    let case = [
        ("upper", Value::from_function(filters::upper)),
        ("lower", Value::from_function(filters::lower)),
        ("title", Value::from_function(filters::title)),
        ("capitalize", Value::from_function(filters::capitalize)),
    ];
    for (name, original) in case {
        environment.add_filter(name, move |state: &State, value: &Value| {
            let mut text = Text(String::new());
            text.value(value)?;
            original.call(state, &[Value::from(text.0)])
        });
    }
    environment.add_filter("dictsort", dictsort);
    charged_filters(environment);
    tests(environment);
    // They write or fill without bound, or Jinja has none of that name.
    for name in [
        "batch", "slice", "pprint", "chain", "zip", "split", "lines", "bool",
    ] {
        environment.remove_filter(name);
    }
    environment.remove_global("debug");
    // What goes into a container is weighed, so that values cannot nest without end.
    let builders = [
        ("dict", Value::from_function(minijinja::functions::dict)),
        (
            "namespace",
            Value::from_function(minijinja::functions::namespace),
        ),
    ];
    for (name, original) in builders {
        environment.add_function(name, move |state: &State, args: Rest<Value>| {
            args.iter().try_for_each(weigh)?;
            original.call(state, &args)
        });
    }
}

/// `text | escape`: for HTML, as Python's markupsafe does.
fn escape(value: &Value) -> Result<String, Error> {
    let mut text = Text(String::new());
    text.value(value)?;
    let mut out = Text(String::new());
    for part in text.0.split_inclusive(['&', '<', '>', '\'', '"']) {
        let plain = part.trim_end_matches(['&', '<', '>', '\'', '"']);
        out.push(plain)?;
        out.push(match part.get(plain.len()..) {
            Some("&") => "&amp;",
            Some("<") => "&lt;",
            Some(">") => "&gt;",
            Some("'") => "&#39;",
            Some("\"") => "&#34;",
            _ => "",
        })?;
    }
    Ok(out.0)
}

fn join(values: &Value, rest: Rest<Value>) -> Result<String, Error> {
    use minijinja::value::{Kwargs, from_args};
    let (separator, attribute, options): (Option<Value>, Option<Value>, Kwargs) = from_args(&rest)?;
    let named = |name| options.get::<Option<Value>>(name);
    let separator = separator.or(named("d")?);
    let attribute = attribute.or(named("attribute")?);
    options.assert_all_used()?;
    let mut text = Text(String::new());
    text.value(&separator.unwrap_or_else(|| Value::from("")))?;
    match attribute.as_ref().and_then(Value::as_str) {
        None => template_texts::join(values, &text.0),
        Some(attribute) => {
            let mut items = Vec::new();
            for item in values.try_iter()? {
                charge(32)?;
                items.push(item.get_attr(attribute)?);
            }
            template_texts::join(&Value::from(items), &text.0)
        }
    }
}

/// Jinja's `indent(width=4, first=False, blank=False)`; `width` may be a text.
fn indent(text: &str, rest: Rest<Value>) -> Result<String, Error> {
    use minijinja::value::{Kwargs, from_args};
    let (width, first, blank, options): (Option<Value>, Option<bool>, Option<bool>, Kwargs) =
        from_args(&rest)?;
    let width = width.or(options.get::<Option<Value>>("width")?);
    let first = first.or(options.get("first")?).unwrap_or(false);
    let blank = blank.or(options.get("blank")?).unwrap_or(false);
    options.assert_all_used()?;
    let spaces = match &width {
        None => "    ".to_string(),
        Some(width) => match width.as_str() {
            Some(text) => text.to_string(),
            None => {
                let count = width.as_usize().filter(|count| *count <= 1000);
                " ".repeat(count.ok_or_else(|| fail("indent: a width up to 1000"))?)
            }
        },
    };
    let mut out = Text(String::new());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push("\n")?;
        }
        if if index == 0 {
            first
        } else {
            blank || !line.is_empty()
        } {
            out.push(&spaces)?;
        }
        out.push(line)?;
    }
    Ok(out.0)
}

/// Jinja's own filters whose work and result are about as large as what goes in.
fn charged_filters(environment: &mut Environment<'static>) {
    /// How the arguments are charged.
    #[derive(Clone, Copy)]
    enum Cost {
        /// Texts by length, containers as one: the filter looks at an end or the size.
        Shallow,
        /// All of it.
        Deep,
    }
    use Cost::{Deep, Shallow};
    let list = [
        ("length", Shallow, Value::from_function(filters::length)),
        ("count", Shallow, Value::from_function(filters::length)),
        ("first", Shallow, Value::from_function(filters::first)),
        ("last", Shallow, Value::from_function(filters::last)),
        ("attr", Shallow, Value::from_function(filters::attr)),
        ("abs", Shallow, Value::from_function(filters::abs)),
        ("round", Shallow, Value::from_function(filters::round)),
        ("int", Shallow, Value::from_function(filters::int)),
        ("float", Shallow, Value::from_function(filters::float)),
        ("min", Deep, Value::from_function(filters::min)),
        ("max", Deep, Value::from_function(filters::max)),
        ("sort", Deep, Value::from_function(filters::sort)),
        ("list", Deep, Value::from_function(filters::list)),
        ("sum", Deep, Value::from_function(filters::sum)),
        ("select", Deep, Value::from_function(filters::select)),
        ("reject", Deep, Value::from_function(filters::reject)),
        (
            "selectattr",
            Deep,
            Value::from_function(filters::selectattr),
        ),
        (
            "rejectattr",
            Deep,
            Value::from_function(filters::rejectattr),
        ),
        ("map", Deep, Value::from_function(filters::map)),
        ("groupby", Deep, Value::from_function(filters::groupby)),
        ("unique", Deep, Value::from_function(filters::unique)),
    ];
    for (name, cost, original) in list {
        environment.add_filter(name, move |state: &State, args: Rest<Value>| {
            for value in args.iter() {
                match cost {
                    Deep => weigh(value)?,
                    Shallow => charge(value.as_str().map_or(8, str::len))?,
                }
            }
            original.call(state, &args)
        });
    }
}

/// `object | dictsort`: pairs, as tuples.
fn dictsort(state: &State, args: Rest<Value>) -> Result<Value, Error> {
    args.iter().try_for_each(weigh)?;
    let sorted = Value::from_function(filters::dictsort).call(state, &args)?;
    let pair = |pair: Value| Ok::<_, Error>(template_operators::tuple(pair.try_iter()?.collect()));
    let pairs: Result<Vec<Value>, Error> = sorted.try_iter()?.map(pair).collect();
    pairs.map(Value::from)
}

/// Tests where Python's answer differs from minijinja's, and those that compare.
fn tests(environment: &mut Environment<'static>) {
    let is_sequence = |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::String | ValueKind::Seq | ValueKind::Map
        )
    };
    environment.add_test("sequence", is_sequence);
    environment.add_test("iterable", move |value: &Value| {
        is_sequence(value) || value.kind() == ValueKind::Iterable
    });
    environment.add_test("number", |value: &Value| {
        matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
    });
    type Compare = fn(&Value, &Value) -> bool;
    let comparing: [(&[&str], Compare); 6] = [
        (&["eq", "equalto", "=="], |a, b| a == b),
        (&["ne", "!="], |a, b| a != b),
        (&["lt", "lessthan", "<"], |a, b| a < b),
        (&["le", "<="], |a, b| a <= b),
        (&["gt", "greaterthan", ">"], |a, b| a > b),
        (&["ge", ">="], |a, b| a >= b),
    ];
    for (names, compare) in comparing {
        for name in names {
            environment.add_test(*name, move |a: &Value, b: &Value| {
                weigh(a)?;
                weigh(b)?;
                Ok::<_, Error>(compare(a, b))
            });
        }
    }
    environment.add_test("in", |state: &State, a: &Value, b: &Value| {
        weigh(a)?;
        weigh(b)?;
        minijinja::tests::is_in(state, a, b)
    });
}

/// The local time by C's `strftime`.
fn strftime_now(format: &str) -> Result<String, Error> {
    if format.len() > 256 {
        return Err(fail("strftime_now: the format is too long"));
    }
    let Ok(format) = std::ffi::CString::new(format) else {
        return Err(fail("strftime_now: the format holds a NUL"));
    };
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |passed| passed.as_secs() as libc::time_t);
    let mut out = vec![0u8; 4096];
    // SAFETY: `tm` is plain numbers and a pointer that may be null; localtime_r fills it.
    let mut local: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values of this frame.
    if unsafe { libc::localtime_r(&seconds, &mut local) }.is_null() {
        return Err(fail("strftime_now: no local time"));
    }
    // SAFETY: `out` has the length given, `format` ends with a NUL, `local` is filled.
    let length =
        unsafe { libc::strftime(out.as_mut_ptr().cast(), out.len(), format.as_ptr(), &local) };
    out.truncate(length);
    Ok(String::from_utf8_lossy(&out).into_owned())
}
