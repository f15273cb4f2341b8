// SPDX-License-Identifier: GPL-3.0-or-later
// Empty: compiled so that the headers in front of it are.
