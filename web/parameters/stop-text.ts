/** Unescapes a typed stop sequence: `\n`, `\t`, `\r` and `\\`. Any other backslash stands for itself. */
export function readStop(typed: string): string {
  return typed.replace(/\\([ntr\\])/g, (_, letter: string) => meanings[letter] ?? letter)
}

/** Escapes a stop sequence for display. {@link readStop} reverses it. */
export function showStop(text: string): string {
  return text.replace(/[\n\t\r\\]/g, (sign) => shown[sign] ?? sign)
}

const meanings: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\' }
const shown: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '\\': '\\\\' }
