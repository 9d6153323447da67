//! Which modules are quantized, and how: the rules of mlx-lm 0.32.2, its mixed recipes, and rules by name.

use crate::formats::brief;
use crate::ir::{QuantMode, Quantization};
use crate::model::Config;
use crate::{Error, Result};
use serde_json::{Value, json};

/// mlx-lm's mixed recipes: name, bits of most modules, bits of those that matter more.
pub const RECIPES: [(&str, usize, usize); 4] = [
    ("mixed_2_6", 2, 6),
    ("mixed_3_4", 3, 4),
    ("mixed_3_6", 3, 6),
    ("mixed_4_6", 4, 6),
];

/// What the modules of some names become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pattern: String,
    /// `None`: they stay as they are.
    quantization: Option<Quantization>,
}

impl Rule {
    /// Reads `PATTERN=BITS`, `PATTERN=BITS:GROUP`, `PATTERN=MODE` or `PATTERN=none`. `*` in a pattern stands for any
    /// characters, `?` for one; what is not said is as in `base`.
    ///
    /// # Errors
    /// `InvalidArgument` for anything else.
    pub fn parse(text: &str, base: Quantization) -> Result<Rule> {
        let bad = |what: String| {
            let what = format!(
                "rule {:?}: {what}; PATTERN=BITS, PATTERN=BITS:GROUP, PATTERN=MODE or PATTERN=none is needed",
                brief(text)
            );
            Error::InvalidArgument(what)
        };
        let Some((pattern, how)) = text.rsplit_once('=').filter(|(p, _)| !p.is_empty()) else {
            return Err(bad("no pattern".into()));
        };
        let number = |text: &str| {
            text.parse::<i64>()
                .ok()
                .filter(|n| (1..=1 << 20).contains(n))
        };
        let quantization = match how.split_once(':') {
            _ if how == "none" => None,
            // Bits are of the affine mode: no other has a choice.
            Some((bits, group)) => match (number(bits), number(group)) {
                (Some(bits), Some(group)) => Some(Quantization::named("affine", group, bits)),
                _ => return Err(bad(format!("{:?} is no pair of numbers", brief(how)))),
            },
            None => Some(match number(how) {
                Some(bits) => {
                    let group = match base.mode {
                        QuantMode::Affine => base.group as i64,
                        _ => 0,
                    };
                    Quantization::named("affine", group, bits)
                }
                None => Quantization::named(how, 0, 0),
            }),
        };
        Ok(Rule {
            pattern: pattern.to_string(),
            quantization: quantization.transpose().map_err(|e| bad(e.to_string()))?,
        })
    }
}

/// Whether a text is of the form of a pattern of `*` and `?`.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last `*` took one character more.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, t));
                p += 1;
            }
            Some(&c) if c == b'?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    (p, t) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

/// A mode as configs call it.
fn mode_name(mode: QuantMode) -> &'static str {
    match mode {
        QuantMode::Affine => "affine",
        QuantMode::Mxfp4 => "mxfp4",
        QuantMode::Mxfp8 => "mxfp8",
        QuantMode::Nvfp4 => "nvfp4",
    }
}

/// A quantization as configs say it.
pub(super) fn entry(q: &Quantization) -> Value {
    json!({"group_size": q.group, "bits": q.bits, "mode": mode_name(q.mode)})
}

/// A recipe over the layers of one model.
struct Recipe {
    low: usize,
    high: usize,
    layers: usize,
    /// Which part of a module's path is the number of its layer.
    place: usize,
}

impl Recipe {
    /// As mlx-lm's `mixed_quant_predicate_builder`, whose conditions these are.
    fn bits(&self, path: &str) -> usize {
        let layer = path.split('.').nth(self.place);
        let layer = layer.and_then(|part| part.parse::<usize>().ok());
        let (layer, eighth) = (layer.unwrap_or(0), self.layers / 8);
        let matters = layer < eighth
            || layer >= 7 * self.layers / 8
            || (layer as i64 - eighth as i64).rem_euclid(3) == 2;
        let is = |part: &str| path.contains(part);
        let values = is("v_proj") || is("v_a_proj") || is("v_b_proj");
        match (values || is("down_proj")) && matters || is("lm_head") {
            true => self.high,
            false => self.low,
        }
    }
}

/// What a module becomes.
pub(super) struct Chosen {
    pub(super) quantization: Quantization,
    /// What the config says about it, if not the same as about all.
    pub(super) entry: Option<Value>,
}

/// Decides for the modules of a model.
pub(super) struct Choice<'a> {
    base: Quantization,
    rules: &'a [Rule],
    recipe: Option<Recipe>,
    /// Modules that the family keeps at 8 bits, by the ends of their paths.
    wide: &'static [&'static str],
}

