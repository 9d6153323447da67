/* Arrays: queued evaluation, shapes of others, names of transforms and convolutions, GGUF files, memory of the CPU. The
 * argument after the model is a folder to write to. */
#include "check.h"
#include <math.h>
#include <unistd.h>

static mlxrocm_array *of(const float *numbers, const int64_t *shape, size_t rank) {
    mlxrocm_array *made = NULL;
    OK(mlxrocm_array_from_data(numbers, shape, rank, MLXROCM_DTYPE_FLOAT32, &made, &error));
    return made;
}

static void is(const mlxrocm_array *array, const float *numbers, size_t count) {
    float found[64];
    CHECK(mlxrocm_array_size(array) == count && mlxrocm_array_bytes(array) == 4 * count);
    OK(mlxrocm_array_read(array, found, sizeof found, &error));
    for (size_t i = 0; i < count; i++) CHECK(fabsf(found[i] - numbers[i]) < 1e-5f);
}

static void queued(void) {
    const int64_t shape[] = {2, 2};
    const float numbers[] = {1, 2, 3, 4}, squares[] = {1, 4, 9, 16}, sums[] = {2, 6, 12, 20};
    mlxrocm_array *x = of(numbers, shape, 2), *square = NULL, *sum = NULL, *gone = NULL;
    OK(mlxrocm_array_square(x, &square, &error));
    OK(mlxrocm_array_add(x, square, &sum, &error));
    const mlxrocm_array *arrays[] = {square, sum};
    /* Nothing was queued yet: there is nothing to wait for. */
    OK(mlxrocm_array_wait(arrays, 2, &error));
    OK(mlxrocm_array_eval_async(arrays, 2, &error));
    OK(mlxrocm_array_wait(arrays, 2, &error));
    is(square, squares, 4);
    is(sum, sums, 4);
    OK(mlxrocm_array_eval_async(NULL, 0, &error));
    OK(mlxrocm_array_wait(NULL, 0, &error));
    NULL_ARGUMENT(mlxrocm_array_eval_async(NULL, 1, &error));
    NULL_ARGUMENT(mlxrocm_array_wait(NULL, 1, &error));
    arrays[1] = NULL;
    EXPECT_MESSAGE(MLXROCM_ERROR_NULL_ARGUMENT, "arrays[1]", mlxrocm_array_eval_async(arrays, 2, &error));
    OK(mlxrocm_array_clone(x, &gone, &error));
    mlxrocm_array_free(gone);
    arrays[1] = gone;
    INVALID(mlxrocm_array_eval_async(arrays, 2, &error));
    INVALID(mlxrocm_array_wait(arrays, 2, &error));
    mlxrocm_array_free(x);
    mlxrocm_array_free(square);
    mlxrocm_array_free(sum);
}

static void like(void) {
    const int64_t shape[] = {2, 3};
    const float numbers[6] = {0}, ones[] = {1, 1, 1, 1, 1, 1}, rows[] = {7, 8, 9, 7, 8, 9};
    const float row[] = {7, 8, 9};
    mlxrocm_array *x = of(numbers, shape, 2), *values = of(row, shape + 1, 1), *made = NULL;
    OK(mlxrocm_array_zeros_like(x, -1, &made, &error));
    is(made, numbers, 6);
    mlxrocm_array_free(made);
    OK(mlxrocm_array_ones_like(x, MLXROCM_DTYPE_FLOAT32, &made, &error));
    is(made, ones, 6);
    mlxrocm_array_free(made);
    OK(mlxrocm_array_full_like(x, values, -1, &made, &error));
    is(made, rows, 6);
    mlxrocm_array_free(made);
    OK(mlxrocm_array_ones_like(x, MLXROCM_DTYPE_INT8, &made, &error));
    CHECK(mlxrocm_array_dtype(made) == MLXROCM_DTYPE_INT8 && mlxrocm_array_bytes(made) == 6);
    mlxrocm_array_free(made);
    INVALID(mlxrocm_array_zeros_like(x, 14, &made, &error));
    INVALID(mlxrocm_array_full_like(values, x, -1, &made, &error)); /* a matrix in the shape of a row */
    NULL_ARGUMENT(mlxrocm_array_full_like(x, NULL, -1, &made, &error));
    mlxrocm_array_free(x);
    mlxrocm_array_free(values);
}

