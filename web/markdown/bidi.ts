// Invisible characters that change the order of text (UAX #9). Prose may need most of them, and their effect ends
// with the paragraph; only overrides are shown there. In links and code, where a reader relies on the text, all are
// shown.
const overrides = /[\u202D\u202E]/g
const controls = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

/** Replaces direction overrides in prose by visible text. */
export function showOverrides(text: string): string {
  return text.replace(overrides, show)
}

/** Replaces all direction controls, in a link or code, by visible text. */
export function showBidiControls(text: string): string {
  return text.replace(controls, show)
}

function show(character: string): string {
  return `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`
}
