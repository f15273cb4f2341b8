// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>

#include <memory>
#include <string>

#include "engine/core/result.h"

using namespace decodescope;

class ResultTest : public QObject {
    Q_OBJECT

private slots:
    void holds_value_or_error() {
        Result<int> seven = 7;
        QVERIFY(seven.ok());
        QVERIFY(static_cast<bool>(seven));
        QCOMPARE(*seven, 7);

        const Result<int> failed = Error{ErrorKind::capacity, "The cache holds 8 tokens; 9 were appended."};
        QVERIFY(!failed.ok());
        QCOMPARE(failed.error().kind, ErrorKind::capacity);
        QCOMPARE(failed.error().message, std::string("The cache holds 8 tokens; 9 were appended."));
    }

    void moves_values_that_cannot_be_copied() {
        Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
        const std::unique_ptr<int> taken = *std::move(result);
        QCOMPARE(*taken, 3);
    }

    void void_result() {
        QVERIFY(Result<void>().ok());
        const Result<void> failed = Error{ErrorKind::io, "x"};
        QVERIFY(!failed);
        QCOMPARE(failed.error().kind, ErrorKind::io);
    }

    void try_returns_the_error_and_goes_on_after_success() {
        int reached = 0;
        const auto outer = [&](Result<void> inner) -> Result<int> {
            DS_TRY(inner);
            ++reached;
            return 1;
        };
        QVERIFY(outer({}).ok());
        const Result<int> failed = outer(Error{ErrorKind::non_finite, "NaN in row 2."});
        QCOMPARE(failed.error().kind, ErrorKind::non_finite);
        QCOMPARE(failed.error().message, std::string("NaN in row 2."));
        QCOMPARE(reached, 1);
    }

    void names_and_exit_codes_data() {
        QTest::addColumn<ErrorKind>("kind");
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("code");
        QTest::newRow("bad_input") << ErrorKind::bad_input << "bad_input" << 2;
        QTest::newRow("unsupported") << ErrorKind::unsupported << "unsupported" << 2;
        QTest::newRow("io") << ErrorKind::io << "io" << 2;
        QTest::newRow("capacity") << ErrorKind::capacity << "capacity" << 3;
        QTest::newRow("out_of_memory") << ErrorKind::out_of_memory << "out_of_memory" << 3;
        QTest::newRow("non_finite") << ErrorKind::non_finite << "non_finite" << 3;
        QTest::newRow("internal") << ErrorKind::internal << "internal" << 3;
        QTest::newRow("cancelled") << ErrorKind::cancelled << "cancelled" << 130;
        QTest::newRow("device") << ErrorKind::device << "device" << 3;
    }
    void names_and_exit_codes() {
        QFETCH(ErrorKind, kind);
        QFETCH(QString, name);
        QTEST(exit_code(kind), "code");
        QCOMPARE(QString(to_string(kind)), name);
    }
};

QTEST_APPLESS_MAIN(ResultTest)
#include "tst_result.moc"
