// SPDX-License-Identifier: BSL-1.0
// An environment variable that has another value for a while. Not beside threads that read the environment.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

class scoped_environment {
public:
    scoped_environment(char const* name, std::string const& value) : name_(name)
    {
        if (char const* const before = std::getenv(name)) before_ = before;
        (void)::setenv(name, value.c_str(), 1);
    }
    scoped_environment(scoped_environment const&) = delete;
    scoped_environment& operator=(scoped_environment const&) = delete;
    ~scoped_environment()
    {
        if (before_)
            (void)::setenv(name_, before_->c_str(), 1);
        else
            (void)::unsetenv(name_);
    }

private:
    char const* name_;
    std::optional<std::string> before_;
};
