// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

#include "engine/plan/plan_report.h"
#include "ui/session/session.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QBoxLayout;

namespace decodescope {

class Card;
class CellGrid;
class MemoryBar;
class PlainTable;
class PlanForm;
class RowsModel;
class ToneLabel;

/// How much memory a model and its cache need, what fits, and whether a real run agrees. All numbers are the
/// engine's, the same that `decodescope-cli plan` prints.
class PlanPage : public QWidget {
    Q_OBJECT

public:
    /// `session` outlives the page.
    explicit PlanPage(Session& session, QWidget* parent = nullptr);

    /// Plans for a config.json, a GGUF file or a model folder.
    void openFile(const QString& path);
    /// The newest plan; null while there is none.
    const PlanReport* report() const { return m_report ? &*m_report : nullptr; }
    CellGrid* map() const { return m_map; }
    PlanForm* form() const { return m_form; }
    /// Runs the planned model and compares.
    void check();

signals:
    /// A folder that a file dialog should begin with is asked for, and the last one told.
    void browseRequested();

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    struct Figure {
        QLabel* name = nullptr;
        QLabel* value = nullptr;
    };

    Card* buildVerdict();
    Card* buildVariants();
    Card* buildParts();
    Card* buildCheck();
    void modelChanged();
    void updatePlan();
    void showProblem(const QString& sentence);
    void showReport();
    void showFigures();
    void showVariants();
    void showParts();
    void showMap();
    void updateCheck();
    void showCheck();
    QString whyNotCheck() const;
    std::optional<PlanReport> makeReport(bool check, QString* problem);

    Session& m_session;
    std::optional<PlanShape> m_shape;
    std::optional<PlanReport> m_report;
    QString m_modelProblem;  // why there is no shape
    bool m_listed = false;   // the known configurations are in the list
    bool m_stale = true;
    bool m_checking = false;
    std::shared_ptr<const PlanCheck> m_check;  // of the plan that is shown
    QString m_checkProblem;

    PlanForm* m_form;
    QBoxLayout* m_middle = nullptr;
    QBoxLayout* m_bottom = nullptr;
    ToneLabel* m_verdict = nullptr;
    QLabel* m_more = nullptr;
    QLabel* m_notes = nullptr;
    MemoryBar* m_bar = nullptr;
    std::vector<Figure> m_figures;
    CellGrid* m_map = nullptr;
    Card* m_variantsCard = nullptr;
    RowsModel* m_variants = nullptr;
    RowsModel* m_parts = nullptr;
    RowsModel* m_checkRows = nullptr;
    PlainTable* m_checkTable = nullptr;
    QPushButton* m_checkButton = nullptr;
    QPushButton* m_cancelButton = nullptr;
    QProgressBar* m_progress = nullptr;
    ToneLabel* m_checkText = nullptr;
};

}  // namespace decodescope
