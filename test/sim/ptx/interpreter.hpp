// SPDX-License-Identifier: BSL-1.0
// Runs PTX on the host: what a driver simulator needs to load modules and launch kernels.
//
//   ptx::module code = ptx::parse(text);                    // throws ptx::parse_error
//   ptx::kernel const* k = code.find_kernel("saxpy");
//   ptx::fault f = ptx::run(*k, launch, memory, addresses);  // addresses: one for each of code.globals()
//
// Semantics. Blocks run one after another, in order of ctaid; a grid-wide spin barrier never ends. The threads of a
// block run in turn, each with its own registers and program counter, to the next barrier, warp operation or end of a
// time slice. A barrier counts threads that have exited as arrived, as the hardware does. A block whose threads all
// wait for something that cannot come is a fault (deadlock). The warp has 32 lanes. A thread that names itself not in
// the mask of a warp operation faults. `activemask` answers the lanes that reach the same instruction before anything
// else in the warp can move. Integer division by zero gives all ones, the remainder then is the dividend.
//
// Refused by `parse`, with the line and the reason: textures and surfaces, matrix instructions, mbarrier, bulk
// copies, clusters, recursion, calls through pointers, vprintf, malloc, free, external variables and functions.
// `__assertfail` is known and reports the assertion as a fault.
//
// A module may be used by any number of threads at once; `run` keeps its state to itself.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace omp_co_sim::ptx {

struct program;

/// The text cannot be run: the line (from 1) and what is wrong there.
class parse_error : public std::runtime_error {
public:
    parse_error(int line, std::string const& message);
    int line() const noexcept { return line_; }

private:
    int line_;
};

struct parameter {
    std::string name;
    std::size_t offset = 0; ///< in the packed parameters
    std::size_t size = 0;
    std::size_t alignment = 1;
};

struct kernel {
    std::string name;
    std::vector<parameter> parameters;
    std::size_t parameter_bytes = 0;
    std::size_t static_shared_bytes = 0;
    std::size_t local_bytes = 0; ///< for each thread
    std::size_t registers = 0;   ///< declared and used; what ptxas would make of them is not known
    /// .maxntid and .reqntid as written, missing dimensions 1; all zero when not given.
    std::array<unsigned, 3> max_threads{};
    std::array<unsigned, 3> required_threads{};
    std::shared_ptr<program const> code;
};

/// Asks for the address of another variable, `addend` bytes on, at `offset` of a variable's bytes. `shift` and `size`
/// choose the bytes of the address that are stored (`mask()` in PTX); 0 and 8 for all.
struct relocation {
    std::size_t offset = 0;
    std::size_t variable = 0; ///< index in module::globals()
    std::int64_t addend = 0;
    unsigned shift = 0;
    unsigned size = 8;
};

struct variable {
    std::string name;
    std::size_t size = 0;
    std::size_t alignment = 1;
    bool constant = false; ///< .const; else .global
    bool managed = false;
    bool visible = false;           ///< .visible or .weak: can be asked for by name from outside
    std::vector<std::byte> initial; ///< `size` bytes before relocation
    std::vector<relocation> relocations;
};

class module {
public:
    std::vector<kernel> const& kernels() const noexcept { return kernels_; }
    std::vector<variable> const& globals() const noexcept { return globals_; }
    kernel const* find_kernel(std::string_view name) const noexcept;
    variable const* find_global(std::string_view name) const noexcept;
    std::string const& version() const noexcept { return version_; } ///< as in `.version`, "9.0"
    std::string const& target() const noexcept { return target_; }   ///< as in `.target`, "sm_80"

    /// The bytes of global `index` when the globals lie at `addresses`.
    std::vector<std::byte> initial_bytes(std::size_t index, std::span<std::uint64_t const> addresses) const;

private:
    friend module parse(std::string_view text);

    std::vector<kernel> kernels_;
    std::vector<variable> globals_;
    std::string version_;
    std::string target_;
};

/// Throws `parse_error`. The text may end with zero bytes, as images do.
module parse(std::string_view text);

enum class access : std::uint8_t { read, write, atomic };

/// A piece of device memory and the host's bytes behind it.
struct extent {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::byte* bytes = nullptr;
    bool writable = true;
};

/// The device's memory as a kernel sees it. Addresses are opaque numbers below 0xffff'0000'0000'0000.
class memory {
public:
    virtual ~memory() = default;

    /// The host's bytes behind `bytes` bytes at `address`; null when that is illegal. The host's pointer must be
    /// aligned as the address is, up to 16.
    virtual std::byte* at(std::uint64_t address, std::size_t bytes, access how) = 0;

    /// The whole allocation around `address`, if it stays where it is as long as the kernel runs: then `at` is not
    /// asked again for what lies inside. An empty one (the default): ask `at` each time.
    virtual extent around(std::uint64_t address);
};

struct launch {
    std::array<unsigned, 3> grid{1, 1, 1};
    std::array<unsigned, 3> block{1, 1, 1};
    std::size_t dynamic_shared_bytes = 0;
    std::span<std::byte const> parameters; ///< packed as kernel::parameters says
    /// A block that runs more instructions than this in one thread faults; 0: no limit.
    std::uint64_t instruction_limit = 0;
    /// Becomes true: the run ends with fault_kind::stopped. Null: nobody stops it.
    std::atomic<bool> const* stop = nullptr;
};

enum class fault_kind : std::uint8_t {
    none,
    illegal_address,
    misaligned_address,
    invalid_address_space, ///< an atomic on local memory or on parameters
    illegal_instruction,
    trap,
    assertion,
    deadlock,
    instruction_limit,
    stopped,
    invalid_launch,
};

struct fault {
    fault_kind kind = fault_kind::none;
    std::string text; ///< kernel, instruction with its line, block, thread, address
    std::uint64_t address = 0;
    explicit operator bool() const noexcept { return kind != fault_kind::none; }
};

/// The name of a kind, "illegal address".
std::string_view to_string(fault_kind kind) noexcept;

/// Runs the whole grid on the calling thread. What it wrote before a fault stays written.
fault run(kernel const& k, launch const& l, memory& m, std::span<std::uint64_t const> global_addresses);

} // namespace omp_co_sim::ptx
