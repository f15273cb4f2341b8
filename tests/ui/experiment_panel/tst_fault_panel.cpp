// SPDX-License-Identifier: GPL-3.0-or-later
// The check list of faults: what it offers, what a lane cannot have and why, searching, mouse and keyboard.
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QSignalSpy>
#include <QTest>

#include "tests/patience.h"
#include "tests/ui/experiment_panel/panel_fixture.h"
#include "ui/experiment_panel/experiment_panel.h"
#include "ui/experiment_panel/fault_list.h"
#include "ui/experiment_panel/fault_panel.h"
#include "ui/help/fault_kinds.h"

using namespace decodescope;
using namespace decodescope::test;

class FaultPanelTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup() { m_panel.reset(); }
    void offersTheWholeCatalogue();
    void everyKindHasAHeading();
    void saysWhatALaneCannotHave_data();
    void saysWhatALaneCannotHave();
    void modelDecidesToo();
    void searches();
    void clickSwitches();
    void keysSwitch();
    void cardNamesTheFaults();
    void referenceIsLeftAlone();
    void staysUsableDuringARun();
    void unfittingFaultCanBeSwitchedOff();

private:
    QListView* list() const { return m_panel->faults()->list(); }
    QModelIndex row(Fault fault) const {
        for (int i = 0; i < list()->model()->rowCount(); ++i) {
            const QModelIndex index = list()->model()->index(i, 0);
            if (index.data(FaultListModel::faultRole).toInt() == static_cast<int>(fault)) return index;
        }
        return {};
    }
    void click(Fault fault) {
        const QModelIndex index = row(fault);
        list()->scrollTo(index);
        QTest::mouseClick(list()->viewport(), Qt::LeftButton, {}, list()->visualRect(index).center());
    }
    std::vector<std::string> faults(std::size_t lane = 1) const {
        return m_panel->experiment().lanes[lane].faults;
    }

    std::unique_ptr<ExperimentPanel> m_panel;
};

void FaultPanelTest::init() {
    m_panel = std::make_unique<ExperimentPanel>();
    m_panel->setExperiment(base());
    m_panel->resize(m_panel->sizeHint().width(), 2500);
    m_panel->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_panel.get(), test::patience));
}

void FaultPanelTest::offersTheWholeCatalogue() {
    for (const FaultInfo& info : fault_catalogue()) {
        const QModelIndex index = row(info.fault);
        QVERIFY2(index.isValid(), info.id);
        QCOMPARE(index.data().toString(), QString(info.title));
        QCOMPARE(index.data(FaultListModel::descriptionRole).toString(), QString(info.description));
        QVERIFY(index.data(Qt::ToolTipRole).toString().contains(QString(info.fingerprint).toHtmlEscaped()));
        QVERIFY(index.data(Qt::AccessibleTextRole).toString().contains(info.title));
        QVERIFY(list()->visualRect(index).width() <= list()->viewport()->width());
        // Below the heading of its kind.
        int above = index.row();
        while (!list()->model()->index(above, 0).data(FaultListModel::headingRole).toBool()) --above;
        QCOMPARE(list()->model()->index(above, 0).data().toString(), faultKindTitle(info.kind));
    }
    QVERIFY(!list()->accessibleName().isEmpty());
}

void FaultPanelTest::everyKindHasAHeading() {
    QStringList titles;
    for (int kind = 0; kind < n_fault_kind; ++kind) titles << faultKindTitle(static_cast<FaultKind>(kind));
    QVERIFY(!titles.contains(QString()));
    QCOMPARE(titles.removeDuplicates(), 0);
}

void FaultPanelTest::saysWhatALaneCannotHave_data() {
    QTest::addColumn<QString>("lane");
    for (const char* lane : {"naive", "static", "paged", "batch", "continuous", "speculative", "int8"})
        QTest::newRow(lane) << QString(lane);
}

// Possible is what the engine says is possible; what is not, says why and cannot be switched on.
void FaultPanelTest::saysWhatALaneCannotHave() {
    QFETCH(QString, lane);
    Experiment experiment = base();
    experiment.lanes[0].name = "reference";
    experiment.reference = "reference";
    experiment.lanes[1] = *lane_from_name(lane.toStdString());
    m_panel->setExperiment(experiment);
    int possible = 0;
    for (const FaultInfo& info : fault_catalogue()) {
        const QModelIndex index = row(info.fault);
        const Result<void> fits = fault_fits_lane(info.fault, experiment.lanes[1]);
        QCOMPARE(bool(index.flags() & Qt::ItemIsEnabled), fits.ok());
        const QString toolTip = index.data(Qt::ToolTipRole).toString();
        QCOMPARE(toolTip.contains("Not for this lane"), !fits.ok());
        if (fits) {
            ++possible;
            continue;
        }
        QVERIFY(toolTip.contains(QString::fromStdString(fits.error().message)));
        click(info.fault);
        QVERIFY(faults().empty());
    }
    QVERIFY(possible > 0);
}

void FaultPanelTest::modelDecidesToo() {
    QVERIFY(row(Fault::query_offset).flags() & Qt::ItemIsEnabled);
    ModelConfig learned;
    learned.n_head = 4;
    learned.n_kv_head = 4;
    learned.n_positions = 64;
    m_panel->setModel(learned, true);
    QVERIFY(!(row(Fault::query_offset).flags() & Qt::ItemIsEnabled));
    QVERIFY(row(Fault::query_offset).data(Qt::ToolTipRole).toString().contains("rotary"));
    QVERIFY(row(Fault::position_restart).flags() & Qt::ItemIsEnabled);
}

