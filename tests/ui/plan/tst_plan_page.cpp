// SPDX-License-Identifier: GPL-3.0-or-later
// The plan page in a real window: what it shows is what the engine's functions give, which the command line
// prints. With DECODESCOPE_SCREENSHOTS set to a folder, the pictures are kept there.
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include "engine/plan/plan_choices.h"
#include "engine/plan/shape_reader.h"
#include "tests/patience.h"
#include "tests/ui/window/window_fixture.h"
#include "ui/actions.h"
#include "ui/chart/format.h"
#include "ui/chart/matrix_chart.h"
#include "ui/plan/memory_bar.h"
#include "ui/plan/plan_form.h"
#include "ui/plan/plan_page.h"
#include "ui/plan/plan_words.h"
#include "ui/widgets/plain_table.h"

using namespace decodescope;

class PlanPageTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void showsTheEnginesNumbers_data();
    void showsTheEnginesNumbers();
    void mapSaysWhatFits();
    void saysWhatIsWrong_data();
    void saysWhatIsWrong();
    void opensConfigurations();
    void asksForParameters();
    void checksAgainstARun();
    void checkCanBeCancelled();
    void everyControlHasANameAndAnExplanation();
    void looks_data();
    void looks();
    void cleanupTestCase() { m_fixture.reset(); }

private:
    template <class Widget>
    Widget* find(const char* name) const {
        auto* widget = m_fixture->window->planPage()->findChild<Widget*>(QLatin1String(name));
        return widget;
    }
    PlanPage& page() const { return *m_fixture->window->planPage(); }
    void choose(const QString& text);
    void type(const char* field, const QString& text);

    Theme* m_theme = nullptr;
    std::unique_ptr<test::WindowFixture> m_fixture;
};

void PlanPageTest::initTestCase() {
    m_theme = new Theme(this);
    m_fixture = std::make_unique<test::WindowFixture>(*m_theme, MainWindow::Options{.autostart = false});
    QVERIFY(m_fixture->awaitIdle());
    (*m_fixture->window->actions())[ActionId::showPlan]->trigger();
    QVERIFY(page().isVisible());
    QVERIFY(page().report() != nullptr);
    QCOMPARE(find<QComboBox>("planModel")->currentText(), QString("demo (loaded)"));
}

void PlanPageTest::choose(const QString& text) {
    auto* box = find<QComboBox>("planModel");
    const int index = box->findData(text);
    QVERIFY2(index >= 0, qPrintable(text));
    box->setCurrentIndex(index);
    emit box->activated(index);
}

void PlanPageTest::type(const char* field, const QString& text) {
    auto* edit = find<QLineEdit>(field);
    edit->clear();
    QTest::keyClicks(edit, text);
    QTest::keyClick(edit, Qt::Key_Return);
}

void PlanPageTest::showsTheEnginesNumbers_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("context");
    QTest::addColumn<int>("batch");
    QTest::addColumn<QString>("cache");
    QTest::addColumn<QString>("kvType");
    QTest::addColumn<QString>("weights");
    QTest::addColumn<QString>("memory");
    QTest::addColumn<qint64>("perToken");  // worked out by hand
    QTest::newRow("Llama 3 70B, f16") << "known:llama-3-70b" << 4096 << 1 << "static"
                                      << ""
                                      << ""
                                      << "160G" << qint64{2 * 80 * 8 * 128 * 2};
    QTest::newRow("DeepSeek V3, latent") << "known:deepseek-v3" << 4096 << 4 << "static"
                                         << "f16"
                                         << "Q4_K"
                                         << "800GB" << qint64{61 * (512 + 64) * 2};
    QTest::newRow("GPT-2 XL, paged f32") << "known:gpt2-xl" << 1000 << 3 << "paged"
                                         << "f32"
                                         << "f16"
                                         << "24G" << qint64{2 * 48 * 25 * 64 * 4};
    QTest::newRow("int8 has scales") << "known:llama-3-70b" << 1024 << 2 << "int8"
                                     << ""
                                     << "Q8_0"
                                     << "80G" << qint64{2 * 80 * 8 * (128 + 4)};
    QTest::newRow("the loaded model") << "demo" << 100 << 2 << "concat"
                                      << ""
                                      << ""
                                      << "2G" << qint64{-1};
}

