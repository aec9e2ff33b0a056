/** Normalizes a text: lower case, single spaces also for `_`, `-` and inside `CamelCase`, `is not` for `isn't`. */
export function plainWords(text: string): string {
  return text
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/n['’]t\b/g, ' not')
    .replace(/[\s_-]+/g, ' ')
}

/** Whether the text contains one of the phrases. */
export function says(plain: string, phrases: readonly string[]): boolean {
  return phrases.some((phrase) => plain.includes(phrase))
}

/** The name of a member before its text, as Python writes it: `'message': "`. */
const memberName = /['"](?:message|msg|detail|error|reason|type|code)['"]\s?:\s?['"]/gi
const quoted = /(?<!\w)(["'`“‘])(?=[^\s,.;:)\]}])([^"`”]{1,2000}?)["'`”’](?!\w)/g
/** Quotes of more words are echoes of a request. */
const nameWordsMax = 3

/**
 * Returns the sentences of a text in plain words, without ids of requests and echoes of them: names in quotes keep
 * their spelling, such as `'max_tokens'`, longer quotes become `''`.
 */
export function plainSentences(text: string): readonly string[] {
  const names: string[] = []
  const unquoted = text
    .replace(/https?:\/\/\S+|\(?\brequest[ _-]?id ?[:=] ?[\w-]+\)?/gi, '')
    .replace(memberName, '. ')
    .replace(quoted, (_, _mark, inner: string) => {
      names.push(inner.trim().split(/\s+/, nameWordsMax + 1).length > nameWordsMax ? '' : inner.toLowerCase())
      return `\u0001${names.length - 1}\u0002`
    })
  return unquoted
    .split(/[.!?](?=\s|$)|[;\n。！？]/)
    .map((sentence) =>
      plainWords(sentence).replace(/\u0001(\d+)\u0002/g, (_, n: string) => `'${names[Number(n)] ?? ''}'`),
    )
    .filter((sentence) => sentence.trim() !== '')
}
