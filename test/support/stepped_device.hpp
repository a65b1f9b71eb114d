// SPDX-License-Identifier: BSL-1.0
// A device for tests whose streams advance only when told, with memory of its own and failures on demand.
//
// Commands are kept in groups: what a stream was given between two signals. One thread only.
#pragma once

#include <omp_co/backend.hpp>
#include <omp_co/detail/host_kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace omp_co_test {

namespace backend = omp_co::backend;
using omp_co::error_code;

class stepped_device;
class stepped_stream;

/// Where a failure can be asked for.
enum class fault : unsigned char {
    allocate, ///< returns null
    create_stream,
    refuse_copy_in, ///< the enqueueing call fails
    refuse_copy_out,
    refuse_launch,
    refuse_wait,
    refuse_signal, ///< and the device is lost
    run_copy_in,   ///< the command fails when it is its turn
    run_copy_out,
    run_launch,
};
inline constexpr unsigned fault_count = 10;

inline constexpr char const* fault_names[fault_count]{
    "allocate",    "create_stream", "refuse copy_in", "refuse copy_out", "refuse launch",
    "refuse wait", "refuse signal", "fail copy_in",   "fail copy_out",   "fail launch"};

struct command {
    enum class kind : unsigned char { wait, copy_in, launch, copy_out, signal };
    enum class state : unsigned char { queued, done, failed, skipped };

    explicit command(kind k) : what(k) {}

    kind what;
    state now = state::queued;
    void* device = nullptr;
    void* host = nullptr;
    std::size_t bytes = 0;
    backend::invocation const* call = nullptr;
    stepped_stream* other = nullptr;
    backend::sequence number = 0;     ///< that is signalled, or waited for
    std::vector<std::uint64_t> moved; ///< what a copy carried
};

struct command_group {
    std::vector<command> commands;
    backend::sequence number = 0;
    error_code refused;  ///< the first refusal while it was enqueued
    error_code failed;   ///< when it ran
    bool arrived = true; ///< its copies in were done by then
    bool signalled = false;
};

/// Looks on. Must not throw: the library calls these through functions that cannot fail.
class device_observer {
public:
    /// A group is complete: its signal was enqueued, or refused.
    virtual void enqueued(stepped_stream&, std::shared_ptr<command_group> const&) = 0;
    /// False: the command is not carried out, for its addresses make no sense.
    virtual bool may_run(stepped_stream&, command const&) = 0;
    /// The host has been told that everything up to `completed` is done.
    virtual void reported(stepped_stream&, backend::sequence completed) = 0;
    virtual void freeing(stepped_device&, void* block, std::size_t bytes) = 0;
    virtual void destroyed(stepped_device&) = 0;
    virtual void broken(std::string const& rule) = 0;

protected:
    ~device_observer() = default;
};

struct stepped_options {
    unsigned streams = 4;
    unsigned concurrency = 4;
    bool device_waits = true;
    bool inline_execution = false;
    std::size_t memory = 0;
    std::size_t command_limit = 0;
    bool obeys_waits = true; ///< false: to test the test
};

class stepped_stream final : public backend::stream {
public:
    stepped_stream(stepped_device& d, unsigned i)
        : device_(d), index_(i), open_(std::make_shared<command_group>())
    {
    }

    stepped_device& device() noexcept { return device_; }
    unsigned index() const noexcept { return index_; }
    bool idle() const noexcept { return groups_.empty(); }
    backend::sequence signalled() const noexcept { return enqueued_; }
    backend::sequence executed() const noexcept { return executed_; }

    error_code copy_in(void* device, void const* host, std::size_t bytes) override
    {
        command c{command::kind::copy_in};
        c.device = device;
        c.host = const_cast<void*>(host);
        c.bytes = bytes;
        return add(std::move(c), fault::refuse_copy_in);
    }
    error_code copy_out(void* host, void const* device, std::size_t bytes) override
    {
        command c{command::kind::copy_out};
        c.device = const_cast<void*>(device);
        c.host = host;
        c.bytes = bytes;
        return add(std::move(c), fault::refuse_copy_out);
    }
    error_code fill(void*, unsigned char, std::size_t) override
    {
        return make_error_code(omp_co::errc::not_supported);
    }
    error_code copy_within(void*, void const*, std::size_t) override
    {
        return make_error_code(omp_co::errc::not_supported);
    }
    error_code launch(backend::invocation const& call) override
    {
        command c{command::kind::launch};
        c.call = &call;
        return add(std::move(c), fault::refuse_launch);
    }
    inline error_code wait(backend::stream& other, backend::sequence number) override;
    inline error_code signal(backend::sequence number) override;
    inline backend::progress completed() noexcept override;
    inline backend::failure take_failure(backend::sequence number) override;
    bool arm() noexcept override
    {
        armed_ = true;
        return true;
    }

