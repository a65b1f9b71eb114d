// SPDX-License-Identifier: BSL-1.0
// What a backend must provide: devices with memory, in-order streams of commands, and word of their completion.
//
// Drawn with the CUDA driver, the HIP runtime, OpenCL and plain threads at hand. Nothing here knows Asio or the
// present table, and nothing assumes how a backend finds out that a command is done: a written memory word, an
// event, a status with a flush, or an atomic.
#pragma once

#include <omp_co/detail/timing.hpp>
#include <omp_co/error.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace omp_co {

/// The kinds of device.
enum class backend_kind : unsigned char { host, cuda, hip, opencl, other };

inline constexpr std::size_t backend_kinds = 5;

/// As it is written in messages and in namespaces.
constexpr char const* to_string(backend_kind kind) noexcept
{
    constexpr char const* names[backend_kinds]{"host", "cuda", "hip", "opencl", "other"};
    return names[static_cast<std::size_t>(kind)];
}

} // namespace omp_co

namespace omp_co::backend {

/// Numbers the signals of one stream: 1, 2, 3, …; 0 is before the first.
using sequence = std::uint64_t;

/// The iteration space of a kernel, x fastest. `dimensions` 0: the kernel runs once and takes no index.
struct extents {
    unsigned dimensions = 0;
    std::size_t count[3]{1, 1, 1};

    constexpr std::size_t total() const noexcept { return count[0] * count[1] * count[2]; }

    /// Whether total() is what it says: at most 2^63 - 1.
    constexpr bool countable() const noexcept
    {
        std::size_t left = ~std::size_t{0} / 2;
        bool fits = true;
        for (std::size_t const n : count) {
            if (n == 0) return true;
            fits = fits && n <= left;
            left /= n;
        }
        return fits;
    }
};

/// How many teams of how many threads run a kernel, x fastest.
struct team_shape {
    std::size_t teams[3]{1, 1, 1};
    std::size_t threads[3]{1, 1, 1};
    std::size_t shared_bytes = 0; ///< of a team's memory, beside what the kernel declares
};

/// A box of up to three dimensions inside an array on the host and one on the device: `slices` times `rows` rows of `row`
/// bytes each. Neighbouring rows, and neighbouring slices, begin as many bytes apart as each side says.
struct box {
    struct strides {
        std::size_t row = 0;
        std::size_t slice = 0;
    };
    std::size_t row = 0;
    std::size_t rows = 1;
    std::size_t slices = 1;
    strides host;
    strides device;

    std::size_t bytes() const noexcept { return row * rows * slices; }

    /// From its first byte to its last one on the side with these strides.
    std::size_t reach(strides s) const noexcept
    {
        return bytes() == 0 ? 0 : (slices - 1) * s.slice + (rows - 1) * s.row + row;
    }

