// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractButton>
#include <QComboBox>
#include <QDialog>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QProcess>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>
#include <QXmlStreamReader>

#include "engine/fault/fault_catalogue.h"
#include "tests/patience.h"
#include "tests/ui/experiment_panel/panel_fixture.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/format.h"
#include "ui/examples.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/lane_card.h"
#include "ui/help/fault_help.h"
#include "ui/language.h"
#include "ui/text.h"

using namespace decodescope;

namespace {

const QString file = QStringLiteral(DECODESCOPE_SOURCE_DIR "/translations/decodescope_de.ts");

struct Message {
    QString context, source, translation, type;
};

QVector<Message> messages() {
    QVector<Message> all;
    QFile ts(file);
    if (!ts.open(QIODevice::ReadOnly)) return all;
    QXmlStreamReader xml(&ts);
    // Long and short forms of one text, split by U+009C, stand in elements of their own.
    const auto text = [&xml] {
        QStringList forms{QString()};
        while (!xml.atEnd() && xml.readNext() != QXmlStreamReader::EndElement) {
            if (xml.isCharacters()) forms.first() += xml.text();
            if (xml.isStartElement()) forms << xml.readElementText();
        }
        if (forms.size() > 1) forms.removeFirst();
        return forms.join(QChar(0x9c));
    };
    QString context;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) continue;
        if (xml.name() == QLatin1String("name")) context = text();
        if (xml.name() == QLatin1String("source")) all.append({context, text(), {}, {}});
        if (xml.name() == QLatin1String("translation")) {
            all.back().type = xml.attributes().value(QLatin1String("type")).toString();
            all.back().translation = text();
        }
    }
    return all;
}

QStringList placeholders(const QString& text) {
    static const QRegularExpression place(QStringLiteral("%[0-9n]"));
    QStringList all;
    for (auto it = place.globalMatch(text); it.hasNext();) all << it.next().captured();
    all.removeDuplicates();
    all.sort();
    return all;
}

QString plain(QString text) {
    return text.remove(QLatin1Char('&'));
}

/// What widgets show and say: name of the place and text.
QVector<std::pair<QString, QString>> textsOf(const QWidget* root) {
    QVector<std::pair<QString, QString>> all;
    QList<const QWidget*> widgets{root};
    for (const QWidget* widget : root->findChildren<QWidget*>()) widgets << widget;
    for (const QWidget* widget : widgets) {
        const QString where = QStringLiteral("%1 %2: ").arg(QLatin1String(widget->metaObject()->className()),
                                                            widget->objectName());
        for (const QString& text :
             {widget->toolTip(), widget->accessibleName(), widget->accessibleDescription(),
              widget->windowTitle(), widget->statusTip()})
            all.append({where, text});
        if (const auto* label = qobject_cast<const QLabel*>(widget)) all.append({where, label->text()});
        if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
            all.append({where, button->text()});
        if (const auto* edit = qobject_cast<const QLineEdit*>(widget))
            all.append({where, edit->placeholderText()});
        if (const auto* spin = qobject_cast<const QAbstractSpinBox*>(widget))
            all.append({where, spin->specialValueText()});
        if (const auto* box = qobject_cast<const QComboBox*>(widget)) {
            for (int i = 0; i < box->count(); ++i) all.append({where, box->itemText(i)});
        }
        for (const QAction* action : widget->actions()) {
            all.append({where, action->text()});
            all.append({where, action->toolTip()});
        }
    }
    return all;
}

}  // namespace

class TranslationTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void isComplete();
    void isUpToDate();
    void catalogueIsTranslated();
    void mnemonicsAreUnique();
    void pagesAreGerman_data();
    void pagesAreGerman();
    void dialogsAreGerman();
    void panelFitsItsWidth();
    void languageIsChosen();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    void checkTexts(const QWidget* root) const;

    QSet<QString> m_english;
    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void TranslationTest::initTestCase() {
    if (!hasTranslations()) {
        QVERIFY2(qEnvironmentVariableIsEmpty("CI"), "CI builds with lrelease");
        QSKIP("built without lrelease");
    }
    QCOMPARE(installLanguage(*QCoreApplication::instance(), QStringLiteral("de")), QStringLiteral("de"));
    QSet<QString> german;
    for (const Message& message : messages()) german.insert(plain(message.translation));
    for (const Message& message : messages()) {
        // What is a German text somewhere cannot be told from one that was forgotten.
        if (!german.contains(plain(message.source))) m_english.insert(plain(message.source));
    }
    QVERIFY(m_english.size() > 1000);
    m_theme = new Theme(this);
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    m_fixture->window->panel()->setExperiment(test::tinyExperiment());
    QVERIFY(m_fixture->awaitIdle());
    m_fixture->window->startRun();
    QVERIFY(m_fixture->awaitRecord());
}