    /// Runs the next command. False: there is none, or it waits.
    inline bool advance();

private:
    inline error_code add(command c, fault f);
    inline void run(command_group& g, command& c);

    stepped_device& device_;
    unsigned index_;
    std::shared_ptr<command_group> open_;               // being enqueued
    std::deque<std::shared_ptr<command_group>> groups_; // signalled and not executed
    std::size_t next_ = 0;                              // command of the first group
    std::size_t pending_ = 0;                           // commands of groups_
    backend::sequence enqueued_ = 0;
    backend::sequence executed_ = 0;
    backend::sequence asked_ = 0;
    std::map<backend::sequence, backend::failure> failures_;
    bool armed_ = false;
};

class stepped_device final : public backend::device {
public:
    stepped_device(stepped_options const& o, device_observer& watcher) : options_(o), watcher_(&watcher)
    {
        traits_.device_waits = o.device_waits && !o.inline_execution;
        traits_.inline_execution = o.inline_execution;
        traits_.concurrency = o.concurrency;
        traits_.max_streams = o.streams;
        traits_.command_limit = o.command_limit;
        traits_.memory_limit = o.memory;
    }
    ~stepped_device() override
    {
        if (!blocks_.empty() && !lost_)
            watcher_->broken("the device was destroyed with blocks that nobody gave back");
        watcher_->destroyed(*this);
        for (auto const& [block, bytes] : blocks_) ::operator delete(block, alignment);
    }

    omp_co::backend_kind kind() const noexcept override { return omp_co::backend_kind::host; }
    std::string name() const override { return "stepped"; }
    backend::properties const& traits() const noexcept override { return traits_; }

    void* allocate(std::size_t bytes) noexcept override
    {
        if (lost_ || strikes(fault::allocate)) return nullptr;
        if (options_.memory != 0 && bytes > options_.memory - taken_) return nullptr;
        void* const block = ::operator new(bytes, alignment);
        std::memset(block, 0xA5, bytes);
        taken_ += bytes;
        blocks_.emplace(static_cast<char*>(block), bytes);
        return block;
    }

    void deallocate(void* block, std::size_t bytes) noexcept override
    {
        auto const it = blocks_.find(static_cast<char*>(block));
        if (it == blocks_.end() || it->second != bytes)
            return watcher_->broken("a block was given back that the device did not hand out");
        watcher_->freeing(*this, block, bytes);
        std::memset(block, 0x5A, bytes);
        blocks_.erase(it);
        taken_ -= bytes;
        ::operator delete(block, alignment);
    }

    std::unique_ptr<backend::stream> create_stream(error_code& ec) override
    {
        if (error_code const code = strikes(fault::create_stream)) {
            ec = code;
            return nullptr;
        }
        auto made = std::make_unique<stepped_stream>(*this, static_cast<unsigned>(streams_.size()));
        streams_.push_back(made.get());
        return made;
    }

    void set_wakeup(backend::wakeup target) noexcept override { wakeup_ = target; }
    void stop() noexcept override {}

    // What tests use.

    /// The `countdown`th time from now, `f` happens, with `code`. Once.
    void inject(fault f, unsigned countdown, error_code code) { armed_.push_back({f, countdown, code}); }
    void forget_faults() noexcept { armed_.clear(); }

    /// Nothing runs any more; every question answers `code`.
    void lose(error_code code) noexcept
    {
        if (!lost_) lost_ = code;
    }
    error_code lost() const noexcept override { return lost_; }

    /// Each question how far a stream is runs everything first: for code that blocks until regions retire.
    void run_by_itself(bool on) noexcept { by_itself_ = on; }

    std::vector<stepped_stream*> const& streams() const noexcept { return streams_; }
    std::size_t blocks() const noexcept { return blocks_.size(); }

    /// Whether all of [at, at + bytes) lies in one block.
    bool holds(void const* at, std::size_t bytes) const noexcept
    {
        char* const begin = static_cast<char*>(const_cast<void*>(at));
        auto it = blocks_.upper_bound(begin);
        if (it == blocks_.begin()) return false;
        --it;
        return begin + bytes <= it->first + it->second;
    }

    bool run_all()
    {
        bool moved = false;
        for (bool again = true; again;) {
            again = false;
            for (stepped_stream* s : streams_) again |= s->advance();
            moved |= again;
        }
        return moved;
    }

private:
    friend class stepped_stream;

    static constexpr std::align_val_t alignment{64};

    struct armed_fault {
        fault where;
        unsigned countdown;
        error_code code;
    };

    error_code strikes(fault f)
    {
        error_code code;
        std::erase_if(armed_, [&](armed_fault& a) {
            if (a.where != f || --a.countdown != 0) return false;
            code = a.code;
            return true;
        });
        return code;
    }

