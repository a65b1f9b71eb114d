# Script: passes when SOURCE does not compile and each of its `// expect: <regex>` lines matches what the
# compiler said. Variables: COMPILER, SOURCE, INCLUDES (folders, separated by |).

file(READ "${SOURCE}" text)

# A list of the lines would break on brackets and semicolons, which C++ is full of: cut them off one by one.
set(expectations 0)
while(text MATCHES "// expect: ([^\n]+)")
    set(expect_${expectations} "${CMAKE_MATCH_1}")
    math(EXPR expectations "${expectations} + 1")
    string(FIND "${text}" "// expect: " at)
    math(EXPR at "${at} + 11")
    string(SUBSTRING "${text}" ${at} -1 text)
endwhile()
if(expectations EQUAL 0)
    message(FATAL_ERROR "${SOURCE} has no `// expect: <regex>` line: any mistake in it would pass.")
endif()

string(REPLACE "|" ";-I" include_flags "-I${INCLUDES}")
set(ENV{LC_ALL} C)
execute_process(
    COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -fmessage-length=0 -fdiagnostics-color=never -ftemplate-backtrace-limit=0
            ${include_flags} "${SOURCE}"
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)

if(result EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiles, and must not.")
endif()

math(EXPR last "${expectations} - 1")
foreach(i RANGE ${last})
    if(NOT output MATCHES "${expect_${i}}")
        message("${output}")
        message(FATAL_ERROR "The compiler does not say: ${expect_${i}}")
    endif()
endforeach()
