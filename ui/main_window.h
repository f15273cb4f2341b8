// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDateTime>
#include <QList>
#include <QMainWindow>

#include <memory>
#include <optional>

#include "ui/session/run_data.h"
#include "ui/session/session.h"
#include "ui/settings.h"
#include "ui/theme/theme.h"

class QLabel;
class QMenu;
class QSplitter;
class QStackedWidget;

namespace decodescope {

class Actions;
class Autosave;
class BarButton;
class Chart;
class ChartLink;
class ExactnessPage;
class ExperimentPanel;
class InsidePage;
class MemoryPage;
class MessageBar;
class ModelFetch;
class PlanPage;
class RacePage;
class ReportPage;
class SpeedSlider;
class SweepPage;
class ViewHistory;

/// The window: menus, tool bar, the experiment at the left, one page per question, and the status bar. It
/// wires the session to the pages and does the work with files; everything else is in its parts.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    struct Options {
        /// Where settings are kept; empty: the user's own file.
        QString settingsPath = {};
        /// Model folder, experiment or record to open; empty: the last experiment, or the demo.
        QString open = {};
        /// Experiment file to open, and a model (folder or bundled name) to use in place of its own.
        QString experiment = {};
        QString model = {};
        /// Run at once when the window opens on the demo.
        bool autostart = true;
        /// The engine behind the session; tests replace it.
        Session::Engine engine = Session::realEngine();
        std::size_t ringCapacity = 32768;
        /// Show the guided tour when it has not been seen yet.
        bool tour = false;
    };

    /// `theme` outlives the window.
    MainWindow(Theme& theme, Options options);
    ~MainWindow() override;

    Session* session() { return m_session.get(); }
    const RunData& data() const { return m_data; }
    ExperimentPanel* panel() const { return m_panel; }
    RacePage* racePage() const { return m_race; }
    MemoryPage* memoryPage() const { return m_memory; }
    InsidePage* insidePage() const { return m_inside; }
    ExactnessPage* exactnessPage() const { return m_exactness; }
    SweepPage* sweepPage() const { return m_sweep; }
    PlanPage* planPage() const { return m_plan; }
    ReportPage* reportPage() const { return m_report; }
    MessageBar* messages() const { return m_messages; }
    Actions* actions() const { return m_actions; }
    ModelFetch* modelFetch() const { return m_fetch; }
    /// What all line charts of the run share.
    ChartLink* chartLink() const { return m_link; }

    /// Opens a model folder, an experiment, a record or a trace, whichever it is; says in the message bar if
    /// it is none.
    void openPath(const QString& path);
    void openModel(const ModelRef& ref);
    void openExperiment(const QString& path);
    /// Fills the panel from a bundled experiment and runs it.
    void openExample(const QString& path);
    void openRecord(const QString& path);
    /// Judges a trace: its folder or its `trace.json`.
    void openTrace(const QString& path);
    /// Plans the memory for a config.json.
    void openConfiguration(const QString& path);
    /// Shows the file of a sweep.
    void openSweep(const QString& path);
    /// Shows a finished run again, with its experiment in the panel.
    void showRun(std::shared_ptr<const Record> record);
    bool saveRecordTo(const QString& path);
    bool saveExperimentTo(const QString& path);
    /// Every chart of the finished run into a folder, as PNG, SVG, PDF and CSV, with a report.
    bool exportChartsTo(const QString& folder);
    /// The report on screen into a file; its name ends with .html or .pdf.
    bool saveReportTo(const QString& path);
    /// Draws a record of the same work dashed into the charts of the run on screen; says in the message bar
    /// by how much they differ, or why they cannot be compared.
    bool compareWithFile(const QString& path);
    /// 0 race, 1 memory, 2 inside, 3 exactness, 4 sweep, 5 plan, 6 report.
    void showScreen(int index);
    void startRun();
    /// One step of every lane: of the run that goes on, which is paused then, or of a new one.
    void stepRun();
    /// Holds the run, or lets it go on.
    void pauseOrResume();
    /// The lane has another set of faults: a run that goes on is stopped and begins again with it.
    void faultsChanged(int lane);

protected:
    void changeEvent(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void beginRun(std::optional<int> turns);
    void connectTime();
    void connectComparison();
    void connectView();
    void showSettings();
    void showPalette();
    void startTour();
    void connectReport();
    void browseSaveReport(const QString& suffix);
    void printReport();
    void updateComparison();
    void updateTime();
    QString runningText(int token) const;
    void buildMenus();
    QWidget* buildHeader();
    void colorMenuBar();
    void buildPages();
    void buildStatusBar();
    void connectSession();
    void restore(const Options& options);
    void openDemo(bool run);
    void updateState();
    void updateStatus();
    void updateMemory();
    void fillRecentMenu();
    void fillExamplesMenu();
    bool loadExperiment(const QString& path);
    void setThemeMode(Theme::Mode mode);
    void showPanel(bool shown);
    void rememberState();
    bool hasUnsavedRun() const;
    void askToSave();
    void rememberRun(const std::shared_ptr<const Record>& record);
    void fillRunsMenu();
    void offerLeftover(const QString& path);
    void runFinished(const std::shared_ptr<const Record>& record);
    void requestFailed(const Error& error);
    QString restingText() const;
    void browseModel();
    void browseModelFile();
    void connectFetch();
    void browseExperiment();
    void browseRecord();
    void browseTrace();
    void browseConfiguration();
    void browseSweep(bool write);
    void browseSaveExperiment();
    void browseSaveRecord();
    void browseExport();
    void remember(const QString& file);
    QString startFolder() const;
    std::vector<Chart*> charts() const;

    Theme& m_theme;
    Settings m_settings;
    RunData m_data;
    std::unique_ptr<Session> m_session;
    Actions* m_actions;
    Autosave* m_autosave;
    ChartLink* m_link;
    ViewHistory* m_history;
    std::shared_ptr<const Record> m_compared;  // the run that is drawn dashed; null = none
    QString m_comparedName;
    QString m_restarted;  // why the run that begins now does so; said once it has begun
    std::string m_demo;   // the demo experiment as JSON, to tell it from one that was changed
    struct FinishedRun {
        QDateTime when;
        std::shared_ptr<const Record> record;
    };
    QList<FinishedRun> m_runs;                // newest first
    std::shared_ptr<const Record> m_unsaved;  // the newest run, until it is saved
    bool m_closing = false;                   // what was to be asked before has been
    ExperimentPanel* m_panel = nullptr;
    BarButton* m_pauseButton = nullptr;
    SpeedSlider* m_speed = nullptr;
    QSplitter* m_splitter = nullptr;
    QStackedWidget* m_pages = nullptr;
    RacePage* m_race = nullptr;
    MemoryPage* m_memory = nullptr;
    InsidePage* m_inside = nullptr;
    ExactnessPage* m_exactness = nullptr;
    SweepPage* m_sweep = nullptr;
    PlanPage* m_plan = nullptr;
    ReportPage* m_report = nullptr;
    MessageBar* m_messages = nullptr;
    ModelFetch* m_fetch = nullptr;
    QMenu* m_recentMenu = nullptr;
    QMenu* m_runsMenu = nullptr;
    QMenu* m_examplesMenu = nullptr;
    QLabel* m_progress = nullptr;
    QLabel* m_device = nullptr;
    QLabel* m_kernels = nullptr;
    QLabel* m_memoryLabel = nullptr;
    QLabel* m_dropped = nullptr;
    QTimer m_memoryTimer;
};

}  // namespace decodescope
