// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

#include "engine/formats/model_source.h"
#include "ui/theme/card.h"

class QLabel;
class QMenu;
class QToolButton;

namespace decodescope {

/// Name by which the window calls a model: "demo", a folder's name, "gpt2-small (random)".
QString modelTitle(const ModelRef& ref);
/// "5.5 M", "124 M": a count as people say it.
QString roundCount(std::int64_t count);

/// The model of the experiment: name, family, size and what one token costs in the cache; a menu to choose
/// another one.
class ModelCard : public Card {
    Q_OBJECT

public:
    explicit ModelCard(QWidget* parent = nullptr);

    /// The model that is meant, before it is loaded.
    void setRef(const ModelRef& ref);
    const ModelRef& ref() const { return m_ref; }
    /// Facts of the loaded model.
    void setConfig(const ModelConfig& config);
    /// A sentence instead of facts: loading, or why there are none.
    void setStatus(const QString& sentence);
    void setRecentFolders(const QStringList& folders) { m_recent = folders; }

signals:
    void chosen(const decodescope::ModelRef& ref);
    void browseRequested();
    void browseFileRequested();
    void fetchRequested();

private:
    void fillMenu();

    ModelRef m_ref;
    QStringList m_recent;
    QLabel* m_name;
    QLabel* m_details;
    QToolButton* m_choose;
    QMenu* m_menu;
};

}  // namespace decodescope
