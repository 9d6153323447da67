//! Python's operators, as the guarded form of a template calls them, and tuples, which Jinja's values here do
//! not have.

use super::template_format::format;
use super::template_guard::PREFIX;
use super::template_meter::{Text, charge, fail, weigh};
use super::template_methods;
use minijinja::value::{Enumerator, Object, ObjectRepr, Rest, ValueKind};
use minijinja::{Environment, Error, Value};
use std::sync::Arc;

/// A list that Python writes in round brackets, and that equals no other list.
#[derive(Debug)]
struct Tuple(Vec<Value>);

impl Object for Tuple {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }
}

/// A tuple of values.
pub(super) fn tuple(values: Vec<Value>) -> Value {
    Value::from_object(Tuple(values))
}

/// Whether the value is a tuple.
pub(super) fn is_tuple(value: &Value) -> bool {
    value.downcast_object_ref::<Tuple>().is_some()
}

/// The elements, if it is one.
pub(super) fn items_of_tuple(value: &Value) -> Option<Vec<Value>> {
    let tuple = value.downcast_object_ref::<Tuple>()?;
    Some(tuple.0.clone())
}

/// A list or, where `like` is one, a tuple.
pub(super) fn sequence(like: &Value, values: Vec<Value>) -> Value {
    match is_tuple(like) {
        true => tuple(values),
        false => Value::from(values),
    }
}

/// Adds what the guarded form of a template calls in place of operators.
pub(super) fn register(environment: &mut Environment<'static>) {
    let name = |name: &str| format!("{PREFIX}{name}");
    environment.add_function(name("weigh"), |value: Value| {
        weigh(&value)?;
        Ok::<_, Error>(value)
    });
    environment.add_function(name("concat"), |values: Rest<Value>| {
        let mut text = Text(String::new());
        for value in values.iter() {
            text.value(value)?;
        }
        Ok::<_, Error>(text.0)
    });
    environment.add_function(name("tuple"), |values: Rest<Value>| {
        let value = tuple(values.0);
        weigh(&value)?;
        Ok::<_, Error>(value)
    });
    environment.add_function(name("equal"), |a: &Value, b: &Value| {
        weigh(a)?;
        weigh(b)?;
        equal(a, b)
    });
    environment.add_function(name("add"), add);
    environment.add_function(name("subtract"), |a: &Value, b: &Value| {
        both(a, b, "subtracted", i128::checked_sub, |a, b| Ok(a - b))
    });
    environment.add_function(name("multiply"), multiply);
    environment.add_function(name("divide"), |a: &Value, b: &Value| {
        numbers(a, b, "divided")?;
        let (a, b) = (float(a)?, float(b)?);
        match b {
            0.0 => Err(by_zero()),
            b => Ok(Value::from(a / b)),
        }
    });
    environment.add_function(name("floor_divide"), |a: &Value, b: &Value| {
        let whole = |a: i128, b: i128| {
            let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
            Some(quotient - i128::from(rest != 0 && (rest < 0) != (b < 0)))
        };
        both(a, b, "divided", whole, |a, b| divided(a, b).map(|d| d.0))
    });
    environment.add_function(name("remainder"), |a: &Value, b: &Value| {
        if let Some(text) = a.as_str() {
            weigh(b)?;
            return format(text, b).map(Value::from);
        }
        let whole = |a: i128, b: i128| {
            let rest = a.checked_rem(b)?;
            Some(if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            })
        };
        both(a, b, "divided", whole, |a, b| divided(a, b).map(|d| d.1))
    });
    environment.add_function(name("power"), power);
    environment.add_function(name("slice"), template_methods::slice);
}