void TranslationTest::isComplete() {
    QVERIFY(messages().size() > 1000);
    for (const Message& message : messages()) {
        const QByteArray name = (message.context + QStringLiteral(": ") + message.source).toUtf8();
        QVERIFY2(message.type.isEmpty() && !message.translation.isEmpty(), name);
        QVERIFY2(placeholders(message.source) == placeholders(message.translation), name);
        for (const QString& end : {QStringLiteral(" "), QStringLiteral("\n"), QStringLiteral("…")})
            QVERIFY2(message.source.endsWith(end) == message.translation.endsWith(end), name);
        QVERIFY2(
            message.source.startsWith(QLatin1Char(' ')) == message.translation.startsWith(QLatin1Char(' ')),
            name);
        QVERIFY2(message.source.count(QLatin1Char('&')) == message.translation.count(QLatin1Char('&')), name);
        // A table's head has a long and a short form.
        QVERIFY2(message.source.count(QChar(0x9c)) == message.translation.count(QChar(0x9c)), name);
    }
}

void TranslationTest::isUpToDate() {
    QTemporaryDir folder;
    const QString copy = folder.filePath(QStringLiteral("decodescope_de.ts"));
    QVERIFY(QFile::copy(file, copy));
    QProcess script;
    script.start(QStringLiteral(DECODESCOPE_SOURCE_DIR "/scripts/translate"), {copy});
    QVERIFY(script.waitForFinished(test::patience));
    const QByteArray said = script.readAllStandardError();
    if (said.contains("lupdate was not found") && qEnvironmentVariableIsEmpty("CI"))
        QSKIP("needs Qt's lupdate");
    QVERIFY2(script.exitStatus() == QProcess::NormalExit && script.exitCode() == 0, said);
    QFile before(file), after(copy);
    QVERIFY(before.open(QIODevice::ReadOnly) && after.open(QIODevice::ReadOnly));
    QVERIFY2(before.readAll() == after.readAll(),
             "Texts were added or changed: run scripts/translate and translate what is unfinished.");
}

// The script takes these texts out of other files by their form.
void TranslationTest::catalogueIsTranslated() {
    for (const FaultInfo& info : fault_catalogue()) {
        for (const char* text : {info.title, info.description, info.fingerprint, info.fix})
            QVERIFY2(bundledText(text) != QString::fromUtf8(text), text);
    }
    const auto entries = faultHelpEntries();
    QVERIFY(entries);
    for (const HelpEntry& entry : *entries) QVERIFY2(!m_english.contains(entry.text), qPrintable(entry.text));
    for (const Example& example : bundledExamples()) {
        QVERIFY2(!m_english.contains(example.title), qPrintable(example.title));
        QVERIFY2(!m_english.contains(example.about), qPrintable(example.about));
    }
}

void TranslationTest::mnemonicsAreUnique() {
    QList<QWidget*> menus{m_fixture->window->menuBar()};
    for (QMenu* menu : m_fixture->window->findChildren<QMenu*>()) menus << menu;
    for (const QWidget* menu : menus) {
        QMap<QChar, QString> seen;
        for (const QAction* action : menu->actions()) {
            const QString text = QString(action->text()).remove(QStringLiteral("&&"));
            const auto at = text.indexOf(QLatin1Char('&'));
            if (at < 0) continue;
            const QChar letter = text[at + 1].toLower();
            QVERIFY2(!seen.contains(letter), qPrintable(text + QStringLiteral(" / ") + seen.value(letter)));
            seen[letter] = text;
        }
    }
}

void TranslationTest::checkTexts(const QWidget* root) const {
    for (const auto& [where, text] : textsOf(root))
        QVERIFY2(!m_english.contains(plain(text)), qPrintable(where + text));
}

