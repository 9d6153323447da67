// What the C++ tests share: a failed check says where and ends the test.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// The expression throws exactly this.
#define CHECK_THROWS(expression, Kind)                                                             \
    do {                                                                                           \
        bool thrown = false;                                                                       \
        try {                                                                                      \
            (void)(expression);                                                                    \
        } catch (const Kind &error) {                                                              \
            thrown = error.what()[0] != '\0';                                                      \
        }                                                                                          \
        if (!thrown) std::fprintf(stderr, "%s did not throw %s\n", #expression, #Kind);           \
        CHECK(thrown);                                                                             \
    } while (0)

#endif
