// SPDX-License-Identifier: BSL-1.0
// What both programs share: the list of cases, and how a case prints what it observes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace oracle {

/// A case, in the list of all of them, sorted by name. Made by ORACLE_CASE.
struct listed_case {
    listed_case(char const* case_name, void (*function)()) : name(case_name), run(function)
    {
        listed_case** at = &first;
        while (*at != nullptr && std::strcmp((*at)->name, name) < 0) at = &(*at)->next;
        if (*at != nullptr && std::strcmp((*at)->name, name) == 0) {
            std::fprintf(stderr, "oracle: two cases are called %s\n", name);
            std::exit(2);
        }
        next = *at;
        *at = this;
    }

    char const* name;
    void (*run)();
    listed_case* next = nullptr;
    static inline listed_case* first = nullptr;
};

template <std::integral T>
void print(T value)
{
    std::printf(" %lld", static_cast<long long>(value));
}
inline void print(double value) { std::printf(" %g", value); }

/// One observation: a line with a name and values.
template <class... T>
void show(char const* what, T... values)
{
    std::fputs(what, stdout);
    (print(values), ...);
    std::fputc('\n', stdout);
}

template <class T, std::size_t N>
void show_array(char const* what, T const (&values)[N])
{
    std::fputs(what, stdout);
    for (T const& value : values) print(value);
    std::fputc('\n', stdout);
}

/// `count` values, `width` of them a line.
inline void show_rows(char const* what, int const* values, int count, int width)
{
    for (int i = 0; i < count; ++i) {
        if (i % width == 0) std::fputs(what, stdout);
        print(values[i]);
        if (i % width == width - 1) std::fputc('\n', stdout);
    }
}

} // namespace oracle

// A macro, because a function cannot turn its name into text.
#define ORACLE_CASE(name)                                                                                    \
    static void name();                                                                                      \
    static oracle::listed_case const name##_is_listed(#name, &name);                                         \
    static void name()
