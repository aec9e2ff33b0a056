/** A header value such as `form-data; name="a"`. */
export interface ParameterisedValue {
  /** Before the first `;`, in lower case. */
  readonly value: string
  /** Names are in lower case. Quoted values are without their quotes; their escapes stay. */
  readonly parameters: ReadonlyMap<string, string>
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const parameter = new RegExp(`[ \\t]*;[ \\t]*(?:(${token})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${token})))?`, 'y')
const charactersMax = 8 * 1024

/**
 * Reads a value with parameters (RFC 9110 section 5.6.6). Undefined unless all of it follows the grammar; also if a
 * parameter is repeated, since readers could take different ones.
 */
export function readHeaderValue(text: string): ParameterisedValue | undefined {
  if (text.length > charactersMax || /[\0-\x08\x0a-\x1f\x7f]/.test(text)) return undefined
  const end = text.indexOf(';')
  const value = (end === -1 ? text : text.slice(0, end)).trim().toLowerCase()
  const parameters = new Map<string, string>()
  parameter.lastIndex = end === -1 ? text.length : end
  while (parameter.lastIndex < text.length) {
    const [found, name, quoted, plain] = parameter.exec(text) ?? []
    if (found === undefined) return undefined
    if (name === undefined) continue
    if (parameters.has(name.toLowerCase())) return undefined
    parameters.set(name.toLowerCase(), quoted ?? plain ?? '')
  }
  return { value, parameters }
}
