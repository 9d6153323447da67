//! The parameters of the built-in kernels, as their sources name them (`build/parameters.rs`). Debug builds compare each
//! launch with them, on every platform: two arguments of one size that changed places are found.

use super::args::{Kind, Name};

/// What a parameter is and its name; empty: the kernel does not use it.
pub(super) type Parameter = (Kind, &'static str);

include!(concat!(env!("OUT_DIR"), "/parameters.rs"));

/// Those of a built-in kernel.
pub(super) fn of(kernel: &str) -> Option<&'static [Parameter]> {
    let place = KERNELS.binary_search_by(|(name, _)| (*name).cmp(kernel));
    KERNELS.get(place.ok()?).map(|(_, parameters)| *parameters)
}

/// What is wrong with as many arguments as there are parameters. Those without a name are an application's, and taken as
/// they are.
pub(super) fn wrong(parameters: &[Parameter], given: &[(Kind, Name)]) -> Option<String> {
    let mut pairs = parameters.iter().zip(given).enumerate();
    pairs.find_map(|(at, ((kind, name), (given_kind, given_name)))| {
        let is_named = *given_name != "";
        let is_other = kind != given_kind || (!name.is_empty() && given_name != name);
        let wrong = is_named && is_other;
        let (kind, given_kind) = (kind.name(), given_kind.name());
        wrong.then(|| {
            format!(
                "argument {at} is the {kind} `{name}`, the {given_kind} `{given_name}` was given"
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::kernels::built_in;
    use crate::gpu::signature::signatures;

    #[test]
    fn names_and_types_are_compared() {
        let parameters = [(Kind::Pointer, "x"), (Kind::U32, "rows"), (Kind::U32, "")];
        let said = |given: [(Kind, &'static str); 3]| {
            wrong(&parameters, &given.map(|(kind, name)| (kind, name.into())))
        };
        let [x, rows, cols] = [
            (Kind::Pointer, "x"),
            (Kind::U32, "rows"),
            (Kind::U32, "cols"),
        ];
        assert_eq!(said([x, rows, cols]), None);
        let expected = "argument 1 is the u32 `rows`, the u32 `cols` was given";
        assert_eq!(said([x, cols, rows]).as_deref(), Some(expected));
        let expected = "argument 1 is the u32 `rows`, the f32 `rows` was given";
        assert_eq!(
            said([x, (Kind::F32, "rows"), cols]).as_deref(),
            Some(expected)
        );
        assert!(said([x, rows, (Kind::I32, "any")]).is_some());
        assert_eq!(said([x, (Kind::F32, ""), cols]), None);
        assert!(Name::from(("x", "_row")) == "x_row" && Name::from(("x", "")) != "x_row");
    }

    #[test]
    fn every_built_in_kernel_takes_what_its_source_says() {
        for object in built_in().unwrap() {
            let signatures = signatures(object.code);
            for kernel in object.kernels {
                let parameters = of(kernel).unwrap_or_else(|| panic!("{kernel}"));
                let wide = |(at, (kind, _)): (usize, &Parameter)| u64::from(kind.is_wide()) << at;
                let wide = parameters.iter().enumerate().map(wide).sum();
                let wrong = signatures[*kernel].wrong(parameters.len(), wide);
                assert_eq!(wrong, None, "{kernel} for {}", object.target);
            }
        }
    }
}