static void transforms(void) {
    const int64_t shape[] = {4}, square[] = {2, 2}, both[] = {0, 1}, none = 0;
    const float numbers[] = {1, 2, 3, 5}, shifted[] = {3, 5, 1, 2}, places[] = {0, 0.5f, -1, -0.5f};
    mlxrocm_array *x = of(numbers, shape, 1), *y = of(numbers, square, 2), *there = NULL, *back = NULL;
    OK(mlxrocm_array_fft_fft(x, 0, -1, &there, &error));
    CHECK(mlxrocm_array_dtype(there) == MLXROCM_DTYPE_COMPLEX64 && mlxrocm_array_size(there) == 4);
    OK(mlxrocm_array_fft_ifft(there, 0, 0, &back, &error));
    mlxrocm_array_free(there);
    OK(mlxrocm_array_real(back, &there, &error));
    is(there, numbers, 4);
    mlxrocm_array_free(there);
    mlxrocm_array_free(back);
    OK(mlxrocm_array_fft_rfft(x, 0, -1, &there, &error));
    CHECK(mlxrocm_array_size(there) == 3);
    OK(mlxrocm_array_fft_irfft(there, 4, -1, &back, &error));
    is(back, numbers, 4);
    mlxrocm_array_free(there);
    mlxrocm_array_free(back);
    OK(mlxrocm_array_fft_rfft2(y, NULL, 0, NULL, 0, &there, &error));
    OK(mlxrocm_array_fft_irfft2(there, square, 2, both, 2, &back, &error));
    is(back, numbers, 4);
    mlxrocm_array_free(there);
    mlxrocm_array_free(back);
    OK(mlxrocm_array_fft_fftshift(x, NULL, 0, &there, &error));
    is(there, shifted, 4);
    OK(mlxrocm_array_fft_ifftshift(there, &none, 1, &back, &error));
    is(back, numbers, 4);
    mlxrocm_array_free(there);
    mlxrocm_array_free(back);
    OK(mlxrocm_array_fft_fftfreq(4, 0.5, &there, &error));
    is(there, places, 4);
    mlxrocm_array_free(there);
    INVALID(mlxrocm_array_fft_fft(x, -1, 0, &there, &error));
    INVALID(mlxrocm_array_fft_fft(x, 0, 1, &there, &error));
    INVALID(mlxrocm_array_fft_fft2(x, NULL, 0, NULL, 0, &there, &error)); /* one axis */
    INVALID(mlxrocm_array_fft_rfftfreq(0, 1, &there, &error));
    INVALID(mlxrocm_array_fft_fftshift(x, both, 2, &there, &error));
    mlxrocm_array_free(x);
    mlxrocm_array_free(y);
}

static void convolutions(void) {
    const int64_t line[] = {1, 5, 1}, kernel[] = {1, 2, 1}, plane[] = {1, 2, 2, 1}, two[] = {2, 2};
    const float numbers[] = {1, 2, 3, 4, 5}, weights[] = {1, -1}, differences[] = {-1, -1, -1, -1}, four[] = {1, 2, 3, 4};
    const float one[] = {30};
    mlxrocm_array *x = of(numbers, line, 3), *w = of(weights, kernel, 3), *made = NULL;
    mlxrocm_array *square = of(four, plane, 4);
    OK(mlxrocm_array_conv1d(x, w, 1, 0, 1, 1, &made, &error));
    is(made, differences, 4);
    mlxrocm_array_free(made);
    OK(mlxrocm_array_conv_transpose1d(x, w, 2, 0, 1, 0, 1, &made, &error));
    CHECK(mlxrocm_array_size(made) == 10);
    mlxrocm_array_free(made);
    OK(mlxrocm_array_conv2d(square, square, NULL, 0, NULL, 0, NULL, 0, 1, &made, &error));
    is(made, one, 1);
    mlxrocm_array_free(made);
    INVALID(mlxrocm_array_conv2d(x, w, NULL, 0, NULL, 0, NULL, 0, 1, &made, &error)); /* of one spatial axis */
    INVALID(mlxrocm_array_conv1d(square, square, 1, 0, 1, 1, &made, &error));
    INVALID(mlxrocm_array_conv3d(square, square, two, 2, NULL, 0, NULL, 0, 1, &made, &error));
    INVALID(mlxrocm_array_conv1d(x, w, 0, 0, 1, 1, &made, &error));
    INVALID(mlxrocm_array_conv1d(x, w, 1, 0, 1, 2, &made, &error));
    mlxrocm_array_free(x);
    mlxrocm_array_free(w);
    mlxrocm_array_free(square);
}

