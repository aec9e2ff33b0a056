/** A stop sequence as it is typed: `\n`, `\t`, `\r` and `\\` stand for what they mean; any other backslash for itself. */
export function readStop(typed: string): string {
  return typed.replace(/\\([ntr\\])/g, (_, letter: string) => meanings[letter] ?? letter)
}

/** A stop sequence as it is shown: {@link readStop} of it gives it back. */
export function showStop(text: string): string {
  return text.replace(/[\n\t\r\\]/g, (sign) => shown[sign] ?? sign)
}

const meanings: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\' }
const shown: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '\\': '\\\\' }
