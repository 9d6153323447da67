/* What operations on arrays take: a table of shapes, the median of each. Beside MLX: array_shapes_mlx.py, same names.
 *   array_shapes [DEVICE [NAMES [SECONDS]]]   NAMES: only shapes whose names contain it; SECONDS of each shape, 0.3
 * DEVICE 0 is the CPU, which gets smaller shapes: array_shapes_cpu.py runs them beside MLX and numpy.
 * A line: name, median microseconds of one operation, GB/s or TFLOPS. Several operations are waited for at a time, as many
 * as take about 3 ms, each quarter of them queued while the next is built; GB/s is of the bytes that have to be read and
 * written, each once. */
#include <mlxrocm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef mlxrocm_array A;
typedef mlxrocm_status (*Unary)(const A *, A **, mlxrocm_error **);
typedef mlxrocm_status (*Binary)(const A *, const A *, A **, mlxrocm_error **);
typedef mlxrocm_status (*Reduction)(const A *, const int64_t *, size_t, int32_t, A **, mlxrocm_error **);
enum { BOOL = MLXROCM_DTYPE_BOOL, U32 = MLXROCM_DTYPE_UINT32, I32 = MLXROCM_DTYPE_INT32, F16 = MLXROCM_DTYPE_FLOAT16,
       F32 = MLXROCM_DTYPE_FLOAT32, BF16 = MLXROCM_DTYPE_BFLOAT16 };
#define SHAPE(...) (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

static mlxrocm_error *error;
static mlxrocm_device *device;
static const char *only = "";
static double seconds = 0.3;
/* Sides of the shapes of elements, of weights and of products; what else is divided by four on the CPU. */
static int64_t side = 4096, of_weight = 4096, of_product = 4096, part = 1;

static void check(mlxrocm_status status) {
    if (status == MLXROCM_OK) return;
    fprintf(stderr, "%s\n", mlxrocm_error_message(error, NULL));
    exit(1);
}
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is made: a function of up to five arrays and some numbers. */
typedef struct Job {
    A *(*make)(const struct Job *);
    const A *in[5];
    Unary unary;
    Binary binary;
    Reduction reduction;
    int64_t axis, k;
} Job;

static const char *sized(const char *format, int64_t size) {
    static char name[40];
    snprintf(name, sizeof name, format, (int)size);
    return name;
}

static void measure(const char *name, double bytes, double flops, Job job) {
    if (!strstr(name, only)) return;
    enum { MOST = 64, ROUNDS = 400 };
    A *made[MOST];
    double times[ROUNDS];
    int count = 1, rounds = 0;
    const double begin = now();
    double first = 0.0;
    /* The first two rounds compile, allocate and plan. */
    for (int round = -3; rounds < ROUNDS; round++) {
        const double start = now();
        const int quarter = (count + 3) / 4;
        for (int i = 0; i < count; i++) {
            made[i] = job.make(&job);
            if ((i + 1) % quarter == 0)
                check(mlxrocm_array_eval_async((const A *const *)made + i + 1 - quarter, (size_t)quarter, &error));
        }
        check(mlxrocm_array_eval((const A *const *)made, (size_t)count, &error));
        const double took = now() - start;
        for (int i = 0; i < count; i++) mlxrocm_array_free(made[i]);
        if (round == -1) {
            const double room = 3e-3 / took, memory = 2e10 / (bytes + 1.0);
            count = (int)(room < 1.0 ? 1.0 : room > MOST ? MOST : room);
            if (count > memory) count = memory < 1.0 ? 1 : (int)memory;
        }
        first = took;
        if (round >= 3) times[rounds++] = took / count;
        if (now() - begin > 2.0 + seconds || (rounds >= 5 && now() - begin > seconds)) break;
    }
    if (!rounds) times[rounds++] = first / count;
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    const double median = times[rounds / 2];
    if (flops > 0.0)
        printf("%-34s %12.1f us %10.2f TFLOPS\n", name, median * 1e6, flops / median * 1e-12);
    else if (bytes > 0.0)
        printf("%-34s %12.1f us %10.1f GB/s\n", name, median * 1e6, bytes / median * 1e-9);
    else
        printf("%-34s %12.1f us\n", name, median * 1e6);
    fflush(stdout);
}

