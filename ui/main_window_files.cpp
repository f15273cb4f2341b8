// SPDX-License-Identifier: GPL-3.0-or-later
// The main window's work with files: open, save, export, recent, drag and drop.
#include <QDir>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMenu>
#include <QMimeData>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QUrl>

#include "ui/actions.h"
#include "ui/autosave.h"
#include "ui/chart/chart_link.h"
#include "ui/chart/line_chart.h"
#include "ui/chart/matrix_chart.h"
#include "ui/exactness/exactness_page.h"
#include "ui/examples.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/fetch/model_fetch.h"
#include "ui/inside/inside_page.h"
#include "ui/main_window.h"
#include "ui/memory/memory_page.h"
#include "ui/plan/plan_page.h"
#include "ui/race/race_page.h"
#include "ui/report/export_dialog.h"
#include "ui/report/render.h"
#include "ui/report/report_page.h"
#include "ui/sweep/sweep_form.h"
#include "ui/sweep/sweep_page.h"
#include "ui/widgets/message_bar.h"

namespace decodescope {

namespace {

std::filesystem::path toPath(const QString& path) {
    return std::filesystem::path(path.toStdString());
}

// Which kind of file a JSON text is, by the first schema in it (a record contains its experiment); empty when
// it names none.
QString schemaOf(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    constexpr qint64 enough = 4096;
    const QString head = QString::fromUtf8(file.read(enough));
    static const QRegularExpression schema(QStringLiteral("\"schema\"\\s*:\\s*\"(decodescope\\.[a-z]+)/"));
    return schema.match(head).captured(1);
}

}  // namespace

void MainWindow::openDemo(bool run) {
    Experiment demo;
    const Result<std::filesystem::path> path = bundled_file("experiments/demo.json");
    const Result<Experiment> loaded = path ? load_experiment(*path) : Result<Experiment>(path.error());
    if (loaded) {
        demo = *loaded;
    } else {
        m_messages->showMessage(MessageBar::Kind::warning, QString::fromStdString(loaded.error().message));
        for (const char* name : {"naive", "cached"}) {
            if (const Result<LaneSpec> lane = lane_from_name(name)) demo.lanes.push_back(*lane);
        }
    }
    m_panel->setExperiment(demo);
    m_data.preview(m_panel->experiment());
    m_demo = to_json(m_panel->experiment());
    if (run)
        startRun();
    else
        m_session->loadModel(demo.model);
}

void MainWindow::openPath(const QString& path) {
    if (m_session->activity() == Session::Activity::running ||
        m_session->activity() == Session::Activity::working) {
        m_messages->showMessage(MessageBar::Kind::info,
                                tr("A run is going on: stop it before opening something else."));
        return;
    }
    const QFileInfo info(path);
    const QString shown = QDir::toNativeSeparators(path);
    if (!info.exists()) {
        m_messages->showMessage(MessageBar::Kind::error, tr("%1 was not found.").arg(shown));
    } else if (info.isDir() && QFileInfo::exists(info.filePath() + QStringLiteral("/trace.json"))) {
        openTrace(path);
    } else if (info.isDir() || is_gguf_file(toPath(path))) {
        openModel({.path = info.absoluteFilePath().toStdString(), .preset = {}, .seed = 0});
    } else if (const QString schema = schemaOf(path); schema == QLatin1String("decodescope.record")) {
        openRecord(path);
    } else if (schema == QLatin1String("decodescope.experiment")) {
        openExperiment(path);
    } else if (schema == QLatin1String("decodescope.trace") ||
               info.fileName() == QLatin1String("trace.json")) {
        openTrace(path);
    } else if (info.suffix() == QLatin1String("jsonl")) {
        openSweep(path);
    } else if (info.fileName().contains(QLatin1String("config")) && info.suffix() == QLatin1String("json")) {
        openConfiguration(path);
    } else {
        m_messages->showMessage(
            MessageBar::Kind::error,
            tr("%1 is neither a model nor an experiment nor a record nor a trace.").arg(shown));
    }
}

void MainWindow::openModel(const ModelRef& ref) {
    m_messages->clear();
    m_panel->modelCard()->setRef(ref);
    m_session->loadModel(ref);
    if (!ref.path.empty() && QFileInfo::exists(QString::fromStdString(ref.path))) {
        m_settings.addRecent(settings::recentModels, QString::fromStdString(ref.path));
        m_panel->modelCard()->setRecentFolders(m_settings.get(settings::recentModels));
    }
}

bool MainWindow::loadExperiment(const QString& path) {
    std::vector<std::string> warnings;
    const Result<Experiment> experiment = load_experiment(toPath(path), &warnings);
    if (!experiment) {
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(experiment.error().message));
        return false;
    }
    m_messages->clear();
    if (!warnings.empty())
        m_messages->showMessage(MessageBar::Kind::warning, QString::fromStdString(warnings.front()));
    m_panel->setExperiment(*experiment);
    m_data.preview(m_panel->experiment());
    m_session->loadModel(experiment->model);
    return true;
}

