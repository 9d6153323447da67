//! Makes a chat template safe to run: the template is parsed and written out again with every
//! operation that can copy or build values going through a metered function.
//!
//! Fuel counts instructions, but one instruction may double a string, compare two huge lists or
//! multiply text by a billion. After the rewriting no template can take more memory or time than
//! the meter allows, and text between tags is a printed string like any other.

use minijinja::machinery::ast::{
    BinOpKind, CallArg, CompareOpKind, Expr, Macro, Stmt, UnaryOpKind,
};
use minijinja::machinery::{Token, WhitespaceConfig, parse, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use std::fmt::Write;

/// Names of the metered functions begin so; templates must not use such names.
pub(super) const PREFIX: &str = "mlxrocm_";

/// Tokens in one tag: bounds the depth of an expression, which is walked recursively.
const MAX_TOKENS: usize = 1000;

/// `elif`s in a template: each nests one deeper.
const MAX_ELIFS: usize = 200;

/// What transformers' apply_chat_template sets.
const WHITESPACE: WhitespaceConfig = WhitespaceConfig {
    keep_trailing_newline: false,
    lstrip_blocks: true,
    trim_blocks: true,
};

/// The guarded form of a template, or why there is none.
pub(super) fn guard(source: &str) -> Result<String, String> {
    let source = without_generation(&source.replace("\r\n", "\n").replace('\r', "\n"));
    check_size(&source)?;
    let tree =
        parse(&source, "chat template", SyntaxConfig, WHITESPACE).map_err(|e| format!("{e:#}"))?;
    let mut printer = Printer {
        out: String::with_capacity(source.len() * 2),
        source: &source,
    };
    printer.stmt(&tree)?;
    Ok(printer.out)
}

/// Turns `{% generation %}` … `{% endgeneration %}`, which only marks the assistant's part for
/// training, into `{% if true %}` … `{% endif %}`.
fn without_generation(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("{%") {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let body = tag.get(2..).unwrap_or_default();
        let sign = body.chars().next().filter(|c| matches!(c, '-' | '+'));
        let word = body
            .get(sign.map_or(0, char::len_utf8)..)
            .unwrap_or_default();
        let word = word.trim_start();
        let found = [("endgeneration", "endif"), ("generation", "if true")]
            .into_iter()
            .find_map(|(name, new)| Some((word.strip_prefix(name)?, new)));
        let end = |after: &str| {
            let after = after.trim_start();
            after.starts_with("%}") || after.starts_with("-%}") || after.starts_with("+%}")
        };
        out.push_str("{%");
        rest = match found {
            Some((after, new)) if end(after) => {
                out.extend(sign);
                let _ = write!(out, " {new}");
                after
            }
            _ => body,
        };
    }
    out.push_str(rest);
    out
}

fn check_size(source: &str) -> Result<(), String> {
    let (mut tokens, mut elifs) = (0, 0);
    for token in tokenize(source, false, SyntaxConfig, WHITESPACE) {
        match token.map_err(|error| format!("{error:#}"))?.0 {
            Token::VariableStart | Token::BlockStart => tokens = 0,
            Token::Ident("elif") => elifs += 1,
            _ => tokens += 1,
        }
        if tokens > MAX_TOKENS || elifs > MAX_ELIFS {
            return Err(format!(
                "a tag has more than {MAX_TOKENS} tokens, or there are more than {MAX_ELIFS} elifs"
            ));
        }
    }
    Ok(())
}

type Printed = Result<(), String>;

/// Writes the guarded form.
struct Printer<'s> {
    out: String,
    source: &'s str,
}

