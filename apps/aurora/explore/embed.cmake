# cmake -DOUTPUT=page.cpp -P embed.cmake FILE...: a source file that holds the files' bytes.
set(arrays "")
set(entries "")
set(number 0)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(script_seen)
    set(file ${CMAKE_ARGV${i}})
    get_filename_component(name ${file} NAME)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND arrays "constexpr char kFile${number}[] = {${bytes}'\\0'};\n")
    string(APPEND entries "    {\"${name}\", {kFile${number}, sizeof(kFile${number}) - 1}},\n")
    math(EXPR number "${number} + 1")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "${CMAKE_CURRENT_LIST_FILE}" OR "${CMAKE_ARGV${i}}" MATCHES "embed\\.cmake$")
    set(script_seen TRUE)
  endif()
endforeach()
file(WRITE ${OUTPUT} "// Made by embed.cmake.
#include \"apps/aurora/explore/page.hpp\"

namespace aurora::explore {
namespace {

${arrays}
constexpr PageFile kFiles[] = {
${entries}};

}  // namespace

std::span<const PageFile> page_files() {
  return kFiles;
}

}  // namespace aurora::explore
")
