// SPDX-License-Identifier: BSL-1.0
// When are two function types the same to a linker: enumerations count as their underlying types, a structure of the
// vendor's as the one of ours that stands for it, and all else must be equal.
#pragma once

#include <type_traits>

namespace same_abi {

/// Specialised for the vendor's structures, whose layout is checked elsewhere.
template <class Type>
struct ours {
    using type = Type;
};

template <class Type, class = void>
struct canonical : ours<Type> {
};

template <class Type>
using canonical_t = typename canonical<Type>::type;

template <class Type>
struct canonical<Type, std::enable_if_t<std::is_enum_v<Type>>> : std::underlying_type<Type> {
};

template <class Type>
struct canonical<Type const, std::enable_if_t<!std::is_function_v<Type>>> {
    using type = canonical_t<Type> const;
};

template <class Type>
struct canonical<Type*> {
    using type = canonical_t<Type>*;
};

template <class Result, class... Arguments>
struct canonical<Result(Arguments...)> {
    using type = canonical_t<Result>(canonical_t<Arguments>...);
};

template <class One, class Other>
inline constexpr bool same = std::is_same_v<canonical_t<One>, canonical_t<Other>>;

/// The same number, enumerators of whatever type or plain numbers.
template <class One, class Other>
constexpr bool equal(One one, Other other)
{
    return static_cast<long long>(one) == static_cast<long long>(other);
}

} // namespace same_abi
