import { formatCount } from './count.ts'
import { language } from './locale.ts'

const rules = new Intl.PluralRules(language)

/** The form for a number, with the number in place of `#`. For languages with two forms. */
export function plural(count: number, one: string, other: string): string {
  return (rules.select(count) === 'one' ? one : other).replace('#', () => formatCount(count))
}