static A *on_device(A *x) {
    A *moved = NULL;
    check(mlxrocm_array_to_device(x, device, &moved, &error));
    mlxrocm_array_free(x);
    check(mlxrocm_array_eval((const A *const[]){moved}, 1, &error));
    return moved;
}
static A *cast(A *x, uint32_t dtype) {
    A *result = NULL;
    check(mlxrocm_array_astype(x, dtype, &result, &error));
    mlxrocm_array_free(x);
    check(mlxrocm_array_eval((const A *const[]){result}, 1, &error));
    return result;
}
static uint64_t state = 88172645463325252ull;
static uint64_t scrambled(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}
/* Numbers between -1 and 1. */
static A *numbers(uint32_t dtype, const int64_t *shape, size_t rank) {
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) count *= (size_t)shape[i];
    float *data = malloc(count * sizeof *data);
    if (!data) exit(1);
    for (size_t i = 0; i < count; i++) data[i] = (float)(int32_t)(scrambled() >> 32) * 0x1p-31f;
    A *x = NULL;
    check(mlxrocm_array_from_data(data, shape, rank, F32, &x, &error));
    free(data);
    x = on_device(x);
    return dtype == F32 ? x : cast(x, dtype);
}
/* Whole numbers below a limit. */
static A *indices(uint32_t limit, const int64_t *shape, size_t rank) {
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) count *= (size_t)shape[i];
    uint32_t *data = malloc(count * sizeof *data);
    if (!data) exit(1);
    for (size_t i = 0; i < count; i++) data[i] = (uint32_t)(scrambled() >> 33) % limit;
    A *x = NULL;
    check(mlxrocm_array_from_data(data, shape, rank, U32, &x, &error));
    free(data);
    return on_device(x);
}
static A *number(double value, uint32_t dtype) {
    A *x = NULL;
    check(mlxrocm_array_number(value, dtype, &x, &error));
    return on_device(x);
}

#define MAKER(name, call)                      \
    static A *name(const Job *job) {           \
        A *result = NULL;                      \
        const A *const *in = job->in;          \
        (void)in;                              \
        check(call);                           \
        return result;                         \
    }
#define TO &result, &error
MAKER(unary, job->unary(in[0], TO))
MAKER(binary, job->binary(in[0], in[1], TO))
MAKER(select_, mlxrocm_array_where(in[0], in[1], in[2], TO))
MAKER(to_dtype, mlxrocm_array_astype(in[0], (uint32_t)job->k, TO))
MAKER(reduce_axis, job->reduction(in[0], &job->axis, 1, 0, TO))
MAKER(reduce_all, job->reduction(in[0], NULL, 0, 0, TO))
MAKER(argmax, mlxrocm_array_argmax(in[0], job->axis, 0, TO))
MAKER(softmax, mlxrocm_array_softmax(in[0], &job->axis, 1, 0, TO))
MAKER(rms_norm, mlxrocm_array_fast_rms_norm(in[0], in[1], 1e-5, TO))
MAKER(layer_norm, mlxrocm_array_fast_layer_norm(in[0], in[1], in[2], 1e-5, TO))
MAKER(cumsum, mlxrocm_array_cumsum(in[0], job->axis, 0, 1, TO))
MAKER(sort, mlxrocm_array_sort(in[0], job->axis, TO))
MAKER(argsort, mlxrocm_array_argsort(in[0], job->axis, TO))
MAKER(topk, mlxrocm_array_topk(in[0], job->k, job->axis, TO))
MAKER(take, mlxrocm_array_take(in[0], in[1], job->axis, TO))
MAKER(take_along, mlxrocm_array_take_along_axis(in[0], in[1], job->axis, TO))
MAKER(scatter, mlxrocm_array_scatter(in[0], &in[1], 1, in[2], SHAPE(0), TO))
MAKER(scatter_add, mlxrocm_array_scatter_add(in[0], &in[1], 1, in[2], SHAPE(0), TO))
MAKER(concatenate, mlxrocm_array_concatenate(in, 2, job->axis, TO))
MAKER(conv2d, mlxrocm_array_conv_general(in[0], in[1], SHAPE(1, 1), SHAPE(1, 1), SHAPE(1, 1), SHAPE(1, 1), SHAPE(1, 1),
                                         job->k, 0, TO))
