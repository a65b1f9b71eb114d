// SPDX-License-Identifier: BSL-1.0
// One function of a library that is loaded at run time: its name, version, type and, once found, its address.
#pragma once

#include <string>
#include <string_view>

namespace omp_co::detail {

/// What a function that was not found answers; specialised for each library's result type.
template <class Result>
inline constexpr Result absent_answer{};

enum class need : unsigned char { required, optional };

class entry_point;

/// The entry points of one table, in their order of declaration.
struct entry_list {
    entry_list() = default;
    entry_list(entry_list const&) = delete;
    entry_list& operator=(entry_list const&) = delete;

    entry_point* first = nullptr;
    entry_point** last = &first;
};

/// A member of a table: registers itself in the table's list when it is constructed.
class entry_point {
public:
    using code = void (*)();

    entry_point(entry_point const&) = delete;
    entry_point& operator=(entry_point const&) = delete;

    /// As the library exports it: cuMemAlloc_v2.
    char const* symbol() const noexcept { return symbol_; }

    /// Without the suffix that tells apart prototypes of one function: cuMemAlloc.
    std::string base_name() const
    {
        std::string_view const all = symbol_;
        std::size_t const digits = all.find_last_not_of("0123456789");
        if (digits != all.size() - 1 && digits > 0 && all.substr(digits - 1, 2) == "_v")
            return std::string(all.substr(0, digits - 1));
        return std::string(all);
    }

    /// The library's version that brought this prototype, in the vendor's way of counting.
    int version() const noexcept { return version_; }
    bool required() const noexcept { return need_ == need::required; }
    entry_point* next() const noexcept { return next_; }

    /// Was it found?
    explicit operator bool() const noexcept { return address_ != absent_; }

    /// Null: it was not found.
    void set(code found) noexcept { address_ = found != nullptr ? found : absent_; }

protected:
    entry_point(entry_list& list, char const* symbol, int version, need n, code absent) noexcept
        : address_(absent), absent_(absent), symbol_(symbol), version_(version), need_(n)
    {
        *list.last = this;
        list.last = &next_;
    }
    ~entry_point() = default;

    code address() const noexcept { return address_; }

private:
    code address_;
    code absent_;
    char const* symbol_;
    entry_point* next_ = nullptr;
    int version_;
    need need_;
};

/// A function with its type. Called when it was not found, it answers `absent_answer`.
template <class Signature>
class function;

template <class Result, class... Arguments>
class function<Result(Arguments...)> final : public entry_point {
public:
    using signature = Result(Arguments...);

    function(entry_list& list, char const* symbol, int version, need n = need::required) noexcept
        : entry_point(list, symbol, version, n, reinterpret_cast<code>(&absent))
    {
    }

    /// To be called like the library's own function.
    signature* pointer() const noexcept { return reinterpret_cast<signature*>(address()); }

    Result operator()(Arguments... arguments) const noexcept { return pointer()(arguments...); }

private:
    static Result absent(Arguments...) { return absent_answer<Result>; }
};

} // namespace omp_co::detail