    /// Calls `f(on the device, on the host)` with where each row begins, as offsets.
    template <class F>
    void for_each_row(F f) const
    {
        for (std::size_t z = 0; z < slices; ++z)
            for (std::size_t y = 0; y < rows; ++y)
                f(z * device.slice + y * device.row, z * host.slice + y * host.row);
    }
};

/// A kernel variant; each backend derives its own and recognises it by `kind`.
struct kernel {
    backend_kind kind;
    unsigned ranges = 0xF; ///< bit d: can run over a range of d dimensions
};

/// What makes partial results of a call one (host variants). They lie in the private memory of each part.
struct reduction {
    void const* context = nullptr;
    void (*begin)(void const* context, void* private_memory) = nullptr;
    void (*combine)(void const* context, void const* private_memory) = nullptr; ///< in the order of the parts
};

/// One kernel invocation. Everything it points to stays alive until the region's signal has completed. First what a host's
/// worker reads: it comes from another core, line by line.
struct invocation {
    kernel const* what = nullptr;
    void const* closure = nullptr;    ///< host variants: the callable
    void* const* arguments = nullptr; ///< the address of each argument's value, as cuLaunchKernel takes them
    reduction const* reduce = nullptr;
    std::size_t scratch_bytes = 0; ///< private memory a worker, or a part if it reduces (host variants)
    extents range;
    std::uint64_t private_arguments = 0; ///< bit i: argument i is an offset in that memory
    std::size_t const* argument_sizes = nullptr;
    unsigned argument_count = 0;
    team_shape const* teams = nullptr; ///< null: the backend divides the range
};

/// How far a stream has come: every signal up to `completed` is done. `failures`: some of their regions may have failed
/// while the device lives on. `error` set: the device is lost.
struct progress {
    sequence completed = 0;
    bool failures = false;
    error_code error;
};

/// Why one region's commands failed while its device lives on.
struct failure {
    error_code error;
    std::string what;
    bool arrived = true; ///< its copies in were done before it failed
};

class device;

/// An in-order sequence of commands. One thread at a time enqueues (the caller sees to that); `completed`,
/// `take_failure` and `arm` may run beside it, one thread at a time.
///
/// An enqueueing function that returns an error has enqueued nothing. After a command failed, the backend skips
/// the stream's commands up to the next signal where it can; the signal itself always completes, unless the
/// device is lost.
class stream {
public:
    stream() = default;
    stream(stream const&) = delete;
    stream& operator=(stream const&) = delete;
    virtual ~stream() = default;

    virtual error_code copy_in(void* device, void const* host, std::size_t bytes) = 0;
    virtual error_code copy_out(void* host, void const* device, std::size_t bytes) = 0;
    virtual error_code copy_within(void* to, void const* from, std::size_t bytes) = 0;
    virtual error_code fill(void* device, unsigned char value, std::size_t bytes) = 0;
    virtual error_code launch(invocation const& call) = 0;

    /// Copy a box, which stays alive until the region's signal has completed. A backend without pitched copies leaves these as
    /// they are, a copy a row; one with them says so by `properties::box_stride_limit`.
    virtual error_code copy_box_in(void* device, void const* host, box const& shape)
    {
        return copy_rows_in(device, host, shape);
    }
    virtual error_code copy_box_out(void* host, void const* device, box const& shape)
    {
        return copy_rows_out(host, device, shape);
    }

    /// The same within the device; the strides of the source are those called the host's.
    virtual error_code copy_box_within(void* to, void const* from, box const& shape)
    {
        return copy_rows_within(to, from, shape);
    }

    /// The same, a copy a row, on any backend.
    error_code copy_rows_in(void* device, void const* host, box const& shape)
    {
        error_code ec;
        shape.for_each_row([&](std::size_t to, std::size_t from) {
            if (!ec)
                ec = copy_in(static_cast<char*>(device) + to, static_cast<char const*>(host) + from,
                             shape.row);
        });
        return ec;
    }
    error_code copy_rows_out(void* host, void const* device, box const& shape)
    {
        error_code ec;
        shape.for_each_row([&](std::size_t from, std::size_t to) {
            if (!ec)
                ec = copy_out(static_cast<char*>(host) + to, static_cast<char const*>(device) + from,
                              shape.row);
        });
        return ec;
    }

    error_code copy_rows_within(void* to, void const* from, box const& shape)
    {
        error_code ec;
        shape.for_each_row([&](std::size_t to_at, std::size_t from_at) {
            if (!ec)
                ec = copy_within(static_cast<char*>(to) + to_at, static_cast<char const*>(from) + from_at,
                                 shape.row);
        });
        return ec;
    }

    /// Copies from another device that this one reads.
    virtual error_code copy_from(void* to, device& other, void const* from, std::size_t bytes);

    /// Later commands wait for `other`'s signal `number`, which is already enqueued. Only where
    /// `properties::device_waits`.
    virtual error_code wait(stream& other, sequence number) = 0;

