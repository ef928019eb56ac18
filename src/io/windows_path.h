// SPDX-License-Identifier: MIT
// Names of files as Windows' functions take them.
#pragma once

#include <string>

namespace polarquant {

/// From UTF-8. Long ones get the form that has no limit of 260 characters, in which "/" and ".."
/// mean nothing and are resolved here. Throws io.
std::wstring windows_path(const std::string& path);

}  // namespace polarquant
