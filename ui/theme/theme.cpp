// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <QApplication>
#include <QEvent>
#include <QStyleFactory>
#include <QTimer>

namespace decodescope {

namespace {

QColor rgb(QRgb value) {
    return QColor(value);
}

ThemeColors lightColors() {
    ThemeColors c;
    c.dark = false;
    c.window = rgb(0xeef0f4);
    c.panel = rgb(0xf7f8fa);
    c.card = rgb(0xffffff);
    c.border = rgb(0xd6dae1);
    c.grid = rgb(0xe9ecf0);
    c.text = rgb(0x1b2028);
    c.muted = rgb(0x636c79);
    c.accent = rgb(0x0071b0);
    c.on_accent = rgb(0xfefefe);
    c.accent_soft = rgb(0xdde7f3);
    c.good = rgb(0x0b7a4b);
    c.good_soft = rgb(0xe3f3eb);
    c.warn = rgb(0x8f6200);
    c.warn_soft = rgb(0xfdf3dc);
    c.bad = rgb(0xb3261e);
    c.bad_soft = rgb(0xfbe3e1);
    c.heat_low = rgb(0xf3f6fa);
    c.heat_high = rgb(0x0b5c9e);
    c.lanes = {rgb(0xd55e00), rgb(0x0072b2), rgb(0x00805c), rgb(0xb0558a),
               rgb(0xa87400), rgb(0x388ec7), rgb(0x59636f), rgb(0x8a5630)};
    c.owners = {rgb(0xa3aebc), rgb(0x3e87ba), rgb(0x4fae8b), rgb(0xc98fb4), rgb(0xe3b04b)};
    c.cells = {rgb(0x3b82b8), rgb(0xeceef2), rgb(0xf3c5a4), rgb(0xcfc0e2), rgb(0xf8f9fb)};
    return c;
}

ThemeColors darkColors() {
    ThemeColors c;
    c.dark = true;
    c.window = rgb(0x14171c);
    c.panel = rgb(0x191d23);
    c.card = rgb(0x1f242b);
    c.border = rgb(0x363d47);
    c.grid = rgb(0x2c323b);
    c.text = rgb(0xe6e9ee);
    c.muted = rgb(0x9aa4b1);
    c.accent = rgb(0x4aa8e8);
    c.on_accent = rgb(0x0c1117);
    c.accent_soft = rgb(0x243a4f);
    c.good = rgb(0x45c792);
    c.good_soft = rgb(0x1c362b);
    c.warn = rgb(0xe6b450);
    c.warn_soft = rgb(0x3a3020);
    c.bad = rgb(0xff7b72);
    c.bad_soft = rgb(0x45262a);
    c.heat_low = rgb(0x262c35);
    c.heat_high = rgb(0x86c8fb);
    c.lanes = {rgb(0xff8b42), rgb(0x53b1f2), rgb(0x2ec796), rgb(0xe595c2),
               rgb(0xefbe45), rgb(0x9dd7fb), rgb(0xb5bfcb), rgb(0xcf9b70)};
    c.owners = {rgb(0x66707d), rgb(0x3f8ec8), rgb(0x3d9c79), rgb(0xb5789f), rgb(0xbf913a)};
    c.cells = {rgb(0x4d9ad4), rgb(0x2d343d), rgb(0x96613c), rgb(0x6a558a), rgb(0x232931)};
    return c;
}

bool isDarkPalette(const QPalette& palette) {
    return palette.color(QPalette::Window).lightness() < 128;
}

}  // namespace

std::vector<QColor> ThemeColors::all() const {
    std::vector<QColor> result{window, panel,     card,      border,      grid,     text,
                               muted,  accent,    on_accent, accent_soft, good,     good_soft,
                               warn,   warn_soft, bad,       bad_soft,    heat_low, heat_high};
    result.insert(result.end(), lanes.begin(), lanes.end());
    result.insert(result.end(), owners.begin(), owners.end());
    result.insert(result.end(), cells.begin(), cells.end());
    return result;
}

QColor ThemeColors::heat(double share) const {
    const auto part = [share](float low, float high) {
        return static_cast<float>(static_cast<double>(low) + static_cast<double>(high - low) * share);
    };
    return QColor::fromRgbF(part(heat_low.redF(), heat_high.redF()),
                            part(heat_low.greenF(), heat_high.greenF()),
                            part(heat_low.blueF(), heat_high.blueF()));
}

QColor ThemeColors::color(ColorRef reference) const {
    const auto at = [&](const auto& table) {
        const int n = static_cast<int>(table.size());
        return table[static_cast<std::size_t>(((reference.index % n) + n) % n)];
    };
    switch (reference.role) {
        case ColorRef::Role::lane: return at(lanes);
        case ColorRef::Role::owner: return at(owners);
        case ColorRef::Role::cell: return at(cells);
        case ColorRef::Role::text: return text;
        case ColorRef::Role::muted: return muted;
        case ColorRef::Role::accent: return accent;
        case ColorRef::Role::good: return good;
        case ColorRef::Role::warn: return warn;
        case ColorRef::Role::bad: return bad;
        case ColorRef::Role::accent_soft: return accent_soft;
        case ColorRef::Role::good_soft: return good_soft;
        case ColorRef::Role::warn_soft: return warn_soft;
        case ColorRef::Role::bad_soft: return bad_soft;
    }
    return text;
}

const ThemeColors& themeColors(bool dark) {
    static const ThemeColors light_table = lightColors();
    static const ThemeColors dark_table = darkColors();
    return dark ? dark_table : light_table;
}

const ThemeColors& themeColors(const QPalette& palette) {
    return themeColors(isDarkPalette(palette));
}

QPalette themePalette(bool dark) {
    const ThemeColors& c = themeColors(dark);
    QPalette palette;
    palette.setColor(QPalette::Window, c.window);
    palette.setColor(QPalette::WindowText, c.text);
    palette.setColor(QPalette::Base, c.card);
    palette.setColor(QPalette::AlternateBase, c.panel);
    palette.setColor(QPalette::Text, c.text);
    palette.setColor(QPalette::PlaceholderText, c.muted);
    palette.setColor(QPalette::Button, c.card);
    palette.setColor(QPalette::ButtonText, c.text);
    palette.setColor(QPalette::BrightText, c.bad);
    palette.setColor(QPalette::ToolTipBase, c.card);
    palette.setColor(QPalette::ToolTipText, c.text);
    palette.setColor(QPalette::Highlight, c.accent);
    palette.setColor(QPalette::HighlightedText, c.on_accent);
    palette.setColor(QPalette::Link, c.accent);
    palette.setColor(QPalette::LinkVisited, c.accent);
    palette.setColor(QPalette::Light, dark ? c.border : c.card);
    palette.setColor(QPalette::Midlight, c.grid);
    palette.setColor(QPalette::Mid, c.border);
    palette.setColor(QPalette::Dark, dark ? c.window : QColor(c.muted).lighter(150));
    palette.setColor(QPalette::Shadow, dark ? QColor(Qt::black) : c.muted);
    const QColor faint = dark ? rgb(0x5d6673) : rgb(0xa9b0ba);
    for (const auto role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::PlaceholderText}) {
        palette.setColor(QPalette::Disabled, role, faint);
    }
    palette.setColor(QPalette::Disabled, QPalette::Highlight, c.border);
    palette.setColor(QPalette::Disabled, QPalette::HighlightedText, c.muted);
    return palette;
}

