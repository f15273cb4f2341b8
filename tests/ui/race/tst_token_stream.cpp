// SPDX-License-Identifier: GPL-3.0-or-later
#include <QClipboard>
#include <QGuiApplication>
#include <QRandomGenerator>
#include <QScrollBar>
#include <QTest>

#include "ui/race/token_stream.h"

using namespace decodescope;

class TokenStreamTest : public QObject {
    Q_OBJECT

private slots:
    void joinsCharactersAcrossTokens_data();
    void joinsCharactersAcrossTokens();
    void appendingEqualsLayingOutAtOnce();
    void marksDifferentTokens();
    void marksDrafts();
    void numbersRequests();
    void followsTheRequestThatIsWritten();
    void selectsAndCopies();
    void followsItsEnd();
};

void TokenStreamTest::joinsCharactersAcrossTokens_data() {
    QTest::addColumn<QList<QByteArray>>("tokens");
    QTest::addColumn<QStringList>("afterEach");
    QTest::addColumn<QString>("atEnd");
    QTest::newRow("plain") << QList<QByteArray>{"a", " man"} << QStringList{"a", "a man"} << "a man";
    QTest::newRow("two halves of one character") << QList<QByteArray>{"caf", "\xc3", "\xa9", "!"}
                                                 << QStringList{"caf", "caf", "café", "café!"} << "café!";
    QTest::newRow("unfinished at the end")
        << QList<QByteArray>{"x", "\xe2\x82"} << QStringList{"x", "x"} << QString::fromUtf8("x\xef\xbf\xbd");
    QTest::newRow("not UTF-8") << QList<QByteArray>{"\xff", "y"}
                               << QStringList{QString::fromUtf8("\xef\xbf\xbd"),
                                              QString::fromUtf8("\xef\xbf\xbdy")}
                               << QString::fromUtf8("\xef\xbf\xbdy");
}

void TokenStreamTest::joinsCharactersAcrossTokens() {
    QFETCH(QList<QByteArray>, tokens);
    QFETCH(QStringList, afterEach);
    QFETCH(QString, atEnd);
    TokenStream stream;
    stream.begin("> ", ColorRef::lane(0));
    for (qsizetype i = 0; i < tokens.size(); ++i) {
        stream.appendToken(0, static_cast<std::int32_t>(i),
                           {tokens[i].constData(), static_cast<std::size_t>(tokens[i].size())});
        stream.flush();
        QCOMPARE(stream.text(), "> " + afterEach[i]);
    }
    stream.finish();
    QCOMPARE(stream.text(), "> " + atEnd);
    QCOMPARE(stream.tokenCount(), static_cast<int>(tokens.size()));
}

void TokenStreamTest::appendingEqualsLayingOutAtOnce() {
    QRandomGenerator random(11);
    const QList<QByteArray> words = {" a",
                                     " universally",
                                     "\n",
                                     "\n\n",
                                     " truth",
                                     ",",
                                     ".",
                                     " неё",
                                     "averyveryverylongwordwithoutanybreakinit",
                                     " e\xcc\x81t\xc3\xa9",
                                     "-"};
    TokenStream growing;
    TokenStream whole;
    for (TokenStream* stream : {&growing, &whole}) {
        stream->resize(340, 4000);
        stream->show();
        stream->begin("It is", ColorRef::lane(1));
    }
    for (int i = 0; i < 600; ++i) {
        const QByteArray& word = words[random.bounded(static_cast<int>(words.size()))];
        const std::string_view bytes(word.constData(), static_cast<std::size_t>(word.size()));
        growing.appendToken(0, i, bytes);
        if (i % 3 == 0) growing.flush();
        whole.appendToken(0, i, bytes);
    }
    growing.finish();
    whole.finish();
    QCOMPARE(growing.text(), whole.text());
    QCOMPARE(growing.grab().toImage(), whole.grab().toImage());
    // And both equal what a change of width lays out anew.
    growing.resize(500, 4000);
    growing.resize(340, 4000);
    QCOMPARE(growing.grab().toImage(), whole.grab().toImage());
}

void TokenStreamTest::marksDrafts() {
    QImage pictures[2];
    for (const bool drafted : {false, true}) {
        TokenStream stream;
        stream.resize(400, 100);
        stream.show();
        stream.begin("", ColorRef::lane(0));
        stream.appendToken(0, 1, " word", drafted);
        stream.finish();
        pictures[drafted] = stream.grab().toImage();
    }
    QVERIFY2(pictures[0].convertToFormat(QImage::Format_Indexed8).colorCount() > 2, "nothing was drawn");
    QVERIFY(pictures[0] != pictures[1]);
}

