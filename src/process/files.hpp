// The files tern keeps: read and replaced as a whole.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tern::detail {

/// What the regular file (or a link to one) holds; nothing where there is none that can be read. Other things that may
/// have that name, a pipe, a device, a folder, are not opened for long enough to wait for them.
std::optional<std::string> read_file(const std::string& path);

/// Why write_file_atomically would refuse the path, as far as that can be told beforehand: it names something that is
/// no regular file. Empty where it would not.
std::string why_not_a_file(const std::string& path);

/// Replaces the file by one of these bytes, made beside it and renamed, so that a reader sees all of it or what was
/// there before. Makes the folders on the way. Follows links: what they lead to is replaced. Nothing stays beside it
/// where that fails. Throws `io`, saying why: the path is something else than a regular file, or cannot be written.
void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace tern::detail
