// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include <memory>
#include <vector>

#include "ui/session/run_data.h"

class QGridLayout;

namespace decodescope {

class Card;
class Chart;
class LaneTableModel;
class LineChart;
class PlainTable;
class Swatch;
class TokenStream;

/// What the cache buys: the lanes' numbers, latency per token, total time, and the texts as they are written.
class RacePage : public QWidget {
    Q_OBJECT

public:
    /// `run` outlives the page.
    explicit RacePage(const RunData& run, QWidget* parent = nullptr);

    LineChart* latencyChart() const { return m_latency; }
    LineChart* totalChart() const { return m_total; }
    const LaneTableModel* lanes() const { return m_lanes; }
    TokenStream* stream(int lane) const;
    /// An earlier run of the same work, drawn dashed in the colours of the lanes of the same names; null =
    /// none.
    void setCompared(std::shared_ptr<const Record> record, const QString& name);
    /// Takes over what was missed while hidden, e.g. before an export.
    void catchUp();
    /// The run is held: the table too shows how far it is.
    void runHeld();

protected:
    void showEvent(QShowEvent* event) override;

private:
    /// What a lane's curve and text have taken over so far.
    struct LaneView {
        QWidget* box = nullptr;
        TokenStream* stream = nullptr;
        int repetition = -1;
        std::size_t n_step = 0;
        std::size_t n_token = 0;
        double chosen = 0;  ///< tokens of the steps drawn
        double totalSeconds = 0;
        std::vector<std::vector<std::int32_t>> tokens;  ///< [requests][index], as shown
        std::vector<std::size_t> n_compared;            ///< [requests]
    };

    void reset();
    void drawCompared();
    void appended();
    void updateCurves(int lane);
    void updateStream(int lane);
    void compareTokens();
    bool stepsAreEven() const;
    void updateHeadings();
    void buildStreams();
    QString prompt(std::size_t request) const;
    void beginRepetition(int lane, int repetition);

    const RunData& m_data;
    std::shared_ptr<const Record> m_compared;
    QString m_comparedName;
    LaneTableModel* m_lanes;
    PlainTable* m_table;
    LineChart* m_latency;
    LineChart* m_total;
    Card* m_text;
    QGridLayout* m_streams;
    std::vector<LaneView> m_views;
    QElapsedTimer m_sinceTable;
    bool m_stale = true;  // hidden while something changed
};

}  // namespace decodescope
