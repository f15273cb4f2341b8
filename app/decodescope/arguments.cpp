// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/decodescope/arguments.h"

#include <QCommandLineParser>

#include "ui/language.h"

namespace decodescope {

namespace {

// The command line speaks English in every language, so that what it says can be searched for.
QString english(const char* text) {
    return QString::fromUtf8(text);
}

void describe(QCommandLineParser& parser) {
    parser.setApplicationDescription(english(
        "An instrument for LLM decoding: runs naive and cached generation side by side and shows what each "
        "costs, stores, and whether it is right.\n\n"
        "Examples:\n"
        "  decodescope\n"
        "  decodescope --model path/to/model\n"
        "  decodescope --render run.json --out report\n"
        "  decodescope --render run.json --out report --charts latency,kv_cache --title \"After the fix\" "
        "--notes notes.md --compare before.json"));
    parser.addPositionalArgument(QStringLiteral("file"), english("A record or a model to open."),
                                 QStringLiteral("[file]"));
    parser.addOptions({
        {QStringLiteral("model"), english("Select this model: a folder, a GGUF file or a bundled name."),
         english("path")},
        {QStringLiteral("experiment"), english("Open this experiment."), english("file")},
        {QStringLiteral("language"),
         english("The language of the window: system, en or de. Else DECODESCOPE_LANGUAGE says it, else the "
                 "settings; reports of --render are English unless one of the first two says otherwise."),
         english("language")},
        {QStringLiteral("no-autostart"), english("Do not run the demo when the window opens on it.")},
        {QStringLiteral("render"),
         english("Draw every chart of this record to PNG, SVG, PDF and CSV, write reports as HTML and PDF, a "
                 "Markdown summary, all steps as CSV, a Chrome trace and the record itself, and quit. Needs "
                 "--out, but no display."),
         english("record")},
        {QStringLiteral("out"), english("Directory for --render; made if missing."), english("directory")},
        {QStringLiteral("charts"),
         english("With --render: only these charts, in this order, for example latency,kv_cache."),
         english("names")},
        {QStringLiteral("compare"), english("With --render: another record of the same work, drawn dashed."),
         english("record")},
        {QStringLiteral("title"), english("With --render: the title of the report."), english("text")},
        {QStringLiteral("notes"),
         english("With --render: a text file, Markdown, that the report begins with."), english("file")},
        {{QStringLiteral("h"), QStringLiteral("help")}, english("Print this and quit.")},
        {{QStringLiteral("v"), QStringLiteral("version")}, english("Print the version and quit.")},
    });
}

Error badArguments(const QString& sentence) {
    return {ErrorKind::bad_input, sentence.toStdString()};
}

}  // namespace

Result<Arguments> parseArguments(const QStringList& arguments) {
    QCommandLineParser parser;
    describe(parser);
    if (!parser.parse(arguments)) return badArguments(parser.errorText());
    Arguments result;
    if (parser.isSet(QStringLiteral("help"))) {
        result.action = Arguments::Action::help;
        return result;
    }
    if (parser.isSet(QStringLiteral("version"))) {
        result.action = Arguments::Action::version;
        return result;
    }
    for (const char* name :
         {"model", "experiment", "language", "render", "out", "charts", "compare", "title", "notes"}) {
        const QString option = QString::fromLatin1(name);
        if (parser.isSet(option) && parser.value(option).isEmpty()) {
            return badArguments(english("--%1 needs a value.").arg(option));
        }
        if (parser.values(option).size() > 1)
            return badArguments(english("--%1 was given twice.").arg(option));
    }
    result.record = parser.value(QStringLiteral("render"));
    result.directory = parser.value(QStringLiteral("out"));
    result.experiment = parser.value(QStringLiteral("experiment"));
    result.model = parser.value(QStringLiteral("model"));
    const bool languageGiven = parser.isSet(QStringLiteral("language"));
    result.language = languageGiven ? parser.value(QStringLiteral("language"))
                                    : qEnvironmentVariable("DECODESCOPE_LANGUAGE");
    if (!result.language.isEmpty() && !languageChoices().contains(result.language)) {
        return badArguments(
            english("%1: expected one of %2, but \"%3\" was given.")
                .arg(languageGiven ? QStringLiteral("--language") : QStringLiteral("DECODESCOPE_LANGUAGE"),
                     languageChoices().join(QStringLiteral(", ")), result.language));
    }
    const QStringList files = parser.positionalArguments();
    if (files.size() > 1)
        return badArguments(english("Only one file can be opened, but %1 were given.").arg(files.size()));
    result.open = files.value(0);
    result.autostart = !parser.isSet(QStringLiteral("no-autostart"));
    if (parser.isSet(QStringLiteral("render"))) {
        if (!parser.isSet(QStringLiteral("out")))
            return badArguments(english("--render needs --out DIRECTORY."));
        if (!result.experiment.isEmpty() || !result.model.isEmpty() || !result.open.isEmpty()) {
            return badArguments(
                english("--render draws one record and takes no model, experiment or other file."));
        }
        result.action = Arguments::Action::render;
        result.compare = parser.value(QStringLiteral("compare"));
        result.title = parser.value(QStringLiteral("title"));
        result.notes = parser.value(QStringLiteral("notes"));
        if (parser.isSet(QStringLiteral("charts"))) {
            result.charts.emplace();
            for (const QString& name : parser.value(QStringLiteral("charts")).split(QLatin1Char(',')))
                result.charts->append(name.trimmed());
        }
    } else if (parser.isSet(QStringLiteral("out"))) {
        return badArguments(english("--out goes with --render RECORD."));
    } else {
        for (const char* name : {"charts", "compare", "title", "notes"}) {
            const QString option = QString::fromLatin1(name);
            if (parser.isSet(option))
                return badArguments(english("--%1 goes with --render RECORD.").arg(option));
        }
    }
    return result;
}

QString helpText() {
    QCommandLineParser parser;
    describe(parser);
    parser.parse({QStringLiteral("decodescope")});
    return parser.helpText();
}

}  // namespace decodescope
