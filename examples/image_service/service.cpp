// SPDX-License-Identifier: BSL-1.0
// One picture's way through the service: measure, decode, blur on the device, encode.
#include "service.hpp"
#include "blur.hpp"
#include "page.hpp"
#include "png.hpp"
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>

namespace asio = boost::asio;

namespace {

template <class Function>
asio::awaitable<std::invoke_result_t<Function>> call(Function function)
{
    co_return function();
}

// Runs `function` on the pool and comes back to the awaiting executor with its result or exception.
template <class Function>
asio::awaitable<std::invoke_result_t<Function>> on_pool(asio::thread_pool& pool, Function function)
{
    auto work = call(function);
    co_return co_await asio::co_spawn(pool, std::move(work), asio::use_awaitable);
}

// One picture among those at work, for as long as it lives.
class at_work {
public:
    at_work(service_stats& stats, std::uint64_t& pixels_at_work, std::uint64_t pixels)
        : stats_(stats), pixels_at_work_(pixels_at_work), pixels_(pixels)
    {
        pixels_at_work_ += pixels_;
        stats_.begin_picture();
    }
    at_work(at_work const&) = delete;
    at_work& operator=(at_work const&) = delete;
    ~at_work()
    {
        stats_.end_picture();
        pixels_at_work_ -= pixels_;
    }

private:
    service_stats& stats_;
    std::uint64_t& pixels_at_work_;
    std::uint64_t pixels_;
};

} // namespace

image_service::image_service(omp_co::device device, asio::thread_pool& codecs, histogram const& lateness_us,
                             limits bounds)
    : device_(device), codecs_(codecs), bounds_(bounds), stats_(device, lateness_us)
{
}

asio::awaitable<reply> image_service::answer(route where, std::string body)
{
    if (std::holds_alternative<show_page>(where))
        co_return reply(200, "text/html; charset=utf-8", std::string(page()));
    if (std::holds_alternative<show_stats>(where)) co_return reply(200, "application/json", stats_.json());
    if (reply* refusal = std::get_if<reply>(&where)) co_return std::move(*refusal);

    unsigned const radius = std::get<blur_picture>(where).radius;
    if (body.empty()) co_return reply::text(400, "no picture: send a PNG as the body");
    try {
        co_return co_await blur_upload(body, radius);
    } catch (not_a_png const& e) {
        co_return reply::text(415, e.what());
    } catch (broken_png const& e) {
        co_return reply::text(400, e.what());
    } catch (boost::system::system_error const& e) {
        bool const later = e.code() == omp_co::errc::out_of_memory;
        co_return reply::text(later ? 503 : 500, "the device failed: " + e.code().message());
    } catch (std::bad_alloc const&) {
        co_return reply::text(503, "out of memory: try again");
    } catch (std::exception const& e) {
        co_return reply::text(500, e.what());
    }
}

asio::awaitable<reply> image_service::blur_upload(std::string const& file, unsigned radius)
{
    using clock = std::chrono::steady_clock;
    auto const start = clock::now();

    png_size const size = measure_png(file);
    std::uint64_t const pixels = std::uint64_t{size.width} * size.height;
    if (pixels > bounds_.pixels)
        co_return reply::text(413, "the picture is too large: at most " + std::to_string(bounds_.pixels) +
                                       " pixels");
    if (pixels_at_work_ + pixels > bounds_.pixels_at_work) co_return reply::text(503, "busy: try again");
    at_work const mark(stats_, pixels_at_work_, pixels);

    auto prepare = [&file, radius] { return std::make_unique<blur_job>(decode_png(file), radius); };
    std::unique_ptr<blur_job> job = co_await on_pool(codecs_, prepare);
    co_await job->run(device_);

    picture_record record;
    record.width = size.width;
    record.height = size.height;
    record.radius = radius;
    record.device_ms = job->milliseconds();
    record.bytes_moved = job->bytes_moved();
    auto finish = [&job] {
        std::string encoded = encode_png(job->result());
        job.reset();
        return encoded;
    };
    std::string png = co_await on_pool(codecs_, finish);

    record.total_ms = std::chrono::duration<double, std::milli>(clock::now() - start).count();
    stats_.add(record);
    co_return reply(200, "image/png", std::move(png));
}