impl<'a> Choice<'a> {
    /// `modules`: the paths of all that could be quantized.
    ///
    /// # Errors
    /// `InvalidArgument` for recipes that there are not, or that do not fit the mode or the model.
    pub(super) fn new<'p>(
        base: Quantization,
        rules: &'a [Rule],
        recipe: Option<&str>,
        config: &Config,
        modules: impl Iterator<Item = &'p str>,
    ) -> Result<Choice<'a>> {
        let recipe = match recipe {
            None => None,
            Some(name) => Some(Choice::recipe(name, base, config, modules)?),
        };
        Ok(Choice {
            base,
            rules,
            recipe,
            wide: config.family.wide_modules,
        })
    }

    fn recipe<'p>(
        name: &str,
        base: Quantization,
        config: &Config,
        mut modules: impl Iterator<Item = &'p str>,
    ) -> Result<Recipe> {
        let bad = |what: &str| Error::InvalidArgument(format!("recipe {:?}: {what}", brief(name)));
        let Some((_, low, high)) = RECIPES.iter().find(|(known, ..)| *known == name) else {
            let names = RECIPES.map(|(name, ..)| name).join(", ");
            return Err(bad(&format!(
                "there is none of this name; there are {names}"
            )));
        };
        if base.mode != QuantMode::Affine {
            return Err(bad("recipes are of the affine mode only"));
        }
        let Some(down) = modules.find(|path| path.contains("down_proj")) else {
            return Err(bad("this family has no down_proj, which recipes are about"));
        };
        let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let place = down.split('.').position(is_number);
        Ok(Recipe {
            low: *low,
            high: *high,
            layers: config.layers,
            place: place.unwrap_or(usize::MAX),
        })
    }

    /// What the module at `path`, with rows of `columns` numbers, becomes; `None`: it stays as it is.
    ///
    /// # Errors
    /// `InvalidArgument` where a rule or the family asks for groups that its rows have not.
    pub(super) fn of(&self, path: &str, columns: usize) -> Result<Option<Chosen>> {
        let chosen = |quantization: Quantization, entry| {
            if columns.is_multiple_of(quantization.group) {
                return Ok(Some(Chosen {
                    quantization,
                    entry,
                }));
            }
            Err(Error::InvalidArgument(format!(
                "{path}: rows of {columns} numbers are no whole groups of {}; choose another group size, or a rule \
                 that leaves it as it is",
                quantization.group
            )))
        };
        if let Some(rule) = self.rules.iter().find(|rule| matches(&rule.pattern, path)) {
            return match rule.quantization {
                None => Ok(None),
                Some(q) => chosen(q, Some(entry(&q))),
            };
        }
        if !columns.is_multiple_of(self.base.group) {
            return Ok(None);
        }
        if let Some(recipe) = &self.recipe {
            let bits = recipe.bits(path);
            let q = Quantization { bits, ..self.base };
            return chosen(q, Some(entry(&q)));
        }
        if self.wide.iter().any(|end| path.ends_with(end)) {
            let q = Quantization::new(QuantMode::Affine, Some(64), Some(8))?;
            // In mlx-lm's words, which leave out the mode.
            return chosen(q, Some(json!({"group_size": 64, "bits": 8})));
        }
        chosen(self.base, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match() {
        for (pattern, text, is) in [
            ("lm_head", "lm_head", true),
            ("lm_head", "lm_heads", false),
            ("*", "", true),
            ("*.v_proj", "model.layers.0.self_attn.v_proj", true),
            ("*layers.1.*", "model.layers.11.mlp", false),
            ("*layers.1?.*", "model.layers.11.mlp", true),
            ("*a*b", "aab", true),
            ("*a*b", "aba", false),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern, text), is, "{pattern} {text}");
        }
    }

    #[test]
    fn rules_are_read() {
        let base = Quantization::new(QuantMode::Affine, Some(32), None).unwrap();
        let rule = |text: &str| Rule::parse(text, base).map(|rule| rule.quantization);
        let q = |mode, group, bits| Some(Quantization { mode, group, bits });
        assert_eq!(rule("a=none"), Ok(None));
        assert_eq!(rule("a=6"), Ok(q(QuantMode::Affine, 32, 6)));
        assert_eq!(rule("a=b=3:128"), Ok(q(QuantMode::Affine, 128, 3)));
        assert_eq!(rule("*=mxfp4"), Ok(q(QuantMode::Mxfp4, 32, 4)));
        for wrong in [
            "", "a", "=4", "a=", "a=7", "a=4:48", "a=4:", "a=x", "a=-4", "a=4:64:1",
        ] {
            let error = rule(wrong).unwrap_err();
            assert!(
                matches!(error, Error::InvalidArgument(_)),
                "{wrong}: {error}"
            );
        }
    }
}
