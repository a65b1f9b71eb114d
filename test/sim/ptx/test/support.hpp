// SPDX-License-Identifier: BSL-1.0
// A device for the interpreter's tests: memory at addresses that are not the host's, modules from compiled kernels.
#pragma once

#include "../interpreter.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace omp_co_sim::ptx::test {

class device_memory : public memory {
public:
    std::uint64_t allocate(std::size_t bytes, bool writable = true)
    {
        auto const address = next_;
        next_ += (bytes + 0xfff) / 0x1000 * 0x1000 + 0x10000;
        blocks_[address] = {std::make_unique<unit[]>(bytes / sizeof(unit) + 1), bytes, writable};
        return address;
    }
    std::byte* bytes(std::uint64_t address) { return block_around(address).first; }

    std::byte* at(std::uint64_t address, std::size_t count, access how) override
    {
        auto const [p, left, writable] = find(address);
        return p && left >= count && (writable || how == access::read) ? p : nullptr;
    }
    extent around(std::uint64_t address) override
    {
        auto const [p, left, writable] = find(address);
        if (!p || !cached) return {};
        auto const size = block_around(address).second;
        auto const inside = size - left;
        return {address - inside, size, p - inside, writable};
    }

    bool cached = true; ///< false: the interpreter must ask for each access

private:
    struct alignas(16) unit {
        std::byte b[16];
    };
    struct allocation {
        std::unique_ptr<unit[]> storage;
        std::size_t size = 0;
        bool writable = true;
    };
    struct place {
        std::byte* p = nullptr;
        std::size_t left = 0;
        bool writable = false;
    };
    place find(std::uint64_t address)
    {
        auto after = blocks_.upper_bound(address);
        if (after == blocks_.begin()) return {};
        auto const& [start, block] = *--after;
        if (address - start >= block.size) return {};
        return {reinterpret_cast<std::byte*>(block.storage.get()) + (address - start),
                block.size - (address - start), block.writable};
    }
    std::pair<std::byte*, std::size_t> block_around(std::uint64_t address)
    {
        auto const& block = std::prev(blocks_.upper_bound(address))->second;
        return {reinterpret_cast<std::byte*>(block.storage.get()), block.size};
    }

    std::map<std::uint64_t, allocation> blocks_;
    std::uint64_t next_ = 0x7'0000'0000;
};

/// An array on the device; what the kernel did to it is read back by `host`.
template <class T>
class array {
public:
    array(device_memory& m, std::vector<T> const& values) : memory_{&m}, size_{values.size()}
    {
        address_ = m.allocate(size_ * sizeof(T));
        if (size_ != 0) std::memcpy(m.bytes(address_), values.data(), size_ * sizeof(T));
    }
    std::uint64_t address() const { return address_; }
    std::vector<T> host() const
    {
        std::vector<T> out(size_);
        std::memcpy(out.data(), memory_->bytes(address_), size_ * sizeof(T));
        return out;
    }

private:
    device_memory* memory_;
    std::size_t size_;
    std::uint64_t address_;
};

struct shape {
    std::array<unsigned, 3> grid{1, 1, 1};
    std::array<unsigned, 3> block{1, 1, 1};
    std::size_t shared = 0;
    std::uint64_t limit = 0;
    std::atomic<bool> const* stop = nullptr;
};

/// A module with its globals in a device's memory.
class loaded {
public:
    loaded(device_memory& m, std::string const& text) : memory_{m}, module_{parse(text)}
    {
        for (variable const& v : module_.globals()) addresses_.push_back(m.allocate(v.size, !v.constant));
        for (std::size_t n = 0; n < addresses_.size(); ++n) {
            auto const bytes = module_.initial_bytes(n, addresses_);
            std::memcpy(m.bytes(addresses_[n]), bytes.data(), bytes.size());
        }
    }

    module const& code() const { return module_; }

    template <class T>
    T global(std::string const& name) const
    {
        T out{};
        for (std::size_t n = 0; n < addresses_.size(); ++n)
            if (module_.globals()[n].name == name) std::memcpy(&out, memory_.bytes(addresses_[n]), sizeof(T));
        return out;
    }

    template <class... Args>
    fault run(std::string const& name, shape const& s, Args const&... args)
    {
        std::vector<std::byte> packed;
        (pack(packed, args), ...);
        launch l{s.grid, s.block, s.shared, packed, s.limit, s.stop};
        auto const k = module_.find_kernel(name);
        if (!k) return {fault_kind::invalid_launch, "no kernel " + name, 0};
        if (packed.size() != k->parameter_bytes)
            return {fault_kind::invalid_launch, "parameters of " + name, 0};
        return ptx::run(*k, l, memory_, addresses_);
    }

private:
    template <class T>
    static void pack(std::vector<std::byte>& out, array<T> const& a)
    {
        pack(out, a.address());
    }
    template <class T>
    static void pack(std::vector<std::byte>& out, T const& v)
    {
        out.resize((out.size() + alignof(T) - 1) / alignof(T) * alignof(T));
        auto const at = out.size();
        out.resize(at + sizeof(T));
        std::memcpy(out.data() + at, &v, sizeof(T));
    }

    device_memory& memory_;
    module module_;
    std::vector<std::uint64_t> addresses_;
};

/// The text of test/kernels/<name>.cu compiled for compute_<architecture>; the folder is OMP_CO_SIM_PTX_FOLDER.
std::string compiled(std::string const& name, int architecture);

} // namespace omp_co_sim::ptx::test

namespace omp_co_sim::ptx {
inline std::ostream& operator<<(std::ostream& out, fault_kind k) { return out << to_string(k); }
} // namespace omp_co_sim::ptx