void TranslationTest::pagesAreGerman_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("page");
    const auto* pages = m_fixture->window->findChild<QStackedWidget*>(QStringLiteral("pages"));
    const int n = pages != nullptr ? pages->count() : 0;
    for (const QSize size : {QSize(1100, 700), QSize(1440, 900)}) {
        for (int page = 0; page < n; ++page) QTest::addRow("%d-%d", page, size.width()) << size << page;
    }
}

void TranslationTest::pagesAreGerman() {
    QFETCH(QSize, size);
    QFETCH(int, page);
    MainWindow& window = *m_fixture->window;
    window.resize(size);
    window.showScreen(page);
    QTest::qWait(100);
    QVERIFY(m_fixture->awaitIdle());
    QCOMPARE(window.size(), size);  // nothing needs more
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
        window.grab().save(
            QStringLiteral("%1/german-%2.png").arg(folder, QLatin1String(QTest::currentDataTag())));
    checkTexts(&window);
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        const bool control =
            qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget);
        if (!control || !widget->isVisible() || widget->window() != &window) continue;
        QVERIFY2(widget->mapTo(&window, QPoint(widget->width(), 0)).x() <= window.width(),
                 qPrintable(widget->objectName()));
    }
    // What scrolls up and down only must not be cut off at its side.
    for (const QScrollArea* area : window.findChildren<QScrollArea*>()) {
        if (!area->isVisible() || area->horizontalScrollBarPolicy() != Qt::ScrollBarAlwaysOff) continue;
        QVERIFY2(area->widget()->width() <= area->viewport()->width(), qPrintable(area->objectName()));
    }
}

void TranslationTest::dialogsAreGerman() {
    MainWindow& window = *m_fixture->window;
    for (const ActionId id : {ActionId::settings, ActionId::palette, ActionId::faultHelp, ActionId::shortcuts,
                              ActionId::about, ActionId::tour}) {
        (*window.actions())[id]->trigger();
        QTest::qWait(50);
        checkTexts(&window);
        for (QDialog* dialog : window.findChildren<QDialog*>()) {
            if (!dialog->isVisible()) continue;
            if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
                dialog->grab().save(QStringLiteral("%1/german-%2.png").arg(folder, dialog->objectName()));
            dialog->close();
        }
    }
}

// The texts of all forms are longer than the English ones.
void TranslationTest::panelFitsItsWidth() {
    ExperimentPanel panel;
    Experiment experiment = test::tinyExperiment();
    experiment.drive = Drive::free;
    experiment.sampling = {.kind = SamplingKind::sample, .temperature = 0.8};
    experiment.prompts.resize(2, experiment.prompts.front());
    experiment.lanes.clear();
    for (const char* word : {"naive", "kivi4", "continuous", "speculative-layers"})
        experiment.lanes.push_back(*lane_from_name(word));
    experiment.reference.clear();
    panel.setExperiment(experiment);
    QVERIFY(panel.minimumSizeHint().width() <= 1100 / 3);
    test::showUnfolded(panel);
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty())
        panel.grab().save(folder + QStringLiteral("/german-panel.png"));
    checkTexts(&panel);
    for (const QWidget* widget : panel.findChildren<QWidget*>()) {
        if (!widget->isVisible() || widget->window() != &panel) continue;
        QVERIFY2(widget->mapTo(&panel, QPoint(widget->width(), 0)).x() <= panel.width(),
                 qPrintable(widget->objectName()));
        if (qobject_cast<const QSpinBox*>(widget) || qobject_cast<const QLineEdit*>(widget))
            QVERIFY2(widget->width() >= 4 * widget->fontMetrics().averageCharWidth(),
                     qPrintable(widget->objectName()));
    }
}

// Last: it changes the language of this program.
void TranslationTest::languageIsChosen() {
    QCoreApplication& app = *QCoreApplication::instance();
    installLanguage(app, QStringLiteral("de"));
    QCOMPARE(notMeasured(), QStringLiteral("nicht gemessen"));
    installLanguage(app, QStringLiteral("en"));
    QCOMPARE(notMeasured(), QStringLiteral("not measured"));
    QVERIFY(languageChoices().contains(installLanguage(app, QStringLiteral("system"))));
}

QTEST_MAIN(TranslationTest)
#include "tst_translation.moc"
