/** More of a header is not read. `svc-language` is the cookie of a choice on the page (web/app/language.ts). */
const rangesMax = 50

/**
 * The language of the page for a request: that of its cookie, else the first of `Accept-Language` that exists, also as
 * a variant such as `de-AT` (RFC 9110 section 12.5.4).
 *
 * @param languages the languages that exist, the default first
 */
export function languageOf(headers: Headers, languages: readonly string[]): string {
  const chosen = /(?:^|;)\s*svc-language=([a-z]{2,3})\s*(?:;|$)/.exec(headers.get('cookie') ?? '')?.[1]
  const found = languages.find((each) => each === chosen) ?? preferred(headers.get('accept-language') ?? '', languages)
  return found ?? languages[0] ?? 'en'
}

/** Request headers that {@link languageOf} reads, for `Vary`. */
export const languageHeaders = 'accept-language, cookie'

function preferred(accepted: string, languages: readonly string[]): string | undefined {
  let best: string | undefined,
    weight = 0
  for (const range of accepted.split(',', rangesMax)) {
    const [, tag = '', given = '1'] =
      /^\s*([a-z]{2,3})(?:-[a-z0-9-]+)?\s*(?:;\s*q=(\d(?:\.\d{0,3})?))?\s*$/i.exec(range) ?? []
    const language = tag.toLowerCase()
    if (Number(given) > weight && languages.includes(language)) [best, weight] = [language, Number(given)]
  }
  return best
}
