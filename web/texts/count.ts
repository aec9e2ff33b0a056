import { language } from './locale.ts'

const counts = new Intl.NumberFormat(language)

/** `12,345`. */
export function formatCount(count: number): string {
  return counts.format(count)
}
