// SPDX-License-Identifier: BSL-1.0
// Values written to memory, and waited for there, by a stream.
#include "command_memory.hpp"
#include "commands.hpp"
#include "driver.hpp"

#include <atomic>
#include <cstdint>

using namespace omp_co_sim;

namespace {

template <class Word>
class write_value final : public command {
public:
    write_value(std::shared_ptr<allocation> where, std::byte* at, Word value)
        : where_(std::move(where)), at_(reinterpret_cast<Word*>(at)), value_(value)
    {
    }
    weight how() const override { return weight::light; }
    outcome run() override
    {
        std::atomic_ref<Word>(*at_).store(value_, std::memory_order_release);
        return {};
    }

private:
    std::shared_ptr<allocation> where_;
    Word* at_;
    Word value_;
};

template <class Word>
class wait_value final : public command {
public:
    wait_value(std::shared_ptr<allocation> where, std::byte* at, Word value, unsigned how)
        : where_(std::move(where)), at_(reinterpret_cast<Word*>(at)), value_(value), compare_(how)
    {
    }
    weight how() const override { return weight::light; }
    bool ready() override
    {
        using Signed = std::make_signed_t<Word>;
        Word const seen = std::atomic_ref<Word>(*at_).load(std::memory_order_acquire);
        switch (compare_) {
        case CU_STREAM_WAIT_VALUE_EQ:
            return seen == value_;
        case CU_STREAM_WAIT_VALUE_AND:
            return (seen & value_) != 0;
        case CU_STREAM_WAIT_VALUE_NOR:
            return static_cast<Word>(~(seen | value_)) != 0;
        default:
            return static_cast<Signed>(seen - value_) >= 0;
        }
    }

private:
    std::shared_ptr<allocation> where_;
    Word* at_;
    Word value_;
    unsigned compare_;
};

void must_be_supported(session& s)
{
    if (s.sim.config.write_value) return;
    s.misuse("the device does not have stream memory operations");
    throw failure{CUDA_ERROR_NOT_SUPPORTED};
}

template <class Word>
std::pair<std::shared_ptr<allocation>, std::byte*> word_at(session& s, CUdeviceptr address)
{
    require(address % sizeof(Word) == 0);
    auto const& a = s.sim.memory.find_again(address);
    require(a && a->end() - address >= sizeof(Word));
    auto* const at = a->bytes.get() + (address - a->base);
    return {a, at};
}

template <class Word>
std::shared_ptr<command> make_write(session& s, CUdeviceptr address, Word value, unsigned flags)
{
    // Without the memory barrier the write may come before earlier ones, but need not.
    require(flags <= CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    auto [where, at] = word_at<Word>(s, address);
    return make_command<write_value<Word>>(std::move(where), at, value);
}

template <class Word>
std::shared_ptr<command> make_wait(session& s, CUdeviceptr address, Word value, unsigned flags)
{
    require((flags & CU_STREAM_WAIT_VALUE_FLUSH) == 0, CUDA_ERROR_NOT_SUPPORTED);
    require(flags <= CU_STREAM_WAIT_VALUE_NOR);
    auto [where, at] = word_at<Word>(s, address);
    return std::make_shared<wait_value<Word>>(std::move(where), at, value, flags);
}

std::shared_ptr<command> make(session& s, CUstreamBatchMemOpParams const& p)
{
    switch (p.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return make_wait<std::uint32_t>(s, p.waitValue.address, p.waitValue.value, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return make_wait<std::uint64_t>(s, p.waitValue.address, p.waitValue.value64, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return make_write<std::uint32_t>(s, p.writeValue.address, p.writeValue.value, p.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return make_write<std::uint64_t>(s, p.writeValue.address, p.writeValue.value64, p.writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
        return std::make_shared<marker>();
    default:
        throw failure{CUDA_ERROR_NOT_SUPPORTED};
    }
}

} // namespace

extern "C" {

CUresult cuStreamWriteValue32_v2(CUstream handle, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
    return call(id_cuStreamWriteValue32_v2, [&](session& s) {
        auto const& st = s.find(handle);
        must_be_supported(s);
        s.enqueue(*st, make_write<std::uint32_t>(s, address, value, flags));
        return CUDA_SUCCESS;
    });
}

[[gnu::hot]] CUresult cuStreamWriteValue64_v2(CUstream handle, CUdeviceptr address, cuuint64_t value,
                                              unsigned int flags)
{
    return call(id_cuStreamWriteValue64_v2, [&](session& s) {
        auto const& st = s.find(handle);
        must_be_supported(s);
        s.enqueue(*st, make_write<std::uint64_t>(s, address, value, flags));
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamWaitValue32_v2(CUstream handle, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
    return call(id_cuStreamWaitValue32_v2, [&](session& s) {
        auto const st = s.find(handle);
        must_be_supported(s);
        s.enqueue(*st, make_wait<std::uint32_t>(s, address, value, flags));
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamWaitValue64_v2(CUstream handle, CUdeviceptr address, cuuint64_t value, unsigned int flags)
{
    return call(id_cuStreamWaitValue64_v2, [&](session& s) {
        auto const st = s.find(handle);
        must_be_supported(s);
        s.enqueue(*st, make_wait<std::uint64_t>(s, address, value, flags));
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamBatchMemOp_v2(CUstream handle, unsigned int count, CUstreamBatchMemOpParams* operations,
                               unsigned int flags)
{
    return call(id_cuStreamBatchMemOp_v2, [&](session& s) {
        require(flags == 0 && count <= 256 && (count == 0 || operations));
        auto const st = s.find(handle);
        must_be_supported(s);
        std::vector<std::shared_ptr<command>> all;
        for (unsigned i = 0; i < count; ++i) all.push_back(make(s, operations[i]));
        for (auto const& c : all) s.enqueue(*st, c);
        return CUDA_SUCCESS;
    });
}

} // extern "C"