impl Printer<'_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self, name: &str) -> Printed {
        if name.starts_with(PREFIX) {
            return Err(format!("the name {name} is reserved"));
        }
        self.text(name);
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            if matches!(c, '"' | '\\') {
                self.out.push('\\');
            }
            self.out.push(c);
        }
        self.out.push('"');
    }

    fn body(&mut self, body: &[Stmt]) -> Printed {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Printed {
        match stmt {
            Stmt::Template(template) => self.body(&template.children)?,
            Stmt::EmitExpr(emit) => {
                self.text("{{ ");
                self.expr(&emit.expr)?;
                self.text(" }}");
            }
            Stmt::EmitRaw(raw) => {
                self.text("{{ ");
                self.string(raw.raw);
                self.text(" }}");
            }
            Stmt::ForLoop(each) => {
                self.text("{% for ");
                self.target(&each.target)?;
                self.text(" in ");
                self.expr(&each.iter)?;
                if let Some(filter) = &each.filter_expr {
                    self.text(" if ");
                    self.expr(filter)?;
                }
                self.text(if each.recursive {
                    " recursive %}"
                } else {
                    " %}"
                });
                self.body(&each.body)?;
                if !each.else_body.is_empty() {
                    self.text("{% else %}");
                    self.body(&each.else_body)?;
                }
                self.text("{% endfor %}");
            }
            Stmt::IfCond(cond) => {
                self.text("{% if ");
                self.expr(&cond.expr)?;
                self.text(" %}");
                self.body(&cond.true_body)?;
                let mut rest = &cond.false_body;
                // An `elif` is an `if` alone in the `else`: written flat, as it came.
                while let [Stmt::IfCond(cond)] = &rest[..] {
                    self.text("{% elif ");
                    self.expr(&cond.expr)?;
                    self.text(" %}");
                    self.body(&cond.true_body)?;
                    rest = &cond.false_body;
                }
                if !rest.is_empty() {
                    self.text("{% else %}");
                    self.body(rest)?;
                }
                self.text("{% endif %}");
            }
            Stmt::WithBlock(with) => {
                self.text("{% with ");
                for (index, (target, value)) in with.assignments.iter().enumerate() {
                    self.text(if index > 0 { ", " } else { "" });
                    self.target(target)?;
                    self.text(" = ");
                    self.expr(value)?;
                }
                self.text(" %}");
                self.body(&with.body)?;
                self.text("{% endwith %}");
            }
            Stmt::Set(set) => {
                self.text("{% set ");
                self.target(&set.target)?;
                self.text(" = ");
                // What goes into a namespace is weighed, so that no value contains itself.
                match set.target {
                    Expr::GetAttr(_) => self.weighed(&set.expr)?,
                    _ => self.expr(&set.expr)?,
                }
                self.text(" %}");
            }
            Stmt::SetBlock(set) => {
                self.text("{% set ");
                self.target(&set.target)?;
                if let Some(filter) = &set.filter {
                    self.text(" | ");
                    self.expr(filter)?;
                }
                self.text(" %}");
                self.body(&set.body)?;
                self.text("{% endset %}");
            }
            Stmt::FilterBlock(block) => {
                self.text("{% filter ");
                self.expr(&block.filter)?;
                self.text(" %}");
                self.body(&block.body)?;
                self.text("{% endfilter %}");
            }
            Stmt::Macro(declared) => {
                self.text("{% macro ");
                self.name(declared.name)?;
                self.parameters(declared)?;
                self.text(" %}");
                self.body(&declared.body)?;
                self.text("{% endmacro %}");
            }
            Stmt::CallBlock(block) => {
                self.text("{% call");
                self.parameters(&block.macro_decl)?;
                self.text(" ");
                self.postfix(&block.call.expr)?;
                self.arguments(&block.call.args)?;
                self.text(" %}");
                self.body(&block.macro_decl.body)?;
                self.text("{% endcall %}");
            }
            Stmt::Do(call) => {
                self.text("{% do ");
                self.postfix(&call.call.expr)?;
                self.arguments(&call.call.args)?;
                self.text(" %}");
            }
            Stmt::Continue(_) => self.text("{% continue %}"),
            Stmt::Break(_) => self.text("{% break %}"),
            _ => return Err("blocks, inheritance, imports and escaping are not supported".into()),
        }
        Ok(())
    }

    fn parameters(&mut self, declared: &Macro) -> Printed {
        self.text("(");
        let required = declared.args.len().saturating_sub(declared.defaults.len());
        for (index, parameter) in declared.args.iter().enumerate() {
            self.text(if index > 0 { ", " } else { "" });
            self.target(parameter)?;
            let default = index.checked_sub(required);
            if let Some(default) = default.and_then(|at| declared.defaults.get(at)) {
                self.text(" = ");
                self.expr(default)?;
            }
        }
        self.text(")");
        Ok(())
    }

    /// What can be assigned to.
    fn target(&mut self, target: &Expr) -> Printed {
        match target {
            Expr::Var(var) => self.name(var.id),
            Expr::GetAttr(attr) => {
                self.target(&attr.expr)?;
                self.text(".");
                self.name(attr.name)
            }
            Expr::List(list) => {
                self.text("(");
                for item in &list.items {
                    self.target(item)?;
                    self.text(", ");
                }
                self.text(")");
                Ok(())
            }
            _ => Err("only names and attributes can be assigned to".into()),
        }
    }

    fn arguments(&mut self, arguments: &[CallArg]) -> Printed {
        self.text("(");
        for (index, argument) in arguments.iter().enumerate() {
            self.text(if index > 0 { ", " } else { "" });
            match argument {
                CallArg::Pos(value) => self.expr(value)?,
                CallArg::Kwarg(name, value) => {
                    self.text(name);
                    self.text("=");
                    self.expr(value)?;
                }
                CallArg::PosSplat(value) => {
                    self.text("*");
                    self.weighed(value)?;
                }
                CallArg::KwargSplat(value) => {
                    self.text("**");
                    self.weighed(value)?;
                }
            }
        }
        self.text(")");
        Ok(())
    }

    fn call(&mut self, function: &str, arguments: &[&Expr]) -> Printed {
        let _ = write!(self.out, "{PREFIX}{function}(");
        for (index, argument) in arguments.iter().enumerate() {
            self.text(if index > 0 { ", " } else { "" });
            self.expr(argument)?;
        }
        self.text(")");
        Ok(())
    }

    /// The value, after its whole size was charged to the meter.
    fn weighed(&mut self, value: &Expr) -> Printed {
        match value {
            Expr::Const(_) => self.expr(value),
            _ => self.call("weigh", &[value]),
        }
    }

    /// An expression that `.`, `[` or `(` may follow.
    fn postfix(&mut self, expr: &Expr) -> Printed {
        match expr {
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) | Expr::Call(_) => self.expr(expr),
            _ => {
                self.text("(");
                self.expr(expr)?;
                self.text(")");
                Ok(())
            }
        }
    }

    /// `a op b op c`, operands of a chain of one operator, left to right.
    fn operands<'a, 'b>(op: BinOpKind, expr: &'b Expr<'a>, out: &mut Vec<&'b Expr<'a>>) {
        let mut at = expr;
        let mut right = Vec::new();
        while let Expr::BinOp(binary) = at {
            if std::mem::discriminant(&binary.op) != std::mem::discriminant(&op) {
                break;
            }
            right.push(&binary.right);
            at = &binary.left;
        }
        out.push(at);
        out.extend(right.into_iter().rev());
    }

    fn expr(&mut self, expr: &Expr) -> Printed {
        match expr {
            Expr::Var(var) => self.name(var.id)?,
            Expr::Const(constant) => {
                let value = &constant.value;
                match value.kind() {
                    ValueKind::String => self.string(value.as_str().unwrap_or_default()),
                    ValueKind::Undefined => return Err("an undefined constant".into()),
                    ValueKind::Number if !value.is_integer() => {
                        let number = f64::try_from(value.clone()).unwrap_or_default();
                        let _ = write!(self.out, "{number:?}");
                    }
                    _ => {
                        let _ = write!(self.out, "{value}");
                    }
                }
            }
            Expr::Slice(slice) => {
                let _ = write!(self.out, "{PREFIX}slice(");
                self.expr(&slice.expr)?;
                for part in [&slice.start, &slice.stop, &slice.step] {
                    self.text(", ");
                    match part {
                        Some(part) => self.expr(part)?,
                        None => self.text("none"),
                    }
                }
                self.text(")");
            }
            Expr::UnaryOp(unary) => {
                self.text(match unary.op {
                    UnaryOpKind::Not => "(not ",
                    UnaryOpKind::Neg => "(-",
                });
                self.expr(&unary.expr)?;
                self.text(")");
            }
            Expr::BinOp(binary) => self.binary(binary.op, expr, &binary.left, &binary.right)?,
            Expr::Compare(compare) => {
                if let [only] = &compare.ops[..]
                    && matches!(only.op, CompareOpKind::Eq | CompareOpKind::Ne)
                {
                    let op = match only.op {
                        CompareOpKind::Ne => BinOpKind::Ne,
                        _ => BinOpKind::Eq,
                    };
                    return self.equality(op, &compare.expr, &only.expr);
                }
                self.text("(");
                self.weighed(&compare.expr)?;
                for op in &compare.ops {
                    self.text(match op.op {
                        CompareOpKind::Eq => " == ",
                        CompareOpKind::Ne => " != ",
                        CompareOpKind::Lt => " < ",
                        CompareOpKind::Lte => " <= ",
                        CompareOpKind::Gt => " > ",
                        CompareOpKind::Gte => " >= ",
                        CompareOpKind::In => " in ",
                        CompareOpKind::NotIn => " not in ",
                    });
                    self.weighed(&op.expr)?;
                }
                self.text(")");
            }
            Expr::IfExpr(cond) => {
                self.text("(");
                self.expr(&cond.true_expr)?;
                self.text(" if ");
                self.expr(&cond.test_expr)?;
                if let Some(other) = &cond.false_expr {
                    self.text(" else ");
                    self.expr(other)?;
                }
                self.text(")");
            }
            Expr::Filter(filter) => {
                if let Some(value) = &filter.expr {
                    match value {
                        Expr::Filter(_) => self.expr(value)?,
                        _ => self.postfix(value)?,
                    }
                    self.text("|");
                }
                self.name(filter.name)?;
                if !filter.args.is_empty() {
                    self.arguments(&filter.args)?;
                }
            }
            Expr::Test(test) => {
                self.text("(");
                self.postfix(&test.expr)?;
                self.text(" is ");
                self.name(test.name)?;
                if !test.args.is_empty() {
                    self.arguments(&test.args)?;
                }
                self.text(")");
            }
            Expr::GetAttr(attr) => {
                self.postfix(&attr.expr)?;
                self.text(".");
                self.text(attr.name);
            }
            Expr::GetItem(item) => {
                self.postfix(&item.expr)?;
                self.text("[");
                self.expr(&item.subscript_expr)?;
                self.text("]");
            }
            Expr::Call(call) => {
                self.postfix(&call.expr)?;
                self.arguments(&call.args)?;
            }
            // The tree has tuples as lists.
            Expr::List(list) if !self.is_in_brackets(list.span().start_offset) => {
                let items: Vec<&Expr> = list.items.iter().collect();
                self.call("tuple", &items)?;
            }
            Expr::List(list) => {
                let _ = write!(self.out, "{PREFIX}weigh([");
                for item in &list.items {
                    self.expr(item)?;
                    self.text(", ");
                }
                self.text("])");
            }
            Expr::Map(map) => {
                let _ = write!(self.out, "{PREFIX}weigh({{");
                for (key, value) in map.keys.iter().zip(&map.values) {
                    self.expr(key)?;
                    self.text(": ");
                    self.expr(value)?;
                    self.text(", ");
                }
                self.text("})");
            }
        }
        Ok(())
    }

    fn equality(&mut self, op: BinOpKind, left: &Expr, right: &Expr) -> Printed {
        self.text(match op {
            BinOpKind::Ne => "(not ",
            _ => "(",
        });
        self.call("equal", &[left, right])?;
        self.text(")");
        Ok(())
    }

    /// Whether the source has a square bracket at this byte.
    fn is_in_brackets(&self, at: u32) -> bool {
        self.source.as_bytes().get(at as usize) == Some(&b'[')
    }

    fn binary(&mut self, op: BinOpKind, whole: &Expr, left: &Expr, right: &Expr) -> Printed {
        let sign = match op {
            BinOpKind::Concat => {
                let mut operands = Vec::new();
                Printer::operands(op, whole, &mut operands);
                return self.call("concat", &operands);
            }
            BinOpKind::Add => {
                let mut operands = Vec::new();
                Printer::operands(op, whole, &mut operands);
                return self.call("add", &operands);
            }
            BinOpKind::Sub => return self.call("subtract", &[left, right]),
            BinOpKind::Mul => return self.call("multiply", &[left, right]),
            BinOpKind::Div => return self.call("divide", &[left, right]),
            BinOpKind::FloorDiv => return self.call("floor_divide", &[left, right]),
            BinOpKind::Rem => return self.call("remainder", &[left, right]),
            BinOpKind::Pow => return self.call("power", &[left, right]),
            BinOpKind::Eq | BinOpKind::Ne => return self.equality(op, left, right),
            BinOpKind::ScAnd => " and ",
            BinOpKind::ScOr => " or ",
            BinOpKind::Lt => " < ",
            BinOpKind::Lte => " <= ",
            BinOpKind::Gt => " > ",
            BinOpKind::Gte => " >= ",
            BinOpKind::In => " in ",
        };
        self.text("(");
        if matches!(op, BinOpKind::ScAnd | BinOpKind::ScOr) {
            let mut operands = Vec::new();
            Printer::operands(op, whole, &mut operands);
            for (index, operand) in operands.into_iter().enumerate() {
                self.text(if index > 0 { sign } else { "" });
                self.expr(operand)?;
            }
        } else {
            self.weighed(left)?;
            self.text(sign);
            self.weighed(right)?;
        }
        self.text(")");
        Ok(())
    }
}