MAKER(conv1d, mlxrocm_array_conv_general(in[0], in[1], SHAPE(1), SHAPE(3), SHAPE(0), SHAPE(1), SHAPE(1), job->k, 0, TO))
MAKER(quantized, mlxrocm_array_quantized_matmul(in[0], in[1], in[2], in[3], 1, 64, job->k, "affine", MLXROCM_NUL, TO))
MAKER(attention, mlxrocm_array_fast_scaled_dot_product_attention(in[0], in[1], in[2], 0.08838834764, (int32_t)job->k,
                                                                 NULL, NULL, TO))
MAKER(rope, mlxrocm_array_fast_rope(in[0], 128, 0, 10000.0, 1.0, in[1], NULL, TO))
MAKER(rfft, mlxrocm_array_fft_rfftn(in[0], NULL, 0, SHAPE(-1), TO))

static A *then(A *old, A *made) {
    mlxrocm_array_free(old);
    return made;
}
static A *both(Binary function, const A *a, const A *b) {
    A *result = NULL;
    check(function(a, b, TO));
    return result;
}
static A *one(Unary function, const A *x) {
    A *result = NULL;
    check(function(x, TO));
    return result;
}
/* Axes in another order, row after row. */
static A *transposed(const Job *job) {
    const int64_t orders[2][3] = {{1, 0, 0}, {2, 0, 1}};
    A *view = NULL;
    check(mlxrocm_array_transpose(job->in[0], orders[job->k - 2], (size_t)job->k, &view, &error));
    return then(view, one(mlxrocm_array_contiguous, view));
}
/* x · (1 + erf(x / √2)) / 2; in[1 … 3]: √½, 1, ½. */
static A *gelu(const Job *job) {
    const A *const *in = job->in;
    A *x = both(mlxrocm_array_multiply, in[0], in[1]);
    x = then(x, one(mlxrocm_array_erf, x));
    x = then(x, both(mlxrocm_array_add, x, in[2]));
    x = then(x, both(mlxrocm_array_multiply, x, in[0]));
    return then(x, both(mlxrocm_array_multiply, x, in[3]));
}
/* gate · sigmoid(gate) · up. */
static A *swiglu(const Job *job) {
    A *x = one(mlxrocm_array_sigmoid, job->in[0]);
    x = then(x, both(mlxrocm_array_multiply, x, job->in[0]));
    return then(x, both(mlxrocm_array_multiply, x, job->in[1]));
}
static A *chain(const Job *job) {
    A *x = NULL;
    check(mlxrocm_array_clone(job->in[0], &x, &error));
    for (int i = 0; i < 100; i++)
        x = then(x, i % 2 ? both(mlxrocm_array_multiply, x, job->in[1]) : both(mlxrocm_array_add, x, job->in[0]));
    return x;
}
#define JOB(maker, ...) (Job){.make = maker, .in = {__VA_ARGS__}}

