/**
 * Two lines for bash or zsh that create a first providers.json. The second asks for the key, which keeps it out of the
 * shell's history. `umask` makes the file private from the start. A running service loads the file at once.
 *
 * @param file its path
 */
export function firstLines(file: string = '~/.svc/providers.json'): string {
  const path = quoted(file),
    folder = quoted(file.replace(/\/[^/]*$/, ''))
  const text = '{ "providers": [{ "id": "groq", "api_key": "%s" }] }'
  return `mkdir -p -m 700 ${folder}\n(umask 077; printf 'Key: '; read -rs key; printf '${text}\\n' "$key" > ${path})`
}

/** Quotes a path for the shell if necessary. */
function quoted(path: string): string {
  return /^[\w~./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
