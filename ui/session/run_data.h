// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <map>
#include <memory>
#include <vector>

#include "engine/experiment/events.h"
#include "engine/experiment/record.h"
#include "engine/formats/model_source.h"
#include "engine/tokenizer/tokenizer.h"
#include "ui/session/session.h"

namespace decodescope {

/// The run that is on screen. While it is live it grows by the steps and tokens that the session delivers;
/// afterwards it is the finished record, or one that was opened from a file. All screens read it; GUI thread
/// only.
class RunData : public QObject {
    Q_OBJECT

public:
    explicit RunData(QObject* parent = nullptr) : QObject(parent) {}

    /// Nothing has run yet: the lanes that would, without steps.
    void preview(const Experiment& experiment);
    /// A run starts: everything before it is forgotten.
    void begin(const Experiment& experiment, const RunStarted& started, const LoadedModel& model,
               const Environment* environment);
    /// Steps and tokens of the live run, in order.
    void append(const std::vector<RunEvent>& events);
    /// The live run has ended; `record` takes its place.
    void finish(std::shared_ptr<const Record> record);
    /// The live run has ended without a record: what it has made so far stays on screen.
    void abandon();
    /// Shows a record from a file. `model` is used for its tokenizer if it is the record's model; may be
    /// null.
    void show(std::shared_ptr<const Record> record, const LoadedModel* model);

    /// True before the first run: then there are no steps, at most a preview of the lanes.
    bool isEmpty() const { return !m_live && m_finished == nullptr; }
    bool isLive() const { return m_live; }
    /// The run so far, or the whole one. A live record has no texts, no status, no reasons and
    /// nothing about requests yet.
    const Record& record() const { return m_finished ? *m_finished : m_growing; }
    /// The finished or opened record; null while a run is live and before the first one.
    std::shared_ptr<const Record> finishedRecord() const { return m_finished; }
    /// What people have written about the finished or opened record; it goes into its file and its report, in
    /// place of what the record itself had.
    const RecordNotes& notes() const { return m_notes; }
    void setNotes(const RecordNotes& notes);
    /// Whether the notes are others than those the record came with.
    bool notesChanged() const { return m_finished && m_notes != m_finished->notes; }
    /// Null for presets, and for records whose model is not loaded.
    const Tokenizer* tokenizer() const { return m_tokenizer.get(); }
    std::shared_ptr<const Tokenizer> sharedTokenizer() const { return m_tokenizer; }
    /// What `Session::inspect` needs of the run so far: the finished record, or as much of the growing one.
    std::shared_ptr<const Record> soFar() const;
    /// Index of the repetition that is being made, or of the last one; -1 before the first step.
    int repetition() const;
    /// The newest repetition of a lane; null before its first step.
    const RepetitionRecord* latest(int lane) const;
    /// Number of requests.
    int requestCount() const { return static_cast<int>(m_promptLengths.size()); }
    /// Number of prompt tokens of a request; 0 where it is not known yet.
    int promptLength(int request = 0) const;
    int newTokens() const { return record().experiment.new_tokens; }

signals:
    /// Another run is on screen, or the run has turned into its record: read everything again.
    void reset();
    /// Title or notes are others now.
    void notesEdited();
    /// The live run has grown by these steps and tokens.
    void appended(const std::vector<decodescope::RunEvent>& events);

private:
    void leaveNotes();
    RepetitionRecord* growing(std::int32_t lane, std::int32_t repetition);

    bool m_live = false;
    std::vector<int> m_promptLengths;  // [requests]
    Record m_growing;
    std::shared_ptr<const Record> m_finished;
    RecordNotes m_notes;  // of the finished record, which is not copied for them
    // Of records that may be shown again.
    std::map<std::weak_ptr<const Record>, RecordNotes, std::owner_less<>> m_otherNotes;
    std::shared_ptr<const Tokenizer> m_tokenizer;
};

}  // namespace decodescope
