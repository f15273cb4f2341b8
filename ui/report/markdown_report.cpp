// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/report/markdown_report.h"

#include "engine/experiment/report_text.h"
#include "ui/exactness/verdict_words.h"
#include "ui/report/definitions.h"
#include "ui/report/report_facts.h"

namespace decodescope {

namespace {

QString heading(ReportPart part) {
    return QStringLiteral("\n## %1\n\n").arg(titleOf(part));
}

QString line(const QString& name, const QString& value) {
    return QStringLiteral("- **%1**: %2\n").arg(name, value.simplified());
}

QString lines(ReportPart part, const QList<Fact>& facts) {
    QString text = heading(part);
    for (const Fact& fact : facts) text += line(fact.name, fact.value);
    return text;
}

QString verdicts(const Record& record, const std::map<int, Verdict>& verdicts) {
    QString text;
    for (const auto& [lane, verdict] : verdicts) {
        const auto i = static_cast<std::size_t>(lane);
        if (lane < 0 || i >= record.lanes.size()) continue;
        text += line(QString::fromStdString(record.lanes[i].spec.name),
                     QStringLiteral("%1 %2 (%3). %4")
                         .arg(lookOf(verdict.word).symbol, headlineOf(verdict),
                              certaintyText(verdict.certainty), QString::fromStdString(verdict.summary)));
    }
    return text.isEmpty() ? QString() : heading(ReportPart::verdicts) + text;
}

}  // namespace

std::string markdownReport(const Record& record, const ReportContent& content,
                           const QList<ReportPicture>& pictures) {
    std::string text =
        to_markdown(record, content.notes,
                    {.lanes = content.has(ReportPart::lanes), .texts = content.has(ReportPart::texts)});
    QString more;
    if (content.compared.record != nullptr) more += QStringLiteral("\n%1\n").arg(content.compared.sentence);
    if (!pictures.isEmpty()) more += heading(ReportPart::charts);
    for (const ReportPicture& picture : pictures)
        more += QStringLiteral("![%1](%2)\n").arg(picture.title, picture.file);
    if (content.has(ReportPart::verdicts)) more += verdicts(record, content.verdicts);
    if (content.has(ReportPart::run)) more += lines(ReportPart::run, runFacts(record));
    if (content.has(ReportPart::environment))
        more += lines(ReportPart::environment, environmentFacts(record.environment));
    if (content.has(ReportPart::definitions)) {
        more += heading(ReportPart::definitions);
        for (const Definition& definition : definitions())
            more += line(QStringLiteral("%1 `%2`").arg(definition.title, definition.name), definition.text);
    }
    return text + more.toStdString();
}

}  // namespace decodescope