    /// Ends a region: `completed` reaches `number` once everything before it is done. The numbers of a stream, those of `mark` among
    /// them, are 1, 2, 3, ….
    virtual error_code signal(sequence number) = 0;

    /// The same inside a series of regions, or within a region: after a failure the backend skips commands beyond it where it can, up
    /// to the next `signal`.
    virtual error_code mark(sequence number) { return signal(number); }

    /// Measures the commands between the two; `call` is the region's, null if it has none: what must be loaded for it is loaded
    /// before. Once a later signal has completed, `measure` says what came out, and gives back what that took; it is called once
    /// for each end_timing. A backend that cannot measure leaves all three as they are.
    virtual error_code begin_timing(timing& t, invocation const* call)
    {
        static_cast<void>(t);
        static_cast<void>(call);
        return {};
    }
    virtual error_code end_timing(timing& t)
    {
        static_cast<void>(t);
        return {};
    }
    virtual void measure(timing& t) noexcept { static_cast<void>(t); }

    /// Whether what comes after this call in a stream that was adopted comes behind signal `number`, whoever puts it there.
    virtual bool handed_over(sequence number) const noexcept
    {
        static_cast<void>(number);
        return true;
    }

    /// Asks how far the stream has come; never blocks.
    virtual progress completed() noexcept = 0;

    /// Tells why the region that ended with `number`, a completed signal, failed; no error if it did not. Asked at
    /// most once a signal, when `progress::failures` says so.
    virtual failure take_failure(sequence number) = 0;

    /// The same as soon as `signal` has returned, for commands that were refused only then; else no error. What it tells,
    /// `take_failure` does not tell again. Only where `properties::refuses_at_signal`.
    virtual failure refused(sequence number)
    {
        static_cast<void>(number);
        return {};
    }

    /// False: `refused` has nothing to tell. Asked for every region.
    virtual bool refuses() const noexcept { return true; }

    /// Asks for one call of the device's wake-up after a signal later than those that `completed` told of. May
    /// be spurious, carries no status, and may never come: the caller looks again in any case after a while.
    /// False: not possible, keep asking.
    virtual bool arm() noexcept = 0;
};

/// The strictest alignment that an element may ask for: what every kind of device grants (CUDA's allocators, 256 bytes).
inline constexpr std::size_t largest_alignment = 256;

/// How a block of `bytes` bytes is aligned: as its elements may ask for, since none is larger than the block, and at least to
/// a cache line.
constexpr std::size_t block_alignment(std::size_t bytes) noexcept
{
    return std::clamp(std::bit_floor(bytes), std::size_t{64}, largest_alignment);
}

/// What the layers above need to know to use a device well.
struct properties {
    bool unified_memory = false;   ///< device addresses are host addresses: no copies
    bool host_accessible = false;  ///< the host may read and write what allocate() gives
    bool device_waits = true;      ///< a stream can wait for another one's signal
    bool inline_execution = false; ///< commands run in the call that enqueues them; small copies under a lock
    bool quick_enqueueing =
        false; ///< a command takes no longer to enqueue than a lock to be given up and taken again
    bool refuses_at_signal =
        false; ///< commands may turn out to be impossible when their region's signal is enqueued
    std::size_t box_stride_limit =
        0; ///< boxes whose rows begin no further apart are one command, others one a row
    bool stages_copies =
        false; ///< host memory may be read when a copy is enqueued, and be written when its region has retired
    unsigned concurrency = 1; ///< streams that can make progress side by side
    unsigned max_streams = 64;
    std::size_t command_limit = 0; ///< commands a stream takes before enqueueing blocks; 0: any number
    std::size_t memory_limit = 0;  ///< bytes of device memory, 0: not known
};

/// Called, from any thread, when an armed stream has moved.
struct wakeup {
    void (*call)(void*) noexcept = nullptr;
    void* context = nullptr;
};

/// A block for a caller that cannot wait. `coming`: another thread is asking for it, and the wake-up is called once it knows;
/// then ask again.
struct supply {
    void* block = nullptr;
    bool coming = false;
    error_code why{}; ///< there is neither, if it is not that memory is short
};

/// For a device that checks how its program uses host memory: what the layers above know of that. Called with the device's
/// lock held.
class host_watch {
public:
    /// From now on these bytes have a copy on the device.
    virtual void mapped(void* host, void* device, std::size_t bytes) noexcept = 0;

