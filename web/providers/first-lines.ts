/**
 * Three lines for a shell that make a first providers.json. A running service takes it over at once. @param file its
 * path
 */
export function firstLines(file: string = '~/.svc/providers.json'): string {
  const path = quoted(file),
    folder = quoted(file.replace(/\/[^/]*$/, ''))
  const text = '{ "providers": [{ "id": "groq", "api_key": "YOUR-KEY" }] }'
  return `mkdir -p ${folder}\necho '${text}' > ${path}\nchmod 600 ${path}`
}

/** Quoted where a shell would take it apart. */
function quoted(path: string): string {
  return /^[\w~./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
