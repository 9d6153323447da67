/* mlxrocm SUBCOMMAND ...: runs quantized language models from the command line. */
#include "command.h"

#include <string.h>

static const struct subcommand *const subcommands[] = {
    &run_command,   &chat_command,       &info_command,    &devices_command,
    &bench_command, &perplexity_command, &quantize_command, &selftest_command,
};
enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static int print_usage(FILE *file) {
    fputs("usage: mlxrocm SUBCOMMAND [OPTION...] [ARGUMENT...]\n\n"
          "Runs quantized language models on AMD GPUs, NVIDIA GPUs and the CPU.\n\n",
          file);
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        fprintf(file, "  mlxrocm %-10s %-16s %s\n", subcommands[i]->name, subcommands[i]->operands,
                subcommands[i]->summary);
    fputs("\nMODEL is a GGUF file or an MLX model folder. `mlxrocm SUBCOMMAND --help` lists its options;\n"
          "mlxrocm --version prints the version. The manual is mlxrocm(1).\n",
          file);
    return fflush(file) != 0 ? fail_to_write() : 0;
}

static int print_version(void) {
    printf("mlxrocm %d.%d.%d (library %s)\n%s\n", MLXROCM_VERSION_MAJOR, MLXROCM_VERSION_MINOR,
           MLXROCM_VERSION_PATCH, mlxrocm_version_string(NULL), mlxrocm_build_info(NULL));
    return fflush(stdout) != 0 ? fail_to_write() : 0;
}

static const struct subcommand *find(const char *name) {
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        if (strcmp(subcommands[i]->name, name) == 0) return subcommands[i];
    const char *names[SUBCOMMANDS];
    for (size_t i = 0; i < SUBCOMMANDS; i++) names[i] = subcommands[i]->name;
    const char *meant = nearest(name, names, SUBCOMMANDS);
    fail("there is no %s %s", name[0] == '-' ? "option" : "subcommand", name);
    if (meant != NULL) fprintf(stderr, "mlxrocm: did you mean '%s'?\n", meant);
    fputs("mlxrocm: try 'mlxrocm --help'\n", stderr);
    return NULL;
}

int main(int argc, char **argv) {
    terminal_open();
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    const bool is_help = strcmp(name, "help") == 0;
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) return print_version();
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (is_help && argc == 2))
        return print_usage(stdout);
    const struct subcommand *command = find(is_help ? argv[2] : name);
    if (command == NULL) return EXIT_USAGE;
    if (is_help) {
        print_help(command, stdout);
        return fflush(stdout) != 0 ? fail_to_write() : 0;
    }
    struct settings values = {0};
    size_t operands = 0;
    const int result = parse_options(command, argc - 2, argv + 2, &values, &operands);
    if (result != 0) return result - 1;
    start_log(&values);
    const int status = command->run(&values, argv + 2, operands);
    return status == EXIT_FAILED && interrupts() > 0 ? EXIT_INTERRUPTED : status;
}
