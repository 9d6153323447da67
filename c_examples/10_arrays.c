/* 10: arrays. Fits a line to noisy points with a few steps of gradient descent, every step written in
 * operations on arrays; nothing is computed until the numbers are read.
 *   10_arrays [DEVICE]        1 and up: the arrays are on a GPU */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>

typedef mlxrocm_array array;

/* Ends the program if an operation failed. */
static void check(mlxrocm_status status, mlxrocm_error *error) {
    if (status == MLXROCM_OK) return;
    fprintf(stderr, "%s: %s\n", mlxrocm_status_name(status, NULL), mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    exit(1);
}

/* Operations that own their result and, for short expressions, free what they were given. */
static array *binary(mlxrocm_status (*function)(const array *, const array *, array **, mlxrocm_error **),
                     array *a, array *b) {
    mlxrocm_error *error = NULL;
    array *result = NULL;
    check(function(a, b, &result, &error), error);
    mlxrocm_array_free(a);
    mlxrocm_array_free(b);
    return result;
}

static array *same(const array *x) {
    mlxrocm_error *error = NULL;
    array *result = NULL;
    check(mlxrocm_array_clone(x, &result, &error), error);
    return result;
}

static array *number(double value) {
    mlxrocm_error *error = NULL;
    array *result = NULL;
    check(mlxrocm_array_number(value, MLXROCM_DTYPE_FLOAT32, &result, &error), error);
    return result;
}

/* The array on a device: what is computed of it is computed there. */
static array *on(array *x, const mlxrocm_device *device) {
    mlxrocm_error *error = NULL;
    array *result = NULL;
    check(mlxrocm_array_to_device(x, device, &result, &error), error);
    mlxrocm_array_free(x);
    return result;
}

/* The mean over all axes. */
static array *mean(array *x) {
    mlxrocm_error *error = NULL;
    array *result = NULL;
    check(mlxrocm_array_mean(x, NULL, 0, 0, &result, &error), error);
    mlxrocm_array_free(x);
    return result;
}

int main(int argc, char **argv) {
    mlxrocm_error *error = NULL;
    const int64_t shape[] = {8};
    const float places[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const float heights[] = {1.1f, 2.9f, 5.2f, 6.8f, 9.1f, 11.0f, 12.8f, 15.1f};
    array *x = NULL, *y = NULL;
    check(mlxrocm_array_from_data(places, shape, 1, MLXROCM_DTYPE_FLOAT32, &x, &error), error);
    check(mlxrocm_array_from_data(heights, shape, 1, MLXROCM_DTYPE_FLOAT32, &y, &error), error);
    if (argc > 1) {
        mlxrocm_device *device = NULL;
        check(mlxrocm_device_open((size_t)atoi(argv[1]), &device, &error), error);
        x = on(x, device);
        y = on(y, device);
        mlxrocm_device_free(device);
    }

    array *slope = number(0), *start = number(0);
    for (int step = 0; step < 1500; step++) {
        /* How far the line is from the points, and which way is down. */
        array *line = binary(mlxrocm_array_add, binary(mlxrocm_array_multiply, same(slope), same(x)), same(start));
        array *far = binary(mlxrocm_array_subtract, line, same(y));
        array *down = mean(binary(mlxrocm_array_multiply, same(far), same(x)));
        slope = binary(mlxrocm_array_subtract, slope, binary(mlxrocm_array_multiply, number(0.05), down));
        start = binary(mlxrocm_array_subtract, start, binary(mlxrocm_array_multiply, number(0.05), mean(far)));
    }
    const array *wanted[] = {slope, start};
    check(mlxrocm_array_eval(wanted, 2, &error), error);
    double a = 0, b = 0;
    check(mlxrocm_array_item_f64(slope, &a, &error), error);
    check(mlxrocm_array_item_f64(start, &b, &error), error);
    printf("y = %.3f x + %.3f\n", a, b);

    /* Shapes that do not fit are an error that says so. */
    array *three = NULL, *sum = NULL;
    const int64_t wrong[] = {3};
    check(mlxrocm_array_zeros(wrong, 1, MLXROCM_DTYPE_FLOAT32, &three, &error), error);
    if (mlxrocm_array_add(x, three, &sum, &error) != MLXROCM_OK) {
        printf("as it should be: %s\n", mlxrocm_error_message(error, NULL));
        mlxrocm_error_free(error);
    }
    mlxrocm_array_free(three);
    mlxrocm_array_free(slope);
    mlxrocm_array_free(start);
    mlxrocm_array_free(y);
    mlxrocm_array_free(x);
    return 0;
}
