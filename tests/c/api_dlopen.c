/* Opens the library as a plugin host would: every symbol bound at once, none shared. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void *symbol = dlvsym(library, "mlxrocm_version", "MLXROCM_0.1");
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    uint32_t (*version)(void);
    *(void **)&version = symbol;
    printf("%u\n", version());
    return version() == 100 ? 0 : 1;
}