void PlanPageTest::showsTheEnginesNumbers() {
    QFETCH(QString, model);
    QFETCH(int, context);
    QFETCH(int, batch);
    QFETCH(QString, cache);
    QFETCH(QString, kvType);
    QFETCH(QString, weights);
    QFETCH(QString, memory);
    QFETCH(qint64, perToken);
    choose(model);
    find<QSpinBox>("planContext")->setValue(context);
    find<QSpinBox>("planBatch")->setValue(batch);
    find<QSpinBox>("planTokens")->setValue(20);
    find<QComboBox>("planCache")->setCurrentText(cache);
    auto* type_box = find<QComboBox>("planType");
    type_box->setCurrentIndex(type_box->findData(kvType));
    auto* weights_box = find<QComboBox>("planWeights");
    weights_box->setCurrentIndex(weights_box->findData(weights));
    type("planMemory", memory);
    type("planReserve", "1G");

    const Result<PlanShape> shape = read_shape(model.toStdString());
    QVERIFY(shape);
    PlanChoices choices;
    choices.context = context;
    choices.batch = batch;
    choices.tokens = 20;
    choices.cache = cache.toStdString();
    choices.kv_type = kvType.toStdString();
    choices.weights_type = weights.toStdString();
    choices.memory = memory.toStdString();
    choices.reserve = "1G";
    const Result<PlanRequest> request = plan_request(*shape, choices);
    QVERIFY(request);
    const Result<MemoryPlan> plan = plan_memory(*shape, *request);
    QVERIFY(plan);
    const PlanReport expected{*shape, *request, *plan, {}};

    QVERIFY(page().report() != nullptr);
    if (perToken >= 0) QCOMPARE(qint64{plan->kv.per_token}, perToken);
    const QString shown = find<PlainTable>("planParts")->toText();
    for (const PlanPart& part : plan_parts(expected)) {
        const QString line = QString::fromStdString(part.name) + '\t' + formatBytesExactly(part.bytes) +
                             '\t' + QString::fromStdString(part.how);
        QVERIFY2(shown.contains(line), qPrintable(line + "\nnot in\n" + shown));
    }
    const QString variants = find<PlainTable>("planVariants")->toText();
    for (const AttentionVariant& variant : attention_variants(expected)) {
        const QString line = QString::fromStdString(variant.name) + '\t' +
                             formatBytes(static_cast<double>(variant.per_token)) + '\t' +
                             formatBytes(static_cast<double>(variant.bytes));
        QVERIFY2(variants.contains(line), qPrintable(line + "\nnot in\n" + variants));
    }
    const PlanVerdict verdict = planVerdict(expected);
    QCOMPARE(find<QLabel>("planVerdict")->text(), verdict.sentence);
    QVERIFY(verdict.more.contains(formatCount(plan->fitting_requests)));
    QCOMPARE(find<QLabel>("planMore")->text(), verdict.more);
    std::int64_t stacked = 0;
    for (const MemoryBar::Part& part : find<MemoryBar>("planBar")->parts()) stacked += part.bytes;
    QCOMPARE(stacked, plan->total());
}

