/** A value in a statement. */
export type SqlParameter = string | number

/** A piece of SQL with its values: each `?` of the text stands for one. */
export interface Sql {
  readonly text: string
  readonly values: readonly SqlParameter[]
}

/** SQL of a template: values become parameters, other pieces are put in place. */
export function sql(texts: TemplateStringsArray, ...parts: readonly (SqlParameter | Sql)[]): Sql {
  const values: SqlParameter[] = []
  const pieces = texts.map((text, index) => {
    const part = parts[index]
    if (part === undefined) return text
    if (typeof part !== 'object') {
      values.push(part)
      return `${text}?`
    }
    values.push(...part.values)
    return text + part.text
  })
  return { text: pieces.join(''), values }
}

/** SQL without values. @param text is not of a caller */
export function literalSql(text: string): Sql {
  return { text, values: [] }
}

/** Pieces with a separator between them. */
export function joinedSql(pieces: readonly Sql[], separator: string): Sql {
  return { text: pieces.map(({ text }) => text).join(separator), values: pieces.flatMap(({ values }) => values) }
}

/** A list for `IN`. */
export function listSql(values: readonly SqlParameter[]): Sql {
  return { text: values.length === 0 ? '(NULL)' : `(${values.map(() => '?').join(', ')})`, values }
}

/** The text with numbered parameters. @param mark `?` for SQLite, `$` for PostgreSQL */
export function numberedSql({ text }: Sql, mark: '?' | '$'): string {
  let number = 0
  return text.replaceAll('?', () => `${mark}${(number += 1)}`)
}
