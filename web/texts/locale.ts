/**
 * The language of the page, and formats of texts in it. They are one file, since the bundler would write a chunk for
 * each.
 */

/** The page's language, such as `de`: that of the build which the service chose (docs/decisions/0030-languages.md). */
export const language = globalThis.document?.documentElement.lang || 'en'

/** The browser's variant of the page's language, for dates: `en-GB` on an English page. */
export const locale =
  globalThis.navigator?.languages?.find((each) => each === language || each.startsWith(`${language}-`)) ?? language

const counts = new Intl.NumberFormat(language)

/** `12,345`. */
export function formatCount(count: number): string {
  return counts.format(count)
}

const rules = new Intl.PluralRules(language)

/** The form for a number, with the number in place of `#`. For languages with two forms. */
export function plural(count: number, one: string, other: string): string {
  return (rules.select(count) === 'one' ? one : other).replace('#', () => formatCount(count))
}