static void files(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/arrays-%ld.gguf", folder, (long)getpid());
    const int64_t shape[] = {2, 3};
    const float numbers[] = {1, 2, 3, 4, 5, 6};
    mlxrocm_array_map *map = NULL, *again = NULL;
    mlxrocm_array *x = of(numbers, shape, 2), *whole = NULL, *made = NULL;
    OK(mlxrocm_array_astype(x, MLXROCM_DTYPE_INT16, &whole, &error));
    OK(mlxrocm_array_map_new(&map, &error));
    OK(mlxrocm_array_map_set(map, "x", MLXROCM_NUL, x, &error));
    OK(mlxrocm_array_map_set(map, "whole", MLXROCM_NUL, whole, &error));
    OK(mlxrocm_array_map_set_metadata(map, "general.name", MLXROCM_NUL, "two arrays", MLXROCM_NUL, &error));
    OK(mlxrocm_array_map_save_gguf(map, path, MLXROCM_NUL, &error));
    OK(mlxrocm_array_map_load(path, MLXROCM_NUL, &again, &error));
    CHECK(mlxrocm_array_map_count(again) == 2);
    CHECK(strcmp(mlxrocm_array_map_metadata_text(again, "general.name", MLXROCM_NUL, 0, NULL), "two arrays") == 0);
    OK(mlxrocm_array_map_get(again, "x", MLXROCM_NUL, &made, &error));
    is(made, numbers, 6);
    mlxrocm_array_free(made);
    OK(mlxrocm_array_map_get(again, "whole", MLXROCM_NUL, &made, &error));
    CHECK(mlxrocm_array_dtype(made) == MLXROCM_DTYPE_INT16 && mlxrocm_array_rank(made) == 2);
    mlxrocm_array_free(whole);
    OK(mlxrocm_array_astype(made, MLXROCM_DTYPE_FLOAT32, &whole, &error));
    is(whole, numbers, 6);
    mlxrocm_array_free(made);
    /* What the format has not. */
    OK(mlxrocm_array_number(1, MLXROCM_DTYPE_FLOAT32, &made, &error));
    OK(mlxrocm_array_map_set(map, "scalar", MLXROCM_NUL, made, &error));
    INVALID(mlxrocm_array_map_save_gguf(map, path, MLXROCM_NUL, &error));
    OK(mlxrocm_array_map_set(map, "scalar", MLXROCM_NUL, NULL, &error));
    mlxrocm_array_free(made);
    OK(mlxrocm_array_astype(x, MLXROCM_DTYPE_COMPLEX64, &made, &error));
    OK(mlxrocm_array_map_set(map, "x", MLXROCM_NUL, made, &error));
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "complex64",
                   mlxrocm_array_map_save_gguf(map, path, MLXROCM_NUL, &error));
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_array_map_save_gguf(again, "/nonexistent/x.gguf", MLXROCM_NUL, &error));
    NULL_ARGUMENT(mlxrocm_array_map_save_gguf(NULL, path, MLXROCM_NUL, &error));
    NULL_ARGUMENT(mlxrocm_array_map_save_gguf(map, NULL, MLXROCM_NUL, &error));
    INVALID(mlxrocm_array_map_save_gguf(NO_HANDLE, path, MLXROCM_NUL, &error));
    mlxrocm_array_map_free(map);
    mlxrocm_array_map_free(again);
    mlxrocm_array_free(x);
    mlxrocm_array_free(whole);
    mlxrocm_array_free(made);
    CHECK(unlink(path) == 0);
}

static void memory(void) {
    mlxrocm_device *cpu = NULL;
    mlxrocm_device_memory before = {0}, now = {0};
    before.struct_size = now.struct_size = sizeof now;
    mlxrocm_array *large = NULL;
    const int64_t shape[] = {1 << 20};
    OK(mlxrocm_device_open(0, &cpu, &error));
    OK(mlxrocm_device_reset_peak_memory(cpu, &error));
    OK(mlxrocm_device_get_memory(cpu, &before, &error));
    OK(mlxrocm_array_arange(0, 1 << 20, 1, MLXROCM_DTYPE_FLOAT32, &large, &error));
    CHECK(mlxrocm_array_size(large) == (size_t)shape[0]);
    OK(mlxrocm_array_eval((const mlxrocm_array *const[]){large}, 1, &error));
    OK(mlxrocm_device_get_memory(cpu, &now, &error));
    CHECK(now.active >= before.active + (4u << 20) && now.peak >= now.active);
    CHECK(now.integrated == 1 && now.cache == 0 && now.total >= now.free && now.limit == now.total);
    mlxrocm_array_free(large);
    OK(mlxrocm_device_get_memory(cpu, &now, &error));
    CHECK(now.active < before.active + (4u << 20) && now.peak >= before.active + (4u << 20));
    OK(mlxrocm_device_reset_peak_memory(cpu, &error));
    OK(mlxrocm_device_get_memory(cpu, &now, &error));
    CHECK(now.peak == now.active);
    mlxrocm_device_free(cpu);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    queued();
    like();
    transforms();
    convolutions();
    files(argv[2]);
    memory();
    return 0;
}