void PlanPageTest::mapSaysWhatFits() {
    choose("known:llama-3-70b");
    find<QComboBox>("planCache")->setCurrentText("static");
    find<QComboBox>("planType")->setCurrentIndex(0);
    find<QComboBox>("planWeights")->setCurrentIndex(0);
    type("planMemory", "160G");
    const std::vector<PlanCell>& map = page().report()->plan.map;
    CellGrid* grid = page().map();
    QVERIFY(!map.empty());
    QCOMPARE(static_cast<std::size_t>(grid->rowCount() * grid->columnCount()), map.size());
    bool some = false;
    bool others = false;
    for (int row = 0; row < grid->rowCount(); ++row) {
        for (int column = 0; column < grid->columnCount(); ++column) {
            const PlanCell& cell = map[static_cast<std::size_t>(row * grid->columnCount() + column)];
            QCOMPARE(grid->cell(row, column) == 0, cell.fits);
            (cell.fits ? some : others) = true;
            const QString words = grid->describeCell(row, column);
            QVERIFY2(words.contains(cell.fits ? ". Fits into" : ". Does not fit into"), qPrintable(words));
            QVERIFY2(words.contains(formatBytes(static_cast<double>(cell.total))), qPrintable(words));
            QVERIFY2(words.contains(formatCount(cell.context) + " tokens"), qPrintable(words));
        }
    }
    QVERIFY(some && others);
    // A cell that is reached with the keys is planned.
    grid->setSelectedCell(0, 0);
    grid->setFocus();
    QTest::keyClick(grid, Qt::Key_Down);
    QCOMPARE(page().report()->request.batch, map[static_cast<std::size_t>(grid->columnCount())].batch);
    QCOMPARE(qint64{find<QSpinBox>("planBatch")->value()}, qint64{page().report()->request.batch});
}

void PlanPageTest::saysWhatIsWrong_data() {
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("memory") << "planMemory"
                            << "12X"
                            << "memory: \"12X\" is not a size such as 16G, 24GB or 800M.";
    QTest::newRow("no memory") << "planMemory"
                               << "0"
                               << "memory: 0 bytes are nothing to plan with.";
    QTest::newRow("reserve") << "planReserve"
                             << "-1"
                             << "reserve: \"-1\" is not a size such as 16G, 24GB or 800M.";
}

void PlanPageTest::saysWhatIsWrong() {
    QFETCH(QString, field);
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    choose("demo");
    type("planMemory", "2G");
    QVERIFY(page().report() != nullptr);
    const QString before = find<QLineEdit>(qPrintable(field))->text();
    type(qPrintable(field), text);
    QCOMPARE(find<QLabel>("planVerdict")->text(), sentence);
    QVERIFY(page().report() == nullptr);
    QVERIFY(!find<QPushButton>("planCheck")->isEnabled());
    type(qPrintable(field), before);
    QVERIFY(page().report() != nullptr);
    // More new tokens than the context has.
    find<QSpinBox>("planContext")->setValue(8);
    find<QSpinBox>("planTokens")->setValue(9);
    QCOMPARE(find<QLabel>("planVerdict")->text(),
             QString("Plan: 9 new tokens leave no prompt in a context of 8 tokens."));
    find<QSpinBox>("planTokens")->setValue(4);
    QVERIFY(page().report() != nullptr);
}

