#pragma once

/// Marks what plugins use: everything else is hidden in the executable whose symbols they resolve.
#define MLOPT_API __attribute__((visibility("default")))
