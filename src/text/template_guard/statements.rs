//! Statements of a template, written in their guarded form.

use super::{Printed, Printer};
use minijinja::machinery::ast::{Expr, Macro, Stmt};

impl Printer<'_> {
    fn body(&mut self, body: &[Stmt]) -> Printed {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Printed {
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
}