/// `a == b`: a tuple is no list, also inside others.
fn equal(a: &Value, b: &Value) -> Result<bool, Error> {
    let is_list = |value: &Value| value.kind() == ValueKind::Seq;
    if !is_list(a) || !is_list(b) {
        return Ok(a == b);
    }
    if is_tuple(a) != is_tuple(b) || a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.try_iter()?.zip(b.try_iter()?) {
        if !equal(&a, &b)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `a + b + …`: numbers, or texts or lists one after the other.
fn add(values: Rest<Value>) -> Result<Value, Error> {
    let mut values = values.0.into_iter();
    let Some(mut sum) = values.next() else {
        return Ok(Value::UNDEFINED);
    };
    let mut text: Option<Text> = None;
    for value in values {
        if let (Some(left), Some(right)) = (sum.as_str(), value.as_str()) {
            // A chain of texts grows in place.
            let mut start = Text(String::new());
            if text.is_none() {
                start.push(left)?;
            }
            text.get_or_insert(start).push(right)?;
            continue;
        }
        if text.is_some() {
            return Err(fail(format!("cannot add {} to a text", value.kind())));
        }
        sum = add_two(&sum, &value)?;
    }
    Ok(text.map_or(sum, |text| Value::from(text.0)))
}

fn add_two(a: &Value, b: &Value) -> Result<Value, Error> {
    use ValueKind::{Iterable, Seq};
    match (a.kind(), b.kind()) {
        (Seq | Iterable, Seq | Iterable) if is_tuple(a) == is_tuple(b) => {
            let mut items = Vec::new();
            for item in a.try_iter()?.chain(b.try_iter()?) {
                charge(32)?;
                items.push(item);
            }
            Ok(sequence(a, items))
        }
        _ => both(a, b, "added", i128::checked_add, |a, b| Ok(a + b)),
    }
}

/// Numbers: both whole, or both as floats.
fn both(
    a: &Value,
    b: &Value,
    done: &str,
    whole: impl Fn(i128, i128) -> Option<i128>,
    broken: impl Fn(f64, f64) -> Result<f64, Error>,
) -> Result<Value, Error> {
    numbers(a, b, done)?;
    match (integer(a), integer(b)) {
        (Some(_), Some(0)) if done == "divided" => Err(by_zero()),
        (Some(a), Some(b)) => whole(a, b)
            .map(Value::from)
            .ok_or_else(|| fail("a number is too large")),
        _ => broken(float(a)?, float(b)?).map(Value::from),
    }
}

fn numbers(a: &Value, b: &Value, done: &str) -> Result<(), Error> {
    let is_number = |value: &Value| matches!(value.kind(), ValueKind::Number | ValueKind::Bool);
    if is_number(a) && is_number(b) {
        return Ok(());
    }
    let (a, b) = (a.kind(), b.kind());
    Err(fail(format!("{a} and {b} cannot be {done}")))
}

fn by_zero() -> Error {
    fail("division by zero")
}

/// An integer or, as in Python, a flag.
pub(super) fn integer(value: &Value) -> Option<i128> {
    match value.kind() {
        ValueKind::Bool => Some(value.is_true().into()),
        _ if value.is_integer() => i128::try_from(value.clone()).ok(),
        _ => None,
    }
}

pub(super) fn float(value: &Value) -> Result<f64, Error> {
    match integer(value) {
        Some(value) => Ok(value as f64),
        None => f64::try_from(value.clone()),
    }
}

/// Quotient, rounded down, and remainder, which has the divisor's sign.
fn divided(a: f64, b: f64) -> Result<(f64, f64), Error> {
    if b == 0.0 {
        return Err(by_zero());
    }
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest == 0.0 {
        rest = 0f64.copysign(b);
    } else if (rest < 0.0) != (b < 0.0) {
        rest += b;
        quotient -= 1.0;
    }
    let floor = quotient.floor();
    Ok((
        match quotient {
            0.0 => 0f64.copysign(a / b),
            // The subtraction may have left it a little below a whole number.
            quotient if quotient - floor > 0.5 => floor + 1.0,
            _ => floor,
        },
        rest,
    ))
}

/// `a * b`: numbers, or a text or list repeated.
fn multiply(a: &Value, b: &Value) -> Result<Value, Error> {
    let (value, count) = match a.kind() {
        ValueKind::Number | ValueKind::Bool => (b, a),
        _ => (a, b),
    };
    // Python: a negative count repeats nothing.
    let times = || {
        let count = integer(count).ok_or_else(|| fail("only whole numbers can be counts"))?;
        Ok::<_, Error>(usize::try_from(count.max(0)).unwrap_or(usize::MAX))
    };
    match value.kind() {
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            let times = times()?;
            charge(text.len().saturating_mul(times))?;
            Ok(Value::from(text.repeat(times)))
        }
        ValueKind::Seq => {
            let items: Vec<Value> = value.try_iter()?.collect();
            let times = times()?;
            weigh(value)?;
            charge(items.len().saturating_mul(times).saturating_mul(32))?;
            let count = items.len() * times;
            let items = items.into_iter().cycle().take(count).collect();
            Ok(sequence(value, items))
        }
        _ => both(a, b, "multiplied", i128::checked_mul, |a, b| Ok(a * b)),
    }
}

/// `a ** b`: a negative power of a whole number is a float.
fn power(a: &Value, b: &Value) -> Result<Value, Error> {
    numbers(a, b, "raised to a power")?;
    if let (Some(a), Some(b)) = (integer(a), integer(b))
        && let Ok(b) = u32::try_from(b)
    {
        let power = a.checked_pow(b).map(Value::from);
        return power.ok_or_else(|| fail("a power is too large"));
    }
    let (a, b) = (float(a)?, float(b)?);
    if a == 0.0 && b < 0.0 {
        return Err(by_zero());
    }
    let power = a.powf(b);
    // Python has an error for what is too large, and complex numbers.
    if power.is_finite() || !a.is_finite() || !b.is_finite() {
        return Ok(Value::from(power));
    }
    Err(fail("a power is too large, or no real number"))
}