void FaultPanelTest::searches() {
    auto* search = m_panel->findChild<QLineEdit*>("faultSearch");
    QVERIFY(search != nullptr && !search->accessibleName().isEmpty());
    const int all = list()->model()->rowCount();
    QTest::keyClicks(search, "UPPER left");
    QVERIFY(row(Fault::mask_upper_left).isValid());
    QVERIFY(!row(Fault::position_restart).isValid());
    QVERIFY(list()->model()->rowCount() < all / 4);
    // A heading stays only above what was found.
    QVERIFY(list()->model()->index(0, 0).data(FaultListModel::headingRole).toBool());
    search->setText("no such words anywhere");
    QCOMPARE(list()->model()->rowCount(), 0);
    QCOMPARE(m_panel->findChild<QLabel*>("faultDetail")->text(), QString("No fault has these words."));
    search->clear();
    QCOMPARE(list()->model()->rowCount(), all);
}

void FaultPanelTest::clickSwitches() {
    QSignalSpy edited(m_panel.get(), &ExperimentPanel::faultsEdited);
    click(Fault::position_restart);
    QCOMPARE(faults(), std::vector<std::string>{"position-restart"});
    QCOMPARE(edited.size(), 1);
    QCOMPARE(edited[0][0].toInt(), 1);
    QCOMPARE(row(Fault::position_restart).data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
    const QString detail = m_panel->findChild<QLabel*>("faultDetail")->text();
    QVERIFY(detail.contains(fault_info(Fault::position_restart).fingerprint));
    click(Fault::mask_self_hidden);
    QCOMPARE(faults(), (std::vector<std::string>{"position-restart", "mask-self-hidden"}));
    QVERIFY2(m_panel->problem().isEmpty(), qPrintable(m_panel->problem()));
    click(Fault::position_restart);
    QCOMPARE(faults(), std::vector<std::string>{"mask-self-hidden"});
}

void FaultPanelTest::keysSwitch() {
    list()->setFocus();
    list()->setCurrentIndex(row(Fault::position_restart));
    QTest::keyClick(list(), Qt::Key_Space);
    QCOMPARE(faults(), std::vector<std::string>{"position-restart"});
    QTest::keyClick(list(), Qt::Key_Down);
    QCOMPARE(list()->currentIndex().data(FaultListModel::faultRole).toInt(),
             static_cast<int>(Fault::position_plus_one));
    QTest::keyClick(list(), Qt::Key_Space);
    QCOMPARE(faults().size(), std::size_t{2});
    QTest::keyClick(list(), Qt::Key_Space);
    QCOMPARE(faults().size(), std::size_t{1});
}

void FaultPanelTest::cardNamesTheFaults() {
    const auto cards = m_panel->findChildren<LaneCard*>();
    QCOMPARE(cards.size(), 2);
    auto* label = cards[1]->findChild<QLabel*>("laneFaults");
    QVERIFY(label->isHidden());
    click(Fault::position_restart);
    QVERIFY(label->isVisible());
    QVERIFY(label->text().contains("1 fault"));
    QVERIFY(label->text().contains(fault_info(Fault::position_restart).title));
    QVERIFY(cards[0]->findChild<QLabel*>("laneFaults")->isHidden());
    click(Fault::mask_self_hidden);
    QVERIFY(label->text().contains("2 faults"));
}

void FaultPanelTest::referenceIsLeftAlone() {
    auto* lanes = m_panel->findChild<QComboBox*>("faultLane");
    QCOMPARE(lanes->count(), 1);
    QCOMPARE(m_panel->faults()->lane(), 1);
    Experiment experiment = base();
    experiment.lanes.push_back(*lane_from_name("paged"));
    experiment.lanes[2].faults = {"mask-self-hidden"};
    experiment.reference = "static";
    m_panel->setExperiment(experiment);
    QCOMPARE(lanes->count(), 2);
    QVERIFY(lanes->findData(1) < 0);
    m_panel->faults()->setLane(2);
    QCOMPARE(row(Fault::mask_self_hidden).data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
    m_panel->faults()->setLane(0);
    QCOMPARE(row(Fault::mask_self_hidden).data(Qt::CheckStateRole).toInt(), int(Qt::Unchecked));
    QCOMPARE(faults(2), std::vector<std::string>{"mask-self-hidden"});
}

void FaultPanelTest::staysUsableDuringARun() {
    m_panel->setRunning(true);
    QVERIFY(!m_panel->findChild<LaneCard*>()->isEnabled());
    QVERIFY(list()->isEnabled());
    click(Fault::position_restart);
    QCOMPARE(faults().size(), std::size_t{1});
    m_panel->setRunning(false);
    QVERIFY(m_panel->findChild<LaneCard*>()->isEnabled());
}

void FaultPanelTest::unfittingFaultCanBeSwitchedOff() {
    click(Fault::position_restart);
    chooseKind(m_panel->findChildren<LaneCard*>()[1], "naive-batch");
    QCOMPARE(faults().size(), std::size_t{1});
    QVERIFY(m_panel->problem().contains("position-restart"));
    click(Fault::position_restart);
    QVERIFY(faults().empty());
    QVERIFY2(m_panel->problem().isEmpty(), qPrintable(m_panel->problem()));
}

QTEST_MAIN(FaultPanelTest)
#include "tst_fault_panel.moc"