Theme::Theme(QObject* parent) : QObject(parent) {
    QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    apply();
    qApp->installEventFilter(this);
}

QString Theme::nameOf(Mode mode) {
    switch (mode) {
        case Mode::Light: return QStringLiteral("light");
        case Mode::Dark: return QStringLiteral("dark");
        case Mode::System: break;
    }
    return QStringLiteral("system");
}

Theme::Mode Theme::modeOf(const QString& name) {
    for (const Mode mode : {Mode::Light, Mode::Dark})
        if (nameOf(mode) == name) return mode;
    return Mode::System;
}

void Theme::setMode(Mode mode) {
    if (mode == m_mode) return;
    m_mode = mode;
    apply();
    emit modeChanged(mode);
}

void Theme::apply() {
    m_applying = true;
    bool dark = m_mode == Mode::Dark;
    if (m_mode == Mode::System) {
        // Qt 6.4 has no colour scheme to ask for: the palette it would use without ours tells.
        QApplication::setPalette(QPalette());
        dark = isDarkPalette(QApplication::palette());
    }
    const bool differs = dark != m_dark;
    m_dark = dark;
    QApplication::setPalette(themePalette(dark));
    m_applying = false;
    // Widgets get the palette through the event queue; whoever listens here must find it in place.
    if (differs) QMetaObject::invokeMethod(this, &Theme::changed, Qt::QueuedConnection);
}

bool Theme::eventFilter(QObject* watched, QEvent* event) {
    // The system's theme change reaches the windows before the palette is live: look at it afterwards.
    if (event->type() == QEvent::ThemeChange && m_mode == Mode::System && !m_applying) {
        QTimer::singleShot(0, this, [this] { apply(); });
    }
    return QObject::eventFilter(watched, event);
}

}  // namespace decodescope
