module mlxrocm

go 1.18