void PlanPageTest::opensConfigurations() {
    const QString folder = QStringLiteral(DECODESCOPE_TEST_DATA "/llama/llama3-f32");
    const QString config = folder + "/config.json";
    m_fixture->window->showScreen(0);
    m_fixture->window->openPath(config);
    QVERIFY(page().isVisible());
    QVERIFY2(page().report() != nullptr, qPrintable(find<QLabel>("planVerdict")->text()));
    const Result<PlanShape> shape = read_shape(config.toStdString());
    QVERIFY(shape);
    QCOMPARE(page().report()->shape.n_parameter(), shape->n_parameter());
    QCOMPARE(page().report()->shape.source, shape->source);
    // Once more: it is in the list already.
    const int entries = find<QComboBox>("planModel")->count();
    m_fixture->window->openPath(config);
    QCOMPARE(find<QComboBox>("planModel")->count(), entries);

    QTemporaryDir broken;
    QFile file(broken.filePath("config.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"model_type\": \"llama\"");
    file.close();
    page().openFile(file.fileName());
    QVERIFY(page().report() == nullptr);
    QVERIFY2(find<QLabel>("planVerdict")->text().contains("config.json"),
             qPrintable(find<QLabel>("planVerdict")->text()));
    choose("demo");
    QVERIFY(page().report() != nullptr);
}

// Of a kind of model that is not known here the cache is planned, and the parameters are asked for.
void PlanPageTest::asksForParameters() {
    QTemporaryDir folder;
    QFile file(folder.filePath("config.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"model_type": "new", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4,
                   "num_key_value_heads": 2, "vocab_size": 100, "max_position_embeddings": 2048})");
    file.close();
    page().openFile(file.fileName());
    QVERIFY2(page().report() != nullptr, qPrintable(find<QLabel>("planVerdict")->text()));
    QVERIFY(find<QLineEdit>("planParameters")->isVisible());
    QCOMPARE(find<QLabel>("planVerdict")->text(), QString("What fits is not known without the weights"));
    QVERIFY(page().map()->isEmpty());
    type("planMemory", "1G");
    type("planParameters", "1,000,000");
    QCOMPARE(qint64{page().report()->plan.weights}, qint64{2'000'000});
    QVERIFY(!page().map()->isEmpty());
    choose("demo");
    QVERIFY(!find<QLineEdit>("planParameters")->isVisible());
}

void PlanPageTest::checksAgainstARun() {
    choose("demo");
    find<QComboBox>("planCache")->setCurrentText("static");
    find<QComboBox>("planWeights")->setCurrentIndex(0);
    find<QSpinBox>("planContext")->setValue(64);
    find<QSpinBox>("planBatch")->setValue(2);
    find<QSpinBox>("planTokens")->setValue(4);
    type("planMemory", "");
    auto* table = find<PlainTable>("planCheckTable");
    auto* button = find<QPushButton>("planCheck");
    QVERIFY(!table->isVisibleTo(&page()));
    QVERIFY2(button->isEnabled(), qPrintable(button->toolTip()));
    button->click();
    QVERIFY(find<QPushButton>("planCancel")->isVisibleTo(&page()));
    QTRY_VERIFY_WITH_TIMEOUT(table->isVisibleTo(&page()), test::patience);
    QVERIFY(m_fixture->awaitIdle());
    const QString shown = table->toText();
    // Tensors are counted, so they are exact whatever else this process does.
    const MemoryPlan& plan = page().report()->plan;
    for (const auto& [part, bytes] :
         {std::pair{"KV live", plan.kv.live}, std::pair{"KV reserved", plan.kv.reserved},
          std::pair{"activations", plan.activations}, std::pair{"logits", plan.logits},
          std::pair{"workspace", plan.workspace}}) {
        const QString line = QStringLiteral("%1\t%2\t%2\t0\texact").arg(part, formatCount(bytes));
        QVERIFY2(shown.contains(line), qPrintable(line + "\nnot in\n" + shown));
    }
    QVERIFY(shown.contains("private memory\t"));
    QVERIFY(find<QLabel>("planCheckText")->text().startsWith("The run "));
    QVERIFY(button->isVisibleTo(&page()) && button->isEnabled());
    // Another plan is another question.
    find<QSpinBox>("planContext")->setValue(65);
    QVERIFY(!table->isVisibleTo(&page()));
    // What this program has no weights for is not checked, and the button says so.
    choose("known:llama-3-70b");
    QVERIFY(!button->isEnabled());
    QVERIFY2(button->toolTip().contains("no weights"), qPrintable(button->toolTip()));
}

void PlanPageTest::checkCanBeCancelled() {
    choose("demo");
    find<QSpinBox>("planContext")->setValue(500);
    find<QSpinBox>("planTokens")->setValue(400);
    find<QSpinBox>("planBatch")->setValue(8);
    auto* button = find<QPushButton>("planCheck");
    QVERIFY2(button->isEnabled(), qPrintable(button->toolTip()));
    button->click();
    QTRY_COMPARE_WITH_TIMEOUT(m_fixture->window->session()->activity(), Session::Activity::working,
                              test::patience);
    QVERIFY(!(*m_fixture->window->actions())[ActionId::run]->isEnabled());
    QVERIFY(!(*m_fixture->window->actions())[ActionId::step]->isEnabled());
    find<QPushButton>("planCancel")->click();
    QTRY_VERIFY_WITH_TIMEOUT(button->isVisibleTo(&page()), test::patience);
    QVERIFY(m_fixture->awaitIdle());
    QCOMPARE(find<QLabel>("planCheckText")->text(), QString("The check was stopped."));
    QVERIFY(!find<PlainTable>("planCheckTable")->isVisibleTo(&page()));
    QVERIFY((*m_fixture->window->actions())[ActionId::run]->isEnabled());
}

void PlanPageTest::everyControlHasANameAndAnExplanation() {
    int seen = 0;
    for (const QWidget* widget : page().findChildren<QWidget*>()) {
        const bool control = qobject_cast<const QComboBox*>(widget) ||
                             qobject_cast<const QSpinBox*>(widget) ||
                             qobject_cast<const QPushButton*>(widget) ||
                             (qobject_cast<const QLineEdit*>(widget) &&
                              !qobject_cast<const QSpinBox*>(widget->parentWidget()));
        if (!control) continue;
        ++seen;
        QVERIFY(!widget->objectName().isEmpty());
        const auto* button = qobject_cast<const QPushButton*>(widget);
        QVERIFY2(!widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()),
                 qPrintable(widget->objectName()));
        QVERIFY2(!widget->toolTip().isEmpty(), qPrintable(widget->objectName()));
    }
    QVERIFY(seen >= 13);
}

