// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableView>

#include <vector>

#include "ui/theme/theme.h"

namespace decodescope {

class Card;

/// What a model may say about a cell beyond `Qt::DisplayRole`.
enum PlainTableRole {
    swatchRole = Qt::UserRole,  ///< int: lane whose colour stands before the text
    toneRole,                   ///< int: `ColorRef::Role` of the text
    strongRole,                 ///< int: 1 = bold, 2 = bold and a little larger
    figureRole,                 ///< QString: small muted text behind
    shareRole,                  ///< double, 0 to 1: a bar behind the text, in the colour of `swatchRole`
};

/// A short table without lines, as high as its rows, for a card: muted header, first column left, the others
/// right unless the model's header says otherwise (`Qt::TextAlignmentRole`). It can be copied as text. GUI
/// thread.
class PlainTable : public QTableView {
    Q_OBJECT

public:
    explicit PlainTable(QWidget* parent = nullptr);

    struct Column {
        double weight = 1;  ///< share of the width that is left
        QString sample;     ///< a long text of this column: it must fit, as the header must
    };
    /// Headers may have a shorter form behind U+009C, which is used where the long one does not fit.
    void setTable(QAbstractItemModel* model, std::vector<Column> columns);
    /// A new table at the end of a card, from border to border; the card is as high as its content then.
    static PlainTable* inCard(Card* card, QAbstractItemModel* model, const char* name,
                              const QString& accessibleName, std::vector<Column> columns);
    /// Other columns of the same model.
    void setColumns(std::vector<Column> columns);
    /// Header and cells, tab separated.
    QString toText() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void updateMetrics();

    std::vector<Column> m_columns;
};

}  // namespace decodescope
