# Tests: each file tests/<suite>/test_*.c is one program of cmocka tests; finding it is enough.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
pkg_check_modules(PCRE2 IMPORTED_TARGET libpcre2-8)   # an independent answer, where it is

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS tests/unit/test_*.c tests/law/test_*.c tests/golden/test_*.c
     tests/fault/test_*.c)
if(NOT TARGET minnow_eval)
  list(FILTER TEST_SOURCES EXCLUDE REGEX test_eval_)
endif()
set(TEST_TIMEOUT 300)
if(MINNOW_SANITIZE)
  set(TEST_TIMEOUT 1500)
endif()
foreach(source ${TEST_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE src tests)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE
                             TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE minnow PkgConfig::CMOCKA PkgConfig::UTF8PROC Threads::Threads m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  get_filename_component(suite ${source} DIRECTORY)
  get_filename_component(suite ${suite} NAME)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${TEST_TIMEOUT}
                       LABELS ${suite})
endforeach()

if(PCRE2_FOUND)
  target_link_libraries(test_pretok_pcre2 PRIVATE PkgConfig::PCRE2)
  target_compile_definitions(test_pretok_pcre2 PRIVATE HAVE_PCRE2)
endif()

target_link_libraries(test_text_in PRIVATE minnow_data)

if(TARGET minnow_eval)
  foreach(name test_eval_laws test_eval_task test_eval_faults)
    target_link_libraries(${name} PRIVATE minnow_eval PkgConfig::JANSSON)
  endforeach()
endif()

include(tests/fuzz/fuzz.cmake)

# The rules of the house are tests as well.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME floors COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/floors.py)
  add_test(NAME lint COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/lint.py)
  add_test(NAME headers_compile_alone
           COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/lint.py --headers)
endif()

include(tests/check/check.cmake)
include(tests/cli/cli-tests.cmake)