void MainWindow::openExperiment(const QString& path) {
    if (loadExperiment(path)) remember(path);
}

void MainWindow::openExample(const QString& path) {
    if (m_session->activity() == Session::Activity::running) return;
    if (loadExperiment(path)) startRun();
}

void MainWindow::fillExamplesMenu() {
    for (const Example& example : bundledExamples()) {
        // A title is no place for a mnemonic; a tooltip as rich text is wrapped.
        QString title = example.title;
        QAction* action = m_examplesMenu->addAction(title.replace(QLatin1Char('&'), QStringLiteral("&&")));
        action->setObjectName(QFileInfo(example.path).completeBaseName());
        action->setToolTip(QStringLiteral("<qt>%1</qt>").arg(example.about.toHtmlEscaped()));
        connect(action, &QAction::triggered, this, [this, path = example.path] { openExample(path); });
    }
    if (m_examplesMenu->isEmpty()) m_examplesMenu->addAction(tr("None were found"))->setEnabled(false);
}

void MainWindow::openRecord(const QString& path) {
    std::vector<std::string> warnings;
    Result<Record> record = load_record(toPath(path), &warnings);
    if (!record) {
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(record.error().message));
        return;
    }
    showRun(std::make_shared<const Record>(std::move(*record)));
    if (!warnings.empty())
        m_messages->showMessage(MessageBar::Kind::warning, QString::fromStdString(warnings.front()));
    remember(path);
}

void MainWindow::openTrace(const QString& path) {
    m_messages->clear();
    m_exactness->showTraceBusy(path);
    showScreen(3);
    m_session->judgeTrace(path);
}

void MainWindow::openSweep(const QString& path) {
    m_messages->clear();
    remember(path);
    showScreen(4);
    m_sweep->openFile(path);
}

void MainWindow::openConfiguration(const QString& path) {
    m_messages->clear();
    m_settings.set(settings::lastFolder, QFileInfo(path).absolutePath());
    showScreen(5);
    m_plan->openFile(path);
}

bool MainWindow::saveRecordTo(const QString& path) {
    const auto record = m_data.finishedRecord();
    if (record == nullptr) return false;
    if (const Result<void> saved = save_record(*record, m_data.notes(), toPath(path)); !saved) {
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(saved.error().message));
        return false;
    }
    m_messages->showMessage(MessageBar::Kind::info,
                            tr("The record was saved to %1.").arg(QDir::toNativeSeparators(path)));
    if (record == m_unsaved) {
        m_unsaved.reset();
        m_autosave->forget();
    }
    remember(path);
    return true;
}

bool MainWindow::saveExperimentTo(const QString& path) {
    if (const Result<void> saved = write_file_atomically(toPath(path), to_json(m_panel->experiment()));
        !saved) {
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(saved.error().message));
        return false;
    }
    m_messages->showMessage(MessageBar::Kind::info,
                            tr("The experiment was saved to %1.").arg(QDir::toNativeSeparators(path)));
    remember(path);
    return true;
}

std::vector<Chart*> MainWindow::charts() const {
    std::vector<Chart*> charts = {m_race->latencyChart(),     m_race->totalChart(),
                                  m_exactness->errorChart(),  m_exactness->callChart(),
                                  m_exactness->marginChart(), m_plan->map()};
    for (const std::vector<Chart*>& page : {m_memory->charts(), m_inside->charts()})
        charts.insert(charts.end(), page.begin(), page.end());
    return charts;
}

bool MainWindow::exportChartsTo(const QString& folder) {
    const auto record = m_data.finishedRecord();
    if (record == nullptr) return false;
    QGuiApplication::setOverrideCursor(Qt::WaitCursor);
    RenderOptions options;
    options.content = m_report->content();
    const Result<QStringList> files = renderRecord(record, folder, options);
    QGuiApplication::restoreOverrideCursor();
    if (!files) {
        m_messages->showMessage(MessageBar::Kind::error, QString::fromStdString(files.error().message));
        return false;
    }
    m_settings.set(settings::lastFolder, folder);
    m_messages->showMessage(MessageBar::Kind::info,
                            tr("%1 files were written to %2; report.html shows them together.")
                                .arg(files->size())
                                .arg(QDir::toNativeSeparators(folder)));
    return true;
}

QString MainWindow::startFolder() const {
    const QString last = m_settings.get(settings::lastFolder);
    return last.isEmpty() || !QDir(last).exists() ? QDir::homePath() : last;
}

void MainWindow::remember(const QString& file) {
    const QFileInfo info(file);
    m_settings.addRecent(settings::recentFiles, info.absoluteFilePath());
    m_settings.set(settings::lastFolder, info.absolutePath());
}

