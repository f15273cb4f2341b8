// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QGuiApplication>
#include <QIcon>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "app/blas_core.h"
#include "app/decodescope/arguments.h"
#include "engine/backend/cpu/instructions.h"
#include "engine/core/mapped_file.h"
#include "engine/core/quote.h"
#include "engine/core/text_file.h"
#include "engine/experiment/record.h"
#include "engine/formats/model_source.h"
#include "ui/language.h"
#include "ui/main_window.h"
#include "ui/report/render.h"
#include "ui/settings.h"
#include "ui/theme/theme.h"

using namespace decodescope;

namespace {

int fail(const Error& error) {
    std::fprintf(stderr, "decodescope: %s\n", error.message.c_str());
    return exit_code(error.kind);
}

void print(const QString& text) {
    std::fputs(text.toUtf8().constData(), stdout);
}

std::string pathOf(const QString& file) {
    return QFile::encodeName(file).toStdString();
}

Result<std::shared_ptr<const Record>> load(const QString& file) {
    std::vector<std::string> warnings;
    Result<Record> record = load_record(pathOf(file), &warnings);
    if (!record) return record.error();
    for (const std::string& warning : warnings) std::fprintf(stderr, "decodescope: %s\n", warning.c_str());
    return std::make_shared<const Record>(*std::move(record));
}

Result<std::string> readNotes(const QString& file) {
    constexpr std::uint64_t most = 1 << 20;
    Result<std::string> text = read_text_file(pathOf(file), most);
    if (text && find_invalid_utf8(*text))
        return Error{ErrorKind::bad_input, pathOf(file) + ": is not a text in UTF-8."};
    if (text) std::erase(*text, '\r');
    return text;
}

Result<ReportContent> contentOf(const Record& record, const Arguments& arguments) {
    ReportContent content = decodescope::contentOf(record);
    content.charts = arguments.charts;
    if (arguments.charts) {
        if (const Result<void> known = checkCharts(record, *arguments.charts); !known)
            return Error{known.error().kind, "--" + known.error().message};
    }
    if (!arguments.title.isEmpty()) content.notes.title = arguments.title.simplified().toStdString();
    if (!arguments.notes.isEmpty()) {
        Result<std::string> notes = readNotes(arguments.notes);
        if (!notes) return notes.error();
        content.notes.text = *std::move(notes);
    }
    if (arguments.compare.isEmpty()) return content;
    const auto other = load(arguments.compare);
    if (!other) return other.error();
    Result<ComparedRun> compared =
        compareRuns(*other, record, QFileInfo(arguments.compare).completeBaseName());
    if (!compared) return Error{compared.error().kind, "--compare: " + compared.error().message};
    content.compared = *std::move(compared);
    return content;
}

int render(const Arguments& arguments) {
    const auto record = load(arguments.record);
    if (!record) return fail(record.error());
    Result<ReportContent> content = contentOf(**record, arguments);
    if (!content) return fail(content.error());
    RenderOptions options;
    options.content = *std::move(content);
    const Result<QStringList> files = renderRecord(*record, arguments.directory, options);
    if (!files) return fail(files.error());
    for (const QString& file : *files) print(file + QLatin1Char('\n'));
    return 0;
}

// What a file argument means: an existing path, or the name of a bundled experiment.
Result<QString> existing(const QString& name) {
    if (name.isEmpty() || QFileInfo::exists(name)) return name;
    if (const auto bundled = bundled_file("experiments/" + name.toStdString() + ".json"))
        return QString::fromStdString(bundled->string());
    return Error{ErrorKind::bad_input, (name + QStringLiteral(" was not found.")).toStdString()};
}

int showWindow(int argc, char** argv, const Arguments& arguments) {
    const Result<QString> experiment = existing(arguments.experiment);
    if (!experiment) return fail(experiment.error());
    const Result<QString> file = existing(arguments.open);
    if (!file) return fail(file.error());
    if (!arguments.model.isEmpty()) {
        if (const auto model = resolve_model_path(arguments.model.toStdString()); !model)
            return fail(model.error());
    }
    const Settings kept;
    // Qt reads it once, before there is an application.
    const int scale = std::clamp(kept.get(settings::scale), 100, 200);
    if (scale != 100 && !qEnvironmentVariableIsSet("QT_SCALE_FACTOR"))
        qputenv("QT_SCALE_FACTOR", QByteArray::number(scale / 100.0));
    QApplication app(argc, argv);
    QGuiApplication::setDesktopFileName(QStringLiteral("org.decodescope.DecodeScope"));
    if (const auto icon = bundled_file("icons/hicolor/scalable/apps/org.decodescope.DecodeScope.svg"))
        QGuiApplication::setWindowIcon(QIcon(QString::fromStdString(icon->string())));
    installLanguage(app, arguments.language.isEmpty() ? kept.get(settings::language) : arguments.language);
    Theme theme;
    MainWindow window(theme, {.settingsPath = {},
                              .open = *file,
                              .experiment = *experiment,
                              .model = arguments.model,
                              .autostart = arguments.autostart,
                              .tour = file->isEmpty() && experiment->isEmpty() && arguments.model.isEmpty()});
    window.show();
    return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
    restartWithBetterBlasCore(argv);
    survive_shrinking_files();
    if (const auto chosen = choose_instructions(); !chosen) return fail(chosen.error());
    QStringList words;
    for (int i = 0; i < argc; ++i) words << QFile::decodeName(argv[i]);
    const Result<Arguments> arguments = parseArguments(words);
    if (!arguments) return fail(arguments.error());

    QCoreApplication::setApplicationName(QStringLiteral("DecodeScope"));
    QCoreApplication::setApplicationVersion(QStringLiteral(DECODESCOPE_VERSION));
    QCoreApplication::setOrganizationName(QStringLiteral("DecodeScope"));
    if (arguments->action == Arguments::Action::version) {
        print(QStringLiteral("DecodeScope " DECODESCOPE_VERSION "\n"));
        return 0;
    }
    if (arguments->action == Arguments::Action::help) {
        const QCoreApplication app(argc, argv);
        print(helpText());
        return 0;
    }
    if (arguments->action == Arguments::Action::render) {
        // Drawing to files needs no display, and must not fail for want of one.
        if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
        QApplication app(argc, argv);
        installLanguage(app, arguments->language.isEmpty() ? QStringLiteral("en") : arguments->language);
        Theme theme;
        theme.setMode(Theme::Mode::Light);
        return render(*arguments);
    }
    return showWindow(argc, argv, *arguments);
}
