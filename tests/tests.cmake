# Tests: each file tests/<suite>/test_*.c is one program of cmocka tests; finding it is enough.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

file(GLOB TEST_SOURCES CONFIGURE_DEPENDS tests/unit/test_*.c tests/law/test_*.c tests/golden/test_*.c
     tests/fault/test_*.c)
foreach(source ${TEST_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE src tests)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE
                             TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE minnow PkgConfig::CMOCKA PkgConfig::UTF8PROC Threads::Threads m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
endforeach()
