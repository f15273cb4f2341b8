# SPDX-License-Identifier: GPL-3.0-or-later
# Lists the functions that a test class has under "private Q_SLOTS:", in place of moc: awk -f slots.awk tst_x.cpp > tst_x.moc
/^class .* : public QObject/ { class = $2; body = ""; slots = 0; next }
class != "" && /^ *(private|public|protected)( [A-Za-z_]+)?:/ { slots = /Q_SLOTS|slots/; next }
class != "" && slots && match($0, /^    void [A-Za-z_0-9]+\(\)/) {
    name = $2
    sub(/\(\).*/, "", name)
    body = body "        slots.push_back({\"" name "\", [&test] { test." name "(); }});\n"
}
class != "" && /^};/ {
    print "template <>\nstruct qtest::SlotsOf<" class "> {\n    static int run() {\n        " class " test;\n        std::vector<Slot> slots;"
    printf "%s", body
    print "        return run_all(\"" class "\", slots);\n    }\n};"
    print "int qtest_main() { return qtest::SlotsOf<" class ">::run(); }"
    class = ""
}
