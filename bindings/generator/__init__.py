"""Makes the bindings' generated files from include/mlxrocm.json."""
