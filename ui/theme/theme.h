// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QObject>
#include <QPalette>

#include <array>
#include <cstddef>
#include <vector>

namespace decodescope {

/// A colour by meaning, so that a drawing follows the theme: resolve it with `ThemeColors::color` while
/// painting.
struct ColorRef {
    enum class Role {
        lane,   ///< index = lane number in its experiment; the same lane has the same colour everywhere
        owner,  ///< index = `Owner` of tensor bytes
        cell,   ///< index = `CellState` of a mask cell
        text,
        muted,
        accent,
        good,
        warn,
        bad,
        accent_soft,
        good_soft,
        warn_soft,
        bad_soft,
    };
    Role role = Role::text;
    int index = 0;

    static ColorRef lane(int lane) { return {Role::lane, lane}; }
    static ColorRef owner(std::size_t owner) { return {Role::owner, static_cast<int>(owner)}; }
    static ColorRef cell(std::size_t state) { return {Role::cell, static_cast<int>(state)}; }
    bool operator==(const ColorRef&) const = default;
};

/// Every colour the program draws with, for one of the two themes. Lane colours are told apart with the
/// common kinds of colour blindness (after Okabe and Ito), darkened or lightened to stand out from a card.
struct ThemeColors {
    bool dark = false;
    QColor window;       ///< behind the cards
    QColor panel;        ///< side panel, tool bar, status bar
    QColor card;         ///< surface of a card
    QColor border;       ///< of cards, buttons, fields
    QColor grid;         ///< grid lines of a chart, rails, empty bars
    QColor text;         ///< main text
    QColor muted;        ///< labels, units, explanations
    QColor accent;       ///< main button, selection, links
    QColor on_accent;    ///< text on `accent`
    QColor accent_soft;  ///< selected tab, marked text
    QColor good, good_soft;
    QColor warn, warn_soft;
    QColor bad, bad_soft;
    QColor heat_low, heat_high;  ///< ends of the gradient of a heat map
    std::array<QColor, 8> lanes;
    std::array<QColor, 5> owners;  ///< in the order of `Owner`
    std::array<QColor, 5> cells;   ///< in the order of `CellState`

    /// Every colour of the table, always in the same order: to re-colour a drawing for the other theme.
    std::vector<QColor> all() const;
    /// The colour a reference stands for; lane indices beyond the table wrap around.
    QColor color(ColorRef reference) const;
    /// The colour of a heat map at `share` of the way from its low to its high end, 0 to 1.
    QColor heat(double share) const;
};

/// The light or the dark table.
const ThemeColors& themeColors(bool dark);
/// The table that belongs to a palette: dark when its window colour is. Widgets call it with their own
/// `palette()` while painting, and repaint on `QEvent::PaletteChange`; there is no other way a colour gets
/// in.
const ThemeColors& themeColors(const QPalette& palette);
/// Palette of a theme for the Fusion style.
QPalette themePalette(bool dark);

/// Sets the application's style and palette. One object per program, created after QApplication. GUI thread.
class Theme : public QObject {
    Q_OBJECT
public:
    enum class Mode { System, Light, Dark };
    Q_ENUM(Mode)

    /// Switches to the Fusion style and follows the system.
    explicit Theme(QObject* parent = nullptr);

    /// As settings files write it: "system", "light" or "dark".
    static QString nameOf(Mode mode);
    /// What a name means; unknown ones mean the system's.
    static Mode modeOf(const QString& name);

    Mode mode() const { return m_mode; }
    void setMode(Mode mode);
    /// Whether the palette in use is the dark one.
    bool isDark() const { return m_dark; }

signals:
    /// The palette in use has changed between light and dark, and widgets have the new one.
    void changed();
    /// `mode` is another one.
    void modeChanged(decodescope::Theme::Mode mode);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void apply();

    Mode m_mode = Mode::System;
    bool m_dark = false;
    bool m_applying = false;
};

}  // namespace decodescope