    stepped_options options_;
    backend::properties traits_;
    backend::wakeup wakeup_;
    device_observer* watcher_;
    std::vector<stepped_stream*> streams_;
    std::map<char*, std::size_t> blocks_;
    std::vector<armed_fault> armed_;
    std::size_t taken_ = 0;
    error_code lost_;
    bool by_itself_ = false;
};

inline error_code stepped_stream::add(command c, fault f)
{
    error_code ec = device_.lost_;
    if (!ec) ec = device_.strikes(f);
    if (ec) {
        if (!open_->refused) open_->refused = ec;
        return ec;
    }
    std::size_t const limit = device_.options_.command_limit;
    if (limit != 0 && pending_ != 0 && pending_ + open_->commands.size() + 1 > limit)
        device_.watcher_->broken("more commands than the stream takes: the enqueueing call would block");
    open_->commands.push_back(std::move(c));
    if (device_.options_.inline_execution) run(*open_, open_->commands.back());
    return {};
}

inline error_code stepped_stream::wait(backend::stream& other, backend::sequence number)
{
    auto& awaited = static_cast<stepped_stream&>(other);
    if (!device_.traits_.device_waits) device_.watcher_->broken("a wait on a device that cannot wait");
    if (&awaited.device_ != &device_) device_.watcher_->broken("a wait for another device's stream");
    if (number > awaited.enqueued_) device_.watcher_->broken("a wait names a signal that is not enqueued");
    command c{command::kind::wait};
    c.other = &awaited;
    c.number = number;
    return add(std::move(c), fault::refuse_wait);
}

inline error_code stepped_stream::signal(backend::sequence number)
{
    if (number != enqueued_ + 1) device_.watcher_->broken("the signals of a stream are not 1, 2, 3, …");
    command c{command::kind::signal};
    c.number = number;
    if (error_code const ec = add(std::move(c), fault::refuse_signal)) {
        device_.lose(ec);
        open_->number = number;
        device_.watcher_->enqueued(*this, std::exchange(open_, std::make_shared<command_group>()));
        return ec;
    }
    enqueued_ = number;
    open_->number = number;
    open_->signalled = true;
    std::shared_ptr<command_group> const g = std::exchange(open_, std::make_shared<command_group>());
    device_.watcher_->enqueued(*this, g);
    if (device_.options_.inline_execution) return {};
    pending_ += g->commands.size();
    groups_.push_back(g);
    return {};
}

inline bool stepped_stream::advance()
{
    if (device_.lost_ || groups_.empty()) return false;
    command_group& g = *groups_.front();
    command& c = g.commands[next_];
    if (c.what == command::kind::wait && c.other->executed_ < c.number && device_.options_.obeys_waits)
        return false;
    run(g, c);
    --pending_;
    if (++next_ == g.commands.size()) {
        next_ = 0;
        groups_.pop_front();
    }
    return true;
}

inline void stepped_stream::run(command_group& g, command& c)
{
    c.now = command::state::done;
    if (c.what == command::kind::wait) return;
    if (c.what == command::kind::signal) {
        if (g.failed) failures_[c.number] = {g.failed, "injected", g.arrived};
        executed_ = c.number;
        if (std::exchange(armed_, false)) device_.wakeup_.call(device_.wakeup_.context);
        return;
    }
    if (g.failed) {
        c.now = command::state::skipped;
        return;
    }
    fault const f = c.what == command::kind::copy_in    ? fault::run_copy_in
                    : c.what == command::kind::copy_out ? fault::run_copy_out
                                                        : fault::run_launch;
    if (error_code const ec = device_.strikes(f)) {
        g.failed = ec;
        g.arrived = c.what != command::kind::copy_in;
        c.now = command::state::failed;
        return;
    }
    if (!device_.watcher_->may_run(*this, c)) return;
    if (c.what == command::kind::launch) {
        static_cast<omp_co::detail::host_kernel const*>(c.call->what)->run(*c.call, 0, 1, nullptr);
        return;
    }
    void* const target = c.what == command::kind::copy_in ? c.device : c.host;
    std::memcpy(target, c.what == command::kind::copy_in ? c.host : c.device, c.bytes);
    c.moved.resize(c.bytes / sizeof(std::uint64_t));
    if (!c.moved.empty()) std::memcpy(c.moved.data(), target, c.moved.size() * sizeof(std::uint64_t));
}

inline backend::progress stepped_stream::completed() noexcept
{
    if (device_.by_itself_) device_.run_all();
    device_.watcher_->reported(*this, executed_);
    return {executed_, !failures_.empty(), device_.lost_};
}

inline backend::failure stepped_stream::take_failure(backend::sequence number)
{
    if (number > executed_) device_.watcher_->broken("take_failure before the signal has completed");
    if (number <= asked_) device_.watcher_->broken("take_failure twice for one signal, or out of order");
    asked_ = number;
    auto const it = failures_.find(number);
    if (it == failures_.end()) return {};
    backend::failure const f = it->second;
    failures_.erase(it);
    return f;
}

} // namespace omp_co_test
