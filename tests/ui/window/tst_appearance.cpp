// SPDX-License-Identifier: GPL-3.0-or-later
// Light and dark switch at once on every page, and no text is cut off, however large it is.
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QTest>
#include <QTextDocument>
#include <QToolButton>

#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/inside/inside_page.h"
#include "ui/widgets/bar_button.h"
#include "ui/widgets/plain_table.h"

using namespace decodescope;

namespace {

constexpr const char* pageNames[] = {"race", "memory", "inside", "exactness", "sweep", "plan", "report"};
constexpr int pageCount = 7;

/// The parts of a widget's text that do not fit; empty = all is well.
QString cutText(const QWidget* widget) {
    const auto tooNarrow = [&](const QString& text, int needed, int has) {
        return needed > has ? QStringLiteral("\"%1\" needs %2 of %3 pixels").arg(text).arg(needed).arg(has)
                            : QString();
    };
    if (const auto* label = qobject_cast<const QLabel*>(widget)) {
        if (label->text().isEmpty() || label->textFormat() == Qt::RichText) return {};
        if (label->wordWrap())
            return label->heightForWidth(label->width()) > label->height() + 1
                       ? QStringLiteral("\"%1\" needs %2 of %3 pixels in height")
                             .arg(label->text())
                             .arg(label->heightForWidth(label->width()))
                             .arg(label->height())
                       : QString();
        // A status that gives way to others is the only one that may be cut: see its tooltip.
        if (label->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored) return {};
        return tooNarrow(label->text(), label->sizeHint().width(), label->width());
    }
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) {
        if (button->text().isEmpty()) return {};
        return tooNarrow(button->text(), button->sizeHint().width(), button->width() + 1);
    }
    if (const auto* box = qobject_cast<const QComboBox*>(widget)) {
        QStyleOptionComboBox option;
        option.initFrom(box);
        option.editable = box->isEditable();
        const QRect field =
            box->style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, box);
        return tooNarrow(box->currentText(), box->fontMetrics().horizontalAdvance(box->currentText()),
                         field.width());
    }
    if (const auto* table = qobject_cast<const PlainTable*>(widget)) {
        const QHeaderView* header = table->horizontalHeader();
        for (int i = 0; i < header->count(); ++i) {
            // Of two forms the header shows the one that fits.
            const QString text =
                table->model()->headerData(i, Qt::Horizontal).toString().section(QChar(0x9c), -1);
            const QString cut =
                tooNarrow(text, QFontMetrics(header->font()).horizontalAdvance(text), header->sectionSize(i));
            if (!cut.isEmpty()) return cut;
        }
    }
    return {};
}

/// Reaches out of a parent that is no scroll area.
bool leavesItsParent(const QWidget* widget) {
    const QWidget* parent = widget->parentWidget();
    if (parent == nullptr || widget->isWindow()) return false;
    const auto* area = qobject_cast<const QScrollArea*>(parent->parentWidget());
    if (area != nullptr && area->viewport() == parent) return false;
    return !parent->rect().adjusted(-1, -1, 1, 1).contains(widget->geometry());
}

}  // namespace

class AppearanceTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void switchesAtOnce_data();
    void switchesAtOnce();
    void nothingIsCutOff_data();
    void nothingIsCutOff();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    MainWindow& window() const { return *m_fixture->window; }
    void open();

    QFont m_font;
    double m_scale = 0;
    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void AppearanceTest::initTestCase() {
    m_theme = new Theme(this);
    m_font = QApplication::font();
}

void AppearanceTest::open() {
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    Experiment experiment = window().panel()->experiment();
    experiment.new_tokens = 20;
    experiment.repetitions = 2;
    window().panel()->setExperiment(experiment);
    window().startRun();
    QVERIFY(m_fixture->awaitRecord());
    window().resize(1100, 700);
}

void AppearanceTest::switchesAtOnce_data() {
    QTest::addColumn<int>("page");
    for (int page = 0; page < pageCount; ++page) QTest::newRow(pageNames[page]) << page;
}

void AppearanceTest::switchesAtOnce() {
    QFETCH(int, page);
    if (m_fixture == nullptr) open();
    const auto& actions = *window().actions();
    actions[ActionId::themeLight]->trigger();
    window().showScreen(page);
    QTest::qWait(100);
    QVERIFY(m_fixture->awaitIdle());
    for (const bool dark : {true, false}) {
        actions[dark ? ActionId::themeDark : ActionId::themeLight]->trigger();
        QCoreApplication::processEvents();  // once: the next picture is the new one
        QCoreApplication::processEvents();
        const QImage picture = window().grab().toImage();
        const ThemeColors& now = themeColors(dark);
        const ThemeColors& before = themeColors(!dark);
        int left = 0;
        int good = 0;
        for (int y = 0; y < picture.height(); y += 2) {
            for (int x = 0; x < picture.width(); x += 2) {
                const QRgb pixel = picture.pixel(x, y);
                left +=
                    pixel == before.card.rgb() || pixel == before.window.rgb() || pixel == before.panel.rgb();
                good += pixel == now.card.rgb() || pixel == now.window.rgb() || pixel == now.panel.rgb();
            }
        }
        const int all = picture.width() * picture.height() / 4;
        test::keepPicture(&window(), QTest::currentDataTag());
        QVERIFY2(good > all / 3, qPrintable(QString::number(good)));
        if (page == 6) continue;  // the report lies there as paper, which is white
        QVERIFY2(left < all / 1000, qPrintable(QStringLiteral("%1 pixels of the other theme").arg(left)));
    }
}

void AppearanceTest::nothingIsCutOff_data() {
    QTest::addColumn<double>("scale");
    QTest::addColumn<int>("page");
    for (const double scale : {1.0, 1.25, 1.5, 2.0}) {
        for (int page = 0; page < pageCount; ++page)
            QTest::addRow("%s, text x %g", pageNames[page], scale) << scale << page;
    }
}

void AppearanceTest::nothingIsCutOff() {
    QFETCH(double, scale);
    QFETCH(int, page);
    if (scale != m_scale) {
        m_fixture.reset();
        QFont font = m_font;
        font.setPointSizeF(m_font.pointSizeF() * scale);
        QApplication::setFont(font);
        m_scale = scale;
        open();
    }
    window().showScreen(page);
    QTest::qWait(100);
    QVERIFY(m_fixture->awaitIdle());
    // As small as it is meant to be used, or as the text allows.
    window().resize(QSize(1100, 700).expandedTo(window().minimumSizeHint()));
    QTest::qWait(50);
    QStringList faults;
    for (const QWidget* widget : window().findChildren<QWidget*>()) {
        if (!widget->isVisible() || widget->window() != &window()) continue;
        const QString cut = cutText(widget);
        if (cut.isEmpty() && !leavesItsParent(widget)) continue;
        faults << QStringLiteral("%1 %2: %3")
                      .arg(QLatin1String(widget->metaObject()->className()), widget->objectName(),
                           cut.isEmpty() ? QStringLiteral("leaves its parent") : cut);
    }
    test::keepPicture(&window(), qPrintable(QStringLiteral("text-%1-%2").arg(pageNames[page]).arg(scale)));
    QVERIFY2(faults.isEmpty(), qPrintable('\n' + faults.join('\n')));
}

QTEST_MAIN(AppearanceTest)
#include "tst_appearance.moc"
