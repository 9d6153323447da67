//! Expressions of a template, written in their guarded form.

use super::{PREFIX, Printed, Printer};
use minijinja::machinery::ast::{BinOpKind, CallArg, CompareOpKind, Expr, UnaryOpKind};
use minijinja::value::ValueKind;
use std::fmt::Write;

impl Printer<'_> {
    pub(super) fn arguments(&mut self, arguments: &[CallArg]) -> Printed {
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
    pub(super) fn weighed(&mut self, value: &Expr) -> Printed {
        match value {
            Expr::Const(_) => self.expr(value),
            _ => self.call("weigh", &[value]),
        }
    }

    /// An expression that `.`, `[` or `(` may follow.
    pub(super) fn postfix(&mut self, expr: &Expr) -> Printed {
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

    pub(super) fn expr(&mut self, expr: &Expr) -> Printed {
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
