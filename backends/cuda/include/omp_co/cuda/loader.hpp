// SPDX-License-Identifier: BSL-1.0
// Builds and loads device code, and finds kernels in it: the slow calls, made by one thread.
#pragma once

#include <omp_co/cuda/code.hpp>
#include <omp_co/cuda/context.hpp>
#include <omp_co/cuda/limits.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omp_co::cuda::engine {

/// A kernel on one device, and what a launch must know of it.
struct kernel_facts {
    driver::function_handle function = nullptr;
    std::string name;
    unsigned max_threads = 0;      ///< of a block
    std::size_t static_shared = 0; ///< bytes of a block
    bool parameters_known = false;
    std::vector<std::size_t> parameter_sizes;
    error_code error;
    std::string words;
};

/// The modules of one device. One thread at a time, with no lock held: a call may take a second.
class loader {
public:
    loader(context& c, limits const& l) noexcept : context_(c), limits_(l) {}
    loader(loader const&) = delete;
    loader& operator=(loader const&) = delete;

    kernel_facts load(std::shared_ptr<code const> const& from, std::string const& function)
    {
        kernel_facts facts;
        facts.name = function;
        current in(context_);
        if (!in) {
            facts.error = in.state();
            return facts;
        }
        bool const plain = is_identifier(function);
        if (plain || !from->has_expressions()) find_in(module_for(*from, function, false), facts);
        if (from->has_expressions() && (!plain || facts.error == driver::result::not_found)) {
            kernel_facts by_expression;
            by_expression.name = function;
            find_in(module_for(*from, function, true), by_expression);
            if (!plain || !by_expression.error) return by_expression;
        }
        return facts;
    }

    /// Nothing runs any more, and the context is current.
    void release() noexcept
    {
        if (!context_.gone())
            for (auto& [key, m] : modules_)
                if (m.handle != nullptr) (void)context_.driver().module_unload(m.handle);
        modules_.clear();
    }

private:
    struct loaded {
        driver::module_handle handle = nullptr;
        std::string function; // for an expression: its name in the module
        error_code error;
        std::string words;
    };

    static bool is_identifier(std::string const& name) noexcept
    {
        for (char const c : name) {
            bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!letter && c != '_' && c != '$') return false;
        }
        return !name.empty();
    }

    // A module for each code, and one more for each expression. What failed for good is not tried again.
    loaded& module_for(code const& from, std::string const& function, bool expression)
    {
        loaded& m = modules_[{from.identity(), expression ? function : std::string()}];
        if (m.handle != nullptr || m.error == errc::kernel_unavailable) return m;
        m = {};
        for (unsigned way = 0; way < from.ways(); ++way) {
            built_code const built = from.build(way, limits_.architecture, function, expression);
            m.error = built.error;
            m.words = built.words;
            if (built.error) break;
            if (expression) m.function = built.function;
            if (load_module(m, built.bytes) || context_.lost() != result::success) break;
            if (m.error != errc::kernel_unavailable) break; // another way would not help
        }
        return m;
    }

    bool load_module(loaded& m, std::string const& bytes)
    {
        std::string log(std::size_t{16} << 10, '\0');
        driver::jit_option options[]{driver::jit_option::error_log_buffer,
                                     driver::jit_option::error_log_buffer_size_bytes};
        void* values[]{log.data(), reinterpret_cast<void*>(log.size())};
        result const r = context_.driver().module_load_data_ex(&m.handle, bytes.c_str(), 2, options, values);
        if (context_.check(r)) {
            m.error = {};
            m.words.clear();
            return true;
        }
        m.handle = nullptr;
        m.error = r;
        std::string const device = limits_.name + " (compute capability " +
                                   std::to_string(limits_.architecture / 10) + '.' +
                                   std::to_string(limits_.architecture % 10) + ")";
        m.words = r == result::no_binary_for_gpu ? "the image has no code for " + device
                                                 : "the image was not loaded on " + device;
        std::string_view const said(log.c_str());
        if (!said.empty()) m.words.append(": ").append(said);
        return false;
    }

    void find_in(loaded const& m, kernel_facts& facts) const
    {
        driver::api const& d = context_.driver();
        if (m.error) {
            facts.error = m.error;
            facts.words = m.words;
            return;
        }
        result r = d.module_get_function(&facts.function, m.handle,
                                         m.function.empty() ? facts.name.c_str() : m.function.c_str());
        if (!context_.check(r)) {
            facts.error = r;
            facts.words = "the image has no kernel of this name" + names_in(m);
            return;
        }
        if (d.func_load)
            r = d.func_load(facts.function); // else the first launch would load it, and could block
        if (!context_.check(r)) {
            facts.error = r;
            return;
        }
        facts.max_threads = static_cast<unsigned>(
            attribute(driver::function_attribute::max_threads_per_block, facts.function));
        facts.static_shared = static_cast<std::size_t>(
            attribute(driver::function_attribute::shared_size_bytes, facts.function));
        if (facts.max_threads == 0) facts.max_threads = limits_.max_threads;
        read_parameters(facts);
    }

    void read_parameters(kernel_facts& facts) const
    {
        driver::api const& d = context_.driver();
        if (!d.func_get_param_info) return;
        for (std::size_t i = 0;; ++i) {
            std::size_t offset = 0;
            std::size_t size = 0;
            result const r = d.func_get_param_info(facts.function, i, &offset, &size);
            if (r == result::invalid_value) break; // the index after the last one
            if (!context_.check(r)) return;
            facts.parameter_sizes.push_back(size);
        }
        facts.parameters_known = true;
    }

    int attribute(driver::function_attribute a, driver::function_handle f) const noexcept
    {
        int value = 0;
        return context_.check(context_.driver().func_get_attribute(&value, a, f)) ? value : 0;
    }

    // "; it has a, b", where the driver can tell.
    std::string names_in(loaded const& m) const
    {
        driver::api const& d = context_.driver();
        unsigned count = 0;
        if (d.module_get_function_count(&count, m.handle) != result::success || count == 0) return {};
        std::vector<driver::function_handle> all(count);
        if (d.module_enumerate_functions(all.data(), count, m.handle) != result::success) return {};
        std::string list;
        for (driver::function_handle f : all) {
            char const* name = nullptr;
            if (d.func_get_name(&name, f) != result::success || name == nullptr) continue;
            list.append(list.empty() ? "; it has " : ", ").append(name);
        }
        return list;
    }

    context& context_;
    limits const& limits_;
    std::map<std::pair<std::uint64_t, std::string>, loaded> modules_;
};

} // namespace omp_co::cuda::engine
