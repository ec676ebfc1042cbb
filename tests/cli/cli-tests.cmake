# The program, from outside: each tests/cli/test_*.py runs it as a user would.
file(GLOB CLI_TESTS CONFIGURE_DEPENDS tests/cli/test_*.py)
if(TARGET minnow-cli AND Python3_FOUND)
  foreach(script ${CLI_TESTS})
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME cli_${name} COMMAND Python3::Interpreter ${script})
    set_tests_properties(cli_${name} PROPERTIES TIMEOUT 300 LABELS cli
                         ENVIRONMENT "MINNOW=$<TARGET_FILE:minnow-cli>;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()

# A stranger builds with us.
if(TARGET minnow-cli AND NOT CMAKE_CROSSCOMPILING AND NOT MINNOW_SANITIZE)
  add_test(NAME embed COMMAND ${CMAKE_SOURCE_DIR}/tests/embed/embed.sh ${CMAKE_BINARY_DIR}
           ${CMAKE_SOURCE_DIR}/tests/golden/tiny/qwen3.gguf)
  set_tests_properties(embed PROPERTIES TIMEOUT 300 LABELS embed)
endif()
