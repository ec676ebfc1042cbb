# Reading of corpora and test data, for what trains, evaluates and cuts vocabularies: a library of its own,
# because of libarchive.
pkg_check_modules(ARCHIVE IMPORTED_TARGET libarchive)   # opens packed data, where it is
file(GLOB DATA_SOURCES CONFIGURE_DEPENDS src/data/*.c)
add_library(minnow_data STATIC ${DATA_SOURCES})
target_include_directories(minnow_data PRIVATE src)
target_compile_definitions(minnow_data PRIVATE _GNU_SOURCE)
target_link_libraries(minnow_data PUBLIC minnow)
if(ARCHIVE_FOUND)
  target_compile_definitions(minnow_data PRIVATE MN_HAVE_LIBARCHIVE)
  target_link_libraries(minnow_data PRIVATE PkgConfig::ARCHIVE)
endif()
set_target_properties(minnow_data PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
