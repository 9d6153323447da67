/* 01: which library is this? Prints its version and how it was built. */
#include <mlxrocm.h>
#include <stdio.h>

int main(void) {
    printf("library %s (header %d.%d.%d)\n", mlxrocm_version_string(NULL), MLXROCM_VERSION_MAJOR,
           MLXROCM_VERSION_MINOR, MLXROCM_VERSION_PATCH);
    printf("%s\n", mlxrocm_build_info(NULL));
    if (mlxrocm_version() < MLXROCM_VERSION) {
        fprintf(stderr, "the library is older than the header this program was compiled with\n");
        return 1;
    }
    return 0;
}
