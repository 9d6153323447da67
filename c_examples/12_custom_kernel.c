/* 12: a kernel of one's own on arrays, in HIP's language, compiled on this machine for the GPU that is there. It
 * takes the median of three neighbours and says what that changed; plain C checks it.
 *   12_custom_kernel [DEVICE]        (1: the first GPU); exits with 77 when there is no such GPU */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 10000, BLOCK = 256, NO_GPU = 77 };

/* The body of a function: `x`, `y` and `changed` are pointers to elements, `x_shape` has the sizes of x, and T and
 * PERIODIC are what the call says. */
static const char *const source =
    "const int i = blockIdx.x * blockDim.x + threadIdx.x, n = x_shape[0];\n"
    "if (i >= n) return; // the last block is whole\n"
    "const int before = i > 0 ? i - 1 : PERIODIC ? n - 1 : i, after = i + 1 < n ? i + 1 : PERIODIC ? 0 : i;\n"
    "const T a = x[before], b = x[i], c = x[after];\n"
    "const T low = a < b ? a : b, high = a < b ? b : a;\n"
    "y[i] = c < low ? low : c > high ? high : c;\n"
    "changed[i] = y[i] != b;\n";

static mlxrocm_error *error;

static void check(mlxrocm_status status) {
    if (status == MLXROCM_OK) return;
    fprintf(stderr, "%s: %s\n%s", mlxrocm_status_name(status, NULL), mlxrocm_error_message(error, NULL),
            mlxrocm_error_details(error, NULL)); /* the compiler's log, for one */
    mlxrocm_error_free(error);
    exit(status == MLXROCM_ERROR_NO_DEVICE ? NO_GPU : 1);
}

static int32_t median(int32_t a, int32_t b, int32_t c) {
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

int main(int argc, char **argv) {
    mlxrocm_device *device = NULL;
    mlxrocm_array_kernel *kernel = NULL;
    const char *const inputs[] = {"x"}, *const outputs[] = {"y", "changed"};
    const mlxrocm_array_kernel_options options = {.struct_size = sizeof options,
                                                  .name = "median_of_three",
                                                  .source = source,
                                                  .input_names = inputs,
                                                  .input_count = 1,
                                                  .output_names = outputs,
                                                  .output_count = 2};
    check(mlxrocm_device_open(argc > 1 ? (size_t)atoi(argv[1]) : 1, &device, &error));
    check(mlxrocm_array_kernel_new(device, &options, &kernel, &error));

    static int32_t x[COUNT], y[COUNT];
    uint32_t random = 1;
    for (int i = 0; i < COUNT; i++) x[i] = (int32_t)((random = random * 1664525 + 1013904223) >> 24);
    const int64_t shape[] = {COUNT};
    mlxrocm_array *array = NULL, *results[2] = {NULL, NULL}, *count = NULL;
    check(mlxrocm_array_from_data(x, shape, 1, MLXROCM_DTYPE_INT32, &array, &error));
    const mlxrocm_array_type types[] = {{.shape = shape, .rank = 1, .dtype = MLXROCM_DTYPE_INT32},
                                        {.shape = shape, .rank = 1, .dtype = MLXROCM_DTYPE_BOOL}};
    const mlxrocm_array_template templates[] = {
        {.name = "T", .kind = MLXROCM_TEMPLATE_DTYPE, .value = MLXROCM_DTYPE_INT32},
        {.name = "PERIODIC", .kind = MLXROCM_TEMPLATE_BOOL, .value = 1}};
    const mlxrocm_array_kernel_call call = {.struct_size = sizeof call,
                                            .grid = {COUNT}, /* work items, not blocks */
                                            .block = {BLOCK},
                                            .inputs = (const mlxrocm_array *const[]){array},
                                            .input_count = 1,
                                            .outputs = types,
                                            .output_count = 2,
                                            .templates = templates,
                                            .template_count = 2};
    check(mlxrocm_array_kernel_apply(kernel, &call, results, &error));

    /* The results are arrays as others: lazy until they are read, and operations take them. */
    int64_t changed = 0, expected = 0;
    check(mlxrocm_array_sum(results[1], NULL, 0, 0, &count, &error));
    check(mlxrocm_array_item_i64(count, &changed, &error));
    check(mlxrocm_array_read(results[0], y, sizeof y, &error));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        const int32_t right = median(x[(i + COUNT - 1) % COUNT], x[i], x[(i + 1) % COUNT]);
        wrong += y[i] != right;
        expected += right != x[i];
    }
    printf("%d medians, %d wrong; %lld changed, %lld expected\n", COUNT, wrong, (long long)changed,
           (long long)expected);

    mlxrocm_array_free(results[0]);
    mlxrocm_array_free(results[1]);
    mlxrocm_array_free(count);
    mlxrocm_array_free(array);
    mlxrocm_array_kernel_free(kernel);
    mlxrocm_device_free(device);
    return wrong != 0 || changed != expected;
}