void PlanPageTest::looks_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<bool>("dark");
    QTest::addColumn<QSize>("size");
    QTest::newRow("plan-demo-light-1440") << "demo" << false << QSize(1440, 900);
    QTest::newRow("plan-demo-dark-1100") << "demo" << true << QSize(1100, 700);
    QTest::newRow("plan-llama-dark-1440") << "known:llama-3-70b" << true << QSize(1440, 900);
    QTest::newRow("plan-deepseek-light-1100") << "known:deepseek-v3" << false << QSize(1100, 700);
}

void PlanPageTest::looks() {
    QFETCH(QString, model);
    QFETCH(bool, dark);
    QFETCH(QSize, size);
    m_theme->setMode(dark ? Theme::Mode::Dark : Theme::Mode::Light);
    m_fixture->window->resize(size);
    choose(model);
    find<QSpinBox>("planBatch")->setValue(4);
    find<QSpinBox>("planTokens")->setValue(16);
    type("planMemory", model == "demo" ? "256M" : model.contains("deepseek") ? "1T" : "160G");
    QTest::qWait(100);
    if (model == "demo" && !dark) {
        find<QSpinBox>("planContext")->setValue(128);
        find<QPushButton>("planCheck")->click();
        QTRY_VERIFY_WITH_TIMEOUT(find<PlainTable>("planCheckTable")->isVisibleTo(&page()), test::patience);
        QVERIFY(m_fixture->awaitIdle());
    }
    QTest::qWait(100);
    const QImage picture = m_fixture->window->grab().toImage();
    QVERIFY2(picture.deviceIndependentSize() == QSizeF(size), "the window does not fit into this size");
    const auto* scroll = page().findChild<QScrollArea*>();
    QVERIFY2(scroll->widget()->minimumSizeHint().width() <= scroll->viewport()->width(),
             "the page is cut off at its right");
    // The whole page, as scrolling shows it.
    if (const QString folder = qEnvironmentVariable("DECODESCOPE_SCREENSHOTS"); !folder.isEmpty()) {
        const QString name = QString::fromLatin1(QTest::currentDataTag());
        picture.save(QStringLiteral("%1/%2.png").arg(folder, name));
        scroll->verticalScrollBar()->setValue(scroll->verticalScrollBar()->maximum());
        QTest::qWait(50);
        m_fixture->window->grab().toImage().save(QStringLiteral("%1/%2-end.png").arg(folder, name));
        scroll->verticalScrollBar()->setValue(0);
    }
}

QTEST_MAIN(PlanPageTest)
#include "tst_plan_page.moc"