static void elements(void) {
    const double M = (double)side * (double)side;
    A *x = numbers(F32, SHAPE(side, side)), *y = numbers(F32, SHAPE(side, side));
    A *h = numbers(F16, SHAPE(2 * side, side)), *g = numbers(F16, SHAPE(2 * side, side));
    A *b = numbers(BF16, SHAPE(2 * side, side)), *c = numbers(BF16, SHAPE(2 * side, side));
    A *row = numbers(F32, SHAPE(side)), *column = numbers(F32, SHAPE(side, 1)), *row16 = numbers(F16, SHAPE(side));
    A *half = number(0.5, F16), *three = numbers(F32, SHAPE(64, side / 8, side / 8));
    A *holds = NULL;
    check(mlxrocm_array_less(x, y, &holds, &error));
    check(mlxrocm_array_eval((const A *const[]){holds}, 1, &error));
    A *i = cast(indices(1000, SHAPE(side, side)), I32);
#define UNARY(name, bytes, function, x) measure(name, bytes, 0, (Job){.make = unary, .in = {x}, .unary = mlxrocm_array_##function})
#define BINARY(name, bytes, function, x, y) \
    measure(name, bytes, 0, (Job){.make = binary, .in = {x, y}, .binary = mlxrocm_array_##function})
    BINARY("add_f32", 12 * M, add, x, y);
    BINARY("add_f16", 12 * M, add, h, g);
    BINARY("multiply_bf16", 12 * M, multiply, b, c);
    BINARY("divide_f32", 12 * M, divide, x, y);
    BINARY("maximum_f32", 12 * M, maximum, x, y);
    BINARY("less_f32", 9 * M, less, x, y);
    BINARY("add_i32", 12 * M, add, i, i);
    UNARY("exp_f32", 8 * M, exp, x);
    UNARY("exp_f16", 8 * M, exp, h);
    UNARY("sin_f32", 8 * M, sin, x);
    UNARY("tanh_f32", 8 * M, tanh, x);
    UNARY("sigmoid_bf16", 8 * M, sigmoid, b);
    UNARY("square_f16", 8 * M, square, h);
    measure("cast_f32_f16", 6 * M, 0, (Job){.make = to_dtype, .in = {x}, .k = F16});
    measure("cast_bf16_f32", 12 * M, 0, (Job){.make = to_dtype, .in = {b}, .k = F32});
    measure("where_f32", 13 * M, 0, JOB(select_, holds, x, y));
    BINARY("add_row_f32", 8 * M, add, x, row);
    BINARY("add_column_f32", 8 * M, add, x, column);
    BINARY("multiply_row_f16", 8 * M, multiply, h, row16);
    BINARY("multiply_number_f16", 8 * M, multiply, h, half);
    measure("transpose_f32", 8 * M, 0, (Job){.make = transposed, .in = {x}, .k = 2});
    measure("transpose_f16", 8 * M, 0, (Job){.make = transposed, .in = {h}, .k = 2});
    measure("transpose_3d_f32", 8 * M, 0, (Job){.make = transposed, .in = {three}, .k = 3});
    measure("concatenate_f32", 16 * M, 0, (Job){.make = concatenate, .in = {x, y}, .axis = 1});
    A *root = number(0.70710678, F32), *unit = number(1.0, F32), *half32 = number(0.5, F32);
    measure("gelu_f32", 8 * M, 0, JOB(gelu, x, root, unit, half32));
    measure("swiglu_f16", 12 * M, 0, JOB(swiglu, h, g));
    A *small = numbers(F32, SHAPE(256));
    measure("chain_100_f32_256", 0, 0, JOB(chain, small, half32));
    A *middle = numbers(F32, SHAPE(65536));
    measure("chain_100_f32_65536", 0, 0, JOB(chain, middle, half32));
    A *tiny = numbers(F32, SHAPE(1024, 1024));
    BINARY("add_f32_1M", 12 * 1048576.0, add, tiny, tiny);
#define REDUCE(name, bytes, function, x, of) \
    measure(name, bytes, 0, (Job){.make = reduce_axis, .in = {x}, .reduction = mlxrocm_array_##function, .axis = of})
    measure("sum_all_f32", 4 * M, 0, (Job){.make = reduce_all, .in = {x}, .reduction = mlxrocm_array_sum});
    measure("max_all_f16", 4 * M, 0, (Job){.make = reduce_all, .in = {h}, .reduction = mlxrocm_array_max});
    REDUCE("sum_rows_f32", 4 * M, sum, x, 1);
    REDUCE("sum_columns_f32", 4 * M, sum, x, 0);
    REDUCE("max_rows_f16", 4 * M, max, h, 1);
    REDUCE("mean_columns_bf16", 4 * M, mean, b, 0);
    REDUCE("sum_first_of_3_f32", 4 * M, sum, three, 0);
    REDUCE("sum_middle_of_3_f32", 4 * M, sum, three, 1);
    REDUCE("sum_last_of_3_f32", 4 * M, sum, three, 2);
    REDUCE("logsumexp_rows_f32", 4 * M, logsumexp, x, 1);
    measure("argmax_rows_f32", 4 * M, 0, (Job){.make = argmax, .in = {x}, .axis = 1});
    measure("softmax_f32", 8 * M, 0, (Job){.make = softmax, .in = {x}, .axis = -1});
    measure("softmax_f16", 8 * M, 0, (Job){.make = softmax, .in = {h}, .axis = -1});
    measure("rms_norm_f16", 8 * M, 0, JOB(rms_norm, h, row16));
    measure("layer_norm_f32", 8 * M, 0, JOB(layer_norm, x, row, row));
    measure("cumsum_rows_f32", 8 * M, 0, (Job){.make = cumsum, .in = {x}, .axis = 1});
    measure("cumsum_columns_f32", 8 * M, 0, (Job){.make = cumsum, .in = {x}, .axis = 0});
    A *narrow = numbers(F16, SHAPE(262144 / part, 128)), *weight = numbers(F16, SHAPE(128));
    measure("softmax_narrow_f16", 8 * M, 0, (Job){.make = softmax, .in = {narrow}, .axis = -1});
    measure("rms_norm_narrow_f16", 8 * M, 0, JOB(rms_norm, narrow, weight));
    REDUCE("sum_narrow_f16", 4 * M, sum, narrow, 1);
    A *all[] = {x, y, h, g, b, c, row, column, row16, half, three, holds, i, root, unit, half32, small, middle, tiny, narrow, weight};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) mlxrocm_array_free(all[k]);
}

static void places(void) {
    const double M = 1048576.0 / (double)part;
    A *x = numbers(F32, SHAPE(4096 / part, 2048)), *y = numbers(F32, SHAPE(64 / part, 32768)), *z = numbers(F32, SHAPE(4 / part, 1048576));
    measure("sort_f32_2048", 64 * M, 0, (Job){.make = sort, .in = {x}, .axis = 1});
    measure("argsort_f32_2048", 64 * M, 0, (Job){.make = argsort, .in = {x}, .axis = 1});
    measure("sort_f32_1M", 32 * M, 0, (Job){.make = sort, .in = {z}, .axis = 1});
    measure("topk_32_f32_32768", 8 * M, 0, (Job){.make = topk, .in = {y}, .axis = 1, .k = 32});
    A *table = numbers(F16, SHAPE(65536 / part, 1024)), *rows = indices((uint32_t)(65536 / part), SHAPE(32768 / part));
    measure("take_rows_f16", 128 * M, 0, (Job){.make = take, .in = {table, rows}, .axis = 0});
    A *along = indices(2048, SHAPE(4096 / part, 2048));
    measure("take_along_f32", 96 * M, 0, (Job){.make = take_along, .in = {x, along}, .axis = 1});
    A *updates = numbers(F16, SHAPE(32768 / part, 1, 1024));
    measure("scatter_f16", 320 * M, 0, JOB(scatter, table, rows, updates));
    measure("scatter_add_f16", 320 * M, 0, JOB(scatter_add, table, rows, updates));
    A *all[] = {x, y, z, table, rows, along, updates};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) mlxrocm_array_free(all[k]);
}

static void products(void) {
    const double N = (double)of_weight, P = (double)of_product;
    const struct { const char *name; uint32_t dtype; } dtypes[] = {{"matmul_f32_%d", F32}, {"matmul_f16_%d", F16}, {"matmul_bf16_%d", BF16}};
    for (int k = 0; k < 3; k++) {
        A *a = numbers(dtypes[k].dtype, SHAPE(of_product, of_product)), *b = numbers(dtypes[k].dtype, SHAPE(of_product, of_product));
        measure(sized(dtypes[k].name, of_product), 0, 2 * P * P * P, (Job){.make = binary, .in = {a, b}, .binary = mlxrocm_array_matmul});
        mlxrocm_array_free(a), mlxrocm_array_free(b);
    }
    A *w = numbers(F16, SHAPE(of_weight, of_weight)), *one_row = numbers(F16, SHAPE(1, of_weight)), *many = numbers(F16, SHAPE(64 / part, 1024 / part, 128));
    A *other = numbers(F16, SHAPE(64 / part, 128, 1024 / part));
    BINARY(sized("matvec_f16_%d", of_weight), 2 * N * N, matmul, one_row, w);
    measure("matmul_f16_batched", 0, 2.0 * 64 * 1024 * 1024 * 128 / (double)(part * part * part),
            (Job){.make = binary, .in = {many, other}, .binary = mlxrocm_array_matmul});
    A *w32 = numbers(F32, SHAPE(of_weight, of_weight)), *made[3];
    check(mlxrocm_array_quantize(w32, 64, 4, &made[0], &made[1], &made[2], &error));
    for (int k = 0; k < 3; k++) {
        if (k) made[k] = cast(made[k], F16);
        check(mlxrocm_array_eval((const A *const[]){made[k]}, 1, &error));
    }
    const int64_t rows[] = {1, 4, 16, 64, 512, 4096};
    for (int k = 0; k < (part > 1 ? 4 : 6); k++) {
        A *x = numbers(F16, SHAPE(rows[k], of_weight));
        const char *name = sized("quantized_f16_%d_rows", rows[k]);
        const double bytes = N * N * 4.5 / 8, flops = rows[k] >= 64 ? 2.0 * (double)rows[k] * N * N : 0.0;
        measure(name, bytes, flops, (Job){.make = quantized, .in = {x, made[0], made[1], made[2]}, .k = 4});
        mlxrocm_array_free(x);
    }
    A *image = numbers(F16, SHAPE(8 / part, 64 / part, 64, 128)), *filter = numbers(F16, SHAPE(256, 3, 3, 128));
    measure("conv2d_f16", 0, 2.0 * 8 * 64 * 64 * 256 * 9 * 128 / (double)(part * part), (Job){.make = conv2d, .in = {image, filter}, .k = 1});
    A *line = numbers(F16, SHAPE(8 / part, 4096, 1024)), *taps = numbers(F16, SHAPE(1024, 4, 1));
    measure("conv1d_depthwise_f16", 128 * 1048576.0 / (double)part, 0, (Job){.make = conv1d, .in = {line, taps}, .k = 1024});
    const int64_t heads = 32 / part, tokens = of_weight / 2;
    A *q = numbers(F16, SHAPE(1, heads, tokens, 128)), *k = numbers(F16, SHAPE(1, heads / 4, tokens, 128)), *v = numbers(F16, SHAPE(1, heads / 4, tokens, 128));
    measure(sized("sdpa_f16_%d_causal", tokens), 0, 2.0 * 2 * 128 * (double)(heads * tokens * tokens / 2), (Job){.make = attention, .in = {q, k, v}, .k = 1});
    A *q1 = numbers(F16, SHAPE(1, 32, 1, 128)), *k8 = numbers(F16, SHAPE(1, 8, 8192, 128)), *v8 = numbers(F16, SHAPE(1, 8, 8192, 128));
    measure("sdpa_f16_1_of_8192", 4.0 * 8 * 8192 * 128, 0, JOB(attention, q1, k8, v8));
    A *offset = NULL;
    check(mlxrocm_array_number(7, I32, &offset, &error));
    offset = on_device(offset);
    measure("rope_f16", 2 * 2.0 * (double)(heads * tokens * 128), 0, JOB(rope, q, offset));
    measure(sized("rfft_f32_%d", of_weight), 8 * N * N, 0, JOB(rfft, w32));
    A *all[] = {w, one_row, many, other, w32, made[0], made[1], made[2], image, filter, line, taps, q, k, v, q1, k8, v8, offset};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mlxrocm_array_free(all[i]);
}

int main(int argc, char **argv) {
    const size_t place = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    if (argc > 2) only = argv[2];
    if (argc > 3) seconds = atof(argv[3]);
    if (place == 0) side = 2048, of_weight = 2048, of_product = 1024, part = 4;
    check(mlxrocm_device_open(place, &device, &error));
    elements();
    places();
    products();
    mlxrocm_device_free(device);
    return 0;
}
