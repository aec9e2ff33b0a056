// Characters that are not seen, and change the order of what is (UAX #9). In prose most have their use, and each block is a paragraph of its own for them;
// overrides have none, and where a person decides by what is written (a link, code) all are shown.
const overrides = /[\u202D\u202E]/g
const controls = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

/** The text of prose, with overrides of the direction made visible. */
export function showOverrides(text: string): string {
  return text.replace(overrides, show)
}

/** The text of a link or of code, with all that changes its order made visible. */
export function showBidiControls(text: string): string {
  return text.replace(controls, show)
}

function show(character: string): string {
  return `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`
}