    /// No longer; `host` is what `mapped` said, and what was outdated in it is what there is.
    virtual void unmapped(void* host) noexcept = 0;

    /// The device has changed its copy of these mapped bytes: a finished kernel had them to write, or a copy was made there.
    virtual void outdated(void* host, std::size_t bytes) noexcept = 0;

    /// They are equal again: a finished region has copied them out.
    virtual void renewed(void* host, std::size_t bytes) noexcept = 0;

protected:
    ~host_watch() = default;
};

/// Who is going to use memory of a device.
enum class memory_user : unsigned char {
    regions,
    program ///< beside regions, streams of its own and other libraries
};

/// A device. The functions that allocate and create may be called from any thread, one at a time.
class device {
public:
    device() = default;
    device(device const&) = delete;
    device& operator=(device const&) = delete;

    /// Nothing is in flight any more when a device is destroyed.
    virtual ~device() = default;

    virtual backend_kind kind() const noexcept = 0;
    virtual std::string name() const = 0;
    virtual properties const& traits() const noexcept = 0;

    /// At least `bytes` bytes, aligned to `block_alignment(bytes)`; null when there are none.
    virtual void* allocate(std::size_t bytes) noexcept = 0;

    /// The same without keeping its caller, who may be an event loop, for long. Memory for `memory_user::regions` may be there for this
    /// device's streams alone at first.
    virtual supply allocate_quickly(std::size_t bytes, memory_user u) noexcept
    {
        static_cast<void>(u);
        return {allocate(bytes), false};
    }

    /// Whether all that was allocated is there for everybody. If it is not, a wake-up follows when it is.
    virtual bool settled() noexcept { return true; }

    /// Comes back when that is so.
    virtual void settle() noexcept {}

    virtual void deallocate(void* block, std::size_t bytes) noexcept = 0;

    /// Whether the host itself reads and writes what lies at `p`, which is no memory that allocate() has given.
    virtual bool host_reaches(void const* p) noexcept
    {
        static_cast<void>(p);
        return traits().host_accessible;
    }

    virtual std::unique_ptr<stream> create_stream(error_code& error) = 0;

    /// A stream that somebody else has made and keeps; `native` is the driver's handle. Its commands mix with theirs: see
    /// `stream::handed_over`. Destroyed when nothing of it is in flight, maybe after theirs.
    virtual std::unique_ptr<stream> adopt_stream(void* native, error_code& error)
    {
        static_cast<void>(native);
        error = make_error_code(errc::not_supported);
        return nullptr;
    }

    /// Why the device can do nothing any more, as soon as any call has found that out.
    virtual error_code lost() const noexcept { return {}; }

    /// Whether its streams can copy from that device's memory.
    virtual bool reads(device& other) const noexcept
    {
        static_cast<void>(other);
        return false;
    }

    virtual void set_wakeup(wakeup target) noexcept = 0;

    /// Whom to tell of host memory; null, as on most devices: nobody. The same one as long as the device lives. Only for
    /// devices with inline_execution, else what it hears is late.
    virtual host_watch* watch() noexcept { return nullptr; }

    /// Called once, when nothing is in flight and before the streams are destroyed: afterwards no thread of the backend
    /// touches them.
    virtual void stop() noexcept = 0;
};

inline error_code stream::copy_from(void*, device&, void const*, std::size_t)
{
    return make_error_code(errc::not_supported);
}

} // namespace omp_co::backend
