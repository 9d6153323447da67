/* mlxrocm info --tensors MODEL: what tensors a model file holds, without loading it. */
#include "command.h"

#include <inttypes.h>
#include <string.h>

/* "[49152, 576]" */
static void print_shape(const mlxrocm_tensor_info *tensor) {
    putchar('[');
    for (uint32_t i = 0; i < tensor->rank; i++) printf("%s%" PRId64, i > 0 ? ", " : "", tensor->shape[i]);
    putchar(']');
}

static void print_json(const mlxrocm_tensor_info *tensor) {
    fputs("{\"name\": ", stdout);
    json_string(stdout, tensor->name);
    fputs(", \"format\": ", stdout);
    json_string(stdout, tensor->format);
    fputs(", \"shape\": ", stdout);
    print_shape(tensor);
    printf(", \"bytes\": %" PRIu64 "}", tensor->bytes);
}

/* A text and blanks up to a width and two more. */
static void print_column(const char *text, size_t length, size_t width) {
    write_text(stdout, text, length);
    printf("%*s", (int)(width > length ? width - length : 0) + 2, "");
}

/* Columns are as wide as their longest text, within reason. */
struct widths {
    size_t name, format;
};

static void widen(size_t *width, size_t length) {
    enum { WIDEST = 64 };
    if (length > *width) *width = length < WIDEST ? length : WIDEST;
}

static void print_line(const mlxrocm_tensor_info *tensor, const struct widths *widths) {
    print_column(tensor->name, tensor->name_length, widths->name);
    print_column(tensor->format, tensor->format_length, widths->format);
    printf("%12" PRIu64 "  ", tensor->bytes);
    print_shape(tensor);
    putchar('\n');
}

static int print_all(const mlxrocm_model_file *file, bool json) {
    mlxrocm_error *error = NULL;
    struct widths widths = {0, 0};
    uint64_t bytes = 0, numbers = 0;
    const size_t count = mlxrocm_model_file_tensor_count(file);
    if (json) fputs("{\"tensors\": [", stdout);
    /* Measured first, then written. */
    for (size_t i = 0; i < 2 * count; i++) {
        mlxrocm_tensor_info tensor = {.struct_size = sizeof tensor};
        if (mlxrocm_model_file_get_tensor(file, i % count, &tensor, &error) != MLXROCM_OK) return fail_with(error);
        if (i < count) {
            uint64_t elements = 1;
            for (uint32_t axis = 0; axis < tensor.rank; axis++) elements *= (uint64_t)tensor.shape[axis];
            numbers += elements;
            bytes += tensor.bytes;
            widen(&widths.name, tensor.name_length);
            widen(&widths.format, tensor.format_length);
        } else if (json) {
            if (i > count) fputs(", ", stdout);
            print_json(&tensor);
        } else {
            print_line(&tensor, &widths);
        }
    }
    if (json) puts("]}");
    else printf("%zu tensors of %s numbers in %s\n", count, readable_number(numbers), readable_bytes(bytes));
    return fflush(stdout) != 0 || ferror(stdout) ? fail_to_write() : 0;
}

int print_tensors(const char *path, bool json) {
    mlxrocm_error *error = NULL;
    mlxrocm_model_file *file = NULL;
    if (mlxrocm_model_file_open(path, MLXROCM_NUL, &file, &error) != MLXROCM_OK) return fail_with(error);
    const int result = print_all(file, json);
    mlxrocm_model_file_free(file);
    return result;
}