void TokenStreamTest::numbersRequests() {
    TokenStream stream;
    stream.resize(400, 300);
    stream.show();
    stream.begin(QStringList{"One", "Two", "Three"}, ColorRef::lane(0));
    stream.appendToken(1, 7, " b");
    stream.appendToken(0, 8, " \xc3");
    stream.appendToken(2, 9, " c");
    stream.appendToken(0, 8, "\xa9");
    stream.appendNumber(1, 44);
    stream.appendToken(3, 9, "nobody's");
    stream.finish();
    QCOMPARE(stream.text(), QString::fromUtf8("1. One \xc3\xa9\n\n2. Two b 44\n\n3. Three c"));
    QCOMPARE(stream.tokenCount(), 5);
    QCOMPARE(stream.requestCount(), 3);
    stream.selectAll();
    QCOMPARE(stream.selectedText(), stream.text());
    // A double click in the second paragraph marks one of its tokens.
    const QPoint inSecond(stream.fontMetrics().horizontalAdvance("2. Two b 4"),
                          stream.fontMetrics().lineSpacing() * 5 / 4 * 7 / 4);
    QTest::mouseDClick(stream.viewport(), Qt::LeftButton, {}, inSecond);
    QCOMPARE(stream.selectedText(), QString(" 44"));
    const QImage before = stream.grab().toImage();
    stream.markDifferent(2, 0);
    QVERIFY(stream.grab().toImage() != before);
    stream.markDifferent(9, 0);  // nobody
}

void TokenStreamTest::followsTheRequestThatIsWritten() {
    TokenStream stream;
    stream.resize(200, 60);
    stream.show();
    stream.begin(QStringList{"One", "Two", "Three"}, ColorRef::lane(0));
    for (int i = 0; i < 100; ++i) {
        stream.appendToken(0, i, " word");
        stream.flush();
    }
    QScrollBar* bar = stream.verticalScrollBar();
    // The end of the first request is in sight, the others below it are not.
    QVERIFY(bar->value() > 0);
    QVERIFY(bar->value() < bar->maximum());
    for (int i = 0; i < 20; ++i) stream.appendToken(2, i, " word");
    stream.flush();
    QCOMPARE(bar->value(), bar->maximum());
}

void TokenStreamTest::marksDifferentTokens() {
    TokenStream stream;
    stream.resize(400, 100);
    stream.show();
    stream.begin("", ColorRef::lane(0));
    for (int i = 0; i < 4; ++i) stream.appendToken(0, i, " word");
    stream.finish();
    const QImage before = stream.grab().toImage();
    stream.markDifferent(0, 99);
    QCOMPARE(stream.grab().toImage(), before);
    stream.markDifferent(0, 2);
    QVERIFY(stream.grab().toImage() != before);
}

void TokenStreamTest::selectsAndCopies() {
    TokenStream stream;
    stream.resize(400, 100);
    stream.show();
    stream.begin("It is", ColorRef::lane(0));
    stream.appendToken(0, 5, " a truth");
    stream.finish();
    QVERIFY(stream.selectedText().isEmpty());
    QTest::keySequence(&stream, QKeySequence::Copy);
    QCOMPARE(QGuiApplication::clipboard()->text(), QString("It is a truth"));
    QTest::mouseDClick(stream.viewport(), Qt::LeftButton, {},
                       QPoint(stream.fontMetrics().horizontalAdvance("It is a tr"), 5));
    QCOMPARE(stream.selectedText(), QString(" a truth"));
    QTest::keySequence(&stream, QKeySequence::SelectAll);
    QCOMPARE(stream.selectedText(), QString("It is a truth"));
}

void TokenStreamTest::followsItsEnd() {
    TokenStream stream;
    stream.resize(200, 60);
    stream.show();
    stream.begin("", ColorRef::lane(0));
    for (int i = 0; i < 200; ++i) stream.appendToken(0, i, " word");
    stream.flush();
    QScrollBar* bar = stream.verticalScrollBar();
    QVERIFY(bar->maximum() > 0);
    QCOMPARE(bar->value(), bar->maximum());
    // Whoever scrolls back is left alone.
    bar->setValue(0);
    for (int i = 0; i < 50; ++i) stream.appendToken(0, i, " word");
    stream.flush();
    QCOMPARE(bar->value(), 0);
}

QTEST_MAIN(TokenStreamTest)
#include "tst_token_stream.moc"