void MainWindow::fillRecentMenu() {
    m_recentMenu->clear();
    const auto add = [this](const QString& path) {
        connect(m_recentMenu->addAction(QDir::toNativeSeparators(path)), &QAction::triggered, this,
                [this, path] { openPath(path); });
    };
    for (const QString& path : m_settings.get(settings::recentModels)) add(path);
    m_recentMenu->addSeparator();
    for (const QString& path : m_settings.get(settings::recentFiles)) add(path);
    if (m_recentMenu->isEmpty()) m_recentMenu->addAction(tr("Nothing yet"))->setEnabled(false);
}

void MainWindow::browseModel() {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open Model Folder"), startFolder());
    if (!folder.isEmpty()) openPath(folder);
}

void MainWindow::browseModelFile() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Open Model File"), startFolder(),
                                                      tr("GGUF models (*.gguf);;All files (*)"));
    if (!path.isEmpty()) openPath(path);
}

void MainWindow::connectFetch() {
    m_fetch = new ModelFetch(this);
    connect((*m_actions)[ActionId::getModel], &QAction::triggered, m_fetch, &ModelFetch::start);
    connect(m_panel, &ExperimentPanel::fetchRequested, m_fetch, &ModelFetch::start);
    connect(m_fetch, &ModelFetch::failed, this,
            [this](const QString& sentence) { m_messages->showMessage(MessageBar::Kind::error, sentence); });
    connect(m_fetch, &ModelFetch::fetched, this, [this](const QString& name) {
        if (m_session->activity() == Session::Activity::running) {
            m_messages->showMessage(MessageBar::Kind::info,
                                    tr("%1 is here: choose it when the run is over.").arg(name));
            return;
        }
        openModel({.path = name.toStdString(), .preset = {}, .seed = 0});
    });
}

void MainWindow::browseExperiment() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open Experiment"), startFolder(), tr("Experiments (*.json)"));
    if (!path.isEmpty()) openExperiment(path);
}

void MainWindow::browseRecord() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open Record"), startFolder(), tr("Records (*.json)"));
    if (!path.isEmpty()) openRecord(path);
}

void MainWindow::browseTrace() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open Trace"), startFolder(), tr("Traces (*.json)"));
    if (!path.isEmpty()) openTrace(path);
}

void MainWindow::browseSweep(bool write) {
    const QString filter = tr("Sweeps (*.jsonl);;All files (*)");
    // A file that is there is not written over: it is gone on with.
    const QString path =
        write ? QFileDialog::getSaveFileName(this, tr("File of the Sweep"),
                                             startFolder() + QStringLiteral("/sweep.jsonl"), filter, nullptr,
                                             QFileDialog::DontConfirmOverwrite)
              : QFileDialog::getOpenFileName(this, tr("Open Sweep"), startFolder(), filter);
    if (path.isEmpty()) return;
    if (!write) {
        openSweep(path);
        return;
    }
    m_settings.set(settings::lastFolder, QFileInfo(path).absolutePath());
    m_sweep->form()->setFile(path);
}

void MainWindow::browseConfiguration() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open Configuration"), startFolder(),
                                     tr("Configurations and models (*.json *.gguf);;All files (*)"));
    if (!path.isEmpty()) openConfiguration(path);
}

void MainWindow::browseSaveExperiment() {
    const QString path = QFileDialog::getSaveFileName(this, tr("Save Experiment"),
                                                      startFolder() + QStringLiteral("/experiment.json"),
                                                      tr("Experiments (*.json)"));
    if (!path.isEmpty()) saveExperimentTo(path);
}

void MainWindow::browseSaveRecord() {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save Record"), startFolder() + QStringLiteral("/record.json"), tr("Records (*.json)"));
    if (!path.isEmpty()) saveRecordTo(path);
}

void MainWindow::browseExport() {
    const auto record = m_data.finishedRecord();
    if (record == nullptr) return;
    QHash<QString, std::pair<double, double>> visible;
    for (const Chart* chart : charts()) {
        const auto* lines = qobject_cast<const LineChart*>(chart);
        if (lines == nullptr) continue;
        const QString axis = lines->xAxis().name;
        if (const auto range = m_link->view(axis).range) visible.insert(axis, *range);
    }
    auto* dialog = new ExportDialog(record, m_report->content(),
                                    startFolder() + QStringLiteral("/decodescope"), visible, this);
    connect(dialog, &ExportDialog::done, this, [this](const QString& sentence, bool good) {
        m_messages->showMessage(good ? MessageBar::Kind::info : MessageBar::Kind::error, sentence);
    });
    connect(dialog, &ExportDialog::folderChosen, this, [this](const QString& folder) {
        m_settings.set(settings::lastFolder, QFileInfo(folder).absolutePath());
    });
    dialog->show();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (!urls.isEmpty() && urls.front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty() || !urls.front().isLocalFile()) return;
    event->acceptProposedAction();
    if (urls.size() > 1)
        m_messages->showMessage(MessageBar::Kind::info,
                                tr("One at a time: drop a single file or folder. Nothing was opened."));
    else
        openPath(urls.front().toLocalFile());
}

}  // namespace decodescope
