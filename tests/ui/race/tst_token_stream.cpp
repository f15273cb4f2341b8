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
        stream.appendToken(static_cast<std::int32_t>(i),
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
        growing.appendToken(i, bytes);
        if (i % 3 == 0) growing.flush();
        whole.appendToken(i, bytes);
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

void TokenStreamTest::marksDifferentTokens() {
    TokenStream stream;
    stream.resize(400, 100);
    stream.show();
    stream.begin("", ColorRef::lane(0));
    for (int i = 0; i < 4; ++i) stream.appendToken(i, " word");
    stream.finish();
    const QImage before = stream.grab().toImage();
    stream.markDifferent(99);
    QCOMPARE(stream.grab().toImage(), before);
    stream.markDifferent(2);
    QVERIFY(stream.grab().toImage() != before);
}

void TokenStreamTest::selectsAndCopies() {
    TokenStream stream;
    stream.resize(400, 100);
    stream.show();
    stream.begin("It is", ColorRef::lane(0));
    stream.appendToken(5, " a truth");
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
    for (int i = 0; i < 200; ++i) stream.appendToken(i, " word");
    stream.flush();
    QScrollBar* bar = stream.verticalScrollBar();
    QVERIFY(bar->maximum() > 0);
    QCOMPARE(bar->value(), bar->maximum());
    // Whoever scrolls back is left alone.
    bar->setValue(0);
    for (int i = 0; i < 50; ++i) stream.appendToken(i, " word");
    stream.flush();
    QCOMPARE(bar->value(), 0);
}

QTEST_MAIN(TokenStreamTest)
#include "tst_token_stream.moc"
